"""From the categories of the data at hand to output columns: decided once per category.

The look-up table of a column (see `CodedColumn`) gives each code its output column; its last entry
is that of a missing value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import shown
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.keys import plain
from onehot_fast._runtime import parallel
from onehot_fast._schema.coded_column import FEW_CODES, CodedColumn
from onehot_fast._schema.grouping import shortened
from onehot_fast._schema.review import UnknownValueError, warn_of_unknown, with_all_unknown
from onehot_fast._schema.schema import UNKNOWN, ColumnSchema, Schema
from onehot_fast.column import Column, Values
from onehot_fast.table import Table

AnyArray: TypeAlias = npt.NDArray[Any]
Result = TypeVar("Result")

# What reading one value touches, about: a code, or a short text.
VALUE_BYTES = 8
# Look-up tables of so many categories are kept for the next table.
MOST_KEPT = 4096
# So few rows become objects of Python in less time than their column is read.
FEW_ROWS = 16
# How a refusal says what to do.
ACCEPTING_UNKNOWN = "handle_unknown='ignore' (or 'warn', 'indicator', 'infrequent')"
# It names so many categories.
SOME_CATEGORIES = 6


def code_table(table: Table, schema: Schema) -> list[CodedColumn]:
    """Return the rows to encode: each column of the schema as codes and their outputs."""

    def read(column: ColumnSchema) -> Column | Values:
        return read_named(table, column.name)

    def coded(position: int, column: ColumnSchema, known: CodedColumn | None) -> CodedColumn:
        return known or _code_column(column, named(column.name, table.column, position))

    positions = schema.remember(Schema.positions_in, table.names)
    is_few = table.n_rows <= FEW_ROWS
    known = _code_few(table, schema, positions) if is_few else [None] * len(positions)
    each = zip(positions, schema.columns, known, strict=True)
    n_bytes = len(positions) * table.n_rows * VALUE_BYTES
    try:
        columns = parallel.parallel_map(lambda one: coded(*one), each, n_bytes)
    except UnknownValueError as error:
        raise with_all_unknown(error, schema.columns, read) from None
    if schema.warns:
        warned = filter(_may_hold_unknown, zip(schema.columns, columns, strict=True))
        warn_of_unknown((column for column, _ in warned), read)
    return columns


def _code_few(table: Table, schema: Schema, positions: Sequence[int]) -> list[CodedColumn | None]:
    """Return the columns of a few rows that are known texts, None for each other one."""
    # All before the first is looked up: going to and fro between libraries empties the caches.
    cells = [*map(table.cells, positions)]
    return [
        _of_known(column, column.known.lookup_few(values)) if values else None
        for values, column in zip(cells, schema.columns, strict=True)
    ]


def code_column(
    schema: ColumnSchema, read: Column | Values, outputs: npt.NDArray[np.int64] | None = None
) -> CodedColumn:
    """Return a column as codes and their outputs; plain values are looked up where they lie.

    `outputs` is what `ColumnSchema.outputs_of` returns, where the categories were met before.
    """
    coded = _code_column(schema, read, outputs)
    if _may_hold_unknown((schema, coded)):
        warn_of_unknown([schema], lambda _: read)
    return coded


def _may_hold_unknown(pair: tuple[ColumnSchema, CodedColumn]) -> bool:
    """Tell whether a column may hold unknown values that somebody wants to be warned of."""
    schema, coded = pair
    if schema.options.handle_unknown != "warn":
        return False
    return coded.lut is not schema.lut or bool((coded.codes == len(schema.known)).any())


def _code_column(
    schema: ColumnSchema, read: Column | Values, outputs: npt.NDArray[np.int64] | None = None
) -> CodedColumn:
    """Return what `code_column` does, without a warning."""
    if isinstance(read, Values):
        coded = _of_known(schema, named(schema.name, read.lookup, schema.known))
        if coded is not None:
            return coded
    column = named(schema.name, read.encode)
    lut, shifted = _luts_of(schema, column, outputs)
    return CodedColumn(column.codes, lut, schema.n_outputs, schema.propagates_missing, shifted)


def _luts_of(
    schema: ColumnSchema, column: Column, outputs: npt.NDArray[np.int64] | None
) -> tuple[npt.NDArray[np.int32], dict[int, npt.NDArray[np.int32]] | None]:
    """Return the look-up table of a column, and those that were made of it, kept if they are small.

    Without unknown categories they follow from the categories alone.
    """
    key, lut, shifted = schema.last_luts[0]
    if column.shared is not None and column.shared.key is key:
        if schema.options.handle_missing == "error":
            check_no_missing(schema.name, column.codes)
        return lut, shifted
    if column.shared is None:
        return _lut_of(schema, column.codes, column.stored, outputs), None
    if outputs is None:
        outputs = schema.outputs_of(column.stored)
    lut = _lut_of(schema, column.codes, column.stored, outputs)
    if len(lut) > MOST_KEPT or (outputs[:-1] == UNKNOWN).any():
        return lut, None
    shifted = {}
    schema.last_luts[0] = column.shared.key, lut, shifted
    return lut, shifted


def named(name: Hashable, work: Callable[..., Result], *arguments: Any) -> Result:
    """Return what some work on a column makes, and name the column in an error."""
    try:
        return work(*arguments)
    except TypeError as error:
        raise TypeError(f"column {name!r}: {error}") from error
    except ValueError as error:
        raise ValueError(f"column {name!r}: {error}") from error


def read_named(table: Table, name: Hashable) -> Column | Values:
    """Return the one column of a name."""
    return named(name, table.column, table.position(name))


def _of_known(schema: ColumnSchema, found: npt.NDArray[np.int32] | None) -> CodedColumn | None:
    """Return a column of positions of known categories, None where there is none or one is refused.

    `found` is what `Values.lookup` returns, and changed in place.
    """
    if found is None:
        return None
    lowest = min(found.tolist(), default=0) if len(found) <= FEW_CODES else int(found.min())
    codes = found if lowest >= 0 else _codes_of_known(schema, found, lowest)
    if codes is None:
        return None
    missing = schema.propagates_missing
    return CodedColumn(codes, schema.lut, schema.n_outputs, missing, schema.shifted_luts)


def _codes_of_known(
    schema: ColumnSchema, codes: npt.NDArray[np.int32], lowest: int
) -> AnyArray | None:
    """Return positions, of which some are negative, as codes for `ColumnSchema.lut`, or None."""
    options = schema.options
    if options.handle_missing == "error" and (codes == -1).any():
        return None
    if lowest == UNKNOWN:
        if options.handle_unknown == "error":
            return None
        codes[codes == UNKNOWN] = len(schema.known)
    return codes


def _lut_of(
    schema: ColumnSchema,
    codes: AnyArray,
    categories: Any,
    outputs: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.int32]:
    """Return the look-up table of a column, code → output column, or refuse a row of it.

    `outputs` is what `ColumnSchema.outputs_of` returns, where the categories were met before.
    """
    if schema.options.handle_missing == "error":
        check_no_missing(schema.name, codes)
    if outputs is None:
        outputs = schema.outputs_of(categories)
    is_unknown = outputs == UNKNOWN
    if is_unknown[:-1].any():
        if schema.options.handle_unknown == "error":
            check_known(schema.name, schema.known, codes, categories, is_unknown)
        outputs = np.where(is_unknown, schema.unknown_output, outputs)
    return np.maximum(outputs, -1).astype(np.int32)


def check_no_missing(name: Any, codes: AnyArray) -> None:
    """Refuse the first row without a value."""
    if codes.dtype.kind == "i" and codes.size and codes.min() < 0:
        row = int(np.argmax(codes < 0))
        raise ValueError(
            f"{_place(name, row)}: the value is missing; handle_missing= accepts 'ignore',"
            " 'indicator' and 'propagate' beside 'error'"
        )


def check_known(
    name: Any,
    known: Categories,
    codes: AnyArray,
    categories: Any,
    is_unknown: npt.NDArray[np.bool_],
) -> None:
    """Refuse the first row whose value is unknown; a category without rows offends nobody."""
    # A missing code finds the last entry, which is that of -1.
    rows = is_unknown[codes if codes.dtype.kind == "u" else np.maximum(codes, -1)]
    if rows.any():
        row = int(np.argmax(rows))
        value = plain(categories[codes[row]])
        raise UnknownValueError(
            f"{_place(name, row)}: {shown(value)} is unknown; {ACCEPTING_UNKNOWN} accepts"
            f" it; the categories are {shortened(known, SOME_CATEGORIES)}"
        )


def _place(name: Any, row: int) -> str:
    """Return where a value is; the row only if the numbers of rows are those of the whole table."""
    return f"column {name!r}" if parallel.is_part_of_table() else f"column {name!r}, row {row}"
