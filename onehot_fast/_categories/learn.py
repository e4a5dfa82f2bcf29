"""A table → what an encoder learns from it, and what it needs to encode it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import did_you_mean
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.learned import Learned, State, learn, learn_known
from onehot_fast._categories.lookup import check_known, check_no_missing, codes_of_known, lut_of
from onehot_fast._categories.options import ColumnOptions, Options
from onehot_fast._categories.review import (
    Check,
    UnknownValueError,
    check_of,
    find,
    warn_of_unknown,
    with_all_unknown,
)
from onehot_fast._categories.schema import ColumnSchema, Schema, check_names, column_schema
from onehot_fast._encode.write import CodedColumn
from onehot_fast._runtime import parallel
from onehot_fast.column import Column, Values
from onehot_fast.table import Table, column_position

Result = TypeVar("Result")

# What reading one value touches, about: a code, or a short text.
VALUE_BYTES = 8


def learn_table(table: Table, wanted: tuple[Hashable, ...] | None, options: Options) -> State:
    """Return what the encoded columns teach, in the order of the table."""
    if wanted is None:
        positions = [i for i, encodable in enumerate(table.encodable) if encodable]
    else:
        positions = sorted(map(table.position, wanted))
    names = tuple(table.names[i] for i in positions)
    _check_options(names, options)

    def learned(position: int) -> Learned:
        name = table.names[position]
        return _learn_column(name, _named(name, table.read, position), options.of(name))

    columns = parallel.each(learned, positions, len(names) * table.n_rows * VALUE_BYTES)
    return State(names, tuple(columns), table.n_rows)


def _check_options(names: tuple[Hashable, ...], options: Options) -> None:
    """Refuse an option of a column that is not encoded."""
    for name, special in options.special.items():
        if name not in names:
            raise ValueError(
                f"{next(iter(special))}[{name!r}] is given, but the column is not among those that"
                f" are encoded:{did_you_mean(name, names)} {list(names)!r}; columns= chooses them"
            )


def _named(name: Hashable, work: Callable[..., Result], *arguments: Any) -> Result:
    """Return what some work on a column makes, and name the column in an error."""
    try:
        return work(*arguments)
    except TypeError as error:
        raise TypeError(f"column {name!r}: {error}") from error
    except ValueError as error:
        raise ValueError(f"column {name!r}: {error}") from error


def _learn_column(name: Hashable, read: Column | Values, options: ColumnOptions) -> Learned:
    """Return what one column teaches, if it keeps to the options."""
    column = _named(name, read.encode)
    if options.handle_missing == "error":
        check_no_missing(name, column.codes)
    if options.categories is None:
        return _named(name, learn, column, column.declared)
    known = Categories.of(options.categories)
    learned, positions = _named(name, learn_known, column, known)
    if options.handle_unknown == "error" and (positions < 0).any():
        is_unknown = np.append(known.find(Categories.of(column.categories)) < 0, False)
        check_known(name, known, column.codes, column.categories, is_unknown)
    return learned


def schema_of(state: State, options: Options) -> Schema:
    """Return the output columns that follow from what was learned."""
    pairs = zip(state.names, state.columns, strict=True)
    columns = (column_schema(n, options.of(n), learned, state.n_rows) for n, learned in pairs)
    schema = Schema(tuple(columns), options.remainder)
    check_names(schema)
    return schema


def code_table(table: Table, schema: Schema) -> list[CodedColumn]:
    """Return the rows to encode: each column of the schema as codes and their outputs."""

    def read(column: ColumnSchema) -> Column | Values:
        return _read_named(table, column.name)

    def coded(position: int, column: ColumnSchema) -> CodedColumn:
        return _code_values(column, _named(column.name, table.read, position))

    positions = schema.remember(_positions, table.names)
    pairs = zip(positions, schema.columns, strict=True)
    n_bytes = len(positions) * table.n_rows * VALUE_BYTES
    try:
        columns = parallel.each(lambda pair: coded(*pair), pairs, n_bytes)
    except UnknownValueError as error:
        raise with_all_unknown(error, schema.columns, read) from None
    warned = filter(_may_hold_unknown, zip(schema.columns, columns, strict=True))
    warn_of_unknown((column for column, _ in warned), read)
    return columns


def check_table(table: Table, schema: Schema) -> Check:
    """Return what a table holds that has no feature of its own."""
    pairs = ((column, _read_named(table, column.name)) for column in schema.columns)
    findings = [_named(column.name, find, column, read) for column, read in pairs]
    return check_of(findings, table.n_rows)


def _read_named(table: Table, name: Hashable) -> Column | Values:
    """Return the one column of a name."""
    return _named(name, table.read, table.position(name))


def _positions(schema: Schema, names: tuple[Hashable, ...]) -> list[int]:
    """Return where each column of the schema is in a table."""
    return [column_position(names, column.name) for column in schema.columns]


def code_values(schema: ColumnSchema, read: Column | Values) -> CodedColumn:
    """Return a column as codes and their outputs; plain values are looked up where they lie."""
    coded = _code_values(schema, read)
    if _may_hold_unknown((schema, coded)):
        warn_of_unknown([schema], lambda _: read)
    return coded


def _may_hold_unknown(pair: tuple[ColumnSchema, CodedColumn]) -> bool:
    """Tell whether a column may hold unknown values that somebody wants to be warned of."""
    schema, coded = pair
    if schema.options.handle_unknown != "warn":
        return False
    return coded.lut is not schema.lut or bool((coded.codes == len(schema.known)).any())


def _code_values(schema: ColumnSchema, read: Column | Values) -> CodedColumn:
    """Return what `code_values` does, without a warning."""
    if isinstance(read, Values):
        found = _named(schema.name, read.lookup, schema.known)
        codes = None if found is None else codes_of_known(schema, found)
        if codes is not None:
            propagates = schema.options.handle_missing == "propagate"
            return CodedColumn(codes, schema.lut, schema.n_outputs, propagates, schema.shifted_luts)
    column = _named(schema.name, read.encode)
    lut = lut_of(schema, column.codes, column.stored)
    return CodedColumn(column.codes, lut, schema.n_outputs, schema.propagates_missing)


def code_column(
    schema: ColumnSchema,
    codes: npt.NDArray[Any],
    categories: Any,
    outputs: npt.NDArray[np.int64] | None = None,
) -> CodedColumn:
    """Return a column whose codes stand for other categories than those of the schema.

    `outputs` is what `ColumnSchema.outputs_of` returns, where these categories were met before.
    """
    lut = lut_of(schema, codes, categories, outputs)
    if schema.options.handle_unknown == "warn":
        warn_of_unknown([schema], lambda _: Column.of_checked(codes, categories, False, "hash"))
    return CodedColumn(codes, lut, schema.n_outputs, schema.propagates_missing)
