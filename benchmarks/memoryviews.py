"""Why the loops of the kernels use pointers: the same loop over memoryviews, and over pointers.

``python -m benchmarks.memoryviews`` compiles both and prints how long they take;
docs/performance/kernels.md quotes the factor. It needs Cython and gcc or clang.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import clock
from onehot_fast import one_hot

ROUNDS = 9
SHAPES = ((1_000_000, 10), (100_000, 100), (10_000, 1000))
SOURCE = """\
# cython: language_level=3, boundscheck=False, wraparound=False
from cython.parallel cimport prange

def over_memoryviews(const int[::1] labels, float[:, ::1] out, int num_threads):
    cdef Py_ssize_t i, j
    for i in prange(labels.shape[0], nogil=True, schedule="static", num_threads=num_threads):
        for j in range(out.shape[1]):
            out[i, j] = labels[i] == j

cdef void write_row(int label, float *row, Py_ssize_t depth) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(depth):
        row[j] = label == j

def over_pointers(const int[::1] labels, float[:, ::1] out, int num_threads):
    cdef Py_ssize_t i
    for i in prange(labels.shape[0], nogil=True, schedule="static", num_threads=num_threads):
        write_row(labels[i], &out[i, 0], out.shape[1])
"""
SETUP = """\
from setuptools import Extension, setup
flags = {"extra_compile_args": ["-O3", "-fopenmp"], "extra_link_args": ["-fopenmp"]}
setup(ext_modules=[Extension("both", ["both.pyx"], **flags)])
"""


def compiled(folder: Path) -> Any:
    """Return the module of both loops, compiled in `folder`."""
    (folder / "both.pyx").write_text(SOURCE)
    (folder / "setup.py").write_text(SETUP)
    build = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    subprocess.run(build, cwd=folder, check=True)
    spec = importlib.util.spec_from_file_location("both", next(folder.glob("both.*.*")))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Print the milliseconds of both loops and of `one_hot`: the least of calls in turns."""
    with tempfile.TemporaryDirectory() as folder:
        both = compiled(Path(folder))
    print("| rows of float32 | over memoryviews | over pointers | factor | one_hot |")
    print("|---" * 5 + "|")
    for n, depth in SHAPES:
        labels = np.random.default_rng(0).integers(0, depth, n, dtype=np.int32)
        out = np.empty((n, depth), np.float32)
        samplers = [
            clock(partial(both.over_memoryviews, labels, out, 1)),
            clock(partial(both.over_pointers, labels, out, 1)),
            clock(partial(one_hot, labels, depth, out=out, num_threads=1)),
        ]
        rounds = [[sample(1) for sample in samplers] for _ in range(ROUNDS)]
        views, pointers, ours = np.min(rounds, axis=0) * 1e3
        factor = views / pointers
        print(f"| {n:,} of {depth} | {views:.1f} | {pointers:.1f} | {factor:.1f} | {ours:.1f} |")


if __name__ == "__main__":
    main()
