"""Learn the columns of a table: the categories of each column, and how often they occur."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from onehot_fast._arguments.messages import did_you_mean, with_column_context
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.column import Column
from onehot_fast._categories.keys import name_key, name_keys
from onehot_fast._pipeline.code import VALUE_BYTES
from onehot_fast._reports.unknown import check_known, check_no_missing
from onehot_fast._runtime import parallel
from onehot_fast._schema import statistics
from onehot_fast._schema.options import ColumnOptions, Options
from onehot_fast._schema.statistics import ColumnStatistics, InputTable, TableStatistics
from onehot_fast.table import Table


def learn_table(
    table: Table, chosen: tuple[Hashable, ...] | None, options: Options
) -> TableStatistics:
    """Return the statistics of the encoded columns, in the order of the table."""
    if chosen is None:
        # A column with declared categories is encoded too.
        categories = options.values["categories"]
        is_per_column = isinstance(categories, dict)
        declared = (
            {
                key
                for key, values in zip(name_keys(categories), categories.values(), strict=True)
                if values
            }
            if is_per_column
            else set()
        )
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
        column = with_column_context(name, lambda: table.column(position).encode())
        learned = _learn_column(name, column, options.of(name))
        kind = table.type_of(position)
        return replace(learned, types=frozenset([kind])) if kind else learned

    n_bytes = len(names) * table.n_rows * VALUE_BYTES
    columns = parallel.parallel_map(learn_position, positions, n_bytes)
    uses_default_columns = chosen is None and table.has_names
    source = InputTable(table.names, table.has_names, table.library, uses_default_columns)
    return TableStatistics(names, tuple(columns), table.n_rows, source)


def _check_options(names: tuple[Hashable, ...], options: Options) -> None:
    """Raise an error if an option names a column that is not encoded."""
    known = {*name_keys(names)}
    for option, value in options.values.items():
        for name in value if isinstance(value, dict) else ():
            if name_key(name) not in known:
                raise ValueError(
                    f"{option}: the column must be one of the encoded columns {list(names)!r},"
                    f" got {name!r};{did_you_mean(name, names)} pass columns=[...] to choose the"
                    " columns"
                )


def _learn_column(name: Hashable, column: Column, options: ColumnOptions) -> ColumnStatistics:
    """Return the statistics of one column; raise an error if its options reject a value."""
    if options.handle_missing == "error":
        check_no_missing(name, column.codes)
    if options.categories is None:
        return with_column_context(name, statistics.learn, column)
    known = Categories.of(options.categories)
    learned, positions = with_column_context(name, statistics.learn_known, column, known)
    if options.handle_unknown == "error" and (positions < 0).any():
        is_unknown = np.append(known.find(Categories.of(column.stored)) < 0, False)
        check_known(name, known, column, is_unknown)
    return learned
