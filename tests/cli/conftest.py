"""What the tests of the command share: a table, its files in every format, and runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from programs import HANG

COMMAND = [sys.executable, "-P", "-m", "onehot_fast.cli"]


class Ended(NamedTuple):
    """How a run ended."""

    code: int
    out: bytes
    error: str


Run = Callable[..., Ended]


@pytest.fixture
def command() -> list[str]:
    """Return what starts the command in a process of its own."""
    return COMMAND


@pytest.fixture
def run() -> Run:
    """Return what runs the command in a process of its own."""

    def call(*arguments: object, stdin: bytes = b"", **options: Any) -> Ended:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            input=stdin,
            capture_output=True,
            timeout=HANG,
            **options,
        )
        return Ended(done.returncode, done.stdout, done.stderr.decode())

    return call


@pytest.fixture
def call(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Return what runs the command in this process, which is quicker; one argument is a line."""
    main = __import__("onehot_fast.cli").cli.main

    def run(*arguments: Any) -> Ended:
        [typed] = arguments if len(arguments) == 1 else [arguments]
        typed = typed.split() if isinstance(typed, str) else typed
        capfdbinary.readouterr()
        code = main([str(argument) for argument in typed])
        sys.stdout.flush()
        out, error = capfdbinary.readouterr()
        return Ended(code, out, error.decode())

    return run


def make_table(n_rows: int = 1000) -> Any:
    """Return a table of several types, with nulls, and metadata."""
    import pyarrow as pa

    carriers = ["UA", "AA", None, "B6", "DL é"]
    rows = range(n_rows)
    columns = {
        pa.field("id", pa.int64(), nullable=False, metadata={"unit": "none"}): rows,
        pa.field("carrier", pa.string()): [carriers[row * 7 % 5] for row in rows],
        pa.field("delay", pa.float64()): [None if row % 11 == 0 else row / 3 for row in rows],
        pa.field("dest", pa.string()): [f"D{row * row % 23:02}" for row in rows],
        pa.field("month", pa.int32()): [row % 12 + 1 for row in rows],
        pa.field("late", pa.bool_()): [row % 3 == 0 for row in rows],
    }
    arrays = [pa.array(values, field.type) for field, values in columns.items()]
    return pa.Table.from_arrays(arrays, schema=pa.schema(list(columns), {"made_by": "the tests"}))


def write_table(table: Any, path: Path) -> Path:
    """Write a table in the format that the name of the file says; Parquet in small row groups."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    first = path.name.split(".")[1]
    if first == "parquet":
        pa.parquet.write_table(table, path, row_group_size=300)
    elif first in ("arrow", "feather", "arrows"):
        make = pa.ipc.new_stream if first == "arrows" else pa.ipc.new_file
        with (
            pa.output_stream(str(path), compression="detect") as file,
            make(file, table.schema) as writer,
        ):
            writer.write_table(table, max_chunksize=300)
    else:
        options = pa.csv.WriteOptions(delimiter="\t" if first == "tsv" else ",")
        with pa.output_stream(str(path), compression="detect") as file:
            pa.csv.write_csv(table, file, options)
    return path


def read_table(path: Path) -> Any:
    """Read a file in the format that its name says."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    first = path.name.split(".")[1]
    if first == "parquet":
        return pa.parquet.read_table(path, partitioning=None, page_checksum_verification=True)
    with pa.input_stream(str(path), compression="detect") as file:
        if first in ("arrow", "feather"):
            return pa.ipc.open_file(pa.BufferReader(file.read())).read_all()
        if first == "arrows":
            return pa.ipc.open_stream(file).read_all()
        options = pa.csv.ParseOptions(delimiter="\t" if first == "tsv" else ",")
        return pa.csv.read_csv(file, parse_options=options)


def leftovers(folder: Path) -> list[str]:
    """Return the temporary files in a folder."""
    return [name for name in os.listdir(folder) if name.endswith(".onehot-fast-part")]


@pytest.fixture
def table() -> Any:
    """Return the table."""
    return make_table()


@pytest.fixture
def small(table: Any, tmp_path: Path) -> Path:
    """Return a Parquet file of a few row groups."""
    return write_table(table, tmp_path / "in.parquet")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run each test in a folder of its own, so that it names files as one types them."""
    pytest.importorskip("click")
    pytest.importorskip("rich")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def t_csv() -> Path:
    """Return a small CSV file."""
    path = Path("t.csv")
    path.write_text("a,b\n1,x\n2,y\n")
    return path


def content() -> dict[str, bytes]:
    """Return all files below the folder."""
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.fixture
def refused(call: Any) -> Any:
    """Return what asserts that a line fails with a code and one line, and changes no file."""

    def run(line: str | list[object], code: int, *says: str) -> None:
        before = content()
        ended = call(line)
        assert (ended.code, ended.out, ended.error.count("\n")) == (code, b"", 1), ended
        assert ended.error.startswith("onehot-fast: ")
        assert [text for text in says if text not in ended.error] == [], ended.error
        assert content() == before

    return run


@pytest.fixture
def done(call: Any) -> Any:
    """Return what asserts that a line succeeds, and returns what it prints on standard error."""

    def run(line: str | list[object]) -> str:
        ended = call(line)
        assert (ended.code, ended.out) == (0, b""), ended
        return str(ended.error)

    return run


@pytest.fixture(scope="session")
def files() -> Any:
    """Return the functions that write and read files, and look for leftovers."""

    class Files:
        make, write, read, leftovers = map(
            staticmethod, (make_table, write_table, read_table, leftovers)
        )

    return Files
