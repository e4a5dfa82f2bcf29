"""The time of our calls over that of other calls: ratios change less than times between hours.

Two calls alternate in one process, on one thread, and the time of the processor counts: waiting for
a processor that other processes use does not. Layouts of memory differ between processes, and with
them ratios by up to 10 %: the result is the median of several processes. They import `onehot_fast`
late: an older commit is measured by what it has.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import apart
from benchmarks.kinds.labels import LabelWorkload
from benchmarks.peers import CONTENDERS, Task, build
from benchmarks.workloads import KERNELS, PLACES, VECTOR

# What is measured: our call, and the one that its time is divided by.
Calls = tuple[Callable[[], object], Callable[[], object]]

N_PROCESSES = 9
# A sample is long enough for the clock, and short enough to run between two interrupts.
SAMPLE = 2e-4
SECONDS = 0.2


def ours(name: str, workload: LabelWorkload) -> tuple[Callable[[], object], Task]:
    """Return one of our calls on one thread, after one result was checked, and its task."""
    work = workload.make()
    out = np.empty(work.shape, work.dtype)
    task = Task(work, out, 1, import_module("onehot_fast"))
    return build(CONTENDERS[name], task), task


def kernel(workload: LabelWorkload) -> Calls:
    """Return `one_hot` into existing memory, and filling the same bytes."""
    call, task = ours("onehot_fast out=", workload)
    return call, lambda: task.out.fill(1)


def matrix() -> Calls:
    """Return the matrices of one vector."""
    call, task = ours("onehot_fast", VECTOR)
    identity, labels = np.eye(VECTOR.depth, dtype=VECTOR.dtype), task.work.indices
    return call, lambda: identity[labels]


def frame() -> Any:
    """Return a table of one column of texts."""
    import_module("onehot_fast.integrations.pandas")
    return PLACES.make().data


def series() -> Calls:
    """Return the frames of one column."""
    column, pandas = frame().iloc[:, 0], import_module("pandas")
    return lambda: column.onehot(), lambda: pandas.get_dummies(column)


def codes() -> Calls:
    """Return the codes of one column."""
    column, pandas = frame().iloc[:, 0], import_module("pandas")
    return lambda: column.onehot.codes(), lambda: pandas.factorize(column, sort=True)


def table() -> Calls:
    """Return the frames of a table whose categories are known to us."""
    data, pandas = frame(), import_module("pandas")
    encoder = import_module("onehot_fast").Encoder([*data]).fit(data)
    return lambda: encoder.transform(data), lambda: pandas.get_dummies(data)


RATIOS: dict[str, Callable[[], Calls]] = {
    f"{name} / fill": partial(kernel, workload) for name, workload in KERNELS.items()
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
    runs = [
        apart.run(
            "benchmarks.ratios:find", package=package, OMP_NUM_THREADS="1", PYTHONHASHSEED="0"
        )
        for _ in range(n_processes)
    ]
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def find() -> dict[str, float]:
    """Measure in this process each ratio that exists."""
    found = {}
    for name, make_calls in RATIOS.items():
        try:
            calls = make_calls()
            calls[0]()
        except Exception as error:  # a library is missing, or the commit is older than the feature
            print(f"{name}: {error!r}", file=sys.stderr)
        else:
            found[name] = ratio(calls)
    return found
