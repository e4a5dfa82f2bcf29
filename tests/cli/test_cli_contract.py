"""The contract of the command: every format, with every fault of the input and of the output.

An error is one line with its exit code. An existing output stays, and no temporary file is left. If
a run is killed, the next run removes its temporary files. ONEHOT_FAST_FAULTS multiplies the number
of random faults.
"""

from __future__ import annotations

import errno
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from onehot_fast import Encoder
from onehot_fast.cli import outputs
from support import command_files as files
from support import signalling
from support.command_files import Exit, arrow, pa, parquet

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
ROUNDS = int(os.environ.get("ONEHOT_FAST_FAULTS", "1"))
COLUMNS = ["-c", "carrier", "-c", "dest"]
OLD = b"what was there before"
INPUTS = [
    "in.parquet", "in.arrow", "in.arrows", "in.arrows.gz", "in.csv", "in.csv.gz", "in.csv.zst",
    "in.csv.bz2",
]  # fmt: skip
OUTPUTS = ["out.parquet", "out.arrow", "out.arrows", "out.csv", "out.csv.gz", "out.npz", "parts"]


# --- faults of the output


@contextmanager
def no_room():
    """Let this process write no larger files; Python ignores the signal that the system sends."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, before[1]))
    try:
        yield
    finally:  # at once, because the limit holds for the report of pytest too
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def disk_error():
    """Let the disk not confirm what was written."""

    def fail(handle):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        yield


def arguments_for(target, source, out):
    """Return the arguments that write an output, in place of the old one."""
    parts = ["--rows-per-file", "300"] if target == "parts" else []
    return ["encode", source, *parts, "--overwrite", "-o", out]


def write_old(out):
    """Write an old output."""
    is_folder = out.suffix == ""
    if is_folder:
        out.mkdir()
    file = out / "old.parquet" if is_folder else out
    file.write_bytes(OLD)


@pytest.mark.parametrize("target", OUTPUTS)
@pytest.mark.parametrize("fault", [no_room, disk_error])
def test_a_fault_of_the_output_keeps_the_old_one(fault, target, small, refused):
    """The old output stays, whole, and nothing else is left."""
    out = small.parent / target
    write_old(out)
    with fault():
        refused([*arguments_for(target, small, out), *COLUMNS], Exit.OUTPUT)


@pytest.mark.parametrize("target", ["out.csv.gz", "parts"])
@pytest.mark.parametrize(
    ("place", "is_new"),
    [
        ("before onehot_fast.cli.conversion.open_writer", False),
        ("before os.replace", False),
        ("after os.replace", True),
    ],
)
def test_a_killed_run_leaves_no_partial_output(place, is_new, target, small, call):
    """After `kill -9` there is no output or a whole one; the next run cleans up."""
    out = small.parent / target
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
def test_a_truncated_file_is_an_error(name, table, refused):
    """Cut off anywhere, a file is an error, and not a shorter table."""
    data = files.write(table, Path(name)).read_bytes()
    draw = random.Random(1)
    for cut in [0, 1, 4, len(data) - 1, *(draw.randrange(len(data)) for _ in range(12))]:
        Path(name).write_bytes(data[:cut])
        refused(f"encode {name} -c carrier,dest -o out.parquet", Exit.CORRUPT)


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("code", [Exit.INPUT, Exit.CORRUPT], ids=["removed", "truncated"])
def test_an_input_that_changes_is_an_error(code, name):
    """During the run, it is an error of the input, with its name."""
    source = files.write(files.make(20_000), Path(name))
    n_bytes = source.stat().st_size // 3
    change = f"os.remove:{name}" if code == Exit.INPUT else f"os.truncate:{name}:{n_bytes}"
    # In a process of its own: writers that earlier tests broke may be destroyed at any time, and
    # Arrow reports a file that it cannot close on standard error.
    place, line = "after onehot_fast.cli.learning.learn", f"encode {name} -c carrier,dest -o"
    ended, error = signalling.run(place, change, *line.split(), "out.parquet")

    assert (ended, error.count("\n")) == (code, 1), error
    assert name in error
    assert set(os.listdir()) <= {name}


def test_another_file_in_the_place_of_the_input_is_an_error():
    """A Parquet file that replaces the input during a run is an error that says it changed."""
    files.write(files.make(20_000), Path("in.parquet"))
    files.write(files.make(20_001), Path("other.parquet"))
    place, line = "after onehot_fast.cli.learning.learn", "encode in.parquet -c carrier,dest -o"
    change = "os.replace:other.parquet:in.parquet"
    ended, error = signalling.run(place, change, *line.split(), "out.parquet")

    assert ended in (Exit.INPUT, Exit.CORRUPT), error
    assert "in.parquet" in error
    assert "changed" in error
    assert os.listdir() == ["in.parquet"]


def test_a_large_input_that_is_truncated_is_an_error():
    """A batch that is too large for the memory is mapped: no signal kills the process either."""
    n_rows = 10_000_000
    codes = pa.array(range(100), pa.int64()).take(pa.array([0, 1] * (n_rows // 2), pa.int32()))
    table = pa.table({"n": codes, "size": pa.array(["S"] * n_rows).dictionary_encode()})
    with pa.ipc.new_file("in.arrow", table.schema) as file:
        file.write_table(table)
    assert file.stats.num_record_batches == 1

    # Truncated between the check and the copy, it would still be a signal: see docs/files.md.
    place = "before onehot_fast.cli.arrow_reader.ArrowReader._require_size"
    line = "encode in.arrow -c size -o out.parquet"
    code, error = signalling.run(place, "os.truncate:in.arrow:1000", *line.split())
    assert (code, error.count("\n")) == (Exit.CORRUPT, 1), error
    assert "in.arrow: the file was truncated while it was read" in error
    assert os.listdir() == ["in.arrow"]


def test_flipped_bytes_are_an_error_or_change_nothing(table, call):
    """A flipped byte of a file with page checksums is an error, or changes no encoded value."""
    path, out, n_errors = Path("in.parquet"), Path("out.parquet"), 0
    parquet.write_table(table, path, row_group_size=300, write_page_checksum=True)
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    right = arrow.encode(table, Encoder(["carrier", "dest"]).fit(table))
    draw = random.Random(2)
    for _ in range(30 * ROUNDS):
        i = draw.randrange(4, footer)
        path.write_bytes(data[:i] + bytes([data[i] ^ 0xFF]) + data[i + 1 :])
        ended = call("encode", path, *COLUMNS, "--overwrite", "-o", out)
        if ended.code:
            assert Exit.INPUT <= ended.code <= Exit.VALUE, ended
            n_errors += 1
        else:
            assert files.read(out).equals(right)
    assert n_errors > 15 * ROUNDS  # a header contains more than sizes, e.g. statistics


@pytest.mark.parametrize("how", ["", "-c carrier"])
def test_a_name_that_is_not_utf8_is_an_error(how, table, refused):
    """The command is the first to decode the name of a column of an Arrow stream."""
    path = files.write(table, Path("in.arrows"))
    path.write_bytes(path.read_bytes().replace(b"delay", b"\xfdelay"))
    refused(f"encode in.arrows {how} -o out.csv", Exit.CORRUPT, "in.arrows")


def test_a_union_of_no_types_is_rejected(refused):
    """If nulls of such a type were made, pyarrow would end the process."""
    kind = pa.struct([("x", pa.list_(pa.sparse_union([])))])
    with pa.ipc.new_file("in.arrow", pa.schema([("text", pa.string()), ("union", kind)])):
        pass
    refused("encode in.arrow -o out.csv", Exit.OUTPUT, "column 'union' has type")


# --- standard output without a reader


def test_a_reader_of_standard_output_may_end(command):
    """The run ends quietly."""
    files.write(files.make(60_000), Path("in.parquet"))
    process = subprocess.Popen(
        [*command, "encode", "in.parquet", *COLUMNS, "-o", "-", "--output-format", "csv"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        process.stdout.read(100)
        process.stdout.close()
        error = process.stderr.read()

    assert (process.returncode, error) == (Exit.BROKEN_PIPE, b"")


@pytest.mark.parametrize("form", ["parquet", "arrows", "csv.gz"])
def test_standard_output_may_have_no_reader(form, small, call, monkeypatch):
    """The run ends quietly, too."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        ended = call("encode", small, *COLUMNS, "-o", "-", "--output-format", form)

    assert (ended.code, ended.error) == (Exit.BROKEN_PIPE, "")


# --- temporary files, and folders that are replaced


@pytest.mark.parametrize(
    ("place", "left"),
    [("before os.rename", "out"), ("after os.rename", "old"), ("before shutil.rmtree", "new")],
)
def test_a_run_killed_while_it_replaces_a_folder_leaves_a_whole_one(place, left, small, done, here):
    """There is the old folder, the old one under another name, or the new one: each is whole."""
    line = "encode in.parquet -c dest --rows-per-file 99999 --overwrite -o out"
    os.mkdir("out")
    Path("out/old.parquet").write_bytes(OLD)

    assert signalling.run(place, signal.SIGKILL, *line.split()) == (-signal.SIGKILL, "")
    aside = [name for name in os.listdir() if name.endswith(".onehot-fast-old")]
    found = "out" if left != "old" else aside[0]
    assert os.listdir(found) == ["part-000000.parquet" if left == "new" else "old.parquet"]
    assert len(aside) == (left != "out")

    done(line)
    assert os.listdir("out") == ["part-000000.parquet"]
    assert files.leftovers(here) == []


@pytest.mark.usefixtures("small")
def test_two_runs_do_not_disturb_each_other(table, done, here, monkeypatch):
    """Each keeps the temporary file of the other, which is locked."""
    line = "encode in.parquet -c carrier,dest --overwrite -o out.parquet"
    inner: list[Any] = []

    def run_once():
        if not inner:
            inner.append(signalling.run("before os.fsync", 0, *line.split()))
            assert len(files.leftovers(here)) == 1

    monkeypatch.setattr(os, "fsync", signalling.around(os.fsync, before=run_once))
    done(line)
    assert inner == [(0, "")]
    right = arrow.encode(table, Encoder(["carrier", "dest"]).fit(table))
    assert files.read(Path("out.parquet")).equals(right)
    assert files.leftovers(here) == []


@pytest.mark.usefixtures("small")
def test_a_temporary_file_that_another_run_removes_is_made_again(done, here, monkeypatch):
    """Another run may take it for that of a killed run and remove it; then it is made again."""
    removed: list[str] = []

    def remove():
        if not removed:
            removed.extend(files.leftovers(here))
            os.unlink(removed[0])

    signalling.replace_at("before onehot_fast.cli.outputs._locked", remove, monkeypatch.setattr)
    done("encode in.parquet -o out.parquet")
    assert len(removed) == 1
    assert sorted(os.listdir()) == ["in.parquet", "out.parquet"]


@pytest.mark.usefixtures("small")
def test_things_with_names_of_temporary_files_are_not_opened(done):
    """A pipe or a link with the name of a temporary file is neither opened nor followed."""
    names = [Path(f".out.parquet.{i}.onehot-fast-part") for i in "ab"]
    Path("kept").write_bytes(OLD)
    os.mkfifo(names[0])
    names[1].symlink_to("kept")

    done("encode in.parquet -o out.parquet")
    assert names[1].is_symlink()
    assert Path("kept").read_bytes() == OLD


# --- the rules of Windows, simulated


@pytest.fixture
def windows(monkeypatch):
    """Enforce the rules of Windows: no locks, no handles of folders, nothing open is renamed."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("open files are listed in /proc")
    open_, replace, rename = os.open, os.replace, os.rename

    def refuse(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    def check(*paths):
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        held = [os.path.realpath(link) for link in links if os.path.lexists(link)]
        for path in map(os.path.realpath, paths):
            if any(name == path or name.startswith(f"{path}/") for name in held):
                refuse(path)

    def checked_open(path, flags, *mode, **others):
        if os.path.isdir(path):
            refuse(path)
        return open_(path, flags, *mode, **others)

    def checked_replace(source, target):
        check(source, target)
        replace(source, target)

    def checked_rename(source, target):
        check(source, target)
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        rename(source, target)

    monkeypatch.setattr(outputs, "locks", None)
    monkeypatch.setattr(os, "open", checked_open)
    monkeypatch.setattr(os, "replace", checked_replace)
    monkeypatch.setattr(os, "rename", checked_rename)
    for name in ("O_NONBLOCK", "O_NOFOLLOW"):
        monkeypatch.delattr(os, name)
    monkeypatch.delattr(signal, "SIGHUP")
    monkeypatch.setattr(shutil, "_use_fd_functions", False)
    # Since Python 3.13, shutil reads the flag at its import only.
    monkeypatch.setattr(shutil, "_rmtree_impl", shutil._rmtree_unsafe, raising=False)


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize("target", ["out.parquet", "out.npz", "out"])
def test_outputs_are_whole_on_windows(target, small, done, refused):
    """Files and folders appear whole and are replaced, unless another program has them open."""
    parts = ["--rows-per-file", "400"] if target == "out" else []
    if parts:
        os.mkdir(target)  # empty: Windows renames nothing onto it
    arguments = ["encode", small, *COLUMNS, *parts, "-o", target]
    assert done(arguments) == ""
    refused(arguments, Exit.OUTPUT, "already exists; pass --overwrite")
    with Path(target, "part-000000.parquet" if parts else "").open():
        refused([*arguments, "--overwrite"], Exit.OUTPUT)
    assert done([*arguments, "--overwrite"]) == ""

    assert sorted(os.listdir()) == sorted(["in.parquet", target])
    assert len(os.listdir(target)) == 3 if parts else os.stat(target).st_size > 0


def test_the_page_of_the_command_shows_every_option():
    from onehot_fast.cli.commands import commands

    page = (Path(__file__).parents[2] / "docs/files.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", page))
    options = {
        name
        for command in commands.commands.values()
        for parameter in command.params
        for name in parameter.opts
        if name.startswith("-")
    }
    assert len(options) > 30
    assert options - shown == set()


# --- the time to start

STARTED = """
import sys
from onehot_fast.cli import main
for words in sys.argv[1].splitlines():
    assert main(words.split()) == 0
print(sorted({"pandas", "polars", "scipy", "pyarrow.dataset"} & {*sys.modules}))
"""


@pytest.mark.parametrize("name", ["in.parquet", "in.arrow"])
def test_the_command_imports_no_large_library(name, tmp_path):
    """The command encodes, decodes and inspects without importing pandas, polars or SciPy.

    To make arrays, pyarrow would import pandas, which takes as long as a small file.
    """
    table = pa.table(
        {
            "text": ["a", "b", None],
            "long_text": pa.array(["a", None, "b"], pa.large_string()),
            "number": [1.5, None, 2.0],
            "small": pa.array([1, None, 2], pa.float32()),
            "count": [3, 4, 3],
            "flag": [True, False, None],
        }
    )
    if name.endswith("parquet"):
        parquet.write_table(table, tmp_path / name)
    else:
        with pa.ipc.new_file(str(tmp_path / name), table.schema) as writer:
            writer.write_table(table)
    end = name.removeprefix("in")
    chosen = " ".join(f"-c {column}" for column in table.column_names)
    lines = [
        f"encode {name} {chosen} -q -o encoded{end}",
        f"decode encoded{end} -q -o decoded{end}",
        f"inspect {name} {chosen}",
    ]
    ended = subprocess.run(
        [sys.executable, "-P", "-c", STARTED, "\n".join(lines)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == "[]"
    assert (tmp_path / f"decoded{end}").exists()
