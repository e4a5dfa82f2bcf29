"""Combine several columns into one code, to store and to multiply an implicit one-hot matrix.

Each column with `n` outputs is a digit of a code: ``0 .. n - 1`` are the outputs, `n` means no
output, and ``n + 1`` is a row of NaN, if the column has such rows. Columns with few outputs share a
code, so that a row takes fewer bytes and a product needs fewer look-ups.

The Gram matrix needs pairs of columns. Groups of columns are therefore split into *units* of fewer
codes. The contingency table of two units contains the sum of the weights for each pair of codes;
its marginals are the blocks of the Gram matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.shapes import check_size
from onehot_fast._kernels import implicit
from onehot_fast._runtime import dispatch, parallel
from onehot_fast._runtime.registry import library
from onehot_fast._schema.coded_column import CodedColumn

AnyArray: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]

# The maximum number of codes of a group. A product with 8 columns looks up 8 floats for each code,
# 256 KiB in total, which fit into L2.
MAX_SHARED_CODES = 4096
# The maximum number of codes of a unit. A contingency table of two units then fits into L2.
MAX_UNIT_CODES = 256
# Contingency tables of up to this many entries are dense; larger tables are sparse.
MAX_TABLE = 1 << 20
# The minimum number of rows of a block, and per bin, so that clearing and adding bins is cheap.
BLOCK_ROWS = 1 << 16
ROWS_PER_BIN = 8
# Rows alternate between two sets of bins if both sets fit into the L2 cache.
MAX_TWO_LANES = 1 << 14


class Digits(NamedTuple):
    """Columns combined into one code, in which each column is a digit.

    The first column is the most significant digit. A radix is the number of values of a digit.
    """

    columns: tuple[int, ...]
    radices: tuple[int, ...]

    @property
    def n_codes(self) -> int:
        """The number of possible codes."""
        return math.prod(self.radices)

    def of_codes(self) -> tuple[npt.NDArray[np.intp], ...]:
        """Return an array for each digit, with the value of the digit in each possible code."""
        return np.unravel_index(np.arange(self.n_codes), self.radices)

    def marginal(self, bins: Floats, *axes: int) -> Floats:
        """Sum `bins`, which has one row per code, over all digits except those in `axes`."""
        others = tuple(axis for axis in range(len(self.radices)) if axis not in axes)
        sums: Floats = bins.reshape(*self.radices, -1).sum(axis=others)
        return sums


class JointLayout:
    """The arrangement of the categorical and numeric columns of an implicit matrix.

    `numeric` contains the positions of the numeric columns in the matrix, ascending.
    """

    def __init__(self, columns: Sequence[CodedColumn], numeric: Sequence[int]) -> None:
        self.n_outputs: tuple[int, ...] = tuple(column.n_outputs for column in columns)
        # Whether a missing value makes all outputs of a column NaN.
        with_nan = (column.nan_where_missing and column.n_outputs > 0 for column in columns)
        self.has_nan: tuple[bool, ...] = tuple(with_nan)
        self.numeric: npt.NDArray[np.intp] = np.array(numeric, np.intp)
        self.n_columns: int = sum(self.n_outputs) + len(self.numeric)
        first = np.cumsum([0, *self.n_outputs])[:-1]
        n_before = np.searchsorted(self.numeric - np.arange(len(self.numeric)), first, "right")
        self.starts: list[int] = (first + n_before).tolist()
        self.radices: list[int] = [
            n + 1 + nan for n, nan in zip(self.n_outputs, self.has_nan, strict=True)
        ]
        smallest_first = sorted(range(len(self.radices)), key=self.radices.__getitem__)
        self.groups: list[Digits] = self.shared(smallest_first, MAX_SHARED_CODES)

    def shared(self, columns: Iterable[int], max_codes: int) -> list[Digits]:
        """Combine adjacent columns into groups of at most `max_codes` codes, or of one column."""
        groups: list[Digits] = []
        for i in columns:
            last = Digits((), ())
            if groups and groups[-1].n_codes * self.radices[i] <= max_codes:
                last = groups.pop()
            groups.append(Digits((*last.columns, i), (*last.radices, self.radices[i])))
        return groups

    def equals(self, other: JointLayout) -> bool:
        """Tell whether the codes of two layouts have the same meaning."""
        same_columns = (self.n_outputs, self.has_nan) == (other.n_outputs, other.has_nan)
        return same_columns and np.array_equal(self.numeric, other.numeric)

    def outputs(self, column: int) -> slice:
        """Return the range of the matrix columns that encode a categorical column."""
        return slice(self.starts[column], self.starts[column] + self.n_outputs[column])

    def pack(
        self, columns: Sequence[CodedColumn], num_threads: int | None = None
    ) -> list[AnyArray]:
        """Return a new array of codes for each group.

        Every digit comes from a look-up table. It is therefore in range, even if another thread
        changes the columns at the same time.
        """
        codes = []
        for group in self.groups:
            dtype = np.min_scalar_type(group.n_codes - 1)
            parts = []
            for axis, i in enumerate(group.columns):
                lut = columns[i].digit_lut(math.prod(group.radices[axis + 1 :]))
                threads = parallel.resolve(num_threads, columns[i].codes.nbytes)
                parts.append(dispatch.recode(columns[i].codes, lut, threads, dtype))
            for part in parts[1:]:
                parts[0] += part
            codes.append(parts[0])
        return codes

    def unpack(self, codes: Sequence[AnyArray]) -> list[CodedColumn]:
        """Return the columns that `pack` combined, as arguments for the functions of `write`."""
        found: dict[int, CodedColumn] = {}
        for group, group_codes in zip(self.groups, codes, strict=True):
            for i, digits in zip(group.columns, group.of_codes(), strict=True):
                n, own = self.n_outputs[i], group_codes
                if self.has_nan[i]:  # `write` finds rows of NaN by their negative codes
                    own = np.where(digits > n, -1, np.arange(group.n_codes))[group_codes]
                lut = np.append(np.where(digits < n, digits, -1), -1).astype(np.int32)
                found[i] = CodedColumn(own, lut, n, nan_where_missing=self.has_nan[i])
        return [found[i] for i in range(len(self.n_outputs))]

    def nan_columns(self, codes: Sequence[AnyArray]) -> list[int]:
        """Return the indices of the categorical columns with at least one row of NaN."""
        found = []
        for group, group_codes in zip(self.groups, codes, strict=True):
            if any(self.has_nan[i] for i in group.columns):
                counts = dispatch.count(group_codes, group.n_codes)
                digits = zip(group.columns, group.of_codes(), strict=True)
                found += [i for i, digit in digits if counts[digit > self.n_outputs[i]].any()]
        return found

    def multiply(
        self, codes: list[AnyArray], numeric: Floats, x: Floats, out: Floats, threads: int
    ) -> None:
        """Write the product of the matrix and `x` to `out`; `x` has shape (n_columns, width)."""
        has_numeric = len(self.numeric) > 0
        if has_numeric:
            np.matmul(numeric, x[self.numeric], out=out)
        for first in range(0, x.shape[1], implicit.WIDTH):
            block = np.ascontiguousarray(x[:, first : first + implicit.WIDTH])
            tables = [self._table(block, group) for group in self.groups]
            target = out[:, first : first + implicit.WIDTH]
            implicit.multiply(codes, tables, target, has_numeric, threads)

    def _table(self, block: Floats, group: Digits) -> Floats:
        """Return, for each code of a group, the values that it adds to a row of the product."""
        total = np.full((1, block.shape[1]), -0.0)  # adding -0.0 changes no number
        for i in group.columns:
            rows = block[self.outputs(i)]
            if len(group.columns) == 1 and not self.has_nan[i]:
                return rows
            part = np.zeros((self.radices[i], block.shape[1]))
            part[: len(rows)] = rows
            part[len(rows) + 1 :] = np.nan
            total = (total[:, None] + part).reshape(-1, block.shape[1])
        return total

    def sums(self, codes: list[AnyArray], numeric: Floats, values: Floats, threads: int) -> Floats:
        """Return ``X.T @ values`` for the matrix ``X``; `values` has shape (n_rows, width)."""
        result = np.empty((self.n_columns, values.shape[1]))
        result[self.numeric] = numeric.T @ values
        for first in range(0, values.shape[1], implicit.WIDTH):
            columns = slice(first, first + implicit.WIDTH)
            parts = sums_of_codes(self.groups, codes, values[:, columns], threads)
            for group, part in zip(self.groups, parts, strict=True):
                for axis, i in enumerate(group.columns):
                    marginal = group.marginal(part, axis)[: self.n_outputs[i]]
                    result[self.outputs(i), columns] = marginal
        for i in self.nan_columns(codes):
            result[self.outputs(i)] = np.nan
        return result


def sums_of_codes(
    groups: Sequence[Digits],
    codes: Sequence[AnyArray],
    values: Floats,
    threads: int,
    *,
    paired: bool = False,
) -> list[Floats]:
    """Return, for each group, the sums of the rows of `values` that have the same code.

    If `paired`, return them for each pair of groups, and sum rows that have the same two codes.
    The sums of blocks of rows are added in order. The blocks do not depend on the number of
    threads, which makes the result reproducible.
    """
    n_rows, width = values.shape
    n_codes = [group.n_codes for group in groups]
    sizes = [a * b for a, b in combinations(n_codes, 2)] if paired else n_codes
    n_bins = sum(sizes) * width
    lanes = 2 if width == 1 and n_bins <= MAX_TWO_LANES and not paired else 1
    n_blocks = max(n_rows // max(BLOCK_ROWS, ROWS_PER_BIN * n_bins), 1)
    block_rows = max(-(-n_rows // n_blocks), 1)
    shape = lanes * -(-n_rows // block_rows), n_bins
    check_size(shape, np.float64)
    bins = np.zeros(shape)
    implicit.add_up([*codes], n_codes, paired, values, bins, block_rows, lanes, threads)
    total = bins[0] if len(bins) == 1 else bins.sum(axis=0)
    return np.split(total.reshape(-1, width), np.cumsum(sizes)[:-1]) if sizes else []


def dense_gram(
    layout: JointLayout,
    codes: list[AnyArray],
    weights: Floats,
    sums: Floats,
    num_threads: int | None,
) -> Floats:
    """Return the Gram matrix ``X.T @ diag(weights) @ X`` as an array.

    `sums` is the product of ``X.T`` and the numeric columns, which are multiplied by `weights`.
    """
    out = np.zeros((layout.n_columns, layout.n_columns))
    units, unit_codes = _units(layout, codes, MAX_UNIT_CODES, num_threads)
    pairs = [
        Digits(a.columns + b.columns, a.radices + b.radices) for a, b in combinations(units, 2)
    ]
    threads = parallel.resolve(num_threads, 4 * len(weights) * len(units) ** 2)
    tables = sums_of_codes(units, unit_codes, weights[:, None], threads, paired=bool(pairs))
    done = set()
    for both, table in zip(pairs or units, tables, strict=True):
        for (a, i), (b, j) in combinations_with_replacement(enumerate(both.columns), 2):
            if (i, j) in done:
                continue
            done.add((i, j))
            rows, columns = layout.outputs(i), layout.outputs(j)
            n, m = layout.n_outputs[i], layout.n_outputs[j]
            if a == b:
                np.fill_diagonal(out[rows, rows], both.marginal(table, a)[:n, 0])
            else:
                out[rows, columns] = both.marginal(table, a, b)[:n, :m, 0]
                out[columns, rows] = out[rows, columns].T
    out[:, layout.numeric], out[layout.numeric] = sums, sums.T
    for i in layout.nan_columns(codes):
        out[layout.outputs(i)] = out[:, layout.outputs(i)] = np.nan
    return out


def sparse_gram(
    layout: JointLayout,
    codes: list[AnyArray],
    weights: Floats,
    sums: Floats,
    num_threads: int | None,
) -> Any:
    """Return the result of `dense_gram` as a `csr_array`.

    `sums` has one more column than for `dense_gram`: the product of ``X.T`` and `weights`.
    """
    sparse = library("scipy.sparse", "a sparse Gram matrix")
    n, n_rows, every = layout.n_columns, len(weights), np.arange(layout.n_columns)
    others = np.delete(every, layout.numeric)
    entries = [
        (others, others, sums[others, -1]),
        _block(every, layout.numeric, sums[:, :-1]),
        _block(layout.numeric, others, sums[others, :-1].T),
    ]
    units, unit_codes = _units(layout, codes, 0, num_threads)
    for a, b in combinations(range(len(units)), 2):
        both, pair_codes = (units[a], units[b]), (unit_codes[a], unit_codes[b])
        i, j = units[a].columns[0], units[b].columns[0]
        shape = units[a].n_codes, units[b].n_codes
        if math.prod(shape) <= max(MAX_TABLE, n_rows):
            threads = parallel.resolve(num_threads, 8 * n_rows)
            [table] = sums_of_codes(both, pair_codes, weights[:, None], threads, paired=True)
            table = table.reshape(shape)
        else:
            index = tuple(each.astype(np.int64) for each in pair_codes)
            table = sparse.coo_array((weights, index), shape=shape).tocsr()  # adds duplicates
        found = sparse.coo_array(table[: layout.n_outputs[i], : layout.n_outputs[j]])
        rows = found.row + np.int64(layout.starts[i])
        columns = found.col + np.int64(layout.starts[j])
        entries += [(rows, columns, found.data), (columns, rows, found.data)]
    for i in layout.nan_columns(codes):
        nan = np.full((layout.n_outputs[i], n), np.nan)
        outputs = every[layout.outputs(i)]
        entries += [_block(outputs, every, nan), _block(every, outputs, nan.T)]
    rows, columns, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    position = np.int32 if n <= np.iinfo(np.int32).max else np.int64
    index = rows.astype(position), columns.astype(position)
    gram = sparse.coo_array((values, index), shape=(n, n)).tocsr()
    gram.eliminate_zeros()
    return gram


def _block(rows: AnyArray, columns: AnyArray, values: Floats) -> tuple[AnyArray, AnyArray, Floats]:
    """Return the row indices, column indices and values of all entries of a dense block."""
    return np.repeat(rows, len(columns)), np.tile(columns, len(rows)), values.ravel()


def _units(
    layout: JointLayout, codes: list[AnyArray], max_codes: int, num_threads: int | None
) -> tuple[list[Digits], list[AnyArray]]:
    """Split the groups into units of at most `max_codes` codes, or of one column.

    Return the units, and an array with the codes of each unit. All arrays have the same dtype.
    """
    units, unit_codes = [], []
    for group, group_codes in zip(layout.groups, codes, strict=True):
        threads = parallel.resolve(num_threads, group_codes.nbytes)
        for unit in layout.shared(group.columns, max_codes):
            units.append(unit)
            if unit == group:
                unit_codes.append(group_codes)
                continue
            digits = dict(zip(group.columns, group.of_codes(), strict=True))
            joint = np.ravel_multi_index([digits[i] for i in unit.columns], unit.radices)
            lut = np.append(joint, 0).astype(np.int32)
            unit_codes.append(dispatch.recode(group_codes, lut, threads))
    dtype = np.uint32 if any(unit.n_codes > 1 << 16 for unit in units) else np.uint16
    return units, [each.astype(dtype, copy=False) for each in unit_codes]
