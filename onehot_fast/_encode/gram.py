"""The Gram matrix of an implicit one-hot matrix: sums of weights for pairs of codes.

The columns are divided into units of few codes. A table for two units holds the sum of the weights
of each combination of their codes; its marginals are the blocks of the Gram matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.shapes import check_size
from onehot_fast._encode.joint_codes import Digits, Floats, JointLayout, shared, sums_by_block
from onehot_fast._kernels import implicit
from onehot_fast._runtime import dispatch, parallel
from onehot_fast._runtime.registry import library

AnyArray = npt.NDArray[Any]
# Rows, columns and entries of a part of a sparse matrix.
Entries = tuple[AnyArray, AnyArray, Floats]

# Most codes of a unit of several columns: a table of two units stays in the second-level cache.
MAX_UNIT_CODES = 256
# A table of this many entries is filled as a whole; of a larger one only the pairs that occur.
MAX_TABLE = 1 << 20


class GramUnits:
    """The units of a matrix, and the code of each row in each unit."""

    def __init__(
        self, layout: JointLayout, codes: list[AnyArray], n_rows: int, num_threads: int | None
    ) -> None:
        self.n_rows, self.num_threads = n_rows, num_threads
        self.units: list[Digits] = []
        self.codes: list[AnyArray] = []
        for group, group_codes in zip(layout.groups, codes, strict=True):
            radices = dict(zip(group.columns, group.radices, strict=True))
            for unit in shared(group.columns, radices, MAX_UNIT_CODES):
                self.units.append(unit)
                self.codes.append(self._unit_codes(group, unit, group_codes))
        largest = max((unit.n_codes for unit in self.units), default=1)
        dtype = np.uint16 if largest <= 1 << 16 else np.uint32
        self.codes = [unit_codes.astype(dtype, copy=False) for unit_codes in self.codes]
        # A single unit has a table of its own.
        self.pairs = [*combinations(range(len(self.units)), min(len(self.units), 2))]

    def _unit_codes(self, group: Digits, unit: Digits, codes: AnyArray) -> AnyArray:
        """Return the unit's codes of rows from those of the group."""
        if unit == group:
            return codes
        every = np.arange(group.n_codes + 1)
        lut = np.zeros(len(every), np.int32)
        for column, radix in zip(*unit, strict=True):
            lut = lut * radix + group.digit(every, group.columns.index(column)).astype(np.int32)
        threads = parallel.resolve(self.num_threads, codes.nbytes)
        return dispatch.recode(codes, lut, threads)

    def _tables(self, units: tuple[int, ...], weights: Floats | None) -> list[Floats]:
        """Return the table of each pair of units, or that of a single unit, as vectors."""
        sizes = [self.units[u].n_codes for u in units]
        codes = [self.codes[u] for u in units]
        n_bins = [math.prod(pair) for pair in combinations(sizes, min(len(sizes), 2))]
        threads = parallel.resolve(self.num_threads, 8 * self.n_rows * len(n_bins))
        if len(units) > 1:
            fill = partial(implicit.count_pairs, codes, sizes, weights, num_threads=threads)
        else:
            values = np.ones((self.n_rows, 1)) if weights is None else weights[:, None]
            numeric = np.empty((self.n_rows, 0))
            fill = partial(
                implicit.add_up, codes, sizes, numeric, values, None, num_threads=threads
            )
        sums = sums_by_block(self.n_rows, sum(n_bins), fill)
        return np.split(sums, np.cumsum(n_bins)[:-1])

    def fill(self, layout: JointLayout, weights: Floats | None, out: Floats) -> None:
        """Write the blocks of all categorical columns into a dense Gram matrix."""
        if not self.units:
            return
        done = set()
        tables = self._tables(tuple(range(len(self.units))), weights)
        for pair, table in zip(self.pairs, tables, strict=True):
            both = self._joined(pair)
            for a, b in combinations_with_replacement(range(len(both.columns)), 2):
                i, j = both.columns[a], both.columns[b]
                if (i, j) in done:
                    continue
                done.add((i, j))
                rows, columns = layout.outputs(i), layout.outputs(j)
                n, m = layout.n_outputs[i], layout.n_outputs[j]
                if a == b:
                    diagonal = np.arange(rows.start, rows.stop)
                    out[diagonal, diagonal] = both.marginal(table, a)[1 : n + 1, 0]
                    continue
                block = both.marginal(table, a, b)[1 : n + 1, 1 : m + 1, 0]
                out[rows, columns] = block
                out[columns, rows] = block.T

    def entries(self, layout: JointLayout, weights: Floats | None) -> Iterator[Entries]:
        """Yield the entries of all categorical columns, for a sparse Gram matrix that adds them."""
        done = set()
        for pair in self.pairs if self.units else ():
            both = self._joined(pair)
            codes, sums = self._codes_that_occur(pair, weights)
            for a, b in combinations_with_replacement(range(len(both.columns)), 2):
                i, j = both.columns[a], both.columns[b]
                if (i, j) in done:
                    continue
                done.add((i, j))
                rows, columns = both.digit(codes, a), both.digit(codes, b)
                inside = (rows > 0) & (rows <= layout.n_outputs[i])
                inside &= (columns > 0) & (columns <= layout.n_outputs[j])
                rows = rows[inside] + (layout.starts[i] - 1)
                columns = columns[inside] + (layout.starts[j] - 1)
                yield rows, columns, sums[inside]
                if a != b:
                    yield columns, rows, sums[inside]

    def _codes_that_occur(
        self, pair: tuple[int, ...], weights: Floats | None
    ) -> tuple[AnyArray, Floats]:
        """Return the joint codes of some units that occur, and the sums of their weights."""
        shape = tuple(self.units[u].n_codes for u in pair)
        if len(pair) == 1 or math.prod(shape) <= max(MAX_TABLE, self.n_rows):
            (table,) = self._tables(pair, weights)
            codes = np.flatnonzero(table)
            return codes, table[codes]
        values = np.ones(self.n_rows) if weights is None else weights
        sparse = library("scipy.sparse", "a sparse Gram matrix")
        index = tuple(self.codes[u].astype(np.int64) for u in pair)
        sums = sparse.coo_array((values, index), shape=shape).tocsr().tocoo()  # adds duplicates
        return sums.row.astype(np.int64) * shape[1] + sums.col, sums.data

    def _joined(self, pair: tuple[int, ...]) -> Digits:
        """Return the digits of some units, side by side."""
        columns = [column for u in pair for column in self.units[u].columns]
        radices = [radix for u in pair for radix in self.units[u].radices]
        return Digits(tuple(columns), tuple(radices))


def dense_gram(
    layout: JointLayout,
    units: GramUnits,
    numeric: Floats,
    weights: Floats | None,
    nan_columns: list[int],
) -> Floats:
    """Return the dense Gram matrix; `numeric` are its rows of numeric columns, transposed."""
    shape = layout.n_columns, layout.n_columns
    check_size(shape, np.float64)
    out = np.zeros(shape)
    units.fill(layout, weights, out)
    out[:, layout.numeric] = numeric
    out[layout.numeric] = numeric.T
    for i in nan_columns:
        out[layout.outputs(i)] = out[:, layout.outputs(i)] = np.nan
    return out


def sparse_gram(
    layout: JointLayout,
    units: GramUnits,
    numeric: Floats,
    weights: Floats | None,
    nan_columns: list[int],
) -> Any:
    """Return the Gram matrix as a `csr_array`."""
    n = layout.n_columns
    rows, k = numeric.nonzero()
    columns, sums = layout.numeric[k], numeric[rows, k]
    is_cross = np.isin(rows, layout.numeric, invert=True)
    parts = [*units.entries(layout, weights), (rows, columns, sums)]
    parts.append((columns[is_cross], rows[is_cross], sums[is_cross]))
    for i in nan_columns:
        outputs = layout.outputs(i)
        shape = outputs.stop - outputs.start, n
        check_size((2, *shape), np.float64)
        nan_rows, every = np.indices(shape).reshape(2, -1)
        nan_rows += outputs.start
        nan = np.full(nan_rows.shape, np.nan)
        parts += [(nan_rows, every, nan), (every, nan_rows, nan)]
    i, j, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    position = np.int32 if n <= np.iinfo(np.int32).max else np.int64
    index = i.astype(position), j.astype(position)
    sparse = library("scipy.sparse", "a sparse Gram matrix")
    return sparse.coo_array((values, index), shape=(n, n)).tocsr()
