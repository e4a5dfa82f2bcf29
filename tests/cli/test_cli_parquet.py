"""Parquet: what is kept does not change, and other libraries read what the writer makes."""

from __future__ import annotations

import itertools
import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Encoder
from onehot_fast.cli.batches import batch_rows
from onehot_fast.cli.formats import Format
from onehot_fast.cli.parquet import CODECS, GroupWriter
from onehot_fast.cli.parquet import footer as thrift
from onehot_fast.cli.parquet_reader import ParquetReader
from onehot_fast.cli.places import place_of
from onehot_fast.cli.reader import Input
from support.command_files import arrow, pa, parquet
from support.strategies import examples


def reader_of(path):
    """Return the reader of a file."""
    place = place_of(path)
    return ParquetReader(place, path, Format("parquet"), Input(place))


def rich_table(n_rows=500):
    """Return a table with nested, repeated and dictionary columns around the encoded ones."""
    draw = np.random.default_rng(0)
    numbers = range(n_rows)
    return pa.table(
        {
            "tags": [None if row % 7 == 0 else [f"t{row % 5}"] * (row % 4) for row in numbers],
            "carrier": [["UA", "AA", None][row % 3] for row in numbers],
            "place": [{"x": row, "y": {"z": [row, None]}} for row in numbers],
            "colour": pa.array([f"c{row % 9}" for row in numbers]).dictionary_encode(),
            "dest": [f"D{row % 40}" for row in numbers],
            "noise": draw.random(n_rows),
            "when": pa.array(draw.integers(0, 10**15, n_rows), pa.timestamp("us", "UTC")),
            "price": pa.array(numbers, pa.decimal128(12, 2)),
        }
    )


OPTIONS = {
    "default": {},
    "no compression": {"compression": "none"},
    "zstd": {"compression": "zstd"},
    "gzip": {"compression": "gzip"},
    "brotli": {"compression": "brotli"},
    "lz4": {"compression": "lz4"},
    "pages of version 2": {"data_page_version": "2.0"},
    "checksums": {"write_page_checksum": True},
    "page index": {"write_page_index": True},
    "no statistics": {"write_statistics": False},
    "no dictionaries": {"use_dictionary": False},
    "small pages": {"data_page_size": 256},
    "old version": {"version": "1.0"},
    "no Arrow schema": {"store_schema": False},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_kept_columns_have_their_values_and_row_groups(options, done):
    """However the file was written, its columns are right, in row groups sized by the output."""
    parquet.write_table(rich_table(), "in.parquet", row_group_size=200, **options)
    done("encode in.parquet -c carrier,dest -o out.parquet")

    table = parquet.read_table("in.parquet")
    wanted = arrow.encode(table, Encoder(["carrier", "dest"]).fit(table))
    result = parquet.read_table("out.parquet", page_checksum_verification=True)
    assert result.schema.names == wanted.schema.names
    assert result.schema.types == wanted.schema.types
    # By values: each row group may have a dictionary of its own.
    assert result.to_pydict() == wanted.to_pydict()
    assert parquet.read_metadata("in.parquet").num_row_groups == 3
    after = parquet.read_metadata("out.parquet")
    assert after.num_row_groups == 1
    # Each kind of column has its codec, whatever the input has.
    chunks = [after.row_group(0).column(i) for i in range(after.num_columns)]
    features = set(wanted.schema.names) - set(table.schema.names)
    assert {c.compression for c in chunks if c.path_in_schema in features} == {"ZSTD"}
    assert {c.compression for c in chunks if c.path_in_schema not in features} == {"SNAPPY"}


@pytest.mark.parametrize("layout", ["columns", "struct", "array", "dictionary"])
@pytest.mark.parametrize("dtype", ["bool", "uint8"])
def test_kept_columns_have_statistics(layout, dtype, done):
    """Columns that are kept have statistics as before; bits within a structure have none."""
    parquet.write_table(rich_table().append_column("a.b", pa.array([True] * 500)), "in.parquet")
    done(f"encode in.parquet -c carrier,dest --layout {layout} --dtype {dtype} -o out.parquet")

    def has_statistics(path):
        group = parquet.read_metadata(path).row_group(0)
        columns = [group.column(i) for i in range(group.num_columns)]
        return {column.path_in_schema: column.is_stats_set for column in columns}

    before, after = has_statistics("in.parquet"), has_statistics("out.parquet")
    kept = {path: has for path, has in before.items() if path not in ("carrier", "dest")}
    assert kept.items() <= after.items()
    assert any(kept.values())
    made = {has for path, has in after.items() if path not in kept}
    assert made == {layout != "struct" or dtype != "bool"}


def test_repeated_values_keep_their_dictionary(done):
    """Texts and repeated numbers that are kept keep their dictionaries; noise gets none."""
    noise = np.random.default_rng(0).random(5000)
    columns = {"noise": noise, "few": noise.round(1), "text": ["a", "b"] * 2500}
    table = pa.table({**columns, "bare": columns["text"], "size": ["S", "L"] * 2500})
    parquet.write_table(table, "in.parquet", use_dictionary=["noise", "few", "text", "size"])
    done("encode in.parquet -c size -o out.parquet")

    group = parquet.read_metadata("out.parquet").row_group(0)
    chunks = [group.column(i) for i in range(4)]
    coded = {chunk.path_in_schema for chunk in chunks if chunk.has_dictionary_page}
    assert coded == {"few", "text"}
    assert (
        parquet.read_table("out.parquet").select(list(columns)).equals(table.select(list(columns)))
    )


@pytest.mark.parametrize("group_rows", [2000, 5000])
def test_repeated_texts_are_read_by_their_dictionary(group_rows, done):
    """They are read and written by their dictionaries, which differ between row groups."""
    rows = range(6000)
    texts = [None if row % 11 == 0 else f"{row // 2000}: {row % 7}" for row in rows]
    table = pa.table(
        {
            "size": ["S", "L"] * 3000,
            "text": pa.array(texts, pa.string()),
            "large": pa.array(texts, pa.large_string()),
            "bytes": pa.array(texts, pa.binary()),
            "nothing": pa.nulls(6000, pa.string()),
            "once": [f"{row}" for row in rows],
            "at first": [f"{0 if row < 2000 else row}" for row in rows],
        }
    )
    parquet.write_table(table, "in.parquet", row_group_size=2000)
    assert reader_of("in.parquet").repeated == {"size", "text", "large", "bytes", "nothing"}

    done(f"encode in.parquet -c size --row-group-size {group_rows} -o out.parquet")
    kept = table.drop_columns(["size"])
    assert parquet.read_table("out.parquet").select(kept.column_names).equals(kept)
    found = parquet.read_metadata("out.parquet").row_group(0).column(2).statistics
    assert (found.min, found.max) == ("0: 0", "2: 6" if group_rows == 5000 else "0: 6")


def test_a_file_of_features_alone_is_written_without_pandas(run):
    """A file of nothing but features is written without pandas."""
    parquet.write_table(pa.table({"size": ["S", "L", None] * 50}), "in.parquet", row_group_size=40)
    environment = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
    ended = run("encode", "in.parquet", "-o", "out.parquet", env=environment)

    table = parquet.read_table("out.parquet")
    assert table.to_pydict() == {"size_L": [0, 1, 0] * 50, "size_S": [1, 0, 0] * 50}
    assert parquet.read_metadata("out.parquet").num_row_groups == 1
    assert ended.code == 0
    assert "pyarrow.parquet" in ended.error
    assert "pandas" not in ended.error


@pytest.mark.parametrize(
    "columns",
    [
        {"text": ["A" * 80_000, "B"] * 200, "n": [[1]] * 400},
        {"lists": [[{"x": "A" * 80_000}]] * 400},
        {"numbers": [[7] * 10_000] * 400},
    ],
    ids=["texts", "nested texts", "numbers"],
)
def test_batches_are_as_small_as_the_longest_values_require(columns, done):
    """Batches are as small as the longest values require, wherever they are nested."""
    table = pa.table({**columns, "size": ["S", "L"] * 200})
    parquet.write_table(table, "in.parquet", row_group_size=200)
    assert Path("in.parquet").stat().st_size < 1_000_000
    assert batch_rows(reader_of("in.parquet").row_bytes) * 80_000 < 100 << 20

    done("encode in.parquet -c size -o out.parquet")
    kept = list(columns)
    assert parquet.read_table("out.parquet").select(kept).equals(table.select(kept))


def test_wide_features_are_written_in_smaller_groups(done):
    """A row group that is too large to wait in memory is divided."""
    table = pa.table({"size": pa.array([f"s{row % 100}" for row in range(120_000)])})
    parquet.write_table(table, "in.parquet")
    done("encode in.parquet --dtype float64 -o out.parquet")

    wanted = arrow.encode(table, Encoder(dtype="float64").fit(table))
    assert parquet.read_table("out.parquet").equals(wanted)
    assert parquet.read_metadata("out.parquet").num_row_groups > 1


# --- the writer


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.sampled_from(
    ["a.b", "a"]
)
KINDS = {
    pa.int64(): st.none() | st.integers(0, 3),
    pa.float64(): st.none() | st.floats(allow_nan=False),
    pa.string(): st.none() | st.text("ab", max_size=3),
    pa.bool_(): st.none() | st.booleans(),
    pa.list_(pa.int32()): st.none() | st.lists(st.integers(0, 3), max_size=2),
    pa.struct({"x": pa.int8(), "y": pa.list_(pa.struct({"z": pa.bool_()}))}): st.fixed_dictionaries(
        {"x": st.none() | st.just(1), "y": st.lists(st.just({"z": True}), max_size=2)}
    ),
    pa.dictionary(pa.int8(), pa.string()): st.none() | st.sampled_from(["u", "v"]),
}
BITS = pa.bool_()


@st.composite
def tables(draw):
    """Return a table, and the names of those columns that were made by encoding."""
    n_rows = draw(st.integers(0, 70))
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    fields, columns, new = [], [], []
    for name in names:
        metadata = draw(st.none() | st.just({"unit": "m"}))
        if draw(st.booleans()):
            kind, values, nullable = BITS, st.booleans(), draw(st.integers(0, 5)) == 0
            new.append(name)
        else:
            kind, nullable = draw(st.sampled_from(list(KINDS))), True
            values = KINDS[kind]
        values = draw(st.lists(values, min_size=n_rows, max_size=n_rows))
        fields.append(pa.field(name, kind, nullable=nullable, metadata=metadata))
        columns.append(pa.array(values, kind))
    schema = pa.schema(fields, draw(st.none() | st.just({"made_by": "the tests"})))
    return pa.Table.from_arrays(columns, schema=schema), new


def check_layout(path):
    """Assert that the chunks of the columns fill the file, and sizes add up."""
    found, content = parquet.read_metadata(path), path.read_bytes()
    ranges = []
    for i in range(found.num_row_groups):
        group = found.row_group(i)
        chunks = [group.column(k) for k in range(group.num_columns)]
        for chunk in chunks:
            offsets = chunk.dictionary_page_offset, chunk.data_page_offset
            start = min(offset for offset in offsets if offset)
            ranges.append((start, start + chunk.total_compressed_size))
        assert group.total_byte_size == sum(chunk.total_uncompressed_size for chunk in chunks)
    ends = [4, *itertools.chain.from_iterable(sorted(ranges))]
    ends.append(len(content) - 8 - int.from_bytes(content[-8:-4], "little"))
    assert all(stop == start for stop, start in zip(ends[::2], ends[1::2], strict=True))


def facts(path, new):
    """Return what the metadata say, but for encodings and sizes, and statistics of new columns."""
    found = parquet.read_metadata(path)
    groups = [found.row_group(i) for i in range(found.num_row_groups)]
    chunks = [group.column(k) for group in groups for k in range(group.num_columns)]
    return (
        (found.created_by, found.format_version, found.num_rows, found.metadata),
        [str(found.schema.column(i)) for i in range(found.num_columns)],
        [group.num_rows for group in groups],
        [(c.path_in_schema, c.num_values, c.compression, c.physical_type) for c in chunks],
        [c.statistics.to_dict() for c in chunks if c.path_in_schema in new],
    )


@examples(0.3)
@given(
    tables(),
    st.sampled_from(list(CODECS)),
    st.lists(st.integers(1, 40), min_size=1, max_size=3),
    st.integers(1, 30),
    st.sampled_from([8, 64, 1 << 20]),
)
def test_the_table_comes_back(tmp_path_factory, made, codec, group_rows, batch_rows, page_rows):
    """The writer's Parquet files read like those of pyarrow, whatever their groups and pages."""
    (table, new), folder = made, tmp_path_factory.mktemp("parquet")
    path, wanted = folder / "ours.parquet", folder / "theirs.parquet"
    with (
        pytest.MonkeyPatch.context() as patch,
        pa.OSFile(str(path), "wb") as file,
        parquet.ParquetWriter(wanted, table.schema, compression=codec) as peer,
    ):
        patch.setattr("onehot_fast.cli.parquet.writer.PAGE_ROWS", page_rows)
        writer = GroupWriter(file, table.schema, new, codec, codec)
        start = 0
        for n_rows in itertools.cycle(group_rows):
            group = table.slice(start, n_rows)
            if not len(group):
                break
            writer.write(pa.Table.from_batches(group.to_batches(batch_rows), table.schema))
            peer.write_table(group, n_rows)
            start += n_rows
        writer.close()

    result, peers = parquet.read_table(path), parquet.read_table(wanted)
    assert result.schema.equals(peers.schema, check_metadata=True)
    assert result.to_pydict() == peers.to_pydict() == table.to_pydict()
    check_layout(path)
    assert facts(path, new) == facts(wanted, new)
    if find_spec("polars"):
        read = import_module("polars").read_parquet
        # Not by `equals`: to polars 1.20 no Categorical of nulls alone equals another one.
        assert read(path).schema == read(wanted).schema
        assert repr(read(path).rows()) == repr(read(wanted).rows())
    if find_spec("duckdb"):
        query = import_module("duckdb").connect().sql
        assert query(f"from '{path}'").fetchall() == query(f"from '{wanted}'").fetchall()


def test_thrift_comes_back():
    """Thrift is decoded to what was encoded, whatever bytes follow it."""
    numbers = [sign * (1 << n) + k for n in range(63) for k in (-1, 0, 1) for sign in (-1, 1)]
    inner = {1: (thrift.TRUE, b""), 2: (thrift.FALSE, b""), 300: (thrift.I16, -3)}
    struct = {
        15: (thrift.LIST, (thrift.I64, numbers)),
        31: (thrift.LIST, (thrift.STRUCT, [inner, {}])),
        32: (thrift.BINARY, bytes(range(200))),
        33: (thrift.STRUCT, inner),
        34: (thrift.BYTE, b"x"),
    }
    assert thrift.decode(thrift.encode(struct) + b"\xff") == struct


@given(st.data())
@examples(0.3)
def test_thrift_is_read_for_the_wanted_fields_alone(data):
    """The wanted fields are those of the whole struct, and what follows the struct is found."""
    integers = st.tuples(
        st.sampled_from([thrift.I16, thrift.I32, thrift.I64]), st.integers(-(2**63), 2**63 - 1)
    )
    leaves = st.one_of(
        integers,
        st.sampled_from([(thrift.TRUE, b""), (thrift.FALSE, b"")]),
        st.tuples(st.just(thrift.BINARY), st.binary(max_size=200)),
        st.tuples(st.just(thrift.BYTE), st.binary(min_size=1, max_size=1)),
        st.tuples(st.just(thrift.DOUBLE), st.binary(min_size=8, max_size=8)),
    )

    def fields(values):
        numbers = st.integers(1, 40)
        return st.dictionaries(numbers, values, max_size=6).map(lambda x: dict(sorted(x.items())))

    def nested(values):
        structs = fields(values)
        lists = st.lists(structs, max_size=17).map(lambda items: (thrift.STRUCT, items))
        numbers = st.lists(integers, max_size=17).map(
            lambda pairs: (thrift.I64, [value for _, value in pairs])
        )
        return st.one_of(
            st.tuples(st.just(thrift.STRUCT), structs),
            st.tuples(st.sampled_from([thrift.LIST, thrift.SET]), st.one_of(lists, numbers)),
        )

    struct = data.draw(fields(st.recursive(leaves, nested, max_leaves=20)))
    wanted = data.draw(
        st.recursive(
            st.none(),
            lambda inner: st.dictionaries(st.integers(1, 40), inner, max_size=20),
            max_leaves=20,
        )
    )

    def chosen(value, kind, wanted):
        if kind == thrift.STRUCT and wanted is not None:
            return {
                number: (of, chosen(one, of, wanted[number]))
                for number, (of, one) in value.items()
                if number in wanted
            }
        if kind in (thrift.LIST, thrift.SET):
            return value[0], [chosen(one, value[0], wanted) for one in value[1]]
        return value

    before, after = data.draw(st.binary(max_size=3)), data.draw(st.binary(max_size=3))
    encoded = thrift.encode(struct)
    found, end = thrift.read_struct(before + encoded + after, len(before), wanted)
    assert found == chosen(struct, thrift.STRUCT, wanted)
    assert end == len(before) + len(encoded)
    for cut in range(len(encoded)):
        with pytest.raises(thrift.FooterError):
            thrift.read_struct(encoded[:cut], 0, wanted)


@pytest.mark.parametrize("codec", list(CODECS))
def test_threads_compress_without_each_other(codec, tmp_path):
    """Pieces that several threads compress at a time are what each alone would make of them."""
    n_rows, n_groups, names = 4000, 60, [f"x_{i}" for i in range(20)]
    draw = np.random.default_rng(0)
    schema = pa.schema([pa.field(name, pa.bool_(), nullable=False) for name in names])
    values = [draw.random(n_rows * n_groups) < share for share in draw.random(len(names))]
    table = pa.Table.from_arrays([pa.array(each) for each in values], schema=schema)
    path = tmp_path / "bits.parquet"
    with pa.OSFile(str(path), "wb") as file:
        writer = GroupWriter(file, schema, names, codec, codec)
        for start in range(0, len(table), n_rows):
            writer.write(table.slice(start, n_rows))
        writer.close()

    assert parquet.read_table(path).equals(table)
