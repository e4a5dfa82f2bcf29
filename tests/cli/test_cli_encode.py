"""``onehot-fast encode``: every format, layout and option, as `Encoder` encodes it in memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onehot_fast import Encoder
from support import command_files as files
from support.command_files import arrow, pa

LINE = "encode in.parquet -c carrier,dest"


def expected(table, columns=("carrier", "dest"), layout="columns", **options):
    """Return what the encoder makes of the table."""
    encoder = Encoder(columns, **options).fit(table)
    return arrow.encode(table, encoder, layout=layout)


def assert_same(result, wanted):
    """Assert that the columns, their types and their values are the same."""
    assert result.schema.names == wanted.schema.names
    assert result.schema.types == wanted.schema.types
    assert result.equals(wanted)


# --- formats


# Reading and writing are independent, so that each format appears once as input and as output.
FORMATS = [
    ("in.parquet", "out.arrow"), ("in.arrow", "out.parquet"), ("in.feather", "out.arrows.gz"),
    ("in.arrows", "out.arrows"), ("in.arrows.zst", "out.csv"), ("in.csv", "out.csv"),
    ("in.csv.gz", "out.parquet"), ("in.csv.bz2", "out.arrow"), ("in.csv.zst", "out.csv.gz"),
    ("in.tsv", "out.csv.zst"),
]  # fmt: skip


@pytest.mark.parametrize("n_rows", [0, 1000])
@pytest.mark.parametrize(("source", "target"), FORMATS)
def test_every_format_holds_the_features_of_encode(source, target, n_rows, done):
    """Order, types and values are those of `encode` in memory, for the table in the file."""
    table = files.make(n_rows)
    path = files.write(table, Path(source))
    done(f"encode {source} -c carrier,dest -o {target}")

    wanted = expected(files.read(path).set_column(1, "carrier", table["carrier"]))
    result = files.read(Path(target))
    assert_same(result.cast(wanted.schema) if "csv" in target else result, wanted)


@pytest.mark.parametrize(("source", "target"), [FORMATS[i] for i in (0, 1, 3, 5, 6, 8)])
def test_a_dash_is_standard_input_or_output(source, target, table, run, done):
    """A "-" is standard input, recognized by its first bytes, and standard output."""
    stdin = files.write(table, Path(source)).read_bytes()
    line = f"encode - -c carrier,dest -o - --output-format {target.partition('.')[2]}"
    done(f"encode {source} -c carrier,dest -o {target}")
    assert run(*line.split(), stdin=stdin) == (0, Path(target).read_bytes(), "")


@pytest.mark.parametrize("suffix", ["parquet", "csv", "arrow"])
def test_the_files_of_a_folder_are_one_table(suffix, table, done, here):
    """The files of a folder are rows of one table; they become one file, or a file for each."""
    for i, name in enumerate(["a", "sub/b", "_SUCCESS", ".hidden"]):
        path = Path("in", f"{name}.{suffix}")
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(table.slice(i * 50, 50), path)
    done(f"encode in -c carrier,dest -o one.{suffix}")
    done("encode in -c carrier,dest -o out")  # a name without a format is a folder

    one = files.read(Path(f"one.{suffix}"))
    parts = [files.read(Path("out", f"{name}.{suffix}")) for name in ("a", "sub/b")]
    assert pa.concat_tables(parts).equals(one)
    assert one["id"].to_pylist() == list(range(100))
    if suffix != "csv":
        assert_same(one, expected(table.slice(0, 100)))
    assert sum(path.is_file() for path in Path("out").rglob("*")) == 2
    assert files.leftovers(here) == []


@pytest.mark.parametrize("target", ["out.parquet", "out.arrow", "out.arrows", "out.csv"])
def test_dictionaries_of_batches_may_differ(target, done):
    """A dictionary column that is kept may have another dictionary in each batch."""
    kind = pa.dictionary(pa.int8(), pa.string())
    parts = [
        pa.table({"size": ["S", "L"], "colour": pa.array(values, kind)})
        for values in (["red", "blue"], ["blue", None], ["green", "red"])
    ]
    files.write(pa.concat_tables(parts), Path("in.arrows"))
    done(f"encode in.arrows -c size -o {target}")

    nothing = "" if target == "out.csv" else None
    colours = files.read(Path(target))["colour"].to_pylist()
    assert colours == ["red", "blue", "blue", nothing, "green", "red"]


# --- options


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("layout", ["columns", "struct", "array", "tensor", "dictionary"])
@pytest.mark.usefixtures("small")
def test_every_layout_is_decoded(layout, suffix, table, done):
    """A layout is that of the library. The encoder in the file decodes it, with all metadata."""
    done(f"{LINE} --layout {layout} -o middle.{suffix}")
    done(f"decode middle.{suffix} -o out.{suffix}")
    wanted, middle = expected(table, layout=layout), files.read(Path(f"middle.{suffix}"))
    assert middle.schema.names == wanted.schema.names
    assert middle.to_pylist() == wanted.to_pylist()
    assert Encoder.from_json(middle.schema.metadata[b"onehot_fast.encoder"]).n_features == 16

    result = files.read(Path(f"out.{suffix}"))
    assert result.equals(table)
    assert result.schema.metadata == {b"made_by": b"the tests"}
    assert result.schema.field("id").metadata[b"unit"] == b"none"


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        ("-c month -c late", {"columns": ["month", "late"]}),
        ("--dtype uint8", {"dtype": "uint8"}),
        ("--dtype carrier=float32", {"dtype": {"carrier": "float32"}}),
        ("--drop first", {"drop": "first"}),
        ("--drop carrier=UA --drop dest=last", {"drop": {"carrier": "UA", "dest": "last"}}),
        ("--handle-missing indicator", {"handle_missing": "indicator"}),
        ("--handle-unknown indicator", {"handle_unknown": "indicator"}),
        ("--min-frequency 100", {"min_frequency": 100}),
        ("--min-frequency 0.05", {"min_frequency": 0.05}),
        ("--min-frequency 5 --min-frequency dest=80",
         {"min_frequency": {"carrier": 5, "dest": 80}}),
        ("--max-categories dest=4", {"max_categories": {"dest": 4}}),
        ("--prefix carrier=by --prefix-sep =", {"prefix": {"carrier": "by"}, "prefix_sep": "="}),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("small")
def test_every_option_is_that_of_encoder(typed, options, table, done):
    """An option is that of `Encoder`, for one column or for all: by default those of texts."""
    done(f"encode in.parquet {typed} -o out.parquet")
    assert_same(files.read(Path("out.parquet")), expected(table, **options))


# --- outputs


def test_a_replaced_output_keeps_permissions_and_links(small, table, done):
    """The new file gets the permissions of the old one; a symbolic link stays a link."""
    Path("real").mkdir()
    Path("real/x.parquet").write_bytes(b"old")
    Path("real/x.parquet").chmod(0o640)
    os.symlink("real/x.parquet", "out.parquet")
    done(f"{LINE} --overwrite -o out.parquet")

    assert Path("out.parquet").is_symlink()
    assert_same(files.read(Path("real/x.parquet")), expected(table))
    assert Path("real/x.parquet").stat().st_mode & 0o777 == 0o640
