"""Unknown and missing values: the error, the warning, and what a report says of each column."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.messages import number_of, shown
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.keys import as_objects, name_key, plain
from onehot_fast._categories.kinds import kinds_of, listed_kinds, lookalikes, other_kinds
from onehot_fast._categories.ragged import row_of
from onehot_fast._runtime.parallel import is_part_of_table
from onehot_fast._runtime.utils import warn
from onehot_fast._schema.coded_column import CodedColumn
from onehot_fast._schema.column_schema import ColumnSchema, Flags, Special, shortened
from onehot_fast._schema.options import OPTIONS
from onehot_fast._schema.schema import Schema
from onehot_fast._schema.statistics import (
    CodedRows,
    ColumnStatistics,
    count_missing,
    counted,
    elements_of,
)
from onehot_fast.table import ReadColumn, Table

AnyArray: TypeAlias = npt.NDArray[Any]

# The maximum numbers of columns, and of values per column, in a message.
MAX_COLUMNS_IN_MESSAGE = 4
MAX_VALUES_IN_MESSAGE = 3
# The maximum number of categories in an error message.
MAX_CATEGORIES_IN_MESSAGE = 6
KEEPING_UNKNOWN_APART = (
    "handle_unknown='indicator' to tell unknown values from the dropped category, or 'error'"
)
ACCEPTING_MISSING = OPTIONS["handle_missing"].instead_of_error()
ACCEPTING_UNKNOWN = OPTIONS["handle_unknown"].instead_of_error()
# The columns of which a warning told in the context of `warning_once`.
_warned = ContextVar[set[Hashable]]("warned")


class UnknownValueError(ValueError):
    """A value is not a category, and `handle_unknown` is "error".

    The message names the column, the first row and the values.
    """

    __module__ = "onehot_fast"


@dataclass(frozen=True)
class Reasons:
    """Why values of a column are unknown, where a person cannot see it from the values."""

    n_present: int = 0  # the number of rows that are not missing
    n_of_other_kinds: int = 0  # the number of rows whose value has a kind that no category has
    other_kinds: str = ""  # these kinds, e.g. "text"
    known: str = ""  # the kinds of the categories, e.g. "fit saw integers"
    # The texts that differ from a category in their Unicode form only, each with the category.
    lookalikes: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, known: Categories, unknown: ColumnStatistics, n_present: int, saw: str = "fit saw"
    ) -> Reasons:
        """Return the reasons why no value of `unknown` is one of the `known` categories."""
        is_other, kinds = other_kinds(unknown.categories, known)
        first = unknown.categories.take(range(min(len(unknown.counts), MAX_VALUES_IN_MESSAGE)))
        n_of_other_kinds = int(unknown.counts[is_other].sum())
        similar = tuple(lookalikes(first.tolist(), known))
        return cls(
            n_present, n_of_other_kinds, kinds, f"{saw} {listed_kinds(kinds_of(known))}", similar
        )

    def merge(self, other: Reasons) -> Reasons:
        """Return the reasons for the rows of both."""
        return Reasons(
            self.n_present + other.n_present,
            self.n_of_other_kinds + other.n_of_other_kinds,
            self.other_kinds or other.other_kinds,
            self.known,
            tuple(dict.fromkeys(self.lookalikes + other.lookalikes)),
        )

    def texts(self) -> list[str]:
        """Return each reason with its remedy."""
        texts = []
        n, n_present = self.n_of_other_kinds, self.n_present
        if n:
            share = f"all {n:,} values" if n == n_present else f"{n:,} of {n_present:,} values"
            share = "the only value" if n_present == 1 else share
            share = "some values" if is_part_of_table() else share
            verb = "is" if n == 1 and not is_part_of_table() else "are"
            texts.append(f"{share} {verb} {self.other_kinds}, {self.known}: convert the column")
        return texts + [
            f"{text!a} is the category {category!a} in another Unicode form:"
            " normalize both with unicodedata.normalize('NFC', ...)"
            for text, category in self.lookalikes
        ]


@dataclass(frozen=True, eq=False)
class ReportedValues:
    """The unknown, missing and infrequent values of a column, the most frequent first."""

    name: object
    unknown: ColumnStatistics
    missing: ColumnStatistics
    infrequent: ColumnStatistics
    reasons: Reasons
    dropped: str  # the category with the row of zeros of unknown values, as text, or ""
    first: tuple[int, Any] | None = None  # the first row with an unknown value, and the value

    def merge(self, other: ReportedValues) -> ReportedValues:
        """Return the unknown values of the rows of both, for a warning."""
        unknown = ColumnStatistics.merge([self.unknown, other.unknown]).most_frequent()
        reasons = self.reasons.merge(other.reasons)
        return dataclasses.replace(self, unknown=unknown, reasons=reasons)

    def some_unknown(self, said: str = "") -> str:
        """Return the column name, the first unknown values, and the reasons that `said` lacks."""
        counts = self.unknown.counts
        first = np.arange(min(len(counts), MAX_VALUES_IN_MESSAGE))
        texts = [*map(shown, self.unknown.categories.take(first).tolist())]
        rest = ", …"
        if not is_part_of_table():
            rows = [number_of(count, "row") for count in counts[first].tolist()]
            texts = [f"{text} ({n_rows})" for text, n_rows in zip(texts, rows, strict=True)]
            rest += f" ({len(counts):,} values in {number_of(int(counts.sum()), 'row')})"
        more = rest if len(counts) > MAX_VALUES_IN_MESSAGE else ""
        notes = [text for text in self.reasons.texts() if text not in said]
        notes += [f"equal to rows of the dropped category {self.dropped}"] if self.dropped else []
        why = f" ({'; '.join(notes)})" if notes else ""
        return f"{self.name!r}: {', '.join(texts)}{more}{why}"


class UnknownValueWarning(UserWarning):
    """Values are not categories, and become rows of zeros.

    `handle_unknown` is "warn", or their rows equal the rows of the category that `drop` dropped.
    """

    __module__ = "onehot_fast"

    # The values of each column by its name. The message is the only argument of the class, as a
    # copy or a pickle requires.
    reported: dict[object, ReportedValues]

    @classmethod
    def of(cls, reported: Iterable[ReportedValues]) -> UnknownValueWarning:
        """Return the warning about the unknown values of some columns."""
        by_name = {values.name: values for values in reported}
        text = f"unknown values become rows of zeros, in {_some_columns(by_name.values())}"
        if any(values.dropped for values in by_name.values()):
            text += f"; use {KEEPING_UNKNOWN_APART}"
        warning = cls(text)
        warning.reported = by_name
        return warning

    def merge(self, other: UnknownValueWarning) -> UnknownValueWarning:
        """Return one warning for the rows of both warnings."""
        both = {name_key(name): values for name, values in self.reported.items()}
        for name, values in other.reported.items():
            mine = both.get(name_key(name))
            both[name_key(name)] = values if mine is None else mine.merge(values)
        return UnknownValueWarning.of(both.values())


def reported_values(column: ColumnSchema, read: ReadColumn) -> ReportedValues:
    """Return the unknown, missing and infrequent values of a column."""
    rows = read.encode()
    found = counted(rows)
    positions = column.known.find(found.categories)
    is_infrequent = np.append(column.is_infrequent, False)[positions]
    unknown, infrequent = (
        found.take(np.flatnonzero(flags & (found.counts > 0))).most_frequent()
        for flags in (positions < 0, is_infrequent)
    )
    n_missing = count_missing(rows, found)
    missing = ColumnStatistics(Categories(as_objects([None])), np.array([n_missing]))
    first = None
    if len(unknown.counts):
        elements = elements_of(rows)
        if not elements.is_distinct:
            positions = column.known.find(Categories.of(elements.stored))
        first = _first_row(rows, np.append(positions < 0, False))
    return ReportedValues(
        column.name,
        unknown,
        missing.take(np.flatnonzero(missing.counts)),
        infrequent,
        Reasons.of(column.known, unknown, int(found.counts.sum())),
        _dropped(column) if column.hides_unknown else "",
        first,
    )


def _dropped(column: ColumnSchema) -> str:
    """Return the dropped category as text."""
    label = column.zero_row_labels[0]
    return "of infrequent values" if isinstance(label, Special) else shown(label)


def _some_columns(reported: Iterable[ReportedValues], said: str = "") -> str:
    """Return the unknown values of the first columns as text, without what `said` contains."""
    unknown = [values.some_unknown(said) for values in reported if len(values.unknown.counts)]
    n_more = len(unknown) - MAX_COLUMNS_IN_MESSAGE
    more = f"; … and {n_more} more columns" if n_more > 0 else ""
    return "; ".join(unknown[:MAX_COLUMNS_IN_MESSAGE]) + more


def warn_of_unknown(reported: Sequence[ReportedValues]) -> None:
    """Emit one warning about the unknown values of some columns, if there are any.

    In `warning_once`, skip the columns of which a warning told before.
    """
    warned = _warned.get(set())  # outside `warning_once`, a new set: every call warns
    new = [
        values for values in reported if len(values.unknown.counts) and values.name not in warned
    ]
    if new:
        warned.update(values.name for values in new)
        warn(UnknownValueWarning.of(new))


@contextmanager
def warning_once(schema: Schema, table: Hashable) -> Iterator[None]:
    """Return a context manager in which the unknown values of a column cause at most one warning.

    An engine passes the same `table`, any key, for all parts of one table, because the warnings of
    many parts would hide all others.
    """
    token = _warned.set(schema.warned.get(table, set))
    try:
        yield
    finally:
        _warned.reset(token)


def check_values(
    table: Table,
    positions: Sequence[int],
    schemas: Sequence[ColumnSchema],
    columns: Sequence[CodedColumn],
    is_unknown: Sequence[Flags | None],
) -> None:
    """Raise an error for, or warn of, the values of a table that the options do not accept.

    `columns` are the coded columns at `positions`, and `is_unknown` are the flags of the entries of
    each look-up table, or None if no row is unknown.
    """
    doubtful = []
    for index, schema in enumerate(schemas):
        reaction = _reaction(schema, columns[index], is_unknown[index])
        if reaction == "error":
            checked = [
                i for i, each in enumerate(schemas) if each.options.handle_unknown == "error"
            ]
            reported = _reported_at(table, positions, schemas, checked)
            text = _rejection(schema, reported[checked.index(index)])
            listed = _some_columns(reported, text)
            raise UnknownValueError(f"{text}; unknown values of all columns: {listed}")
        if reaction == "warn":
            doubtful.append(index)
    if doubtful:
        warn_of_unknown(_reported_at(table, positions, schemas, doubtful))


def _reported_at(
    table: Table,
    positions: Sequence[int],
    schemas: Sequence[ColumnSchema],
    indices: Sequence[int],
) -> list[ReportedValues]:
    """Return the reported values of some of the columns."""
    return [reported_values(schemas[i], schemas[i].read_from(table, positions[i])) for i in indices]


def check_column(
    schema: ColumnSchema, read: ReadColumn, column: CodedColumn, is_unknown: Flags | None
) -> None:
    """Do the same as `check_values` for a column without a table."""
    reaction = _reaction(schema, column, is_unknown)
    if reaction == "error":
        raise UnknownValueError(_rejection(schema, reported_values(schema, read)))
    if reaction == "warn":
        warn_of_unknown([reported_values(schema, read)])


def _reaction(
    schema: ColumnSchema, column: CodedColumn, is_unknown: Flags | None
) -> Literal["error", "warn"] | None:
    """Return what unknown values cause, if there are any; raise an error for a missing value."""
    options = schema.options
    if options.handle_missing == "error":
        check_no_missing(schema.name, column)
    if is_unknown is None:
        return None
    if options.handle_unknown != "error":
        return "warn" if schema.warns_of_unknown else None
    return "error" if _selected(is_unknown, column.codes).any() else None


def _rejection(column: ColumnSchema, values: ReportedValues) -> str:
    """Return the text of the error for the first row with an unknown value."""
    if values.first is None:  # the values were read again for the error
        return (
            f"column {column.name!r}: a value was unknown, but the table has changed before the"
            " value could be named; do not change a table while it is encoded"
        )
    return _text_of_row(column.name, *values.first, values.reasons, column.known)


def check_no_missing(name: Any, rows: CodedRows | CodedColumn) -> None:
    """Raise an error for the first missing value, which has a negative code."""
    codes = rows.codes if isinstance(rows, CodedColumn) else elements_of(rows).codes
    if codes.dtype.kind == "i" and codes.size and codes.min() < 0:
        row = row_of(getattr(rows, "offsets", None), int(np.argmax(codes < 0)))
        raise ValueError(f"{_place(name, row)}: the value is missing; use {ACCEPTING_MISSING}")


def check_known(name: Any, known: Categories, rows: CodedRows, is_unknown: Flags) -> None:
    """Raise an error for the first row with a value that is not one of the declared categories."""
    if not _selected(is_unknown, elements_of(rows).codes).any():
        return
    found = counted(rows)
    is_new = (known.find(found.categories) < 0) & (found.counts > 0)
    unknown = found.take(np.flatnonzero(is_new)).most_frequent()
    reasons = Reasons.of(known, unknown, int(found.counts.sum()), "the categories are")
    row, value = _first_row(rows, is_unknown)
    raise UnknownValueError(_text_of_row(name, row, value, reasons, known))


def _selected(is_unknown: Flags, codes: AnyArray) -> Flags:
    """Return for each row whether its value is unknown, from the flags of the codes."""
    # The code of a missing value, -1, selects the last flag.
    return is_unknown[codes if codes.dtype.kind == "u" else np.maximum(codes, -1)]


def _first_row(rows: CodedRows, is_unknown: Flags) -> tuple[int, Any]:
    """Return the first row that has an unknown value, and the value."""
    column = elements_of(rows)
    position = int(np.argmax(_selected(is_unknown, column.codes)))
    row = row_of(getattr(rows, "offsets", None), position)
    return row, plain(column.stored[column.codes[position]])


def _text_of_row(name: Any, row: int, value: Any, reasons: Reasons, known: Categories) -> str:
    """Return the text of the error for a row with an unknown value."""
    texts = reasons.texts()
    why = f" ({'; '.join(texts)})" if texts else ""
    listed = f"the categories are {shortened(known, MAX_CATEGORIES_IN_MESSAGE)}"
    return (
        f"{_place(name, row)}: {shown(value)} is unknown{why}; use {ACCEPTING_UNKNOWN};"
        f" {listed if len(known) else 'the column has no categories'}"
    )


def _place(name: Any, row: int) -> str:
    """Return the column of a value as text, and its row unless the table is part of another."""
    return f"column {name!r}" if is_part_of_table() else f"column {name!r}, row {row}"
