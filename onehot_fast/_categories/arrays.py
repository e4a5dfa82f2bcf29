"""Choose dtypes and dictionary kinds for values, and convert values to arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arrow.array import Array
from onehot_fast._categories.keys import as_objects, plain
from onehot_fast._categories.strings import Strings

AnyArray: TypeAlias = npt.NDArray[Any]
# The kinds of `Dictionary`.
Kind: TypeAlias = Literal["string", "binary", "int64", "uint64", "float64"]

# The types of floats that keep their dtype instead of becoming float64.
NARROW_FLOATS = (np.float16, np.float32)
ARROW_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
TEXT_KINDS: dict[str, Kind] = {"U": "string", "T": "string", "S": "binary"}


def dtype_of(values: Any) -> np.dtype[Any] | None:
    """Return the dtype of numbers or times, or None; Arrow's instants with a zone are int64."""
    if isinstance(values, np.ndarray):
        return values.dtype.newbyteorder("=") if values.dtype.kind in "biufmM" else None
    if not isinstance(values, Array):
        return None
    form = values.schema.format
    if form.startswith("tD"):
        return np.dtype(f"m8[{ARROW_UNITS[form[2]]}]")
    if form.startswith("ts") and not form[4:]:
        return np.dtype(f"M8[{ARROW_UNITS[form[2]]}]")
    return values.schema.dtype


def kind_of(values: Any) -> Kind:
    """Return the kind of dictionary for an array; raise TypeError if there is none."""
    dtype = dtype_of(values)
    if dtype is not None:
        return kind_of_dtype(dtype)
    if isinstance(values, Strings):
        return "string" if values.is_text else "binary"
    if isinstance(values, Array) and values.schema.kind in ("string", "binary"):
        return "string" if values.schema.kind == "string" else "binary"
    if isinstance(values, np.ndarray) and values.dtype.kind in TEXT_KINDS:
        return TEXT_KINDS[values.dtype.kind]
    raise TypeError(
        f"values must be numbers, times, texts or bytes for a dictionary, got {values!r}"
    )


def kind_of_dtype(dtype: np.dtype[Any]) -> Kind:
    """Return the kind of dictionary for a dtype of numbers or times."""
    if dtype.kind == "f":
        return "float64"
    return "uint64" if dtype == np.uint64 else "int64"


def category_array(values: Iterable[Any]) -> Strings | AnyArray:
    """Return the values in the array type that `Categories` uses for them."""
    if isinstance(values, Strings):
        return values
    if not isinstance(values, np.ndarray):
        return _array_of_objects(list(values))
    kind = values.dtype.kind
    if kind in "iu":
        is_wide = values.dtype.itemsize == 8 and kind == "u" and len(values)
        is_beyond = is_wide and int(values.max()) >= 2**63
        return values.astype(np.uint64 if is_beyond else np.int64)
    if kind == "b" or (kind == "f" and values.dtype.itemsize <= 8) or kind in "mM":
        is_missing = kind != "b" and (values != values).any()
        if not is_missing:
            native: AnyArray = values.astype(values.dtype.newbyteorder("="))
            return native
    if kind in "UTS":
        return Strings.from_objects(values.tolist(), is_text=kind != "S")
    # `list` keeps the items of other dtypes as NumPy scalars.
    return _array_of_objects(values.tolist() if kind == "O" else list(values))


def _array_of_objects(items: list[Any]) -> Strings | AnyArray:
    """Return Strings or an array of a specific dtype if all items have one type, else objects."""
    kinds = set(map(type, items))
    if not kinds <= {str, bytes, int, bool, float}:
        items = [plain(item) for item in items]
        kinds = set(map(type, items))
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    if kind is str or kind is bytes:
        return Strings.from_objects(items, is_text=kind is str)
    if kind is int and min(items) >= -(2**63) and max(items) < 2**64:
        if max(items) < 2**63:
            return np.array(items, np.int64)
        return np.array(items, np.uint64) if min(items) >= 0 else as_objects(items)
    if kind is bool or kind is float or kind in NARROW_FLOATS:
        array = np.array(items, np.dtype(kind))
        return array if not (array != array).any() else as_objects(items)
    if kind in (np.datetime64, np.timedelta64) and len({item.dtype for item in items}) == 1:
        array = np.array(items, items[0].dtype)
        return array if not np.isnat(array).any() else as_objects(items)
    return as_objects(items)


def exactly_as(values: AnyArray, kind: str) -> tuple[AnyArray, npt.NDArray[np.bool_]]:
    """Return numbers in the dtype of a kind of dictionary, and which of them are unchanged."""
    with np.errstate(invalid="ignore"):
        converted = values.astype(kind)
        is_same = converted.astype(values.dtype) == values
    is_same &= (converted < 0) == (values < 0)
    if (kind == "float64") != (values.dtype.kind == "f"):
        # At its limits, an integer type may saturate, so that both conversions agree.
        integers, floats = (values, converted) if kind == "float64" else (converted, values)
        is_same &= floats.astype(np.float64) < (2.0**64 if integers.dtype == np.uint64 else 2.0**63)
    return converted, is_same
