"""``.onehot`` on Series, DataFrames and LazyFrames, registered when this module is imported."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeVar, Unpack, overload

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.selectors import by_name

from onehot_fast import Encoder
from onehot_fast.adapter import (
    Categories,
    CodedColumn,
    ColumnKeywords,
    DeclaredKeywords,
    EncodedLayout,
    FeatureBlock,
    Rows,
    Schema,
    TableKeywords,
    check_options,
    columns_only,
    guards,
    option_names,
    part_of_table,
    require,
    with_article,
)
from onehot_fast.integrations._accessors.series import EagerSeriesAccessor
from onehot_fast.integrations._accessors.table import EagerTableAccessor

from ._options import declared_encoder, new_encoder, result_dtype
from ._read import read_column, read_lists
from ._write import label_frame, output_frame
from .expr import Layout, encode_expr

__all__ = ["DataFrameNamespace", "LazyFrameNamespace", "SeriesNamespace", "onehot"]

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


@pl.api.register_series_namespace("onehot")
class SeriesNamespace(EagerSeriesAccessor[pl.DataFrame]):
    """One-hot encode a Series with ``series.onehot``.

    Parameters
    ----------
    series : polars.Series of n_rows
        Passed by polars. Only `multi_hot` accepts lists and arrays. Structs are not supported.

    Notes
    -----
    The result has a column for each category: the categories of an Enum, in order, or the sorted
    distinct values. Null and NaN are missing values, and become rows of zeros.

    All methods except `codes` and `multi_hot` take options of `onehot_fast.Encoder`: `categories`,
    `drop`, `handle_missing`, `handle_unknown`, `min_frequency` and `max_categories`. `drop` may
    also be a category; write ``["first"]`` for a category named "first". `dtype` is a polars or
    NumPy dtype; Booleans are bit-packed. `categories` may be a polars.Enum.

    Examples
    --------
    >>> letters = pl.Series("is", ["b", "a", None])
    >>> sizes = pl.Series("size", ["S", "L", None], dtype=pl.Enum(["S", "M", "L"]))
    >>> sizes.onehot(dtype=pl.UInt8).to_dict(as_series=False)
    {'size_S': [1, 0, 0], 'size_M': [0, 0, 0], 'size_L': [0, 1, 0]}
    >>> sizes.onehot(prefix="is", drop="M", handle_missing="indicator").columns
    ['is_S', 'is_L', 'is_(missing)']
    >>> letters.onehot.to_numpy()
    array([[0., 1.],
           [1., 0.],
           [0., 0.]], dtype=float32)
    >>> sparse = letters.onehot.to_csr(dtype=pl.UInt8)
    >>> sparse.indices.tolist(), sparse.indptr.tolist(), sparse.shape
    ([1, 0], [0, 1, 2, 2], (3, 2))
    >>> tags = pl.Series(["new|red", None, "red"])
    >>> tags.onehot.multi_hot("|", dtype=pl.UInt8).to_dict(as_series=False)
    {'new': [1, 0, 0], 'red': [1, 0, 1]}
    """

    _library = "polars"

    def __call__(  # noqa: D102  inherits its docstring
        self,
        categories: Any = None,
        *,
        prefix: str | None = None,
        prefix_sep: str = "_",
        dtype: Any = pl.Boolean,
        num_threads: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> pl.DataFrame:
        element = self._element(dtype)
        column, names = self._coded(categories, element, options, prefix, prefix_sep)
        outputs = FeatureBlock(tuple(names()), (column,), element)
        return output_frame(outputs, len(self._data), num_threads)

    def _element(self, dtype: Any) -> np.dtype[Any]:
        return result_dtype(dtype)

    def _encode(self, options: Mapping[str, Any]) -> tuple[CodedColumn, Callable[[], list[str]]]:
        column = read_column(self._data).encode()
        if self._has_defaults(options) and column.is_distinct and column.source == "hash":
            # Sort the categories now; an encoder is needed only for the names.
            order = Categories.of(column.stored).argsort()
            coded = CodedColumn.of_order(column.codes, order, len(order))
            return coded, lambda: self._encode_alone(column, self._data.name, options)[1].names
        coded, schema = self._encode_alone(column, self._data.name, options)
        return coded, lambda: schema.names

    def _labels(self, sep: str | None) -> Rows:
        if sep is None:
            return read_lists(self._data, has_indices=False)
        return Rows.read(self._data, sep=sep)

    def _frame_of(self, matrix: npt.NDArray[Any], labels: list[Any]) -> pl.DataFrame:
        return label_frame(matrix, labels)


@pl.api.register_dataframe_namespace("onehot")
class DataFrameNamespace(EagerTableAccessor[pl.DataFrame]):
    """One-hot encode a DataFrame with ``frame.onehot``.

    Parameters
    ----------
    frame : polars.DataFrame of n_rows
        Passed by polars.

    Notes
    -----
    By default, string, categorical, binary and object columns are encoded. The features of each
    column share a block of memory, in which Booleans are bit-packed. `dtype` is a polars or NumPy
    dtype.

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
    """One-hot encode a LazyFrame with ``lazyframe.onehot``.

    Parameters
    ----------
    frame : polars.LazyFrame
        Passed by polars.
    """

    def __init__(self, frame: pl.LazyFrame) -> None:
        self._frame = frame

    def __repr__(self) -> str:
        """Return a hint on how to call the namespace."""
        return "<onehot of a lazy table: call it with columns or an Encoder, or call fit>"

    @columns_only
    def __call__(
        self,
        columns: Any = None,
        *,
        num_threads: int | None = None,
        **options: Unpack[TableKeywords],
    ) -> pl.LazyFrame:
        """Return a LazyFrame in which the encoded columns are replaced by their features.

        Parameters
        ----------
        columns : iterable of str or Encoder, optional
            A fitted `onehot_fast.Encoder`, e.g. the result of `fit`; or the columns to encode,
            which must be Enums unless you pass their `categories`.
        num_threads : int, optional
            The number of threads for each batch; by default it depends on the size of the batch.
        **options
            As for ``DataFrame.onehot``, except the options that learn from rows: `min_frequency`,
            `max_categories` and ``drop="most_frequent"``.

        Returns
        -------
        polars.LazyFrame
            Its schema is known without reading rows. The streaming engine encodes batch by batch.

        Raises
        ------
        TypeError, ValueError
            As for ``DataFrame.onehot``, or if the categories of a column are not declared. An
            unknown value raises an error when the frame is collected.

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
            encoder = columns
        else:
            check_options(options, [*option_names(), "num_threads"])
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
            The columns to encode; by default string, categorical, binary and object columns.
        **options
            As for ``DataFrame.onehot``.

        Returns
        -------
        onehot_fast.Encoder
            The encoder, fitted to all rows.

        Raises
        ------
        ImportError
            If polars is older than 1.34, which cannot return batches.
        TypeError, ValueError
            As for `onehot_fast.Encoder.fit`. An error contains no row number, because polars does
            not number its batches.
        """
        require("polars", "1.34", "LazyFrame.onehot.fit")  # new in 1.34: collect_batches
        encoder = new_encoder(columns, options)
        # Learn the names and the order of the columns from a frame without rows.
        encoder.partial_fit(pl.DataFrame(schema=self._frame.collect_schema()))
        encoded = self._frame.select(by_name(*map(str, encoder.columns or ())))
        for batch in encoded.collect_batches(engine="streaming", maintain_order=False):
            with part_of_table(one_thread=False):
                encoder.partial_fit(batch)
        # The schema raises an error if two features have the same name.
        guards.check_features_exist(encoder.schema)
        return encoder


def _encode_lazily(frame: pl.LazyFrame, schema: Schema, num_threads: int | None) -> pl.LazyFrame:
    """Return a LazyFrame in which the columns of the schema are replaced by their features."""
    names = frame.collect_schema().names()
    layout = EncodedLayout(schema, names)
    guards.check_dense(schema)
    layout.order.warn_if_absent()
    # by_name, because pl.col treats "*" and "^x$" as patterns.
    structs = [
        encode_expr(by_name(str(column.name)), column, "struct", num_threads)
        for column in schema.columns
    ]
    in_place = [names[position] for position in sorted(schema.positions_in(names))]
    result = frame.with_columns(structs).unnest(by_name(*in_place))
    if layout.order.positions == [*range(len(names))]:
        return result
    return result.select(by_name(*map(str, layout.names)))


@overload
def onehot(
    data: Frame,
    columns: Any = None,
    *,
    num_threads: int | None = None,
    **options: Unpack[TableKeywords],
) -> Frame: ...
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
    categories: Any = None,
    *,
    layout: Layout = "array",
    num_threads: int | None = None,
    **options: Unpack[DeclaredKeywords],
) -> pl.Expr: ...
def onehot(data: Any, *args: Any, **options: Any) -> Any:
    """Encode a Series, expression or frame like ``data.onehot(...)``, but visible to type checkers.

    polars adds the namespaces at run time, so type checkers do not see them. You can also call the
    classes: ``LazyFrameNamespace(frame).fit()`` is ``frame.onehot.fit()``.

    Parameters
    ----------
    data : polars.DataFrame, LazyFrame, Series or Expr
        The object to encode.
    *args, **options
        The arguments of the namespace.

    Returns
    -------
    polars.DataFrame, LazyFrame or Expr
        The type of `data`, except that a Series becomes a DataFrame.

    Raises
    ------
    TypeError
        If `data` has another type; the namespaces may raise further errors.

    Examples
    --------
    >>> onehot(pl.Series("size", ["S", "L"]), dtype=pl.UInt8).to_dict(as_series=False)
    {'size_L': [0, 1], 'size_S': [1, 0]}
    """
    if not isinstance(data, pl.DataFrame | pl.LazyFrame | pl.Series | pl.Expr):
        raise TypeError(
            f"data must be a polars DataFrame, LazyFrame, Series or Expr, got {with_article(data)}"
        )
    return data.onehot(*args, **options)  # type: ignore[union-attr]
