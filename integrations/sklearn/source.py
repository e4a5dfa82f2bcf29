"""What comes in → features of codes, by scikit-learn's rules of what an input is."""

from __future__ import annotations

import enum
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite, check_array

from onehot_fast._runtime.registry import reader_of
from onehot_fast.column import Column, Table, read_table

AnyArray: TypeAlias = npt.NDArray[Any]


class Missing(enum.Enum):
    """What stands for a missing value among categories: NaN itself is equal to none, so no key."""

    NAN = "nan"


NAN: Final = Missing.NAN
# The kinds of dtypes that `check_array` leaves as they are; it refuses complex numbers.
UNCHANGED = "OUSbiufmM"


class Feature(NamedTuple):
    """One column of the rows at hand.

    A code is the position of a category; one past the last stands for None where both None and NaN
    occur; a negative one stands for `missing`.
    """

    codes: AnyArray
    categories: AnyArray  # distinct, none of them missing, in any order
    missing: Literal[Missing.NAN] | None = NAN
    has_missing: bool = False  # whether a code is negative
    has_none: bool = False  # whether None has a code of its own


class Source:
    """A table whose features are read one at a time."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.n_rows = table.n_rows
        self.n_features = len(table.names)

    def read(self, at: int) -> Feature:
        """Return one feature."""
        try:
            column = self.table.read(at)
        except TypeError:  # values without a hash
            raise not_uniform(map(type, self.table.values(at))) from None
        if column.categories.dtype.kind == "f":
            assert_all_finite(column.categories, allow_nan=True)
        return self._narrowed(at, column)

    def _narrowed(self, at: int, column: Column) -> Feature:
        """Return a feature whose codes are as narrow as its categories allow."""
        codes, n = column.codes, len(column.categories)
        # An output's worth of memory would else go to the codes: 40 of 64 MB for 1M x 5 texts.
        narrow = np.int8 if n < 128 else np.int16 if n < 32768 else np.int32
        if codes.itemsize > np.dtype(narrow).itemsize and n < 2**31:
            codes = codes.astype(narrow)
        if codes.dtype.kind == "u" or not codes.size or codes.min() >= 0:
            return Feature(codes, column.categories)
        return self._with_missing(at, Column(codes, column.categories))

    def _with_missing(self, at: int, column: Column) -> Feature:
        """Return a feature with missing values, of the kind they are."""
        return Feature(column.codes, column.categories, NAN, True)

    def dtype(self, at: int, feature: Feature) -> np.dtype[Any]:
        """Return the dtype that scikit-learn gives the categories of a feature."""
        raise NotImplementedError


class ArraySource(Source):
    """An array of rows, all features of one dtype."""

    def __init__(self, array: AnyArray) -> None:
        super().__init__(read_table(array))
        self.array = array

    def _narrowed(self, at: int, column: Column) -> Feature:
        feature = super()._narrowed(at, column)
        if self.array.dtype.kind not in "US":
            return feature
        # A library that hashes texts may return them as objects.
        return feature._replace(categories=feature.categories.astype(self.array.dtype))

    def _with_missing(self, at: int, column: Column) -> Feature:
        if self.array.dtype != object:
            return super()._with_missing(at, column)
        return _told_apart(column, self.array[:, at])

    def dtype(self, at: int, feature: Feature) -> np.dtype[Any]:
        """Return that of the array."""
        dtype = self.array.dtype
        return np.dtype(object) if dtype.kind == "T" else dtype


class FrameSource(Source):
    """A DataFrame of pandas, whose columns keep their dtypes."""

    def __init__(self, frame: Any) -> None:
        super().__init__(read_table(frame))
        self.frame = frame

    def _with_missing(self, at: int, column: Column) -> Feature:
        series = self.frame.iloc[:, at]
        if series.dtype != object:
            return super()._with_missing(at, column)
        return _told_apart(column, series.to_numpy())

    def dtype(self, at: int, feature: Feature) -> np.dtype[Any]:
        """Return what `check_array` makes of a row with a value and one without."""
        series = self.frame.iloc[:, at]
        if isinstance(series.dtype, np.dtype) and series.dtype.kind in UNCHANGED:
            return series.dtype
        is_missing = feature.codes < 0
        rows = sorted({int(is_missing.argmin()), int(is_missing.argmax())})
        few = check_array(
            series.iloc[rows], ensure_2d=False, dtype=None, ensure_all_finite="allow-nan"
        )
        dtype: np.dtype[Any] = few.dtype
        return dtype


class TableSource(Source):
    """A table of polars or Arrow; its features keep their dtypes, as those of pandas do."""

    def _with_missing(self, at: int, column: Column) -> Feature:
        is_none = column.categories.dtype.kind in "OUSTb"
        return Feature(column.codes, column.categories, None if is_none else NAN, True)

    def dtype(self, at: int, feature: Feature) -> np.dtype[Any]:
        """Return what the library makes of the column as an array of NumPy."""
        dtype = feature.categories.dtype
        if dtype.kind in "OUST" or (dtype.kind == "b" and feature.has_missing):
            return np.dtype(object)
        return np.dtype(np.float64) if dtype.kind in "iu" and feature.has_missing else dtype


def source_of(rows: Any) -> Source:
    """Return any input of scikit-learn's, or a table of a library, as columns to read.

    Raises
    ------
    TypeError, ValueError
        As `sklearn.utils.check_array` words them.
    """
    library = reader_of(rows)
    if library is not None and len(getattr(rows, "shape", ())) == 2:
        if 0 in rows.shape:
            check_array(rows, dtype=None)  # which says what is empty
        return FrameSource(rows) if library == "pandas" else TableSource(read_table(rows))
    is_plain = type(rows) is np.ndarray and rows.ndim == 2 and rows.dtype.kind in UNCHANGED
    if is_plain and rows.size:
        return ArraySource(rows)
    array = check_array(rows, dtype=None, ensure_all_finite="allow-nan")
    if not hasattr(rows, "dtype") and array.dtype.kind == "U":
        # A list of texts and numbers: as objects they stay what they are.
        array = check_array(rows, dtype=object, ensure_all_finite="allow-nan")
    return ArraySource(array)


def not_uniform(types: Any) -> TypeError:
    """Return scikit-learn's error for values that have no order or no hash."""
    names = sorted({float.__name__ if kind is Missing else kind.__qualname__ for kind in types})
    return TypeError(
        f"Encoders require their input argument must be uniformly strings or numbers. Got {names}"
    )


def _told_apart(column: Column, values: AnyArray) -> Feature:
    """Return a feature of objects: None and NaN are two values to scikit-learn, not one."""
    codes, categories = column.codes, column.categories
    values = np.ascontiguousarray(values)
    # There is one None, and an array holds the addresses of its objects.
    addresses = np.ndarray(len(values), np.intp, buffer=values.data)
    is_none = addresses == id(None)
    n_none, n_missing = np.count_nonzero(is_none), np.count_nonzero(codes < 0)
    if n_none in (0, n_missing):
        return Feature(codes, categories, None if n_none else NAN, True)
    wide = np.int16 if len(categories) < 32767 else np.int32
    codes = codes.astype(np.promote_types(codes.dtype, wide))
    codes[is_none] = len(categories)
    return Feature(codes, categories, NAN, True, has_none=True)
