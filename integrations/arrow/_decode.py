"""The outputs of one encoded column → the values that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from onehot_fast.adapter import ColumnSchema, Special, decode

from ._read import flattened, read_column
from ._values import as_categories, as_values, common_values, output_labels, storage
from ._write import Layout

AnyArray: TypeAlias = npt.NDArray[Any]
# The output that is on in each row, or decode.ZERO_ROW or decode.NO_VALUE.
Classes: TypeAlias = npt.NDArray[np.int64]


class ClassDecoder:
    """Decodes the rows of an encoded column to values of one `type`."""

    def __init__(self, column: ColumnSchema, substitutes: Mapping[Special, Any]) -> None:
        self._column = column
        categories = common_values(column.categories, f"column {column.name!r}")
        self.type: pa.DataType = categories.type
        specials = [_substitute(column, s, substitutes[s], self.type) for s in Special]
        values = pa.concat_arrays([categories, *specials])
        position_of = {special: len(categories) + i for i, special in enumerate(Special)}
        missing = position_of[Special.MISSING]
        zero_row = column.zero_row_labels[0] if column.zero_row_labels else Special.MISSING
        dropped = int(np.argmax(column.outputs < 0)) if len(categories) else missing
        by_class = [missing, position_of.get(zero_row, dropped)]
        by_class += column.category_of_feature.tolist()
        by_class += [position_of[special] for special in column.specials]
        self._values = values.take(pa.array(by_class, pa.int64()))

    def of(self, classes: Classes) -> pa.Array:
        """Return the values of the rows, or refuse one that stands for nothing."""
        decode.check_zero_rows(self._column, classes)
        return self._values.take(pa.array(classes - decode.NO_VALUE))


def _substitute(column: ColumnSchema, special: Special, value: Any, kind: pa.DataType) -> pa.Array:
    """Return what stands for a special value, of the type of the categories."""
    try:
        return pa.array([value], kind)
    except (pa.ArrowException, TypeError, OverflowError, ValueError) as error:
        raise TypeError(
            f"{special.value} = {value!r} is not of type {kind}, that of column"
            f" {column.name!r}: {error}"
        ) from None


def classes_of_features(column: ColumnSchema, features: Sequence[Any], n_rows: int) -> Classes:
    """Return the classes of rows whose outputs are columns."""
    if not features:
        return decode.classes_of(column, np.empty((0, n_rows)), n_rows, n_rows)
    for name, values in zip(column.names, features, strict=True):
        _check_numbers(values, f"column {name!r}")
    cells = np.stack([decode.as_cells(as_values(values)) for values in features])
    return decode.classes_of(column, cells, n_rows, n_rows)


def reader_of_classes(column: ColumnSchema, layout: Layout) -> Callable[[Any], Classes]:
    """Return what reads the classes of rows whose outputs are one array in a layout."""
    if layout == "dictionary":
        categories = as_categories(output_labels(column))
        labels = ColumnSchema.declared(categories, column.options.dtype)
        return partial(_classes_of_labels, column, labels)
    return partial(_classes_of_struct if layout == "struct" else _classes_of_lists, column)


def _classes_of_struct(column: ColumnSchema, values: Any) -> Classes:
    """Return the classes of structures whose fields have the names of the outputs."""
    kind = values.type
    if not pa.types.is_struct(kind):
        raise TypeError(f"column {column.name!r} has the Arrow type {kind}; accepted is a struct")
    for name in column.names:
        if kind.get_field_index(name) < 0:
            raise ValueError(f"column {column.name!r} has no field {name!r}, or several")
    fields = values.flatten()  # a call of struct_field for each would take quadratic time
    features = [fields[kind.get_field_index(name)] for name in column.names]
    return classes_of_features(column, features, len(values))


def _classes_of_lists(column: ColumnSchema, values: Any) -> Classes:
    """Return the classes of tensors or lists, whose elements are the outputs."""
    width = column.n_outputs
    try:
        offsets, elements = flattened(values)
    except TypeError as error:
        raise TypeError(f"column {column.name!r}: {error}") from None
    lengths = np.diff(offsets)
    if (lengths != width).any():
        row = int(np.argmax(lengths != width))
        raise ValueError(
            f"column {column.name!r}, row {row}: {lengths[row]} elements; accepted are {width}"
        )
    _check_numbers(elements, f"column {column.name!r}")
    cells = decode.as_cells(as_values(elements))
    return decode.classes_of(column, cells.reshape(len(lengths), width), len(lengths), 1)


def _classes_of_labels(column: ColumnSchema, labels: ColumnSchema, values: Any) -> Classes:
    """Return the classes of values, which are those of the dictionary that `encode` makes."""
    rows = read_column(storage(values)).encode()
    classes = labels.outputs_of(rows.stored)[rows.codes.astype(np.int64)]
    is_unknown = (classes < 0) & (rows.codes >= 0)
    if is_unknown.any():
        row = int(np.argmax(is_unknown))
        value = rows.categories[rows.codes[row : row + 1]].tolist()[0]
        raise ValueError(f"column {column.name!r}, row {row}: {value!r} is not one of its features")
    return classes


def _check_numbers(values: Any, owner: str) -> None:
    """Refuse outputs that are neither numbers nor Booleans."""
    kind = storage(values).type
    if not (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise TypeError(f"{owner} has the Arrow type {kind}; accepted are Booleans and numbers")
