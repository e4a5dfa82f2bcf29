"""A folder of files with so many rows each: whole or not at all, in order, two at a time."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
parquet = pytest.importorskip("pyarrow.parquet")
Exit = pytest.importorskip("onehot_fast.cli.errors").Exit
writers = pytest.importorskip("onehot_fast.cli.writers")

COLUMNS = ["-c", "carrier", "-c", "dest"]
PARTS = ["--rows-per-file", "100"]


def parts(folder: Path) -> list[Path]:
    """Return the files of a folder."""
    return sorted(folder.iterdir())


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows", "csv.gz"])
@pytest.mark.parametrize(
    ("n_rows", "rows"), [(0, 7), (20, 1), (300, 299), (300, 300), (700, 300), (700, 70)]
)
def test_the_parts_are_the_whole(
    suffix: str, n_rows: int, rows: int, files: Any, call: Any, tmp_path: Path
) -> None:
    """One after the other they are what one file would be; all but the last have so many rows."""
    source = files.write(files.make(n_rows), tmp_path / f"in.{suffix}")
    typed = ["--text"] if suffix == "csv.gz" else []
    assert call("encode", source, *COLUMNS, *typed, "-o", tmp_path / f"all.{suffix}").code == 0
    options = "--rows-per-file", rows, "-o", tmp_path / "parts"
    assert call("encode", source, *COLUMNS, *typed, *options) == (0, b"", "")

    whole, found = files.read(tmp_path / f"all.{suffix}"), parts(tmp_path / "parts")
    ends = [*range(rows, n_rows, rows), n_rows]
    assert [path.name for path in found] == [f"part-{i:06}.{suffix}" for i in range(len(ends))]
    for path, start, end in zip(found, [0, *ends], ends, strict=False):
        assert files.read(path).cast(whole.schema).equals(whole.slice(start, end - start))
    assert files.leftovers(tmp_path) == []


def test_a_folder_becomes_parts_and_comes_back(files: Any, call: Any, tmp_path: Path) -> None:
    """The files of the input have no borders in the output, which is a folder to read again."""
    table = files.make(900)
    for i, size in enumerate([300, 0, 600]):
        path = tmp_path / "in" / f"{i}.parquet"
        path.parent.mkdir(exist_ok=True)
        files.write(table.slice(300 * (i == 2), size), path)
    out, again = tmp_path / "out", tmp_path / "again.parquet"
    options = "--row-group-size", 150, "--compression", "zstd", "--rows-per-file", 400
    assert call("encode", tmp_path / "in", *COLUMNS, *options, "-o", out).code == 0
    assert call("decode", out, "-o", again).code == 0

    metadata = [parquet.read_metadata(path) for path in parts(out)]
    sizes = [[one.row_group(i).num_rows for i in range(one.num_row_groups)] for one in metadata]
    assert sizes == [[150, 150, 100], [150, 150, 100], [100]]
    assert {one.row_group(0).column(0).compression for one in metadata} == {"ZSTD"}
    assert files.read(again).select(table.column_names).equals(table)


def test_what_is_there_already(small: Path, call: Any, tmp_path: Path) -> None:
    """A folder with something in it is refused, or replaced as a whole; and never the input."""
    out = tmp_path / "out"
    out.mkdir()
    encode = "encode", small, *COLUMNS, *PARTS, "-o"
    assert call(*encode, out).code == 0
    assert len(parts(out)) == 10
    ended = call(*encode, out)
    assert (ended.code, "--overwrite" in ended.error) == (Exit.OUTPUT, True)
    larger = "encode", small, *COLUMNS, "--rows-per-file", 600, "--overwrite", "-o"
    assert call(*larger, out).code == 0
    assert len(parts(out)) == 2
    assert call(*larger, tmp_path).code == Exit.OUTPUT
    assert sorted(os.listdir(tmp_path)) == ["in.parquet", "out"]


@pytest.mark.parametrize("target", ["out.parquet", "-"])
def test_parts_are_no_file(target: str, small: Path, call: Any, tmp_path: Path) -> None:
    """An output that is no folder is a mistake, and the line says what to type."""
    place = target if target == "-" else tmp_path / target
    ended = call("encode", small, *COLUMNS, *PARTS, "-o", place)
    assert (ended.code, ended.error.count("\n")) == (Exit.USAGE, 1)
    assert "parts/" in ended.error
    assert os.listdir(tmp_path) == ["in.parquet"]


@pytest.mark.parametrize("nth", [0, 1, 9])
def test_a_part_that_cannot_be_written(
    nth: int, small: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then there is none; what was there before stays."""
    out = small.parent / "out"
    assert call("encode", small, *COLUMNS, "-o", f"{out}/").code == 0
    flush = writers.ParquetWriter._flush

    def failing(sink: Any) -> None:
        if not countdown.pop():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush(sink)

    countdown = [*range(1, 99)][::-1]
    countdown[-1 - nth] = 0
    monkeypatch.setattr(writers.ParquetWriter, "_flush", failing)
    ended = call("encode", small, *COLUMNS, *PARTS, "--overwrite", "-o", out)

    assert (ended.code, ended.error.count("\n")) == (Exit.OUTPUT, 1)
    assert os.strerror(errno.ENOSPC) in ended.error
    assert [path.name for path in parts(out)] == ["in.parquet"]
    assert sorted(os.listdir(small.parent)) == ["in.parquet", "out"]
