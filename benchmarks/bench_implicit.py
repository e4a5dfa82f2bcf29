"""Products with a one-hot matrix: from codes, with SciPy's CSR, with tabmat."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.codes import Way, ways
from benchmarks.workloads import CODES

WORKS = {work.what: work for work in CODES.values() if work.what.startswith(("X", "lsqr"))}
WAYS = ["OneHotMatrix", "csr_array", "SplitMatrix"]


class Products:
    """The products with codes, on one thread."""

    params = (list(WORKS), WAYS)
    param_names = ("product", "matrix")

    def setup(self, title: str, name: str) -> None:
        try:
            libraries = {library: import_module(library) for library in ("pandas", "tabmat")}
        except ImportError as error:
            raise NotImplementedError from error  # asv leaves it out
        found: dict[str, Way] = ways(WORKS[title], libraries, 1.0)
        if name not in found:
            raise NotImplementedError  # asv leaves it out
        self.call: Callable[[], Any] = found[name].call
        ours = found["OneHotMatrix"]
        np.testing.assert_array_equal(found[name].read(self.call()), ours.read(ours.call()))

    def time_call(self, *_: object) -> None:
        self.call()
