"""Numbers that stay comparable between machines and hours: ratios within one process, and counts.

Absolute times change by more than 2x on a shared machine. A ratio compares two calls that alternate
in one process, each at its minimum. Valgrind's callgrind counts instructions, whatever else runs.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.registry import OURSELVES
from benchmarks.suite import LAYOUTS, make_checked_call, make_work
from onehot_fast import Encoder, one_hot

# Within the second-level cache or a little more: other processes disturb it less than memory.
KERNEL_BYTES = 1 << 20
N_ROWS = 20_000
SECONDS = 3.0
SAMPLE = 1e-3


def ratio(numerator: Callable[[], object], denominator: Callable[[], object]) -> float:
    """Return the smallest time of one call over that of another; the two alternate."""
    calls = (numerator, denominator)
    repeats, best = [1, 1], [float("inf"), float("inf")]
    until = time.perf_counter() + SECONDS
    n_rounds = 0
    while n_rounds < 5 or time.perf_counter() < until:
        for i, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(repeats[i]):
                call()
            taken = time.perf_counter() - start
            if taken < SAMPLE:
                repeats[i] *= 2
            else:
                best[i] = min(best[i], taken / repeats[i])
        n_rounds += min(best) < float("inf")
    return best[0] / best[1]


class Kernels:
    """One thread of `one_hot` into existing memory, over filling the same bytes."""

    params = ([*LAYOUTS], ["uint8", "float32"], [10, 100])
    param_names = ("layout", "dtype", "depth")
    unit = "x the time of a fill"

    def setup(self, layout: str, dtype: str, depth: int) -> None:
        work = make_work(layout, dtype, depth, n_bytes=KERNEL_BYTES)
        self.call = make_checked_call(f"{OURSELVES} out=", work, 1)
        self.out = np.empty(work.shape, work.dtype)

    def track_over_fill(self, *_: object) -> float:
        return ratio(self.call, lambda: self.out.fill(1))


def _texts() -> Any:
    pandas = import_module("pandas")
    import_module("onehot_fast.integrations.pandas")
    places = np.random.default_rng(0).integers(0, 50, N_ROWS)
    return pandas.Series([f"place {place}" for place in places], dtype="str")


def _dummies() -> tuple[Callable[[], Any], Callable[[], Any]]:
    column, pandas = _texts(), import_module("pandas")
    return lambda: pandas.get_dummies(column), lambda: column.onehot()


def _codes() -> tuple[Callable[[], Any], Callable[[], Any]]:
    column, pandas = _texts(), import_module("pandas")
    return lambda: pandas.factorize(column, sort=True), lambda: column.onehot.codes()


def _matrix() -> tuple[Callable[[], Any], Callable[[], Any]]:
    labels = np.random.default_rng(0).integers(0, 10, N_ROWS)
    identity = np.eye(10, dtype=np.float32)
    return lambda: identity[labels], lambda: one_hot(labels, 10, num_threads=1)


def _transform() -> tuple[Callable[[], Any], Callable[[], Any]]:
    table = _texts().to_frame("place")
    encoder, pandas = Encoder(["place"]).fit(table), import_module("pandas")
    return lambda: pandas.get_dummies(table), lambda: encoder.transform(table)


PEERS = {
    "pandas.get_dummies / Series.onehot": _dummies,
    "pandas.factorize / Series.onehot.codes": _codes,
    "numpy eye / one_hot": _matrix,
    "pandas.get_dummies / Encoder.transform": _transform,
}


class Peers:
    """The time of a peer over ours, for the same result."""

    params = ([*PEERS],)
    param_names = ("calls",)
    unit = "x as fast"

    def setup(self, calls: str) -> None:
        try:
            self.peer, self.ours = PEERS[calls]()
        except ModuleNotFoundError as error:
            raise NotImplementedError from error

    def track_speed_up(self, *_: object) -> float:
        return ratio(self.peer, self.ours)


ROW = "from onehot_fast import Encoder; row = {name: ['b'] for name in 'abcde'}"
FITTED = f"{ROW}; encoder = Encoder([*'abcde']).fit({{name: ['a', 'b'] for name in 'abcde'}})"
# What is set up, and the statement whose instructions are counted.
PROGRAMS = {
    "import": ("import numpy", "import onehot_fast"),
    "one_hot, 32 x 10": (
        "import numpy, onehot_fast; labels = numpy.arange(32) % 10",
        "onehot_fast.one_hot(labels, 10)",
    ),
    "one row to a matrix": (FITTED, "encoder.transform(row, 'numpy')"),
    "one row of pandas": (
        f"{FITTED}; import pandas; row = pandas.DataFrame(row)",
        "encoder.transform(row)",
    ),
}
# Enough calls before the count for caches and for the interpreter's own optimization.
WARM_CALLS, CALLS = 100, 100


def instructions(setup: str, statement: str, n_calls: int) -> int:
    """Return how many instructions a process runs for some calls."""
    program = f"import gc; gc.disable()\n{setup}\nfor _ in range({n_calls}): {statement}"
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    environment = os.environ | {
        "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    done = subprocess.run(
        [*command, sys.executable, "-P", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found is not None, done.stderr
    return int(found[1])


class Instructions:
    """Instructions of one small call, on one thread."""

    params = ([CALLS], [*PROGRAMS])
    param_names = ("calls", "program")
    unit = "instructions"
    timeout = 600

    def setup(self, calls: int, program: str) -> None:
        if shutil.which("valgrind") is None:
            raise NotImplementedError from FileNotFoundError("valgrind is not installed")

    def track_instructions(self, calls: int, program: str) -> float:
        setup, statement = PROGRAMS[program]
        if program == "import":  # which happens once
            return instructions(setup, statement, 1) - instructions(setup, statement, 0)
        more = instructions(setup, statement, WARM_CALLS + calls)
        return (more - instructions(setup, statement, WARM_CALLS)) / calls


class Memory:
    """The memory of a process that encodes a million rows as CSR, whatever the categories."""

    params = ([100, 50_000],)
    param_names = ("categories",)

    def setup(self, categories: int) -> None:
        self.table = {"label": np.arange(1_000_000) % categories}
        self.encoder = Encoder(["label"]).fit(self.table)

    def peakmem_csr(self, *_: object) -> None:
        self.encoder.transform(self.table, "csr")


def measured(suite: Any, case: Sequence[Any]) -> float:
    """Return the number of a suite for its parameters."""
    benchmark = suite()
    benchmark.setup(*case)
    method = next(name for name in vars(suite) if name.startswith("track_"))
    return float(getattr(benchmark, method)(*case))


def numbers(suites: Sequence[Any]) -> Iterator[tuple[str, bool, Callable[[], float]]]:
    """Yield the name of each tracked number, whether more is better, and how to measure it."""
    for suite in suites:
        for case in itertools.product(*suite.params):
            name = f"{suite.__name__}({', '.join(map(str, case))})"
            yield name, suite is Peers, functools.partial(measured, suite, case)
