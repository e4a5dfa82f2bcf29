"""What runs in the Python workers of Spark: one function for the batches of one partition each.

The way back is in `_decoding`.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

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
        Fitted to no rows; it encodes the columns of the batches, in their order.
    """
    names = list(encoder.columns or ())
    pending: list[pa.RecordBatch] = []
    n_rows = first = n_bytes = 0

    def learn_pending() -> None:
        table = named(pa.Table.from_batches(pending).columns, names)
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


def named(columns: Sequence[Any], names: Sequence[Any]) -> pa.Table:
    """Return columns as a table whose instants are in UTC, as `DataFrame.toArrow` has them.

    Spark hands them over in the time zone of the session, which is none of theirs.
    """
    in_utc = [
        column.cast(pa.timestamp(column.type.unit, "UTC"))
        if pa.types.is_timestamp(column.type) and column.type.tz
        else column
        for column in columns
    ]
    return pa.table(in_utc, names)


def merge_states(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield one pickle of all that came."""
    encoders = [pickle.loads(state) for batch in batches for state in batch.column(0).to_pylist()]
    if encoders:
        yield _state(encoders[0].merge(*encoders[1:]))


def _state(encoder: Encoder) -> pa.RecordBatch:
    payload = pickle.dumps(encoder, 5)
    ends = np.array([0, len(payload)], np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(payload)]
    return pa.RecordBatch.from_arrays([pa.Array.from_buffers(pa.binary(), 1, buffers)], ["state"])


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
    output : {"columns", "array", "vector", "codes", "indices"}
    inputs : sequence of int
        Where the columns of the encoder are, in its order.
    order : sequence of int
        The columns of the result: one that stays by its position, a new one ``j`` as ``~j``.
    names : sequence of str
        Of the result.
    groups : sequence of sequences of int
        The columns of the encoder whose features are side by side in one vector or array.
    elements : sequence of numpy.dtype or None
        Of the array of each group; None for a vector.
    """

    shipped: Shipped
    output: Literal["columns", "array", "vector", "codes", "indices"]
    inputs: Sequence[int]
    order: Sequence[int]
    names: Sequence[str]
    num_threads: int | None = None
    groups: Sequence[Sequence[int]] = ()
    elements: Sequence[np.dtype[Any] | None] = ()

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the encoded rows of a partition."""
        columns = self.shipped.encoder.schema.columns
        row_bytes = 1
        if self.output == "columns":
            row_bytes += sum(c.n_outputs * c.options.dtype.itemsize for c in columns)
        for group, element in zip(self.groups, self.elements, strict=True):
            width = sum(columns[i].n_outputs for i in group)
            row_bytes += 0 if element is None else width * element.itemsize
        for first, batch in cut(batches, max(1, MOST_BYTES // row_bytes)):
            new = with_place(partial(self._new_columns, batch), first)
            arrays = [new[~i] if i < 0 else batch.column(i) for i in self.order]
            yield pa.RecordBatch.from_arrays(arrays, self.names)

    def _new_columns(self, batch: pa.RecordBatch) -> Sequence[pa.Array]:
        encoder, threads = self.shipped.encoder, self.num_threads
        names = [column.name for column in encoder.schema.columns]
        rows = named([batch.column(i) for i in self.inputs], names)
        if self.output == "columns":
            encoded = encoder.transform(rows, "arrow", num_threads=threads)
            return [array_of(column) for column in encoded.columns]
        if self.output == "codes" or self.output == "indices":
            matrix = encoder.transform(rows, self.output, num_threads=threads)
            dtype = np.promote_types(matrix.dtype, np.int32)
            return [_numbers(codes) for codes in np.ascontiguousarray(matrix.T, dtype)]
        coded = lookup.code_table(read_table(rows), encoder.schema)
        groups = ([coded[i] for i in group] for group in self.groups)
        return [
            vectors(group, batch.num_rows, threads)
            if element is None
            else arrays(group, batch.num_rows, element, threads)
            for group, element in zip(groups, self.elements, strict=True)
        ]


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


def _numbers(values: AnyArray) -> pa.Array:
    """Return numbers as an array, as pa.array does after it has imported pandas."""
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
    """Return the rows of several columns, side by side, as lists."""
    matrix = write.rows(columns, dtype, n_rows=n_rows, num_threads=num_threads)
    ends = np.arange(n_rows + 1, dtype=np.int32) * np.int32(matrix.shape[1])
    return _lists(ends, matrix.reshape(-1))


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
