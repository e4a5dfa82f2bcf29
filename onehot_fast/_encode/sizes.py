"""The size of every form of a result, before it is built."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onehot_fast._arguments.choices import human_size
from onehot_fast._encode.write import bytes_of_bits
from onehot_fast._schema.schema import Schema

INT32_MAX = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Estimate:
    """How large the encoding of some rows is.

    Attributes
    ----------
    rows, columns : int
        The shape.
    bytes : dict of str to int
        The bytes of each output form. "csr" and "csc" are upper bounds, because zeros take no
        memory. "arrow" packs Booleans into bits.
    """

    rows: int
    columns: int
    bytes: dict[str, int]

    def __repr__(self) -> str:
        """Return the size of each form with a unit."""
        sizes = ", ".join(f"{form} {human_size(size)}" for form, size in self.bytes.items())
        return f"<Estimate of {self.rows:,} rows, {self.columns:,} features: {sizes}>"


def estimate(schema: Schema, n_rows: int) -> Estimate:
    """Return the size of each form."""
    widths = [(c.n_outputs, c.options.dtype) for c in schema.columns]
    separate = sum(n * n_rows * dtype.itemsize for n, dtype in widths)
    packed = sum(
        n * (bytes_of_bits(n_rows) if dtype == np.bool_ else n_rows * dtype.itemsize)
        for n, dtype in widths
    )
    sizes = {
        "numpy": n_rows * schema.n_features * schema.dtype.itemsize,
        "pandas": separate,
        "arrow": packed,
        "csr": _sparse_bytes(schema, n_rows, n_rows, schema.n_features),
        "csc": _sparse_bytes(schema, n_rows, schema.n_features, n_rows),
    }
    return Estimate(n_rows, schema.n_features, sizes)


def _sparse_bytes(schema: Schema, n_rows: int, n_groups: int, n_positions: int) -> int:
    """Return the maximum size of data, indices and indptr in bytes."""
    per_row = sum(
        c.n_outputs if c.propagates_missing else min(1, c.n_outputs) for c in schema.columns
    )
    elements = n_rows * per_row
    position = 4 if max(elements, n_positions) <= INT32_MAX else 8
    return elements * (schema.dtype.itemsize + position) + (n_groups + 1) * position
