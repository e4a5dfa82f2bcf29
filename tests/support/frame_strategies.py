"""Random pandas columns and frames for the tests of the drop-in functions."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st

PANDAS_3 = int(pd.__version__.split(".")[0]) >= 3
TEXT = [object, "string[python]", "string[pyarrow]", pd.ArrowDtype(pa.string())]
TEXT += ["str", pd.ArrowDtype(pa.large_string())] if PANDAS_3 else []
WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NULLABLE_WHOLE = ["Int8", "Int64", "UInt64", pd.ArrowDtype(pa.int16())]
REAL = ["float32", "float64", "Float64"]
ARROW_REAL = [pd.ArrowDtype(pa.float64())]  # pandas itself refuses both zeros in a column
MOMENTS = ["datetime64[ns]", "datetime64[s]", "datetime64[ns, UTC]", object]
DAY = datetime.timedelta(1)
TRUTH = ["bool", "boolean", object, pd.ArrowDtype(pa.bool_())]

labels = st.text("ab_é€", max_size=2) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=3
)
moments = st.dates().map(lambda day: pd.Timestamp("2013-01-01") + pd.Timedelta(days=day.day))


def repeated(values: st.SearchStrategy[Any], n_rows: int) -> st.SearchStrategy[list[Any]]:
    """Return rows of few distinct values, so that they repeat."""
    pools = st.lists(values, min_size=1, max_size=5)
    return pools.flatmap(
        lambda pool: st.lists(st.sampled_from(pool), min_size=n_rows, max_size=n_rows)
    )


def typed(values: st.SearchStrategy[Any], dtypes: list[Any], n_rows: int) -> Any:
    return st.builds(
        lambda rows, dtype: pd.Series(rows, dtype=dtype),
        repeated(values, n_rows),
        st.sampled_from(dtypes),
    )


@st.composite
def whole(draw: st.DrawFn, n_rows: int) -> Any:
    """Return integers of one dtype, from its extremes or from a small span."""
    dtype = np.dtype(draw(st.sampled_from(WHOLE)))
    info = np.iinfo(dtype)
    near = st.integers(0, 60).flatmap(lambda i: st.sampled_from([info.min + i, info.max - i]))
    values = near | st.integers(max(info.min, -70), min(info.max, 90))
    return pd.Series(np.array(draw(repeated(values, n_rows)), dtype))


@st.composite
def declared(draw: st.DrawFn, n_rows: int) -> Any:
    """Return a categorical Series: unused categories, missing values, any order."""
    kinds = (
        st.lists(labels, unique=True, max_size=5)
        | st.lists(st.integers(-3, 2**40), unique=True, max_size=5)
        | st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=5)
        | st.lists(moments, unique=True, max_size=5)
    )
    categories = pd.Index(draw(kinds))
    if categories.dtype == object and len(categories) and draw(st.booleans()):
        categories = categories.astype(draw(st.sampled_from(TEXT)))
    codes = draw(st.lists(st.integers(-1, len(categories) - 1), min_size=n_rows, max_size=n_rows))
    dtype = pd.CategoricalDtype(categories, ordered=draw(st.booleans()))
    return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype))


def columns(n_rows: int) -> st.SearchStrategy[Any]:
    """Return Series of every dtype."""
    missing = st.none()
    return st.one_of(
        declared(n_rows),
        typed(labels, TEXT, n_rows),
        typed(missing | labels, TEXT, n_rows),
        typed(missing | labels | st.integers(0, 3) | st.booleans(), [object], n_rows),
        whole(n_rows),
        typed(missing | st.integers(0, 99), NULLABLE_WHOLE, n_rows),
        typed(st.sampled_from([0.0, -0.0, 1.5, None, float("inf")]), REAL, n_rows),
        typed(st.sampled_from([-0.0, 1.5, None, float("inf")]), ARROW_REAL, n_rows),
        typed(st.booleans(), TRUTH, n_rows),
        typed(missing | st.booleans(), [object, "boolean", pd.ArrowDtype(pa.bool_())], n_rows),
        typed(missing | moments, MOMENTS, n_rows),
        typed(missing | st.timedeltas(-DAY, DAY), ["timedelta64[ms]"], n_rows),
        typed(missing | moments.map(lambda i: pd.Period(i, "D")), ["period[D]"], n_rows),
        typed(st.integers(0, 3).map(lambda i: pd.Interval(i, i + 1)), ["interval"], n_rows),
        typed(st.integers(0, 2), ["Sparse[int]"], n_rows),
    )


def indexes(n_rows: int) -> st.SearchStrategy[Any]:
    """Return row labels of every kind, repeated ones too."""
    return st.sampled_from(
        [
            pd.RangeIndex(n_rows),
            pd.Index(["twice"] * n_rows, name="label"),
            pd.Index(np.arange(n_rows)[::-1] // 2),
            pd.date_range("2013-01-01", periods=n_rows, freq="h"),
            pd.MultiIndex.from_arrays([np.arange(n_rows) % 3, np.arange(n_rows)]),
        ]
    )


@st.composite
def series(draw: st.DrawFn) -> Any:
    """Return a Series of any dtype under any row labels."""
    n_rows = draw(st.integers(0, 20))
    found = draw(columns(n_rows))
    return found.set_axis(draw(indexes(n_rows))).rename(draw(st.none() | labels))


@st.composite
def frames(draw: st.DrawFn) -> Any:
    """Return a frame of up to four columns, of which several may have one name."""
    n_rows = draw(st.integers(0, 12))
    parts = draw(st.lists(columns(n_rows), min_size=1, max_size=4))
    frame = pd.concat(parts, axis=1)
    names = st.sampled_from(["a", "b", "c", 0])
    frame.columns = pd.Index(
        draw(st.lists(names, min_size=len(parts), max_size=len(parts))),
        name=draw(st.sampled_from([None, "variable"])),
    )
    return frame.set_axis(draw(indexes(n_rows)))
