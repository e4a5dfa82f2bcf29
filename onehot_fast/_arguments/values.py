"""Conversion of on_value, off_value and dtype to two elements of one dtype.

A value is *typed* if it has a dtype (a NumPy scalar or a 0-D array): its dtype is binding and its
bits are copied. Every other value is a plain Python value. It is converted to the dtype of the
result; a float may be rounded, every other change is an error.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import shown
from onehot_fast._arguments.elements import agree, as_element, is_unitless, native, typed

Dtype: TypeAlias = np.dtype[Any]
Element: TypeAlias = npt.NDArray[Any]


def resolve_values(
    on_value: object,
    off_value: object,
    dtype: npt.DTypeLike | None = None,
    default: Dtype | None = None,
) -> tuple[Dtype, Element, Element]:
    """Return the dtype of the result and its two elements as 0-D arrays of that dtype.

    `default` is used if neither `dtype` nor a typed value determines the dtype.
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
    """Cache the elements of two Python integers; floats would confuse 0.0 and -0.0.

    `char` distinguishes the equal dtypes of two C types, such as long and long long.
    """
    result = _resolve(on, off, dtype, None)
    for element in result[1:]:
        element.flags.writeable = False
    return result


def _resolve(
    on: object, off: object, dtype: Dtype | None, default: Dtype | None
) -> tuple[Dtype, Element, Element]:
    """Determine the dtype, then convert both values to it."""
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
    """Return the two elements of smoothed labels, instead of 1 and 0."""
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
    """Raise an error for a dtype whose elements are empty, such as a structure without fields."""
    if dtype.itemsize == 0:
        raise ValueError(f"dtype must have elements of 1 byte or more, got {dtype} with 0 bytes")


def _agreed(on: Element | None, off: Element | None) -> Dtype | None:
    """Return the dtype of the typed values, or None if there is none."""
    if on is None or off is None:
        only = off if on is None else on
        return None if only is None else _open(only.dtype)
    if not agree(on.dtype, off.dtype):
        raise TypeError(
            "on_value and off_value must have the same dtype, because typed values are never"
            f" promoted, got {on.dtype} and {off.dtype}"
        )
    return _open(off.dtype if is_unitless(on.dtype) else on.dtype)


def _open(dtype: Dtype) -> Dtype:
    """Return the dtype in native byte order, without the width of texts."""
    return np.dtype(dtype.kind) if dtype.kind in "SU" else native(dtype)


def _plain_dtype(on: object, off: object) -> Dtype:
    """Return the dtype of two plain Python values."""
    families = {_family(on), _family(off)}
    if families == {"bool"}:
        return np.dtype(np.bool_)
    if families <= {"bool", "real"}:
        return np.dtype(np.float32)
    if families <= {"bool", "real", "complex"}:
        return np.dtype(np.complex128)
    if families in ({"str"}, {"bytes"}):
        return np.dtype("U" if families == {"str"} else "S")
    raise TypeError(
        f"on_value = {shown(on)} and off_value = {shown(off)} do not determine a dtype: pass dtype="
        " (dtype=object accepts all Python objects)"
    )


def _family(value: object) -> str:
    """Return the family of a plain Python value, e.g. "str", which decides the default dtype."""
    families = (
        (bool, "bool"),
        ((int, float), "real"),
        (complex, "complex"),
        (str, "str"),
        (bytes, "bytes"),
    )
    return next((family for kind, family in families if isinstance(value, kind)), "other")


def _completed(dtype: Dtype, values: tuple[object, object], arrays: list[Element | None]) -> Dtype:
    """Return the dtype; if it lacks a width or unit, take it from the values."""
    if is_unitless(dtype):
        return _with_unit(dtype, values, arrays)
    if dtype.itemsize == 0 and dtype.kind in "SUV" and dtype.names is None:
        width = max(map(_width, values, arrays))
        return np.dtype(f"{dtype.byteorder}{dtype.kind}{max(width, 1)}")
    return dtype


def _width(value: object, array: Element | None) -> int:
    """Return the length of a text or of raw bytes, 0 for other values."""
    if isinstance(value, str | bytes | bytearray):
        return len(value)
    if array is None or array.dtype.kind not in "SUV":
        return 0
    return array.dtype.itemsize // np.dtype(f"{array.dtype.kind}1").itemsize


def _with_unit(dtype: Dtype, values: tuple[object, object], arrays: list[Element | None]) -> Dtype:
    """Return the time dtype in the unit of a typed value, or in the unit that NumPy chooses."""
    for array in arrays:
        if array is not None and array.dtype.kind == dtype.kind and not is_unitless(array.dtype):
            return native(array.dtype)
    try:
        return np.array(values, dtype=dtype).dtype
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"dtype must have a unit, for example {dtype}[s], got {dtype} and values {values!r}"
        ) from error
