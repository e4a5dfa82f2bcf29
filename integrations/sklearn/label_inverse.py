"""Scores or marks → labels: the largest of a row, or those above a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from onehot_fast.integrations.sklearn.label_output import result_dtype
from onehot_fast.integrations.sklearn.label_source import AnyArray


def largest(scores: Any, classes: AnyArray) -> AnyArray:
    """Return the class of the first largest score of each row."""
    if sparse.issparse(scores):
        found = _sparse_argmax(scores.tocsr())
    else:
        found = np.minimum(np.argmax(np.asarray(scores), axis=1), len(classes) - 1)
    labels: AnyArray = classes[found]
    return labels


def above(scores: Any, threshold: float, kind: str, classes: AnyArray) -> Any:
    """Return the class of each row, or all of them as an indicator matrix."""
    scores = scores if sparse.issparse(scores) else np.asarray(scores)
    if kind == "binary" and scores.ndim == 2 and scores.shape[1] > 2:
        raise ValueError(f"output_type='binary', but y.shape = {scores.shape}")
    if kind != "binary" and scores.shape[1] != len(classes):
        raise ValueError("The number of class is not equal to the number of dimension of y.")
    if sparse.issparse(scores) and threshold > 0 and kind != "binary":
        on = sparse.csr_array(scores > threshold, dtype=np.int64)
        return on
    dense = scores.toarray() if sparse.issparse(scores) else scores
    is_on = (dense if dense.dtype.kind in "biuf" else dense.astype(np.float64)) > threshold
    if kind != "binary":
        return is_on.astype(result_dtype(scores.dtype))
    is_second = is_on[:, 1] if is_on.ndim == 2 and is_on.shape[1] == 2 else is_on.reshape(-1)
    if len(classes) == 1:
        return np.repeat(classes, len(is_second))
    return classes[is_second.astype(np.intp)]


def _sparse_argmax(scores: Any) -> npt.NDArray[np.integer]:
    """Return the column of the first largest element of each row, those not stored included."""
    if not scores.has_canonical_format:
        scores = scores.copy()
        scores.sum_duplicates()
    data, indices, indptr = scores.data, scores.indices, scores.indptr
    counts = np.diff(indptr)
    if (counts == 1).all() and (data > 0).all():
        return np.asarray(indices)
    columns = np.zeros(len(counts), np.intp)
    is_stored = counts > 0
    starts, counts = indptr[:-1][is_stored], counts[is_stored]
    if not len(starts):
        return columns
    maxima = np.maximum.reduceat(data, starts)
    # As "not less" a NaN is found as well.
    places = np.flatnonzero(~(data < np.repeat(maxima, counts)))
    first = indices[places[np.searchsorted(places, starts)]]
    # Sorted columns are 0, 1, 2, ... up to the first that is not stored.
    in_line = indices == np.arange(len(indices)) - np.repeat(starts, counts)
    absent = np.add.reduceat(in_line, starts, dtype=np.intp)
    has_absent = absent < scores.shape[1]
    first = np.where(has_absent & (maxima < 0), absent, first)
    first = np.where(has_absent & (maxima == 0), np.minimum(absent, first), first)
    columns[is_stored] = first
    return columns
