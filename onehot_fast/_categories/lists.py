"""Convert ragged rows to flat elements, and to the offset at which each row starts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import (
    as_array,
    as_scalars,
    integer_array,
    is_array_like,
    is_container,
    items_of,
    unwrapped,
)
from onehot_fast._arguments.checks import check_text
from onehot_fast._arguments.indices import int64_or_uint64
from onehot_fast._arguments.messages import with_article
from onehot_fast._arrow.array import Array
from onehot_fast._categories.column import Column
from onehot_fast._categories.factorize import concatenated, factorize
from onehot_fast._categories.hashtable.dictionary import Dictionary, number_labels
from onehot_fast._categories.keys import as_objects, is_missing
from onehot_fast._categories.strings import Strings
from onehot_fast._categories.values import Values, read_column
from onehot_fast._runtime.registry import integration, reader_of

AnyArray: TypeAlias = npt.NDArray[Any]
Offsets: TypeAlias = npt.NDArray[np.int64]

# The sources of columns whose codes the library stores, see `Column.source`.
CODED_SOURCES = frozenset({"category", "enum", "dictionary"})
INTEGERS = frozenset({int, *(np.dtype(code).type for code in "bhilqBHILQ")})


class Rows(NamedTuple):
    """Ragged rows: row i has the elements ``offsets[i]:offsets[i + 1]``."""

    offsets: Offsets
    # An ndarray of classes or labels, or a Column.
    elements: Any
    # Whether the codes of a Column are classes, as those of a categorical column. If not, a hash
    # table gave the codes to the labels, and the labels are the classes.
    codes_are_classes: bool = True

    @classmethod
    def read(
        cls, rows: Any, offsets: Any = None, sep: str | None = None, *, has_last: bool = True
    ) -> Rows:
        """Read rows from lists, a matrix, strings with `sep`, or flat elements with `offsets`.

        If not `has_last`, the offsets lack the last one, the number of elements.
        """
        if offsets is not None:
            read = _flat(rows, offsets, has_last=has_last)
            if has_last:
                return read
            return read._replace(offsets=np.append(read.offsets, len(read.elements)))
        library = reader_of(rows)
        if library is not None and hasattr(integration(library), "read_lists") and sep is None:
            lists: Rows = integration(library).read_lists(rows)
            return cls(lists.offsets, *_classes_or_labels(lists.elements))
        if sep is not None:
            return _separated(rows, sep)
        if is_array_like(rows):
            return _matrix(rows)
        if isinstance(rows, str | bytes) or not isinstance(rows, Iterable):
            raise TypeError(
                "rows must be a sequence of sequences, a two-dimensional array, strings with sep=,"
                f" or flat elements with offsets=, got {with_article(rows)}"
            )
        return _lists(list(rows))

    @classmethod
    def split(
        cls, chunks: Sequence[Array | Strings], sep: str, *, keep_empty: bool = False
    ) -> Rows:
        """Split each string at `sep` into a row of labels, whose Column is `elements`."""
        table = Dictionary("string")
        separator = sep.encode("utf-8", "surrogatepass")
        parts = [table.split(chunk, separator, keep_empty=keep_empty) for chunk in chunks]
        lengths = concatenated([np.diff(offsets) for offsets, _ in parts])
        codes = concatenated([codes for _, codes in parts])
        labels = Column.unchecked(codes, table.values, is_distinct=True)
        return cls(starts_of(lengths), labels, codes_are_classes=False)

    @classmethod
    def numbered(cls, rows: Iterable[Iterable[Any]], numbers: dict[Any, int]) -> Rows:
        """Return rows with each label replaced by its number; add new labels to `numbers`."""
        return cls(*number_labels(tuple(rows), numbers))

    def take(self, positions: npt.NDArray[np.integer[Any]]) -> Rows:
        """Return the rows at some positions; position -1 gives an empty row."""
        lengths = np.append(np.diff(self.offsets), 0).take(positions)
        starts = np.append(self.offsets[:-1], 0).take(positions)
        offsets = starts_of(lengths)
        elements = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        return self._replace(offsets=offsets, elements=self.elements.take(elements))

    def row_of(self, position: int) -> tuple[int, int]:
        """Return the row of the flat element at a position, and its position within this row."""
        row = int(np.searchsorted(self.offsets, position, side="right")) - 1
        return row, position - int(self.offsets[row])


def _matrix(rows: Any) -> Rows:
    """Return the rows of an array: of a matrix of labels, or of a 1-D array of sequences."""
    array: AnyArray = rows if isinstance(rows, np.ma.MaskedArray) else as_array(rows, "rows")
    if array.ndim == 2:
        n_rows, width = array.shape
        return Rows(np.arange(n_rows + 1, dtype=np.int64) * width, flat_elements(array.reshape(-1)))
    if array.ndim == 1:
        return _lists(list(array))
    raise ValueError(f"rows must have two dimensions, got shape {array.shape}")


def _flat(elements: Any, offsets: Any, *, has_last: bool) -> Rows:
    """Return rows of flat elements. The values of the offsets are not checked here."""
    starts = integer_array(offsets, "offsets")
    if starts.dtype.kind not in "iu" or starts.ndim != 1 or (has_last and len(starts) == 0):
        raise ValueError(
            f"offsets must be a one-dimensional array of n_rows{' + 1' * has_last} integers, got"
            f" dtype {starts.dtype} and shape {starts.shape}"
        )
    starts = np.array(starts, np.int64)  # a copy that callers cannot change
    return Rows(starts, *_elements(elements))


def _elements(elements: Any) -> tuple[AnyArray | Column, bool]:
    """Return flat elements of any container as `Rows.elements`, and `Rows.codes_are_classes`."""
    elements = unwrapped(elements)
    library = reader_of(elements)
    if library is not None:
        return _classes_or_labels(integration(library).read_column(elements))
    if hasattr(elements, "codes"):
        return elements, True
    if is_array_like(elements):
        is_masked = isinstance(elements, np.ma.MaskedArray)
        elements = elements if is_masked else as_array(elements, "rows")
        if elements.ndim != 1:
            raise ValueError(
                f"rows must have one dimension if offsets= is passed, got shape {elements.shape}"
            )
    elif isinstance(elements, str | bytes) or not is_container(elements):
        raise TypeError(f"rows must be flat elements, got {with_article(elements)}")
    return flat_elements(elements), True


def _classes_or_labels(column: Any) -> tuple[AnyArray | Column, bool]:
    """Return what `read_column` of a library returned as `Rows.elements`.

    Also return `Rows.codes_are_classes`.
    """
    if isinstance(column, np.ndarray):
        return column, True
    numbers = column.numbers() if hasattr(column, "numbers") else None
    if numbers is not None and numbers.dtype.kind in "iu":
        return numbers, True
    column = column.encode()
    return column, column.source in CODED_SOURCES


def integers_of(elements: Any) -> AnyArray | None:
    """Return the labels of `Rows` as integers, or None if one of them is another value.

    A missing value becomes -1, which is no class.
    """
    if isinstance(elements, Column):
        stored = elements.stored
        if isinstance(stored, Strings):
            known = None if len(stored) else np.empty(0, np.int64)
        else:
            known = integers_of(stored) if len(stored) else np.empty(0, np.int64)
        if known is None:
            return None
        # Integers beyond int64 stay out of range, as no depth is as large.
        known = np.append(np.minimum(known, np.iinfo(np.int64).max).astype(np.int64), -1)
        return known.take(np.where(elements.codes < 0, len(known) - 1, elements.codes))
    if elements.dtype.kind != "O":
        return elements if elements.dtype.kind in "iu" else None
    is_absent = np.fromiter(map(is_missing, elements), np.bool_, len(elements))
    present = elements[~is_absent].tolist()
    if not set(map(type, present)) <= INTEGERS:
        return None
    numbers = int64_or_uint64(present, "labels") if present else np.empty(0, np.int64)
    if is_absent.any():
        found = np.full(len(elements), -1, np.int64)
        # Integers beyond int64 stay out of range, as no depth is as large.
        found[~is_absent] = np.minimum(numbers, np.iinfo(np.int64).max)
        return found
    return numbers


def _lists(rows: list[Any]) -> Rows:
    """Return rows from a list of sequences; a missing row has no elements."""
    if not set(map(type, rows)) <= {list, tuple}:
        rows = [_sequence(i, row) for i, row in enumerate(rows)]
    offsets, labels = labels_of(rows)
    return Rows(offsets, labels, codes_are_classes=not isinstance(labels, Column))


def labels_of(rows: Sequence[Collection[Any]]) -> tuple[Offsets, AnyArray | Column]:
    """Return the offsets of rows of objects, and all labels: a Column if they are texts."""
    coded = _coded_texts(rows)
    if coded is not None:
        return coded
    offsets = starts_of(np.fromiter(map(len, rows), np.int64, len(rows)))
    return offsets, flat_elements(list(chain.from_iterable(rows)))


def _coded_texts(rows: Sequence[Collection[Any]]) -> tuple[Offsets, Column] | None:
    """Return rows whose labels are str or None, or None if there is another label.

    Python's own hashes of strings are known, so that this takes a third of the time of an array.
    """
    first = next((label for row in rows for label in row if label is not None), None)
    if type(first) is not str:
        return None
    numbers: dict[Any, int] = {}
    try:
        offsets, codes = number_labels(tuple(rows), numbers)
    except TypeError:  # a label has no hash: the caller says which one
        return None
    missing = numbers.pop(None, None)
    if set(map(type, numbers)) != {str}:  # equal labels of several types have a preferred type
        return None
    if missing is not None:
        lut = np.arange(len(numbers) + 1, dtype=codes.dtype)
        lut[missing:] -= 1
        lut[missing] = -1
        codes = lut.take(codes)
    texts = Strings.from_objects(list(numbers), is_text=True)
    return offsets, Column.unchecked(codes, texts, is_distinct=True)


def _sequence(position: int, row: Any) -> Sequence[Any]:
    """Return a row, which may be any container, as a sequence; a missing row has no labels."""
    row = unwrapped(row)
    if isinstance(row, set | frozenset | Mapping):  # labels need no order
        return list(row)
    if isinstance(row, str | bytes) or not is_container(row):
        if is_missing(row):
            return ()
        raise TypeError(
            f"rows[{position}] must be a sequence of labels, or a str if you pass sep=, got"
            f" {with_article(row)}: {row!r}"
        )
    return items_of(row, f"rows[{position}]")


def flat_elements(elements: Any) -> AnyArray:
    """Return flat elements as an ndarray; a sequence becomes integers if possible, else objects.

    Masked elements become None.
    """
    if isinstance(elements, np.ma.MaskedArray):
        masked = np.ma.is_masked(elements)
        return as_objects(items_of(elements, "rows")) if masked else np.asarray(elements)
    if isinstance(elements, np.ndarray):
        return elements
    items = as_scalars(elements if isinstance(elements, list) else list(elements), "a label")
    if set(map(type, items)) <= INTEGERS:
        with suppress(ValueError):  # `integers_of` raises it; as labels they need not fit
            return int64_or_uint64(items, "labels")
    return as_objects(items)


def starts_of(lengths: npt.NDArray[np.int64]) -> Offsets:
    """Return the start of each row, followed by the end of the last row."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _separated(rows: Any, sep: str) -> Rows:
    """Return a row of labels for each separated string; empty labels are skipped."""
    if not check_text(sep, "sep"):
        raise ValueError("sep must not be empty")
    texts: Column | Values
    try:
        is_read = reader_of(rows) is not None
        texts = read_column(rows) if is_read else factorize(as_objects(list(rows)))
        texts = texts if are_arrow_texts(texts) else texts.encode()
    except TypeError as error:
        raise TypeError(
            "with sep= every row must be a str or None; omit sep= if the rows are lists"
        ) from error
    return split_texts(texts, sep)


def split_texts(texts: Column | Values, sep: str, *, keep_empty: bool = False) -> Rows:
    """Return a row of labels for each text; a missing text is an empty row."""
    if are_arrow_texts(texts):
        return Rows.split(texts.chunks, sep, keep_empty=keep_empty)
    column = texts.encode()
    distinct = Rows.split([_texts(column.stored)], sep, keep_empty=keep_empty)
    return distinct.take(column.codes)


def are_arrow_texts(column: Column | Values) -> TypeGuard[Values]:
    """Tell whether a column has chunks of Arrow strings, which are split where they are."""
    if not isinstance(column, Values) or column.convert is not None:
        return False
    kinds = {chunk.schema.kind if isinstance(chunk, Array) else "" for chunk in column.chunks}
    return kinds == {"string"}


def _texts(distinct: Any) -> Strings:
    """Return distinct strings as Strings; raise TypeError if a value is not a str."""
    if isinstance(distinct, Strings) and distinct.is_text:
        return distinct
    for text in distinct:
        if not isinstance(text, str):
            raise TypeError(
                f"with sep= every row must be a str or None, got {with_article(text)}: {text!r}"
            )
    return Strings.from_objects(distinct)
