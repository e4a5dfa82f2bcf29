"""``DataFrame.onehot`` and ``LazyFrame.onehot``: registered when this module is imported."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Unpack

import polars as pl
from polars.selectors import by_name

from onehot_fast import Encoder
from onehot_fast.adapter import (
    EncodedLayout,
    Schema,
    TableAccessor,
    TableKeywords,
    check_options,
    columns_only,
    part_of_table,
    require,
)

from ._options import declared_encoder, new_encoder
from .expr import encode_expr

__all__ = ["DataFrameNamespace", "LazyFrameNamespace"]


@pl.api.register_dataframe_namespace("onehot")
class DataFrameNamespace(TableAccessor[pl.DataFrame]):
    """The one-hot form of a DataFrame, as ``frame.onehot``.

    Parameters
    ----------
    frame : polars.DataFrame of n_rows
        Supplied by polars.

    Notes
    -----
    By default the columns of texts, categories, bytes and objects are encoded. The outputs of each
    column share a block of memory, in which Booleans are bit-packed. A `dtype` is one of polars or
    of NumPy.

    Examples
    --------
    >>> frame = pl.DataFrame({"price": [2, 3], "size": ["S", "L"], "sold": [True, False]})
    >>> frame.onehot(dtype=pl.UInt8).to_dict(as_series=False)
    {'price': [2, 3], 'size_L': [0, 1], 'size_S': [1, 0], 'sold': [True, False]}
    >>> frame.onehot(["size"], drop={"size": "L"}, prefix="is").columns
    ['price', 'is_S', 'sold']
    >>> encoder = frame.onehot.fit(["size"])
    >>> frame[:1].onehot(encoder).columns
    ['price', 'size_L', 'size_S', 'sold']
    """

    def _new_encoder(self, columns: Iterable[Hashable] | None, options: TableKeywords) -> Encoder:
        return new_encoder(columns, options)


@pl.api.register_lazyframe_namespace("onehot")
class LazyFrameNamespace:
    """The one-hot form of a LazyFrame, as ``lazyframe.onehot``.

    Parameters
    ----------
    frame : polars.LazyFrame
        Supplied by polars.
    """

    def __init__(self, frame: pl.LazyFrame) -> None:
        self._frame = frame

    def __repr__(self) -> str:
        """Say what there is to call."""
        return "<onehot of a lazy table: call it with the columns to encode or an Encoder, or fit>"

    @columns_only
    def __call__(
        self,
        columns: Iterable[str] | Encoder | None = None,
        *,
        num_threads: int | None = None,
        **options: Unpack[TableKeywords],
    ) -> pl.LazyFrame:
        """Encode some columns where they stand, once the rows come.

        Parameters
        ----------
        columns : iterable of str or Encoder, optional
            A fitted `onehot_fast.Encoder`, such as `fit` returns. Or the columns to encode, of
            which all are of Enum, or have their `categories` declared.
        num_threads : int, optional
            For each batch; by default as many as its size makes worthwhile.
        **options
            As for ``DataFrame.onehot``, but for those that need rows to learn from:
            `min_frequency`, `max_categories` and ``drop="most_frequent"``.

        Returns
        -------
        polars.LazyFrame
            No row has an influence on its schema, and none is read to know it. The streaming
            engine encodes it batch by batch.

        Raises
        ------
        TypeError, ValueError
            As for ``DataFrame.onehot``; and if the categories of a column are not declared. A
            value that is no category is refused when the frame is collected.

        Examples
        --------
        >>> frame = pl.LazyFrame({"size": ["S", "L"], "price": [2, 3]})
        >>> encoded = frame.onehot(categories={"size": ["S", "M", "L"]})
        >>> encoded.collect_schema().names()
        ['size_S', 'size_M', 'size_L', 'price']
        >>> encoder = frame.onehot.fit(["size", "price"], min_frequency={"price": 2})
        >>> frame.onehot(encoder).collect(engine="streaming").to_dict(as_series=False)
        {'size_L': [False, True], 'size_S': [True, False], 'price_(infrequent)': [True, True]}
        """
        if isinstance(columns, Encoder):
            check_options(options, None)
            return _encode_lazily(self._frame, columns.schema, num_threads)
        encoder = declared_encoder(self._frame.collect_schema(), columns, options)
        return _encode_lazily(self._frame, encoder.schema, num_threads)

    @columns_only
    def fit(
        self, columns: Iterable[str] | None = None, **options: Unpack[TableKeywords]
    ) -> Encoder:
        """Learn the categories in one pass over the rows, batch by batch.

        Parameters
        ----------
        columns : iterable of str, optional
            Those to encode; by default those of texts, categories, bytes and objects.
        **options
            As for ``DataFrame.onehot``.

        Returns
        -------
        onehot_fast.Encoder
            Fitted, as if to the whole table.

        Raises
        ------
        ImportError
            If polars is older than 1.34, which has no batches to give.
        TypeError, ValueError
            As for `onehot_fast.Encoder.fit`. An error contains no row
            number, because polars does not number its batches.
        """
        require("polars", "1.34", "LazyFrame.onehot.fit")  # the first one with batches
        encoder = new_encoder(columns, options)
        # No row yet, but which columns there are, in their order.
        encoder.partial_fit(pl.DataFrame(schema=self._frame.collect_schema()))
        encoded = self._frame.select(by_name(*map(str, encoder.columns or ())))
        for batch in encoded.collect_batches(engine="streaming", maintain_order=False):
            with part_of_table(one_thread=False):
                encoder.partial_fit(batch)
        _ = encoder.schema  # so that names that collide are refused now
        return encoder


def _encode_lazily(frame: pl.LazyFrame, schema: Schema, num_threads: int | None) -> pl.LazyFrame:
    """Return a LazyFrame with the columns of the schema replaced by their outputs."""
    names = frame.collect_schema().names()
    layout = EncodedLayout(schema, names)
    layout.check_table()
    # By name, since pl.col takes "*" and "^x$" for patterns.
    structs = [
        encode_expr(by_name(str(column.name)), column, "struct", num_threads)
        for column in schema.columns
    ]
    encoded = [str(column.name) for column in schema.columns]
    in_place = sorted(encoded, key=names.index)
    result = frame.with_columns(structs).unnest(by_name(*in_place))
    if layout.order.positions == [*range(len(names))]:
        return result
    return result.select(by_name(*map(str, layout.names)))
