"""Large calls of `one_hot`: layout x dtype x width x threads; warm, recycled and cold memory."""

from __future__ import annotations

import onehot_fast
from benchmarks.suite import LAYOUTS, ORDINARY, WARM, make_call, make_checked_call, make_work

GRID: list[list[object]] = [
    list(LAYOUTS),
    ["uint8", "float32", "float64"],
    [3, 10, 100, 1000],
    [1, 2],
]
GRID_NAMES = ["layout", "dtype", "depth", "threads"]


class Warm:
    """Into memory that is there: `out=`."""

    params = (WARM, *GRID)
    param_names = ("call", *GRID_NAMES)

    def setup(self, name: str, layout: str, dtype: str, depth: int, threads: int) -> None:
        self.call = make_checked_call(name, make_work(layout, dtype, depth), threads)

    def time_call(self, *_: object) -> None:
        self.call()


class Recycled(Warm):
    """The ordinary call, repeated: its memory is that of the call before."""

    params = (ORDINARY, *GRID)


class Cold(Warm):
    """The ordinary call after all kept memory went back to the system, which takes its part."""

    params = (ORDINARY[:1], *GRID)

    def time_call(self, *_: object) -> None:
        onehot_fast.empty_cache()
        self.call()


class Peak:
    """The most memory that a process with one ordinary call held, the indices included."""

    params = (ORDINARY, *GRID[:-1])
    param_names = ("call", *GRID_NAMES[:-1])

    def setup(self, name: str, layout: str, dtype: str, depth: int) -> None:
        # Only a small result is checked: the memory of a large check would be the peak.
        make_checked_call(name, make_work(layout, dtype, depth, n_bytes=1 << 16), None)
        self.call = make_call(name, make_work(layout, dtype, depth), None)

    def peakmem_call(self, *_: object) -> None:
        self.call()
