"""Learn the columns of a table: the categories of each column, and how often they occur."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from onehot_fast._arguments.messages import did_you_mean, shown, with_column_context
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.column import Column
from onehot_fast._categories.keys import name_key, name_keys
from onehot_fast._categories.ragged import RaggedColumn, have_separator
from onehot_fast._pipeline.code import VALUE_BYTES
from onehot_fast._reports.unknown import check_known, check_no_missing
from onehot_fast._runtime import parallel
from onehot_fast._runtime.utils import warn
from onehot_fast._schema import statistics
from onehot_fast._schema.options import ColumnOptions, Options
from onehot_fast._schema.statistics import (
    CodedRows,
    ColumnStatistics,
    InputTable,
    TableStatistics,
)
from onehot_fast.table import ReadColumn, Table


def learn_table(
    table: Table, chosen: tuple[Hashable, ...] | None, options: Options
) -> TableStatistics:
    """Return the statistics of the encoded columns, in the order of the table."""
    if chosen is None:
        # A column with declared categories, or with a separator of its own, is encoded too.
        declared = {*options.keys_with("categories"), *options.keys_with("sep")}
        names_of_table = zip(table.encodable, name_keys(table.names), strict=True)
        positions = [
            i for i, (encodable, key) in enumerate(names_of_table) if encodable or key in declared
        ]
    else:
        positions = sorted(table.positions(chosen))
    names = tuple(table.names[i] for i in positions)
    _check_options(names, options)

    def learn_position(position: int) -> ColumnStatistics:
        name = table.names[position]
        rows, has_separator = with_column_context(name, _read, table, position, options)
        own = (options.of_labels if isinstance(rows, RaggedColumn) else options.of)(name)
        learned = _learn_column(name, rows, own)
        kind = table.type_of(position)
        types = frozenset([kind] if kind else [])
        return replace(learned, types=types, has_separator=has_separator)

    n_bytes = len(names) * table.n_rows * VALUE_BYTES
    columns = parallel.parallel_map(learn_position, positions, n_bytes)
    uses_default_columns = chosen is None and table.has_names
    source = InputTable(table.names, table.has_names, table.library, uses_default_columns)
    return TableStatistics(names, tuple(columns), table.n_rows, source)


def _check_options(names: tuple[Hashable, ...], options: Options) -> None:
    """Raise an error if an option names a column that is not encoded, or contradicts another."""
    known = {*name_keys(names)}
    for option, value in options.values.items():
        for name in value if isinstance(value, dict) else ():
            if name_key(name) not in known:
                raise ValueError(
                    f"{option}: the column must be one of the encoded columns {list(names)!r},"
                    f" got {name!r};{did_you_mean(name, names)} pass columns=[...] to choose the"
                    " columns"
                )
    for name in names:
        options.of(name)  # its errors name the column


def _read(table: Table, position: int, options: Options) -> tuple[CodedRows, bool | None]:
    """Return a column as codes, or as rows of labels if it has lists or texts with a separator.

    Also return `ColumnStatistics.has_separator`. Raise an error if a mapping names a separator for
    a column that has no texts.
    """
    name = table.names[position]
    sep, is_named = options.of(name).sep, options.names_column("sep", name)
    lists = table.read_lists(position) is not None if is_named else False
    if lists:
        raise ValueError("the rows are lists, which need no separator; remove the column from sep")
    rows = table.labels(position, sep) if is_named else table.labels_or_values(position, sep)
    if sep is not None and isinstance(rows, RaggedColumn) and rows.is_split:
        _check_declared(options.of(name).categories, sep)
    elif sep is not None and isinstance(rows, Column):
        _warn_of_mixed_values(name, rows, sep)
    return rows.encode(), _has_separator(table, position, rows, sep)


def _check_declared(categories: Iterable[Any] | None, sep: str) -> None:
    """Raise an error for a declared category that no label of a split text can equal."""
    for category in () if categories is None else categories:
        if isinstance(category, str) and (sep in category or not category):
            raise ValueError(
                f"the category {shown(category)} contains the separator {sep!r} or is empty, and no"
                " label of a text can equal it: declare the labels themselves, or pass sep=None for"
                " the column"
            )


def _warn_of_mixed_values(name: Hashable, column: Column, sep: str) -> None:
    """Warn if texts contain the separator of all columns, but the column has other values too."""
    if column.categories.dtype != object:
        return
    values = column.categories.tolist()
    others = [value for value in values if not isinstance(value, str)]
    if others and any(isinstance(value, str) and sep in value for value in values):
        warn(
            f"column {name!r} has texts with the separator {sep!r} and other values, such as"
            f" {shown(others[0])}, so that its texts are not split: convert all values to texts, or"
            " name in sep={'column': ...} only the columns that have separators"
        )


def _has_separator(table: Table, position: int, rows: ReadColumn, sep: str | None) -> bool | None:
    """Tell whether a text contains the separator of its labels; None if there are no such texts."""
    if sep is None or not isinstance(rows, RaggedColumn) or not rows.is_split:
        return None
    lengths = np.diff(rows.offsets)
    if not lengths.any():
        return None
    return bool((lengths > 1).any()) or have_separator(table.read_column(position), sep)


def _learn_column(name: Hashable, rows: CodedRows, options: ColumnOptions) -> ColumnStatistics:
    """Return the statistics of one column; raise an error if its options reject a value."""
    if options.handle_missing == "error":
        check_no_missing(name, rows)
    if options.categories is None:
        return with_column_context(name, statistics.learn, rows)
    known = Categories.of(options.categories)
    learned, positions = with_column_context(name, statistics.learn_known, rows, known)
    if options.handle_unknown == "error" and (positions < 0).any():
        stored = statistics.elements_of(rows).stored
        is_unknown = np.append(known.find(Categories.of(stored)) < 0, False)
        check_known(name, known, rows, is_unknown)
    return learned
