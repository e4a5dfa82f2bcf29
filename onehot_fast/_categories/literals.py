"""Convert categories to literals for the column types of other engines."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from numbers import Real
from typing import Any
from uuid import UUID

import numpy as np

from onehot_fast._categories.keys import Time, key

# The first match is the kind of a value, because bool is a subclass of int, datetime of date.
KINDS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str,), "text"),
    ((bytes,), "bytes"),
    ((bool, np.bool_), "boolean"),
    ((np.timedelta64, datetime.timedelta), "duration"),
    ((int, np.integer), "integer"),
    ((float, np.floating), "float"),
    ((Decimal,), "decimal"),
    ((np.datetime64, datetime.datetime), "instant"),
    ((datetime.date,), "date"),
    ((datetime.time,), "time"),
    ((UUID,), "uuid"),
)
TIMES = {"instant": Time.INSTANT, "zoned": Time.ZONED, "duration": Time.DURATION}
SIZED = re.compile(r"(int|uint|float|decimal)([0-9]+)")
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def literal_kind(value: Any) -> str | None:
    """Return the kind of a category, e.g. "text" or "zoned" (a time with a time zone), or None."""
    kind = next((kind for types, kind in KINDS if isinstance(value, types)), None)
    is_zoned = kind == "instant" and getattr(value, "tzinfo", None) is not None
    return "zoned" if is_zoned else kind


def as_literal(value: Any, kind: str) -> Any:
    """Return the value of kind `kind` that equals a category, or None if no value does.

    Parameters
    ----------
    value : object
        A category.
    kind : str
        A result of `literal_kind`, or a numeric type with its size, such as "uint8", "float32" or
        "decimal38" (38 digits).

    Returns
    -------
    object or None
        A "duration" is an int of attoseconds. An "instant" (local time) or "zoned" (UTC) is an int
        of attoseconds since 1970. A decimal has no trailing zeros. Even ``Decimal("1E+999999999")``
        is fast, because it is never expanded to its digits.
    """
    sized = SIZED.fullmatch(kind)
    if sized or kind in NUMBERS:
        # In NumPy, timedelta64 is a subclass of the integers.
        if isinstance(value, np.timedelta64) or not isinstance(value, Real | Decimal | np.bool_):
            return None
        return _as_sized(value, sized[1], int(sized[2])) if sized else NUMBERS[kind](value)
    if literal_kind(value) != kind:
        return None
    if kind not in TIMES:
        return value
    found: Any = key(value)
    return found[1] if found[0] is TIMES[kind] else None


def _as_integer(value: Any) -> int | None:
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    try:
        # No integer column can hold an integer outside the range of float64.
        return int(value) if math.isfinite(value) and value == int(value) else None
    except OverflowError:
        return None


def _as_float(value: Any) -> float | None:
    """Return the float64 that equals a number, or None if none does; -0.0 becomes 0.0."""
    try:
        number = float(value)
    except OverflowError:
        return None
    return number + 0.0 if number == value else None


def _as_decimal(value: Any) -> Decimal | None:
    if not isinstance(value, Decimal):
        is_whole = isinstance(value, int | np.integer | np.bool_)
        number = int(value) if is_whole else _as_float(value)
        if number is None:
            return None
        value = Decimal(number)
    return EXACT.normalize(value)


def _as_sized(value: Any, name: str, size: int) -> int | float | Decimal | None:
    """Return a number for a type with `size` bits or decimal digits, or None if it does not fit."""
    if name == "float":
        double = _as_float(value)
        with np.errstate(over="ignore"):
            # Compare Python floats, because NumPy would round `double` for the comparison.
            is_held = double is not None and float(np.dtype(f"float{size}").type(double)) == double
        return double if is_held else None
    if name == "decimal":
        decimal = _as_decimal(value)
        if decimal is None or not decimal.is_finite():
            return None
        scale = max(0, -int(decimal.as_tuple().exponent))
        return decimal if scale <= size and decimal.adjusted() + 1 + scale <= size else None
    number = _as_integer(value)
    low, high = (-(2 ** (size - 1)), 2 ** (size - 1)) if name == "int" else (0, 2**size)
    return number if number is not None and low <= number < high else None


BOOLEANS: dict[int | None, bool] = {0: False, 1: True}
NUMBERS: dict[str, Callable[[Any], Any]] = {
    "boolean": lambda value: BOOLEANS.get(_as_integer(value)),
    "integer": _as_integer,
    "float": _as_float,
    "decimal": _as_decimal,
}
