"""Tables of known categories, compared with the floor of the bytes of the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.floor import LINE
from benchmarks.frames import CATEGORIES, FrameWorkload
from benchmarks.workloads import Array
from onehot_fast import Encoder


@dataclass(frozen=True)
class WrittenWork:
    """One workload: encode a frame of categories to `output` with elements of `dtype`."""

    name: str
    output: str
    dtype: str
    n_columns: int = len(CATEGORIES)  # the first ones of the frame of F1
    rows: int = 1_000_000

    @property
    def library(self) -> str:
        """The library of the input table, and of the output if that is a table."""
        return {"arrow": "pyarrow", "polars": "polars"}.get(self.output, "pandas")

    @property
    def title(self) -> str:
        """The task in one line."""
        sizes = "+".join(map(str, CATEGORIES[: self.n_columns]))
        return f"{self.rows:,} rows of {sizes} categories, to {self.output} of {self.dtype}"

    def make(self, scale: float = 1.0) -> Written:
        """Draw the same table each time, and learn its categories."""
        work = FrameWorkload(self.name, "matrix", "category", self.rows).make(scale)
        codes = work.codes[: self.n_columns]
        table = work.data.iloc[:, : self.n_columns]
        if self.output == "arrow":
            table = import_module("pyarrow").Table.from_pandas(table)
        elif self.output == "polars":
            table = _of_enums(import_module("polars"), table)
        encoder = Encoder(dtype=self.dtype).fit(table)
        return Written(self, table, encoder, codes)


@dataclass(frozen=True)
class Written:
    """A workload with its data."""

    work: WrittenWork
    table: Any
    encoder: Encoder
    codes: Sequence[Array]

    @property
    def read(self) -> list[Array]:
        """The codes in the narrow dtype of a table."""
        return [codes.astype(np.min_scalar_type(-int(codes.max()) - 1)) for codes in self.codes]

    def call(self, threads: int | None) -> Callable[[], Any]:
        """Return the call that is timed."""
        transform, table, output = self.encoder.transform, self.table, self.work.output
        return lambda: transform(table, output, num_threads=threads)  # type: ignore[call-overload]

    def check(self, result: Any) -> None:
        """Raise AssertionError unless a result is the encoding."""
        cells = _cells(result)
        expected = np.concatenate(
            [codes == np.arange(codes.max() + 1)[:, None] for codes in self.codes]
        )
        if cells.T.shape != expected.shape or not np.array_equal(expected, cells.T):
            raise AssertionError(f"{self.work.name}: the result is not the encoding")


def _of_enums(polars: Any, frame: Any) -> Any:
    """Return a polars frame whose columns hold codes in the order of their categories."""
    return polars.DataFrame(
        {
            name: polars.Series(
                frame[name].astype(str).to_numpy(object),
                dtype=polars.Enum(frame[name].cat.categories.tolist()),
            )
            for name in frame
        }
    )


def _cells(result: Any) -> Array:
    """Return the rows of a result."""
    if hasattr(result, "toarray"):
        return np.asarray(result.toarray())
    if hasattr(result, "column_names"):
        return np.stack([column.to_numpy() for column in result.columns], axis=1)
    return np.asarray(result)


def buffers(result: Any) -> list[Array]:
    """Return the memory of a result."""
    if hasattr(result, "indptr"):
        return [result.data, result.indices, result.indptr]
    if hasattr(result, "to_arrow"):
        result = result.to_arrow()
    if hasattr(result, "column_names"):
        chunks = [chunk for column in result.columns for chunk in column.chunks]
        return [np.frombuffer(chunk.buffers()[1], np.uint8) for chunk in chunks]
    return [np.asarray(result)]


def zero_share(memory: Iterable[Array]) -> float:
    """Return the share of the cache lines that hold zeros only."""
    n_lines = n_zero = 0
    for part in memory:
        n_bytes = part.nbytes // LINE * LINE
        # Elements in the order of memory, whichever axis is the innermost.
        flat = part.reshape(-1, order="A").view(np.uint8)[:n_bytes].view(np.uint64)
        n_lit = int(np.count_nonzero(flat.reshape(-1, LINE // 8).any(axis=1)))
        n_lines += n_bytes // LINE
        n_zero += n_bytes // LINE - n_lit
    return n_zero / max(n_lines, 1)


NARROW = 3
WRITTEN = {
    work.name: work
    for work in (
        WrittenWork("T1", "numpy", "uint8"),
        WrittenWork("T2", "numpy", "float32", NARROW),
        WrittenWork("T3", "pandas", "bool"),
        WrittenWork("T4", "pandas", "float32", NARROW),
        WrittenWork("T5", "arrow", "bool"),
        WrittenWork("T6", "arrow", "float32", NARROW),
        WrittenWork("T7", "polars", "bool"),
        WrittenWork("T8", "csr", "bool"),
        WrittenWork("T9", "csr", "float64"),
        WrittenWork("T10", "csc", "bool"),
    )
}
