"""What ``setup.py`` compiles."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[2] / "setup.py"
pytest.importorskip("setuptools")
pytest.importorskip("Cython")
EDITABLE = "import sys; from setuptools import build_meta; build_meta.build_editable(sys.argv[1])"
PYPROJECT = """
[project]
name = "onehot-fast"
version = "0.1"
dynamic = ["readme"]
[tool.setuptools]
packages = ["onehot_fast"]
"""
NOTING_COMPILER = """#!/bin/sh
echo "$@" >> {log}
exec {compiler} "$@"
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Make a checkout of one module; return its path and a function that counts compilations."""
    compiler = shutil.which("cc")
    if compiler is None or os.name != "posix":
        pytest.skip("this test needs a C compiler named cc")
    source, log = tmp_path / "checkout", tmp_path / "log"
    package = source / "onehot_fast"
    package.mkdir(parents=True)
    shutil.copy(SETUP, source / "setup.py")
    (source / "pyproject.toml").write_text(PYPROJECT)
    (source / "README.md").write_text("A package\n")
    (package / "__init__.py").touch()
    (package / "one.pyx").write_text("def one():\n    return 1\n")
    noting = tmp_path / "noting"
    noting.write_text(NOTING_COMPILER.format(log=log, compiler=compiler))
    noting.chmod(0o755)
    monkeypatch.setenv("CC", str(noting))

    def count(*arguments):
        log.write_text("")
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=source, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert list(package.glob("one.*.so"))
        return sum("-c" in line.split() and "one.c" in line for line in log.read_text().split("\n"))

    return package, count


@pytest.mark.long
def test_each_module_is_compiled_once(checkout, tmp_path):
    """An editable install and an in-place build compile what changed, whatever was before."""
    package, count = checkout
    in_place = ["setup.py", "--quiet", "build_ext", "--inplace"]
    install = ["-c", EDITABLE, str(tmp_path)]

    assert count(*install) == 1
    assert count(*in_place) == 0
    assert count(*install) == 0
    (package / "one.pyx").write_text("def one():\n    return 2\n")
    assert count(*in_place) == 1
    assert count(*install) == 0
    shutil.rmtree(package.parent / "build")  # and with it the record of the flags
    assert count(*in_place) == 1
