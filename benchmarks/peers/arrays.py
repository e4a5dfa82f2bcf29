"""onehot_fast, the idioms of NumPy, and a compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from benchmarks.kinds.labels import Array, Work
from benchmarks.peers.registry import OURSELVES, Call, Task, contender

# A look-up table of rows is an idiom for narrow outputs: with 10,000 classes it takes 400 MB.
WIDEST_TABLE = 1000


def is_narrow(work: Work) -> bool:
    """Return whether a table of all rows is small."""
    return work.is_rows and work.depth <= WIDEST_TABLE


@contender("", library=OURSELVES)
def onehot_fast(task: Task) -> Call:
    """Make the ordinary call, as short as it can be written."""
    one_hot, work = task.library.one_hot, task.work
    indices, depth, axis, dtype = work.indices, work.depth, work.axis, work.dtype
    threads = task.threads
    if threads is None and axis == -1 and dtype == np.float32:
        return lambda: one_hot(indices, depth)
    return lambda: one_hot(indices, depth, axis=axis, dtype=dtype, num_threads=threads)


@contender("out=", library=OURSELVES, reuses=True)
def onehot_fast_out(task: Task) -> Call:
    """Write into existing memory."""
    one_hot, work, out = task.library.one_hot, task.work, task.out
    indices, depth, axis, threads = work.indices, work.depth, work.axis, task.threads
    if threads is None and axis == -1:
        return lambda: one_hot(indices, depth, out=out)
    return lambda: one_hot(indices, depth, axis=axis, out=out, num_threads=threads)


def _place(work: Work) -> tuple[Any, ...]:
    """Return the subscript that selects the ones of a result."""
    grid = np.ogrid[tuple(slice(size) for size in work.indices.shape)]
    return (*grid[: work.position], work.indices, *grid[work.position :])


@contender("zeros + assign", library="numpy")
def numpy_zeros(task: Task) -> Call:
    """Allocate zeroed memory, then set the ones by fancy indexing."""
    place, shape, dtype = _place(task.work), task.work.shape, task.work.dtype

    def call() -> Array:
        result: Array = np.zeros(shape, dtype)
        result[place] = 1
        return result

    return call


@contender("fill + assign", library="numpy", reuses=True)
def numpy_fill(task: Task) -> Call:
    """Fill the warm output with zeros, then set the ones by fancy indexing."""
    place, out = _place(task.work), task.out

    def call() -> Array:
        out.fill(0)
        out[place] = 1
        return out

    return call


@contender("eye[indices]", library="numpy", suits=is_narrow)
def numpy_eye(task: Task) -> Call:
    """Select rows of an identity matrix, the common idiom."""
    indices, depth, dtype = task.work.indices, task.work.depth, task.work.dtype
    return lambda: np.eye(depth, dtype=dtype)[indices]


@contender("eye.take(out=)", library="numpy", reuses=True, suits=is_narrow)
def numpy_take(task: Task) -> Call:
    """Take rows of a table made once; mode "clip" spares the buffer between it and `out`."""
    eye, indices, out = np.eye(task.work.depth, dtype=task.work.dtype), task.work.indices, task.out
    return lambda: eye.take(indices, axis=0, out=out, mode="clip")


@contender("== + astype", library="numpy")
def numpy_equal(task: Task) -> Call:
    """Compare by broadcasting."""
    indices = np.expand_dims(task.work.indices, task.work.position)
    classes, dtype = task.work.classes, task.work.dtype
    return lambda: (indices == classes).astype(dtype, copy=False)


@contender("equal(out=)", library="numpy", reuses=True)
def numpy_equal_out(task: Task) -> Call:
    """Compare by broadcasting, into the warm output."""
    indices = np.expand_dims(task.work.indices, task.work.position)
    classes, out = task.work.classes, task.out
    return lambda: np.equal(indices, classes, out=out)


@cache
def _numba_rows(numba: Any) -> Callable[[Array, Array], None]:
    @numba.njit(parallel=True)  # type: ignore[untyped-decorator]
    def fill(indices: Array, out: Array) -> None:
        for row in numba.prange(out.shape[0]):
            out[row] = 0
            out[row, indices[row]] = 1

    return fill  # type: ignore[no-any-return]


@cache
def _numba_planes(numba: Any) -> Callable[[Array, Array], None]:
    @numba.njit(parallel=True)  # type: ignore[untyped-decorator]
    def fill(indices: Array, out: Array) -> None:
        depth = out.shape[1]
        for plane in numba.prange(out.shape[0] * depth):
            outer, one = plane // depth, plane % depth
            for inner in range(out.shape[2]):
                out[outer, one, inner] = indices[outer, inner] == one

    return fill  # type: ignore[no-any-return]


def _numba_fill(task: Task) -> Callable[[Array], None]:
    """Return the loop over one layout, as a function of the output."""
    work = task.work
    if work.is_rows:
        rows, flat = _numba_rows(task.library), work.indices.reshape(-1)
        return lambda out: rows(flat, out.reshape(-1, work.depth))
    n_outer = int(np.prod(work.shape[: work.position], dtype=np.int64))
    planes, image = _numba_planes(task.library), work.indices.reshape(n_outer, -1)
    return lambda out: planes(image, out.reshape(n_outer, work.depth, -1))


@contender("loop", library="numba")
def numba_loop(task: Task) -> Call:
    """Run a compiled parallel loop over new memory."""
    fill, shape, dtype = _numba_fill(task), task.work.shape, task.work.dtype

    def call() -> Array:
        result: Array = np.empty(shape, dtype)
        fill(result)
        return result

    return call


@contender("loop (out)", library="numba", reuses=True)
def numba_loop_out(task: Task) -> Call:
    """Run the same loop over the warm output."""
    fill, out = _numba_fill(task), task.out

    def call() -> Array:
        fill(out)
        return out

    return call
