"""A library's own tests meet our functions: what the plugins of pytest and their users share.

A plugin calls `put` while pytest loads it, so that the tests of the library, which are imported
later, find ours wherever they look: as a name, a method, a value that a test is parametrized with.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

calls: Counter[str] = Counter()


def counted(function: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """Return the function or method, counting its calls under a name, by default its own."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        calls[name or function.__qualname__] += 1
        return function(*args, **kwargs)

    return wrapper


def put(name: str, ours: Any, *owners: Any) -> None:
    """Put ours in the place of what the owners have under that name."""
    for owner in owners:
        assert hasattr(owner, name), f"{owner} has no {name}"
        setattr(owner, name, ours)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say in the last line of the report how often each of ours was called."""
    counts = " ".join(f"{name}={calls[name]}" for name in sorted(calls))
    terminalreporter.write_line(f"redirected: {counts}")


def run_redirected(
    plugin: str, folder: Path, calls: dict[str, int], n_passed: int, *arguments: str, **env: str
) -> None:
    """Run a library's tests in another process, in a folder without any configuration of pytest.

    None may fail, at least `n_passed` must pass, and each of ours must be called so often.
    """
    command = [sys.executable, "-P", "-m", "pytest", "-p", f"support.{plugin}"]
    command += ["-p", "no:cacheprovider", "-q", "--pyargs", *arguments]
    plugins = str(Path(__file__).parents[1])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        cwd=folder,
        env={**os.environ, **env, "PYTHONPATH": plugins, "PYTEST_ADDOPTS": ""},
    )
    report = done.stdout + done.stderr
    outcomes = {name: int(n) for n, name in re.findall(r"(\d+) (passed|failed|errors?)\b", report)}
    counts = re.findall(r"([\w.]+)=(\d+)", "".join(re.findall(r"^redirected: .*$", report, re.M)))
    found = {name: int(n) for name, n in counts}
    assert outcomes.pop("passed", 0) >= n_passed, report
    assert outcomes == {}, report
    assert {name for name, n in calls.items() if found.get(name, 0) < n} == set()
