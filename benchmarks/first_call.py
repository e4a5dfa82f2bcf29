"""The first call of a process.

``python -m benchmarks.first_call W1 onehot_fast 1.0`` prints its seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import onehot_fast
from benchmarks.workloads import WORKLOADS, Array, Work

PAGE = 4096


def encode(work: Work) -> Array:
    """Encode into memory that is new to the process."""
    return onehot_fast.one_hot(work.indices, work.depth, axis=work.axis, dtype=work.dtype)


def zeros_touched(work: Work) -> Array:
    """Allocate zeros by NumPy, and write one byte of each page."""
    cells = np.zeros(work.shape, work.dtype)
    cells.reshape(-1).view(np.uint8)[::PAGE] = 1
    return cells


FIRST: dict[str, Callable[[Work], Array]] = {
    "onehot_fast": encode,
    "numpy zeros, each page touched": zeros_touched,
}


def seconds(workload: str, name: str, scale: float = 1.0) -> float:
    """Return the seconds of the call, which must be the first of the process."""
    work, call = WORKLOADS[workload].make(scale), FIRST[name]
    start = time.perf_counter()
    result = call(work)
    taken = time.perf_counter() - start
    del result
    return taken


if __name__ == "__main__":
    print(seconds(sys.argv[1], sys.argv[2], float(sys.argv[3])))
