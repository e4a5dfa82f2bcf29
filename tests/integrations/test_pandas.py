"""Series.onehot, held against pandas.get_dummies, and what only pandas has."""

import datetime as dt
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from support.programs import WITHOUT_PYARROW, run

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

from onehot_fast import Encoder, Special  # noqa: E402
from onehot_fast.adapter import ColumnSchema, Decoded, PassThrough, read_table  # noqa: E402
from onehot_fast.integrations.pandas import get_dummies, wrap  # noqa: E402
from support.frame_strategies import frames, labels, series  # noqa: E402  after the skips above
from support.side_by_side import assert_same  # noqa: E402
from support.strategies import examples  # noqa: E402

BARE = pd.DataFrame({"n": [1, 2], "size": ["S", None], "kind": ["x", "y"]})
OTHER = [
    pd.Series([1j]),
    pd.Series(pd.to_timedelta([1], unit="s")),
    pd.Series([1.0], dtype=pd.ArrowDtype(pa.float32())),
    pd.Series([1], dtype=pd.ArrowDtype(pa.decimal128(3))),
    pd.Series([("a", 1), None]),
]
SERIES = series() | st.sampled_from(OTHER)


@given(
    data=SERIES,
    options=st.fixed_dictionaries(
        {
            "prefix": st.none() | labels,
            "prefix_sep": labels,
            "dtype": st.sampled_from(["bool", "uint8", "int64", "float16", "float64", "complex64"]),
            "sparse": st.booleans(),
        }
    ),
    drop_first=st.booleans(),
)
@example(data=pd.Series([], dtype=object), options={"dtype": "bool"}, drop_first=False)
@example(data=pd.Series([None], dtype="Int64"), options={"prefix": "x"}, drop_first=False)
def test_a_series_equals_get_dummies(data, options, drop_first):
    """Values, dtypes, labels and the types of both indexes are those of pandas.

    Some sparse frames are the same only as those of our own `get_dummies`.
    """
    before = data.copy(deep=True)
    by_pandas = get_dummies if options.get("sparse") else pd.get_dummies

    if drop_first:
        assume(len(data.dropna().unique()))
        actual = data.onehot(**options, drop="first")
        expected = by_pandas(data, **options, drop_first=True)
        is_typed = options["prefix"] is None
        pd.testing.assert_frame_equal(actual, expected, check_column_type=is_typed)
    else:
        assert_same(data.onehot(**options), by_pandas(data, **options))
    pd.testing.assert_series_equal(data, before)


@given(
    rows=st.lists(
        st.tuples(*[st.sampled_from(["a", "b", None])] * 2, st.integers(0, 3)), max_size=20
    )
)
def test_a_sparse_frame_is_the_dense_one(rows):
    """New columns where the old ones stood, with every option; others are as they were."""
    frame = pd.DataFrame(rows, columns=["p", "n", "q"], index=range(5, 5 + len(rows)))
    frame = frame.astype({"p": object, "n": "category"})[["p", "q", "n"]]
    options = {"handle_missing": "indicator", "drop": {"n": "first"}, "dtype": {"n": "uint8"}}

    actual = frame.onehot(["p", "n"], sparse=True, **options)

    dense = frame.onehot(["p", "n"], **options)
    new = [name for name in dense if name != "q"]
    assert all(isinstance(actual[name].dtype, pd.SparseDtype) for name in new)
    pd.testing.assert_frame_equal(
        actual.astype({name: dense[name].dtype for name in new}), dense, check_dtype=bool(rows)
    )


def test_an_encoder_fills_sparse_columns():
    encoder = BARE.onehot.fit(["kind"], handle_unknown="ignore", dtype="uint8")

    frame = pd.DataFrame({"kind": ["z", "y"], "n": [1, 2]}).onehot(encoder, sparse=True)

    assert frame.to_dict("list") == {"kind_x": [0, 0], "kind_y": [0, 1], "n": [1, 2]}
    assert str(frame["kind_x"].dtype) == "Sparse[uint8, 0]"
    with pytest.raises(TypeError, match="drop= cannot be combined with an Encoder"):
        BARE.onehot(encoder, sparse=True, drop="first")


@pytest.mark.parametrize("data", [BARE, BARE["size"]], ids=["frame", "series"])
def test_nan_in_sparse_columns_is_rejected(data):
    """A sparse column has one fill value, and that is 0."""
    with pytest.raises(ValueError, match="'propagate' is not available with sparse=True"):
        data.onehot(handle_missing="propagate", dtype="float32", sparse=True)


@given(data=series())
def test_an_index_equals_get_dummies(data):
    """It is a column without row labels."""
    index = pd.Index(data)

    assert_same(index.onehot(), pd.get_dummies(index, dtype=bool))


def test_codes_of_an_index_are_its_own():
    """A CategoricalIndex is not hashed, nor are its codes copied; a MultiIndex is rejected."""
    index = pd.CategoricalIndex(list("ba"))

    assert np.shares_memory(index.onehot.codes(), index.codes)
    with pytest.raises(TypeError, match="get_level_values"):
        pd.MultiIndex.from_tuples([("a", 1)]).onehot()


def test_nan_in_arrow_memory_is_missing_under_options():
    """NaN is a value, as in pandas' own function, but missing under options; -0.0 is 0.0."""
    zeros = pd.Series([-0.0, 0.0, None, 2.0], dtype=pd.ArrowDtype(pa.float64()))
    assert zeros.onehot(dtype="uint8").to_dict("list") == {0.0: [1, 1, 0, 0], 2.0: [0, 0, 0, 1]}
    floats = pa.array([float("nan"), 0.5, None])
    series = pd.Series(pd.arrays.ArrowExtensionArray(floats), name="c")
    assert series.onehot().shape == pd.get_dummies(series).shape
    encoded = series.onehot(prefix="c", handle_missing="indicator", dtype="uint8")
    assert encoded.to_dict("list") == {"c_0.5": [0, 1, 0], "c_(missing)": [1, 0, 1]}
    with pytest.raises(ValueError, match="column 'c', row 0: the value is missing"):
        series.onehot(handle_missing="error")


@pytest.mark.parametrize("kind", ["halffloat", "run_end_encoded", "uuid"])
def test_types_that_arrow_cannot_sort_are_encoded(kind):
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


def test_labels_that_arrow_cannot_hold_are_encoded():
    """A lone surrogate, and a number and a text that are two categories, but one name."""
    series = pd.Series(["\ud800|a"], dtype=object)
    assert series.onehot.multi_hot("|").columns.tolist() == ["a", "\ud800"]
    with pytest.raises(ValueError, match="two columns would be named '1'"):
        pd.Series([1, "1"], dtype=object).onehot.to_arrow()


@given(data=SERIES)
def test_missing_values_have_an_indicator(data):
    """The indicator column marks exactly the values that pandas takes for missing, in any dtype."""
    flagged = data.onehot(handle_missing="indicator", dtype="uint8")

    assert flagged.iloc[:, -1].tolist() == data.isna().tolist()


def test_an_accessor_keeps_no_state():
    data = pd.Series(["a", "a"])
    kept = data.onehot
    data.iloc[0] = "b"
    assert kept().columns.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        *product(["__call__", "to_numpy"], [None, object, "M8[ns]", "U3", "S1", "category", "?!"]),
        *product(["to_numpy", "to_csr"], ["boolean", pd.Int8Dtype()]),
    ],
    ids=str,
)
def test_dtypes_without_0_and_1_are_rejected(form, dtype):
    with pytest.raises(TypeError, match="must be a Boolean, integer, float or complex dtype"):
        getattr(pd.Series(["a"]).onehot, form)(dtype=dtype)


@pytest.mark.parametrize("dtype", ["Int8", "boolean", "bool[pyarrow]", pd.Float32Dtype()], ids=str)
def test_dtypes_of_pandas_equal_get_dummies(dtype):
    """The accessors equal `get_dummies` in dtypes of pandas, and take a prefix for each column."""
    frame = pd.DataFrame({"a": ["x", "y", None], "n": [1, 2, 3], "b": ["u", "u", "v"]})
    options = {"prefix": ["p", "q"], "prefix_sep": ["=", ":"], "dtype": dtype}

    assert_same(frame["a"].onehot(dtype=dtype), pd.get_dummies(frame["a"], dtype=dtype))
    encoded = frame.onehot(**options)
    expected = pd.get_dummies(frame, **options)
    pd.testing.assert_frame_equal(encoded[expected.columns], expected)
    assert encoded.columns.tolist() == ["p=x", "p=y", "n", "q:u", "q:v"]
    assert list(frame.onehot.fit(prefix=["p", "q"]).get_feature_names_out())[-1] == "q_v"
    with pytest.raises(ValueError, match=r"Length of 'prefix' \(1\) did not match the length"):
        frame.onehot(prefix=["p"])
    with pytest.raises(TypeError):
        frame.onehot(dtype=dtype, sparse=True)


def test_pandas_works_without_pyarrow():
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


@given(table=frames(), data=st.data())
def test_columns_of_one_name_are_kept(table, data):
    """Each has its own dtype, and the rows keep their labels."""
    positions = data.draw(st.permutations(range(table.shape[1])))

    result = wrap(read_table(table), [PassThrough(table.columns[i], i) for i in positions])

    pd.testing.assert_frame_equal(result, table.iloc[:, positions], check_names=False)
    assert wrap(read_table(table), []).index.equals(table.index)


OBJECTS = [
    ["x", "y"], ["x", None], ["", "x", float("nan")], [None], [1, "x"], [True, None], [b"x"],
    [dt.date(2020, 1, 1)], [dt.datetime(2020, 1, 1), None], [Special.UNKNOWN, "x"], [2**70], [],
]  # fmt: skip


@examples(0.5)
@given(data=st.data(), kinds=st.lists(st.sampled_from(OBJECTS), min_size=1, max_size=4))
def test_decoded_objects_have_the_dtype_that_pandas_infers(data, kinds):
    """Decoded columns of objects have the dtypes that pandas infers, and share no memory."""
    n_rows = data.draw(st.integers(1, 6)) if all(kinds) else 0
    parts = []
    for i, kind in enumerate(kinds):
        distinct = np.empty(len(kind) if n_rows else 0, object)
        distinct[:] = kind[: len(distinct)]
        more = [data.draw(st.integers(0, len(kind) - 1)) for _ in range(n_rows - len(distinct))]
        positions = np.array([*range(len(distinct)), *more][: max(n_rows, 0)], np.intp)
        schema = ColumnSchema.declared(["x"], np.dtype(bool))
        parts.append(Decoded(f"c{i}", distinct[: len(positions)], positions, schema))

    result = wrap(read_table(pd.DataFrame({"a": np.zeros(n_rows)})), parts)

    expected = pd.DataFrame({part.name: pd.Series(part.distinct[part.positions]) for part in parts})
    pd.testing.assert_frame_equal(result, expected)
    if n_rows:
        result.iloc[0, 0] = None  # a column of one frame is not another's memory
        pd.testing.assert_frame_equal(result.iloc[:, 1:], expected.iloc[:, 1:])


@pytest.mark.parametrize("output", ["numpy", "csr", "pandas"])
def test_repeated_category_dtypes_give_the_same_result(output):
    """Tables that share a dtype of categories are encoded like texts, and all rows are checked."""
    dtype = pd.CategoricalDtype(["b", "a", "c"])
    tables = [pd.DataFrame({"x": pd.Series(rows, dtype=dtype)}) for rows in (["a", "c"], ["b"])]
    tables += [pd.DataFrame({"x": pd.Categorical(["c", "a"])}), tables[0]]
    learned = pd.DataFrame({"x": ["a", "b", "c"]})
    encoder = Encoder(handle_missing="error").fit(learned)
    for table in tables:
        texts = table.astype({"x": object})
        encoded, expected = (encoder.transform(each, "numpy") for each in (table, texts))
        np.testing.assert_array_equal(encoded, expected)
        other = encoder.transform(table, output)
        np.testing.assert_array_equal(getattr(other, "toarray", lambda o=other: o)(), expected)
    lacking = pd.DataFrame({"x": pd.Series(["a", None], dtype=dtype)})
    strange = pd.DataFrame({"x": pd.Categorical(["a", "z"])})
    for _ in range(2):
        with pytest.raises(ValueError, match="row 1: the value is missing"):
            encoder.transform(lacking, output)
        with pytest.raises(ValueError, match="'z' is unknown"):
            encoder.transform(strange, output)


@pytest.mark.parametrize(
    ("values", "kind", "says"),
    [
        ([10**7], pa.date32(), "'c'.*years outside 1 to 9999"),
        ([2**60], pa.timestamp("s", "UTC"), "'c'.*years outside 1 to 9999"),
        ([1, 2], pa.time64("ns"), "'c'.*nanoseconds"),
        ([1], pa.time64("ns"), "'c'.*nanoseconds"),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "arrow"])
def test_times_outside_the_range_of_python_are_rejected(values, kind, says, library):
    """They are refused by the name of their column, and never rounded."""
    table = pa.table({"c": pa.array(values, kind)})
    if library == "pandas":
        table = pd.DataFrame({"c": pd.arrays.ArrowExtensionArray(table["c"])})
    with pytest.raises(ValueError, match=says):
        Encoder(["c"]).fit(table)


@pytest.mark.parametrize("kind", ["category", "dictionary"])
def test_nan_among_categories_in_arrow_memory_is_missing(kind):
    floats = pa.array([1.0, float("nan"), 2.0])
    array = floats if kind == "category" else floats.dictionary_encode()
    series = pd.Series(pd.arrays.ArrowExtensionArray(array))
    frame = pd.DataFrame({"c": series.astype("category") if kind == "category" else series})

    encoded = Encoder(["c"], handle_missing="indicator").fit_transform(frame, output="numpy")

    assert encoded.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
