"""The search of hypothesis and the marks of tests.

`HYPOTHESIS_PROFILE=thorough pytest` searches much longer.
"""

from __future__ import annotations

import gc
import os
import re
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from libraries import LIBRARIES, Library

# A hostile array is slow to draw, unique values are drawn by rejection, and the machine may be
# busy: none of this is a failure.
COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much],
}

# Fewer, but others each time; `.ci/run` takes "ci", and "leg" in its side legs.
settings.register_profile("dev", max_examples=30, **COMMON)
settings.register_profile("ci", max_examples=80, derandomize=True, **COMMON)
# In an environment where little can end otherwise; all are drawn in the main one.
settings.register_profile("leg", max_examples=20, derandomize=True, **COMMON)
settings.register_profile("thorough", max_examples=2000, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, Any, Any]:
    """Skip what one feature needs a newer library for, and says so."""
    try:
        return (yield)
    except ImportError as error:
        if re.search("needs .* or newer, and .* is installed", str(error)):
            pytest.skip(str(error))
        raise


@pytest.fixture(scope="session", params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Library:
    """Return each library in turn: what all of them must do alike is one test."""
    return LIBRARIES[request.param]()


def pytest_collection_finish() -> None:
    """Take what was collected out of the sight of the garbage collector.

    Ten thousand tests are a million objects. Every `gc.collect()` in a test would visit them all.
    """
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once for each reason how many tests it kept from running, and in which files."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for report in terminalreporter.stats.get("skipped", []):
        # Of a mark and a call of skip() it is a triple; an xfail has its words elsewhere.
        where, _, reason = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, "")
        name = report.nodeid.split("::")[0] or where
        reasons[reason.removeprefix("Skipped: ")].append(Path(name).name)
    if not reasons:
        return
    skipped = sum(map(len, reasons.values()))
    terminalreporter.section(f"{skipped} skipped, by reason")
    for reason, names in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0])):
        files = sorted(set(names))
        more = f" and {len(files) - 3} more" if len(files) > 3 else ""
        terminalreporter.write_line(f"{len(names):6}  {reason} ({', '.join(files[:3])}{more})")
    if chosen := terminalreporter.config.option.markexpr:
        terminalreporter.write_line(f"  and all that is not '{chosen}'")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes gigabytes, unless it is asked for by its mark.

    What needs a session of Spark comes first: one process makes one, and it is no tail.
    """
    if "large" not in config.option.markexpr:
        items[:] = [item for item in items if item.get_closest_marker("large") is None]
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
