"""Tables of known categories, compared with the floor of the bytes of the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.kinds.frames import CATEGORIES, FrameWorkload
from benchmarks.kinds.labels import Array


@dataclass(frozen=True)
class WrittenWorkload:
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

    def make(self, scale: float = 1.0) -> WrittenWork:
        """Draw the same table each time, and learn its categories."""
        work = FrameWorkload(self.name, "matrix", "category", self.rows).make(scale)
        codes = work.codes[: self.n_columns]
        table = work.data.iloc[:, : self.n_columns]
        if self.output == "arrow":
            table = import_module("pyarrow").Table.from_pandas(table)
        elif self.output == "polars":
            table = _of_enums(import_module("polars"), table)
        encoder = import_module("onehot_fast").Encoder(dtype=self.dtype).fit(table)
        return WrittenWork(self, table, encoder, codes)


@dataclass(frozen=True)
class WrittenWork:
    """A workload with its data."""

    work: WrittenWorkload
    table: Any
    encoder: Any
    codes: Sequence[Array]

    @property
    def read(self) -> list[Array]:
        """The codes in the narrow dtype of a table."""
        return [codes.astype(np.min_scalar_type(-int(codes.max()) - 1)) for codes in self.codes]

    def call(self, threads: int | None) -> Callable[[], Any]:
        """Return the call that is timed."""
        transform, table, output = self.encoder.transform, self.table, self.work.output
        return lambda: transform(table, output, num_threads=threads)

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
