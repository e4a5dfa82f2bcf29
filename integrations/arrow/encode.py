"""Tables and streams of Arrow, encoded: every batch by one schema, which is known before it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from onehot_fast._arguments.indices import require_word
from onehot_fast.encoder import Encoder
from onehot_fast.integrations.arrow.batches import mapped, table_of
from onehot_fast.integrations.arrow.incoming import as_table
from onehot_fast.integrations.arrow.layouts import LAYOUTS, Layout
from onehot_fast.integrations.arrow.plan import EncodePlan

__all__ = ["encode", "encoded_schema"]


def encode(table: Any, encoder: Encoder, *, layout: Layout = "columns") -> Any:
    """Encode the columns of a table, or of a stream of batches, that an encoder was fitted to.

    Parameters
    ----------
    table : Table, RecordBatch, RecordBatchReader, or an object with the Arrow PyCapsule interface
        With the encoder's columns, of any type that holds such values: categories that compare
        equal are the same.
    encoder : Encoder
        Fitted, on tables of any library.
    layout : {"columns", "struct", "fixed_size_list", "tensor", "dictionary"}, default "columns"
        "columns" has a column for each feature, where the encoded columns stood and in the order
        of the encoder; Booleans are bits. In all others an encoded column keeps its name and place
        and becomes a structure of its features, a list of fixed size, a tensor of fixed shape (of
        one dimension; like the list of bytes where the dtype is bool), or a dictionary array of
        exactly the features, in which a row that is all off is null.

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
        `table` is no table, a column cannot be encoded, or a dtype has no type in Arrow.
    ValueError
        A column is absent or there twice, the encoder refuses a value, or a feature has the name
        of a column that is kept. A reader raises it with the batch.
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
    require_word(layout, "layout", LAYOUTS)
    schema = fitted(encoder)._schema()
    if not isinstance(table, pa.RecordBatchReader):
        rows = as_table(table)
        plan = EncodePlan(rows.schema, schema, layout)
        return table_of(plan.encode(rows), plan.schema, rows.num_rows)
    plan = EncodePlan(table.schema, schema, layout)
    return mapped(table, plan.encode, plan.schema)


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
    require_word(layout, "layout", LAYOUTS)
    source = schema if isinstance(schema, pa.Schema) else pa.schema(schema)
    return EncodePlan(source, fitted(encoder)._schema(), layout).schema


def fitted(encoder: Any) -> Encoder:
    """Return an encoder, or refuse something else."""
    if not isinstance(encoder, Encoder):
        raise TypeError(f"encoder is a {type(encoder).__name__}; accepted is an Encoder")
    return encoder
