"""polars in: frames become tables, a Series becomes codes and categories, lists become labels.

What polars holds as codes is not hashed again, and where they lie in one chunk without nulls they
are not copied.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
from polars import selectors

from onehot_fast.adapter import Column, Rows, Table, Values, checks, read_arrow, read_values

__all__ = [
    "is_encodable",
    "read_column",
    "read_labels",
    "read_lists",
    "read_table",
    "selected_names",
]

AnyArray: TypeAlias = npt.NDArray[Any]
Offsets: TypeAlias = npt.NDArray[np.int64]

# The dtypes that hold texts, objects or declared categories.
ENCODABLE = (pl.String, pl.Categorical, pl.Enum, pl.Binary, pl.Object)
# Integers that NumPy has not; the unsigned ones came with polars 1.34.
WIDE_INTEGERS = tuple(getattr(pl, name) for name in ("Int128", "UInt128") if hasattr(pl, name))
TEXTS = (pl.String, pl.Categorical, pl.Enum)
# Numbers that the C data interface and NumPy know alike.
PRIMITIVE = (
    *(pl.Boolean, pl.Int8, pl.Int16, pl.Int32, pl.Int64),
    *(pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64),
)
# The lowest count of a time: NaT in NumPy, an instant in polars.
LOWEST = np.iinfo(np.int64).min
# The days from 0001-01-01 to 9999-12-31: Python has no others, and polars panics.
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
# Up to so many texts Python's dict takes less time than the queries of polars, 0.1 ms each.
FEW_ROWS = 1 << 8
# So few texts are read in less time than the C data interface needs to describe them.
FEW_TEXTS = 16
# Codes with a range beyond this and beyond their number are hashed; others are counted.
SMALL_RANGE = 1 << 16
# Where categories repeat, so many rows are likely to have all of them.
FIRST_ROWS = 1 << 13


def is_encodable(dtype: Any) -> bool:
    """Tell whether a column of this dtype is encoded where nobody says which."""
    return dtype.base_type() in ENCODABLE


def selected_names(frame: Any, selector: Any) -> tuple[str, ...]:
    """Return the names of the columns of a DataFrame that a selector or ``pl.col`` chooses."""
    return selectors.expand_selector(frame, selector, strict=False)


def read_table(table: Any) -> Table:
    """Return a DataFrame, or a Series, as a `Table`, without reading a column.

    Parameters
    ----------
    table : polars.DataFrame or polars.Series
        A Series is a table of its name, or of "x0".

    Returns
    -------
    Table
        Columns of texts, categories, bytes and objects count as encodable.

    Raises
    ------
    TypeError
        If it is something else, as a LazyFrame, which has no rows yet.

    Examples
    --------
    >>> table = read_table(pl.DataFrame({"size": ["S", "L"], "price": [2, 3]}))
    >>> table.names, table.encodable
    (('size', 'price'), (True, False))
    """
    if isinstance(table, pl.Series):
        table = table.to_frame(table.name or "x0")
    if not isinstance(table, pl.DataFrame):
        raise TypeError(
            f"a polars.{type(table).__name__} has no rows; accepted are a DataFrame and a"
            " Series: collect it, or see LazyFrame.onehot, which encodes what comes later"
        )
    dtypes = cache(lambda: table.dtypes)  # of all columns at once
    types = cache(lambda: list(map(type, dtypes())))  # compared ten times as fast
    return Table(
        tuple(table.columns),
        table.height,
        lambda i: is_encodable(dtypes()[i]),
        lambda i: read_column(table.to_series(i)),
        lambda i: _values(table.to_series(i)),
        "polars",
        table,
        lambda positions: _side_by_side(table, types(), positions),
        lambda i: _texts(table.to_series(i)),
        lambda i: f"polars:{'Enum' if types()[i] is pl.Enum else dtypes()[i]}",
    )


def _texts(series: pl.Series) -> list[Any] | None:
    """Return texts as Python's, those of categories too, None where the Series holds no texts."""
    return series.to_list() if isinstance(series.dtype, TEXTS) else None


def _side_by_side(
    table: pl.DataFrame, types: list[Any], positions: Sequence[int]
) -> AnyArray | None:
    """Return columns of one dtype as the rows of an array."""
    kind, *others = {types[i] for i in positions}
    if others or kind not in PRIMITIVE:
        return None
    # To choose columns takes polars longer than to export some more of them.
    is_all = len(types) <= 2 * len(positions) and set(PRIMITIVE).issuperset(types)
    part = table if is_all else table[:, list(positions)]
    if "\0" in "".join(part.columns):  # such a name aborts the process
        part = part.clone()
        part.columns = list(map(str, range(part.width)))
    chosen = positions if is_all else range(part.width)
    blocks = [chunk.block(chosen) for chunk in read_arrow(part)]
    parts = [block for block in blocks if block is not None]
    if not parts or len(parts) < len(blocks):
        return None
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def read_column(series: Any) -> Column | Values:
    """Return a Series: a `Column` where it holds codes, else its `Values`.

    Parameters
    ----------
    series : polars.Series of n_rows
        Of any dtype but lists, arrays and structs. A null is missing, and so is NaN. The codes of
        an Enum without nulls are a read-only view of its own memory.

    Returns
    -------
    Column or Values
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
    if dtype == pl.String and len(series) <= FEW_TEXTS:
        return Values([_objects(series.to_list())])
    # Most methods of a Series take a name such as "^x$" for a pattern, which it does not match; and
    # where a name has a "\0", the export aborts the process.
    series = series.alias("")
    if dtype == pl.String or dtype == pl.Boolean:
        return _plain_values(series)
    if dtype == pl.Enum:
        return Column(_codes(series.to_physical()), dtype.categories.to_numpy(), True, "enum")
    if dtype.base_type() is pl.Categorical:  # `==` holds for that of global categories alone
        return _read_categorical(series)
    if dtype.is_temporal():
        return _read_times(series, name)
    if dtype in (*WIDE_INTEGERS, pl.Binary, pl.Object, pl.Null) or dtype.is_decimal():
        return read_values(series.to_list()).encode()
    if dtype.is_numeric():
        return _plain_values(series)
    raise TypeError(
        f"Series {name!r} has dtype {dtype}, whose values cannot be categories; multi_hot"
        " encodes lists, and a struct is encoded field by field"
    )


def read_lists(rows: Any) -> Rows:
    """Return a Series of lists as offsets and flat elements.

    Parameters
    ----------
    rows : polars.Series of List or Array, of n_rows
        A missing list is empty.

    Returns
    -------
    Rows
        Row ``i`` has the elements ``offsets[i]:offsets[i + 1]``; those of integers are an array,
        in which a missing one is -1, all others a `Column`.

    Raises
    ------
    TypeError
        If it is something else.
    ValueError
        If a row has an integer beyond int64.

    Examples
    --------
    >>> read_lists(pl.Series([[2, 0], None, [2]]))
    Rows(offsets=array([0, 2, 2, 3]), elements=array([2, 0, 2]))
    """
    offsets, elements = _flatten(rows)
    if elements.dtype.is_integer():
        return Rows(offsets, _integers(elements, rows.name))
    return Rows(offsets, read_column(elements.alias(rows.name)).encode())


def read_labels(series: pl.Series, sep: str | None) -> tuple[Offsets, Column]:
    """Return the labels of each row, be they listed or separated.

    Parameters
    ----------
    series : polars.Series of n_rows
        Lists, or texts where there is a `sep`; a missing row has no labels.
    sep : str, optional
        What stands between labels, literally. An empty label is none.

    Returns
    -------
    offsets : int64 ndarray of shape (n_rows + 1,)
    labels : Column
        Row ``i`` has the codes ``offsets[i]:offsets[i + 1]``.

    Raises
    ------
    TypeError, ValueError
        If the rows are no lists, or no texts where there is a `sep`, or `sep` is empty.

    Examples
    --------
    >>> offsets, labels = read_labels(pl.Series(["a|b", None, "b"]), "|")
    >>> offsets, labels.categories[labels.codes].tolist()
    (array([0, 2, 2, 3]), ['a', 'b', 'b'])
    """
    if sep is not None:
        return _separated(series, sep)
    offsets, elements = _flatten(series)
    return offsets, read_column(elements.alias(series.name)).encode()


def _values(series: pl.Series) -> AnyArray:
    """Return a Series as NumPy has it; the zone of a time is kept in objects."""
    if getattr(series.dtype, "time_zone", None) is not None:
        return _objects(series.to_list())
    return series.to_numpy()


def _objects(values: list[Any]) -> npt.NDArray[np.object_]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _codes(series: pl.Series) -> AnyArray:
    """Return integers, Booleans or the codes of an Enum, a null as -1; a view where that can be."""
    chunks = [chunk.codes() for chunk in read_arrow(series)]
    if len(chunks) == 1:
        return chunks[0]
    return np.concatenate(chunks) if chunks else np.empty(0, np.int8)


def _plain_values(series: pl.Series) -> Values:
    """Return values that the core reads where polars keeps them."""
    return Values(list(read_arrow(series)))


def _read_categorical(series: pl.Series) -> Column:
    """Return the codes of a Categorical, and the texts of those that occur."""
    if len(series) <= FEW_ROWS:
        column = read_values(series.to_list()).encode()
        return Column(column.codes, column.stored, source="dictionary")
    codes = _codes(series.to_physical())
    n_codes = int(codes.max()) + 1
    rows = _example_rows(codes, n_codes) if n_codes <= max(SMALL_RANGE, len(codes)) else None
    if rows is None or (rows < 0).any():  # codes of other columns lie between those of this one
        missing = codes < 0
        present = np.where(missing, n_codes - 1, codes)
        codes = read_values(np.ma.masked_array(present, missing)).encode().codes
        rows = _example_rows(codes, int(codes.max()) + 1)
    texts = series.gather(rows).cast(pl.String).to_numpy()
    return Column(codes, texts, source="dictionary")


def _example_rows(codes: AnyArray, n_codes: int) -> npt.NDArray[np.int64]:
    """Return for each code a row that has it, -1 where there is none."""
    rows = np.full(n_codes + 1, -1, np.int64)  # the last entry is that of missing codes
    for stop in (FIRST_ROWS, len(codes)):
        # put, which checks each code where it uses it: their memory may be somebody's.
        rows.put(codes[:stop], np.arange(min(stop, len(codes))))
        if (rows[:n_codes] >= 0).all():
            break
    return rows[:n_codes]


def _read_times(series: pl.Series, name: str) -> Values:
    """Return dates, times and durations by the integers that they are."""
    dtype: Any = series.dtype
    is_zoned = getattr(dtype, "time_zone", None) is not None
    physical = series.cast(pl.Int32 if dtype == pl.Date else pl.Int64)
    if not is_zoned and dtype in (pl.Datetime, pl.Duration):
        if physical.min() == LOWEST:
            physical = physical.replace(LOWEST, None)
        # As integers: before 1.34 a Series exports them with the dtype that they do not have.
        kind = f"{'M' if dtype == pl.Datetime else 'm'}8[{dtype.time_unit}]"
        return Values(list(read_arrow(physical)), lambda counts: counts.view(kind))

    def as_times(counts: AnyArray) -> AnyArray:
        _check_times(counts, dtype, is_zoned, name)
        return _objects(pl.Series(counts).cast(dtype).to_list())

    return Values(list(read_arrow(physical)), as_times)


def _check_times(counts: AnyArray, dtype: Any, is_zoned: bool, name: str) -> None:
    """Refuse what Python's times do not reach."""
    in_nanoseconds = dtype == pl.Time or (is_zoned and dtype.time_unit == "ns")
    if in_nanoseconds and (counts % 1000).any():
        raise ValueError(
            f"Series {name!r} of {dtype} has nanoseconds, which Python's times have not:"
            " round them, or encode a Datetime without a zone"
        )
    days = counts // DAY[dtype.time_unit] if is_zoned else counts
    margin = int(is_zoned)  # the zone moves an instant by less than a day
    beyond = (days < FIRST_DAY + margin) | (days > LAST_DAY - margin)
    if dtype != pl.Time and beyond.any():
        raise ValueError(
            f"Series {name!r} of {dtype} has years outside 1 to 9999, which Python's dates have"
            " not: filter them, or encode a Datetime without a zone"
        )


def _integers(elements: pl.Series, name: str) -> AnyArray:
    """Return integers as an array, a missing one as -1."""
    if not elements.null_count() and elements.dtype not in WIDE_INTEGERS:
        return elements.to_numpy()
    try:
        return elements.cast(pl.Int64).fill_null(-1).to_numpy()
    except pl.exceptions.InvalidOperationError as error:
        raise ValueError(
            f"Series {name!r} of {elements.dtype} has elements beyond int64: {error}"
        ) from error


def _separated(series: pl.Series, sep: str) -> tuple[Offsets, Column]:
    """Return the labels in separated texts, after each distinct text was split once."""
    checks.check_separator(sep)
    if series.dtype.base_type() not in (pl.String, pl.Categorical, pl.Enum):
        raise TypeError(
            f"Series {series.name!r} has dtype {series.dtype}: with sep= every row is a string"
        )
    texts = read_column(series).encode()
    offsets, elements = _flatten(pl.Series(texts.categories, dtype=pl.String).str.split(sep))
    labels = read_column(elements.replace("", None)).encode()
    return Rows(offsets, labels).take(texts.codes)


def _flatten(rows: pl.Series) -> tuple[Offsets, pl.Series]:
    """Return the offsets and the elements of lists."""
    name, rows = rows.name, rows.alias("")  # a name such as "^x$" would be taken for a pattern
    if rows.dtype == pl.Array:
        rows = rows.arr.to_list()
    if rows.dtype != pl.List:
        raise TypeError(
            f"Series {name!r} has dtype {rows.dtype}; accepted are List and Array (strings need"
            " sep=)"
        )
    lengths = rows.list.len().fill_null(0)
    # Exploded, an empty list would become a null.
    filled = rows.filter(lengths > 0) if (lengths == 0).any() else rows
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths.to_numpy(), out=offsets[1:])
    return offsets, filled.explode()
