"""Tables and streams of Arrow, encoded: every batch by one schema, which is known before it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from onehot_fast import Encoder
from onehot_fast.adapter import Schema, checks

from ._plan import EncodePlan
from ._read import as_table
from ._write import LAYOUTS, Layout, reader_of_batches, table_of

__all__ = ["encode", "encoded_schema"]


def encode(
    table: Any, encoder: Encoder, *, layout: Layout = "columns", num_threads: int | None = None
) -> Any:
    """Encode the columns of a table, or of a stream of batches, that an encoder was fitted to.

    Parameters
    ----------
    table : Table, RecordBatch, RecordBatchReader, or an object with the Arrow PyCapsule interface
        With the encoder's columns, of any type that holds such values: categories that compare
        equal are the same.
    encoder : Encoder
        Fitted, on tables of any library.
    layout : {"columns", "struct", "array", "tensor", "dictionary"}, default "columns"
        "columns" has a column for each feature, where the encoded columns stood and in the order
        of the encoder; Booleans are bits. In all others an encoded column keeps its name and place
        and becomes a structure of its features, a list of fixed size ("array"), a tensor of fixed
        shape (of one dimension; like the list of bytes where the dtype is bool), or a dictionary
        array of exactly the features, in which a row that is all off is null.
    num_threads : int, optional
        By default as many as the size of the result makes worthwhile.

    Returns
    -------
    Table or RecordBatchReader
        A reader if one came in: it encodes a batch when that is asked for. Other columns pass
        through untouched; fields and metadata are kept. What is new is over memory of our own,
        given back with the last reference, and never null but for "dictionary".

    Raises
    ------
    RuntimeError
        The encoder is not fitted.
    TypeError
        `table` is not a table, a column cannot be encoded, or a dtype has no type in Arrow.
    ValueError
        A column is absent or there twice, or a feature has the name of another column of the
        output; the encoder refuses a value, which a reader raises with the batch.
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
    rows = table if isinstance(table, pa.RecordBatchReader) else as_table(table)
    plan = EncodePlan(rows.schema, schema, layout, num_threads)
    if isinstance(rows, pa.RecordBatchReader):
        return reader_of_batches(rows, plan.encode, plan.schema)
    return table_of(plan.encode(rows), plan.schema, rows.num_rows)


def encoded_schema(schema: pa.Schema, encoder: Encoder, *, layout: Layout = "columns") -> pa.Schema:
    """Return the schema of what `encode` makes of tables of a schema.

    Parameters
    ----------
    schema : pyarrow.Schema, or an object with ``__arrow_c_schema__``
        Of the table.
    encoder, layout
        As for `encode`.

    Returns
    -------
    pyarrow.Schema

    Raises
    ------
    RuntimeError, TypeError, ValueError
        As for `encode`, but for what depends on rows.

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
    """Return the schema of an encoder, after a check of both arguments."""
    checks.check_choice(layout, "layout", LAYOUTS)
    if not isinstance(encoder, Encoder):
        raise TypeError(f"encoder is {checks.with_article(encoder)}; accepted is an Encoder")
    return encoder.schema
