"""``Expr.onehot``: the namespace, registered when this module is imported."""

from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

import polars as pl

from onehot_fast import Encoder
from onehot_fast._arguments.indices import require_word
from onehot_fast._categories.schema import ColumnSchema
from onehot_fast.integrations.polars.expressions import Layout, encode_expr
from onehot_fast.integrations.polars.options import chosen_encoder, new_encoder

__all__ = ["ExprNamespace"]


class DeclaredOptions(TypedDict, total=False):
    """The options of `onehot_fast.Encoder` that need no rows to learn from."""

    dtype: Any
    drop: Any
    handle_missing: Any
    handle_unknown: Any
    prefix: Any
    prefix_sep: Any


@pl.api.register_expr_namespace("onehot")
class ExprNamespace:
    """The one-hot form of an expression, as ``expr.onehot``.

    Parameters
    ----------
    expr : polars.Expr
        Supplied by polars.
    """

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def __call__(
        self, categories: Any, layout: Layout = "array", **options: Unpack[DeclaredOptions]
    ) -> pl.Expr:
        """Encode as an Array, or as a Struct with a field for each category.

        Parameters
        ----------
        categories : sequence of scalars, polars.Enum, or Encoder
            The categories in their order; or a fitted `onehot_fast.Encoder`, of which the column
            of the name of the expression counts, or its only column.
        layout : {"array", "struct"}, default "array"
            The Array has as many elements as there are categories. The fields of the Struct are
            named ``f"{prefix}{prefix_sep}{category}"``, by default after the expression, so that
            ``unnest`` gives columns named as by ``to_dummies``.
        **options
            `dtype` (by default UInt8 in an Array, Boolean in a Struct), `drop`, `handle_missing`,
            `handle_unknown`, `prefix` and `prefix_sep` of `onehot_fast.Encoder`; it is them that
            an Encoder has already.

        Returns
        -------
        polars.Expr
            Its dtype follows from the categories alone. It is elementwise: the streaming engine
            computes it batch by batch. A missing value is all off.

        Raises
        ------
        TypeError, ValueError
            If an option is refused, an Encoder does not know the column, or a Struct would have no
            names. A value that is no category is refused, unless `handle_unknown` says otherwise,
            when the expression is computed.

        Examples
        --------
        >>> frame = pl.LazyFrame({"size": ["S", None, "L"]})
        >>> encoded = frame.select(pl.col("size").onehot(["S", "M", "L"]))
        >>> encoded.collect_schema()
        Schema([('size', Array(UInt8, shape=(3,)))])
        >>> encoded.collect(engine="streaming").to_series().to_list()
        [[1, 0, 0], [0, 0, 0], [0, 0, 1]]
        """
        require_word(layout, "layout", ("array", "struct"))
        name = self._expr.meta.output_name(raise_if_undetermined=False)
        encoder = chosen_encoder(categories, options)
        if encoder is not None:
            return encode_expr(self._expr, _column_of(encoder, name), layout)
        if name is None and layout == "struct" and options.get("prefix") is None:
            raise ValueError("the expression has no single name for the fields: pass prefix=")
        _check(categories, options)
        named = "" if name is None else name
        given: dict[str, Any] = {"dtype": "bool" if layout == "struct" else "uint8", **options}
        given |= {"categories": categories, "drop": {named: options.get("drop")}}
        encoder = new_encoder([named], given).fit({named: []})
        return encode_expr(self._expr, encoder._schema().columns[0], layout)


def _check(categories: Any, options: Mapping[str, Any]) -> None:
    """Refuse what only rows could tell."""
    accepted = DeclaredOptions.__optional_keys__
    unknown = sorted(set(options) - accepted)
    if unknown:
        raise TypeError(
            f"{unknown[0]} is no option of an expression; accepted are"
            f" {', '.join(sorted(accepted))}, and an Encoder that was fitted with any"
        )
    if options.get("drop") == "most_frequent":
        raise ValueError(
            "drop = 'most_frequent': an expression has no rows to count; accepted are a category,"
            " the other rules, and an Encoder that was fitted with it"
        )
    if isinstance(categories, str):
        raise ValueError(
            f"categories = {categories!r}: an expression has no rows to learn them from; accepted"
            " are a sequence of categories, a polars.Enum and a fitted Encoder"
        )


def _column_of(encoder: Encoder, name: str | None) -> ColumnSchema:
    """Return what an encoder knows about an expression of this name."""
    columns = encoder._schema().columns
    found = [column for column in columns if column.name == name]
    if found or len(columns) == 1:
        return (found or columns)[0]
    known = [column.name for column in columns]
    raise ValueError(
        f"the expression is named {name!r}, and the encoder encodes {known!r}: alias it"
    )
