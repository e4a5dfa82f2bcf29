"""What `to_json` writes, `from_json` reads: for the types that the libraries list themselves."""

from __future__ import annotations

import contextlib
import datetime
import enum
import itertools
import json
import math
import uuid
import zoneinfo
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from onehot_fast import Encoder
from onehot_fast._categories.keys import plain

# ---- Values of every kind, and the check ----

HOUR = datetime.timedelta(hours=1)
OFFSETS = [
    HOUR / 2, -23 * HOUR, HOUR / 3600, -HOUR / 3600, datetime.timedelta(microseconds=1),
    datetime.timedelta(microseconds=-1), datetime.timedelta(seconds=-1172, microseconds=7),
]  # fmt: skip
MOMENTS = [
    datetime.datetime(1, 1, 2), datetime.datetime(1930, 5, 1, 0, 0, 0, 1),
    datetime.datetime(2024, 10, 27, 2, 30), datetime.datetime(2024, 10, 27, 2, 30, fold=1),
    datetime.datetime(9999, 12, 30),
]  # fmt: skip
VALUES: list[Any] = [
    True, 0, 1, -1, 127, 2**31, -(2**63), 2**63 - 1, 2**64 - 1, 2**100, -(2**127), 0.1, -0.0,
    math.inf, 5e-324, "", "a", "\0", "ä\u2028\ud800", "9", b"", b"\xff\x00", b"ab",
    Decimal("1.10"), Decimal("-1E+30"), Decimal("Infinity"), Fraction(-1, 3), complex(-0.0, 2),
    datetime.date(1, 1, 1), datetime.date(2024, 2, 29), datetime.time(1, 2, 3, 4),
    datetime.timedelta(-1, 2, 3), datetime.timedelta.max, uuid.UUID(int=5), *MOMENTS,
    *(moment.replace(tzinfo=datetime.UTC) for moment in MOMENTS),
]  # fmt: skip
HAS_PYTZ = find_spec("pytz") is not None  # pandas 2 needs it, pandas 3 does not
LOWEST, HIGHEST = -(2**63), 2**63 - 1
# Counts of the units of a time.
COUNTS = [LOWEST + 1, HIGHEST, 0, -1, 10**15]
N_REPEATS = 20  # so that columns are read as columns, and not cell by cell


class NotSavedError(Exception):
    """`fit` or `to_json` rejected the values; nothing was saved."""


def assert_saved(table: Any, column: Any = "c") -> Encoder:
    """Save the encoder of a column, and compare it with the encoder that is read.

    Raise NotSavedError if `fit` or `to_json` raises a TypeError or a ValueError. `from_json` must
    not raise.
    """
    try:
        encoder = Encoder([column], handle_unknown="ignore").fit(table)
        document = encoder.to_json()
    except (NotImplementedError, TypeError, ValueError) as error:
        raise NotSavedError(str(error)) from error
    restored = Encoder.from_json(document)
    assert restored.to_json() == document
    assert restored == encoder
    assert restored.features["name"].tolist() == encoder.features["name"].tolist()
    assert restored.schema.columns[0].types == encoder.schema.columns[0].types
    mine, others = (each.schema.columns[0].categories for each in (encoder, restored))
    assert [*map(identity, mine)] == [*map(identity, others)]
    with contextlib.suppress(ArithmeticError, ValueError):  # the library cannot show far times
        encoded = encoder.transform(table, "csr")
        assert (restored.transform(table, "csr") != encoded).nnz == 0
    return restored


def identity(value: Any) -> Any:
    """Return what two scalars share if they are the same in type, text, unit, zone and fold."""
    if isinstance(value, tuple):
        return type(value), tuple(map(identity, value))
    zone = getattr(value, "tzinfo", None)
    # Zones of pytz are restored as zones of zoneinfo, or as offsets where the two differ.
    name = None if HAS_PYTZ else getattr(zone, "key", None)
    name = name or (zone and value.utcoffset())
    parts = getattr(value, "fold", None), getattr(value, "unit", None), getattr(value, "dtype", "")
    return type(value), str(value), name, *parts


def accepted(make: Any, values: Iterable[Any]) -> list[Any]:
    """Return a list of values that `make` accepts."""

    def is_accepted(values: list[Any]) -> bool:
        try:
            make(values)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # a PanicException of polars is no Exception
            return False
        return True

    found: list[Any] = []
    for value in values:
        if is_accepted([*found, value]):
            found.append(value)
    return found


# ---- Python ----


def assert_names_saved(values: Iterable[Any]) -> None:
    """Save and read an encoder whose names are pairs of a number and a value; so all differ."""
    names = [*enumerate(values)]
    restored = Encoder.from_json(Encoder(names).to_json()).columns
    assert restored is not None
    for (_, value), (_, other) in zip(names, restored, strict=True):
        assert identity(other) == identity(value)


def scalars() -> Iterator[Any]:
    """Yield Python's scalars, with times in every zone and of every kind of offset."""
    yield from VALUES
    for offset, moment in itertools.product(OFFSETS, MOMENTS):
        zone = datetime.timezone(offset)
        yield moment.replace(tzinfo=zone)
        yield moment.time().replace(tzinfo=zone)
    for name in sorted(zoneinfo.available_timezones()):
        for moment in MOMENTS:
            yield moment.replace(tzinfo=zoneinfo.ZoneInfo(name))
        yield MOMENTS[3].timetz().replace(tzinfo=zoneinfo.ZoneInfo(name))


def test_scalars_of_python_are_restored():
    """They are restored as names, where no two values are equal by chance, and as categories."""
    assert_names_saved(scalars())
    for kind in {type(value) for value in VALUES}:
        assert_saved({"c": [value for value in VALUES if type(value) is kind]})
    assert_saved({"c": VALUES})


def test_scalars_of_numpy_are_restored():
    """Every scalar type of NumPy is restored, as a Python value if that is the same."""
    saved = set()
    # ml_dtypes adds its types, if a test before this one has imported it.
    kinds = {kind for kind in np.sctypeDict.values() if kind.__module__ == "numpy"}
    for kind in sorted(kinds, key=str):
        units: list[Any] = [()]
        if issubclass(kind, np.datetime64 | np.timedelta64):
            units = [(f"{step}{unit}",) for step in ("", 25) for unit in (
                "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")]  # fmt: skip
        for unit in units:
            values = accepted(lambda one, kind=kind, unit=unit: kind(*one, *unit), VALUES)
            if kind in (np.str_, np.bytes_):  # NumPy ignores NUL at the end of these
                values = ["a", "ä\u2028"] if kind is np.str_ else [b"a", b"\x00\xff"]
            made = [kind(value, *unit) for value in values]
            made = [value for value in made if isinstance(value, np.generic) and value == value]
            for value in made if kind not in (np.void, np.object_) else ():
                [restored] = Encoder.from_json(Encoder([value]).to_json()).columns
                assert restored == plain(value)
                assert str(restored) == str(value)
                assert getattr(restored, "dtype", None) in (None, value.dtype)
                saved.add(kind)
            if made and kind is not np.void:
                assert_saved({"c": made})
    assert kinds - saved <= {np.void, np.object_}


class Fruit(enum.StrEnum):
    APPLE = "apple"
    PEAR = "pear"


class Size(enum.IntEnum):
    S = 1
    L = 3


class Flag(enum.IntFlag):
    A = 1


class Old(str, enum.Enum):  # noqa: UP042 (its text is "Old.A")
    A = "a"


class Plain(enum.Enum):
    A = "a"


class Text(str):
    """A subclass that only adds methods."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("members", "values"),
    [([*Fruit], ["apple", "pear"]), ([*Size], [1, 3]), ([*Flag], [1]), ([Text("a")], ["a"])],
)
def test_members_of_enumerations_are_saved_as_their_values(members, values):
    """They equal their values and name the features by them."""
    encoder = Encoder(["c"], categories={"c": members}, drop={"c": members[0]})
    encoder.fit({"c": [*members, None]})
    restored = Encoder.from_json(encoder.to_json())

    assert restored.features["name"].tolist() == encoder.features["name"].tolist()
    assert restored.categories["c"].tolist() == values
    assert [*map(type, restored.categories["c"].tolist())] == [*map(type, values)]
    for table in ({"c": members}, {"c": values}):
        assert restored.transform(table).tolist() == encoder.transform(table).tolist()
    assert Encoder.from_json(Encoder(members).to_json()).columns == tuple(values)


@pytest.mark.parametrize("member", [Old.A, Plain.A, object, range(3), frozenset([1])])
def test_values_that_json_cannot_represent_raise_in_to_json(member):
    """The error names the column and the type."""
    encoder = Encoder(["c"]).fit({"c": [member, None]})

    with pytest.raises(TypeError, match=r"column 'c': .* which JSON cannot represent"):
        encoder.to_json()
    with pytest.raises(TypeError, match="which JSON cannot represent"):
        Encoder([member]).to_json()


# ---- Limits: what exceeds one raises when the encoder is saved ----


def nested(depth: int) -> Any:
    """Return a tuple of tuples."""
    return "a" if depth == 0 else (nested(depth - 1),)


TOO_LARGE = {
    "decimal": Decimal("1" * 5_001),
    "fraction": Fraction(1, 10**8_000),
    "integer": 10**5_000,
    "levels": nested(51),
}


@pytest.mark.parametrize("value", TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_value_that_exceeds_a_limit_raises_in_to_json(value):
    """Python has no text for an integer of so many digits, so there is no encoder to save."""
    with pytest.raises(ValueError, match=r"Exceeds|must have at most"):
        Encoder(["c"], categories={"c": ["a", value]}).fit({"c": ["a"]}).to_json()


def test_the_largest_values_are_saved():
    assert_saved(
        {"c": [Decimal("1" * 5_000), nested(50), 10**4_000, Fraction(1, 10**2_000), "a" * 10**6]}
    )


@pytest.mark.parametrize("name", ["n" * 10_000, ("n" * 9_990, 1), -(10**4_000)])
def test_a_name_of_10_000_letters_is_saved(name):
    encoder = Encoder([name]).fit({name: ["a"]})
    assert Encoder.from_json(encoder.to_json()) == encoder


@pytest.mark.parametrize(
    "make",
    [
        lambda: Encoder(["n" * 10_001]),
        lambda: Encoder().fit({"n" * 20_000: ["a"]}),
        lambda: Encoder().fit({("n" * 9_999, 1): ["a"]}),
        lambda: Encoder(prefix="n" * 10_001),
        lambda: Encoder(prefix={"c": "n" * 10_001}),
        lambda: Encoder(prefix_sep="n" * 10_001),
        lambda: Encoder(drop={"n" * 10_001: "first"}),
    ],
)
def test_a_longer_name_or_prefix_raises_in_to_json(make):
    with pytest.raises(ValueError, match="at most 10,000 letters, got"):
        make().to_json()


def test_a_column_that_is_not_encoded_has_a_name_of_any_length():
    """It is in no feature name."""
    encoder = Encoder(["c"]).fit({"c": ["a"], "n" * 20_000: [1]})
    assert Encoder.from_json(encoder.to_json()) == encoder


def test_a_dtype_of_ml_dtypes_is_restored():
    """Its name is known to NumPy only after ml_dtypes was imported."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    encoder = Encoder(dtype=ml_dtypes.bfloat16)
    assert Encoder.from_json(encoder.to_json()) == encoder


# ---- pyarrow ----


def arrow_types(encodings: bool = True) -> list[Any]:
    """Return every type that pyarrow makes without arguments, and parametric types.

    With `encodings`, also dictionaries and run-end encoded columns of them.
    """
    pa = pytest.importorskip("pyarrow")
    zones = [None, "UTC", "Europe/Amsterdam", "+01:30", "-00:15"]
    units = ["s", "ms", "us", "ns"]
    found = []
    for name, make in vars(pa).items():
        is_function = callable(make) and not isinstance(make, type)
        if is_function and make.__module__ == "pyarrow.lib" and name != "log_memory_allocations":
            with contextlib.suppress(Exception):
                made = make()
                found += [made] if isinstance(made, pa.DataType) else []
    found += [pa.timestamp(unit, zone) for unit in units for zone in zones]
    found += [pa.duration(unit) for unit in units]
    found += [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.binary(2)]
    for bits, digits in ((32, 9), (64, 18), (128, 38), (256, 76)):
        if hasattr(pa, f"decimal{bits}"):
            found += [getattr(pa, f"decimal{bits}")(digits, scale) for scale in (0, 2)]
    plain = [*dict.fromkeys(found)]
    for kind in plain if encodings else ():
        for index in (pa.int8(), pa.uint32()):
            with contextlib.suppress(pa.ArrowException, TypeError, ValueError):
                found.append(pa.dictionary(index, kind, ordered=index == pa.int8()))
        with contextlib.suppress(pa.ArrowException, TypeError, ValueError):
            found.append(pa.run_end_encoded(pa.int32(), kind))
    return [*dict.fromkeys(found)]


def arrow_column(kind: Any) -> Any:
    """Return a column of a type with all `VALUES` and extreme times that it can represent."""
    pa = pytest.importorskip("pyarrow")
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, arrow_column(kind.storage_type))
    if pa.types.is_dictionary(kind):
        values = arrow_column(kind.value_type)
        codes = pa.array(range(len(values)), kind.index_type)
        return pa.DictionaryArray.from_arrays(codes, values, ordered=kind.ordered)
    if pa.types.is_run_end_encoded(kind):
        values = arrow_column(kind.value_type)
        return pa.RunEndEncodedArray.from_arrays(range(1, len(values) + 1), values)
    pool = VALUES
    if pa.types.is_temporal(kind):
        # Integers would be any counts. Times with a zone are read as Python's, whose years end.
        pool = [value for value in VALUES if not isinstance(value, int)]
        pool = [value for value in pool if getattr(value, "year", 2000) not in (1, 9999)]
    if kind == pa.month_day_nano_interval():
        pool = [pa.MonthDayNano([1, 2, 3])]
    column = pa.array(accepted(lambda one: pa.array(one, kind), pool), kind)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        has_zone = getattr(kind, "tz", None) is not None
        counts = pa.array([0, 10**6] if has_zone else COUNTS, pa.int64())
        column = pa.concat_arrays([column, counts.cast(kind)])
    return column


def test_types_of_arrow_are_restored():
    pa = pytest.importorskip("pyarrow")
    saved, rejected = set(), {}
    for kind in arrow_types():
        try:
            column = arrow_column(kind)
        except (pa.ArrowException, TypeError, ValueError):
            continue  # pyarrow cannot make such a column
        try:
            assert_saved(pa.table({"c": column}))
            saved.add(kind)
        except NotSavedError as error:
            rejected[str(kind)] = str(error)
    ids = {name: getattr(pa.lib, name) for name in dir(pa.lib) if name.startswith("Type_")}
    seen = {kind.id for kind in saved}
    missing = {name for name, number in ids.items() if number not in seen}
    nested_types = {
        "LIST", "LARGE_LIST", "LIST_VIEW", "LARGE_LIST_VIEW", "FIXED_SIZE_LIST", "MAP", "STRUCT",
        "DENSE_UNION", "SPARSE_UNION",
        "INTERVAL_MONTHS", "INTERVAL_DAY_TIME",  # pyarrow has no such types
    }  # fmt: skip
    assert {name.removeprefix("Type_") for name in missing} <= nested_types, rejected
    for kind in rejected.values():
        assert "cannot be categories" in kind or "Python" in kind, rejected


@pytest.mark.parametrize("size", [2_500, 20_000])
def test_a_type_with_a_long_name_does_not_cost_the_encoder(size):
    """A warning says that the column will be decoded to another type."""
    pa = pytest.importorskip("pyarrow")
    if not hasattr(pa, "opaque"):
        pytest.skip("pyarrow 18 has no opaque types")
    kind = pa.opaque(pa.string(), "t" * size, "vendor")
    column = pa.ExtensionArray.from_storage(kind, pa.array(["a", "b"]))
    encoder = Encoder(["c"]).fit(pa.table({"c": column}))
    assert max(map(len, encoder.schema.columns[0].types)) > size
    is_long = size > 2_500
    with (
        pytest.warns(UserWarning, match="column 'c'.* 4,000")
        if is_long
        else contextlib.nullcontext()
    ):
        document = encoder.to_json()

    restored = Encoder.from_json(document)
    assert restored == encoder
    assert restored.inverse_transform(np.array([[1, 0], [0, 1]]))["c"].tolist() == ["a", "b"]


# ---- polars ----


def polars_types() -> list[Any]:
    """Return every dtype that polars makes without arguments, and parametric dtypes."""
    pl = pytest.importorskip("polars")
    found, classes = [], [pl.DataType]
    for each in classes:
        classes += each.__subclasses__()
        with contextlib.suppress(Exception):
            is_concrete = pl.Series([], dtype=each()).dtype == each()
            found += [each()] if is_concrete else []
    zones = [None, "UTC", "Europe/Amsterdam", "Asia/Kathmandu"]
    found += [pl.Datetime(unit, zone) for unit in ("ms", "us", "ns") for zone in zones]
    found += [pl.Duration(unit) for unit in ("ms", "us", "ns")]
    found += [pl.Decimal(38, 2), pl.Decimal(10, 0), pl.Enum(["b", "a", "unused"])]
    if hasattr(pl, "Categories"):
        found.append(pl.Categorical(pl.Categories("n" * 400)))
    return found


def test_types_of_polars_are_restored():
    pl = pytest.importorskip("polars")
    saved = set()
    for dtype in polars_types():
        pool = ["b", "a"] if isinstance(dtype, pl.Enum) else VALUES
        if dtype.is_temporal():
            times = datetime.date | datetime.time | datetime.timedelta
            pool = [value for value in VALUES if isinstance(value, times)]

        def make(values: list[Any], dtype: Any = dtype) -> Any:
            series = pl.Series("c", values, dtype=dtype)
            assert series.dtype == dtype  # polars ignores the dtype of some lists
            return series

        series = make(accepted(make, pool))
        if (
            isinstance(dtype, pl.Datetime | pl.Duration)
            and getattr(dtype, "time_zone", None) is None
        ):
            series = pl.concat([series, pl.Series("c", COUNTS, pl.Int64).cast(dtype)])
        if not len(series):
            continue
        with contextlib.suppress(NotSavedError):
            assert_saved(pl.DataFrame({"c": pl.concat([series] * N_REPEATS)}))
            saved.add(type(dtype))
    names = {kind.__name__ for kind in saved}
    assert names >= {
        "Boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64",
        "Float32", "Float64", "Decimal", "String", "Binary", "Categorical", "Enum", "Date",
        "Datetime", "Duration", "Time",
    }  # fmt: skip


# ---- pandas ----


def pandas_dtypes() -> list[Any]:
    """Return every dtype that pandas makes without arguments, and parametric dtypes."""
    pd = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    found: list[Any] = [np.dtype(code) for code in np.typecodes["All"] if code not in "VaSU"]
    classes = [pd.api.extensions.ExtensionDtype]
    for each in classes:
        classes += [
            one for one in each.__subclasses__() if one.__module__.partition(".")[0] == "pandas"
        ]
        with contextlib.suppress(Exception):
            pd.Series([], dtype=each())  # an abstract class has no arrays
            found.append(each())
    units, zones = ("s", "ms", "us", "ns"), ("UTC", "Europe/Amsterdam", "US/Pacific")
    found += [np.dtype(f"{kind}8[{unit}]") for kind in "Mm" for unit in units]
    found += [pd.DatetimeTZDtype(unit, zone) for unit in units for zone in zones]
    found += [pd.DatetimeTZDtype("us", datetime.timezone(offset)) for offset in OFFSETS]
    frequencies = ["Y", "Q-FEB", "M", "2M", "W-WED", "D", "3D", "h", "min", "s", "ms", "us", "ns"]
    found += [pd.PeriodDtype(freq) for freq in frequencies]
    subtypes = ("int64", "float64", "datetime64[ns]", "timedelta64[s]", "datetime64[ns, UTC]")
    found += [pd.IntervalDtype(each, side) for each in subtypes for side in ("left", "neither")]
    found += [pd.StringDtype(storage) for storage in ("python", "pyarrow")]
    found += [pd.SparseDtype("int64", 0), pd.SparseDtype("float64")]
    found += [pd.ArrowDtype(kind) for kind in arrow_types(encodings=False)]
    found.append(pd.ArrowDtype(pa.dictionary(pa.int8(), pa.timestamp("us"))))
    return [*dict.fromkeys(found)]


def pandas_column(dtype: Any) -> Any:
    """Return a Series with all `VALUES`, extreme times, periods and intervals of a dtype."""
    pd = pytest.importorskip("pandas")
    if isinstance(dtype, pd.ArrowDtype):
        column = arrow_column(dtype.pyarrow_dtype)
        return pd.Series(pd.arrays.ArrowExtensionArray(column))
    if isinstance(dtype, pd.PeriodDtype):
        ordinals = [0, 5, -5, 10**6, -(10**6), 10**9]
        periods = [pd.Period(ordinal=ordinal, freq=dtype.freq) for ordinal in ordinals]
        return pd.Series(periods, dtype=dtype)
    if isinstance(dtype, pd.IntervalDtype):
        ends = pd.Series([0, 1, 10**6]).astype(dtype.subtype)
        return pd.Series(pd.arrays.IntervalArray.from_breaks(ends, closed=dtype.closed))
    if isinstance(dtype, pd.DatetimeTZDtype):
        counts = np.array([-1_250_000_000, 0, 5])
        return pd.Series(counts.view(f"M8[{dtype.unit}]")).dt.tz_localize("UTC").astype(dtype)
    if (
        isinstance(dtype, np.dtype)
        and dtype.kind in "mM"
        and np.datetime_data(dtype)[0] != "generic"
    ):
        return pd.Series(np.array(COUNTS).view(dtype))
    values = accepted(lambda one: pd.Series(one, dtype=dtype), VALUES)
    return pd.Series(values, dtype=dtype)


def test_dtypes_of_pandas_are_restored():
    pd = pytest.importorskip("pandas")
    saved, rejected = set(), {}
    for dtype in pandas_dtypes():
        for as_category in (False, True):
            try:
                series = pandas_column(dtype)
                series = series.astype("category") if as_category else series
            except Exception as error:  # pandas cannot make such a column
                rejected[f"{dtype} {as_category}"] = repr(error)
                continue
            try:
                assert_saved(pd.DataFrame({"c": series}))
                saved.add(str(dtype))
            except NotSavedError as error:
                rejected[f"{dtype} {as_category}"] = str(error)
    assert saved >= {
        "bool", "int8", "uint64", "float16", "float32", "float64", "object", "boolean", "Int8",
        "Float32", "string", "datetime64[s]", "timedelta64[ns]", "datetime64[us, Europe/Amsterdam]",
        "datetime64[ns, US/Pacific]", "period[M]", "period[3D]", "period[ns]",
        "interval[int64, left]", "interval[datetime64[ns, UTC], neither]", "Sparse[int64, 0]",
        "binary[pyarrow]", "decimal128(38, 2)[pyarrow]", "timestamp[ns, tz=UTC][pyarrow]",
    }, rejected  # fmt: skip


def pandas_scalars() -> Iterator[Any]:
    """Yield times, durations and periods far from today, in every zone."""
    pd = pytest.importorskip("pandas")
    for unit, count in itertools.product(("s", "ms", "us", "ns"), COUNTS):
        with contextlib.suppress(ValueError, OverflowError):
            yield pd.Timestamp(np.datetime64(count, unit))
        with contextlib.suppress(ValueError, OverflowError):
            yield pd.Timedelta(np.timedelta64(count, unit))
    for freq, ordinal in itertools.product(("Y", "M", "D", "ns"), (0, -(10**4), 10**6, 10**12)):
        yield pd.Period(ordinal=ordinal, freq=freq)
    for name in sorted(zoneinfo.available_timezones()):
        zone = zoneinfo.ZoneInfo(name)
        for unit, count in (("s", -5_000_000_000), ("us", 1_729_989_000_000_000), ("ns", 1)):
            moment = pd.Timestamp(np.datetime64(count, unit)).as_unit(unit)
            yield moment.tz_localize("UTC").tz_convert(zone)
    for offset in OFFSETS:
        yield pd.Timestamp("2024-02-29", tz=datetime.timezone(offset))


def test_scalars_of_pandas_are_restored():
    values = []
    for value in pandas_scalars():
        with contextlib.suppress(ValueError, OverflowError):  # pandas cannot show some far times
            str(value)
            values.append(value)
    assert len(values) > 1_000
    assert_names_saved(values)


# ---- The lowest time, and documents of other releases ----


def lowest_columns() -> Iterator[tuple[str, Any]]:
    pa, pl, pd = map(pytest.importorskip, ("pyarrow", "polars", "pandas"))
    for unit in ("s", "ms", "us", "ns"):
        for kind in (pa.timestamp(unit), pa.duration(unit)):
            array = pa.array([LOWEST, 5, None], pa.int64()).cast(kind)
            yield f"arrow {kind}", pa.table({"c": array})
            yield f"dictionary {kind}", pa.table({"c": array.dictionary_encode()})
            yield f"pandas {kind}", pd.DataFrame({"c": pd.arrays.ArrowExtensionArray(array)})
            if unit != "s":
                dtype = (pl.Datetime if "timestamp" in str(kind) else pl.Duration)(unit)
                series = pl.Series([LOWEST, 5, None], dtype=pl.Int64).cast(dtype)
                yield f"polars {dtype}", pl.DataFrame({"c": series})


def test_the_lowest_time_is_an_error_in_fit():
    """It is NaT in NumPy and a value in Arrow and polars; in `transform` it is unknown."""
    for text, table in lowest_columns():
        with pytest.raises(ValueError, match=r"column 'c': .*-2\*\*63 .*replace .* null"):
            Encoder(["c"]).fit(table)
        rows = table[1:] if hasattr(table, "to_arrow") or hasattr(table, "iloc") else table.slice(1)
        encoder = Encoder(["c"], handle_unknown="indicator", handle_missing="indicator").fit(rows)
        assert encoder.transform(table, "numpy").tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]], text
        assert Encoder.from_json(encoder.to_json()) == encoder


def test_documents_of_release_0_1_0_are_read():
    """It wrote offsets with seconds, but could not read them, or lost their microseconds."""
    pytest.importorskip("pandas")
    sources = [
        (
            {"Timestamp": "1930-05-01T00:00:00+00:19:32", "unit": "us", "zone": "Europe/Amsterdam"},
            "1930-04-30T23:40:28+00:00",
        ),
        (
            {"Timestamp": "1850-05-01T00:00:00-07:52:58", "unit": "ns", "zone": "US/Pacific"},
            "1850-05-01T07:52:58+00:00",
        ),
        ({"Timestamp": "2024-05-01T00:00:00-00:00:30", "unit": "s"}, "2024-05-01T00:00:30+00:00"),
        ({"datetime": "2024-05-01T00:00:00+00:00:00.000001"}, "2024-04-30T23:59:59.999999+00:00"),
    ]
    for source, in_utc in sources:
        encoder = Encoder(["c"]).fit({"c": ["a"]})
        document = json.loads(encoder.to_json())
        document["fitted"]["columns"][0]["categories"] = [source]
        [value] = Encoder.from_json(json.dumps(document)).categories["c"].tolist()
        assert value.astimezone(datetime.UTC).isoformat() == in_utc
