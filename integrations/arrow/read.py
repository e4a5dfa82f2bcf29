"""Arrow in: dictionary codes as they lie in memory, all else hashed by Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast._arrow import reader
from onehot_fast._runtime import dispatch, parallel
from onehot_fast.column import Column, Table
from onehot_fast.integrations.arrow.incoming import as_column, as_table, is_encodable
from onehot_fast.integrations.arrow.values import (
    as_categories,
    as_values,
    chunks_of,
    runs_of,
    storage,
)

__all__ = ["ColumnReader", "integer_codes", "read_column", "read_table"]

AnyArray: TypeAlias = npt.NDArray[Any]
Codes: TypeAlias = npt.NDArray[np.integer[Any]]

# Values that a set of Python's tells apart in less time.
FEW = 256


def read_table(table: Any) -> Table:
    """Return any object that speaks Arrow as a `Table`, without reading a column.

    Parameters
    ----------
    table : Table, RecordBatch, RecordBatchReader, or an object with the Arrow PyCapsule interface
        A reader is read to its end. A column alone is a table of "x0".

    Returns
    -------
    Table
        Texts, bytes and dictionaries count as encodable.

    Raises
    ------
    TypeError
        The object does not offer Arrow data.

    Examples
    --------
    >>> table = read_table(pa.table({"size": ["S", "L"], "price": [2, 3]}))
    >>> table.names, table.encodable
    (('size', 'price'), (True, False))
    """
    rows = as_table(table)
    return Table(
        tuple(rows.column_names),
        rows.num_rows,
        tuple(is_encodable(field.type) for field in rows.schema),
        lambda at: read_column(rows.column(at)),
        lambda at: as_values(rows.column(at)),
        "arrow",
        rows,
    )


def read_column(column: Any) -> Column:
    """Return a column of Arrow as a `Column`.

    Parameters
    ----------
    column : Array, ChunkedArray, or an object with the Arrow PyCapsule interface
        The indices of a dictionary without nulls become codes without a copy, if the column has one
        chunk and the dictionary neither nulls nor repetitions. NaN is missing, as null is. Of an
        extension array the storage counts, of a run-end encoded one the values.

    Returns
    -------
    Column
        The categories of an ordered dictionary are declared.

    Raises
    ------
    TypeError
        The column holds lists, structures, maps or unions.
    ValueError
        An index is outside its dictionary, or a time of a day is finer than a microsecond.

    Examples
    --------
    >>> column = read_column(pa.array(["b", None, "a", "b"]))
    >>> column.codes, column.categories
    (array([ 0, -1,  1,  0], dtype=int32), array(['b', 'a'], dtype=object))
    """
    return Column(*ColumnReader().read(as_column(column)))


class Coded(NamedTuple):
    """What becomes a `Column`, whose check of the codes our reader has made already."""

    codes: Codes
    categories: AnyArray
    ordered: bool = False
    source: str = "hash"


class ColumnReader:
    """Reads one column batch by batch, and knows a dictionary again that it met the last time.

    The categories of two results are then the same object.
    """

    def __init__(self) -> None:
        self._dictionaries: dict[tuple[object, ...], pa.Array] = {}
        self._tables: dict[tuple[object, ...], npt.NDArray[np.int32] | None] = {}
        self._categories: AnyArray = np.empty(0, object)

    def read(self, column: pa.Array | pa.ChunkedArray) -> Coded:
        """Return the codes and categories; see `read_column`."""
        column = storage(column)
        kind = column.type
        if pa.types.is_null(kind):
            return Coded(np.full(len(column), -1, np.int8), np.empty(0, object))
        if pa.types.is_boolean(kind):
            codes = _joined([_only(chunk).codes() for chunk in chunks_of(column)], np.int8)
            return Coded(codes, np.array([False, True]), source="bool")
        if pa.types.is_run_end_encoded(kind):
            values, lengths = runs_of(column)
            runs = self.read(values)
            return Coded(np.repeat(runs.codes, lengths), runs.categories, source=runs.source)
        if pa.types.is_dictionary(kind):
            return self._dictionary(column, "dictionary")
        return self._dictionary(_hashed(column), "hash")

    def _dictionary(self, column: pa.Array | pa.ChunkedArray, source: str) -> Coded:
        """Return the codes of dictionary arrays, all under one dictionary."""
        chunks = chunks_of(column)
        arrays = [_only(chunk) for chunk in chunks]
        identities = [_identity(array) for array in arrays]
        met = {name: one.dictionary for name, one in zip(identities, chunks, strict=True)}
        if met.keys() != self._dictionaries.keys() or not met:
            self._learn(met, source == "hash")
        pairs = zip(arrays, identities, strict=True)
        parts = [_recoded(array.codes(), self._tables[name]) for array, name in pairs]
        ordered = column.type.ordered
        is_declared = ordered and all(table is None for table in self._tables.values())
        codes = _joined(parts, np.int32)
        return Coded(codes, self._categories, ordered, "enum" if is_declared else source)

    def _learn(self, dictionaries: dict[tuple[object, ...], pa.Array], is_hashed: bool) -> None:
        """Merge dictionaries, which may hold nulls, repetitions, and each other's values."""
        self._dictionaries = dictionaries  # alive, they keep their identities to themselves
        values = [_comparable(one) for one in dictionaries.values()]
        if len(values) == 1 and not values[0].null_count:
            self._categories = as_categories(values[0])
            is_whole = is_hashed and not pa.types.is_floating(values[0].type)
            if is_whole or _are_distinct(values[0], self._categories):
                self._tables = dict.fromkeys(dictionaries)
                return
        merged = pa.concat_arrays(values or [pa.nulls(0)]).dictionary_encode()
        self._categories = as_categories(merged.dictionary)
        positions = _only(merged).codes()
        self._tables, start = {}, 0
        for identity, one in zip(dictionaries, values, strict=True):
            part = positions[start : start + len(one)].astype(np.int32)
            self._tables[identity] = np.append(part, np.int32(-1))
            start += len(one)


def integer_codes(column: pa.Array | pa.ChunkedArray) -> Codes:
    """Return the integers of a column as they are; a null is none that could be a class."""
    column = storage(column)
    if not pa.types.is_integer(column.type):
        raise TypeError(
            f"array has the Arrow type {column.type}; with depth= accepted are integers"
        )
    if column.type == pa.uint64() and column.null_count:
        column = column.fill_null(2**64 - 1)  # which is no class, and no integer stands above it
    return _joined([_only(chunk).codes() for chunk in chunks_of(column)], np.int8)


def _only(array: pa.Array) -> reader.Array:
    """Return an array as our reader sees it."""
    return next(reader.read(array))


def _hashed(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return a column under a dictionary of its values."""
    try:
        return pc.dictionary_encode(_wide(column))
    except pa.ArrowNotImplementedError:
        raise TypeError(
            f"Arrow type {column.type} cannot be encoded; accepted are texts, bytes, Booleans,"
            " numbers, dates, times, durations and dictionaries of these"
        ) from None


def _wide(values: Any) -> Any:
    """Return decimals in the width that Arrow can hash."""
    kind = values.type
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return values.cast(pa.decimal128(kind.precision, kind.scale))
    return values


def _comparable(values: pa.Array) -> pa.Array:
    """Return the values of a dictionary as hashing tells categories apart: no NaN, no -0.0."""
    values = _wide(storage(values))
    if not pa.types.is_floating(values.type):
        return values
    floats = as_values(values)
    return pa.array(floats + floats.dtype.type(0), values.type, mask=np.isnan(floats))


def _identity(array: reader.Array) -> tuple[object, ...]:
    """Return what tells the dictionary of an array from others that live."""
    return () if array.dictionary is None else array.dictionary.identity


def _are_distinct(values: pa.Array, categories: AnyArray) -> bool:
    """Tell whether the values of a dictionary are; a few of them without asking Arrow.

    Its answer to the first question of a call takes 0.05 ms, with what it brings into the caches.
    """
    if len(categories) <= FEW:
        return len(set(categories.tolist())) == len(categories)
    return len(values.unique()) == len(values)


def _recoded(codes: Codes, table: npt.NDArray[np.int32] | None) -> Codes:
    """Return codes through a table, if there is one."""
    if table is None:
        return codes
    return dispatch.recode(codes, table, parallel.resolve(None, codes.nbytes))


def _joined(parts: Sequence[Codes], otherwise: type[np.integer[Any]]) -> Codes:
    """Return the codes of all chunks; of the dtype given if there is no chunk."""
    if len(parts) == 1:
        return parts[0]
    if len({part.dtype for part in parts}) > 1:
        parts = [part.astype(np.int64) for part in parts]
    return np.concatenate(parts) if parts else np.empty(0, otherwise)
