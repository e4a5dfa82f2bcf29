"""Read Arrow tables, and their columns as category codes, plain values or lists of labels.

Dictionary codes and plain values are read without a copy; times are read as integers. pyarrow
hashes decimals and fixed-size binary values, because our hash tables do not support them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast import Column
from onehot_fast.adapter import (
    CodedColumn,
    RaggedColumn,
    Rows,
    Table,
    Values,
    integration,
    lut_of,
    lut_of_order,
    read_arrow,
    reader_of,
    with_article,
)

from ._types import LIBRARY, type_name
from ._values import (
    WIDE_INTEGER,
    array_of_numbers,
    as_values,
    check_offsets,
    chunks_of,
    is_uuid,
    plain_array,
    runs_of,
    storage,
    storage_of,
)

AnyArray: TypeAlias = npt.NDArray[Any]
Codes: TypeAlias = npt.NDArray[np.integer[Any]]
ArrowColumn: TypeAlias = pa.Array | pa.ChunkedArray

TEXT_TYPES = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
# The core reads these types, and timestamps without a time zone, without a copy.
PLAIN_TYPES = {pa.type_for_alias(name).id for name in (*TEXT_TYPES, "duration[s]")} | {
    pa.from_numpy_dtype(np.dtype(f"{kind}{size}")).id for kind in "iu" for size in (1, 2, 4, 8)
} | {pa.bool_().id, pa.float16().id, pa.float32().id, pa.float64().id}  # fmt: skip

# Types whose rows are arrays of numbers; new in pyarrow 12.
TENSORS: Any = getattr(pa, "FixedShapeTensorType", ())


def as_column(column: Any) -> ArrowColumn:
    """Return an object with Arrow data as a pyarrow array or chunked array, without a copy."""
    if isinstance(column, ArrowColumn):
        return column
    if reader_of(column) != "polars":
        return _column_of(read_arrow(column))
    column, lists = integration("polars").exportable(column, keep_categories=False)
    if lists:
        return _of_list(lists[0], len(column))
    try:
        return _column_of(read_arrow(column))
    except OSError:  # early versions export Series of dates, times and decimals as integers
        return as_table(column.alias("").to_frame()).column(0)


def _column_of(stream: Any) -> pa.ChunkedArray:
    """Return a chunked array of all arrays that an Arrow stream yields."""
    kind = pa.field(stream.schema).type
    chunks = [pa.array(chunk) for chunk in stream]
    if pa.types.is_nested(kind):  # pyarrow copies the elements of lists without checking offsets
        for chunk in chunks:
            check_offsets(chunk)
    return pa.chunked_array(chunks, kind)


def as_table(table: Any) -> pa.Table:
    """Return an object with Arrow data as a pyarrow table, without a copy."""
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if isinstance(table, pa.RecordBatchReader):
        return table.read_all()
    if isinstance(table, ArrowColumn) and not pa.types.is_struct(table.type):
        return pa.table({"x0": table})
    if type(table).__module__ == "pyarrow._dataset":
        reader = "scanner" if hasattr(table, "to_reader") else "dataset.scanner()"
        raise TypeError(f"{with_article(table)} is not a table: pass {reader}.to_reader()")
    is_relation = type(table).__module__.partition(".")[0] in ("duckdb", "_duckdb")
    if is_relation:
        _check_relation(table)
    lists: dict[int, list[int | None] | None] = {}
    if reader_of(table) == "polars":
        table, lists = integration("polars").exportable(table)
    stream = read_arrow(table)
    if stream.schema.kind != "struct":
        return pa.table({"x0": _of_list(lists[0], len(table)) if lists else _column_of(stream)})
    schema = pa.schema(stream.schema)
    batches = [
        pa.RecordBatch.from_arrays(
            [pa.array(chunk.child(i)) for i in range(len(schema))], schema=schema
        )
        for chunk in stream
    ]
    whole = pa.Table.from_batches(batches, schema)
    for i, items in lists.items():
        whole = whole.set_column(i, schema.names[i], _of_list(items, whole.num_rows))
    return _with_enums(whole, table) if is_relation else whole


def _of_list(items: list[int | None] | None, n_rows: int) -> pa.Array:
    """Return integers of 128 bits as decimals; nulls if there are no items."""
    return pa.nulls(n_rows) if items is None else pa.array(items, WIDE_INTEGER)


def _check_relation(relation: Any) -> None:
    """Raise an error for a column of a DuckDB relation whose values its export makes equal."""
    for name, kind in zip(relation.columns, relation.types, strict=True):
        if str(kind.id) == "time with time zone":  # exported as times without offsets
            raise TypeError(
                f"column {name!r} has the DuckDB type {kind}, for which Arrow has no type: pass"
                f""" relation.project('* REPLACE ("{name}"::VARCHAR AS "{name}")')"""
            )


def _with_enums(table: pa.Table, relation: Any) -> pa.Table:
    """Return a table of a DuckDB relation with its ENUMs as ordered dictionaries of all values.

    DuckDB exports an ENUM as an unordered dictionary, although its values have an order.
    """
    for i, kind in enumerate(relation.types):
        if str(kind.id) != "enum":
            continue
        [(_, values)] = kind.children
        field, position_of = table.schema.field(i), {value: i for i, value in enumerate(values)}
        ordered = pa.dictionary(field.type.index_type, field.type.value_type, ordered=True)
        known = pa.array(values).cast(field.type.value_type)
        indices = [pa.array([], field.type.index_type)]  # without rows, there is no chunk
        for chunk in table.column(i).chunks:
            positions = [position_of[value] for value in chunk.dictionary.to_pylist()]
            indices.append(pa.array(positions, field.type.index_type).take(chunk.indices))
        chunks = [pa.DictionaryArray.from_arrays(each, known, ordered=True) for each in indices]
        table = table.set_column(i, field.with_type(ordered), pa.chunked_array(chunks, ordered))
    return table


def as_rows(table: Any) -> pa.Table | pa.RecordBatchReader:
    """Return a reader unchanged, and any other object with Arrow data as a table."""
    return table if isinstance(table, pa.RecordBatchReader) else as_table(table)


def read_table(table: Any, types: pa.Schema | None = None) -> Table:
    """Return an object with Arrow data as a `Table`; no column is read yet.

    `types` has the types of the columns at their source, if a reader has converted them.
    """
    return ArrowTable(as_table(table), types)


class ArrowTable(Table):
    """A `Table` whose source is a pyarrow table."""

    library = "arrow"

    def __init__(self, table: pa.Table, types: pa.Schema | None = None) -> None:
        super().__init__(table.schema.names, table.num_rows, table)
        self._types = types

    def is_encodable(self, position: int) -> bool:
        """Tell whether the column has strings, bytes or a dictionary, or lists of them."""
        return is_encodable(self.source.schema.field(position).type)

    def type_of(self, position: int) -> str:
        """Return the name of the Arrow type of a column, with the prefix ``arrow:``."""
        field = self.source.schema.field(position)
        field = field if self._types is None else self._types.field(field.name)
        return f"{LIBRARY}{type_name(field.type)}"

    def read_column(self, position: int) -> Column | Values:
        """Return a column as codes or values."""
        return read_column(self.source.column(position))

    def read_lists(self, position: int) -> RaggedColumn | None:
        """Return a column of lists as rows of labels, or None if its rows are single values."""
        column = self.source.column(position)
        return read_ragged(column) if are_lists(column) else None

    def to_numpy(self, position: int) -> AnyArray:
        """Return a column as a NumPy array."""
        return as_values(self.source.column(position))

    def block(self, positions: Sequence[int]) -> AnyArray | None:
        """Return columns of one numeric or Boolean type as the rows of an array, else None."""
        if isinstance(self.source.schema.field(positions[0]).type, pa.BaseExtensionType):
            return None  # its values may differ from what it stores
        return read_arrow(self.source.select(positions)).block(range(len(positions)))

    def cells(self, position: int) -> list[Any] | None:
        """Return a column as Python objects, or None if Python cannot represent its values."""
        try:
            values: list[Any] = self.source.column(position).to_pylist()
        except (ArithmeticError, IndexError, ValueError, NotImplementedError):
            return None
        return values


def is_encodable(kind: pa.DataType) -> bool:
    """Tell whether columns of a type are encoded by default.

    These are strings, bytes and dictionaries, and lists of them.
    """
    if isinstance(kind, pa.BaseExtensionType):
        return is_encodable(kind.storage_type)
    if pa.types.is_run_end_encoded(kind):
        return not pa.types.is_nested(kind.value_type) and is_encodable(kind.value_type)
    if pa.types.is_dictionary(kind):
        return not pa.types.is_nested(kind.value_type)
    if pa.types.is_fixed_size_binary(kind):
        return True
    if is_list_type(kind):
        return not is_list_type(kind.value_type) and is_encodable(kind.value_type)
    return str(kind) in TEXT_TYPES


def read_column(column: Any) -> Column | Values:
    """Return a `Column` if pyarrow supplies codes, otherwise `Values`; NaN counts as missing."""
    return ColumnReader().read(as_column(column))


class ColumnReader:
    """Reads one column batch by batch; batches with the same dictionary share categories."""

    def __init__(self) -> None:
        # The keys are identities of dictionaries. None means that indices need no look-up table.
        self._dictionaries: dict[tuple[object, ...], pa.Array] = {}
        self._luts: dict[tuple[object, ...], npt.NDArray[np.int32] | None] = {}
        self._categories: Any = np.empty(0, object)
        self._is_same_order = True

    def read(self, column: ArrowColumn) -> Column | Values:
        """Return a batch as codes or values; see `read_column`."""
        column = plain_array(column)
        kind = column.type
        if isinstance(kind, pa.BaseExtensionType):
            return self._read_extension(column)
        if pa.types.is_null(kind):
            return Column(np.full(len(column), -1, np.int8), np.empty(0, object))
        if pa.types.is_run_end_encoded(kind):
            values, lengths = runs_of(column)
            runs = self.read(values).encode()
            return Column(np.repeat(runs.codes, lengths), runs.stored, source=runs.source)
        if pa.types.is_dictionary(kind):
            return self._read_dictionary(column)
        plain = _plain_values(column)
        return _hashed(column) if plain is None else plain

    def _read_extension(self, column: ArrowColumn) -> Column:
        """Return a column whose values differ from what it stores, such as UUIDs.

        What it stores is hashed, so only one row of each value becomes a Python object.
        """
        stored = self.read(storage_of(column)).encode()
        if is_uuid(column.type):  # what differs as bytes differs as a UUID
            ids = [UUID(bytes=text) for text in stored.categories.tolist()]
            categories = np.fromiter(ids, object, len(ids))
            return Column.unchecked(stored.codes, categories, is_distinct=True)
        rows = np.flatnonzero(stored.codes >= 0)
        row_of = np.full(stored.n_categories, -1)  # -1: no row has the value
        row_of.put(stored.codes.take(rows), rows)
        values = [None if row < 0 else column[row].as_py() for row in row_of.tolist()]
        # Values may be equal, although what is stored differs.
        distinct = Values([np.fromiter(values, object, len(values))]).encode()
        return Column.unchecked(lut_of(distinct.codes).take(stored.codes), distinct.stored)

    def _read_dictionary(self, column: ArrowColumn) -> Column:
        """Return the codes of all chunks, with one array of categories for all dictionaries."""
        chunks = chunks_of(column)
        arrays = [_core_array(chunk) for chunk in chunks]
        identities = [array.dictionary.identity for array in arrays]
        dictionaries = {
            identity: chunk.dictionary for identity, chunk in zip(identities, chunks, strict=True)
        }
        if dictionaries.keys() != self._dictionaries.keys() or not dictionaries:
            self._merge(dictionaries, column.type.value_type)
        pairs = zip(arrays, identities, strict=True)
        codes = _joined(
            [CodedColumn(array.codes(), self._luts[i], 0).features() for array, i in pairs],
            np.int32,
        )
        ordered = column.type.ordered
        source = "enum" if ordered else "dictionary"
        result = Column.unchecked(codes, self._categories, ordered, source)
        result.is_conflicting = ordered and not self._is_same_order
        return result

    def _merge(self, dictionaries: dict[tuple[object, ...], pa.Array], kind: pa.DataType) -> None:
        """Merge the dictionaries of chunks, which may overlap and contain nulls or duplicates."""
        self._dictionaries = dictionaries  # kept in memory, so that no identity is reused
        arrays = [*dictionaries.values()]
        merged = ColumnReader().read(pa.chunked_array(arrays, kind)).encode()
        codes, self._categories = merged.codes, merged.stored
        self._is_same_order = True
        if len(arrays) == 1 and np.array_equal(codes, np.arange(len(self._categories))):
            self._luts = dict.fromkeys(dictionaries)
            return
        order = _by_appearance(codes, len(self._categories))
        positions = lut_of_order(order, len(self._categories))
        self._categories = self._categories.take(order)
        ends = np.cumsum([len(array) for array in arrays], dtype=np.int64)
        luts = np.split(positions[codes], ends[:-1])
        orders = {tuple(_by_appearance(lut, len(order)).tolist()) for lut in luts}
        self._is_same_order = len(orders - {()}) <= 1
        self._luts = dict(zip(dictionaries, map(lut_of, luts), strict=False))


def _by_appearance(codes: Codes, n_codes: int) -> Codes:
    """Return the distinct codes, without -1, in the order in which they first appear."""
    codes = codes[codes >= 0]
    row_of = np.full(n_codes, -1)
    row_of[codes[::-1]] = np.arange(len(codes))[::-1]  # the last assignment is the first row
    is_first = np.zeros(len(codes), np.bool_)
    is_first[row_of[row_of >= 0]] = True
    return codes[is_first]


def read_integers(column: ArrowColumn) -> Codes:
    """Return integers as codes, unchanged; a null becomes a code that belongs to no class."""
    column = plain_array(column)
    if not pa.types.is_integer(column.type):
        raise TypeError(f"array must hold integers if depth is given, got type {column.type}")
    if column.type == pa.uint64() and column.null_count:
        column = column.fill_null(2**64 - 1)  # codes with nulls are int64, which cannot hold uint64
    return _joined([_core_array(chunk).codes() for chunk in chunks_of(column)], np.int8)


def are_lists(column: Any) -> bool:
    """Tell whether the rows of a column are lists of any kind."""
    return is_list_type(as_column(column).type)


def is_list_type(kind: pa.DataType) -> bool:
    """Tell whether a type, or what an extension type stores, is a type of lists."""
    while isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    # Only types of lists have this attribute. A map is a list of pairs, which are no labels.
    return hasattr(kind, "value_field") and not pa.types.is_map(kind)


def read_ragged(column: Any) -> RaggedColumn:
    """Return lists as rows of labels; a null list is missing."""
    column = as_column(column)
    if isinstance(column.type, TENSORS):
        raise TypeError(
            f"a column of type {column.type} has tensors, not labels: to encode the elements of"
            " each row as labels, convert the column to lists, e.g."
            " pyarrow.array(column.to_pylist())"
        )
    lists = storage(column)
    offsets, elements = flattened(lists)
    label = elements.type
    if pa.types.is_run_end_encoded(label):  # pyarrow calls this nested, too
        label = label.value_type
    if pa.types.is_nested(label) and not isinstance(label, pa.BaseExtensionType):
        raise TypeError(
            f"the labels have the Arrow type {elements.type}, but a label must be a single value:"
            " flatten the lists of each row, or encode one field of a struct"
        )
    is_missing = lists.is_null().to_numpy(zero_copy_only=False) if lists.null_count else None
    return RaggedColumn(offsets, read_column(elements), is_missing)


def read_lists(rows: Any) -> Rows:
    """Return the offsets and the concatenated elements of lists; a null list counts as empty."""
    offsets, elements = flattened(as_column(rows))
    if pa.types.is_integer(elements.type):
        return Rows(offsets, _core_array(elements).codes())
    return Rows(offsets, read_column(elements).encode())


def flattened(lists: ArrowColumn) -> tuple[npt.NDArray[np.int64], pa.Array]:
    """Return the ``len(lists) + 1`` offsets of lists, and the concatenated elements."""
    lists = storage(lists)
    if not hasattr(lists.type, "value_field"):  # only types of lists have this attribute
        raise TypeError(
            f"rows must be lists, or strings if sep= is given, got the Arrow type {lists.type}"
        )
    # The offsets of an empty chunk may have any value.
    chunks = [chunk for chunk in chunks_of(lists) if len(chunk)] or [pa.nulls(0, lists.type)]
    for chunk in chunks:
        _check_lists(chunk)
    lists = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy()
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    try:
        return offsets, lists.flatten()
    except pa.ArrowException as error:
        raise ValueError(f"rows of type {lists.type} are malformed: {error}") from error


def _check_lists(lists: pa.Array) -> None:
    """Raise ValueError if a list extends beyond the elements, which would crash pyarrow."""
    if pa.types.is_fixed_size_list(lists.type):
        return
    starts = lists.offsets.to_numpy()
    if pa.types.is_list_view(lists.type) or pa.types.is_large_list_view(lists.type):
        lengths = lists.sizes.to_numpy()
    else:
        starts, lengths = starts[:-1], np.diff(starts)
    room = len(lists.values)
    is_wrong = (starts < 0) | (lengths < 0) | (starts > room) | (lengths > room - starts)
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        raise ValueError(
            f"row {row} is a list of {lengths[row]} elements from position {starts[row]},"
            f" but the array has only {room} elements"
        )


def _core_array(array: pa.Array) -> Any:
    """Return a pyarrow array as an object of the compiled core's own array class."""
    return next(read_arrow(array))


def _plain_values(column: ArrowColumn) -> Values | None:
    """Return the values if our hash tables support their type, otherwise None."""
    kind = column.type
    if kind.id in PLAIN_TYPES or (pa.types.is_timestamp(kind) and kind.tz is None):
        return Values([_core_array(chunk) for chunk in chunks_of(column)])
    if not (pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind)):
        return None
    counted = pa.int32() if kind.bit_width == 32 else pa.int64()

    def as_times(counts: AnyArray) -> AnyArray:
        try:
            return as_values(array_of_numbers(counts.astype(str(counted))).view(kind))
        except OverflowError as error:
            raise ValueError(
                f"some values of type {kind} have years outside 1 to 9999, which Python dates"
                " cannot represent: remove them, or cast the column to a timestamp without a zone"
            ) from error
        except ValueError as error:
            if pa.types.is_time(kind) and str(kind) != "time64[ns]":
                raise ValueError(
                    f"some values of type {kind} are not within a day: replace them, or cast the"
                    " column to integers"
                ) from error
            raise ValueError(
                f"some values of type {kind} have nanoseconds, which Python times cannot represent:"
                " round the column to microseconds"
            ) from error

    return Values([_core_array(chunk.view(counted)) for chunk in chunks_of(column)], as_times)


def _hashed(column: ArrowColumn) -> Column:
    """Let pyarrow find the codes and categories; raise TypeError if it cannot hash the values."""
    kind = column.type
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        column = column.cast(pa.decimal128(kind.precision, kind.scale))
    try:
        chunks = chunks_of(pc.dictionary_encode(column))
    except pa.ArrowNotImplementedError:
        raise TypeError(
            f"Arrow type {kind} cannot be encoded: values must be strings, bytes, Booleans,"
            " numbers, dates, times, durations or a dictionary of such values"
        ) from None
    codes = _joined([_core_array(chunk).codes() for chunk in chunks], np.int32)
    categories = as_values(chunks[0].dictionary) if chunks else np.empty(0, object)
    return Column.unchecked(codes, categories)


def _joined(parts: Sequence[Codes], dtype_if_none: type[np.integer[Any]]) -> Codes:
    if len(parts) == 1:
        return parts[0]
    if len({part.dtype for part in parts}) > 1:
        parts = [part.astype(np.int64) for part in parts]
    return np.concatenate(parts) if parts else np.empty(0, dtype_if_none)
