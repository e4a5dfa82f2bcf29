"""Batches as pyarrow can process them: without dictionaries of views, and merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.cli.reader import Batches

# Views, and the types that replace them within dictionaries and before they are written as text.
PLAIN_TEXTS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}


def without_dictionary_views(kind: pa.DataType) -> pa.DataType:
    """Return a type whose dictionaries, at any depth, contain plain strings instead of views.

    pyarrow cannot take from, cast or write dictionaries of views, which polars writes.
    """
    if pa.types.is_dictionary(kind):
        values = PLAIN_TEXTS.get(kind.value_type, kind.value_type)
        return pa.dictionary(kind.index_type, values, kind.ordered)
    if pa.types.is_struct(kind):
        return pa.struct([f.with_type(without_dictionary_views(f.type)) for f in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(without_dictionary_views(kind.value_type)))
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(without_dictionary_views(kind.value_type)))
    if pa.types.is_fixed_size_list(kind):
        item = kind.value_field.with_type(without_dictionary_views(kind.value_type))
        return pa.list_(item, kind.list_size)
    return kind


def as_plain_dictionary(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return an array as `kind`, the result of `without_dictionary_views` for its type."""
    if array.type == kind:
        return array
    if pa.types.is_dictionary(kind):
        values = array.dictionary.cast(kind.value_type)
        return pa.DictionaryArray.from_arrays(array.indices, values, ordered=kind.ordered)
    if pa.types.is_struct(kind):
        children = [
            as_plain_dictionary(array.field(i), kind.field(i).type) for i in range(kind.num_fields)
        ]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=mask)
    values = as_plain_dictionary(array.values, kind.value_type)
    own = array.buffers()[: 1 if pa.types.is_fixed_size_list(kind) else 2]
    return pa.Array.from_buffers(kind, len(array), own, array.null_count, array.offset, [values])


def without_null_values(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch whose dictionaries contain no null, which pyarrow could not unify."""
    for i, array in enumerate(batch.columns):
        if pa.types.is_dictionary(array.type) and array.dictionary.null_count:
            is_value = pc.is_valid(array.dictionary)
            numbers = pc.subtract(pc.cumulative_sum(is_value.cast(pa.int64())), 1)
            new = pc.if_else(is_value, numbers, None).cast(array.type.index_type)
            codes, values = new.take(array.indices), array.dictionary.filter(is_value)
            plain = pa.DictionaryArray.from_arrays(codes, values, ordered=array.type.ordered)
            batch = batch.set_column(i, batch.schema.field(i), plain)
    return batch


def is_mergeable(kind: pa.DataType) -> bool:
    """Tell whether pyarrow can concatenate arrays of a type that have other dictionaries."""
    if isinstance(kind, pa.BaseExtensionType):
        return is_mergeable(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return not pa.types.is_nested(kind.value_type)
    if pa.types.is_struct(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        parts = [kind.field(i).type for i in range(kind.num_fields)]
        return all(is_mergeable(part) and not pa.types.is_dictionary(part) for part in parts)
    return not pa.types.is_nested(kind) and not pa.types.is_run_end_encoded(kind)


def nests_dictionaries(kind: pa.DataType) -> bool:
    """Tell whether a type has dictionaries within lists, structs or other types."""
    parts = [kind.field(i).type for i in range(kind.num_fields)]
    return any(pa.types.is_dictionary(part) or nests_dictionaries(part) for part in parts)


def in_larger_batches(batches: Iterable[pa.RecordBatch], rows: int) -> Batches:
    """Yield the rows of batches, of which neighbours are merged up to `rows` rows.

    Each batch costs time for each of its features, and the batches of small row groups are small.
    """
    waiting: list[pa.RecordBatch] = []
    n_waiting, schema, can_merge = 0, None, False
    for batch in batches:
        if schema is None or not batch.schema.equals(schema):
            schema, can_merge = batch.schema, all(map(is_mergeable, batch.schema.types))
        if waiting and (n_waiting + batch.num_rows > rows or not can_merge):
            yield from merged(waiting)
            waiting, n_waiting = [], 0
        waiting.append(batch)
        n_waiting += batch.num_rows
    yield from merged(waiting)


def merged(batches: Sequence[pa.RecordBatch]) -> Sequence[pa.RecordBatch]:
    """Return batches as one batch; no or one batch is returned unchanged."""
    if len(batches) < 2:
        return batches
    table = pa.Table.from_batches(batches).unify_dictionaries()
    return list(table.combine_chunks().to_batches())
