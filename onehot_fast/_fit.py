"""A table → what an encoder learns from it, and what it needs to encode it."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from onehot_fast._learned import Learned, State, learn
from onehot_fast._lookup import check_known, check_no_missing, table_of
from onehot_fast._options import ColumnOptions, Options
from onehot_fast._outputs import Coded
from onehot_fast._scalars import keys
from onehot_fast._schema import Schema, check_names, column_schema
from onehot_fast.column import Column, Table


def learn_table(table: Table, wanted: tuple[Hashable, ...] | None, options: Options) -> State:
    """Return what the encoded columns teach, in the order of the table."""
    if wanted is None:
        positions = [at for at, encodable in enumerate(table.encodable) if encodable]
    else:
        positions = sorted(map(table.position, wanted))
    names = tuple(table.names[at] for at in positions)
    _check_options(names, options)
    columns = []
    for name in names:
        column = read_named(table, name)
        columns.append(_learn_column(name, column, options.of(name)))
    return State(names, tuple(columns), table.n_rows)


def _check_options(names: tuple[Hashable, ...], options: Options) -> None:
    """Refuse an option of a column that is not encoded."""
    for name, special in options.special.items():
        if name not in names:
            raise ValueError(
                f"{next(iter(special))}[{name!r}] is given, but the column is not among those that"
                f" are encoded: {list(names)!r}; columns= chooses them"
            )


def read_named(table: Table, name: Hashable) -> Column:
    """Read a column, and name it if it cannot be read."""
    position = table.position(name)
    try:
        return table.read(position)
    except TypeError as error:
        raise TypeError(f"column {name!r}: {error}") from error
    except ValueError as error:
        raise ValueError(f"column {name!r}: {error}") from error


def _learn_column(name: Hashable, column: Column, options: ColumnOptions) -> Learned:
    """Return what one column teaches, if it keeps to the options."""
    if options.handle_missing == "error":
        check_no_missing(name, column.codes)
    declared = column.declared and options.categories is None
    learned = learn(column.codes, column.categories, declared)
    if options.categories is None:
        return learned
    known = keys(options.categories)
    if options.handle_unknown == "error":
        every = set(known)
        is_unknown = [key not in every for key in keys(column.categories)]
        mask = np.array([*is_unknown, False])
        if mask.any():
            check_known(name, options.categories, column.codes, column.categories, mask)
    return learned.only(known)


def schema_of(state: State, options: Options) -> Schema:
    """Return the output columns that follow from what was learned."""
    pairs = zip(state.names, state.columns, strict=True)
    columns = (column_schema(n, options.of(n), learned, state.n_rows) for n, learned in pairs)
    schema = Schema(tuple(columns))
    check_names(schema)
    return schema


def code_table(table: Table, schema: Schema) -> Coded:
    """Return the codes of the rows to encode, and the tables that give them their outputs."""
    codes, tables = [], []
    for schema_column, start in zip(schema.columns, schema.starts, strict=False):
        column = read_named(table, schema_column.name)
        codes.append(column.codes)
        tables.append(table_of(schema_column, column.codes, column.categories, start))
    return Coded(schema, codes, tables, table.n_rows)
