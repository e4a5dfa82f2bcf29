"""The column chunks of a row group that are made here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from onehot_fast.cli.assembly import NewChunk
from onehot_fast.cli.footer import Chunk, written
from onehot_fast.cli.pages import BitChunk, Codec

__all__ = ["bit_chunks", "column_chunks", "is_bits"]


def is_bits(field: pa.Field) -> bool:
    """Tell whether a column is Boolean and never null."""
    return pa.types.is_boolean(field.type) and not field.nullable


def bit_chunks(names: Sequence[str], parts: Iterable[Any], codec: Codec) -> list[NewChunk]:
    """Return the chunks of Booleans that are never null; `parts` have these columns alone."""
    columns = [BitChunk(name, codec) for name in names]
    for part in parts:
        for column, values in zip(columns, part.columns, strict=True):
            column.add(values)
    return [NewChunk(Chunk(one.fields(), 0, one.length), one.parts) for one in columns]


def column_chunks(field: pa.Field, parts: Sequence[pa.Array], codec: Codec) -> list[NewChunk]:
    """Return the chunks of a column of any type, one for each of its leaves; in any thread."""
    if is_bits(field):
        rows = (pa.RecordBatch.from_arrays([part], schema=pa.schema([field])) for part in parts)
        return bit_chunks([field.name], rows, Codec(codec.number))
    table = pa.Table.from_arrays([pa.chunked_array(parts, field.type)], schema=pa.schema([field]))
    # For numbers that hardly repeat a dictionary would be built in vain.
    is_repeated = not pa.types.is_floating(field.type)
    data, footer = written(table, compression=codec.name, use_dictionary=is_repeated)
    chunks = footer.chunks(footer.groups[0])
    return [NewChunk(one, [data[one.start : one.start + one.length]]) for one in chunks]
