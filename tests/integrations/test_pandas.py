"""Series.onehot, held against pandas.get_dummies, and what only pandas has."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from programs import WITHOUT_PYARROW, run

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

from frame_strategies import TEXT, labels, series  # noqa: E402  after the skips above
from side_by_side import assert_same  # noqa: E402

import onehot_fast.integrations.pandas  # noqa: E402, F401

ARROW_TEXT = ["string[pyarrow]", pd.ArrowDtype(pa.string()), pd.ArrowDtype(pa.large_string())]
OTHER = {
    "complex": pd.Series([1j]),
    "timedelta": pd.Series(pd.to_timedelta([1], unit="s")),
    "arrow float": pd.Series([1.0], dtype=pd.ArrowDtype(pa.float32())),
    "arrow decimal": pd.Series([1], dtype=pd.ArrowDtype(pa.decimal128(3))),
    "tuples": pd.Series([("a", 1), None]),
}


@given(
    data=series(),
    prefix=st.none() | labels,
    prefix_sep=labels,
    dtype=st.sampled_from(["bool", "uint8", "int64", "float32", "float64", "complex64"]),
)
@example(data=pd.Series([], dtype=object), prefix=None, prefix_sep="_", dtype="bool")
@example(data=pd.Series([None], dtype="Int64"), prefix="x", prefix_sep="_", dtype="bool")
def test_equals_get_dummies(data, prefix, prefix_sep, dtype):
    """Values, dtypes, labels and the types of both indexes are those of pandas."""
    before = data.copy(deep=True)

    actual = data.onehot(prefix=prefix, prefix_sep=prefix_sep, dtype=dtype)

    assert_same(actual, pd.get_dummies(data, prefix=prefix, prefix_sep=prefix_sep, dtype=dtype))
    pd.testing.assert_series_equal(data, before)


@given(data=series(), prefix=st.none() | st.just("x"))
def test_drop_first_is_that_of_pandas(data, prefix):
    """Values and labels, whose dtype stays that of the categories."""
    assume(len(data.dropna().unique()))

    actual = data.onehot(prefix=prefix, drop="first")

    expected = pd.get_dummies(data, prefix=prefix, drop_first=True, dtype=bool)
    pd.testing.assert_frame_equal(actual, expected, check_column_type=prefix is None)


@given(data=series())
def test_an_index_equals_get_dummies(data):
    """It is a column without row labels."""
    index = pd.Index(data)

    assert_same(index.onehot(), pd.get_dummies(index, dtype=bool))


def test_codes_of_an_index_are_its_own():
    """A CategoricalIndex is not hashed, nor are its codes copied."""
    index = pd.CategoricalIndex(list("ba"))

    assert np.shares_memory(index.onehot.codes(), index.codes)


def test_a_multiindex_has_no_categories():
    """The error tells how to get one of its levels."""
    with pytest.raises(TypeError, match="get_level_values"):
        pd.MultiIndex.from_tuples([("a", 1)]).onehot()


@pytest.mark.parametrize("data", OTHER.values(), ids=OTHER)
def test_every_dtype_that_pandas_encodes(data):
    """What `pandas.get_dummies` takes, the accessor takes."""
    frame = data.onehot(dtype="uint8")

    pd.testing.assert_frame_equal(frame, pd.get_dummies(data, dtype="uint8"))
    np.testing.assert_array_equal(data.onehot.to_numpy(dtype="uint8"), frame.to_numpy())


def test_zeros_of_two_signs_are_one_category_in_arrow_memory_too():
    data = pd.Series([-0.0, 0.0, None, 2.0], dtype=pd.ArrowDtype(pa.float64()))

    assert data.onehot(dtype="uint8").to_dict("list") == {0.0: [1, 1, 0, 0], 2.0: [0, 0, 0, 1]}


def test_nan_in_arrow_memory_is_missing_under_options():
    """Without options it is a value, as in pandas' own function."""
    pa = pytest.importorskip("pyarrow")
    floats = pa.array([float("nan"), 0.5, None])
    series = pd.Series(pd.arrays.ArrowExtensionArray(floats), name="c")
    assert series.onehot().shape == pd.get_dummies(series).shape

    encoded = series.onehot(prefix="c", handle_missing="indicator", dtype="uint8")
    assert encoded.to_dict("list") == {"c_0.5": [0, 1, 0], "c_(missing)": [1, 0, 1]}
    with pytest.raises(ValueError, match="column 'c', row 0: the value is missing"):
        series.onehot(handle_missing="error")


@pytest.mark.parametrize("kind", ["halffloat", "run_end_encoded", "uuid"])
def test_types_that_arrow_cannot_sort(kind):
    """They are encoded as by the frame, which pandas' own function cannot do."""
    pa = pytest.importorskip("pyarrow", "18")
    arrays = {
        "halffloat": lambda: pa.array(np.array([1.5, 0.5, 1.5], np.float16)),
        "run_end_encoded": lambda: pa.RunEndEncodedArray.from_arrays([1, 2, 3], ["b", "a", "b"]),
        "uuid": lambda: pa.array([b"b" * 16, b"a" * 16, b"b" * 16], pa.uuid()),
    }
    series = pd.Series(pd.arrays.ArrowExtensionArray(arrays[kind]()), name="c")
    encoded = series.onehot(prefix="c", dtype="uint8")
    assert encoded.to_numpy().tolist() == [[0, 1], [1, 0], [0, 1]]
    pd.testing.assert_frame_equal(encoded, series.to_frame().onehot(["c"], dtype="uint8"))


def test_labels_that_arrow_cannot_hold():
    series = pd.Series(["\ud800|a"], dtype=object)
    assert series.onehot.multi_hot("|").columns.tolist() == ["a", "\ud800"]


@given(data=series() | st.sampled_from([*OTHER.values()]))
def test_missing_values_have_an_indicator(data):
    """Of any dtype, and None, NaN and NA alike."""
    flagged = data.onehot(handle_missing="indicator", dtype="uint8")

    assert flagged.iloc[:, -1].tolist() == data.isna().tolist()


@pytest.mark.parametrize("dtype", dict.fromkeys([*TEXT, *ARROW_TEXT]), ids=str)
def test_missing_is_off_in_every_column(dtype):
    """None, NaN and NA give a row without any on."""
    data = pd.Series(["b", None, "a", np.nan, pd.NA], dtype=dtype)

    assert data.onehot().sum(axis=1).tolist() == [1, 0, 1, 0, 0]


@pytest.mark.parametrize("dtype", ARROW_TEXT, ids=str)
def test_arrow_strings_in_slices_and_chunks(dtype):
    """Strings spread over several sliced Arrow chunks are encoded as if they lay in one."""
    parts = [pd.Series(["x", *rest], dtype=dtype).iloc[1:] for rest in ("cb", [None], "", "ad")]
    data = pd.concat(parts)

    assert data.array.__arrow_array__().num_chunks > 1
    pd.testing.assert_frame_equal(data.onehot(), pd.get_dummies(data, dtype=bool))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float32"])
def test_frame_is_one_block(dtype):
    """The frame is a transposed view of what the kernel wrote: contiguous columns, no copy."""
    frame = pd.Series(list("abcab"), dtype="category").onehot(dtype=dtype)
    values = frame.to_numpy()  # a view exactly where the frame is one block

    assert values.flags.f_contiguous
    assert np.shares_memory(frame["c"].to_numpy(), values)


def test_accessor_keeps_no_state():
    """An accessor that was kept sees the Series as it is when it is called."""
    data = pd.Series(["a", "a"])
    kept = data.onehot

    data.iloc[0] = "b"

    assert kept().columns.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "data",
    [pd.Series([["a"], ["b"]]), pd.Series([[1]], dtype=pd.ArrowDtype(pa.list_(pa.int8())))],
    ids=["lists", "arrow lists"],
)
@pytest.mark.parametrize("form", ["__call__", "to_numpy", "codes"])
def test_lists_are_no_categories(data, form):
    with pytest.raises(TypeError, match="hash"):
        getattr(data.onehot, form)()


@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        *product(["__call__", "to_numpy"], [None, object, "M8[ns]", "U3", "S1", "category", "?!"]),
        *product(["to_numpy", "to_csr"], ["boolean", pd.Int8Dtype()]),
    ],
    ids=str,
)
def test_refuses_result_dtypes_without_plain_0_and_1(form, dtype):
    with pytest.raises(TypeError, match="must be a Boolean, integer, float or complex dtype"):
        getattr(pd.Series(["a"]).onehot, form)(dtype=dtype)


@pytest.mark.parametrize("dtype", ["Int8", "boolean", "bool[pyarrow]", pd.Float32Dtype()], ids=str)
def test_dtypes_of_pandas_equal_get_dummies(dtype):
    frame = pd.DataFrame({"a": ["x", "y", None], "n": [1, 2, 3], "b": ["u", "u", "v"]})

    pd.testing.assert_frame_equal(
        frame["a"].onehot(dtype=dtype), pd.get_dummies(frame["a"], dtype=dtype)
    )
    encoded = frame.onehot(["a", "b"], prefix=["p", "q"], prefix_sep=["=", ":"], dtype=dtype)
    expected = pd.get_dummies(frame, prefix=["p", "q"], prefix_sep=["=", ":"], dtype=dtype)
    pd.testing.assert_frame_equal(encoded[expected.columns], expected)
    assert encoded.columns.tolist() == ["p=x", "p=y", "n", "q:u", "q:v"]
    with pytest.raises(TypeError):
        frame.onehot(dtype=dtype, sparse=True)


def test_a_list_of_prefixes_is_as_long_as_there_are_columns():
    frame = pd.DataFrame({"a": ["x"], "b": ["u"]})

    assert frame.onehot(prefix=["p", "q"]).columns.tolist() == ["p_x", "q_u"]
    assert frame.onehot.fit(prefix=["p", "q"]).get_feature_names_out().tolist() == ["p_x", "q_u"]
    with pytest.raises(ValueError, match=r"Length of 'prefix' \(1\) did not match the length"):
        frame.onehot(prefix=["p"])


def test_two_names_in_arrow_that_are_one_text():
    """A number and a text are two categories, but one name."""
    with pytest.raises(ValueError, match="two columns would be named '1'"):
        pd.Series([1, "1"], dtype=object).onehot.to_arrow()


def test_works_without_pyarrow():
    """Nothing but Arrow-backed columns needs pyarrow, which pandas itself does not require."""
    program = """
import pandas as pd
from onehot_fast.integrations.pandas import get_dummies, str_get_dummies
for dtype in (object, "string[python]", "category"):
    series = pd.Series(["b|a", None, "a", "b"], dtype=dtype)
    table = pd.DataFrame({"x": series, "n": range(4)})
    pd.testing.assert_frame_equal(series.onehot(), pd.get_dummies(series, dtype=bool))
    pd.testing.assert_frame_equal(str_get_dummies(series), series.str.get_dummies())
    pd.testing.assert_frame_equal(get_dummies(table), pd.get_dummies(table))
assert "pyarrow" not in sys.modules
print("encoded")
"""
    # pandas 2.2 announces that it will need pyarrow.
    quiet = "-W", "ignore::DeprecationWarning"
    assert run(WITHOUT_PYARROW + program, *quiet) == "encoded"
