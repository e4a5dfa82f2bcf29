"""A column for the kernels: its codes and a look-up table from codes to features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._kernels import dispatch
from onehot_fast._runtime import memory, parallel
from onehot_fast._runtime.cache import Cache

AnyArray: TypeAlias = npt.NDArray[Any]
Lut: TypeAlias = npt.NDArray[np.int32]

Offsets: TypeAlias = npt.NDArray[np.int64]
AnyIntegers: TypeAlias = npt.NDArray[np.integer[Any]]

# A schema keeps at most this number of look-up tables that are made from each of its own.
MAX_CACHED_LUTS = 64
# Up to this many codes, a list of them is faster than a call of NumPy.
FEW_CODES = 16


def new_luts() -> Cache[Lut]:
    """Return an empty cache for `CodedColumn.luts`."""
    return Cache(MAX_CACHED_LUTS)


@dataclass(eq=False, slots=True)  # creating a frozen instance takes four times as long
class CodedColumn:
    """The codes of a column, and the feature of each code.

    The rows of a ragged column have any number of codes: those of row ``i`` are
    ``codes[offsets[i]:offsets[i + 1]]``. Two of them may have the same feature.
    """

    codes: AnyArray  # C-contiguous integers, negative where the value is missing
    # Entry `k` is the feature of code `k`, or -1 if it has none; the last entry is for
    # missing values. If None, code `k` has feature `k`, and a missing value has none.
    lut: Lut | None
    n_features: int
    nan_where_missing: bool = False  # whether all features of a row with a missing value are NaN
    # The results of `lut_from` and `digit_lut`, which columns with the same `lut` share.
    luts: Cache[Lut] = field(default_factory=new_luts)
    offsets: Offsets | None = None  # None: each row has one code

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.codes) if self.offsets is None else len(self.offsets) - 1

    @property
    def n_codes(self) -> int:
        """The number of codes of all rows; there may be others before and after them."""
        if self.offsets is None:
            return len(self.codes)
        # Clip it, because only the kernels check the offsets.
        return min(max(int(self.offsets[-1] - self.offsets[0]), 0), len(self.codes))

    @classmethod
    def of_positions(
        cls, codes: AnyArray, positions: AnyIntegers, n_features: int, missing: int = -1
    ) -> CodedColumn:
        """Return a column in which code ``k`` has the feature ``positions[k]``; see `lut_of`."""
        return cls(codes, lut_of(positions, missing), n_features)

    @classmethod
    def of_order(cls, codes: AnyArray, order: AnyIntegers, n_codes: int) -> CodedColumn:
        """Return a column in which code ``order[i]`` has the feature ``i``; see `lut_of_order`."""
        return cls(codes, lut_of_order(order, n_codes), len(order))

    def lut_from(self, first: int) -> Lut:
        """Return the look-up table with `first` added to each entry, except negative entries."""
        if self.lut is None:
            lut = np.arange(first, first + self.n_features + 1, dtype=np.int32)
            lut[-1] = -1
            return lut
        if first == 0:
            return self.lut
        return self.luts.get(first, _shifted, self.lut, first)

    def digit_lut(self, scale: int) -> Lut:
        """Return the look-up table of the digits of `JointLayout`, multiplied by `scale`."""
        return self.luts.get(("digit", scale), self._digits, scale)

    def _digits(self, scale: int) -> Lut:
        """Return the digit of each code, multiplied by `scale`."""
        lut = self.lut_from(0).copy()
        lut[lut < 0] = self.n_features
        lut[-1] += self.nan_where_missing and self.n_features > 0
        return lut * np.int32(scale)

    def features(self, num_threads: int | None = None) -> AnyArray:
        """Return the feature of each row; a negative number means no column."""
        threads = parallel.resolve(num_threads, self.codes.nbytes)
        return self.codes if self.lut is None else recode(self.codes, self.lut, threads)

    def counts(self) -> npt.NDArray[np.int64]:
        """Return the number of rows with each code."""
        n_codes = self.n_features if self.lut is None else len(self.lut) - 1
        if self.offsets is not None:
            return dispatch.count_rows(self.offsets, self.codes, None, n_codes)
        return dispatch.count(self.codes, n_codes)

    def rows_of_nan(self) -> npt.NDArray[np.intp]:
        """Return the indices of the rows whose features are NaN."""
        if not self.nan_where_missing:
            return np.empty(0, np.intp)
        places = np.flatnonzero(self.codes < 0)
        if self.offsets is None:
            return places
        return np.unique(np.searchsorted(self.offsets, places, side="right") - 1)


def lut_of(positions: AnyIntegers, missing: int = -1) -> Lut:
    """Return the look-up table from each code to its position, and from a missing value.

    A position, also that of a missing value, is -1 if there is none.
    """
    lut = np.empty(len(positions) + 1, np.int32)
    lut[:-1] = positions
    lut[-1] = missing
    return lut


def lut_of_order(order: AnyIntegers, n_codes: int) -> Lut:
    """Return the look-up table from each code to its position in `order`.

    The position of a missing value, and of a code that is not in `order`, is -1.
    """
    lut = np.full(n_codes + 1, -1, np.int32)
    lut[order] = np.arange(len(order), dtype=np.int32)
    return lut


def lowest_code(codes: AnyArray) -> int:
    """Return the lowest code, or 0 if there are none."""
    if len(codes) > FEW_CODES:
        return int(codes.min())
    lowest: int = min(codes.tolist(), default=0)
    return lowest


def recode(
    codes: AnyArray,
    lut: npt.NDArray[np.int32],
    num_threads: int = 1,
    dtype: np.dtype[Any] | None = None,
) -> AnyArray:
    """Return the lut entry of each code.

    `dtype` must fit all entries. By default, it is the smallest signed dtype that does.
    """
    dtype = dtype or np.min_scalar_type(-max(int(lut.max()) + 1, 1))
    out, _ = memory.allocate((len(codes),), dtype)
    dispatch.recode(codes, lut, out, num_threads)
    return out


def _shifted(lut: Lut, first: int) -> Lut:
    """Return a look-up table with `first` added to each entry that is not negative."""
    return np.where(lut < 0, lut, lut + first)
