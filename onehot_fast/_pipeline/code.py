"""Replace the values of a table by codes, and look up the feature of each code.

The options were applied once to each category, not to each row. The result is the look-up table of
a column (see `CodedColumn`), which maps each code to a feature. Its last entry is for missing
values. What a policy says of the values that are unknown is decided afterwards, from the flags
beside the codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.messages import error_at
from onehot_fast._categories.column import Column
from onehot_fast._categories.elements import UNKNOWN
from onehot_fast._categories.ragged import RaggedColumn
from onehot_fast._categories.values import Values
from onehot_fast._runtime import parallel
from onehot_fast._runtime.cache import Cache
from onehot_fast._schema.coded_column import CodedColumn, Lut, lowest_code, new_luts
from onehot_fast._schema.column_schema import ColumnSchema, Flags
from onehot_fast._schema.schema import Schema
from onehot_fast.table import ReadColumn, Table

Features: TypeAlias = npt.NDArray[np.int64]

# The approximate size of a value (a code or a short string) in bytes.
VALUE_BYTES = 8
# The size of the largest look-up table that is cached for the next table.
MAX_CACHED_CATEGORIES = 4096
# Up to this many rows, looking up Python objects is faster than reading a whole column.
FEW_ROWS = 16


class ColumnCodes(NamedTuple):
    """The codes of a column with their look-up table, and which codes are unknown values."""

    column: CodedColumn
    is_unknown: Flags | None  # for each entry of the look-up table; None if no row is unknown


@dataclass(eq=False, slots=True)  # as for `CodedColumn`, which is as often created
class Coded:
    """A table whose columns to encode are codes with look-up tables.

    It is made once, and every output format is written from it.
    """

    table: Table
    schema: Schema
    columns: list[CodedColumn]  # as in the schema
    is_unknown: list[Flags | None]  # of each column, as in `ColumnCodes`

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return self.table.n_rows


def look_up_table(table: Table, schema: Schema, positions: Sequence[int]) -> Coded:
    """Return the table with the codes of the columns at `positions`, those of the schema."""
    is_few = table.n_rows <= FEW_ROWS

    def look_up_at(place: tuple[int, ColumnSchema]) -> ColumnCodes:
        position, column = place
        try:
            # Looking up a few Python objects is faster than reading the column.
            cells = table.cells(position) if is_few and not column.is_ragged else None
            found = column.known.lookup_few(cells) if cells else None
            if found is not None:
                return _of_lookup(column, found)
            return look_up(column, column.read_from(table, position))
        except (TypeError, ValueError) as error:
            raise error_at(f"column {column.name!r}", error) from error

    n_bytes = len(positions) * table.n_rows * VALUE_BYTES
    places = zip(positions, schema.columns, strict=True)
    codes = parallel.parallel_map(look_up_at, places, n_bytes)
    return Coded(
        table, schema, [each.column for each in codes], [each.is_unknown for each in codes]
    )


def look_up(
    schema: ColumnSchema, read: ReadColumn, features: Features | None = None
) -> ColumnCodes:
    """Return the codes of a column, and which of them are unknown.

    `features` is the result of `ColumnSchema.features_of` for the column's categories, if known.
    """
    if isinstance(read, RaggedColumn):
        try:
            labels = look_up(schema, read.elements, features)
        except TypeError:
            read.check_labels()
            raise
        labels.column.offsets, labels.column.codes = read.with_missing(labels.column.codes)
        return labels
    if isinstance(read, Values):
        found = read.lookup(schema.known)
        if found is not None:
            return _of_lookup(schema, found)
    column = read.encode()
    luts = _luts_of(schema, column, features)
    missing = schema.propagates_missing
    coded = CodedColumn(column.codes, luts.lut, schema.n_features, missing, luts.derived)
    return ColumnCodes(coded, luts.is_unknown)


def _of_lookup(schema: ColumnSchema, found: npt.NDArray[np.int32]) -> ColumnCodes:
    """Return the codes from `Values.lookup`, which are changed in place."""
    has_unknown = lowest_code(found) == UNKNOWN
    if has_unknown:
        found[found == UNKNOWN] = len(schema.known)
    missing = schema.propagates_missing
    coded = CodedColumn(found, schema.lut, schema.n_features, missing, schema.luts)
    return ColumnCodes(coded, schema.unknown_entries if has_unknown else None)


class Luts(NamedTuple):
    """The look-up table of the categories of a column."""

    lut: Lut
    is_unknown: Flags | None  # which entries of `lut`, or None if none
    derived: Cache[Lut]  # see `CodedColumn.luts`
    shared: object  # keeps `Column.shared` alive, whose identity is the key of the cache


def _luts_of(schema: ColumnSchema, column: Column, features: Features | None) -> Luts:
    """Return the look-up table of a column; that of a small dictionary is kept for the next."""
    if column.shared is None or features is not None or column.n_categories > MAX_CACHED_CATEGORIES:
        return _new_luts(schema, column, features)
    key = id(column.shared)
    found: Luts = schema.of_dictionary.get(key, _new_luts, schema, column, None)
    return found


def _new_luts(schema: ColumnSchema, column: Column, features: Features | None) -> Luts:
    """Return the feature of each category of a column."""
    if features is None:
        features = schema.features_of(column.stored)
    is_unknown = features == UNKNOWN
    if not is_unknown.any():
        return Luts(features.astype(np.int32), None, new_luts(), column.shared)
    known = np.where(is_unknown, schema.unknown_feature, features)
    return Luts(known.astype(np.int32), is_unknown, new_luts(), column.shared)
