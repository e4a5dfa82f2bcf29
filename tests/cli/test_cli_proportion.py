"""Wide files and long values cost what they must: bits, digits, row groups and categories."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest

from onehot_fast import Encoder
from onehot_fast.cli import (
    cells,
    encode,
    learning,
    notes,
    parquet_bits,
    parquet_sizes,
)
from onehot_fast.cli.parquet import CODECS, are_bits, footer_in, groups_of, read_bits
from onehot_fast.cli.parquet import footer as thrift
from onehot_fast.cli.parquet import writer as writing
from support.command_files import Exit, pa


def table_of(n_rows):
    """Return a table with a column of strings to encode, and other columns before and after it."""
    numbers = range(n_rows)
    sizes = pa.array([None if row % 7 == 0 else f"s{row % 5}" for row in numbers])
    return pa.table({"n": numbers, "size": sizes, "text": [f"t{row % 3}" for row in numbers]})


# --- Boolean columns as bits


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("page_rows", [8, 64, 1 << 20])
def test_pyarrow_reads_our_pages_of_bits(codec, page_rows, done, monkeypatch):
    """The bitmaps of our pages are what pyarrow reads, for each codec and number of pages."""
    monkeypatch.setattr(writing, "PAGE_ROWS", page_rows)
    parquet.write_table(table_of(1003), "in.parquet")
    done(f"encode in.parquet -c size --row-group-size 300 --compression {codec} -o out.parquet")

    metadata = parquet.read_metadata("out.parquet")
    paths = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    n_bits = 0
    with pa.OSFile("out.parquet") as file:
        for number, chunks in enumerate(groups_of(footer_in(file), paths)):
            n_rows = metadata.row_group(number).num_rows
            wanted = parquet.ParquetFile("out.parquet").read_row_group(number)
            for chunk in filter(are_bits, chunks):
                n_bits += 1
                found = read_bits(file, chunk, n_rows)
                assert found.equals(wanted.column(chunk.path).combine_chunks())
    assert n_bits == 4 * 5


@pytest.mark.parametrize("layout", ["columns", "struct"])
@pytest.mark.parametrize("group_rows", [100, 640, 5000])
@pytest.mark.parametrize("are_bits_read", [True, False])
def test_features_are_decoded_whatever_the_row_groups(
    layout, group_rows, are_bits_read, done, monkeypatch
):
    """Decoding gives the table, with our reader and with pyarrow's, whatever the row groups."""
    table = table_of(5000)
    parquet.write_table(table, "in.parquet")
    options = f"-c size --layout {layout} --row-group-size {group_rows}"
    done(f"encode in.parquet {options} -o middle.parquet")
    n_read = []
    read = parquet_bits.read_bits
    monkeypatch.setattr(parquet_bits, "read_bits", lambda *a: n_read.append(1) or read(*a))
    if not are_bits_read:
        monkeypatch.setattr(parquet_bits, "MAX_BITS_BYTES", -1)
    done("decode middle.parquet -o out.parquet")

    assert parquet.read_table("out.parquet").to_pydict() == table.to_pydict()
    assert bool(n_read) == (are_bits_read and layout == "columns")


def test_a_file_of_features_alone_is_decoded(done):
    """A file without other columns than features is decoded, too."""
    parquet.write_table(table_of(1000).select(["size"]), "in.parquet")
    done("encode in.parquet --row-group-size 300 -o middle.parquet")
    done("decode middle.parquet -o out.parquet")
    assert (
        parquet.read_table("out.parquet").to_pydict() == table_of(1000).select(["size"]).to_pydict()
    )


@pytest.fixture
def written_types(monkeypatch):
    """Return a function that gives the types which the writer got for a column, group by group."""
    schemas = []
    write = writing.GroupWriter.write

    def spy(self, rows):
        schemas.append(rows.schema)
        write(self, rows)

    def types(name):
        found = [schema.field(name).type for schema in schemas]
        schemas.clear()
        return found

    monkeypatch.setattr(writing.GroupWriter, "write", spy)
    return types


@pytest.mark.parametrize("kind", parquet_sizes.TEXT_TYPES, ids=str)
@pytest.mark.parametrize("layout", ["columns", "struct", "dictionary"])
def test_strings_are_written_as_codes(kind, layout, done, written_types):
    """The writer gets codes of kept and of decoded strings; the file has strings as before."""
    values = [None, "", "b", "é", "b"] * 500
    if kind in (pa.binary(), pa.large_binary()):
        values = [None if value is None else value.encode() for value in values]
    array = pa.array(values, kind)
    table = pa.table({"k": array, "kept": array, "n": range(len(values))})
    parquet.write_table(table, "in.parquet")

    done(f"encode in.parquet -c k --layout {layout} -o middle.parquet")
    (found,) = written_types("kept")
    assert pa.types.is_dictionary(found)
    done("decode middle.parquet -o out.parquet")
    assert written_types("k") == [pa.dictionary(pa.int32(), kind)]
    assert parquet.read_table("out.parquet").equals(table)


@pytest.mark.parametrize("options", [{}, {"data_page_version": "2.0"}, {"compression": "gzip"}])
@pytest.mark.parametrize("nullable", [False, True])
def test_features_that_pyarrow_wrote_are_decoded(options, nullable, done):
    """A file that was written again by pyarrow is decoded to the same rows."""
    table = table_of(1000)
    parquet.write_table(table, "in.parquet")
    done("encode in.parquet -c size -o middle.parquet")
    middle = parquet.read_table("middle.parquet")
    fields = [field.with_nullable(nullable) for field in middle.schema]
    same = middle.cast(pa.schema(fields, middle.schema.metadata))
    parquet.write_table(same, "again.parquet", write_page_checksum=True, **options)
    done("decode again.parquet -o out.parquet")
    assert parquet.read_table("out.parquet").to_pydict() == table.to_pydict()


def test_a_page_that_does_not_match_its_checksum_is_an_error(done):
    """A changed bit is an error if the page has a checksum."""
    array = pa.array([True, False, True] * 10)
    bits = bytes(array.buffers()[1])[:4]
    header = thrift.decode(thrift.page_header(30, 4, 4))
    header = {1: header[1], 2: header[2], 3: header[3], 4: (thrift.I32, 1), 5: header[5]}
    page = thrift.encode(header) + bits
    chunk = thrift.Chunk("x", "BOOLEAN", frozenset({"PLAIN"}), 0, 30, 4, 0, len(page), 4)
    with pytest.raises(OSError, match="checksum"):
        read_bits(pa.BufferReader(b"PAR1" + page), chunk, 30)


# --- digits of CSV


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (["0", "1", "9"], [0, 1, 9]),
        (["0", "", "10"], None),
        (["0", "x"], None),
        (["0", "/"], None),
        (["0", ":"], None),
        (["0", None], None),
        (["", ""], None),
        ([], None),
    ],
)
@pytest.mark.parametrize("start", [0, 2])
def test_only_cells_that_are_all_digits_are_read_as_digits(texts, wanted, start):
    """Only cells that all are a digit are read as digits; a slice begins anywhere."""
    array = pa.array(["12", None] * (start // 2) + texts, pa.string()).cast(pa.binary())
    found = cells.digits_of(array.slice(start))
    assert (None if found is None else found.tolist()) == wanted


@pytest.mark.parametrize("cell", ["1", "1.0", "true"])
def test_features_of_text_may_be_digits_floats_or_booleans(cell, done):
    """Features may be digits, floats and Booleans."""
    Path("in.csv").write_text("n,k\n1,a\n2,b\n3,a\n")
    done("encode in.csv --save-encoder e.json -o middle.csv")
    zero = {"1": "0", "1.0": "0.0", "true": "false"}[cell]
    rows = [f"{n},{cell if k else zero},{zero if k else cell}" for n, k in [(1, 1), (2, 0), (3, 1)]]
    Path("again.csv").write_text("\n".join(["n,k_a,k_b", *rows, ""]))
    done("decode again.csv --encoder e.json -o out.csv")
    assert Path("out.csv").read_text() == Path("in.csv").read_text()


def test_features_of_text_are_not_converted_one_by_one(done, monkeypatch):
    """Decoding many features takes as many conversions of texts as decoding two."""
    n_calls = Counter()

    def counted(name, call):
        def wrapper(*arguments):
            n_calls[name] += 1
            return call(*arguments)

        return wrapper

    for name in ("_parsed", "kind_of", "counts_of", "without"):
        monkeypatch.setattr(cells, name, counted(name, getattr(cells, name)))
    found = []
    for n_features in (2, 90):
        lines = [f"{row},c{row % n_features:02}" for row in range(180)]
        Path("in.csv").write_text("\n".join(["n,k", *lines, ""]))
        done("encode in.csv -c k --save-encoder e.json --overwrite -o middle.csv")
        n_calls.clear()
        done("decode middle.csv --encoder e.json --overwrite -o out.csv")
        assert Path("out.csv").read_text() == Path("in.csv").read_text()
        found.append(dict(n_calls))
    assert found[0] == found[1]
    assert found[0]  # of the kept column


@pytest.mark.parametrize("cell", ["2", "300", "-1"])
def test_a_cell_that_is_no_feature_is_an_error(cell, done, refused):
    """A number other than 0 and 1 is an error that names the column."""
    Path("in.csv").write_text("n,k\n1,a\n2,b\n")
    done("encode in.csv --save-encoder e.json -o middle.csv")
    Path("again.csv").write_text(f"n,k_a,k_b\n1,1,0\n2,0,{cell}\n")
    code = Exit.VALUE if cell == "2" else Exit.CORRUPT
    refused("decode again.csv --encoder e.json -o out.csv", code, "k")


# --- row groups and categories


def test_groups_of_the_input_are_merged(done, monkeypatch):
    """Small row groups are read as few batches, which cost time for each feature."""
    parquet.write_table(table_of(5000), "in.parquet", row_group_size=50)
    sizes = []
    learn = Encoder.partial_fit

    def counting(encoder, table):
        sizes.append(table.n_rows)
        return learn(encoder, table)

    monkeypatch.setattr(Encoder, "partial_fit", counting)
    done("encode in.parquet -c size -o out.parquet")
    assert sizes == [0, 5000]
    result = parquet.read_table("out.parquet")
    sums = [np.sum(result.column(f"size_s{i}").to_numpy()) for i in range(5)]
    assert sum(sums) == 5000 - table_of(5000).column("size").null_count


@pytest.mark.parametrize("name", ["in.csv", "in.parquet", "in.arrow"])
@pytest.mark.parametrize("kind", ["text", "lists", "dictionary"])
def test_a_long_category_is_refused_before_writing(name, kind, refused, done, monkeypatch):
    """The message names the column and the remedy, which works; a shorter one is a category."""
    monkeypatch.setattr(learning, "MAX_CATEGORY_BYTES", 100)
    texts = pa.array(["x" * 101, "y"])
    if kind != "text" and name == "in.csv":
        pytest.skip("CSV has no such type")
    column = {"text": texts, "lists": pa.array([[x.as_py()] for x in texts])}.get(kind)
    column = texts.dictionary_encode() if column is None else column
    table = pa.table({"k": column, "size": ["S", "L"]})
    if name == "in.csv":
        Path(name).write_text(f"k,size\n{'x' * 101},S\ny,L\n")
    elif name == "in.parquet":
        parquet.write_table(table, name)
    else:
        with pa.ipc.new_file(name, table.schema) as file:
            file.write_table(table)

    refused(f"encode {name} -c k,size -o out.csv", Exit.COLUMN, "column 'k' has a value of 101")
    assert not Path("out.csv").exists()
    done(f"encode {name} -c size -o out.parquet")
    monkeypatch.setattr(learning, "MAX_CATEGORY_BYTES", 101)
    done(f"encode {name} -c k,size -o all.parquet")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "/"])
def test_an_identifier_is_noted_before_it_is_written(suffix, done, monkeypatch):
    """The size is that of the features in the output: in text, two bytes for each."""
    monkeypatch.setattr(notes, "MAX_KEYS", 500)
    n_rows = 1000
    parquet.write_table(pa.table({"key": [f"k{row}" for row in range(n_rows)]}), "in.parquet")
    seen = []
    convert = encode.convert
    note = encode.messages.note
    monkeypatch.setattr(encode.messages, "note", lambda *a: seen.append(a[0]) or note(*a))
    monkeypatch.setattr(encode, "convert", lambda *a: seen.append("written") or convert(*a))
    target = "out/ --rows-per-file 600" if suffix == "/" else f"out.{suffix}"
    done(f"encode in.parquet -c key -o {target}")

    text, written = seen[:2]
    size = "1.9 MiB" if suffix == "csv" else "122.1 KiB"
    assert "column 'key'" in text
    assert f"its features take {size}" in text
    assert written == "written"
