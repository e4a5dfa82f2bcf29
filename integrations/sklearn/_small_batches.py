"""A few rows of a fitted encoder: each value is looked up by itself, and no column is read."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from onehot_fast.adapter import reader_of

from ._categories import UNKNOWN, Feature
from ._read import OBJECT, PLAIN_KINDS, DType
from ._write import wrap_csr

# So many cells of an array are looked up faster than its columns are read.
CELLS = 256
# Of so many rows of a frame the cells are read one by one, which takes 5 us each.
ROWS = 3
Columns: TypeAlias = Sequence[Sequence[Any]]


def input_names(table: Any) -> Hashable:
    """Return the library of a table and the names of its columns: what must not have changed."""
    library = reader_of(table)
    if library is None:
        return None
    names = table.column_names if library == "arrow" else getattr(table, "columns", ())
    return library, tuple(names)


def encode_few(encoder: Any, rows: Any, dtype: DType) -> Any:
    """Return the encoding of a few rows, or None where columns have to be read."""
    columns = _columns(rows, encoder._features.input_names)
    features: list[Feature] = encoder._features.of(encoder)
    if columns is None or len(columns) != len(features):
        return None
    if any(map(_holds_number_objects, features)) and not _is_object_table(rows, columns):
        return None
    is_silent = encoder.handle_unknown != "error" and not encoder._warns
    columns_of_ones, start = [], 0
    for column, feature in zip(columns, features, strict=True):
        positions = feature.known.few_positions(column)
        if positions is None or (not is_silent and UNKNOWN in positions):
            return None
        outputs = map(feature.lut.item, positions)
        columns_of_ones.append([start + output if output >= 0 else -1 for output in outputs])
        start += feature.n_outputs
    ones = np.array(columns_of_ones, np.int32).T
    is_one = ones >= 0
    indices, n_ones = ones[is_one], is_one.sum(axis=1, dtype=np.int32)
    if encoder.sparse_output:
        indptr = np.append(np.int32(0), n_ones.cumsum(dtype=np.int32))
        return wrap_csr((np.ones(len(indices), dtype), indices, indptr), (len(ones), start))
    out = np.zeros((len(ones), start), dtype)
    out[np.repeat(np.arange(len(ones)), n_ones), indices] = 1
    return out


def _holds_number_objects(feature: Feature) -> bool:
    """Tell whether numbers are kept as objects, to which scikit-learn compares objects alone."""
    return feature.categories.dtype == OBJECT and feature.known.type is not str


def _is_object_table(rows: Any, columns: Columns) -> bool:
    """Tell whether NumPy makes an array of objects of the rows: there is text beside numbers."""
    return not hasattr(rows, "iat") and any(type(value) is str for value in chain(*columns))


def _columns(rows: Any, fitted: Hashable) -> Columns | None:
    """Return the columns as Python's values, if they are few and the table is like the fitted."""
    if type(rows) is list:
        is_few = fitted is None and rows and all(type(row) is list for row in rows)
        is_few = is_few and len(set(map(len, rows))) == 1 and len(rows) * len(rows[0]) <= CELLS
        return [*zip(*rows, strict=True)] if is_few else None
    if type(rows) is np.ndarray:
        is_few = fitted is None and rows.ndim == 2 and 0 < rows.size <= CELLS
        return rows.T.tolist() if is_few and rows.dtype.kind in PLAIN_KINDS else None
    shape: tuple[int, ...] = getattr(rows, "shape", ())
    if fitted is None or len(shape) != 2 or not 0 < shape[0] * shape[1] <= CELLS:
        return None
    if input_names(rows) != fitted:
        return None
    columns: Columns
    if hasattr(rows, "iat"):
        if shape[0] <= ROWS:
            cells = ([rows.iat[i, j] for i in range(shape[0])] for j in range(shape[1]))
            columns = [[v.item() if isinstance(v, np.generic) else v for v in c] for c in cells]
        else:
            columns = [series.tolist() for _, series in rows.items()]
    elif hasattr(rows, "rows"):
        columns = [*zip(*rows.rows(), strict=True)]
    else:
        columns = [*rows.to_pydict().values()]
    # What a missing value is, None or NaN, depends on the other values of its column.
    return None if any(map(_is_missing, chain(*columns))) else columns


def _is_missing(value: Any) -> bool:
    return value is None or (type(value) is float and value != value)
