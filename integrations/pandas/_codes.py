"""Convert a Series to codes and levels, and its values to NumPy, Arrow or Python objects."""

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import infer_dtype, is_float_dtype, is_object_dtype

from onehot_fast import Column
from onehot_fast.adapter import (
    Categories,
    CodedColumn,
    Strings,
    Values,
    integration,
    lut_of_order,
    read_arrow,
    read_column,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas.api.extensions import ExtensionDtype

Codes: TypeAlias = npt.NDArray[np.integer[Any]]

TEXT_TYPES = ("string", "large_string", "string_view")
# How the names of those Arrow types begin in which pandas cannot look up or print labels. Labels of
# these types are plain text or objects.
NOT_INDEXED = (
    "string_view", "binary_view", "halffloat", "month_day_nano_interval", "decimal32(",
    "decimal64(", "run_end_encoded<", "extension<",
)  # fmt: skip
# Integers whose range is smaller are used as codes; a larger look-up table exceeds the CPU caches.
MAX_RANGE = 1 << 16
# At most this many rows are inspected to infer the type of objects.
MAX_INSPECTED_ROWS = 2048


class CodedSeries(NamedTuple):
    """A Series as a `CodedColumn`, and the label that pandas gives to each of its features.

    It is no `Column`: the labels have a dtype of pandas, which NumPy may lack, and several codes of
    a dictionary may have the same label.
    """

    column: CodedColumn
    levels: "pd.Index[Any]"  # in the order of the features


def code_series(series: "pd.Series[Any]") -> CodedSeries:
    """Return a Series in codes; its levels are the categories of `pandas.Categorical`."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        each_once = pd.Categorical.from_codes(np.arange(len(dtype.categories)), dtype=dtype)
        return _of_levels(category_codes(series), pd.CategoricalIndex(each_once))
    if is_arrow_dictionary(dtype):
        return _code_dictionary(series)
    if isinstance(dtype, np.dtype) and dtype.kind in "iub" and len(series):
        return _code_integers(series.to_numpy())
    return _code_texts(series) or _factorize(series)


def prefixed(levels: "pd.Index[Any]", prefix: object, prefix_sep: object) -> "pd.Index[Any]":
    """Return the column names that `pandas.get_dummies` makes from a prefix."""
    return pd.Index([f"{prefix}{prefix_sep}{level}" for level in python_values(levels)])


def _of_levels(codes: Codes, levels: "pd.Index[Any]") -> CodedSeries:
    """Return a Series whose codes are positions in its levels."""
    return CodedSeries(CodedColumn(codes, None, len(levels)), levels)


def _factorize(series: "pd.Series[Any]") -> CodedSeries:
    """Return the codes and levels of values of any dtype, as `pandas.Categorical` finds them."""
    try:
        values = pd.Categorical(series)
    except (KeyError, NotImplementedError, ValueError) as error:
        if isinstance(error, ValueError) and _is_arrow_float(series.dtype):
            # Arrow distinguishes 0.0 and -0.0, pandas does not.
            values = pd.Categorical((series + 0.0).astype(series.dtype))
        else:
            return _factorize_unhashable(series, error)
    return _of_levels(values.codes, values.categories)


def _is_arrow_float(dtype: object) -> bool:
    """Tell whether a dtype stores floats in Arrow memory."""
    return isinstance(dtype, pd.ArrowDtype) and is_float_dtype(dtype)


def _factorize_unhashable(series: "pd.Series[Any]", error: Exception) -> CodedSeries:
    """Return the codes and levels of values that pandas cannot hash, sort or index."""
    try:
        column = read_column(series).encode()
    except TypeError:  # lists and structs
        raise TypeError(f"values of dtype {series.dtype} cannot be hashed: {error}") from error
    coded, order = _sorted(column)
    return CodedSeries(coded, _object_index(column.categories[order]))


def _object_index(values: npt.NDArray[Any]) -> "pd.Index[Any]":
    """Return an index of objects, for values without an index of their own type, e.g. float16."""
    is_half = values.dtype == np.float16
    labels = values.tolist() if is_half else [*values]
    return pd.Index(labels, dtype=object, tupleize_cols=False)


def _sorted(column: Column) -> tuple[CodedColumn, npt.NDArray[np.int64]]:
    """Return the column with its categories sorted, and the `argsort` of the old categories."""
    order = Categories.of(column.stored).argsort()
    return CodedColumn.of_order(column.codes, order, len(order)), order


def _code_integers(values: npt.NDArray[Any]) -> CodedSeries:
    """Return the codes and levels of integers, without hashing if their range is small."""
    unsigned = np.dtype(f"u{values.itemsize}")
    low, high = values.min(), values.max()
    if int(high) - int(low) >= MAX_RANGE:
        column = Values([values]).encode()
        coded, order = _sorted(column)
        return CodedSeries(coded, pd.Index(column.categories[order]))
    codes, base = values.view(unsigned), low.reshape(1).view(unsigned)
    if low < 0 or int(high) >= MAX_RANGE:
        codes = codes - base  # correct modulo the width, also if `low` is negative
        span = int(high) - int(low) + 1
    else:
        base, span = np.zeros(1, unsigned), int(high) + 1
    codes = np.require(codes, requirements=["C", "A"])
    present = np.flatnonzero(CodedColumn(codes, None, span).counts())
    levels = (present.astype(unsigned) + base).view(values.dtype)
    return CodedSeries(CodedColumn.of_order(codes, present, span), pd.Index(levels))


def _code_texts(series: "pd.Series[Any]") -> CodedSeries | None:
    """Return the codes and levels of Arrow or Python strings, or None for other values."""
    dtype = series.dtype
    if dtype == np.dtype(object):
        some = np.asarray(series.array, dtype=object)[:MAX_INSPECTED_ROWS]
        if infer_dtype(some, skipna=True) != "string":
            return None
    elif not (is_arrow_string(dtype) or isinstance(dtype, pd.StringDtype)):
        return None
    column = read_column(series).encode()
    if not isinstance(column.stored, Strings):
        return None
    coded, order = _sorted(column)
    texts = column.stored.take(order)
    if not is_arrow_string(dtype):
        return CodedSeries(coded, pd.Index(texts.to_object(), dtype=dtype))
    import pyarrow as pa

    kind = pa_array(series).type
    if str(kind).startswith(NOT_INDEXED):
        return CodedSeries(coded, pd.Index(texts.to_object()))
    offsets, data = map(pa.py_buffer, (texts.offsets, texts.data))
    levels = pa.LargeStringArray.from_buffers(len(texts), offsets, data)
    return CodedSeries(coded, pd.Index(cast(Any, dtype).__from_arrow__(levels.cast(kind))))


def _code_dictionary(series: "pd.Series[Any]") -> CodedSeries:
    """Return the codes and levels of an Arrow dictionary; its indices and values may be null."""
    import pyarrow as pa

    array: Any = pa_array(series)
    encoded = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy()
    # The values of a dictionary may contain nulls and duplicates; levels must not.
    if str(encoded.type.value_type).startswith(NOT_INDEXED):
        known = arrow_levels(encoded.dictionary)
        texts = isinstance(known.stored, Strings) and known.stored.is_text
        levels = pd.Index(known.categories) if texts else _object_index(known.categories)
        return CodedSeries(CodedColumn.of_positions(codes, known.codes, len(levels)), levels)
    proper = encoded.dictionary.dictionary_encode()
    positions = proper.indices.fill_null(-1).to_numpy()
    levels = pd.Index(pd.arrays.ArrowExtensionArray(proper.dictionary))
    return CodedSeries(CodedColumn.of_positions(codes, positions, len(levels)), levels)


def as_series(values: Any) -> "pd.Series[Any]":
    """Return values as a Series that shares their memory."""
    if isinstance(values, pd.Series):
        return values
    # Before pandas 3 a Series of a CategoricalIndex itself would copy its codes.
    array = values.array if isinstance(values, pd.CategoricalIndex) else values
    return pd.Series(array, name=getattr(values, "name", None), copy=False)


def is_encodable(dtype: "np.dtype[Any] | ExtensionDtype") -> bool:
    """Tell whether `pandas.get_dummies` encodes a column of this dtype by default."""
    if isinstance(dtype, pd.StringDtype | pd.CategoricalDtype):
        return True
    if isinstance(dtype, pd.ArrowDtype):
        # Strings, dictionaries, and types that become NumPy objects, e.g. binary and decimals.
        text = is_arrow_string(dtype) or hasattr(dtype.pyarrow_dtype, "index_type")
        return text or cast(Any, dtype).numpy_dtype == np.dtype(object)
    return bool(is_object_dtype(dtype))


def is_arrow_string(dtype: object) -> bool:
    """Tell whether a dtype stores strings in Arrow memory."""
    if isinstance(dtype, pd.StringDtype):
        return dtype.storage != "python"
    # By name: pandas has no Python type for string views.
    return isinstance(dtype, pd.ArrowDtype) and str(dtype.pyarrow_dtype) in TEXT_TYPES


def is_arrow_dictionary(dtype: object) -> bool:
    """Tell whether a dtype is an Arrow dictionary."""
    return isinstance(dtype, pd.ArrowDtype) and hasattr(dtype.pyarrow_dtype, "index_type")


def python_values(index: "pd.Index[Any]") -> list[Any]:
    """Return labels as Python objects, faster than iterating over an index of Arrow strings."""
    if isinstance(index, pd.CategoricalIndex) and not _have_other_objects(index.categories):
        values, codes = python_values(index.categories), index.codes.tolist()
        if -1 in codes:  # NaT for times
            values += list(index[codes.index(-1) :][:1])
        return [values[code] for code in codes]
    if not is_arrow_string(index.dtype):
        return list(index)
    import pyarrow as pa

    texts = pa.array(index.array)
    return list(index.astype(object)) if texts.null_count else texts.to_pylist()


def _have_other_objects(categories: "pd.Index[Any]") -> bool:
    """Tell whether pandas gives other objects for labels than for the categories of the labels.

    It turns intervals of integers into intervals of floats if a label is missing, and Arrow times
    into objects of Python.
    """
    dtype = categories.dtype
    is_arrow = isinstance(dtype, pd.ArrowDtype) and not is_arrow_string(dtype)
    return is_arrow or isinstance(categories, pd.IntervalIndex)


def numpy_values(index: "pd.Index[Any]") -> npt.NDArray[Any]:
    """Return labels as a NumPy array."""
    dtype: Any = index.dtype
    if isinstance(dtype, np.dtype):
        return index.to_numpy()
    if getattr(dtype, "numpy_dtype", np.dtype(object)).kind in "iufb":
        return index.to_numpy(dtype.numpy_dtype)
    return index.to_numpy(object)


def category_codes(series: "pd.Series[Any]") -> Codes:
    """Return the codes of a categorical Series as a view, unlike ``.cat.codes``."""
    return np.ascontiguousarray(cast(pd.Categorical, series.array).codes)


def pa_array(series: "pd.Series[Any] | pd.Index[Any]") -> "pa.Array | pa.ChunkedArray":
    """Return a Series or Index in Arrow memory as a pyarrow array."""
    import pyarrow as pa

    return pa.array(series.array)


def arrow_chunks(array: "pa.Array | pa.ChunkedArray") -> list[Any]:
    """Read the chunks of a pyarrow array; an array without chunks is read as one empty chunk."""
    return list(read_arrow(array)) or arrow_chunks(array.combine_chunks())


def has_missing_categories(categories: "pd.Index[Any]") -> bool:
    """Tell whether categories may contain NaN, which pandas accepts in Arrow memory only."""
    dtype = categories.dtype
    if not isinstance(dtype, pd.ArrowDtype):
        return False
    # Only dictionaries and runs have values of another type.
    return _is_arrow_float(dtype) or hasattr(dtype.pyarrow_dtype, "value_type")


def category_values(categories: "pd.Index[Any]") -> Any:
    """Return the values of categories, without missing values, in their order."""
    if not isinstance(categories.dtype, pd.ArrowDtype):
        return numpy_values(categories)
    column = integration("arrow").read_column(pa_array(categories)).encode()
    return column.stored.take(column.codes)


def arrow_levels(values: "pa.Array | pa.ChunkedArray") -> Column:
    """Return an Arrow array as a column whose categories are in the order of the rows.

    The values of the array may contain nulls and duplicates, the categories do not.
    """
    column = integration("arrow").read_column(values).encode()
    is_value = column.codes >= 0
    _, first = np.unique(column.codes[is_value], return_index=True)
    order = column.codes[is_value][np.sort(first)]
    codes = lut_of_order(order, column.n_categories)[column.codes]
    return Column(codes, column.stored.take(order))


def without_missing(codes: Codes, values: npt.NDArray[Any]) -> tuple[Codes, npt.NDArray[Any]]:
    """Remove missing values; return codes, in which they become -1, and the remaining values."""
    return keep_values(codes, values, ~pd.isna(values))


def keep_values(codes: Codes, values: Any, is_kept: npt.NDArray[np.bool_]) -> tuple[Codes, Any]:
    """Return codes, in which a value that is not kept becomes -1, and the kept values."""
    if is_kept.all():
        return codes, values
    return lut_of_order(np.flatnonzero(is_kept), len(is_kept))[codes], values[is_kept]
