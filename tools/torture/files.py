"""Damaged files, full disks and kills of the command: an exit code, and no leftovers.

A mutant, and a file that does not fit on its disk, are read and written in this process, which
notices a crash or a hang. A run that is killed has a process of its own and replaces an output.
"""

from __future__ import annotations

import contextlib
import functools
import io
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

NAMES = [
    "plain.parquet", "plain.arrow", "plain.arrows", "plain.csv", "plain.tsv.gz", "plain.arrows.zst",
    "encoded.parquet", "encoded.arrow", "encoded.arrows", "encoded.csv", "tensor.parquet",
    "labels.parquet", "labels.arrow",
]  # fmt: skip
OUTPUTS = ["out.parquet", "out.arrow", "out.arrows", "out.csv", "out.csv.gz", "out.npz"]
# Folders, and the options that write them.
FOLDERS = {"parts": ["--rows-per-file", "9000"], "by": ["--partition-by", "late"]}
FORMATS = sorted({name.partition(".")[2] for name in NAMES})
FAULTS = [*FORMATS, "kill", "no room"]
# Bytes to insert into a file: lengths, ends, separators and invalid UTF-8.
BYTES = (b"\0", b"\xff", b"\x80", b'"', b"\n", b",", b"\xff" * 4, b"\0" * 8, b"\xff\xff\xff\x7f")
ROWS = 60_000
OLD = b"what was there before"
ENCODER = "encoder.json"
SECONDS = 120  # of a case
KILLS = 0.04  # of the cases: a process of its own takes as long as many mutants
NO_ROOM = 0.1


def case(seed: int, fault: str = "") -> Counter[str]:
    """Give the command a mutant, no room, or kill it."""
    draw = random.Random(seed)
    at = draw.random()
    if not fault and at < KILLS + NO_ROOM:
        fault = "kill" if at < KILLS else "no room"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if fault == "kill":
            return _killed(draw, folder)
        if fault == "no room":
            return _without_room(draw, folder)
        return _mutant(draw, folder, [n for n in NAMES if n.partition(".")[2] == fault] or NAMES)


def _mutant(draw: random.Random, folder: Path, names: list[str]) -> Counter[str]:
    """Read a changed file."""
    name = draw.choice(names)
    source, out = folder / name, folder / draw.choice(OUTPUTS)
    source.write_bytes(changed_bytes(draw, _originals()[name]))
    out.write_bytes(OLD)
    command = draw.choice(["encode", "encode", "decode", "inspect"])
    if command == "decode" and out.suffix == ".npz":
        command = "encode"
    columns = ["tags"] if name.startswith("labels") and draw.random() < 0.7 else ["carrier"]
    options = draw.choice([[], ["-c", *columns]]) if command != "decode" else []
    options += [] if command == "inspect" else ["-o", str(out), "--overwrite"]
    if command == "decode" and draw.random() < 0.3:
        encoder = folder / ENCODER
        encoder.write_bytes(_originals()[ENCODER])
        options += ["--encoder", str(encoder)]
    code, error = _run([command, str(source), *options])
    # Some formats cannot hold a table, for example CSV one of lists.
    codes = (0, 3, 4, 5, 6, 7, 8) if "cannot hold" in error else (0, 3, 4, 5, 6, 7)
    _check(code, error, codes, source, out, is_written=command != "inspect")
    kind = f"{command} {name.partition('.')[2]}"
    return Counter({kind: 1, f"exit {code}": 1, "rejected": int(code > 0)})


def _check(
    code: int, error: str, codes: tuple[int, ...], source: Path, out: Path, is_written: bool = True
) -> None:
    """Check the exit code and its message: the output is whole or the old one, nothing is left."""
    assert code in codes, (code, error)
    assert error.count("\n") == (code > 0), (code, error)
    left = {path.name for path in out.parent.iterdir()} - {ENCODER}
    assert left == {source.name, out.name}, (left, code, error)
    if code == 0 and is_written:
        _read(out)
    else:
        assert _is_old(out), "the old output is gone"


def _run(arguments: list[str]) -> tuple[int, str]:
    """Run the command here."""
    from onehot_fast.cli import main

    error, out = io.StringIO(), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stderr(error), contextlib.redirect_stdout(out):
        code = main([*arguments, "--quiet"])
    return code, error.getvalue()


def changed_bytes(draw: random.Random, data: bytes) -> bytes:
    """Return a file that is cut, or has other bytes here and there, or parts of itself twice."""
    changed = bytearray(data)
    # The description of a file is at its ends.
    end = min(len(data), draw.choice([64, 1000, len(data)]))
    for _ in range(draw.choice([1, 1, 1, 3, 20])):
        at = draw.randrange(end) if draw.random() < 0.4 else len(data) - 1 - draw.randrange(end)
        at = min(at, max(len(changed) - 1, 0))
        what = draw.random()
        if what < 0.4:
            changed[at : at + 1] = bytes([draw.randrange(256)])
        elif what < 0.6:
            some = draw.choice(BYTES)
            changed[at : at + len(some)] = some
        elif what < 0.7 and changed:
            changed[at] ^= 1 << draw.randrange(8)
        elif what < 0.8:
            del changed[at : at + draw.choice([1, 2, 8, 100])]
        elif what < 0.9:
            place = draw.randrange(len(data))
            changed[at:at] = data[place : place + draw.choice([1, 4, 50, 500])]
        else:
            del changed[at:]
    return bytes(changed)


def _without_room(draw: random.Random, folder: Path) -> Counter[str]:
    """Limit the size of files."""
    source, out, options = _target(draw, folder)
    _, largest = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(10 ** (draw.random() * 6)), largest))
    try:
        code, error = _run(["encode", str(source), *options])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    _check(code, error, (0, 8), source, out)
    return Counter({f"no room, exit {code}": 1, "rejected": int(code > 0)})


def _target(draw: random.Random, folder: Path) -> tuple[Path, Path, list[str]]:
    """Make a large input and an existing output; return both, and the options of the command."""
    source, name = folder / "plain.parquet", draw.choice([*OUTPUTS, *FOLDERS])
    source.write_bytes(_originals()["large.parquet"])
    out = folder / name
    old = out / "old.parquet" if name in FOLDERS else out
    old.parent.mkdir(exist_ok=True)
    old.write_bytes(OLD)
    return source, out, ["-o", str(out), "--overwrite", *FOLDERS.get(name, [])]


def _is_old(out: Path) -> bool:
    """Tell whether an output is the old one."""
    if out.is_dir():
        return [path.name for path in out.iterdir()] == ["old.parquet"]
    return out.read_bytes() == OLD


def _killed(draw: random.Random, folder: Path) -> Counter[str]:
    """Kill a run; the output is the old one or the new one, and the next run leaves nothing."""
    source, out, options = _target(draw, folder)
    arguments = ["encode", str(source), *options, "--quiet"]
    command = [sys.executable, "-P", "-m", "onehot_fast.cli", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    # Some are killed while they start, most after they have begun to write.
    begins = draw.random() < 0.8
    while begins and process.poll() is None and len([*folder.iterdir()]) == 2:
        time.sleep(0.001)
    time.sleep(draw.random() * draw.choice([0.02, 0.1, 0.4]))
    process.kill()
    _, error = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), error
    # Where names cannot be exchanged, the old folder has another name between two renames.
    aside = [path for path in folder.iterdir() if path.name.endswith(".onehot-fast-old")]
    is_old = _is_old(out if out.exists() else aside[0])
    which = "old stays" if is_old else "new is whole"
    which = which if out.exists() else "old is aside"
    found = Counter({f"killed, {which}" if process.returncode else "ended before the kill": 1})
    new = None if is_old else _content(out)
    left = {path.name for path in folder.iterdir()} - {source.name, out.name}
    left -= {path.name for path in aside}
    assert all(name.endswith(".onehot-fast-part") for name in left), left
    found["parts left by kills"] += len(left)
    code, error = _run(arguments[:-1])
    assert code == 0, error
    assert {p.name for p in folder.iterdir()} - {p.name for p in aside} == {source.name, out.name}
    assert new is None or _content(out) == new
    return found


def _content(out: Path) -> dict[str, bytes]:
    """Return the files of an output, all of which can be read."""
    _read(out)
    files = [path for path in out.rglob("*") if path.is_file()] if out.is_dir() else [out]
    return {str(path): path.read_bytes() for path in files}


def _read(path: Path) -> None:
    """Read an output to its end."""
    import pyarrow as pa
    import pyarrow.parquet
    import scipy.sparse

    if path.is_dir():
        tables = [pa.parquet.read_table(one) for one in path.rglob("*.parquet")]
        assert sum(map(len, tables)) == ROWS
    elif path.suffix == ".npz":
        scipy.sparse.load_npz(path)
    elif path.suffix == ".parquet":
        try:
            pa.parquet.read_table(path).validate(full=True)
        except pa.ArrowInvalid as error:
            # A damaged text in a copied column, which neither pyarrow nor the command checks.
            if "Invalid UTF8" not in str(error):
                raise
    else:
        with pa.input_stream(str(path), compression="detect") as file:
            content = file.read()
        if path.suffix == ".arrow":
            pa.ipc.open_file(content).read_all().validate(full=True)
        elif path.suffix == ".arrows":
            pa.ipc.open_stream(content).read_all().validate(full=True)


def _table(rows: int) -> Any:
    import pyarrow as pa

    carriers = ["UA", "AA", None, "B6", "DL é"]
    return pa.table(
        {
            "id": list(range(rows)),
            "carrier": [carriers[row * 7 % 5] for row in range(rows)],
            "dest": pa.array([f"D{row * row % 23:02}" for row in range(rows)]).dictionary_encode(),
            "delay": [None if row % 11 == 0 else row / 3 for row in range(rows)],
            "late": [row % 3 == 0 for row in range(rows)],
            "tags": [["a", "b"][: row % 3] if row % 7 else None for row in range(rows)],
        }
    )


@functools.cache
def _originals() -> dict[str, bytes]:
    """Return the content of a file of each kind."""
    from pyarrow import parquet

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = _table(60), _table(ROWS).drop_columns("tags")
        parquet.write_table(small, folder / "small.parquet", row_group_size=20)
        parquet.write_table(small.drop_columns("tags"), folder / "simple.parquet")  # for CSV
        parquet.write_table(large, folder / "large.parquet", row_group_size=ROWS // 12)
        for each in NAMES:
            kind = each.partition(".")[0]
            # The encoded column of a plain file is not used later.
            columns = "carrier,dest" if kind in ("encoded", "tensor") else "late"
            layout = "tensor" if kind == "tensor" else "columns"
            source = folder / ("small.parquet" if kind == "labels" else "simple.parquet")
            options = ["-c", columns, "--layout", layout, "--save-encoder", str(folder / ENCODER)]
            out = ["-o", str(folder / each), "--overwrite"]
            code, error = _run(["encode", str(source), *options, *out])
            assert code == 0, error
        return {path.name: path.read_bytes() for path in folder.iterdir()}
