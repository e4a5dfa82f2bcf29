"""str_get_dummies, held against Series.str.get_dummies and Index.str.get_dummies."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

from frame_strategies import PANDAS_3, indexes  # noqa: E402  after the skips above
from side_by_side import assert_same_outcome  # noqa: E402
from strategies import examples  # noqa: E402

from onehot_fast.integrations.pandas import str_get_dummies  # noqa: E402

PYTHON = [object, "string[python]", "category"]
ARROW = ["string[pyarrow]", *(["str"] if PANDAS_3 else [])]
TYPED = [pd.ArrowDtype(pa.string()), pd.ArrowDtype(pa.large_string())]
NUMPY = ["bool", "int8", "uint16", "int64", "uint64", "float32", "float64"]
EXTENSIONS = ["boolean", "Int16", "Float64", "bool[pyarrow]", "uint8[pyarrow]"]
SEPARATORS = ["|", ",", ", ", "||", "a", "aa", "ab", ".", "..", "a.", "|b", "é", " ", ""]

pieces = st.text("ab|, .é", max_size=3)


@st.composite
def strings(draw: st.DrawFn, dtypes: list[Any], sep: str) -> Any:
    """Return a Series of joined pieces."""
    values = st.none() | st.lists(pieces, max_size=3).map(sep.join)
    pool = draw(st.lists(values, min_size=1, max_size=5))
    rows = draw(st.lists(st.sampled_from(pool), max_size=12))
    series = pd.Series(rows, dtype=draw(st.sampled_from(dtypes)))
    return series.set_axis(draw(indexes(len(rows)))).rename(draw(st.none() | pieces))


def by_pandas(data: Any, sep: str, **options: Any) -> Any:
    return data.str.get_dummies(sep, **options)


@pytest.mark.parametrize("sep", ["", "|"])
@pytest.mark.parametrize("dtype", [*PYTHON[:2], *ARROW], ids=str)
def test_no_strings_equal_pandas(dtype, sep):
    assert_same_outcome(str_get_dummies, by_pandas, pd.Series([], dtype=dtype), sep)


@pytest.mark.parametrize("as_index", [False, True])
@pytest.mark.parametrize(
    ("dtypes", "results"),
    [
        (PYTHON, [*NUMPY, *EXTENSIONS]),
        (ARROW, [*NUMPY, *EXTENSIONS]),
        (TYPED, NUMPY),  # their indicators are of ArrowDtype
    ],
    ids=["python", "arrow", "typed"],
)
@examples(0.5)
@given(data=st.data(), sep=st.sampled_from(SEPARATORS))
def test_equals_pandas(as_index, dtypes, results, data, sep):
    """Also by separators that are patterns, or overlap; an Index becomes levels or an array.

    In Arrow memory the empty piece is a tag.
    """
    column = data.draw(strings(dtypes, sep))
    # Without any string pandas fails for some dtypes, and an Index has no `.str`.
    assume(column.notna().any() or not (as_index or dtypes is not PYTHON))
    # Before pandas 3 there is no dtype; of an Index, it is one of NumPy.
    known = (NUMPY if as_index else results) if PANDAS_3 else []
    dtype = data.draw(st.sampled_from([None, *known]))
    column = pd.Index(column) if as_index else column

    assert_same_outcome(
        str_get_dummies, by_pandas, column, sep, **({} if dtype is None else {"dtype": dtype})
    )


@pytest.mark.parametrize(
    "values",
    [
        *(["a;b", "a", 7], [1, True, "1", 1.5, None], [["a"], "b;a"], [b"a;b", b"c"], [1, 2]),
        *([], [None, None], ["", ""], ["a\0;b", "\0"], ["\ud800;a", "a"]),
    ],
    ids=repr,
)
def test_odd_objects_equal_pandas(values):
    """What is no string is written as one, or refused, as pandas does it."""
    assert_same_outcome(str_get_dummies, by_pandas, pd.Series(values, dtype=object), ";")


def test_other_dtypes_are_rejected():
    for dtype in (str, "datetime64[ns]", object):
        with pytest.raises(ValueError, match="Only numeric or boolean dtypes"):
            str_get_dummies(pd.Series(["a"]), dtype=dtype)
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
    series.attrs["source"] = "here"

    encoded = str_get_dummies(series)

    assert encoded.columns.tolist() == ["a", "b"]
    assert encoded.attrs == {"source": "here"}
