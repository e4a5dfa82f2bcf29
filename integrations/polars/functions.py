"""``onehot``: the namespaces as one function, which type checkers know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack, overload

import polars as pl

from onehot_fast import Encoder
from onehot_fast.adapter import ColumnKeywords, TableKeywords, with_article

from .expr import DeclaredKeywords, ExprNamespace, Layout
from .frame import DataFrameNamespace, LazyFrameNamespace
from .series import SeriesNamespace

__all__ = ["onehot"]

NAMESPACES: tuple[tuple[type, type], ...] = (
    (pl.DataFrame, DataFrameNamespace),
    (pl.LazyFrame, LazyFrameNamespace),
    (pl.Series, SeriesNamespace),
    (pl.Expr, ExprNamespace),
)


@overload
def onehot(
    data: pl.DataFrame,
    columns: Any = None,
    *,
    num_threads: int | None = None,
    **options: Unpack[TableKeywords],
) -> pl.DataFrame: ...
@overload
def onehot(
    data: pl.LazyFrame,
    columns: Any = None,
    *,
    num_threads: int | None = None,
    **options: Unpack[TableKeywords],
) -> pl.LazyFrame: ...
@overload
def onehot(
    data: pl.Series,
    categories: Any = None,
    *,
    prefix: str | None = None,
    prefix_sep: str = "_",
    dtype: Any = pl.Boolean,
    num_threads: int | None = None,
    **options: Unpack[ColumnKeywords],
) -> pl.DataFrame: ...
@overload
def onehot(
    data: pl.Expr,
    categories: Encoder | Iterable[Any] | pl.DataType | None = None,
    *,
    layout: Layout = "array",
    num_threads: int | None = None,
    **options: Unpack[DeclaredKeywords],
) -> pl.Expr: ...
def onehot(data: Any, *args: Any, **options: Any) -> Any:
    """Encode a Series, an expression or a frame, as ``data.onehot`` does: for type checkers.

    They do not know the namespaces, which polars adds at run time. They do know this function, and
    the namespaces as classes: ``SeriesNamespace(series).to_csr()`` is ``series.onehot.to_csr()``,
    and ``LazyFrameNamespace(frame).fit()`` is ``frame.onehot.fit()``.

    Parameters
    ----------
    data : polars.DataFrame, LazyFrame, Series or Expr
    *args, **options
        Those of the namespace.

    Returns
    -------
    polars.DataFrame, LazyFrame or Expr
        As the namespace returns it: a DataFrame of a Series.

    Raises
    ------
    TypeError
        If `data` is none of these; and as for the namespaces.

    Examples
    --------
    >>> onehot(pl.Series("size", ["S", "L"]), dtype=pl.UInt8).to_dict(as_series=False)
    {'size_L': [0, 1], 'size_S': [1, 0]}
    """
    for kind, namespace in NAMESPACES:
        if isinstance(data, kind):
            return namespace(data)(*args, **options)
    raise TypeError(
        f"data is {with_article(data)}; accepted are a DataFrame, LazyFrame, Series and Expr"
        " of polars"
    )
