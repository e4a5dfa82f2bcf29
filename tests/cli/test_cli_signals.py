"""A signal at any step: one line, the exit code of the signal, and the old output."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
import zlib
from contextlib import contextmanager
from pathlib import Path

import pytest

from support import command_files as files
from support import programs, signalling
from support.command_files import Exit

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
LINE = "encode in.parquet -c carrier,dest"
SCRIPT = Path(__file__).parents[2] / "onehot_fast_command.py"
OLD = b"what was there before"
INTERRUPTED = 128 + signal.SIGINT, b"", "onehot-fast: interrupted\n"


# In the main thread and in others, from the first step to the last one that can be taken back.
PLACES = [
    "before click.Context.invoke",
    "before onehot_fast.cli.source._open",
    "before onehot_fast.cli.parquet_reader.ParquetReader.batches",
    "before onehot_fast.encoder.Encoder.partial_fit",
    "after onehot_fast.cli.learning._check_features",
    "before onehot_fast.cli.conversion.batch_rows",
    "after onehot_fast.cli.outputs._locked",
    "after onehot_fast.cli.{sink}.__init__",
    "before onehot_fast.cli.{sink}.write",
    "after onehot_fast.cli.{sink}.write",
    "after onehot_fast.cli.{sink}.close",
    "before os.fsync",
]


@pytest.fixture
def send_at(monkeypatch):
    """Return what makes this process send itself a signal at a place."""
    return lambda place, number=signal.SIGINT: signalling.send_at(
        place, number, monkeypatch.setattr
    )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("target", "sink"),
    [
        ("out.parquet", "writers.ParquetWriter"),
        ("out.arrow", "writers.ArrowWriter"),
        ("out.csv.gz", "writers.TextWriter"),
        ("out.npz", "writers.MatrixWriter"),
        ("out/ --rows-per-file 300", "conversion.Files"),
    ],
)
@pytest.mark.usefixtures("small")
def test_a_signal_at_any_step_leaves_nothing(place, target, sink, call, here, send_at):
    """The run ends with the code of the signal and one line, and nothing else is left."""
    path = Path(target.split()[0])
    if "rows" in target:
        path.mkdir()
    old = path / "old.parquet" if path.is_dir() else path
    old.write_bytes(OLD)
    threads, handler = threading.enumerate(), signal.getsignal(signal.SIGINT)
    send_at(place.format(sink=sink))

    assert call(f"{LINE} --overwrite -o {target}") == INTERRUPTED
    assert old.read_bytes() == OLD
    assert sorted(os.listdir(here)) == sorted(["in.parquet", path.name])
    assert signal.getsignal(signal.SIGINT) == handler
    assert set(threading.enumerate()).issubset(threads)  # those of earlier tests may end


@pytest.mark.parametrize(
    ("place", "number"),
    [
        ("before onehot_fast.cli.import_module", 2),
        ("before pyarrow.parquet.ParquetWriter.write_table", 2),
        ("after os.fsync", 15),
    ],
)
@pytest.mark.usefixtures("small")
def test_a_process_says_in_one_line_that_it_ends(place, number, here):
    """A process says in one line that it ends, even while it imports."""
    Path("out.parquet").write_bytes(OLD)
    line = f"{LINE} --overwrite -o out.parquet"
    code, error = signalling.run(place, number, *line.split())

    name = "interrupted" if number == 2 else f"ended by signal {number}"
    assert (code, error) == (128 + number, f"onehot-fast: {name}\n")
    assert Path("out.parquet").read_bytes() == OLD
    assert files.leftovers(here) == []


@pytest.fixture
def heard(number):
    """Let the test handle a signal that nohup, for example, ignores."""
    before = signal.signal(number, signal.SIG_DFL)
    yield
    signal.signal(number, before)


@pytest.mark.usefixtures("heard", "small")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("line", [f"{LINE} -o -", "inspect in.parquet -c dest", f"{LINE} -o out/"])
def test_every_command_handles_every_signal(line, number, code, call, send_at):
    """Every command handles every signal."""
    send_at("after onehot_fast.cli.source.InputFiles.batches", number)
    assert call(line) == (code, b"", f"onehot-fast: ended by signal {int(number)}\n")
    assert os.listdir() == ["in.parquet"]


@pytest.mark.usefixtures("small")
def test_a_signal_after_the_rename_has_no_effect(call, send_at):
    """The run is complete and the signal has no effect, unless a second file is to be written."""
    send_at("after os.replace")
    assert call(f"{LINE} -o out.parquet") == (0, b"", "")
    assert files.read(Path("out.parquet")).num_rows == 1000

    send_at("after os.replace")
    assert call(f"{LINE} -o other.parquet --save-encoder e.json") == INTERRUPTED
    assert sorted(os.listdir()) == ["in.parquet", "other.parquet", "out.parquet"]


@pytest.mark.usefixtures("small")
def test_a_second_signal_does_not_interrupt_the_clean_up(call, here, send_at):
    """A second signal right after the first does not interrupt the clean-up."""
    send_at("before onehot_fast.cli.writers.ParquetWriter.write", signal.SIGINT)
    send_at("before onehot_fast.cli.writers.ParquetWriter.abandon", signal.SIGINT)
    send_at("before onehot_fast.cli.outputs._remove", signal.SIGTERM)

    assert call(f"{LINE} -o out.parquet") == INTERRUPTED
    assert files.leftovers(here) == []


def test_a_later_second_signal_ends_the_process(small):
    """A second signal ends a process at once that does not end by itself."""
    done = programs.start(f"""
        import signal, sys
        from onehot_fast.cli import main, signals
        from onehot_fast.cli.writers import ParquetWriter

        def abandon(sink):
            while True:
                signal.raise_signal(signal.SIGTERM)

        def write(sink, batch):
            signal.raise_signal(signal.SIGINT)
            raise OSError("to be cleaned up")

        signals.GRACE = 0.01
        ParquetWriter.abandon, ParquetWriter.write = abandon, write
        sys.argv = ["onehot-fast", "encode", {str(small)!r}, "-o", "{small.parent}/o.parquet"]
        sys.exit(main())
    """)
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr == "onehot-fast: ended at once, without cleaning up\n"


BLOCKED = {
    "reading": ("onehot_fast.cli.parquet_reader.ParquetReader", "batches"),
    "encoding": ("onehot_fast.integrations.arrow.encoding.EncodePlan", "encode"),
    "compressing": ("onehot_fast.cli.parquet.writer.GroupWriter", "_bits"),
    "writing with pyarrow": ("onehot_fast.cli.parquet.writer.GroupWriter", "_plain"),
}


@pytest.mark.parametrize("step", BLOCKED)
def test_a_signal_does_not_wait_for_a_thread(step, small):
    """The process does not wait for a thread, which may be in a library for long."""
    owner, name = BLOCKED[step]
    module, _, kind = owner.rpartition(".")
    done = programs.start(f"""
        import os, signal, sys, threading
        from onehot_fast.cli import main
        from {module} import {kind}

        before = {kind}.{name}

        def block(*arguments, **options):
            if threading.current_thread() is threading.main_thread():
                return before(*arguments, **options)
            os.kill(os.getpid(), signal.SIGINT)  # to the main thread, which waits for this one
            threading.Event().wait()  # for ever

        {kind}.{name} = block
        sys.argv = ["onehot-fast", "encode", {str(small)!r}, "-o", "{small.parent}/o.parquet"]
        sys.exit(main())
    """)
    assert (done.returncode, done.stderr) == (130, "onehot-fast: interrupted\n")
    assert os.listdir(small.parent) == [small.name]


@pytest.mark.usefixtures("small")
def test_an_ignored_signal_stays_ignored(call, send_at):
    """A signal that the parent process ignores, like nohup, stays ignored."""
    send_at("before onehot_fast.cli.writers.ParquetWriter.write", signal.SIGHUP)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        ended = call(f"{LINE} -o out.parquet")
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert ended == (0, b"", "")


# --- a signal while the command waits


def n_waiting(file):
    """Return the number of bytes that can be read from a pipe."""
    import fcntl
    import termios

    return int.from_bytes(fcntl.ioctl(file, termios.FIONREAD, bytes(4)), sys.byteorder)


@contextmanager
def interrupting(readable=None):
    """Send the main thread a signal while it waits, after a pipe contains some output.

    The command has its handler before it opens anything. On a busy machine it may not wait yet
    when the signal comes, which gives the same result.
    """
    before, is_over = signal.getsignal(signal.SIGINT), threading.Event()

    def is_waiting():
        has_handler = signal.getsignal(signal.SIGINT) != before
        return has_handler and (readable is None or n_waiting(readable) >= select.PIPE_BUF)

    def send():
        while not is_over.wait(0.01):
            if is_waiting():
                time.sleep(0.2)
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                break

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@contextmanager
def pipe():
    """Give the two ends of a pipe."""
    reader, writer = os.pipe()
    with open(reader, "rb", buffering=0) as one, open(writer, "wb", buffering=0) as other:
        yield one, other


def test_a_signal_ends_the_wait_for_standard_input(call, monkeypatch):
    """Nobody writes to standard input."""
    with pipe() as (reader, writer):
        writer.write(b"carrier,dest\n")
        monkeypatch.setattr(sys, "stdin", reader)
        with interrupting():
            ended = call("encode - -o out.csv")
    assert ended == INTERRUPTED
    assert os.listdir() == []


@pytest.mark.parametrize("form", ["parquet", "arrows", "csv", "csv.gz"])
def test_a_signal_ends_the_wait_for_a_reader(form, call, monkeypatch):
    """The reader of standard output stops reading, and gets nothing that looks complete."""
    files.write(files.make(20_000), Path("in.csv"))
    with pipe() as (reader, writer):
        monkeypatch.setattr(sys, "stdout", writer)
        with interrupting(reader):
            ended = call(f"encode in.csv -o - --output-format {form}")
        written = reader.read(1 << 20)

    assert ended == INTERRUPTED
    assert len(written) >= select.PIPE_BUF
    assert not written.endswith((b"PAR1", b"\xff\xff\xff\xff\0\0\0\0"))
    if form == "csv.gz":
        unpacker = zlib.decompressobj(31)
        unpacker.decompress(written)
        assert not unpacker.eof


@pytest.mark.usefixtures("small")
def test_the_output_may_be_a_pipe(call):
    """A pipe gets what a file would get; a signal ends the wait until it is opened."""
    os.mkfifo("out.parquet")
    with interrupting():
        ended = call(f"{LINE} -o out.parquet")
    assert ended == INTERRUPTED
    assert Path("out.parquet").is_fifo()

    read = Path("read.parquet")
    reader = threading.Thread(target=lambda: read.write_bytes(Path("out.parquet").read_bytes()))
    reader.start()
    ended = call(f"{LINE} -o out.parquet")
    reader.join()
    assert ended == (0, b"", "")
    assert files.read(read).num_rows == 1000


def test_the_input_may_be_a_pipe(refused):
    """A pipe cannot be read twice, and the command does not wait for its content."""
    os.mkfifo("in.csv")
    refused("inspect in.csv", Exit.INPUT, "is not a regular file; type - to read standard input")


@pytest.mark.parametrize("is_ignored", [False, True])
def test_a_signal_before_the_import_ends_without_a_traceback(is_ignored):
    """The console script ends without a traceback, or goes on where a parent told it to."""
    done = programs.start(f"""
        import importlib.util, signal, sys

        class Interrupting:
            def find_spec(self, name, path=None, target=None):
                if name == "numpy":
                    signal.raise_signal(signal.SIGINT)

        if {is_ignored}:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.meta_path.insert(0, Interrupting())
        sys.argv = ["onehot-fast", "--version"]
        spec = importlib.util.spec_from_file_location("command", {str(SCRIPT)!r})
        command = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(command)
        sys.exit(command.main())
    """)
    assert (done.returncode, done.stderr) == (0 if is_ignored else -signal.SIGINT, "")
    assert bool(done.stdout) == is_ignored
