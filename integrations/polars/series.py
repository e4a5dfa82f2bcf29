"""``Series.onehot``: the namespace, registered when this module is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import polars as pl

from onehot_fast.adapter import (
    Categories,
    CodedColumn,
    ColumnKeywords,
    Outputs,
    Rows,
    SeriesAccessor,
)

from ._dtypes import result_dtype
from ._read import read_column, read_labels
from ._write import label_frame, output_frame

__all__ = ["SeriesNamespace"]


@pl.api.register_series_namespace("onehot")
class SeriesNamespace(SeriesAccessor[pl.DataFrame]):
    """The one-hot forms of a Series, as ``series.onehot``.

    Parameters
    ----------
    series : polars.Series of n_rows
        Supplied by polars. Of any dtype but lists, arrays and structs, which only `multi_hot`
        takes.

    Notes
    -----
    The columns are those of the categories: of an Enum all that it declares, in its order;
    otherwise the values that occur, sorted. A null and NaN are missing, and off in every column.

    Every form but `codes` and `multi_hot` takes options of `onehot_fast.Encoder`: `categories`,
    `drop`, `handle_missing`, `handle_unknown`, `min_frequency` and `max_categories`. As there is
    one column, `drop` may be a category too, ``["first"]`` if it is spelled like a rule. A `dtype`
    is one of polars or of NumPy.

    Examples
    --------
    >>> letters = pl.Series("is", ["b", "a", None])
    >>> letters.onehot.to_numpy()
    array([[0., 1.],
           [1., 0.],
           [0., 0.]], dtype=float32)
    >>> ones = letters.onehot.to_csr(dtype=pl.UInt8)
    >>> ones.indices.tolist(), ones.indptr.tolist(), ones.shape
    ([1, 0], [0, 1, 2, 2], (3, 2))
    >>> tags = pl.Series(["new|red", None, "red"])
    >>> tags.onehot.multi_hot("|", dtype=pl.UInt8).to_dict(as_series=False)
    {'new': [1, 0, 0], 'red': [1, 0, 1]}
    """

    _library = "polars"

    def __call__(
        self,
        categories: Any = None,
        *,
        prefix: str | None = None,
        prefix_sep: str = "_",
        dtype: Any = pl.Boolean,
        num_threads: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> pl.DataFrame:
        """Encode as a frame with one column per category.

        Parameters
        ----------
        categories : sequence of scalars, polars.Enum or Encoder, optional
            The categories in their order, or a fitted `onehot_fast.Encoder`; by default those of
            the Series.
        prefix : str, optional
            The columns are named ``f"{prefix}{prefix_sep}{category}"`` as by ``to_dummies``; by
            default the prefix is the name of the Series.
        prefix_sep : str, default "_"
            What stands between prefix and category.
        dtype : polars or NumPy dtype, default Boolean
            Boolean, integer or floating dtype of every column.
        num_threads : int, optional
            By default as many as the size of the result makes worthwhile.
        **options
            See the class.

        Returns
        -------
        polars.DataFrame of shape (n_rows, n_columns)
            Its columns share one block of memory, in which Booleans are bit-packed.

        Raises
        ------
        TypeError
            If the dtype of the Series or `dtype` is none of those above, or an option is of the
            wrong kind.
        ValueError
            If an option or a value is refused, or two columns would have one name.
        MemoryError
            If the result cannot fit in memory, before it is allocated.

        Examples
        --------
        >>> sizes = pl.Series("size", ["S", "L", None], dtype=pl.Enum(["S", "M", "L"]))
        >>> sizes.onehot(dtype=pl.UInt8).to_dict(as_series=False)
        {'size_S': [1, 0, 0], 'size_M': [0, 0, 0], 'size_L': [0, 1, 0]}
        >>> sizes.onehot(prefix="is", drop="M", handle_missing="indicator").columns
        ['is_S', 'is_L', 'is_(missing)']
        """
        element = self._element(dtype)
        column, names = self._coded(categories, element, options, prefix, prefix_sep)
        outputs = Outputs(tuple(names()), (column,), element)
        return output_frame(outputs, len(self._data), num_threads)

    def _element(self, dtype: Any) -> np.dtype[Any]:
        return result_dtype(dtype)

    def _encode(self, options: Mapping[str, Any]) -> tuple[CodedColumn, Callable[[], list[str]]]:
        column = read_column(self._data).encode()
        if self._has_defaults(options) and column.is_distinct and column.source == "hash":
            # Only the names need an encoder.
            order = Categories.of(column.stored).argsort()
            lut = np.full(len(order) + 1, -1, np.int32)
            lut[order] = np.arange(len(order), dtype=np.int32)
            coded = CodedColumn(column.codes, lut, len(order))
            return coded, lambda: self._encode_alone(column, self._data.name, options)[1].names
        coded, schema = self._encode_alone(column, self._data.name, options)
        return coded, lambda: schema.names

    def _labels(self, sep: str | None) -> Rows:
        return read_labels(self._data, sep)

    def _frame_of(self, matrix: npt.NDArray[Any], labels: list[Any]) -> pl.DataFrame:
        return label_frame(matrix, labels)
