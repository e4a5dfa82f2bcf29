"""Every type of pyarrow that a column may have, with values that need it; read at run time."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

NOON = datetime.datetime(2024, 2, 29, 12)
UTC_NOON = NOON.replace(tzinfo=datetime.UTC)
UNITS = ("s", "ms", "us", "ns")
# Zones of pyarrow: the text of a type contains the name of a zone unchanged.
ZONES = ("UTC", "Europe/Berlin", "+05:30", "-00:01")
# The ids of types that `fit` rejects.
NESTED = {
    "DENSE_UNION", "FIXED_SIZE_LIST", "LARGE_LIST", "LARGE_LIST_VIEW", "LIST", "LIST_VIEW", "MAP",
    "SPARSE_UNION", "STRUCT",
}  # fmt: skip
# The ids of types that pyarrow cannot create, although it has their ids.
NOT_IN_PYTHON = {"INTERVAL_DAY_TIME", "INTERVAL_MONTHS"}
INDICES = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
RUN_ENDS = [pa.int16(), pa.int32(), pa.int64()]


def _optional(name: str, *arguments: Any) -> list[pa.DataType]:
    """Return a type, or nothing if this version of pyarrow does not have it."""
    return [getattr(pa, name)(*arguments)] if hasattr(pa, name) else []


def _times() -> Iterator[tuple[pa.DataType, list[Any]]]:
    for unit in UNITS:
        yield pa.timestamp(unit), [NOON, NOON.replace(1969, 1, 1)]
        for zone in ZONES:
            yield pa.timestamp(unit, zone), [UTC_NOON, UTC_NOON.replace(1969, 1, 1)]
        yield pa.duration(unit), [datetime.timedelta(1), datetime.timedelta(-1)]
    for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        yield kind, [datetime.time(1), datetime.time(23, 59, 59)]
    for kind in (pa.date32(), pa.date64()):
        yield kind, [NOON.date(), datetime.date(1969, 1, 1)]


def _plain() -> Iterator[tuple[pa.DataType, list[Any]]]:
    yield pa.null(), []
    yield pa.bool_(), [True, False]
    for kind in INDICES:
        yield kind, [0, 2 ** (kind.bit_width - 1) - 1]
    yield pa.float16(), [np.float16(1.5), np.float16(0)]
    yield pa.float32(), [1.5, float(np.float32(0.1))]
    yield pa.float64(), [1.5, 0.1]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        yield kind, ["é", "a text that is longer than a view stores"]
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)):
        yield kind, [b"\xff\x00", b"ab"]
    for name, precision in ("decimal32", 5), ("decimal64", 15), ("decimal128", 25):
        for kind in _optional(name, precision, 2):
            yield kind, [Decimal("1.50"), Decimal("-100.00")]
    yield pa.decimal256(50, 2), [Decimal("1.50"), Decimal("-100.00")]
    yield pa.decimal128(5, -2), [Decimal(100), Decimal(-1200)]
    yield pa.decimal128(38, 0), [Decimal(10**37), Decimal(2**63)]
    yield pa.month_day_nano_interval(), [(1, 2, 3), (0, 0, -1)]
    yield from _times()


class Measure(pa.ExtensionType):
    """A parametric extension type, as users define and register them."""

    def __init__(self, storage: pa.DataType, unit: str) -> None:
        self.unit = unit
        super().__init__(storage, "tests.measure")

    def __arrow_ext_serialize__(self) -> bytes:
        return self.unit.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> Measure:
        return cls(storage, serialized.decode())


pa.register_extension_type(Measure(pa.int8(), ""))


def _extensions() -> Iterator[tuple[pa.DataType, list[Any]]]:
    """Yield extension types with values of their storage types."""
    yield pa.uuid(), [uuid.UUID(int=1).bytes, uuid.UUID(int=2**100).bytes]
    yield pa.bool8(), [0, 1]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        for json in _optional("json_", kind):
            yield json, ["1", '{"a": 2}']
    yield pa.opaque(pa.string(), "a, b]", "v>x"), ["p", "q"]
    yield Measure(pa.float32(), "m/s, km>]"), [1.5, 2.5]
    yield Measure(pa.dictionary(pa.int8(), pa.string_view()), ""), ["p", "q"]


# Each type, with two values or none; the values of an extension type are those of its storage.
# The pairs are not a dict, because extension types of users have no hash.
PLAIN = [*_plain()]
EXTENSIONS = [*_extensions()]
LAYERED = [
    *(
        (pa.dictionary(INDICES[i % len(INDICES)], kind, i % 3 == 0), values)
        for i, (kind, values) in enumerate(PLAIN + EXTENSIONS)
    ),
    *(
        (pa.dictionary(index, pa.string(), is_ordered), ["a", "b"])
        for index in INDICES
        for is_ordered in (False, True)
    ),
    *(
        (pa.run_end_encoded(RUN_ENDS[i % len(RUN_ENDS)], kind), values)
        for i, (kind, values) in enumerate(PLAIN + EXTENSIONS)
    ),
    *(
        (pa.run_end_encoded(pa.int32(), pa.dictionary(pa.int16(), kind)), values)
        for kind, values in PLAIN
        if kind in (pa.string(), pa.string_view(), pa.timestamp("ns", "+05:30"))
    ),
]
EVERY = PLAIN + EXTENSIONS + LAYERED


def column(kind: pa.DataType, values: list[Any]) -> pa.Array:
    """Return values, or None, as an array of any type, without the code that is tested."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, column(kind.storage_type, values))
    if pa.types.is_dictionary(kind):
        words = [*dict.fromkeys(value for value in values if value is not None)]
        codes = [None if value is None else words.index(value) for value in values]
        levels = column(kind.value_type, words)
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, kind.index_type), levels, ordered=kind.ordered
        )
    if pa.types.is_run_end_encoded(kind):
        ends = pa.array(range(1, len(values) + 1), kind.run_end_type)
        return pa.RunEndEncodedArray.from_arrays(ends, column(kind.value_type, values))
    return pa.array(values, kind)


def rows(values: list[Any]) -> list[Any]:
    """Return four rows: two values, which may be equal, one of them again, and null."""
    return [*(values or [None, None]), *(values[:1] or [None]), None]


def table(types: list[tuple[pa.DataType, list[Any]]]) -> pa.Table:
    """Return four rows of each type, in columns whose names are numbers."""
    return pa.table({str(i): column(kind, rows(values)) for i, (kind, values) in enumerate(types)})


def unknown_ids() -> set[str]:
    """Return the ids of pyarrow's types for which this module has no type."""
    known = {kind.id for kind, _ in EVERY}
    ids = {name.removeprefix("Type_") for name in dir(pa.lib) if name.startswith("Type_")}
    return {
        name
        for name in ids - NESTED - NOT_IN_PYTHON
        if getattr(pa.lib, f"Type_{name}") not in known
    }


def subclasses(kind: type = pa.DataType) -> set[type]:
    """Return pyarrow's own classes of types, without those that only have subclasses."""
    own = {cls for cls in kind.__subclasses__() if cls.__module__.startswith("pyarrow")}
    return own.union(*map(subclasses, own))
