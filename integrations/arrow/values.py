"""Distinct values of Arrow as categories of the core, and the way back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast._arrow import reader
from onehot_fast._categories.keys import as_array, keys, plain

__all__ = [
    "as_categories",
    "as_values",
    "chunks_of",
    "common_values",
    "comparable_set",
    "runs_of",
    "storage",
]

AnyArray: TypeAlias = npt.NDArray[Any]


def storage(array: Any) -> Any:
    """Return the storage of an extension array; any other array, or chunked array, as it is."""
    while isinstance(array.type, pa.BaseExtensionType):
        chunks = [chunk.storage for chunk in getattr(array, "chunks", [array])]
        kind = array.type.storage_type
        array = pa.chunked_array(chunks, kind) if isinstance(array, pa.ChunkedArray) else chunks[0]
    return array


def as_categories(values: pa.Array) -> AnyArray:
    """Return values, none of them null, as NumPy keeps categories.

    Numbers, Booleans, durations and times without a zone have NumPy's own dtype; texts, bytes,
    dates, times of a day, times with a zone and decimals are Python's objects.
    """
    if _is_pythons(values.type):
        return _objects(values)
    found: AnyArray = values.to_numpy(zero_copy_only=False)
    return found


def as_values(column: Any) -> AnyArray:
    """Return a column as an array, a row for a row; nulls are NaN, NaT, or None among objects."""
    column = storage(column)
    if isinstance(column, pa.ChunkedArray):
        chunks = column.chunks or [pa.nulls(0, column.type)]
        return np.concatenate([as_values(chunk) for chunk in chunks])
    if pa.types.is_dictionary(column.type):
        return _looked_up(as_values(column.dictionary), next(reader.read(column)).codes())
    if pa.types.is_run_end_encoded(column.type):
        values, lengths = runs_of(column)
        return np.repeat(as_values(values), lengths)
    # As floats, which NumPy would make of them, integers beyond 2**53 would not be the same.
    if _is_pythons(column.type) or (pa.types.is_integer(column.type) and column.null_count):
        return _objects(column)
    found: AnyArray = column.to_numpy(zero_copy_only=False)
    return found


def _is_pythons(kind: pa.DataType) -> bool:
    """Tell types of which NumPy would make something else: an instant of a date, or of a zone."""
    zoned = pa.types.is_timestamp(kind) and kind.tz is not None
    return bool(zoned or pa.types.is_date(kind) or kind == pa.month_day_nano_interval())


def _looked_up(values: AnyArray, codes: npt.NDArray[Any]) -> AnyArray:
    """Return the values of dictionary codes; Arrow cannot decode every dictionary of its own."""
    if codes.dtype.kind == "i" and (codes < 0).any():
        kind = values.dtype.kind
        missing = {"f": np.nan, "m": "NaT", "M": "NaT"}.get(kind)
        dtype = values.dtype if kind in "fmM" else np.dtype(object)
        values = np.append(values.astype(dtype), np.full(1, missing, dtype))
    found: AnyArray = values[codes]
    return found


def _objects(values: pa.Array) -> npt.NDArray[np.object_]:
    """Return values as Python's objects."""
    objects = np.empty(len(values), object)
    objects[:] = values.to_pylist()
    return objects


def chunks_of(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    """Return the chunks of a column."""
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def runs_of(column: pa.Array | pa.ChunkedArray) -> tuple[pa.ChunkedArray, npt.NDArray[np.int64]]:
    """Return the values of the runs of a column, and how many rows each has."""
    values, lengths = [], []
    for chunk in chunks_of(column):
        first, count = chunk.find_physical_offset(), chunk.find_physical_length()
        ends = chunk.run_ends.to_numpy()[first : first + count].astype(np.int64)
        inside = np.minimum(ends - chunk.offset, len(chunk))
        values.append(chunk.values.slice(first, count))
        lengths.append(np.diff(inside, prepend=0))
    return (
        pa.chunked_array(values, column.type.value_type),
        np.concatenate(lengths) if lengths else np.empty(0, np.int64),
    )


def common_values(categories: Iterable[Any], what: str) -> pa.Array:
    """Return categories as an array of the one type that holds all of them exactly.

    Parameters
    ----------
    categories : iterable of scalars
        None of them missing.
    what : str
        Whose categories they are, for the error.

    Returns
    -------
    pyarrow.Array
        Texts where there are no categories.

    Raises
    ------
    TypeError
        No type of Arrow holds all of them.

    Examples
    --------
    >>> common_values([1, 2.5], "column 'n'").type
    DataType(double)
    """
    items = [plain(item) for item in categories]
    if not items:
        return pa.array([], pa.string())
    for convert in (_inferred, _unsigned, _nanoseconds):
        try:
            found = convert(items)
            if keys(map(plain, as_categories(found))) == keys(items):
                return found
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            continue
    kinds = sorted({type(item).__name__ for item in items})
    raise TypeError(f"the categories of {what} have no common type in Arrow: {', '.join(kinds)}")


def comparable_set(categories: Iterable[Any], what: str) -> pa.Array:
    """Return categories in the type to which the values of any column are cast to compare them.

    Numbers and Booleans are float64 while that holds them exactly, times and durations are counted
    in nanoseconds while that reaches them: less is lost, and so refused, by the cast.
    """
    values = common_values(categories, what)
    kind = values.type
    try:
        if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return pc.add(values.cast(pa.float64()), 0.0)  # which makes 0.0 of -0.0
        if pa.types.is_timestamp(kind):
            return values.cast(pa.timestamp("ns", kind.tz))
        return values.cast(pa.duration("ns")) if pa.types.is_duration(kind) else values
    except pa.ArrowInvalid:
        return values


def _inferred(items: list[Any]) -> pa.Array:
    """Return values of the type that Arrow, or NumPy, finds for them."""
    array = as_array(items)
    return pa.array(items if array.dtype == object else array)


def _unsigned(items: list[Any]) -> pa.Array:
    """Return integers of which some are beyond int64."""
    return pa.array(items, pa.uint64())


def _nanoseconds(items: list[Any]) -> pa.Array:
    """Return times that differ in nanoseconds, which Arrow does not look for."""
    return pa.array(items, pa.timestamp("ns", pa.array(items).type.tz))
