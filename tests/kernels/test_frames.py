"""No function of the compiled code needs more than 4 KiB of stack for itself.

A thread may have a stack of 16 KiB. Larger memory belongs into the workspaces of `for_each_chunk`.
"""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "onehot_fast"
LIMIT = 4096
CC = shutil.which("gcc")
PYX = sorted(PACKAGE.rglob("*.pyx"))
# The microkernels and the dictionary contain every instruction set of this machine's family.
SOURCES = [path.with_suffix(".c") for path in PYX] + sorted(
    path for path in PACKAGE.rglob("*.c") if not path.with_suffix(".pyx").exists()
)


def large_frames(source, *options):
    """Return what gcc says about frames beyond the limit, with the options of the build."""
    include = [PACKAGE, np.get_include(), sysconfig.get_path("include")]
    done = subprocess.run(
        [
            CC, "-S", "-o", "/dev/null", "-O3", "-fPIC", "-fopenmp", "-fno-strict-aliasing",
            "-DNDEBUG", "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION",
            f"-Werror=frame-larger-than={LIMIT}",
            *(f"-I{folder}" for folder in include), *options, str(source),
        ],
        capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
    )  # fmt: skip
    found = re.findall(r"frame size of \d+ bytes", done.stderr)
    assert found or done.returncode == 0, done.stderr
    return done.stderr if found else ""


needs_gcc = pytest.mark.skipif(CC is None or sys.platform != "linux", reason="needs gcc on Linux")


@needs_gcc
def test_a_large_frame_is_found(tmp_path):
    source = tmp_path / "large.c"
    source.write_text(
        "void use(char *);\n"
        "void small(void) { char room[2048]; use(room); }\n"
        "void large(void) { char room[5000]; use(room); }\n"
    )

    found = large_frames(source)

    assert "'large'" in found
    assert "'small'" not in found


@needs_gcc
@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_frame_is_larger_than_4_kib(source):
    """The C files that Cython wrote stand beside their sources in a checkout that was built."""
    if not source.exists():
        pytest.skip("this checkout was not built")

    assert large_frames(source) == ""


def test_no_source_is_forgotten():
    assert {"microkernels.c", "hashtable.c", "rows.c", "chunks.c"} <= {p.name for p in SOURCES}
    assert len(SOURCES) == len(PYX) + 2
