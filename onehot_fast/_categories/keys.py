"""Rules for single values: which are missing, which are equal, and their order.

Values that compare equal are one category, whatever their types: 1, 1.0, True and Decimal(1); a
datetime64 of any unit and the datetime of the same instant. A text never equals a number.
"""

from __future__ import annotations

import datetime
import enum
import math
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

ATTOSECONDS = {
    "W": 604800 * 10**18, "D": 86400 * 10**18, "h": 3600 * 10**18, "m": 60 * 10**18,
    "s": 10**18, "ms": 10**15, "us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 10**3, "as": 1,
}  # fmt: skip
EPOCH = datetime.datetime(1970, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)

# A value of these types is its own key; bool and int before the others, being the most common.
PLAIN = frozenset({str, int, float, bytes, bool, complex, Decimal, Fraction, datetime.date})
# NumPy scalars that convert to Python without a change; narrower floats print differently.
NATIVE = (np.bool_, np.integer, np.float64, np.complex128, np.str_, np.bytes_)
# Among equal numbers, the one with the type of the lowest rank is used.
TYPE_RANK = {int: 0, float: 1, Fraction: 3, Decimal: 4, complex: 5, bool: 6}


class Time(enum.Enum):
    """The unit of the number in the key of a time."""

    INSTANT = enum.auto()  # attoseconds since 1970, on a clock without a zone
    ZONED = enum.auto()  # attoseconds since 1970 in UTC
    DURATION = enum.auto()  # attoseconds
    MONTHS = enum.auto()  # without a length in seconds
    COUNT = enum.auto()  # a timedelta64 without a unit


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, NaT or pandas.NA."""
    if value is None:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()  # a signaling one cannot even be compared
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value, and neither has an array
        return type(value).__name__ == "NAType"


def plain(value: Any) -> Any:
    """Return a NumPy scalar as the equal Python object, if there is one."""
    is_scalar = isinstance(value, np.generic)
    return value.item() if is_scalar and has_plain_type(type(value)) else value


def has_plain_type(kind: type) -> bool:
    """Tell whether Python compares values of a type exactly, unlike some NumPy scalars."""
    # NumPy counts the timedelta64 among the integers.
    is_native = issubclass(kind, NATIVE) and not issubclass(kind, np.timedelta64)
    return is_native or not issubclass(kind, np.generic)


def key(value: Any) -> Hashable:
    """Return a key that is equal, with an equal hash, for values of the same category."""
    if type(value) in PLAIN:
        return value  # type: ignore[no-any-return]
    if isinstance(value, np.datetime64 | np.timedelta64):
        return _numpy_time(value)
    if isinstance(value, datetime.datetime):
        offset = value.utcoffset()
        since = value.replace(tzinfo=None) - EPOCH - (offset or datetime.timedelta())
        zone = Time.INSTANT if offset is None else Time.ZONED
        return zone, _attoseconds(since, getattr(value, "nanosecond", 0))
    if isinstance(value, datetime.timedelta):
        return Time.DURATION, _attoseconds(value, getattr(value, "nanoseconds", 0))
    if isinstance(value, np.floating):
        return _number_order(value)  # type: ignore[no-any-return]
    if isinstance(value, np.complexfloating):
        return _number_order(value.real) if value.imag == 0 else _complex_key(value)
    return value  # type: ignore[no-any-return]


def _complex_key(value: Any) -> Hashable:
    """Return the Python complex that equals a NumPy complex number, or its two parts."""
    parts = _number_order(value.real), _number_order(value.imag)
    return complex(*parts) if {*map(type, parts)} == {float} else parts


def _attoseconds(span: datetime.timedelta, nanoseconds: int) -> int:
    """Return an exact length; pandas types have nanoseconds in addition."""
    whole = datetime.timedelta(span.days, span.seconds, span.microseconds)
    return (whole // MICROSECOND) * 10**12 + nanoseconds * 10**9


def _numpy_time(value: Any) -> Hashable:
    """Return the key of a datetime64 or timedelta64 of any unit."""
    unit, step = np.datetime_data(value.dtype)
    count = int(value.astype(np.int64)) * step
    is_instant = isinstance(value, np.datetime64)
    if unit in ("Y", "M"):
        if not is_instant:
            return Time.MONTHS, count * (12 if unit == "Y" else 1)
        count, unit = int(value.astype("M8[D]").astype(np.int64)), "D"
    if unit == "generic":
        return Time.COUNT, count
    return Time.INSTANT if is_instant else Time.DURATION, count * ATTOSECONDS[unit]


def keys(values: Iterable[Any]) -> list[Hashable]:
    """Return the keys of many values."""
    items = list(values)
    return items if set(map(type, items)) <= PLAIN else [key(plain(value)) for value in items]


def preferred(one: Any, other: Any) -> Any:
    """Return one of two equal values, independent of their order."""
    return one if type(one) is str else min(one, other, key=_preference)


def preferred_by_key(keys: Iterable[Hashable], values: Iterable[Any]) -> dict[Hashable, Any]:
    """Return the preferred one of the values of each key, in the order in which the keys appear."""
    found: dict[Hashable, Any] = {}
    for its_key, value in zip(keys, values, strict=True):
        found[its_key] = preferred(found[its_key], value) if its_key in found else value
    return found


def _preference(value: Any) -> tuple[Any, ...]:
    """Rank a value among equal ones: by type, and 0.0 before -0.0."""
    value = plain(value)
    rank = TYPE_RANK.get(type(value), 2)
    is_negative = isinstance(value, float | np.floating) and bool(np.signbit(value))
    return rank, type(value).__name__, is_negative, repr(value)


def in_order(values: Iterable[Any]) -> list[Any]:
    """Return the values sorted, independent of their order.

    The order is numbers, texts, bytes, dates, times and durations, then values of other types by
    the name of their type.
    """
    items = list(values)
    if len(set(map(type, items))) <= 1 and (not items or type(items[0]) in (str, int, bytes)):
        return sorted(items)
    groups: dict[tuple[int, str], list[Any]] = {}
    for item in items:
        groups.setdefault(_group(item), []).append(item)
    return [item for group in sorted(groups) for item in _sorted_group(group[0], groups[group])]


# The kinds in their order, with the sort keys of their values.
KINDS: tuple[tuple[tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((bool, int, float, np.floating, Fraction, Decimal), lambda value: _number_order(value)),
    ((str,), str),
    ((bytes,), bytes),
    ((datetime.datetime, np.datetime64), lambda value: _time_order(key(value))),
    ((datetime.date,), lambda value: value),
    ((datetime.timedelta, np.timedelta64), lambda value: _time_order(key(value))),
    (
        (complex, np.complexfloating),
        lambda value: (_number_order(value.real), _number_order(value.imag)),
    ),
)


def _number_order(value: Any) -> Any:
    """Return an equal number of a Python type, because NumPy scalars do not compare exactly.

    A Decimal is unchanged: 1E+999999999 as an integer would have a billion digits.
    """
    if not isinstance(value, np.floating) or isinstance(value, float):
        return value
    double = float(value)
    is_exact = type(value)(double) == value or value != value
    return double if is_exact else Fraction(*value.as_integer_ratio())


def _time_order(parts: Any) -> tuple[int, int]:
    """Return the sort key of a time: instants with a zone follow those without."""
    return parts[0].value, parts[1]


def _group(value: Any) -> tuple[int, str]:
    """Return the kind of a value, and the name of its type if that has no kind."""
    for i, (types, _) in enumerate(KINDS):
        if isinstance(value, types):
            return i, ""
    return len(KINDS), f"{type(value).__module__}.{type(value).__qualname__}"


def _sorted_group(kind: int, values: list[Any]) -> list[Any]:
    """Sort the values of one kind, or by their text if they have no order."""
    if kind < len(KINDS):
        with localcontext(Context(traps=[])):  # the context of the caller may raise errors
            return sorted(values, key=KINDS[kind][1])
    values = sorted(values, key=repr)  # used by partial orders, such as that of sets
    try:
        return sorted(values)
    except TypeError:
        return values


def text_label(value: Any) -> str:
    """Return a category as it appears in the name of its column; a time as short as possible.

    Equal times have the same label, whatever their unit and type.
    """
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return _duration_label(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        value = np.datetime64(
            getattr(value, "asm8", value)
        )  # asm8 has the nanoseconds of pandas types
    if not isinstance(value, np.datetime64):
        return str(value)
    unit = np.datetime_data(value.dtype)[0]
    date, _, clock = str(value.astype("M8[s]") if unit in ("h", "m") else value).partition("T")
    clock = clock.rstrip("0").rstrip(".") if "." in clock else clock
    return f"{date}T{clock}" if clock.strip("0:") else date


def _duration_label(value: datetime.timedelta | np.timedelta64) -> str:
    """Return a duration as text of Python, or of NumPy if Python has no such duration."""
    kind, attoseconds = cast(tuple[Time, int], key(value))
    if kind is Time.DURATION and attoseconds % 10**12 == 0:
        with suppress(OverflowError):
            return str(datetime.timedelta(microseconds=attoseconds // 10**12))
    return str(getattr(value, "asm8", value))  # asm8 has the nanoseconds of pandas types


def as_array(values: Iterable[Any]) -> np.ndarray[Any, np.dtype[Any]]:
    """Return categories as an array, of dtype object if NumPy has no dtype for all of them."""
    items = list(values)
    kinds = set(map(type, items))
    if len(kinds) == 1 and issubclass(next(iter(kinds)), bool | float | complex | np.generic):
        native: np.ndarray[Any, np.dtype[Any]] = np.array(items)
        return native
    if items and all(type(item) is int and -(2**63) <= item < 2**63 for item in items):
        return np.array(items, np.int64)
    return as_objects(items)


def as_objects(items: list[Any]) -> npt.NDArray[np.object_]:
    """Return a list as an array of the same objects."""
    array: npt.NDArray[np.object_] = np.empty(len(items), object)
    array[:] = items
    return array


def positive_zero(value: Any) -> Any:
    """Return 0.0 for -0.0, which are one category unless it was declared."""
    is_float = isinstance(value, float | np.floating)
    return abs(value) if is_float and value == 0 and math.copysign(1, value) < 0 else value
