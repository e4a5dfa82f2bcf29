"""Columns and tables of pandas, in every form they are encoded to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

import onehot_fast
from benchmarks.kinds.frames import check
from benchmarks.peers.forms import formers
from benchmarks.peers.registry import OURSELVES
from benchmarks.workloads import COLUMNS, FRAMES

SCALE = 1.0
# Enough for every category, and so little that the check is not what needs the most memory.
CHECKED_SCALE = 0.01


def _accessor(column: Any) -> Any:
    import_module("onehot_fast.integrations.pandas")
    return column.onehot


def _onehot(column: Any) -> Any:
    return _accessor(column)()


def _to_numpy(column: Any) -> Any:
    return _accessor(column).to_numpy(dtype=bool)


def _to_csr(column: Any) -> Any:
    return _accessor(column).to_csr(dtype=bool)


def _to_arrow(column: Any) -> Any:
    return _accessor(column).to_arrow()


def _get_dummies(column: Any) -> Any:
    return import_module("pandas").get_dummies(column)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "Series.onehot": _onehot,
    "Series.onehot.to_numpy": _to_numpy,
    "Series.onehot.to_csr": _to_csr,
    "Series.onehot.to_arrow": _to_arrow,
    "pandas.get_dummies": _get_dummies,
}
# A form and who makes it; of the peers pandas alone, on the same table.
FORMS = {
    f"{work.name}: {former.name}": (work, former)
    for work in FRAMES.values()
    for former in formers(work.form)
    if former.library in (OURSELVES, "pandas")
}


def _cells(result: Any) -> Any:
    """Return the cells of a frame, a matrix or a record batch."""
    if hasattr(result, "toarray"):
        return result.toarray()
    return np.asarray(result.to_pandas() if hasattr(result, "to_pandas") else result)


@contextmanager
def _left_out() -> Iterator[None]:
    """Have asv leave a benchmark out where a library is absent."""
    try:
        yield
    except ImportError as error:
        raise NotImplementedError from error


def _need_pandas() -> Any:
    with _left_out():
        return import_module("pandas")


class Frames:
    """A column of a million values."""

    params = (list(FUNCTIONS), list(COLUMNS))
    param_names = ("function", "column")

    def setup(self, name: str, column: str) -> None:
        _need_pandas()
        self.function = FUNCTIONS[name]
        small = COLUMNS[column].make(CHECKED_SCALE * SCALE)
        check(_cells(self.function(small.data.iloc[:, 0])), small)
        self.column = COLUMNS[column].make(SCALE).data.iloc[:, 0]

    def time_call(self, *_: object) -> None:
        self.function(self.column)

    def peakmem_call(self, *_: object) -> None:
        self.function(self.column)


class Forms:
    """A table of five columns, in each form, and back."""

    params = (list(FORMS),)
    param_names = ("form",)

    def setup(self, name: str) -> None:
        _need_pandas()
        recipe, former = FORMS[name]
        library = import_module(former.library)
        with _left_out():
            small = recipe.make(CHECKED_SCALE * SCALE)
            call = former.build(library, small)
        check(former.read(call(), small), small)
        self.call = former.build(library, recipe.make(SCALE))

    def time_call(self, *_: object) -> None:
        self.call()

    def peakmem_call(self, *_: object) -> None:
        self.call()


class Fit:
    """What an Encoder learns of a table."""

    params = (["Encoder.fit"], [name for name, work in FRAMES.items() if work.form == "learned"])
    param_names = ("call", "table")

    def setup(self, _: str, name: str) -> None:
        _need_pandas()
        import_module("onehot_fast.integrations.pandas")
        work = FRAMES[name].make(SCALE)
        self.data, self.fit = work.data, onehot_fast.Encoder(columns=list(work.data)).fit
        if tuple(self.fit(self.data).get_feature_names_out()) != tuple(work.labels):
            raise AssertionError("other categories than drawn")

    def time_call(self, *_: object) -> None:
        self.fit(self.data)

    def peakmem_call(self, *_: object) -> None:
        self.fit(self.data)
