"""Warnings and errors about a schema: no features, no rows, too many features."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from onehot_fast._arguments.messages import number_of, shown
from onehot_fast._runtime.utils import warn
from onehot_fast._schema.column_schema import ColumnSchema
from onehot_fast._schema.option_checks import DropValue
from onehot_fast._schema.options import OPTIONS
from onehot_fast._schema.schema import Schema

# The options that can leave a column without features.
REMOVING_OPTIONS = [name for name, option in OPTIONS.items() if option.removes_features]
# A column looks like an identifier if it has more features than this, and more than half as many
# categories as rows.
MANY_FEATURES = 250
# The maximum numbers of features of columns that are encoded by default.
MAX_DENSE_FEATURES = 1_000
MAX_FEATURES = 100_000
# The maximum numbers of columns that a warning and the error name.
MAX_COLUMNS_SHOWN, MAX_SUSPECTS_SHOWN, MAX_SIZES_SHOWN = 4, 3, 20
FEWER_FEATURES = (
    "pass columns=[...] to choose the columns, or max_categories= or min_frequency= for fewer"
    " features"
)


def check_features_exist(schema: Schema) -> None:
    """Warn about columns whose options leave no feature, so that the result lacks them."""
    for column in schema.columns:
        if len(column.known) and not column.n_features:
            options = ((name, getattr(column.options, name)) for name in REMOVING_OPTIONS)
            chosen = (f"{name}={_as_passed(value)}" for name, value in options if value is not None)
            warn(
                f"column {column.name!r} has no features, so the result lacks it: no feature is"
                f" left for its {number_of(len(column.known), 'category', 'categories')} with"
                f" {' and '.join(chosen)}; change an option, or drop the column from the table"
            )


def _as_passed(option: Any) -> str:
    """Return the value of an option as text; of `DropValue`, the category."""
    return shown(option.value if isinstance(option, DropValue) else option)


def check_separators(schema: Schema) -> None:
    """Warn about columns of texts of which none contains the separator of its labels."""
    for column in schema.columns:
        if column.learned.has_separator is False:
            warn(
                f"no text of column {column.name!r} contains the separator {column.options.sep!r};"
                " pass sep={'column': ...} with the separator of each column"
            )


def check_rows_exist(schema: Schema) -> None:
    """Warn if `fit` saw no rows, and columns therefore have no categories."""
    empty = [repr(column.name) for column in schema.columns if not len(column.known)]
    if empty and not schema.n_rows:
        more = ", …" if len(empty) > MAX_COLUMNS_SHOWN else ""
        warn(
            "fit saw a table without rows, so these columns have no categories:"
            f" {', '.join(empty[:MAX_COLUMNS_SHOWN])}{more}; fit to a table with rows, or pass"
            " categories="
        )


def check_default_columns(schema: Schema) -> None:
    """Warn about columns that look like identifiers, and raise an error for too many features.

    Columns with declared categories are ignored. A table of one column is not checked. Also warn if
    no column of the table is encoded.
    """
    names = schema.fitted_names or ()
    if names and not schema.columns:
        warn(
            "nothing is encoded: no column contains strings, objects or categories;"
            f" pass columns=[{names[0]!r}, ...] to choose columns of any type"
        )
    if len(names) < 2:
        return
    undeclared = [
        column
        for column in schema.columns
        if column.learned.n_declared is None and column.options.categories is None
    ]
    remedy = f"{FEWER_FEATURES}; for one integer per column, choose them and use output='codes'"
    check_features(undeclared, MAX_FEATURES, remedy)
    n_rows = schema.n_rows
    suspects = [described(each, n_rows) for each in undeclared if is_like_identifier(each, n_rows)]
    if suspects:
        more = len(suspects) - MAX_SUSPECTS_SHOWN
        warn(
            "; ".join(suspects[:MAX_SUSPECTS_SHOWN])
            + (f"; and {more} more columns" if more > 0 else "")
            + ("; they may be identifiers" if suspects[1:] else ", so it may be an identifier")
            + ". Pass columns=[...] to choose the columns to encode; this also silences the warning"
        )


def check_dense(schema: Schema) -> None:
    """Raise an error if columns chosen by default have too many features for a dense result."""
    if schema.n_features <= MAX_DENSE_FEATURES:
        return
    if schema.uses_default_columns and len(schema.fitted_names or ()) > 1:
        remedy = (
            f"{FEWER_FEATURES}, or output='csr' of Encoder.transform (of a frame:"
            " .onehot.to_csr(..., remainder='drop')) for a sparse matrix"
        )
        check_features(schema.columns, MAX_DENSE_FEATURES, remedy)


def check_features(columns: Iterable[ColumnSchema], limit: float, remedy: str) -> None:
    """Raise an error if columns chosen by default have more than `limit` features in total."""
    sizes = sorted(((column.n_features, str(column.name)) for column in columns), reverse=True)
    n_features = sum(size for size, _ in sizes)
    if n_features > limit:
        listed = ", ".join(f"{name!r} {size:,}" for size, name in sizes[:MAX_SIZES_SHOWN])
        n_more = len(sizes) - MAX_SIZES_SHOWN
        more = f" and {n_more:,} more columns" if n_more > 0 else ""
        raise ValueError(
            f"the columns that were chosen by default must have at most {int(limit):,} features,"
            f" got {n_features:,}: {listed}{more}; {remedy}"
        )


def is_like_identifier(column: ColumnSchema, n_rows: int) -> bool:
    """Tell whether a column has many features, and more than half as many categories as rows."""
    return column.n_features > MANY_FEATURES and 2 * len(column.known) > n_rows


def described(column: ColumnSchema, n_rows: int) -> str:
    """Return a sentence with the numbers of categories and rows of a column."""
    return f"column {column.name!r} has {len(column.known):,} categories in {n_rows:,} rows"
