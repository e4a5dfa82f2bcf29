"""Inputs that change while they are read, columns without features, and names that get lost."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
import signalling

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
parquet = pytest.importorskip("pyarrow.parquet")
Exit = pytest.importorskip("onehot_fast.cli.errors").Exit
atomic = pytest.importorskip("onehot_fast.cli.atomic")

COLUMNS = ["-c", "carrier", "-c", "dest"]


# --- the input changes during the run


@pytest.mark.skipif(os.name != "posix", reason="truncates a mapped file")
def test_a_large_batch_is_truncated(call: Any, tmp_path: Path) -> None:
    """A batch that is too large for the memory is mapped: no signal kills the process either."""
    n_rows = 10_000_000
    codes = pa.array(range(100), pa.int64()).take(pa.array([0, 1] * (n_rows // 2), pa.int32()))
    table = pa.table({"n": codes, "size": pa.array(["S"] * n_rows).dictionary_encode()})
    source, out = tmp_path / "in.arrow", tmp_path / "out.parquet"
    with pa.ipc.new_file(str(source), table.schema) as file:
        file.write_table(table)
    assert file.stats.num_record_batches == 1

    # Truncated between the check and the copy, it would still be a signal: see docs/files.md.
    place = "before onehot_fast.cli.readers.ArrowReader._require_size"
    truncate = f"os.truncate:{source}"
    code, error = signalling.run(place, truncate, "encode", source, "-c", "size", "-o", out)
    assert (code, error.count("\n")) == (Exit.CORRUPT, 1), error
    assert "in.arrow: the file was truncated while it was read" in error
    assert os.listdir(tmp_path) == ["in.arrow"]


# --- columns without features, and files without rows


def test_csv_without_rows(call: Any, tmp_path: Path) -> None:
    """It is encoded with an encoder of another file, and decoded again."""
    train, empty, encoder = (tmp_path / name for name in ("t.csv", "e.csv", "e.json"))
    train.write_text("n,s\n1,a\n2,b\n")
    empty.write_text("n,s\n")
    assert call("encode", train, "--save-encoder", encoder, "-o", tmp_path / "o.csv").code == 0
    middle, out = tmp_path / "middle.csv", tmp_path / "out.csv"
    assert call("encode", empty, "--encoder", encoder, "-o", middle) == (0, b"", "")
    assert call("decode", middle, "--encoder", encoder, "-o", out) == (0, b"", "")
    assert (middle.read_text(), out.read_text()) == ("n,s_a,s_b\n", "n,s\n")


@pytest.mark.parametrize(
    ("kind", "suffix"), [("texts", "csv"), ("texts", "parquet"), ("lists", "arrow")]
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_column_without_features_returns_to_its_place(
    kind: str, place: int, suffix: str, files: Any, call: Any, tmp_path: Path
) -> None:
    """A column of missing values has no features; decode knows where it was."""
    type_ = pa.string() if kind == "texts" else pa.list_(pa.string())
    columns = {"n": pa.array([1, 2]), "size": pa.array(["S", "L"])}
    names = list(columns)
    names.insert(place, "nothing")
    columns["nothing"] = pa.nulls(2, type_)
    table = pa.table(columns).select(names)
    source = files.write(table, tmp_path / f"in.{suffix}")
    middle, out, encoder = tmp_path / f"m.{suffix}", tmp_path / f"o.{suffix}", tmp_path / "e.json"
    saved = "--save-encoder", encoder, "--text-column", "nothing"
    saved = saved if suffix == "csv" else saved[:2]
    assert call("encode", source, "-c", "size,nothing", *saved, "-o", middle) == (0, b"", "")
    assert call("decode", middle, "--encoder", encoder, "-o", out) == (0, b"", "")

    assert "nothing" not in files.read(middle).column_names
    assert files.read(out).column_names == names


# --- folders


@pytest.mark.parametrize("value", ["__HIVE_DEFAULT_PARTITION__", None])
def test_the_name_of_a_missing_value(value: str | None, call: Any, tmp_path: Path) -> None:
    """A text that readers take for a missing value is rejected; a null is not."""
    source, out = tmp_path / "in.parquet", tmp_path / "out"
    parquet.write_table(pa.table({"gate": ["A", value], "size": ["S", "L"]}), source)
    ended = call("encode", source, "-c", "size", "--partition-by", "gate", "-o", f"{out}/")
    if value is None:
        assert sorted(os.listdir(out)) == ["gate=A", "gate=__HIVE_DEFAULT_PARTITION__"]
        return
    assert (ended.code, ended.error.count("\n")) == (Exit.VALUE, 1)
    assert "--partition-by gate: readers take the value" in ended.error
    assert os.listdir(tmp_path) == ["in.parquet"]


def test_a_key_without_a_name(call: Any, tmp_path: Path) -> None:
    """A column named "" cannot name folders; as another column it stays."""
    source, out = tmp_path / "in.parquet", tmp_path / "out"
    parquet.write_table(pa.table({"": ["x", "y"], "size": ["S", "L"]}), source)
    ended = call("encode", source, "-c", "size", "--partition-by", "", "-o", f"{out}/")
    assert (ended.code, ended.error.count("\n")) == (Exit.USAGE, 1)
    assert "rename it" in ended.error
    assert os.listdir(tmp_path) == ["in.parquet"]
    assert call("encode", source, "-c", "size", "-o", tmp_path / "o.parquet").code == 0
    assert parquet.read_table(tmp_path / "o.parquet").column_names == ["", "size_L", "size_S"]


@pytest.mark.parametrize("option", ["--rows-per-file", "--row-group-size", "--max-features"])
def test_huge_numbers(option: str, small: Path, call: Any) -> None:
    """A number that no file can have is an invalid option."""
    ended = call("encode", small, option, "9" * 25, "-o", f"{small.parent}/out/")
    assert (ended.code, ended.error.count("\n")) == (Exit.USAGE, 1)
    assert option in ended.error


def test_columns_of_one_name_in_folders(files: Any, call: Any, tmp_path: Path) -> None:
    """Other columns that appear twice are kept, also below folders of keys."""
    path = tmp_path / "in" / "year=2013" / "a.arrow"
    path.parent.mkdir(parents=True)
    table = pa.Table.from_arrays([pa.array([x]) for x in (1, 2, "S")], ["n", "n", "size"])
    files.write(table, path)
    ended = call("encode", tmp_path / "in", "-c", "size", "-o", tmp_path / "out")
    assert ended == (0, b"", "")
    out = tmp_path / "out" / "year=2013" / "a.arrow"
    assert files.read(out).column_names == ["n", "n", "size_S"]


# --- the rules of Windows, simulated


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enforce the rules of Windows: no locks, no handles of folders, nothing open is renamed."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("open files are listed in /proc")
    open_, replace, rename = os.open, os.replace, os.rename

    def refuse(path: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    def check(*paths: Any) -> None:
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        held = [os.path.realpath(link) for link in links if os.path.lexists(link)]
        for path in map(os.path.realpath, paths):
            if any(name == path or name.startswith(f"{path}/") for name in held):
                refuse(path)

    def checked_open(path: Any, flags: int, *mode: Any, **others: Any) -> int:
        if os.path.isdir(path):
            refuse(path)
        return open_(path, flags, *mode, **others)

    def checked_replace(source: Any, target: Any) -> None:
        check(source, target)
        replace(source, target)

    def checked_rename(source: Any, target: Any) -> None:
        check(source, target)
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        rename(source, target)

    monkeypatch.setattr(atomic, "locks", None)
    monkeypatch.setattr(os, "open", checked_open)
    monkeypatch.setattr(os, "replace", checked_replace)
    monkeypatch.setattr(os, "rename", checked_rename)
    for name in ("O_NONBLOCK", "O_NOFOLLOW"):
        monkeypatch.delattr(os, name)
    monkeypatch.delattr(signal, "SIGHUP")
    monkeypatch.setattr(shutil, "_use_fd_functions", False)


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize("target", ["out.parquet", "out.arrow", "out.csv.gz", "out.npz", "out"])
def test_whole_outputs_on_windows(target: str, small: Path, call: Any, files: Any) -> None:
    """Files and folders appear whole, and are replaced, by the rules of Windows."""
    out = small.parent / target
    parts = ["--rows-per-file", "400"] if target == "out" else []
    if target == "out":
        out.mkdir()  # empty: Windows renames nothing onto it
    arguments = "encode", small, *COLUMNS, *parts, "-o", out
    assert call(*arguments) == (0, b"", "")
    assert call(*arguments).code == Exit.OUTPUT
    assert call(*arguments, "--overwrite") == (0, b"", "")

    assert sorted(os.listdir(small.parent)) == sorted(["in.parquet", target])
    assert len(os.listdir(out)) == 3 if target == "out" else out.stat().st_size > 0


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize("target", ["out.parquet", "out"])
def test_an_open_output_on_windows(target: str, small: Path, call: Any) -> None:
    """An output that another program has open stays; nothing else is left."""
    out = small.parent / target
    parts = ["--rows-per-file", "400"] if target == "out" else []
    old = out / "1.parquet" if parts else out
    old.parent.mkdir(exist_ok=True)
    old.write_text("old")
    with old.open():
        ended = call("encode", small, *COLUMNS, *parts, "--overwrite", "-o", out)
    assert (ended.code, ended.error.count("\n")) == (Exit.OUTPUT, 1)
    assert old.read_text() == "old"
    assert sorted(os.listdir(small.parent)) == sorted(["in.parquet", target])


def test_names_that_windows_changes() -> None:
    """A dot or a space at the end of a folder's name is encoded, and reads back."""
    from onehot_fast.cli.folders import folder_name, keys_of

    for value in ("a.", "a ", ".", "a. b"):
        name = folder_name("key", value)
        assert not name.endswith((".", " "))
        assert keys_of([name]) == {"key": value}
