"""Columns that are encoded later, batch by batch: expressions whose dtype no data can change."""

import dataclasses
from functools import partial
from typing import Any, Literal

import polars as pl
from polars.selectors import by_name

from onehot_fast._categories.learn import code_table
from onehot_fast._categories.schema import ColumnSchema, Schema, check_names
from onehot_fast._encode import outputs
from onehot_fast.integrations.polars.dtypes import element_of
from onehot_fast.integrations.polars.frames import as_struct
from onehot_fast.integrations.polars.tables import read_table

__all__ = ["Layout", "encode_expr", "encode_lazily"]

Layout = Literal["array", "struct"]


def encode_expr(expr: pl.Expr, column: ColumnSchema, layout: Layout) -> pl.Expr:
    """Return the expression that encodes one.

    Parameters
    ----------
    expr : polars.Expr
        Its values have the categories of the column.
    column : ColumnSchema
        What an encoder settled for it.
    layout : {"array", "struct"}
        One Array for each row, or a Struct with a field for each output.

    Returns
    -------
    polars.Expr
        Elementwise, so that the streaming engine can hand it batch after batch.
    """
    schema = Schema((column,))
    element = element_of(column.options.dtype).dtype
    if layout == "array":
        dtype: Any = pl.Array(element, schema.n_features)
    else:
        dtype = pl.Struct([pl.Field(name, element) for name in schema.names])
    encode = partial(_encode, schema, layout)
    return expr.map_batches(encode, return_dtype=dtype, is_elementwise=True)


def _encode(schema: Schema, layout: Layout, series: pl.Series) -> pl.Series:
    """Return one batch of a column, encoded."""
    column = schema.columns[0].name
    coded = code_table(dataclasses.replace(read_table(series), names=(column,)), schema)
    if layout == "struct":
        return as_struct(coded, series.name)
    return pl.Series(series.name, outputs.matrix(coded))


def encode_lazily(frame: pl.LazyFrame, schema: Schema) -> pl.LazyFrame:
    """Return a LazyFrame with its encoded columns replaced by their outputs.

    Parameters
    ----------
    frame : polars.LazyFrame
        With the columns of the schema.
    schema : Schema
        What an encoder settled.

    Returns
    -------
    polars.LazyFrame
        The outputs stand in the order of the schema, where the encoded columns stood.

    Raises
    ------
    ValueError
        If a column is absent, or two would have one name.
    """
    table = read_table(pl.DataFrame(schema=frame.collect_schema()))
    encoded = {table.position(column.name): str(column.name) for column in schema.columns}
    check_names(schema, (name for at, name in enumerate(table.names) if at not in encoded))
    # By name, since pl.col takes "*" and "^x$" for patterns.
    structs = [
        encode_expr(by_name(str(column.name)), column, "struct") for column in schema.columns
    ]
    names = [str(table.names[at]) for at in sorted(encoded)]
    result = frame.with_columns(structs).unnest(by_name(*names))
    if names == list(encoded.values()):
        return result
    places = iter(range(len(schema.columns)))
    order: list[Any] = []
    for at, name in enumerate(table.names):
        order += schema.columns[next(places)].names if at in encoded else [name]
    return result.select(by_name(*order))
