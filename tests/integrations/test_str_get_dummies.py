"""str_get_dummies, held against Series.str.get_dummies and Index.str.get_dummies."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import WITHOUT_PYARROW, run

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

from frame_strategies import PANDAS_3, indexes  # noqa: E402  after the skips above
from side_by_side import assert_same, outcome  # noqa: E402

from onehot_fast.integrations.pandas import str_get_dummies  # noqa: E402

PYTHON = [object, "string[python]", "category"]
ARROW = ["string[pyarrow]", *(["str"] if PANDAS_3 else [])]
TYPED = [pd.ArrowDtype(pa.string()), pd.ArrowDtype(pa.large_string())]
NUMPY = ["bool", "int8", "uint16", "int64", "uint64", "float32", "float64"]
EXTENSIONS = ["boolean", "Int16", "Float64", "bool[pyarrow]", "uint8[pyarrow]"]
SEPARATORS = ["|", ",", ", ", "||", "a", "aa", "ab", ".", "..", "a.", "|b", "é", " "]

pieces = st.text("ab|, .é", max_size=3)


@st.composite
def strings(draw: st.DrawFn, dtypes: list[Any], sep: str, missing: bool = True) -> Any:
    """Return a Series of joined pieces."""
    values = st.lists(pieces, max_size=3).map(sep.join)
    if missing:
        values = st.none() | values
    pool = draw(st.lists(values, min_size=1, max_size=5))
    rows = draw(st.lists(st.sampled_from(pool), max_size=12))
    series = pd.Series(rows, dtype=draw(st.sampled_from(dtypes)))
    return series.set_axis(draw(indexes(len(rows)))).rename(draw(st.none() | pieces))


def by_pandas(data: Any, sep: str, dtype: Any) -> Any:
    """Return what pandas does; before pandas 3 it has no dtype."""
    options = {} if dtype is None else {"dtype": dtype}
    return outcome(lambda: data.str.get_dummies(sep, **options))


def result_dtypes(*groups: list[Any]) -> st.SearchStrategy[Any]:
    """Return the dtypes that this pandas can be asked for."""
    known = [dtype for group in groups for dtype in group] if PANDAS_3 else []
    return st.sampled_from([None, *known])


@given(data=st.data(), sep=st.sampled_from(SEPARATORS), dtype=result_dtypes(NUMPY, EXTENSIONS))
def test_python_strings_equal_pandas(data, sep, dtype):
    """Strings outside of Arrow: also separators that are patterns, or overlap."""
    series = data.draw(strings(PYTHON, sep))
    before = series.copy(deep=True)

    actual = outcome(str_get_dummies, series, sep, dtype)

    assert_same(actual, by_pandas(series, sep, dtype))
    pd.testing.assert_series_equal(series, before)


@given(data=st.data(), sep=st.sampled_from(SEPARATORS), dtype=result_dtypes(NUMPY, EXTENSIONS))
def test_arrow_strings_equal_pandas(data, sep, dtype):
    """Strings in Arrow memory, where the empty piece is a tag."""
    series = data.draw(strings(ARROW, sep).filter(lambda found: found.notna().any()))

    assert_same(outcome(str_get_dummies, series, sep, dtype), by_pandas(series, sep, dtype))


@given(data=st.data(), sep=st.sampled_from(SEPARATORS), dtype=result_dtypes(NUMPY))
def test_arrow_columns_equal_pandas(data, sep, dtype):
    """Columns of ArrowDtype have indicators of ArrowDtype."""
    series = data.draw(strings(TYPED, sep).filter(lambda found: found.notna().any()))

    assert_same(outcome(str_get_dummies, series, sep, dtype), by_pandas(series, sep, dtype))


@given(data=st.data(), sep=st.sampled_from(["|", ", "]), dtype=result_dtypes(NUMPY))
def test_indexes_equal_pandas(data, sep, dtype):
    """An Index becomes levels, an Index or an array."""
    dtypes = [object, "category", *ARROW, *TYPED]
    found = data.draw(strings(dtypes, sep).filter(lambda found: found.notna().any()))
    index = pd.Index(found)

    assert_same(outcome(str_get_dummies, index, sep, dtype), by_pandas(index, sep, dtype))


@pytest.mark.parametrize(
    "values",
    [
        ["a;b", "a", 7],
        [1, True, "1", 1.5, None],
        [["a"], "b;a"],
        [b"a;b", b"c"],
        [1, 2],
        [],
        [None, None],
        ["", ""],
        ["a\0;b", "\0"],
        ["\ud800;a", "a"],
    ],
    ids=repr,
)
def test_odd_objects_equal_pandas(values):
    """What is no string is written as one, or refused, as pandas does it."""
    series = pd.Series(values, dtype=object)

    actual = outcome(str_get_dummies, series, ";")

    assert_same(actual, outcome(lambda: series.str.get_dummies(";")))


@pytest.mark.parametrize("dtype", [str, "datetime64[ns]", object])
def test_refuses_other_dtypes(dtype):
    with pytest.raises(ValueError, match="Only numeric or boolean dtypes"):
        str_get_dummies(pd.Series(["a"]), dtype=dtype)


def test_refuses_what_holds_no_strings():
    with pytest.raises(AttributeError, match=r"Can only use \.str accessor"):
        str_get_dummies(pd.Series([1, 2]))


@pytest.mark.parametrize("dtype", [*ARROW, *TYPED], ids=str)
def test_only_missing_strings(dtype):
    """Without any tag there is no column, where pandas fails for some dtypes."""
    series = pd.Series([None, None], index=["x", "y"], dtype=dtype)

    actual = str_get_dummies(series)

    assert actual.shape == (2, 0)
    assert actual.index.tolist() == ["x", "y"]


@pytest.mark.parametrize("dtype", TYPED, ids=str)
def test_nullable_dtypes_of_arrow_columns(dtype):
    actual = str_get_dummies(pd.Series(["a|b", None], dtype=dtype), dtype="Int8")

    expected = pd.DataFrame({"a": [1, 0], "b": [1, 0]}, dtype="Int8")
    pd.testing.assert_frame_equal(actual, expected)


def test_a_category_that_does_not_occur_has_no_tags():
    series = pd.Series(pd.Categorical(["a|b"], categories=["c", "a|b"]))

    assert str_get_dummies(series).columns.tolist() == ["a", "b"]


def test_attributes_of_the_series_are_kept():
    series = pd.Series(["a|b"])
    series.attrs["source"] = "here"

    assert str_get_dummies(series).attrs == {"source": "here"}


def test_works_without_pyarrow():
    """Strings that are not Arrow's need no pyarrow."""
    program = """
import pandas as pd
from onehot_fast.integrations.pandas import from_dummies, get_dummies, str_get_dummies
for dtype in (object, "string[python]", "category"):
    series = pd.Series(["b|a", None, "a", "b"], dtype=dtype)
    pd.testing.assert_frame_equal(str_get_dummies(series), series.str.get_dummies())
    table = pd.DataFrame({"x": series, "n": range(4)})
    pd.testing.assert_frame_equal(get_dummies(table), pd.get_dummies(table))
assert "pyarrow" not in sys.modules
print("encoded")
"""
    # pandas 2.2 announces that it will need pyarrow.
    quiet = "-W", "ignore::DeprecationWarning"
    assert run(WITHOUT_PYARROW + program, *quiet) == "encoded"
