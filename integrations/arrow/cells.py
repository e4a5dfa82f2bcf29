"""The outputs of one encoded column, as they come back: cells that are on or off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast._categories.keys import keys, plain
from onehot_fast._categories.schema import ColumnSchema
from onehot_fast._encode.decode import ALL_OFF
from onehot_fast.integrations.arrow.layouts import labels
from onehot_fast.integrations.arrow.lists import flat
from onehot_fast.integrations.arrow.read import read_column
from onehot_fast.integrations.arrow.values import as_categories, as_values, storage

__all__ = ["classes_of_labels", "feature_cells", "list_cells", "struct_cells"]

AnyArray: TypeAlias = npt.NDArray[Any]


def feature_cells(column: ColumnSchema, features: Sequence[Any], n_rows: int) -> AnyArray:
    """Return the (features, rows) cells of columns of features."""
    cells = np.empty((len(features), n_rows), _dtype(column))
    for out, name, values in zip(cells, column.names, features, strict=True):
        _require_numbers(values, f"column {name!r}")
        _fill(out, as_values(values))
    return cells


def struct_cells(column: ColumnSchema, values: Any) -> AnyArray:
    """Return the (features, rows) cells of structures with fields of the features' names."""
    kind = values.type
    if not pa.types.is_struct(kind):
        raise TypeError(f"column {column.name!r} has the Arrow type {kind}; accepted is a struct")
    for name in column.names:
        if kind.get_field_index(name) < 0:
            raise ValueError(f"column {column.name!r} has no field {name!r}, or several")
    features = [pc.struct_field(values, [kind.get_field_index(name)]) for name in column.names]
    return feature_cells(column, features, len(values))


def list_cells(column: ColumnSchema, values: Any) -> AnyArray:
    """Return the (rows, features) cells of tensors or lists."""
    width = len(column.labels)
    try:
        offsets, elements = flat(values)
    except TypeError as error:
        raise TypeError(f"column {column.name!r}: {error}") from None
    lengths = np.diff(offsets)
    if (lengths != width).any():
        row = int(np.argmax(lengths != width))
        raise ValueError(
            f"column {column.name!r}, row {row}: {lengths[row]} elements; accepted are {width}"
        )
    _require_numbers(elements, f"column {column.name!r}")
    cells = np.empty(len(elements), _dtype(column))
    _fill(cells, as_values(elements))
    return cells.reshape(len(lengths), width)


def classes_of_labels(column: ColumnSchema, values: Any) -> npt.NDArray[np.int64]:
    """Return the outputs that the values of a dictionary array name."""
    known = {key: at for at, key in enumerate(keys(map(plain, as_categories(labels(column)))))}
    found = read_column(storage(values))
    places = [known.get(key, -2) for key in keys(map(plain, found.categories))]
    classes = np.array([*places, ALL_OFF], np.int64)[found.codes.astype(np.int64)]
    if (classes == -2).any():
        row = int(np.argmax(classes == -2))
        value = plain(found.categories[found.codes[row]])
        raise ValueError(f"column {column.name!r}, row {row}: {value!r} is no feature of it")
    return classes


def _dtype(column: ColumnSchema) -> np.dtype[Any]:
    """Return the dtype of the cells: that of the outputs if these can be NaN, else bytes."""
    propagates = column.options.handle_missing == "propagate"
    return column.options.dtype.newbyteorder("=") if propagates else np.dtype(np.uint8)


def _fill(cells: AnyArray, values: AnyArray) -> None:
    """Set the cells where the values are 1; cells that can be NaN take the values."""
    if cells.dtype == np.uint8:
        np.equal(values, 1, out=cells.view(np.bool_))
    else:
        cells[:] = values


def _require_numbers(values: Any, what: str) -> None:
    """Refuse outputs that are neither numbers nor Booleans."""
    kind = storage(values).type
    if not (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise TypeError(f"{what} has the Arrow type {kind}; accepted are Booleans and numbers")
