"""Every dtype of pandas, NumPy and pyarrow in a pandas column: decoded, and as labels."""

import io
import json
import pickle
import re

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

from pandas.api.extensions import ExtensionDtype  # noqa: E402

from onehot_fast import Encoder  # noqa: E402
from onehot_fast.integrations.pandas._dtypes import dtype_of_name  # noqa: E402
from support import pandas_types as types  # noqa: E402  after the skips above

# Classes that have no columns: a Series of the first is one of the NumPy dtype.
ABSTRACT = {
    "NumpyEADtype", "BaseMaskedDtype", "NumericDtype", "FloatingDtype", "IntegerDtype",
    "StorageExtensionDtype", "PandasExtensionDtype",
}  # fmt: skip
# JSON has no form for values of these dtypes; `to_json` raises.
UNSAVED = re.compile(r"clongdouble|complex256|month_day_nano|tzfile")
# pyarrow's class of such values cannot be pickled.
UNPICKLED = "month_day_nano"
# Series write these values as pandas does, to be equal to `get_dummies`.
OTHER_NAMES = re.compile(r"M8|m8|datetime64|timedelta64|timestamp|duration|category of extension")
SAMPLES = [series for group in types.of_pandas().values() for series in group]
SAMPLES += types.numpy_series()


def name_of(series):
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        order = "ordered" if dtype.ordered else "unordered"
        return f"category of {dtype.categories.dtype!r}, {order}"
    return repr(dtype)


each_sample = pytest.mark.parametrize("series", SAMPLES, ids=name_of)


def values_of(series):
    """Return the rows as Python objects; None is missing."""
    if isinstance(series.dtype, pd.ArrowDtype):
        return pa.array(series.array).to_pylist()
    return [None if pd.isna(value) else value for value in series]


def assert_same(decoded, series):
    assert decoded.dtype == series.dtype
    assert isinstance(decoded.dtype, np.dtype) or type(decoded.dtype) is type(series.dtype)
    assert values_of(decoded) == values_of(series)
    if isinstance(series.dtype, pd.CategoricalDtype):
        found, expected = decoded.dtype.categories, series.dtype.categories
        assert (found.dtype, [*found]) == (expected.dtype, [*expected])
        assert decoded.dtype.ordered == series.dtype.ordered
    if isinstance(series.dtype, pd.StringDtype):
        assert decoded.dtype.storage == series.dtype.storage
        assert decoded.dtype.na_value is series.dtype.na_value


def test_every_class_of_dtypes_has_a_sample():
    defined = {
        kind.__name__
        for kind in types.subclasses(ExtensionDtype)
        if kind.__module__.partition(".")[0] == "pandas"
    }
    assert defined - ABSTRACT == {kind.__name__ for kind in types.of_pandas()}


def test_every_arrow_type_has_a_sample():
    defined = {name.removeprefix("Type_") for name in dir(pa.lib) if name.startswith("Type_")}
    combined = {"DICTIONARY", "RUN_END_ENCODED"}  # of samples of other types
    assert defined <= {*types.ARROW, *types.NESTED, *combined, *types.WITHOUT_TYPE}


@each_sample
def test_a_decoded_column_is_the_fitted_one(series):
    """A column of pandas is decoded as fitted, whole, one row or none, and by a copied encoder.

    One category is dropped; the copies are by JSON, pickle and merge.
    """
    frame = series.to_frame("c")
    encoder = Encoder(["c"], handle_missing="indicator", drop="first").fit(frame)
    encoded = encoder.transform(frame)
    copies = [encoder, encoder.merge(encoder)]
    if UNPICKLED not in name_of(series):
        copies.append(pickle.loads(pickle.dumps(encoder)))
    if not UNSAVED.search(name_of(series)):
        copies.append(Encoder.from_json(encoder.to_json()))
    for copy in copies:
        assert_same(copy.inverse_transform(encoded)["c"], series)
    for row in range(-1, len(frame)):
        part = slice(max(row, 0), row + 1)  # no row, or one row
        some = encoder.transform(frame.iloc[part])
        assert_same(encoder.inverse_transform(some)["c"], series.iloc[part])


@each_sample
def test_a_series_and_a_frame_have_the_same_features(series):
    """The same rows of ones, under labels that pandas can look up, print and write.

    As in `get_dummies`, a Series writes times as pandas does, and has all values of an unordered
    Arrow dictionary, in their order.
    """
    encoded = series.onehot(prefix="c", dtype="uint8")
    in_frame = series.to_frame("c").onehot(["c"], dtype="uint8")
    labelled = series.onehot(dtype="uint8")
    assert labelled.shape == encoded.shape
    # pandas itself cannot print an index of categories in Arrow memory.
    if len(labelled.columns) and not isinstance(labelled.columns, pd.CategoricalIndex):
        assert labelled.to_csv(io.StringIO()) is None
        assert repr(labelled)
        assert [labelled.columns.get_loc(label) for label in labelled] == [*range(encoded.shape[1])]
    if "ordered=0" in name_of(series):
        encoded = encoded.iloc[:, :1]  # the only value that occurs
    if not OTHER_NAMES.search(name_of(series)):
        assert encoded.columns.tolist() == in_frame.columns.tolist()
    assert encoded.to_numpy().tolist() == in_frame.to_numpy().tolist()


@pytest.mark.parametrize("kind", ["duration[s]", "timestamp[us]", "date32", "time64[us]"])
def test_categories_of_arrow_times_have_the_names_that_pandas_gives_them(kind):
    values = pa.array([3_600_000_000, -1], pa.int64())
    if kind == "date32":
        values = pa.array([1, 2], pa.int32())
    if kind == "time64[us]":
        values = pa.array([1, 2], pa.int64())
    array = values.view(pa.type_for_alias(kind))
    series = types.series_of(array).astype("category")
    expected = pd.get_dummies(series, prefix="c", dtype=bool)
    pd.testing.assert_frame_equal(series.onehot(prefix="c"), expected)


@pytest.mark.parametrize("kind", types.NESTED)
def test_nested_types_are_rejected_in_fit(kind):
    """Except lists, whose elements are labels: a column of nulls has none."""
    try:
        array = pa.nulls(2, types.NESTED[kind]())
    except (AttributeError, pa.ArrowNotImplementedError) as error:
        pytest.skip(f"this pyarrow has no such type: {error}")
    frame = types.series_of(array).to_frame("c")
    if "LIST" in kind:
        encoder = Encoder(["c"], handle_missing="indicator").fit(frame)
        assert encoder.transform(frame, "numpy").tolist() == [[1], [1]]
        return
    with pytest.raises(TypeError, match=r"column 'c'.*cannot be encoded"):
        Encoder(["c"]).fit(frame)


@pytest.mark.parametrize("index", [pa.int8(), pa.uint32()], ids=str)
def test_an_ordered_arrow_dictionary_declares_its_categories(index):
    """An ordered Arrow dictionary declares its categories in order, in pandas as in Arrow."""
    indices = pa.array([2, None, 0], index)
    sizes = pa.DictionaryArray.from_arrays(indices, ["S", "M", "L"], ordered=True)
    frame = types.series_of(sizes).to_frame("size")
    plain = pd.Categorical(["L", None, "S"], categories=["S", "M", "L"], ordered=True)
    tables = [frame, pd.DataFrame({"size": plain}), pa.table({"size": sizes})]
    for table in tables:
        encoder = Encoder(["size"]).fit(table)
        assert [*encoder.get_feature_names_out()] == ["size_S", "size_M", "size_L"]
        dropped = Encoder(["size"], drop="first").fit(table)
        assert [*dropped.get_feature_names_out()] == ["size_M", "size_L"]
    assert [*frame["size"].onehot(prefix="size")] == [*frame.onehot(["size"])]
    np.testing.assert_array_equal(frame["size"].onehot.to_numpy(), frame.onehot.to_numpy(["size"]))
    assert frame["size"].onehot.codes().tolist() == [2, -1, 0]


def test_chunks_with_other_dictionaries_are_one_column():
    """Their categories are merged, and an order on which they disagree is none."""
    first, second = (
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), values, ordered=True)
        for values in (["S", "L"], ["L", "S"])
    )
    frame = types.series_of(pa.chunked_array([first, first])).to_frame("c")
    assert [*Encoder(["c"]).fit(frame).get_feature_names_out()] == ["c_S", "c_L"]
    frame = types.series_of(pa.chunked_array([first, second])).to_frame("c")
    encoder = Encoder(["c"]).fit(frame)
    assert [*encoder.get_feature_names_out()] == ["c_L", "c_S"]
    assert encoder.transform(frame, "numpy").tolist() == [[0, 1], [1, 0], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.float64(), [0.0, 1.0, float("nan")]),
        (pa.bool_(), [True]),
        (pa.bool_(), [True, False]),
        (pa.int16(), [3, 1, 2]),
    ],
    ids=str,
)
def test_categories_in_arrow_memory_keep_their_order(kind, values):
    """NaN is missing, and no value is added, as the other Boolean."""
    levels = pd.Index(pd.arrays.ArrowExtensionArray(pa.array(values, kind)))
    codes = [*range(len(values)), -1]
    column = pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(levels))
    encoder = Encoder(["c"], handle_missing="indicator").fit(pd.DataFrame({"c": column}))
    expected = [value for value in dict.fromkeys(values) if value == value]
    assert encoder.categories["c"].tolist() == expected
    plain = {"c": [*values, None]}
    found = encoder.transform(pd.DataFrame({"c": column}), "numpy")
    np.testing.assert_array_equal(found, encoder.transform(plain, "numpy"))


@pytest.mark.parametrize("storage", ["python", "pyarrow"])
def test_a_storage_does_not_depend_on_an_option_of_pandas(storage):
    with pd.option_context("mode.string_storage", storage):
        frame = pd.DataFrame({"c": pd.Series(["a"], dtype="string")})
        encoder = Encoder(["c"]).fit(frame)
    decoded = encoder.inverse_transform(encoder.transform(frame))
    assert decoded["c"].dtype.storage == storage


@pytest.mark.parametrize(
    ("stored", "dtype"),
    [
        ("string[pyarrow]", pd.StringDtype("pyarrow")),
        ("string", "string"),
        ("int64[pyarrow]", pd.ArrowDtype(pa.int64())),
        ("large_string[pyarrow]", pd.ArrowDtype(pa.large_string())),
        ("Sparse[int8, 0]", pd.SparseDtype("int8")),
        ("interval[int64, left]", pd.IntervalDtype("int64", "left")),
        ("datetime64[ns, Europe/Paris]", "datetime64[ns, Europe/Paris]"),
        ("period[M]", "period[M]"),
    ],
)
def test_names_of_earlier_releases_mean_what_they_meant(stored, dtype):
    assert dtype_of_name(stored) == dtype


@pytest.mark.parametrize(
    "stored", ["no such dtype", "halo[pyarrow]", "Sparse[int8, (]", "interval"]
)
def test_an_unknown_name_gives_the_dtype_of_the_values(stored):
    """E.g. one that a later version of pandas will have."""
    frame = pd.DataFrame({"c": pd.Series([1], dtype="Int8")})
    document = json.loads(Encoder(["c"]).fit(frame).to_json())
    document["fitted"]["columns"][0]["types"] = [f"pandas:{stored}"]
    encoder = Encoder.from_json(json.dumps(document))
    assert encoder.inverse_transform(encoder.transform(frame))["c"].dtype == "int64"


@pytest.mark.parametrize("names", [None, ["group", None], ["group", "item"]])
def test_a_multiindex_of_columns_survives(names):
    """A `MultiIndex` of columns is decoded with its names, also after JSON or as categories."""
    labels = pd.MultiIndex.from_tuples([("g", "k"), ("g", 1), ("h", "k")], names=names)
    frame = pd.DataFrame([["a", 1, "x"], ["b", 2, "y"]], columns=labels)
    encoder = Encoder().fit(frame)
    for copy in (encoder, Encoder.from_json(encoder.to_json())):
        for output in (None, "category"):
            encoded = copy.transform(frame, output)
            pd.testing.assert_frame_equal(copy.inverse_transform(encoded), frame)
    plain = frame.set_axis(labels.to_flat_index(), axis=1)
    assert encoder.transform(frame).columns.tolist() == encoder.transform(plain).columns.tolist()


def test_the_name_of_the_columns_survives():
    frame = pd.DataFrame({"k": ["a", "b"], "n": [1, 2]}).rename_axis(columns="variable")
    encoder = Encoder().fit(frame)
    encoded = encoder.transform(frame)
    assert encoded.columns.name == "variable"
    pd.testing.assert_frame_equal(encoder.inverse_transform(encoded), frame)
    assert encoder.transform(frame.rename_axis(columns=None)).columns.name is None
