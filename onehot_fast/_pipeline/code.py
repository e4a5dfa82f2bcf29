"""Replace the values of a table by codes, look them up, and report the values that are unknown.

The options were applied once to each category, not to each row. The result is the look-up table of
a column (see `CodedColumn`), which maps each code to a feature. Its last entry is for missing
values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.messages import with_column_context
from onehot_fast._categories.column import Column
from onehot_fast._categories.values import Values
from onehot_fast._reports.unknown import (
    UnknownValueError,
    check_known,
    check_no_missing,
    reported_in,
    reported_values,
    warn_of_unknown,
    with_all_unknown,
)
from onehot_fast._runtime import parallel
from onehot_fast._runtime.cache import Cache
from onehot_fast._schema.coded_column import CodedColumn, Lut, new_luts
from onehot_fast._schema.column_schema import UNKNOWN, ColumnSchema
from onehot_fast._schema.schema import Schema
from onehot_fast.table import Table

AnyArray: TypeAlias = npt.NDArray[Any]
Result = TypeVar("Result")

# The approximate size of a value (a code or a short string) in bytes.
VALUE_BYTES = 8
# The size of the largest look-up table that is cached for the next table.
MAX_CACHED_CATEGORIES = 4096
# Up to this many rows, looking up Python objects is faster than reading a whole column.
FEW_ROWS = 16


@dataclass(frozen=True, eq=False)
class Coded:
    """A table whose columns to encode are codes with look-up tables.

    It is made once, and every output format is written from it.
    """

    table: Table
    schema: Schema
    columns: list[CodedColumn]  # as in the schema

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return self.table.n_rows


def code_table(table: Table, schema: Schema) -> Coded:
    """Return the table with the codes and the look-up table of each column of the schema."""

    def coded(pair: tuple[int, ColumnSchema]) -> tuple[CodedColumn, bool]:
        position, column = pair
        # Looking up a few Python objects is faster than reading the column.
        values = table.cells(position) if table.n_rows <= FEW_ROWS else None
        found = _of_known(column, column.known.lookup_few(values)) if values else None
        return found or _code_column(
            column, with_column_context(column.name, table.column, position)
        )

    positions = schema.cached_for(table.names, Schema.positions_in)
    table.check_complete(positions)
    pairs = zip(positions, schema.columns, strict=True)
    n_bytes = len(positions) * table.n_rows * VALUE_BYTES
    try:
        results = parallel.parallel_map(coded, pairs, n_bytes)
    except UnknownValueError as error:
        checked = (each for each in schema.columns if each.options.handle_unknown == "error")
        raise with_all_unknown(error, reported_in(table, checked)) from None
    doubtful = [
        column
        for column, (_, may_be_unknown) in zip(schema.columns, results, strict=True)
        if may_be_unknown and column.warns_of_unknown
    ]
    if doubtful:
        warn_of_unknown(reported_in(table, doubtful))
    return Coded(table, schema, [column for column, _ in results])


def code_column(
    schema: ColumnSchema, read: Column | Values, features: npt.NDArray[np.int64] | None = None
) -> CodedColumn:
    """Return the codes of a column and their look-up table.

    `features` is the result of `ColumnSchema.features_of` for the column's categories, if known.
    """
    coded, may_be_unknown = _code_column(schema, read, features)
    if may_be_unknown and schema.warns_of_unknown:
        warn_of_unknown([reported_values(schema, read)])
    return coded


def _code_column(
    schema: ColumnSchema, read: Column | Values, features: npt.NDArray[np.int64] | None = None
) -> tuple[CodedColumn, bool]:
    """Return the codes of a column and their look-up table, and whether a value may be unknown.

    Do not warn of unknown values.
    """
    if isinstance(read, Values):
        coded = _of_known(schema, with_column_context(schema.name, read.lookup, schema.known))
        if coded is not None:
            return coded
    column = with_column_context(schema.name, read.encode)
    if schema.options.handle_missing == "error":
        check_no_missing(schema.name, column.codes)
    luts = _luts_of(schema, column, features)
    if luts.is_unknown is not None and schema.options.handle_unknown == "error":
        check_known(schema.name, schema.known, column, luts.is_unknown)
    missing = schema.propagates_missing
    result = CodedColumn(column.codes, luts.lut, schema.n_features, missing, luts.derived)
    return result, luts.is_unknown is not None


class Luts(NamedTuple):
    """The look-up table of the categories of a column."""

    lut: Lut
    is_unknown: npt.NDArray[np.bool_] | None  # which entries of `lut`, or None if none
    derived: Cache[Lut]  # see `CodedColumn.luts`
    shared: object  # keeps `Column.shared` alive, whose identity is the key of the cache


def _luts_of(schema: ColumnSchema, column: Column, features: npt.NDArray[np.int64] | None) -> Luts:
    """Return the look-up table of a column; that of a small dictionary is kept for the next."""
    if column.shared is None or features is not None or column.n_categories > MAX_CACHED_CATEGORIES:
        return _new_luts(schema, column, features)
    key = id(column.shared)
    found: Luts = schema.of_dictionary.get(key, _new_luts, schema, column, None)
    return found


def _new_luts(schema: ColumnSchema, column: Column, features: npt.NDArray[np.int64] | None) -> Luts:
    """Return the feature of each category of a column."""
    if features is None:
        features = schema.features_of(column.stored)
    is_unknown = features == UNKNOWN
    if not is_unknown.any():
        return Luts(features.astype(np.int32), None, new_luts(), column.shared)
    known = np.where(is_unknown, schema.unknown_feature, features)
    return Luts(known.astype(np.int32), is_unknown, new_luts(), column.shared)


def _of_known(
    schema: ColumnSchema, found: npt.NDArray[np.int32] | None
) -> tuple[CodedColumn, bool] | None:
    """Return a column whose codes are `found`, and whether a value is unknown.

    `found` is the result of `Values.lookup`, and is changed in place. Return None if it is None, or
    if the options reject a value.
    """
    if found is None:
        return None
    lowest, options = int(found.min(initial=0)), schema.options
    if lowest < 0 and options.handle_missing == "error" and (found == -1).any():
        return None
    if lowest == UNKNOWN:
        if options.handle_unknown == "error":
            return None
        found[found == UNKNOWN] = len(schema.known)
    missing = schema.propagates_missing
    coded = CodedColumn(found, schema.lut, schema.n_features, missing, schema.luts)
    return coded, lowest == UNKNOWN
