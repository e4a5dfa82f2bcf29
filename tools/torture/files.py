"""Files that are not quite files, through the command: an exit code of its own, and no rest.

A mutant is read in this process, where a crash is one and a hang is noticed; so is a file written
where there is no room for it. A run that is killed is one of its own, on a target that is there
already. ``TORTURE_FAULT`` says which of them, for `make faults`.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

NAMES = [
    "plain.parquet", "plain.arrow", "plain.arrows", "plain.csv", "plain.tsv.gz", "plain.arrows.zst",
    "encoded.parquet", "encoded.arrow", "encoded.arrows", "encoded.csv", "tensor.parquet",
    "labels.parquet", "labels.arrow",
]  # fmt: skip
OUTPUTS = ["out.parquet", "out.arrow", "out.arrows", "out.csv", "out.csv.gz", "out.npz"]
# Folders, and how they are asked for.
FOLDERS = {"parts": ["--rows-per-file", "9000"], "by": ["--partition-by", "late"]}
FORMATS = sorted({name.partition(".")[2] for name in NAMES})
FAULTS = [*FORMATS, "kill", "no room"]
# Bytes to insert into a file: lengths, ends, separators and invalid UTF-8.
BYTES = (b"\0", b"\xff", b"\x80", b'"', b"\n", b",", b"\xff" * 4, b"\0" * 8, b"\xff\xff\xff\x7f")
ROWS = 60_000
OLD = b"what was there before"
SECONDS = 120
KILLS = 0.04  # of the cases: a process of its own takes as long as many mutants
NO_ROOM = 0.1


def case(seed: int) -> Counter[str]:
    """Give the command one mutant, no room, or kill it once."""
    draw = random.Random(seed)
    fault, at = os.environ.get("TORTURE_FAULT"), draw.random()
    if fault is None and at < KILLS + NO_ROOM:
        fault = "kill" if at < KILLS else "no room"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if fault == "kill" and hasattr(signal, "SIGKILL"):
            return _killed(draw, folder)
        if fault == "no room" and resource is not None:
            return _without_room(draw, folder)
        return _mutant(draw, folder, [n for n in NAMES if n.partition(".")[2] == fault] or NAMES)


def _mutant(draw: random.Random, folder: Path, names: list[str]) -> Counter[str]:
    """Read a changed file; the output is whole or is what was there, and nothing else is left."""
    name = draw.choice(names)
    source, out = folder / name, folder / draw.choice(OUTPUTS)
    source.write_bytes(_changed(draw, _originals()[name]))
    out.write_bytes(OLD)
    command = draw.choice(["encode", "encode", "decode", "inspect"])
    if command == "decode" and out.suffix == ".npz":
        command = "encode"
    columns = ["tags"] if name.startswith("labels") and draw.random() < 0.7 else ["carrier"]
    chosen = draw.choice([[], ["-c", *columns]]) if command != "decode" else []
    target = [] if command == "inspect" else ["-o", str(out), "--overwrite"]
    encoder = folder / "encoder.json"
    if command == "decode" and draw.random() < 0.3:
        encoder.write_bytes(_originals()["encoder.json"])
        target += ["--encoder", str(encoder)]
    code, said = _run([command, str(source), *chosen, *target])
    left = {path.name for path in folder.iterdir()} - {encoder.name}
    assert left == {source.name, out.name}, (left, code, said)
    no_form = code == 8 and "cannot hold" in said  # as lists in CSV
    assert no_form or code in (0, 3, 4, 5, 6, 7), (command, name, code, said)
    assert said.count("\n") == (code > 0), (code, said)
    assert code == 0 or out.read_bytes() == OLD, "the old output is gone"
    if code == 0 and target:
        _read(out)
    read = f"{command} {name.partition('.')[2]}"
    return Counter({read: 1, f"exit {code}": 1, "refused": int(code > 0)})


def _run(arguments: list[str]) -> tuple[int, str]:
    """Run the command here; end the process where it hangs."""
    from onehot_fast.cli import main

    said, out = io.StringIO(), io.TextIOWrapper(io.BytesIO(), "utf-8")
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(out):
        code = main([*arguments, "--quiet"])
    faulthandler.cancel_dump_traceback_later()
    return code, said.getvalue()


def _changed(draw: random.Random, data: bytes) -> bytes:
    """Return a file that is cut, or has other bytes here and there, or parts of itself twice."""
    changed = bytearray(data)
    # What describes a file is at its ends.
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
    """Let no file become larger than some bytes: the output is whole, or what was there."""
    source, out, options = _target(draw, folder)
    _, largest = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(10 ** (draw.random() * 6)), largest))
    try:
        code, said = _run(["encode", str(source), *options])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    assert code in (0, 8), (code, said)
    assert said.count("\n") == (code > 0), (code, said)
    assert {path.name for path in folder.iterdir()} == {source.name, out.name}
    if code == 0:
        _read(out)
    else:
        assert _is_old(out), "the old output is gone"
    return Counter({f"no room, exit {code}": 1, "refused": int(code > 0)})


def _target(draw: random.Random, folder: Path) -> tuple[Path, Path, list[str]]:
    """Make a large input and an output that is there; return both, and how to ask for it."""
    source, name = folder / "plain.parquet", draw.choice([*OUTPUTS, *FOLDERS])
    source.write_bytes(_originals()["large.parquet"])
    out = folder / name
    old = out / "old.parquet" if name in FOLDERS else out
    old.parent.mkdir(exist_ok=True)
    old.write_bytes(OLD)
    return source, out, ["-o", str(out), "--overwrite", *FOLDERS.get(name, [])]


def _is_old(out: Path) -> bool:
    """Tell whether an output is what was there before."""
    if out.is_dir():
        return [path.name for path in out.iterdir()] == ["old.parquet"]
    return out.read_bytes() == OLD


def _killed(draw: random.Random, folder: Path) -> Counter[str]:
    """Kill a run; the output is the old one or the new one, and the next run leaves nothing."""
    source, out, options = _target(draw, folder)
    arguments = ["encode", str(source), *options, "--quiet"]
    command = [sys.executable, "-P", "-m", "onehot_fast.cli", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    patience = time.monotonic() + SECONDS
    # Some are killed while they start, most after they have begun to write.
    begins = draw.random() < 0.8
    while begins and process.poll() is None and len([*folder.iterdir()]) == 2:
        assert time.monotonic() < patience, "hangs"
        time.sleep(0.001)
    time.sleep(draw.random() * draw.choice([0.02, 0.1, 0.4]))
    process.kill()
    _, said = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), said
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


def _read(path: Path) -> Any:
    """Read a file to its end, as its name says."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    if path.is_dir():
        tables = [pa.parquet.read_table(one) for one in path.rglob("*.parquet")]
        assert sum(len(table) for table in tables) == ROWS
        return None
    if path.suffix == ".npz":
        return __import__("scipy.sparse").sparse.load_npz(path)
    if path.suffix == ".parquet":
        try:
            return pa.parquet.read_table(path).validate(full=True)
        except pa.ArrowInvalid as error:
            # A bit of a kept text, which neither pyarrow nor we look through.
            if "Invalid UTF8" not in str(error):
                raise
            return None
    with pa.input_stream(str(path), compression="detect") as file:
        if path.suffix == ".arrow":
            return pa.ipc.open_file(pa.BufferReader(file.read())).read_all().validate(full=True)
        if path.suffix == ".arrows":
            return pa.ipc.open_stream(file).read_all().validate(full=True)
        return file.read()


@functools.cache
def _originals() -> dict[str, bytes]:
    """Return the content of a file of each kind."""
    import pyarrow as pa
    import pyarrow.parquet

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        carriers = ["UA", "AA", None, "B6", "DL é"]
        for rows, stem in ((60, "small"), (ROWS, "large")):
            dest = [f"D{row * row % 23:02}" for row in range(rows)]
            table = pa.table(
                {
                    "id": list(range(rows)),
                    "carrier": [carriers[row * 7 % 5] for row in range(rows)],
                    "dest": pa.array(dest).dictionary_encode(),
                    "delay": [None if row % 11 == 0 else row / 3 for row in range(rows)],
                    "late": [row % 3 == 0 for row in range(rows)],
                    "tags": [["a", "b"][: row % 3] if row % 7 else None for row in range(rows)],
                }
            )
            place = folder / f"{stem}.parquet"
            if stem == "large":
                table = table.drop_columns("tags")
            pa.parquet.write_table(table, place, row_group_size=max(20, rows // 12))
        source, encoder = folder / "small.parquet", folder / "encoder.json"
        plain = folder / "simple.parquet"  # CSV has no lists
        pa.parquet.write_table(pa.parquet.read_table(source).drop_columns("tags"), plain)
        for each in NAMES:
            # The encoded column of a plain file is not used later.
            columns = "late" if each.startswith("plain") else "carrier,dest"
            layout = "tensor" if each.startswith("tensor") else "columns"
            columns = "late" if each.startswith("labels") else columns
            how = ["-c", columns, "--layout", layout, "--save-encoder", str(encoder), "--overwrite"]
            kept = source if each.startswith("labels") else plain
            code, said = _run(["encode", str(kept), *how, "-o", str(folder / each)])
            assert code == 0, said
        return {path.name: path.read_bytes() for path in folder.iterdir()}
