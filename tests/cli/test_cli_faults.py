"""Killed, interrupted, without room, with corrupt input: nothing is lost and nothing half done.

The numbers of rounds are small here; ONEHOT_FAST_FAULTS multiplies them.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import signalling

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
parquet = pytest.importorskip("pyarrow.parquet")
arrow = pytest.importorskip("onehot_fast.integrations.arrow")
Exit = pytest.importorskip("onehot_fast.cli.errors").Exit
main = pytest.importorskip("onehot_fast.cli").main

from onehot_fast import Encoder  # noqa: E402

needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
ROUNDS = int(os.environ.get("ONEHOT_FAST_FAULTS", "1"))
COLUMNS = ["-c", "carrier", "-c", "dest"]
OLD = b"what was there before"


@pytest.fixture(scope="module")
def big(files: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of many batches and row groups."""
    path: Path = tmp_path_factory.mktemp("big") / "in.parquet"
    parquet.write_table(files.make(60_000), path, row_group_size=5_000)
    return path


def wanted(path: Path) -> Any:
    """Return the table that must come out."""
    source = parquet.read_table(path)
    return arrow.encode(source, Encoder(["carrier", "dest"]).fit(source))


@needs_posix
@pytest.mark.parametrize(
    ("place", "left"),
    [("before os.rename", "out"), ("after os.rename", "old"), ("before shutil.rmtree", "new")],
)
def test_killed_while_a_folder_is_replaced(
    place: str, left: str, small: Path, call: Any, files: Any
) -> None:
    """There is the old folder, the old one under another name, or the new one: each is whole."""
    out = small.parent / "out"
    arguments = "encode", small, *COLUMNS, "--rows-per-file", "99999", "--overwrite", "-o", out
    out.mkdir()
    (out / "old.parquet").write_bytes(OLD)

    assert signalling.run(place, signal.SIGKILL, *arguments) == (-signal.SIGKILL, "")
    aside = [path for path in small.parent.iterdir() if path.name.endswith(".onehot-fast-old")]
    found = out if left != "old" else aside[0]
    assert os.listdir(found) == ["part-000000.parquet" if left == "new" else "old.parquet"]
    assert len(aside) == (left != "out")

    assert call(*arguments).code == 0
    assert os.listdir(out) == ["part-000000.parquet"]
    assert files.leftovers(small.parent) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    """Return a file system of 200 kB, where we may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True)
    except OSError:
        pytest.skip("there is no mount")
    if done.returncode:
        pytest.skip("we may not mount a file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@needs_posix
@pytest.mark.parametrize("target", ["out.parquet", "out.arrow", "out.csv", "out/"])
def test_a_full_disk(target: str, big: Path, small_disk: Path, call: Any, files: Any) -> None:
    """On a full disk the run ends with one line, and all of its room is given back."""
    free = os.statvfs(small_disk).f_bavail
    (small_disk / "kept").write_bytes(OLD)
    form = [] if target != "out/" else ["--output-format", "csv"]
    ended = call("encode", big, *COLUMNS, *form, "-o", f"{small_disk}/{target}")

    assert (ended.code, ended.error.count("\n")) == (Exit.OUTPUT, 1)
    assert "No space left" in ended.error
    assert sorted(os.listdir(small_disk)) == ["kept"]
    assert os.statvfs(small_disk).f_bavail >= free - 1


def corrupted(data: bytes, position: int) -> bytes:
    """Return data with one byte that differs in all bits."""
    return data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1 :]


def outcome(ended: Any, out: Path, files: Any, right: Any) -> str:
    """Return what came of a corrupt input: an error, the right table, or another one."""
    if ended.code:
        assert (ended.code, ended.error.count("\n")) in {
            (code, 1) for code in (Exit.CORRUPT, Exit.SCHEMA, Exit.COLUMN, Exit.VALUE, Exit.INPUT)
        }, ended
        assert not out.exists()
        return "error"
    result = files.read(out)
    out.unlink()
    return "right" if result.equals(right) else "other"


def test_flipped_bytes_with_checksums(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """Where the pages have checksums, every corrupt byte of a page is an error."""
    path = tmp_path / "in.parquet"
    parquet.write_table(table, path, row_group_size=300, write_page_checksum=True)
    data = path.read_bytes()
    right = arrow.encode(table, Encoder(["carrier", "dest"]).fit(table))
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    draw = random.Random(2)
    places = [draw.randrange(4, footer) for _ in range(30 * ROUNDS)]

    def of(position: int) -> str:
        path.write_bytes(corrupted(data, position))
        ended = call("encode", path, *COLUMNS, "-o", tmp_path / "out.parquet")
        return outcome(ended, tmp_path / "out.parquet", files, right)

    outcomes = [of(position) for position in places]
    # What a header says beside the sizes, such as statistics, changes no value.
    assert outcomes.count("other") == 0
    assert outcomes.count("error") > len(outcomes) / 2
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


@pytest.mark.parametrize("name", ["in.parquet", "in.arrow"])
def test_flipped_bytes_without_checksums(
    name: str, table: Any, files: Any, run: Any, call: Any, tmp_path: Path
) -> None:
    """Without checksums a corrupt byte is an error, or it passes for a value: never a crash."""
    path = files.write(table, tmp_path / name)
    data = path.read_bytes()
    right = arrow.encode(table, Encoder(["carrier", "dest"]).fit(table))
    draw = random.Random(3)
    places = [draw.randrange(len(data)) for _ in range(30 * ROUNDS)]

    def of(position: int) -> str:
        path.write_bytes(corrupted(data, position))
        ended = call("encode", path, *COLUMNS, "-o", tmp_path / "out.parquet")
        return outcome(ended, tmp_path / "out.parquet", files, right)

    outcomes = [of(position) for position in places]
    assert set(outcomes) <= {"error", "right", "other"}
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("how", [[], ["-c", "carrier"]])
def test_a_name_that_is_not_utf8(
    how: list[str], table: Any, files: Any, call: Any, tmp_path: Path
) -> None:
    """The name of a column in the schema of an Arrow stream is read by nobody before us."""
    path = files.write(table, tmp_path / "in.arrows")
    path.write_bytes(path.read_bytes().replace(b"delay", b"\xfdelay"))
    ended = call("encode", path, *how, "-o", tmp_path / "out.csv")

    assert (ended.code, ended.error.count("\n")) == (Exit.CORRUPT, 1)
    assert "in.arrows" in ended.error


def test_a_union_of_no_types(call: Any, tmp_path: Path) -> None:
    """Pyarrow ends the process where it is asked for nulls of one."""
    kind = pa.struct([("x", pa.list_(pa.sparse_union([])))])
    path = tmp_path / "in.arrow"
    with pa.ipc.new_file(path, pa.schema([("text", pa.string()), ("union", kind)])):
        pass
    ended = call("encode", path, "-o", tmp_path / "out.csv")

    assert (ended.code, ended.error.count("\n")) == (Exit.CORRUPT, 1)
    assert "'union' has a union of no types" in ended.error


@needs_posix
def test_nobody_reads_any_more(big: Path, command: list[str]) -> None:
    """Where the reader of standard output has gone, the run ends quietly."""
    process = subprocess.Popen(
        [*command, "encode", str(big), *COLUMNS, "-o", "-", "--output-format", "csv"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        process.stdout.read(100)
        process.stdout.close()
        error = process.stderr.read()

    assert (process.returncode, error) == (Exit.BROKEN_PIPE, b"")


@needs_posix
@pytest.mark.parametrize("form", ["parquet", "arrows", "csv.gz"])
def test_nobody_reads(form: str, small: Path, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where standard output has no reader at all, it is the same."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        ended = call("encode", small, *COLUMNS, "-o", "-", "--output-format", form)

    assert (ended.code, ended.error) == (Exit.BROKEN_PIPE, "")


@needs_posix
def test_a_run_within_a_run(
    small: Path, call: Any, files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs at the same time do not take each other's temporary files for leftovers."""
    out = small.parent / "out.parquet"
    arguments = "encode", small, *COLUMNS, "--overwrite", "-o", out
    inner: list[Any] = []

    def run_once() -> None:
        if not inner:
            inner.append(signalling.run("before os.fsync", 0, *arguments))
            assert len(files.leftovers(small.parent)) == 1

    monkeypatch.setattr(os, "fsync", signalling.around(os.fsync, before=run_once))

    assert call(*arguments).code == 0
    assert inner == [(0, "")]
    assert files.read(out).equals(wanted(small))
    assert files.leftovers(small.parent) == []


@needs_posix
def test_names_of_stale_files_on_other_things(small: Path, call: Any) -> None:
    """What has the name of a stale file, but is a pipe or a link, is no reason to wait."""
    names = [small.parent / f".out.parquet.{i}.onehot-fast-part" for i in "ab"]
    kept = small.parent / "kept"
    kept.write_bytes(OLD)
    os.mkfifo(names[0])
    names[1].symlink_to(kept)

    assert call("encode", small, *COLUMNS, "-o", small.parent / "out.parquet").code == 0
    assert names[1].is_symlink()
    assert kept.read_bytes() == OLD
