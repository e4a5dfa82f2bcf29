"""The categories that a user gives, checked as scikit-learn checks them."""

from __future__ import annotations

from typing import Any

import numpy as np

from onehot_fast._categories.keys import keys
from onehot_fast.integrations.sklearn.learned import Met, as_items, in_order
from onehot_fast.integrations.sklearn.source import NAN, AnyArray, Feature, not_uniform


def as_given(given: Any, dtype: np.dtype[Any]) -> AnyArray:
    """Return given categories as an array of a column's dtype; texts as objects, not to be cut."""
    return np.array(given, dtype=object if dtype.kind == "U" else dtype)


def check_given(at: int, categories: AnyArray, feature: Feature, dtype: np.dtype[Any]) -> None:
    """Refuse categories that cannot be those of feature `at`."""
    if not categories.size:
        raise ValueError(f"In column {at}, the predefined categories are empty.")
    if categories.dtype == object and isinstance(categories[0], bytes) and dtype.kind != "S":
        met_types = [type(value).__name__ for value in feature.categories[:1]]
        raise ValueError(
            f"In column {at}, the predefined categories have type 'bytes' which is incompatible"
            f" with values of type '{''.join(met_types) or 'NoneType'}'."
        )
    items = as_items(categories)
    try:
        n_distinct = len(set(keys(items)))
    except TypeError:
        raise not_uniform(map(type, items)) from None
    if any(item is NAN for item in items[:-1]):
        raise ValueError(
            "Nan should be the last element in user provided categories, see categories"
            f" {categories} in column #{at}"
        )
    values = [item for item in items if item is not None and item is not NAN]
    in_sorted_order = in_order(values, ())
    if n_distinct != len(items):
        raise ValueError(f"In column {at}, the predefined categories contain duplicate elements.")
    if dtype.kind not in "OUS" and values != in_sorted_order:
        raise ValueError("Unsorted categories are not supported for numerical categories")


def values_in(feature: Feature, found: Met) -> list[Any]:
    """Return the values that occur in a feature, as its dtype has them."""
    occurs = [key in found.known.values for key in keys(feature.categories)]
    values = feature.categories[np.array(occurs, np.bool_)]
    return [*values] if values.dtype == object else [*np.sort(values)]


def unknown_in(known: list[Any], values: list[Any]) -> list[Any]:
    """Return the values that are not among the categories."""
    every = set(keys(known))
    unknown = [value for key, value in zip(keys(values), values, strict=True) if key not in every]
    return [np.nan if value is NAN else value for value in unknown]
