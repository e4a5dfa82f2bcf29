"""SciPy's sparse matrices: made of the kernels' memory, and read where all elements are ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config

from ._read import AnyArray

# A constructor of SciPy takes 20 us, most of a transform of a few rows; a copy as `copy.copy` makes
# it, without asking how, takes 1.
FEW_ROWS = 512


def wrap_csr(parts: tuple[AnyArray, AnyArray, AnyArray], shape: tuple[int, int]) -> Any:
    """Return ``(data, indices, indptr)`` as scikit-learn is configured: array or matrix."""
    # Before scikit-learn 1.9 there is no choice.
    is_array = get_config().get("sparse_interface") == "sparray"
    container = sparse.csr_array if is_array else sparse.csr_matrix
    if shape[0] <= FEW_ROWS:
        matrix = container.__new__(container)
        matrix.__dict__.update(vars(_empty(container, shape)))
        matrix.data, matrix.indices, matrix.indptr = parts
        return matrix
    matrix = container(parts, shape=shape, copy=False)
    # The kernels write each row in order and once, so that SciPy need not look.
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


@lru_cache(maxsize=16)
def _empty(container: Any, shape: tuple[int, int]) -> Any:
    """Return a matrix without elements, whose attributes are copied."""
    matrix = container(shape)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def decode_ones(encoder: Any, encoded: Any) -> AnyArray | None:
    """Return the values of a CSR matrix of ones, or None where scikit-learn has to decode it."""
    widths = encoder._n_features_outs
    is_csr = sparse.issparse(encoded) and encoded.format == "csr" and encoded.ndim == 2
    if not is_csr or 0 in encoded.shape or encoded.shape[1] != sum(widths):
        return None
    if not (encoded.has_canonical_format and (encoded.data == 1).all()):
        return None
    labels = [encoder._compute_transformed_categories(i, False) for i in range(len(widths))]
    decoded = np.empty((encoded.shape[0], len(widths)), np.result_type(*labels))
    unknown = {}
    for i, positions in enumerate(_positions(encoded, widths)):
        kept = encoder._remove_dropped_categories(labels[i], i)
        if len(kept):
            decoded[:, i] = kept[np.maximum(positions, 0)]
        is_zero = positions < 0
        if is_zero.any():
            stands_for = _zero_label(encoder, i, labels[i])
            if stands_for is not None:
                decoded[is_zero, i] = stands_for[0]
            elif _ignores(encoder, i):
                unknown[i] = is_zero
            else:
                return None
    if unknown and decoded.dtype != object:
        decoded = decoded.astype(object)
    for i, is_zero in unknown.items():
        decoded[is_zero, i] = None
    return decoded


def _positions(ones: Any, widths: Sequence[int]) -> AnyArray:
    """Return for each feature which of its outputs is the first one in each row, -1 for none."""
    starts = np.append(0, np.cumsum(widths))
    # Backwards, so that the first of several ones stays.
    rows = np.repeat(np.arange(ones.shape[0]), np.diff(ones.indptr))[::-1]
    features = np.searchsorted(starts, ones.indices[::-1], "right") - 1
    positions = np.full((len(widths), ones.shape[0]), -1, np.intp)
    positions[features, rows] = ones.indices[::-1] - starts[features]
    return positions


def _ignores(encoder: Any, i: int) -> bool:
    """Tell whether an unknown value of a feature has no output."""
    rare = encoder._infrequent_enabled and encoder._infrequent_indices[i] is not None
    return encoder.handle_unknown == "ignore" or (encoder.handle_unknown != "error" and not rare)


def _zero_label(encoder: Any, i: int, labels: AnyArray) -> tuple[Any] | None:
    """Return what a feature without a one stands for, None if nothing is dropped."""
    dropped = encoder._drop_idx_after_grouping
    if dropped is None or dropped[i] is None:
        return None
    # Where unknown values are ignored, scikit-learn takes the category at this position, although
    # the infrequent categories before it may have been grouped.
    source = encoder.categories_[i] if _ignores(encoder, i) or len(labels) == 1 else labels
    return (source[dropped[i]],)
