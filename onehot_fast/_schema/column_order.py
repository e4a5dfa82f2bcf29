"""The order of the columns that an encoder returns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from onehot_fast._runtime.parallel import is_part_of_table
from onehot_fast._runtime.utils import warn


@dataclass(frozen=True)
class ColumnOrder:
    """Which columns of a table its encoded form has, and in which order.

    Columns that `fit` saw are in the fitted order, and columns that it did not see come last. If
    the other columns that `fit` saw are unknown, a table keeps its order.

    Attributes
    ----------
    positions : list of int
        In the table, before columns are encoded.
    unseen : set of int
        The positions of columns that `fit` did not see, or may not have seen.
    absent : list of hashable
        Columns that `fit` saw, are not encoded, and that the table lacks.
    """

    positions: list[int]
    unseen: set[int]
    absent: list[Hashable]

    def check_absent(self) -> None:
        """Raise an error if the table lacks a column of the matrix."""
        if self.absent:
            raise ValueError(
                f"the table lacks {_listed(self.absent)}, which fit saw and a matrix includes:"
                " add the values, or pass remainder='drop' for the features alone"
            )

    def warn_if_absent(self) -> None:
        """Warn if the table lacks columns that `fit` saw, which the result then lacks too.

        A part of a table does not warn: the engine warns once, when it plans the whole table.
        """
        if self.absent and not is_part_of_table():
            warn(f"the table lacks {_listed(self.absent)}, which fit saw; so does the result")


def _listed(names: Sequence[Hashable]) -> str:
    """Return the names of some columns as a sentence has them."""
    return f"the column{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"


def column_order(
    names: Sequence[Hashable], encoded: list[int], fitted_names: Sequence[Hashable] | None
) -> ColumnOrder:
    """Return the order of the columns of a table; `encoded` are positions in the fitted order."""
    others = {*range(len(names))} - {*encoded}
    if fitted_names is None:
        order = [*range(len(names))]
        for slot, position in zip(sorted(encoded), encoded, strict=True):
            order[slot] = position
        return ColumnOrder(order, others, [])
    # Several columns may have one name: they keep their order.
    waiting: dict[Hashable, list[int]] = {}
    for position, name in enumerate(names):
        waiting.setdefault(name, []).append(position)
    order, absent = [], []
    for name in fitted_names:
        if waiting.get(name):
            order.append(waiting[name].pop(0))
        else:
            absent.append(name)
    unseen = {position for positions in waiting.values() for position in positions}
    return ColumnOrder(order + sorted(unseen), unseen, absent)
