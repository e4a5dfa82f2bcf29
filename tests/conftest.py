"""Profiles of hypothesis, the `library` fixture, and the order and summary of tests."""

from __future__ import annotations

import gc
import importlib.metadata
import os
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support.libraries import LIBRARIES
from support.may_skip import MAY_SKIP

# A hostile array is slow to draw, unique values are drawn by rejection, and the machine may be
# busy.
COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much],
}

# `make test` uses "dev", `.ci/run` uses "ci", and "leg" in its side legs, where few results can
# differ: all three draw the same examples in every run. The fuzzers use "torture", and
# `make test-thorough` uses "thorough": these two draw new examples.
settings.register_profile("dev", max_examples=30, derandomize=True, **COMMON)
settings.register_profile("ci", max_examples=80, derandomize=True, **COMMON)
settings.register_profile("leg", max_examples=20, derandomize=True, **COMMON)
settings.register_profile("torture", max_examples=100, database=None, **COMMON)
settings.register_profile("thorough", max_examples=2000, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Skip a test of `MAY_SKIP` if it raises the error for exactly that version of the library.

    In any other test, the error is a failure: a wrong guard in the package must not hide.
    """
    try:
        return (yield)
    except ImportError as error:
        test = pyfuncitem.nodeid.split("[")[0].rpartition("/")[2]
        for (library, version), names in MAY_SKIP.items():
            is_guard = f" needs {library} {version} or newer, but " in str(error)
            if is_guard and test in names and is_older(library, version):
                pytest.skip(str(error))
        raise


def is_older(library, version):
    """Tell whether the installed version of a library is older than `version`."""
    installed = importlib.metadata.version(library).split(".")
    return [*map(int, installed[:2])] < [*map(int, version.split("."))]


@pytest.fixture(scope="session", params=LIBRARIES)
def library(request):
    """Return each library: one test covers behaviour that all libraries share."""
    return LIBRARIES[request.param]()


@pytest.fixture(scope="module", autouse=True)
def small_heap():
    """Hide the objects of all tests and of earlier modules from every `gc.collect()` in a test."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter):
    """Print how many tests were skipped for each reason, and in which files."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for report in terminalreporter.stats.get("skipped", []):
        # A skip has a triple; an xfail keeps its reason elsewhere.
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
        terminalreporter.write_line(f"  and the tests that -m '{chosen}' deselects")


def pytest_collection_modifyitems(config, items):
    """Leave out tests that need gigabytes, unless their mark is selected.

    Tests of Spark come first: its session takes long to start, and they would end last.
    """
    if "large" not in config.option.markexpr:
        items[:] = [item for item in items if item.get_closest_marker("large") is None]
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
