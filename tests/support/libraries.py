"""The libraries whose tables the core reads and makes, each behind the same few functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from onehot_fast._categories.column import Column
from onehot_fast._categories.values import read_column

Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Library:
    """How to make a table of a library, and how to look into one."""

    name: str
    table: Callable[[Columns], Any]  # from Python's own values, None where one is missing
    columns: Callable[[Any], Columns]  # and back
    coded: Callable[[Sequence[Any], list[Any]], Any]  # a column that declares its categories

    def __repr__(self) -> str:
        return self.name


def numpy_library() -> Library:
    """Return mappings from names to arrays, in which objects hold what is missing."""

    def columns(table: Any) -> Columns:
        return {name: column.tolist() for name, column in table.items()}

    def coded(values: Sequence[Any], categories: list[Any]) -> Any:
        codes = [-1 if value is None else categories.index(value) for value in values]
        codes, labels = np.array(codes, np.int32), np.array(categories, object)
        return Column(codes, labels, source="category", ordered=True)

    return Library("numpy", dict, columns, coded)


def pandas_library() -> Library:
    pd = pytest.importorskip("pandas")

    def columns(table: Any) -> Columns:
        objects = table.astype(object).where(table.notna(), None)
        return {str(name): objects[name].tolist() for name in table.columns}

    def coded(values: Sequence[Any], categories: list[Any]) -> Any:
        return pd.Categorical(values, categories=categories, ordered=True)

    return Library("pandas", pd.DataFrame, columns, coded)


def polars_library() -> Library:
    pl = pytest.importorskip("polars")

    def coded(values: Sequence[Any], categories: list[Any]) -> Any:
        return pl.Series(values, dtype=pl.Enum(categories))

    def columns(table: Any) -> Columns:
        return table.to_dict(as_series=False)  # type: ignore[no-any-return]

    return Library("polars", lambda table: pl.DataFrame(table, strict=False), columns, coded)


def arrow_library() -> Library:
    pa = pytest.importorskip("pyarrow")

    def coded(values: Sequence[Any], categories: list[Any]) -> Any:
        codes = [None if value is None else categories.index(value) for value in values]
        return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), categories, ordered=True)

    return Library("arrow", pa.table, lambda table: table.to_pydict(), coded)


def narwhals_library() -> Library:
    """Return frames of narwhals over frames of polars."""
    nw = pytest.importorskip("narwhals")
    native = polars_library()

    def table(columns: Columns) -> Any:
        return nw.from_native(native.table(columns), eager_only=True)

    return Library("narwhals", table, native.columns, native.coded)


LIBRARIES = {
    "numpy": numpy_library,
    "pandas": pandas_library,
    "polars": polars_library,
    "arrow": arrow_library,
    "narwhals": narwhals_library,
}


def plain(values: Iterable[Any]) -> list[Any]:
    """Return values as Python objects; None stands for every missing value."""
    found = []
    for value in values:
        if isinstance(value, np.datetime64 | np.timedelta64):
            value = value.astype(value.dtype.str[1:3] + "[us]")
        value = value.item() if isinstance(value, np.generic) else value
        found.append(None if value is None or value != value else value)
    return found


def assert_read(native: Any, values: list[Any]) -> None:
    """Compare the codes and categories of a column with its values."""
    column = read_column(native).encode()
    categories = plain(column.categories)
    found = [None if code < 0 else categories[code] for code in column.codes.tolist()]
    assert found == plain(values)
    assert len(set(categories)) == len(categories)
    assert None not in categories


def cells(library: Library, table: Any, n_rows: int) -> Any:
    """Return the columns of a table as a matrix of floats."""
    columns = [*library.columns(table).values()]
    matrix = np.array([[np.nan if v is None else v for v in column] for column in columns], float)
    return matrix.reshape(len(columns), n_rows).T


def equal(table: Any, other: Any) -> bool:
    """Tell whether two tables have the same names, types and values."""
    if type(table).__module__.startswith("pandas"):
        import pandas as pd

        pd.testing.assert_frame_equal(table, other)
        return True
    if type(table).__module__.startswith("pyarrow"):
        # Floats are compared by their text, in which NaN equals itself.
        same = table.schema.equals(other.schema, check_metadata=True)
        return bool(same) and str(table.to_pydict()) == str(other.to_pydict())
    from polars.testing import assert_frame_equal

    # Before polars 1.32, categorical columns with equal texts and different codes are not `equals`.
    assert_frame_equal(table, other, check_exact=True, categorical_as_str=True)
    return True
