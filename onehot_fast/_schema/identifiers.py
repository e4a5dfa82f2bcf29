"""Columns that were chosen by default and make many features, as identifiers do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onehot_fast._runtime.utils import warn
from onehot_fast._schema.schema import ColumnSchema, Schema
from onehot_fast._schema.statistics import TableStatistics

# A column is like an identifier where it makes more features than this, of categories that are
# more than half as many as the rows.
MANY_FEATURES = 250
# The limits for the features of columns that were chosen by default.
MAX_DENSE_FEATURES = 1_000
MAX_FEATURES = 100_000
# The numbers of columns that a warning and an error name.
SOME, MANY = 3, 20
FEWER_FEATURES = (
    "pass columns=[...] to choose the columns, or max_categories= or min_frequency= for fewer"
    " features"
)


def check_default_columns(schema: Schema, state: TableStatistics) -> None:
    """Warn about columns that are like identifiers, and raise an error for too many features.

    Columns with declared categories are ignored, and so is the only column of a table. A table
    without a column to encode is warned about too.
    """
    names = schema.fitted_names or ()
    if names and not schema.columns:
        warn(
            "nothing is encoded: no column holds texts, objects or categories;"
            f" pass columns=[{names[0]!r}, ...] to choose columns of any type"
        )
    if len(names) < 2:
        return
    undeclared = list(_undeclared(schema, state))
    check_features(undeclared, MAX_FEATURES, FEWER_FEATURES)
    suspects = [column for column in undeclared if is_like_identifier(column, state.n_rows)]
    if suspects:
        warn(
            f"{'; '.join(described(column, state.n_rows) for column in suspects[:SOME])}"
            f"{f'; and {len(suspects) - SOME} more columns' if len(suspects) > SOME else ''}:"
            f" {'an identifier' if len(suspects) == 1 else 'identifiers'}? Pass columns=[...] to"
            " choose the columns; there is no warning for columns that you choose"
        )


def check_dense(schema: Schema) -> None:
    """Raise an error if columns chosen by default have too many features for a dense result."""
    if schema.n_features <= MAX_DENSE_FEATURES:
        return
    if schema.uses_default_columns and len(schema.fitted_names or ()) > 1:
        remedy = f"{FEWER_FEATURES}, or output='csr' (.onehot.to_csr()) for a sparse matrix"
        check_features(schema.columns, MAX_DENSE_FEATURES, remedy)


def check_features(columns: Iterable[ColumnSchema], limit: float, remedy: str) -> None:
    """Raise an error if columns that were chosen by default have more features than a limit."""
    sizes = sorted(((column.n_outputs, str(column.name)) for column in columns), reverse=True)
    n_features = sum(size for size, _ in sizes)
    if n_features > limit:
        listed = ", ".join(f"{name!r} {size:,}" for size, name in sizes[:MANY])
        more = f" and {len(sizes) - MANY:,} more columns" if len(sizes) > MANY else ""
        raise ValueError(
            f"the columns that were chosen by default have {n_features:,} features, and the limit"
            f" is {int(limit):,}: {listed}{more}; {remedy}"
        )


def _undeclared(schema: Schema, state: TableStatistics) -> Iterator[ColumnSchema]:
    """Yield the columns whose categories are those that occur."""
    for column, learned in zip(schema.columns, state.columns, strict=True):
        if learned.n_declared is None and column.options.categories is None:
            yield column


def is_like_identifier(column: ColumnSchema, n_rows: int) -> bool:
    """Tell whether a column has many features, and more than half as many categories as rows."""
    return column.n_outputs > MANY_FEATURES and 2 * len(column.known) > n_rows


def described(column: ColumnSchema, n_rows: int) -> str:
    """Return a column and what it holds."""
    return f"column {column.name!r} has {len(column.known):,} categories in {n_rows:,} rows"
