"""Small calls, where arguments cost more than the work."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks.suite import ORDINARY, WARM, make_checked_call, make_work
from onehot_fast import Encoder

# What makes a table of each library: the module and its function.
TABLES = {
    "dict": ("builtins", "dict"),
    "pandas": ("pandas", "DataFrame"),
    "polars": ("polars", "DataFrame"),
    "arrow": ("pyarrow", "table"),
}
COLUMNS = "abcde"


class Small:
    """Float32 rows of ten classes."""

    params = ([*ORDINARY, *WARM], [1, 32, 1000])
    param_names = ("call", "rows")

    def setup(self, name: str, rows: int) -> None:
        work = make_work("rows", "float32", 10, n_bytes=rows * 40)
        self.call = make_checked_call(name, work, None)

    def time_call(self, *_: object) -> None:
        self.call()


def make_table(library: str, columns: dict[str, list[str]]) -> Any:
    """Return a table of a library."""
    module, function = TABLES[library]
    return getattr(import_module(module), function)(columns)


class OneRow:
    """One row of five columns of texts: a matrix, and a table of the library it came from."""

    params = (list(TABLES), ["numpy", None], [50, 100_000])
    param_names = ("library", "output", "levels")

    def setup(self, library: str, output: Any, levels: int) -> None:
        if output is None and levels > 1000:
            raise NotImplementedError  # half a million columns are the library's own cost
        known = {name: [f"{name}{i}" for i in range(levels)] for name in COLUMNS}
        row = {name: texts[levels // 2 :][:1] for name, texts in known.items()}
        encoder, table = Encoder([*COLUMNS]).fit(known), make_table(library, row)
        self.call = lambda: encoder.transform(table, output)
        self.call()  # the look-up tables are made once; asv calls `setup` again before each sample

    def time_call(self, *_: object) -> None:
        self.call()


class WayBack:
    """2,000 rows of five columns of texts, encoded and decoded by the library they came from."""

    params = (list(TABLES), ["transform", "inverse_transform"])
    param_names = ("library", "method")

    def setup(self, library: str, method: str) -> None:
        texts = {name: [f"{name}{i * i % 53}" for i in range(2000)] for name in COLUMNS}
        table = make_table(library, texts)
        encoder = Encoder().fit(table)
        given = table if method == "transform" else encoder.transform(table)
        self.call = lambda: getattr(encoder, method)(given)
        self.call()

    def time_call(self, *_: object) -> None:
        self.call()
