"""A table → columns of codes, wherever this gives what scikit-learn makes of the same column."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.utils import check_array

from onehot_fast.adapter import Column, Strings, Values, read_values, reader_of

AnyArray: TypeAlias = npt.NDArray[Any]
DType: TypeAlias = np.dtype[Any]

# scikit-learn's, major and minor.
VERSION = tuple(map(int, sklearn.__version__.split(".")[:2]))
AS_IT_IS = {"ensure_2d": False, "dtype": None, "ensure_all_finite": "allow-nan"}
# Of these kinds of dtypes `check_array` leaves an array as it is.
PLAIN_KINDS = "OUbiuf"
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
OBJECT = np.dtype(object)
# What an object has to be to stand for NaN.
NAN_TYPES = {float, np.float16, np.float32, np.float64}
# The kind of a dtype → the type of its elements as Python objects; objects that are read have one
# of these types, each of them alone in its column.
KIND_TYPES = {"U": str, "i": int, "u": int, "f": float, "b": bool}


class LeftToSklearn(Exception):  # it never leaves this package
    """Only scikit-learn's own code can read these values, or judge them."""


class Coded(NamedTuple):
    """One column of a table as codes."""

    codes: AnyArray  # the position of each row's value in `values`, negative where it is missing
    # Distinct and none of them missing, in any order. None where they are the known categories;
    # behind the last of these a code is that of an unknown value.
    values: Any
    dtype: DType  # of the array that scikit-learn makes of the column
    has_missing: bool
    missing: float | None = np.nan  # what a negative code stands for: NaN or None
    has_unknown: bool = False  # among the known categories


# Looks up values that scikit-learn gives a dtype; None where they have to be encoded first.
Lookup: TypeAlias = Callable[[Values, DType], Coded | None]


def read_table(table: Any, lookups: Iterable[Lookup | None] = ()) -> list[Coded]:
    """Return the columns of a table or array."""
    shape: tuple[int, ...] = getattr(table, "shape", ())
    if len(shape) != 2 or 0 in shape:
        raise LeftToSklearn
    if type(table) in (np.ndarray, np.memmap) and table.dtype.kind in PLAIN_KINDS:
        return read_arrays(table.T, lookups)
    library, lookups = reader_of(table), chain(lookups, repeat(None))
    if library == "pandas":
        series = (series for _, series in table.items())
        return [_read_series(*each) for each in zip(series, lookups, strict=False)]
    indices = range(shape[1] if library else 0)
    columns = [table[:, i] if hasattr(table, "get_columns") else table[i] for i in indices]
    if not any(map(_is_text, columns)):  # NumPy has one dtype for all columns
        raise LeftToSklearn
    return [_read_library_column(*each) for each in zip(columns, lookups, strict=False)]


def read_arrays(arrays: Iterable[AnyArray], lookups: Iterable[Lookup | None] = ()) -> list[Coded]:
    """Return arrays that scikit-learn makes of the columns of a table."""
    each = zip(arrays, chain(lookups, repeat(None)), strict=False)
    return [read_array(array, lookup) for array, lookup in each]


def read_array(values: AnyArray, lookup: Lookup | None = None) -> Coded:
    """Return an array whose elements are text, or numbers of one kind."""
    dtype = values.dtype
    if not dtype.isnative or not (dtype.kind in "OUbiu" or dtype in FLOATS):
        raise LeftToSklearn
    try:
        column = _code(Values([values]), dtype, lookup)
    except TypeError as error:  # a value without a hash
        raise LeftToSklearn from error
    if dtype.kind == "f" and not _are_plain_floats(values, column):
        raise LeftToSklearn
    if dtype != OBJECT:
        return column
    # What is missing has to be either None or NaN.
    types = set(map(type, values[column.codes < 0].tolist())) if column.has_missing else set()
    is_plain = column.values is None or python_type(column.values) is not None
    if not is_plain or not (types <= {type(None)} or types <= NAN_TYPES):
        raise LeftToSklearn
    return column._replace(missing=None if types <= {type(None)} else np.nan)


def _are_plain_floats(values: AnyArray, column: Coded) -> bool:
    """Tell whether scikit-learn accepts the values, and what it learns of them is certain."""
    if column.values is None:
        return not (column.has_unknown and np.isinf(values).any())
    # Whether the category is 0.0 or -0.0 depends on how NumPy sorts.
    is_negative_zero = (values == 0) & np.signbit(values)
    return bool(np.isfinite(column.values).all() and not is_negative_zero.any())


def _code(source: Values | Column, dtype: DType, lookup: Lookup | None = None) -> Coded:
    """Return a column as codes, of the known categories where it can be looked up among them."""
    known = lookup(source, dtype) if lookup is not None and isinstance(source, Values) else None
    if known is not None:
        return known
    column = source.encode()
    codes, values = column.codes, column.stored
    if dtype != OBJECT and not isinstance(values, Strings):
        values = values.astype(dtype, copy=False)
    return Coded(codes, values, dtype, codes.dtype.kind == "i" and bool(codes.min() < 0))


def python_type(values: AnyArray | Strings) -> type | None:
    """Return the exact type that all values have as Python objects, if it is text or a number."""
    if isinstance(values, Strings):
        return str if len(values) and values.is_text else None
    if values.dtype != OBJECT:
        return KIND_TYPES.get(values.dtype.kind)
    types = set(map(type, values.tolist()))
    return types.pop() if len(types) == 1 and types <= {*KIND_TYPES.values()} else None


def _read_series(series: Any, lookup: Lookup | None) -> Coded:
    """Return a column of a DataFrame; what is coded, and text in Arrow's memory, stays there."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in PLAIN_KINDS:
        return read_array(series.to_numpy(), lookup)
    if hasattr(dtype, "categories"):
        return _read_category(series)
    if dtype == "str":
        return read_text(series, np.nan, lookup)
    return read_array(check_array(series, **AS_IT_IS), lookup)


def _read_category(series: Any) -> Coded:
    """Return a categorical column, whose codes are a view of its memory."""
    column = read_values(series).encode()
    values = column.stored
    if isinstance(values, Strings) or values.dtype == OBJECT:
        return read_text(column, np.nan)
    # Integers become floats where one of them is missing: two rows show it.
    is_missing = column.codes < 0
    rows = sorted({int(is_missing.argmin()), int(is_missing.argmax())})
    dtype = check_array(series.iloc[rows], **AS_IT_IS).dtype
    if {values.dtype.kind, dtype.kind} <= {*"biuf"} and np.isfinite(values).all():
        return _code(column, dtype)
    raise LeftToSklearn


def _read_library_column(series: Any, lookup: Lookup | None) -> Coded:
    """Return a column of polars or Arrow as an array of objects would have it."""
    if _is_text(series):
        return read_text(series, None, lookup)
    values = series.to_numpy()
    if not isinstance(values, np.ndarray):
        raise LeftToSklearn
    column = read_array(values)
    if isinstance(column.values, Strings):
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


def read_text(source: Any, missing: float | None, lookup: Lookup | None = None) -> Coded:
    """Return a column whose categories are strings."""
    column = _code(read_values(source), OBJECT, lookup)
    if column.values is None or python_type(column.values) is str:
        return column._replace(missing=missing)
    raise LeftToSklearn
