"""The schema that the files of a folder have in common, and batches with this schema."""

from __future__ import annotations

import pyarrow as pa

from onehot_fast.adapter import number_of
from onehot_fast.cli.reader import Names

# Types of the same values, which the first type of each row holds.
ALIKE = {
    pa.large_string(): (pa.string(), pa.large_string(), pa.string_view()),
    pa.large_binary(): (pa.binary(), pa.large_binary(), pa.binary_view()),
}


def has_strings(kind: pa.DataType) -> bool:
    """Tell whether a column contains strings, also in a dictionary."""
    return _value_type(kind) in ALIKE[pa.large_string()]


def common_schema(one: pa.Schema, two: pa.Schema) -> pa.Schema | None:
    """Return `one` with types that hold the values of both schemas; None if there are none.

    The columns may be in another order. Strings may be stored in a dictionary in one file only, and
    may have 32-bit or 64-bit offsets.
    """
    if one.names != two.names:
        if len({*one.names}) < len(one) or sorted(one.names) != sorted(two.names):
            return None
        two = pa.schema([two.field(name) for name in one.names])
    fields = []
    for left, right in zip(one, two, strict=True):
        kind = left.type
        if kind != right.type:
            kinds = {_value_type(left.type), _value_type(right.type)}
            found = [wide for wide, alike in ALIKE.items() if kinds.issubset(alike)]
            if len(kinds) > 1 and not found:
                return None
            kind = kinds.pop() if len(kinds) == 1 else found[0]
        fields.append(left.with_type(kind).with_nullable(left.nullable or right.nullable))
    return pa.schema(fields, one.metadata)


def _value_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of a dictionary, or else the type itself."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def as_common(batch: pa.RecordBatch, schema: pa.Schema, coded: Names) -> pa.RecordBatch:
    """Return the columns of a batch in the order and types of `schema`.

    Columns of strings in `coded` become dictionaries, like those that most files yield.
    """
    fields, arrays = [], []
    names = {name: i for i, name in enumerate(batch.schema.names)}
    are_unique = len(names) == batch.num_columns
    chosen = [one for one in schema if one.name in names]
    for i, one in enumerate(chosen):
        kind = one.type
        if one.name in coded and any(kind in alike for alike in ALIKE.values()):
            kind = pa.dictionary(pa.int32(), kind)
        fields.append(one.with_type(kind))
        arrays.append(_as_type(batch.column(names[one.name] if are_unique else i), kind))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields, schema.metadata))


def _as_type(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return an array with the type `kind`, which holds its values."""
    if array.type == kind:
        return array
    if not pa.types.is_dictionary(kind):
        values = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        return values.cast(kind)
    if not pa.types.is_dictionary(array.type):
        array = array.cast(kind.value_type).dictionary_encode()
    codes, values = array.indices.cast(kind.index_type), array.dictionary.cast(kind.value_type)
    return pa.DictionaryArray.from_arrays(codes, values, ordered=kind.ordered)


def difference(one: pa.Schema, two: pa.Schema) -> str:
    """Return the first difference between two schemas."""
    for left, right in zip(one, two, strict=False):
        if left != right:
            return f"{right.name} ({right.type}) instead of {left.name} ({left.type})"
    return f"{number_of(len(two), 'column')} instead of {len(one)}"
