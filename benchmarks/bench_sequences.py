"""Sequences of letters: rows and planes, with the table that other libraries use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers.codes import ways
from benchmarks.workloads import CODES

WORKS = {work.what: work for work in CODES.values() if work.what.startswith("letters")}
WAYS = ["one_hot_sequences", "table[codes]"]


class Letters:
    """The encoding of letters, on one thread."""

    params = (list(WORKS), WAYS)
    param_names = ("letters", "way")

    def setup(self, title: str, name: str) -> None:
        found = ways(WORKS[title], {}, 1.0)
        self.call: Callable[[], Any] = found[name].call
        np.testing.assert_array_equal(self.call(), found[WAYS[0]].call())

    def time_call(self, *_: object) -> None:
        self.call()
