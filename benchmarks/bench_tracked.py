"""Numbers that stay comparable on a shared machine: ratios, instruction counts, and peak memory.

Absolute times change by more than 2x on a shared machine. In all of these, smaller is better.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks import instructions, ratios
from benchmarks.workloads import COUNTED


class Ratios:
    """Our time over that of filling the same bytes, or of another library, on one thread."""

    params = ([*ratios.RATIOS],)
    param_names = ("calls",)
    unit = "of the other's time"
    timeout = 1800

    def setup_cache(self) -> dict[str, float]:
        return ratios.measure()

    def setup(self, measured: dict[str, float], name: str) -> None:
        if name not in measured:
            raise NotImplementedError

    def track_ratio(self, measured: dict[str, float], name: str) -> float:
        return measured[name]


class Instructions:
    """Instructions of one small call, on one thread."""

    params = ([*COUNTED],)
    param_names = ("program",)
    unit = "instructions"
    timeout = 1800

    def setup_cache(self) -> dict[str, float]:
        return instructions.measure()

    def setup(self, measured: dict[str, float], name: str) -> None:
        if name not in measured:
            raise NotImplementedError

    def track_instructions(self, measured: dict[str, float], name: str) -> float:
        return measured[name]


class Memory:
    """The memory of a process that encodes a million rows as CSR, whatever the categories."""

    params = ([100, 50_000],)
    param_names = ("categories",)

    def setup(self, categories: int) -> None:
        self.table = {"label": np.arange(1_000_000) % categories}
        self.encoder = import_module("onehot_fast").Encoder(["label"]).fit(self.table)

    def peakmem_csr(self, *_: object) -> None:
        self.encoder.transform(self.table, "csr")


class FileMemory:
    """The memory of the command, which reads and writes a file in steps, whatever its rows."""

    params = ([100_000, 2_000_000],)
    param_names = ("rows",)

    def setup_cache(self) -> None:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        for rows in self.params[0]:
            texts = pyarrow.array([f"place {i % 50}" for i in range(100_000)])
            column = pyarrow.chunked_array([texts] * (rows // len(texts)))
            table = pyarrow.table({"place": column})
            parquet.write_table(table, f"{rows}.parquet", row_group_size=100_000)

    def setup(self, rows: int) -> None:
        self.main = import_module("onehot_fast.cli").main
        Path("out.parquet").unlink(missing_ok=True)

    def peakmem_encode(self, rows: int) -> None:
        code = self.main(["encode", f"{rows}.parquet", "-c", "place", "-o", "out.parquet", "-q"])
        assert code == 0
