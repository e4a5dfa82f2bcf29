"""Columns that nobody asked for by name and that make very many features, as identifiers do."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from onehot_fast._runtime.caller import warn
from onehot_fast._schema.schema import ColumnSchema, Schema
from onehot_fast._schema.statistics import TableStatistics

# A column is like an identifier where it makes more features than this, of categories that are
# more than half as many as the rows.
MANY_FEATURES = 250
# More features than this are an error where nobody named the columns.
MOST_FEATURES = 100_000
# A message names so many columns.
SOME = 3


def check_default_columns(
    schema: Schema, state: TableStatistics, names: Sequence[Hashable]
) -> None:
    """Warn of columns that are like identifiers, and refuse more features than anybody expects.

    Columns that declare their categories are left alone: there somebody has thought of them. So is
    the only column of a table; that a table has no column to encode is warned of too.
    """
    if names and not schema.columns:
        warn(
            "nothing is encoded: no column holds texts, objects or categories;"
            f" columns=[{names[0]!r}, ...] encodes those that it names, whatever they hold"
        )
    if len(names) < 2:
        return
    unasked = list(_undeclared(schema, state))
    suspects = [column for column in unasked if is_like_identifier(column, state.n_rows)]
    n_features = sum(column.n_outputs for column in unasked)
    if n_features > MOST_FEATURES:
        columns = sorted(unasked, key=lambda column: -column.n_outputs)
        largest = ", ".join(f"{column.name!r} {column.n_outputs:,}" for column in columns[:SOME])
        raise ValueError(
            f"{n_features:,} features of columns that nobody named ({largest}); columns=[...]"
            " names those to encode, max_categories= and min_frequency= limit their features"
        )
    if suspects:
        warn(
            f"{'; '.join(described(column, state.n_rows) for column in suspects[:SOME])}"
            f"{f'; and {len(suspects) - SOME} more columns' if len(suspects) > SOME else ''}:"
            f" {'an identifier' if len(suspects) == 1 else 'identifiers'}? columns=[...] names the"
            " columns to encode, and those that it names are not warned of"
        )


def _undeclared(schema: Schema, state: TableStatistics) -> Iterator[ColumnSchema]:
    """Yield the columns whose categories are those that occur."""
    for column, learned in zip(schema.columns, state.columns, strict=True):
        if learned.n_declared is None and column.options.categories is None:
            yield column


def is_like_identifier(column: ColumnSchema, n_rows: int) -> bool:
    """Tell whether a column has so many features, and nearly as many categories as rows."""
    return column.n_outputs > MANY_FEATURES and 2 * len(column.known) > n_rows


def described(column: ColumnSchema, n_rows: int) -> str:
    """Return a column and what it holds."""
    return f"column {column.name!r} has {len(column.known):,} categories in {n_rows:,} rows"
