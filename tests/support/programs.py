"""Programs in fresh interpreters, for what one process does only once; work in another thread."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from textwrap import dedent

import pytest

import onehot_fast

# Seconds after which nothing will happen any more, on the busiest machine; pytest gives up later.
HANG = 500

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
needs_openmp = pytest.mark.skipif(
    not onehot_fast.build_info()["openmp"], reason="built without OpenMP"
)

# To stand before a program: pyarrow cannot be found, whether it is installed or not.
WITHOUT_PYARROW = """
import sys

class NoPyArrow:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, NoPyArrow())
"""
# The same of pandas.
WITHOUT_PANDAS = WITHOUT_PYARROW.replace("pyarrow", "pandas")


def run(program: str, *options: str, **environment: str) -> str:
    """Run a program to its end, which must be quiet and good; return what it printed."""
    done = start(program, *options, **environment)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout.strip()


@contextmanager
def running(work: Callable[[], None]) -> Iterator[None]:
    """Repeat some work in another thread."""
    stop = threading.Event()

    def repeat() -> None:
        while not stop.is_set():
            work()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def start(program: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, whatever that may be."""
    return subprocess.run(
        [sys.executable, "-P", *options, "-c", dedent(program)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=HANG,
    )
