"""Encode Arrow tables and streams; the output schema is known before the first batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from onehot_fast import Encoder
from onehot_fast.adapter import (
    CodedColumn,
    ColumnSchema,
    EncodedLayout,
    PassThrough,
    Schema,
    Values,
    check_choice,
    code_column,
    code_table,
    map_columns,
    read_table,
    with_article,
    with_column_context,
)

from ._read import ColumnReader, as_rows
from ._write import (
    LAYOUTS,
    Layout,
    feature_fields,
    metadata_without,
    nested,
    output_arrays,
    with_columns,
)

__all__ = ["encode", "encoded_schema"]

Rows: TypeAlias = pa.Table | pa.RecordBatch

# `map_columns` measures work in written bytes; hashing a value takes as long as writing 32 bytes.
HASH_BYTES = 32


def encode(
    table: Any, encoder: Encoder, *, layout: Layout = "columns", num_threads: int | None = None
) -> Any:
    """Encode the columns of a table or stream with a fitted encoder.

    Parameters
    ----------
    table : Table, RecordBatch, RecordBatchReader, or an object with the Arrow PyCapsule interface
        The encoder's columns may have other types than in `fit`. A value belongs to a category if
        the two are equal.
    encoder : Encoder
        Fitted on tables of any library.
    layout : {"columns", "struct", "array", "tensor", "dictionary"}, default "columns"
        "columns" replaces each encoded column by one column per feature. In the other layouts an
        encoded column keeps its name and position. It becomes a struct of its features, a list of
        fixed size ("array"), a one-dimensional tensor of fixed shape, or a dictionary array whose
        values are the labels of the features. If the dtype is bool, columns and structs are
        bit-packed, and lists and tensors hold uint8. A row of zeros or NaN is null in a
        dictionary array.
    num_threads : int, optional
        The number of threads; by default it depends on the size of the result.

    Returns
    -------
    Table or RecordBatchReader
        A reader if `table` is a reader; each batch is encoded when it is requested. The other
        columns and the metadata are kept. New columns have no nulls, except with "dictionary".

    Raises
    ------
    RuntimeError
        The encoder is not fitted.
    TypeError
        `table` is not a table, a column cannot be encoded, or a dtype has no Arrow type.
    ValueError
        A column is absent or duplicated, a feature has the name of another output column, or a
        value is missing or unknown and the encoder must raise an error for it. A reader raises the
        error for a value when it reads the batch.
    MemoryError
        The result is larger than the free memory. Nothing has been allocated.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from onehot_fast import Encoder
    >>> table = pa.table({"size": ["S", "L", None], "price": [1, 3, 2]})
    >>> encoder = Encoder().fit(table)
    >>> encode(table, encoder).to_pydict()
    {'size_L': [False, True, False], 'size_S': [True, False, False], 'price': [1, 3, 2]}
    >>> encode(table.to_reader(), encoder, layout="dictionary").read_all()["size"].type
    DictionaryType(dictionary<values=string, indices=int8, ordered=0>)
    """
    schema = fitted_schema(encoder, layout)
    rows = as_rows(table)
    if layout == "columns" and isinstance(rows, pa.Table):
        return encoder.transform(rows, "arrow", num_threads=num_threads)
    plan = EncodePlan(rows.schema, schema, layout, num_threads)
    return with_columns(rows, plan.encode, plan.schema)


def encoded_schema(schema: pa.Schema, encoder: Encoder, *, layout: Layout = "columns") -> pa.Schema:
    """Return the schema of the result of `encode` for tables with the given schema.

    Parameters
    ----------
    schema : pyarrow.Schema, or an object with ``__arrow_c_schema__``
        The schema of the table.
    encoder, layout
        As for `encode`.

    Returns
    -------
    pyarrow.Schema

    Raises
    ------
    RuntimeError, TypeError, ValueError
        As for `encode`, except for errors that depend on rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from onehot_fast import Encoder
    >>> encoder = Encoder().fit({"size": ["S", "L"]})
    >>> source = pa.schema({"size": pa.string()})
    >>> encoded_schema(source, encoder, layout="struct").field("size").type
    StructType(struct<size_L: bool not null, size_S: bool not null>)
    """
    source = schema if isinstance(schema, pa.Schema) else pa.schema(schema)
    return EncodePlan(source, fitted_schema(encoder, layout), layout).schema


def fitted_schema(encoder: Any, layout: Any) -> Schema:
    """Return the schema of a fitted encoder; raise an error if an argument is invalid."""
    check_choice(layout, "layout", LAYOUTS)
    if not isinstance(encoder, Encoder):
        raise TypeError(f"encoder must be an Encoder, got {with_article(encoder)}")
    if layout == "dictionary":
        encoder.schema.check_plain(f"layout={layout!r}")
    return encoder.schema


class ColumnCoder:
    """Converts one column to codes, batch by batch; looks up categories only if they changed."""

    def __init__(self, schema: ColumnSchema) -> None:
        self._schema = schema
        self._reader = ColumnReader()
        self._categories: Any = None
        self._outputs: Any = None

    def code(self, values: pa.Array | pa.ChunkedArray) -> CodedColumn:
        """Return the codes of a batch; every error message names the column."""
        if self._schema.is_ragged:
            table = read_table(pa.table([values], [""]))
            table.names = (self._schema.name,)
            [coded] = code_table(table, Schema((self._schema,)), [0]).columns
            return coded
        column = with_column_context(self._schema.name, self._reader.read, values)
        if isinstance(column, Values):
            return code_column(self._schema, column)
        if column.stored is not self._categories:
            self._categories = column.stored
            self._outputs = self._schema.features_of(column.stored)
        return code_column(self._schema, column, self._outputs)


class EncodePlan:
    """The schema of the output, and how to write each of its columns."""

    def __init__(
        self, source: pa.Schema, schema: Schema, layout: Layout, num_threads: int | None = None
    ) -> None:
        names = source.names
        self._positions = schema.positions_in(names)
        order = schema.column_order(names)
        order.warn_if_absent()
        self._coders = [ColumnCoder(column) for column in schema.columns]
        self._num_threads = num_threads
        self._parts: Sequence[Any]
        if layout == "columns":
            self._parts = EncodedLayout(schema, names).columns
        else:
            index_of = {position: index for index, position in enumerate(self._positions)}
            self._parts = [index_of.get(i, PassThrough(names[i], i)) for i in order.positions]
            self._nested = [nested(column, layout, num_threads) for column in schema.columns]
        fields: list[pa.Field] = []
        for part in self._parts:
            if isinstance(part, PassThrough):
                fields.append(source.field(part.position))
            elif isinstance(part, int):
                name, (kind, _) = names[self._positions[part]], self._nested[part]
                fields.append(pa.field(name, kind, nullable=layout == "dictionary"))
            else:
                fields += feature_fields(part.names, part.dtype)
        changed = {names[position] for position in self._positions}
        self.schema: Any = pa.schema(fields, metadata_without(source.metadata, changed))
        kinds = [source.field(position).type for position in self._positions]
        self._n_hashed = sum(not pa.types.is_dictionary(kind) for kind in kinds)

    def encode(self, rows: Rows) -> list[Any]:
        """Return the output columns of a table or batch; use several threads if it is large."""

        def code(index: int) -> CodedColumn:
            return self._coders[index].code(rows.column(self._positions[index]))

        n_bytes = self._n_hashed * rows.num_rows * HASH_BYTES
        coded = map_columns(code, range(len(self._coders)), n_bytes)
        columns: list[Any] = []
        for part in self._parts:
            if isinstance(part, PassThrough):
                columns.append(rows.column(part.position))
            elif isinstance(part, int):
                _, write = self._nested[part]
                columns.append(write(coded[part]))
            else:
                columns += output_arrays(coded[part.columns], part.dtype, self._num_threads)
        return columns
