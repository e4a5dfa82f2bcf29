"""Killed, interrupted, without room, with corrupt input: nothing is lost and nothing half done.

The numbers of rounds are small here; ONEHOT_FAST_FAULTS multiplies them.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
parquet = pytest.importorskip("pyarrow.parquet")
arrow = pytest.importorskip("onehot_fast.integrations.arrow")
Exit = pytest.importorskip("onehot_fast.cli.errors").Exit

from onehot_fast import Encoder  # noqa: E402

needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
ROUNDS = int(os.environ.get("ONEHOT_FAST_FAULTS", "1"))
COLUMNS = ["-c", "carrier", "-c", "dest"]
OLD = b"what was there before"


@pytest.fixture
def big(files: Any, tmp_path: Path) -> Path:
    """Return a file that takes a while."""
    source = files.make(60_000)
    path = tmp_path / "in.parquet"
    parquet.write_table(source, path, row_group_size=5_000)
    return path


def wanted(path: Path) -> Any:
    """Return the table that must come out."""
    source = parquet.read_table(path)
    return arrow.encode(source, Encoder(["carrier", "dest"]).fit(source))


def start(command: list[str], *arguments: object) -> subprocess.Popen[bytes]:
    """Start a run."""
    return subprocess.Popen([*command, *map(str, arguments)], stderr=subprocess.PIPE)


@needs_posix
@pytest.mark.parametrize("target", ["out.parquet", "out.arrow", "out.csv"])
def test_killed_at_any_moment(target: str, big: Path, command: list[str], files: Any) -> None:
    """After `kill -9` the output is the old one or the new one, whole; the next run cleans up."""
    out = big.parent / target
    arguments = "encode", big, *COLUMNS, "-o", out
    began = time.monotonic()
    assert start(command, *arguments).communicate(timeout=60) == (None, b"")
    duration = time.monotonic() - began
    complete = out.read_bytes()

    def killed(moment: float) -> str:
        out.write_bytes(OLD)
        process = start(command, *arguments)
        time.sleep(moment)
        process.kill()
        process.communicate(timeout=60)
        content = out.read_bytes()
        return {OLD: "old", complete: "new"}.get(content, "lost")

    draw = random.Random(0)
    # From the time when a run has imported all to the end of it.
    moments = [draw.uniform(0.3, 1.1) * duration for _ in range(6 * ROUNDS)]
    states = [killed(moment) for moment in moments]
    left = files.leftovers(big.parent)
    assert start(command, *arguments).communicate(timeout=60) == (None, b"")

    assert states.count("lost") == 0
    assert len(left) <= 1  # each run has removed what the one before left
    assert files.leftovers(big.parent) == []
    assert out.read_bytes() == complete


@needs_posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_asked_to_end(number: int, code: int, big: Path, command: list[str], files: Any) -> None:
    """A signal ends the run with its code, one line, and without any trace."""
    out = big.parent / "out.parquet"

    assert start(command, "encode", big, *COLUMNS, "-o", out).communicate() == (None, b"")
    complete = out.read_bytes()

    def ended(moment: float) -> tuple[int, int, str]:
        out.write_bytes(OLD)
        process = start(command, "encode", big, *COLUMNS, "-o", out)
        while not files.leftovers(big.parent) and process.poll() is None:
            time.sleep(0.001)
        time.sleep(moment)
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
        assert files.leftovers(big.parent) == []
        state = {OLD: "old", complete: "new"}.get(out.read_bytes(), "lost")
        return process.returncode, error.count(b"\n"), state

    results = {ended(at % 20 * 0.005) for at in range(4 * ROUNDS)}
    # The signal may come after the rename, and after the last moment when it could be heard.
    assert results <= {(code, 1, "old"), (code, 1, "new"), (0, 0, "new")}
    # On a busy machine it may come too late many times.
    assert (code, 1, "old") in results or any(ended(0.0)[2] == "old" for _ in range(40))


@needs_posix
@pytest.mark.parametrize("target", ["out.parquet", "out.arrow", "out.csv", "out.csv.gz"])
@pytest.mark.parametrize("limit", [0, 50_000])
def test_no_room_for_the_file(
    limit: int, target: str, big: Path, command: list[str], files: Any
) -> None:
    """Where the system refuses to write on, the old output stays and nothing is left."""
    resource = pytest.importorskip("resource")
    out = big.parent / target
    out.write_bytes(OLD)

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then it is an error and no signal
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        [*command, "encode", str(big), *COLUMNS, "-o", str(out)],
        preexec_fn=limited, capture_output=True, timeout=60,
    )  # fmt: skip

    assert (done.returncode, done.stderr.count(b"\n")) == (Exit.OUTPUT, 1)
    assert target.encode() in done.stderr
    assert out.read_bytes() == OLD
    assert files.leftovers(big.parent) == []


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
def test_a_full_disk(target: str, big: Path, small_disk: Path, run: Any, files: Any) -> None:
    """On a full disk the run ends with one line, and all of its room is given back."""
    free = os.statvfs(small_disk).f_bavail
    (small_disk / "kept").write_bytes(OLD)
    form = [] if target != "out/" else ["--output-format", "csv"]
    ended = run("encode", big, *COLUMNS, *form, "-o", f"{small_disk}/{target}")

    assert (ended.code, ended.error.count("\n")) == (Exit.OUTPUT, 1)
    assert "No space left" in ended.error
    assert sorted(os.listdir(small_disk)) == ["kept"]
    assert os.statvfs(small_disk).f_bavail >= free - 1


def corrupted(data: bytes, at: int) -> bytes:
    """Return data with one byte that differs in all bits."""
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


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


@pytest.mark.parametrize(
    "name",
    [
        "in.parquet",
        "in.arrow",
        "in.arrows",
        "in.arrows.gz",
        "in.csv.gz",
        "in.csv.zst",
        "in.csv.bz2",
    ],
)
def test_truncated(name: str, table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """Cut off anywhere, a file is an error, and not a shorter table."""
    data = files.write(table, tmp_path / name).read_bytes()
    draw = random.Random(1)
    cuts = [0, 1, 4, len(data) - 1, *(draw.randrange(len(data)) for _ in range(12 * ROUNDS))]

    def ended(cut: int) -> tuple[int, int]:
        (tmp_path / name).write_bytes(data[:cut])
        done = call("encode", tmp_path / name, *COLUMNS, "-o", tmp_path / "out.parquet")
        return done.code, done.error.count("\n")

    assert {ended(cut) for cut in cuts} == {(Exit.CORRUPT, 1)}
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_flipped_bytes_with_checksums(table: Any, files: Any, call: Any, tmp_path: Path) -> None:
    """Where the pages have checksums, every corrupt byte of a page is an error."""
    path = tmp_path / "in.parquet"
    parquet.write_table(table, path, row_group_size=300, write_page_checksum=True)
    data = path.read_bytes()
    right = arrow.encode(table, Encoder(["carrier", "dest"]).fit(table))
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    draw = random.Random(2)
    places = [draw.randrange(4, footer) for _ in range(60 * ROUNDS)]

    def of(at: int) -> str:
        path.write_bytes(corrupted(data, at))
        ended = call("encode", path, *COLUMNS, "-o", tmp_path / "out.parquet")
        return outcome(ended, tmp_path / "out.parquet", files, right)

    outcomes = [of(at) for at in places]
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
    places = [draw.randrange(len(data)) for _ in range(60 * ROUNDS)]

    def of(at: int) -> str:
        path.write_bytes(corrupted(data, at))
        ended = call("encode", path, *COLUMNS, "-o", tmp_path / "out.parquet")
        return outcome(ended, tmp_path / "out.parquet", files, right)

    outcomes = [of(at) for at in places]
    assert set(outcomes) <= {"error", "right", "other"}
    assert [path.name for path in tmp_path.iterdir()] == [name]


@needs_posix
@pytest.mark.parametrize("form", ["parquet", "csv", "arrows"])
def test_nobody_reads_any_more(form: str, big: Path, command: list[str]) -> None:
    """Where the reader of standard output has gone, the run ends quietly."""
    process = subprocess.Popen(
        [*command, "encode", str(big), *COLUMNS, "-o", "-", "--output-format", form],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.read(100)
    process.stdout.close()
    assert process.stderr is not None
    error = process.stderr.read()
    process.stderr.close()

    assert (process.wait(60), error) == (Exit.BROKEN_PIPE, b"")


@needs_posix
def test_two_runs_with_one_output(big: Path, command: list[str], files: Any) -> None:
    """Runs at the same time do not take each other's temporary files for leftovers."""
    out = big.parent / "out.parquet"
    processes = [start(command, "encode", big, *COLUMNS, "-o", out) for _ in range(3)]
    ends = [process.communicate(timeout=60)[1] for process in processes]

    assert [(p.returncode, e) for p, e in zip(processes, ends, strict=True)] == [(0, b"")] * 3
    assert files.read(out).equals(wanted(big))
    assert files.leftovers(big.parent) == []
