"""What `fit` learns from a column: the categories it met and how often.

Two of these merge into one, and no order or grouping of merges changes the result: counts are
added, the values are a set, and their order is decided at the end.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from onehot_fast._categories.keys import in_order, keys, plain, positive_zero, preferred
from onehot_fast._runtime import dispatch, parallel


@dataclass(frozen=True)
class Learned:
    """The categories of a column, and in how many rows each occurs."""

    values: dict[Hashable, Any] = field(default_factory=dict)  # key → the value that stands for it
    counts: dict[Hashable, int] = field(default_factory=dict)
    declared: tuple[Hashable, ...] | None = None  # the keys in the order the data declare
    conflict: bool = False  # parts of the data declare different categories or orders

    def merge(self, other: Learned) -> Learned:
        """Return what one would have learned from the rows of both."""
        values = dict(self.values)
        for key, value in other.values.items():
            values[key] = preferred(values[key], value) if key in values else value
        counts = dict(self.counts)
        for key, count in other.counts.items():
            counts[key] = counts.get(key, 0) + count
        orders = {order for order in (self.declared, other.declared) if order is not None}
        conflict = self.conflict or other.conflict or len(orders) > 1
        declared = None if conflict or not orders else orders.pop()
        return Learned(values, counts, declared, conflict)

    def only(self, known: Iterable[Hashable]) -> Learned:
        """Return what was learned about the categories that were known before."""
        met = [key for key in known if key in self.values]
        return Learned({k: self.values[k] for k in met}, {k: self.counts[k] for k in met})

    def ordered(self) -> list[Hashable]:
        """Return the keys of the categories in their order.

        It is the declared one where all data that declare any agree and no other value was met;
        otherwise all are sorted.
        """
        if self.declared is not None and len(self.declared) == len(self.values):
            return list(self.declared)
        return keys(in_order(self.values.values()))


@dataclass(frozen=True)
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


def learn(codes: npt.NDArray[Any], categories: npt.NDArray[Any], declared: bool) -> Learned:
    """Return what one column teaches; nothing of its memory is kept.

    Categories that do not occur count only if they were declared.
    """
    items = [plain(item) for item in categories]
    if not declared:
        items = [positive_zero(item) for item in items]
    learned_keys = keys(items)
    values: dict[Hashable, Any] = {}
    counts: dict[Hashable, int] = {}
    for key, item, count in zip(learned_keys, items, count_of(codes, len(items)), strict=True):
        if count or declared:
            values[key] = preferred(values[key], item) if key in values else item
            counts[key] = counts.get(key, 0) + count
    return Learned(values, counts, tuple(values) if declared else None)


def count_of(codes: npt.NDArray[Any], n_categories: int) -> list[int]:
    """Return in how many rows each category occurs."""
    threads = parallel.resolve(None, codes.nbytes)
    counts: list[int] = dispatch.count(codes, n_categories, threads).tolist()
    return counts
