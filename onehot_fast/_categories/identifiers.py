"""Columns that nobody asked for by name and that make very many features, as identifiers do."""

from __future__ import annotations

from collections.abc import Iterator

from onehot_fast._categories.learned import Learned, State
from onehot_fast._categories.schema import ColumnSchema, Schema
from onehot_fast._runtime.caller import warn

# A column is like an identifier where it makes more features than this, of categories that are
# more than half as many as the rows with a value.
MANY_FEATURES = 1_000
# More features than this are an error where nobody named the columns.
MOST_FEATURES = 100_000
# A message names so many columns.
SOME = 3


def check_unasked(schema: Schema, state: State) -> None:
    """Warn of columns that are like identifiers, and refuse more features than anybody expects.

    Columns that declare their categories are left alone: there somebody has thought of them.
    """
    unasked = list(_undeclared(schema, state))
    suspects = [pair for pair in unasked if _is_like_id(*pair)]
    n_features = sum(column.n_outputs for column, _ in unasked)
    if n_features > MOST_FEATURES:
        columns = sorted((column for column, _ in unasked), key=lambda column: -column.n_outputs)
        largest = ", ".join(f"{column.name!r} {column.n_outputs:,}" for column in columns[:SOME])
        raise ValueError(
            f"{n_features:,} features of columns that nobody named ({largest}); columns=[...]"
            " names those to encode, max_categories= and min_frequency= limit their features"
        )
    if suspects:
        warn(
            f"{'; '.join(_described(*pair) for pair in suspects[:SOME])}"
            f"{f'; and {len(suspects) - SOME} more columns' if len(suspects) > SOME else ''}:"
            f" {'an identifier' if len(suspects) == 1 else 'identifiers'}? columns=[...] names the"
            " columns to encode, and those that it names are not warned of"
        )


def _undeclared(schema: Schema, state: State) -> Iterator[tuple[ColumnSchema, Learned]]:
    """Yield the columns whose categories are those that occur."""
    for column, learned in zip(schema.columns, state.columns, strict=True):
        if learned.n_declared is None and column.options.categories is None:
            yield column, learned


def _is_like_id(column: ColumnSchema, learned: Learned) -> bool:
    """Tell whether a column has so many features, and nearly as many categories as rows."""
    return column.n_outputs > MANY_FEATURES and 2 * len(column.known) > learned.counts.sum()


def _described(column: ColumnSchema, learned: Learned) -> str:
    """Return a column and what it holds."""
    n_rows = learned.counts.sum()
    return f"column {column.name!r} has {len(column.known):,} categories in {n_rows:,} rows"
