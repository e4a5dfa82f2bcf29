"""Addresses instead of paths: object stores through fsspec."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
fsspec = pytest.importorskip("fsspec")
Exit = pytest.importorskip("onehot_fast.cli.errors").Exit

COLUMNS = ["-c", "carrier,dest"]


@pytest.fixture
def store() -> Iterator[Any]:
    """Return a store in memory with nothing in it."""
    system = fsspec.filesystem("memory")
    system.rm("/", recursive=True) if system.find("/") else None
    yield system
    system.rm("/", recursive=True) if system.find("/") else None


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows.zst", "csv", "csv.gz"])
def test_a_file(suffix: str, table: Any, files: Any, call: Any, store: Any, tmp_path: Path) -> None:
    """It is read and written as a local one is, and so is the encoder."""
    path = files.write(table, tmp_path / f"in.{suffix}")
    store.put_file(str(path), f"/bucket/in.{suffix}")
    here, there = tmp_path / f"here.{suffix}", f"memory://bucket/there.{suffix}"
    assert call("encode", path, *COLUMNS, "-o", here).code == 0
    saved = "--save-encoder", "memory://bucket/e.json"
    source = f"memory://bucket/in.{suffix}"
    assert call("encode", source, *COLUMNS, *saved, "-o", there) == (0, b"", "")
    assert store.cat(f"/bucket/there.{suffix}") == here.read_bytes()
    again = tmp_path / "again.parquet"
    assert call("decode", there, "--encoder", "memory://bucket/e.json", "-o", again).code == 0
    assert files.read(again)["dest"].to_pylist() == table["dest"].to_pylist()
    assert call("inspect", source, "-c", "dest").code == 0


def test_a_folder(table: Any, files: Any, call: Any, store: Any, tmp_path: Path) -> None:
    """A folder of keys becomes one, whole; --overwrite leaves nothing of the old one."""
    for year in (2013, 2014):
        path = files.write(table.select(["id", "dest"]), tmp_path / f"{year}.parquet")
        store.put_file(str(path), f"/in/year={year}/part.parquet")
    assert call("encode", "memory://in", "-o", "memory://out/") == (0, b"", "")
    assert [*store.find("/out")] == ["/out/year=2013/part.parquet", "/out/year=2014/part.parquet"]
    by = "--partition-by", "year", "--rows-per-file", 600, "-c", "dest", "-o", "memory://out"
    assert call("encode", "memory://in", *by).code == Exit.OUTPUT
    assert call("encode", "memory://in", *by, "--overwrite") == (0, b"", "")
    names = [f"/out/year={y}/part-00000{i}.parquet" for y in (2013, 2014) for i in (0, 1)]
    assert [*store.find("/out")] == names
    assert call("encode", "memory://in", "-o", "memory://in/x.parquet").code == Exit.OUTPUT
    assert call("encode", "memory://out", *COLUMNS[:1], "year", "-o", tmp_path / "x.csv").code == 0
    assert len(files.read(tmp_path / "x.csv")) == 2000


@pytest.mark.parametrize("nth", [0, 1, 3])
def test_an_upload_that_fails(
    nth: int, small: Path, call: Any, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a folder nothing stays that was uploaded before."""
    put, n_put = type(store).put_file, 0

    def failing(*arguments: Any, **options: Any) -> Any:
        nonlocal n_put
        n_put += 1
        if n_put > nth:
            raise OSError(5, os.strerror(5))
        return put(*arguments, **options)

    monkeypatch.setattr(type(store), "put_file", failing)
    ended = call("encode", small, *COLUMNS, "--rows-per-file", 250, "-o", "memory://out/")
    assert (ended.code, ended.error.count("\n")) == (Exit.OUTPUT, 1)
    assert n_put == nth + 1
    assert store.find("/out") == {} or [*store.find("/out")] == []


def test_a_path_with_a_scheme(small: Path, call: Any, files: Any, tmp_path: Path) -> None:
    """``file://`` is the local disk, with all that is promised there."""
    source, out = small.as_uri(), (tmp_path / "out.parquet").as_uri()
    assert call("encode", source, *COLUMNS, "-o", out) == (0, b"", "")
    assert call("encode", source, *COLUMNS, "-o", out).code == Exit.OUTPUT
    assert call("encode", source, *COLUMNS, "-o", source, "--overwrite").code == Exit.OUTPUT
    assert sorted(os.listdir(tmp_path)) == ["in.parquet", "out.parquet"]


@pytest.mark.parametrize(
    ("source", "target", "code", "words"),
    [
        ("memory://nothing.parquet", "x.parquet", Exit.INPUT, "No such file"),
        ("nosuch://bucket/x.parquet", "x.parquet", Exit.FAILED, "fsspec"),
        ("{path}", "nosuch://bucket/x.parquet", Exit.FAILED, "fsspec"),
        ("memory://in.parquet", "memory://in.parquet", Exit.OUTPUT, "input"),
    ],
)
def test_mistakes(
    source: str, target: str, code: int, words: str, small: Path, call: Any, store: Any
) -> None:
    """One line and its code, and nothing is written."""
    store.put_file(str(small), "/in.parquet")
    before = store.cat("/in.parquet")
    ended = call("encode", source.format(path=small), *COLUMNS, "--overwrite", "-o", target)
    assert (ended.code, ended.error.count("\n")) == (code, 1)
    assert words in ended.error
    assert store.cat("/in.parquet") == before
    assert [*store.find("/")] == ["/in.parquet"]
