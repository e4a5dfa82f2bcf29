"""CSV files as people have them: names, missing values, types that come late, short rows."""

from __future__ import annotations

import csv as python_csv
import gzip
import io
import json
import os
import re
import subprocess
import zipfile
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from onehot_fast.cli import cells
from onehot_fast.cli.csv_reader import FilledRows, unique_names
from onehot_fast.cli.writers import Writer
from support import command_files as files
from support.command_files import Exit, pa, parquet
from support.command_files import csv as arrow_csv

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

TARGETS = ["o.parquet", "o.arrow", "o.csv"]


def parquet_of(name):
    """Return a Parquet file as two independent readers see it."""
    table = parquet.read_table(name)
    assert duckdb.read_parquet(name).fetchall() == [
        tuple(row.values()) for row in table.to_pylist()
    ]
    return table.to_pydict()


def text_of(name):
    """Return the rows of a CSV file as two independent readers see them, all cells as text."""
    with open(name, newline="") as file:
        names, *rows = list(python_csv.reader(file))
    other = duckdb.read_csv(name, header=True, all_varchar=True)
    assert other.columns == names
    assert [[cell or "" for cell in row] for row in other.fetchall()] == rows
    return names, rows


# --- names


@pytest.mark.parametrize(
    "names",
    [["x", "x", "k"], ["x", "x", "x", "x.1"], ["x.1", "x", "x"], ["x", "X", "x"],
     ["x", "x", "x.1", "x.1"]],
)  # fmt: skip
def test_repeated_names_are_those_of_pandas(names):
    """Duplicates get numbers, names that the file has are skipped, and case matters."""
    line = ",".join(names)
    assert unique_names(names) == list(pandas.read_csv(io.StringIO(f"{line}\n")).columns)


def test_empty_names_get_their_position():
    """Empty names get their position, which no other name loses."""
    assert unique_names(["", "a", ""]) == ["column0", "a", "column2"]
    assert unique_names(["", "column0"]) == ["column0.1", "column0"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("names", ["x,x,k", ",,k", '"a\nb","a\nb",k'])
def test_each_column_of_one_name_keeps_its_type(names, target, done):
    """Integers, numbers and text of one name stay apart in every format, and a note says so."""
    Path("d.csv").write_text(f"{names}\n1,0.5,a\n2,foo,b\n")
    note = done(f"encode d.csv -c k -o {target}")
    assert "d.csv: names in the header repeat or are empty; read column" in note
    if target == "o.parquet":
        columns = list(parquet_of(target).values())
        assert columns == [[1, 2], ["0.5", "foo"], [True, False], [False, True]]
    elif target == "o.csv":
        assert text_of(target)[1] == [["1", "0.5", "1", "0"], ["2", "foo", "0", "1"]]
    else:
        assert [str(kind) for kind in files.read(Path(target)).schema.types[:2]] == [
            "int64",
            "string",
        ]


def test_an_encoder_names_repeated_columns_alike(done):
    """An encoder and a later file name the columns alike."""
    Path("a.csv").write_text("k,k\na,x\nb,y\n")
    Path("b.csv").write_text("k,k\nb,x\n")
    done("encode a.csv --save-encoder e.json -o a.parquet")
    done("encode b.csv --encoder e.json -o b.parquet")
    assert parquet_of("b.parquet") == {
        "k_a": [False],
        "k_b": [True],
        "k.1_x": [True],
        "k.1_y": [False],
    }


def test_a_writer_compares_the_rows_with_the_file():
    """Rows of another type or name would make the file corrupt; dictionaries would not."""
    schema = pa.schema({"a": pa.int64(), "b": pa.string()})
    good = pa.record_batch([[1], pa.array(["x"]).dictionary_encode()], ["a", "b"])
    Writer.require_schema(good, schema)
    for columns, names in [
        ([[1.0], ["x"]], "ab"),
        ([[1], ["x"]], "ac"),
        ([[1]], "a"),
        ([[1], ["x"], [1]], "abc"),
    ]:
        with pytest.raises(pa.ArrowInvalid, match="of the file is"):
            Writer.require_schema(pa.record_batch(columns, list(names)), schema)


# --- files without a header


def test_a_file_may_have_no_header(done, refused):
    """All rows are data; the names are positions, or those of the option, also in a folder."""
    Path("f").mkdir()
    for name in ("f/1.csv", "f/2.csv"):
        Path(name).write_text("a,1\nb,2\n")
    assert "pass --no-header" in done("encode f/1.csv -c a -o o.csv")
    assert done("encode f/1.csv --no-header -o o.parquet") == ""
    assert parquet_of("o.parquet") == {
        "column0_a": [True, False],
        "column0_b": [False, True],
        "column1": [1, 2],
    }
    done("encode f --names k,n -o p.parquet")
    assert parquet_of("p.parquet")["n"] == [1, 2, 1, 2]
    refused("encode f/1.csv --names k -o q.csv", Exit.CORRUPT, "--names has 1 name", "2 fields")
    refused("encode f/1.csv --names k,k -o q.csv", Exit.USAGE, "got 'k' twice")


@pytest.mark.parametrize(
    ("text", "is_like_data"),
    [("a,1\nb,2\n", True), ("a,n\nb,2\n", False), ("1,n\n2,3\n", False),
     ("2019-01-01,x\n2020-01-01,y\n", True), ("a,b\nx,y\n", False), (",1\na,2\n", True)],
)  # fmt: skip
def test_a_first_row_that_looks_like_data_has_a_note(text, is_like_data, call):
    """The note needs a value in a column of numbers or dates, and no name that contradicts."""
    Path("t.csv").write_text(text)
    ended = call("inspect t.csv")
    assert ("--no-header" in ended.error) == is_like_data


# --- missing values


@pytest.mark.parametrize(
    "mark", sorted({*arrow_csv.ConvertOptions().null_values, "None", "<NA>"} - {""})
)
@pytest.mark.parametrize("quote", ["", '"'])
def test_marks_are_text_in_text_and_missing_in_numbers(mark, quote, done):
    """A category stays one, as in Parquet; between numbers, dates and Booleans, it is missing."""
    values = {"k": ("x", mark, "y"), "n": (1, mark, 3), "f": (mark, "0.5", "2"),
              "d": ("2024-01-31", mark, "2024-02-01"), "b": ("true", "false", mark)}  # fmt: skip
    lines = [",".join(values)] + [
        ",".join(f"{quote}{cell}{quote}" for cell in row)
        for row in zip(*values.values(), strict=True)
    ]
    Path("m.csv").write_text("\n".join(lines) + "\n")
    note = done("encode m.csv -c k -o o.parquet")
    table = parquet.read_table("o.parquet")
    assert [str(kind) for kind in table.schema.types[-4:]] == [
        "int64",
        "double",
        "date32[day]",
        "bool",
    ]
    assert table["n"].to_pylist() == [1, None, 3]
    assert table["f"].to_pylist() == [None, 0.5, 2]
    assert table["b"].to_pylist() == [True, False, None]
    assert table["d"].null_count == 1
    assert table[f"k_{mark}"].to_pylist() == [False, True, False]
    assert f"'{mark}' (1 row) of column 'k' is text; --null" in note
    assert f"'{mark}' (1 row) of column 'n' is missing; --text-column n reads it as text" in note
    # The remedies work, and say no more.
    typed = f"--null={mark}"
    assert "of column" not in done(["encode", "m.csv", "-c", "k", typed, "-o", "p.parquet"])
    assert parquet_of("p.parquet")["k_x"] == [True, False, False]
    assert f"k_{mark}" not in parquet.read_table("p.parquet").column_names
    done("encode m.csv -c k --text -o q.parquet")
    assert parquet.read_table("q.parquet")["n"].to_pylist() == ["1", mark, "3"]


@pytest.mark.parametrize("target", TARGETS)
def test_the_same_features_as_parquet(target, done):
    """A table has the same features from CSV of pandas, polars and pyarrow as from Parquet."""
    frame = pandas.DataFrame({"k": ["NA", "null", None, "x", "NA"], "n": [1, 2, None, 4, 5]})
    frame.to_csv("pandas.csv", index=False)
    polars.from_pandas(frame).write_csv("polars.csv")
    table = pa.Table.from_pandas(frame)
    arrow_csv.write_csv(table, "pyarrow.csv")
    duckdb.from_arrow(table).write_csv("duckdb.csv")
    parquet.write_table(table, "in.parquet")
    done("encode in.parquet -c k -o e.parquet")
    features = [name for name in parquet.read_table("e.parquet").column_names if name != "n"]
    expected = parquet.read_table("e.parquet").select(features).to_pydict()
    for name in ("pandas", "polars", "pyarrow", "duckdb"):
        done(f"encode {name}.csv -c k -o {target} --overwrite")
        found = files.read(Path(target)).select(features).to_pydict()
        assert {key: list(map(bool, cells_)) for key, cells_ in found.items()} == expected


EMPTY = 'k,note,n\na,,1\n"","",\n,x,""\n'


@pytest.mark.parametrize(
    ("options", "features", "notes"),
    [
        ("", {"k_": [0, 1, 0], "k_a": [1, 0, 0]}, [None, "", "x"]),
        ("--null=", {"k_a": [1, 0, 0]}, [None, None, "x"]),
        ("--keep-empty", {"k_": [0, 1, 1], "k_a": [1, 0, 0]}, ["", "", "x"]),
        ("--null=a", {"k_": [0, 1, 0]}, [None, "", "x"]),
    ],
)
def test_only_an_unquoted_empty_field_is_missing(options, features, notes, done):
    """The unquoted field is missing and the quoted one a category, unless options say otherwise."""
    Path("e.csv").write_text(EMPTY)
    note = done(f"encode e.csv -c k {options} -o o.parquet")
    found = parquet_of("o.parquet")
    assert found.pop("note") == notes
    assert found.pop("n") == [1, None, None]
    assert {name: list(map(int, cells_)) for name, cells_ in found.items()} == features
    is_told = "'' (1 row) of column 'k' is a category, because it is quoted; --null ''" in note
    assert is_told == (options not in ("--null=", "--keep-empty"))
    assert ("Before, it replaced the usual marks" in note) == ("--null" in options)


def test_csv_to_csv_keeps_both_empty_fields(done):
    """They stay apart in columns that are not encoded, whatever --null is."""
    Path("e.csv").write_text('k,note\na,\nb,""\n')
    done("encode e.csv -c k --null= -o o.csv")
    assert Path("o.csv").read_text() == 'k_a,k_b,note\n1,0,\n0,1,""\n'


def test_a_file_of_one_column_keeps_its_empty_rows(done):
    """Pandas writes a missing value as "", and polars as an empty line; both are rows."""
    frame = pandas.DataFrame({"c": ["x", None, "y", None]})
    frame.to_csv("pandas.csv", index=False)
    polars.from_pandas(frame).write_csv("polars.csv")
    for name in ("pandas", "polars"):
        done(f"encode {name}.csv -o {name}.parquet")
        assert parquet_of(f"{name}.parquet") == {
            "c_x": [True, False, False, False],
            "c_y": [False, False, True, False],
        }


# --- types


TEXTS = [
    "1", " 1", "-5", "+5", "1.5", " 1.5", "1e3", "0x1F", "inf", "true", "TRUE", " true", "0", "t",
    "2024-01-01", " 2024-01-01", "12:00", "12:00:01", " 12:00", "12:00:01.5", "2024-01-01 10:00",
    "2024-01-01T10:00:00Z", "2024-01-01T10:00:00.123", "2024-01-01T10:00:00.123Z", "24:00",
    " 2024-01-01 10:00", "20240101", "99999999999999999999", "text", "1,000", "é",
]  # fmt: skip


@pytest.mark.parametrize("other", TEXTS)
def test_types_are_those_of_pyarrow(other):
    """Two cells have the type and values that pyarrow reads, unless digits would be lost."""
    for text in TEXTS:
        pair = [text, other]
        lines = "".join(f'"{one}",x\n' for one in ("c", *pair))
        expected = arrow_csv.read_csv(io.BytesIO(lines.encode()))["c"].combine_chunks()
        kind = cells.kind_of(pa.array(pair), ".")
        if any(len(one) > 18 and one.isdigit() for one in pair) and pa.types.is_floating(
            expected.type
        ):
            assert kind == pa.string()
            continue
        assert kind == expected.type, pair
        if not pa.types.is_string(kind):
            assert cells.typed(pa.array(pair), kind, ".", cells.MARKS, Counter()).equals(expected)


def late(n_rows, first, last, name="late.csv"):
    """Write a file whose column has one value in the first rows and another at the end."""
    path = Path(name)
    path.write_text("k,v\n" + f"{'a' * 40},{first}\n" * n_rows + f"b,{last}\n")
    return n_rows


@pytest.mark.parametrize("first", ["", "NA", '""'])
@pytest.mark.parametrize(
    ("last", "kind"), [("text", "string"), ("7", "int64"), ("2024-01-31", "date32[day]")]
)
def test_a_late_value_decides_the_type(first, last, kind, done, call):
    """A column that is missing for more than the first block gets the type of its first value."""
    late(150_000, first, last)
    done("encode late.csv -c k -o o.parquet")
    column = parquet.read_table("o.parquet")["v"]
    is_text = kind == "string" and first
    assert (str(column.type), column.null_count) == (kind, 0 if is_text else 150_000)
    report = json.loads(call("inspect late.csv --json -q").out)
    assert [one["type"] for one in report["columns"]] == ["string", kind]


@pytest.mark.parametrize(
    ("first", "last"), [("1", "x"), ("2024-01-31", "x"), ("true", "x"), ("0.5", "007")]
)
def test_a_late_contradiction_names_the_row(first, last, refused, done):
    """The error names the column, the row and the option, which works."""
    n_rows = late(150_000, first, last)
    row = f"column 'v', row {n_rows + 1:,}: '{last}'"
    refused("encode late.csv -c k -o o.parquet", Exit.CORRUPT, row, "--text-column 'v'")
    done("encode late.csv -c k --text-column v -o o.parquet")
    assert parquet.read_table("o.parquet")["v"].to_pylist()[-1] == last


def test_the_type_of_an_encoder_decides(done):
    """A later file whose column is missing, or looks like integers, has the fitted type."""
    Path("train.csv").write_text("b,f,d\ntrue,0.5,2024-01-31\nfalse,1,2024-02-01\n")
    Path("test.csv").write_text("b,f,d\n1,1,\n0,NA,\n")
    done("encode train.csv -c b -c f -c d --save-encoder e.json -o o.csv")
    done("encode test.csv --encoder e.json -o p.csv")
    assert text_of("p.csv")[1] == [["0", "1", "0", "1", "0", "0"], ["1", "0", "0", "0", "0", "0"]]


def test_a_cell_may_be_larger_than_a_block(done):
    """A cell may be larger than a block, in an encoded and a kept column, at any place."""
    large = "x" * (9 << 20)
    Path("l.csv").write_text(f"k,note\na,s\nb,{large}\na,t\n")
    for target in ("o.parquet", "o.csv"):
        done(f"encode l.csv -c k -o {target}")
    assert parquet.read_table("o.parquet")["note"].to_pylist() == ["s", large, "t"]
    assert Path("o.csv").read_text() == f"k_a,k_b,note\n1,0,s\n0,1,{large}\n1,0,t\n"


def test_a_header_alone_is_a_table_without_rows(call, refused):
    """A header is a table without rows, with or without a line break; an empty file is an error."""
    for text in ("a,b", "a,b\n", "a,b\r\n"):
        Path("h.csv").write_text(text, newline="")
        report = json.loads(call("inspect h.csv --json").out)
        assert ([one["name"] for one in report["columns"]], report["rows"]) == (["a", "b"], 0)
    for text in ("", "\n\n"):
        Path("h.csv").write_text(text)
        refused("inspect h.csv", Exit.CORRUPT, "the file is empty")


# --- rows and dialects


def test_fill_rows_fills_short_rows(done, refused):
    """Short rows are filled with missing values, whether their fields are quoted or not."""
    Path("s.csv").write_text('a,b,c\r\n1,2\r\n"x,""y\r\n",\r\n5" "z,q\r\nw', newline="")
    refused("encode s.csv -c a -o o.csv", Exit.CORRUPT, "Expected 3 columns, got 2", "--fill-rows")
    done("encode s.csv --text -c a --fill-rows -o o.parquet")
    table = parquet.read_table("o.parquet")
    assert table.column_names[:4] == ["a_1", 'a_5" "z', "a_w", 'a_x,"y\r\n']
    assert (table["b"].to_pylist(), table["c"].to_pylist()) == (["2", None, "q", None], [None] * 4)
    Path("long.csv").write_text("a,b\n1,2,3\n")
    refused("encode long.csv --fill-rows -o o.csv", Exit.CORRUPT, "convert it to Parquet first")


@pytest.mark.parametrize(
    ("options", "encoding"),
    # Without an option, bytes that are not UTF-8 count as Latin-1, with its control characters.
    [("", "latin-1"), ("--encoding cp1252", "cp1252"), ("--encoding utf-16", "utf-16")],
)
def test_a_remedy_for_long_rows_works(options, encoding, call):
    """The command in the message reads the file in any encoding, though DuckDB knows few."""
    k = bytes(range(0x80, 0x100)).decode(encoding, "ignore").encode(encoding).decode(encoding)
    Path("in.csv").write_bytes(f"k\n{k}\nx,y,z\n".encode(encoding))
    ended = call(f"encode in.csv -o o.csv {options}")
    assert (ended.code, ended.error.count("\n")) == (Exit.CORRUPT, 1), ended

    code = ended.error.split('python -c "')[1].split('"')[0]
    exec(code)

    rows = [[*row.values()] for row in parquet.read_table("in.parquet").to_pylist()]
    assert [k, None, None] in rows
    assert ["x", "y", "z"] in rows
    assert call("inspect in.parquet").code == 0


def test_a_short_row_that_is_not_utf8_has_one_line(run):
    """It is one line of message, not a traceback of a callback in another thread."""
    Path("u.csv").write_bytes(b"a,b,c\n1,2,3\nbo\xff\xff,3\n4,5,6\n")
    for options in ([], ["--fill-rows"]):
        ended = run("encode", "u.csv", "-c", "a", "-o", "o.csv", *options)
        assert (ended.code, ended.error.count("\n")) == (Exit.CORRUPT, 1)
        assert ended.error.startswith("onehot-fast: u.csv: ")


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_rows_are_filled_across_reads(size):
    """The result does not depend on how the stream is divided."""
    text = b'a,b\r\n1\r\n"x\r\n,""y"\r\n\r\n2,3\n"'

    class Slow(io.BytesIO):
        def read(self, n=-1):
            return super().read(size)

    stream = FilledRows(Slow(text), ",", 2)
    assert (
        b"".join(iter(lambda: stream.read(5), b"")) == b'a,b\r\n1,\r\n"x\r\n,""y",\r\n\r\n2,3\n"\n'
    )


def test_a_decimal_comma_is_suggested(refused, done):
    """The whole suggestion is right: numbers are numbers."""
    Path("d.csv").write_text("k;v\na;1,5\nb;2,25\n")
    refused("encode d.csv -c k -o o.csv", Exit.CORRUPT, "pass --delimiter ';' --decimal , (or")
    done("encode d.csv -c k --delimiter ; --decimal , -o o.parquet")
    assert parquet_of("o.parquet")["v"] == [1.5, 2.25]


def _zip(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "a,b\n")


def _sqlite(path):
    import sqlite3

    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table t (a text)")
        connection.commit()


def _orc(path):
    pytest.importorskip("pyarrow.orc").write_table(pa.table({"a": ["x"]}), path)


FOREIGN = {
    "jsonl": (lambda path: polars.DataFrame({"a": ["x", "y"]}).write_ndjson(path), "JSON"),
    "json": (lambda path: Path(path).write_text('[{"a": "x"},\n {"a": "y"}]'), "JSON"),
    "avro": (lambda path: polars.DataFrame({"a": ["x"]}).write_avro(path), "Avro"),
    "orc": (_orc, "ORC"),
    "db": (_sqlite, "an SQLite database"),
    "zip": (_zip, "a zip archive"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("end", ["", ".csv"])
def test_a_file_that_is_no_csv_is_named(kind, end, refused):
    """It is named, whatever its extension, with a command that converts it."""
    write, what = FOREIGN[kind]
    path = f"in.{kind}{end}"
    write(path)
    refused(f"encode {path} -o o.csv", Exit.CORRUPT, f"the file is {what}, not CSV", "python -")


def test_a_remedy_for_json_works(call, done):
    """The command in the message writes the Parquet file."""
    polars.DataFrame({"a": ["x", "y"]}).write_ndjson("in.jsonl")
    code = call("encode in.jsonl -o o.csv").error.split('python -c "')[1].split('"')[0]
    exec(code)
    done("encode in.parquet -o o.parquet")
    assert parquet_of("o.parquet") == {"a_x": [True, False], "a_y": [False, True]}


@pytest.mark.parametrize("header", ["ORC,b", "PK,b", "{a,b", "[a],b", "PAR1,b"])
def test_names_like_magic_bytes_are_names(header, done):
    """A header that begins like another format is a header."""
    Path("m.csv").write_text(f"{header}\n1,x\n")
    done("encode m.csv -c b -o o.csv")
    assert text_of("o.csv")[0] == [header.split(",")[0], "b_x"]


# --- what decode writes


def test_decode_writes_values_of_the_same_type(done):
    """Booleans and floats are read back as equal and with the same type by pandas and DuckDB."""
    Path("v.csv").write_text("b,f,k\nTrue,2002.0,x\nFalse,1.50,y\nTrue,1e300,x\n")
    done("encode v.csv -c b -c f --save-encoder e.json -o e.csv")
    done("decode e.csv --encoder e.json -o d.csv")
    assert Path("d.csv").read_text() == "b,f,k\ntrue,2002.0,x\nfalse,1.5,y\ntrue,1e+300,x\n"
    frame = pandas.read_csv("d.csv")
    assert list(map(str, frame.dtypes[:2])) == ["bool", "float64"]
    assert list(map(str, duckdb.read_csv("d.csv").types[:2])) == ["BOOLEAN", "DOUBLE"]
    assert frame["f"].tolist() == [2002.0, 1.5, 1e300]


def test_decode_keeps_texts_that_look_like_numbers(done):
    """A CSV file in the layout "dictionary" is decoded though its categories look like numbers."""
    Path("t.csv").write_text("k,n\n1,x\n2,y\n")
    done("encode t.csv --text -c k --layout dictionary --save-encoder e.json -o e.csv")
    done("decode e.csv --encoder e.json --layout dictionary -o d.csv")
    assert Path("d.csv").read_text() == "k,n\n1,x\n2,y\n"


@pytest.mark.parametrize("delimiter", [";", ","])
def test_decode_writes_the_decimal_comma(delimiter, done):
    """Decoded numbers have the comma of the kept ones."""
    lines = [["f", "g"], ["1,5", "-2,25"], ["10,0", "3,0"]]
    with open("c.csv", "w", newline="") as file:
        python_csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(lines)
    options = f"--delimiter {delimiter} --decimal ,"
    done(f"encode c.csv -c f {options} --save-encoder e.json -o e.csv")
    done(f"decode e.csv --encoder e.json {options} -o d.csv")
    with open("d.csv", newline="") as file:
        assert list(python_csv.reader(file, delimiter=delimiter)) == lines


# --- messages


def test_no_warning_of_python_is_shown(run):
    """A file without the label is encoded with one note, and none with -q."""
    Path("tr.csv").write_text("y,k\n1,a\n0,b\n")
    Path("te.csv").write_text("k\nb\n")
    assert run("encode", "tr.csv", "-c", "k", "--save-encoder", "k.json", "-o", "o.csv").code == 0
    ended = run("encode", "te.csv", "--encoder", "k.json", "-o", "p.csv")
    assert ended.error.count("\n") == 1
    assert ended.error.startswith("onehot-fast: te.csv: ")
    assert run("encode", "te.csv", "--encoder", "k.json", "-q", "-o", "q.csv").error == ""


@pytest.mark.skipif(os.name != "posix", reason="closes a descriptor")
@pytest.mark.parametrize(
    ("line", "code"), [("encode t.csv -o -", 0), ("encode t.csv -c no -o -", Exit.COLUMN)]
)
def test_standard_error_may_be_closed(line, code, command, t_csv):
    """The exit code is right, and no message gets into the data."""
    shell = f"{' '.join(command)} {line} 2>&-"
    ended = subprocess.run(shell, shell=True, stdout=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stdout) == (code, b"" if code else b"a,b_x,b_y\n1,1,0\n2,0,1\n")


def test_a_name_of_the_output_that_is_too_long_is_an_error(refused, t_csv):
    """The error names the output."""
    name = "x" * 300 + ".csv"
    refused(f"encode t.csv -o {name}", Exit.OUTPUT, f"{name}: File name too long")
    refused(f"encode t.csv -o o.csv --save-encoder {name}", Exit.OUTPUT, f"{name}: File name")


@pytest.mark.skipif(os.name != "posix", reason="names are bytes")
@pytest.mark.parametrize("target", [b"o\xe9.parquet", b"o\xe9.csv", b"o\xe9.arrow"])
def test_names_of_files_need_not_be_utf8(target, run):
    """Files with any name are read and written."""
    name = os.fsdecode(b"caf\xe9.csv")
    Path(name).write_text("k\na\n")
    out = os.fsdecode(target)
    assert run("encode", name, "-o", out) == (0, b"", "")
    assert run(
        "decode", out, "-o", "d.csv", *([] if b"csv" not in target else ["--encoder", "x"])
    ).code == (Exit.SCHEMA if b"csv" in target else 0)


def test_a_named_identifier_has_a_note(call):
    """The note says the size of the features before they are written."""
    Path("ids.csv").write_text("id\n" + "".join(f"i{i}\n" for i in range(10_001)))
    ended = call("encode ids.csv -c id --max-categories 300 -o o.parquet")
    assert ended.code == 0
    assert "may be an identifier; its features take" in ended.error


# --- rows and files that are large, empty or of another encoding


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("end", ["", "\n", "\na,1\nb,2\n"])
def test_a_header_may_be_larger_than_a_block(end, is_packed, call):
    """The names are complete, and the rows are not lost."""
    name = "n" * 5_000_000
    content = f"k,{name}{end}".encode()
    path = "in.csv.gz" if is_packed else "in.csv"
    Path(path).write_bytes(gzip.compress(content) if is_packed else content)
    ended = call(f"inspect {path} --json -q")
    assert ended.code == 0, ended.error[:300]
    report = json.loads(ended.out)
    assert [one["name"] for one in report["columns"]] == ["k", name]
    assert report["rows"] == (2 if "1" in end else 0)


def test_a_file_without_rows_has_a_note(call):
    """A note says so, for each command."""
    Path("in.csv").write_text("a,b\n")
    for line in ("inspect in.csv", "encode in.csv -c a -o out.parquet"):
        ended = call(line)
        assert ended.code == 0
        assert "in.csv: the file has names, but no rows" in ended.error


@pytest.mark.parametrize("text", ['a,b\nx,"1\n2"\ny,"3",4\n', "a,b\nx,é\ny,3,4\n"])
@pytest.mark.parametrize("encoding", ["utf8", "latin-1"])
def test_the_conversion_that_an_error_names_works(text, encoding, call):
    """It works for quoted line breaks, and for files that are not UTF-8."""
    pytest.importorskip("duckdb")
    pytest.importorskip("pandas")
    Path("in.csv").write_bytes(text.encode(encoding))
    ended = call("encode in.csv -c a -o out.csv")
    assert ended.code == 4
    line = re.search(r'python -c "([^"]*)"', ended.error)
    exec(line[1], {})
    assert call("encode in.parquet -c a -o out.parquet").code == 0
    out = parquet.read_table("out.parquet")
    assert out.column_names[:3] == ["a_x", "a_y", "b"]
    assert out["b"].to_pylist() == (["é", "3"] if "é" in text else ["1\n2", "3"])


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(2)])
@pytest.mark.parametrize("column", ["x", "k"])
def test_bytes_that_are_not_text_are_an_error(kind, column, done, refused):
    """A CSV file would not be UTF-8; bytes that are text are written."""
    values = pa.array([b"\xff\xfe", b"ab"], kind)
    parquet.write_table(pa.table({"x": values, "k": values}), "in.parquet")
    other = {"x": "k", "k": "x"}[column]
    refused(f"encode in.parquet -c {column} -o out.csv", 8, other, "UTF-8", "another format")
    parquet.write_table(pa.table({"x": values.take([1, 1]), "k": ["a", "b"]}), "in.parquet")
    done("encode in.parquet -c k -o out.csv")
    assert "ab" in Path("out.csv").read_text()


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz"])
def test_a_column_name_that_an_encoder_cannot_store_is_an_error(suffix, refused):
    """The message names the file and what to do."""
    Path("long.csv").write_text("a" * 10_001 + "\nx\ny\n")
    refused(f"encode long.csv -o out.{suffix}", 7, "long.csv", "10,000 letters", "rename")
