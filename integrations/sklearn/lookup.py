"""Rows at hand → the tables that give each of their codes its output, decided once per category."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from onehot_fast._categories.lookup import UNKNOWN, places_of
from onehot_fast._categories.schema import ColumnSchema, Schema, Special
from onehot_fast._encode.outputs import Coded
from onehot_fast.integrations.sklearn.settle import UNKNOWN_WORDS
from onehot_fast.integrations.sklearn.source import NAN, AnyArray, Feature


def code_rows(
    schema: Schema,
    features: Sequence[Feature],
    n_rows: int,
    unknown: str,
    missing: str,
    *,
    warn: bool,
) -> Coded:
    """Return the rows as the kernels take them.

    `unknown` and `missing` are the words that hold now; they may have changed since `fit`.

    Raises
    ------
    ValueError
        A value is unknown or missing, and that is an error.
    """
    tables, with_unknown = [], []
    rows = zip(features, schema.columns, schema.starts, strict=False)
    for at, (feature, column, start) in enumerate(rows):
        places = places_in(column, feature, missing, at)
        is_unknown = places == UNKNOWN
        # What has no rows is not unknown, whatever it would be.
        is_unknown[-2:] &= feature.has_none, feature.has_missing
        values = _values(feature, is_unknown) if is_unknown.any() else []
        if values and unknown == "error":
            raise ValueError(f"Found unknown categories {values} in column {at} during transform")
        with_unknown += [at] if values else []
        places[places == UNKNOWN] = unknown_place(column, unknown)
        tables.append(np.where(places >= 0, places + start, -1).astype(np.int32))
    if with_unknown and warn:
        _warn(with_unknown, "all zeros" if unknown == "ignore" else "the infrequent category.")
    codes = [
        feature.codes if missing == "category" else _one_missing(feature) for feature in features
    ]
    return Coded(schema, codes, tables, n_rows)


def _one_missing(feature: Feature) -> AnyArray:
    """Return the codes of a feature in which None is missing as NaN is."""
    codes = feature.codes
    if not feature.has_none:
        return codes
    return np.where(codes == len(feature.categories), codes.dtype.type(-1), codes)


def unknown_place(column: ColumnSchema, word: str) -> int:
    """Return the output of an unknown value, -1 for none, by the word that holds now."""
    label = {
        "indicator": Special.UNKNOWN,
        "infrequent": Special.INFREQUENT,
    }.get(UNKNOWN_WORDS.get(word, word))
    return -1 if label is None else column.specials.get(label, -1)


def places_in(column: ColumnSchema, feature: Feature, missing: str, at: int) -> AnyArray:
    """Return the output of each category of the rows at hand, then that of None, and of no code."""
    places = places_of(column, feature.categories)
    if missing == "category":
        tail = [column.places.get(one, UNKNOWN) for one in (None, feature.missing)]
        return np.append(places[:-1], tail)
    if missing == "error":
        check_no_missing(feature, at)
    return np.append(places, places[-1])


def check_no_missing(feature: Feature, at: int) -> None:
    """Refuse a feature with missing values."""
    if feature.has_missing:
        raise ValueError(
            f"Found missing values in column {at}; handle_missing= accepts 'category', 'ignore',"
            " 'indicator' and 'propagate' beside 'error'"
        )


def _values(feature: Feature, is_unknown: AnyArray) -> list[Any]:
    """Return the unknown values that occur in the rows."""
    n = len(feature.categories)
    # A missing code finds the last entry, which is that of -1.
    codes = np.maximum(feature.codes, -1) if feature.has_missing else feature.codes
    found = np.unique(codes[is_unknown[codes]])
    values = feature.categories[found[(found >= 0) & (found < n)]]
    if values.dtype != object:
        values = np.sort(values)
    unknown: list[Any] = [*values]
    unknown += [None] * (n in found)
    unknown += [np.nan if feature.missing is NAN else None] * (-1 in found)
    return unknown


def _warn(columns: list[int], encoded: str) -> None:
    """Warn of unknown values; the caller of `transform` is six frames away."""
    warnings.warn(
        f"Found unknown categories in columns {columns} during transform. These unknown categories"
        f" will be encoded as {encoded}",
        UserWarning,
        stacklevel=6,
    )
