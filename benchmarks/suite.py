"""Shared by the asv suites: contenders by name."""

from __future__ import annotations

import numpy as np

import onehot_fast
from benchmarks.kinds.labels import Array, Work
from benchmarks.peers import CONTENDERS, Task, build
from benchmarks.peers.registry import OURSELVES, Call

LIBRARIES = {OURSELVES: onehot_fast, "numpy": np}
WARM = [OURSELVES + " out=", "numpy fill + assign"]
ORDINARY = [OURSELVES, "numpy zeros + assign"]
# Of the output, in bytes: all of it, or what is quick to check.
SCALE, CHECKED_SCALE = 1.0, 0.001


def make_call(name: str, work: Work, threads: int | None, checked: bool = True) -> Call:
    """Return the call of the contender of that name, by default after one result was checked.

    Raises
    ------
    NotImplementedError
        The number of its threads cannot be set: asv skips the combination.
    """
    contender = CONTENDERS[name]
    if contender.library != OURSELVES and threads not in (None, 1):
        raise NotImplementedError
    out: Array = np.empty(work.shape, work.dtype)
    task = Task(work, out, threads, LIBRARIES[contender.library])
    return build(contender, task) if checked else contender.build(task)
