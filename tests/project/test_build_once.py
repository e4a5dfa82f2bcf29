"""Modules that an editable install left beside their sources are not compiled again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import onehot_fast

ROOT = Path(__file__).parents[2]
pytest.importorskip("setuptools", "77")
pytest.importorskip("Cython")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the compiler is a command of POSIX")


@pytest.fixture
def checkout(tmp_path):
    """Return a copy of the sources, with the compiled modules beside them."""
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "onehot_fast_command.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    built = shutil.ignore_patterns("*.so", "__pycache__")
    for name in ("onehot_fast", "integrations"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=built)
    package, suffix = Path(onehot_fast.__file__).parent, sysconfig.get_config_var("EXT_SUFFIX")
    for pyx in (tmp_path / "onehot_fast").rglob("*.pyx"):
        pyx.with_suffix(".c").touch()  # newer than the .pyx, as Cython leaves it
        module = package / pyx.relative_to(tmp_path / "onehot_fast").with_suffix(suffix)
        shutil.copyfile(module, pyx.with_suffix(suffix))
    return tmp_path


def build(checkout):
    """Build with a compiler that always fails."""
    return subprocess.run(
        [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"],
        cwd=checkout,
        env={**os.environ, "CC": "false", "ONEHOT_FAST_NO_OPENMP": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
@pytest.mark.timeout(600)
def test_modules_beside_their_sources_are_reused_until_a_source_changes(checkout):
    # The flags are recorded at the first build, which compiles everything.
    assert build(checkout).returncode != 0
    (checkout / "build").mkdir(exist_ok=True)
    shutil.rmtree(checkout / "build" / "temp", ignore_errors=True)
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    modules = sorted((checkout / "onehot_fast").rglob(f"*{suffix}"))
    assert modules
    for module in modules:
        module.touch()
    before = {module: module.read_bytes() for module in modules}

    done = build(checkout)
    assert done.returncode == 0, done.stderr[-3000:]
    assert {module: module.read_bytes() for module in modules} == before

    shutil.rmtree(next((checkout / "build").glob("lib*")))
    header = checkout / "onehot_fast" / "_kernels" / "chunks.pxd"
    os.utime(header, (2**31 - 10, 2**31 - 10))
    assert build(checkout).returncode != 0
