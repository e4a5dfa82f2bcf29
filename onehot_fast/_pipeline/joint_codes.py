"""Combine several columns into one code, to store and to multiply an implicit one-hot matrix.

Each column with `n` features is a digit of a code: ``0 .. n - 1`` are the features, `n` means no
feature, and ``n + 1`` is a row of NaN, if the column has such rows. Columns with few features share
a code, so that a row takes fewer bytes and a product needs fewer look-ups.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.shapes import check_size
from onehot_fast._kernels import dispatch, implicit
from onehot_fast._runtime import parallel
from onehot_fast._schema.coded_column import CodedColumn, lut_of, recode

AnyArray: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]

# The maximum number of codes of a group. A product with 8 columns looks up 8 floats for each code,
# 256 KiB in total, which fit into L2.
MAX_SHARED_CODES = 4096
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

    def exceeds(self, n_rows: int) -> bool:
        """Tell whether this is one column with more codes than a matrix has rows.

        Look-up tables of all codes would then need more memory than the codes of the rows.
        """
        return len(self.columns) == 1 and self.n_codes > n_rows

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

    def __init__(
        self, n_features: Sequence[int], has_nan: Sequence[bool], numeric: Sequence[int]
    ) -> None:
        self.n_features: tuple[int, ...] = tuple(n_features)
        # Whether a missing value makes all features of a column NaN.
        self.has_nan: tuple[bool, ...] = tuple(has_nan)
        self.numeric: npt.NDArray[np.intp] = np.array(numeric, np.intp)
        self.n_columns: int = sum(self.n_features) + len(self.numeric)
        first = np.cumsum([0, *self.n_features])[:-1]
        n_before = np.searchsorted(self.numeric - np.arange(len(self.numeric)), first, "right")
        self.starts: list[int] = (first + n_before).tolist()
        self.radices: list[int] = [
            n + 1 + nan for n, nan in zip(self.n_features, self.has_nan, strict=True)
        ]
        smallest_first = sorted(range(len(self.radices)), key=self.radices.__getitem__)
        self.groups: list[Digits] = self.shared(smallest_first, MAX_SHARED_CODES)

    @classmethod
    def of_columns(cls, columns: Sequence[CodedColumn], numeric: Sequence[int]) -> JointLayout:
        """Return the layout of a matrix of these columns."""
        has_nan = [column.nan_where_missing and column.n_features > 0 for column in columns]
        return cls([column.n_features for column in columns], has_nan, numeric)

    def shared(self, columns: Iterable[int], max_codes: int) -> list[Digits]:
        """Combine adjacent columns into groups of at most `max_codes` codes, or of one column."""
        groups: list[list[int]] = []
        n_codes = 0
        for i in columns:
            n_codes *= self.radices[i]
            if not groups or n_codes > max_codes:
                groups.append([])
                n_codes = self.radices[i]
            groups[-1].append(i)
        return [Digits(tuple(each), tuple(self.radices[i] for i in each)) for each in groups]

    def equals(self, other: JointLayout) -> bool:
        """Tell whether the codes of two layouts have the same meaning."""
        same_columns = (self.n_features, self.has_nan) == (other.n_features, other.has_nan)
        return same_columns and np.array_equal(self.numeric, other.numeric)

    def feature_slice(self, column: int) -> slice:
        """Return the range of the matrix columns that encode a categorical column."""
        return slice(self.starts[column], self.starts[column] + self.n_features[column])

    def pack(
        self, columns: Sequence[CodedColumn], num_threads: int | None = None
    ) -> list[AnyArray]:
        """Return a new array of codes for each group.

        Every digit is in range, even if another thread changes the columns at the same time: it
        comes from a look-up table, or is bounded after it was copied.
        """
        codes = []
        for group in self.groups:
            dtype = np.min_scalar_type(group.n_codes - 1)
            alone = columns[group.columns[0]]
            if alone.lut is None and group.exceeds(len(alone.codes)):
                codes.append(_own_digits(alone.codes, group.n_codes).astype(dtype))
                continue
            parts = []
            for axis, i in enumerate(group.columns):
                lut = columns[i].digit_lut(math.prod(group.radices[axis + 1 :]))
                threads = parallel.resolve(num_threads, columns[i].codes.nbytes)
                parts.append(recode(columns[i].codes, lut, threads, dtype))
            for part in parts[1:]:
                parts[0] += part
            codes.append(parts[0])
        return codes

    def unpack(self, codes: Sequence[AnyArray]) -> list[CodedColumn]:
        """Return the columns that `pack` combined, as arguments for the functions of `write`."""
        found: dict[int, CodedColumn] = {}
        for group, group_codes in zip(self.groups, codes, strict=True):
            several: Sequence[AnyArray]
            if group.exceeds(len(group_codes)):  # each row becomes a code of its own
                several = [group_codes.astype(np.int32)]
                own_codes: AnyArray = np.arange(len(group_codes), dtype=np.int32)
            else:
                several, own_codes = group.of_codes(), group_codes
            for i, digits in zip(group.columns, several, strict=True):
                n, own = self.n_features[i], own_codes
                if self.has_nan[i]:  # `write` finds rows of NaN by their negative codes
                    own = np.where(digits > n, -1, np.arange(len(digits)))[own_codes]
                lut = lut_of(np.where(digits < n, digits, -1))
                found[i] = CodedColumn(own, lut, n, nan_where_missing=self.has_nan[i])
        return [found[i] for i in range(len(self.n_features))]

    def features(self, codes: Sequence[AnyArray]) -> npt.NDArray[np.int32]:
        """Return, for each row, the column of the matrix that each categorical column makes one.

        They ascend, but a row has -1 for a column without a feature and for a row of NaN.
        """
        found = np.empty((len(codes[0]), len(self.n_features)), np.int32)
        sizes, starts = np.array(self.n_features)[:, None], np.array(self.starts)[:, None]
        for group, group_codes in zip(self.groups, codes, strict=True):
            at = list(group.columns)
            if len(at) == 1:
                own = group_codes.astype(np.int32)
                found[:, at[0]] = np.where(own < sizes[at[0]], own + starts[at[0]], -1)
                continue
            is_few = group.n_codes > len(group_codes)
            several = group_codes if is_few else np.arange(group.n_codes)
            digits = np.array(np.unravel_index(several, group.radices))
            features = np.where(digits < sizes[at], digits + starts[at], -1).T
            found[:, at] = features if is_few else features.astype(np.int32)[group_codes]
        return found

    def nan_columns(self, codes: Sequence[AnyArray]) -> list[int]:
        """Return the indices of the categorical columns with at least one row of NaN."""
        found = []
        for group, group_codes in zip(self.groups, codes, strict=True):
            if group.exceeds(len(group_codes)):
                i = group.columns[0]
                if self.has_nan[i] and (group_codes > self.n_features[i]).any():
                    found.append(i)
            elif any(self.has_nan[i] for i in group.columns):
                counts = dispatch.count(group_codes, group.n_codes)
                digits = zip(group.columns, group.of_codes(), strict=True)
                found += [i for i, digit in digits if counts[digit > self.n_features[i]].any()]
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
            rows = block[self.feature_slice(i)]
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
        if not values.shape[1]:
            return result
        result[self.numeric] = numeric.T @ values
        for first in range(0, values.shape[1], implicit.WIDTH):
            columns = slice(first, first + implicit.WIDTH)
            parts = sums_of_codes(self.groups, codes, values[:, columns], threads)
            for group, part in zip(self.groups, parts, strict=True):
                for axis, i in enumerate(group.columns):
                    marginal = group.marginal(part, axis)[: self.n_features[i]]
                    result[self.feature_slice(i), columns] = marginal
        for i in self.nan_columns(codes):
            result[self.feature_slice(i)] = np.nan
        return result


def _own_digits(codes: AnyArray, n_codes: int) -> npt.NDArray[np.uint64]:
    """Return the digits of a column whose codes are its features.

    The last digit, ``n_codes - 1``, is a missing value. It comes from all negative codes.
    """
    unsigned = codes.astype(np.uint64)  # a copy; negative codes become larger than all others
    return np.minimum(unsigned, np.uint64(n_codes - 1), out=unsigned)


def sums_of_codes(
    groups: Sequence[Digits],
    codes: Sequence[AnyArray],
    values: Floats,
    threads: int,
    *,
    pairs: Sequence[tuple[int, int]] | None = None,
) -> list[Floats]:
    """Return, for each group, the sums of the rows of `values` that have the same code.

    With `pairs`, which contains pairs of indices of groups, return them for each pair, and sum rows
    that have the same two codes. The sums of blocks of rows are added in order. The blocks do not
    depend on the number of threads, which makes the result reproducible.
    """
    n_rows, width = values.shape
    n_codes = [group.n_codes for group in groups]
    sizes = n_codes if pairs is None else [n_codes[i] * n_codes[j] for i, j in pairs]
    n_bins = sum(sizes) * width
    lanes = 2 if width == 1 and n_bins <= MAX_TWO_LANES and pairs is None else 1
    n_blocks = max(n_rows // max(BLOCK_ROWS, ROWS_PER_BIN * n_bins), 1)
    block_rows = max(-(-n_rows // n_blocks), 1)
    shape = lanes * -(-n_rows // block_rows), n_bins
    check_size(shape, np.float64)
    bins = np.zeros(shape)
    of_pairs = None if pairs is None else np.array(pairs, np.int32).reshape(-1, 2)
    implicit.add_up([*codes], n_codes, of_pairs, values, bins, block_rows, lanes, threads)
    total = bins[0] if len(bins) == 1 else bins.sum(axis=0)
    return np.split(total.reshape(-1, width), np.cumsum(sizes)[:-1]) if sizes else []
