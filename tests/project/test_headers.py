"""Each C header compiles alone, and other C files that are included have one way in."""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

PACKAGE = Path(__file__).parents[2] / "onehot_fast"
HEADERS = sorted(PACKAGE.rglob("*.h"))
INCLUDED = sorted(PACKAGE.rglob("*.inc"))
CC = shutil.which("gcc") or shutil.which("cc")
needs_compiler = pytest.mark.skipif(CC is None or sys.platform == "win32", reason="needs gcc or cc")


def complaints(header, folder):
    """Return what the compiler says about a C file that includes one header and nothing else."""
    source = folder / "alone.c"
    source.write_text(f'#include "{header}"\n')
    foreign = [np.get_include(), sysconfig.get_path("include")]
    done = subprocess.run(
        [
            CC, "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
            "-Wno-unused-function",  # a header defines functions that only some of its users call
            f"-I{PACKAGE}", *(f"-isystem{path}" for path in foreign),
            "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION",
            "-DNPY_TARGET_VERSION=NPY_2_0_API_VERSION", str(source),
        ],
        capture_output=True, text=True,
    )  # fmt: skip
    return done.stderr if done.returncode else ""


@needs_compiler
@pytest.mark.parametrize("header", HEADERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_header_compiles_alone(header, tmp_path):
    assert complaints(header, tmp_path) == ""


@needs_compiler
def test_a_header_that_needs_another_one_is_found(tmp_path):
    header = tmp_path / "needs.h"
    header.write_text("static uint64_t number;\n")

    assert "uint64_t" in complaints(header, tmp_path)


def test_a_header_can_be_included_twice():
    for header in HEADERS:
        guard = re.search(r"^#ifndef (OHF_\w+_H)\n#define \1$", header.read_text(), re.MULTILINE)
        assert guard, header


def test_one_file_repeats_code_for_each_instruction_set():
    """All other `.inc` files are included by it, or by a file that it includes."""
    mechanism = PACKAGE / "_kernels/foreach_isa.inc"
    assert [path for path in INCLUDED if not path.name.endswith(".isa.inc")] == [mechanism]

    repeated, others = set(), set()
    for path in [*PACKAGE.rglob("*.[ch]"), *INCLUDED]:
        text = path.read_text(encoding="utf-8")
        repeated |= set(re.findall(r'^#\s*define OHF_ISA_FILE "(.*)"', text, re.MULTILINE))
        if not path.name.endswith(".isa.inc"):
            others |= set(re.findall(r'^#\s*include "(.*\.isa\.inc)"', text, re.MULTILINE))

    assert {PACKAGE / name for name in repeated} <= set(INCLUDED)
    assert len(repeated) == 2
    assert others == set()
