"""Large calls of `one_hot`: layout x dtype x width x threads; warm, recycled and cold memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import onehot_fast
from benchmarks import suite
from benchmarks.peers.codes import ways
from benchmarks.suite import ORDINARY, WARM, make_call
from benchmarks.workloads import CODES, GRID

CLASSES = {work.what: work for work in CODES.values() if "classes" in work.task}


class Warm:
    """Into memory that is there: `out=`."""

    params = (WARM, list(GRID), [1, 2])
    param_names = ("call", "output", "threads")

    def setup(self, name: str, output: str, threads: int) -> None:
        self.call = make_call(name, GRID[output].make(suite.SCALE), threads)

    def time_call(self, *_: object) -> None:
        self.call()


class Recycled(Warm):
    """The ordinary call, repeated: its memory is that of the call before."""

    params = (ORDINARY, list(GRID), [1, 2])


class Cold(Warm):
    """The ordinary call after all kept memory went back to the system, which takes its part."""

    params = (ORDINARY[:1], list(GRID), [1, 2])

    def time_call(self, *_: object) -> None:
        onehot_fast.empty_cache()
        self.call()


class Peak:
    """The most memory that a process with one ordinary call held, the indices included."""

    params = (ORDINARY, list(GRID))
    param_names = ("call", "output")

    def setup(self, name: str, output: str) -> None:
        # Only a small result is checked: the memory of a large check would be the peak.
        make_call(name, GRID[output].make(suite.CHECKED_SCALE), None)
        self.call = make_call(name, GRID[output].make(suite.SCALE), None, checked=False)

    def peakmem_call(self, *_: object) -> None:
        self.call()


class Classes:
    """Labels that are listed, on one thread, beside the idioms of NumPy."""

    params = (list(CLASSES), ["one_hot", "x[..., None] == categories", "searchsorted"])
    param_names = ("labels", "call")

    def setup(self, title: str, name: str) -> None:
        found = ways(CLASSES[title], {"numpy": np}, 1.0)
        if name not in found:
            raise NotImplementedError  # asv leaves it out
        self.call: Callable[[], Any] = found[name].call
        np.testing.assert_array_equal(self.call(), found["one_hot"].call())

    def time_call(self, *_: object) -> None:
        self.call()
