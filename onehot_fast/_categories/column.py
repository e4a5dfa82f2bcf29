"""A column of a table as codes, and the category of each code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.messages import with_article
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.strings import Strings
from onehot_fast._runtime.utils import cached_property

__all__ = ["Column"]

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
        return self.with_codes(self.codes.take(positions))

    def with_codes(self, codes: AnyArray) -> Column:
        """Return rows with other codes of the same categories."""
        column = Column.unchecked(
            codes, self.stored, self.ordered, self.source, is_distinct=self.is_distinct
        )
        column.is_conflicting = self.is_conflicting
        return column

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
