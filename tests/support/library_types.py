"""Every data type of pyarrow, polars, pandas, NumPy (with ml_dtypes) and torch, with values.

`DEFINED` reads the names of the types from the libraries, in a fresh process. The tables below give
each name its cases: the type, some of its values as Python objects, and how to make a column.
`UNKNOWN_TYPES` are names without a case, which `test_type_matrix.py` reports.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

DAY = datetime.date(2024, 2, 29)
NOON = datetime.datetime(2024, 2, 29, 12, 30, 1)
EARLY = datetime.datetime(1969, 12, 31, 23, 59, 59)
HOUR = datetime.timedelta(hours=1)
UTC = datetime.UTC
ZONES = ("UTC", "Europe/Paris", "Asia/Kathmandu")
OFFSETS = ("+01:00", "-03:30", "+05:45")
HALVES = [1.5, -0.25, 0.0]
TEXTS = ["b", "a", "é", "a long string, which no slot holds"]
BYTES = [b"b", b"", b"\0\xff"]


@dataclass(frozen=True)
class TypeCase:
    """A type of a library, with distinct values in the order in which a column declares them."""

    library: str
    name: str
    values: Sequence[Any]
    make: Callable[[Sequence[Any]], Any] = field(repr=False, compare=False)
    # All categories in their order, unused ones too, if the column declares them.
    declared: tuple[Any, ...] | None = None
    has_missing: bool = True
    # Structs, maps, unions and so on, which `fit` rejects by design, and lists of labels.
    is_rejected: bool = False
    # False for the numbers of other packages that NumPy lacks: they are elements of a result and
    # labels, but `fit` rejects a column of them.
    is_column: bool = True
    dtype: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.library} {self.name}"

    @property
    def rows(self) -> list[Any]:
        """Rows with every value, a repeated one, and a missing one if the type has any."""
        values = list(self.values)
        return [*values[1:2], *values, *([None] if self.has_missing else [])]

    def column(self) -> Any:
        """Return a column of the library with these rows."""
        return self.make(self.rows)

    @property
    def is_integer(self) -> bool:
        """Whether all values are integers."""
        return all(type(value) is int for value in self.values) and bool(self.values)


# --- the names of all types, as the libraries define them -------------------------------------

READ_NAMES = """
import importlib, json, sys
library = sys.argv[1]

def below(kind):
    for each in kind.__subclasses__():
        yield each
        yield from below(each)

def classes(kind, package):
    return {each.__name__ for each in below(kind) if each.__module__.partition(".")[0] == package}

if library == "arrow":
    import pyarrow as pa
    ids = {name for name in dir(pa.lib) if name.startswith("Type_")}
    names, version = ids | classes(pa.DataType, "pyarrow"), pa.__version__
elif library == "polars":
    import polars as pl
    names, version = classes(pl.DataType, "polars"), pl.__version__
elif library == "pandas":
    import pandas as pd
    names, version = classes(pd.api.extensions.ExtensionDtype, "pandas"), pd.__version__
elif library == "numpy":
    import numpy as np
    names, version = set(np.typecodes["All"]) | {*np.dtypes.__all__}, np.__version__
elif library == "ml_dtypes":
    import ml_dtypes, numpy as np
    names = {each.__name__ for each in below(np.generic) if each.__module__ == "ml_dtypes"}
    version = ml_dtypes.__version__
elif library == "torch":
    import torch
    found = {value for value in vars(torch).values() if isinstance(value, torch.dtype)}
    names, version = {str(each) for each in found}, torch.__version__
print(json.dumps([sorted(names), str(version)]))
"""


@cache
def defined(library: str) -> tuple[list[str], str]:
    """Return the names of all types that a library defines, and its version.

    They are read in a fresh process, where nothing else has added subclasses.
    """
    command = [sys.executable, "-P", "-W", "ignore", "-c", READ_NAMES, library]
    names, version = json.loads(subprocess.check_output(command))
    return names, version


# The version of each library for which the tables below are complete.
RECORDED = {
    "arrow": "26.0",
    "polars": "2.1",
    "pandas": "3.1",
    "numpy": "2.4",
    "ml_dtypes": "0.6",
    "torch": "2.13",
}


# --- pyarrow ----------------------------------------------------------------------------------

# Classes that no column has as its type, and types that pyarrow cannot make: it has no class for
# intervals of months, or of days and milliseconds, and fails when it imports them.
ABSTRACT_ARROW = {
    "BaseExtensionType", "ExtensionType", "UnknownExtensionType", "UnionType",
    "PyExtensionType",  # of early versions, replaced by ExtensionType
    "Type_INTERVAL_MONTHS", "Type_INTERVAL_DAY_TIME",
}  # fmt: skip


def arrow_array(dtype: Any) -> Callable[[Sequence[Any]], Any]:
    """Return a function that makes a pyarrow array of a type."""
    import pyarrow as pa

    def make(rows: Sequence[Any]) -> Any:
        if isinstance(dtype, pa.BaseExtensionType):
            if dtype.extension_name == "arrow.bool8":
                rows = [None if row is None else int(row) for row in rows]
            if dtype.extension_name == "arrow.uuid":
                rows = [None if row is None else row.bytes for row in rows]
            return pa.ExtensionArray.from_storage(dtype, arrow_array(dtype.storage_type)(rows))
        if pa.types.is_run_end_encoded(dtype):
            ends = pa.array(range(1, len(rows) + 1), dtype.run_end_type)
            values = arrow_array(dtype.value_type)(rows)
            return pa.RunEndEncodedArray.from_arrays(ends, values, dtype)
        if pa.types.is_float16(dtype):
            rows = [None if row is None else np.float16(row) for row in rows]
        if pa.types.is_decimal(dtype) and dtype.bit_width < 128:
            return pa.array(rows, pa.decimal128(dtype.precision, dtype.scale)).cast(dtype)
        return pa.array(rows, dtype)

    return make


def arrow_dictionary(
    index_type: Any, value_type: Any, values: Sequence[Any], ordered: bool
) -> Callable[[Sequence[Any]], Any]:
    """Return a function that makes a dictionary array with all of `values`."""
    import pyarrow as pa

    def make(rows: Sequence[Any]) -> Any:
        codes = [None if row is None else _position(values, row) for row in rows]
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, index_type), arrow_array(value_type)(values), ordered=ordered
        )

    return make


def _position(values: Sequence[Any], row: Any) -> int:
    return next(i for i, value in enumerate(values) if value == row and type(value) is type(row))


def whole(low: int, high: int) -> list[int]:
    """Return the ends of a range of integers, and integers between them."""
    return [high, 0, 1, low] if low else [high, 0, 1]


def bits(size: int, *, signed: bool) -> list[int]:
    """Return integers of a size in bits, its smallest and largest ones among them."""
    return whole(-(2 ** (size - 1)), 2 ** (size - 1) - 1) if signed else whole(0, 2**size - 1)


def zoned(zone: str, *moments: datetime.datetime) -> list[datetime.datetime]:
    """Return moments of a zone, by its name or its offset."""
    from zoneinfo import ZoneInfo

    if zone[0] in "+-":
        sign = -1 if zone[0] == "-" else 1
        parts = [int(part) for part in zone[1:].split(":")]
        offset = sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=False))
        tz: Any = datetime.timezone(sign * datetime.timedelta(seconds=offset))
    else:
        tz = ZoneInfo(zone)
    return [moment.replace(tzinfo=UTC).astimezone(tz) for moment in moments]


def zones_and_units(units: Sequence[str], zones: Sequence[str]) -> list[tuple[str, str]]:
    """Return every unit with one zone, and every zone with one unit."""
    return [*((unit, zones[1]) for unit in units), *(("us", z) for z in zones if z != zones[1])]


def decimals(precision: int, scale: int) -> list[Decimal]:
    """Return decimals of a scale; one of them has all digits."""
    unit = Decimal(1).scaleb(-scale)
    return [Decimal("0").quantize(unit), unit, Decimal((0, (9,) * precision, -scale))]


def _arrow_scalars() -> dict[str, list[tuple[Any, list[Any]]]]:
    """Return the types of pyarrow that hold one value per row, with their values, by name."""
    import pyarrow as pa

    def made(name: str, *arguments: Any) -> list[Any]:
        """Return the type that a function of pyarrow makes, or nothing if pyarrow lacks it."""
        function = getattr(pa, name, None)
        return [] if function is None else [function(*arguments)]

    def times(make: Any, units: str, values: list[Any]) -> list[tuple[Any, list[Any]]]:
        return [(make(unit), values) for unit in units.split()]

    table: dict[str, list[tuple[Any, list[Any]]]] = {
        "Type_NA": [(pa.null(), [])],
        "Type_BOOL": [(pa.bool_(), [True, False])],
        "Type_HALF_FLOAT": [(pa.float16(), HALVES)],
        "Type_FLOAT": [(pa.float32(), HALVES)],
        "Type_DOUBLE": [(pa.float64(), [*HALVES, 0.1, 2.0**60])],
        "Type_STRING": [(pa.string(), TEXTS)],
        "Type_LARGE_STRING": [(pa.large_string(), TEXTS)],
        "Type_STRING_VIEW": [(pa.string_view(), TEXTS)],
        "Type_BINARY": [(pa.binary(), BYTES)],
        "Type_LARGE_BINARY": [(pa.large_binary(), BYTES)],
        "Type_BINARY_VIEW": [(pa.binary_view(), BYTES)],
        "FixedSizeBinaryType": [(pa.binary(2), [b"ab", b"\0\xff"]), (pa.binary(0), [b""])],
        "Type_DATE32": [(pa.date32(), [DAY, EARLY.date()])],
        "Type_DATE64": [(pa.date64(), [DAY, EARLY.date()])],
        "Time32Type": times(pa.time32, "s ms", [NOON.time(), datetime.time(0)]),
        "Time64Type": times(pa.time64, "us ns", [NOON.time(), datetime.time(0, 0, 0, 5)]),
        "DurationType": times(pa.duration, "s ms us ns", [HOUR, -HOUR]),
        "Type_INTERVAL_MONTH_DAY_NANO": [
            (
                pa.month_day_nano_interval(),
                [pa.MonthDayNano([1, 2, 3]), pa.MonthDayNano([0, 0, -1])],
            )
        ],
        "TimestampType": [
            *times(pa.timestamp, "s ms us ns", [NOON, EARLY]),
            *(
                (pa.timestamp(unit, zone), zoned(zone, NOON, EARLY))
                for unit, zone in zones_and_units(("s", "ms", "us", "ns"), (*ZONES, *OFFSETS))
            ),
        ],
    }
    for size in (8, 16, 32, 64):
        for signed, name in ((True, f"int{size}"), (False, f"uint{size}")):
            values = bits(size, signed=signed)
            table[f"Type_{name.upper()}"] = [(getattr(pa, name)(), values)]
    for size, precisions in ((32, (5, 9)), (64, (10, 18)), (128, (7, 38)), (256, (39, 76))):
        table[f"Decimal{size}Type"] = [
            (dtype, decimals(precision, scale))
            for precision, scale in ((precisions[0], 2), (precisions[1], 0), (precisions[1],) * 2)
            for dtype in made(f"decimal{size}", precision, scale)
        ]
    identifiers = [uuid.UUID(int=1), uuid.UUID(int=2**127)]
    table["UuidType"] = [(dtype, identifiers) for dtype in made("uuid")]
    table["Bool8Type"] = [(dtype, [True, False]) for dtype in made("bool8")]
    table["JsonType"] = [
        (dtype, ['{"a": 1}', "null"])
        for storage in (pa.string(), pa.large_string())
        for dtype in made("json_", storage)
    ]
    table["OpaqueType"] = [
        (dtype, TEXTS) for dtype in made("opaque", pa.string(), "geometry", "a vendor")
    ]
    return table


def _arrow_nested() -> dict[str, list[tuple[Any, list[Any]]]]:
    """Return the types of pyarrow that hold several values per row, which `fit` rejects."""
    import pyarrow as pa

    lists = [["a"], [], ["b", "a"]]
    table: dict[str, list[tuple[Any, list[Any]]]] = {
        "ListType": [(pa.list_(pa.string()), lists), (pa.list_(pa.int8()), [[1], []])],
        "LargeListType": [(pa.large_list(pa.string()), lists)],
        "ListViewType": [(pa.list_view(pa.string()), lists)],
        "LargeListViewType": [(pa.large_list_view(pa.string()), lists)],
        "FixedSizeListType": [(pa.list_(pa.string(), 2), [["a", "b"], ["b", "b"]])],
        "StructType": [(pa.struct({"x": pa.int8()}), [{"x": 1}, {"x": 2}])],
        "MapType": [(pa.map_(pa.string(), pa.int8()), [[("a", 1)], []])],
        "FixedShapeTensorType": [(pa.fixed_shape_tensor(pa.int8(), [2]), [[1, 2], [3, 4]])],
        "SparseUnionType": [(pa.sparse_union([pa.field("x", pa.int8())]), [1, 2])],
        "DenseUnionType": [(pa.dense_union([pa.field("x", pa.int8())]), [1, 2])],
    }
    return table


def _arrow_union(dtype: Any) -> Callable[[Sequence[Any]], Any]:
    import pyarrow as pa

    def make(rows: Sequence[Any]) -> Any:
        values, types = pa.array(rows, pa.int8()), pa.array([0] * len(rows), pa.int8())
        if dtype.mode == "sparse":
            return pa.UnionArray.from_sparse(types, [values], ["x"])
        return pa.UnionArray.from_dense(types, pa.array(range(len(rows)), pa.int32()), [values])

    return make


# Names in `defined` whose types stand under another name in the tables: the identifier of a
# parametric type and its class.
ARROW_ALIASES = {
    "Type_TIMESTAMP": "TimestampType", "Type_TIME32": "Time32Type", "Type_TIME64": "Time64Type",
    "Type_DURATION": "DurationType", "Type_FIXED_SIZE_BINARY": "FixedSizeBinaryType",
    **{f"Type_DECIMAL{size}": f"Decimal{size}Type" for size in (32, 64, 128, 256)},
    "Type_LIST": "ListType", "Type_LARGE_LIST": "LargeListType",
    "Type_LIST_VIEW": "ListViewType", "Type_LARGE_LIST_VIEW": "LargeListViewType",
    "Type_FIXED_SIZE_LIST": "FixedSizeListType", "Type_MAP": "MapType",
    "Type_STRUCT": "StructType", "Type_SPARSE_UNION": "SparseUnionType",
    "Type_DENSE_UNION": "DenseUnionType", "Type_DICTIONARY": "DictionaryType",
    "Type_RUN_END_ENCODED": "RunEndEncodedType",
}  # fmt: skip


def arrow_names() -> set[str]:
    """Return the names of the types of pyarrow that have a case."""
    names = {*_arrow_scalars(), *_arrow_nested(), "DictionaryType", "RunEndEncodedType"}
    return names | {alias for alias, name in ARROW_ALIASES.items() if name in names}


@cache
def arrow_cases() -> tuple[TypeCase, ...]:
    """Return the cases of pyarrow: plain types, dictionaries and runs of each, and nested types."""
    return tuple(_arrow_cases())


def _arrow_cases() -> Iterator[TypeCase]:
    import pyarrow as pa

    scalars = [each for types in _arrow_scalars().values() for each in types]
    for dtype, values in scalars:
        yield TypeCase("arrow", arrow_name(dtype), values, arrow_array(dtype), dtype=dtype)
    for dtype, values in scalars:
        yield from _dictionary_cases(pa.int8(), dtype, values)
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        if name != "int8":
            yield from _dictionary_cases(getattr(pa, name)(), pa.string(), TEXTS)
    for dtype, values in scalars:
        if isinstance(dtype, pa.BaseExtensionType) or dtype == pa.null():
            continue  # the values of a run have no extension type
        for end in ("int16", "int32", "int64") if dtype == pa.string() else ("int32",):
            kind = pa.run_end_encoded(getattr(pa, end)(), dtype)
            yield TypeCase("arrow", arrow_name(kind), values, arrow_array(kind), dtype=kind)
    for types in _arrow_nested().values():
        for dtype, values in types:
            is_union = pa.types.is_union(dtype)
            make = _arrow_union(dtype) if is_union else arrow_array(dtype)
            yield TypeCase(
                "arrow",
                arrow_name(dtype),
                values,
                make,
                None,
                not is_union,
                is_rejected=True,
                dtype=dtype,
            )


def arrow_name(dtype: Any) -> str:
    """Return the name of a type; that of JSON with its storage, which pyarrow does not print."""
    inner = getattr(dtype, "value_type", dtype)
    is_json = getattr(inner, "extension_name", "") == "arrow.json"
    return (
        f"{dtype}".replace("arrow.json", f"arrow.json[{inner.storage_type}]")
        if is_json
        else f"{dtype}"
    )


def _dictionary_cases(index: Any, dtype: Any, values: list[Any]) -> Iterator[TypeCase]:
    import pyarrow as pa

    for ordered in (False, True):
        kind = pa.dictionary(index, dtype, ordered=ordered)
        make = arrow_dictionary(index, dtype, values, ordered)
        declared = tuple(values) if ordered else None
        yield TypeCase("arrow", arrow_name(kind), values, make, declared, dtype=kind)


# --- polars -----------------------------------------------------------------------------------

ABSTRACT_POLARS = {
    "NumericType", "IntegerType", "SignedIntegerType", "UnsignedIntegerType", "FloatType",
    "TemporalType", "NestedType", "ObjectType", "Unknown",
    "BaseExtension",  # what `Extension` and the classes of users inherit
}  # fmt: skip


def _polars_types() -> dict[str, list[tuple[Any, list[Any]]]]:
    """Return the types of polars with their values, by name; those of a newer polars may lack."""
    import polars as pl

    table: dict[str, list[tuple[Any, list[Any]]]] = {
        "Boolean": [(pl.Boolean(), [True, False])],
        "String": [(pl.String(), TEXTS)],
        "Binary": [(pl.Binary(), BYTES)],
        "Null": [(pl.Null(), [])],
        "Object": [(pl.Object(), ["b", "a", "c"])],
        "Float32": [(pl.Float32(), HALVES)],
        "Float64": [(pl.Float64(), [*HALVES, 0.1, 2.0**60])],
        "Date": [(pl.Date(), [DAY, EARLY.date()])],
        "Time": [(pl.Time(), [NOON.time(), datetime.time(0, 0, 0, 5)])],
        "Decimal": [
            (pl.Decimal(precision, scale), decimals(precision, scale))
            for precision, scale in ((5, 2), (10, 0), (18, 9), (38, 2), (38, 38))
        ],
        "Duration": [(pl.Duration(unit), [HOUR, -HOUR]) for unit in ("ms", "us", "ns")],
        "Datetime": [
            *((pl.Datetime(unit), [NOON, EARLY]) for unit in ("ms", "us", "ns")),
            *(
                (pl.Datetime(unit, zone), zoned(zone, NOON, EARLY))
                for unit, zone in zones_and_units(("ms", "us", "ns"), ZONES)
            ),
        ],
        "Enum": [(pl.Enum([*TEXTS, "unused"]), TEXTS)],
        "Categorical": [(pl.Categorical(), TEXTS)],
    }
    for size in (8, 16, 32, 64, 128):
        for signed, name in ((True, f"Int{size}"), (False, f"UInt{size}")):
            if hasattr(pl, name):
                table[name] = [(getattr(pl, name)(), bits(size, signed=signed))]
    if hasattr(pl, "Float16"):
        table["Float16"] = [(pl.Float16(), HALVES)]
    if hasattr(pl, "Categories"):
        table["Categorical"] += [
            (pl.Categorical(pl.Categories("shop")), TEXTS),
            (pl.Categorical(pl.Categories("size", namespace="shop", physical=pl.UInt8)), TEXTS),
        ]
    if hasattr(pl, "Extension"):
        table["Extension"] = [(pl.Extension("a.vendor", pl.String), TEXTS)]
    return table


def _polars_nested() -> dict[str, list[tuple[Any, list[Any]]]]:
    import polars as pl

    table: dict[str, list[tuple[Any, list[Any]]]] = {
        "List": [(pl.List(pl.String), [["a"], [], ["b", "a"]]), (pl.List(pl.Int8), [[1], []])],
        "Array": [(pl.Array(pl.String, 2), [["a", "b"], ["b", "b"]])],
        "Struct": [(pl.Struct({"x": pl.Int8}), [{"x": 1}, {"x": 2}])],
    }
    if hasattr(pl, "Map"):
        table["Map"] = [(pl.Map(pl.String, pl.Int8), [{"a": 1}, {}])]
    return table


def polars_names() -> set[str]:
    """Return the names of the types of polars that have a case."""
    return {*_polars_types(), *_polars_nested()}


@cache
def polars_cases() -> tuple[TypeCase, ...]:
    """Return the cases of polars."""
    return tuple(_polars_cases())


def _polars_cases() -> Iterator[TypeCase]:
    import polars as pl

    def maker(dtype: Any) -> Callable[[Sequence[Any]], Any]:
        return lambda rows: pl.Series("c", rows, dtype=dtype)

    for is_rejected, table in ((False, _polars_types()), (True, _polars_nested())):
        for types in table.values():
            for dtype, values in types:
                declared = tuple(dtype.categories) if isinstance(dtype, pl.Enum) else None
                yield TypeCase(
                    "polars", str(dtype), values, maker(dtype), declared,
                    is_rejected=is_rejected, dtype=dtype,
                )  # fmt: skip


# --- NumPy and ml_dtypes ----------------------------------------------------------------------

# Structured and raw memory, which has no values that could be compared.
REJECTED_NUMPY = ("V4", [("x", "i1"), ("y", "U1")])


def midnight(moment: datetime.datetime) -> datetime.datetime:
    """Return the instant at which a day begins, which a datetime64 of days stands for."""
    return datetime.datetime(moment.year, moment.month, moment.day)


def _numpy_types() -> dict[str, list[tuple[Any, list[Any]]]]:
    """Return the dtypes of NumPy with their values, by type character."""
    table: dict[str, list[tuple[Any, list[Any]]]] = {
        "?": [("?", [True, False])],
        "O": [("O", TEXTS)],
        "S": [("S3", [b"b", b"abc"])],
        "U": [("U40", TEXTS)],
        "T": [
            (np.dtypes.StringDType(), TEXTS),
            (np.dtypes.StringDType(na_object=None), TEXTS),
            (np.dtypes.StringDType(na_object=np.nan), TEXTS),
        ],
        "M": [
            *((f"M8[{unit}]", [NOON, EARLY]) for unit in ("s", "ms", "us", "ns")),
            ("M8[D]", [midnight(NOON), midnight(EARLY)]),
        ],
        "m": [(f"m8[{unit}]", [HOUR, -HOUR]) for unit in ("h", "m", "s", "ms", "us", "ns")],
        **{char: [(char, HALVES)] for char in "efdg"},
        **{char: [(char, [1j, 1.5 + 0j])] for char in "FDG"},
    }
    for char in "bhilqnpBHILQNP":
        info = np.iinfo(np.dtype(char))
        table[char] = [(char, whole(int(info.min), int(info.max)))]
    return table


NUMPY_ALIASES = {
    "BoolDType": "?", "Int8DType": "b", "ByteDType": "b", "UInt8DType": "B", "UByteDType": "B",
    "Int16DType": "h", "ShortDType": "h", "UInt16DType": "H", "UShortDType": "H",
    "Int32DType": "i", "IntDType": "i", "UInt32DType": "I", "UIntDType": "I", "Int64DType": "l",
    "LongDType": "l", "UInt64DType": "L", "ULongDType": "L", "LongLongDType": "q",
    "ULongLongDType": "Q", "Float16DType": "e", "Float32DType": "f", "Float64DType": "d",
    "LongDoubleDType": "g", "Complex64DType": "F", "Complex128DType": "D",
    "CLongDoubleDType": "G", "ObjectDType": "O", "BytesDType": "S", "StrDType": "U",
    "VoidDType": "V", "DateTime64DType": "M", "TimeDelta64DType": "m", "StringDType": "T",
}  # fmt: skip


def numpy_names() -> set[str]:
    """Return the type characters, and the classes of dtypes, that have a case."""
    names = {*_numpy_types(), "V"}
    return names | {alias for alias, name in NUMPY_ALIASES.items() if name in names}


def numpy_array(dtype: Any) -> Callable[[Sequence[Any]], Any]:
    """Return a function that makes an array of a dtype; None is its missing value."""

    def make(rows: Sequence[Any]) -> Any:
        kind = np.dtype(dtype)
        if kind.kind in "fc" and kind.isbuiltin == 1:
            rows = [np.nan if row is None else row for row in rows]
        if kind.kind in "Mm":
            rows = ["NaT" if row is None else row for row in rows]
        if kind.kind == "T":
            rows = [kind.na_object if row is None else row for row in rows]
        return np.array(rows, kind)

    return make


@cache
def numpy_cases() -> tuple[TypeCase, ...]:
    """Return the cases of NumPy, in both byte orders, and of ml_dtypes if it is installed."""
    return tuple(_numpy_cases())


def _numpy_cases() -> Iterator[TypeCase]:
    for char, types in _numpy_types().items():
        for given, values in types:
            dtype = np.dtype(given)
            misses = dtype.kind in "fcMmO" or (dtype.kind == "T" and hasattr(dtype, "na_object"))
            name = repr(dtype) if dtype.kind == "T" else f"{char} {dtype.str}"
            make = numpy_array(dtype)
            yield TypeCase("numpy", name, values, make, has_missing=misses, dtype=dtype)
            if dtype.byteorder == "=" and char not in "npqNPQ" and dtype.kind != "T":
                swapped = dtype.newbyteorder()
                yield TypeCase(
                    "numpy", swapped.str, values, numpy_array(swapped),
                    has_missing=misses, dtype=swapped,
                )  # fmt: skip
    for given in REJECTED_NUMPY:
        dtype = np.dtype(given)
        yield TypeCase(
            "numpy", str(dtype), [], lambda rows, dtype=dtype: np.zeros(3, dtype), None, False,
            is_rejected=True, dtype=dtype,
        )  # fmt: skip
    for name in ml_names():
        import ml_dtypes

        dtype = np.dtype(getattr(ml_dtypes, name))
        yield TypeCase(
            "numpy", name, _ml_values(dtype), numpy_array(dtype), None, False,
            is_column=False, dtype=dtype,
        )  # fmt: skip


def _ml_values(dtype: np.dtype[Any]) -> list[Any]:
    """Return values of a dtype of ml_dtypes as Python objects."""
    import ml_dtypes

    if "int" in dtype.name:
        info = ml_dtypes.iinfo(dtype)
        return sorted({int(info.max), 0, int(info.min)})
    if "complex" in dtype.name:
        return [1j, 1.5 + 0j]
    values = [1.0, 0.5, 2.0] if "e8m0" in dtype.name else [1.0, 0.5, -1.0, 2.0]
    return [value for value in values if float(np.array(value, dtype)) == value]


def ml_names() -> list[str]:
    """Return the names of the dtypes of ml_dtypes, or none if it is not installed."""
    try:
        import ml_dtypes  # noqa: F401
    except ImportError:
        return []
    return defined("ml_dtypes")[0]


# --- pandas -----------------------------------------------------------------------------------

ABSTRACT_PANDAS = {
    "StorageExtensionDtype", "PandasExtensionDtype", "BaseMaskedDtype", "NumericDtype",
    "FloatingDtype", "IntegerDtype",
    "NumpyEADtype",  # of a wrapper around an array; a Series has the dtype of the array
}  # fmt: skip
PERIODS = ("Y", "Q", "M", "W", "D", "h", "min", "s", "ms", "us", "ns", "B")


def _pandas_types() -> dict[str, list[tuple[Any, list[Any]]]]:
    """Return the dtypes of pandas, except ArrowDtype and categories, with values, by class."""
    import pandas as pd

    def intervals(subtype: str, ends: list[Any]) -> list[tuple[Any, list[Any]]]:
        return [
            (pd.IntervalDtype(subtype, closed), [pd.Interval(a, b, closed) for a, b in ends])
            for closed in ("left", "right", "both", "neither")
        ]

    numbers = [(0.5, 1.5), (1.5, 2.0)]
    moments = [(pd.Timestamp(EARLY), pd.Timestamp(NOON))]
    spans = [(pd.Timedelta(0), pd.Timedelta(HOUR))]
    table: dict[str, list[tuple[Any, list[Any]]]] = {
        "StringDtype": [
            (pd.StringDtype("python"), TEXTS),
            (pd.StringDtype("pyarrow"), TEXTS),
        ],
        "BooleanDtype": [(pd.BooleanDtype(), [True, False])],
        "Float32Dtype": [(pd.Float32Dtype(), HALVES)],
        "Float64Dtype": [(pd.Float64Dtype(), HALVES)],
        "PeriodDtype": [
            (pd.PeriodDtype(freq), [pd.Period("2024-02-29", freq), pd.Period("1969-12-31", freq)])
            for freq in PERIODS
        ],
        "IntervalDtype": [
            *intervals("int64", [(0, 1), (1, 3)]),
            *intervals("float64", numbers),
            *intervals("datetime64[ns]", moments),
            *intervals("timedelta64[ns]", spans),
        ],
        "DatetimeTZDtype": [
            (pd.DatetimeTZDtype(unit, zone), zoned(zone, NOON, EARLY))
            for unit, zone in zones_and_units(("s", "ms", "us", "ns"), (*ZONES, *OFFSETS))
        ],
        "SparseDtype": [
            (pd.SparseDtype("int64", 0), [0, 1, 2]),
            (pd.SparseDtype("int64", 1), [0, 1, 2]),
            (pd.SparseDtype("int8", 0), [0, 1, 2]),
            (pd.SparseDtype("float64"), HALVES),
            (pd.SparseDtype("float64", 1.5), HALVES),
            (pd.SparseDtype("bool", False), [True, False]),
        ],
    }
    if int(pd.__version__.split(".")[0]) >= 3:
        table["StringDtype"] += [
            (pd.StringDtype(storage, na_value=np.nan), TEXTS) for storage in ("python", "pyarrow")
        ]
    for size in (8, 16, 32, 64):
        for signed, name in ((True, f"Int{size}"), (False, f"UInt{size}")):
            dtype = getattr(pd, f"{name}Dtype")()
            table[f"{name}Dtype"] = [(dtype, bits(size, signed=signed))]
    return table


def pandas_names() -> set[str]:
    """Return the classes of dtypes of pandas that have a case."""
    return {*_pandas_types(), "ArrowDtype", "CategoricalDtype"}


@cache
def pandas_cases() -> tuple[TypeCase, ...]:
    """Return the cases of pandas."""
    return tuple(_pandas_cases())


# Dtypes of NumPy that a Series has.
IN_PANDAS = "?bhilBHILefdFDOMm"


def _pandas_cases() -> Iterator[TypeCase]:
    every = [*_numpy_in_pandas(), *_own_in_pandas(), *_arrow_in_pandas()]
    yield from every
    for case in every:
        if _can_be_categories(case):
            yield from (_category_case(case, ordered) for ordered in (False, True))


def _can_be_categories(case: TypeCase) -> bool:
    """Tell whether pandas makes categories of a type: not of float16, nor of Arrow dictionaries."""
    if case.is_rejected or hasattr(getattr(case.dtype, "pyarrow_dtype", None), "index_type"):
        return False
    try:
        as_categories(case)
    except (NotImplementedError, TypeError, ValueError):
        return False
    return True


def as_categories(case: TypeCase) -> Any:
    """Return a Categorical without rows, whose categories are the values of a column of pandas."""
    import pandas as pd

    return pd.Categorical.from_codes([], pd.Index(case.make(list(case.values))))


def _numpy_in_pandas() -> Iterator[TypeCase]:
    import pandas as pd

    for char, types in _numpy_types().items():
        for given, values in types if char in IN_PANDAS else []:
            dtype = np.dtype(given)
            if dtype.kind in "mM" and np.datetime_data(dtype)[0] not in ("s", "ms", "us", "ns"):
                continue

            def make(rows: Sequence[Any], dtype: Any = dtype) -> Any:
                return pd.Series(numpy_array(dtype)(rows), name="c")

            misses = dtype.kind in "fcMmO"
            yield TypeCase("pandas", str(dtype), values, make, has_missing=misses, dtype=dtype)


def _own_in_pandas() -> Iterator[TypeCase]:
    import pandas as pd

    for types in _pandas_types().values():
        for given, values in types:
            dtype = pd.api.types.pandas_dtype(given)
            subtype = getattr(dtype, "subtype", None)
            misses = getattr(subtype, "kind", "f") not in "iub"

            def make(rows: Sequence[Any], dtype: Any = dtype) -> Any:
                if isinstance(dtype, pd.SparseDtype):
                    rows = [np.nan if row is None else row for row in rows]
                    return pd.Series(pd.arrays.SparseArray(rows, dtype=dtype), name="c")
                if isinstance(dtype, pd.DatetimeTZDtype):
                    moments = [None if row is None else pd.Timestamp(row) for row in rows]
                    return pd.Series(moments, name="c", dtype=object).astype(dtype)
                return pd.Series(rows, dtype=dtype, name="c")

            name = str(dtype)
            if isinstance(dtype, pd.StringDtype):
                name = f"StringDtype({dtype.storage}, {dtype.na_value})"
            yield TypeCase("pandas", name, values, make, has_missing=misses, dtype=dtype)


def _arrow_in_pandas() -> Iterator[TypeCase]:
    import pandas as pd

    for case in arrow_cases():

        def make(rows: Sequence[Any], case: TypeCase = case) -> Any:
            return pd.Series(pd.arrays.ArrowExtensionArray(case.make(rows)), name="c")

        name = f"ArrowDtype({case.name})"
        yield TypeCase(
            "pandas", name, case.values, make, case.declared, case.has_missing,
            case.is_rejected, dtype=pd.ArrowDtype(case.dtype),
        )  # fmt: skip


def _category_case(case: TypeCase, ordered: bool) -> TypeCase:
    import pandas as pd

    def make(rows: Sequence[Any]) -> Any:
        categories = pd.Index(case.make(list(case.values)))
        codes = [-1 if row is None else _position(case.values, row) for row in rows]
        return pd.Series(pd.Categorical.from_codes(codes, categories, ordered=ordered), name="c")

    name = f"category[{case.name}{', ordered' if ordered else ''}]"
    dtype = make([]).dtype
    return TypeCase("pandas", name, case.values, make, tuple(case.values), dtype=dtype)


# --- torch ------------------------------------------------------------------------------------

# Dtypes whose tensors torch cannot fill or read: quantized ones, raw bits, and integers and floats
# of less than a byte. They exist for kernels of other libraries.
OPAQUE_TORCH = {
    *(f"torch.{name}" for name in ("qint8", "quint8", "qint32", "quint4x2", "quint2x4")),
    *(f"torch.bits{name}" for name in ("1x8", "2x4", "4x2", "8", "16")),
    *(f"torch.{sign}int{size}" for sign in ("", "u") for size in range(1, 8)),
    "torch.float4_e2m1fn_x2",
}


def torch_names() -> set[str]:
    """Return the dtypes of torch that have a case, by name."""
    import torch

    return {str(dtype) for dtype in _torch_values(torch)}


def _torch_values(torch: Any) -> dict[Any, list[Any]]:
    table: dict[Any, list[Any]] = {torch.bool: [True, False]}
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        dtype = getattr(torch, name)
        info = torch.iinfo(dtype)
        table[dtype] = whole(int(info.min), int(info.max))
    for name in (
        "float16", "bfloat16", "float32", "float64", "float8_e5m2", "float8_e4m3fn",
        "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu",
    ):  # fmt: skip
        if hasattr(torch, name):
            table[getattr(torch, name)] = [1.0, 0.5, 2.0]
    for name in ("complex32", "complex64", "complex128"):
        table[getattr(torch, name)] = [1j, 1.5 + 0j]
    return table


@cache
def torch_cases() -> tuple[TypeCase, ...]:
    """Return the cases of torch; no dtype has a missing value apart from NaN."""
    import torch

    def maker(dtype: Any) -> Callable[[Sequence[Any]], Any]:
        return lambda rows: torch.tensor(rows, dtype=dtype)

    return tuple(
        TypeCase(
            "torch",
            str(dtype),
            values,
            maker(dtype),
            has_missing=False,
            dtype=dtype,
            is_column=hasattr(np, str(dtype).removeprefix("torch.")),
        )
        for dtype, values in _torch_values(torch).items()
    )


CASES: dict[str, Callable[[], tuple[TypeCase, ...]]] = {
    "arrow": arrow_cases,
    "polars": polars_cases,
    "pandas": pandas_cases,
    "numpy": numpy_cases,
    "torch": torch_cases,
}
# For each library: the names with a case, and the names of classes that no column has.
NAMES: dict[str, tuple[Callable[[], set[str]], set[str]]] = {
    "arrow": (arrow_names, ABSTRACT_ARROW),
    "polars": (polars_names, ABSTRACT_POLARS),
    "pandas": (pandas_names, ABSTRACT_PANDAS),
    "numpy": (numpy_names, set()),
    "torch": (torch_names, OPAQUE_TORCH),
}
MODULES = {"arrow": "pyarrow", "polars": "polars", "pandas": "pandas", "torch": "torch"}


def unknown_types(library: str) -> list[str]:
    """Return the names of a library's types that have neither a case nor a reason for none."""
    known, abstract = NAMES[library]
    return sorted({*defined(library)[0]} - known() - abstract)


def is_newer(library: str) -> bool:
    """Tell whether a library is newer than the version for which the tables are complete."""
    version = [int(part) for part in defined(library)[1].split(".")[:2]]
    return version > [int(part) for part in RECORDED[library].split(".")]
