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


def check_unasked(schema: Schema, state: State) -> None:
    """Warn of columns that are like identifiers, and refuse more features than anybody expects.

    Columns that declare their categories are left alone: there somebody has thought of them.
    """
    unasked = list(_undeclared(schema, state))
    suspects = [_described(column) for column, learned in unasked if _is_like_id(column, learned)]
    n_features = sum(column.n_outputs for column, _ in unasked)
    if n_features > MOST_FEATURES:
        largest = max((column for column, _ in unasked), key=lambda column: column.n_outputs)
        raise ValueError(
            f"{n_features:,} features of columns that nobody named, {_described(largest)} among"
            " them: name those to encode, columns=[...], or limit them by max_categories= or"
            " min_frequency="
        )
    if suspects:
        warn(
            f"{'; '.join(suspects)}, nearly as many as rows, as an identifier has: leave it out by"
            " naming the columns to encode, columns=[...]; to name it is to mean it"
        )


def _undeclared(schema: Schema, state: State) -> Iterator[tuple[ColumnSchema, Learned]]:
    """Yield the columns whose categories are those that occur."""
    for column, learned in zip(schema.columns, state.columns, strict=True):
        if learned.n_declared is None and column.options.categories is None:
            yield column, learned


def _is_like_id(column: ColumnSchema, learned: Learned) -> bool:
    """Tell whether a column has so many features, and nearly as many categories as rows."""
    return column.n_outputs > MANY_FEATURES and 2 * len(column.known) > learned.counts.sum()


def _described(column: ColumnSchema) -> str:
    """Return a column and how much it makes."""
    return f"column {column.name!r} with {len(column.known):,} categories"
