"""Decode encoded Arrow tables and streams to the original values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import methodcaller
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from onehot_fast import Encoder, Special
from onehot_fast.adapter import (
    ColumnSchema,
    DecodedLayout,
    PassThrough,
    Schema,
    Values,
    classes_of,
    classes_of_bits,
    labels_of,
    read_arrow,
)

from ._decoders import CanHold, Classes, Ones, decoder
from ._read import as_rows, flattened, read_column
from ._values import as_values, output_labels, plain_array
from ._write import Layout, metadata_without, with_columns
from .encoding import Rows, fitted_schema

__all__ = ["decode"]

# Returns which features of a column are 1 in each row of a batch.
OnesReader: TypeAlias = Callable[[Rows], Ones]
# The layout of `encode` that returns columns of a type.
LAYOUT_OF_TYPE: dict[Layout, Callable[[pa.DataType], bool]] = {
    "tensor": lambda kind: isinstance(kind, pa.FixedShapeTensorType),
    "array": lambda kind: pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind),
    "struct": pa.types.is_struct,
    "dictionary": pa.types.is_dictionary,
}


def decode(
    table: Any,
    encoder: Encoder,
    *,
    layout: Layout = "columns",
    missing: Any = None,
    unknown: Any = None,
    infrequent: Any = None,
) -> Any:
    """Decode an encoded table or stream to the original values.

    Parameters
    ----------
    table : Table, RecordBatch, RecordBatchReader, or an object with the Arrow PyCapsule interface
        A result of `encode`, which may have been stored or converted. Columns are found by name.
        With layout "array" or "tensor", a column may have any list type. With "dictionary", plain
        values may replace the dictionary array.
    encoder, layout
        As for `encode`.
    missing, unknown, infrequent : scalar, optional
        The values to return for missing, unknown and infrequent values; null by default. Texts
        of several labels have no nulls inside, so None leaves such labels out.
        `Encoder.inverse_transform` describes the meaning of a row of zeros.

    Returns
    -------
    Table or RecordBatchReader
        A reader if `table` is a reader. A decoded column has the position of its first feature.
        Other columns are unchanged. A decoded column has the type that `fit` saw, e.g. int8 or a
        dictionary, if the type can represent all categories, `missing`, `unknown` and `infrequent`.
        Otherwise, or if `fit` read a table of another library, it has the type of the categories.
        The type never depends on the rows. Lists of labels of a fixed size therefore become lists
        of any size.

    Raises
    ------
    RuntimeError
        The encoder is not fitted.
    TypeError
        `table` is not a table, a column does not have the type that `encode` returns, categories
        have no common type, or a value for `missing`, `unknown` or `infrequent` has another type.
    ValueError
        A column is absent or duplicated, several features of a column are 1 in a row, or a row
        has only zeros although the encoder never writes a row of zeros.

    Examples
    --------
    >>> from onehot_fast import Encoder
    >>> from onehot_fast.integrations.arrow import encode
    >>> table = pa.table({"size": ["S", "L", None], "price": [1, 3, 2]})
    >>> encoder = Encoder().fit(table)
    >>> decode(encode(table, encoder), encoder).equals(table)
    True
    """
    substitutes = {
        Special.MISSING: missing, Special.UNKNOWN: unknown, Special.INFREQUENT: infrequent,
    }  # fmt: skip
    return decode_for(table, encoder, layout, substitutes, lambda values: True)


def decode_for(
    table: Any,
    encoder: Encoder,
    layout: Layout,
    substitutes: Mapping[Special, Any],
    can_hold: CanHold,
    texts_as_codes: bool = False,
) -> Any:
    """Decode as `decode` does, in types that a file format can hold.

    If `can_hold` rejects a few values of the type that `fit` saw, the column has the plain type of
    these values (without extension types, dictionaries and runs), or the type of the categories.
    With `texts_as_codes`, columns of strings and bytes are dictionaries, for a writer that would
    search for equal strings otherwise. A special value that `substitutes` lacks becomes null; such
    a label is left out of its row.
    """
    schema = fitted_schema(encoder, layout)
    rows = as_rows(table)
    source, changed = rows.schema, set(rows.schema.names)
    fields: list[pa.Field] = []
    readers: list[Callable[[Rows], Any]] = []
    for part in _output_columns(source, schema, layout):
        if isinstance(part, PassThrough):
            fields.append(source.field(part.position))
            changed.discard(fields[-1].name)
            readers.append(methodcaller("column", part.position))
        else:
            column, ones_in = part
            kind, values_of = decoder(column, substitutes, can_hold, texts_as_codes)
            fields.append(pa.field(str(column.name), kind))
            readers.append(partial(_decoded, ones_in, values_of))
    decoded = pa.schema(fields, metadata_without(source.metadata, changed))
    return with_columns(rows, lambda batch: [read(batch) for read in readers], decoded)


def _decoded(ones_in: OnesReader, values_of: Callable[[Ones], Any], rows: Rows) -> Any:
    """Return the decoded values of one column of a batch."""
    return values_of(ones_in(rows))


def _output_columns(
    source: pa.Schema, schema: Schema, layout: Layout
) -> Iterator[PassThrough | tuple[ColumnSchema, OnesReader]]:
    """Yield the output columns of `decode` in order.

    With each decoded column, yield a function that returns which features of a batch are 1.
    """
    if layout == "columns":
        _check_layout(source, schema)
        decoded_layout = DecodedLayout(schema, source.names)
        for part in decoded_layout.columns:
            if isinstance(part, PassThrough):
                yield part
            else:
                column, features = schema.columns[part], schema.starts[part : part + 2]
                positions = decoded_layout.features[slice(*features)]
                yield column, partial(_ones_in_columns, column, positions)
        return
    encoded = dict(zip(schema.positions_in(source.names), schema.columns, strict=True))
    for position in range(len(source)):
        if position in encoded:
            yield encoded[position], _from_column(encoded[position], position, layout)
        else:
            yield PassThrough(source.names[position], position)


def _check_layout(source: pa.Schema, schema: Schema) -> None:
    """Raise an error for a table whose columns hold all their features, in another layout."""
    found = {*source.names}
    for column in schema.columns:
        if column.name in found and not found.intersection(column.names):
            kind = source.field(source.names.index(column.name)).type
            layout = next((name for name, fits in LAYOUT_OF_TYPE.items() if fits(kind)), None)
            if layout is not None:
                raise ValueError(
                    f"the table has no features of column {column.name!r}, which has the Arrow type"
                    f" {kind}: pass layout={layout!r}"
                )


def _ones_in_columns(column: ColumnSchema, positions: Sequence[int], rows: Rows) -> Ones:
    features = [rows.column(position) for position in positions]
    return _ones_of_features(column, features, rows.num_rows)


def _from_column(column: ColumnSchema, position: int, layout: Layout) -> OnesReader:
    """Return a function that reads the features of each row from a nested or dictionary column."""
    read: Callable[[Any], Ones]
    if layout == "dictionary":
        categories = as_values(output_labels(column))
        labels = ColumnSchema.declared(categories, column.options.dtype)
        read = partial(_classes_of_labels, column, labels)
    else:
        read = partial(_ones_of_struct if layout == "struct" else _ones_of_lists, column)
    return lambda rows: read(rows.column(position))


def _ones_of_features(column: ColumnSchema, features: Sequence[Any], n_rows: int) -> Ones:
    """Return the ones of each row; reading features one by one is the slowest of three ways."""
    features = [plain_array(feature) for feature in features]
    bits = None if column.is_ragged else _bitmaps(features)
    if bits is not None:
        return classes_of_bits(column, *bits, n_rows)
    block = _block(features)
    if block is not None:
        return _ones_of_cells(column, block.T)
    named = zip(column.names, features, strict=True)
    cells = np.array([_cells(values, f"column {name!r}") for name, values in named])
    return _ones_of_cells(column, cells.reshape(len(features), n_rows).T)


def _ones_of_cells(column: ColumnSchema, cells: npt.NDArray[Any]) -> Ones:
    """Return the ones of each row of an array of shape (n_rows, n_features)."""
    return labels_of(column, cells) if column.is_ragged else classes_of(column, cells)


def _bitmaps(
    features: Sequence[Any],
) -> tuple[npt.NDArray[np.uintp], npt.NDArray[np.int64]] | None:
    """Return the addresses and first bits of Boolean features, or None for others or with nulls.

    The features must stay alive while the addresses are used.
    """
    addresses, starts = [], []
    for feature in features:
        if isinstance(feature, pa.ChunkedArray):
            if feature.num_chunks != 1:
                return None
            feature = feature.chunk(0)
        if not pa.types.is_boolean(feature.type) or feature.null_count:
            return None
        bits = feature.buffers()[1]
        addresses.append(0 if bits is None else bits.address)
        starts.append(feature.offset)
        if bits is None and len(feature):
            return None
    return np.array(addresses, np.uintp), np.array(starts, np.int64)


def _block(features: Sequence[Any]) -> npt.NDArray[Any] | None:
    """Return features as the rows of an array, or None unless they have one type and no nulls."""
    if not features:
        return None
    is_table = any(isinstance(feature, pa.ChunkedArray) for feature in features)
    names = [*map(str, range(len(features)))]
    rows = (pa.Table if is_table else pa.RecordBatch).from_arrays([*features], names=names)
    return read_arrow(rows).block(range(len(features)))


def _ones_of_struct(column: ColumnSchema, values: Any) -> Ones:
    """Return the ones of each row of a struct column whose fields are named after the features."""
    kind = values.type
    if not pa.types.is_struct(kind):
        raise TypeError(
            f"column {column.name!r} must be a struct if layout='struct', got the Arrow type {kind}"
        )
    for name in column.names:
        if kind.get_field_index(name) < 0:
            raise ValueError(f"column {column.name!r} must have exactly one field {name!r}")
    fields = values.flatten()  # calling struct_field for each field would take quadratic time
    features = [fields[kind.get_field_index(name)] for name in column.names]
    return _ones_of_features(column, features, len(values))


def _ones_of_lists(column: ColumnSchema, values: Any) -> Ones:
    """Return the ones of each row of a column of tensors or lists."""
    width = column.n_features
    try:
        offsets, elements = flattened(values)
    except TypeError:
        raise TypeError(
            f"column {column.name!r}: rows must be lists if layout is 'array' or 'tensor', got the"
            f" Arrow type {values.type}"
        ) from None
    lengths = np.diff(offsets)
    if (lengths != width).any():
        row = int(np.argmax(lengths != width))
        raise ValueError(
            f"column {column.name!r}, row {row}: a list must have {width} elements, got"
            f" {lengths[row]}"
        )
    cells = _cells(elements, f"column {column.name!r}").reshape(len(lengths), width)
    return _ones_of_cells(column, cells)


def _classes_of_labels(column: ColumnSchema, labels: ColumnSchema, values: Any) -> Classes:
    """Return the class of each row of a column that was encoded with layout="dictionary"."""
    rows = read_column(values).encode()
    classes = labels.features_of(rows.stored)[rows.codes.astype(np.int64)]
    # A null is a row of zeros, or of NaN.
    is_null_encoded = column.zero_row_labels or column.options.handle_missing == "propagate"
    is_unknown = (classes < 0) & ((rows.codes >= 0) | (not is_null_encoded))
    if is_unknown.any():
        row = int(np.argmax(is_unknown))
        found = f"{values[row].as_py()!r} is not the label of a feature"
        raise ValueError(
            f"column {column.name!r}, row {row}: {found}; pass the encoder that encoded the table"
        )
    return classes


def _cells(values: Any, owner: str) -> npt.NDArray[Any]:
    """Return a column of numbers or Booleans as a NumPy array; null becomes NaN."""
    kind = plain_array(values).type
    if not (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise TypeError(f"{owner} must hold Booleans or numbers, got the Arrow type {kind}")
    numbers = cast(Values, read_column(values)).numbers()
    assert numbers is not None
    return numbers
