"""Encoded tables and streams of Arrow back to the values they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from onehot_fast import Encoder, adapter
from onehot_fast.adapter import ColumnSchema, PassThrough, Schema, Special

from ._decode import ClassDecoder, Classes, classes_of_features, reader_of_classes
from ._plan import Rows
from ._read import as_table
from ._write import Layout, metadata_without, reader_of_batches, table_of
from .encoding import fitted_schema

__all__ = ["decode"]


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
        off `Encoder.inverse_transform` tells.

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
        `table` is not a table, a column has another type than `encode` gives it, the categories
        have no common type, or a substitute is not of this type.
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
    schema = fitted_schema(encoder, layout)
    substitutes = {
        Special.MISSING: missing, Special.UNKNOWN: unknown, Special.INFREQUENT: infrequent,
    }  # fmt: skip
    rows = table if isinstance(table, pa.RecordBatchReader) else as_table(table)
    outputs = [*_output_columns(rows.schema, schema, layout, substitutes)]
    unchanged = {output.field.name for output in outputs if output.meanings is None}
    changed = [name for name in rows.schema.names if name not in unchanged]
    metadata = metadata_without(rows.schema.metadata, changed)
    decoded = pa.schema([output.field for output in outputs], metadata)

    def columns(rows: Rows) -> list[Any]:
        return [output.of(rows) for output in outputs]

    if isinstance(rows, pa.RecordBatchReader):
        return reader_of_batches(rows, columns, decoded)
    return table_of(columns(rows), decoded, rows.num_rows)


class OutputColumn(NamedTuple):
    """A column of the output: what `read` returns, or where there are meanings those of it."""

    field: pa.Field
    read: Callable[[Rows], Any]
    meanings: ClassDecoder | None = None

    def of(self, rows: Rows) -> Any:
        """Return the column of a batch."""
        values = self.read(rows)
        return values if self.meanings is None else self.meanings.of(values)


def _output_columns(
    source: pa.Schema, schema: Schema, layout: Layout, substitutes: Mapping[Special, Any]
) -> Iterator[OutputColumn]:

    def decoded(column: ColumnSchema, read: Callable[[Rows], Classes]) -> OutputColumn:
        meanings = ClassDecoder(column, substitutes)
        return OutputColumn(pa.field(str(column.name), meanings.type), read, meanings)

    if layout == "columns":
        positions = adapter.decode.feature_positions(schema, source.names)
        for part in adapter.decode.decoded_layout(schema, source.names):
            if isinstance(part, PassThrough):
                yield _unchanged(source, part.position)
            else:
                column, features = schema.columns[part], schema.starts[part : part + 2]
                yield decoded(column, _from_features(column, positions[slice(*features)]))
        return
    encoded = dict(zip(schema.positions_in(source.names), schema.columns, strict=True))
    for position in range(len(source)):
        if position in encoded:
            column = encoded[position]
            yield decoded(column, _from_column(column, position, layout))
        else:
            yield _unchanged(source, position)


def _unchanged(source: pa.Schema, position: int) -> OutputColumn:
    return OutputColumn(source.field(position), lambda rows: rows.column(position))


def _from_features(column: ColumnSchema, positions: list[int]) -> Callable[[Rows], Classes]:
    """Return what reads the classes from columns of features."""

    def read(rows: Rows) -> Classes:
        features = [rows.column(position) for position in positions]
        return classes_of_features(column, features, rows.num_rows)

    return read


def _from_column(column: ColumnSchema, position: int, layout: Layout) -> Callable[[Rows], Classes]:
    """Return what reads the classes from one column."""
    read = reader_of_classes(column, layout)
    return lambda rows: read(rows.column(position))
