"""``Series.onehot`` and ``Index.onehot``: registered when this module is imported."""

from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from onehot_fast._runtime.registry import library
from onehot_fast.integrations.pandas.encoded import (
    ColumnOptions,
    check_names,
    encode,
    result_dtype,
)
from onehot_fast.integrations.pandas.lists import encode_lists
from onehot_fast.integrations.pandas.read import Codes, read
from onehot_fast.integrations.pandas.wrap import frame, prefixed

__all__ = ["OneHotAccessor"]


@pd.api.extensions.register_index_accessor("onehot")
@pd.api.extensions.register_series_accessor("onehot")
class OneHotAccessor:
    """The one-hot forms of a Series or an Index, as ``series.onehot``.

    It holds category, string (``str``, ``string``, ``object``, Arrow), integer or Boolean
    values, nullable ones included. The categories, their order and so the columns are those of
    `pandas.get_dummies`: the declared categories of a categorical Series in their order,
    unobserved ones included; otherwise the distinct values, sorted. A missing value is off in
    every column.

    Every form but `codes` and `multi_hot` takes options of `onehot_fast.Encoder`: `categories`,
    `drop`, `handle_missing`, `handle_unknown`, `min_frequency` and `max_categories`. As there is
    one column, `drop` may be a category too, ``["first"]`` if it is spelled like a rule. A column
    that stands for no single category is labelled "(infrequent)", "(unknown)" or "(missing)".

    Parameters
    ----------
    data : pandas.Series or pandas.Index of n_rows
        Supplied by pandas. Nothing is read before a method is called: pandas 3 makes a new
        accessor on every access.
    """

    def __init__(self, data: "pd.Series[Any] | pd.Index[Any]") -> None:
        self._data = data

    def __call__(
        self,
        prefix: str | None = None,
        prefix_sep: str = "_",
        dtype: npt.DTypeLike = bool,
        **options: Unpack[ColumnOptions],
    ) -> pd.DataFrame:
        """Encode as a frame with one column per category.

        Parameters
        ----------
        prefix : str, optional
            Name the columns ``f"{prefix}{prefix_sep}{category}"``; by default the column labels
            are the categories themselves.
        prefix_sep : str, default "_"
            What stands between prefix and category.
        dtype : NumPy dtype, default bool
            Boolean, integer, floating or complex dtype of every column. It does not depend on
            the input: nullable and Arrow columns give NumPy Booleans too.
        **options
            See the class.

        Returns
        -------
        pandas.DataFrame of shape (n_rows, n_columns)
            With the Series' index, in one block of memory that the frame alone owns. Without
            options equal to ``pandas.get_dummies(series, prefix, prefix_sep, dtype=dtype)``, which
            without any category has no columns.

        Raises
        ------
        TypeError
            If the Series' dtype is none of those above, if `dtype` is not a NumPy number or
            Boolean, if `prefix` or `prefix_sep` is not a string, or if an option is of the wrong
            kind.
        ValueError
            If an option or a value is refused.
        MemoryError
            If the result cannot fit in memory, before it is allocated.

        Examples
        --------
        >>> sizes = pd.Categorical(["S", "L", None], categories=["S", "M", "L"])
        >>> pd.Series(sizes).onehot(prefix="size", dtype="uint8")
           size_S  size_M  size_L
        0       1       0       0
        1       0       0       1
        2       0       0       0
        >>> pd.Series(sizes).onehot(drop="M", handle_missing="indicator", dtype="uint8")
           S  L  (missing)
        0  1  0          0
        1  0  1          0
        2  0  0          1
        """
        element = result_dtype(dtype)
        check_names(prefix, prefix_sep)
        series = self._series()
        encoded = encode(series, element, options)
        if len(encoded.labels) == 0:
            return pd.DataFrame(index=series.index)
        named = encoded.labels if prefix is None else prefixed(encoded.labels, prefix, prefix_sep)
        return frame(encoded.block(element), series.index, named)

    def to_numpy(
        self, dtype: npt.DTypeLike = np.float32, **options: Unpack[ColumnOptions]
    ) -> npt.NDArray[Any]:
        """Encode as a row-major array, the layout tensor libraries expect.

        Parameters
        ----------
        dtype : NumPy dtype, default float32
            Boolean, integer, floating or complex dtype of the elements.
        **options
            See the class.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            C-contiguous; its columns are those of the frame ``series.onehot()``.

        Raises
        ------
        TypeError, ValueError, MemoryError
            As for the frame.

        Examples
        --------
        >>> pd.Series([7, 5, 7]).onehot.to_numpy()
        array([[0., 1.],
               [1., 0.],
               [0., 1.]], dtype=float32)
        """
        element = result_dtype(dtype)
        return encode(self._series(), element, options).matrix(element)

    def to_csr(self, dtype: npt.DTypeLike = np.float32, **options: Unpack[ColumnOptions]) -> Any:
        """Encode as a sparse array, which is small however many categories there are.

        Parameters
        ----------
        dtype : NumPy dtype, default float32
            Boolean, integer, floating or complex dtype of the elements.
        **options
            See the class.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_rows, n_columns)
            In canonical form; its columns are those of the frame ``series.onehot()``.

        Raises
        ------
        ImportError
            If SciPy is not installed.
        TypeError, ValueError
            As for the frame.

        Examples
        --------
        >>> ones = pd.Series(["b", None, "a"]).onehot.to_csr()
        >>> ones.indices.tolist(), ones.indptr.tolist(), ones.shape
        ([1, 0], [0, 1, 1, 2], (3, 2))
        """
        library("scipy.sparse", "to_csr")
        element = result_dtype(dtype)
        return encode(self._series(), element, options).csr(element)

    def to_arrow(
        self, prefix: str | None = None, prefix_sep: str = "_", **options: Unpack[ColumnOptions]
    ) -> Any:
        """Encode as Arrow's Booleans, eight in a byte.

        Parameters
        ----------
        prefix, prefix_sep
            As for the frame.
        **options
            See the class.

        Returns
        -------
        pyarrow.RecordBatch of n_rows
            One Boolean column per category, without nulls: a missing value is off in all of them.
            All lie in one buffer. Without any category it has no columns and so no rows.

        Raises
        ------
        ImportError
            If pyarrow is not installed.
        TypeError, ValueError, MemoryError
            As for the frame; two columns of one name are an error.

        Examples
        --------
        >>> batch = pd.Series(["b", "a", None]).onehot.to_arrow(prefix="is")
        >>> batch.to_pydict()
        {'is_a': [False, True, False], 'is_b': [True, False, False]}
        """
        pa = library("pyarrow", "to_arrow")
        check_names(prefix, prefix_sep)
        encoded = encode(self._series(), np.dtype(bool), options)
        labels = encoded.labels if prefix is None else prefixed(encoded.labels, prefix, prefix_sep)
        return encoded.record_batch(pa, list(map(str, labels)))

    def codes(self) -> Codes:
        """Return the column in which each row is on.

        Returns
        -------
        ndarray of shape (n_rows,), signed integer
            Position of the row's column in ``series.onehot()``, -1 where the value is missing.
            For a categorical Series this is a read-only view of its own codes.

        Raises
        ------
        TypeError
            If the Series' dtype is not supported.

        Examples
        --------
        >>> pd.Series(["b", "a", None, "b"]).onehot.codes().tolist()
        [1, 0, -1, 1]
        """
        return read(self._series())[0]

    def multi_hot(
        self,
        sep: str | None = None,
        *,
        categories: Any = None,
        mode: Literal["set", "count"] = "set",
        dtype: npt.DTypeLike | None = None,
        output: Literal["pandas", "numpy", "csr"] = "pandas",
    ) -> Any:
        """Encode rows of several labels: lists, Arrow's lists, or separated texts.

        Parameters
        ----------
        sep : str, optional
            What stands between the labels of a text, literally. An empty label is none. Without
            it, every row is a list. A missing row has no labels.
        categories : sequence of scalars, optional
            The labels with a column, in their order; others are skipped. By default all that
            occur, sorted.
        mode : {"set", "count"}, default "set"
            Whether an element is 1 where its label occurs in the row, or how often it does.
        dtype : NumPy dtype, optional
            By default bool, and int64 for counts.
        output : {"pandas", "numpy", "csr"}, default "pandas"
            A frame, a row-major array, or a ``scipy.sparse.csr_array``.

        Returns
        -------
        DataFrame, ndarray or csr_array of shape (n_rows, n_labels)
            The frame is a view of the array, with the Series' index.

        Raises
        ------
        ImportError
            If `output` is "csr" and SciPy is not installed.
        TypeError, ValueError
            If a row is no list, or no text where there is a `sep`, or an option is refused.
        MemoryError
            If the result cannot fit in memory, before it is allocated.

        Examples
        --------
        >>> pd.Series(["new|red", None, "red"]).onehot.multi_hot("|", dtype="uint8")
           new  red
        0    1    1
        1    0    0
        2    0    1
        """
        if output == "csr":
            library("scipy.sparse", "multi_hot")
        element = result_dtype((np.int64 if mode == "count" else bool) if dtype is None else dtype)
        return encode_lists(self._series(), sep, categories, mode, element, output)

    def _series(self) -> "pd.Series[Any]":
        """Return the values as a Series, as `pandas.get_dummies` sees them."""
        if isinstance(self._data, pd.MultiIndex):
            raise TypeError(
                "a MultiIndex has several values in each row: encode one level of it, with"
                " index.get_level_values(level).onehot"
            )
        if isinstance(self._data, pd.Series):
            return self._data
        # Before pandas 3 a Series of a CategoricalIndex itself would copy its codes.
        values = self._data
        coded = values.array if isinstance(values, pd.CategoricalIndex) else values
        return pd.Series(coded, name=values.name, copy=False)
