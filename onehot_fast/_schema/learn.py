"""A table → what an encoder learns from it, or what it holds that the encoder did not learn."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from onehot_fast._arguments.choices import did_you_mean
from onehot_fast._categories.categories import Categories
from onehot_fast._runtime import parallel
from onehot_fast._schema.lookup import (
    VALUE_BYTES,
    check_known,
    check_no_missing,
    named,
    read_named,
)
from onehot_fast._schema.options import ColumnOptions, Options
from onehot_fast._schema.review import Check, check_of, find
from onehot_fast._schema.schema import Schema, column_schema
from onehot_fast._schema.statistics import (
    ColumnStatistics,
    InputTable,
    TableStatistics,
    learn,
    learn_known,
)
from onehot_fast.column import Column, Values
from onehot_fast.table import Table


def learn_table(
    table: Table, chosen: tuple[Hashable, ...] | None, options: Options
) -> TableStatistics:
    """Return what the encoded columns teach, in the order of the table."""
    if chosen is None:
        # To name the categories of a column is to choose it.
        named_too = {name for name, special in options.special.items() if special.get("categories")}
        positions = [
            i
            for i, encodable in enumerate(table.encodable)
            if encodable or table.names[i] in named_too
        ]
    else:
        positions = sorted(map(table.position, chosen))
    names = tuple(table.names[i] for i in positions)
    _check_options(names, options)

    def learned(position: int) -> ColumnStatistics:
        name = table.names[position]
        statistics = _learn_column(name, named(name, table.column, position), options.of(name))
        kind = table.type_of(position)
        return replace(statistics, types=frozenset([kind])) if kind else statistics

    columns = parallel.parallel_map(learned, positions, len(names) * table.n_rows * VALUE_BYTES)
    uses_default_columns = chosen is None and table.has_names
    source = InputTable(table.names, table.has_names, table.library, uses_default_columns)
    return TableStatistics(names, tuple(columns), table.n_rows, source)


def _check_options(names: tuple[Hashable, ...], options: Options) -> None:
    """Refuse an option of a column that is not encoded."""
    for name, special in options.special.items():
        if name not in names:
            raise ValueError(
                f"{next(iter(special))}[{name!r}] is given, but the column is not among those that"
                f" are encoded:{did_you_mean(name, names)} {list(names)!r}; columns= chooses them"
            )


def _learn_column(
    name: Hashable, read: Column | Values, options: ColumnOptions
) -> ColumnStatistics:
    """Return what one column teaches, if it keeps to the options."""
    column = named(name, read.encode)
    if options.handle_missing == "error":
        check_no_missing(name, column.codes)
    if options.categories is None:
        return named(name, learn, column)
    known = Categories.of(options.categories)
    learned, positions = named(name, learn_known, column, known)
    if options.handle_unknown == "error" and (positions < 0).any():
        is_unknown = np.append(known.find(Categories.of(column.categories)) < 0, False)
        check_known(name, known, column.codes, column.categories, is_unknown)
    return learned


def schema_of(state: TableStatistics, options: Options) -> Schema:
    """Return the output columns that follow from what was learned."""
    pairs = zip(state.names, state.columns, strict=True)
    columns = (column_schema(n, options.of(n), learned, state.n_rows) for n, learned in pairs)
    known = () if state.input is None else (state.input.names, state.input.uses_default_columns)
    schema = Schema(tuple(columns), options.remainder, *known)
    schema.check_names()
    return schema


def check_table(table: Table, schema: Schema) -> Check:
    """Return what a table holds that has no feature of its own."""
    pairs = ((column, read_named(table, column.name)) for column in schema.columns)
    findings = [named(column.name, find, column, read) for column, read in pairs]
    return check_of(findings, table.n_rows)
