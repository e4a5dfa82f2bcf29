"""`get_dummies`, a faster drop-in for `pandas.get_dummies`."""

from collections.abc import Iterable, Sequence
from itertools import groupby, repeat
from operator import attrgetter
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_list_like, is_object_dtype, pandas_dtype

from onehot_fast.adapter import CodedColumn, map_columns

from ._codes import code_series, is_encodable, prefixed, python_values
from ._write import COPY_ON_WRITE, AnyDtype, check_length, dense_frame, side_by_side, sparse_frame

__all__ = ["get_dummies"]


class _Options(NamedTuple):
    """The options of `get_dummies` that are the same for all variables."""

    dummy_na: bool
    sparse: bool
    drop_first: bool
    dtype: Any


class _Variable(NamedTuple):
    """The indicator columns of one Series."""

    column: CodedColumn
    names: "pd.Index[Any]"
    dtype: AnyDtype


def get_dummies(
    data: Any,
    prefix: Any = None,
    prefix_sep: Any = "_",
    dummy_na: bool = False,
    columns: Any = None,
    sparse: bool = False,
    drop_first: bool = False,
    dtype: Any = None,
) -> pd.DataFrame:
    """Convert categorical variables into indicator columns, as `pandas.get_dummies` does.

    Parameters
    ----------
    data : array-like, Series or DataFrame of n_rows
        The data to encode. Codes of categorical and Arrow dictionary columns are not copied.
    prefix : str, list of str or dict of str, optional
        The prefix of the new column names; by default the column name for a DataFrame, and no
        prefix for a Series. A list has one item per encoded column; dict keys are column names.
    prefix_sep : str, list of str or dict of str, default "_"
        The string between prefix and category.
    dummy_na : bool, default False
        Add a column for missing values, even if there are none. Otherwise missing values become
        zeros.
    columns : list-like, optional
        The columns of a DataFrame to encode; by default the columns with object, string,
        categorical or similar Arrow dtypes. The other columns come first in the result, unchanged.
    sparse : bool, default False
        Return `pandas.arrays.SparseArray` columns.
    drop_first : bool, default False
        Omit the column of the first category of each variable.
    dtype : dtype, optional
        The dtype of the new columns. By default ``bool[pyarrow]`` for Arrow columns, ``boolean``
        for nullable strings and ``bool`` for all others.

    Returns
    -------
    pandas.DataFrame of n_rows
        Adjacent new columns with the same NumPy dtype share one block of memory. pandas 3 copies
        the other columns when you first change them, pandas 2 immediately.

    Raises
    ------
    TypeError
        If `columns` is not list-like, or the values cannot be hashed.
    ValueError
        If `dtype` is object, or `prefix` or `prefix_sep` is of the wrong length.
    MemoryError
        If the result does not fit in memory. Nothing has been allocated.

    Notes
    -----
    Unlike pandas, this function accepts Arrow dictionaries with nulls. It also accepts nullable and
    Arrow columns with ``sparse=True``; their indicators are ``Sparse[bool]``. It accepts types that
    pandas cannot hash, sort or put into an Index: float16, big-endian integers, and Arrow's views,
    runs, intervals, extension types and decimals of 32 and 64 bits. Extension values in an Arrow
    dictionary are labels as Python values, not as stored.

    Examples
    --------
    >>> get_dummies(pd.Series(["b", "a", None]), prefix="x", dtype="uint8")
       x_a  x_b
    0    0    1
    1    1    0
    2    0    0

    >>> table = pd.DataFrame({"size": ["S", "L"], "price": [2, 3]})
    >>> get_dummies(table, drop_first=True)
       price  size_S
    0      2    True
    1      3   False
    """
    options = _Options(dummy_na, sparse, drop_first, dtype)
    if isinstance(data, pd.DataFrame):
        return _encode_table(data, prefix, prefix_sep, columns, options)
    variable = _variable(data, prefix, prefix_sep, options)
    index = data.index if isinstance(data, pd.Series) else pd.RangeIndex(len(data))
    if not variable.column.n_features:
        return pd.DataFrame(index=index)
    result = _build([variable], sparse, index)
    result.columns = variable.names
    return result


def _encode_table(
    data: pd.DataFrame, prefix: Any, prefix_sep: Any, columns: Any, options: _Options
) -> pd.DataFrame:
    """Return the columns that are not encoded, followed by the indicator columns."""
    chosen, rest = _split(data, columns)
    for name, values in (("prefix", prefix), ("prefix_sep", prefix_sep)):
        if is_list_like(values):
            check_length(values, name, chosen.shape[1])
    prefixes = _per_column(chosen.columns if prefix is None else prefix, chosen)
    # pandas 2 stops at the shortest of the three, pandas 3 raises an error.
    series = (column for _, column in chosen.items())
    named = zip(series, prefixes, _per_column(prefix_sep, chosen), strict=COPY_ON_WRITE)
    n_bytes = chosen.size * np.dtype(np.intp).itemsize
    variables = map_columns(lambda item: _variable(*item, options), named, n_bytes)

    # Before pandas 3 a part of a frame may be a view of the frame.
    frames = [] if rest is None else [rest if COPY_ON_WRITE else rest.copy()]
    with_columns = (variable for variable in variables if variable.column.n_features)
    runs = groupby(with_columns, key=attrgetter("dtype"))
    frames += [_build([*run], options.sparse, data.index) for _, run in runs]
    if any(not variable.column.n_features for variable in variables):
        # As in pandas, whose `concat` keeps the attrs of a frame only if all frames have them.
        frames.append(pd.DataFrame(index=data.index))
    if not frames:
        raise ValueError("No objects to concatenate")
    result = side_by_side(frames)
    labels = [] if rest is None else [rest.columns]
    labels += [variable.names for variable in variables]
    # As in `pandas.concat`, frames of shape (0, 0) do not affect the dtype of the labels.
    labels = [part for part in labels if len(data) or len(part)] or labels
    result.columns = labels[0].append(labels[1:])  # even if there is one: append infers the dtype
    return result


def _split(data: pd.DataFrame, columns: Any) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Return the columns to encode and the columns to keep, or None if all are encoded."""
    if columns is not None:
        if not is_list_like(columns):
            raise TypeError("Input must be a list-like for parameter `columns`")
        chosen = data[columns]
        return chosen, None if chosen.shape == data.shape else data.drop(columns, axis=1)
    encodable = np.fromiter(map(is_encodable, data.dtypes), bool, data.shape[1])
    chosen = data.loc[:, encodable]
    return chosen, None if encodable.all() else _untouched(data, ~encodable)


def _untouched(data: pd.DataFrame, is_untouched: npt.NDArray[np.bool_]) -> pd.DataFrame:
    """Return the columns, at least one, for which `is_untouched` is true, without a copy."""
    borders = np.flatnonzero(np.diff(is_untouched, prepend=False, append=False)).tolist()
    # Start and stop of each run of untouched columns, alternating.
    runs = zip(borders[::2], borders[1::2], strict=True)
    rest = side_by_side([data.iloc[:, first:stop] for first, stop in runs])
    rest.columns = data.columns[is_untouched]
    return cast(pd.DataFrame, cast(Any, rest).__finalize__(data))


def _per_column(value: Any, chosen: pd.DataFrame) -> Iterable[Any]:
    """Return the prefix or the separator for each column."""
    if isinstance(value, str):
        return repeat(value, chosen.shape[1])
    if isinstance(value, dict):
        return [value[name] for name in chosen.columns]
    return cast("Iterable[Any]", value)


def _variable(data: Any, prefix: object, prefix_sep: object, options: _Options) -> _Variable:
    """Return the indicator columns of one Series or array-like."""
    column, levels = code_series(pd.Series(data, copy=False))
    dtype = _result_dtype(getattr(data, "dtype", None), options)
    if options.dummy_na:
        levels = levels.insert(len(levels), np.nan)
    if not len(levels) or (options.drop_first and len(levels) == 1):
        return _Variable(CodedColumn(column.codes, None, 0), pd.DataFrame(index=[]).columns, dtype)
    names = levels if prefix is None else prefixed(levels, prefix, prefix_sep)
    names = names[int(options.drop_first) :]
    if options.dummy_na or options.drop_first:
        lut = column.lut_from(0)
        missing = column.n_features if options.dummy_na else -1
        outputs = np.where(lut < 0, np.int32(missing), lut) - np.int32(options.drop_first)
        column = CodedColumn(column.codes, np.maximum(outputs, np.int32(-1)), len(names))
    if options.sparse:
        # Sparse values need a NumPy dtype.
        dtype = np.dtype(bool if options.dtype is None else options.dtype)
        # pandas creates a Series for each sparse column, and infers the dtype of the labels. A
        # CategoricalIndex iterates over Python numbers, its categories may be NumPy's.
        is_category = isinstance(names, pd.CategoricalIndex)
        names = pd.Index([*names] if is_category else python_values(names))
    return _Variable(column, names, dtype)


def _result_dtype(source: Any, options: _Options) -> AnyDtype:
    """Return the dtype of indicators; `source` is the dtype of the encoded data, or None."""
    if options.dtype is not None:
        dtype = pandas_dtype(options.dtype)
        if is_object_dtype(dtype):
            raise ValueError("dtype=object is not a valid dtype for get_dummies")
        return dtype
    if isinstance(source, pd.CategoricalDtype):
        source = source.categories.dtype
    if isinstance(source, pd.ArrowDtype):
        return cast(AnyDtype, pandas_dtype("bool[pyarrow]"))
    if isinstance(source, pd.StringDtype) and source.na_value is pd.NA:
        return pd.BooleanDtype()
    return np.dtype(bool)


def _build(variables: Sequence[_Variable], sparse: bool, index: "pd.Index[Any]") -> pd.DataFrame:
    """Return a frame, without labels, of variables that all have the same dtype."""
    columns = [variable.column for variable in variables]
    dtype = variables[0].dtype
    if not sparse:
        try:
            return dense_frame(columns, dtype, index)
        except MemoryError as error:
            # The message of `write` recommends options of an Encoder; replace them.
            n_bytes = len(columns) * len(columns[0].codes) * (1 + np.dtype(np.int32).itemsize)
            text = str(error).partition("; smaller")[0]
            hint = f"sparse=True ({n_bytes / 2**20:,.1f} MiB with dtype=bool)"
            raise MemoryError(f"{text}; smaller: {hint}") from None
    return sparse_frame(columns, cast("np.dtype[Any]", dtype), index)
