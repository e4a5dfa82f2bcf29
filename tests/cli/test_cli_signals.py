"""Asked to end by a signal, at any step: one line, an exit code, and the old output."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import programs
import pytest
import signalling

pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
Exit = pytest.importorskip("onehot_fast.cli.errors").Exit

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
COLUMNS = ["-c", "carrier", "-c", "dest"]
SCRIPT = Path(__file__).parents[2] / "onehot_fast_command.py"
OLD = b"what was there before"
INTERRUPTED = 128 + signal.SIGINT, b"", "onehot-fast: interrupted\n"


# In the main thread and in others, from the first step to the last one that can be taken back.
PLACES = [
    "before click.Context.invoke",
    "before onehot_fast.cli.source._open",
    "before onehot_fast.cli.readers.ParquetReader.batches",
    "before onehot_fast.encoder.Encoder.partial_fit",
    "after onehot_fast.cli.encode._check_features",
    "before onehot_fast.cli.readers.ParquetReader.coded_schema",
    "after onehot_fast.cli.atomic._locked",
    "after onehot_fast.cli.writers.{sink}.__init__",
    "before onehot_fast.cli.writers.{sink}.write",
    "after onehot_fast.cli.writers.{sink}.write",
    "after onehot_fast.cli.writers.{sink}.close",
    "before os.fsync",
]


@pytest.fixture
def send_at(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what makes this process send itself a signal at a place."""
    return lambda place, number=signal.SIGINT: signalling.send_at(
        place, number, monkeypatch.setattr
    )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("target", "sink"),
    [("out.parquet", "ParquetWriter"), ("out.arrow", "ArrowWriter"), ("out.csv.gz", "TextWriter")],
)
def test_asked_to_end(
    place: str, target: str, sink: str, small: Path, call: Any, files: Any, send_at: Any
) -> None:
    """A signal at any step ends the run with its code, one line, and without any trace."""
    out = small.parent / target
    out.write_bytes(OLD)
    threads, handler = threading.active_count(), signal.getsignal(signal.SIGINT)
    send_at(place.format(sink=sink))

    ended = call("encode", small, *COLUMNS, "--overwrite", "-o", out)

    assert ended == INTERRUPTED
    assert out.read_bytes() == OLD
    assert files.leftovers(small.parent) == []
    assert (threading.active_count(), signal.getsignal(signal.SIGINT)) == (threads, handler)


@pytest.mark.parametrize(
    ("place", "number"),
    [
        ("before onehot_fast.cli.import_module", 2),
        ("before pyarrow.parquet.ParquetWriter.write_table", 2),
        ("after os.fsync", 15),
    ],
)
def test_asked_to_end_as_a_process(place: str, number: int, small: Path, files: Any) -> None:
    """A process that is asked to end, even while it imports, says so in one line and no more."""
    out = small.parent / "out.parquet"
    out.write_bytes(OLD)
    arguments = "encode", small, *COLUMNS, "--overwrite", "-o", out
    code, error = signalling.run(place, number, *arguments)

    name = "interrupted" if number == 2 else f"ended by signal {number}"
    assert (code, error) == (128 + number, f"onehot-fast: {name}\n")
    assert out.read_bytes() == OLD
    assert files.leftovers(small.parent) == []


@pytest.fixture
def heard(number: int) -> Iterator[None]:
    """Hear a signal that is ignored, as SIGHUP is beneath nohup: the command ignores it too."""
    before = signal.signal(number, signal.SIG_DFL)
    yield
    signal.signal(number, before)


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize(
    "arguments", [["encode", "-o", "-"], ["inspect"], ["encode", "-o", "out/"]]
)
def test_other_signals_and_commands(
    arguments: list[str], number: int, code: int, small: Path, call: Any, send_at: Any
) -> None:
    """Every command hears every signal."""
    name, *rest = arguments
    rest = [f"{small.parent}/{text}" if "/" in text else text for text in rest]
    send_at("after onehot_fast.cli.source.InputFiles.batches", number)

    ended = call(name, small, *rest, *COLUMNS)
    assert ended == (code, b"", f"onehot-fast: ended by signal {int(number)}\n")
    assert sorted(path.name for path in small.parent.iterdir()) == ["in.parquet"]


def test_too_late(small: Path, call: Any, files: Any, send_at: Any) -> None:
    """After the rename the work is done, and a signal changes nothing."""
    out = small.parent / "out.parquet"
    send_at("after os.replace")

    assert call("encode", small, *COLUMNS, "-o", out) == (0, b"", "")
    assert files.read(out).num_rows == 1000


def test_between_two_outputs(small: Path, call: Any, send_at: Any) -> None:
    """Where a second file was to be written, the run is interrupted between the two."""
    out, schema = small.parent / "out.parquet", small.parent / "schema.json"
    send_at("after os.replace")

    assert call("encode", small, *COLUMNS, "-o", out, "--save-encoder", schema) == INTERRUPTED
    assert out.exists()
    assert not schema.exists()


def test_a_second_signal(small: Path, call: Any, files: Any, send_at: Any) -> None:
    """A second signal right after the first does not disturb the cleaning up."""
    send_at("before onehot_fast.cli.writers.ParquetWriter.write", signal.SIGINT)
    send_at("before onehot_fast.cli.writers.ParquetWriter.abandon", signal.SIGINT)
    send_at("before onehot_fast.cli.atomic._remove", signal.SIGTERM)

    assert call("encode", small, *COLUMNS, "-o", small.parent / "out.parquet") == INTERRUPTED
    assert files.leftovers(small.parent) == []


def test_a_second_signal_later(small: Path) -> None:
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


def test_ignored(small: Path, call: Any, send_at: Any) -> None:
    """What the parent told to ignore, as nohup does, stays ignored."""
    send_at("before onehot_fast.cli.writers.ParquetWriter.write", signal.SIGHUP)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        ended = call("encode", small, *COLUMNS, "-o", small.parent / "out.parquet")
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert ended == (0, b"", "")


@contextmanager
def interrupting(readable: Any = None) -> Iterator[None]:
    """Send the main thread a signal while it waits, after a file has become readable."""

    def send() -> None:
        if readable is not None:
            select.select([readable], [], [])
        time.sleep(0.2)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    yield
    thread.join()


@contextmanager
def pipe() -> Iterator[tuple[Any, Any]]:
    """Give the two ends of a pipe."""
    reader, writer = os.pipe()
    with open(reader, "rb", buffering=0) as one, open(writer, "wb", buffering=0) as other:
        yield one, other


def test_waiting_for_standard_input(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody writes to standard input."""
    with pipe() as (reader, writer):
        writer.write(b"carrier,dest\n")
        monkeypatch.setattr(sys, "stdin", reader)
        with interrupting():
            ended = call("encode", "-", *COLUMNS, "-o", tmp_path / "out.csv")
    assert ended == INTERRUPTED
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["parquet", "arrows", "csv", "csv.gz"])
def test_waiting_for_a_reader(
    form: str, files: Any, call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader of standard output reads no more; and gets nothing that looks complete."""
    source = files.write(files.make(20_000), tmp_path / "in.csv")
    with pipe() as (reader, writer):
        monkeypatch.setattr(sys, "stdout", writer)
        with interrupting(reader):
            ended = call("encode", source, *COLUMNS, "-o", "-", "--output-format", form)
        written = reader.read(1 << 20)

    assert ended == INTERRUPTED
    assert len(written) >= select.PIPE_BUF
    assert not written.endswith((b"PAR1", b"\xff\xff\xff\xff\0\0\0\0"))
    if form == "csv.gz":
        unpacker = zlib.decompressobj(31)
        unpacker.decompress(written)
        assert not unpacker.eof


def test_waiting_for_a_pipe_to_be_opened(small: Path, call: Any, tmp_path: Path) -> None:
    """Nobody opens the pipe that is the output."""
    out = tmp_path / "out.parquet"
    os.mkfifo(out)
    with interrupting():
        ended = call("encode", small, *COLUMNS, "-o", out)

    assert ended == INTERRUPTED
    assert out.is_fifo()


def test_a_pipe_as_output(small: Path, call: Any, files: Any, tmp_path: Path) -> None:
    """A pipe gets what a file would get."""
    out, file = tmp_path / "out.parquet", tmp_path / "read.parquet"
    os.mkfifo(out)
    reader = threading.Thread(target=lambda: file.write_bytes(out.read_bytes()))
    reader.start()
    ended = call("encode", small, *COLUMNS, "-o", out)
    reader.join()

    assert ended == (0, b"", "")
    assert files.read(file).num_rows == 1000


def test_a_pipe_as_input(call: Any, tmp_path: Path) -> None:
    """A pipe cannot be read twice, and nobody waits for what is in it."""
    os.mkfifo(tmp_path / "in.csv")
    ended = call("inspect", tmp_path / "in.csv")

    assert (ended.code, ended.error.count("\n")) == (Exit.INPUT, 1)


@pytest.mark.parametrize("is_ignored", [False, True])
def test_before_the_package_is_imported(is_ignored: bool) -> None:
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
