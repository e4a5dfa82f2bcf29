"""A column of a table: codes with categories (`Column`), or plain `Values`.

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
from onehot_fast._categories.factorize import Factorized, concatenated, factorize_chunks
from onehot_fast._categories.keys import as_objects
from onehot_fast._categories.strings import Strings
from onehot_fast._runtime.registry import READERS, integration, reader_of
from onehot_fast._runtime.utils import cached_property

__all__ = ["Column", "Values", "as_values", "read_column"]

AnyArray: TypeAlias = npt.NDArray[Any]

# The values of `Column.source` for declared categories, which are kept even if no row has them.
DECLARED = frozenset({"category", "enum"})


class Column:
    """A column of codes, and the category of each code.

    Parameters
    ----------
    codes : ndarray of integers, shape (n_rows,)
        Positions in `categories`, negative if the value is missing. The array is C-contiguous, in
        native byte order, of 8 to 64 bits; it may be a read-only view of the source's memory.
    categories : ndarray, shape (n_categories,)
        Distinct values, none of them missing; of dtype object if NumPy has no dtype for them.
    ordered : bool, default False
        Whether the order of the categories has a meaning.
    source : str, default "hash"
        The origin of the codes. With ``"category"`` and ``"enum"``, the categories were declared:
        all of them are kept, in their order. With any other value, such as ``"hash"`` or
        ``"dictionary"``, the order is ignored, and so is a category that no row has.
    read : callable, optional
        A function that converts `categories` to an array when it is needed. `categories` can then
        be any immutable object with a length. An encoder caches the look-up table of the last such
        object.

    Raises
    ------
    TypeError
        `codes` or `categories` is not an ndarray, or the codes are not integers.
    ValueError
        An array is not one-dimensional, the codes are not contiguous or not in native byte order,
        or a code is not below the number of categories.

    Examples
    --------
    >>> import numpy as np
    >>> from onehot_fast import Column
    >>> Column(np.array([1, -1, 0], np.int8), np.array(["S", "M"]), ordered=True, source="category")
    Column(3 rows, 2 ordered categories, source='category')
    """

    # The number of rows of each category, if the source has counted them.
    counts: npt.NDArray[np.int64] | None = None
    # Whether parts of the source declare different categories, or a different order.
    is_conflicting: bool = False
    # The `categories` that were passed with `read`, or None without `read`.
    shared: Any = None
    _read: Callable[[Any], AnyArray] | None = None
    # Whether it is known that no two categories are equal, as 1 and 1.0 would be.
    is_distinct: bool = False

    def __init__(
        self,
        codes: AnyArray,
        categories: Any,
        ordered: bool = False,
        source: str = "hash",
        *,
        read: Callable[[Any], AnyArray] | None = None,
    ) -> None:
        _check_array(codes, "codes")
        if read is None and not isinstance(categories, Strings):
            _check_array(categories, "categories")
        _check_codes(codes, len(categories))
        self.codes: AnyArray = codes
        self.ordered: bool = ordered
        self.source: str = source
        if read is None:
            self.stored = categories
        else:
            self.shared, self._read = categories, read

    @classmethod
    def unchecked(
        cls,
        codes: AnyArray,
        categories: AnyArray | Strings,
        ordered: bool = False,
        source: str = "hash",
        *,
        is_distinct: bool = False,
    ) -> Column:
        """Return a column without checking its codes, because the check reads every row."""
        column = cls.__new__(cls)
        fields = {"ordered": ordered, "source": source, "is_distinct": is_distinct}
        column.__dict__.update(codes=codes, stored=categories, **fields)
        return column

    @cached_property
    def stored(self) -> AnyArray | Strings:
        """The categories that were passed or, if `read` was passed, the array that it returns."""
        assert self._read is not None
        return self._read(self.shared)

    @cached_property
    def categories(self) -> AnyArray:
        """The categories as an array; `Strings` are converted to objects at the first use."""
        if isinstance(self.stored, Strings):
            return self.stored.to_object()
        return self.stored

    @property
    def n_categories(self) -> int:
        """The number of categories."""
        return len(self.stored if self.shared is None else self.shared)

    @property
    def declared(self) -> bool:
        """Whether the categories and their order were declared, as in a pandas Categorical."""
        return self.source in DECLARED

    def encode(self) -> Column:
        """Return the column itself."""
        return self

    def take(self, positions: npt.NDArray[np.integer[Any]]) -> Column:
        """Return the rows at `positions`, with all categories."""
        codes = self.codes.take(positions)
        return Column.unchecked(codes, self.stored, self.ordered, self.source)

    def tolist(self) -> list[Any]:
        """Return the value of each row as a Python object or NumPy scalar; None if missing."""
        labels = [*Categories(self.stored).tolist(), None]
        return [labels[code if code >= 0 else -1] for code in self.codes.tolist()]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    def __repr__(self) -> str:
        """Return the size and the source, without the values."""
        kind = "ordered categories" if self.ordered else "categories"
        return f"Column({len(self)} rows, {self.n_categories} {kind}, source={self.source!r})"


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
        codes, categories, source = factorize_chunks(self.chunks, self.missing)
        if self.convert is not None:
            return Column(codes, self.convert(categories), source=source)
        return Column.unchecked(codes, categories, source=source, is_distinct=True)

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


def _check_array(array: Any, name: str) -> None:
    """Raise an error unless the argument `name` is a one-dimensional array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} must be an ndarray, got {with_article(array)}")
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {array.shape}")


def _check_codes(codes: AnyArray, n_categories: int) -> None:
    """Raise an error if the kernels cannot read the codes, or if a code has no category."""
    if codes.dtype.kind not in "iu":
        raise TypeError(f"codes must be integers, got dtype {codes.dtype}")
    if not (codes.flags.c_contiguous and codes.flags.aligned and codes.dtype.isnative):
        raise ValueError(
            "codes must be contiguous, aligned and in native byte order: pass codes.astype('int64')"
        )
    largest = int(codes.max()) if codes.size else -1
    if largest >= n_categories:
        row = int(np.argmax(codes))
        raise ValueError(f"codes[{row}] must be in [-1, {n_categories}), got {largest}")


def read_column(column: Any) -> Column | Values:
    """Return any supported column as a `Column` if it stores codes, otherwise as `Values`.

    Supported are an ndarray, a list, a tuple, and a column of a library with an integration.
    Missing values are None, NaN, NaT, the missing values of the library, and masked values.
    """
    if isinstance(column, Column | Values):
        return column
    if isinstance(column, Factorized):
        codes, categories, source = column
        return Column.unchecked(codes, categories, source=source, is_distinct=True)
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
