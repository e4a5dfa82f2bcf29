"""Small tables: what an encoder caches between calls never shows in a result."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from onehot_fast import Encoder

TRAIN = {
    "size": ["S", "L", "M", None, "S", "XL"],
    "city": ["Rome", "Oslo", "Rome", "Lima", None, "Oslo"],
}
every_table = pytest.mark.parametrize("library", ["pandas", "polars", "arrow"], indirect=True)


def columns_of(library, table):
    """Return the columns of a table, or of the matrix of a mapping."""
    if isinstance(table, np.ndarray):
        return {str(i): column for i, column in enumerate(table.T.tolist())}
    return library.columns(table)


def row(i):
    """Return one row of the training table."""
    return {name: values[i : i + 1] for name, values in TRAIN.items()}


def test_few_values_of_any_type_are_read_like_many():
    """They are read, or rejected, like many."""
    encoder = Encoder(["x"], handle_unknown="indicator").fit({"x": ["1", "\ufffd"]})
    broken = pa.StringArray.from_buffers(
        1, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")
    )
    late = pa.array([2**30], pa.int32()).cast(pa.date32())
    for values in (pa.array([1]), pa.array([b"1"]), broken, pa.array([1.5])):
        assert encoder.transform(pa.table({"x": values}), "numpy").tolist() == [[0, 0, 1]]
    for values in ([1], [b"1"], [1.5], np.array([1], "M8[ns]")):
        assert encoder.transform(pd.DataFrame({"x": values}), "numpy").tolist() == [[0, 0, 1]]
    many = pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(pa.concat_arrays([late] * 20))})
    for frame in (many, many[:1]):
        with pytest.raises((ValueError, OverflowError, TypeError)):
            encoder.transform(frame, "numpy")


LEARNED = {
    "texts": ["a", "b", "b"],
    "bytes": [b"a", b"b", b"b"],
    "integers": [1, 2, 2],
    "floats": [1.0, 2.5, 2.5],
    "Booleans": [True, False, False],
    "mixed": ["a", 1, 2.5],
}
MIXED = [
    "a",
    "?",
    "",
    b"a",
    "\ud800",
    np.str_("b"),
    1,
    7,
    1.0,
    -0.0,
    2.5,
    2**70,
    True,
    None,
    np.nan,
]
COLUMNS = {
    "object": [*MIXED, np.int64(2), np.float32(1), pd.NA, pd.NaT],
    "str": ["a", "?", None],
    "string[python]": ["a", "?", None],
    "string[pyarrow]": ["a", "?", None],
    "category": ["a", "?", 1, 2.5, True, None],
    "int8": [1, 7],
    "uint64": [1, 2**63],
    "float32": [1.0, 2.5, 0.1, np.nan],
    "Int64": [1, 7, None],
    "boolean": [True, None],
    "datetime64[ns]": ["2024-02-29", None],
    "int64[pyarrow]": [1, 7, None],
    "binary[pyarrow]": [b"a", b"?", None],
}


def outcome(encoder, table):
    """Return the matrix of a table, or the class of the error."""
    try:
        return encoder.transform(table, "numpy").tolist()
    except Exception as error:
        return type(error)


@pytest.mark.filterwarnings("ignore::onehot_fast.UnknownValueWarning")
@pytest.mark.parametrize("unknown", ["error", "ignore", "warn", "indicator", "infrequent"])
@pytest.mark.parametrize("missing", ["ignore", "indicator", "error"])
@pytest.mark.parametrize("learned", LEARNED)
def test_a_cell_of_pandas_is_encoded_as_a_column(learned, missing, unknown):
    """A few rows are read cell by cell, many rows as a column: the results and errors are equal."""
    encoder = Encoder(["x"], handle_missing=missing, handle_unknown=unknown, min_frequency=2)
    encoder.fit({"x": LEARNED[learned]})
    for dtype, values in COLUMNS.items():
        for value in values:
            row = pd.DataFrame({"x": pd.Series([value], dtype=dtype)})
            alone = outcome(encoder, row)
            many = outcome(encoder, row.iloc[[0] * 1000])
            assert many == (alone if isinstance(alone, type) else alone * 1000), (dtype, value)


def test_a_cell_of_pandas_is_found_in_any_frame():
    """It is read by position: names may repeat or have levels, and a class may be the user's."""

    class Frame(pd.DataFrame):
        @property
        def _constructor(self):
            return Frame

    values = {"size": "S", "city": "Rome"}
    frame = pd.DataFrame([["?", "S", 1.5, "Rome", 2]], columns=["n", "size", "n", "city", "n"])
    encoder = Encoder(["size", "city"], remainder="drop").fit(TRAIN)
    expected = encoder.transform(values, "numpy").tolist()
    for table in (frame, Frame(frame), frame.set_axis([7]), frame.astype({"size": "category"})):
        assert encoder.transform(table, "numpy").tolist() == expected
        assert encoder.transform(table.iloc[[0] * 1000], "numpy").tolist() == expected * 1000

    levels = pd.MultiIndex.from_tuples([("a", "size"), ("a", "n"), ("b", "size")])
    table = pd.DataFrame([["S", 1, "L"], ["L", 2, "S"]], columns=levels)
    encoder = Encoder([("b", "size"), ("a", "size")], remainder="drop").fit(table)
    many = encoder.transform(table.iloc[[0, 1] * 500], "numpy").tolist()
    assert encoder.transform(table[:1], "numpy").tolist() * 2 != many[:2]
    assert [*encoder.transform(table, "numpy").tolist()] * 500 == many


@pytest.mark.parametrize("output", ["numpy", "csr", "csc"])
def test_few_rows_of_many_categories_are_encoded(library, output):
    levels = [f"level {i}" for i in range(70_000)]
    encoder = Encoder(["a", "b"], handle_unknown="ignore").fit({"a": levels, "b": levels})
    table = library.table({"a": ["level 5", None], "b": ["?", "level 69999"]})

    matrix = encoder.transform(table, output)

    expected = np.zeros((2, encoder.n_features), bool)
    names = encoder.get_feature_names_out().tolist()
    expected[0, names.index("a_level 5")] = expected[1, names.index("b_level 69999")] = True
    np.testing.assert_array_equal(matrix if output == "numpy" else matrix.toarray(), expected)


def test_an_encoder_that_learns_more_uses_no_old_cache(library):
    """Nothing cached before `partial_fit`, `merge` and `fit` is used after it."""
    encoder = Encoder(handle_unknown="ignore").fit({"size": ["S", "L"]})
    table = library.table({"size": ["M"]})

    def features(encoder):
        return [*columns_of(library, encoder.transform(table)).values()]

    assert features(encoder) == [[0], [0]]
    merged = encoder.merge(Encoder(handle_unknown="ignore").fit({"size": ["M"]}))
    assert sorted(features(merged)) == [[0], [0], [1]]
    assert features(encoder) == [[0], [0]]
    assert sorted(features(encoder.partial_fit({"size": ["M"]}))) == [[0], [0], [1]]
    assert features(encoder.fit({"size": ["M"]})) == [[1]]


def test_tables_of_other_columns_use_no_old_cache(library):
    """Another order, dtype or column gives the result of a new encoder, in any sequence.

    1 and True are one key, but two names.
    """
    encoder = Encoder(["size", "n"], handle_unknown="ignore").fit({"size": ["S", "L"], "n": [1, 2]})
    tables = [
        {"size": ["S"], "n": [2]},
        {"n": [2], "size": ["S"]},
        {"size": ["S"], "n": [2.0]},
        {"size": ["S"], "extra": [7], "n": [True]},
        {"size": ["S"], "extra": ["x"], "n": [2]},
        {"size": [None], "extra": [7.5], "n": [3]},
    ]
    for columns in tables * 2:
        table = library.table(columns)
        encoded = encoder.transform(table)
        fresh = pickle.loads(pickle.dumps(encoder)).transform(table)
        found = columns_of(library, encoded)
        np.testing.assert_equal(found, columns_of(library, fresh))
        assert str(getattr(encoded, "schema", "")) == str(getattr(fresh, "schema", ""))
        if library.name != "numpy":
            features = {"size_L", "size_S", "n_1", "n_2"}
            assert found.keys() == features | ({"extra"} & columns.keys())
    if library.name == "pandas":
        for name in (1, True, 1.0):
            labels = pd.Index(["size", "n", name], dtype=object)
            encoded = encoder.transform(pd.DataFrame([["S", 1, 5]], columns=labels))
            assert repr(encoded.columns.tolist()[-1]) == repr(name)


def test_schemas_of_arrow_differ_in_more_than_names():
    """Columns that are kept have the types and the metadata of their own table."""
    encoder = Encoder(["size"]).fit({"size": ["S"]})
    alone = Encoder(["size"], remainder="drop").fit({"size": ["S"]})
    for field in (pa.field("n", pa.int8()), pa.field("n", pa.int64(), metadata={"unit": "m"})):
        schema = pa.schema([pa.field("size", pa.string()), field], metadata={"of": str(field)})
        table = pa.Table.from_pydict({"size": ["S"], "n": [1]}, schema=schema)
        encoded = encoder.transform(table)
        assert encoded.schema.field("n").equals(field, check_metadata=True)
        assert encoded.schema.metadata == schema.metadata
        for rows in (table, pa.concat_tables([table] * 2)):
            features = alone.transform(rows)
            feature = pa.field("size_S", pa.bool_(), nullable=False)
            assert features.schema.equals(pa.schema([feature], schema.metadata), True)


@every_table
def test_a_duplicated_name_is_rejected_each_time(library):
    encoder = Encoder(["size"]).fit({"size": ["S"]})
    for _ in range(2):
        with pytest.raises(ValueError, match="size_S"):
            encoder.transform(library.table({"size": ["S"], "size_S": [1]}))


def test_threads_encode_different_rows(library):
    """Each thread gets its own row, also from an encoder that has cached nothing yet."""
    rows = [library.table(row(i % 6)) for i in range(60)]
    expected = [columns_of(library, Encoder().fit(TRAIN).transform(rows[i])) for i in range(6)]
    for _ in range(5):
        encoder = Encoder().fit(TRAIN)
        with ThreadPoolExecutor(6) as pool:
            found = [columns_of(library, each) for each in pool.map(encoder.transform, rows)]
        assert found == expected * 10


def test_written_rows_change_no_other_result():
    """Rows of polars share columns, frames of pandas labels, until one of them is written to."""
    encoder = Encoder().fit(TRAIN)
    frame = pl.DataFrame(row(0))
    first, expected = encoder.transform(frame), encoder.transform(frame).to_dict(as_series=False)
    first[0, "size_L"] = True
    first.to_series(2)[0] = True
    first.columns = [f"other {i}" for i in range(first.width)]
    first.extend(first)
    assert encoder.transform(frame).to_dict(as_series=False) == expected

    table = pd.DataFrame(row(0))
    other, fresh = encoder.transform(table), encoder.transform(table)
    other.columns.name = "feature"
    other.iloc[0, :] = True
    assert encoder.transform(table).equals(fresh)
    assert fresh.columns.name is None


@every_table
@pytest.mark.parametrize("shape", ["one dtype", "several dtypes", "another order"])
def test_features_of_any_dtype_in_any_order_are_decoded(library, shape):
    encoder = Encoder(handle_missing="indicator").fit(TRAIN)
    many = {name: values * 20 for name, values in TRAIN.items()}
    features = library.columns(encoder.transform(library.table(many)))
    if shape == "several dtypes":
        kinds = zip([int, float, bool] * 9, features.items(), strict=False)
        features = {name: [kind(value) for value in values] for kind, (name, values) in kinds}
    elif shape == "another order":
        features = dict(reversed(features.items()))

    assert library.columns(encoder.inverse_transform(library.table(features))) == many


def test_features_in_dictionaries_are_decoded_by_their_values():
    encoder = Encoder().fit({"size": ["S", "L"]})
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array([1, 0]))
    for others in (pa.array([0, 1], pa.int8()), values.take(pa.array([1, 0]))):
        table = pa.table({"size_L": values, "size_S": others})
        assert encoder.inverse_transform(table).to_pydict() == {"size": ["L", "S"]}


@pytest.mark.parametrize("output", ["numpy", "csr", "csc", "pandas", "polars", "arrow"])
def test_num_threads_is_checked_for_one_row(output):
    encoder = Encoder().fit(TRAIN)
    with pytest.raises(ValueError, match="num_threads must be at least 1"):
        encoder.transform(row(0), output, num_threads=0)
    assert encoder.transform(row(0), output, num_threads=2) is not None
