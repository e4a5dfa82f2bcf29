"""Convert categories and names to JSON and back without changing their types or values.

Strings, integers, Booleans, None and finite floats are plain JSON. Other scalars are objects whose
first key is a tag for the type, such as ``{"date": "2024-02-29"}``.

`to_json` reads what it writes: a value that `from_json` would reject or change raises an error when
the encoder is saved, not when it is needed.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib
import math
import re
import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from onehot_fast._arguments.messages import shown, with_article
from onehot_fast._categories.keys import (
    PANDAS_MISSING,
    MissingName,
    name_key,
    pandas_missing,
    plain,
)

Json = Any
# The maximum length of a number, time or unit: parsing millions of characters could take minutes.
MAX_LETTERS = 5_000
# Tags without a maximum length, because their contents are parsed in linear time.
LINEAR = ("bytes", "tuple", "Interval")
# The maximum depth of a tuple of tuples that is written: Python's own limit depends on the caller.
MAX_DEPTH = 50
# An offset with seconds, which pandas cannot read; Python's `fromisoformat` drops microseconds that
# follow zero seconds.
LONG_OFFSET = re.compile(r"(.+)([+-])(\d\d):(\d\d):(\d\d)(?:\.(\d{6}))?")
# A subclass of these types is written as its base if both have the same text, e.g. a StrEnum.
BASES = (str, bytes, int, float, complex, Decimal, Fraction)

# tag → (exact type, function from value to JSON, function from JSON to value).
EXACT: dict[str, tuple[type, Callable[[Any], Json], Callable[[Any], Any]]] = {
    "float": (float, repr, float),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "complex": (complex, repr, complex),
    "decimal": (Decimal, str, Decimal),
    "fraction": (Fraction, str, lambda text: _read_fraction(text)),
    "date": (datetime.date, str, datetime.date.fromisoformat),
    "uuid": (uuid.UUID, str, uuid.UUID),
    "float16": (np.float16, lambda v: repr(float(v)), np.float16),
    "float32": (np.float32, lambda v: repr(float(v)), lambda text: np.float32(float(text))),
    "longdouble": (np.longdouble, str, np.longdouble),
    "complex64": (np.complex64, lambda v: repr(complex(v)), lambda t: np.complex64(complex(t))),
}


TAG_OF = {kind: tag for tag, (kind, _, _) in EXACT.items()}


def _read_fraction(text: str) -> Fraction:
    """Parse a fraction such as "1/3"; reject exponents, which could need too much memory."""
    if not re.fullmatch(r"-?[0-9]+(/[0-9]+)?", text):
        raise ValueError(f"a fraction must have the form '1/3', got {shown(text)}")
    return Fraction(text)


def to_json(value: Any, depth: int = 0) -> Json:
    """Return the JSON form of a scalar; raise an error if `from_json` could not restore it.

    `depth` is the number of tuples around the scalar.
    """
    if value is None or type(value) in (str, int, bool):
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) in TAG_OF:
        tag = TAG_OF[type(value)]
        source = {tag: EXACT[tag][1](value)}
        _check_lengths(source)
        return source
    if (as_plain := _plain_subclass(plain(value))) is not value:
        return to_json(as_plain, depth)
    if type(value) is tuple:
        if depth == MAX_DEPTH:
            raise ValueError(f"a tuple must have at most {MAX_DEPTH} levels in JSON")
        return {"tuple": [to_json(item, depth + 1) for item in value]}
    reason = "reading its JSON form would change it"
    for source in _forms(value):
        try:
            if _is_restored(value, from_json(source)):
                return source
        except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as error:
            reason = str(error)
    raise ValueError(f"{shown(value)} is {with_article(value)} that cannot be saved: {reason}")


def _plain_subclass(value: Any) -> Any:
    """Return an instance of a subclass as its base type, if it equals the base in value and text.

    This holds for members of a StrEnum or an IntEnum, but not for those of ``class A(str, Enum)``,
    whose text is "A.name".
    """
    kind: Any = type(value)
    base: Any = next((each for each in BASES if isinstance(value, each)), kind)
    if base is kind or isinstance(value, np.generic):
        return value
    as_base = base.__new__(base, value)
    is_same = (value == as_base) is True and hash(value) == hash(as_base)
    return as_base if is_same and (str(value), f"{value}") == (str(as_base),) * 2 else value


def _forms(value: Any) -> Iterator[Json]:
    """Yield the JSON forms of a value, the most readable first; raise TypeError if it has none."""
    package = type(value).__module__.partition(".")[0]
    writers = WRITERS.get(f"{package}.{type(value).__name__}", ())
    member = value if isinstance(value, MissingName) else None
    if package == "pandas":
        member = PANDAS_MISSING.get(type(value).__name__)
    if member is not None:
        yield {"missing": member.name}
        return
    if not writers:
        hint = "; use the member's value" if isinstance(value, BASES) else ""
        raise TypeError(
            f"{shown(value)} is {with_article(value)}, which JSON cannot represent{hint}"
        )
    for write_object in writers:
        try:
            yield write_object(value)
        except (ArithmeticError, ValueError):  # the library has no text for it, e.g. the year -5
            continue


def _is_restored(value: Any, restored: Any) -> bool:
    """Tell whether a value was restored with its type, text and time zone."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        is_same = value.dtype == restored.dtype and value.tobytes() == restored.tobytes()
        return bool(is_same)
    if isinstance(name_key(value), MissingName):
        return name_key(value) is name_key(restored)
    if type(value) is not type(restored):
        return False
    if isinstance(value, datetime.datetime | datetime.time) and (
        value.fold != restored.fold or _zone_name(value) != _zone_name(restored)
    ):
        return False
    unit, other_unit = (getattr(each, "unit", None) for each in (value, restored))
    is_same_text = str(value) == str(restored) and unit == other_unit
    return is_same_text and bool(name_key(value) == name_key(restored))


def from_json(source: Json) -> Any:
    """Return the scalar that `to_json` converted to `source`."""
    if isinstance(source, list):
        raise TypeError(f"expected a scalar, got a list: {shown(source)}")
    if not isinstance(source, dict):
        return _same_nan(source)
    tag = next(iter(source), "")
    if tag not in EXACT and tag not in READERS:
        raise ValueError(
            f"the first key must name a type, e.g. 'date', got {shown(tag)} in {shown(source)}"
        )
    _check_lengths(source)
    return _same_nan(EXACT[tag][2](source[tag]) if tag in EXACT else READERS[tag](source))


def _check_lengths(source: dict[str, Json]) -> None:
    """Raise an error if a part of a scalar is too long to be parsed in linear time."""
    for name, part in source.items():
        for text in part if isinstance(part, list) and name not in LINEAR else [part]:
            if name not in LINEAR and isinstance(text, str) and len(text) > MAX_LETTERS:
                raise ValueError(
                    f"{shown(name)} must have at most {MAX_LETTERS:,} characters, got {len(text):,}"
                )


def _same_nan(value: Any) -> Any:
    """Replace a NaN by the object `math.nan`, so that lists of names with NaN compare equal."""
    return math.nan if type(value) is float and value != value else value


# ---- Times ----


def _zone_name(value: datetime.datetime | datetime.time) -> str | datetime.timedelta | None:
    """Return the name of the time zone, or its offset if that is fixed, or None for no zone."""
    zone = value.tzinfo
    if zone is None:
        return None
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    if name is None and (isinstance(zone, datetime.timezone) or zone.utcoffset(None) is not None):
        return zone.utcoffset(None)
    if name is None:
        raise TypeError(f"{shown(value)} has an unnamed time zone, which JSON cannot represent")
    if type(value) is datetime.datetime and not isinstance(zone, ZoneInfo):
        # pytz has other offsets for some times: then, only the offset keeps the instant.
        with contextlib.suppress(LookupError, OSError, ValueError):
            if value.replace(tzinfo=ZoneInfo(name)).utcoffset() != value.utcoffset():
                return value.utcoffset()
    return str(name)


def _zone_to_json(value: datetime.datetime | datetime.time) -> dict[str, str]:
    """Return ``{"zone": name}`` for a named time zone, or {} for no zone or a fixed offset."""
    name = _zone_name(value)
    return {"zone": name} if isinstance(name, str) else {}


def _offset_to_json(value: datetime.datetime | datetime.time) -> Json:
    """Return the zone of a time as the name, as ``[days, seconds, microseconds]``, or None."""
    name = _zone_name(value)
    if isinstance(name, datetime.timedelta):
        return [name.days, name.seconds, name.microseconds]
    return name


def _read_offset(source: Json) -> datetime.tzinfo | None:
    """Return a time zone from the result of `_offset_to_json`."""
    if isinstance(source, list):
        return datetime.timezone(datetime.timedelta(*source))
    return None if source is None else ZoneInfo(source)


def _without_long_offset(text: str) -> tuple[str, datetime.timezone | None]:
    """Return a time without its offset, and the offset, if the offset has seconds."""
    match = LONG_OFFSET.fullmatch(text)
    if match is None:
        return text, None
    hours, minutes, seconds, microseconds = (int(part or 0) for part in match.groups()[2:])
    offset = datetime.timedelta(
        hours=hours, minutes=minutes, seconds=seconds, microseconds=microseconds
    )
    return match[1], datetime.timezone(-offset if match[2] == "-" else offset)


def _datetime_to_json(value: datetime.datetime) -> Json:
    """Return the JSON form of a datetime."""
    fold = {"fold": 1} if value.fold else {}
    offset = value.utcoffset()
    if offset is not None and offset.microseconds:
        # Release 0.1.0 would lose this offset without an error, but it rejects a list.
        local = value.replace(tzinfo=None, fold=0).isoformat()
        return {"datetime": [local, _offset_to_json(value)], **fold}
    return {"datetime": value.isoformat(), **_zone_to_json(value), **fold}


def _read_datetime(source: Json) -> datetime.datetime:
    """Return a datetime from its JSON form."""
    fold = source.get("fold", 0)
    if isinstance(source["datetime"], list):
        text, offset = source["datetime"]
        local = datetime.datetime.fromisoformat(text)
        return local.replace(tzinfo=_read_offset(offset), fold=fold)
    text, long_offset = _without_long_offset(source["datetime"])
    value = datetime.datetime.fromisoformat(text)
    zone = ZoneInfo(source["zone"]) if "zone" in source else long_offset or value.tzinfo
    return value.replace(tzinfo=zone, fold=fold)


def _time_to_json(value: datetime.time) -> Json:
    """Return the JSON form of a time; a list if it has a zone that its text does not contain."""
    is_in_text = value.tzinfo is None or (
        isinstance(value.tzinfo, datetime.timezone) and not value.utcoffset().microseconds  # type: ignore[union-attr]
    )
    if is_in_text and not value.fold:
        return {"time": str(value)}
    local = str(value.replace(tzinfo=None, fold=0))
    return {"time": [local, _offset_to_json(value)], "fold": value.fold}


def _read_time(source: Json) -> datetime.time:
    """Return a time from its JSON form."""
    if isinstance(source["time"], list):
        text, offset = source["time"]
        local = datetime.time.fromisoformat(text)
        return local.replace(tzinfo=_read_offset(offset), fold=source["fold"])
    text, long_offset = _without_long_offset(source["time"])
    value = datetime.time.fromisoformat(text)
    return value if long_offset is None else value.replace(tzinfo=long_offset)


def _unit_name(value: np.datetime64 | np.timedelta64) -> str:
    """Return the unit of a NumPy time, e.g. "D" or "25s"."""
    unit, step = np.datetime_data(value.dtype)
    return unit if step == 1 else f"{step}{unit}"


def _duration_to_json(value: np.timedelta64) -> Json:
    """Return the JSON form of a timedelta64, which includes its unit."""
    count = "NaT" if np.isnat(value) else int(value.astype(np.int64))
    return {"timedelta64": count, "unit": _unit_name(value)}


# ---- Types of pandas ----


def _interval_to_json(value: Any) -> Json:
    """Return the JSON form of a pandas.Interval."""
    ends = [to_json(plain(end)) for end in (value.left, value.right)]
    return {"Interval": ends, "closed": value.closed}


def _pandas() -> Any:
    return importlib.import_module("pandas")


def _count(value: Any) -> int:
    """Return a pandas.Timestamp or Timedelta as a number of its units."""
    return int(value.asm8.astype(np.int64))


def _timestamp_count_to_json(value: Any) -> Json:
    """Return the JSON form of a Timestamp for which pandas reads no text, e.g. in the year -5."""
    return {"Timestamp": [_count(value), _offset_to_json(value)], "unit": value.unit}


def _read_timestamp(source: Json) -> Any:
    pandas, unit = _pandas(), source["unit"]
    if isinstance(source["Timestamp"], list):
        count, offset = source["Timestamp"]
        value = pandas.Timestamp(np.datetime64(count, unit)).as_unit(unit)
        zone = _read_offset(offset)
        return value if zone is None else value.tz_localize("UTC").tz_convert(zone)
    text, long_offset = _without_long_offset(source["Timestamp"])
    value = pandas.Timestamp(text).as_unit(unit)
    if long_offset is not None:
        value = value.tz_localize(long_offset)
    if "zone" not in source:
        return value
    # pandas would convert "UTC" to datetime.timezone.utc, which has no name to serialize again.
    return value.tz_convert(ZoneInfo("UTC") if source["zone"] == "UTC" else source["zone"])


def _read_timedelta(source: Json) -> Any:
    pandas, value, unit = _pandas(), source["Timedelta"], source["unit"]
    if isinstance(value, list):
        value = np.timedelta64(value[0], unit)
    return pandas.Timedelta(value).as_unit(unit)


def _read_period(source: Json) -> Any:
    pandas, value = _pandas(), source["Period"]
    if isinstance(value, list):
        return pandas.Period(ordinal=value[0], freq=source["freq"])
    return pandas.Period(value, source["freq"])


# package and name of the exact type → functions from a value to a JSON object. The first form that
# restores the value is written. The second form has a list, which older releases reject.
WRITERS: dict[str, tuple[Callable[[Any], Json], ...]] = {
    "datetime.datetime": (_datetime_to_json,),
    "datetime.time": (_time_to_json,),
    "datetime.timedelta": (lambda v: {"timedelta": [v.days, v.seconds, v.microseconds]},),
    "numpy.datetime64": (
        lambda v: {"datetime64": str(v), "unit": _unit_name(v)},
        lambda v: {"datetime64": int(v.astype(np.int64)), "unit": _unit_name(v)},
    ),
    "numpy.timedelta64": (_duration_to_json,),
    "numpy.clongdouble": (lambda v: {"clongdouble": [str(v.real), str(v.imag)]},),
    "pandas.Timestamp": (
        lambda v: {"Timestamp": v.isoformat(), "unit": v.unit, **_zone_to_json(v)},
        _timestamp_count_to_json,
    ),
    "pandas.Timedelta": (
        lambda v: {"Timedelta": v.isoformat(), "unit": v.unit},
        lambda v: {"Timedelta": [_count(v)], "unit": v.unit},
    ),
    "pandas.Period": (
        lambda v: {"Period": str(v), "freq": v.freqstr},
        lambda v: {"Period": [v.ordinal], "freq": v.freqstr},
    ),
    "pandas.Interval": (_interval_to_json,),
    # An interval of pyarrow, whose type names no module.
    "builtins.MonthDayNano": (lambda v: {"MonthDayNano": list(v)},),
}
READERS: dict[str, Callable[[Json], Any]] = {
    "datetime": _read_datetime,
    "time": _read_time,
    "timedelta": lambda source: datetime.timedelta(*source["timedelta"]),
    "datetime64": lambda source: np.datetime64(source["datetime64"], source["unit"]),
    "timedelta64": lambda source: np.timedelta64(source["timedelta64"], source["unit"]),
    "clongdouble": lambda source: _read_clongdouble(source["clongdouble"]),
    "tuple": lambda source: tuple(map(from_json, source["tuple"])),
    "missing": lambda source: pandas_missing(source["missing"]),
    "Timestamp": _read_timestamp,
    "Timedelta": _read_timedelta,
    "Period": _read_period,
    "MonthDayNano": lambda source: _read_month_day_nano(source["MonthDayNano"]),
    "Interval": lambda source: _pandas().Interval(
        *map(from_json, source["Interval"]), source["closed"]
    ),
}


def _read_month_day_nano(parts: Json) -> Any:
    """Return an interval of pyarrow, which accepts parts of any type."""
    if not isinstance(parts, list) or not all(
        type(part) is int and abs(part) < 2**63 for part in parts
    ):
        raise ValueError(f"an interval must be three integers of 64 bits, got {shown(parts)}")
    return importlib.import_module("pyarrow").MonthDayNano(parts)


def _read_clongdouble(parts: Json) -> Any:
    """Return a complex number of two numbers of type longdouble, with their signs."""
    value = np.zeros((), np.clongdouble)
    value.real, value.imag = map(np.longdouble, parts)
    return value[()]
