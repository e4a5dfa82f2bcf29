"""Series.onehot, held against pandas.get_dummies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from programs import WITHOUT_PYARROW, run

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

import onehot_fast.integrations.pandas  # noqa: E402, F401  after the skips above

ARROW_TEXT = ["string[pyarrow]", pd.ArrowDtype(pa.string()), pd.ArrowDtype(pa.large_string())]
TEXT = [object, "string[python]", *ARROW_TEXT]
if int(pd.__version__.split(".")[0]) >= 3:  # before, "str" was another name of object
    TEXT.append("str")
WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NULLABLE_WHOLE = ["Int8", "Int64", "UInt64", pd.ArrowDtype(pa.int16())]
NULLABLE_TRUTH = ["boolean", pd.ArrowDtype(pa.bool_())]
OTHER = {
    "float64": pd.Series([2.0, None, 1.0]),
    "Float64": pd.Series([1.0, None], dtype="Float64"),
    "complex": pd.Series([1j]),
    "datetime": pd.Series(pd.to_datetime(["2013-01-01", None])),
    "zoned": pd.Series(pd.to_datetime(["2013-01-01"]).tz_localize("UTC")),
    "timedelta": pd.Series(pd.to_timedelta([1], unit="s")),
    "period": pd.Series(pd.period_range("2013-01", periods=2, freq="M")),
    "interval": pd.Series(pd.interval_range(0, 2)),
    "arrow float": pd.Series([1.0], dtype=pd.ArrowDtype(pa.float32())),
    "arrow decimal": pd.Series([1], dtype=pd.ArrowDtype(pa.decimal128(3))),
    "tuples": pd.Series([("a", 1), None]),
}
UNHASHABLE = {
    "lists": pd.Series([["a"], ["b"]]),
    "arrow lists": pd.Series([[1]], dtype=pd.ArrowDtype(pa.list_(pa.int8()))),
}

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)


def columns_of(values: st.SearchStrategy[Any], dtypes: list[Any]) -> st.SearchStrategy[Any]:
    """Return Series of few distinct values (so that they repeat) of one of the dtypes."""
    pools = st.lists(values, min_size=1, max_size=6)
    rows = pools.flatmap(lambda pool: st.lists(st.sampled_from(pool), max_size=40))
    return st.builds(
        lambda rows, dtype: pd.Series(rows, dtype=dtype), rows, st.sampled_from(dtypes)
    )


@st.composite
def declared(draw: st.DrawFn) -> Any:
    """Return a categorical Series: unused and repeated categories, missing values, any order."""
    values = st.lists(text, unique=True, max_size=8) | st.lists(
        st.integers(-(2**63), 2**63 - 1), unique=True, max_size=8
    )
    categories = draw(values)
    codes = draw(st.lists(st.integers(-1, len(categories) - 1), max_size=40))
    dtype = pd.CategoricalDtype(pd.Index(categories), ordered=draw(st.booleans()))
    return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype))


@st.composite
def labelled(draw: st.DrawFn) -> Any:
    """Return a Series of any supported dtype under any kind of row index."""
    truth = st.booleans()
    series = draw(
        declared()
        | columns_of(text, TEXT)
        | columns_of(st.none() | text, TEXT)
        | columns_of(st.integers(0, 127), WHOLE)
        | columns_of(st.none() | st.integers(0, 127), NULLABLE_WHOLE)
        | columns_of(truth, ["bool", object])
        | columns_of(st.none() | truth, NULLABLE_TRUTH)
    )
    n_rows = len(series)
    index = draw(
        st.sampled_from(
            [
                pd.RangeIndex(n_rows),
                pd.Index(["twice"] * n_rows, name="label"),
                pd.Index(np.arange(n_rows)[::-1] // 2),
                pd.date_range("2013-01-01", periods=n_rows, freq="h"),
                pd.MultiIndex.from_arrays([np.arange(n_rows) % 3, np.arange(n_rows)]),
            ]
        )
    )
    return series.set_axis(index).rename(draw(st.none() | text))


@given(
    series=labelled(),
    prefix=st.none() | text,
    prefix_sep=text,
    dtype=st.sampled_from(["bool", "uint8", "int64", "float32", "float64", "complex64"]),
)
@example(series=pd.Series([], dtype=object), prefix=None, prefix_sep="_", dtype="bool")
@example(series=pd.Series([None], dtype="Int64"), prefix="x", prefix_sep="_", dtype="bool")
@example(
    series=pd.Series([2**63, 2**64 - 1], dtype="uint64"), prefix=None, prefix_sep="_", dtype="bool"
)
def test_equals_get_dummies(series: Any, prefix: str | None, prefix_sep: str, dtype: str) -> None:
    """Values, dtypes, labels and the types of both indexes are those of pandas."""
    before = series.copy(deep=True)
    expected = pd.get_dummies(series, prefix=prefix, prefix_sep=prefix_sep, dtype=dtype)

    actual = series.onehot(prefix, prefix_sep, dtype)

    pd.testing.assert_frame_equal(
        actual, expected, check_index_type="exact", check_column_type="exact"
    )
    pd.testing.assert_series_equal(series, before)


@given(series=labelled())
def test_codes_name_the_column_that_is_on(series: Any) -> None:
    """A code is the position of the row's column; -1 is a missing value, off everywhere."""
    array = series.onehot.to_numpy(bool)

    codes = series.onehot.codes()

    assert codes.dtype.kind == "i"
    np.testing.assert_array_equal(codes == -1, series.isna().to_numpy())
    np.testing.assert_array_equal(array, codes[:, np.newaxis] == np.arange(array.shape[1]))


@pytest.mark.parametrize("dtype", TEXT, ids=str)
def test_missing_is_off_in_every_column(dtype: Any) -> None:
    """None, NaN and NA give a row without any on."""
    series = pd.Series(["b", None, "a", np.nan, pd.NA], dtype=dtype)

    assert series.onehot().sum(axis=1).tolist() == [1, 0, 1, 0, 0]


@pytest.mark.parametrize("dtype", ARROW_TEXT, ids=str)
def test_arrow_strings_in_slices_and_chunks(dtype: Any) -> None:
    """Strings spread over several sliced Arrow chunks are encoded as if they lay in one."""
    parts = [pd.Series(["x", *rest], dtype=dtype).iloc[1:] for rest in ("cb", [None], "", "ad")]
    series = pd.concat(parts)

    assert series.array.__arrow_array__().num_chunks > 1
    pd.testing.assert_frame_equal(series.onehot(), pd.get_dummies(series, dtype=bool))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float32"])
def test_frame_is_one_block(dtype: str) -> None:
    """The frame is a transposed view of what the kernel wrote: contiguous columns, no copy."""
    frame = pd.Series(list("abcab"), dtype="category").onehot(dtype=dtype)
    values = frame.to_numpy()  # a view exactly where the frame is one block

    assert values.flags.f_contiguous
    assert np.shares_memory(frame["c"].to_numpy(), values)


def test_accessor_keeps_no_state() -> None:
    """An accessor that was kept sees the Series as it is when it is called."""
    series = pd.Series(["a", "a"])
    kept = series.onehot

    series.iloc[0] = "b"

    assert kept().columns.tolist() == ["a", "b"]


@pytest.mark.parametrize("series", OTHER.values(), ids=OTHER.keys())
def test_every_dtype_that_pandas_encodes(series: Any) -> None:
    """What `pandas.get_dummies` takes, the accessor takes, with the options of an encoder."""
    frame = series.onehot(dtype="uint8")

    pd.testing.assert_frame_equal(frame, pd.get_dummies(series, dtype="uint8"))
    np.testing.assert_array_equal(series.onehot.to_numpy("uint8"), frame.to_numpy())
    flagged = series.onehot(handle_missing="indicator", dtype="uint8")
    assert flagged.iloc[:, -1].tolist() == series.isna().tolist()


@pytest.mark.parametrize("series", UNHASHABLE.values(), ids=UNHASHABLE.keys())
@pytest.mark.parametrize(
    "call",
    [lambda of: of(), lambda of: of.to_numpy(), lambda of: of.codes()],
    ids=["frame", "array", "codes"],
)
def test_refuses_what_cannot_be_hashed(series: Any, call: Any) -> None:
    """A list is no category."""
    with pytest.raises(TypeError, match="hash"):
        call(series.onehot)


@pytest.mark.parametrize(
    "dtype", [None, object, "M8[ns]", "U3", "S1", "boolean", pd.Int8Dtype(), "?!"], ids=str
)
@pytest.mark.parametrize("method", ["__call__", "to_numpy"])
def test_refuses_result_dtypes_without_plain_0_and_1(method: str, dtype: Any) -> None:
    """The result holds NumPy Booleans or numbers; anything else is refused by name."""
    with pytest.raises(TypeError, match="is not a Boolean, integer, float or complex dtype"):
        getattr(pd.Series(["a"]).onehot, method)(dtype=dtype)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"prefix": ["x"]}, r"prefix = \['x'\] is a list; accepted is a str"),
        ({"prefix": "x", "prefix_sep": None}, "prefix_sep = None is a NoneType; accepted is a str"),
    ],
)
def test_refuses_names_that_are_not_text(names: dict[str, Any], message: str) -> None:
    """A prefix that is no string would end up in the labels as its repr."""
    with pytest.raises(TypeError, match=message):
        pd.Series(["a"]).onehot(**names)


def test_works_without_pyarrow() -> None:
    """Nothing but Arrow-backed columns needs pyarrow, which pandas itself does not require."""
    program = """
import pandas as pd
import onehot_fast.integrations.pandas
for dtype in (object, "string[python]", "category"):
    series = pd.Series(["b", None, "a", "b"], dtype=dtype)
    pd.testing.assert_frame_equal(series.onehot(), pd.get_dummies(series, dtype=bool))
assert "pyarrow" not in sys.modules
print("encoded")
"""
    # pandas 2.2 announces that it will need pyarrow.
    quiet = "-W", "ignore::DeprecationWarning"
    assert run(WITHOUT_PYARROW + program, *quiet) == "encoded"
