"""A column whose rows have any number of labels, and how lists and separated texts become one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from types import NoneType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import (
    as_array,
    is_array_like,
    is_container,
    items_of,
    unwrapped,
)
from onehot_fast._arguments.messages import shown, with_article
from onehot_fast._arrow.array import Array
from onehot_fast._categories import lists
from onehot_fast._categories.column import Column
from onehot_fast._categories.factorize import concatenated
from onehot_fast._categories.keys import is_missing
from onehot_fast._categories.lists import are_arrow_texts, labels_of
from onehot_fast._categories.strings import Strings
from onehot_fast._categories.values import Values
from onehot_fast._runtime.registry import integration, reader_of

__all__ = [
    "RaggedColumn", "all_missing", "are_lists", "have_separator", "hold_numbers", "of_lists",
    "read_lists", "row_of", "split", "split_texts",
]  # fmt: skip

AnyArray: TypeAlias = npt.NDArray[Any]
Offsets: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

OBJECT = np.dtype(object)
# Containers that are one category each, because they have a hash; and those that are no lists.
SINGLE = (str, bytes, tuple, frozenset, Mapping)
# The types of labels that are not encoded by default, as a column of numbers is not.
NUMBERS = (Number, np.bool_, np.datetime64, np.timedelta64)
# The kinds of Arrow types and of dtypes of such labels.
NUMERIC_KINDS = frozenset({"boolean", "integer", "float", *"biufcmM"})
# The remedy for lists of lists.
FLATTEN = "flatten the lists of each row, or make a tuple of each inner list, which is one label"
# The kinds of dtypes whose values may be texts.
MAYBE_TEXT = frozenset("OUT")


@dataclass(frozen=True, eq=False)
class RaggedColumn:
    """A column whose rows have any number of labels.

    Row ``i`` has the labels ``elements[offsets[i]:offsets[i + 1]]``. A row without labels is not
    missing.
    """

    offsets: Offsets  # of shape (n_rows + 1,), from 0 to the number of elements
    elements: Column | Values
    is_missing: Flags | None = None  # for each row; such a row has no elements. None: no row is
    is_split: bool = False  # whether the labels were parts of texts with a separator

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.offsets) - 1

    def with_missing(self, codes: AnyArray) -> tuple[Offsets, AnyArray]:
        """Return the offsets and the codes of all elements, with the code -1 for a missing row.

        From here on, a missing row is a row with a missing label: the options treat both alike.
        """
        if self.is_missing is None or not self.is_missing.any():
            return self.offsets, codes
        signed = codes if codes.dtype.kind == "i" else codes.astype(np.int64)
        n_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.is_missing)])
        # Inserted before the first element of the next row, as the missing row has none.
        places = self.offsets[:-1][self.is_missing]
        return self.offsets + n_before, np.insert(signed, places, signed.dtype.type(-1))

    def encode(self) -> RaggedColumn:
        """Return the column with codes as elements, of which a missing row has one that is -1."""
        try:
            column = self.elements.encode()
        except TypeError:
            self.check_labels()
            raise
        offsets, codes = self.with_missing(column.codes)
        return RaggedColumn(offsets, column.with_codes(codes), is_split=self.is_split)

    def check_labels(self) -> None:
        """Raise an error for the first label that is itself a list; call it if hashing failed."""
        for chunk in getattr(self.elements, "chunks", ()):
            labels = chunk if isinstance(chunk, np.ndarray) and chunk.dtype == OBJECT else ()
            for position, label in enumerate(labels):
                if is_list(label) or isinstance(label, Mapping):
                    raise TypeError(
                        f"row {row_of(self.offsets, position)}: a label must be a single value, got"
                        f" {with_article(label)}: {shown(label)}; {FLATTEN}"
                    )

    @property
    def has_numbers(self) -> bool:
        """Whether the labels have a type of numbers or Booleans."""
        if not isinstance(self.elements, Values) or self.elements.convert is not None:
            return False
        kinds = {
            chunk.schema.kind if isinstance(chunk, Array) else chunk.dtype.kind
            for chunk in self.elements.chunks
        }
        return bool(kinds) and kinds <= NUMERIC_KINDS


def row_of(offsets: Offsets | None, position: int) -> int:
    """Return the row of an element, which is its position if the rows have one value each."""
    if offsets is None:
        return position
    return int(np.searchsorted(offsets, position, side="right")) - 1


# ---- Rows of Python objects ----


def is_list(value: Any) -> bool:
    """Tell whether a value is a list, a set, an array or another container of labels.

    Values that have a hash are single, such as tuples, frozensets, ranges and members of `IntFlag`,
    unless they are array-likes.
    """
    value = unwrapped(value)  # a scalar of Arrow may be a text or a list
    if isinstance(value, list | set):
        return True
    if isinstance(value, SINGLE) or not is_container(value):
        return False
    return type(value).__hash__ is None or is_array_like(value)


def are_lists(column: Any) -> bool:
    """Tell whether the rows of a column are lists, by its type or the first row with a value."""
    library = reader_of(column)
    if library is not None:
        return bool(integration(library).are_lists(column))
    if isinstance(column, Column | Values) or getattr(column, "dtype", OBJECT) != OBJECT:
        return False
    return next(_present(column), False)


def _present(rows: Iterable[Any]) -> Iterator[bool]:
    """Yield for each row that is not missing whether it is a list."""
    for row in map(unwrapped, rows):
        if row is None:
            continue
        if is_list(row):
            yield True
        elif not is_missing(row):
            yield False


def hold_numbers(column: Any) -> bool:
    """Tell whether the labels of lists are numbers, as in embeddings, or lists themselves.

    Such a column is not encoded by default, nor is one without any label.
    """
    if reader_of(column) is not None:
        labels = read_lists(column)
        return labels is not None and labels.has_numbers
    return all(map(_holds_numbers, column))


def _holds_numbers(row: Any) -> bool:
    """Tell whether no label of a row is a text or another value that is encoded by default."""
    row = unwrapped(row)
    if not is_list(row):
        return True  # a missing row; other values raise an error if the column is encoded
    if is_array_like(row):
        array = as_array(row, "a list of labels")
        if array.ndim != 1 or array.dtype.kind in NUMERIC_KINDS:
            return True
        row = array.tolist()
    return all(
        isinstance(label, NUMBERS) or is_missing(label) or type(label).__hash__ is None
        for label in row
    )


def read_lists(column: Any) -> RaggedColumn | None:
    """Return a column whose rows are lists of labels, or None for a column of other values."""
    if not are_lists(column):
        return None
    library = reader_of(column)
    if library is None:
        return of_lists(column if isinstance(column, list) else list(column))
    read: RaggedColumn = integration(library).read_ragged(column)
    return read


def of_lists(rows: Sequence[Any]) -> RaggedColumn:
    """Return rows that are lists, sets, arrays or missing; raise TypeError for any other row."""
    kinds, flags = set(map(type, rows)), None
    if not kinds <= {list, set, NoneType}:
        rows = [_checked_row(i, row) for i, row in enumerate(map(unwrapped, rows))]
        kinds = set(map(type, rows))
    if NoneType in kinds:
        flags = np.fromiter((row is None for row in rows), np.bool_, len(rows))
        rows = [row or () for row in rows]
    offsets, labels = labels_of(rows)
    elements = labels if isinstance(labels, Column) else Values((labels,))
    return RaggedColumn(offsets, elements, flags)


def _checked_row(position: int, row: Any) -> Sequence[Any] | None:
    """Return the labels of a row, or None for a missing row; raise TypeError for another value."""
    if is_list(row):
        return _labels(row)
    if is_missing(row):
        return None
    if isinstance(row, tuple | frozenset | Iterator):
        remedy = "convert each row to a list, e.g. [list(row) for row in rows]"
    else:
        remedy = f"pass lists in all rows, e.g. [{shown(row)}], or single values in all rows"
    if isinstance(row, str):
        remedy += ", or texts in all rows and sep="
    raise TypeError(
        f"row {position} must be a list of labels, as the rows before it, got {with_article(row)}:"
        f" {shown(row)}; {remedy}"
    )


def _labels(row: Any) -> Sequence[Any]:
    """Return the labels of one row."""
    row = unwrapped(row)
    return list(row) if isinstance(row, set) else items_of(row, "a list of labels")


# ---- Texts with a separator ----


def split(read: Column | Values, sep: str) -> RaggedColumn | Column | Values:
    """Return texts as rows of labels, and a column of other values as it is.

    Categories that are texts are split once. Empty labels are skipped, and spaces are kept.
    """
    if isinstance(read, Values) and not are_arrow_texts(read):
        kinds = {getattr(getattr(chunk, "dtype", None), "kind", "V") for chunk in read.chunks}
        if read.convert is not None or not kinds <= MAYBE_TEXT:
            return read
        read = read.encode()
    if isinstance(read, Column) and not _are_texts(read.stored):
        return read
    return split_texts(read, sep)


def split_texts(read: Column | Values, sep: str) -> RaggedColumn:
    """Return texts as rows of labels; raise TypeError if a value is not a text."""
    if not are_arrow_texts(read):
        read = read.encode()
    rows = lists.split_texts(read, sep)
    return RaggedColumn(rows.offsets, rows.elements, _missing_texts(read), is_split=True)


def _missing_texts(read: Column | Values) -> Flags:
    """Tell for each row whether its text is missing."""
    if isinstance(read, Column):
        return read.codes < 0
    masks = [(chunk.valid(), len(chunk)) for chunk in read.chunks]
    return concatenated([np.zeros(n, bool) if valid is None else ~valid for valid, n in masks])


def all_missing(read: Column | Values) -> RaggedColumn:
    """Return missing rows; raise TypeError if the column has a value, which is no list."""
    column = read.encode()
    places = np.flatnonzero(column.codes >= 0)
    if len(places):
        value = column.categories[column.codes[places[0]]]
        raise TypeError(
            f"row {places[0]} must be a list of labels, as in fit, got {with_article(value)}:"
            f" {shown(value)}; to split texts, pass sep= to Encoder"
        )
    offsets = np.zeros(len(column) + 1, np.int64)
    return RaggedColumn(offsets, column.take(places), np.ones(len(column), np.bool_))


def have_separator(texts: Column | Values, sep: str) -> bool:
    """Tell whether a text contains the separator."""
    lengths = np.diff(lists.split_texts(texts, sep, keep_empty=True).offsets)
    return bool((lengths > 1).any())


def _are_texts(distinct: AnyArray | Strings) -> bool:
    """Tell whether all categories of a column are texts; there may be none."""
    if isinstance(distinct, Strings):
        return distinct.is_text
    is_possible = distinct.dtype.kind in MAYBE_TEXT or not len(distinct)
    return is_possible and all(isinstance(value, str) for value in distinct)
