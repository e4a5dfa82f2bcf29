"""Columns of every dtype that pandas, NumPy and pyarrow define, as Series with missing values."""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Callable, Iterator
from decimal import Decimal
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

PANDAS_3 = int(pd.__version__.split(".")[0]) >= 3
NOON = datetime.datetime(2024, 2, 29, 12)
DAY = datetime.timedelta(1)
UNITS = ("s", "ms", "us", "ns")
OFFSETS = [DAY / 24 * 5.5, -DAY / 24 - datetime.timedelta(seconds=3)]
PRICES = [Decimal("1.50"), None, Decimal("-2.00")]
# pyarrow's name of a type id, in `pyarrow.lib` → types of this id, and values of each. Two ids have
# no type in Python.
ARROW: dict[str, tuple[list[Callable[[], pa.DataType]], list[Any]]] = {
    "NA": ([pa.null], [None, None]),
    "BOOL": ([pa.bool_], [True, None, False]),
    **{f"INT{n}": ([getattr(pa, f"int{n}")], [3, None, -1]) for n in (8, 16, 32, 64)},
    **{f"UINT{n}": ([getattr(pa, f"uint{n}")], [2**n - 1, None, 0]) for n in (8, 16, 32, 64)},
    "HALF_FLOAT": ([pa.float16], [np.float16(1.5), None, np.float16(0.5)]),
    "FLOAT": ([pa.float32], [1.5, None, 0.5]),
    "DOUBLE": ([pa.float64], [1.5, None, 0.1]),
    "STRING": ([pa.string], ["b", None, "a"]),
    "LARGE_STRING": ([pa.large_string], ["b", None, "a"]),
    "STRING_VIEW": ([lambda: pa.string_view()], ["b", None, "a"]),
    "BINARY": ([pa.binary], [b"b", None, b""]),
    "LARGE_BINARY": ([pa.large_binary], [b"b", None, b""]),
    "BINARY_VIEW": ([lambda: pa.binary_view()], [b"b", None, b""]),
    "FIXED_SIZE_BINARY": ([lambda: pa.binary(2)], [b"bb", None, b"aa"]),
    "DATE32": ([pa.date32], [NOON.date(), None]),
    "DATE64": ([pa.date64], [NOON.date(), None]),
    "TIME32": ([lambda: pa.time32("s"), lambda: pa.time32("ms")], [NOON.time(), None]),
    "TIME64": ([lambda: pa.time64("us"), lambda: pa.time64("ns")], [NOON.time(), None]),
    "TIMESTAMP": (
        [
            lambda unit=unit, zone=zone: pa.timestamp(unit, zone)
            for unit in UNITS
            for zone in (None, "UTC", "Europe/Paris", "+05:30", "-01:00")
        ],
        [NOON, None, NOON + DAY],
    ),
    "DURATION": ([lambda unit=unit: pa.duration(unit) for unit in UNITS], [DAY, None, -DAY]),
    "INTERVAL_MONTH_DAY_NANO": ([pa.month_day_nano_interval], [(1, 2, 3), None]),
    **{
        f"DECIMAL{n}": ([lambda n=n: getattr(pa, f"decimal{n}")(5, 2)], PRICES)
        for n in (32, 64, 128, 256)
    },
}
WITHOUT_TYPE = {"INTERVAL_MONTHS", "INTERVAL_DAY_TIME"}
# Types that have no categories: their values are lists, mappings, or of several types.
NESTED = {
    "LIST": lambda: pa.list_(pa.int8()),
    "LARGE_LIST": lambda: pa.large_list(pa.int8()),
    "LIST_VIEW": lambda: pa.list_view(pa.int8()),
    "LARGE_LIST_VIEW": lambda: pa.large_list_view(pa.int8()),
    "FIXED_SIZE_LIST": lambda: pa.list_(pa.int8(), 1),
    "STRUCT": lambda: pa.struct([("a", pa.int8())]),
    "MAP": lambda: pa.map_(pa.string(), pa.int8()),
    "DENSE_UNION": lambda: pa.dense_union([pa.field("a", pa.int8())]),
    "SPARSE_UNION": lambda: pa.sparse_union([pa.field("a", pa.int8())]),
}


def arrow_arrays() -> Iterator[pa.Array]:
    """Yield an array of every Arrow type that has categories and that this pyarrow can make."""
    for makers, values in ARROW.values():
        for make in makers:
            try:
                array = pa.array(values, make())
            except (AttributeError, pa.ArrowNotImplementedError):  # an old pyarrow
                continue
            yield array
            if not pa.types.is_null(array.type):  # pandas crashes at `isna` of such a dictionary
                yield from dictionaries(array)
    for kind, plain in [("string", ["b", None]), ("int64", [1, 2])]:
        runs = pa.run_end_encoded(pa.int32(), pa.type_for_alias(kind))
        yield pa.RunEndEncodedArray.from_arrays([1, 3], pa.array(plain, runs.value_type), runs)
    extensions = {
        "uuid": pa.array([b"b" * 16, None, b"a" * 16], pa.binary(16)),
        "bool8": pa.array([1, None, 0], pa.int8()),
        "json_": pa.array(['{"a":1}', None, "2"]),
    }
    for name, storage in extensions.items():
        if hasattr(pa, name):
            yield pa.ExtensionArray.from_storage(getattr(pa, name)(), storage)


def dictionaries(array: pa.Array) -> Iterator[pa.Array]:
    """Yield dictionary arrays of the values, of which only the first is used."""
    values = pa.array([value for value in array.to_pylist() if value is not None], array.type)
    for index, is_ordered in [(pa.int8(), False), (pa.uint16(), True)]:
        indices = pa.array([0, None, 0], index)
        yield pa.DictionaryArray.from_arrays(indices, values, ordered=is_ordered)


def series_of(array: Any) -> Any:
    """Return an Arrow array as a Series of an ArrowDtype."""
    return pd.Series(pd.arrays.ArrowExtensionArray(array), name="c")


def text_dtypes() -> list[Any]:
    """Return every StringDtype."""
    dtypes: list[Any] = [pd.StringDtype("python"), pd.StringDtype("pyarrow")]
    try:
        return [*dtypes, *(pd.StringDtype(s, na_value=np.nan) for s in ("python", "pyarrow"))]
    except TypeError:  # before pandas 2.3
        return [*dtypes, pd.StringDtype("pyarrow_numpy")]


def zones() -> list[Any]:
    """Return time zones of every library that pandas knows."""
    fixed = [datetime.timezone(offset) for offset in OFFSETS]
    fixed.append(datetime.timezone(OFFSETS[0], "named"))
    found = [zoneinfo.ZoneInfo("Europe/Paris"), zoneinfo.ZoneInfo("UTC"), datetime.UTC, *fixed]
    found += ["Europe/Paris", "dateutil/Europe/Paris"]
    if find_spec("pytz") is not None:  # optional from pandas 3 on
        import pytz

        found += [pytz.timezone("Asia/Kolkata"), pytz.FixedOffset(90)]
    return found


def zoned() -> Iterator[Any]:
    """Yield Series of times in every zone whose times pandas can convert to objects."""
    for zone in zones():
        for unit in UNITS:
            times = pd.DatetimeIndex([NOON, None], tz="UTC").tz_convert(zone).as_unit(unit)
            try:
                times.tolist()
            except AttributeError:  # pandas 2.2 and some zones of dateutil and zoneinfo
                continue
            yield pd.Series(times)


def numpy_series() -> Iterator[Any]:
    """Yield a Series for each type character of NumPy; pandas stores some as another dtype."""
    for code in np.typecodes["All"]:
        if code in "mM":
            for unit in UNITS:
                yield pd.Series(np.array([3, "NaT", 1], f"{code}8[{unit}]"))
        elif code != "V":  # bytes of no type
            yield pd.Series(np.array([1, 0, 1]).astype(code))
    yield pd.Series(["b", None, "a"], dtype=object)
    yield pd.Series([2, None, "a"], dtype=object)


def of_pandas() -> dict[type, list[Any]]:
    """Return Series of each class of dtypes that pandas itself defines."""
    found: dict[type, list[Any]] = {
        pd.StringDtype: [
            pd.Series(values, dtype=dtype)
            for dtype in text_dtypes()
            for values in (["b", None, "a"], [None, None])
        ],
        pd.BooleanDtype: [pd.Series([True, None, False], dtype="boolean")],
        pd.DatetimeTZDtype: [*zoned()],
        pd.PeriodDtype: [
            pd.Series(pd.PeriodIndex([NOON, None], freq=freq))
            for freq in ("Y-MAR", "Q-FEB", "M", "3M", "W-THU", "D", "h", "15min", "s", "ms", "ns")
        ],
        pd.IntervalDtype: [*intervals()],
        pd.SparseDtype: [*sparse()],
        pd.ArrowDtype: [*map(series_of, arrow_arrays())],
    }
    for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"):
        found[getattr(pd, f"{name}Dtype")] = [pd.Series([3, None, 1], dtype=name)]
    for name in ("Float32", "Float64"):
        found[getattr(pd, f"{name}Dtype")] = [pd.Series([1.5, None, 0.5], dtype=name)]
    plain = [series for group in found.values() for series in group]
    found[pd.CategoricalDtype] = [*categories([*plain, *numpy_series()])]
    return found


def intervals() -> Iterator[Any]:
    """Yield Series of intervals: closed at each side, with ends of each dtype."""
    for closed in ("left", "right", "both", "neither"):
        yield pd.Series(pd.arrays.IntervalArray.from_breaks([0, 1, 2], closed=closed))
    starts = [0, 1, 2]
    for dtype in ("uint8", "float32", "datetime64[s]", "datetime64[ns, UTC]", "timedelta64[ms]"):
        ends = pd.Series(starts).astype("int64").astype(dtype)
        yield pd.Series(pd.arrays.IntervalArray.from_breaks(ends.array))
    yield pd.Series([pd.Interval(0.0, 1.5), None], dtype="interval[float64, right]")


def sparse() -> Iterator[Any]:
    """Yield sparse Series, with the default and with other fill values."""
    samples: list[tuple[str, list[Any], list[Any]]] = [
        ("int64", [None, 1, np.int8(3)], [1, 3, 1]),
        ("float32", [None, 0.0, float("inf")], [0.0, 1.5, None]),
        ("bool", [None, True], [True, False]),
        ("complex128", [None, 1j], [1j, 2j]),
        ("object", [None, "a, 'b'"], ["a, 'b'", "c"]),
    ]
    if PANDAS_3:  # before, pandas has errors of its own with sparse times
        noon, zero = pd.Timestamp(NOON), pd.Timestamp(0)
        samples.append(("M8[ns]", [None, noon], [noon, zero]))
        second = pd.Timedelta("1s")
        samples.append(("m8[s]", [None, second], [second, second * 2]))
    for subtype, fills, values in samples:
        for fill in fills:
            yield pd.Series(values, dtype=pd.SparseDtype(subtype, fill))


def categories(samples: list[Any]) -> Iterator[Any]:
    """Yield categorical Series, alternately ordered, of values for which pandas has an index."""
    for i, series in enumerate(samples):
        if "dictionary" in str(series.dtype):
            continue  # categories of categories, which pandas does not compare
        if isinstance(series.dtype, pd.SparseDtype) and not PANDAS_3:
            continue  # pandas 2 warns of itself
        try:
            levels = pd.Index(series[series.notna()]).unique()[::-1]
            kind = pd.CategoricalDtype(levels, ordered=i % 2 == 0)
            codes = [0, -1, 0] if len(levels) else [-1]
            yield pd.Series(pd.Categorical.from_codes(codes, dtype=kind))
        except (KeyError, NotImplementedError, TypeError, ValueError):
            continue


def subclasses(kind: type) -> Iterator[type]:
    """Yield all subclasses of a class."""
    for child in kind.__subclasses__():
        yield child
        yield from subclasses(child)
