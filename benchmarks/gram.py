"""Gram matrices of many columns, beside SciPy: ``python -m benchmarks.gram`` prints the table.

The columns have two categories each, and one thread computes. Times are processor times, the least
of several calls: other processes cannot make them shorter.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onehot_fast import OneHotMatrix

COLUMNS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]
N_ROWS = 1000
# A call is repeated until this processor time is over.
SECONDS = 1.0


def matrix_of(n_columns: int, n_rows: int = N_ROWS) -> OneHotMatrix:
    """Return random rows of columns of two categories."""
    codes = np.random.default_rng(0).integers(0, 2, (n_columns, n_rows))
    return OneHotMatrix.from_codes([*codes], [2] * n_columns)


def calls(matrix: OneHotMatrix) -> dict[str, Callable[[], Any]]:
    """Return the product of SciPy, whose matrix is made before, and ours."""
    csr = matrix.to_csr()
    return {
        "SciPy": lambda: csr.T @ csr,
        "dense": lambda: matrix.gram(num_threads=1),
        "csr": lambda: matrix.gram(output="csr", num_threads=1),
    }


def milliseconds(call: Callable[[], Any], seconds: float) -> float:
    """Return the least processor time of a call; short calls are measured in groups."""
    call()
    best, end, n_calls = np.inf, time.process_time() + seconds, 1
    while time.process_time() < end or best == np.inf:
        start = time.process_time()
        for _ in range(n_calls):
            call()
        taken = time.process_time() - start
        best = min(best, taken / n_calls)
        n_calls = 20 if taken / n_calls < 1e-3 else 1
    return 1e3 * best


def peak(call: Callable[[], Any]) -> float:
    """Return the most memory that the arrays of a call take at the same time, in MiB."""
    tracemalloc.start()
    call()
    n_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return n_bytes / 2**20


def shown(value: float) -> str:
    """Return a number with two significant digits, or all digits before the point."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row of the table for each number of columns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, nargs="*", default=COLUMNS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each time")
    chosen = parser.parse_args(arguments)
    for n_columns in chosen.columns:
        each = calls(matrix_of(n_columns)).values()
        times = " | ".join(shown(milliseconds(call, chosen.seconds)) for call in each)
        memory = ", ".join(shown(peak(call)) for call in each)
        print(f"| {n_columns:,} | {times} | {memory} |", flush=True)


if __name__ == "__main__":
    main()
