"""Checks of `out`, and NumPy code for the arrays that the kernels cannot encode or decode.

The kernels copy and compare bytes in contiguous memory. This module handles dtypes of references
(object, StringDType), structured dtypes, elements with padding bytes, and strided arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import as_array
from onehot_fast._arguments.messages import with_article
from onehot_fast._arguments.values import significant_bytes
from onehot_fast._kernels import dispatch
from onehot_fast._runtime import parallel

AnyArray: TypeAlias = npt.NDArray[Any]

# If NumPy's search for shared bytes exceeds this limit, the arrays are assumed to share memory.
_OVERLAP_WORK = 100_000


def check_out(
    out: object,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    sources: Iterable[AnyArray],
    what: str = "indices",
) -> AnyArray:
    """Return `out` as a plain ndarray; raise an error if it does not fit or overlaps `sources`."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, got {with_article(out)}")
    cells = as_array(out, "out")
    if cells.dtype != dtype:
        raise TypeError(f"out must have dtype {dtype}, got {cells.dtype}")
    if cells.shape != shape:
        raise ValueError(f"out must have shape {shape}, got {cells.shape}")
    if not cells.flags.writeable:
        raise ValueError("out must be writable, got a read-only array")
    for source in sources:
        if _share_memory(cells, source):
            raise ValueError(f"out overlaps the memory of the {what}: pass another array")
    if overlaps_itself(cells):
        raise ValueError(
            f"elements of out overlap in memory, got strides {cells.strides} for shape {shape}:"
            " pass a contiguous array, e.g. numpy.empty(shape, dtype)"
        )
    return cells


def _share_memory(one: AnyArray, other: AnyArray) -> bool:
    """Tell whether two arrays share a byte; return True if the search takes too long."""
    if not np.may_share_memory(one, other):  # compares the first and the last byte only
        return False
    try:
        return np.shares_memory(one, other, max_work=_OVERLAP_WORK)  # type: ignore[arg-type]
    except RuntimeError:  # TooHardError, whose module differs between versions of NumPy
        return True


def overlaps_itself(cells: AnyArray) -> bool:
    """Tell whether two elements of an array share a byte."""
    if cells.flags.c_contiguous or cells.size < 2:
        return False
    steps = sorted(
        (abs(stride), size)
        for stride, size in zip(cells.strides, cells.shape, strict=True)
        if size > 1
    )
    extent = cells.itemsize
    for stride, size in steps:
        if stride < extent:
            break
        extent += stride * (size - 1)
    else:
        return False  # each stride exceeds the extent of the dimensions with smaller strides
    if steps[0][0] == 0:
        return True
    starts = np.zeros(1, dtype=np.int64)
    for stride, size in steps:
        starts = np.add.outer(starts, stride * np.arange(size, dtype=np.int64)).reshape(-1)
    return bool((np.diff(np.sort(starts)) < cells.itemsize).any())


def fill(out: AnyArray, is_on: npt.NDArray[np.bool_], on: AnyArray, off: AnyArray) -> None:
    """Set the elements of `out` to `on` where `is_on` is True, else to `off`."""
    if not out.dtype.hasobject:
        # A copy of raw bytes preserves padding and the payload of a NaN.
        raw = np.dtype(f"V{out.dtype.itemsize}")
        out, on, off = out.view(raw), on.view(raw), off.view(raw)
    out[...] = off
    # Use a mask, because integer indexing of a StringDType array loses long strings or crashes.
    out[is_on] = on


def is_readable(cells: AnyArray) -> bool:
    """Tell whether the kernels can compare the elements of a contiguous array as integers."""
    dtype = cells.dtype
    if dtype.hasobject or dtype.names is not None or dtype.itemsize not in (1, 2, 4, 8):
        return False
    # NumPy aligns strings of 8 bytes to any address, and complex64 to multiples of 4 bytes. It
    # does not align an empty array.
    is_aligned = dtype.alignment >= dtype.itemsize and cells.size > 0
    return is_aligned or cells.ctypes.data % dtype.itemsize == 0


def comparable(cells: AnyArray) -> AnyArray | None:
    """Return a matrix in which `dispatch.find_ones` can compare elements, or None if it cannot.

    The result is a copy if neither rows nor columns are contiguous, or elements are not aligned.
    """
    width = cells.itemsize
    is_adjacent = width in cells.strides or 1 in cells.shape
    if not is_adjacent or any(step % width for step in (*cells.strides, cells.ctypes.data)):
        cells = np.array(cells, order="C")
    return cells if is_readable(cells) else None


def decode(
    cube: AnyArray, on: AnyArray, off: AnyArray | None, default: int
) -> tuple[npt.NDArray[np.int64], int, int, int]:
    """Return the class of each row ``cube[i, :, k]``, and the numbers of three invalid rows.

    `cube` is contiguous. `dispatch.decode` explains the three row numbers.
    """
    threads = parallel.resolve(None, cube.nbytes)
    if is_readable(cube):
        return dispatch.decode(cube, on, off, default, threads)
    is_on = _equals(cube, on)
    classes, empty, several, uneven = dispatch.decode(is_on, np.array(True), None, -1, threads)
    is_empty = classes < 0
    if off is not None:
        is_uneven = ~(is_on | _equals(cube, off)).all(axis=1).reshape(-1)
    else:
        is_uneven = is_empty & ~_equals(cube, cube[:, :1]).all(axis=1).reshape(-1)
    uneven = int(is_uneven.argmax()) if is_uneven.any() else -1
    classes[is_empty] = default
    return classes, empty, several, uneven


def _equals(cells: AnyArray, on: AnyArray) -> npt.NDArray[np.bool_]:
    """Return a mask of the elements equal to `on`; compare objects with ==, others by bits."""
    dtype = cells.dtype
    if dtype.names is not None:
        equal = np.ones(cells.shape, dtype=np.bool_)
        for field in dtype.names:
            same = _equals(cells[field], on[field])
            # If a field is an array, its dimensions follow the dimensions of the cells.
            equal &= same.all(axis=tuple(range(cells.ndim, same.ndim)))
        return equal
    if dtype.hasobject:
        compared = _is_value(cells.astype(object), on.astype(object))
        return np.asarray(compared, dtype=np.bool_)
    counted = significant_bytes(cells)
    if counted is not None:
        return np.asarray((counted == significant_bytes(on)).all(axis=(-2, -1)))
    raw = np.dtype(f"V{dtype.itemsize}")
    return np.asarray(cells.view(raw) == on.view(raw))


def _compare_objects(cell: object, sought: object) -> bool:
    """Tell whether an object is `sought` or equal to it."""
    # Compare identity first, as lists do, for NaN; == of pandas.NA does not return a bool.
    same = cell is sought or cell == sought
    return isinstance(same, bool | np.bool_) and bool(same)


_is_value = np.frompyfunc(_compare_objects, 2, 1)
