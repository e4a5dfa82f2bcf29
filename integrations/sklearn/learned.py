"""What `fit` learns of a feature, and the categories that follow from it.

Two of these merge into one, and no order or grouping of merges changes the result.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onehot_fast._categories.keys import keys, plain
from onehot_fast._categories.learned import Learned, learn
from onehot_fast.integrations.sklearn.source import NAN, AnyArray, Feature, not_uniform

# Kinds of dtypes of which NumPy promotes two to one that holds the values of both.
NUMBERS = "biuf"


@dataclass(frozen=True)
class Met:
    """The values of a feature, and in how many rows each occurs; None and NaN are values too."""

    known: Learned
    n_none: int
    n_nan: int
    dtype: np.dtype[Any]  # of the column

    def merge(self, other: Met) -> Met:
        """Return what one would have learned from the rows of both."""
        dtype = _common_dtype(self.dtype, other.dtype)
        n_none, n_nan = self.n_none + other.n_none, self.n_nan + other.n_nan
        return Met(self.known.merge(other.known), n_none, n_nan, dtype)

    @property
    def counts(self) -> dict[Hashable, int]:
        """In how many rows each value occurs."""
        return {**self.known.counts, None: self.n_none, NAN: self.n_nan}

    @property
    def missing(self) -> list[Any]:
        """The missing values in their order: None, NaN."""
        return [None] * (self.n_none > 0) + [NAN] * (self.n_nan > 0)

    def categories(self, *, with_missing: bool) -> list[Any]:
        """Return the values sorted, those that are missing last."""
        missing = self.missing if with_missing else []
        return in_order(list(self.known.values.values()), missing)

    def only(self, items: Sequence[Any]) -> Met:
        """Return what was learned about categories that were given."""
        n_none = self.n_none if any(item is None for item in items) else 0
        n_nan = self.n_nan if any(item is NAN for item in items) else 0
        return Met(self.known.only(keys(items)), n_none, n_nan, self.dtype)


def met(feature: Feature, dtype: np.dtype[Any]) -> Met:
    """Return what a feature teaches; nothing of its memory is kept."""
    codes, categories = feature.codes, feature.categories
    n_none = 0
    if feature.has_none:
        is_none = codes == len(categories)
        n_none = int(np.count_nonzero(is_none))
        codes = np.where(is_none, codes.dtype.type(-1), codes)
    known = learn(codes, categories, declared=False)
    n_missing = len(codes) - sum(known.counts.values()) - n_none
    if feature.missing is None:
        return Met(known, n_missing, 0, dtype)
    return Met(known, n_none, n_missing, dtype)


def in_order(values: list[Any], missing: Sequence[Any]) -> list[Any]:
    """Return values as scikit-learn orders them, or say that they have no order."""
    try:
        return [*sorted(values), *missing]
    except TypeError:
        raise not_uniform(map(type, [*values, *missing])) from None


def as_items(categories: AnyArray) -> list[Any]:
    """Return categories as the objects by which they are known; of all NaN there is one."""
    return [NAN if _is_nan(item) else plain(item) for item in categories]


def as_categories(items: Sequence[Any], dtype: np.dtype[Any]) -> AnyArray:
    """Return categories as an array."""
    nan = np.array("NaT", dtype)[()] if dtype.kind in "mM" else np.nan
    values = [nan if item is NAN else item for item in items]
    if not dtype.hasobject:
        return np.array(values, dtype)
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _is_nan(item: Any) -> bool:
    """Tell NaN and NaT from all else."""
    return isinstance(item, float | np.floating | np.datetime64 | np.timedelta64) and item != item


def _common_dtype(one: np.dtype[Any], other: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a column made of two; texts and numbers stay what they are."""
    kinds = one.kind + other.kind
    if one == other or kinds[0] == kinds[1] or all(kind in NUMBERS for kind in kinds):
        return np.result_type(one, other)
    return np.dtype(object)
