"""What runs in the Python workers of Spark: one function for the batches of one partition each."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark import TaskContext

from onehot_fast import Encoder
from onehot_fast.adapter import CodedColumn, lookup, read_table, write

AnyArray: TypeAlias = npt.NDArray[Any]

# Rows are learned from by so many at a time: a merge costs as much as the categories are many.
LEARNED_AT_ONCE = 1 << 19
LEARNED_BYTES = 1 << 26
# An output of one batch is no larger than this: larger batches are cut.
MOST_BYTES = 1 << 26
STATE = "state binary"

# The encoders that came to this process, which serves one task after the other.
_arrived: dict[str, Shipped] = {}
MOST_ARRIVED = 8


class Shipped:
    """An encoder on its way to the workers.

    Every task unpickles what it needs: the encoder, and with it the hash tables of its first
    look-up, is that of an earlier task of the same process, if there was one.
    """

    def __init__(self, encoder: Encoder, payload: bytes | None = None, digest: str = "") -> None:
        self.encoder = encoder
        self._payload = pickle.dumps(encoder, 5) if payload is None else payload
        self._digest = digest or hashlib.sha256(self._payload).hexdigest()

    def __reduce__(self) -> Any:
        """Leave out what is made again."""
        return _arrive, (self._digest, self._payload)


def _arrive(digest: str, payload: bytes) -> Shipped:
    """Return the encoder of this process."""
    if digest not in _arrived:
        while len(_arrived) >= MOST_ARRIVED:
            del _arrived[next(iter(_arrived))]
        _arrived[digest] = Shipped(pickle.loads(payload), payload, digest)
    return _arrived[digest]


def learn_batches(encoder: Encoder, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what the rows of a partition teach, as one pickle; nothing where there are no rows.

    Parameters
    ----------
    encoder : Encoder
        Not fitted; it encodes the columns of the batches, in their order.
    """
    names = list(encoder.columns or ())
    pending: list[pa.RecordBatch] = []
    n_rows = first = n_bytes = 0

    def learn_pending() -> None:
        table = pa.Table.from_batches(pending).rename_columns(names)
        with_place(lambda: encoder.partial_fit(table), first)

    for batch in batches:
        pending.append(batch)
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
        if n_rows - first >= LEARNED_AT_ONCE or n_bytes >= LEARNED_BYTES:
            learn_pending()
            pending, first, n_bytes = [], n_rows, 0
    if n_rows > first:
        learn_pending()
    if n_rows:
        yield _state(encoder)


def merge_states(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield one pickle of all that came."""
    encoders = [pickle.loads(state) for batch in batches for state in batch.column(0).to_pylist()]
    if encoders:
        yield _state(encoders[0].merge(*encoders[1:]))


def _state(encoder: Encoder) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([pickle.dumps(encoder, 5)], pa.binary())], ["state"]
    )


def with_place(work: Callable[[], Any], first_row: int) -> Any:
    """Return what some work makes, and say in an error where the rows are that it counts."""
    try:
        return work()
    except (TypeError, ValueError) as error:
        context = TaskContext.get()
        partition = f"partition {context.partitionId()}, " if context is not None else ""
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{partition}the rows from {first_row} on: {error}") from error


@dataclass(frozen=True)
class Encoding:
    """How the batches of one frame are encoded.

    Attributes
    ----------
    shipped : Shipped
    output : {"columns", "array", "vector"}
    inputs : sequence of int
        Where the columns of the encoder are, in its order.
    groups : sequence of sequences of int
        The columns of the encoder whose features are side by side in one vector or array.
    order : sequence of int
        The columns of the result: one that stays by its position, a new one ``j`` as ``~j``.
    names : sequence of str
        Of the result.
    dtype : numpy.dtype
        Of the elements of arrays.
    """

    shipped: Shipped
    output: str
    inputs: Sequence[int]
    groups: Sequence[Sequence[int]]
    order: Sequence[int]
    names: Sequence[str]
    dtype: np.dtype[Any]
    num_threads: int | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the encoded rows of a partition."""
        width = self.shipped.encoder.n_features * self.dtype.itemsize
        row_bytes = 1 if self.output == "vector" else max(1, width)
        for first, batch in cut(batches, max(1, MOST_BYTES // row_bytes)):
            new = with_place(partial(self._new_columns, batch), first)
            arrays = [new[~i] if i < 0 else batch.column(i) for i in self.order]
            yield pa.RecordBatch.from_arrays(arrays, self.names)

    def _new_columns(self, batch: pa.RecordBatch) -> Sequence[pa.Array]:
        encoder = self.shipped.encoder
        names = [column.name for column in encoder.schema.columns]
        rows = pa.table([batch.column(i) for i in self.inputs], names)
        if self.output == "columns":
            encoded = encoder.transform(rows, "arrow", num_threads=self.num_threads)
            return [array_of(column) for column in encoded.columns]
        coded = lookup.code_table(read_table(rows), encoder.schema)
        groups = ([coded[i] for i in group] for group in self.groups)
        if self.output == "vector":
            return [vectors(group, batch.num_rows, self.num_threads) for group in groups]
        return [self._arrays(group, batch.num_rows) for group in groups]

    def _arrays(self, columns: Sequence[CodedColumn], n_rows: int) -> pa.ListArray:
        """Return the rows of several columns, side by side, as lists."""
        matrix = write.rows(columns, self.dtype, n_rows=n_rows, num_threads=self.num_threads)
        ends = np.arange(n_rows + 1, dtype=np.int32) * np.int32(matrix.shape[1])
        return _lists(ends, matrix.reshape(-1))


def cut(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield batches of no more than so many rows, and how many came before."""
    first = 0
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            part = batch.slice(start, rows)
            yield first, part
            first += part.num_rows


def array_of(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _lists(ends: AnyArray, elements: AnyArray) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(elements))


def vectors(
    columns: Sequence[CodedColumn], n_rows: int, num_threads: int | None = None
) -> pa.StructArray:
    """Return the rows of several columns, side by side, as Spark's ML keeps sparse vectors."""
    n_features = sum(column.n_outputs for column in columns)
    if any(len(column.rows_of_nan()) for column in columns):
        matrix = write.rows(columns, "float64", n_rows=n_rows, num_threads=num_threads)
        rows, indices = np.nonzero(matrix)
        values = matrix[rows, indices]
        ends = np.searchsorted(rows, np.arange(n_rows + 1))
    else:
        values, indices, ends = write.csr(
            columns, "float64", n_rows=n_rows, num_threads=num_threads
        )
    ends, indices = ends.astype(np.int32, copy=False), indices.astype(np.int32, copy=False)
    fields = {
        "type": pa.array(np.zeros(n_rows, np.int8)),
        "size": pa.array(np.full(n_rows, n_features, np.int32)),
        "indices": _lists(ends, indices),
        "values": _lists(ends, values),
    }
    return pa.StructArray.from_arrays([*fields.values()], [*fields])


@dataclass(frozen=True)
class Decoding:
    """How the batches of one encoded frame are decoded.

    Attributes
    ----------
    shipped : Shipped
    inputs : sequence of int
        Where the features are, or the one vector or array of all.
    types : sequence of pyarrow.DataType
        Of the decoded columns, in the order of the encoder.
    words : dict
        The keywords of `Encoder.inverse_transform`.
    order, names
        As in `Encoding`.
    """

    shipped: Shipped
    inputs: Sequence[int]
    types: Sequence[pa.DataType]
    words: dict[str, Any]
    order: Sequence[int]
    names: Sequence[str]
    in_one: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the decoded rows of a partition."""
        width = 8 * self.shipped.encoder.n_features
        for first, batch in cut(batches, max(1, MOST_BYTES // max(1, width))):
            new = with_place(partial(self._decoded, batch), first)
            arrays = [new[~i] if i < 0 else batch.column(i) for i in self.order]
            yield pa.RecordBatch.from_arrays(arrays, self.names)

    def _decoded(self, batch: pa.RecordBatch) -> list[pa.Array]:
        encoder = self.shipped.encoder
        n_features = encoder.n_features
        encoded: Any = {
            name: batch.column(i).to_numpy(zero_copy_only=False)
            for name, i in zip(encoder.schema.names, self.inputs, strict=False)
        }
        if self.in_one:
            encoded = _matrix(batch.column(self.inputs[0]), n_features)
        decoded = encoder.inverse_transform(encoded, **self.words)
        columns = zip(encoder.schema.columns, self.types, strict=True)
        return [_typed(decoded[column.name], kind) for column, kind in columns]


def _typed(values: AnyArray, kind: pa.DataType) -> pa.Array:
    """Return decoded values as an array of the type of the categories."""
    if values.dtype == object:
        return pa.array(values.tolist(), kind)
    return pa.array(values).cast(kind)


def _matrix(column: pa.Array, n_features: int) -> AnyArray:
    """Return arrays, or vectors of Spark's ML, as the rows of a matrix."""
    if column.null_count:
        raise ValueError("a row is null where its features should be")
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
        raise ValueError(f"row {row} has {sizes[row]} features; the encoder has {n_features}")
    matrix = np.zeros((n_rows, n_features), elements.dtype)
    matrix[np.repeat(np.arange(n_rows), lengths), places] = elements
    return matrix
