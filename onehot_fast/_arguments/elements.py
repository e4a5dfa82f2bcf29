"""Conversion of a value to one element of a dtype.

Typed values (NumPy scalars and 0-D arrays) keep their bits. Plain Python values are converted by
one function for each kind of dtype: a float may be rounded, every other change is an error.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import shown
from onehot_fast._arguments.indices import as_array

Dtype: TypeAlias = np.dtype[Any]
Element: TypeAlias = npt.NDArray[Any]
Converter: TypeAlias = Callable[[Any, Dtype, str], Element]

# The mantissa bits of the x86 extended-precision float.
BITS_OF_X87 = 63


def as_element(value: object, dtype: Dtype, name: str) -> Element:
    """Return a copy of the value as a 0-D array of `dtype`, with zeros as padding."""
    element = _as_element(value, dtype, name)
    clear_padding(element)
    return element


def value_bytes(dtype: Dtype) -> slice | None:
    """Return the significant bytes of a float or of each part of a complex; None means all bytes.

    x86 stores its 80-bit float in 12 or 16 bytes; the remaining bytes are arbitrary.
    """
    if dtype.char not in "gG" or np.finfo(np.longdouble).nmant != BITS_OF_X87:
        return None
    size = np.dtype(np.longdouble).itemsize
    return slice(10) if dtype.isnative else slice(size - 10, size)


def parts_of(cells: Element) -> npt.NDArray[np.uint8]:
    """Return the bytes of extended floats in shape (..., parts of a number, bytes of a part)."""
    size = np.dtype(np.longdouble).itemsize
    raw = np.ascontiguousarray(cells).reshape(-1).view(np.uint8)
    return raw.reshape(*cells.shape, cells.itemsize // size, size)


def clear_padding(cells: Element) -> None:
    """Set the padding of extended floats to 0, in all fields."""
    if cells.dtype.names is not None:
        for field in cells.dtype.names:
            clear_padding(cells[field])
        return
    counted = value_bytes(cells.dtype)
    if counted is None:
        return
    clean = np.zeros(cells.shape, cells.dtype)
    parts_of(clean)[..., counted] = parts_of(cells)[..., counted]
    raw = np.dtype(f"V{cells.dtype.itemsize}")
    cells.view(raw)[...] = clean.view(raw)


def _as_element(value: object, dtype: Dtype, name: str) -> Element:
    """Return the value as a 0-D array of `dtype`, with arbitrary padding."""
    if dtype.kind == "O" and not isinstance(value, np.ndarray):
        element = np.empty((), dtype=dtype)
        element[()] = value  # store the object itself, even a sequence or a NumPy scalar
        return element
    array = typed(value, name)
    if array is None:
        return _convert(value, dtype, name)
    if not agree(array.dtype, dtype):
        raise TypeError(
            f"{name} must have dtype {dtype}, because typed values are never promoted, got"
            f" {array.dtype}"
        )
    if dtype.kind in "SU":
        require_width(array.item(), dtype, name)
    # Zeros first: the copy skips the padding of a structure, and heap bytes must not leak.
    element = np.zeros((), dtype=dtype)
    element[...] = array
    return element


def typed(value: object, name: str) -> Element | None:
    """Return a value that has a dtype as a 0-D array, or None for a plain Python value."""
    if isinstance(value, np.generic):
        return np.asarray(value)
    if not isinstance(value, np.ndarray) and not hasattr(value, "__array__"):
        return None
    array = as_array(value, name)
    if array.ndim:
        raise ValueError(f"{name} must be a scalar or a 0-D array, got shape {array.shape}")
    return array


def agree(one: Dtype, other: Dtype) -> bool:
    """Tell whether a value of one dtype is a value of the other without any conversion."""
    if one.kind != other.kind:
        return False
    # A value need not have the width of the array's texts; NaT and plain counts have no unit.
    if one.kind in "SU" or is_unitless(one) or is_unitless(other):
        return True
    return native(one) == native(other)


def native(dtype: Dtype) -> Dtype:
    """Return the dtype in native byte order, or unchanged if it is structured."""
    return dtype if dtype.isnative or dtype.names else dtype.newbyteorder("=")


def is_unitless(dtype: Dtype) -> bool:
    """Tell whether a dtype is a datetime64 or timedelta64 without a unit."""
    return dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic"


def _convert(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a plain Python value to a 0-D array of `dtype`."""
    if dtype.names is not None:
        return _to_structure(value, dtype, name)
    # `kind` is meaningless for dtypes that other packages register (bfloat16, float8, int4, ...).
    kind = "registered" if dtype.isbuiltin == 2 else dtype.kind
    convert, types, expected = _CONVERTERS[kind]
    is_time_bool = kind in "mM" and isinstance(value, bool)
    is_na = kind == "T" and hasattr(dtype, "na_object") and value is dtype.na_object
    if not is_na and (is_time_bool or not isinstance(value, types)):
        raise TypeError(f"{name} must be {expected} for dtype {dtype}, got {shown(value)}")
    return convert(value, dtype, name)


def _does_not_fit(value: object, dtype: Dtype, name: str) -> ValueError:
    """Return the error for a value that the dtype would change."""
    return ValueError(f"{name} = {shown(value)} does not fit dtype {dtype}")


def _is_finite(number: float) -> bool:
    """Tell whether a number is finite; every int is, even if no float can represent it."""
    return isinstance(number, int) or math.isfinite(number)


def _to_bool(value: Any, dtype: Dtype, name: str) -> Element:
    if value not in (0, 1):
        raise _does_not_fit(value, dtype, name)
    return np.array(bool(value), dtype=dtype)


def _to_integer(value: Any, dtype: Dtype, name: str) -> Element:
    limits = np.iinfo(dtype)
    if not (_is_finite(value) and limits.min <= int(value) <= limits.max and int(value) == value):
        raise _does_not_fit(value, dtype, name)
    return np.array(int(value), dtype=dtype)


def _to_float(value: Any, dtype: Dtype, name: str) -> Element:
    """Return the nearest real or complex element; a finite number must stay finite."""
    try:
        with np.errstate(over="ignore"):
            element = np.array(value, dtype=dtype)
    except OverflowError:  # the int is larger than every float
        raise _does_not_fit(value, dtype, name) from None
    for part, stored in ((value.real, element.real), (value.imag, element.imag)):
        if _is_finite(part) and not np.isfinite(stored):
            raise _does_not_fit(value, dtype, name)
    return element


def _to_registered(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a number to a dtype of another package."""
    try:
        number = float(value)
        if math.isfinite(number) and dtype.itemsize == 1:
            _require_range(number, dtype)
        with np.errstate(all="ignore"):
            element = np.array(value, dtype=dtype)
        stored = float(element)
    except (OverflowError, ValueError):
        raise _does_not_fit(value, dtype, name) from None
    kept = math.isfinite(stored) if math.isfinite(number) else repr(stored) == repr(number)
    if not kept:
        raise _does_not_fit(value, dtype, name)
    return element


def _require_range(number: float, dtype: Dtype) -> None:
    """Raise an error for a number that a dtype of one byte would silently saturate or wrap."""
    elements = _all_elements(dtype)
    if not elements[0] <= number <= elements[-1]:
        raise ValueError("out of range")
    if bool((elements % 1 == 0).all()) and number not in elements:
        raise ValueError("not an integer")


@lru_cache(maxsize=64)
def _all_elements(dtype: Dtype) -> npt.NDArray[np.float64]:
    """Return the finite numbers that a one-byte dtype can represent, sorted."""
    with np.errstate(all="ignore"):
        numbers = np.arange(256).astype(np.uint8).view(dtype).astype(np.float64)
    return np.unique(numbers[np.isfinite(numbers)])


def _to_time(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a date or duration, or raise an error if it is finer than the unit."""
    # A pandas Timestamp is a datetime, but only its NumPy value has nanoseconds.
    value = getattr(value, "asm8", value)
    if value is None or (isinstance(value, np.generic) and np.isnat(value)):
        return np.array("NaT", dtype=dtype)
    try:
        element = np.array(value, dtype=dtype)
    except (OverflowError, ValueError) as error:
        raise ValueError(f"{name} = {shown(value)} does not fit dtype {dtype}: {error}") from error
    if isinstance(value, int):
        return element
    exact = np.array(value, dtype=dtype.kind + "8")  # in the unit that NumPy infers from the value
    if element.astype(exact.dtype) != exact:
        raise _does_not_fit(value, dtype, name)
    return element


def _to_text(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a str or bytes; str and bytes dtypes accept both if the text is ASCII."""
    require_width(value, dtype, name)
    try:
        return np.array(value).astype(dtype)
    except (UnicodeEncodeError, UnicodeDecodeError):
        raise _does_not_fit(value, dtype, name) from None


def require_width(value: str | bytes, dtype: Dtype, name: str) -> None:
    """Raise an error for a text longer than the elements of a fixed-width dtype."""
    width = dtype.itemsize // np.dtype(f"{dtype.kind}1").itemsize
    if len(value) > width:
        raise ValueError(f"{name} = {shown(value)} does not fit dtype {dtype} of length {width}")


def _to_string(value: Any, dtype: Dtype, name: str) -> Element:
    return np.array(value, dtype=dtype)


def _to_void(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert raw bytes, padded with zeros."""
    require_width(value, dtype, name)
    return np.array(bytes(value), dtype=dtype)


def _to_structure(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a tuple with one value for each field, or one value for all of them."""
    fields = dtype.names or ()
    values = value if isinstance(value, tuple) else (value,) * len(fields)
    if len(values) != len(fields):
        raise ValueError(
            f"{name} must have {len(fields)} values, one for each field, got {value!r}"
        )
    element = np.zeros((), dtype=dtype)
    for field, part in zip(fields, values, strict=True):
        _fill_field(element[field], part, f"{name}[{field!r}]")
    return element


def _fill_field(cells: Element, value: Any, name: str) -> None:
    """Write one field, which may be an array, from one value or a list of values."""
    if cells.ndim == 0:
        cells[...] = as_element(value, cells.dtype, name)
        return
    is_list = isinstance(value, list) or (isinstance(value, tuple) and cells.dtype.names is None)
    parts = value if is_list else [value] * len(cells)
    if len(parts) != len(cells):
        raise ValueError(f"{name} must have {len(cells)} values, got {value!r}")
    for i, part in enumerate(parts):
        _fill_field(cells[i, ...], part, f"{name}[{i}]")


# For each kind of dtype: the converter, the types that it accepts, and their description.
_CONVERTERS: dict[str, tuple[Converter, Any, str]] = {
    "b": (_to_bool, int | float, "True, False, 1 or 0"),
    "i": (_to_integer, int | float, "an integer"),
    "u": (_to_integer, int | float, "an integer"),
    "f": (_to_float, int | float, "a real number"),
    "c": (_to_float, int | float | complex, "a number"),
    "M": (_to_time, int | str | datetime.date | None, "a date, a str, an int or None"),
    "m": (_to_time, int | datetime.timedelta | None, "a timedelta, an int or None"),
    "S": (_to_text, str | bytes, "a str or bytes"),
    "U": (_to_text, str | bytes, "a str or bytes"),
    "T": (_to_string, str, "a str"),
    "V": (_to_void, bytes | bytearray, "bytes"),
    "registered": (_to_registered, int | float, "a real number"),
}
