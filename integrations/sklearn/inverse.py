"""Encoded rows → the values they stand for, by scikit-learn's rules: the largest output counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from onehot_fast._categories.schema import Special
from onehot_fast.integrations.sklearn.settle import Settled
from onehot_fast.integrations.sklearn.source import AnyArray

# A sparse matrix of other values than ones is looked at in dense parts of so many cells: 32 MiB.
PART = 1 << 22


class Decoded(NamedTuple):
    """For each row of one feature its largest output, and whether all are zero."""

    places: npt.NDArray[np.int64]
    is_zero: npt.NDArray[np.bool_]
    is_nan: npt.NDArray[np.bool_]


def decode(settled: Sequence[Settled], encoded: Any, unknown: str, missing: str) -> AnyArray:
    """Return the values of all features as one array of rows.

    Raises
    ------
    ValueError
        The width is another one, or a row is all zero and that stands for nothing.
    """
    starts = [*accumulate((len(one.schema.labels) for one in settled), initial=0)]
    if encoded.shape[1] != starts[-1]:
        raise ValueError(
            f"Shape of the passed X data is not correct. Expected {starts[-1]} columns, got"
            f" {encoded.shape[1]}."
        )
    labels = [_labels(one) for one in settled]
    values = np.empty((encoded.shape[0], len(settled)), np.result_type(*labels))
    absent = {}
    for at, (one, found) in enumerate(zip(settled, _decoded(encoded, starts), strict=True)):
        group = one.dropped_group
        own = labels[at] if group is None else np.delete(labels[at], group)
        if len(own):
            values[:, at] = own[found.places]
        if group is not None:
            values[found.is_zero, at] = labels[at][group]
        elif found.is_zero.any():
            _check_zero(one, found, unknown, missing)
            absent[at] = found.is_zero
        if found.is_nan.any():
            absent[at] = absent.get(at, False) | found.is_nan
    if absent and values.dtype != object:
        values = values.astype(object)
    for at, rows in absent.items():
        values[rows, at] = None
    return values


def _labels(one: Settled) -> AnyArray:
    """Return what the outputs stand for, a missing value as the column's own."""
    labels = one.labels
    if Special.MISSING in one.schema.specials:
        labels = labels.copy()
        labels[-1] = np.nan if one.categories.dtype.kind == "f" else None
    return labels


def _check_zero(one: Settled, found: Decoded, unknown: str, missing: str) -> None:
    """Refuse rows that are all zero where no value is encoded so."""
    ignores = unknown == "ignore" or (
        unknown in ("infrequent_if_exist", "warn") and one.infrequent is None
    )
    if not ignores and missing != "ignore":
        raise ValueError(
            f"Samples {np.flatnonzero(found.is_zero)} can not be inverted when drop=None and"
            " handle_unknown='error' because they contain all zeros"
        )


def _decoded(encoded: Any, starts: Sequence[int]) -> Iterator[Decoded]:
    """Yield what each feature's outputs say."""
    spans = list(pairwise(starts))
    if not hasattr(encoded, "tocsr"):
        yield from (_largest(encoded[:, start:stop]) for start, stop in spans)
    elif (encoded.data == 1).all():
        yield from _positions(encoded, spans)
    else:
        rows = max(1, PART // max(1, encoded.shape[1]))
        parts = [
            [_largest(part[:, start:stop]) for start, stop in spans]
            for at in range(0, encoded.shape[0], rows)
            for part in [encoded[at : at + rows].toarray()]
        ]
        for feature in zip(*parts, strict=True):
            yield Decoded(*map(np.concatenate, zip(*feature, strict=True)))


def _largest(cells: AnyArray) -> Decoded:
    """Return what the outputs of a dense matrix say."""
    is_nan = np.zeros(len(cells), np.bool_)
    if cells.dtype.kind == "f":
        np.isnan(cells).any(axis=1, out=is_nan)
    if cells.shape[1] == 0:
        return Decoded(np.zeros(len(cells), np.int64), ~is_nan, is_nan)
    return Decoded(cells.argmax(axis=1), cells.sum(axis=1) == 0, is_nan)


def _positions(ones: Any, spans: Sequence[tuple[int, int]]) -> Iterator[Decoded]:
    """Yield what each feature's outputs say in a sparse matrix of ones."""
    ones = ones.tocsr(copy=True)
    ones.sum_duplicates()
    n_rows = ones.shape[0]
    rows = np.repeat(np.arange(n_rows), np.diff(ones.indptr))
    for start, stop in spans:
        ours = (ones.indices >= start) & (ones.indices < stop)
        places = np.full(n_rows, -1, np.int64)
        # Backwards, so that the first of several stays: the largest, as NumPy has it.
        places[rows[ours][::-1]] = ones.indices[ours][::-1] - start
        yield Decoded(np.maximum(places, 0), places < 0, np.zeros(n_rows, np.bool_))
