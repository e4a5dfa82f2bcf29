"""Columns as batches and tables, which keep their rows without any column; and streams of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

__all__ = ["batch_of", "mapped", "table_of"]


def batch_of(columns: Sequence[pa.Array], schema: pa.Schema, n_rows: int) -> pa.RecordBatch:
    """Return the batch of the columns, of which there may be none."""
    if len(schema):
        return pa.RecordBatch.from_arrays(columns, schema=schema)
    rows = pa.Array.from_buffers(pa.struct([]), n_rows, [None], 0)
    return pa.RecordBatch.from_struct_array(rows).replace_schema_metadata(schema.metadata)


def table_of(columns: Sequence[Any], schema: pa.Schema, n_rows: int) -> pa.Table:
    """Return the table of the columns, of which there may be none."""
    if len(schema):
        return pa.Table.from_arrays(columns, schema=schema)
    return pa.Table.from_batches([batch_of([], schema, n_rows)])


def mapped(
    reader: pa.RecordBatchReader, columns: Callable[[pa.RecordBatch], list[Any]], schema: pa.Schema
) -> pa.RecordBatchReader:
    """Return the reader of what a function makes of each batch, when it is asked for."""
    return pa.RecordBatchReader.from_batches(schema, _batches(reader, columns, schema))


def _batches(
    reader: pa.RecordBatchReader, columns: Callable[[pa.RecordBatch], list[Any]], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the new batches; an error tells the row of the stream with which its batch begins."""
    first = 0
    for batch in reader:
        try:
            arrays = columns(batch)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"in the batch that begins with row {first}: {error}") from error
        yield batch_of(arrays, schema, batch.num_rows)
        first += batch.num_rows
