"""Columns of pandas frames."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

N_ROWS = 1_000_000
# Enough for every category, and so little that the check is not what needs the most memory.
N_CHECKED = 10_000


def _onehot(column: Any) -> Any:
    import_module("onehot_fast.integrations.pandas")
    return column.onehot()


def _get_dummies(column: Any) -> Any:
    return import_module("pandas").get_dummies(column)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "Series.onehot": _onehot,
    "pandas.get_dummies": _get_dummies,
}
KINDS = ["category", "int64", "str"]


class Frames:
    """A column of a million values."""

    params = (list(FUNCTIONS), KINDS, [3, 50])
    param_names = ("function", "kind", "categories")

    def setup(self, name: str, kind: str, n_categories: int) -> None:
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise NotImplementedError from error  # asv leaves the benchmark out
        codes = np.random.default_rng(0).integers(0, n_categories, N_ROWS)
        names = np.array([f"c{code:03}" for code in range(n_categories)])
        values = codes if kind == "int64" else names[codes]
        self.column = pandas.Series(values).astype(kind)
        self.function = FUNCTIONS[name]
        lit = np.asarray(self.function(self.column.head(N_CHECKED))).argmax(axis=1)
        np.testing.assert_array_equal(lit, codes[:N_CHECKED])

    def time_call(self, *_: object) -> None:
        self.function(self.column)

    def peakmem_call(self, *_: object) -> None:
        self.function(self.column)
