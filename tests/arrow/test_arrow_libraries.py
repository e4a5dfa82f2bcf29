"""The reader of the Arrow C data interface with Arrow libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast.adapter import read_arrow as read
from support.programs import run

pa = pytest.importorskip("pyarrow", minversion="18")
pc = pytest.importorskip("pyarrow.compute")

ROWS = ["b", "a", None, "b", "c", "a"]
TEXTS = pa.array(ROWS).dictionary_encode()


def columns_of(source):
    """Yield the chunks of a column, of the first column where the source is a table."""
    for chunk in read(source):
        yield chunk.child(0) if chunk.schema.kind == "struct" else chunk


def values_of(array):
    """Return the values of a chunk by its codes; pyarrow reads the dictionary."""
    codes = array.codes().tolist()
    if array.dictionary is not None:
        values = pa.array(array.dictionary).to_pylist()
        return [None if code < 0 else values[code] for code in codes]
    valid = array.valid()
    return [code if valid is None or valid[i] else None for i, code in enumerate(codes)]


def all_values(source):
    """Return the values of all chunks of a column."""
    return [value for array in columns_of(source) for value in values_of(array)]


def polars_categories(kind):
    """Return a polars Series of the rows."""
    pl = pytest.importorskip("polars")
    return pl.Series("x", ROWS, pl.Enum(["c", "b", "a"]) if kind == "Enum" else pl.Categorical)


def polars_series(kind):
    """Return a Series that polars can export."""
    series = polars_categories(kind)
    try:
        pa.chunked_array(series)
    except (pa.ArrowInvalid, OSError):
        pytest.skip("before polars 1.34 a Series exports its codes as if they were texts")
    return series


def pandas_categories():
    """Return a pandas Series of the rows."""
    series = pytest.importorskip("pandas").Series(ROWS, dtype="category", name="x")
    if not hasattr(series, "__arrow_c_stream__"):
        pytest.skip("before pandas 3 only its frames have the protocol")
    return series


def nanoarrow_array(data):
    """Return a nanoarrow Array."""
    return pytest.importorskip("nanoarrow").Array(data)


def duckdb_relation():
    """Return a DuckDB relation with a column of an ENUM."""
    duckdb = pytest.importorskip("duckdb")
    texts = ", ".join("(NULL)" if row is None else f"('{row}')" for row in ROWS)
    return duckdb.sql(f"SELECT x::ENUM('a', 'b', 'c') AS x FROM (VALUES {texts}) AS t(x)")


def narwhals_frame():
    """Return a narwhals frame over a polars one."""
    nw = pytest.importorskip("narwhals")
    pytest.importorskip("polars", "1.34")  # older ones export an Enum as the integers of its codes
    return nw.from_native(polars_categories("Enum").to_frame())


PARTS = [pa.array(part, pa.string()) for part in (ROWS[:3], [], ROWS[3:])]
CHUNKS = pa.chunked_array([part.dictionary_encode() for part in PARTS])
TABLE = pa.table({"x": CHUNKS, "y": range(6)})
PADDED = pa.array(["z", *ROWS, "z"]).dictionary_encode()
SOURCES: dict[str, Callable[[], Any]] = {
    "pyarrow.DictionaryArray": lambda: TEXTS,
    "pyarrow slice": lambda: PADDED[1:-1],
    "pyarrow.ChunkedArray": lambda: CHUNKS,
    "pyarrow.Table": lambda: TABLE,
    "pyarrow.RecordBatch": lambda: pa.record_batch({"x": PADDED}).slice(1, 6),
    "pyarrow.RecordBatchReader": lambda: TABLE.to_reader(max_chunksize=2),
    "pyarrow.StructArray": lambda: pa.StructArray.from_arrays([PADDED], ["x"])[1:-1],
    "pyarrow array capsules": lambda: TEXTS.__arrow_c_array__(),
    "pyarrow stream capsule": lambda: CHUNKS.__arrow_c_stream__(),
    "pandas.Series": pandas_categories,
    "pandas.DataFrame": lambda: pytest.importorskip("pandas").DataFrame(
        {"x": ROWS}, dtype="category"
    ),
    "polars.Series Enum": lambda: polars_series("Enum"),
    "polars.Series Categorical": lambda: polars_series("Categorical"),
    "polars.DataFrame": lambda: polars_categories("Enum").to_frame(),
    "nanoarrow.Array": lambda: nanoarrow_array(TEXTS),
    "nanoarrow.Array of chunks": lambda: nanoarrow_array(CHUNKS),
    "nanoarrow.Array of a table": lambda: nanoarrow_array(TABLE),
    "nanoarrow c_array": lambda: pytest.importorskip("nanoarrow").c_array(TEXTS),
    "duckdb relation": duckdb_relation,
    "narwhals.DataFrame": narwhals_frame,
    "narwhals.Series": lambda: narwhals_frame()["x"],
    "Array": lambda: next(read(TEXTS)),
}


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_every_library_can_be_read_and_imports_the_chunks_again(make):
    assert all_values(make()) == ROWS
    assert [value for array in columns_of(make()) for value in pa.array(array).to_pylist()] == ROWS


INTEGERS = st.sampled_from(["int8", "int16", "int32", "int64"]).flatmap(
    lambda name: st.sampled_from([name, f"u{name}"])
)


@st.composite
def columns(draw, kinds=("integer", "boolean", "dictionary")):
    """Draw a slice of integers, Booleans or texts by their index, with nulls."""
    kind = draw(st.sampled_from(kinds))
    index, texts = draw(INTEGERS), []
    if kind == "dictionary":
        texts = draw(st.lists(st.text(max_size=3) | st.none(), max_size=140))
    if kind == "boolean":
        values, type_ = st.booleans(), pa.bool_()
    else:
        bits = np.iinfo(index)
        most = min(bits.max, 2**63 - 1) if kind == "integer" else min(bits.max, len(texts) - 1)
        least = bits.min if kind == "integer" else 0
        values, type_ = st.integers(least, max(most, least)), pa.type_for_alias(index)
    nulls_only = kind == "dictionary" and not texts
    rows = st.lists(st.none() if nulls_only else values | st.none(), max_size=200)
    array = pa.array(draw(rows | st.lists(values, max_size=0 if nulls_only else 200)), type_)
    if kind == "dictionary":
        array = pa.DictionaryArray.from_arrays(array, pa.array(texts, pa.string()))
    begin = draw(st.integers(0, len(array)))
    return array[begin : draw(st.integers(begin, len(array)))]


@given(columns())
def test_random_arrays_are_read_as_pyarrow_reads_them(array):
    (chunk,) = read(array)

    assert values_of(chunk) == array.to_pylist()
    assert chunk.null_count == array.null_count
    assert pa.array(chunk).equals(array)


@given(st.data(), columns())
def test_random_structs_are_read_as_pyarrow_reads_them(data, array):
    """Columns of nested structs with nulls and offsets; a null struct is a null of its columns."""
    masks = [
        pa.array(
            data.draw(st.lists(st.booleans(), min_size=len(array), max_size=len(array))), pa.bool_()
        )
        for _ in range(2)
    ]
    inner = pa.StructArray.from_arrays([array, array], ["a", "b"], mask=masks[0])
    columns = [inner, array, pa.nulls(len(array))]
    outer = pa.StructArray.from_arrays(columns, ["s", "c", "n"], mask=masks[1])
    begin = data.draw(st.integers(0, len(array)))
    outer = outer[begin:]
    (chunk,) = read(outer)
    deep, shallow, nothing = chunk.child(0).child(1), chunk.child(1), chunk.child(2)

    for column, path in ((deep, [0, 1]), (shallow, [1])):
        expected = pc.struct_field(outer, path)
        assert values_of(column) == expected.to_pylist()
        assert (len(column), column.null_count) == (len(expected), expected.null_count)
    assert nothing.null_count == len(outer)
    assert not len(outer) or not nothing.valid().any()
    assert pa.array(deep).to_pylist() == values_of(deep)
    assert pa.array(chunk.child(0)).to_pylist() == pc.struct_field(outer, [0]).to_pylist()


@given(st.lists(columns(["dictionary"]), max_size=4))
def test_chunks_have_their_own_dictionaries(arrays):
    alike = [array.cast(pa.dictionary(pa.int64(), pa.string())) for array in arrays]
    chunks = pa.chunked_array(alike, pa.dictionary(pa.int64(), pa.string()))

    assert all_values(chunks) == chunks.to_pylist()


RUNS = pa.RunEndEncodedArray.from_arrays([2, 3, 6], ["a", None, "b"])
DENSE = pa.UnionArray.from_dense(
    pa.array([0, 1, 0, 1, 1, 0], pa.int8()), pa.array([0, 0, 1, 1, 2, 2], pa.int32()),
    [pa.array([1, 2, 3]), pa.array(["x", None, "z"])],
)  # fmt: skip
SPARSE = pa.UnionArray.from_sparse(
    pa.array([0, 1, 0, 1, 1, 0], pa.int8()), [pa.array(range(6)), pa.array(list("abcdef"))]
)
LISTS = [[1, 2], None, [], [3], [4, 5, 6], [None]]
OTHERS = {
    "null": pa.nulls(6),
    "float": pa.array([1.5, None, 2, 3, 4, 5], pa.float32()),
    "decimal": pa.array([1, None, 2, 3, 4, 5], pa.decimal128(9, 2)),
    "decimal256": pa.array([100, None, 200, 0, 0, 0], pa.decimal256(40, -2)),
    "timestamp": pa.array([1, None, 2, 3, 4, 5], pa.timestamp("us", "UTC")),
    "duration": pa.array([1, None, 2, 3, 4, 5], pa.duration("ns")),
    "month_day_nano": pa.array([(1, 2, 3)] * 6, pa.month_day_nano_interval()),
    "string": pa.array(ROWS),
    "large_string": pa.array(ROWS, pa.large_string()),
    "string_view": pa.array([*ROWS[:5], "longer than twelve bytes"], pa.string_view()),
    "binary": pa.array([b"x", None, b"", b"y", b"z", b"w"], pa.binary(-1)),
    "fixed binary": pa.array([b"xy"] * 6, pa.binary(2)),
    "list": pa.array(LISTS),
    "large_list": pa.array(LISTS, pa.large_list(pa.int8())),
    "list_view": pa.array(LISTS, pa.list_view(pa.int8())),
    "fixed_size_list": pa.array([[1, 2]] * 5 + [None], pa.list_(pa.int8(), 2)),
    "map": pa.array([[("a", 1)], None, [], [("b", 2)], [], []], pa.map_(pa.string(), pa.int8())),
    "struct": pa.array([{"a": 1, "b": "x"}] * 5 + [None]),
    "run_end": RUNS,
    "dense union": DENSE,
    "sparse union": SPARSE,
    "extension": pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(12).reshape(6, 2)),
    "struct of dictionaries": pa.StructArray.from_arrays([TEXTS, PADDED[1:-1]], ["a", "b"]),
}


@pytest.mark.parametrize("array", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("begin", [0, 2])
def test_other_types_are_exported_unchanged(array, begin):
    """Types without codes are exported alone and as a column of a batch."""
    part = array[begin:]
    batch = pa.record_batch({"x": array}).slice(begin)
    column = next(read(batch)).child(0)

    assert pa.array(next(read(part))).equals(part)
    assert pa.array(column).equals(part)
    assert pa.array(column).type == array.type
    pa.array(column).validate(full=True)


@pytest.mark.parametrize("kind", ["run_end", "dense union", "sparse union"])
def test_null_structs_of_a_type_without_a_bitmap_are_rejected(kind):
    array = OTHERS[kind]
    struct = pa.StructArray.from_arrays([array], ["x"], mask=pa.array([True] + [False] * 5))
    column = next(read(struct)).child(0)

    assert column.null_count == 1
    with pytest.raises(TypeError, match="has no validity bitmap to store the nulls"):
        pa.array(column)
    assert pa.array(next(read(struct[1:])).child(0)).equals(array[1:])


def test_a_schema_is_read_and_exported():
    fields = [
        pa.field("x", pa.dictionary(pa.int8(), pa.string(), ordered=True), metadata={"k": "v"}),
        pa.field("größe", pa.timestamp("us", "Europe/Berlin"), nullable=False),
        pa.field("l", pa.list_(pa.field("item", pa.map_(pa.string(), pa.int8())))),
    ]
    expected = pa.schema(fields, metadata={"pandas": "{}"})
    schema = read(expected.empty_table()).schema
    x, y, _ = schema.children

    assert pa.schema(schema).equals(expected, check_metadata=True)
    assert (schema.kind, x.name) == ("struct", "x")
    assert (x.kind, x.dictionary.kind) == ("dictionary", "string")
    assert (y.name, y.format) == ("größe", "tsu:Europe/Berlin")


def test_codes_of_a_dictionary_are_a_view():
    codes = pa.array(np.arange(1000, dtype=np.int8) % 3)
    array = pa.DictionaryArray.from_arrays(codes, ["a", "b", "c"])
    (chunk,) = read(pa.table({"x": array}).slice(10))
    found = chunk.child(0).codes()

    assert found.ctypes.data == codes.buffers()[1].address + 10
    assert not found.flags.writeable


def test_an_error_of_a_reader_is_raised():
    def batches():
        yield pa.record_batch({"x": TEXTS})
        raise ZeroDivisionError("the well is dry")

    source = pa.RecordBatchReader.from_batches(pa.schema({"x": TEXTS.type}), batches())
    stream = read(source)

    assert values_of(next(stream).child(0)) == ROWS
    with pytest.raises(OSError, match="the well is dry"):
        next(stream)


def test_arrays_may_outlive_the_interpreter():
    assert run("""
        import threading
        import pyarrow as pa
        from onehot_fast.adapter import read_arrow as read
        table = pa.table({"x": pa.array(list("abcd") * 5000).dictionary_encode()})
        stream = read(table)
        column = next(stream).child(0)
        kept = [table, stream, column, pa.array(column), column.__arrow_c_array__(), column.codes()]
        kept.append(kept)
        done = threading.Event()
        def wait(imported=kept[3]):
            done.set()
            threading.Event().wait()
        threading.Thread(target=wait, daemon=True).start()
        done.wait()
        print(len(column))
    """) == "20000"  # fmt: skip
