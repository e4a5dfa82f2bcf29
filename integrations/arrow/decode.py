"""Encoded tables and streams of Arrow back to the values they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from onehot_fast._arguments.indices import require_word
from onehot_fast._categories.schema import ColumnSchema, Schema, Special
from onehot_fast._encode.decode import classes_of
from onehot_fast._encode.table_layout import decoded_pieces
from onehot_fast.column import Kept
from onehot_fast.encoder import Encoder
from onehot_fast.integrations.arrow.batches import mapped, table_of
from onehot_fast.integrations.arrow.cells import (
    classes_of_labels,
    feature_cells,
    list_cells,
    struct_cells,
)
from onehot_fast.integrations.arrow.encode import fitted
from onehot_fast.integrations.arrow.incoming import as_table
from onehot_fast.integrations.arrow.layouts import LAYOUTS, Layout
from onehot_fast.integrations.arrow.meanings import Meanings
from onehot_fast.integrations.arrow.metadata import metadata_without
from onehot_fast.integrations.arrow.read import read_table

__all__ = ["decode"]

Rows: TypeAlias = pa.Table | pa.RecordBatch


def decode(
    table: Any,
    encoder: Encoder,
    *,
    layout: Layout = "columns",
    missing: Any = None,
    unknown: Any = None,
    infrequent: Any = None,
) -> Any:
    """Return the values that an encoded table, or a stream of batches, stands for.

    Parameters
    ----------
    table : Table, RecordBatch, RecordBatchReader, or an object with the Arrow PyCapsule interface
        What `encode` made, possibly read from a file or handed on by another library: features by
        their names in any order, lists of any kind where they were of fixed size, and the values
        themselves where they were in a dictionary.
    encoder, layout
        As for `encode`.
    missing, unknown, infrequent : scalar, optional
        What stands for a value that is not known; null by default. What a row means that is all
        off `Encoder.inverse` tells.

    Returns
    -------
    Table or RecordBatchReader
        A reader if one came in. A decoded column has the type of the categories, whatever occurs,
        and stands where its features began; other columns pass through untouched.

    Raises
    ------
    RuntimeError
        The encoder is not fitted.
    TypeError
        `table` is no table, a column has another type than `encode` gives it, the categories have
        no common type, or a substitute is not of this type.
    ValueError
        A column is absent or there twice, several outputs of one column are on, or none is and that
        stands for nothing.

    Examples
    --------
    >>> from onehot_fast import Encoder
    >>> from onehot_fast.integrations.arrow import encode
    >>> table = pa.table({"size": ["S", "L", None], "price": [1, 3, 2]})
    >>> encoder = Encoder().fit(table)
    >>> decode(encode(table, encoder), encoder).equals(table)
    True
    """
    require_word(layout, "layout", LAYOUTS)
    schema = fitted(encoder)._schema()
    words = {
        Special.MISSING: missing, Special.UNKNOWN: unknown, Special.INFREQUENT: infrequent,
    }  # fmt: skip
    rows = table if isinstance(table, pa.RecordBatchReader) else as_table(table)
    steps = list(_steps(rows.schema, schema, layout, words))
    kept = {step.field.name for step in steps if step.meanings is None}
    changed = [name for name in rows.schema.names if name not in kept]
    metadata = metadata_without(rows.schema.metadata, changed)
    decoded = pa.schema([step.field for step in steps], metadata)

    def columns(rows: Rows) -> list[Any]:
        return [step.run(rows) for step in steps]

    if isinstance(rows, pa.RecordBatchReader):
        return mapped(rows, columns, decoded)
    return table_of(columns(rows), decoded, rows.num_rows)


class Step(NamedTuple):
    """What makes one output column: a look at the classes of its rows, or the column itself."""

    field: pa.Field
    find: Callable[[Rows], Any]
    meanings: Meanings | None = None

    def run(self, rows: Rows) -> Any:
        """Return the column."""
        found = self.find(rows)
        return found if self.meanings is None else self.meanings.of(found)


def _steps(
    source: pa.Schema, schema: Schema, layout: Layout, words: Mapping[Special, Any]
) -> Iterator[Step]:
    """Yield the columns of the output in order."""
    table = read_table(source.empty_table())
    if layout == "columns":
        # In place of the values of a column its number.
        numbers = [np.array([at]) for at in range(len(schema.columns))]
        for name in schema.names:
            table.position(name)
        for piece in decoded_pieces(table, schema, numbers):
            if isinstance(piece, Kept):
                yield _kept(source, piece.position)
            else:
                column = schema.columns[int(piece.values[0, 0])]
                yield _decoded(column, words, _by_features(column, source))
        return
    owners = {table.position(column.name): column for column in schema.columns}
    for position in range(len(source)):
        owner = owners.get(position)
        if owner is None:
            yield _kept(source, position)
        else:
            yield _decoded(owner, words, _by_column(owner, position, layout))


def _kept(source: pa.Schema, position: int) -> Step:
    """Return the step of a column that stays."""
    return Step(source.field(position), lambda rows: rows.column(position))


def _decoded(
    column: ColumnSchema, words: Mapping[Special, Any], find: Callable[[Rows], Any]
) -> Step:
    """Return the step of a column that is decoded."""
    meanings = Meanings(column, words)
    return Step(pa.field(str(column.name), meanings.type), find, meanings)


def _by_features(
    column: ColumnSchema, source: pa.Schema
) -> Callable[[Rows], npt.NDArray[np.int64]]:
    """Return what finds the classes in columns of features."""
    positions = [source.get_field_index(name) for name in column.names]

    def find(rows: Rows) -> npt.NDArray[np.int64]:
        cells = feature_cells(column, [rows.column(at) for at in positions], rows.num_rows)
        return classes_of(column, cells, rows.num_rows, rows.num_rows)

    return find


def _by_column(
    column: ColumnSchema, position: int, layout: Layout
) -> Callable[[Rows], npt.NDArray[np.int64]]:
    """Return what finds the classes in one column."""

    def find(rows: Rows) -> npt.NDArray[np.int64]:
        values, n_rows = rows.column(position), rows.num_rows
        if layout == "dictionary":
            return classes_of_labels(column, values)
        if layout == "struct":
            return classes_of(column, struct_cells(column, values), n_rows, n_rows)
        return classes_of(column, list_cells(column, values), n_rows, 1)

    return find
