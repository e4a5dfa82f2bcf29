"""Convert Arrow values to categories and NumPy arrays, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.adapter import Categories, ColumnSchema, read_arrow

AnyArray: TypeAlias = npt.NDArray[Any]

# `pa.array` and `Array.to_numpy` import pandas if it is installed, which takes longer than encoding
# a small file. The functions of this module do without them for texts and numbers.

# Up to this many strings are read with `to_pylist`, which takes longer than `to_numpy`.
MAX_LISTED_TEXTS = 1 << 12
MAX_OFFSET = np.iinfo(np.int32).max

# The type of integers of 128 bits, which Arrow does not have; they have up to 39 digits.
WIDE_INTEGER = pa.decimal256(39, 0)


def is_bool8(kind: pa.DataType) -> bool:
    """Tell whether a type stores Booleans as bytes, of which every one but 0 is True."""
    return isinstance(kind, getattr(pa, "Bool8Type", ()))


def is_uuid(kind: pa.DataType) -> bool:
    """Tell whether a type is pyarrow's type of UUIDs."""
    return isinstance(kind, getattr(pa, "UuidType", ()))


def has_own_values(kind: pa.DataType) -> bool:
    """Tell whether an extension type has other Python values than its storage.

    The scalars of an extension type decide this: those of ``arrow.uuid`` are UUIDs, those of
    ``arrow.json`` are the stored strings. Types of users may define scalars as well.
    """
    if not isinstance(kind, pa.BaseExtensionType):
        return False
    scalar: Any = kind.__arrow_ext_scalar_class__()
    return scalar.as_py is not pa.ExtensionScalar.as_py


def storage_of(array: Any) -> Any:
    """Return the storage array of an extension array."""
    chunks = [chunk.storage for chunk in chunks_of(array)]
    kind = array.type.storage_type
    return pa.chunked_array(chunks, kind) if isinstance(array, pa.ChunkedArray) else chunks[0]


def storage(array: Any) -> Any:
    """Return what an array stores, without extension types."""
    while isinstance(array.type, pa.BaseExtensionType):
        array = storage_of(array)
    return array


def plain_array(array: Any) -> Any:
    """Return an array with the same Python values, and without an extension type if possible.

    Only extension types with values that no other type has remain, such as ``arrow.uuid``.
    """
    while isinstance(array.type, pa.BaseExtensionType):
        if is_bool8(array.type):
            return storage_of(array).cast(pa.bool_())
        if has_own_values(array.type):
            return array
        array = storage_of(array)
    return array


def array_of(values: Iterable[Any], kind: pa.DataType) -> pa.Array:
    """Return Python values as an array of a type; some versions of pyarrow do not accept UUIDs."""
    if is_uuid(kind):
        items = list(values)
        if not all(item is None or isinstance(item, UUID) for item in items):
            raise TypeError(f"values of type {kind} must be UUIDs")
        stored = [None if item is None else item.bytes for item in items]
        return pa.ExtensionArray.from_storage(kind, pa.array(stored, kind.storage_type))
    if isinstance(values, Sequence):
        if not isinstance(kind, pa.BaseExtensionType) and all(item is None for item in values):
            return pa.nulls(len(values), kind)
        if pa.types.is_string(kind) and (texts := _array_of_texts(values)) is not None:
            return texts
    return pa.array(values, kind)


def _array_of_texts(values: Sequence[Any]) -> pa.Array | None:
    """Return strings and None as an array; None if they are something else, or too long."""
    if not all(type(item) is str or item is None for item in values):
        return None
    contents = [b"" if item is None else item.encode() for item in values]
    ends = np.cumsum([0, *map(len, contents)])
    if ends[-1] > MAX_OFFSET:
        return None
    valid, n_null = _validity(np.array([item is None for item in values], np.bool_))
    buffers = [valid, buffer_of(ends.astype(np.int32)), pa.py_buffer(b"".join(contents))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers, n_null)


def array_of_numbers(values: AnyArray, is_null: AnyArray | None = None) -> pa.Array:
    """Return a NumPy array of numbers or Booleans as an Arrow array; numbers are not copied."""
    kind = pa.from_numpy_dtype(values.dtype)
    valid, n_null = (None, 0) if is_null is None else _validity(is_null)
    if values.dtype == np.bool_:
        memory = buffer_of(np.packbits(values, bitorder="little"))
    else:
        memory = buffer_of(np.ascontiguousarray(values))
    return pa.Array.from_buffers(kind, len(values), [valid, memory], n_null)


def dictionary_array(
    codes: AnyArray, labels: pa.Array, dtype: npt.DTypeLike | None = None, ordered: bool = False
) -> pa.DictionaryArray:
    """Return the dictionary array of codes and labels; a negative code becomes null.

    The caller guarantees that the codes are within the labels. The indices have the type `dtype`,
    by default that of the codes.
    """
    is_null = codes < 0
    if dtype is not None and np.dtype(dtype) != codes.dtype:
        codes = np.where(is_null, 0, codes).astype(dtype)
    indices = array_of_numbers(codes, is_null)
    return pa.DictionaryArray.from_arrays(indices, labels, ordered=ordered, safe=False)


def _validity(is_null: AnyArray) -> tuple[pa.Buffer | None, int]:
    """Return the bitmap of the values that are not null, if there are nulls, and their number."""
    n_null = int(np.count_nonzero(is_null))
    return (buffer_of(np.packbits(~is_null, bitorder="little")) if n_null else None), n_null


def buffer_of(values: AnyArray) -> pa.Buffer:
    """Return the memory of an array as a read-only buffer."""
    return pa.py_buffer(values.data.toreadonly())


def chunks_of(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    """Return the chunks of a column."""
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def runs_of(column: pa.Array | pa.ChunkedArray) -> tuple[pa.ChunkedArray, npt.NDArray[np.int64]]:
    """Return the value and the number of rows of each run of a run-end encoded column."""
    values, lengths = [], [np.empty(0, np.int64)]
    for chunk in chunks_of(column):
        first, count = chunk.find_physical_offset(), chunk.find_physical_length()
        ends = chunk.run_ends.to_numpy()[first : first + count].astype(np.int64)
        ends_in_slice = np.minimum(ends - chunk.offset, len(chunk))
        values.append(chunk.values.slice(first, count))
        lengths.append(np.diff(ends_in_slice, prepend=0))
    return pa.chunked_array(values, column.type.value_type), np.concatenate(lengths)


def check_offsets(values: pa.Array) -> None:
    """Raise ValueError for invalid offsets or UTF-8, which pyarrow does not check by default."""
    if not pa.types.is_primitive(values.type) and not pa.types.is_decimal(values.type):
        try:
            values.validate(full=True)
        except pa.ArrowException as error:
            raise ValueError(f"values of type {values.type} are malformed: {error}") from error


def require_scale(kind: pa.DataType) -> None:
    """Raise ValueError for a decimal type of whose values pyarrow makes no text."""
    if not pa.types.is_decimal(kind):
        return
    # pyarrow accepts any scale, but it has no text and no Python value for decimals whose scale
    # exceeds the digits of their width. Damaged files have such scales. 32 bits have 9 digits:
    # every number of 9 digits is an int32, but only some numbers of 10 digits are.
    limit = len(str(2 ** (kind.bit_width - 1))) - 1
    if abs(kind.scale) > limit:
        raise ValueError(
            f"values of type {kind} cannot be read, because the scale is not between {-limit} and"
            f" {limit}; write the column with another scale"
        )


def as_values(column: Any) -> AnyArray:
    """Return a column as a NumPy array; a null becomes NaN, NaT or, in an object array, None."""
    column = plain_array(column)
    if isinstance(column, pa.ChunkedArray):
        # pyarrow cannot combine no chunks of dictionaries of some types.
        chunks = column.chunks or [pa.nulls(0, column.type)]
        return np.concatenate([as_values(chunk) for chunk in chunks])
    if pa.types.is_dictionary(column.type):
        return _decoded(as_values(column.dictionary), next(read_arrow(column)).codes())
    if pa.types.is_run_end_encoded(column.type):
        values, lengths = runs_of(column)
        return np.repeat(as_values(values), lengths)
    check_offsets(column)
    kind = column.type
    require_scale(kind)
    # NumPy would convert integers with nulls to floats, which are not exact beyond 2**53.
    has_null_integers = pa.types.is_integer(kind) and column.null_count
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    is_short = is_text and len(column) <= MAX_LISTED_TEXTS
    is_extension = isinstance(kind, pa.BaseExtensionType)
    if _is_object_type(kind) or is_extension or has_null_integers or is_short:
        return np.fromiter(column.to_pylist(), object, len(column))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _numbers(column)
    if pa.types.is_boolean(kind):
        return _booleans(column)
    rows: AnyArray = column.to_numpy(zero_copy_only=False)
    return rows


def _numbers(column: pa.Array) -> AnyArray:
    """Return integers without nulls, or floats, as `Array.to_numpy` does; a null becomes NaN."""
    if not column.null_count:
        return np.from_dlpack(column)
    valid, memory = column.buffers()
    plain = pa.Array.from_buffers(column.type, len(column), [None, memory], 0, column.offset)
    numbers = np.array(np.from_dlpack(plain))
    numbers[~_bits(valid, column)] = np.nan
    return numbers


def _booleans(column: pa.Array) -> AnyArray:
    """Return Booleans as `Array.to_numpy` does: as objects if there are nulls."""
    valid, memory = column.buffers()
    if not len(column):
        return np.empty(0, np.bool_)
    booleans = _bits(memory, column)
    if not column.null_count:
        return booleans
    objects = booleans.astype(object)
    objects[~_bits(valid, column)] = None
    return objects


def _bits(memory: pa.Buffer, column: pa.Array) -> npt.NDArray[np.bool_]:
    """Return a bitmap of a column as Booleans."""
    end = column.offset + len(column)
    bits = np.unpackbits(np.frombuffer(memory, np.uint8), count=end, bitorder="little")
    return bits[column.offset :].view(np.bool_)


def _is_object_type(kind: pa.DataType) -> bool:
    """Tell whether NumPy would change the values, e.g. turn dates into datetimes."""
    has_zone = pa.types.is_timestamp(kind) and kind.tz is not None
    return bool(has_zone or pa.types.is_date(kind) or kind == pa.month_day_nano_interval())


def _decoded(values: AnyArray, codes: npt.NDArray[Any]) -> AnyArray:
    """Return the value of each code, or a missing value if the code is negative."""
    if codes.dtype.kind == "i" and (codes < 0).any():
        kind = values.dtype.kind
        missing = {"f": np.nan, "m": "NaT", "M": "NaT"}.get(kind)
        dtype = values.dtype if kind in "fmM" else np.dtype(object)
        values = np.append(values.astype(dtype), np.full(1, missing, dtype))
    if codes.dtype == np.uint64:  # NumPy takes no such positions; a bounded one stays invalid
        codes = np.minimum(codes, np.uint64(len(values))).astype(np.int64)
    # `take` checks each code as it reads it, so codes that another thread changes do no harm.
    rows: AnyArray = values.take(codes)
    return rows


def common_values(categories: Iterable[Any], owner: str) -> pa.Array:
    """Return the categories in a type that represents all of them exactly, or raise TypeError."""
    items = list(categories)
    if not items:
        return pa.nulls(0, pa.string())
    known = Categories.of(items)
    keys = known.to_keys()
    array, scalars = known.to_array(), known.tolist()
    converters: tuple[Callable[[], pa.Array], ...] = (
        lambda: _array_of_texts(scalars) or _array_of_inferred(array, scalars),
        lambda: pa.array(scalars, pa.uint64()),  # pyarrow infers int64
        lambda: array_of(scalars, pa.uuid()),  # early versions of pyarrow infer no type
        lambda: pa.array(scalars, WIDE_INTEGER),
        lambda: pa.array(scalars, pa.timestamp("ns", pa.array(scalars).type.tz)),  # microseconds
    )
    for convert in converters:
        try:
            values = convert()
            if Categories.of(as_values(values)).to_keys() == keys:
                return values
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            continue
    kinds = sorted({type(item).__name__ for item in items})
    raise TypeError(
        f"the categories of {owner} have no common Arrow type, got {', '.join(kinds)}: convert the"
        " categories to one type"
    )


def _array_of_inferred(values: AnyArray, scalars: list[Any]) -> pa.Array:
    """Return categories as an array of the type that pyarrow infers."""
    if values.dtype.kind in "biuf" and values.dtype.isnative:
        return array_of_numbers(values)
    return pa.array(scalars if values.dtype == object else values)


def comparable_values(categories: Iterable[Any], owner: str) -> pa.Array:
    """Return the categories in an Arrow type to which a column can be cast for a comparison.

    Numbers and Booleans become float64, and timestamps and durations get the unit nanosecond, if
    this changes no category. pyarrow refuses a cast that would change a value of the column; a cast
    to these types rarely does.
    """
    values = common_values(categories, owner)
    kind = values.type
    try:
        if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return pc.add(values.cast(pa.float64()), 0.0)  # turns -0.0 into 0.0
        if pa.types.is_timestamp(kind):
            return values.cast(pa.timestamp("ns", kind.tz))
        return values.cast(pa.duration("ns")) if pa.types.is_duration(kind) else values
    except pa.ArrowInvalid:
        return values


def output_labels(column: ColumnSchema) -> pa.Array:
    """Return the labels of a column's features, i.e. the values of its encoded dictionary array.

    The labels are the categories. If a feature is not a category, e.g. an indicator of missing
    values, or if the categories have no common Arrow type, the labels are the names of the features
    without the prefix.
    """
    # Making the labels of 100,000 categories takes 50 ms.
    labels: pa.Array = column.of_library.get("arrow", _labels, column)
    return labels


def _labels(column: ColumnSchema) -> pa.Array:
    if not column.specials:
        try:
            return common_values(column.labels, f"column {column.name!r}")
        except TypeError:
            pass
    texts = column.text_labels
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise ValueError(
            f"column {column.name!r}: two features would have the label {twice!r}; rename one"
            " category"
        )
    return array_of(texts, pa.string())
