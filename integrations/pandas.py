"""One-hot encoding of pandas columns: importing this module registers ``Series.onehot``.

>>> import pandas as pd
>>> import onehot_fast.integrations.pandas
>>> pd.Series(["b", "a", None], index=[10, 20, 30]).onehot()
        a      b
10  False   True
20   True  False
30  False  False

A column is read into codes (its category's position, -1 where the value is missing) and the kernel
writes the codes as one (categories, rows) block. The frame is a view of that block: one block,
every column contiguous, nothing copied.
"""

import contextlib
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from onehot_fast import one_hot

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas.api.extensions import ExtensionDtype

__all__ = ["OneHotAccessor"]

Codes: TypeAlias = npt.NDArray[np.signedinteger]
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
        codes, categories = _read(self._series)
        if len(categories) == 0:
            return pd.DataFrame(index=self._series.index)
        # (categories, rows) in C order: transposed it is the column-major block pandas keeps.
        block = one_hot(codes, len(categories), axis=0, dtype=element)
        columns = categories if prefix is None else _prefixed(categories, prefix, prefix_sep)
        return pd.DataFrame(block.T, index=self._series.index, columns=columns, copy=False)

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
        codes, categories = _read(self._series)
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
        return _read(self._series)[0]


def _read(series: "pd.Series[Any]") -> tuple[Codes, "pd.Index[Any]"]:
    """Return the codes of a Series (missing = -1) and its categories in column order."""
    dtype = series.dtype
    if _is_arrow_string(dtype):
        return _read_arrow_strings(series)
    if isinstance(dtype, pd.CategoricalDtype):
        # `.array.codes` is a view of the Series' own memory; `.cat.codes` would be a copy.
        coded = cast(pd.Categorical, series.array)
    elif _is_encodable(dtype):
        coded = pd.Categorical(series)
    else:
        raise TypeError(
            f"Series {series.name!r} has dtype {dtype}; onehot encodes category, string, object, "
            "integer and Boolean columns (convert others with .astype('category'))"
        )
    return coded.codes, _labels(coded, like=dtype)


def _is_arrow_string(dtype: object) -> bool:
    """Tell whether columns of this dtype keep their strings in Arrow memory."""
    if isinstance(dtype, pd.StringDtype):
        return dtype.storage != "python"
    return isinstance(dtype, pd.ArrowDtype) and dtype.type is str


def _is_encodable(dtype: "np.dtype[np.generic] | ExtensionDtype") -> bool:
    """Tell whether pandas can factorize columns of this dtype into categories we promise."""
    # Not `kind == "O"`: intervals, periods and Arrow lists say "O" as well.
    return isinstance(dtype, pd.StringDtype) or dtype == np.dtype(object) or dtype.kind in "iub"


def _read_arrow_strings(series: "pd.Series[Any]") -> tuple[Codes, "pd.Index[Any]"]:
    """Return codes and sorted categories of strings that already lie in Arrow memory.

    Arrow hashes where the strings are. Python strings are left to pandas: turning them into Arrow
    strings first costs as much as hashing them (32 against 37 ms for a million values).
    """
    import pyarrow.compute as pc

    encoded = _dictionary(series)
    order = pc.array_sort_indices(encoded.dictionary)
    # One more entry than categories, so that the code -1 (missing) finds -1 at the end.
    rank = np.full(len(order) + 1, -1, np.int32)
    rank[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    codes = rank.take(encoded.indices.fill_null(-1).to_numpy())
    restore = cast(Any, series.dtype).__from_arrow__
    return codes, pd.Index(restore(encoded.dictionary.take(order)))


def _dictionary(series: "pd.Series[Any]") -> "pa.DictionaryArray":
    """Return the values of an Arrow-backed Series as one dictionary array."""
    import pyarrow as pa

    encoded = pa.array(series.array).dictionary_encode()
    return encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded


def _labels(coded: pd.Categorical, like: object) -> "pd.Index[Any]":
    """Return the column labels: for a categorical Series they stay categorical, as in pandas."""
    if not isinstance(like, pd.CategoricalDtype):
        return coded.categories
    each_once = np.arange(len(coded.categories))
    return pd.CategoricalIndex(pd.Categorical.from_codes(each_once, dtype=like))


def _prefixed(categories: "pd.Index[Any]", prefix: str, prefix_sep: str) -> "pd.Index[Any]":
    """Return the column names `pandas.get_dummies` forms from a prefix."""
    return pd.Index([f"{prefix}{prefix_sep}{category}" for category in categories])


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
