"""The line floor: an estimate of the least time to write an output, in the same run.

A 64-byte line of zeros takes the time of filling it with 0, any other line that of filling it with
1, and the indices must be read: ``z * t0 + (1 - z) * t1 + r``, where ``z`` is the share of lines of
zeros in the data. Filling uses the faster of ``memset`` and stores that bypass the caches: on some
machines the C library's ``memset`` takes twice as long.
"""

from __future__ import annotations

import ctypes
import math
import statistics
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, NamedTuple

import numpy as np

from benchmarks.kinds.labels import Array, Work, along
from onehot_fast._kernels.simd import stream_fill

LINE = 64
HUGE_PAGE = 2 << 20


class Parts(NamedTuple):
    """Seconds to write the output's bytes as 0, as 1, and to read the indices.

    The first two use ``memset``, the next two stores that bypass the caches (infinite if none).
    """

    memset_zeros: float
    memset_ones: float
    streamed_zeros: float
    streamed_ones: float
    read: float

    @property
    def zeros(self) -> float:
        """The faster way to write 0."""
        return min(self.memset_zeros, self.streamed_zeros)

    @property
    def ones(self) -> float:
        """The faster way to write 1."""
        return min(self.memset_ones, self.streamed_ones)

    @property
    def winner(self) -> str:
        """Which way was faster, for 0 and for 1."""
        pairs = (
            (self.memset_zeros, self.streamed_zeros),
            (self.memset_ones, self.streamed_ones),
        )
        names = ["memset" if plain <= streamed else "streamed" for plain, streamed in pairs]
        return names[0] if names[0] == names[1] else ", ".join(names)

    def floor(self, zero_share: float) -> float:
        """Return the line floor."""
        return zero_share * self.zeros + (1 - zero_share) * self.ones + self.read


def _streamed(output: Array, value: int) -> bool:
    """Fill memory bypassing the caches, if the processor has such stores."""
    return stream_fill(output, np.array([value], np.uint8))


def _memset(output: Array, value: int) -> bool:
    """Fill memory by the C library's memset."""
    ctypes.memset(output.ctypes.data, value, output.nbytes)
    return True


FILLS: tuple[tuple[Callable[[Array, int], bool], int], ...] = (
    (_memset, 0),
    (_memset, 1),
    (_streamed, 0),
    (_streamed, 1),
)


def warm_buffer(n_bytes: int) -> Array:
    """Return touched memory that starts on a huge page; NumPy requests huge pages."""
    room = np.empty(n_bytes + HUGE_PAGE, np.uint8)
    start = -room.ctypes.data % HUGE_PAGE
    buffer = room[start : start + n_bytes]
    buffer.fill(0)
    return buffer


def zero_share(work: Work) -> float:
    """Return the share of the output's lines that hold zeros only."""
    place = np.zeros(work.indices.shape, np.int64)
    stride = work.dtype.itemsize
    for axis in reversed(range(len(work.shape))):
        if axis == work.position:
            place += work.indices.astype(np.int64) * stride
        else:
            i = axis - (axis > work.position)
            place += along(np.arange(work.shape[axis]), work.indices.shape, i) * stride
        stride *= work.shape[axis]
    lit = np.zeros(-(-work.n_bytes // LINE), np.bool_)
    lit[place.reshape(-1) // LINE] = True
    return 1 - float(lit.mean())


def buffers(result: Any) -> list[Array]:
    """Return the memory of a result."""
    if hasattr(result, "indptr"):
        return [result.data, result.indices, result.indptr]
    if hasattr(result, "to_arrow"):
        result = result.to_arrow()
    if hasattr(result, "column_names"):
        chunks = [chunk for column in result.columns for chunk in column.chunks]
        return [np.frombuffer(chunk.buffers()[1], np.uint8) for chunk in chunks]
    return [np.asarray(result)]


def zero_share_of(memory: Iterable[Array]) -> float:
    """Return the share of the cache lines that hold zeros only."""
    n_lines = n_zero = 0
    for part in memory:
        n_bytes = part.nbytes // LINE * LINE
        # Elements in the order of memory, whichever axis is the innermost.
        flat = part.reshape(-1, order="A").view(np.uint8)[:n_bytes].view(np.uint64)
        n_lit = int(np.count_nonzero(flat.reshape(-1, LINE // 8).any(axis=1)))
        n_lines += n_bytes // LINE
        n_zero += n_bytes // LINE - n_lit
    return n_zero / max(n_lines, 1)


class Floor:
    """Measures the line floor of an output with some threads, each on its share of the memory.

    Parameters
    ----------
    zero_share : float
        Of the lines of the output, those that hold no on.
    indices : ndarray
        What is read.
    buffer : ndarray of uint8
        As many bytes as are written, warm.
    threads : int
    """

    def __init__(self, zero_share: float, indices: Array, buffer: Array, threads: int) -> None:
        self.zero_share = zero_share
        self.parts: list[Parts] = []
        self._threads = threads
        bounds = [len(buffer) * i // threads // LINE * LINE for i in range(threads)]
        self._outputs = np.split(buffer, bounds[1:])
        self._indices = np.array_split(indices.reshape(-1), threads)

    def sample(self, number: int) -> float:
        """Return the floor in seconds: the median of `number` passes, at least three."""
        barrier = Barrier(self._threads)
        passes = max(3, number)
        with ThreadPoolExecutor(self._threads) as pool:
            shares = list(
                pool.map(lambda i: self._passes(i, barrier, passes), range(self._threads))
            )
        # The work is done when the slowest thread is.
        rounds = [Parts(*map(max, zip(*parts, strict=True))) for parts in zip(*shares, strict=True)]
        middle = Parts(*map(statistics.median, zip(*rounds, strict=True)))
        self.parts.append(middle)
        return middle.floor(self.zero_share)

    def _passes(self, share: int, barrier: Barrier, passes: int) -> list[Parts]:
        """Time one thread's share; writing evicts the indices from the caches first."""
        output, indices = self._outputs[share], self._indices[share]
        clock = time.perf_counter
        taken = []
        for _ in range(passes):
            seconds = []
            for fill, value in FILLS:
                barrier.wait()
                start = clock()
                done = fill(output, value)
                seconds.append(clock() - start if done else math.inf)
            barrier.wait()
            start = clock()
            indices.max()  # the fastest read NumPy has; it runs at the speed of memory
            taken.append(Parts(*seconds, clock() - start))
        return taken

    def median_parts(self) -> Parts:
        """Return the medians of all samples."""
        return Parts(*map(statistics.median, zip(*self.parts, strict=True)))
