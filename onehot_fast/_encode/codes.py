"""Columns of codes → the matrix of codes that embeddings and trees take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.shapes import check_size
from onehot_fast._runtime import memory
from onehot_fast._schema.coded_column import CodedColumn
from onehot_fast._schema.schema import Schema

# Integers that torch has too; those that its embeddings accept.
NARROW = np.uint8, np.int16, np.int32
INDICES = np.int32, np.int64


def codes(
    form: str,
    columns: Sequence[CodedColumn],
    schema: Schema,
    n_rows: int,
    num_threads: int | None = None,
) -> npt.NDArray[Any]:
    """Return the C-contiguous (n_rows, n_columns) matrix of codes, or of indices.

    Parameters
    ----------
    form : {"codes", "indices"}
        Of codes every column counts from 0; of indices it counts from where the last one ended.
    columns : sequence of CodedColumn
        By the schema, of which every output is a code.
    """
    joint = form == "indices"
    n_codes = [schema.n_features] if joint else [column.n_outputs for column in schema.columns]
    accepted: Any = INDICES if joint else NARROW
    largest = max([*n_codes, 1]) - 1
    dtype = np.dtype(next(d for d in accepted if largest <= np.iinfo(d).max))
    shape = n_rows, len(columns)
    check_size(shape, dtype)
    out, _ = memory.allocate(shape, dtype)
    for i, (column, start) in enumerate(zip(columns, schema.starts, strict=False)):
        own = column.outputs(num_threads)
        if joint and start:
            np.add(own, start, out=out[:, i], dtype=dtype, casting="unsafe")
        else:
            out[:, i] = own
    return out
