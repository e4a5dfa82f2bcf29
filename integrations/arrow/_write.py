"""Create Arrow arrays and tables from one-hot features and decoded values."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from onehot_fast import Special
from onehot_fast.adapter import (
    Cache,
    Categorical,
    CodedColumn,
    ColumnSchema,
    Decoded,
    DecodedLists,
    FeatureBlock,
    Part,
    PassThrough,
    Schema,
    Table,
    error_at,
    identities,
    write,
)

from ._types import (
    LIBRARY,
    converted,
    fitted_type,
    has_dictionary,
    plain_type,
    rows_writer,
    type_name,
)
from ._values import array_of, array_of_numbers, buffer_of, dictionary_array, output_labels

AnyArray: TypeAlias = npt.NDArray[Any]
Layout: TypeAlias = Literal["columns", "struct", "array", "tensor", "dictionary"]
LAYOUTS: tuple[Layout, ...] = ("columns", "struct", "array", "tensor", "dictionary")

PANDAS_KEY = b"pandas"
# A row of at most this many features is selected from a cached table.
MAX_CACHED = 1 << 14


def wrap(
    table: Table,
    parts: Sequence[Part],
    cache: Cache[Any] | None = None,
    num_threads: int | None = None,
) -> pa.Table:
    """Return a table of the columns that `parts` describe; unchanged columns are not copied."""
    source = table.source if isinstance(table.source, pa.Table) else None
    match parts:
        case [FeatureBlock() as row] if table.n_rows == 1 and cache is not None:
            if 0 < len(row.names) <= MAX_CACHED and _are_shared(row.columns):
                return _row_table(row, _schema(table, parts, (), cache), cache, num_threads)
    columns: list[Any] = []
    for part in parts:
        if isinstance(part, FeatureBlock):
            columns += output_arrays(part.columns, part.dtype, num_threads)
        elif isinstance(part, Decoded):
            columns.append(_decoded_array(part))
        elif isinstance(part, DecodedLists):
            columns.append(_decoded_lists(part))
        elif isinstance(part, Categorical):
            labels = _from_numpy(part.categories.to_array(), part.name)
            columns.append(dictionary_array(part.codes, labels))
        elif source is not None:
            columns.append(source.column(part.position))
        else:
            columns.append(_from_numpy(table.to_numpy(part.position), part.name))
    return table_of(columns, _schema(table, parts, columns, cache), table.n_rows)


def _row_table(
    part: FeatureBlock, schema: pa.Schema, cache: Cache[Any], num_threads: int | None
) -> pa.Table:
    """Return one encoded row as a table.

    Its columns are selected from a cached table, which has a column of 0 and a column of 1 for each
    feature. In pyarrow, selecting columns takes a quarter of the time of creating a table.
    """
    n_features = len(schema)

    def zeros_and_ones() -> tuple[pa.Schema, pa.Table]:
        zero, one = _zero_and_one(part.dtype.newbyteorder("="))
        twice = pa.schema([*schema, *schema], schema.metadata)
        columns = [zero] * n_features + [one] * n_features
        return schema, pa.Table.from_arrays(columns, schema=twice)

    _, both = cache.get_current("arrow row", lambda known: known[0] is schema, zeros_and_ones)
    row = write.rows(part.columns, np.int64, num_threads=num_threads)[0]
    return both.select((np.arange(n_features) + n_features * row).tolist())


def _decoded_array(part: Decoded) -> pa.Array | pa.ChunkedArray:
    """Return decoded rows, in the type seen in `fit` if this type can represent the values."""
    plain = _from_numpy(part.distinct, part.name)
    kind = fitted_type(part.schema)
    if kind is None:
        return plain.take(array_of_numbers(part.positions))
    keys = identities(part.distinct)
    values = converted(plain, plain_type(kind), keys)
    positions = part.positions
    if values is not None and has_dictionary(kind):  # which also contains the unused categories
        known = part.schema.known.to_array()
        known_keys = identities(known)
        try:
            known_values = _from_numpy(known, part.name)
        except TypeError:  # categories of several types
            return plain.take(array_of_numbers(positions))
        levels = converted(known_values, plain_type(kind), known_keys)
        values = None if levels is None else pa.concat_arrays([levels, values])
        keys, positions = known_keys + keys, positions + len(known_keys)
    if values is None:
        return plain.take(array_of_numbers(part.positions))
    _, write = rows_writer(values, kind, keys)
    return write(positions)


def _decoded_lists(part: DecodedLists) -> pa.Array:
    """Return decoded lists of labels, in the type seen in `fit` if it can represent them."""
    kind = fitted_type(part.labels.schema)
    if kind is not None and not (pa.types.is_nested(kind) and hasattr(kind, "value_type")):
        kind = None
    types = [] if kind is None else [f"{LIBRARY}{type_name(kind.value_type)}"]
    labels = _decoded_array(part.labels.with_types(types))
    if isinstance(labels, pa.ChunkedArray):
        labels = labels.combine_chunks()
    if kind is not None and labels.type != kind.value_type:
        kind = None  # a cast could change a label, e.g. parse a text
    mask = pa.array(part.is_missing) if part.is_missing.any() else None
    offsets = array_of_numbers(part.offsets)
    lists = pa.LargeListArray.from_arrays(offsets, labels, mask=mask)
    plain = pa.list_(labels.type) if len(labels) < 2**31 else lists.type
    try:
        return lists.cast(plain if kind is None else kind)
    except pa.ArrowInvalid:  # e.g. a list of a fixed size, of which a row has lost equal labels
        return lists.cast(plain)
    except pa.ArrowNotImplementedError:  # early versions have no cast to views of lists
        if kind is None or not str(kind).startswith(("list_view", "large_list_view")):
            return lists.cast(plain)
    views = pa.ListViewArray if str(kind).startswith("list_view") else pa.LargeListViewArray
    dtype = np.int32 if views is pa.ListViewArray else np.int64
    starts, sizes = part.offsets[:-1], np.diff(part.offsets)
    ends = [array_of_numbers(each.astype(dtype)) for each in (starts, sizes)]
    return views.from_arrays(*ends, labels, mask=mask)


def _schema(
    table: Table, parts: Sequence[Part], columns: Sequence[Any], cache: Cache[Any] | None
) -> pa.Schema:
    """Return the schema of the output table, from `cache` if the source schema has not changed."""
    is_arrow = isinstance(table.source, pa.Table)
    source = table.source.schema if is_arrow else pa.schema([])
    # The types of these parts depend on their values.
    own: tuple[type[Part], ...] = (Decoded, DecodedLists, Categorical)
    own += () if is_arrow else (PassThrough,)
    if cache is None or any(isinstance(part, own) for part in parts):
        cache = Cache(1)

    def is_current(known: tuple[pa.Schema, pa.Schema]) -> bool:
        return bool(known[0].equals(source, check_metadata=True))

    return cache.get_current("arrow", is_current, _source_and_schema, source, parts, columns)[1]


def _source_and_schema(
    source: pa.Schema, parts: Sequence[Part], columns: Sequence[Any]
) -> tuple[pa.Schema, pa.Schema]:
    """Return the schema of the source, and that of the output table."""
    fields: list[pa.Field] = []
    for part in parts:
        if isinstance(part, FeatureBlock):
            fields += feature_fields(part.names, part.dtype)
        elif isinstance(part, PassThrough) and len(source):  # else the source is not Arrow's
            fields.append(source.field(part.position))
        else:
            fields.append(pa.field(str(part.name), columns[len(fields)].type))
    stay = {part.position for part in parts if isinstance(part, PassThrough)}
    changed = {name for i, name in enumerate(source.names) if i not in stay}
    return source, pa.schema(fields, metadata_without(source.metadata, changed))


def _from_numpy(values: AnyArray, name: object) -> pa.Array:
    """Return a NumPy column as an Arrow array; in a column of objects, NaN becomes null."""
    is_object = values.dtype == object
    try:
        try:
            array = pa.array(values, from_pandas=is_object)
            is_times = is_object and pa.types.is_timestamp(array.type)
            # pyarrow infers microseconds and would drop the nanoseconds of a pandas.Timestamp.
            # Those of NaT are NaN.
            if is_times and any(getattr(value, "nanosecond", 0) > 0 for value in values):
                return pa.array(values, pa.timestamp("ns", array.type.tz), from_pandas=True)
            return array
        except OverflowError:  # pyarrow infers int64
            return pa.array(values, pa.uint64(), from_pandas=is_object)
    except (pa.ArrowException, OverflowError) as error:
        try:
            return array_of(identities(values), pa.uuid())  # early versions infer no type of UUIDs
        except TypeError:
            special = next((value for value in values if isinstance(value, Special)), None)
            if special is not None:
                raise TypeError(
                    f"column {name!r} would contain {special!r}, which Arrow cannot store: pass"
                    " missing=, unknown= or infrequent= to Encoder.inverse_transform"
                ) from error
            text = f"column {name!r} has no Arrow type for its values: {error}"
            raise TypeError(text) from error


def batch_of(columns: Sequence[pa.Array], schema: pa.Schema, n_rows: int) -> pa.RecordBatch:
    """Return the columns as a batch; a batch without columns keeps its number of rows."""
    if len(schema):
        return pa.RecordBatch.from_arrays(columns, schema=schema)
    rows = pa.Array.from_buffers(pa.struct([]), n_rows, [None], 0)
    return pa.RecordBatch.from_struct_array(rows).replace_schema_metadata(schema.metadata)


def table_of(columns: Sequence[Any], schema: pa.Schema, n_rows: int) -> pa.Table:
    """Return the columns as a table; a table without columns keeps its number of rows."""
    if len(schema):
        return pa.Table.from_arrays(columns, schema=schema)
    return pa.Table.from_batches([batch_of([], schema, n_rows)])


def with_columns(
    rows: pa.Table | pa.RecordBatchReader, columns: Callable[[Any], list[Any]], schema: pa.Schema
) -> Any:
    """Return a table or reader like `rows`, whose columns the function `columns` computes."""
    if isinstance(rows, pa.Table):
        return table_of(columns(rows), schema, rows.num_rows)

    def batches() -> Iterator[pa.RecordBatch]:
        first_row = 0
        for batch in rows:
            try:
                arrays = columns(batch)
            except (TypeError, ValueError) as error:
                place = f"in the batch that begins at row {first_row}"
                raise error_at(place, error) from error
            if any(isinstance(array, pa.ChunkedArray) for array in arrays):
                yield from pa.Table.from_arrays(arrays, schema=schema).to_batches()
            else:
                yield batch_of(arrays, schema, batch.num_rows)
            first_row += batch.num_rows

    return pa.RecordBatchReader.from_batches(schema, batches())


def metadata_without(
    metadata: Mapping[bytes, bytes] | None, changed: Collection[str]
) -> Mapping[bytes, bytes] | None:
    """Return the metadata of a schema without the pandas entries for changed columns.

    With these entries, ``Table.to_pandas`` would give a new column the dtype of the old column.
    """
    if metadata is None or PANDAS_KEY not in metadata:
        return metadata
    try:
        noted: dict[str, Any] = json.loads(metadata[PANDAS_KEY])
        noted["columns"] = [c for c in noted["columns"] if c["field_name"] not in changed]
        noted["index_columns"] = [
            c for c in noted["index_columns"] if isinstance(c, dict) or c not in changed
        ]
    except (ValueError, KeyError, TypeError):  # not written by pyarrow
        return metadata
    return {**metadata, PANDAS_KEY: json.dumps(noted).encode()}


def arrow_type(dtype: np.dtype[Any]) -> pa.DataType:
    """Return the Arrow type of a dtype; raise TypeError if there is none, e.g. for complex128."""
    try:
        return pa.from_numpy_dtype(dtype)
    except (pa.ArrowNotImplementedError, TypeError) as error:
        raise TypeError(
            f"dtype must be bool, an integer or a float of at most 64 bits in Arrow, got {dtype}"
        ) from error


def output_arrays(
    columns: Sequence[CodedColumn], dtype: np.dtype[Any], num_threads: int | None = None
) -> list[pa.Array]:
    """Return the features of columns as arrays that share one buffer; Booleans are bit-packed."""
    dtype = dtype.newbyteorder("=")
    kind, n_rows = arrow_type(dtype), columns[0].n_rows
    if n_rows == 1 and _are_shared(columns):
        arrays = _zero_and_one(dtype)
        row = write.rows(columns, np.uint8, num_threads=num_threads)
        return [arrays[is_one] for is_one in row[0].tolist()]
    block = write.block(columns, dtype, packed=True, num_threads=num_threads)
    memory, n_bytes = buffer_of(block), block.shape[1] * block.itemsize
    return [
        pa.Array.from_buffers(kind, n_rows, [None, memory.slice(i * n_bytes, n_bytes)], 0)
        for i in range(len(block))
    ]


def _are_shared(columns: Sequence[CodedColumn]) -> bool:
    """Tell whether all features are 0 or 1, so that equal features can share one array."""
    return not any(column.nan_where_missing for column in columns)


@cache
def _zero_and_one(dtype: np.dtype[Any]) -> tuple[pa.Array, pa.Array]:
    return array_of_numbers(np.zeros(1, dtype)), array_of_numbers(np.ones(1, dtype))


def feature_fields(names: Iterable[str], dtype: np.dtype[Any]) -> list[pa.Field]:
    """Return non-nullable fields with these names."""
    kind = arrow_type(dtype.newbyteorder("="))
    return [pa.field(name, kind, nullable=False) for name in names]


def nested(
    column: ColumnSchema, layout: Layout, num_threads: int | None = None
) -> tuple[pa.DataType, Callable[[CodedColumn], pa.Array]]:
    """Return the type of arrays with all features of a column, and a function to write them."""
    if layout == "dictionary":
        return _dictionary(column, num_threads)
    dtype = column.options.dtype
    if layout == "struct":
        Schema((column,)).check_names()
        struct = pa.struct(feature_fields(column.names, dtype))

        def write_struct(coded: CodedColumn) -> pa.Array:
            children = output_arrays([coded], dtype, num_threads)
            return pa.Array.from_buffers(struct, coded.n_rows, [None], 0, children=children)

        return struct, write_struct
    element = row_element(dtype)
    kind = rows_type(element, column.n_features, layout)

    def write_rows(coded: CodedColumn) -> pa.Array:
        return rows_array(write.rows([coded], element, num_threads=num_threads), kind)

    return kind, write_rows


def row_element(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the elements of lists or tensors: uint8 for bool, otherwise `dtype`."""
    return np.dtype(np.uint8) if dtype == np.bool_ else dtype.newbyteorder("=")


def rows_type(element: np.dtype[Any], width: int, layout: Layout) -> pa.DataType:
    """Return the type of an array whose rows are tensors or fixed-size lists of length `width`."""
    item = arrow_type(element)
    return pa.fixed_shape_tensor(item, [width]) if layout == "tensor" else pa.list_(item, width)


def rows_array(matrix: AnyArray, kind: pa.DataType) -> pa.Array:
    """Return the rows of a C-contiguous matrix as an array of type `kind`, see `rows_type`."""
    is_tensor = isinstance(kind, pa.FixedShapeTensorType)
    list_type = kind.storage_type if is_tensor else kind
    elements = pa.Array.from_buffers(
        list_type.value_type, matrix.size, [None, buffer_of(matrix)], 0
    )
    lists = pa.Array.from_buffers(list_type, len(matrix), [None], 0, children=[elements])
    return pa.ExtensionArray.from_storage(kind, lists) if is_tensor else lists


def _dictionary(
    column: ColumnSchema, num_threads: int | None
) -> tuple[pa.DataType, Callable[[CodedColumn], pa.Array]]:
    """Return the results of `nested` for a dictionary array, in which a row of zeros is null."""
    labels = output_labels(column)
    narrow = next(d for d in (np.int8, np.int16, np.int32) if len(labels) <= np.iinfo(d).max)

    def write_indices(coded: CodedColumn) -> pa.Array:
        outputs = coded.features(num_threads)
        indices = outputs.astype(narrow, copy=False)
        if coded.lut is None:  # the codes are the user's integers, which may be out of range
            indices = np.where((outputs >= 0) & (outputs < len(labels)), indices, narrow(-1))
        return dictionary_array(indices, labels)

    return pa.dictionary(pa.from_numpy_dtype(narrow), labels.type), write_indices
