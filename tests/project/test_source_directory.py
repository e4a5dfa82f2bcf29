"""Python that is started in the source directory imports the package there, installed or not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import onehot_fast

PACKAGE = Path(onehot_fast.__file__).parent
COMPILED = ("*.so", "*.pyd")


def import_copy(place, *left_out):
    """Import a copy of the package without any installed package but NumPy; return the errors."""
    shutil.copytree(PACKAGE, place / "onehot_fast", ignore=shutil.ignore_patterns("*.c", *left_out))
    numpy = str(Path(np.__file__).parents[1])
    program = f"import sys; sys.path[1:1] = [{numpy!r}]; import onehot_fast"
    command = [sys.executable, "-S", "-c", program]
    return subprocess.run(command, cwd=place, capture_output=True, text=True).stderr


@pytest.mark.parametrize("compiled", [(), COMPILED])
def test_an_import_from_the_source_directory_says_so(tmp_path, compiled):
    """An import from the source directory fails with an error that says so, and what to do.

    The modules may be compiled or not; no installation maps the rest.
    """
    (tmp_path / "setup.py").touch()

    last = import_copy(tmp_path, "__pycache__", "integrations", *compiled).splitlines()[-1]
    assert last.startswith("ImportError: onehot_fast was imported from its source directory")
    assert f"python -m pip install -e {tmp_path}" in last
    assert "start Python in another directory" in last


def test_an_incomplete_installation_raises_its_own_error(tmp_path):
    """The error of an incomplete package without setup.py does not speak of a source directory."""
    error = import_copy(tmp_path, *COMPILED)

    assert "source directory" not in error
    assert "Error: " in error
