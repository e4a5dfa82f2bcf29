"""What a table holds that `fit` did not meet: in a report, in a warning, or in an error."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import shown
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.keys import as_objects
from onehot_fast._runtime.parallel import is_part_of_table
from onehot_fast._runtime.utils import warn
from onehot_fast._schema.listing import Listing
from onehot_fast._schema.schema import ColumnSchema
from onehot_fast._schema.statistics import ColumnStatistics, Counts, counted
from onehot_fast.column import Column, Values

# A message names so many columns, and so many values of each.
SOME_COLUMNS = 4
SOME_VALUES = 3

KINDS = ("unknown", "missing", "infrequent")


class UnknownValueError(ValueError):
    """A value is no category, and `handle_unknown` is "error"."""


@dataclass(frozen=True, eq=False)
class Findings:
    """The values of one column that have no feature of their own, the most frequent first."""

    name: object
    unknown: Categories
    unknown_counts: Counts
    infrequent: Categories
    infrequent_counts: Counts
    n_missing: int

    def rows(self) -> list[tuple[str, npt.NDArray[np.object_], Counts]]:
        """Return the values of each kind and in how many rows they are."""
        missing = np.array([self.n_missing] if self.n_missing else [], np.int64)
        return [
            ("unknown", as_objects(self.unknown.tolist()), self.unknown_counts),
            ("missing", np.full(len(missing), None, object), missing),
            ("infrequent", as_objects(self.infrequent.tolist()), self.infrequent_counts),
        ]

    def with_unknown_of(self, other: Findings) -> Findings:
        """Return what is found with the unknown values of further rows."""
        parts = [ColumnStatistics(each.unknown, each.unknown_counts) for each in (self, other)]
        learned = ColumnStatistics.merge(parts)
        order = np.argsort(-learned.counts, kind="stable")
        unknown, counts = learned.categories.take(order), learned.counts[order]
        return dataclasses.replace(self, unknown=unknown, unknown_counts=counts)

    def some_unknown(self) -> str:
        """Return some of the unknown values in words."""
        n = len(self.unknown)
        values = self.unknown.take(np.arange(min(n, SOME_VALUES))).tolist()
        if is_part_of_table():
            rest = ", …" if n > SOME_VALUES else ""
            return f"{self.name!r}: {', '.join(map(shown, values))}{rest}"
        some = [
            f"{shown(value)} ({_rows(count)})"
            for value, count in zip(values, self.unknown_counts.tolist(), strict=False)
        ]
        rest = f", … ({n:,} values in {_rows(int(self.unknown_counts.sum()))})"
        return f"{self.name!r}: {', '.join(some)}{rest if n > SOME_VALUES else ''}"


class UnknownValueWarning(UserWarning):
    """Values are no category, and `handle_unknown` is "warn"."""

    def __init__(self, findings: Iterable[Findings]) -> None:
        self.findings = {finding.name: finding for finding in findings}
        values = _some_columns(self.findings.values())
        super().__init__(f"unknown values are encoded as no category, in {values}")

    def merge(self, other: UnknownValueWarning) -> UnknownValueWarning:
        """Return the warning of the rows of both."""
        both = self.findings | other.findings
        for name in self.findings.keys() & other.findings.keys():
            both[name] = self.findings[name].with_unknown_of(other.findings[name])
        return UnknownValueWarning(both.values())


class Check(Listing):
    """The values of a table that an encoder did not learn, or that are infrequent.

    A dict of arrays of one length, with a row for each such value: "column", "kind" ("unknown",
    "missing" or "infrequent"), "value", "count" and "share", of all rows.

    Attributes
    ----------
    checked_rows : int
        How many rows the table has.
    """

    checked_rows: int = 0

    @property
    def has_unknown(self) -> bool:
        """Whether a value is no category of its column."""
        return "unknown" in self["kind"].tolist()

    def __repr__(self) -> str:
        """Say it in a word, and show the values where there are any."""
        kinds = set(self["kind"].tolist())
        rows = _rows(self.checked_rows)
        if not kinds:
            return f"<Check of {rows}: every value is a category that fit has met>"
        listed = " or ".join(kind for kind in KINDS if kind in kinds)
        return f"<Check of {rows}: some values are {listed}>\n{super().__repr__()}"


def find(column: ColumnSchema, read: Column | Values) -> Findings:
    """Return what a column holds beside the categories that have a feature."""
    rows = read.encode()
    categories, counts = counted(rows)
    positions = column.known.find(categories)
    is_unknown = (positions < 0) & (counts > 0)
    is_infrequent = np.append(column.is_infrequent, False)[positions] & (counts > 0)
    unknown, infrequent = (
        np.flatnonzero(flags)[np.argsort(-counts[flags], kind="stable")]
        for flags in (is_unknown, is_infrequent)
    )
    return Findings(
        column.name,
        categories.take(unknown),
        counts[unknown],
        categories.take(infrequent),
        counts[infrequent],
        len(rows) - int(counts.sum()),
    )


def check_of(findings: Iterable[Findings], n_rows: int) -> Check:
    """Return the report on a table."""
    rows = [(finding.name, *row) for finding in findings for row in finding.rows() if len(row[2])]
    lengths = [len(counts) for *_, counts in rows]
    nothing, none = np.empty(0, object), np.empty(0, np.int64)
    counts = np.concatenate([none, *(counts for *_, counts in rows)])
    check = Check(
        column=np.repeat(as_objects([name for name, *_ in rows]), lengths),
        kind=np.repeat(as_objects([kind for _, kind, *_ in rows]), lengths),
        value=np.concatenate([nothing, *(values for _, _, values, _ in rows)]),
        count=counts,
        share=counts / max(n_rows, 1),
    )
    check.checked_rows = n_rows
    return check


def with_all_unknown(
    error: UnknownValueError,
    columns: Iterable[ColumnSchema],
    read: Callable[[ColumnSchema], Column | Values],
) -> UnknownValueError:
    """Return the error of one column as that of all columns with unknown values."""
    findings = [find(c, read(c)) for c in columns if c.options.handle_unknown == "error"]
    return UnknownValueError(f"{error}; unknown are, in {_some_columns(findings)}")


def warn_of_unknown(
    columns: Iterable[ColumnSchema], read: Callable[[ColumnSchema], Column | Values]
) -> None:
    """Warn once of the unknown values of all columns."""
    findings = [find(column, read(column)) for column in columns]
    if any(len(finding.unknown) for finding in findings):
        warn(UnknownValueWarning(findings))


def _some_columns(findings: Iterable[Findings]) -> str:
    """Return the unknown values of some columns in words."""
    unknown = [finding.some_unknown() for finding in findings if len(finding.unknown)]
    rest = f"; … and {len(unknown) - SOME_COLUMNS} more columns"
    return "; ".join(unknown[:SOME_COLUMNS]) + (rest if len(unknown) > SOME_COLUMNS else "")


def _rows(n: int) -> str:
    """Return a number of rows in words."""
    return "1 row" if n == 1 else f"{n:,} rows"
