"""The Gram matrix ``X.T @ diag(weights) @ X`` of an implicit one-hot matrix.

A dense result is computed in one of two ways. The sizes alone decide, so that a result depends
neither on the number of threads nor on the values.

- **Tables.** Groups of columns are split into *units* of at most `MAX_UNIT_CODES` codes. The
  contingency table of two units contains the sum of the weights for each pair of codes, and its
  marginals are blocks of the Gram matrix. A row costs one addition for each pair of units, which
  may cover 25 pairs of columns, but each table has up to 65,536 entries.
- **Rows.** Each row adds its weight to the entry of each pair of its features. This costs one
  addition for each pair of columns, and no tables.

A sparse result adds rows in the same way, or it is put together from the tables of all pairs of
columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.shapes import check_size
from onehot_fast._kernels import implicit
from onehot_fast._pipeline.joint_codes import Digits, JointLayout, sums_of_codes
from onehot_fast._runtime import memory, parallel
from onehot_fast._runtime.registry import library
from onehot_fast._schema.coded_column import CodedColumn, recode

__all__ = ["dense_gram", "sparse_gram"]

AnyArray: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.signedinteger[Any]]

# The maximum number of codes of a unit. A contingency table of two units then fits into L2.
MAX_UNIT_CODES = 256
# The maximum number of entries of the contingency tables that exist at the same time (4 MiB).
MAX_BATCH = 1 << 19
# The number of features of a block of rows, which then stay in a cache.
BLOCK_ENTRIES = 1 << 18
# Up to this number of columns, the mirror image is added together with the upper triangle.
MAX_MIRRORED = 32
# Costs in nanoseconds, measured on one processor with AVX-512 (Zen 4); only their ratios matter.
# Tables: a row of a pair of units, an entry of a table, and a block of the result.
PAIR_ROW, TABLE_ENTRY, RESULT_BLOCK = 1.3, 4.0, 13_000.0
# Rows: an addition, and a feature, whose occurrences are sorted.
ADDITION, FEATURE = 1.1, 7.0
# The first write to a small page takes as long as filling this number of bytes of a kept block.
SPARSE_TOUCH = 1 << 17
# A sparse result of up to this many elements (128 MiB) may be computed as a dense one.
MAX_DENSE = 1 << 24
# The maximum number of features of all rows whose pairs are added to a sparse result.
MAX_ENTRIES = np.iinfo(np.uint32).max
# A table of up to this many entries, or of one for each row, represents a pair of columns.
MAX_TABLE = 1 << 20
# With more features for each one that occurs, a sparse result is computed without the others.
MAX_SPREAD = 16
# Sparse results: a pair of features of a row, an element of a dense matrix that is made sparse,
# a pair of columns, an entry of its table, and a row that is sorted because there is no table.
TERM, DENSE_ELEMENT, RESULT_PAIR, SPARSE_CELL, SORTED_ROW = 3.5, 6.0, 200_000.0, 15.0, 90.0


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
    shape = layout.n_columns, layout.n_columns
    check_size(shape, np.float64)
    n_rows = len(weights)
    adds_rows = _cost_of_rows(layout, n_rows) < _cost_of_tables(layout, n_rows)
    touched = SPARSE_TOUCH * n_rows * len(layout.n_features) ** 2
    if adds_rows and touched < 8 * layout.n_columns**2 and not len(layout.numeric):
        out = memory.sparse_zeros(*shape)
    else:
        out, is_zero = memory.allocate(shape, np.dtype(np.float64))
        if not is_zero:
            out.fill(0)
    add = _add_rows if adds_rows else _add_tables
    add(out, layout, codes, weights, num_threads)
    out[:, layout.numeric], out[layout.numeric] = sums, sums.T
    for i in layout.nan_columns(codes):
        out[layout.feature_slice(i)] = out[:, layout.feature_slice(i)] = np.nan
    return out


def _cost_of_rows(layout: JointLayout, n_rows: int) -> float:
    """Estimate the nanoseconds of `_add_rows`."""
    n = len(layout.n_features)
    return n_rows * n * (ADDITION * (n + 1) / 2 + FEATURE)


def _cost_of_tables(layout: JointLayout, n_rows: int) -> float:
    """Estimate the nanoseconds of `_add_tables`."""
    units = _split(layout)
    n_pairs = max(len(units) * (len(units) - 1) / 2, 1)
    total = sum(unit.n_codes for unit in units)
    n_entries = (total**2 - sum(unit.n_codes**2 for unit in units)) / 2
    n_blocks = sum(len(unit.columns) for unit in units) ** 2 / 2
    return PAIR_ROW * n_rows * n_pairs + TABLE_ENTRY * n_entries + RESULT_BLOCK * n_blocks


def _add_tables(
    out: Floats,
    layout: JointLayout,
    codes: list[AnyArray],
    weights: Floats,
    num_threads: int | None,
) -> None:
    """Write the blocks of all pairs of columns from the contingency tables of pairs of units."""
    units, unit_codes = _units(layout, codes, num_threads)
    threads = parallel.resolve(num_threads, 4 * len(weights) * len(units) ** 2)
    if len(units) < 2:
        for unit, sums in zip(
            units, sums_of_codes(units, unit_codes, weights[:, None], threads), strict=True
        ):
            _write_inner(out, layout, unit, sums)
        return
    written = set()
    for pairs in _batches(units):
        tables = sums_of_codes(units, unit_codes, weights[:, None], threads, pairs=pairs)
        for (i, j), table in zip(pairs, tables, strict=True):
            left, right = units[i], units[j]
            table = table.reshape(left.n_codes, right.n_codes)
            _write_outer(out, layout, left, right, table)
            for position, axis in ((i, 1), (j, 0)):
                if position not in written:
                    written.add(position)
                    _write_inner(out, layout, units[position], table.sum(axis=axis))


def _batches(units: Sequence[Digits]) -> Iterator[list[tuple[int, int]]]:
    """Yield all pairs of units in batches, whose tables have at most `MAX_BATCH` entries."""
    batch: list[tuple[int, int]] = []
    n_entries = 0
    for i, j in combinations(range(len(units)), 2):
        size = units[i].n_codes * units[j].n_codes
        if batch and n_entries + size > MAX_BATCH:
            yield batch
            batch, n_entries = [], 0
        batch.append((i, j))
        n_entries += size
    yield batch


def _write_inner(out: Floats, layout: JointLayout, unit: Digits, sums: Floats) -> None:
    """Write the blocks of the columns of one unit; `sums` has an entry for each of its codes."""
    for (a, i), (b, j) in combinations_with_replacement(enumerate(unit.columns), 2):
        rows, columns = layout.feature_slice(i), layout.feature_slice(j)
        n, m = layout.n_features[i], layout.n_features[j]
        if a == b:
            np.fill_diagonal(out[rows, rows], unit.marginal(sums, a)[:n, 0])
        else:
            out[rows, columns] = unit.marginal(sums, a, b)[:n, :m, 0]
            out[columns, rows] = out[rows, columns].T


def _write_outer(
    out: Floats, layout: JointLayout, left: Digits, right: Digits, table: Floats
) -> None:
    """Write the blocks of the pairs of a column of `left` and a column of `right`.

    First, the table is summed to a row for each code of one column, because rows are contiguous.
    """
    for axis, i in enumerate(left.columns):
        rows, n = layout.feature_slice(i), layout.n_features[i]
        of_column = left.marginal(table, axis)[:n]
        for other, j in enumerate(right.columns):
            columns, m = layout.feature_slice(j), layout.n_features[j]
            out[rows, columns] = right.marginal(of_column.T, other)[:m].T
            out[columns, rows] = out[rows, columns].T


def _split(layout: JointLayout) -> list[Digits]:
    """Split the groups into units of at most `MAX_UNIT_CODES` codes, or of one column."""
    return [
        unit for group in layout.groups for unit in layout.shared(group.columns, MAX_UNIT_CODES)
    ]


def _units(
    layout: JointLayout, codes: list[AnyArray], num_threads: int | None
) -> tuple[list[Digits], list[AnyArray]]:
    """Return the units, and an array with the codes of each unit; all have the same dtype."""
    units, unit_codes = [], []
    for group, group_codes in zip(layout.groups, codes, strict=True):
        threads = parallel.resolve(num_threads, group_codes.nbytes)
        for unit in layout.shared(group.columns, MAX_UNIT_CODES):
            units.append(unit)
            if unit == group:
                unit_codes.append(group_codes)
                continue
            digits = dict(zip(group.columns, group.of_codes(), strict=True))
            joint = np.ravel_multi_index([digits[i] for i in unit.columns], unit.radices)
            lut = np.append(joint, 0).astype(np.int32)
            unit_codes.append(recode(group_codes, lut, threads))
    dtype = np.uint32 if any(unit.n_codes > 1 << 16 for unit in units) else np.uint16
    return units, [each.astype(dtype, copy=False) for each in unit_codes]


def _add_rows(
    out: Floats,
    layout: JointLayout,
    codes: list[AnyArray],
    weights: Floats,
    num_threads: int | None,
) -> None:
    """Add the weight of each row to the entry of each pair of its features."""
    n_rows, n = len(weights), len(layout.n_features)
    if not n:
        return
    # Few additions leave most of a large matrix untouched; else copying the mirror image is faster.
    is_few = 4 * n_rows * n**2 < layout.n_columns**2
    is_mirrored = is_few or layout.n_columns <= MAX_MIRRORED
    threads = parallel.resolve(num_threads, 4 * n_rows * n**2)
    for start in range(0, n_rows, step := max(BLOCK_ENTRIES // n, 1)):
        rows = slice(start, start + step)
        features = layout.features([each[rows] for each in codes])
        implicit.add_gram(features, weights[rows], out, is_mirrored, threads)
    if not is_mirrored:
        implicit.mirror(out)


def sparse_gram(
    layout: JointLayout,
    codes: list[AnyArray],
    weights: Floats,
    sums: Floats,
    num_threads: int | None,
) -> Any:
    """Return the result of `dense_gram` as a `csr_array`; `sums` is the same.

    The indices of a row may be unsorted, like those of a product of ``scipy.sparse``: to sort them
    can take longer than the product.
    """
    n, n_rows = layout.n_columns, len(weights)
    n_entries = n_rows * len(layout.n_features)
    n_terms = n_entries * len(layout.n_features)
    of_rows = FEATURE * n_entries + TERM * n_terms
    if n**2 <= min(n_terms, MAX_DENSE):
        of_dense = min(_cost_of_rows(layout, n_rows), _cost_of_tables(layout, n_rows))
        if of_dense + DENSE_ELEMENT * n**2 < of_rows:
            return _csr_of(dense_gram(layout, codes, weights, sums, num_threads))
    of_nan = layout.nan_columns(codes)  # their rows and columns become NaN below
    has_rows = 0 < n_entries <= MAX_ENTRIES and n <= np.iinfo(np.int32).max
    if has_rows and of_rows < _cost_of_pairs(layout, n_rows):
        features = layout.features(codes)
        features[:, of_nan] = -1
        gram = _sums_of_rows(features, weights, n)
    else:
        columns = [
            CodedColumn(column.codes, column.lut, column.n_features)
            for column in layout.unpack(codes)
        ]
        for i in of_nan:
            none = np.full(len(weights), -1, np.int8)
            columns[i] = CodedColumn(none, None, columns[i].n_features)
        gram = _products_of_pairs(layout, columns, weights, num_threads)
    if len(layout.numeric):
        gram = gram + _numeric_part(layout, sums, of_nan)
    if not gram.data.all():
        gram.eliminate_zeros()
    if of_nan:
        is_nan = np.zeros(n, np.bool_)
        for i in of_nan:
            is_nan[layout.feature_slice(i)] = True
        gram = gram + _nan_part(is_nan)
    return gram


def _sums_of_rows(features: npt.NDArray[np.int32], weights: Floats, n: int) -> Any:
    """Return the Gram matrix of rows whose ones are in the columns `features`, as CSR."""
    sparse = library("scipy.sparse", "a sparse Gram matrix")
    if n <= MAX_SPREAD * features.size:
        return sparse.csr_array(implicit.sparse_gram(features, weights, n), shape=(n, n))
    # Most features never occur. Without them, the sums take no time and memory for each feature.
    used = np.unique(features[features >= 0])
    dense = np.where(features < 0, -1, np.searchsorted(used, features)).astype(np.int32)
    data, indices, ends = implicit.sparse_gram(dense, weights, len(used))
    all_ends = np.zeros(n + 1, ends.dtype)
    all_ends[used + 1] = np.diff(ends)
    np.cumsum(all_ends, dtype=ends.dtype, out=all_ends)
    return sparse.csr_array((data, used.astype(ends.dtype)[indices], all_ends), shape=(n, n))


def _csr_of(dense: Floats) -> Any:
    """Return a matrix as a `csr_array`, without the copies that SciPy's conversion makes."""
    sparse = library("scipy.sparse", "a sparse Gram matrix")
    ends = np.zeros(len(dense) + 1, np.int32)  # a dense matrix of 2**31 elements would not fit
    np.cumsum(np.count_nonzero(dense, axis=1), out=ends[1:])
    indices, values = np.empty(ends[-1], np.int32), np.empty(ends[-1])
    for start in range(0, len(dense), step := max(MAX_BATCH // max(len(dense), 1), 1)):
        block = dense[start : start + step]
        mask = block != 0
        part = slice(ends[start], ends[start + len(block)])
        indices[part], values[part] = mask.nonzero()[1], block[mask]
    return sparse.csr_array((values, indices, ends), shape=dense.shape)


def _is_table(n_rows: int, n: int, m: int) -> bool:
    """Tell whether the pairs of two columns of `n` and `m` features are counted in a table."""
    return n * m <= max(MAX_TABLE, n_rows)


def _cost_of_pairs(layout: JointLayout, n_rows: int) -> float:
    """Estimate the nanoseconds of `_products_of_pairs`."""
    return sum(
        RESULT_PAIR
        + (2 * n_rows + SPARSE_CELL * n * m if _is_table(n_rows, n, m) else SORTED_ROW * n_rows)
        for n, m in combinations(layout.n_features, 2)
    )


def _sums_by_feature(features: AnyArray, weights: Floats) -> tuple[AnyArray, AnyArray]:
    """Return the distinct features, ascending, and the sum of the weights of each."""
    if len(features) and features.max() > max(MAX_TABLE, len(features)):
        found, which = np.unique(features, return_inverse=True)
        return found, np.bincount(which, weights, len(found))
    sums = np.bincount(features, weights)
    found = np.flatnonzero(sums)
    return found, sums[found]


def _products_of_pairs(
    layout: JointLayout,
    columns: Sequence[CodedColumn],
    weights: Floats,
    num_threads: int | None,
) -> Any:
    """Return the Gram matrix of the categorical columns, from the table of each pair of columns."""
    sparse = library("scipy.sparse", "a sparse Gram matrix")
    n_rows, n = len(weights), layout.n_columns
    position: Any = np.int32 if n <= np.iinfo(np.int32).max else np.int64
    threads = parallel.resolve(num_threads, 8 * n_rows)
    found_in = [column.features() for column in columns]
    entries: list[tuple[AnyArray, AnyArray, AnyArray]] = [
        (np.empty(0, position), np.empty(0, position), np.empty(0))
    ]
    for start, own in zip(layout.starts, found_in, strict=True):
        found, sums = _sums_by_feature(own[own >= 0], weights[own >= 0])
        at = found.astype(position) + position(start)
        entries.append((at, at, sums))
    for i, j in combinations(range(len(columns)), 2):
        both = (found_in[i] >= 0) & (found_in[j] >= 0)
        shape = columns[i].n_features, columns[j].n_features
        if _is_table(n_rows, *shape):
            units = [Digits((0,), shape[:1]), Digits((1,), shape[1:])]
            codes = [
                found_in[i].astype(np.uint32),
                found_in[j].astype(np.uint32),
            ]  # -1 adds nothing
            [table] = sums_of_codes(units, codes, weights[:, None], threads, pairs=[(0, 1)])
            product = sparse.coo_array(table.reshape(shape))
        else:
            index = found_in[i][both].astype(position), found_in[j][both].astype(position)
            # The conversion adds duplicates, in the order of the rows.
            product = sparse.coo_array((weights[both], index), shape=shape).tocsr().tocoo()
        left = product.row.astype(position) + position(layout.starts[i])
        right = product.col.astype(position) + position(layout.starts[j])
        entries += [(left, right, product.data), (right, left, product.data)]
    rows, features, values = (np.concatenate(each) for each in zip(*entries, strict=True))
    return sparse.coo_array((values, (rows, features)), shape=(n, n)).tocsr()


def _numeric_part(layout: JointLayout, sums: Floats, of_nan: Sequence[int]) -> Any:
    """Return the rows and columns of the Gram matrix that belong to numeric columns, as CSR."""
    sparse = library("scipy.sparse", "a sparse Gram matrix")
    n, own = layout.n_columns, layout.numeric
    is_other = np.ones(n, np.bool_)
    is_other[own] = False
    for i in of_nan:
        is_other[layout.feature_slice(i)] = False
    others = np.flatnonzero(is_other)
    parts = [_block(own, own, sums[own]), _block(others, own, sums[others])]
    parts.append(_block(own, others, sums[others].T))
    rows, features, values = (np.concatenate(each) for each in zip(*parts, strict=True))
    return sparse.coo_array((values, (rows, features)), shape=(n, n)).tocsr()


def _block(rows: Indices, features: Indices, values: Floats) -> tuple[Indices, Indices, Floats]:
    """Return the row indices, column indices and values of all entries of a dense block."""
    return np.repeat(rows, len(features)), np.tile(features, len(rows)), values.ravel()


def _nan_part(is_nan: npt.NDArray[np.bool_]) -> Any:
    """Return a CSR array in which the rows and the columns of the given features are NaN."""
    sparse = library("scipy.sparse", "a sparse Gram matrix")
    n, features = len(is_nan), np.flatnonzero(is_nan)
    lengths = np.where(is_nan, n, len(features))
    ends = np.concatenate([[0], np.cumsum(lengths)])
    check_size((int(ends[-1]),), np.dtype("f8,i8"))
    position = np.int32 if ends[-1] <= np.iinfo(np.int32).max else np.int64
    indices = np.empty(ends[-1], position)
    # Runs of adjacent rows of the same kind are blocks of equal rows.
    borders = [0, *(np.flatnonzero(np.diff(is_nan)) + 1).tolist(), n]
    for start, stop in pairwise(borders):
        row = np.arange(n) if is_nan[start] else features
        indices[ends[start] : ends[stop]].reshape(stop - start, len(row))[:] = row
    values = np.full(ends[-1], np.nan)
    return sparse.csr_array((values, indices, ends.astype(position)), shape=(n, n))
