"""Rules for values: which values are missing, which are equal, and how they are sorted.

Values that compare equal are the same category, even if their types differ: 1, 1.0, True and
Decimal(1), or a datetime64 and a datetime of the same instant. A string never equals a number.
Tuples are equal if their items are, where NaN equals NaN.

Names of columns follow the same rule, and may be missing values: `name_key` says which are equal.
"""

from __future__ import annotations

import datetime
import enum
import importlib
from collections.abc import Callable, Collection, Hashable, Iterable
from contextlib import suppress
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from numbers import Number
from typing import Any, cast
from uuid import UUID

import numpy as np
import numpy.typing as npt

ATTOSECONDS = {
    "W": 604800 * 10**18, "D": 86400 * 10**18, "h": 3600 * 10**18, "m": 60 * 10**18,
    "s": 10**18, "ms": 10**15, "us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 10**3, "as": 1,
}  # fmt: skip
EPOCH = datetime.datetime(1970, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)

# Values of these types are their own keys.
PLAIN = frozenset({str, int, float, bytes, bool, complex, Decimal, Fraction, datetime.date, UUID})
# Values of these types are never missing and are their own keys.
NEVER_MISSING = frozenset({str, bytes, int, bool})
# Names of these types equal themselves.
NEVER_NAN = NEVER_MISSING | {type(None)}
# NumPy scalars that Python types can replace; the str of a float32 would change.
NATIVE = (np.bool_, np.integer, np.float64, np.complex128, np.str_, np.bytes_)
# Among equal numbers of several types, the type with the lowest rank is preferred.
TYPE_RANK = {int: 0, float: 1, Fraction: 3, Decimal: 4, complex: 5, bool: 6}


class MissingName(enum.Enum):
    """The missing values that are different names of columns; None is a name too.

    A member is the `name_key` of all names of its kind. NAT and NA also stand for pandas.NaT and
    pandas.NA themselves where pandas is not installed, see `pandas_missing`. They are missing
    values, as `is_missing` says.
    """

    NAN = "nan"  # NaN of any numeric type
    NAT = "NaT"  # pandas.NaT, and NaT of a datetime64 or timedelta64
    NA = "<NA>"  # pandas.NA

    def __repr__(self) -> str:
        """Return the text that pandas shows, which is also part of feature names."""
        return str(self.value)

    __str__ = __repr__

    def __reduce_ex__(self, protocol: object) -> Any:
        """Pickle the name, so that a process with pandas restores the object of pandas."""
        return (
            (getattr, (MissingName, "NAN")) if self is self.NAN else (pandas_missing, (self.name,))
        )


def pandas_missing(name: str) -> Any:
    """Return pandas.NaT or pandas.NA ("NAT" or "NA"), or its `MissingName` without pandas."""
    if name not in ("NAT", "NA"):
        raise ValueError(f"the name must be 'NAT' or 'NA', got {name!r:.40}")
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        return MissingName[name]
    return pandas.NaT if name == "NAT" else pandas.NA


# The types of pandas.NaT and pandas.NA, which are found without importing pandas.
PANDAS_MISSING = {"NaTType": MissingName.NAT, "NAType": MissingName.NA}


class Time(enum.Enum):
    """The kinds of times. Each comment describes the number in a `key` of this kind."""

    INSTANT = enum.auto()  # attoseconds since 1970, without a time zone
    ZONED = enum.auto()  # attoseconds since 1970 in UTC, with a time zone
    DURATION = enum.auto()  # attoseconds
    MONTHS = enum.auto()  # a number of months, whose length in seconds varies
    COUNT = enum.auto()  # a timedelta64 without a unit


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, NaT or pandas.NA."""
    if value is None:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()  # comparing a signaling NaN raises an error
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    try:
        return bool(value != value) or isinstance(value, MissingName)
    except (TypeError, ValueError, RuntimeError):  # pandas.NA, arrays and tensors have no truth
        return type(value).__name__ == "NAType"


def plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python object if `has_plain_type` allows it, else the value."""
    is_scalar = isinstance(value, np.generic)
    return value.item() if is_scalar and has_plain_type(type(value)) else value


def has_plain_type(kind: type) -> bool:
    """Tell whether values of a type compare exactly with Python values; e.g. float32 does not."""
    # In NumPy, timedelta64 is a subclass of the integers.
    is_native = issubclass(kind, NATIVE) and not issubclass(kind, np.timedelta64)
    return is_native or not issubclass(kind, np.generic)


def key(value: Any) -> Hashable:
    """Return a hashable key that is equal for all values of the same category."""
    if type(value) in PLAIN:
        return value  # type: ignore[no-any-return]
    if isinstance(value, np.datetime64 | np.timedelta64):
        return _numpy_time(value)
    if isinstance(value, datetime.datetime | datetime.timedelta) and hasattr(value, "asm8"):
        # A time of pandas, which may have nanoseconds or lie outside the years 1 to 9999.
        kind, count = cast(tuple[Time, int], _numpy_time(value.asm8))
        return Time.ZONED if getattr(value, "tzinfo", None) is not None else kind, count
    if isinstance(value, datetime.datetime):
        offset = value.utcoffset()
        since = value.replace(tzinfo=None) - EPOCH - (offset or datetime.timedelta())
        return Time.INSTANT if offset is None else Time.ZONED, _attoseconds(since)
    if isinstance(value, datetime.timedelta):
        return Time.DURATION, _attoseconds(value)
    if isinstance(value, np.floating):
        return _number_order(value)  # type: ignore[no-any-return]
    if isinstance(value, np.complexfloating):
        parts = _number_order(value.real), _number_order(value.imag)
        if value.imag == 0:
            return parts[0]  # type: ignore[no-any-return]
        return complex(*parts) if {*map(type, parts)} == {float} else parts
    if isinstance(value, tuple) and type(value).__eq__ is tuple.__eq__:  # NaN equals NaN in it
        return tuple(name_key(part) if is_missing(part) else key(plain(part)) for part in value)
    return value  # type: ignore[no-any-return]


def _attoseconds(span: datetime.timedelta) -> int:
    """Return a timedelta in attoseconds."""
    return (span // MICROSECOND) * 10**12


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
    """Return the `key` of each value."""
    items = list(values)
    return items if set(map(type, items)) <= PLAIN else [key(plain(value)) for value in items]


def name_key(name: Hashable) -> Hashable:
    """Return a key that is equal for all names of the same column.

    NaN equals NaN, but neither None nor NaT nor pandas.NA. This also holds inside a tuple.
    """
    kind = type(name)
    if kind in NEVER_NAN or isinstance(name, MissingName):
        return name
    if isinstance(name, tuple):
        return tuple(map(name_key, name))
    if isinstance(name, np.datetime64 | np.timedelta64):
        return MissingName.NAT if np.isnat(name) else name
    if kind.__name__ in PANDAS_MISSING:
        return PANDAS_MISSING[kind.__name__]
    if isinstance(name, complex | np.complexfloating) and is_missing(name):
        return MissingName.NAN, name_key(name.real), name_key(name.imag)
    return MissingName.NAN if isinstance(name, Number) and is_missing(name) else name


def name_keys(names: Collection[Hashable]) -> list[Hashable]:
    """Return the `name_key` of each name of a column."""
    return [*names] if set(map(type, names)) <= NEVER_NAN else [*map(name_key, names)]


def preferred_by_key(keys: Iterable[Hashable], values: Iterable[Any]) -> dict[Hashable, Any]:
    """Return a dict from each key to the preferred value with this key."""
    found: dict[Hashable, Any] = {}
    for its_key, value in zip(keys, values, strict=True):
        other = found.setdefault(its_key, value)
        if other is not value and type(other) is not str:
            found[its_key] = min(other, value, key=_preference)
    return found


def _preference(value: Any) -> tuple[Any, ...]:
    """Return a sort key that puts the preferred one of equal values first, e.g. 1 before 1.0."""
    value = plain(value)
    rank = TYPE_RANK.get(type(value), 2)
    is_negative = isinstance(value, float | np.floating) and bool(np.signbit(value))
    return rank, type(value).__name__, is_negative, repr(value)


def in_order(values: Iterable[Any]) -> list[Any]:
    """Return the sorted values; the result does not depend on the input order.

    The order is numbers, strings, bytes, datetimes, dates, durations and complex numbers. Values of
    other types follow, sorted by the name of their type.
    """
    items = list(values)
    group_of = {kind: _group_of(kind) for kind in set(map(type, items))}
    groups: dict[tuple[int, str], list[Any]] = {}
    for item in items:
        groups.setdefault(group_of[type(item)], []).append(item)
    return [item for group in sorted(groups) for item in _sorted_group(group[0], groups[group])]


def _group_of(kind: type) -> tuple[int, str]:
    """Return the number of the group of a type in `KINDS`, and the type's name for other types."""
    number = next((i for i, (types, _) in enumerate(KINDS) if issubclass(kind, types)), len(KINDS))
    return number, f"{kind.__module__}.{kind.__qualname__}" if number == len(KINDS) else ""


# Groups of types in sort order: the types, and the function that returns the sort key of a value.
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
    """Return the Python number that equals `value`, because some NumPy floats compare inexactly.

    A Decimal is unchanged, because 1E+999999999 as an integer would have a billion digits.
    """
    if not isinstance(value, np.floating) or isinstance(value, float):
        return value
    double = float(value)
    is_exact = type(value)(double) == value or value != value
    return double if is_exact else Fraction(*value.as_integer_ratio())


def _time_order(parts: Any) -> tuple[int, int]:
    """Return the sort key of a time whose `key` is `parts`; times without a zone come first."""
    return parts[0].value, parts[1]


def _sorted_group(kind: int, values: list[Any]) -> list[Any]:
    """Return the sorted values of group `kind`; sort by `repr` if values cannot be compared."""
    with localcontext(Context(traps=[])):  # to compare a NaN must not raise an error
        if kind < len(KINDS):
            return sorted(values, key=KINDS[kind][1])
        if set(map(type, values)) == {UUID}:  # the same order as below, in a fraction of the time
            return sorted(values, key=lambda value: value.int)
        values = sorted(values, key=repr)  # breaks ties if the order is partial, as for sets
        try:
            return sorted(values)
        except TypeError:
            return values


def text_label(value: Any) -> str:
    """Return a category as text for feature names, e.g. only the date of a datetime at midnight.

    Equal times have the same label, even if their units or types differ.
    """
    if isinstance(value, datetime.timedelta | np.timedelta64):
        kind, attoseconds = cast(tuple[Time, int], key(value))
        if kind is Time.DURATION and attoseconds % 10**12 == 0:
            with suppress(OverflowError):
                return str(datetime.timedelta(microseconds=attoseconds // 10**12))
        return str(getattr(value, "asm8", value))
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        # asm8 has the nanoseconds of pandas types.
        value = np.datetime64(getattr(value, "asm8", value))
    if not isinstance(value, np.datetime64):
        return str(value)
    unit = np.datetime_data(value.dtype)[0]
    date, _, clock = str(value.astype("M8[s]") if unit in ("h", "m") else value).partition("T")
    clock = clock.rstrip("0").rstrip(".") if "." in clock else clock
    return f"{date}T{clock}" if clock.strip("0:") else date


def as_array(values: Iterable[Any]) -> np.ndarray[Any, np.dtype[Any]]:
    """Return an array of values. Its dtype is object if another dtype would change their types."""
    items = list(values)
    kinds = set(map(type, items))
    if len(kinds) == 1 and issubclass(next(iter(kinds)), bool | float | complex | np.generic):
        native: np.ndarray[Any, np.dtype[Any]] = np.array(items)
        return native
    if items and all(type(item) is int and -(2**63) <= item < 2**63 for item in items):
        return np.array(items, np.int64)
    return as_objects(items)


def as_objects(items: list[Any]) -> npt.NDArray[np.object_]:
    """Return an array of dtype object with the items of a list."""
    return np.fromiter(items, object, len(items))


def positive_zero(value: Any) -> Any:
    """Return 0.0 if the value is -0.0, else the value itself."""
    is_float = isinstance(value, float | np.floating)
    return abs(value) if is_float and value == 0 else value
