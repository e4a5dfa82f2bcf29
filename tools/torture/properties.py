"""The property tests of ``tests/``, with a seed of its own for each case."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[2] / "tests"
# The files of each part; a case runs one of them.
FILES = {
    "tensors": (
        "tensor/test_one_hot.py",
        "tensor/test_decode.py",
        "tensor/test_policies.py",
        "tensor/test_multi_hot.py",
        "tensor/test_implicit.py",
        "arguments/test_front.py",
    ),
    "tables": (
        "encoder/test_encoder.py",
        "encoder/test_columns.py",
        "encoder/test_libraries.py",
        "categories/test_codes.py",
        "integrations/test_tables.py",
        "integrations/test_arrow_read.py",
        "integrations/test_dask.py",
        "integrations/test_sklearn_encoders.py",
        "integrations/test_sklearn_conversion.py",
    ),
    "spellings": ("categories/test_categories.py",),
    "documents": ("encoder/test_encoder_json.py",),
}
NO_TESTS = 5  # the exit code of pytest if the library of a file is not installed


def case(seed: int, part: str) -> Counter[str]:
    """Run the property tests of one file; only the seed decides what they draw."""
    name = FILES[part][seed % len(FILES[part])]
    options = ["-q", "-m", "hypothesis", f"--hypothesis-seed={seed}", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", str(TESTS / name), *options],
        env={**os.environ, "HYPOTHESIS_PROFILE": "torture"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode in (0, NO_TESTS), done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    return Counter({Path(name).stem: int(passed[1]) if passed else 0})
