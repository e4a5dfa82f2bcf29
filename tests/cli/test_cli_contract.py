"""The contract of the command: every format, with every fault of the input and of the output.

An error is one line with its exit code. An existing output stays, and no temporary file is left; of
a killed run, the next run removes it.
"""

from __future__ import annotations

import errno
import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import signalling

pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
Exit = pytest.importorskip("onehot_fast.cli.errors").Exit

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
COLUMNS = ["-c", "carrier", "-c", "dest"]
OLD = b"what was there before"
INPUTS = [
    "in.parquet", "in.arrow", "in.arrows", "in.arrows.gz", "in.csv", "in.csv.gz", "in.csv.zst",
    "in.csv.bz2",
]  # fmt: skip
OUTPUTS = ["out.parquet", "out.arrow", "out.arrows", "out.csv", "out.csv.gz", "out.npz", "parts"]


# --- faults of the output


@contextmanager
def no_room(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process write no larger files; Python ignores the signal that the system sends."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def disk_error(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the disk not confirm what was written."""

    def fail(handle: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    patch.setattr(os, "fsync", fail)
    yield


@contextmanager
def interrupted(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Send a signal before the rows are written."""
    place = "before onehot_fast.cli.conversion.open_writer"
    signalling.send_at(place, signal.SIGINT, patch.setattr)
    yield


@contextmanager
def terminated(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Send a signal when everything is written, before the output is in its place."""
    signalling.send_at("before os.fsync", signal.SIGTERM, patch.setattr)
    yield


@contextmanager
def unknown_value(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Read another value than the encoder knows; see `arguments_for`."""
    yield


OUTPUT_FAULTS = [
    (no_room, Exit.OUTPUT),
    (disk_error, Exit.OUTPUT),
    (interrupted, 130),
    (terminated, 143),
    (unknown_value, Exit.VALUE),
]


def arguments_for(target: str, source: Path, out: Path) -> list[Any]:
    """Return the arguments that write an output, in place of the old one."""
    parts = ["--rows-per-file", "300"] if target == "parts" else []
    return ["encode", source, *parts, "--overwrite", "-o", out]


def write_old(out: Path) -> Path:
    """Write an old output, and return its only file."""
    is_folder = out.suffix == ""
    if is_folder:
        out.mkdir()
    file = out / "old.parquet" if is_folder else out
    file.write_bytes(OLD)
    return file


@pytest.mark.parametrize("target", OUTPUTS)
@pytest.mark.parametrize(("fault", "code"), OUTPUT_FAULTS)
def test_a_fault_of_the_output(
    fault: Any, code: int, target: str, small: Path, files: Any, call: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The old output stays, whole, and nothing else is left."""
    out, encoder = small.parent / target, small.parent / "encoder.json"
    chosen: list[Any] = COLUMNS
    if fault is unknown_value:
        few = files.write(files.make(10), small.parent / "few.parquet")
        saved = "--save-encoder", encoder, "-o", small.parent / "few-encoded.parquet"
        assert call("encode", few, *COLUMNS, *saved).code == 0
        chosen = ["--encoder", encoder]
    old = write_old(out)
    before = sorted(os.listdir(small.parent))
    with fault(monkeypatch):
        ended = call(*arguments_for(target, small, out), *chosen)

    assert (ended.code, ended.error.count("\n")) == (code, 1), ended
    assert old.read_bytes() == OLD
    assert sorted(os.listdir(small.parent)) == before


@pytest.mark.parametrize("target", ["out.csv.gz", "parts"])
@pytest.mark.parametrize(
    ("place", "is_new"),
    [
        ("before onehot_fast.cli.conversion.open_writer", False),
        ("before {rename}", False),
        ("after {rename}", True),
    ],
)
def test_killed(place: str, is_new: bool, target: str, small: Path, call: Any, files: Any) -> None:
    """After `kill -9` there is no output or a whole one; the next run cleans up."""
    out = small.parent / target
    place = place.format(rename="os.rename" if target == "parts" else "os.replace")
    arguments = *arguments_for(target, small, out), *COLUMNS

    assert signalling.run(place, signal.SIGKILL, *arguments) == (-signal.SIGKILL, "")
    assert (out.exists(), len(files.leftovers(small.parent))) == (is_new, 0 if is_new else 1)
    assert call(*arguments).code == 0
    assert files.leftovers(small.parent) == []
    if target == "parts":
        assert sorted(os.listdir(out)) == [f"part-00000{i}.parquet" for i in range(4)]
    else:
        assert files.read(out).num_rows == 1000


# --- faults of the input


# A part of a CSV file may be a CSV file.
@pytest.mark.parametrize("name", [name for name in INPUTS if name != "in.csv"])
def test_truncated(name: str, table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """Cut off anywhere, a file is an error, and not a shorter table."""
    data = files.write(table, tmp_path / name).read_bytes()
    draw = random.Random(1)
    cuts = [0, 1, 4, len(data) - 1, *(draw.randrange(len(data)) for _ in range(12))]

    def ended(cut: int) -> tuple[int, int]:
        (tmp_path / name).write_bytes(data[:cut])
        done = call("encode", tmp_path / name, *COLUMNS, "-o", tmp_path / "out.parquet")
        return done.code, done.error.count("\n")

    assert {ended(cut) for cut in cuts} == {(Exit.CORRUPT, 1)}
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("fault", ["truncated", "removed"])
def test_the_input_changes(
    fault: str, name: str, files: Any, call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """During the run, it is an error of the input, with its name."""
    source = files.write(files.make(20_000), tmp_path / name)

    def change() -> None:
        if fault == "removed":
            source.unlink(missing_ok=True)
        else:
            os.truncate(source, source.stat().st_size // 3)

    signalling.replace_at("after onehot_fast.cli.encode.learn", change, monkeypatch.setattr)
    ended = call("encode", source, *COLUMNS, "-o", tmp_path / "out.parquet")

    code = Exit.CORRUPT if fault == "truncated" else Exit.INPUT
    assert (ended.code, ended.error.count("\n")) == (code, 1), ended
    assert name in ended.error
    assert set(os.listdir(tmp_path)) <= {name}
