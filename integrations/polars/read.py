"""polars in: a Series becomes codes and categories, and nothing that is coded is hashed again."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from onehot_fast._arrow.reader import read
from onehot_fast._categories.factorize import DENSE_RANGE, SMALL_RANGE, Factorized, factorize
from onehot_fast.column import Column

__all__ = ["is_encodable", "objects", "read_column"]

AnyArray: TypeAlias = npt.NDArray[Any]

# The dtypes that hold texts, objects or declared categories.
ENCODABLE = (pl.String, pl.Categorical, pl.Enum, pl.Binary, pl.Object)
UInt128: Any = getattr(pl, "UInt128", pl.Int128)  # not in polars 1.34
# What polars counts as an instant and NumPy as NaT.
LOWEST = np.iinfo(np.int64).min
# The days from 0001-01-01 to 9999-12-31: Python has no others, and polars panics.
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
# Codes that are spread wider than this, and wider than there are rows, are counted anew.
WIDEST = 1 << 16
# Where categories repeat, the first rows have met all of them.
FIRST_ROWS = 1 << 13


def is_encodable(dtype: Any) -> bool:
    """Tell whether a column of this dtype is encoded where nobody says which."""
    return dtype.base_type() in ENCODABLE


def read_column(series: Any) -> Column:
    """Return a Series as a `Column`.

    Parameters
    ----------
    series : polars.Series of n_rows
        Of any dtype but lists, arrays and structs. A null is missing, and so is NaN. The codes of
        an Enum without nulls are a read-only view of its own memory, those of a Categorical are
        taken over; texts are hashed by polars.

    Returns
    -------
    Column
        An Enum declares its categories; those of a Categorical are the ones that occur. Dates are
        `datetime.date`, instants `numpy.datetime64`, or `datetime.datetime` if they have a zone.

    Raises
    ------
    TypeError
        If the values are of another dtype, or objects that cannot be hashed.
    ValueError
        If a time of day, or a time with a zone, has nanoseconds, or a date or a time with a zone
        is not of the years 1 to 9999: Python has no others.

    Examples
    --------
    >>> read_column(pl.Series(["S", None], dtype=pl.Enum(["S", "M"])))
    Column(2 rows, 2 ordered categories, source='enum')
    """
    name, dtype = series.name, series.dtype
    # Most methods of a Series take a name such as "^x$" for a pattern, which it does not match; and
    # where a name has a "\0", the export aborts the process.
    series = series.alias("")
    if dtype == pl.Enum:
        return Column(_codes(series), dtype.categories.to_numpy(), True, "enum")
    if dtype.base_type() is pl.Categorical:  # only that of global categories equals it
        return _read_categories(series, "dictionary")
    if dtype == pl.String:
        # Of its own, so that its codes are dense, and that what it met is forgotten with it.
        return _read_categories(series.cast(pl.Categorical(pl.Categories.random())), "hash")
    if dtype == pl.Boolean:
        return Column(_codes(series), np.array([False, True]), source="bool")
    if dtype.is_temporal():
        return _read_times(series, name)
    if dtype.is_float() or (dtype.is_integer() and dtype not in (pl.Int128, UInt128)):
        codes, categories, source = _factorized(series)
        return Column(codes, categories, source=source)
    if dtype.is_decimal() or dtype in (pl.Int128, UInt128, pl.Binary, pl.Object, pl.Null):
        codes, categories, source = factorize(objects(series.to_list()))
        return Column(codes, categories, source=source)
    raise TypeError(
        f"Series {name!r} has dtype {dtype}, whose values are no categories; multi_hot"
        " encodes lists, and a struct is encoded field by field"
    )


def _codes(series: pl.Series) -> AnyArray:
    """Return the physical integers, a null as -1: a view where there is one chunk without nulls."""
    chunks = [chunk.codes() for chunk in read(series.to_physical())]
    if len(chunks) == 1:
        return chunks[0]
    return np.concatenate(chunks) if chunks else np.empty(0, np.int8)


def _read_categories(series: pl.Series, source: str) -> Column:
    """Return a Categorical as its codes, and the texts of those that occur."""
    codes = _codes(series)
    n = _n_codes(codes)
    rows = _example_rows(codes, n) if n <= max(WIDEST, len(codes)) else None
    if rows is None or (rows < 0).any():
        # Codes of other columns lie between those of this one. What is missing counts as the last.
        missing = codes < 0
        codes = factorize(np.ma.masked_array(np.where(missing, n - 1, codes), missing)).codes
        rows = _example_rows(codes, _n_codes(codes))
    texts = series.gather(rows).cast(pl.String).to_numpy()
    return Column(codes, texts, source=source)


def _n_codes(codes: AnyArray) -> int:
    """Return the number after the largest code."""
    return int(codes.max()) + 1 if len(codes) else 0


def _example_rows(codes: AnyArray, n: int) -> npt.NDArray[np.int64]:
    """Return for each of ``n`` codes a row that has it, -1 where there is none."""
    rows = np.full(n + 1, -1, np.int64)  # the last entry is that of missing codes
    for stop in (min(FIRST_ROWS, len(codes)), len(codes)):
        rows[codes[:stop]] = np.arange(stop)
        if (rows[:n] >= 0).all():
            break
    return rows[:n]


def _factorized(series: pl.Series) -> Factorized:
    """Return the codes of numbers."""
    if series.dtype.is_float():
        return factorize(series.to_numpy())  # a null as NaN
    low: Any = series.min()
    high: Any = series.max()
    if low is not None and high - low > max(SMALL_RANGE, DENSE_RANGE * len(series)):
        return _hashed(series)
    if not series.null_count():
        return factorize(series.to_numpy())
    filled = series.fill_null(0 if low is None else low).to_numpy()
    return factorize(np.ma.masked_array(filled, series.is_null().to_numpy()))


def _hashed(series: pl.Series) -> Factorized:
    """Return the codes of integers by polars' join on the distinct ones.

    A million rows of a thousand integers far apart take 31 ms; sorted by NumPy 111.
    """
    keys = series.alias("key").to_frame()
    known = keys.drop_nulls().unique().with_row_index("code")
    found = keys.join(known, on="key", how="left", maintain_order="left")
    return Factorized(_codes(found["code"]), known["key"].to_numpy(), "hash")


def _read_times(series: pl.Series, name: str) -> Column:
    """Return dates, times and durations by the integers that they are."""
    dtype: Any = series.dtype
    zoned = getattr(dtype, "time_zone", None) is not None
    plain = not zoned and dtype in (pl.Datetime, pl.Duration)
    physical = series.to_physical()
    if plain and physical.min() == LOWEST:
        physical = physical.replace(LOWEST, None)
    codes, counts, source = _factorized(physical)
    if plain:
        letter = "M" if dtype == pl.Datetime else "m"
        return Column(codes, counts.view(f"{letter}8[{dtype.time_unit}]"), source=source)
    _check_times(counts, dtype, zoned, name)
    return Column(codes, objects(pl.Series(counts).cast(dtype).to_list()), source=source)


def _check_times(counts: AnyArray, dtype: Any, zoned: bool, name: str) -> None:
    """Refuse what Python's times do not reach."""
    in_nanoseconds = dtype == pl.Time or (zoned and dtype.time_unit == "ns")
    if in_nanoseconds and (counts % 1000).any():
        raise ValueError(
            f"Series {name!r} of {dtype} has nanoseconds, which Python's times have not:"
            " round them, or encode a Datetime without a zone"
        )
    days = counts // DAY[dtype.time_unit] if zoned else counts
    margin = int(zoned)  # the zone moves an instant by less than a day
    beyond = (days < FIRST_DAY + margin) | (days > LAST_DAY - margin)
    if dtype != pl.Time and beyond.any():
        raise ValueError(
            f"Series {name!r} of {dtype} has years outside 1 to 9999, which Python's dates have"
            " not: filter them, or encode a Datetime without a zone"
        )


def objects(values: list[Any]) -> npt.NDArray[np.object_]:
    """Return a list as an array of the same objects."""
    array = np.empty(len(values), object)
    array[:] = values
    return array
