"""The namespace ``Expr.onehot``, registered when this module is imported."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, Unpack

import polars as pl

from onehot_fast import Encoder
from onehot_fast.adapter import (
    OPTIONS,
    ColumnSchema,
    DeclaredKeywords,
    FeatureBlock,
    Schema,
    check_choice,
    check_options,
    code_table,
    option_names,
    part_of_table,
    require,
    write,
)

from ._options import element_of, new_encoder
from ._read import read_table
from ._write import output_frame

__all__ = ["ExprNamespace", "Layout", "encode_expr"]

Layout = Literal["array", "struct"]

# The options of one column that need no rows.
DECLARED = [
    name for name in option_names(["features", "dtype", "names"]) if not OPTIONS[name].is_threshold
]


@pl.api.register_expr_namespace("onehot")
class ExprNamespace:
    """One-hot encode an expression with ``expr.onehot``.

    Parameters
    ----------
    expr : polars.Expr
        Passed by polars.
    """

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def __repr__(self) -> str:
        """Return a hint on how to call the namespace."""
        return "<onehot of an expression: call it with the categories or an Encoder>"

    def __call__(
        self,
        categories: Any = None,
        *,
        layout: Layout = "array",
        num_threads: int | None = None,
        **options: Unpack[DeclaredKeywords],
    ) -> pl.Expr:
        """Encode the expression as an Array, or as a Struct with one field per category.

        Parameters
        ----------
        categories : sequence of scalars, polars.Enum, or Encoder, optional
            The categories in order; or a fitted `onehot_fast.Encoder` that has one column, or a
            column with the name of the expression. The default is the categories of the dtype,
            which must be an Enum, because an expression has no rows to learn categories from.
        layout : {"array", "struct"}, default "array"
            An Array has one element per category. The fields of a Struct are named
            ``f"{prefix}{prefix_sep}{category}"``. The default prefix is the expression's name, so
            that ``unnest`` gives the same names as ``to_dummies``.
        num_threads : int, optional
            The number of threads for each batch; by default it depends on the size of the batch.
        **options
            `dtype` (by default UInt8 in an Array, Boolean in a Struct), `drop`, `handle_missing`,
            `handle_unknown`, `prefix` and `prefix_sep` of `onehot_fast.Encoder`. If you pass a
            fitted Encoder, no other options are accepted.

        Returns
        -------
        polars.Expr
            The encoded expression; its dtype depends only on the categories. The streaming engine
            computes it batch by batch. A missing value becomes zeros.

        Raises
        ------
        ImportError
            If polars is older than 1.34 and `categories` is None.
        TypeError, ValueError
            If an option is invalid, an Encoder does not have the column, or the fields of a Struct
            would have no names. Unknown values and dtypes without declared categories raise an
            error when the expression is computed.

        Examples
        --------
        >>> frame = pl.LazyFrame({"size": ["S", None, "L"]})
        >>> encoded = frame.select(pl.col("size").onehot(["S", "M", "L"]))
        >>> encoded.collect_schema()["size"]
        Array(UInt8, shape=(3,))
        >>> encoded.collect().to_series().to_list()
        [[1, 0, 0], [0, 0, 0], [0, 0, 1]]
        """
        check_choice(layout, "layout", ("array", "struct"))
        name = self._expr.meta.output_name(raise_if_undetermined=False)
        if isinstance(categories, Encoder):
            check_options(options, None)
            return encode_expr(self._expr, categories.schema.column_of(name), layout, num_threads)
        _check(categories, options)
        if categories is None:
            require("polars", "1.34", "pl.col(...).onehot() without categories")
            # polars calls the function with made-up rows, and hides errors of the function.
            like = self._expr.map_batches(partial(_like_encoded, layout, options))
            dtype = None if self._expr.meta.has_multiple_outputs() else pl.dtype_of(like)
            encode = partial(_encode_enum, layout, num_threads, options)
            return self._expr.map_batches(encode, dtype, is_elementwise=True)
        if name is None and layout == "struct" and options.get("prefix") is None:
            raise ValueError(
                "the expression has no single name to use as the prefix of the fields: pass prefix="
            )
        column = _declared(name or "", categories, layout, options)
        return encode_expr(self._expr, column, layout, num_threads)


def encode_expr(
    expr: pl.Expr, column: ColumnSchema, layout: Layout, num_threads: int | None = None
) -> pl.Expr:
    """Return an elementwise expression that encodes `expr`."""
    element = element_of(column.options.dtype).dtype
    if layout == "array":
        dtype: Any = pl.Array(element, column.n_features)
    else:
        dtype = pl.Struct([pl.Field(name, element) for name in column.names])
    encode = partial(_encode_batch, Schema((column,)), layout, num_threads)
    return expr.map_batches(encode, return_dtype=dtype, is_elementwise=True)


def _declared(
    name: str, categories: Any, layout: Layout, options: Mapping[str, Any]
) -> ColumnSchema:
    """Return the schema of a column with declared categories."""
    dtype = "bool" if layout == "struct" else "uint8"
    chosen: dict[str, Any] = {"dtype": dtype, **options, "categories": categories}
    chosen["drop"] = {name: options.get("drop")}
    return new_encoder([name], chosen).fit({name: []}).schema.columns[0]


def _like_encoded(layout: Layout, options: Mapping[str, Any], series: pl.Series) -> pl.Series:
    """Return one row in the dtype of the encoded Enum; return other Series unchanged."""
    if series.dtype != pl.Enum:
        return series
    return _encode_enum(layout, 1, options, pl.Series(series.name, [None], series.dtype))


def _encode_enum(
    layout: Layout, num_threads: int | None, options: Mapping[str, Any], series: pl.Series
) -> pl.Series:
    """Encode an Enum with the categories of its dtype; raise TypeError for other dtypes."""
    name = series.name
    if series.dtype != pl.Enum:
        raise TypeError(
            f"column {name!r} of dtype {series.dtype} declares no categories, and an expression has"
            f" no rows to learn from: use pl.col({name!r}).onehot([...]) to declare the categories,"
            f" or frame.onehot([{name!r}]) to learn the categories"
        )
    column = _declared(name, series.dtype, layout, options)
    return _encode_batch(Schema((column,)), layout, num_threads, series)


def _encode_batch(
    schema: Schema, layout: Layout, num_threads: int | None, series: pl.Series
) -> pl.Series:
    [column] = schema.columns
    table = read_table(series)
    table.names = (column.name,)
    with part_of_table(one_thread=False):
        coded = code_table(table, schema, [0]).columns
    if layout == "array":
        matrix = write.rows(coded, schema.dtype, num_threads=num_threads)
        return pl.Series(series.name, matrix)
    outputs = FeatureBlock(schema.names, tuple(coded), schema.dtype)
    return output_frame(outputs, len(series), num_threads).to_struct(series.name)


def _check(categories: Any, options: Mapping[str, Any]) -> None:
    """Raise ValueError for options that must be learned from data.

    polars builds an expression before it reads any rows.
    """
    check_options(options, [*DECLARED, "layout", "num_threads"])
    for name, value in options.items():
        if name in OPTIONS and OPTIONS[name].needs_frequencies(value):
            raise ValueError(
                f"{name} must not be {value!r}, because an expression has no rows to count: pass a"
                " fitted Encoder with this option"
            )
    if isinstance(categories, str):
        raise ValueError(
            "categories must be a sequence, a polars.Enum or a fitted Encoder, because an"
            f" expression has no rows to learn from, got {categories!r}"
        )
