"""The cells of a CSV file: which of them are missing, which type a column has, and their values.

Each column is read as bytes, in which the empty, unquoted field is null. This module converts the
bytes to the type of the column. So marks of missing values, spaces and codes such as 007 mean the
same in every column, whether its cells are quoted or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

# The usual marks of a missing value in a column of numbers, dates or Booleans: those of pyarrow,
# and two more of pandas. In a column of text, they are text.
MARKS = (*csv.ConvertOptions().null_values, "None", "<NA>")
TRUE, FALSE = csv.ConvertOptions().true_values, csv.ConvertOptions().false_values
# The types that a column may have, in the order in which they are tried, as in pyarrow; text comes
# last.
COLUMN_TYPES = (
    pa.int64(),
    pa.bool_(),
    pa.date32(),
    pa.time32("s"),
    pa.timestamp("s"),
    pa.timestamp("s", "UTC"),
    pa.timestamp("ns"),
    pa.timestamp("ns", "UTC"),
    pa.float64(),
)
# pyarrow ignores spaces around the values of these types.
SPACED = (pa.int64(), pa.date32(), pa.time32("s"), pa.float64())
# Patterns of digits that are not numbers: postal codes, telephone numbers, and integers that a
# float cannot represent.
CODE_PATTERNS = {
    pa.int64(): r"^\s*-?0[0-9]",
    pa.float64(): r"^\s*(-?0[0-9]|\+[0-9]{7,}\s*$|-?[0-9]{19,}\s*$)",
}
LONG_DIGITS = 18
# How many strings are cast at first, and at most.
FIRST_CAST, MAX_CAST = 64, 1 << 14
# The names of the types in messages.
DESCRIBED = {
    pa.int64(): "integers",
    pa.uint8(): "integers from 0 to 255",
    pa.float64(): "numbers",
    pa.bool_(): "Booleans",
    pa.date32(): "dates",
    pa.time32("s"): "times",
    pa.string(): "text",
}


class CellError(ValueError):
    """A cell does not have the type of its column; `row` is its position."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


def described(kind: pa.DataType) -> str:
    """Return the name of a type in messages, e.g. "integers"."""
    return DESCRIBED.get(kind, "timestamps" if pa.types.is_timestamp(kind) else str(kind))


def as_text(cells: pa.Array) -> pa.Array:
    """Return cells as strings; raise CellError for bytes that are not UTF-8."""
    try:
        return cells.cast(pa.string())
    except pa.ArrowInvalid as error:
        row = _first_invalid(cells, lambda part: part.cast(pa.string()))
        raise CellError(
            row,
            f"{cells[row].as_py()[:40]!r} is not UTF-8; pass --encoding, e.g. cp1252 or latin-1",
        ) from error


def are_utf8(cells: pa.Array) -> bool:
    """Tell whether all cells are UTF-8."""
    try:
        cells.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True


def digits_of(cells: pa.Array) -> Any:
    """Return the values of cells that all are a single digit as an array of uint8, else None.

    Features are mostly such cells, and a file may have thousands of them.
    """
    n_cells = len(cells)
    if not n_cells or cells.null_count:
        return None
    _, positions, content = cells.buffers()
    offsets = np.frombuffer(positions, np.int32)[cells.offset : cells.offset + n_cells + 1]
    if offsets[-1] - offsets[0] != n_cells or (offsets[1:] - offsets[:-1]).max() != 1:
        return None
    digits = np.frombuffer(content, np.uint8)[offsets[0] : offsets[-1]] - np.uint8(ord("0"))
    return digits if digits.max() <= 9 else None  # other characters wrap around


def counts_of(texts: pa.Array, marks: Collection[str]) -> Counter[str]:
    """Count the strings that are one of `marks`."""
    found = pc.is_in(texts, pa.array(marks, pa.string()))
    if not pc.any(found).as_py():
        return Counter()
    counts = pc.value_counts(texts.filter(found)).to_pylist()
    return Counter({one["values"]: one["counts"] for one in counts})


def without(texts: pa.Array, marks: Collection[str]) -> pa.Array:
    """Replace the strings that are one of `marks` by null."""
    is_mark = pc.is_in(texts, pa.array(marks, pa.string()))
    return pc.if_else(is_mark, pa.scalar(None, pa.string()), texts)


def kind_of(texts: pa.Array, decimal: str) -> pa.DataType:
    """Return the first type that all strings have; they contain no mark of a missing value."""
    for kind in COLUMN_TYPES:
        try:
            _parsed(texts, kind, decimal)
        except pa.ArrowInvalid:
            continue
        return pa.string() if _has_codes(texts, kind, decimal) else kind
    return pa.string()


def typed(
    texts: pa.Array, kind: pa.DataType, decimal: str, marks: Collection[str], found: Counter[str]
) -> pa.Array:
    """Convert strings to a type other than text; those in `marks` become null.

    The marks are counted in `found`. A string without the type raises CellError.
    """
    # The user may choose numbers as marks. Where marks have been found, there may be more.
    has_marks = marks is not MARKS or bool(found)
    if not has_marks:
        try:
            values = _parsed(texts, kind, decimal)
            # Marks such as "nan" are numbers, too.
            has_marks = pa.types.is_floating(kind) and pc.any(pc.is_nan(values)).as_py()
        except pa.ArrowInvalid:
            has_marks = True
    if has_marks:
        found.update(counts_of(texts, marks))
        texts = without(texts, marks)
        try:
            values = _parsed(texts, kind, decimal)
        except pa.ArrowInvalid as error:
            row = _first_invalid(texts, lambda part: _parsed(part, kind, decimal))
            raise CellError(row, f"{texts[row].as_py()[:80]!r}") from error
    if _has_codes(texts, kind, decimal):
        is_code = pc.match_substring_regex(_with_point(texts, kind, decimal), CODE_PATTERNS[kind])
        row = pc.index(is_code, True).as_py()
        raise CellError(row, f"{texts[row].as_py()[:80]!r}")
    return values


def _parsed(texts: pa.Array, kind: pa.DataType, decimal: str) -> pa.Array:
    """Convert strings to a type, as pyarrow reads them in a CSV file; raise ArrowInvalid."""
    if pa.types.is_boolean(kind):
        is_true = pc.is_in(texts, pa.array(TRUE))
        is_known = pc.or_(is_true, pc.is_in(texts, pa.array([*FALSE, None], pa.string())))
        if not pc.all(is_known).as_py():
            raise pa.ArrowInvalid("not a Boolean")
        return pc.if_else(texts.is_valid(), is_true, pa.scalar(None, pa.bool_()))
    is_comma = decimal != "." and pa.types.is_floating(kind)
    if is_comma and pc.any(pc.match_substring(texts, ".")).as_py():
        raise pa.ArrowInvalid("not a number")
    texts = _with_point(texts, kind, decimal)
    try:
        return _cast(texts, kind)
    except pa.ArrowInvalid:
        if kind not in SPACED:
            raise
        return _cast(pc.utf8_trim_whitespace(texts), kind)


def _cast(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast strings to a type; raise ArrowInvalid.

    pyarrow makes a message for each string that it cannot cast, which takes 4 µs. So cast a few
    strings first, and then slices of them.
    """
    parts: list[pa.Array] = []
    start, size = 0, FIRST_CAST
    while start < len(texts) or not parts:
        parts.append(_cast_slice(texts.slice(start, size), kind))
        start, size = start + size, min(size * 16, MAX_CAST)
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


def _cast_slice(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast strings to a type; raise ArrowInvalid."""
    if not pa.types.is_time32(kind):
        return pc.cast(texts, kind)
    # pyarrow cannot cast strings to times. HH:MM and HH:MM:SS have these lengths.
    lengths = pc.is_in(pc.binary_length(texts), pa.array([5, 8, None], pa.int32()))
    if not pc.all(lengths).as_py():
        raise pa.ArrowInvalid("not a time")
    instants = pc.cast(pc.binary_join_element_wise("1970-01-01", texts, " "), pa.timestamp("s"))
    return pc.cast(instants, kind)


def _with_point(texts: pa.Array, kind: pa.DataType, decimal: str) -> pa.Array:
    """Replace the decimal comma of numbers by a point."""
    if decimal == "." or not pa.types.is_floating(kind):
        return texts
    return pc.replace_substring(texts, decimal, ".")


def _has_codes(texts: pa.Array, kind: pa.DataType, decimal: str) -> bool:
    """Tell whether digits in a column of numbers are no numbers, such as 007."""
    if kind not in CODE_PATTERNS or (pc.max(pc.binary_length(texts)).as_py() or 0) < 2:
        return False
    texts = _with_point(texts, kind, decimal)
    # A regular expression is slow, so select the few strings that can be codes first.
    suspects = [pc.starts_with(texts, start) for start in ("0", "-", "+", " ", "\t")]
    suspects.append(pc.greater(pc.binary_length(texts), LONG_DIGITS))
    suspect = texts.filter(reduce(pc.or_, suspects))
    return bool(pc.any(pc.match_substring_regex(suspect, CODE_PATTERNS[kind])).as_py())


def _first_invalid(cells: pa.Array, convert: Callable[[pa.Array], Any]) -> int:
    """Return the position of the first cell for which `convert` raises ArrowInvalid."""
    start, end = 0, len(cells)  # the first one is in this range
    while end - start > 1:
        middle = (start + end) // 2
        try:
            convert(cells.slice(start, middle - start))
        except pa.ArrowInvalid:
            end = middle
        else:
            start = middle
    return start
