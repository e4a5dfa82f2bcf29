"""Streaming and ordinary stores, by what happens between two calls that write into one output.

``python -m benchmarks.stores`` prints the milliseconds of each, with one thread, for a loop that
only encodes, and for one that also reads each output once. In the last columns, other memory is
written before each call, so that the output is no longer in the caches. docs/performance/kernels.md
quotes the factors.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from benchmarks.floor import warm_buffer
from benchmarks.kinds.labels import Array
from onehot_fast import one_hot
from onehot_fast._kernels.simd import get_stream_bytes, set_stream_bytes

MIB = 1 << 20
SIZES = (4, 8, 12, 16, 20, 24, 32, 48)  # of the output, in MiB
DEPTH = 10
DISPLACING = 128 * MIB
ROUNDS = 4
# After a change of the stores, the first calls find the caches as the other stores left them.
WARM_UP, CALLS = 6, 4
TITLES = ("alone", "and read once", "displaced", "displaced, and read")
# The output sizes from which stores are streaming.
LIMITS = {"streaming": 0, "ordinary": 1 << 62}


class Seconds(NamedTuple):
    """The medians of one situation, with streaming and with ordinary stores."""

    streaming: float
    ordinary: float


def situations(labels: Array, out: Array, other: Array) -> Iterator[Seconds]:
    """Yield the times of encoding alone and with one read, with a warm and a displaced output."""
    before = get_stream_bytes()
    try:
        for prepare in (lambda: None, lambda: other.fill(1)):
            for is_read in (False, True):
                found: dict[str, list[float]] = {name: [] for name in LIMITS}
                for _ in range(ROUNDS):
                    for name, limit in LIMITS.items():
                        set_stream_bytes(limit)
                        found[name] += _calls(labels, out, is_read, prepare)
                yield Seconds(*(median(found[name]) for name in LIMITS))
    finally:
        set_stream_bytes(before)


def _calls(labels: Array, out: Array, is_read: bool, prepare: Callable[[], None]) -> list[float]:
    """Return the seconds of some calls, after others."""
    taken = []
    for _ in range(WARM_UP + CALLS):
        prepare()
        start = time.perf_counter()
        one_hot(labels, DEPTH, dtype=out.dtype, out=out, num_threads=1)
        if is_read:
            out.max()
        taken.append(time.perf_counter() - start)
    return taken[WARM_UP:]


def main(sizes: Sequence[int] = SIZES, displacing: int = DISPLACING) -> None:
    """Print a line for each size of the output."""
    other = warm_buffer(displacing)
    print(f"{'output':>8}" + "".join(f"{title:>24}" for title in TITLES))
    for size in sizes:
        n_rows = size * MIB // (DEPTH * 4)
        labels = np.random.default_rng(0).integers(0, DEPTH, n_rows)
        out = warm_buffer(n_rows * DEPTH * 4).view(np.float32).reshape(n_rows, DEPTH)
        cells = [
            f"{1e3 * each.streaming:.2f} / {1e3 * each.ordinary:.2f}"
            f" ({each.ordinary / each.streaming:.2f})"
            for each in situations(labels, out, other)
        ]
        print(f"{size:>4} MiB" + "".join(f"{cell:>24}" for cell in cells), flush=True)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or SIZES)
