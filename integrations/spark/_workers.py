"""The functions that Spark's Python workers apply to the Arrow batches of one partition."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark import TaskContext

from onehot_fast import Encoder
from onehot_fast.adapter import CodedColumn, code_table, error_at, read_table, warning_once, write

AnyArray: TypeAlias = npt.NDArray[Any]
Output: TypeAlias = Literal["columns", "array", "vector", "codes", "indices"]

# The size of the blocks in which rows are learned. Each block costs a merge of all categories.
ROWS_PER_BLOCK = 1 << 19
BYTES_PER_BLOCK = 1 << 26
# Batches are split, so that the result of each part has at most this size.
MAX_BATCH_BYTES = 1 << 26
STATE = "state binary"


class CachedEncoder:
    """An encoder that all tasks of a worker process share, including its hash tables."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    def __reduce__(self) -> Any:
        return _restore, (pickle.dumps(self.encoder, 5),)


@lru_cache(maxsize=8)
def _restore(payload: bytes) -> CachedEncoder:
    return CachedEncoder(pickle.loads(payload))


def learn_batches(encoder: Encoder, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Fit an encoder to a partition, and yield the pickled encoder if there are any rows."""
    names = list(encoder.columns or ())
    pending: list[pa.RecordBatch] = []
    n_rows = first = n_bytes = 0

    def learn_pending() -> None:
        table = utc_table(pa.Table.from_batches(pending).columns, names)
        with_row_context(lambda: encoder.partial_fit(table), first)

    for batch in batches:
        pending.append(batch)
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
        if n_rows - first >= ROWS_PER_BLOCK or n_bytes >= BYTES_PER_BLOCK:
            learn_pending()
            pending, first, n_bytes = [], n_rows, 0
    if n_rows > first:
        learn_pending()
    if n_rows:
        yield _state(encoder)


def utc_table(columns: Sequence[Any], names: Sequence[Any]) -> pa.Table:
    """Return columns as a table; convert timestamps from the Spark session's time zone to UTC."""
    return pa.table([column.cast(_utc_type(column.type)) for column in columns], names)


def _utc_type(kind: pa.DataType) -> pa.DataType:
    """Return the type in UTC of timestamps with a time zone, or of lists of them."""
    if pa.types.is_list(kind):
        return pa.list_(_utc_type(kind.value_type))
    is_zoned = pa.types.is_timestamp(kind) and kind.tz
    return pa.timestamp(kind.unit, "UTC") if is_zoned else kind


def merge_states(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Merge the pickled encoders of all batches, and yield the pickled result."""
    encoders = [pickle.loads(state) for batch in batches for state in batch.column(0).to_pylist()]
    if encoders:
        yield _state(encoders[0].merge(*encoders[1:]))


def _state(encoder: Encoder) -> pa.RecordBatch:
    """Return the pickled encoder as the only row of a batch."""
    payload = pa.py_buffer(pickle.dumps(encoder, 5))
    # `pa.array` and `pa.scalar` would import pandas.
    state = pa.Array.from_buffers(pa.binary(payload.size), 1, [None, payload])
    return pa.RecordBatch.from_arrays([state.cast(pa.binary())], ["state"])


def with_row_context(work: Callable[[], Any], first_row: int) -> Any:
    """Call `work`, and add the partition and the first row of the batch to its error messages."""
    try:
        return work()
    except (TypeError, ValueError) as error:
        context = TaskContext.get()
        partition = f"partition {context.partitionId()}, " if context is not None else ""
        place = f"{partition}batch that starts at row {first_row}"
        raise error_at(place, error) from error


def replace_columns(
    work: Callable[[pa.RecordBatch], Sequence[pa.Array]],
    row_bytes: int,
    order: Sequence[int],
    names: Sequence[str],
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield each batch with some of its columns and the new columns that `work` returns.

    `row_bytes` is the approximate size of one row of the new columns. `order` has the position of
    each input column to keep, and ``~j`` for new column j.
    """
    first, max_rows = 0, max(1, MAX_BATCH_BYTES // max(1, row_bytes))
    for whole in batches:
        for start in range(0, whole.num_rows, max_rows):
            batch = whole.slice(start, max_rows)
            new = with_row_context(partial(work, batch), first)
            arrays = [new[~i] if i < 0 else batch.column(i) for i in order]
            yield pa.RecordBatch.from_arrays(arrays, names)
            first += batch.num_rows


def encode_batch(
    cached: CachedEncoder,
    inputs: Sequence[int],
    output: Output,
    groups: Sequence[Sequence[int]],
    num_threads: int | None,
    batch: pa.RecordBatch,
) -> Sequence[pa.Array]:
    """Return the new columns of a batch; `inputs` has the positions of the columns to encode.

    For vectors and arrays, `groups` has one list per new column: the indices of the encoder's
    columns whose features the new column contains.
    """
    # The batches of a stage that one process encodes warn once of unknown values in a column.
    context = TaskContext.get()
    stage = context.stageId() if context is not None else None
    with warning_once(cached.encoder.schema, stage):
        return _encoded_batch(cached.encoder, inputs, output, groups, num_threads, batch)


def _encoded_batch(
    encoder: Encoder,
    inputs: Sequence[int],
    output: Output,
    groups: Sequence[Sequence[int]],
    num_threads: int | None,
    batch: pa.RecordBatch,
) -> Sequence[pa.Array]:
    """Return the new columns of a batch; see `encode_batch`."""
    names = [column.name for column in encoder.schema.columns]
    rows = utc_table([batch.column(i) for i in inputs], names)
    if output == "columns":
        encoded = encoder.transform(rows, "arrow", num_threads=num_threads)
        return [column.chunk(0) for column in encoded.columns]
    if output == "codes" or output == "indices":
        matrix = encoder.transform(rows, output, num_threads=num_threads)
        dtype = np.promote_types(matrix.dtype, np.int32)
        return [_numbers(codes) for codes in np.ascontiguousarray(matrix.T, dtype)]
    table = read_table(rows)
    positions = encoder.schema.positions_of(table.names)
    coded = code_table(table, encoder.schema, positions).columns
    arrays = []
    for group in groups:
        columns = [coded[i] for i in group]
        dtype = element([encoder.schema.columns[i].options.dtype for i in group])
        if output == "vector" or dtype.kind == "f":  # Java converts vectors to arrays of floats
            arrays.append(vectors(columns, batch.num_rows, num_threads))
        else:
            matrix = write.rows(columns, dtype, n_rows=batch.num_rows, num_threads=num_threads)
            ends = np.arange(batch.num_rows + 1) * matrix.shape[1]
            arrays.append(_lists(ends, matrix.reshape(-1)))
    return arrays


def decode_batch(
    cached: CachedEncoder,
    inputs: Sequence[int],
    is_joined: bool,
    types: Sequence[pa.DataType],
    substitutes: dict[str, Any],
    batch: pa.RecordBatch,
) -> list[pa.Array]:
    """Return the decoded columns, of the given types, for the rows of a batch.

    `inputs` has the positions of the feature columns, or of one array or vector column if
    `is_joined`.
    """
    encoder = cached.encoder
    encoded: Any = {
        name: batch.column(i).to_numpy(zero_copy_only=False)
        for name, i in zip(encoder.schema.names, inputs, strict=False)
    }
    if not encoder.n_features:  # a table without columns would have no number of rows
        encoded = np.empty((batch.num_rows, 0), np.bool_)
    elif is_joined:
        encoded = _matrix(batch.column(inputs[0]), encoder.n_features)
    decoded = encoder.inverse_transform(encoded, **substitutes)
    columns = zip(encoder.schema.columns, types, strict=True)
    return [pa.array(decoded[column.name], kind) for column, kind in columns]


def element(dtypes: Iterable[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the dtype of an array whose elements are the features of several columns."""
    common = np.result_type(np.bool_, *dtypes)
    return np.dtype(np.int8) if common.kind == "b" else common


def _numbers(values: AnyArray) -> pa.Array:
    """Return NumPy numbers as an Arrow array without `pa.array`, which would import pandas."""
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)], 0)


def _lists(ends: AnyArray, elements: AnyArray) -> pa.ListArray:
    return pa.ListArray.from_arrays(_numbers(ends.astype(np.int32)), _numbers(elements))


def vectors(columns: Sequence[CodedColumn], n_rows: int, num_threads: int | None) -> pa.StructArray:
    """Return the features of several columns as an array of one sparse Spark ML vector per row."""
    n_features = sum(column.n_features for column in columns)
    if any(len(column.rows_of_nan()) for column in columns):
        matrix = write.rows(columns, "float64", n_rows=n_rows, num_threads=num_threads)
        rows, indices = np.nonzero(matrix)
        values = matrix[rows, indices]
        ends = np.searchsorted(rows, np.arange(n_rows + 1))
    else:
        values, indices, ends = write.sparse_parts(
            "csr", columns, "float64", n_rows=n_rows, num_threads=num_threads
        )
    fields = {
        "type": _numbers(np.zeros(n_rows, np.int8)),
        "size": _numbers(np.full(n_rows, n_features, np.int32)),
        "indices": _lists(ends, indices.astype(np.int32, copy=False)),
        "values": _lists(ends, values),
    }
    return pa.StructArray.from_arrays([*fields.values()], [*fields])


def _matrix(column: pa.Array, n_features: int) -> AnyArray:
    """Return a column of arrays or vectors as a matrix (n_rows, n_features)."""
    if column.null_count:
        raise ValueError("each row must hold an array or vector of features, but a row is null")
    is_vector = pa.types.is_struct(column.type)
    values = column.field("values") if is_vector else column
    lengths = values.value_lengths().to_numpy()
    elements = values.flatten().to_numpy(zero_copy_only=False)
    rows = np.repeat(np.arange(len(column)), lengths)
    places = np.arange(len(elements)) - (np.cumsum(lengths) - lengths)[rows]
    sizes = lengths
    if is_vector:
        is_sparse = column.field("type").to_numpy() == 0
        sizes = np.where(is_sparse, column.field("size").fill_null(0).to_numpy(), lengths)
        places[is_sparse[rows]] = column.field("indices").flatten().to_numpy()
    if (sizes != n_features).any():
        row = int(np.argmax(sizes != n_features))
        raise ValueError(f"row {row} must have {n_features} features, got {sizes[row]}")
    matrix = np.zeros((len(column), n_features), elements.dtype)
    matrix[rows, places] = elements
    return matrix
