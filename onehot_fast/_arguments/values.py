"""Conversion of on_value, off_value and dtype to two elements of one dtype.

A value is *typed* if it has a dtype (a NumPy scalar or a 0-D array). The bits of a typed value are
copied, so the result must have its dtype. Every other value is a plain Python value, which is
converted to the dtype of the result. The conversion may round a float. It raises an error if it
would change any other value.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import as_array
from onehot_fast._arguments.messages import shown

Dtype: TypeAlias = np.dtype[Any]
Element: TypeAlias = npt.NDArray[Any]
Converter: TypeAlias = Callable[[Any, Dtype, str], Element]

# The mantissa bits of the x86 extended-precision float.
BITS_OF_X87 = 63
# Types of plain Python values → the dtype; two numbers get the dtype of the later entry.
PLAIN_DTYPES: tuple[tuple[Any, str], ...] = (
    (bool, "?"),
    ((int, float), "f4"),
    (complex, "c16"),
    (str, "U"),
    (bytes, "S"),
)
N_PLAIN_NUMBERS = 3


def resolve_values(
    on_value: object,
    off_value: object,
    dtype: npt.DTypeLike | None = None,
    default: Dtype | None = None,
) -> tuple[Dtype, Element, Element]:
    """Return the dtype of the result and its two elements as 0-D arrays of that dtype.

    `default` is used if `dtype` is None and neither value is a NumPy scalar or a 0-D array.
    """
    if type(on_value) is int and type(off_value) is int:
        chosen = default if dtype is None else _numpy_dtype(dtype)
        return _resolve_integers(on_value, off_value, chosen, getattr(chosen, "char", None))
    return _resolve(on_value, off_value, None if dtype is None else _numpy_dtype(dtype), default)


def _numpy_dtype(dtype: npt.DTypeLike) -> Dtype:
    """Return a dtype, or raise NumPy's error with a hint about ml_dtypes."""
    try:
        return np.dtype(dtype)
    except TypeError as error:
        if isinstance(dtype, str) and dtype.startswith(("bfloat", "float", "int", "uint")):
            raise TypeError(f"{error}; `import ml_dtypes` registers bfloat16 and others") from None
        raise


@lru_cache(maxsize=64)
def _resolve_integers(
    on: int, off: int, dtype: Dtype | None, char: str | None
) -> tuple[Dtype, Element, Element]:
    """Return the cached result of `_resolve` for two Python integers.

    Floats are not cached, because a cache would confuse 0.0 and -0.0. `char` is the letter of the
    dtype. It belongs to the cache key, because the dtypes of long and long long can be equal.
    """
    result = _resolve(on, off, dtype, None)
    for element in result[1:]:
        element.flags.writeable = False
    return result


def _resolve(
    on: object, off: object, dtype: Dtype | None, default: Dtype | None
) -> tuple[Dtype, Element, Element]:
    """Return the dtype of the result, and both values converted to this dtype."""
    arrays = [
        None if dtype is not None and dtype.kind == "O" else typed(value, name)
        for value, name in ((on, "on_value"), (off, "off_value"))
    ]
    if dtype is None:
        dtype = _agreed(*arrays)
        if dtype is None:
            dtype = _plain_dtype(on, off) if default is None else default
        elif default is not None and native(default) == dtype:
            dtype = default  # keeps the byte order
    elif dtype.subdtype is not None:
        raise TypeError(f"dtype must not be a subarray, got {dtype}")
    dtype = _completed(dtype, (on, off), arrays)
    require_bytes(dtype)
    return dtype, as_element(on, dtype, "on_value"), as_element(off, dtype, "off_value")


def smoothed_values(
    smoothing: object, depth: int, dtype: Dtype, on_value: object, off_value: object
) -> tuple[Element, Element]:
    """Return the two elements that replace 1 and 0 after label smoothing."""
    if isinstance(smoothing, bool) or not isinstance(smoothing, int | float | np.floating):
        raise TypeError(f"label_smoothing must be a float, got {shown(smoothing)}")
    share = float(smoothing)
    if not 0 <= share < 1:
        raise ValueError(f"label_smoothing must be in [0, 1), got {smoothing!r}")
    if (type(on_value), on_value, type(off_value), off_value) != (int, 1, int, 0):
        raise TypeError("label_smoothing cannot be combined with on_value or off_value")
    if share and float(np.array(0.5).astype(dtype)) != 0.5:
        raise TypeError(f"label_smoothing needs a float dtype, got {dtype}")
    low = share / max(depth, 1)
    values = (1 - share + low, low) if share else (1, 0)
    return as_element(values[0], dtype, "on_value"), as_element(values[1], dtype, "off_value")


def require_bytes(dtype: Dtype) -> None:
    """Raise an error for a dtype whose elements have 0 bytes, e.g. a structure without fields."""
    if dtype.itemsize == 0:
        raise ValueError(f"dtype must have elements of 1 byte or more, got {dtype} with 0 bytes")


def _agreed(on: Element | None, off: Element | None) -> Dtype | None:
    """Return the common dtype of the arrays that are not None, or None if both are None."""
    if on is None or off is None:
        only = off if on is None else on
        return None if only is None else _open(only.dtype)
    if not agree(on.dtype, off.dtype):
        raise TypeError(
            f"on_value and off_value must have the same dtype, got {on.dtype} and {off.dtype}:"
            " convert one of them, because this library does not promote dtypes"
        )
    return _open(off.dtype if is_unitless(on.dtype) else on.dtype)


def _open(dtype: Dtype) -> Dtype:
    """Return the dtype in native byte order, and without the width of strings and bytes."""
    return np.dtype(dtype.kind) if dtype.kind in "SU" else native(dtype)


def _plain_dtype(on: object, off: object) -> Dtype:
    """Return the dtype of two plain Python values."""
    low, high = sorted(
        next((i for i, (types, _) in enumerate(PLAIN_DTYPES) if isinstance(value, types)), 9)
        for value in (on, off)
    )
    if high < N_PLAIN_NUMBERS or low == high < len(PLAIN_DTYPES):
        return np.dtype(PLAIN_DTYPES[high][1])
    raise TypeError(
        f"on_value = {shown(on)} and off_value = {shown(off)} do not determine a dtype: pass dtype="
        " (dtype=object accepts all Python objects)"
    )


def _completed(dtype: Dtype, values: tuple[object, object], arrays: list[Element | None]) -> Dtype:
    """Return `dtype`, after filling in a missing width or unit of time from the values."""
    if is_unitless(dtype):
        return _with_unit(dtype, values, arrays)
    if dtype.itemsize == 0 and dtype.kind in "SUV" and dtype.names is None:
        width = max(map(_width, values, arrays))
        return np.dtype(f"{dtype.byteorder}{dtype.kind}{max(width, 1)}")
    return dtype


def _width(value: object, array: Element | None) -> int:
    """Return the length of a string or of bytes, or 0 for other values."""
    if isinstance(value, str | bytes | bytearray):
        return len(value)
    if array is None or array.dtype.kind not in "SUV":
        return 0
    return array.dtype.itemsize // np.dtype(f"{array.dtype.kind}1").itemsize


def _with_unit(dtype: Dtype, values: tuple[object, object], arrays: list[Element | None]) -> Dtype:
    """Return a time dtype with the unit of the first array that has one, or an inferred unit."""
    for array in arrays:
        if array is not None and array.dtype.kind == dtype.kind and not is_unitless(array.dtype):
            return native(array.dtype)
    try:
        return np.array(values, dtype=dtype).dtype
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"dtype must have a unit, for example {dtype}[s], got {dtype} for the values {values!r}"
        ) from error


def as_element(value: object, dtype: Dtype, name: str) -> Element:
    """Return a copy of the value as a 0-D array of `dtype`, whose padding bytes are zeros."""
    if dtype.kind == "O" and not isinstance(value, np.ndarray):
        element = np.empty((), dtype=dtype)
        element[()] = value  # store the object itself, even a sequence or a NumPy scalar
        return element
    array = typed(value, name)
    element = _convert(value, dtype, name) if array is None else _copied(array, dtype, name)
    clear_padding(element)
    return element


def significant_bytes(cells: Element) -> npt.NDArray[np.uint8] | None:
    """Return the bytes of extended floats without padding, or None for other dtypes.

    x86 stores its 80-bit float in 12 or 16 bytes, and all but ten of them are padding. The shape of
    the result is (*cells.shape, n_parts, 10). A complex number has two parts, a real number one.
    """
    # Not by the type character, which other packages use for their own dtypes.
    is_extended = cells.dtype.type in (np.longdouble, np.clongdouble)
    if not is_extended or np.finfo(np.longdouble).nmant != BITS_OF_X87:
        return None
    size = np.dtype(np.longdouble).itemsize
    raw = np.ascontiguousarray(cells).reshape(-1).view(np.uint8)
    raw = raw.reshape(*cells.shape, cells.itemsize // size, size)
    return raw[..., :10] if cells.dtype.isnative else raw[..., size - 10 :]


def clear_padding(cells: Element) -> None:
    """Set the padding bytes of extended floats to 0, also in the fields of structures."""
    if cells.dtype.names is not None:
        for field in cells.dtype.names:
            clear_padding(cells[field])
        return
    clean = np.zeros(cells.shape, cells.dtype)
    given, counted = significant_bytes(cells), significant_bytes(clean)
    if given is not None and counted is not None:
        counted[...] = given
        raw = np.dtype(f"V{cells.dtype.itemsize}")
        cells.view(raw)[...] = clean.view(raw)


def _copied(array: Element, dtype: Dtype, name: str) -> Element:
    """Return a copy of a typed value, whose padding bytes are arbitrary."""
    if not agree(array.dtype, dtype):
        raise TypeError(
            f"{name} must have dtype {dtype}, got {array.dtype}: convert it, because this library"
            " does not promote dtypes"
        )
    if dtype.kind in "SU":
        require_width(array.item(), dtype, name)
    # Start with zeros: the copy skips padding, which must not expose old bytes of the heap.
    element = np.zeros((), dtype=dtype)
    element[...] = array
    return element


def typed(value: object, name: str) -> Element | None:
    """Return a NumPy scalar or 0-D array as a 0-D array; return None for a plain value."""
    if isinstance(value, np.generic):
        return np.asarray(value)
    if not isinstance(value, np.ndarray) and not hasattr(value, "__array__"):
        return None
    array = as_array(value, name)
    if array.ndim:
        raise ValueError(f"{name} must be a scalar or a 0-D array, got shape {array.shape}")
    return array


def agree(one: Dtype, other: Dtype) -> bool:
    """Tell whether an array of one dtype can store a value of the other without conversion."""
    if one.kind != other.kind:
        return False
    # Strings may have different widths; NaT and durations without a unit fit every unit.
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
    """Return the error for a value that the dtype cannot represent."""
    return ValueError(f"{name} = {shown(value)} does not fit dtype {dtype}")


def _is_finite(number: float) -> bool:
    """Tell whether a number is finite, which is true of every int."""
    return isinstance(number, int) or math.isfinite(number)


def _to_integer(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a number to an integer or Boolean dtype that can represent it exactly."""
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not (_is_finite(value) and low <= int(value) <= high and int(value) == value):
        raise _does_not_fit(value, dtype, name)
    return np.array(int(value), dtype=dtype)


def _to_float(value: Any, dtype: Dtype, name: str) -> Element:
    """Return the nearest real or complex element; raise an error if a finite number overflows."""
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
    """Convert a number to a dtype that another package registers."""
    try:
        number = float(value)
        with np.errstate(all="ignore"):
            element = np.array(value, dtype=dtype)
        stored = float(element)
    except (OverflowError, ValueError):
        raise _does_not_fit(value, dtype, name) from None
    kept = math.isfinite(stored) if math.isfinite(number) else repr(stored) == repr(number)
    if math.isfinite(number) and dtype.itemsize == 1:  # these may saturate or wrap silently
        elements = _all_elements(dtype)
        is_whole = bool((elements % 1 == 0).all())
        kept &= elements[0] <= number <= elements[-1] and (not is_whole or number in elements)
    if not kept:
        raise _does_not_fit(value, dtype, name)
    return element


@lru_cache(maxsize=64)
def _all_elements(dtype: Dtype) -> npt.NDArray[np.float64]:
    """Return the finite numbers that a one-byte dtype can represent, sorted."""
    with np.errstate(all="ignore"):
        numbers = np.arange(256).astype(np.uint8).view(dtype).astype(np.float64)
    return np.unique(numbers[np.isfinite(numbers)])


def _to_time(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a date or duration; raise an error if the dtype's unit would change the value."""
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
    """Convert a str or bytes to a str or bytes dtype; only ASCII can change its type."""
    require_width(value, dtype, name)
    try:
        return np.array(value).astype(dtype)
    except (UnicodeEncodeError, UnicodeDecodeError):
        raise _does_not_fit(value, dtype, name) from None


def require_width(value: str | bytes, dtype: Dtype, name: str) -> None:
    """Raise an error for a str or bytes longer than the elements of a fixed-width dtype."""
    width = dtype.itemsize // np.dtype(f"{dtype.kind}1").itemsize
    if len(value) > width:
        raise ValueError(f"{name} = {shown(value)} does not fit dtype {dtype} of length {width}")


def _to_void(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert bytes to a void dtype, padded with zeros."""
    require_width(value, dtype, name)
    return np.array(bytes(value), dtype=dtype)


def _to_structure(value: Any, dtype: Dtype, name: str) -> Element:
    """Convert a tuple with one value for each field, or a single value for all fields."""
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
    """Fill a field with a value; an array field accepts a list, or one value for all elements."""
    if cells.ndim == 0:
        cells[...] = as_element(value, cells.dtype, name)
        return
    is_list = isinstance(value, list) or (isinstance(value, tuple) and cells.dtype.names is None)
    parts = value if is_list else [value] * len(cells)
    if len(parts) != len(cells):
        raise ValueError(f"{name} must have {len(cells)} values, got {value!r}")
    for i, part in enumerate(parts):
        _fill_field(cells[i, ...], part, f"{name}[{i}]")


# Kind of dtype → converter, accepted types, and their description for messages.
_CONVERTERS: dict[str, tuple[Converter, Any, str]] = {
    "b": (_to_integer, int | float, "True, False, 1 or 0"),
    "i": (_to_integer, int | float, "an integer"),
    "u": (_to_integer, int | float, "an integer"),
    "f": (_to_float, int | float, "a real number"),
    "c": (_to_float, int | float | complex, "a number"),
    "M": (_to_time, int | str | datetime.date | None, "a date, a str, an int or None"),
    "m": (_to_time, int | datetime.timedelta | None, "a timedelta, an int or None"),
    "S": (_to_text, str | bytes, "a str or bytes"),
    "U": (_to_text, str | bytes, "a str or bytes"),
    "T": (lambda value, dtype, _: np.array(value, dtype=dtype), str, "a str"),
    "V": (_to_void, bytes | bytearray, "bytes"),
    "registered": (_to_registered, int | float, "a real number"),
}
