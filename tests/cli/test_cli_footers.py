"""The footer of a Parquet file is read in parts: memory does not grow with the row groups."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast.cli import parquet_bits, parquet_reader
from onehot_fast.cli.formats import Format
from onehot_fast.cli.parquet import FooterError, as_file, divided, footer_in
from onehot_fast.cli.parquet import footer as thrift
from onehot_fast.cli.parquet_reader import ParquetReader
from onehot_fast.cli.places import place_of
from onehot_fast.cli.reader import Input
from support.strategies import examples

BITS = [f"bit {i}" for i in range(3)]


def table_of(n_rows, seed=0):
    """Return strings that repeat, strings that do not, numbers, lists and bits without nulls."""
    draw = np.random.default_rng(seed)
    numbers = range(n_rows)
    columns = {
        "few": [None if row % 5 == 0 else f"f{row % 3}" for row in numbers],
        "unique": [f"u{row}" * (row % 4) for row in numbers],
        "n": pa.array(draw.integers(0, 100, n_rows)),
        "lists": [[row] * (row % 3) for row in numbers],
        **{name: draw.random(n_rows) < 0.5 for name in BITS},
    }
    table = pa.table(columns)
    fields = [field.with_nullable(field.name not in BITS) for field in table.schema]
    return table.cast(pa.schema(fields, {b"key": b"value"}))


def reader_of(path):
    """Return the reader of a file."""
    place = place_of(str(path))
    return ParquetReader(place, str(path), Format("parquet"), Input(place))


def footer_of(path):
    """Return the footer of a file."""
    with pa.OSFile(str(path)) as file:
        return footer_in(file)


def rows_of(reader, rows, columns=None, coded=()):
    """Return the table that a reader reads in batches of at most `rows` rows."""
    batches = list(reader.batches(rows, columns, coded))
    assert all(batch.num_rows <= rows for batch in batches)
    tables = [pa.Table.from_batches([batch]) for batch in batches]
    return pa.concat_tables(tables).unify_dictionaries() if tables else None


def described(reader):
    """Return all that a reader says about its file."""
    names = ("schema", "n_rows", "compression", "plain", "repeated", "notes", "row_bytes")
    return {name: getattr(reader, name) for name in names}


@given(data=st.data())
@examples(0.3)
def test_parts_are_the_row_groups(data, tmp_path_factory):
    """Pyarrow reads from all parts what it reads from the whole footer, group by group."""
    path = tmp_path_factory.mktemp("footers") / "x.parquet"
    n_rows = data.draw(st.integers(0, 60))
    group_rows = data.draw(st.integers(1, 40))
    parquet.write_table(table_of(n_rows), path, row_group_size=group_rows)
    footer, whole = footer_of(path), parquet.read_metadata(path)
    part_bytes = data.draw(st.integers(0, 2 * len(footer)))
    found = divided(footer, part_bytes)
    assert found.n_rows == n_rows

    parts = [found.footer(part, footer[part.start : part.end]) for part in found.parts]
    read = [parquet.ParquetFile(as_file(part)).metadata for part in parts]
    groups = [one.row_group(i).to_dict() for one in read for i in range(one.num_row_groups)]
    assert groups == [whole.row_group(i).to_dict() for i in range(whole.num_row_groups)]
    for metadata, part in zip(read, found.parts, strict=True):
        assert metadata.schema.equals(whole.schema)
        assert metadata.metadata == whole.metadata
        assert metadata.created_by == whole.created_by
        assert (metadata.num_rows, metadata.num_row_groups) == (part.n_rows, part.n_groups)
        assert part.n_groups == 1 or part.end - part.start <= part_bytes
    # No two neighbours fit into one part.
    for one, two in itertools.pairwise(found.parts):
        first = thrift.read_struct(footer, two.start)[1] - two.start
        assert one.end - one.start + first > part_bytes


@given(data=st.data())
@examples(2)
def test_a_damaged_footer_is_divided_or_rejected(data, tmp_path_factory):
    """No other error than a FooterError, and never an endless loop, whatever the bytes are."""
    path = tmp_path_factory.mktemp("footers") / "x.parquet"
    parquet.write_table(table_of(6), path, row_group_size=2)
    footer = bytearray(footer_of(path))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(footer) - 1))
        footer[at] = data.draw(st.integers(0, 255))
    footer = bytes(footer[: data.draw(st.integers(1, len(footer)))])
    try:
        found = divided(footer, 0)
    except FooterError:
        return
    assert [part.start for part in found.parts[1:]] == [part.end for part in found.parts[:-1]]
    assert all(0 <= part.start < part.end <= len(footer) for part in found.parts)


CHANGES = {
    "other bytes after it": lambda footer: footer + b"x",
    "row groups before the rows": lambda footer: thrift.encode(
        {1: footer_field(footer, 1), 4: footer_field(footer, 4)}
    ),
    "a list of numbers": lambda footer: thrift.encode(
        {**thrift.decode(footer), 4: (thrift.LIST, (thrift.I32, [1, 2]))}
    ),
}


def footer_field(footer, number):
    """Return a field of a footer."""
    return thrift.decode(footer)[number]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_unusual_footer_is_not_divided(change, tmp_path):
    """Pyarrow reads such a file as a whole, or says what is wrong with it."""
    path = tmp_path / "x.parquet"
    parquet.write_table(table_of(6), path, row_group_size=2)
    with pytest.raises(FooterError):
        divided(change(footer_of(path)), 0)


@pytest.mark.parametrize("part_bytes", [0, 3000])
@pytest.mark.parametrize("rows", [7, 64, 1000])
@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_all_parts_are_read(part_bytes, rows, compression, tmp_path, monkeypatch):
    """A file in parts has the rows, columns, bitmaps and estimates of the same file in one part."""
    path, table = tmp_path / "x.parquet", table_of(200)
    options = {"use_dictionary": ["few", "n"], "compression": compression}
    parquet.write_table(table, path, row_group_size=11, **options)
    whole = reader_of(path)
    monkeypatch.setattr(parquet_reader, "PART_BYTES", part_bytes)
    n_groups = []
    opened = ParquetReader._file_of

    def spy(self, file, part, dictionaries=()):
        n_groups.append(part.metadata.num_row_groups)
        return opened(self, file, part, dictionaries)

    monkeypatch.setattr(ParquetReader, "_file_of", spy)
    reader = reader_of(path)
    assert described(reader) == described(whole)
    coded = ["few", *BITS]
    n_groups.clear()
    found = rows_of(reader, rows, None, coded)
    # Only some row groups are in memory.
    n_all = parquet.read_metadata(path).num_row_groups
    assert sum(n_groups) == n_all
    assert max(n_groups) <= (n_all // 2 if part_bytes else 1)
    assert found.to_pydict() == table.to_pydict()
    assert found.schema == rows_of(whole, rows, None, coded).schema
    for columns in (["bit 2", "n"], ["bit 0"], ["lists"]):
        assert rows_of(reader, rows, columns, coded).to_pydict() == (
            table.select([name for name in table.schema.names if name in columns]).to_pydict()
        )


def test_encode_and_decode_in_parts(done, monkeypatch):
    """The command writes the same bytes, however the footer is divided."""
    parquet.write_table(table_of(1000), "in.parquet", row_group_size=30)
    written = {}
    for part_bytes in (1 << 30, 0):
        monkeypatch.setattr(parquet_reader, "PART_BYTES", part_bytes)
        done("encode in.parquet -c few --row-group-size 100 --overwrite -o middle.parquet")
        done("decode middle.parquet --overwrite -o out.parquet")
        written[part_bytes] = Path("middle.parquet").read_bytes(), Path("out.parquet").read_bytes()
    assert written[0] == written[1 << 30]
    assert parquet.read_table("out.parquet").to_pydict() == table_of(1000).to_pydict()


def test_the_rows_of_all_parts_are_counted(refused, monkeypatch):
    """A footer whose number of rows contradicts the row groups is an error, as in one part."""
    monkeypatch.setattr(parquet_reader, "PART_BYTES", 0)
    parquet.write_table(table_of(6), "x.parquet", row_group_size=2)
    footer = footer_of("x.parquet")
    changed = thrift.encode({**thrift.decode(footer), 3: (thrift.I64, 7)})
    content = Path("x.parquet").read_bytes()[: -len(footer) - 8]
    Path("x.parquet").write_bytes(content + changed + len(changed).to_bytes(4, "little") + b"PAR1")
    refused("encode x.parquet -c few -o out.parquet", 4, "x.parquet", "footer says 7")


@pytest.mark.parametrize("are_larger", [False, True])
@pytest.mark.parametrize("start", [0, 1, 8, 13])
@pytest.mark.parametrize("length", [0, 1, 7, 8, 70])
def test_copied_bits(start, length, are_larger):
    """The copies are the rows of the bitmaps, wherever they begin."""
    draw = np.random.default_rng(start + length)
    columns = [draw.random(100 + 20 * are_larger) < 0.5 for _ in range(3)]
    bitmaps = [memoryview(np.packbits(column, bitorder="little")) for column in columns]
    found = parquet_bits._copied_bits(bitmaps, start, length)
    for column, array in zip(columns, found, strict=True):
        array.validate(full=True)
        assert array.to_pylist() == column[start : start + length].tolist()


def test_bitmaps_of_one_row_group_are_in_memory(tmp_path):
    """The memory of many row groups is that of two: those before are released or used again."""
    path, n_columns, group_rows = tmp_path / "x.parquet", 20, 1 << 17
    names = [f"x{i}" for i in range(n_columns)]
    largest = []
    for n_groups in (2, 12):
        bits = np.random.default_rng(0).random(group_rows * n_groups) < 0.5
        fields = [pa.field(name, pa.bool_(), nullable=False) for name in names]
        table = pa.Table.from_arrays([pa.array(bits)] * n_columns, schema=pa.schema(fields))
        parquet.write_table(table, path, row_group_size=group_rows, use_dictionary=False)
        del table
        reader = reader_of(path)
        before, peak = pa.total_allocated_bytes(), 0
        for batch in reader.batches(1 << 13, names, names):
            assert batch.num_rows == 1 << 13
            peak = max(peak, pa.total_allocated_bytes() - before)
            del batch
        largest.append(peak)
    assert largest[0] == largest[1]
    # The pages of one group, and its bitmaps; pyarrow before 19 needs a little more.
    assert largest[0] < 3 * n_columns * group_rows // 8
