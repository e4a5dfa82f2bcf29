"""``Series.onehot``: the accessor, registered when this module is imported."""

import contextlib
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from onehot_fast import one_hot
from onehot_fast.integrations.pandas.read import Codes, read
from onehot_fast.integrations.pandas.wrap import frame, prefixed

__all__ = ["OneHotAccessor"]

# Kinds of result element that pandas.get_dummies also takes, and of which 0 and 1 are values.
RESULT_KINDS = "biufc"


@pd.api.extensions.register_series_accessor("onehot")
class OneHotAccessor:
    """The one-hot forms of a Series, as ``series.onehot``.

    The Series holds category, string (``str``, ``string``, ``object``, Arrow), integer or Boolean
    values, nullable ones included. The categories, their order and so the columns are those of
    `pandas.get_dummies`: the declared categories of a categorical Series in their order,
    unobserved ones included; otherwise the distinct values, sorted. A missing value is off in
    every column.

    Parameters
    ----------
    series : pandas.Series of length n_rows
        Supplied by pandas. Nothing is read before a method is called: pandas 3 makes a new
        accessor on every access.
    """

    def __init__(self, series: "pd.Series[Any]") -> None:
        self._series = series

    def __call__(
        self,
        prefix: str | None = None,
        prefix_sep: str = "_",
        dtype: npt.DTypeLike = bool,
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

        Returns
        -------
        pandas.DataFrame of shape (n_rows, n_categories)
            With the Series' index, in one block of memory that the frame alone owns. Equal to
            ``pandas.get_dummies(series, prefix, prefix_sep, dtype=dtype)``, which without any
            category has no columns.

        Raises
        ------
        TypeError
            If the Series' dtype is none of those above, if `dtype` is not a NumPy number or
            Boolean, or if `prefix` or `prefix_sep` is not a string.
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
        """
        element = _result_dtype(dtype)
        _check_names(prefix, prefix_sep)
        codes, categories = read(self._series)
        if len(categories) == 0:
            return pd.DataFrame(index=self._series.index)
        block = one_hot(codes, len(categories), axis=0, dtype=element)
        columns = categories if prefix is None else prefixed(categories, prefix, prefix_sep)
        return frame(block, self._series.index, columns)

    def to_numpy(self, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[np.generic]:
        """Encode as a row-major array, the layout tensor libraries expect.

        Parameters
        ----------
        dtype : NumPy dtype, default float32
            Boolean, integer, floating or complex dtype of the elements.

        Returns
        -------
        ndarray of shape (n_rows, n_categories)
            C-contiguous; its columns are those of the frame ``series.onehot()``.

        Raises
        ------
        TypeError
            If the Series' dtype or `dtype` is not supported.
        MemoryError
            If the result cannot fit in memory, before it is allocated.

        Examples
        --------
        >>> pd.Series([7, 5, 7]).onehot.to_numpy()
        array([[0., 1.],
               [1., 0.],
               [0., 1.]], dtype=float32)
        """
        element = _result_dtype(dtype)
        codes, categories = read(self._series)
        return cast(
            "npt.NDArray[np.generic]", one_hot(codes, len(categories), axis=-1, dtype=element)
        )

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
        return read(self._series)[0]


def _result_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of the result, or refuse what cannot hold a plain 0 and 1."""
    element: np.dtype[Any] | None = None
    # np.dtype(None) would be float64, which nobody who writes None means.
    if dtype is not None:
        with contextlib.suppress(TypeError):
            element = np.dtype(dtype)
    if element is None or element.kind not in RESULT_KINDS:
        raise TypeError(f"dtype = {dtype!r} is not a NumPy Boolean, integer, float or complex")
    return element


def _check_names(prefix: object, prefix_sep: object) -> None:
    """Refuse prefixes that are not text."""
    if prefix is not None and not isinstance(prefix, str):
        raise TypeError(f"prefix must be a string or None, got {type(prefix).__name__}")
    if not isinstance(prefix_sep, str):
        raise TypeError(f"prefix_sep must be a string, got {type(prefix_sep).__name__}")
