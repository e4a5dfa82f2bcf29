"""Folders named ``key=value``: read as columns, kept, and made of columns."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
parquet = pytest.importorskip("pyarrow.parquet")
dataset = pytest.importorskip("pyarrow.dataset")
folders = pytest.importorskip("onehot_fast.cli.folders")
main = pytest.importorskip("onehot_fast.cli").main
Exit = pytest.importorskip("onehot_fast.cli.errors").Exit

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
SCHEMA = pa.schema([("text", pa.string()), ("number", pa.int64())])


def whole(folder: Path, schema: Any) -> Any:
    """Return the rows of a folder as pyarrow reads it, in the order of their numbers."""
    keys = dataset.partitioning(schema, flavor="hive")
    return dataset.dataset(folder, partitioning=keys).to_table().sort_by("id")


@examples(0.15)
@given(
    keys=st.lists(st.tuples(st.none() | TEXTS, st.none() | st.integers(-9, 9)), max_size=12),
    file_rows=st.none() | st.integers(1, 4),
)
def test_partitions_are_what_pyarrow_reads(keys: list[Any], file_rows: int | None) -> None:
    """No row is lost, none is in another folder, whatever the values; and we read it back."""
    with tempfile.TemporaryDirectory() as name:
        check_partitions(keys, file_rows, Path(name))


def check_partitions(keys: list[Any], file_rows: int | None, folder: Path) -> None:
    """Write rows of these keys into folders, and compare what pyarrow and we read there."""
    text = pa.array([key for key, _ in keys], pa.string())
    number = pa.array([key for _, key in keys], pa.int64())
    size = pa.array([f"s{i % 3}" for i in range(len(text))])
    table = pa.table({"id": range(len(text)), "text": text, "size": size, "number": number})
    source, out, again = (str(folder / name) for name in ("in.parquet", "out/", "again.parquet"))
    parquet.write_table(table, source)
    rows = [] if file_rows is None else ["--rows-per-file", str(file_rows)]
    by = "--partition-by", "text", "--partition-by", "number"
    assert main(["encode", source, "-c", "size", *by, *rows, "-o", f"{out}/"]) == 0
    paths = [path for path in (folder / "out").rglob("*") if path.is_file()]
    if not len(table):
        assert paths == []
        return
    found = whole(folder / "out", SCHEMA)
    assert found["number"].equals(table["number"])
    # "" is a text here, and what is not there for pyarrow.
    assert [t or None for t in found["text"].to_pylist()] == [t or None for t in text.to_pylist()]
    sizes = [parquet.read_metadata(path).num_rows for path in paths]
    assert file_rows is None or max(sizes) <= file_rows
    assert main(["decode", out, "-o", again]) == 0
    decoded = parquet.read_table(again).sort_by("id").select(table.column_names)
    texts = [None if key is None else str(key) for key in decoded["text"].to_pylist()]
    assert texts == text.to_pylist()  # integers, where all of them look like some
    assert (
        decoded.drop_columns("text")
        .cast(table.drop_columns("text").schema)
        .equals(table.drop_columns("text"))
    )


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows", "csv", "tsv.gz"])
def test_a_partitioned_folder_stays_one(
    suffix: str, table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """Its keys are columns to encode or to choose, and are not written into files below them."""
    for year in (2013, 2014):
        for gate in ("A 1", None):
            path = tmp_path / "in" / folders.folder_name("year", str(year))
            path = path / folders.folder_name("gate", gate) / f"part.{suffix}"
            path.parent.mkdir(parents=True)
            files.write(table.select(["id", "dest"]), path)
    assert call("encode", tmp_path / "in", "-o", tmp_path / "same") == (0, b"", "")
    written = sorted(p for p in (tmp_path / "same").rglob("*") if p.is_file())
    assert [p.relative_to(tmp_path / "same") for p in written] == [
        p.relative_to(tmp_path / "in") for p in sorted((tmp_path / "in").rglob(f"*.{suffix}"))
    ]
    assert files.read(written[0]).column_names[0] == "id"
    assert all("year" not in n and "gate" not in n for n in files.read(written[0]).column_names)

    one = tmp_path / f"one.{suffix}"
    assert call("encode", tmp_path / "in", "-c", "gate,year", "-o", one).code == 0
    found = files.read(one)
    assert found.column_names == ["id", "dest", "year_2013", "year_2014", "gate_A 1"]
    assert sum(map(int, found["year_2013"].to_pylist())) == 2 * len(table)
    assert sum(map(int, found["gate_A 1"].to_pylist())) == 2 * len(table)


def test_folders_of_different_keys(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """Then nobody knows the columns: the line names a file and its keys."""
    for name in ("year=1", "month=2"):
        (tmp_path / "in" / name).mkdir(parents=True)
        files.write(table, tmp_path / "in" / name / "x.parquet")
    ended = call("encode", tmp_path / "in", "-o", tmp_path / "out.parquet")
    assert (ended.code, ended.error.count("\n")) == (Exit.SCHEMA, 1)
    assert "year" in ended.error
    assert "month" in ended.error


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--partition-by", "dest"], Exit.USAGE, "dest: the column is encoded"),
        (["--partition-by", "desk"], Exit.COLUMN, "did you mean 'dest'?"),
        (["--partition-by", "id"], Exit.VALUE, "more than 10,000 folders"),
    ],
)
def test_mistakes(
    arguments: list[str], code: int, words: str, files: Any, call: Any, tmp_path: Path
) -> None:
    """One line, and nothing is left."""
    source = files.write(files.make(10_001), tmp_path / "in.parquet")
    ended = call("encode", source, "-c", "dest", *arguments, "-o", f"{tmp_path}/out/")
    assert (ended.code, ended.error.count("\n")) == (code, 1)
    assert words in ended.error
    assert os.listdir(tmp_path) == ["in.parquet"]


def test_more_partitions_than_open_files(files: Any, call: Any, tmp_path: Path) -> None:
    """Files are closed for others, and partitions get more files; no row is lost."""
    n_rows, n_keys = 3000, 80
    long = pa.DictionaryArray.from_arrays(pa.array([0] * n_rows, pa.int8()), ["x" * (1 << 18)])
    keys = [row % n_keys for row in range(n_rows)]
    table = pa.table({"id": range(n_rows), "key": keys, "long": long, "size": ["S"] * n_rows})
    source, out = files.write(table, tmp_path / "in.arrow"), tmp_path / "out"
    assert call("encode", source, "-c", "size", "--partition-by", "key", "-o", f"{out}/").code == 0

    paths = sorted(out.rglob("*.arrow"))
    assert len(os.listdir(out)) == n_keys < len(paths)
    for key in range(0, n_keys, 33):
        parts = [files.read(path) for path in sorted((out / f"key={key}").iterdir())]
        assert pa.concat_tables(parts)["id"].to_pylist() == list(range(key, n_rows, n_keys))


def test_a_folder_of_a_thousand_files(files: Any, call: Any, tmp_path: Path) -> None:
    """They become one file, in the order of their names; more than may be open at a time."""
    table = pa.table({"size": ["S", "L"]})
    (tmp_path / "in").mkdir()
    content = files.write(table, tmp_path / "one.arrow").read_bytes()
    for i in range(1000):
        (tmp_path / "in" / f"{i:04}.arrow").write_bytes(content)
    assert call("encode", tmp_path / "in", "-o", tmp_path / "out.arrow") == (0, b"", "")
    assert files.read(tmp_path / "out.arrow")["size_S"].to_pylist() == [True, False] * 1000
