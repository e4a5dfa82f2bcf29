"""The size of every form of a result, known before anything is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from onehot_fast._arguments.shapes import check_size, human_size
from onehot_fast._categories.schema import Schema

INT32_MAX = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Estimate:
    """How large the encoding of some rows is.

    Attributes
    ----------
    rows, columns : int
        The shape.
    bytes : dict of str to int
        For each form of output its bytes. "csr" and "csc" are upper bounds: a row that is all off
        takes less. "arrow" packs Booleans into bits.
    """

    rows: int
    columns: int
    bytes: dict[str, int]


def estimate(schema: Schema, n_rows: int) -> Estimate:
    """Return the size of each form."""
    widths = [(len(c.labels), c.options.dtype) for c in schema.columns]
    separate = sum(n * n_rows * dtype.itemsize for n, dtype in widths)
    packed = sum(
        n * (-(-n_rows // 8) if dtype == np.bool_ else n_rows * dtype.itemsize)
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
    """Return the most bytes of data, indices and indptr."""
    per_row = sum(
        len(c.labels) if c.options.handle_missing == "propagate" else min(1, len(c.labels))
        for c in schema.columns
    )
    elements = n_rows * per_row
    position = 4 if max(elements, n_positions) <= INT32_MAX else 8
    return elements * (schema.dtype.itemsize + position) + (n_groups + 1) * position


def require_room(schema: Schema, shape: tuple[int, int], n_rows: int, dtype: Any) -> None:
    """Refuse a dense result that the free memory cannot hold, and name what is smaller."""
    try:
        n_bytes = check_size(shape, dtype)
    except MemoryError as error:
        n_bytes = shape[0] * shape[1] * np.dtype(dtype).itemsize
        sizes = estimate(schema, n_rows).bytes
        smaller = {f"output={form!r}": sizes[form] for form in ("csr", "csc")}
        smaller["dtype=bool"] = shape[0] * shape[1]
        named = [f"{how} ({human_size(n)})" for how, n in smaller.items() if n < n_bytes]
        text = str(error).partition("; smaller")[0]
        raise MemoryError(f"{text}; smaller: {', '.join(named) or 'none'}") from None
