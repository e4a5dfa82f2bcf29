"""Convert categories to JSON and back without changing their types or values.

Strings, integers, Booleans, None and finite floats are plain JSON. Other scalars are objects whose
first key is a tag for the type, such as ``{"date": "2024-02-29"}``.
"""

from __future__ import annotations

import datetime
import importlib
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from onehot_fast._arguments.choices import shown, with_article
from onehot_fast._categories.keys import plain

Json = Any
# The maximum length of a number, time or unit: parsing millions of characters could take minutes.
MAX_LETTERS = 5_000
# Tags without a maximum length, because their contents are parsed in linear time.
LINEAR = ("bytes", "tuple", "Interval")

# tag → (exact type, function from value to JSON, function from JSON to value).
EXACT: dict[str, tuple[type, Callable[[Any], Json], Callable[[Any], Any]]] = {
    "float": (float, repr, float),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "complex": (complex, repr, complex),
    "decimal": (Decimal, str, Decimal),
    "fraction": (Fraction, str, lambda text: _read_fraction(text)),
    "date": (datetime.date, str, datetime.date.fromisoformat),
    "time": (datetime.time, str, datetime.time.fromisoformat),
    "float16": (np.float16, lambda v: repr(float(v)), np.float16),
    "float32": (np.float32, lambda v: repr(float(v)), lambda text: np.float32(float(text))),
    "longdouble": (np.longdouble, str, np.longdouble),
    "complex64": (np.complex64, lambda v: repr(complex(v)), lambda t: np.complex64(complex(t))),
}


def _read_fraction(text: str) -> Fraction:
    """Parse a fraction such as "1/3"; reject exponents, which could need too much memory."""
    if not re.fullmatch(r"-?[0-9]+(/[0-9]+)?", text):
        raise ValueError(f"a fraction must have the form '1/3', got {shown(text)}")
    return Fraction(text)


def to_json(value: Any) -> Json:
    """Return the JSON form of a scalar."""
    if value is None or type(value) in (str, int, bool):
        return value
    if type(value) is float and math.isfinite(value):
        return value
    for tag, (kind, write, _) in EXACT.items():
        if type(value) is kind:
            return {tag: write(value)}
    package = type(value).__module__.partition(".")[0]
    write_object = WRITERS.get(f"{package}.{type(value).__name__}")
    if write_object is None:
        raise TypeError(f"{shown(value)} is {with_article(value)}, which JSON cannot represent")
    return write_object(value)


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
    for key, value in source.items():
        if key not in LINEAR and isinstance(value, str) and len(value) > MAX_LETTERS:
            raise ValueError(
                f"{shown(key)} must have at most {MAX_LETTERS:,} characters, got {len(value):,}"
            )
    return _same_nan(EXACT[tag][2](source[tag]) if tag in EXACT else READERS[tag](source))


def _same_nan(value: Any) -> Any:
    """Replace a NaN by the object `math.nan`, so that lists of names with NaN compare equal."""
    return math.nan if type(value) is float and value != value else value


def _numpy_time_to_json(value: Any) -> Json:
    """Return the JSON form of a datetime64 or timedelta64, which includes its unit."""
    unit, step = np.datetime_data(value.dtype)
    name = unit if step == 1 else f"{step}{unit}"
    if isinstance(value, np.datetime64):
        return {"datetime64": str(value), "unit": name}
    return {"timedelta64": "NaT" if np.isnat(value) else int(value.astype(np.int64)), "unit": name}


def _zone_to_json(value: datetime.datetime) -> dict[str, str]:
    """Return ``{"zone": name}`` for a named time zone, or {} for no zone or a fixed offset."""
    zone = value.tzinfo
    if zone is None or isinstance(zone, datetime.timezone):
        return {}
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    if name is None and zone.utcoffset(None) is not None:  # a fixed offset of pytz
        return {}
    if name is None:
        raise TypeError(f"{shown(value)} has an unnamed time zone, which JSON cannot represent")
    return {"zone": name}


def _datetime_to_json(value: datetime.datetime) -> Json:
    """Return the JSON form of a datetime."""
    fold = {"fold": 1} if value.fold else {}
    return {"datetime": value.isoformat(), **_zone_to_json(value), **fold}


def _read_datetime(source: Json) -> datetime.datetime:
    """Return a datetime from its JSON form."""
    value = datetime.datetime.fromisoformat(source["datetime"])
    zone = ZoneInfo(source["zone"]) if "zone" in source else value.tzinfo
    return value.replace(tzinfo=zone, fold=source.get("fold", 0))


def _interval_to_json(value: Any) -> Json:
    """Return the JSON form of a pandas.Interval."""
    ends = [to_json(plain(end)) for end in (value.left, value.right)]
    return {"Interval": ends, "closed": value.closed}


def _pandas() -> Any:
    return importlib.import_module("pandas")


def _read_timestamp(source: Json) -> Any:
    value = _pandas().Timestamp(source["Timestamp"]).as_unit(source["unit"])
    if "zone" not in source:
        return value
    # pandas would convert "UTC" to datetime.timezone.utc, which has no name to serialize again.
    return value.tz_convert(ZoneInfo("UTC") if source["zone"] == "UTC" else source["zone"])


# package and name of the exact type → function from value to a JSON object.
WRITERS: dict[str, Callable[[Any], Json]] = {
    "datetime.datetime": _datetime_to_json,
    "datetime.timedelta": lambda v: {"timedelta": [v.days, v.seconds, v.microseconds]},
    "numpy.datetime64": _numpy_time_to_json,
    "numpy.timedelta64": _numpy_time_to_json,
    "builtins.tuple": lambda v: {"tuple": [to_json(item) for item in v]},
    "pandas.Timestamp": lambda v: {"Timestamp": v.isoformat(), "unit": v.unit, **_zone_to_json(v)},
    "pandas.Timedelta": lambda v: {"Timedelta": v.isoformat(), "unit": v.unit},
    "pandas.Period": lambda v: {"Period": str(v), "freq": v.freqstr},
    "pandas.Interval": _interval_to_json,
}
READERS: dict[str, Callable[[Json], Any]] = {
    "datetime": _read_datetime,
    "timedelta": lambda source: datetime.timedelta(*source["timedelta"]),
    "datetime64": lambda source: np.datetime64(source["datetime64"], source["unit"]),
    "timedelta64": lambda source: np.timedelta64(source["timedelta64"], source["unit"]),
    "tuple": lambda source: tuple(map(from_json, source["tuple"])),
    "Timestamp": _read_timestamp,
    "Timedelta": lambda source: _pandas().Timedelta(source["Timedelta"]).as_unit(source["unit"]),
    "Period": lambda source: _pandas().Period(source["Period"], source["freq"]),
    "Interval": lambda source: _pandas().Interval(
        *map(from_json, source["Interval"]), source["closed"]
    ),
}
