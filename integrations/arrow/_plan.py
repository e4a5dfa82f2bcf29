"""How the tables and batches of one schema are encoded, settled before the first of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from onehot_fast.adapter import (
    CodedColumn,
    ColumnSchema,
    EncodedLayout,
    PassThrough,
    Schema,
    Values,
    lookup,
    map_columns,
)

from ._read import ColumnReader
from ._write import Layout, metadata_without, nested, output_arrays, output_fields

Rows: TypeAlias = pa.Table | pa.RecordBatch

# Hashing a row takes the time of writing so many bytes, by which `map_columns` counts.
HASH_BYTES = 32


class ColumnCoder:
    """Codes one column batch by batch; a dictionary is looked up once while it stays the same."""

    def __init__(self, schema: ColumnSchema) -> None:
        self._schema = schema
        self._reader = ColumnReader()
        self._categories: Any = None
        self._outputs: npt.NDArray[np.int64] = np.empty(0, np.int64)

    def code(self, values: pa.Array | pa.ChunkedArray) -> CodedColumn:
        """Return the rows of a batch, or refuse one."""
        try:
            column = self._reader.read(values)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"column {self._schema.name!r}: {error}") from error
        if isinstance(column, Values):
            return lookup.code_column(self._schema, column)
        if column.stored is not self._categories:
            self._categories = column.stored
            self._outputs = self._schema.outputs_of(column.stored)
        return lookup.code_column(self._schema, column, self._outputs)


class NewColumns(NamedTuple):
    """What becomes of the encoded columns ``schema.columns[columns]`` of the encoder."""

    columns: slice
    fields: list[pa.Field]
    write: Callable[[Sequence[CodedColumn]], list[pa.Array]]


class EncodePlan:
    """The schema of the output, and what writes its columns."""

    def __init__(
        self, source: pa.Schema, schema: Schema, layout: Layout, num_threads: int | None = None
    ) -> None:
        self._positions = schema.positions_in(source.names)
        order = schema.column_order(source.names)
        order.warn_if_absent()
        self._coders = [ColumnCoder(column) for column in schema.columns]
        self._parts: list[PassThrough | NewColumns] = []
        if layout == "columns":
            self._parts += [
                part
                if isinstance(part, PassThrough)
                else _output_columns(schema, part.columns, num_threads)
                for part in EncodedLayout(schema, source.names).columns
            ]
        else:
            index_of = {position: index for index, position in enumerate(self._positions)}
            for position in order.positions:
                index = index_of.get(position)
                if index is None:
                    self._parts.append(PassThrough(position))
                    continue
                name = source.names[position]
                self._parts.append(_nested_column(schema, index, name, layout, num_threads))
        fields: list[pa.Field] = []
        for part in self._parts:
            if isinstance(part, PassThrough):
                fields.append(source.field(part.position))
            else:
                fields += part.fields
        changed = {source.names[position] for position in self._positions}
        self.schema = pa.schema(fields, metadata_without(source.metadata, changed))
        kinds = [source.field(position).type for position in self._positions]
        self._n_hashed = sum(not pa.types.is_dictionary(kind) for kind in kinds)

    def encode(self, rows: Rows) -> list[Any]:
        """Return the columns of the output; read side by side where there is enough to do."""

        def code(index: int) -> CodedColumn:
            return self._coders[index].code(rows.column(self._positions[index]))

        n_bytes = self._n_hashed * rows.num_rows * HASH_BYTES
        coded = map_columns(code, range(len(self._coders)), n_bytes)
        columns: list[Any] = []
        for part in self._parts:
            if isinstance(part, PassThrough):
                columns.append(rows.column(part.position))
            else:
                columns += part.write(coded[part.columns])
        return columns


def _output_columns(schema: Schema, positions: slice, num_threads: int | None) -> NewColumns:
    """Return how the outputs of several columns of the encoder become columns."""
    columns = schema.columns[positions]
    dtype = columns[0].options.dtype
    fields = [field for column in columns for field in output_fields(column)]

    def write(coded: Sequence[CodedColumn]) -> list[pa.Array]:
        return output_arrays(coded, dtype, num_threads)

    return NewColumns(positions, fields, write)


def _nested_column(
    schema: Schema, index: int, name: str, layout: Layout, num_threads: int | None
) -> NewColumns:
    """Return how the outputs of one column of the encoder become a column in its place."""
    kind, write = nested(schema.columns[index], layout, num_threads)
    field = pa.field(name, kind, nullable=layout == "dictionary")
    return NewColumns(slice(index, index + 1), [field], lambda coded: [write(coded[0])])
