"""Small calls, where arguments cost more than the work."""

from __future__ import annotations

from typing import Any

from benchmarks.kinds.small import COLUMNS, TABLES
from benchmarks.suite import ORDINARY, WARM, make_call
from benchmarks.workloads import ROWS, SMALL_TABLES
from onehot_fast import Encoder


class Small:
    """Float32 rows of ten classes."""

    params = ([*ORDINARY, *WARM], list(ROWS))
    param_names = ("call", "output")

    def setup(self, name: str, output: str) -> None:
        self.call = make_call(name, ROWS[output].make(), None)

    def time_call(self, *_: object) -> None:
        self.call()


class OneRow:
    """One row of five columns of texts: a matrix, and a table of the library it came from."""

    params = (list(TABLES), ["numpy", None], [name for name in SMALL_TABLES if "one row" in name])
    param_names = ("library", "output", "table")

    def setup(self, library: str, output: Any, name: str) -> None:
        if output is None and SMALL_TABLES[name].levels > 1000:
            raise NotImplementedError  # half a million columns are the library's own cost
        known, table = SMALL_TABLES[name].make(library)
        encoder = Encoder([*COLUMNS]).fit(known)
        self.call = lambda: encoder.transform(table, output)
        self.call()  # the look-up tables are made once; asv calls `setup` again before each sample

    def time_call(self, *_: object) -> None:
        self.call()


class WayBack:
    """Rows of five columns of texts, encoded and decoded by the library they came from."""

    params = (list(TABLES), ["transform", "inverse_transform"])
    param_names = ("library", "method")

    def setup(self, library: str, method: str) -> None:
        _, table = SMALL_TABLES["2,000 rows"].make(library)
        encoder = Encoder().fit(table)
        given = table if method == "transform" else encoder.transform(table)
        self.call = lambda: getattr(encoder, method)(given)
        self.call()

    def time_call(self, *_: object) -> None:
        self.call()
