"""The time of our calls over that of other calls: ratios change less than times between hours.

Two calls alternate in one process, on one thread, and the time of the processor counts: waiting for
a processor that other processes use does not. Layouts of memory differ between processes, and with
them ratios by up to 10 %: the result is the median of several processes. They run this file as a
script, and import `onehot_fast` late: an older commit is measured by what it has.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

# What is measured: our call, and the one that its time is divided by.
Calls = tuple[Callable[[], object], Callable[[], object]]

# Within the second-level cache: other processes disturb it less than memory.
KERNEL_BYTES = 1 << 18
N_ROWS = 20_000
N_PROCESSES = 9
# A sample is long enough for the clock, and short enough to run between two interrupts.
SAMPLE = 2e-4
SECONDS = 0.2


def kernel(n_outer: int, axis: int, dtype: str, depth: int) -> Calls:
    """Return `one_hot` into existing memory, and filling the same bytes."""
    one_hot = import_module("onehot_fast").one_hot
    n_indices = KERNEL_BYTES // (depth * np.dtype(dtype).itemsize) // n_outer
    indices = np.random.default_rng(0).integers(0, depth, (n_outer, n_indices))
    expected = np.moveaxis(np.eye(depth, dtype=dtype)[indices], -1, axis)
    out = np.empty(expected.shape, dtype)

    def call() -> Any:
        return one_hot(indices, depth, axis=axis, out=out, num_threads=1)

    np.testing.assert_array_equal(call(), expected)
    return call, lambda: out.fill(1)


def texts() -> Any:
    """Return a column of pandas with 50 categories."""
    pandas = import_module("pandas")
    import_module("onehot_fast.integrations.pandas")
    places = np.random.default_rng(0).integers(0, 50, N_ROWS)
    return pandas.Series([f"place {place}" for place in places], dtype="str")


def series() -> Calls:
    """Return the frames of one column."""
    column, pandas = texts(), import_module("pandas")
    return lambda: column.onehot(), lambda: pandas.get_dummies(column)


def codes() -> Calls:
    """Return the codes of one column."""
    column, pandas = texts(), import_module("pandas")
    return lambda: column.onehot.codes(), lambda: pandas.factorize(column, sort=True)


def matrix() -> Calls:
    """Return the matrices of one vector."""
    one_hot = import_module("onehot_fast").one_hot
    labels = np.random.default_rng(0).integers(0, 10, N_ROWS)
    identity = np.eye(10, dtype=np.float32)
    return lambda: one_hot(labels, 10, num_threads=1), lambda: identity[labels]


def table() -> Calls:
    """Return the frames of a table whose categories are known to us."""
    frame, pandas = texts().to_frame("place"), import_module("pandas")
    encoder = import_module("onehot_fast").Encoder(["place"]).fit(frame)
    return lambda: encoder.transform(frame), lambda: pandas.get_dummies(frame)


LAYOUTS = {"rows": (1, -1), "planes": (8, 1)}
RATIOS: dict[str, Callable[[], Calls]] = {
    f"one_hot, {layout}, {dtype}, {depth} classes / fill": partial(
        kernel, *LAYOUTS[layout], dtype, depth
    )
    for layout, dtype, depth in itertools.product(LAYOUTS, ("uint8", "float32"), (10, 100))
} | {
    "Series.onehot / pandas.get_dummies": series,
    "Series.onehot.codes / pandas.factorize": codes,
    "one_hot / numpy.eye": matrix,
    "Encoder.transform / pandas.get_dummies": table,
}


def ratio(calls: Calls, seconds: float = SECONDS) -> float:
    """Return the time of the first call over that of the second; the two alternate."""
    repeats = [1, 1]
    samples: list[list[float]] = [[], []]
    until = time.process_time() + seconds
    while len(samples[1]) < 3 or time.process_time() < until:
        for i, call in enumerate(calls):
            start = time.process_time()
            for _ in range(repeats[i]):
                call()
            taken = time.process_time() - start
            if taken < SAMPLE:
                repeats[i] *= 2
            else:
                samples[i].append(taken / repeats[i])
    # Near the minimum, which itself may be a jump of the clock.
    ours, reference = (float(np.quantile(times, 0.05)) for times in samples)
    return ours / reference


def measure(package: Path | None = None, n_processes: int = N_PROCESSES) -> dict[str, float]:
    """Return the ratios of a package, by default the installed one."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    script = [sys.executable, "-P", __file__]
    runs = [
        json.loads(
            subprocess.run(script, env=environment, stdout=subprocess.PIPE, check=True).stdout
        )
        for _ in range(n_processes)
    ]
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def print_ratios() -> None:
    """Measure each ratio once, and print those that exist as JSON."""
    found = {}
    for name, make_calls in RATIOS.items():
        try:
            calls = make_calls()
            calls[0]()
        except Exception as error:  # a library is missing, or the commit is older than the feature
            print(f"{name}: {error!r}", file=sys.stderr)
        else:
            found[name] = ratio(calls)
    print(json.dumps(found))


if __name__ == "__main__":
    print_ratios()
