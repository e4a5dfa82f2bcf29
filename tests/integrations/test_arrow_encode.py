"""Tables and streams, encoded and decoded: one schema, whatever the rows."""

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")

from onehot_fast import Encoder  # noqa: E402
from onehot_fast.integrations.arrow import decode, encode, encoded_schema  # noqa: E402
from support.arrow_strategies import BYTES, INTEGERS, TEXTS, Drawn, columns  # noqa: E402
from support.libraries import equal, plain  # noqa: E402
from support.programs import WITHOUT_PANDAS, run  # noqa: E402
from support.strategies import policies  # noqa: E402

TABLE = pa.table(
    {
        "n": pa.array([1, 2, 3, 4]),
        "size": pa.array(["S", None, "L", "S"]),
        "kind": pa.array(["x", "y", None, "x"]).dictionary_encode(),
        "price": pa.array([1.5, None, 2.5, 1.5]),
    }
)
COMPARABLE = [*TEXTS, *BYTES, *INTEGERS, pa.bool_(), pa.date32(), pa.decimal128(5, 2)]
needs_pandas = pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")
LAYOUTS = ("columns", "struct", "array", "tensor", "dictionary")
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


def cells(array):
    """Return the cells of a column, by whatever Arrow itself sees in it."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage if isinstance(array, pa.Array) else array.combine_chunks().storage
    if pa.types.is_dictionary(array.type):
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        width = len(array.dictionary)
        indices = np.array(array.indices.fill_null(-1).to_pylist(), int)
        return (indices[:, np.newaxis] == np.arange(width)).tolist()
    rows = array.to_pylist()
    return [list(row.values()) if isinstance(row, dict) else row for row in rows]


@given(
    drawn=columns(COMPARABLE),
    layout=st.sampled_from(LAYOUTS),
    options=policies(handle_missing=["ignore", "indicator"], dtype=["bool", "uint8", "float32"]),
)
def test_every_layout_has_the_cells_of_the_matrix(drawn, layout, options):
    table = pa.table({"c": drawn.column})
    encoder = Encoder(["c"], **options).fit(table)
    matrix = encoder.transform(table, "numpy")
    expected = matrix.tolist()
    schema = encoded_schema(table.schema, encoder, layout=layout)

    encoded = encode(table, encoder, layout=layout)
    stream = encode(table.to_reader(max_chunksize=3), encoder, layout=layout)

    assert encoded.schema == stream.schema == schema
    read = stream.read_all()
    encoded.validate(full=True)
    read.validate(full=True)
    if layout == "columns":
        for found in (encoded, read):
            assert [column.to_pylist() for column in found.columns] == matrix.T.tolist()
            assert found.num_rows == len(expected)
    elif layout == "dictionary":
        assert cells(encoded["c"]) == matrix.astype(bool).tolist()
        assert encoded["c"].to_pylist() == read["c"].to_pylist()
    else:
        assert cells(encoded["c"]) == cells(read["c"]) == expected


PROPAGATE = {"handle_missing": "propagate", "dtype": "float32"}


@given(
    drawn=columns(COMPARABLE),
    layout=st.sampled_from(LAYOUTS),
    options=st.sampled_from([{}, {"drop": "first"}, PROPAGATE]),
)
@example(
    drawn=Drawn(pa.array(["x", None]), ["x", None]), layout="tensor", options={"drop": "first"}
)
@example(drawn=Drawn(pa.array(["x", None]), ["x", None]), layout="columns", options=PROPAGATE)
@example(drawn=Drawn(pa.array(["x", None]), ["x", None]), layout="dictionary", options=PROPAGATE)
def test_encoded_tables_are_decoded(drawn, layout, options):
    """Features take the place of their column, or have its name; there may be none."""
    n = pa.array(range(len(drawn.values)))
    table = pa.table({"n": n, "c": drawn.column, "m": n})
    encoder = Encoder(["c"], **options).fit(table)
    encoded = encode(table, encoder, layout=layout)

    decoded = decode(encoded, encoder, layout=layout)
    stream = decode(encoded.to_reader(max_chunksize=3), encoder, layout=layout).read_all()

    names = encoder.schema.names if layout == "columns" else ["c"]
    assert encoded.column_names == ["n", *names, "m"]
    assert decoded.equals(stream)
    categories = encoder.categories["c"].tolist() if "drop" in options else []
    zeros = plain(categories[:1])[0] if len(categories) else None
    values = [zeros if value is None else value for value in plain(drawn.values)]
    assert plain(decoded["c"].to_pylist()) == values
    assert decoded.drop_columns(["c"]).equals(table.drop_columns(["c"]))
    if layout == "columns":
        assert equal(encoder.transform(table), encoded)
        assert encoder.inverse_transform(encoded).to_pydict() == decoded.to_pydict()


def test_a_stream_is_encoded_batch_by_batch():
    asked = []

    def batches():
        for i in range(3):
            asked.append(i)
            yield TABLE.to_batches()[0].slice(i, 1)

    reader = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    encoder = Encoder().fit(TABLE)
    encoded = encode(reader, encoder)

    assert encoded.schema == encode(TABLE, encoder).schema
    assert asked == []
    assert encoded.read_next_batch().num_rows == 1
    assert asked == [0]
    assert decode(encoded, encoder).read_all().num_rows == 2


def test_an_error_in_a_stream_names_its_rows():
    encoder = Encoder(["size"]).fit(TABLE.slice(0, 2))
    reader = encode(TABLE.to_reader(max_chunksize=2), encoder)
    reader.read_next_batch()

    with pytest.raises(ValueError, match=r"begins at row 2: column 'size', row 0: 'L' is unk"):
        reader.read_next_batch()


def test_metadata_of_the_schema_and_of_kept_fields_stay():
    fields = [
        pa.field("n", pa.int64(), nullable=False, metadata={"unit": "m"}),
        pa.field("size", pa.string(), metadata={"old": "yes"}),
    ]
    schema = pa.schema(fields, {"origin": "test"})
    table = pa.table([[1, 2], ["S", "L"]], schema=schema)
    encoder = Encoder().fit(table)

    encoded = encode(table.to_reader(), encoder)

    assert encoded.schema.metadata == {b"origin": b"test"}
    assert encoded.schema.field(0).equals(schema.field(0), check_metadata=True)
    assert encoded.schema.field("size_L").metadata is None
    assert not encoded.schema.field("size_L").nullable
    assert decode(encoded, encoder).schema.metadata == {b"origin": b"test"}
    assert encoder.transform(table).schema.equals(encoded.schema, check_metadata=True)
    # Nobody else has a claim to the key of pandas, but it is no reason to fail.
    foreign = table.replace_schema_metadata({"pandas": "nonsense"})
    assert encode(foreign, encoder).schema.metadata == {b"pandas": b"nonsense"}


@every_layout
def test_pandas_reads_its_table_after_encoding(layout):
    """A table from pandas is read by pandas after encoding and decoding, with its index.

    What pandas noted about the encoded column no longer holds. "tensor" is left to pyarrow, which
    makes objects of it.
    """
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"s": pd.array(["x", "y"], dtype="string"), "i": pd.array([1, None], dtype="Int64")},
        index=["r", "q"],
    )
    table = pa.Table.from_pandas(frame)
    encoder = Encoder(["s"]).fit(table)

    encoded = encode(table, encoder, layout=layout).to_pandas()
    decoded = decode(encode(table, encoder, layout=layout), encoder, layout=layout).to_pandas()

    assert encoded.index.tolist() == decoded.index.tolist() == ["r", "q"]
    assert str(encoded["i"].dtype) == "Int64"
    assert decoded["s"].tolist() == ["x", "y"]


def test_substitutes_are_of_the_type_of_the_column():
    encoder = Encoder(
        ["size"], handle_missing="indicator", handle_unknown="indicator", min_frequency=2
    ).fit(TABLE.select(["size"]))
    rows = pa.table({"size": ["S", None, "L", "new"]})

    decoded = decode(encode(rows, encoder), encoder, missing="-", unknown="?", infrequent="*")

    assert decoded["size"].to_pylist() == ["S", "-", "*", "?"]
    assert decode(encode(rows, encoder), encoder)["size"].to_pylist() == ["S", None, None, None]
    with pytest.raises(TypeError, match=r"missing must be of type string, .* got 7"):
        decode(encode(rows, encoder), encoder, missing=7)


@pytest.mark.parametrize(
    ("handle_missing", "values"),
    [("ignore", [1, 2, 3, 4]), ("indicator", ["1", "2", "3", "4", "(missing)"])],
)
def test_values_of_a_dictionary_are_the_categories(handle_missing, values):
    encoder = Encoder(["n"], handle_missing=handle_missing).fit(TABLE)

    array = encode(TABLE, encoder, layout="dictionary")["n"].combine_chunks()

    assert array.dictionary.to_pylist() == values
    assert array.type.index_type == pa.int8()
    assert array.null_count == 0


@pytest.mark.parametrize(
    "column",
    [
        pa.array(range(200)),  # from 128 features on a byte does not do for the indices
        pytest.param(pa.array([1, 2001], pa.timestamp("ns", "UTC")), marks=needs_pandas),
    ],
    ids=["wide", "nanoseconds"],
)
def test_many_categories_and_nanoseconds_are_decoded(column):
    table = pa.table({"c": column})
    encoder = Encoder(["c"]).fit(table)

    encoded = encode(table, encoder, layout="dictionary")

    assert encoded["c"].type.index_type == (pa.int16() if len(column) > 127 else pa.int8())
    assert decode(encoded, encoder, layout="dictionary").equals(table)
    assert decode(encode(table, encoder), encoder).equals(table)


def test_categories_of_several_types_are_texts_in_a_dictionary_and_not_decoded():
    encoder = Encoder().fit({"c": [1, "a"]})
    encoded = encode(pa.table({"c": ["a", None]}), encoder, layout="dictionary")

    assert encoded["c"].combine_chunks().dictionary.to_pylist() == ["1", "a"]
    with pytest.raises(TypeError, match="categories of column 'c' have no common Arrow type"):
        decode(encoded, encoder, layout="dictionary")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([2**64 - 1, 0], pa.uint64()),
        ([np.datetime64(2**60 + 1, "ns"), np.datetime64("2024-01-01")], pa.timestamp("ns")),
        ([1, 2.5], pa.float64()),
        ([np.float32(0.1), np.float32(2)], pa.float32()),
        ([True, False], pa.bool_()),
    ],
    ids=str,
)
def test_the_type_of_decoded_values_holds_them_exactly(values, kind):
    encoder = Encoder(["c"]).fit({"c": values})

    decoded = decode(encoder.transform({"c": values}, "arrow"), encoder)["c"]

    assert decoded.combine_chunks().equals(pa.array(np.array(values, kind.to_pandas_dtype())))


@pytest.mark.parametrize(
    ("table", "layout", "error", "match"),
    [
        ({"size_L": [True]}, "columns", ValueError, "no column 'size_S'"),
        ({"size_L": [True], "size_S": ["no"]}, "columns", TypeError, "'size_S' must hold Bool"),
        ({"size_L": [1], "size_S": [1]}, "columns", ValueError, "row 0: more than one"),
        ({"size": ["L"]}, "struct", TypeError, "'size' must be a struct"),
        ({"size": [{"size_L": True}]}, "struct", ValueError, "exactly one field 'size_S'"),
        ({"size": ["L"]}, "tensor", TypeError, "must be lists"),
        ({"size": [[1, 0], [1]]}, "tensor", ValueError, "row 1: a list must have 2 .*, got 1"),
        ({"size": [["a", "b"]]}, "tensor", TypeError, "must hold Booleans"),
        ({"size": ["L", "M"]}, "dictionary", ValueError, "'M' is not the label of a feature"),
        ({"other": ["L"]}, "tensor", ValueError, "no column 'size'"),
    ],
    ids=str,
)
def test_invalid_encoded_tables_are_rejected(table, layout, error, match):
    encoder = Encoder(["size"]).fit(TABLE)

    with pytest.raises(error, match=match):
        decode(pa.table(table), encoder, layout=layout)


def test_a_row_of_zeros_without_a_meaning_is_rejected():
    encoder = Encoder(["size"], handle_missing="indicator").fit(TABLE)
    encoded = pa.table({name: [False] for name in encoder.get_feature_names_out()})

    with pytest.raises(ValueError, match="row 0: no feature is 1"):
        decode(encoded, encoder)


NAMED_TWICE = TABLE.append_column("size_S", TABLE["n"])
COMPLEX = Encoder(["size"], dtype="complex64").fit(TABLE)


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"layout": "rows"}, ValueError, "layout must be one of .*, got 'rows'"),
        ({"encoder": "sizes"}, TypeError, "encoder must be an Encoder, got a str"),
        ({"encoder": Encoder()}, RuntimeError, "not fitted"),
        ({"table": TABLE.drop_columns(["size"])}, ValueError, "no column 'size'"),
        ({"table": TABLE.append_column("size", TABLE["size"])}, ValueError, "2 columns named"),
        ({"table": NAMED_TWICE}, ValueError, "two output columns would be named 'size_S'"),
        ({"encoder": COMPLEX}, TypeError, r"dtype must be .*, got complex64"),
    ],
    ids=["layout", "no encoder", "not fitted", "absent", "twice", "name", "dtype"],
)
def test_arguments_are_checked(change, error, match):
    given = {"table": TABLE, "encoder": Encoder(["size"]).fit(TABLE), "layout": "columns"}
    given |= change
    table = given.pop("table").to_reader()

    with pytest.raises(error, match=match):
        encode(table, **given)
    with pytest.raises(error, match=match):
        encoded_schema(given.pop("table", table.schema), **given)


def test_a_schema_of_another_library_will_do():
    encoder = Encoder(["size"]).fit(TABLE)
    batch = TABLE.to_batches()[0].to_struct_array().type

    assert encoded_schema(batch, encoder) == encode(TABLE, encoder).schema


def test_kept_columns_of_any_kind_pass_through():
    table = pa.table(
        {
            "size": pa.array(["S", None]),
            "l": pa.array([[1], None]),
            "m": pa.array([{"a": 1}, None]),
            "r": pa.RunEndEncodedArray.from_arrays([2], ["x"]),
            "t": pa.ExtensionArray.from_storage(
                pa.fixed_shape_tensor(pa.int8(), [1]), pa.array([[1], [2]], pa.list_(pa.int8(), 1))
            ),
            "z": pa.nulls(2),
        }
    )
    encoded = encode(table.to_reader(), Encoder(["size"]).fit(table)).read_all()

    assert encoded.select(table.column_names[1:]).equals(table.select(table.column_names[1:]))


def test_kept_columns_of_other_libraries_pass_through():
    table = {"s": ["a", None], "n": np.array([1.5, 2.5]), "o": [None, 3], "x": [float("nan"), "t"]}
    encoder = Encoder(["s"]).fit(table)

    encoded = encoder.transform(table, "arrow")

    assert encoded.to_pydict() == {
        "s_a": [True, False],
        "n": [1.5, 2.5],
        "o": [None, 3],
        "x": [None, "t"],
    }
    with pytest.raises(TypeError, match="column 'o' has no Arrow type"):
        encoder.transform({**table, "o": [1, "a"]}, "arrow")


def test_encode_works_without_pandas():
    program = f"""{WITHOUT_PANDAS}
import pyarrow as pa
from onehot_fast import Encoder
table = pa.table({{"text": ["a"]}})
encoder = Encoder(dtype="f4").fit(table)
print(encoder.transform(table).to_pydict())
"""

    assert run(program) == "{'text_a': [1.0]}"


def through_ipc(table):
    out = pa.BufferOutputStream()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_file(out.getvalue()).read_all()


def through_parquet(table):
    pq = pytest.importorskip("pyarrow.parquet")
    out = pa.BufferOutputStream()
    pq.write_table(table, out, row_group_size=2)
    return pq.read_table(pa.BufferReader(out.getvalue()))


def through_polars(table):
    polars = pytest.importorskip("polars")
    if "tensor" in str(table.schema) and not hasattr(polars, "Extension"):
        pytest.skip("polars has no extension types yet")
    return polars.DataFrame(table).to_arrow()


def through_pandas(table):
    pd = pytest.importorskip("pandas")
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    return pa.Table.from_pandas(frame, preserve_index=False)


def through_duckdb(table):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(table).to_arrow_table()


TRIPS = [through_ipc, through_parquet, through_polars, through_pandas, through_duckdb]


@pytest.mark.parametrize("trip", TRIPS)
@every_layout
@pytest.mark.parametrize("dtype", ["bool", "float32"])
def test_a_round_trip_loses_nothing(trip, layout, dtype):
    encoder = Encoder(["size", "n"], dtype=dtype).fit(TABLE)
    encoded = encode(TABLE, encoder, layout=layout)

    back = trip(encoded)

    assert decode(back, encoder, layout=layout).to_pydict() == TABLE.to_pydict()
    if trip is through_ipc or (trip is through_parquet and layout != "dictionary"):
        assert back.schema.equals(encoded.schema)
        assert back.equals(encoded)


def test_tensors_go_to_torch_without_a_copy():
    torch = pytest.importorskip("torch")
    encoder = Encoder(["size"], dtype="float32", remainder="drop").fit(TABLE)
    column = encode(TABLE, encoder, layout="tensor")["size"].chunk(0)

    tensor = torch.from_dlpack(column.to_tensor())

    assert tensor.tolist() == encoder.transform(TABLE, "numpy").tolist()
    assert tensor.data_ptr() == column.storage.flatten().buffers()[1].address
