"""``DataFrame.onehot`` and ``LazyFrame.onehot``: registered when this module is imported."""

from collections.abc import Iterable
from typing import Unpack

import polars as pl
from polars.selectors import by_name

from onehot_fast import Encoder
from onehot_fast.integrations.polars.expressions import encode_lazily
from onehot_fast.integrations.polars.options import (
    FrameOptions,
    chosen_encoder,
    declared_encoder,
    new_encoder,
)

__all__ = ["DataFrameNamespace", "LazyFrameNamespace"]


@pl.api.register_dataframe_namespace("onehot")
class DataFrameNamespace:
    """The one-hot form of a DataFrame, as ``frame.onehot``.

    Parameters
    ----------
    frame : polars.DataFrame of n_rows
        Supplied by polars.
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __call__(
        self, columns: Iterable[str] | Encoder | None = None, **options: Unpack[FrameOptions]
    ) -> pl.DataFrame:
        """Encode some columns where they stand.

        Without an encoder the columns of the result depend on the rows at hand.

        Parameters
        ----------
        columns : iterable of str or Encoder, optional
            Those to encode, whatever they hold; by default those of texts, categories, bytes and
            objects. Or a fitted `onehot_fast.Encoder`, which knows its columns and options.
        **options
            `prefix`, `prefix_sep`, `dtype` (Boolean by default; polars' names too), `categories`,
            `drop`, `handle_missing`, `handle_unknown`, `min_frequency` and `max_categories` of
            `onehot_fast.Encoder`. Each may be a dict from columns to values.

        Returns
        -------
        polars.DataFrame of n_rows
            The new columns stand in the place of those they were made of; the ones of each column
            share a block of memory, in which Booleans are bit-packed. All others are shared with
            the frame.

        Raises
        ------
        TypeError
            If `columns` or an option is of the wrong kind, there are options beside an Encoder, or
            a column cannot be encoded.
        ValueError
            If a column is absent, two columns would have one name, or an option or a value is
            refused.
        MemoryError
            If the result cannot fit in memory, before it is allocated.

        Examples
        --------
        >>> frame = pl.DataFrame({"price": [2, 3], "size": ["S", "L"], "sold": [True, False]})
        >>> frame.onehot(dtype=pl.UInt8).to_dict(as_series=False)
        {'price': [2, 3], 'size_L': [0, 1], 'size_S': [1, 0], 'sold': [True, False]}
        >>> frame.onehot(["size"], drop={"size": "L"}, prefix="is").columns
        ['price', 'is_S', 'sold']
        """
        encoder = chosen_encoder(columns, options)
        if encoder is not None:
            return encoder.transform(self._frame)  # type: ignore[no-any-return]
        new = new_encoder(columns, options)  # type: ignore[arg-type]
        return new.fit_transform(self._frame)  # type: ignore[no-any-return]


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

    def __call__(
        self, columns: Iterable[str] | Encoder | None = None, **options: Unpack[FrameOptions]
    ) -> pl.LazyFrame:
        """Encode some columns where they stand, once the rows come.

        Parameters
        ----------
        columns : iterable of str or Encoder, optional
            A fitted `onehot_fast.Encoder`, such as `fit` returns. Or the columns to encode, of
            which all are of Enum, or have their `categories` declared.
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
        encoder = chosen_encoder(columns, options)
        if encoder is None:
            schema = self._frame.collect_schema()
            encoder = declared_encoder(schema, columns, options)  # type: ignore[arg-type]
        return encode_lazily(self._frame, encoder._schema())

    def fit(self, columns: Iterable[str] | None = None, **options: Unpack[FrameOptions]) -> Encoder:
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
        TypeError, ValueError
            As for `onehot_fast.Encoder.fit`; a row is counted from the beginning of its batch.
        """
        encoder = new_encoder(columns, options)
        # No row yet, but which columns there are, in their order.
        encoder.partial_fit(pl.DataFrame(schema=self._frame.collect_schema()))
        wanted = self._frame.select(by_name(*map(str, encoder.columns or ())))
        for batch in wanted.collect_batches(engine="streaming", maintain_order=False):
            encoder.partial_fit(batch)
        encoder._schema()  # which refuses names that collide now and not later
        return encoder
