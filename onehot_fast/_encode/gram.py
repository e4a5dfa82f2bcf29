"""The Gram matrix of an implicit one-hot matrix: sums of weights for pairs of codes.

A table of two units of columns holds the sum of the weights of each combination of their codes. Its
marginals are the blocks of the Gram matrix. Products with numeric columns are sums of one code.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._encode.joint_codes import Digits, Floats, JointLayout, shared, sums_by_block
from onehot_fast._kernels import implicit
from onehot_fast._runtime import dispatch, parallel
from onehot_fast._runtime.registry import library

AnyArray = npt.NDArray[Any]
Entries = tuple[AnyArray, AnyArray, Floats]

# Most codes of a unit of several columns: a table of two units stays in the second-level cache.
MAX_UNIT_CODES = 256
# A table of this many entries is filled as a whole; of a larger one only the pairs that occur.
MAX_TABLE = 1 << 20


def dense_gram(
    layout: JointLayout,
    codes: list[AnyArray],
    weights: Floats | None,
    sums: Floats,
    num_threads: int | None,
) -> Floats:
    """Return the dense Gram matrix.

    `sums` are the products of the transpose with the weighted numeric columns and, if the diagonal
    does not follow from pairs of columns, with the weights.
    """
    own, out = layout.numeric, np.zeros((layout.n_columns, layout.n_columns))
    if sums.shape[1] > len(own):
        np.fill_diagonal(out, sums[:, -1])
    _fill_blocks(layout, codes, weights, out, num_threads)
    out[:, own], out[own] = sums[:, : len(own)], sums[:, : len(own)].T
    both = np.ix_(own, own)
    out[both] = (out[both] + out[both].T) / 2  # sums that are rounded differently
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
    """Return the Gram matrix as a `csr_array`; the parameters are those of `dense_gram`."""
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
    """Return the entries of a dense block."""
    return np.repeat(rows, len(columns)), np.tile(columns, len(rows)), values.ravel()


def _fill_blocks(
    layout: JointLayout,
    codes: list[AnyArray],
    weights: Floats | None,
    out: Floats,
    num_threads: int | None,
) -> None:
    """Write the blocks of the categorical columns, if there are several, into `out`."""
    units = _units(layout, codes, MAX_UNIT_CODES, num_threads)
    if len(units) == 1:  # which has no table of two
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
    """Yield the rows, columns and values of the same blocks."""
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
    layout: JointLayout, codes: list[AnyArray], most_codes: int, num_threads: int | None
) -> list[tuple[Digits, AnyArray]]:
    """Return units of columns and the codes of all rows in each, of one dtype for all."""
    found = []
    for group, group_codes in zip(layout.groups, codes, strict=True):
        radices = dict(zip(group.columns, group.radices, strict=True))
        for unit in shared(group.columns, radices, most_codes):
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
