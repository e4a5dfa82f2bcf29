"""How the batches of one schema are encoded: settled before the first of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from onehot_fast._categories.lookup import places_of, table_of
from onehot_fast._categories.schema import ColumnSchema, Schema
from onehot_fast._encode.outputs import Coded
from onehot_fast._encode.table_layout import encoded_pieces
from onehot_fast._runtime import parallel
from onehot_fast.column import Kept
from onehot_fast.integrations.arrow.layouts import Layout, block, feature_fields, form_of
from onehot_fast.integrations.arrow.metadata import metadata_without
from onehot_fast.integrations.arrow.read import ColumnReader, read_table

__all__ = ["ColumnCoder", "EncodePlan"]

Build: TypeAlias = Callable[[Coded], list[pa.Array]]

# What hashing a row costs is like writing so many bytes; threads wait for less than enough.
HASH_BYTES = 32


class ColumnCoder:
    """Codes one column batch by batch; what its categories mean is decided once a dictionary."""

    def __init__(self, column: ColumnSchema) -> None:
        self._column = column
        self._schema = Schema((column,))
        self._reader = ColumnReader()
        self._categories: npt.NDArray[Any] | None = None
        self._places: npt.NDArray[np.int64] = np.empty(0, np.int64)

    def code(self, values: pa.Array | pa.ChunkedArray) -> Coded:
        """Return the codes of a batch and their table, or refuse a row."""
        name = self._column.name
        try:
            found = self._reader.read(values)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"column {name!r}: {error}") from error
        if found.categories is not self._categories:
            self._categories = found.categories
            self._places = places_of(self._column, found.categories)
        table = table_of(self._column, found.codes, found.categories, 0, self._places)
        return Coded(self._schema, [found.codes], [table], len(found.codes))


class Step(NamedTuple):
    """What one input column adds to the output: itself, or what `build` makes of its codes."""

    position: int
    fields: list[pa.Field]
    coder: ColumnCoder | None = None
    build: Build = lambda _: []

    def code(self, rows: pa.Table | pa.RecordBatch) -> Coded | None:
        """Return the codes of a column that is encoded."""
        return None if self.coder is None else self.coder.code(rows.column(self.position))

    def columns(self, rows: pa.Table | pa.RecordBatch, coded: Coded | None) -> list[Any]:
        """Return the columns of the output."""
        return [rows.column(self.position)] if coded is None else self.build(coded)


class EncodePlan:
    """The output of one schema: its fields, and the steps that make the columns.

    Parameters
    ----------
    source : pyarrow.Schema
        Of the tables or batches to encode.
    schema : Schema
        Of the encoder.
    layout : str
        See `encode`.

    Raises
    ------
    TypeError
        The dtype of an output has no type in Arrow.
    ValueError
        An encoded column is absent or there twice, or a feature has the name of a column that is
        kept.
    """

    def __init__(self, source: pa.Schema, schema: Schema, layout: Layout) -> None:
        table = read_table(source.empty_table())
        positions = [table.position(column.name) for column in schema.columns]
        if layout == "columns":
            pieces = encoded_pieces(table, Coded(schema, [], [], 0), lambda _, *span: range(*span))
            self._steps = list(_feature_steps(source, schema, positions, pieces))
        else:
            owners = dict(zip(positions, schema.columns, strict=True))
            steps = (_column_step(source, owners, at, layout) for at in range(len(source)))
            self._steps = list(steps)
        changed = {source.names[at] for at in positions}
        fields = [field for step in self._steps for field in step.fields]
        self.schema = pa.schema(fields, metadata_without(source.metadata, changed))
        kinds = [source.field(at).type for at in positions]
        self._n_hashed = sum(not pa.types.is_dictionary(kind) for kind in kinds)

    def encode(self, rows: pa.Table | pa.RecordBatch) -> list[Any]:
        """Return the columns of the output; read side by side where there is enough to do."""
        n_bytes = self._n_hashed * rows.num_rows * HASH_BYTES
        coded = parallel.each(lambda step: step.code(rows), self._steps, n_bytes)
        made = (step.columns(rows, one) for step, one in zip(self._steps, coded, strict=True))
        return [column for columns in made for column in columns]


def _feature_steps(
    source: pa.Schema, schema: Schema, positions: list[int], pieces: list[Any]
) -> Iterator[Step]:
    """Yield the steps where every feature is a column."""
    for piece in pieces:
        if isinstance(piece, Kept):
            yield Step(piece.position, [source.field(piece.position)])
            continue
        for at in piece.values:
            column = schema.columns[at]
            coder = ColumnCoder(column)
            yield Step(
                positions[at], feature_fields(column), coder, lambda coded: block(coded, 0, 1)
            )


def _column_step(
    source: pa.Schema, owners: dict[int, ColumnSchema], position: int, layout: Layout
) -> Step:
    """Return the step of one column where encoded ones stay where and what they are called."""
    field, column = source.field(position), owners.get(position)
    if column is None:
        return Step(position, [field])
    kind, build = form_of(column, layout)
    new = pa.field(field.name, kind, nullable=layout == "dictionary")
    return Step(position, [new], ColumnCoder(column), lambda coded: [build(coded)])
