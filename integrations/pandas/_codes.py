"""A Series becomes codes and the levels of pandas; nothing that is coded is hashed again."""

from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import infer_dtype, is_float_dtype

from onehot_fast.adapter import Categories, CodedColumn, Strings, Values, read_values

from ._values import (
    Codes,
    arrow_array,
    arrow_chunks,
    category_codes,
    is_arrow_dictionary,
    is_arrow_string,
    pa_array,
    python_texts,
    python_values,
)

# The codes of a Series, where an output is the position of a level; and the levels.
Coding: TypeAlias = tuple[CodedColumn, "pd.Index[Any]"]

# So few levels of a category dtype are remembered.
FEW_LEVELS = 1000
# Whole numbers that span less than this are codes already; a wider table would leave the caches.
WIDEST_SPAN = 1 << 16
# Rows in which the kind of objects is looked for.
SAMPLE = 2048


def code_series(series: "pd.Series[Any]") -> Coding:
    """Return the codes and levels of a Series of any dtype whose values can be hashed.

    The levels are those of ``pandas.Categorical(series)``: `pandas.get_dummies` names its columns
    by them, in this order.
    """
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _coding(category_codes(series), _category_levels(dtype))
    if is_arrow_string(dtype):
        return _code_arrow_strings(series)
    if is_arrow_dictionary(dtype):
        return _code_dictionary(series)
    coding = None
    if isinstance(dtype, np.dtype) and dtype.kind in "iub":
        values = series.to_numpy()
        coding = _code_whole(values) or (_code_integers(values) if dtype.kind != "b" else None)
    elif dtype == np.dtype(object) or isinstance(dtype, pd.StringDtype):
        coding = _code_objects(series)
    return coding or _factorize(series)


def level_codes(column: CodedColumn) -> Codes:
    """Return the position of each row's level, -1 where the value is missing."""
    return column.outputs()


def prefixed(levels: "pd.Index[Any]", prefix: object, prefix_sep: object) -> "pd.Index[Any]":
    """Return the column names `pandas.get_dummies` forms from a prefix."""
    return pd.Index([f"{prefix}{prefix_sep}{level}" for level in python_values(levels)])


def _coding(
    codes: Codes, levels: "pd.Index[Any]", lut: npt.NDArray[np.int32] | None = None
) -> Coding:
    return CodedColumn(codes, lut, len(levels)), levels


class _Same(NamedTuple):
    """A dtype that is equal to itself alone: to compare all categories takes too long."""

    dtype: pd.CategoricalDtype

    def __hash__(self) -> int:
        return id(self.dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.dtype is other.dtype


def _category_levels(dtype: pd.CategoricalDtype) -> "pd.Index[Any]":
    """Return the categories as an index of the dtype; few of them are remembered."""
    if len(dtype.categories) > FEW_LEVELS:
        return _new_levels.__wrapped__(_Same(dtype))
    return _new_levels(_Same(dtype)).view()


@lru_cache(maxsize=16)
def _new_levels(same: _Same) -> "pd.Index[Any]":
    each_once = np.arange(len(same.dtype.categories))
    return pd.CategoricalIndex(pd.Categorical.from_codes(each_once, dtype=same.dtype))


def _factorize(series: "pd.Series[Any]") -> Coding:
    """Return what pandas makes of values that only pandas can hash."""
    try:
        values = pd.Categorical(series)
    except ValueError:
        if not is_float_dtype(series.dtype):
            raise
        # Arrow takes 0.0 and -0.0 for two values, and pandas for one.
        values = pd.Categorical((series + 0.0).astype(series.dtype))
    except NotImplementedError as error:  # Arrow's word for what it cannot hash or sort
        try:
            return _code_column(series)
        except TypeError:  # of lists and structs
            raise TypeError(f"values of dtype {series.dtype} cannot be hashed: {error}") from error
    return _coding(values.codes, values.categories)


def _code_column(series: "pd.Series[Any]") -> Coding:
    """Return what an encoder reads, as codes of its sorted categories."""
    column = read_values(series).encode()
    order = Categories.of(column.stored).argsort()
    levels = pd.Index([*column.categories[order]], dtype=object)  # none of pandas' is of float16
    return _coding(column.codes, levels, _rank_lut(order))


def _code_whole(values: npt.NDArray[Any]) -> Coding | None:
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
    codes = np.require(codes, requirements=["C", "A"])
    present = np.flatnonzero(CodedColumn(codes, None, span).counts())
    lut = np.full(span + 1, -1, np.int32)
    lut[present] = np.arange(len(present), dtype=np.int32)
    levels = (present.astype(unsigned) + base).view(values.dtype)
    return _coding(codes, pd.Index(levels), lut)


def _code_integers(values: npt.NDArray[Any]) -> Coding:
    """Return integers of any span as codes of the sorted ones."""
    column = Values([values]).encode()
    order = np.argsort(column.categories)
    return _coding(column.codes, pd.Index(column.categories[order]), _rank_lut(order))


def _code_objects(series: "pd.Series[Any]") -> Coding | None:
    """Return strings that are Python's as codes of the sorted ones; None for other objects."""
    if isinstance(series.dtype, pd.StringDtype):
        values = python_texts(series)
    else:
        values = np.asarray(series.array, dtype=object)
    if infer_dtype(values[:SAMPLE], skipna=True) != "string":
        return None
    column = Values([values]).encode()
    if not isinstance(column.stored, Strings):
        return None
    order = column.stored.argsort()
    texts = column.stored.take(order).to_object()
    return _coding(column.codes, pd.Index(texts, dtype=series.dtype), _rank_lut(order))


def _code_arrow_strings(series: "pd.Series[Any]") -> Coding:
    """Return strings that lie in Arrow memory as codes of the sorted ones."""
    import pyarrow as pa

    array = pa_array(series)
    column = Values(arrow_chunks(array)).encode()
    order = column.stored.argsort()
    texts = cast(Strings, column.stored.take(order))
    offsets, data = map(pa.py_buffer, (texts.offsets, texts.data))
    sorted_array = pa.LargeStringArray.from_buffers(len(texts), offsets, data)
    if array.type != sorted_array.type:
        sorted_array = sorted_array.cast(array.type)
    restore = cast(Any, series.dtype).__from_arrow__
    return _coding(column.codes, pd.Index(restore(sorted_array)), _rank_lut(order))


def _code_dictionary(series: "pd.Series[Any]") -> Coding:
    """Return the codes of an Arrow dictionary, where its indices or its values may be null."""
    import pyarrow as pa

    encoded = arrow_array(series)
    codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy()
    # Arrow accepts nulls and repetitions among the values of a dictionary; levels have neither.
    proper = encoded.dictionary.dictionary_encode()
    lut = np.append(proper.indices.fill_null(-1).to_numpy(), np.int32(-1))
    return _coding(codes, pd.Index(pd.arrays.ArrowExtensionArray(proper.dictionary)), lut)


def _rank_lut(order: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Return the look-up table from codes to positions in an order of them."""
    lut = np.full(len(order) + 1, -1, np.int32)
    lut[order] = np.arange(len(order), dtype=np.int32)
    return lut
