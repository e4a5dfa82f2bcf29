"""A few rows of a fitted encoder: each value is looked up by itself, and no column is read."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np

from onehot_fast.adapter import reader_of

from ._categories import Feature
from ._read import OBJECT, PLAIN_KINDS, AnyArray
from ._write import wrap_csr

# So many cells of an array are looked up faster than its columns are read.
CELLS = 256
# So many rows of a table: a cell of a frame by itself takes as long as many of an array.
ROWS = 4


def input_names(table: Any) -> Hashable:
    """Return the library of a table and the names of its columns: what must not have changed."""
    library = reader_of(table)
    if library is None:
        return None
    names = table.column_names if library == "arrow" else getattr(table, "columns", ())
    return library, tuple(names)


def encode_few(encoder: Any, rows: Any, dtype: np.dtype[Any]) -> Any:
    """Return the encoding of a few rows, or None where columns have to be read."""
    is_silent = encoder.handle_unknown != "error" and not encoder._warns
    values = _values(rows, encoder._features.input_names)
    if values is None:
        return None
    features: list[Feature] = encoder._features.of(encoder)
    if any(map(_holds_number_objects, features)) and not _is_object_table(rows, values):
        return None
    starts = [*accumulate((feature.n_outputs for feature in features), initial=0)]
    has_other = encoder._unknown == "infrequent_if_exist"
    outputs = []
    try:
        for row in values:
            own = []
            for value, feature, start in zip(row, features, starts[:-1], strict=True):
                position = feature.position(value)
                if position < 0 and not is_silent:
                    return None
                other = feature.infrequent if has_other else -1
                output = feature.lut.item(position) if position >= 0 else other
                if output >= 0:
                    own.append(start + output)
            outputs.append(own)
    except (LookupError, ValueError):
        return None
    shape = len(outputs), starts[-1]
    return _csr(outputs, shape, dtype) if encoder.sparse_output else _dense(outputs, shape, dtype)


def _holds_number_objects(feature: Feature) -> bool:
    """Tell whether numbers are kept as objects, to which scikit-learn compares objects alone."""
    return feature.categories.dtype == OBJECT and getattr(feature.known, "type", None) is not str


def _is_object_table(rows: Any, values: Sequence[Sequence[Any]]) -> bool:
    """Tell whether NumPy makes an array of objects of the rows: there is text beside numbers."""
    return not hasattr(rows, "iat") and any(type(value) is str for row in values for value in row)


def _values(rows: Any, fitted: Hashable) -> Sequence[Sequence[Any]] | None:
    """Return rows as Python's values, if they are few and the table is like the fitted one."""
    if type(rows) is list:
        few = fitted is None and rows and all(type(row) is list for row in rows)
        return rows if few and len(rows) * len(rows[0]) <= CELLS else None
    if type(rows) is np.ndarray:
        few = fitted is None and rows.ndim == 2 and 0 < rows.size <= CELLS
        return rows.tolist() if few and rows.dtype.kind in PLAIN_KINDS else None
    shape: tuple[int, ...] = getattr(rows, "shape", ())
    if len(shape) != 2 or not 0 < shape[0] <= ROWS or input_names(rows) != fitted:
        return None
    if fitted is None:
        return None
    values: list[Any]
    if hasattr(rows, "iat"):
        cells = ((rows.iat[i, j] for j in range(shape[1])) for i in range(shape[0]))
        values = [[v.item() if isinstance(v, np.generic) else v for v in row] for row in cells]
    elif hasattr(rows, "rows"):
        values = rows.rows()
    else:
        values = [*zip(*rows.to_pydict().values(), strict=True)]
    # What a missing value is, None or NaN, depends on the other values of its column.
    return None if any(map(_is_missing, chain.from_iterable(values))) else values


def _is_missing(value: Any) -> bool:
    return value is None or (type(value) is float and value != value)


def _csr(outputs: list[list[int]], shape: tuple[int, int], dtype: np.dtype[Any]) -> Any:
    """Return a CSR matrix of ones."""
    indptr = np.array([*accumulate(map(len, outputs), initial=0)], np.int32)
    indices = np.array([*chain.from_iterable(outputs)], np.int32)
    return wrap_csr((np.ones(len(indices), dtype), indices, indptr), shape)


def _dense(outputs: list[list[int]], shape: tuple[int, int], dtype: np.dtype[Any]) -> AnyArray:
    """Return the dense matrix."""
    out = np.zeros(shape, dtype)
    for row, columns in zip(out, outputs, strict=True):
        row[columns] = 1
    return out
