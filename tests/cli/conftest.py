"""What the tests of the command share: a table, its files in every format, and runs."""

from __future__ import annotations

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


@pytest.fixture
def table() -> Any:
    """Return the table."""
    from command_files import make

    return make()


@pytest.fixture
def small(table: Any, tmp_path: Path) -> Path:
    """Return a Parquet file of a few row groups."""
    from command_files import write

    return write(table, tmp_path / "in.parquet")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run each test in a folder of its own, so that it names files as one types them."""
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
