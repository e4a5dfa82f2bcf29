"""Which categories share an output column, and which one is left out."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import shown
from onehot_fast._categories.categories import Categories
from onehot_fast._schema.options import DropValue

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of categories that make an output column: each frequent one, all infrequent ones.

    Attributes
    ----------
    of_category : ndarray of int32, shape (n_categories,)
        The group of each category; the infrequent ones share the last.
    n_rows : ndarray of int64, shape (n_groups,)
        The rows of each group.
    has_infrequent : bool
        Whether the last group is that of the infrequent categories.
    """

    of_category: npt.NDArray[np.int32]
    n_rows: npt.NDArray[np.int64]
    has_infrequent: bool

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.n_rows)


def infrequent(
    counts: npt.NDArray[np.int64],
    n_rows: int,
    min_frequency: int | float | None,
    max_categories: int | None,
) -> Flags:
    """Tell which categories are infrequent, by the rules of scikit-learn's OneHotEncoder.

    `max_categories` counts the column of the infrequent ones, also where there would be none; of
    equally frequent categories the last ones in order stay.
    """
    least = 0.0 if min_frequency is None else min_frequency
    if isinstance(min_frequency, float):
        least = min_frequency * n_rows
    rare: Flags = counts < least
    n_frequent = len(rare) - int(rare.sum())
    if max_categories is not None and max_categories < n_frequent + 1:
        by_count = np.argsort(counts, kind="stable")
        rare[by_count[: len(rare) - (max_categories - 1)]] = True
    return rare


def group(counts: npt.NDArray[np.int64], rare: Flags) -> Groups:
    """Return the groups of the categories, in their order."""
    frequent = ~rare
    n_frequent = int(frequent.sum())
    of_category = np.where(rare, n_frequent, np.cumsum(frequent) - 1).astype(np.int32)
    if n_frequent == len(rare):
        return Groups(of_category, counts, has_infrequent=False)
    n_rows = np.append(counts[frequent], counts[rare].sum())
    return Groups(of_category, n_rows, has_infrequent=True)


def which_to_drop(
    name: Hashable, drop: str | DropValue | None, groups: Groups, categories: Categories
) -> int | None:
    """Return the group that is left out, None for none."""
    if isinstance(drop, DropValue):
        return _group_of(name, drop.value, groups, categories)
    if drop is None or not len(groups) or (drop == "if_binary" and len(groups) != 2):
        return None
    if drop == "last":
        return len(groups) - 1
    return int(np.argmax(groups.n_rows)) if drop == "most_frequent" else 0


def _group_of(name: Hashable, value: Any, groups: Groups, categories: Categories) -> int:
    try:
        position = int(categories.find(Categories.of([value]))[0])
    except TypeError:  # it cannot be hashed, as no category is
        position = -1
    if position < 0:
        raise ValueError(
            f"drop[{name!r}] = {value!r} is not a category of the column; they are"
            f" {shortened(categories)}"
        )
    dropped = int(groups.of_category[position])
    if groups.has_infrequent and dropped == len(groups) - 1:
        raise ValueError(f"drop[{name!r}] = {value!r} is infrequent: it has no column of its own")
    return dropped


def shortened(categories: Categories, limit: int = 20) -> str:
    """Return the first categories as text, and how many there are where those are not all."""
    n = len(categories)
    text = ", ".join(map(shown, categories.take(range(min(n, limit))).tolist()))
    return text if n <= limit else f"{text}, … ({n} in all)"
