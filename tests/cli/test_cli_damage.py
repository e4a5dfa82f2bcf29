"""Damaged and unusual Parquet and Arrow files end the command with one line, not with a signal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from onehot_fast.cli.parquet import footer as thrift
from onehot_fast.cli.parquet import footer_in
from support.command_files import pa, parquet


def change_footer(path, change):
    """Replace the footer of a file by what `change` makes of the decoded one."""
    with pa.OSFile(str(path)) as file:
        old = footer_in(file)
    decoded = thrift.decode(old)
    change(decoded)
    new = thrift.encode(decoded)
    content = Path(path).read_bytes()[: -len(old) - 8]
    Path(path).write_bytes(content + new + len(new).to_bytes(4, "little") + b"PAR1")


def chunks(footer):
    """Return the columns of the first row group of a decoded footer."""
    return footer[4][1][1][0][1][1][1]


def histogram(footer):
    """Give the first chunk a histogram of repetition levels of the wrong length."""
    sizes = {2: (thrift.LIST, (thrift.I64, [1, 2, 3, 4, 5]))}
    chunk = dict(sorted({**chunks(footer)[0][3][1], 16: (thrift.STRUCT, sizes)}.items()))
    chunks(footer)[0][3] = thrift.STRUCT, chunk


def encrypted(footer):
    """Say that the first chunk is encrypted with the key of the footer."""
    chunks(footer)[0][8] = thrift.STRUCT, {1: (thrift.STRUCT, {})}


def no_metadata(footer):
    """Remove the metadata of the first chunk, as for an encrypted column."""
    del chunks(footer)[0][3]


def bad_codec(footer):
    """Give the first chunk a codec that the format does not have."""
    chunks(footer)[0][3][1][4] = thrift.I32, 77


CHANGES = [histogram, encrypted, no_metadata, bad_codec]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("command", ["inspect x.parquet", "encode x.parquet -c k -o out.parquet"])
def test_invalid_column_chunks_are_an_error(change, command, run):
    """Invalid column chunks are an error of one line that names the file, and no signal.

    Objects of pyarrow for column chunks would end the process.
    """
    if change is histogram and int(pa.__version__.split(".")[0]) < 20:
        pytest.skip("this pyarrow does not read histograms")
    parquet.write_table(pa.table({"k": ["a", "b"], "n": [1, 2]}), "x.parquet")
    change_footer("x.parquet", change)
    ended = run(*command.split())
    assert ended.code == 4, ended
    assert ended.out == b""
    assert ended.error.startswith("onehot-fast: x.parquet: ")
    assert ended.error.count("\n") == 1
    assert not Path("out.parquet").exists()


def test_damage_that_pyarrow_ignores_changes_nothing(run):
    """If pyarrow reads the rows of a damaged file, they are encoded."""

    def bad_type(footer):
        chunks(footer)[0][3][1][1] = thrift.I32, 77

    parquet.write_table(pa.table({"k": ["a", "b"], "n": [1, 2]}), "x.parquet")
    change_footer("x.parquet", bad_type)
    assert parquet.read_table("x.parquet")["k"].to_pylist() == ["a", "b"]
    assert run("inspect", "x.parquet").code == 0
    assert run("encode", "x.parquet", "-c", "k", "-o", "out.parquet").code == 0
    assert parquet.read_table("out.parquet")["k_a"].to_pylist() == [True, False]


def test_fewer_rows_than_the_footer_says_are_an_error(refused):
    """The rows are counted; an output without them would look complete."""
    parquet.write_table(pa.table({"k": ["a", "b"], "n": [1, 2]}), "x.parquet")

    def empty(footer):
        for chunk in chunks(footer):
            chunk[3][1][5] = thrift.I64, 0

    change_footer("x.parquet", empty)
    refused("encode x.parquet -c k -o out.parquet", 4, "x.parquet")
    refused("inspect x.parquet", 4, "x.parquet")


@pytest.mark.parametrize("n_rows", [-1, 1, 3])
def test_another_number_of_rows_in_the_footer_is_an_error(n_rows, refused):
    """It contradicts the row groups, even below zero, which pyarrow reads as a file of no rows."""
    parquet.write_table(pa.table({"k": ["a", "b"], "n": [1, 2]}), "x.parquet")

    def count(footer):
        footer[3] = thrift.I64, n_rows

    change_footer("x.parquet", count)
    refused("encode x.parquet -c k -o out.parquet", 4, "x.parquet", f"footer says {n_rows}")
    refused("inspect x.parquet", 4, "x.parquet", f"footer says {n_rows}")


@pytest.mark.parametrize("in_all", [False, True])
@pytest.mark.parametrize("has_columns", [False, True])
@pytest.mark.parametrize("n_rows", [-(1 << 63), -1424, -1, 3, 1 << 40, (1 << 63) - 1])
def test_another_number_of_rows_in_a_row_group_is_an_error(n_rows, has_columns, in_all, refused):
    """A wrong number of rows in a row group is an error of one line, and no signal.

    For some numbers pyarrow would end the process.
    """
    parquet.write_table(pa.table({"k": ["a", "b"], "n": [1, 2]}), "x.parquet")

    def count(footer):
        [group] = footer[4][1][1]
        group[3] = thrift.I64, n_rows
        if in_all:
            footer[3] = thrift.I64, n_rows
        if not has_columns:
            group[1][1][1].clear()

    change_footer("x.parquet", count)
    says = [f"{n_rows:,} rows"] if n_rows < 0 else []
    refused("inspect x.parquet", 4, "x.parquet", *says)
    refused("encode x.parquet -c k -o out.parquet", 4, "x.parquet", *says)


def test_categories_that_are_not_utf8_are_an_error(refused):
    """`inspect` and `encode` say that the file is corrupt."""
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xa9x"]).buffers())
    parquet.write_table(pa.table({"k": bad}), "x.parquet")
    refused("encode x.parquet -c k -o out.parquet", 4, "x.parquet")
    refused("inspect x.parquet", 4, "x.parquet")


@pytest.mark.parametrize("layout", ["array", "tensor", "struct"])
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_lists_and_structs_need_columns_with_features(layout, form, refused, done):
    """Lists of length 0 and structs without fields cannot be read back."""
    parquet.write_table(pa.table({"k": ["a"], "note": pa.nulls(1, pa.string())}), "x.parquet")
    refused(f"encode x.parquet --layout {layout} -o out.{form}", 5, "x.parquet", "note", "-c")
    done(f"encode x.parquet --layout {layout} -o out.{form} -c k")


def test_a_type_that_parquet_lacks_is_rejected(refused, done):
    """A kept interval is refused by its name; Arrow output holds it."""
    table = pa.table({"k": ["a"], "v": pa.array([pa.MonthDayNano([1, 2, 3])])})
    with pa.ipc.new_file("x.arrow", table.schema) as writer:
        writer.write_table(table)
    refused("encode x.arrow -c k -o out.parquet", 8, "'v'", "interval", ".arrow")
    done("encode x.arrow -c k -o out.arrow")


@pytest.mark.parametrize("layout", ["columns", "dictionary"])
@pytest.mark.parametrize("column", ["k", "v"])
def test_text_cannot_hold_intervals(column, layout, call, done, refused):
    """CSV cannot hold intervals, kept or as a dictionary; the format that is named can."""
    interval = pa.scalar((1, 2, 3), pa.month_day_nano_interval())
    values = pa.array([interval.as_py(), None], interval.type)
    with pa.ipc.new_file("x.arrow", pa.schema({"k": pa.string(), "v": values.type})) as file:
        file.write_table(pa.table({"k": ["a", "b"], "v": values}))
    line = f"encode x.arrow -c {column} --layout {layout} -o "
    if column == "v" and layout == "columns":  # only its features are written
        done(f"{line} out.csv")
        return
    refused(f"{line} out.csv", 8, "'v'", "interval", "choose another format")
    done(f"{line} out.arrow")
    with pa.ipc.open_file("out.arrow") as file:
        written = file.read_all()["v"].combine_chunks()
    plain = written.dictionary_decode() if isinstance(written, pa.DictionaryArray) else written
    assert plain.equals(values)


def of_unknown_encodings(footer):
    """Say that the encodings of the first chunk have a type that Thrift does not have."""
    chunks(footer)[0][3][1][2] = thrift.LIST, (0, [b"\x00", b"\x06", b"\x10"])


def of_no_name(footer):
    """Give the first chunk a path that is not UTF-8; the schema has the names."""
    chunks(footer)[0][3][1][3] = thrift.LIST, (thrift.BINARY, [b"\xff"])


@pytest.mark.parametrize("change", [of_unknown_encodings, of_no_name])
def test_unread_parts_of_the_footer_may_be_damaged(change, done):
    """Damage to a part of the footer that pyarrow ignores changes nothing."""
    table = pa.table({"k": ["a", "b", "a"], "n": [1, 2, 3]})
    parquet.write_table(table, "x.parquet")
    change_footer("x.parquet", change)
    assert parquet.read_table("x.parquet").equals(table)
    done("encode x.parquet -c k -o out.parquet")
    out = parquet.read_table("out.parquet")
    assert out.to_pydict() == {
        "k_a": [True, False, True],
        "k_b": [False, True, False],
        "n": [1, 2, 3],
    }


def test_structs_without_fields_have_a_note(done, call):
    """Parquet does not store them, so a note says that such a column is missing."""

    def add_empty_struct(footer):
        elements = footer[2][1][1]
        elements[0][5] = thrift.I32, elements[0][5][1] + 1
        name = b"nothing"
        elements.append({3: (thrift.I32, 0), 4: (thrift.BINARY, name), 5: (thrift.I32, 0)})

    parquet.write_table(pa.table({"k": ["a", "b"], "n": [1, 2]}), "x.parquet")
    change_footer("x.parquet", add_empty_struct)
    with parquet.ParquetFile("x.parquet") as file:
        if "nothing" not in file.schema_arrow.names:
            pytest.skip("this pyarrow reads an empty struct as another column")
    assert call("inspect x.parquet").code == 0
    note = done("encode x.parquet -c k -o out.parquet")
    assert "'nothing'" in note
    assert parquet.read_table("out.parquet").column_names == ["k_a", "k_b", "n"]


def test_times_beyond_a_day_are_an_error(refused):
    """They are invalid in every format; the message says so."""
    counts = pa.array([90_000_000, 5], pa.int32()).buffers()
    times = pa.Array.from_buffers(pa.time32("ms"), 2, counts)
    parquet.write_table(pa.table({"t": times}), "x.parquet")
    refused("encode x.parquet -c t -o out.parquet", 7, "x.parquet", "'t'", "day")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the runs are forked")
def test_changed_files_end_with_a_documented_code(done):
    """A fixed sample of changed files: each run ends with a documented code and one line."""
    Path("files").mkdir()
    table = pa.table({"k": ["a", "b", None] * 9, "n": range(27)})
    parquet.write_table(table, "files/a.parquet", row_group_size=10)
    delta = {"use_dictionary": False, "column_encoding": {"k": "DELTA_BYTE_ARRAY"}}
    parquet.write_table(table, "files/b.parquet", **delta)
    for path, make in (("files/c.arrow", pa.ipc.new_file), ("files/d.arrows", pa.ipc.new_stream)):
        with make(path, table.schema) as writer:
            writer.write_table(table)
    for form in ("parquet", "arrow"):
        done(f"encode files/a.parquet -o files/e.{form}")
    tools = Path(__file__).parents[2] / "tools"
    ended = subprocess.run(
        [sys.executable, "-m", "torture.mutants", Path("files").resolve(), "--mutations", "12"],
        cwd=tools,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended
    assert ended.stdout.endswith("6 files, 144 mutants, 0 failures\n")
    # Some mutants are read, and some are rejected.
    assert "encode, exit 0" in ended.stdout
    assert "encode, exit 4" in ended.stdout
