"""The functions that Spark's Python workers apply to the Arrow batches of one partition."""

from __future__ import annotations

import hashlib
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark import TaskContext

from onehot_fast import Encoder
from onehot_fast.adapter import CodedColumn, EncodedLayout, read_table, write

AnyArray: TypeAlias = npt.NDArray[Any]

# The size of the blocks in which rows are learned. Each block costs a merge of all categories.
ROWS_PER_BLOCK = 1 << 19
BYTES_PER_BLOCK = 1 << 26
# Batches are split, so that the result of each part has at most this size.
MAX_BATCH_BYTES = 1 << 26
STATE = "state binary"

# The encoders of this worker process by digest, which later tasks reuse.
_cache: dict[str, CachedEncoder] = {}
MAX_CACHED = 8


class CachedEncoder:
    """An encoder that all tasks of a worker process share, including its hash tables."""

    def __init__(self, encoder: Encoder, payload: bytes | None = None, digest: str = "") -> None:
        self.encoder = encoder
        self._payload = pickle.dumps(encoder, 5) if payload is None else payload
        self._digest = digest or hashlib.sha256(self._payload).hexdigest()

    def __reduce__(self) -> Any:
        return _restore, (self._digest, self._payload)


def _restore(digest: str, payload: bytes) -> CachedEncoder:
    """Return the cached encoder of an earlier task, or else unpickle and cache the encoder."""
    if digest not in _cache:
        while len(_cache) >= MAX_CACHED:
            del _cache[next(iter(_cache))]
        _cache[digest] = CachedEncoder(pickle.loads(payload), payload, digest)
    return _cache[digest]


def learn_batches(encoder: Encoder, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the pickled encoder after it learned a partition, or nothing for an empty partition.

    `encoder` is fitted to zero rows, and its columns match the columns of the batches by position.
    """
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
    """Return columns as a table with timestamps in UTC, as in `DataFrame.toArrow`.

    Spark passes timestamps to workers in the time zone of the session.
    """
    in_utc = [
        column.cast(pa.timestamp(column.type.unit, "UTC"))
        if pa.types.is_timestamp(column.type) and column.type.tz
        else column
        for column in columns
    ]
    return pa.table(in_utc, names)


def merge_states(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Merge the pickled encoders of all batches, and yield the pickled result."""
    encoders = [pickle.loads(state) for batch in batches for state in batch.column(0).to_pylist()]
    if encoders:
        yield _state(encoders[0].merge(*encoders[1:]))


def _state(encoder: Encoder) -> pa.RecordBatch:
    payload = pickle.dumps(encoder, 5)
    ends = np.array([0, len(payload)], np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(payload)]
    return pa.RecordBatch.from_arrays([pa.Array.from_buffers(pa.binary(), 1, buffers)], ["state"])


def with_row_context(work: Callable[[], Any], first_row: int) -> Any:
    """Call `work`, and add the partition and the first row of the batch to its error messages."""
    try:
        return work()
    except (TypeError, ValueError) as error:
        context = TaskContext.get()
        partition = f"partition {context.partitionId()}, " if context is not None else ""
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{partition}batch that starts at row {first_row}: {error}") from error


@dataclass(frozen=True)
class BatchFunction(ABC):
    """A function that maps the batches of a partition to the batches of the result."""

    cached: CachedEncoder
    inputs: Sequence[int]  # the positions of the columns to encode or decode, in encoder order
    order: Sequence[int]  # the result's columns: the position of an input, or ~j for new column j
    names: Sequence[str]  # the names of the result's columns

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the result in batches of limited size."""
        for first, batch in split(batches, max(1, MAX_BATCH_BYTES // self.row_bytes())):
            new = with_row_context(partial(self.new_columns, batch), first)
            arrays = [new[~i] if i < 0 else batch.column(i) for i in self.order]
            yield pa.RecordBatch.from_arrays(arrays, self.names)

    @abstractmethod
    def row_bytes(self) -> int:
        """Return the approximate bytes of one row of the new columns, at least 1."""

    @abstractmethod
    def new_columns(self, batch: pa.RecordBatch) -> Sequence[pa.Array]:
        """Return the new columns for the rows of a batch."""


@dataclass(frozen=True)
class Encoding(BatchFunction):
    """Encode the columns of batches."""

    output: Literal["columns", "array", "vector", "codes", "indices"]
    num_threads: int | None = None
    # For each vector or array: the encoder's columns that it holds, and the dtype of its elements
    # (None for a vector).
    groups: Sequence[Sequence[int]] = ()
    elements: Sequence[np.dtype[Any] | None] = ()

    def row_bytes(self) -> int:
        columns = self.cached.encoder.schema.columns
        n_bytes = 1
        if self.output == "columns":
            n_bytes += sum(c.n_outputs * c.options.dtype.itemsize for c in columns)
        for group, element in zip(self.groups, self.elements, strict=True):
            width = sum(columns[i].n_outputs for i in group)
            n_bytes += 0 if element is None else width * element.itemsize
        return n_bytes

    def new_columns(self, batch: pa.RecordBatch) -> Sequence[pa.Array]:
        encoder, threads = self.cached.encoder, self.num_threads
        names = [column.name for column in encoder.schema.columns]
        rows = utc_table([batch.column(i) for i in self.inputs], names)
        if self.output == "columns":
            encoded = encoder.transform(rows, "arrow", num_threads=threads)
            return [array_of(column) for column in encoded.columns]
        if self.output == "codes" or self.output == "indices":
            matrix = encoder.transform(rows, self.output, num_threads=threads)
            dtype = np.promote_types(matrix.dtype, np.int32)
            return [_numbers(codes) for codes in np.ascontiguousarray(matrix.T, dtype)]
        table = read_table(rows)
        coded = EncodedLayout(encoder.schema, table.names).code(table)
        groups = ([coded[i] for i in group] for group in self.groups)
        return [
            vectors(group, batch.num_rows, threads)
            if element is None
            else arrays(group, batch.num_rows, element, threads)
            for group, element in zip(groups, self.elements, strict=True)
        ]


@dataclass(frozen=True)
class Decoding(BatchFunction):
    """Decode batches; `inputs` are the feature columns, or one array or vector column."""

    types: Sequence[pa.DataType]  # the types of the decoded columns
    substitutes: dict[str, Any]  # the keywords of `Encoder.inverse_transform`
    is_joined: bool  # whether all features are in one array or vector column

    def row_bytes(self) -> int:
        return max(1, 8 * self.cached.encoder.n_features)

    def new_columns(self, batch: pa.RecordBatch) -> list[pa.Array]:
        encoder = self.cached.encoder
        encoded: Any = {
            name: batch.column(i).to_numpy(zero_copy_only=False)
            for name, i in zip(encoder.schema.names, self.inputs, strict=False)
        }
        if self.is_joined:
            encoded = _matrix(batch.column(self.inputs[0]), encoder.n_features)
        decoded = encoder.inverse_transform(encoded, **self.substitutes)
        columns = zip(encoder.schema.columns, self.types, strict=True)
        return [_typed(decoded[column.name], kind) for column, kind in columns]


def split(batches: Iterable[pa.RecordBatch], max_rows: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield pairs: the number of the first row, and a part of at most `max_rows` rows."""
    first = 0
    for batch in batches:
        for start in range(0, batch.num_rows, max_rows):
            part = batch.slice(start, max_rows)
            yield first, part
            first += part.num_rows


def array_of(column: pa.ChunkedArray) -> pa.Array:
    """Return a chunked column as a single array."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _numbers(values: AnyArray) -> pa.Array:
    """Return NumPy numbers as an Arrow array; `pa.array` would import pandas."""
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)], 0)


def _lists(ends: AnyArray, elements: AnyArray) -> pa.ListArray:
    return pa.ListArray.from_arrays(_numbers(ends), _numbers(elements))


def arrays(
    columns: Sequence[CodedColumn],
    n_rows: int,
    dtype: np.dtype[Any],
    num_threads: int | None = None,
) -> pa.ListArray:
    """Return the features of several columns as an array with one list per row."""
    matrix = write.rows(columns, dtype, n_rows=n_rows, num_threads=num_threads)
    ends = np.arange(n_rows + 1, dtype=np.int32) * np.int32(matrix.shape[1])
    return _lists(ends, matrix.reshape(-1))


def vectors(
    columns: Sequence[CodedColumn], n_rows: int, num_threads: int | None = None
) -> pa.StructArray:
    """Return the features of several columns as an array of one sparse Spark ML vector per row."""
    n_features = sum(column.n_outputs for column in columns)
    if any(len(column.rows_of_nan()) for column in columns):
        matrix = write.rows(columns, "float64", n_rows=n_rows, num_threads=num_threads)
        rows, indices = np.nonzero(matrix)
        values = matrix[rows, indices]
        ends = np.searchsorted(rows, np.arange(n_rows + 1))
    else:
        values, indices, ends = write.sparse_parts(
            "csr", columns, "float64", n_rows=n_rows, num_threads=num_threads
        )
    ends, indices = ends.astype(np.int32, copy=False), indices.astype(np.int32, copy=False)
    fields = {
        "type": _numbers(np.zeros(n_rows, np.int8)),
        "size": _numbers(np.full(n_rows, n_features, np.int32)),
        "indices": _lists(ends, indices),
        "values": _lists(ends, values),
    }
    return pa.StructArray.from_arrays([*fields.values()], [*fields])


def _typed(values: AnyArray, kind: pa.DataType) -> pa.Array:
    """Return decoded values as an Arrow array of the given type."""
    if values.dtype == object:
        return pa.array(values.tolist(), kind)
    return pa.array(values).cast(kind)


def _matrix(column: pa.Array, n_features: int) -> AnyArray:
    """Return a column of arrays or vectors as a matrix (n_rows, n_features)."""
    if column.null_count:
        raise ValueError("each row must hold an array or vector of features, got null")
    n_rows = len(column)
    is_vector = pa.types.is_struct(column.type)
    values = column.field("values") if is_vector else column
    lengths = values.value_lengths().to_numpy()
    elements = values.flatten().to_numpy(zero_copy_only=False)
    places = np.arange(len(elements)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    sizes = lengths
    if is_vector:
        is_sparse = column.field("type").to_numpy() == 0
        sizes = np.where(is_sparse, column.field("size").fill_null(0).to_numpy(), lengths)
        places[np.repeat(is_sparse, lengths)] = column.field("indices").flatten().to_numpy()
    if (sizes != n_features).any():
        row = int(np.argmax(sizes != n_features))
        raise ValueError(f"row {row} must have {n_features} features, got {sizes[row]}")
    matrix = np.zeros((n_rows, n_features), elements.dtype)
    matrix[np.repeat(np.arange(n_rows), lengths), places] = elements
    return matrix
