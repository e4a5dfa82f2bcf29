"""A table → columns of codes, wherever this gives what scikit-learn makes of the same column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from onehot_fast.adapter import Strings, Values, read_column, reader_of

AnyArray: TypeAlias = npt.NDArray[Any]

# Of these kinds of dtypes `check_array` leaves an array as it is.
PLAIN_KINDS = "OUbiuf"
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
OBJECT = np.dtype(object)
# What an object has to be to stand for NaN.
NAN_TYPES = {float, np.float16, np.float32, np.float64}
# The exact types of Python objects whose arrays are read, each of them alone in its column.
OBJECT_TYPES = {str: "U", int: "iu", float: "f", bool: "b"}


class Column(NamedTuple):
    """One column of a table."""

    codes: AnyArray  # the position of each row's value in `values`, negative where it is missing
    values: AnyArray | Strings  # distinct and none of them missing, in any order
    dtype: np.dtype[Any]  # of the array that scikit-learn makes of the column
    has_missing: bool
    missing: float | None = np.nan  # what a negative code stands for: NaN or None


def read_table(table: Any) -> list[Column] | None:
    """Return the columns of a table or array, or None where scikit-learn must read them."""
    shape: tuple[int, ...] = getattr(table, "shape", ())
    if len(shape) != 2 or 0 in shape:
        return None
    if type(table) in (np.ndarray, np.memmap):
        columns = (_read_array(table[:, i]) for i in range(shape[1]))
        return _all_or_none(columns) if table.dtype.kind in PLAIN_KINDS else None
    library = reader_of(table)
    if library == "pandas":
        return _all_or_none(_read_series(table.iloc[:, i]) for i in range(shape[1]))
    return None if library is None else _read_library_table(table, shape[1])


def read_arrays(arrays: list[AnyArray]) -> list[Column] | None:
    """Return arrays that scikit-learn made of the columns of a table, or None."""
    return _all_or_none(map(_read_array, arrays))


def _all_or_none(columns: Iterator[Column | None]) -> list[Column] | None:
    """Return all columns, or None at the first that is None."""
    found = []
    for column in columns:
        if column is None:
            return None
        found.append(column)
    return found


def _read_array(values: AnyArray) -> Column | None:
    """Return an array whose elements are text, or numbers of one kind."""
    dtype = values.dtype
    if not dtype.isnative or not (dtype.kind in "OUbiu" or dtype in FLOATS):
        return None
    if dtype.kind == "f" and ((values == 0) & np.signbit(values)).any():
        return None  # whether the category is 0.0 or -0.0 depends on how NumPy sorts
    try:
        column = Values([values]).encode()
    except TypeError:  # a value without a hash
        return None
    codes, categories = column.codes, column.stored
    if dtype == OBJECT:
        return _read_objects(values, codes, categories)
    if isinstance(categories, Strings):
        return _column(codes, categories, dtype)
    if dtype.kind == "f" and not np.isfinite(categories).all():
        return None
    return _column(codes, categories.astype(dtype, copy=False), dtype)


def _read_objects(
    values: AnyArray, codes: AnyArray, categories: AnyArray | Strings
) -> Column | None:
    """Return objects of one exact type; what is missing has to be either None or NaN."""
    kind = object_type(categories)
    if kind is None:
        return None
    missing = set(map(type, values[codes < 0].tolist()))
    if not missing <= {type(None)} and not missing <= NAN_TYPES:
        return None
    substitute = None if missing <= {type(None)} else np.nan
    if kind is str:
        return _text(codes, categories, substitute)
    return _column(codes, categories, OBJECT, substitute)


def object_type(values: AnyArray | Strings) -> type | None:
    """Return the exact type that all objects have, if it is text or a number."""
    if isinstance(values, Strings):
        return str if len(values) and values.is_text else None
    types = set(map(type, values.tolist()))
    return types.pop() if len(types) == 1 and types <= OBJECT_TYPES.keys() else None


def _read_series(series: Any) -> Column | None:
    """Return a column of a DataFrame; what is coded, and text in Arrow's memory, stays there."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in PLAIN_KINDS:
        return _read_array(series.to_numpy())
    if hasattr(dtype, "categories"):
        return _read_category(series)
    if dtype == "str":
        column = read_column(series)
        return _text(column.codes, column.stored, np.nan)
    array = check_array(series, ensure_2d=False, dtype=None, ensure_all_finite="allow-nan")
    return _read_array(array)


def _read_category(series: Any) -> Column | None:
    """Return a categorical column, whose codes are a view of its memory."""
    column = read_column(series)
    codes, values = column.codes, column.stored
    if isinstance(values, Strings) or values.dtype == OBJECT:
        return _text(codes, values, np.nan)
    if values.dtype.kind not in "biuf":
        return None
    # Integers become floats where one of them is missing: two rows show it.
    is_missing = codes < 0
    rows = sorted({int(is_missing.argmin()), int(is_missing.argmax())})
    few = check_array(series.iloc[rows], ensure_2d=False, dtype=None, ensure_all_finite="allow-nan")
    is_plain = few.dtype.kind in "biuf" and np.isfinite(values).all()
    return _column(codes, values.astype(few.dtype), few.dtype) if is_plain else None


def _read_library_table(table: Any, n_columns: int) -> list[Column] | None:
    """Return a table of polars or Arrow with text in it, which to NumPy is an array of objects."""
    columns = [table[:, i] if hasattr(table, "get_columns") else table[i] for i in range(n_columns)]
    if not any(map(_is_text, columns)):
        return None
    return _all_or_none(map(_read_library_column, columns))


def _read_library_column(series: Any) -> Column | None:
    """Return a column of polars or Arrow as an array of objects would have it."""
    if _is_text(series):
        coded = read_column(series)
        return _text(coded.codes, coded.stored, None)
    values = series.to_numpy()
    column = _read_array(values) if isinstance(values, np.ndarray) else None
    if column is None or isinstance(column.values, Strings):
        return column
    return column._replace(values=column.values.astype(object), dtype=OBJECT)


def _is_text(series: Any) -> bool:
    """Tell a column of strings, dictionary-encoded or not."""
    if hasattr(series, "to_physical"):
        return series.dtype.base_type().__name__ in ("String", "Categorical", "Enum")
    name = str(series.type)
    if name.startswith("dictionary"):  # Arrow turns nulls in such a column into categories
        return "string" in name and series.null_count == 0
    return name in ("string", "large_string", "string_view")


def _text(codes: AnyArray, values: AnyArray | Strings, missing: float | None) -> Column | None:
    """Return a column whose categories are strings, or None if they are not."""
    if object_type(values) is not str:
        return None
    texts = values if isinstance(values, Strings) else Strings.from_objects(values)
    return _column(codes, texts, OBJECT, missing)


def _column(
    codes: AnyArray,
    values: AnyArray | Strings,
    dtype: np.dtype[Any],
    missing: float | None = np.nan,
) -> Column:
    """Return a column whose codes are as narrow as its values allow: they are read again."""
    n = len(values)
    narrow = np.int8 if n < 128 else np.int16 if n < 32768 else np.int32
    if codes.itemsize > np.dtype(narrow).itemsize and n < 2**31:
        codes = codes.astype(narrow)
    has_missing = codes.dtype.kind == "i" and bool(len(codes)) and bool(codes.min() < 0)
    return Column(codes, values, dtype, has_missing, missing)
