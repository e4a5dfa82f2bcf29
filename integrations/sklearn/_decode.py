"""A sparse matrix of ones → the values it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ._read import AnyArray


def decode_ones(encoder: Any, encoded: Any) -> AnyArray | None:
    """Return the values of a CSR matrix of ones, or None where scikit-learn has to decode it."""
    widths = encoder._n_features_outs
    if not (sparse.issparse(encoded) and encoded.format == "csr" and encoded.ndim == 2):
        return None
    if 0 in encoded.shape or encoded.shape[1] != sum(widths):
        return None
    if not (encoded.has_canonical_format and (encoded.data == 1).all()):
        return None
    labels = [
        encoder._compute_transformed_categories(i, remove_dropped=False) for i in range(len(widths))
    ]
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
