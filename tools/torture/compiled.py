"""The C beside these modules, compiled when it is first asked for."""

from __future__ import annotations

import subprocess
import sysconfig
import tempfile
from functools import cache
from pathlib import Path


@cache
def library(name: str) -> str:
    """Return the path of the shared library made of ``<name>.c``."""
    made = Path(tempfile.mkdtemp(), f"{name}.so")
    source = Path(__file__).with_name(f"{name}.c")
    compiler = sysconfig.get_config_var("CC").split()
    subprocess.run([*compiler, "-shared", "-fPIC", "-O1", str(source), "-o", str(made)], check=True)
    return str(made)
