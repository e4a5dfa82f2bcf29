"""Combine several columns into one code, to store and to multiply an implicit one-hot matrix.

Each column with `n` outputs is a digit of a code: 0 means no output, ``1 .. n`` are the outputs,
and ``n + 1`` is a row of NaN, if the column has such rows. Columns with few outputs share a code,
so that a row takes fewer bytes and a product needs fewer look-ups.

The Gram matrix needs pairs of columns. Groups of columns are therefore split into *units* of fewer
codes. The contingency table of two units contains the sum of the weights for each pair of codes;
its marginals are the blocks of the Gram matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, combinations, combinations_with_replacement
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
Entries: TypeAlias = tuple[AnyArray, AnyArray, Floats]

# The maximum codes of a group: a product table of 8 columns (256 KiB) fits into the L2 cache.
MAX_SHARED_CODES = 4096
# The maximum codes of a unit: a contingency table of two units fits into the L2 cache.
MAX_UNIT_CODES = 256
# Contingency tables of up to this many entries are dense; larger tables are sparse.
MAX_TABLE = 1 << 20
# The minimum rows of a block, in total and per bin, so that clearing and adding bins is cheap.
BLOCK_ROWS = 1 << 16
ROWS_PER_BIN = 8
# Rows alternate between two sets of bins if both sets fit into the L2 cache.
MAX_TWO_LANES = 1 << 14


class Digits(NamedTuple):
    """Columns combined into one code. Each is a digit; the first is the most significant."""

    columns: tuple[int, ...]
    radices: tuple[int, ...]

    @property
    def n_codes(self) -> int:
        """The number of values of the code."""
        return math.prod(self.radices)

    def digit(self, codes: AnyArray, axis: int) -> AnyArray:
        """Return the digit at position `axis` of each code."""
        stride = math.prod(self.radices[axis + 1 :])
        digits = codes // stride if stride > 1 else codes
        return digits % self.radices[axis] if axis else digits

    def table(self, parts: Sequence[Floats]) -> Floats:
        """Return, for each code, the sum of the rows of `parts` that its digits select.

        `parts` has an array of shape (radix, width) for each digit.
        """
        total = parts[0]
        for part in parts[1:]:
            total = (total[:, None, :] + part).reshape(-1, part.shape[1])
        return np.ascontiguousarray(total)

    def marginal(self, bins: Floats, *axes: int) -> Floats:
        """Return the sums of the bins for each value of one digit, or of two in ascending order."""
        shaped: Floats = bins.reshape(*self.radices, -1)
        others = tuple(axis for axis in range(len(self.radices)) if axis not in axes)
        return shaped.sum(axis=others) if others else shaped


class JointLayout:
    """The arrangement of the categorical and numeric columns of an implicit matrix.

    Parameters
    ----------
    n_outputs : sequence of int
        The number of outputs of each categorical column.
    has_nan : sequence of bool
        Whether a missing value makes all outputs of its column NaN, for each column.
    numeric : sequence of int
        The positions of the numeric columns among all outputs, in ascending order.
    """

    def __init__(
        self, n_outputs: Sequence[int], has_nan: Sequence[bool], numeric: Sequence[int] = ()
    ) -> None:
        self.n_outputs: tuple[int, ...] = tuple(n_outputs)
        with_nan = (nan and n > 0 for nan, n in zip(has_nan, n_outputs, strict=True))
        self.has_nan: tuple[bool, ...] = tuple(with_nan)
        self.numeric: npt.NDArray[np.intp] = np.array(numeric, np.intp)
        self.n_columns: int = sum(n_outputs) + len(self.numeric)
        free = np.delete(np.arange(self.n_columns + 1), self.numeric)
        first = accumulate(n_outputs, initial=0)
        outputs = zip(first, n_outputs, strict=False)
        self.starts: list[int] = [int(free[output]) for output, _ in outputs]
        radices = [n + 1 + nan for n, nan in zip(n_outputs, self.has_nan, strict=True)]
        smallest_first = sorted(range(len(radices)), key=radices.__getitem__)
        self.groups: list[Digits] = shared(smallest_first, radices, MAX_SHARED_CODES)

    def equals(self, other: JointLayout) -> bool:
        """Tell whether the codes of both layouts have the same meaning."""
        same_columns = (self.n_outputs, self.has_nan) == (other.n_outputs, other.has_nan)
        return same_columns and np.array_equal(self.numeric, other.numeric)

    def outputs(self, column: int) -> slice:
        """Return the slice of the outputs of a categorical column in the matrix."""
        return slice(self.starts[column], self.starts[column] + self.n_outputs[column])

    def pack(
        self, columns: Sequence[CodedColumn], num_threads: int | None = None
    ) -> list[AnyArray]:
        """Return the codes of each group as new arrays."""
        return [self._pack(group, columns, num_threads) for group in self.groups]

    def _pack(
        self, group: Digits, columns: Sequence[CodedColumn], num_threads: int | None
    ) -> AnyArray:
        """Return the codes of one group.

        The look-up tables keep each digit valid even if another thread changes the columns.
        """
        dtype = np.min_scalar_type(group.n_codes - 1)
        total: AnyArray | None = None
        for axis, i in enumerate(group.columns):
            digits = columns[i].lut_from(0).astype(np.int64) + 1
            if self.has_nan[i]:
                digits[-1] = self.n_outputs[i] + 1
            scaled = (digits * math.prod(group.radices[axis + 1 :])).astype(np.int32)
            threads = parallel.resolve(num_threads, columns[i].codes.nbytes)
            part = dispatch.recode(columns[i].codes, scaled, threads)
            if total is None:
                total = part.astype(dtype)
            else:
                np.add(total, part, out=total, dtype=dtype, casting="unsafe")
        assert total is not None  # no group is empty
        return total

    def unpack(self, codes: Sequence[AnyArray]) -> list[CodedColumn]:
        """Return the columns as arguments for the functions of `write`."""
        found: dict[int, CodedColumn] = {}
        for group, group_codes in zip(self.groups, codes, strict=True):
            every = np.arange(group.n_codes)
            for axis, i in enumerate(group.columns):
                lut = (group.digit(every, axis) - 1).astype(np.int32)
                lut = np.append(lut, np.int32(-1))
                if not self.has_nan[i]:
                    found[i] = CodedColumn(group_codes, lut, self.n_outputs[i])
                    continue
                # `write` finds rows of NaN by their negative codes.
                n = self.n_outputs[i]
                outputs = np.where(lut == n, -1, np.where(lut < 0, n, lut))[group_codes]
                own = np.append(np.arange(n, dtype=np.int32), np.array([-1, -1], np.int32))
                found[i] = CodedColumn(outputs.astype(np.int32), own, n, nan_where_missing=True)
        return [found[i] for i in range(len(self.n_outputs))]

    def nan_columns(self, codes: Sequence[AnyArray]) -> list[int]:
        """Return the indices of the categorical columns with at least one row of NaN."""
        found = []
        for group, group_codes in zip(self.groups, codes, strict=True):
            if any(self.has_nan[i] for i in group.columns):
                counts = dispatch.count(group_codes, group.n_codes).astype(float)
                found += [
                    i
                    for axis, i in enumerate(group.columns)
                    if self.has_nan[i] and group.marginal(counts, axis)[-1, 0]
                ]
        return found

    def multiply(
        self, codes: list[AnyArray], numeric: Floats, x: Floats, out: Floats, threads: int
    ) -> None:
        """Write the product of the matrix and `x`, of shape (n_columns, width), to `out`."""
        has_numeric = len(self.numeric) > 0
        if has_numeric:
            np.matmul(numeric, x[self.numeric], out=out)
        for first in range(0, x.shape[1], implicit.WIDTH):
            block = np.ascontiguousarray(x[:, first : first + implicit.WIDTH])
            tables = [self._table(block, group) for group in self.groups]
            first_codes = [int(self._is_plain(group)) for group in self.groups]
            target = out[:, first : first + implicit.WIDTH]
            implicit.multiply(codes, tables, first_codes, target, has_numeric, threads)

    def _is_plain(self, group: Digits) -> bool:
        """Tell whether a group is a single column without NaN; products can then skip code 0."""
        column = group.columns[0]
        is_alone = len(group.columns) == 1 and not self.has_nan[column]
        return is_alone and self.n_outputs[column] > 0

    def _table(self, block: Floats, group: Digits) -> Floats:
        """Return the row that each code of a group adds to a product; a view for a plain group."""
        if self._is_plain(group):
            return block[self.outputs(group.columns[0])]
        return group.table([self._rows(block, i) for i in group.columns])

    def _rows(self, block: Floats, column: int) -> Floats:
        """Return the row that each digit of a column adds to a product."""
        n = self.n_outputs[column]
        rows = np.zeros((n + 1 + self.has_nan[column], block.shape[1]))
        rows[1 : n + 1] = block[self.outputs(column)]
        rows[n + 1 :] = np.nan
        return rows

    def sums(self, codes: list[AnyArray], numeric: Floats, values: Floats, threads: int) -> Floats:
        """Return the product of the transposed matrix and `values`, of shape (n_rows, width)."""
        result = np.empty((self.n_columns, values.shape[1]))
        result[self.numeric] = numeric.T @ values
        sizes = [group.n_codes for group in self.groups]
        for first in range(0, values.shape[1], implicit.WIDTH):
            block = values[:, first : first + implicit.WIDTH]
            width = block.shape[1]
            n_bins = sum(sizes) * width
            lanes = 2 if width == 1 and n_bins <= MAX_TWO_LANES else 1
            fill = partial(implicit.add_up, codes, sizes, block, num_threads=threads, n_lanes=lanes)
            total = sums_by_block(len(block), n_bins, fill, lanes).reshape(-1, width)
            parts = np.split(total, np.cumsum(sizes)[:-1])
            for group, part in zip(self.groups, parts, strict=False):
                for axis, i in enumerate(group.columns):
                    marginal = group.marginal(part, axis)[1 : self.n_outputs[i] + 1]
                    result[self.outputs(i), first : first + width] = marginal
        for i in self.nan_columns(codes):
            result[self.outputs(i)] = np.nan
        return result


def shared(
    columns: Iterable[int], radices: Sequence[int] | Mapping[int, int], max_codes: int
) -> list[Digits]:
    """Return groups of columns; a group of several columns has at most `max_codes` codes."""
    groups: list[Digits] = []
    for i in columns:
        if groups and groups[-1].n_codes * radices[i] <= max_codes:
            last = groups.pop()
            groups.append(Digits((*last.columns, i), (*last.radices, radices[i])))
        else:
            groups.append(Digits((i,), (radices[i],)))
    return groups


def sums_by_block(
    n_rows: int, n_bins: int, fill: Callable[[Floats, int], None], n_lanes: int = 1
) -> Floats:
    """Return the sum of the bins of all blocks of rows.

    ``fill(bins, block_rows)`` fills the bins of every block. For reproducible sums, the blocks
    depend only on the sizes and are added in order.
    """
    n_blocks = max(n_rows // max(BLOCK_ROWS, ROWS_PER_BIN * n_bins), 1)
    block_rows = max(-(-n_rows // n_blocks), 1)
    shape = n_lanes * -(-n_rows // block_rows), n_bins
    check_size(shape, np.float64)
    bins = np.zeros(shape)
    fill(bins, block_rows)
    total: Floats = bins[0] if len(bins) == 1 else bins.sum(axis=0)
    return total


def dense_gram(
    layout: JointLayout,
    codes: list[AnyArray],
    weights: Floats | None,
    sums: Floats,
    num_threads: int | None,
) -> Floats:
    """Return the dense Gram matrix.

    `sums` is the product of the transposed matrix with the weighted numeric columns. If pairs of
    columns do not determine the diagonal, its last column is the product with the weights.
    """
    own, out = layout.numeric, np.zeros((layout.n_columns, layout.n_columns))
    if sums.shape[1] > len(own):
        np.fill_diagonal(out, sums[:, -1])
    _fill_blocks(layout, codes, weights, out, num_threads)
    out[:, own], out[own] = sums[:, : len(own)], sums[:, : len(own)].T
    both = np.ix_(own, own)
    out[both] = (out[both] + out[both].T) / 2  # the halves are rounded differently
    for i in layout.nan_columns(codes):
        out[layout.outputs(i)] = out[:, layout.outputs(i)] = np.nan
    return out


def sparse_gram(
    layout: JointLayout,
    codes: list[AnyArray],
    weights: Floats | None,
    sums: Floats,
    num_threads: int | None,
) -> Any:
    """Return the Gram matrix as a `csr_array`, with the same parameters as `dense_gram`."""
    n, own = layout.n_columns, layout.numeric
    others = np.delete(np.arange(n), own)
    entries = [(others, others, sums[others, -1]), *_entries(layout, codes, weights, num_threads)]
    inner = (sums[own, :-1] + sums[own, :-1].T) / 2
    entries.append(_block(own, own, inner))
    entries += [_block(others, own, sums[others, :-1]), _block(own, others, sums[others, :-1].T)]
    for i in layout.nan_columns(codes):
        outputs, every = np.arange(n)[layout.outputs(i)], np.arange(n)
        nan = np.full((len(outputs), n), np.nan)
        entries += [_block(outputs, every, nan), _block(every, outputs, nan.T)]
    rows, columns, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    position = np.int32 if n <= np.iinfo(np.int32).max else np.int64
    index = rows.astype(position), columns.astype(position)
    sparse = library("scipy.sparse", "a sparse Gram matrix")
    found = sparse.coo_array((values, index), shape=(n, n)).tocsr()
    found.eliminate_zeros()
    return found


def _block(rows: AnyArray, columns: AnyArray, values: Floats) -> Entries:
    """Return the row indices, column indices and values of all entries of a dense block."""
    return np.repeat(rows, len(columns)), np.tile(columns, len(rows)), values.ravel()


def _fill_blocks(
    layout: JointLayout,
    codes: list[AnyArray],
    weights: Floats | None,
    out: Floats,
    num_threads: int | None,
) -> None:
    """Write the blocks of pairs of categorical columns to `out`, if there are several columns."""
    units = _units(layout, codes, MAX_UNIT_CODES, num_threads)
    if len(units) == 1:  # a single unit has no pair of units
        units = _units(layout, codes, 1, num_threads)
    if len(units) < 2:
        return
    n_rows = len(units[0][1])
    threads = parallel.resolve(num_threads, 4 * n_rows * len(units) ** 2)
    pairs = [*combinations([unit for unit, _ in units], 2)]
    sizes = [unit.n_codes for unit, _ in units]
    ends = np.cumsum([left.n_codes * right.n_codes for left, right in pairs])
    unit_codes = [unit_codes for _, unit_codes in units]
    fill = partial(implicit.count_pairs, unit_codes, sizes, weights, num_threads=threads)
    tables = np.split(sums_by_block(n_rows, int(ends[-1]), fill), ends[:-1])
    done = set()
    for (left, right), table in zip(pairs, tables, strict=True):
        both = Digits(left.columns + right.columns, left.radices + right.radices)
        for (a, i), (b, j) in combinations_with_replacement(enumerate(both.columns), 2):
            if (i, j) in done:
                continue
            done.add((i, j))
            rows, columns = layout.outputs(i), layout.outputs(j)
            n, m = layout.n_outputs[i], layout.n_outputs[j]
            if a == b:
                np.fill_diagonal(out[rows, rows], both.marginal(table, a)[1 : n + 1, 0])
            else:
                out[rows, columns] = both.marginal(table, a, b)[1 : n + 1, 1 : m + 1, 0]
                out[columns, rows] = out[rows, columns].T


def _entries(
    layout: JointLayout, codes: list[AnyArray], weights: Floats | None, num_threads: int | None
) -> Iterator[Entries]:
    """Yield the row indices, column indices and values of the blocks of `_fill_blocks`."""
    sparse = library("scipy.sparse", "a sparse Gram matrix")
    units = _units(layout, codes, 1, num_threads)
    for (left, left_codes), (right, right_codes) in combinations(units, 2):
        i, j = left.columns[0], right.columns[0]
        shape, n_rows = (left.n_codes, right.n_codes), len(left_codes)
        if shape[0] * shape[1] <= max(MAX_TABLE, n_rows):
            threads = parallel.resolve(num_threads, 8 * n_rows)
            both = [left_codes, right_codes], [*shape]
            fill = partial(implicit.count_pairs, *both, weights, num_threads=threads)
            table = sums_by_block(n_rows, shape[0] * shape[1], fill).reshape(shape)
            (rows, columns), values = table.nonzero(), table[table != 0]
        else:
            ones = np.ones(n_rows) if weights is None else weights
            index = left_codes.astype(np.int64), right_codes.astype(np.int64)
            sums = sparse.coo_array((ones, index), shape=shape).tocsr().tocoo()  # adds duplicates
            rows, columns, values = sums.row, sums.col, sums.data
        inside = (rows > 0) & (rows <= layout.n_outputs[i])
        inside &= (columns > 0) & (columns <= layout.n_outputs[j])
        rows = rows[inside] + np.int64(layout.starts[i] - 1)
        columns = columns[inside] + np.int64(layout.starts[j] - 1)
        yield rows, columns, values[inside]
        yield columns, rows, values[inside]


def _units(
    layout: JointLayout, codes: list[AnyArray], max_codes: int, num_threads: int | None
) -> list[tuple[Digits, AnyArray]]:
    """Return the units of columns and the codes of each unit, all in one integer dtype."""
    found = []
    for group, group_codes in zip(layout.groups, codes, strict=True):
        radices = dict(zip(group.columns, group.radices, strict=True))
        for unit in shared(group.columns, radices, max_codes):
            found.append((unit, group_codes))
            if unit == group:
                continue
            every = np.arange(group.n_codes + 1)
            lut = np.zeros(len(every), np.int32)
            for column, radix in zip(*unit, strict=True):
                lut = lut * radix + group.digit(every, group.columns.index(column)).astype(np.int32)
            threads = parallel.resolve(num_threads, group_codes.nbytes)
            found[-1] = unit, dispatch.recode(group_codes, lut, threads)
    is_wide = any(unit.n_codes > 1 << 16 for unit, _ in found)
    dtype = np.uint32 if is_wide else np.uint16
    return [(unit, unit_codes.astype(dtype, copy=False)) for unit, unit_codes in found]
