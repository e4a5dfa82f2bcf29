"""Arrow data from every library, and results in every library: values, memory and lifetimes."""

import gc
from itertools import product

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from onehot_fast import Encoder, cache_info  # noqa: E402  after the skip above
from onehot_fast.integrations.arrow import encode, one_hot  # noqa: E402
from onehot_fast.integrations.arrow._read import as_column, as_table  # noqa: E402

load = pytest.importorskip  # returns a library, or skips the test

TABLE = pa.table(
    {
        "size": pa.chunked_array([["S", None], ["L", "S"]]),
        "kind": pa.chunked_array([pa.array(["x", "y", None, "x"]).dictionary_encode()]),
        "n": [1, 2, 3, 4],
    }
)
EXPECTED = {
    "size_L": [False, False, True, False],
    "size_S": [True, False, False, True],
    "kind_x": [True, False, False, True],
    "kind_y": [False, True, False, False],
    "n": [1, 2, 3, 4],
}


class Capsule:
    """An object that has nothing but the capsule of a stream, or of an array."""

    def __init__(self, source, method="__arrow_c_stream__"):
        def export(_self, requested_schema=None):
            return getattr(source, method)(requested_schema)

        self.__class__ = type("Capsule", (), {method: export})


def polars_for(result):
    """Return polars, if it knows the type of a result."""
    polars = load("polars")
    if "tensor" in repr(result) and not hasattr(polars, "Extension"):
        pytest.skip("polars has no extension types yet")
    return polars


def pandas_3():
    """Return pandas, if its columns speak Arrow."""
    return load("pandas", minversion="3")


def duckdb_relation(table):
    """Return a relation of DuckDB."""
    return load("duckdb").connect().from_arrow(table)


TABLES = {
    "Table": lambda table: table,
    "RecordBatch": lambda table: table.combine_chunks().to_batches()[0],
    "RecordBatchReader": lambda table: table.to_reader(max_chunksize=3),
    "struct": lambda table: table.combine_chunks().to_batches()[0].to_struct_array(),
    "capsule of a stream": Capsule,
    "capsule of an array": lambda table: Capsule(
        table.combine_chunks().to_batches()[0], "__arrow_c_array__"
    ),
    "polars": lambda table: load("polars").from_arrow(table),
    "pandas": lambda table: load("pandas") and table.to_pandas(),
    "duckdb": duckdb_relation,
    "nanoarrow": lambda table: load("nanoarrow").ArrayStream(table),
    "narwhals": lambda table: load("narwhals").from_native(table),
}


@pytest.mark.parametrize("producer", TABLES)
def test_a_table_of_any_library_is_encoded(producer):
    make = TABLES[producer]

    encoder = Encoder(["size", "kind"]).fit(make(TABLE))
    encoded = encode(make(TABLE), encoder)

    rows = encoded.read_all() if isinstance(encoded, pa.RecordBatchReader) else encoded
    assert rows.to_pydict() == EXPECTED
    matrix = encoder.transform(make(TABLE), "numpy")
    np.testing.assert_array_equal(matrix.T, [*EXPECTED.values()])


COLUMNS = {
    "Array": lambda column: column.combine_chunks(),
    "ChunkedArray": lambda column: column,
    "capsule of a stream": Capsule,
    "capsule of an array": lambda column: Capsule(column.combine_chunks(), "__arrow_c_array__"),
    "polars": lambda column: load("polars").Series(column),
    "pandas": lambda column: pandas_3() and column.to_pandas(),
    "nanoarrow": lambda column: load("nanoarrow").Array(column),
    "narwhals": lambda column: load("narwhals").new_series(
        "x", column.to_pylist(), backend="pyarrow"
    ),
    "ours": lambda column: one_hot(column, layout="dictionary"),
}


@pytest.mark.parametrize("producer", COLUMNS)
@pytest.mark.parametrize("name", ["size", "kind"])
def test_a_column_of_any_library_is_encoded(producer, name):
    if (producer, name) == ("polars", "kind") and not hasattr(load("polars"), "Extension"):
        pytest.skip("polars gives a column the categories of all others too")
    result = one_hot(COLUMNS[producer](TABLE[name]))

    expected = [EXPECTED[key] for key in EXPECTED if key.startswith(name)]
    np.testing.assert_array_equal(np.asarray(result).T, expected)


def test_a_struct_with_nulls_and_an_offset_is_a_table():
    struct = pa.array([{"s": "a"}, {"s": "a"}, None, {"s": "b"}]).slice(1)

    assert as_table(Capsule(pa.chunked_array([struct]))).to_pydict() == {"s": ["a", None, "b"]}


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_column_alone_is_a_table_of_it(wrapped):
    column = Capsule(TABLE["size"]) if wrapped else TABLE["size"]

    assert tuple(Encoder().fit(column).get_feature_names_out()) == ("x0_L", "x0_S")


def test_empty_streams_have_their_type():
    column = pa.chunked_array([], pa.string())
    table = pa.schema({"s": pa.string(), "n": pa.int8()}, {"k": "v"}).empty_table()

    assert as_column(Capsule(column)).type == pa.string()
    assert as_table(Capsule(table)).schema.equals(table.schema, check_metadata=True)


def test_objects_without_arrow_data_are_rejected():
    with pytest.raises(TypeError, match="list"):
        one_hot(["a", "b"])
    with pytest.raises(TypeError, match="dict"):
        encode({"s": ["a"]}, Encoder().fit({"s": ["a"]}))


def test_a_dataset_says_how_it_is_read():
    dataset = load("pyarrow.dataset").dataset(TABLE)
    encoder = Encoder(["size", "kind"]).fit(dataset.scanner().to_reader())

    assert encode(dataset.scanner().to_reader(), encoder).read_all().to_pydict() == EXPECTED
    for call in (Encoder().fit, encoder.transform, lambda table: encode(table, encoder)):
        with pytest.raises(TypeError, match=r"Dataset is not a table: .*\.scanner\(\)\.to_reader"):
            call(dataset)
        with pytest.raises(TypeError, match=r"a Scanner is not a table: .*\.to_reader\(\)"):
            call(dataset.scanner())


# How each library holds a result, and the cells that it sees.
NESTED = {
    "numpy": (np.asarray, list),
    "dlpack": (np.from_dlpack, list),
    "pyarrow": (pa.array, lambda held: held.to_pylist()),
    "pyarrow.chunked_array": (pa.chunked_array, lambda held: held.to_pylist()),
    "polars": (lambda result: polars_for(result).Series(result), lambda held: held.to_list()),
    "pandas": (lambda result: pandas_3().Series.from_arrow(result), lambda held: [*held.array]),
    "nanoarrow": (
        lambda result: load("nanoarrow").c_array(result),
        lambda held: np.reshape(held.view().child(0).buffer(1), (4, 2)),
    ),
    "torch": (lambda result: load("torch").from_dlpack(result), np.asarray),
}


@pytest.mark.parametrize("consumer", NESTED)
@pytest.mark.parametrize("layout", ["tensor", "array"])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_any_library_imports_rows(consumer, layout, dtype):
    result = one_hot(TABLE["size"], layout=layout, dtype=dtype)

    hold, cells = NESTED[consumer]

    rows = [list(row) for row in cells(hold(result))]
    assert rows == [[0, 1], [0, 0], [1, 0], [0, 1]]


FLAT = {
    "pyarrow": lambda result: pa.table(result).to_pydict(),
    "polars": lambda result: load("polars").DataFrame(result).to_dict(as_series=False),
    "pandas": lambda result: pandas_3().DataFrame.from_arrow(result).to_dict("list"),
    "duckdb": lambda result: duckdb_relation(pa.table(result)).to_arrow_table().to_pydict(),
    "narwhals": lambda result: (
        load("narwhals").from_arrow(result, backend="pyarrow").to_dict(as_series=False)
    ),
}


@pytest.mark.parametrize("consumer", FLAT)
@pytest.mark.parametrize("dtype", ["bool", "int8"])
def test_any_library_imports_columns(consumer, dtype):
    result = one_hot(TABLE["size"], layout="columns", dtype=dtype)

    assert FLAT[consumer](result) == {"L": [0, 0, 1, 0], "S": [1, 0, 0, 1]}


LARGE = 1 << 18  # smaller memory is not counted


def live():
    """Return how many blocks of our memory are in use."""
    gc.collect()
    return cache_info().n_live


def a_column(result):
    """Return one of the columns of a result."""
    rows = result.to_arrow()
    return rows.column(3) if isinstance(rows, pa.RecordBatch) else rows.field(3)


HOLDERS = {
    **{name: hold for name, (hold, _) in NESTED.items()},
    "pyarrow itself": lambda result: result.to_arrow().slice(7, 9),
    "capsules": lambda result: result.__arrow_c_array__(),
    "stream": lambda result: result.__arrow_c_stream__(),
}


MEMORIES = [
    *product(["tensor", "array"], ["uint8"], HOLDERS),
    *product(["columns", "struct"], ["bool", "uint8"], ["a column"]),
]


@pytest.mark.parametrize(("layout", "dtype", "holder"), MEMORIES)
def test_memory_is_given_back_with_the_last_reference(layout, dtype, holder):
    codes = pa.array(np.arange(LARGE, dtype=np.int32) % 16)
    hold = HOLDERS.get(holder, a_column)
    hold(one_hot(codes, depth=16, layout=layout, dtype=dtype))  # some libraries load at first use
    before = live()

    result = one_hot(codes, depth=16, layout=layout, dtype=dtype)
    held = hold(result)
    del result
    during = live()
    del held

    assert during == before + 1
    assert live() == before


def test_a_result_is_read_only():
    result = one_hot(pa.array([0, 1]), depth=2)

    with pytest.raises(ValueError, match="read-only"):
        np.asarray(result)[0, 0] = 7
    assert not result.to_arrow().storage.flatten().buffers()[1].is_mutable
