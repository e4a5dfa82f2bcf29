"""A column as the core sees it, in one of two forms.

- `Column`, where the source holds codes: a categorical, an enum, a dictionary-encoded array;
- `Values`, where it holds plain values. The integration hashes nothing: the core learns the values
  in ``fit`` and looks them up among the known categories in ``transform``, each in one pass over
  the arrays where they lie.

``column.encode()`` turns either into a `Column`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import with_article
from onehot_fast._arrow.array import Array
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.factorize import Factorized, concatenated, factorize_chunks
from onehot_fast._categories.strings import Strings
from onehot_fast._runtime.registry import READERS, integration, reader_of
from onehot_fast._runtime.utils import cached_property

__all__ = ["Column", "Values", "as_values", "read_column", "read_values"]

AnyArray: TypeAlias = npt.NDArray[Any]

# The sources whose categories count even where they do not occur.
DECLARED = frozenset({"category", "enum"})


class Column:
    """The one form in which a column enters the core: codes and the categories they stand for.

    Parameters
    ----------
    codes : ndarray of integers, shape (n_rows,)
        Positions in `categories`; negative where the value is missing. C-contiguous, in native
        byte order, of 8 to 64 bits; often a read-only view of the source's own memory.
    categories : ndarray, shape (n_categories,)
        Distinct and none of them missing; of dtype object where NumPy has no dtype for them.
    ordered : bool, default False
        Whether the order of the categories has a meaning.
    source : str, default "hash"
        Where the codes came from. ``"category"`` and ``"enum"``: the categories were declared, all
        of them and their order count. Any other word, such as ``"hash"`` or ``"dictionary"``:
        those that do not occur in the codes do not count, and neither does their order.
    read : callable, optional
        Returns the categories when they are needed; `categories` is then any immutable object with
        a length. An encoder keeps the look-up table of the last such object.

    Raises
    ------
    TypeError
        `codes` or `categories` is not an ndarray, or the codes are not integers.
    ValueError
        An array is not one-dimensional, the codes are not contiguous or not in native byte order,
        or one of them is beyond the categories.

    Examples
    --------
    >>> import numpy as np
    >>> from onehot_fast import Column
    >>> Column(np.array([1, -1, 0], np.int8), np.array(["S", "M"]), ordered=True, source="category")
    Column(3 rows, 2 ordered categories, source='category')
    """

    # In how many rows each category occurs, where others have counted.
    counts: npt.NDArray[np.int64] | None = None
    # Whether parts of the source declare different categories, or a different order.
    is_conflicting: bool = False
    # What `read` makes the categories of, if it was given.
    shared: Any = None
    _read: Callable[[Any], AnyArray] | None = None

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
        self._set(codes, categories, ordered, source, read)

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
        """Return a column of codes that were checked when they were read.

        To search for the largest code again would take a pass over all rows. `is_distinct` tells
        that no two categories are equal, whatever their types.
        """
        column = cls.__new__(cls)
        column._set(codes, categories, ordered, source)
        column.is_distinct = is_distinct
        return column

    def _set(
        self,
        codes: AnyArray,
        categories: Any,
        ordered: bool,
        source: str,
        read: Callable[[Any], AnyArray] | None = None,
    ) -> None:
        """Set the attributes of a column."""
        self.codes: AnyArray = codes
        self.ordered: bool = ordered
        self.source: str = source
        self.is_distinct = False
        if read is None:
            self.stored = categories
        else:
            self.shared, self._read = categories, read

    @cached_property
    def stored(self) -> AnyArray | Strings:
        """The categories as they were given."""
        assert self._read is not None
        return self._read(self.shared)

    @cached_property
    def categories(self) -> AnyArray:
        """The categories as an array; texts become objects when they are asked for."""
        if isinstance(self.stored, Strings):
            return self.stored.to_object()
        return self.stored

    @property
    def n_categories(self) -> int:
        """How many categories there are."""
        return len(self.stored if self.shared is None else self.shared)

    def distinct(self) -> tuple[Categories, npt.NDArray[np.int64] | None]:
        """Return the distinct categories, and the position there of each one here (None: its own).

        Equal values of different types, such as 1 and 1.0, are one category.
        """
        if self.is_distinct:
            return Categories.of(self.stored), None
        return Categories.distinct(self.stored)

    @property
    def declared(self) -> bool:
        """Whether the categories were declared, the unobserved ones and their order included."""
        return self.source in DECLARED

    def encode(self) -> Column:
        """Return the column itself: it holds codes already."""
        return self

    def take(self, positions: npt.NDArray[np.integer[Any]]) -> Column:
        """Return the rows at some positions; the categories stay."""
        codes = self.codes.take(positions)
        return Column.unchecked(codes, self.stored, self.ordered, self.source)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    def __repr__(self) -> str:
        """Name the size and the source; the values may be many."""
        kind = "ordered categories" if self.ordered else "categories"
        return f"Column({len(self)} rows, {self.n_categories} {kind}, source={self.source!r})"


@dataclass(eq=False)
class Values:
    """A column of plain values: one or more arrays, one after the other, that nobody has hashed.

    Parameters
    ----------
    chunks : sequence of ndarray, or of chunks of an Arrow array
        All of one kind: one-dimensional arrays of any dtype that `read_column` takes, or what
        `onehot_fast._arrow.array.read` yields of texts, bytes, numbers, Booleans, instants without
        a zone and durations. There may be none.
    convert : callable, ndarray of int64, shape (n,) → ndarray, shape (n,), optional
        Makes the categories out of distinct integers, where these only stand for the values: dates,
        times of day and instants with a zone of an Arrow array.
    missing : sequence of object, optional
        Objects beside None and NaN that stand for no value in an array of objects, such as
        ``pandas.NA``; others that are not equal to themselves are found by a slower way.

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
        """Return the values as codes and the categories that occur."""
        codes, categories, source = factorize_chunks(self.chunks, self.missing)
        if self.convert is not None:
            return Column(codes, self.convert(categories), source=source)
        return Column.unchecked(codes, categories, source=source, is_distinct=True)

    def numbers(self) -> AnyArray | None:
        """Return Booleans, integers and floats as an array, None for values of another type.

        A missing value is NaN, and turns integers and Booleans into float64.
        """
        if self.convert is not None:
            return None
        chunks = [_numbers(chunk) for chunk in self.chunks]
        present = [chunk for chunk in chunks if chunk is not None]
        if len(present) < len(chunks):
            return None
        return concatenated(present) if present else np.empty(0, np.bool_)

    def lookup(self, known: Categories) -> npt.NDArray[np.int32] | None:
        """Return the position of each value among known categories.

        Returns
        -------
        ndarray of int32, shape (n_rows,), or None
            -1 for a missing value, -2 for an unknown one. None where values and categories are of
            different kinds: what `encode` returns can be looked up then.
        """
        if self.convert is not None:
            return None
        chunks = []
        for chunk in self.chunks:
            codes = known.lookup(chunk, self.missing)
            if codes is None:
                return None
            chunks.append(codes)
        return concatenated(chunks) if chunks else np.empty(0, np.int32)


def _numbers(chunk: Any) -> AnyArray | None:
    """Return the numbers of one array of `Values`, None if it holds something else."""
    if isinstance(chunk, Array):
        return chunk.numbers()
    if not isinstance(chunk, np.ndarray) or chunk.dtype.kind not in "biuf":
        return None
    if not isinstance(chunk, np.ma.MaskedArray):
        return chunk
    return chunk.data if not chunk.mask.any() else np.where(chunk.mask, np.nan, chunk.data)


def _check_array(array: Any, name: str) -> None:
    """Refuse what is no one-dimensional array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is {with_article(array)}; accepted is an ndarray")
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; accepted is one dimension")


def _check_codes(codes: AnyArray, n_categories: int) -> None:
    """Refuse codes that the kernels cannot read, or that stand for nothing."""
    if codes.dtype.kind not in "iu":
        raise TypeError(f"codes have dtype {codes.dtype}; accepted are integers")
    if not (codes.flags.c_contiguous and codes.flags.aligned and codes.dtype.isnative):
        raise ValueError("codes must be contiguous, aligned and in native byte order")
    largest = int(codes.max()) if codes.size else -1
    if largest >= n_categories:
        row = int(np.argmax(codes))
        raise ValueError(f"codes[{row}] = {largest} is outside [-1, {n_categories})")


def read_column(values: Any) -> Column:
    """Return any supported column as a `Column`.

    Parameters
    ----------
    values : Column, ndarray of shape (n_rows,), list, tuple, or a library's column
        None, NaN, NaT, a missing value of the library and what a masked array masks are missing.

    Returns
    -------
    Column
        The categories are in no particular order, unless they were declared.

    Raises
    ------
    TypeError
        The kind of column is not supported, or a value cannot be hashed.
    ValueError
        An array is not one-dimensional.

    Examples
    --------
    >>> column = read_column(np.array([2.5, np.nan, -0.0, 0.0]))
    >>> column.codes, column.categories
    (array([ 0, -1,  1,  1], dtype=int32), array([2.5, 0. ]))
    """
    return read_values(values).encode()


def read_values(column: Any) -> Column | Values:
    """Return any supported column in the form in which its source holds it; see `read_column`."""
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


def as_values(column: Any) -> AnyArray:
    """Return a column as a one-dimensional array, Python's sequences as objects."""
    if isinstance(column, Column):
        # A missing code takes the None that is appended.
        labels = np.append(column.categories.astype(object), np.array([None], object))
        return labels[np.where(column.codes < 0, len(labels) - 1, column.codes)]
    if isinstance(column, list | tuple):
        # One by one: NumPy would turn [1, "x"] into texts, and look into lists.
        values = np.empty(len(column), object)
        values[:] = column
        return values
    if not isinstance(column, np.ndarray):
        raise TypeError(
            f"{with_article(column)} is not a column; accepted are an ndarray, a list, a tuple, a"
            f" Column, and a column of {', '.join(READERS)}"
        )
    if column.ndim != 1:
        raise ValueError(f"a column has shape {column.shape}; accepted is one dimension")
    return column
