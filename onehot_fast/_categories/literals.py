"""Categories as values of the types that other engines have."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from onehot_fast._categories.keys import Time, key

# The first entry that fits says what a value is; a Boolean is an int, a datetime is a date.
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
)


def literal_kind(value: Any) -> str | None:
    """Return what a category is: "text", "integer", "zoned" etc.; None for other types."""
    kind = next((kind for types, kind in KINDS if isinstance(value, types)), None)
    is_zoned = kind == "instant" and getattr(value, "tzinfo", None) is not None
    return "zoned" if is_zoned else kind


def as_literal(value: Any, kind: str) -> Any:
    """Return the value of a kind that equals a category; None if there is none.

    An instant is an integer: attoseconds since 1970, by its clock or, if "zoned", in UTC.
    The time depends on the length of the category as text only: ``Decimal("1E+999999999")`` is
    never written out.
    """
    if kind in NUMBERS:
        is_number = isinstance(value, Real | Decimal | np.bool_)
        return NUMBERS[kind](value) if is_number else None
    if kind in ("instant", "zoned"):
        if literal_kind(value) != kind:
            return None
        found: Any = key(value)
        return found[1] if found[0] is (Time.ZONED if kind == "zoned" else Time.INSTANT) else None
    return value if literal_kind(value) == kind else None


def _as_integer(value: Any) -> int | None:
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    try:
        # A column of integers holds none beyond the range of float64.
        return int(value) if math.isfinite(value) and value == int(value) else None
    except OverflowError:
        return None


def _as_boolean(value: Any) -> bool | None:
    number = _as_integer(value)
    return bool(number) if number in (0, 1) else None


def _as_float(value: Any) -> float | None:
    """Return a float64 that is exactly a number, 0.0 for -0.0."""
    try:
        number = float(value)
    except OverflowError:
        return None
    return number + 0.0 if number == value else None


def _as_decimal(value: Any) -> Decimal | None:
    if isinstance(value, Decimal):
        return value
    number = _as_integer(value) if isinstance(value, int | np.integer) else _as_float(value)
    return None if number is None else Decimal(number)


NUMBERS: dict[str, Callable[[Any], Any]] = {
    "boolean": _as_boolean,
    "integer": _as_integer,
    "float": _as_float,
    "decimal": _as_decimal,
}
