"""Memory of the kernels → the sparse containers of scikit-learn."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any

from scipy import sparse
from sklearn import get_config

from ._read import AnyArray

# A constructor of SciPy takes 20 us, most of a transform of a few rows; a copy takes 4.
FEW_ROWS = 512


def wrap_csr(parts: tuple[AnyArray, AnyArray, AnyArray], shape: tuple[int, int]) -> Any:
    """Return ``(data, indices, indptr)`` as scikit-learn is configured: array or matrix."""
    # Before scikit-learn 1.9 there is no choice.
    is_array = get_config().get("sparse_interface") == "sparray"
    container = sparse.csr_array if is_array else sparse.csr_matrix
    if shape[0] <= FEW_ROWS:
        matrix = copy.copy(_empty(container, shape))
        matrix.data, matrix.indices, matrix.indptr = parts
        return matrix
    matrix = container(parts, shape=shape, copy=False)
    # The kernels write each row in order and once, so that SciPy need not look.
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


@lru_cache(maxsize=16)
def _empty(container: Any, shape: tuple[int, int]) -> Any:
    """Return a matrix without elements, to be copied."""
    matrix = container(shape)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix
