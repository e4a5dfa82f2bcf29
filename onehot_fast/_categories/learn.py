"""A table → what an encoder learns from it, and what it needs to encode it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._categories.keys import keys
from onehot_fast._categories.learned import Learned, State, learn
from onehot_fast._categories.lookup import check_known, check_no_missing, table_of
from onehot_fast._categories.options import ColumnOptions, Options
from onehot_fast._categories.schema import Schema, check_names, column_schema
from onehot_fast._encode.outputs import Coded
from onehot_fast._runtime import parallel
from onehot_fast.column import Column, Table

# What reading one value touches, about: a code, or a short text.
VALUE_BYTES = 8


def learn_table(table: Table, wanted: tuple[Hashable, ...] | None, options: Options) -> State:
    """Return what the encoded columns teach, in the order of the table."""
    if wanted is None:
        positions = [at for at, encodable in enumerate(table.encodable) if encodable]
    else:
        positions = sorted(map(table.position, wanted))
    names = tuple(table.names[at] for at in positions)
    _check_options(names, options)
    columns = parallel.each(
        lambda name: _learn_column(name, read_named(table, name), options.of(name)),
        names,
        len(names) * table.n_rows * VALUE_BYTES,
    )
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

    def code(at: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
        known = schema.columns[at]
        column = read_named(table, known.name)
        return column.codes, table_of(known, column.codes, column.categories, schema.starts[at])

    n_columns = len(schema.columns)
    pairs = parallel.each(code, range(n_columns), n_columns * table.n_rows * VALUE_BYTES)
    return Coded(schema, [codes for codes, _ in pairs], [t for _, t in pairs], table.n_rows)
