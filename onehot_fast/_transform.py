"""The way of a table through `Encoder.transform`: read, lay out, code, check, write.

Each step returns a finished object for the next one: a `Table`, a layout, and a `Coded` table. The
first two steps report what is wrong with the columns before a value is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from onehot_fast._arguments.checks import check_choice
from onehot_fast._arguments.messages import with_column_context
from onehot_fast._categories.column import Column
from onehot_fast._categories.values import Values
from onehot_fast._pipeline import layout, write
from onehot_fast._pipeline.code import Coded, Features, look_up, look_up_table
from onehot_fast._pipeline.layout import EncodedLayout, MatrixLayout
from onehot_fast._reports.unknown import check_column, check_values
from onehot_fast._runtime.registry import integration, reader_of
from onehot_fast._schema.coded_column import CodedColumn
from onehot_fast._schema.column_schema import ColumnSchema
from onehot_fast._schema.formats import FORMATS, Family, family_of, format_names
from onehot_fast._schema.schema import ColumnOrder, Schema
from onehot_fast._schema.statistics import InputTable
from onehot_fast.implicit import OneHotMatrix
from onehot_fast.table import Table, read_table

LOCAL_FORMATS = format_names()  # of tables in memory


def encode_table(
    source: Any,
    schema: Schema,
    seen: InputTable,
    output: str | None,
    num_threads: int | None,
    *,
    estimator: str = "Encoder",
) -> Any:
    """Return an encoded table in the format `output`, by default that of its own library.

    `seen` are the columns that `fit` saw, and `estimator` is named in an error about them.
    """
    table = read_table(source)
    seen.check_width(table.names, table.has_names, estimator)
    positions = schema.positions_in_table(table)
    # A table has the format of its own library, also if no other table can be converted to it.
    if output is not None and not (isinstance(output, str) and output == table.library):
        check_choice(output, "output", LOCAL_FORMATS)
    form = table.library if output is None else output
    if form in FORMATS and FORMATS[form].one_code_per_row:  # not each library has a format
        schema.check_plain(f"output={form!r}")
    way = WAYS[family_of(form)]
    laid_out = way.lay_out(table, schema)
    coded = code_table(table, way.schema_of(schema), positions)
    return way.write(coded, laid_out, form, num_threads)


def code_table(table: Table, schema: Schema, positions: Sequence[int]) -> Coded:
    """Return the codes of a table; raise an error or warn as the options choose.

    `positions` are those of the schema's columns in the table.
    """
    table.check_complete(positions)
    coded = look_up_table(table, schema, positions)
    check_values(table, positions, schema.columns, coded.columns, coded.is_unknown)
    return coded


def code_column(
    schema: ColumnSchema, read: Column | Values, features: Features | None = None
) -> CodedColumn:
    """Return the codes of a column; raise an error or warn as the options choose.

    `features` is the result of `ColumnSchema.features_of` for the column's categories, if known. A
    row has one code.
    """
    schema.check_plain("this function")
    column, is_unknown = with_column_context(schema.name, look_up, schema, read, features)
    check_column(schema, read, column, is_unknown)
    return column


# ---- The families of formats ----


@dataclass(frozen=True)
class Way:
    """How a table becomes a result of one family of formats."""

    lay_out: Callable[[Table, Schema], Any]  # the columns of the result, or an error about them
    schema_of: Callable[[Schema], Schema]  # whose look-up tables have the codes to write
    write: Callable[[Coded, Any, str, int | None], Any]  # in a format of the family


def _itself(schema: Schema) -> Schema:
    return schema


def _write_matrix(coded: Coded, plan: MatrixLayout, form: str, num_threads: int | None) -> Any:
    """Return the features, and the numeric columns that are not encoded, as a matrix."""
    if form == "implicit":
        return _implicit(coded, plan, num_threads)
    write_matrix = write.rows if form == "numpy" else partial(write.sparse_array, form)
    return write_matrix(
        coded.columns, plan.dtype, n_rows=coded.n_rows, others=plan.others, num_threads=num_threads
    )


def _implicit(coded: Coded, plan: MatrixLayout, num_threads: int | None) -> OneHotMatrix:
    """Return the columns as a `OneHotMatrix`, with those not encoded as a dense block."""
    numeric = np.empty((coded.n_rows, len(plan.others)))
    for i, (_, values) in enumerate(plan.others):
        numeric[:, i] = values
    names = partial(layout.matrix_names, coded.schema, coded.table.names)
    positions = [position for position, _ in plan.others]
    return OneHotMatrix._of_columns(coded.columns, numeric, names, positions, num_threads)


def _lay_out_table(table: Table, schema: Schema) -> EncodedLayout:
    """Return the columns of an encoded table."""
    columns = schema.cached_for(table.names, EncodedLayout)
    columns.order.warn_if_absent()
    return columns


def _write_table(coded: Coded, columns: EncodedLayout, form: str, num_threads: int | None) -> Any:
    """Return an encoded table of a library."""
    parts = columns.parts(coded.columns)
    return integration(form).wrap(coded.table, parts, columns.of_library, num_threads)


def _write_codes(coded: Coded, _: None, form: str, num_threads: int | None) -> Any:
    """Return a matrix of codes."""
    return write.code_matrix(form, coded, num_threads)


def _write_categorical(coded: Coded, order: ColumnOrder, form: str, num_threads: int | None) -> Any:
    """Return a table of the same library whose encoded columns have a categorical dtype."""
    # Categories in polars must be strings.
    as_text = reader_of(coded.table.source) == "polars"
    parts = layout.categorical_parts(coded, order, as_text=as_text)
    return integration(coded.table.library).wrap(coded.table, parts)


WAYS: dict[Family, Way] = {
    "matrix": Way(layout.matrix_layout, _itself, _write_matrix),
    "table": Way(_lay_out_table, _itself, _write_table),
    "codes": Way(lambda table, schema: None, attrgetter("of_codes"), _write_codes),
    "category": Way(layout.categorical_order, attrgetter("of_categories"), _write_categorical),
}
