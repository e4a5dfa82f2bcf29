"""What the tests of the command share: a table, its files in every format, and runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from support.programs import HANG

COMMAND = [sys.executable, "-P", "-m", "onehot_fast.cli"]


class Ended(NamedTuple):
    """How a run ended."""

    code: int
    out: bytes
    error: str


@pytest.fixture
def command():
    """Return what starts the command in a process of its own."""
    return COMMAND


@pytest.fixture
def run():
    """Return what runs the command in a process of its own."""

    def call(*arguments, stdin=b"", **options):
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
def call(capfdbinary):
    """Return what runs the command in this process, which is quicker; one argument is a line."""
    main = __import__("onehot_fast.cli").cli.main

    def run(*arguments):
        [typed] = arguments if len(arguments) == 1 else [arguments]
        typed = typed.split() if isinstance(typed, str) else typed
        capfdbinary.readouterr()
        code = main([str(argument) for argument in typed])
        sys.stdout.flush()
        out, error = capfdbinary.readouterr()
        return Ended(code, out, error.decode())

    return run


@pytest.fixture
def table():
    """Return the table."""
    from support.command_files import make

    return make()


@pytest.fixture
def small(table, tmp_path):
    """Return a Parquet file of a few row groups."""
    from support.command_files import write

    return write(table, tmp_path / "in.parquet")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Run each test in a folder of its own, so that it names files as one types them."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def t_csv():
    """Return a small CSV file."""
    path = Path("t.csv")
    path.write_text("a,b\n1,x\n2,y\n")
    return path


def content():
    """Return all files below the folder."""
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.fixture
def refused(call):
    """Return what asserts that a line fails with a code and one line, and changes no file."""

    def run(line, code, *says):
        before = content()
        ended = call(line)
        assert (ended.code, ended.out, ended.error.count("\n")) == (code, b"", 1), ended
        assert ended.error.startswith("onehot-fast: ")
        assert [text for text in says if text not in ended.error] == [], ended.error
        assert content() == before

    return run


@pytest.fixture
def done(call):
    """Return what asserts that a line succeeds, and returns what it prints on standard error."""

    def run(line):
        ended = call(line)
        assert (ended.code, ended.out) == (0, b""), ended
        return str(ended.error)

    return run
