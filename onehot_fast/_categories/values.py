"""A column of a table as plain `Values`, and the way from any column to a `Column` or `Values`.

Integrations pass plain values without hashing them. The core hashes the values in ``fit`` and looks
them up in ``transform``. `encode` of both classes returns a `Column`.
"""

from __future__ import annotations

from collections.abc import Callable, KeysView, Sequence, ValuesView
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import as_array, is_array_like
from onehot_fast._arguments.messages import with_article
from onehot_fast._arrow.array import Array
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.column import Column
from onehot_fast._categories.factorize import concatenated, factorize_chunks
from onehot_fast._categories.keys import as_objects
from onehot_fast._runtime.registry import READERS, integration, reader_of

__all__ = ["Values", "as_values", "read_column"]

AnyArray: TypeAlias = npt.NDArray[Any]


@dataclass(eq=False)
class Values:
    """A column of plain values in one or more arrays, one after the other.

    Parameters
    ----------
    chunks : sequence of ndarray, or of chunks of an Arrow array
        Either one-dimensional arrays of any dtype that `read_column` accepts, or chunks from
        `onehot_fast._arrow.array.read` of strings, bytes, numbers, Booleans, timestamps without a
        time zone or durations. The sequence may be empty.
    convert : callable, ndarray of int64, shape (n,) → ndarray, shape (n,), optional
        A function that converts the distinct integers to categories. It is needed if the integers
        represent dates, times of day or timestamps with a time zone.
    missing : sequence of object, optional
        Objects that count as missing in an array of objects, in addition to None and NaN, such as
        ``pandas.NA``.

    Examples
    --------
    >>> values = Values([np.array([7, 5]), np.array([5])])
    >>> len(values), values.encode()
    (3, Column(3 rows, 2 categories, source='hash'))
    """

    chunks: Sequence[Any]
    convert: Callable[[Any], AnyArray] | None = None
    missing: Sequence[object] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(map(len, self.chunks))

    def encode(self) -> Column:
        """Return a `Column` with a code for each value, and the categories that occur."""
        column = factorize_chunks(self.chunks, self.missing)
        if self.convert is None:
            return column
        return Column(column.codes, self.convert(column.stored), source=column.source)

    def numbers(self) -> AnyArray | None:
        """Return Booleans, integers or floats as an array, or None for values of another type.

        Missing values become NaN, which converts integers and Booleans to float64.
        """
        if self.convert is not None:
            return None
        return _joined([_numbers(chunk) for chunk in self.chunks], np.bool_)

    def lookup(self, known: Categories) -> npt.NDArray[np.int32] | None:
        """Return the position in `known` of each value: -1 if missing, -2 if unknown.

        Return None if values of this type cannot be looked up in `known`; in that case, call
        `encode` and look up the categories that it returns.
        """
        if self.convert is not None:
            return None
        return _joined([known.lookup(chunk, self.missing) for chunk in self.chunks], np.int32)


def _joined(parts: Sequence[AnyArray | None], dtype: npt.DTypeLike) -> AnyArray | None:
    """Return the concatenated parts, or None if a part is None.

    Without parts, return an empty array of `dtype`.
    """
    present = [part for part in parts if part is not None]
    if len(present) < len(parts):
        return None
    return concatenated(present) if present else np.empty(0, dtype)


def _numbers(chunk: Any) -> AnyArray | None:
    """Return a chunk of `Values` as numbers, or None if the values are not numbers."""
    if isinstance(chunk, Array):
        return chunk.numbers()
    if not isinstance(chunk, np.ndarray) or chunk.dtype.kind not in "biuf":
        return None
    if not isinstance(chunk, np.ma.MaskedArray):
        return chunk
    return chunk.data if not chunk.mask.any() else np.where(chunk.mask, np.nan, chunk.data)


def read_column(column: Any) -> Column | Values:
    """Return any supported column as a `Column` if it stores codes, otherwise as `Values`.

    Supported are an ndarray, a list, a tuple, and a column of a library with an integration.
    Missing values are None, NaN, NaT, the missing values of the library, and masked values.
    """
    if isinstance(column, Column | Values):
        return column
    library = reader_of(column)
    if library is not None:
        read: Column | Values = integration(library).read_column(column)
        return read
    return Values((as_values(column),))


def _array_of(column: Any) -> AnyArray:
    """Return an array-like, a range or a view of a dict as an array."""
    if is_array_like(column):
        return as_array(column, "a column")
    if isinstance(column, Sequence | ValuesView | KeysView) and not isinstance(column, str | bytes):
        return as_values(list(column))
    raise TypeError(
        "a column must be an ndarray or another array-like, a list, a tuple, a Column, or a column"
        f" of {', '.join(READERS)}; got {with_article(column)}"
    )


def as_values(column: Any) -> AnyArray:
    """Return a column as a one-dimensional array; Python sequences become object arrays."""
    if isinstance(column, Column):
        return as_objects(column.tolist())
    if isinstance(column, list | tuple):
        # NumPy would convert [1, "x"] to strings, and nested lists to rows.
        values = np.empty(len(column), object)
        values[:] = column
        return values
    if not isinstance(column, np.ndarray):
        column = _array_of(column)
    if column.ndim != 1:
        raise ValueError(f"a column must have one dimension, got shape {column.shape}")
    array: AnyArray = column
    return array
