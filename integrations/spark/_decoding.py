"""What runs in the Python workers of Spark on the way back: encoded batches → values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ._workers import MOST_BYTES, AnyArray, Shipped, cut, with_place


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
