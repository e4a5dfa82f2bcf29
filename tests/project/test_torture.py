"""Some fixed cases of each fuzzer; ``make torture`` runs them for an hour."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from programs import HANG

TOOLS = Path(__file__).parents[2] / "tools"
CASES = {
    "tensors": 1,
    "tables": 1,
    "spellings": 1,
    "documents": 1,
    "producers": 25,
    "objects": 4,
    "races": 1,
    "shared": 1,
    "memory": 1,
    "files": 40,
}


@pytest.mark.long
@pytest.mark.parametrize("part", CASES)
def test_part(part):
    """The first cases of each part pass, in a process of their own."""
    if part == "files":
        for library in ("pyarrow", "click", "rich"):
            pytest.importorskip(library)
    if part in ("memory", "races") and not shutil.which(sysconfig.get_config_var("CC").split()[0]):
        pytest.skip("no compiler")
    if part == "memory" and "libasan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("AddressSanitizer has an allocator of its own")
    done = subprocess.run(
        [sys.executable, "-m", "torture", "--only", part, "--seed=0", f"--cases={CASES[part]}"],
        cwd=TOOLS, capture_output=True, text=True, timeout=HANG,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"| {part} | {CASES[part]} | " in done.stdout
    assert done.stdout.rstrip().endswith("| 0 |")
