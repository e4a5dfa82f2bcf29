"""Shared by the asv suites: workloads of one size, and contenders by name."""

from __future__ import annotations

import numpy as np

import onehot_fast
from benchmarks.peers import CONTENDERS, Task
from benchmarks.peers.registry import OURSELVES, Call
from benchmarks.workloads import Array, Work, check

# Larger than most last-level caches, and quick to write.
OUTPUT_BYTES = 48 << 20
LIBRARIES = {OURSELVES: onehot_fast, "numpy": np}
WARM = [OURSELVES + " out=", "numpy fill + assign"]
ORDINARY = [OURSELVES, "numpy zeros + assign"]
# The new axis is the last one of a vector's result, or between the two axes of a batch.
LAYOUTS = {"rows": (1, -1), "planes": (8, 1)}


def make_work(layout: str, dtype: str, depth: int, n_bytes: int | None = None) -> Work:
    """Return a workload whose output has `n_bytes`, by default `OUTPUT_BYTES`."""
    n_outer, axis = LAYOUTS[layout]
    n_bytes = OUTPUT_BYTES if n_bytes is None else n_bytes
    n_indices = n_bytes // (depth * np.dtype(dtype).itemsize) // n_outer * n_outer
    shape = (n_indices,) if layout == "rows" else (n_outer, n_indices // n_outer)
    indices = np.random.default_rng(0).integers(0, depth, shape)
    return Work(layout, indices, depth, axis, np.dtype(dtype))


def make_call(name: str, work: Work, threads: int | None) -> Call:
    """Return the call of the contender of that name.

    Raises
    ------
    NotImplementedError
        The number of its threads cannot be set: asv skips the combination.
    """
    contender = CONTENDERS[name]
    if contender.library != OURSELVES and threads not in (None, 1):
        raise NotImplementedError
    out: Array = np.empty(work.shape, work.dtype)
    return contender.build(Task(work, out, threads, LIBRARIES[contender.library]))


def make_checked_call(name: str, work: Work, threads: int | None) -> Call:
    """Return the call of a contender after one result was checked."""
    call = make_call(name, work, threads)
    check(CONTENDERS[name].read(call()), work)
    return call
