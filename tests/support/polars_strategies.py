"""Random polars columns: every dtype that has categories, in chunks, sliced, with nulls."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

texts = st.text("ab_é€", max_size=2)
days = st.dates(datetime.date(1950, 1, 1), datetime.date(2100, 1, 1))
moments = st.datetimes(datetime.datetime(1950, 1, 1), datetime.datetime(2100, 1, 1))
spans = st.timedeltas(datetime.timedelta(-99), datetime.timedelta(99))
INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)


def integers(dtype: Any) -> st.SearchStrategy[int]:
    """Return integers that lie close together, or at both ends of their range."""
    low, high = pl.select(low=dtype.min(), high=dtype.max()).row(0)
    ends = st.integers(0, 9).flatmap(lambda i: st.sampled_from([low + i, high - i]))
    return st.integers(0, 100) | ends


# Categories of other columns, whose codes come before and between those of the tests.
OTHERS = pl.Series(["other", "", "b€"], dtype=pl.Categorical)
LETTERS = pl.Enum(["c", "a", "b", "unused"])
# For each dtype the values to draw from.
KINDS: dict[Any, st.SearchStrategy[Any]] = {
    pl.String: texts,
    pl.Categorical: texts,
    LETTERS: st.sampled_from("abc"),
    **{dtype: integers(dtype) for dtype in INTEGERS},
    pl.Boolean: st.booleans(),
    **dict.fromkeys([pl.Float64, pl.Float32], st.sampled_from([0.0, 1.5, -2.25, float("inf")])),
    pl.Date: days,
    pl.Datetime("us"): moments,
    pl.Datetime("ns"): moments,
    pl.Datetime("ms", "Europe/Paris"): days.map(
        lambda day: datetime.datetime(day.year, day.month, day.day, tzinfo=datetime.UTC)
    ),
    pl.Duration("us"): spans,
    pl.Time: st.times(),
    pl.Binary: st.binary(max_size=2),
    pl.Decimal(10, 2): st.decimals(-9, 9, places=2),
}


def matrix(frame: pl.DataFrame, n_rows: int) -> np.ndarray[Any, Any]:
    """Return the columns of a frame as an array; older polars fails where there are none."""
    columns = [column.to_numpy() for column in frame]
    return np.array(columns).reshape(len(columns), n_rows).T


@st.composite
def series(draw: st.DrawFn, dtypes: Any = tuple(KINDS), n_rows: int | None = None) -> pl.Series:
    """Return a Series named "k" of few distinct values, which repeat."""
    dtype = draw(st.sampled_from(list(dtypes)))
    pool = draw(st.lists(KINDS[dtype], min_size=1, max_size=4))
    size = draw(st.integers(0, 20)) if n_rows is None else n_rows
    rows = st.lists(st.sampled_from([None, *pool]), min_size=size + 3, max_size=size + 3)
    whole = pl.Series("k", draw(rows), dtype=dtype)
    part = whole.slice(draw(st.integers(0, 3)), size)
    cut = draw(st.integers(0, size))
    return part if cut == 0 else pl.concat([part[:cut], part[cut:]], rechunk=False)
