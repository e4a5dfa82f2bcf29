"""Python that is started in the source directory imports the package there, installed or not."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

import pytest

import onehot_fast

PACKAGE = pathlib.Path(onehot_fast.__file__).parent
COMPILED = ("*.so", "*.pyd")


@pytest.mark.parametrize("compiled", [False, True])
def test_an_import_from_the_source_directory_says_so(tmp_path, compiled):
    """Without compiled modules for this Python, and without an installation that maps the rest."""
    left_out = ("*.c", "__pycache__", "integrations", *(() if compiled else COMPILED))
    ignored = shutil.ignore_patterns(*left_out)
    shutil.copytree(PACKAGE, tmp_path / "onehot_fast", ignore=ignored)
    (tmp_path / "setup.py").touch()
    # -S: no packages that are installed; NumPy alone is found by its path.
    numpy = pathlib.Path(pytest.importorskip("numpy").__file__).parent.parent
    program = f"import sys; sys.path[1:1] = [{str(numpy)!r}]; import onehot_fast"
    ended = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=tmp_path, capture_output=True, text=True
    )

    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: onehot_fast was imported from its source directory")
    assert f"python -m pip install -e {tmp_path}" in last
    assert "start Python in another directory" in last


def test_an_incomplete_installation_raises_its_own_error(tmp_path):
    """Without setup.py beside it the package is no source directory."""
    shutil.copytree(
        PACKAGE, tmp_path / "onehot_fast", ignore=shutil.ignore_patterns("*.c", *COMPILED)
    )
    ended = subprocess.run(
        [sys.executable, "-c", "import onehot_fast"], cwd=tmp_path, capture_output=True, text=True
    )

    assert "source directory" not in ended.stderr
    assert "Error: " in ended.stderr
