"""Columns of codes → the memory of a result, by one kernel for each form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.values import resolve_values
from onehot_fast._categories.schema import Schema
from onehot_fast._encode import scipy_sparse
from onehot_fast._encode.sizes import require_room
from onehot_fast._runtime import dispatch, memory, parallel

AnyArray: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Coded:
    """The rows to encode: for each column of the schema its codes, and what they mean in it."""

    schema: Schema
    codes: list[AnyArray]
    tables: list[npt.NDArray[np.int32]]
    n_rows: int

    def missing(self) -> Iterator[tuple[int, AnyArray]]:
        """Yield each column that propagates what is missing, and the rows where it is."""
        for at, column in enumerate(self.schema.columns):
            if column.options.handle_missing == "propagate":
                yield at, np.flatnonzero(self.codes[at] < 0)


def matrix(coded: Coded) -> AnyArray:
    """Return the row-major (rows, features) matrix."""
    schema = coded.schema
    shape = coded.n_rows, schema.n_features
    out, on, off = _dense(coded, shape, schema.dtype)
    threads = parallel.resolve(None, out.nbytes)
    dispatch.encode_matrix(coded.codes, coded.tables, out, on, off, threads)
    for at, rows in coded.missing():
        out[rows, schema.starts[at] : schema.starts[at + 1]] = np.nan
    return out


def block(coded: Coded, first: int, stop: int) -> AnyArray:
    """Return the (features, rows) block of consecutive columns, each row one output column."""
    schema, starts = coded.schema, coded.schema.starts
    base = starts[first]
    shape = starts[stop] - base, coded.n_rows
    out, on, off = _dense(coded, shape, schema.columns[first].options.dtype)
    for at in range(first, stop):
        part = out[starts[at] - base : starts[at + 1] - base]
        threads = parallel.resolve(None, part.nbytes)
        dispatch.encode_block(
            coded.codes[at], coded.tables[at], part, on, off, threads, first=starts[at]
        )
    for at, rows in coded.missing():
        if first <= at < stop:
            out[starts[at] - base : starts[at + 1] - base, rows] = np.nan
    return out


def _dense(
    coded: Coded, shape: tuple[int, int], dtype: np.dtype[Any]
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return memory for a dense result, and the bytes of 1 and of 0."""
    require_room(coded.schema, shape, coded.n_rows, dtype)
    _, on, off = resolve_values(1, 0, dtype)
    out, _ = memory.allocate(shape, dtype)
    return out, on.reshape(1).view(np.uint8), off.reshape(1).view(np.uint8)


def sparse(coded: Coded, form: str) -> Any:
    """Return the CSR or CSC array of SciPy."""
    schema = coded.schema
    shape = coded.n_rows, schema.n_features
    if not coded.codes:
        return scipy_sparse.empty(form, shape, schema.dtype)
    threads = parallel.resolve(None, 4 * len(coded.codes) * coded.n_rows)
    build = dispatch.csr if form == "csr" else dispatch.csc
    parts = build(coded.codes, coded.tables, shape[1], schema.dtype, threads)
    ones = scipy_sparse.sparse_array(form, parts, shape)
    starts = schema.starts
    cells = [(rows, starts[at], starts[at + 1]) for at, rows in coded.missing() if len(rows)]
    if not cells:
        return ones
    nan = np.array(np.nan).astype(schema.dtype)
    return ones + scipy_sparse.filled(form, cells, shape, nan)
