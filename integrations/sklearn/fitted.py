"""What an encoder is once it is fitted: all that follows from its parameters and from the rows."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onehot_fast._categories.keys import keys
from onehot_fast._categories.schema import Schema
from onehot_fast.integrations.sklearn.few import Few
from onehot_fast.integrations.sklearn.given import as_given, check_given, unknown_in, values_in
from onehot_fast.integrations.sklearn.learned import Met, as_categories, as_items, met
from onehot_fast.integrations.sklearn.lookup import check_no_missing
from onehot_fast.integrations.sklearn.output import output_dtype
from onehot_fast.integrations.sklearn.settle import Settled, settle
from onehot_fast.integrations.sklearn.source import NAN, AnyArray, Feature, Source


@dataclass(frozen=True, eq=False)
class Fitted:
    """What was learned, and the outputs that it makes."""

    found: tuple[Met, ...]
    n_rows: int
    settled: tuple[Settled, ...]
    schema: Schema
    few: Few

    @property
    def dropped_groups(self) -> AnyArray:
        """The place of the dropped category of each feature among its groups."""
        return np.array([one.dropped_group for one in self.settled], dtype=object)

    @property
    def drop_idx(self) -> AnyArray:
        """The position of the dropped category of each feature."""
        return np.array([one.dropped for one in self.settled], dtype=object)


def fitted_of(
    found: tuple[Met, ...], n_rows: int, params: dict[str, Any], names: list[str] | None
) -> Fitted:
    """Return what follows; `names` are those of the features, None without.

    Raises
    ------
    TypeError, ValueError
        Values have no order, or `drop` and `dtype` do not fit them.
    """
    params = {**params, "dtype": output_dtype(params["dtype"], params["handle_missing"])}
    given, missing = params["categories"], params["handle_missing"]
    categories = [
        as_categories(one.categories(with_missing=missing == "category"), one.dtype)
        if isinstance(given, str)
        else as_given(given[at], one.dtype)
        for at, one in enumerate(found)
    ]
    settled = tuple(settle(categories, found, n_rows, params))
    schema = Schema(tuple(one.schema for one in settled))
    return Fitted(found, n_rows, settled, schema, Few(schema, missing, names))


def learn(source: Source, params: dict[str, Any]) -> tuple[list[Feature], tuple[Met, ...]]:
    """Return the features of some rows, and what they teach.

    Raises
    ------
    TypeError, ValueError
        Values have no hash, or they are refused by a parameter.
    """
    given = params["categories"]
    if not isinstance(given, str) and len(given) != source.n_features:
        raise ValueError(
            "Shape mismatch: if categories is an array, it has to be of shape (n_features,)."
        )
    features = [source.read(at) for at in range(source.n_features)]
    found = []
    for at, feature in enumerate(features):
        one = met(feature, source.dtype(at, feature))
        if params["handle_missing"] == "error":
            check_no_missing(feature, at)
        if not isinstance(given, str):
            one = _met_of_given(at, one, feature, params)
        found.append(one)
    return features, tuple(found)


def merge_found(parts: Sequence[tuple[tuple[Met, ...], int]]) -> tuple[tuple[Met, ...], int]:
    """Return what parts with the same features teach together, and their number of rows."""
    features = zip(*(found for found, _ in parts), strict=True)
    merged = tuple(functools.reduce(Met.merge, feature) for feature in features)
    return merged, sum(n_rows for _, n_rows in parts)


def _met_of_given(at: int, one: Met, feature: Feature, params: dict[str, Any]) -> Met:
    """Return what was learned about the categories that were given, or refuse others."""
    categories = as_given(params["categories"][at], one.dtype)
    check_given(at, categories, feature, one.dtype)
    items = as_items(categories)
    if params["handle_missing"] != "category" and {None, NAN} & set(keys(items)):
        raise ValueError(
            f"In column {at}, the predefined categories hold a missing value, which is a category"
            " with handle_missing='category' only"
        )
    if params["handle_unknown"] == "error":
        missing = one.missing if params["handle_missing"] == "category" else []
        unknown = unknown_in(items, [*values_in(feature, one), *missing])
        if unknown:
            raise ValueError(f"Found unknown categories {unknown} in column {at} during fit")
    return one.only(items)
