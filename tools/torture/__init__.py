"""Fuzzers that run for any time: ``cd tools; python -m torture --minutes 10``.

A part is a module with ``case(seed) -> Counter``: one case, made from its seed alone, which counts
its calls and raises AssertionError if something is wrong; ``properties`` has several parts. Cases
run in processes of their own, so that crashes and hangs are failures too. Each failure is printed
with the line that replays it.
"""

import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

# The oracles and strategies of the tests are the package `support` there.
sys.path.append(str(Path(__file__).parents[2] / "tests"))


@cache
def library(name: str) -> str:
    """Compile ``<name>.c`` and return the path of the shared library."""
    made = Path(tempfile.mkdtemp(), f"{name}.so")
    source = Path(__file__).with_name(f"{name}.c")
    compiler = sysconfig.get_config_var("CC").split()
    subprocess.run([*compiler, "-shared", "-fPIC", "-O1", str(source), "-o", str(made)], check=True)
    return str(made)


def pick(rng: np.random.Generator, items: Any) -> Any:
    """Return one of some items."""
    return items[int(rng.integers(len(items)))]
