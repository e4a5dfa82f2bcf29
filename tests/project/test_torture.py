"""The fuzzers run the property tests; `.ci/run` runs some cases of each other fuzzer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.programs import HANG

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.mark.long
def test_a_fuzzer_runs_property_tests_and_counts_them():
    done = subprocess.run(
        [sys.executable, "-m", "torture", "--only", "spellings", "--seed=0", "--cases=1"],
        cwd=TOOLS, capture_output=True, text=True, timeout=HANG,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert "| spellings | 1 | test_categories " in done.stdout
    assert done.stdout.rstrip().endswith("| 0 |")
