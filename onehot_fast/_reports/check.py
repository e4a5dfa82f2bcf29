"""The report of `Encoder.check` on the values of a table."""

from __future__ import annotations

import numpy as np

from onehot_fast._arguments.messages import number_of, with_column_context
from onehot_fast._categories.keys import as_objects
from onehot_fast._reports.listing import Listing, concatenated, quoted_columns
from onehot_fast._reports.unknown import ReportedValues, reported_values
from onehot_fast._schema.column_schema import ColumnSchema
from onehot_fast._schema.schema import Schema
from onehot_fast.table import Table

CHECK_KINDS = ("unknown", "missing", "infrequent")


class Check(Listing):
    """The unknown, missing and infrequent values of a table.

    A dict of arrays of equal length, with a row for each such value. Its keys are "column", "kind"
    ("unknown", "missing" or "infrequent"), "value", "count" and "share" (of all rows).

    Attributes
    ----------
    checked_rows : int
        The number of rows of the table.
    notes : tuple of str
        The reasons why values are unknown that the values do not show, e.g. that all values of a
        column are text, but `fit` saw integers.
    """

    checked_rows: int = 0
    notes: tuple[str, ...] = ()

    @property
    def has_unknown(self) -> bool:
        """Whether a value of the table is not a category of its column."""
        return "unknown" in self["kind"].tolist()

    def __repr__(self) -> str:
        """Return a summary and the first rows."""
        kinds = set(self["kind"].tolist())
        rows = number_of(self.checked_rows, "row")
        if not kinds:
            return f"<Check of {rows}: every value is a category that fit has seen>"
        listed = " or ".join(kind for kind in CHECK_KINDS if kind in kinds)
        lines = [f"<Check of {rows}: some values are {listed}>", super().__repr__(), *self.notes]
        return "\n".join(lines)

    def _notes(self) -> tuple[str, ...]:
        return self.notes


def check_report(table: Table, schema: Schema) -> Check:
    """Return a report on the unknown, missing and infrequent values of a table."""
    positions, n_rows = schema.positions_in_table(table), table.n_rows
    table.check_complete(positions)

    def reported_at(position: int, column: ColumnSchema) -> ReportedValues:
        return reported_values(column, column.read_from(table, position))

    reported = [
        with_column_context(column.name, reported_at, position, column)
        for position, column in zip(positions, schema.columns, strict=True)
    ]
    found = [(each.name, kind, getattr(each, kind)) for each in reported for kind in CHECK_KINDS]
    counts = [values.counts for *_, values in found]
    lengths = [*map(len, counts)]
    count = concatenated(counts, np.int64)
    check = Check(
        column=np.repeat(as_objects([name for name, *_ in found]), lengths),
        kind=np.repeat(as_objects([kind for _, kind, _ in found]), lengths),
        value=concatenated(as_objects(values.categories.tolist()) for *_, values in found),
        count=count,
        share=count / max(n_rows, 1),
    )
    check.checked_rows, check.quoted = n_rows, quoted_columns(schema)
    check.notes = tuple(
        f"column {each.name!r}: {reason}" for each in reported for reason in each.reasons.texts()
    )
    return check
