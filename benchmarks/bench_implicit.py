"""Products with a one-hot matrix: from codes, with SciPy's CSR, with tabmat."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.codes import CODES, Way

WORKS = {work.title: work for work in CODES.values() if work.title.startswith(("X", "lsqr"))}
WAYS = ["OneHotMatrix", "csr_array", "SplitMatrix"]


class Products:
    """The products of `benchmarks.codes`, one thread."""

    params = (list(WORKS), WAYS)
    param_names = ("product", "matrix")

    def setup(self, title: str, name: str) -> None:
        try:
            libraries = {library: import_module(library) for library in ("pandas", "tabmat")}
        except ImportError as error:
            raise NotImplementedError from error  # asv leaves it out
        ways: dict[str, Way] = WORKS[title].ways(libraries, 1.0)
        if name not in ways:
            raise NotImplementedError  # asv leaves it out
        self.call: Callable[[], Any] = ways[name].call
        ours = ways["OneHotMatrix"]
        np.testing.assert_array_equal(ways[name].read(self.call()), ours.read(ours.call()))

    def time_call(self, *_: object) -> None:
        self.call()
