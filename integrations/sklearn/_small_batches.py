"""A few rows of a fitted encoder: each value is looked up by itself, and no column is read."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import accumulate, chain
from typing import Any, TypeAlias

import numpy as np

from onehot_fast.adapter import read_table, reader_of

from ._categories import UNKNOWN, Feature
from ._read import PLAIN_KINDS, DType
from ._sparse import wrap_csr

# So many cells of an array are looked up faster than its columns are read.
CELLS = 256
# Of so many rows of a frame the cells are read one by one.
ROWS = 3
Columns: TypeAlias = Sequence[Sequence[Any]]


def input_names(table: Any) -> Hashable:
    """Return the library of a table and the names of its columns: what must not have changed."""
    library = reader_of(table)
    if library is None:
        return None
    if library == "pandas" and hasattr(table, "columns"):
        return library, read_table(table).names
    names = table.column_names if library == "arrow" else getattr(table, "columns", ())
    return library, tuple(names)


def few_positions(
    encoder: Any, features: Sequence[Feature], rows: Any, *, is_silent: bool
) -> list[list[int]] | None:
    """Return the positions of a few rows among the categories of each feature.

    None where columns have to be read, or an unknown value is not passed over in silence.
    """
    columns = _columns(rows, encoder._features.input_names)
    if columns is None or len(columns) != len(features):
        return None
    # To numbers that are kept as objects scikit-learn compares objects alone, and these NumPy makes
    # of rows that hold text beside numbers.
    if any([feature.holds_object_numbers for feature in features]) and (
        hasattr(rows, "iat") or not any(type(v) is str for v in chain(*columns))
    ):
        return None
    found = []
    for column, feature in zip(columns, features, strict=True):
        positions = feature.known.few_positions(column)
        if positions is None or (not is_silent and UNKNOWN in positions):
            return None
        found.append(positions)
    return found


def encode_few(encoder: Any, rows: Any, dtype: DType) -> Any:
    """Return the one-hot encoding of a few rows, or None where columns have to be read."""
    is_silent = encoder.handle_unknown != "error" and not encoder._warns
    features = encoder._features.of(encoder)
    found = few_positions(encoder, features, rows, is_silent=is_silent)
    if found is None:
        return None
    rows_of_ones: list[list[int]] = [[] for _ in found[0]]
    start = 0
    for feature, positions in zip(features, found, strict=True):
        outputs = feature.outputs
        for row, position in zip(rows_of_ones, positions, strict=True):
            if outputs[position] >= 0:
                row.append(start + outputs[position])
        start += feature.n_outputs
    shape = len(rows_of_ones), start
    if encoder.sparse_output:
        indices = np.array([*chain(*rows_of_ones)], np.int32)
        indptr = np.array([*accumulate(map(len, rows_of_ones), initial=0)], np.int32)
        data = np.empty(len(indices), dtype)  # `np.ones` takes three times as long
        data.fill(1)
        return wrap_csr((data, indices, indptr), shape)
    out = np.zeros(shape, dtype)
    out.put([i * start + k for i, row in enumerate(rows_of_ones) for k in row], 1)
    return out


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
    is_few = fitted is not None and len(shape) == 2 and 0 < shape[0] * shape[1] <= CELLS
    if not is_few:
        return None
    columns: Columns
    if hasattr(rows, "iat") and shape[0] <= ROWS:
        table = read_table(rows)
        cells = [table.texts(position) for position in range(shape[1])]
        if (table.library, table.names) != fitted or None in cells:
            return None
        columns = [[v.item() if isinstance(v, np.generic) else v for v in c or ()] for c in cells]
    elif input_names(rows) != fitted:
        return None
    elif hasattr(rows, "iat"):
        columns = [series.tolist() for _, series in rows.items()]
    elif hasattr(rows, "rows"):
        columns = [*zip(*rows.rows(), strict=True)]
    else:
        columns = [*rows.to_pydict().values()]
    # What a missing value is, None or NaN, depends on the other values of its column.
    return None if any(map(_is_missing, chain(*columns))) else columns


def _is_missing(value: Any) -> bool:
    return value is None or (type(value) is float and value != value)
