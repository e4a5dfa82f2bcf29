"""Whatever speaks Arrow, as pyarrow's own objects: our reader checks it, nothing is copied."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from onehot_fast._arrow import reader

__all__ = ["as_column", "as_table", "is_encodable"]


def as_column(column: Any) -> pa.Array | pa.ChunkedArray:
    """Return an object that speaks Arrow as pyarrow's, without a copy."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    stream = reader.read(column)
    kind = pa.field(stream.schema).type
    return pa.chunked_array([pa.array(chunk) for chunk in stream], kind)


def as_table(table: Any) -> pa.Table:
    """Return an object that speaks Arrow as pyarrow's table, without a copy."""
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if isinstance(table, pa.RecordBatchReader):
        return table.read_all()
    if isinstance(table, pa.Array | pa.ChunkedArray) and not pa.types.is_struct(table.type):
        return pa.table({"x0": table})
    stream = reader.read(table)
    if stream.schema.kind != "struct":
        kind = pa.field(stream.schema).type
        return pa.table({"x0": pa.chunked_array([pa.array(chunk) for chunk in stream], kind)})
    schema = pa.schema(stream.schema)
    batches = [
        pa.RecordBatch.from_arrays(
            [pa.array(chunk.child(at)) for at in range(len(schema))], schema=schema
        )
        for chunk in stream
    ]
    return pa.Table.from_batches(batches, schema)


def is_encodable(kind: pa.DataType) -> bool:
    """Tell whether columns of a type are encoded where nobody says which."""
    if isinstance(kind, pa.BaseExtensionType):
        return is_encodable(kind.storage_type)
    if pa.types.is_run_end_encoded(kind):
        return is_encodable(kind.value_type)
    text = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
    fixed = pa.types.is_dictionary(kind) or pa.types.is_fixed_size_binary(kind)
    return bool(fixed) or str(kind) in text
