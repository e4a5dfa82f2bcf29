"""pandas in: a Series becomes codes and levels, and nothing that is coded is hashed again."""

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_object_dtype

from onehot_fast._runtime import dispatch, parallel

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas.api.extensions import ExtensionDtype

__all__ = ["Coded", "Codes", "coded", "factorize", "is_arrow_string", "is_encodable", "read"]

Codes: TypeAlias = npt.NDArray[np.integer]
Table: TypeAlias = npt.NDArray[np.int32]

# Whole numbers that span less than this are codes already; a wider table would leave the caches.
WIDEST_SPAN = 1 << 16
# Objects are told apart by address where a sample of them meets most addresses twice.
SAMPLE = 2048


class Coded(NamedTuple):
    """A Series as codes: the position of each row's level, or what a table turns into it.

    Attributes
    ----------
    codes : integer ndarray of shape (n_rows,), C-contiguous
        Without a table the position of each row's level, negative where the value is missing.
    levels : pandas.Index
        The levels `pandas.get_dummies` would name its columns by, in its order.
    table : int32 ndarray, optional
        Entry k is the position of the level of code k; the last entry, -1, is of missing codes.
    """

    codes: Codes
    levels: "pd.Index[Any]"
    table: Table | None = None

    def positions(self) -> Codes:
        """Return the position of each row's level, -1 where the value is missing."""
        if self.table is None:
            return self.codes
        return dispatch.recode(self.codes, self.table, parallel.resolve(None, self.codes.nbytes))


def read(series: "pd.Series[Any]") -> tuple[Codes, "pd.Index[Any]"]:
    """Return the codes of a Series (missing = -1) and its categories in column order."""
    dtype = series.dtype
    if not (isinstance(dtype, pd.CategoricalDtype) or is_arrow_string(dtype) or _is_plain(dtype)):
        raise TypeError(
            f"Series {series.name!r} has dtype {dtype}; onehot encodes category, string, object, "
            "integer and Boolean columns (convert others with .astype('category'))"
        )
    found = coded(series)
    return found.positions(), found.levels


def coded(series: "pd.Series[Any]") -> Coded:
    """Return the codes and levels of a Series of any dtype whose values can be hashed.

    Parameters
    ----------
    series : pandas.Series of shape (n_rows,)
        Category and dictionary codes are taken as they are, whole numbers of a small span are codes
        themselves, Arrow strings are hashed by Arrow, repeated objects once per object.

    Returns
    -------
    Coded
        Its levels are the categories of ``pandas.Categorical(series)``; those of a categorical
        Series are a `pandas.CategoricalIndex`, as in `pandas.get_dummies`.

    Raises
    ------
    TypeError
        If the values cannot be hashed.

    Examples
    --------
    >>> found = coded(pd.Series([7, 5, 7]))
    >>> found.positions(), found.levels
    (array([1, 0, 1], dtype=int8), Index([5, 7], dtype='int64'))
    """
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        # `.array.codes` is a view of the Series' own memory; `.cat.codes` would be a copy.
        codes = cast(pd.Categorical, series.array).codes
        return Coded(np.ascontiguousarray(codes), _labels(dtype))
    if is_arrow_string(dtype):
        return _code_arrow_strings(series)
    if _is_arrow_dictionary(dtype):
        return _code_dictionary(series)
    found = None
    if isinstance(dtype, np.dtype) and dtype.kind in "iub":
        found = _code_whole(series.to_numpy())
    elif dtype == np.dtype(object) or isinstance(dtype, pd.StringDtype):
        found = _code_objects(series)
    return found or _factorize(series)


def factorize(values: npt.NDArray[Any]) -> tuple[Codes, npt.NDArray[Any]]:
    """Return the codes of an array and its distinct values, by pandas' hash tables.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Numbers, texts or objects.

    Returns
    -------
    codes : integer ndarray of shape (n_rows,)
        Position of each row's value, -1 where it is missing.
    categories : ndarray
        The values, in the order in which they appear.

    Raises
    ------
    TypeError
        If the values cannot be hashed.

    Examples
    --------
    >>> factorize(np.array(["b", None, "a", "b"], dtype=object))
    (array([ 0, -1,  1,  0]), array(['b', 'a'], dtype=object))
    """
    found = _by_address(values) if values.dtype == np.dtype(object) else None
    if found is None:
        codes, categories = pd.factorize(values)
        return codes, np.asarray(categories, values.dtype)
    rows, first = found
    codes, categories = pd.factorize(values[first])
    return codes.take(rows), np.asarray(categories)


def is_encodable(dtype: "np.dtype[Any] | ExtensionDtype") -> bool:
    """Tell whether `pandas.get_dummies` encodes a column of this dtype without being asked for."""
    if isinstance(dtype, pd.StringDtype | pd.CategoricalDtype):
        return True
    if isinstance(dtype, pd.ArrowDtype):
        # Text, dictionaries, and what NumPy only knows as objects: binary, decimals, times.
        text = dtype.type is str or hasattr(dtype.pyarrow_dtype, "index_type")
        return text or cast(Any, dtype).numpy_dtype == np.dtype(object)
    return bool(is_object_dtype(dtype))


def is_arrow_string(dtype: object) -> bool:
    """Tell whether columns of this dtype keep their strings in Arrow memory."""
    if isinstance(dtype, pd.StringDtype):
        return dtype.storage != "python"
    return isinstance(dtype, pd.ArrowDtype) and dtype.type is str


def _is_arrow_dictionary(dtype: object) -> bool:
    """Tell whether columns of this dtype are coded by Arrow."""
    return isinstance(dtype, pd.ArrowDtype) and hasattr(dtype.pyarrow_dtype, "index_type")


def _is_plain(dtype: "np.dtype[np.generic] | ExtensionDtype") -> bool:
    """Tell whether columns of this dtype have categories that nobody could argue about."""
    # Not `kind == "O"`: intervals, periods and Arrow lists say "O" as well.
    return isinstance(dtype, pd.StringDtype) or dtype == np.dtype(object) or dtype.kind in "iub"


def _factorize(series: "pd.Series[Any]") -> Coded:
    """Return what pandas makes of values that only pandas can hash."""
    found = pd.Categorical(series)
    return Coded(found.codes, found.categories)


def _labels(dtype: pd.CategoricalDtype) -> "pd.Index[Any]":
    """Return the column labels of a categorical Series: they stay categorical, as in pandas."""
    each_once = np.arange(len(dtype.categories))
    return pd.CategoricalIndex(pd.Categorical.from_codes(each_once, dtype=dtype))


def _code_whole(values: npt.NDArray[Any]) -> Coded | None:
    """Return whole numbers of a small span as codes, or None where a hash does better."""
    if not len(values):
        return None
    unsigned = np.dtype(f"u{values.itemsize}")
    low, high = values.min(), values.max()
    if int(high) - int(low) >= WIDEST_SPAN:
        return None
    codes, base = values.view(unsigned), low.reshape(1).view(unsigned)
    if low < 0 or int(high) >= WIDEST_SPAN:
        codes = codes - base  # modulo the width: the difference is right even where low is not
        span = int(high) - int(low) + 1
    else:
        base, span = np.zeros(1, unsigned), int(high) + 1
    codes = np.ascontiguousarray(codes)
    present = np.flatnonzero(dispatch.count(codes, span, parallel.resolve(None, codes.nbytes)))
    table = np.full(span + 1, -1, np.int32)
    table[present] = np.arange(len(present), dtype=np.int32)
    levels = (present.astype(unsigned) + base).view(values.dtype)
    return Coded(codes, pd.Index(levels), table)


def _code_objects(series: "pd.Series[Any]") -> Coded | None:
    """Return the codes of objects of which each appears in many rows, or None."""
    found = _by_address(np.asarray(series.array, dtype=object))
    if found is None:
        return None
    codes, first = found
    each_once = _factorize(series.iloc[first])
    return Coded(each_once.codes.take(codes), each_once.levels)


def _by_address(values: npt.NDArray[np.object_]) -> tuple[Codes, Codes] | None:
    """Return the number of each row's object, and a row of each; None where most are different.

    Tables read from files hold one object for all equal strings. Telling objects apart by their
    address takes a fifth of the time that comparing strings takes.
    """
    values = np.ascontiguousarray(values)
    addresses = np.ndarray(len(values), np.intp, buffer=values.data)
    sample = addresses[:: max(1, len(addresses) // SAMPLE)]
    if len(values) < SAMPLE or 2 * len(np.unique(sample)) > len(sample):
        return None
    codes, found = pd.factorize(addresses)
    return codes, _first_rows(codes, len(found))


def _first_rows(codes: Codes, n_codes: int) -> Codes:
    """Return the first row of each code, where codes are numbered as they appear."""
    first: list[Codes] = []
    start = seen = 0
    while seen < n_codes:
        highest = np.maximum.accumulate(codes[start : start + SAMPLE])
        rows = np.flatnonzero(np.diff(np.maximum(highest, seen - 1), prepend=seen - 1))
        first.append(rows + start)
        seen, start = seen + len(rows), start + SAMPLE
    return np.concatenate(first)


def _code_arrow_strings(series: "pd.Series[Any]") -> Coded:
    """Return codes and sorted categories of strings that already lie in Arrow memory.

    Arrow hashes where the strings are. Python strings are left to pandas: turning them into Arrow
    strings first costs as much as hashing them (32 against 37 ms for a million values).
    """
    import pyarrow.compute as pc

    encoded = _one_chunk(pc.dictionary_encode(_arrow(series)))
    order = pc.array_sort_indices(encoded.dictionary)
    # One more entry than categories, so that the code -1 (missing) finds -1 at the end.
    rank = np.full(len(order) + 1, -1, np.int32)
    rank[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    codes = encoded.indices.fill_null(-1).to_numpy()
    restore = cast(Any, series.dtype).__from_arrow__
    return Coded(codes, pd.Index(restore(encoded.dictionary.take(order))), rank)


def _code_dictionary(series: "pd.Series[Any]") -> Coded:
    """Return the codes of an Arrow dictionary, where its indices or its values may be null."""
    import pyarrow as pa

    encoded = _one_chunk(_arrow(series))
    codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy()
    # Arrow accepts nulls and repetitions among the values of a dictionary; levels have neither.
    proper = encoded.dictionary.dictionary_encode()
    table = np.append(proper.indices.fill_null(-1).to_numpy(), np.int32(-1))
    return Coded(codes, pd.Index(pd.arrays.ArrowExtensionArray(proper.dictionary)), table)


def _arrow(series: "pd.Series[Any]") -> "pa.Array | pa.ChunkedArray":
    """Return the values of an Arrow-backed Series, as they lie in memory."""
    import pyarrow as pa

    return pa.array(series.array)


def _one_chunk(array: "pa.Array | pa.ChunkedArray") -> Any:
    """Return the same values without chunks, so under one dictionary."""
    import pyarrow as pa

    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
