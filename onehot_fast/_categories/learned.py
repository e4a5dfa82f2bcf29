"""What `fit` learns from a column: the categories it met and how often.

Two of these merge into one, and no order or grouping of merges changes the result: counts are
added, the categories are a set, and their order is decided at the end.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._categories.categories import Categories
from onehot_fast._encode import write

if TYPE_CHECKING:
    from onehot_fast.column import Column

Counts: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Learned:
    """The categories of a column, and in how many rows each occurs.

    Attributes
    ----------
    categories : Categories
        The declared ones first, in the order in which the data declare them; then all others.
    counts : ndarray of int64, shape (n_categories,)
    n_declared : int, optional
        How many are declared; None where no data declare any, or not all data the same.
    conflict : bool
        Parts of the data declare different categories or orders.
    """

    categories: Categories = field(default_factory=lambda: Categories.of([]))
    counts: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    n_declared: int | None = None
    conflict: bool = False

    def merge(self, other: Learned) -> Learned:
        """Return what one would have learned from the rows of both."""
        if self.n_declared is None and other.n_declared is not None:
            self, other = other, self  # the declared ones stand first
        categories, positions = self.categories.merge(other.categories)
        counts = np.zeros(len(categories), np.int64)
        counts[: len(self.counts)] = self.counts
        counts[positions] += other.counts
        conflict = self.conflict or other.conflict
        if other.n_declared is not None:
            order = positions[: other.n_declared]
            same = np.array_equal(order, np.arange(self.n_declared or 0))
            conflict = conflict or not same
        return Learned(categories, counts, None if conflict else self.n_declared, conflict)

    def is_same(self, other: Learned) -> bool:
        """Tell whether both hold the same categories, types included, and counts."""
        if (self.n_declared, self.conflict) != (other.n_declared, other.conflict):
            return False
        (mine, counts), (others, other_counts) = (
            learned.sorted_after_declared() for learned in (self, other)
        )
        return np.array_equal(counts, other_counts) and mine.is_same(others)

    def ordered(self) -> tuple[Categories, Counts]:
        """Return the categories in their order, and their counts.

        It is the declared one where all data that declare any agree and no other value was met;
        otherwise all are sorted.
        """
        if self.n_declared == len(self.categories):
            return self.categories, self.counts
        order = self.categories.argsort()
        return self.categories.take(order), self.counts[order]

    def sorted_after_declared(self) -> tuple[Categories, Counts]:
        """Return the declared categories and then the others, sorted, and their counts."""
        n_declared = self.n_declared or 0
        others = self.categories.take(np.arange(n_declared, len(self.categories)))
        order = np.concatenate([np.arange(n_declared), n_declared + others.argsort()])
        return self.categories.take(order), self.counts[order]


@dataclass(frozen=True, eq=False)
class State:
    """What `fit` learned from a table: its encoded columns, in order, and its number of rows."""

    names: tuple[Hashable, ...]
    columns: tuple[Learned, ...]
    n_rows: int

    def merge(self, other: State) -> State:
        """Return what one would have learned from the rows of both."""
        if self.names != other.names:
            raise ValueError(
                f"different columns are encoded: {list(self.names)!r} and {list(other.names)!r};"
                " columns= chooses them"
            )
        pairs = zip(self.columns, other.columns, strict=True)
        merged = tuple(one.merge(two) for one, two in pairs)
        return State(self.names, merged, self.n_rows + other.n_rows)

    def is_same(self, other: State) -> bool:
        """Tell whether both were learned from tables that teach the same, their sizes included."""
        if (self.names, self.n_rows) != (other.names, other.n_rows):
            return False
        return all(map(Learned.is_same, self.columns, other.columns))


def learn(column: Column, declared: bool) -> Learned:
    """Return what one column teaches; nothing of its memory is kept.

    Categories that do not occur count only if they were declared.
    """
    categories, counts = counted(column)
    if declared:
        return Learned(categories, counts, len(categories))
    categories = categories.with_positive_zero()
    occurring = np.flatnonzero(counts)
    if len(occurring) < len(categories):
        categories, counts = categories.take(occurring), counts[occurring]
    return Learned(categories, counts)


def counted(column: Column) -> tuple[Categories, Counts]:
    """Return the distinct categories of a column and in how many rows each occurs."""
    categories, positions = column.distinct()
    counts = write.count(column.codes, column.n_categories)
    if positions is None:
        return categories, counts
    added = np.zeros(len(categories), np.int64)
    np.add.at(added, positions, counts)
    return categories, added


def learn_known(column: Column, known: Categories) -> tuple[Learned, npt.NDArray[np.int64]]:
    """Return what a column teaches about known categories, and the position of each of its own."""
    categories, counts = counted(column)
    positions = known.find(categories)
    occurs = (positions >= 0) & (counts > 0)
    order = np.flatnonzero(occurs)
    order = order[np.argsort(positions[order])]
    learned = categories.with_positive_zero().take(order)
    return Learned(learned, counts[order]), positions
