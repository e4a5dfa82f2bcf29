"""A column for the kernels: codes, and a look-up table from codes to output columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._runtime import dispatch, parallel

AnyArray: TypeAlias = npt.NDArray[Any]
Lut: TypeAlias = npt.NDArray[np.int32]

# Python handles up to this many codes faster than NumPy or a kernel starts.
FEW_CODES = 32


@dataclass(eq=False, slots=True)  # a frozen one takes four times as long to create
class CodedColumn:
    """A column as codes, and the output column of each code.

    Attributes
    ----------
    codes : ndarray of integers, shape (n_rows,), C-contiguous
        Negative where the value is missing.
    lut : ndarray of int32, shape (n_codes + 1,), optional
        Entry ``k`` is the output column of code ``k``, -1 for none; the last entry is for missing
        values. By default, a code is its output column, and a missing value has none.
    n_outputs : int
        The number of output columns.
    nan_where_missing : bool
        Whether all outputs of a row with a missing value are NaN.
    shifted_luts : dict of int to ndarray of int32, optional
        Cached results of `lut_from`.
    """

    codes: AnyArray
    lut: Lut | None
    n_outputs: int
    nan_where_missing: bool = False
    shifted_luts: dict[int, Lut] | None = None

    def lut_from(self, first: int) -> Lut:
        """Return the look-up table with `first` added to the output columns."""
        if self.lut is None:
            lut = np.arange(first, first + self.n_outputs + 1, dtype=np.int32)
            lut[-1] = -1
            return lut
        if first == 0:
            return self.lut
        known = {} if self.shifted_luts is None else self.shifted_luts
        if first not in known:
            known[first] = np.where(self.lut < 0, self.lut, self.lut + first)
        return known[first]

    def outputs(self, num_threads: int | None = None) -> AnyArray:
        """Return the output column of every row, -1 for none; without a look-up table the codes."""
        threads = parallel.resolve(num_threads, self.codes.nbytes)
        return self.codes if self.lut is None else dispatch.recode(self.codes, self.lut, threads)

    def counts(self) -> npt.NDArray[np.int64]:
        """Return in how many rows each code occurs."""
        n_codes = self.n_outputs if self.lut is None else len(self.lut) - 1
        return dispatch.count(self.codes, n_codes)

    def rows_of_nan(self) -> npt.NDArray[np.intp]:
        """Return the rows whose outputs are NaN."""
        return np.flatnonzero(self.codes < 0) if self.nan_where_missing else np.empty(0, np.intp)
