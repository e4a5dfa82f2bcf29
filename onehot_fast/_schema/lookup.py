"""Learn the columns of a table for `fit`, look up their values for `transform`, or check them.

The options are applied once to each category, not to each row. The result is the look-up table of a
column (see `CodedColumn`), which maps each code to a feature. Its last entry is for missing
values.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.messages import did_you_mean, shown, with_column_context
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.column import Column
from onehot_fast._categories.keys import name_key, name_keys, plain
from onehot_fast._categories.values import Values
from onehot_fast._runtime import parallel
from onehot_fast._runtime.utils import warn
from onehot_fast._schema import reports, statistics
from onehot_fast._schema.coded_column import CodedColumn, Lut
from onehot_fast._schema.column_schema import UNKNOWN, ColumnSchema, column_schema, shortened
from onehot_fast._schema.options import UNKNOWN_RULES, ColumnOptions, Options
from onehot_fast._schema.reports import Check, ReportedValues, UnknownValueError
from onehot_fast._schema.schema import Schema
from onehot_fast._schema.statistics import ColumnStatistics, InputTable, TableStatistics
from onehot_fast.table import Table

AnyArray: TypeAlias = npt.NDArray[Any]

# The approximate size of a value (a code or a short string) in bytes.
VALUE_BYTES = 8
# The size of the largest look-up table that is cached for the next table.
MAX_CACHED_CATEGORIES = 4096
# Up to this many rows, looking up Python objects is faster than reading a whole column.
FEW_ROWS = 16
ACCEPTING_UNKNOWN = f"handle_unknown='ignore' (or {str(UNKNOWN_RULES[2:])[1:-1]})"
# The maximum number of categories in an error message.
MAX_CATEGORIES_IN_MESSAGE = 6
# The maximum number of tables for which `warning_once` remembers the columns.
MAX_WARNED_TABLES = 64
# The columns of which a warning told in the context of `warning_once`.
_warned = ContextVar[set[Hashable]]("warned")


# ---- fit ----


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
        check_known(name, known, column, is_unknown, "the categories are")
    return learned


def schema_of(state: TableStatistics, options: Options) -> Schema:
    """Return the schema that follows from the statistics of a table and the options."""
    pairs = zip(state.names, state.columns, strict=True)
    columns = (column_schema(n, options.of(n), learned, state.n_rows) for n, learned in pairs)
    names = None if state.input is None else state.input.names
    is_default = state.input is not None and state.input.uses_default_columns
    remainder = options.values["remainder"]
    schema = Schema(tuple(columns), remainder, names, is_default, state.n_rows)
    schema.check_names()
    return schema


def check_report(table: Table, schema: Schema) -> Check:
    """Return a report on the unknown, missing and infrequent values of a table."""
    reported = _reported_in(table, schema.columns)
    return reports.check_of(reported, table.n_rows, reports.quoted_columns(schema))


def _reported_in(table: Table, columns: Iterable[ColumnSchema]) -> list[ReportedValues]:
    """Return the unknown, missing and infrequent values of some columns of a table."""
    columns = list(columns)
    positions = table.positions([column.name for column in columns])
    table.check_complete(positions)
    reported = []
    for column, position in zip(columns, positions, strict=True):
        read = with_column_context(column.name, table.column, position)
        reported.append(with_column_context(column.name, reports.reported_values, column, read))
    return reported


# ---- transform ----


def code_table(table: Table, schema: Schema) -> list[CodedColumn]:
    """Return the codes and the look-up table of each column of the schema."""

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
        raise reports.with_all_unknown(error, _reported_in(table, checked)) from None
    doubtful = [
        column
        for column, (_, may_be_unknown) in zip(schema.columns, results, strict=True)
        if may_be_unknown and column.warns_of_unknown
    ]
    if doubtful:
        _warn_of_unknown(_reported_in(table, doubtful))
    return [column for column, _ in results]


def code_column(
    schema: ColumnSchema, read: Column | Values, features: npt.NDArray[np.int64] | None = None
) -> CodedColumn:
    """Return the codes of a column and their look-up table.

    `outputs` is the result of `ColumnSchema.features_of` for the column's categories, if known.
    """
    coded, may_be_unknown = _code_column(schema, read, features)
    if may_be_unknown and schema.warns_of_unknown:
        _warn_of_unknown([reports.reported_values(schema, read)])
    return coded


def _warn_of_unknown(reported: Sequence[ReportedValues]) -> None:
    """Emit one warning about the unknown values of some columns, if there are any.

    In `warning_once`, skip the columns of which a warning told before.
    """
    warned = _warned.get(set())  # outside `warning_once`, a new set: every call warns
    new = [
        values for values in reported if len(values.unknown.counts) and values.name not in warned
    ]
    if new:
        warned.update(values.name for values in new)
        warn(reports.UnknownValueWarning.of(new))


@contextmanager
def warning_once(schema: Schema, table: Hashable) -> Iterator[None]:
    """Return a context manager in which the unknown values of a column cause at most one warning.

    An engine passes the same `table`, any key, for all parts of one table, because the warnings of
    many parts would hide all others.
    """
    if len(schema.warned) >= MAX_WARNED_TABLES:
        schema.warned.clear()
    token = _warned.set(schema.warned.setdefault(table, set()))
    try:
        yield
    finally:
        _warned.reset(token)


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
    lut, shifted, may_be_unknown = _luts_of(schema, column, features)
    missing = schema.propagates_missing
    return CodedColumn(column.codes, lut, schema.n_features, missing, shifted), may_be_unknown


def _luts_of(
    schema: ColumnSchema, column: Column, features: npt.NDArray[np.int64] | None
) -> tuple[Lut, dict[int, Lut], bool]:
    """Return the look-up table of a column, and the cache of `CodedColumn.lut_from`.

    Also return whether a category of the column is unknown, even if it does not occur.

    A small look-up table of known categories is reused if the next column has the same
    `Column.shared`.
    """
    shared, *luts = schema.last_luts[0]
    if column.shared is not None and column.shared is shared:
        return luts[0], luts[1], False
    if features is None:
        features = schema.features_of(column.stored)
    is_unknown = features == UNKNOWN
    has_unknown = bool(is_unknown.any())
    if has_unknown:
        if schema.options.handle_unknown == "error":
            check_known(schema.name, schema.known, column, is_unknown)
        features = np.where(is_unknown, schema.unknown_feature, features)
    lut = features.astype(np.int32)
    shifted: dict[int, Lut] = {}
    if column.shared is not None and not has_unknown and len(lut) <= MAX_CACHED_CATEGORIES:
        schema.last_luts[0] = column.shared, lut, shifted
    return lut, shifted, has_unknown


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
    coded = CodedColumn(found, schema.lut, schema.n_features, missing, schema.derived_luts)
    return coded, lowest == UNKNOWN


def check_no_missing(name: Any, codes: AnyArray) -> None:
    """Raise an error for the first missing value, which has a negative code."""
    if codes.dtype.kind == "i" and codes.size and codes.min() < 0:
        row = int(np.argmax(codes < 0))
        raise ValueError(
            f"{_place(name, row)}: the value is missing; use handle_missing='ignore' (or"
            " 'indicator', 'propagate')"
        )


def check_known(
    name: Any,
    known: Categories,
    column: Column,
    is_unknown: npt.NDArray[np.bool_],
    saw: str = "fit saw",
) -> None:
    """Raise an error for the first row with an unknown value.

    `saw` begins the text that names the kinds of the categories, e.g. "fit saw integers".
    """
    # The code of a missing value, -1, selects the last entry of `is_unknown`.
    codes = column.codes
    rows = is_unknown[codes if codes.dtype.kind == "u" else np.maximum(codes, -1)]
    if rows.any():
        row = int(np.argmax(rows))
        value = plain(column.stored[codes[row]])
        found = statistics.counted(column)
        is_new = (known.find(found.categories) < 0) & (found.counts > 0)
        unknown = found.take(np.flatnonzero(is_new)).most_frequent()
        reasons = reports.Reasons.of(known, unknown, int(found.counts.sum()), saw).texts()
        why = f" ({'; '.join(reasons)})" if reasons else ""
        listed = f"the categories are {shortened(known, MAX_CATEGORIES_IN_MESSAGE)}"
        raise UnknownValueError(
            f"{_place(name, row)}: {shown(value)} is unknown{why}; use {ACCEPTING_UNKNOWN};"
            f" {listed if len(known) else 'the column has no categories'}"
        )


def _place(name: Any, row: int) -> str:
    """Return the column of a value as text, and its row unless the table is part of another."""
    return f"column {name!r}" if parallel.is_part_of_table() else f"column {name!r}, row {row}"
