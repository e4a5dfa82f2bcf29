"""``onehot`` on Dask DataFrames and Series, registered when this module is imported."""

from __future__ import annotations

from typing import Any, Unpack

import dask.array as da
import dask.dataframe as dd
import numpy.typing as npt
import pandas as pd
from dask.dataframe.extensions import register_dataframe_accessor, register_series_accessor
from dask.tokenize import tokenize

from onehot_fast import Encoder
from onehot_fast.adapter import ColumnKeywords, check_options, option_names
from onehot_fast.integrations._accessors.methods import LazyAccessor
from onehot_fast.integrations._accessors.series import EagerSeriesAccessor, SeriesAccessor
from onehot_fast.integrations._accessors.table import EagerTableAccessor, TableAccessor

from ._engine import as_frame, on_partitions, transform_part

__all__ = ["DaskFrameAccessor", "DaskSeriesAccessor"]


@register_dataframe_accessor("onehot")
class DaskFrameAccessor(LazyAccessor, TableAccessor[dd.DataFrame]):
    """One-hot encode a Dask DataFrame with ``frame.onehot``.

    The categories are computed immediately, unless you pass a fitted Encoder. The result is lazy.
    By default, string, categorical and object columns are encoded.

    Parameters
    ----------
    data : dask.dataframe.DataFrame
        Passed by Dask.

    Examples
    --------
    >>> sizes = pd.DataFrame({"price": [2, 3], "size": ["S", "L"], "sold": [True, False]})
    >>> frame = dd.from_pandas(sizes, npartitions=2)
    >>> frame.onehot(dtype="uint8").compute()
       price  size_L  size_S   sold
    0      2       0       1   True
    1      3       1       0  False
    >>> encoder = frame.onehot.fit(["size"])
    >>> frame.onehot(encoder).columns.tolist()
    ['price', 'size_L', 'size_S', 'sold']
    """

    _eager = EagerTableAccessor
    _in_memory = "frame.compute().onehot"


@register_series_accessor("onehot")
class DaskSeriesAccessor(LazyAccessor, SeriesAccessor[dd.DataFrame]):
    """One-hot encode a Dask Series with ``series.onehot``.

    The columns are those of ``series.compute().onehot()`` in pandas, with the same labels. The
    categories are computed immediately; the result is lazy. `to_numpy`, `to_csr` and `to_csc`
    return a Dask Array with one block per partition. All methods take these options of
    `onehot_fast.Encoder`: `categories`, `drop` (a rule or a category), `handle_missing`,
    `handle_unknown`, `min_frequency` and `max_categories`.

    Parameters
    ----------
    data : dask.dataframe.Series
        Passed by Dask.

    Examples
    --------
    >>> sizes = dd.from_pandas(pd.Series(["S", "L", None]), npartitions=2)
    >>> sizes.onehot(prefix="size", dtype="uint8").compute()
       size_L  size_S
    0       0       1
    1       1       0
    2       0       0
    >>> sizes.onehot.to_csr().compute().indices.tolist()
    [1, 0]
    """

    _eager = EagerSeriesAccessor
    _in_memory = "series.compute().onehot"

    def __call__(
        self,
        categories: Any = None,
        *,
        prefix: str | None = None,
        prefix_sep: str = "_",
        dtype: npt.DTypeLike = bool,
        num_threads: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> dd.DataFrame:
        """Encode as a frame with one column per category.

        Parameters
        ----------
        categories : sequence of scalars or Encoder, optional
            The categories in order, or a fitted Encoder; by default computed from the Series.
        prefix : str, optional
            Name the columns ``f"{prefix}{prefix_sep}{category}"`` instead of ``category``.
        prefix_sep : str, default "_"
            The string between prefix and category.
        dtype : NumPy dtype, default bool
            Boolean, integer, floating or complex dtype of every column.
        num_threads : int, optional
            The number of threads per partition; by default 1, the thread of the Dask task.
        **options
            See the class.

        Returns
        -------
        dask.dataframe.DataFrame
            A lazy DataFrame with the partitions and the index of the Series.

        Raises
        ------
        TypeError, ValueError
            An option is unknown or invalid. An invalid value in the data raises an error only when
            the result is computed.
        """
        frame, encoder = self._fitted(categories, dtype, options, prefix, prefix_sep)
        has_names = prefix is not None or isinstance(categories, Encoder)
        return on_partitions(_encode_part, frame, encoder, has_names, num_threads, tokenize(frame))

    def _matrix(
        self, form: Any, categories: Any, dtype: Any, num_threads: int | None, options: Any
    ) -> da.Array:
        """Return an Array whose blocks have the format `form`."""
        frame, encoder = self._fitted(categories, dtype, options)
        return encoder.transform(frame, form, num_threads=num_threads)

    def _fitted(
        self,
        categories: Any,
        dtype: Any,
        options: ColumnKeywords,
        prefix: str | None = None,
        prefix_sep: str = "_",
    ) -> tuple[dd.DataFrame, Encoder]:
        """Return the Series as a frame with one column, and the fitted encoder of this column."""
        check_options(options, option_names(["features"]))
        frame = as_frame(self._data)
        if isinstance(categories, Encoder):
            check_options(options if prefix is None else {"prefix": prefix}, None)
            encoded = categories.columns or ()
            if len(encoded) != 1:
                raise ValueError(
                    f"an Encoder for a Series must encode one column, got {list(encoded)!r}: call"
                    " frame.onehot(encoder) on the DataFrame"
                )
            return frame.rename(columns={frame.columns[0]: encoded[0]}), categories
        (name,) = frame.columns
        chosen: dict[str, Any] = {} if categories is None else {"categories": categories}
        chosen |= {"dtype": dtype, "prefix": prefix, "prefix_sep": prefix_sep}
        drop = {name: options.get("drop")}
        return frame, Encoder([name], **{**options, **chosen, "drop": drop}).fit(frame)


def _encode_part(
    part: pd.DataFrame, encoder: Encoder, has_prefix: bool, num_threads: int | None, token: str
) -> pd.DataFrame:
    """Return an encoded partition; without a prefix, its column labels are the categories."""
    encoded: pd.DataFrame = transform_part(part, encoder, "pandas", num_threads, token)
    if not has_prefix:
        (column,) = encoder.schema.columns
        encoded.columns = pd.Index(column.shown_labels)
    return encoded
