"""What the command takes for a Parquet file with many features, beside another run of it.

The figures are ratios of processor time of runs that alternate, so they stay comparable on a shared
machine; smaller is better.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks import suite

ROWS = 2_000_000
# The categories of each encoded column: 947 features.
CATEGORIES = {"a": 12, "b": 35, "c": 200, "d": 700}
N_RUNS = 5
COMMAND = [sys.executable, "-m", "onehot_fast.cli"]
# The runs, in order; the output of the first is the input of the second.
RUNS = {
    "encode": ["encode", "large-groups.parquet", "-o", "encoded.parquet"],
    "decode": ["decode", "encoded.parquet", "-o", "decoded.parquet"],
    "encode small groups": ["encode", "small-groups.parquet", "-o", "encoded.parquet"],
}


class FileRatios:
    """The processor time of a run over that of `encode` of row groups of 500,000 rows."""

    params = (["decode", "encode small groups"],)
    param_names = ("run",)
    unit = "of the time of encode"
    timeout = 1800

    def setup_cache(self) -> dict[str, float]:
        """Write the input files, and return the ratio of each run."""
        rows = max(1000, round(ROWS * suite.SCALE))
        write_inputs(rows)
        seconds: dict[str, list[float]] = {name: [] for name in RUNS}
        for _ in range(N_RUNS if suite.SCALE == 1 else 1):
            for name, arguments in RUNS.items():
                seconds[name].append(processor_seconds([*COMMAND, *arguments, "--overwrite", "-q"]))
        medians = {name: statistics.median(values) for name, values in seconds.items()}
        return {name: medians[name] / medians["encode"] for name in self.params[0]}

    def track_ratio(self, measured: dict[str, float], name: str) -> float:
        return measured[name]

    def setup(self, measured: dict[str, float], name: str) -> None:
        """Do nothing; all is measured before."""


def write_inputs(rows: int) -> None:
    """Write the same rows in large row groups and in groups of 2,500 rows."""
    pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    draw = np.random.default_rng(0)
    columns = {
        name: pa.array(np.array([f"{name} {i}" for i in range(n)], object)).take(
            pa.array(draw.integers(0, n, rows))
        )
        for name, n in CATEGORIES.items()
    }
    columns["x"] = pa.array(draw.integers(0, 1000, rows))
    columns["y"] = pa.array(draw.normal(size=rows).round(2))
    table = pa.table(columns)
    pq.write_table(table, "large-groups.parquet", row_group_size=500_000)
    pq.write_table(table, "small-groups.parquet", row_group_size=2_500)


def processor_seconds(command: list[str]) -> float:
    """Return the processor time of a program, which must succeed."""
    process = subprocess.Popen(command, cwd=Path.cwd())
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} failed")
    return used.ru_utime + used.ru_stime
