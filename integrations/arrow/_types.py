"""Store Arrow types as names, and write decoded values as arrays of a type.

A type consists of layers around one type of plain values: extension types, dictionaries and runs.
pyarrow converts plain values; the layers are built from positions, because many types have no
compute functions (e.g. no ``take`` of string views, and no ``index_in`` of half floats).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from onehot_fast.adapter import ColumnSchema, identities

from ._values import (
    array_of,
    array_of_numbers,
    as_values,
    chunks_of,
    dictionary_array,
    has_own_values,
    is_bool8,
)

AnyArray: TypeAlias = npt.NDArray[Any]
Positions: TypeAlias = npt.NDArray[np.integer[Any]]
# Returns the rows with the values at some positions.
RowsWriter: TypeAlias = Callable[[Positions], pa.Array | pa.ChunkedArray]

LIBRARY = "arrow:"
# The prefix of a serialized type.
SERIALIZED = "ipc:"
# Patterns for the texts of types that `pyarrow.type_for_alias` does not know. A type may contain
# another one, whose text may contain any name of a time zone, so the inner text is as long as
# possible.
DICTIONARY_NAME = re.compile(
    r"dictionary<values=(.+), indices=(u?int\d+), ordered=([01])>", re.DOTALL
)
RUNS_NAME = re.compile(r"run_end_encoded<run_ends: (int\d+), values: (.+)>", re.DOTALL)
ZONED_NAME = re.compile(r"timestamp\[(s|ms|us|ns), tz=(.+)\]", re.DOTALL)
FIXED_BINARY_NAME = re.compile(r"fixed_size_binary\[(\d{1,9})\]")
DECIMAL_NAME = re.compile(r"(decimal(?:32|64|128|256))\((\d{1,2}), (-?\d{1,3})\)")
MAX_LAYERS = 16
# The extension types that pyarrow defines, by their text. Early versions lack some of them.
EXTENSIONS = {
    str(make()): make
    for make in (getattr(pa, name, None) for name in ("uuid", "bool8", "json_"))
    if make is not None
}


def type_name(kind: pa.DataType) -> str:
    """Return a name from which `type_of_name` makes an equal type.

    The name is pyarrow's text of the type. Nested types and extension types with parameters are
    serialized, because their text does not say everything.
    """
    if pa.types.is_dictionary(kind):
        values = type_name(kind.value_type)
        return f"dictionary<values={values}, indices={kind.index_type}, ordered={kind.ordered:d}>"
    if pa.types.is_run_end_encoded(kind):
        values = type_name(kind.value_type)
        return f"run_end_encoded<run_ends: {kind.run_end_type}, values: {values}>"
    text = str(kind)
    is_extension = isinstance(kind, pa.BaseExtensionType)
    is_known = not is_extension or (text in EXTENSIONS and EXTENSIONS[text]() == kind)
    if is_known and not pa.types.is_nested(kind):
        return text
    schema = pa.schema([pa.field("", kind)])
    return SERIALIZED + base64.b64encode(schema.serialize()).decode()


def type_of_name(name: str) -> pa.DataType:
    """Return the type with a name; raise ValueError if there is none.

    The name is a result of `type_name`, or pyarrow's text of the type.
    """
    if name.startswith(SERIALIZED):
        try:
            schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(name[len(SERIALIZED) :])))
            [kind] = schema.types
        except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{name!r} is not a serialized Arrow type: {error}") from error
        return kind
    if name.count("<") > MAX_LAYERS:
        raise ValueError(f"the Arrow type {name!r} has more than {MAX_LAYERS} layers")
    if name in EXTENSIONS:
        return EXTENSIONS[name]()
    if match := DICTIONARY_NAME.fullmatch(name):
        value_type, index_type = map(type_of_name, match.group(1, 2))
        return pa.dictionary(index_type, value_type, ordered=match[3] == "1")
    if match := RUNS_NAME.fullmatch(name):
        return pa.run_end_encoded(*map(type_of_name, match.groups()))
    if match := ZONED_NAME.fullmatch(name):
        return pa.timestamp(*match.groups())
    if match := FIXED_BINARY_NAME.fullmatch(name):
        return pa.binary(int(match[1]))
    if match := DECIMAL_NAME.fullmatch(name):
        make = getattr(pa, match[1], None)
        if make is None:
            raise ValueError(f"pyarrow {pa.__version__} has no type {name!r}")
        return make(int(match[2]), int(match[3]))
    return pa.type_for_alias(name)


def fitted_type(column: ColumnSchema) -> pa.DataType | None:
    """Return the type that a column had in the Arrow tables that `fit` read.

    If the column had several types, the result is their common type, as in
    ``pyarrow.unify_schemas(..., promote_options="permissive")``. The result is None if `fit` read
    tables of other libraries, if there is no common type, or if this version of pyarrow does not
    have the type.
    """
    names = sorted(name for name in column.types if name.startswith(LIBRARY))
    try:
        kinds = [type_of_name(name.removeprefix(LIBRARY)) for name in names]
    except (pa.ArrowException, ValueError):  # a document of another version
        return None
    return common_type(kinds)


def common_type(kinds: Sequence[pa.DataType]) -> pa.DataType | None:
    """Return the type to which pyarrow promotes columns of some types, or None without one."""
    if len(kinds) < 2:
        return kinds[0] if kinds else None
    schemas = [pa.schema([("", kind)]) for kind in kinds]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None


def layers(kind: pa.DataType) -> Iterator[pa.DataType]:
    """Yield a type and the types inside it; the last one is the type of the plain values.

    An extension type is the last one if its values differ from what it stores, as `plain_array`
    says. The values of ``arrow.bool8`` are Booleans.
    """
    while True:
        yield kind
        if is_bool8(kind):
            kind = pa.bool_()
        elif isinstance(kind, pa.BaseExtensionType) and not has_own_values(kind):
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        else:
            return


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of a type, without extension types, dictionaries and runs."""
    return [*layers(kind)][-1]


def has_dictionary(kind: pa.DataType) -> bool:
    """Tell whether one layer of a type is a dictionary."""
    return any(map(pa.types.is_dictionary, layers(kind)))


def converted(values: pa.Array, kind: pa.DataType, expected: Sequence[Hashable]) -> pa.Array | None:
    """Return values as an array of a plain type, or None if the type cannot represent them.

    `expected` has the identity of each value. Casts may change a value without an error, e.g. parse
    a number in a string, or round a float.
    """
    if pa.types.is_nested(kind):
        return None
    try:
        try:
            array = cast_to(values, kind)
        except pa.ArrowNotImplementedError:  # pyarrow has no cast between the types
            array = array_of(values.to_pylist(), kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None  # pyarrow raises these errors for values that a type cannot represent
    return array if identities(as_values(array)) == [*expected] else None


def cast_to(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast values to a plain type."""
    array = values.cast(kind)
    if not pa.types.is_string_view(kind) and not pa.types.is_binary_view(kind):
        return array
    first, *data = array.buffers()[1:]
    if all(buffer is not None for buffer in data):
        return array
    # If all values are short, pyarrow 18 adds a data buffer of None, and its export would crash.
    buffers = [array.buffers()[0], first]
    return pa.Array.from_buffers(kind, len(array), buffers, array.null_count, array.offset)


def can_represent(kind: pa.DataType, values: Sequence[Any]) -> bool:
    """Tell whether a plain type can represent Python values exactly."""
    try:
        array = array_of(values, kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return False
    return identities(as_values(array)) == identities(values)


def scalar_array(value: Any, kind: pa.DataType) -> pa.Array | None:
    """Return an array of one value, or None if the type cannot represent the value.

    A float is rounded to a type of floats.
    """
    try:
        array = array_of([value], kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None
    # pyarrow drops fractions of seconds and decodes bytes without an error.
    is_same = identities(as_values(array)) == identities([value])
    if not is_same and pa.types.is_floating(kind) and isinstance(value, float):
        is_same = bool(np.isfinite(array[0].as_py()) == np.isfinite(value))
    return array if is_same else None


def rows_of(values: pa.Array, kind: pa.DataType | None, positions: Positions) -> pa.Array:
    """Return the values at some positions, as a type if it can represent all values."""
    keys = identities(as_values(values))
    plain = None if kind is None else converted(values, plain_type(kind), keys)
    if kind is None or plain is None:
        return taken(values, positions)
    _, write = rows_writer(plain, kind, keys)
    rows = write(positions)
    return rows.combine_chunks() if isinstance(rows, pa.ChunkedArray) else rows


def rows_writer(
    values: pa.Array, kind: pa.DataType, keys: Sequence[Hashable]
) -> tuple[pa.DataType, RowsWriter]:
    """Return a function that writes rows of a type, and the type of these rows.

    `values` has the plain type of `kind`, and `keys` the identity of each value. A dictionary has
    all values, in this order. If it has too many values for the type of its indices, the indices
    are int32.
    """
    if isinstance(kind, pa.BaseExtensionType) and kind != values.type:
        stored = pa.bool_() if is_bool8(kind) else kind.storage_type
        _, write = rows_writer(values, stored, keys)
        return kind, lambda positions: _extension_rows(write(positions), kind)
    if pa.types.is_run_end_encoded(kind):
        value_type, write = rows_writer(values, kind.value_type, keys)
        runs = pa.run_end_encoded(kind.run_end_type, value_type)
        return runs, lambda positions: _run_rows(write, positions, runs)
    if pa.types.is_dictionary(kind):
        return _dictionary_writer(values, kind, keys)
    return kind, lambda positions: taken(values, positions)


def _dictionary_writer(
    values: pa.Array, kind: pa.DictionaryType, keys: Sequence[Hashable]
) -> tuple[pa.DataType, RowsWriter]:
    """Return the results of `rows_writer` for a dictionary type."""
    index_of: dict[Hashable, int] = {}
    first: list[int] = []
    for position, key in enumerate(keys):
        if key is not None and key not in index_of:
            index_of[key] = len(first)
            first.append(position)
    value_type, write = rows_writer(values, kind.value_type, keys)
    levels = write(np.array(first, np.int64))
    if isinstance(levels, pa.ChunkedArray):
        levels = levels.combine_chunks()
    indices = np.array([-1 if key is None else index_of[key] for key in keys], np.int64)
    limit = np.iinfo(str(kind.index_type)).max
    index_type = kind.index_type if len(first) - 1 <= limit else pa.int32()

    def write_rows(positions: Positions) -> pa.Array:
        return dictionary_array(indices[positions], levels, str(index_type), kind.ordered)

    return pa.dictionary(index_type, value_type, ordered=kind.ordered), write_rows


def _extension_rows(
    rows: pa.Array | pa.ChunkedArray, kind: pa.BaseExtensionType
) -> pa.Array | pa.ChunkedArray:
    if is_bool8(kind):
        rows = rows.cast(kind.storage_type)
    chunks = [pa.ExtensionArray.from_storage(kind, chunk) for chunk in chunks_of(rows)]
    return pa.chunked_array(chunks, kind) if isinstance(rows, pa.ChunkedArray) else chunks[0]


def _run_rows(
    write: RowsWriter, positions: Positions, kind: pa.RunEndEncodedType
) -> pa.Array | pa.ChunkedArray:
    """Return rows as runs; there are several chunks if a run could end beyond the largest end."""
    limit = np.iinfo(str(kind.run_end_type)).max
    if len(positions) > limit:
        parts = [positions[i : i + limit] for i in range(0, len(positions), limit)]
        chunks = [chunk for part in parts for chunk in chunks_of(_run_rows(write, part, kind))]
        return pa.chunked_array(chunks, kind)
    is_first = np.ones(len(positions), np.bool_)
    np.not_equal(positions[1:], positions[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(positions))[: len(starts)].astype(str(kind.run_end_type))
    values = write(positions[starts])
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return pa.RunEndEncodedArray.from_arrays(array_of_numbers(ends), values)


def taken(values: pa.Array, positions: Positions | pa.Array) -> pa.Array:
    """Return the values at some positions; a null position gives null."""
    indices = array_of_numbers(positions) if isinstance(positions, np.ndarray) else positions
    if isinstance(values.type, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(values.type, taken(values.storage, indices))
    try:
        return values.take(indices)
    except pa.ArrowNotImplementedError:  # pyarrow cannot take from string and binary views
        if not pa.types.is_string_view(values.type) and not pa.types.is_binary_view(values.type):
            raise
        is_text = pa.types.is_string_view(values.type)
        plain = values.cast(pa.large_string() if is_text else pa.large_binary())
        return cast_to(plain.take(indices), values.type)
