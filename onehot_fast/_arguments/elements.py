"""A value → one element of a dtype, or an error.

Typed values (those that carry a dtype) keep their bits. Plain Python values are converted by one
function for each kind of dtype: a float may be rounded, nothing else may be lost.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.indices import as_array

Dtype: TypeAlias = np.dtype[Any]
Element: TypeAlias = npt.NDArray[Any]
Converter: TypeAlias = Callable[[Any, Dtype, str], Element]

# The fraction of the extended floats of x86, by which NumPy's longdouble is known to be one.
BITS_OF_X87 = 63


def as_element(value: object, dtype: Dtype, name: str) -> Element:
    """Return the value as a 0-D array of dtype, which shares no memory with it.

    Bytes that are no part of a value are 0.
    """
    element = _as_element(value, dtype, name)
    clear_padding(element)
    return element


def value_bytes(dtype: Dtype) -> slice | None:
    """Return which bytes of a float, or of each part of a complex, count; None: all.

    The 80 bits of x86 are kept in 12 or 16 bytes, and the others hold whatever was there before.
    """
    if dtype.char not in "gG" or np.finfo(np.longdouble).nmant != BITS_OF_X87:
        return None
    size = np.dtype(np.longdouble).itemsize
    return slice(10) if dtype.isnative else slice(size - 10, size)


def parts_of(cells: Element) -> npt.NDArray[np.uint8]:
    """Return the bytes of extended floats: (..., parts of a number, bytes of a part)."""
    size = np.dtype(np.longdouble).itemsize
    raw = np.ascontiguousarray(cells).reshape(-1).view(np.uint8)
    return raw.reshape(*cells.shape, cells.itemsize // size, size)


def clear_padding(cells: Element) -> None:
    """Set the bytes to 0 that are no part of an extended float, in any field."""
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
    """Return the value as a 0-D array of dtype, with anything as padding."""
    if dtype.kind == "O" and not isinstance(value, np.ndarray):
        return _to_object(value, dtype, name)  # a NumPy scalar is an object like any other
    array = typed(value, name)
    if array is None:
        return _converter(dtype)(value, dtype, name)
    if not agree(array.dtype, dtype):
        raise TypeError(
            f"{name} has dtype {array.dtype} where {dtype} is needed: they must be the same, "
            "typed values are never promoted"
        )
    if dtype.kind in "SU":
        require_width(array.item(), dtype, name)
    # Zeros first: the copy leaves the padding of a structure alone, and heap bytes must not leak.
    element = np.zeros((), dtype=dtype)
    element[...] = array
    return element


def typed(value: object, name: str) -> Element | None:
    """Return a value that carries a dtype as a 0-D array, None for plain Python."""
    if isinstance(value, np.generic):
        return np.asarray(value)
    if not isinstance(value, np.ndarray) and not hasattr(value, "__array__"):
        return None
    array = as_array(value, name)
    if array.ndim:
        raise ValueError(f"{name} has shape {array.shape}: accepted are scalars and 0-D arrays")
    return array


def agree(one: Dtype, other: Dtype) -> bool:
    """Tell whether a value of one dtype is a value of the other without any conversion."""
    if one.kind != other.kind:
        return False
    # The width of a text belongs to the array it is kept in; NaT and bare counts have no unit.
    if one.kind in "SU" or is_unitless(one) or is_unitless(other):
        return True
    return native(one) == native(other)


def native(dtype: Dtype) -> Dtype:
    """Return the dtype in native byte order; the layout of a structure is left to its owner."""
    return dtype if dtype.isnative or dtype.names else dtype.newbyteorder("=")


def is_unitless(dtype: Dtype) -> bool:
    """Tell a datetime64 or timedelta64 without a unit."""
    return dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic"


def _converter(dtype: Dtype) -> Converter:
    """Return the function that makes elements of this dtype."""
    if dtype.names is not None:
        return _to_structure
    if dtype.kind == "V" and dtype.type is np.void:
        return _to_bytes
    # Kinds tell nothing about the dtypes other packages register (bfloat16, float8, int4, ...).
    return _to_registered if dtype.isbuiltin == 2 else _CONVERTERS[dtype.kind]


def _wrong_kind(value: object, dtype: Dtype, name: str, accepted: str) -> TypeError:
    """Return the error for a value of a type the dtype does not take."""
    kind = type(value).__name__
    return TypeError(f"{name} = {value!r} is of type {kind}: dtype {dtype} accepts {accepted}")


def _does_not_fit(value: object, dtype: Dtype, name: str) -> ValueError:
    """Return the error for a value that the dtype would change."""
    return ValueError(f"{name} = {value!r} does not fit dtype {dtype}: it would change")


def _is_finite(number: float) -> bool:
    """Tell a finite number; an int is one, also where no float can hold it."""
    return isinstance(number, int) or math.isfinite(number)


def _to_bool(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert True, False, 1 and 0."""
    if not isinstance(value, int | float):
        raise _wrong_kind(value, dtype, name, "True, False, 1 and 0")
    if value not in (0, 1):
        raise _does_not_fit(value, dtype, name)
    return np.array(bool(value), dtype=dtype)


def _to_integer(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert an integer, or a float that is one."""
    if not isinstance(value, int | float):
        raise _wrong_kind(value, dtype, name, "integers")
    limits = np.iinfo(dtype)
    if not (_is_finite(value) and limits.min <= int(value) <= limits.max and int(value) == value):
        raise _does_not_fit(value, dtype, name)
    return np.array(int(value), dtype=dtype)


def _to_real(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a real number to the nearest float."""
    if not isinstance(value, int | float):
        raise _wrong_kind(value, dtype, name, "real numbers")
    return _rounded(value, dtype, name)


def _to_complex(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a number to the nearest complex one."""
    if not isinstance(value, int | float | complex):
        raise _wrong_kind(value, dtype, name, "numbers")
    return _rounded(value, dtype, name)


def _rounded(value: complex, dtype: Dtype, name: str) -> Element:
    """Return the nearest element; what is finite must stay finite."""
    try:
        with np.errstate(over="ignore"):
            element = np.array(value, dtype=dtype)
    except OverflowError:  # an int beyond every float
        raise _does_not_fit(value, dtype, name) from None
    for part, stored in ((value.real, element.real), (value.imag, element.imag)):
        if _is_finite(part) and not np.isfinite(stored):
            raise _does_not_fit(value, dtype, name)
    return element


def _to_registered(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a number to a dtype NumPy itself knows nothing about."""
    if not isinstance(value, int | float):
        raise _wrong_kind(value, dtype, name, "real numbers")
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
    """Refuse what a dtype of one byte would saturate or wrap around, which it does silently."""
    elements = _all_elements(dtype)
    if not elements[0] <= number <= elements[-1]:
        raise ValueError("out of range")
    if bool((elements % 1 == 0).all()) and number not in elements:
        raise ValueError("no integer")


@lru_cache(maxsize=64)
def _all_elements(dtype: Dtype) -> npt.NDArray[np.float64]:
    """Return the finite numbers a dtype of one byte can hold, in order."""
    with np.errstate(all="ignore"):
        numbers = np.arange(256).astype(np.uint8).view(dtype).astype(np.float64)
    return np.unique(numbers[np.isfinite(numbers)])


def _to_datetime(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a date, its text, or a count of units."""
    if isinstance(value, bool) or not isinstance(value, int | str | datetime.date | None):
        raise _wrong_kind(value, dtype, name, "dates, their text, integers and None (NaT)")
    return _to_time(value, dtype, name)


def _to_timedelta(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a duration or a count of units."""
    if isinstance(value, bool) or not isinstance(value, int | datetime.timedelta | None):
        raise _wrong_kind(value, dtype, name, "timedeltas, integers and None (NaT)")
    return _to_time(value, dtype, name)


def _to_time(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert to a unit that loses nothing: NumPy would drop what is finer than the unit."""
    # The dates of pandas are datetimes too, but only NumPy's form of them has the nanoseconds.
    value = getattr(value, "asm8", value)
    if value is None or (isinstance(value, np.generic) and np.isnat(value)):
        return np.array("NaT", dtype=dtype)
    try:
        element = np.array(value, dtype=dtype)
    except (OverflowError, ValueError) as error:
        raise ValueError(f"{name} = {value!r} does not fit dtype {dtype}: {error}") from error
    if isinstance(value, int):
        return element
    exact = np.array(value, dtype=dtype.kind + "8")  # in the unit NumPy finds in the value
    if element.astype(exact.dtype) != exact:
        raise _does_not_fit(value, dtype, name)
    return element


def _to_text(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert text or bytes, ASCII where one becomes the other."""
    if not isinstance(value, str | bytes):
        raise _wrong_kind(value, dtype, name, "str and bytes")
    require_width(value, dtype, name)
    try:
        return np.array(value).astype(dtype)
    except (UnicodeEncodeError, UnicodeDecodeError):
        raise _does_not_fit(value, dtype, name) from None


def require_width(value: str | bytes, dtype: Dtype, name: str) -> None:
    """Refuse a text longer than the elements of a fixed-width dtype."""
    width = dtype.itemsize // np.dtype(f"{dtype.kind}1").itemsize
    if len(value) > width:
        raise ValueError(f"{name} = {value!r} has length {len(value)}: dtype {dtype} keeps {width}")


def _to_string(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert to a StringDType: text, or what that dtype takes for missing."""
    is_missing = hasattr(dtype, "na_object") and value is dtype.na_object
    if not isinstance(value, str) and not is_missing:
        raise _wrong_kind(value, dtype, name, "str")
    return np.array(value, dtype=dtype)


def _to_object(value: Any, dtype: Dtype, name: str) -> Element:
    """Keep the object itself, also when it is a sequence."""
    element = np.empty((), dtype=dtype)
    element[()] = value
    return element


def _to_bytes(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert raw bytes; shorter ones are followed by zeros."""
    if not isinstance(value, bytes | bytearray):
        raise _wrong_kind(value, dtype, name, "bytes")
    if len(value) > dtype.itemsize:
        raise ValueError(
            f"{name} = {value!r} has length {len(value)}: dtype {dtype} keeps {dtype.itemsize}"
        )
    return np.array(bytes(value), dtype=dtype)


def _to_structure(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a tuple with one value for each field, or one value for all of them."""
    fields = dtype.names or ()
    values = value if isinstance(value, tuple) else (value,) * len(fields)
    if len(values) != len(fields):
        raise ValueError(f"{name} = {value!r} has {len(values)} values for {len(fields)} fields")
    element = np.zeros((), dtype=dtype)
    for field, part in zip(fields, values, strict=True):
        _fill_field(element[field], part, f"{name}[{field!r}]")
    return element


def _fill_field(cells: Element, value: Any, name: str) -> None:
    """Write one field, which may itself be an array, from one value or a list of values."""
    if cells.ndim == 0:
        cells[...] = as_element(value, cells.dtype, name)
        return
    is_list = isinstance(value, list) or (isinstance(value, tuple) and cells.dtype.names is None)
    parts = value if is_list else [value] * len(cells)
    if len(parts) != len(cells):
        raise ValueError(f"{name} = {value!r} has {len(parts)} values for {len(cells)} places")
    for i, part in enumerate(parts):
        _fill_field(cells[i, ...], part, f"{name}[{i}]")


_CONVERTERS: dict[str, Converter] = {
    "b": _to_bool,
    "i": _to_integer,
    "u": _to_integer,
    "f": _to_real,
    "c": _to_complex,
    "M": _to_datetime,
    "m": _to_timedelta,
    "S": _to_text,
    "U": _to_text,
    "T": _to_string,
    "O": _to_object,
}
