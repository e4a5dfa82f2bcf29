"""Coded rows → the containers that scikit-learn returns."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config

from onehot_fast._categories.options import holds_nan, number_dtype
from onehot_fast._categories.schema import Schema
from onehot_fast._encode import outputs
from onehot_fast._encode.outputs import Coded
from onehot_fast.integrations.sklearn.source import AnyArray


def output_dtype(dtype: Any, missing: str) -> np.dtype[Any]:
    """Return the dtype of a result, if it can be one."""
    found = number_dtype(np.float64 if dtype is None else dtype, "dtype")
    if missing == "propagate" and not holds_nan(found):
        raise ValueError(
            f"handle_missing='propagate' needs a float dtype, not {found}: pass dtype='float32'"
        )
    return found


def with_dtype(schema: Schema, dtype: np.dtype[Any]) -> Schema:
    """Return the schema whose outputs have this dtype; scikit-learn lets it change after `fit`."""
    if not schema.columns or schema.dtype == dtype:
        return schema
    columns = (
        dataclasses.replace(one, options=dataclasses.replace(one.options, dtype=dtype))
        for one in schema.columns
    )
    return Schema(tuple(columns))


def csr(coded: Coded) -> Any:
    """Return the CSR matrix, as scikit-learn is configured."""
    array = outputs.sparse(coded, "csr")
    matrix = csr_container()(array)
    # Written in order and once, so that SciPy need not look.
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def csr_container() -> Any:
    """Return the class of sparse results; before scikit-learn 1.9 there is no choice."""
    is_array = get_config().get("sparse_interface") == "sparray"
    return sparse.csr_array if is_array else sparse.csr_matrix


def dense(coded: Coded, *, frame: bool) -> AnyArray:
    """Return the (rows, features) matrix, for a frame column by column: it is not copied then."""
    if frame:
        return outputs.block(coded, 0, len(coded.schema.columns)).T
    return outputs.matrix(coded)
