"""Which categories share a column, and which one is left out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from onehot_fast._categories.keys import keys
from onehot_fast._categories.options import DropValue


class Group(NamedTuple):
    """The categories that one output column stands for: one, or all the infrequent ones."""

    value: Any
    keys: list[Hashable]
    n_rows: int
    is_rare: bool


def infrequent(
    counts: Sequence[int],
    n_rows: int,
    min_frequency: int | float | None,
    max_categories: int | None,
) -> list[bool]:
    """Tell which categories are infrequent, by the rules of scikit-learn's OneHotEncoder.

    `max_categories` counts the column of the infrequent ones, also where there would be none; of
    equally frequent categories the last ones in order stay.
    """
    least = 0.0 if min_frequency is None else min_frequency
    if isinstance(min_frequency, float):
        least = min_frequency * n_rows
    rare = [count < least for count in counts]
    if max_categories is not None and max_categories < len(rare) - sum(rare) + 1:
        by_count = sorted(range(len(rare)), key=counts.__getitem__)
        for at in by_count[: len(rare) - (max_categories - 1)]:
            rare[at] = True
    return rare


def group(
    order: Sequence[Hashable],
    categories: Sequence[Any],
    counts: Sequence[int],
    rare: Sequence[bool],
) -> list[Group]:
    """Return the columns of the categories in order; the infrequent ones share the last."""
    rows = list(zip(order, categories, counts, rare, strict=True))
    groups = [Group(value, [key], n, False) for key, value, n, is_rare in rows if not is_rare]
    shared = [(key, count) for key, _, count, is_rare in rows if is_rare]
    if shared:
        total = sum(count for _, count in shared)
        groups.append(Group(None, [key for key, _ in shared], total, True))
    return groups


def which_to_drop(
    name: Hashable,
    drop: str | DropValue | None,
    groups: Sequence[Group],
    categories: Sequence[Any],
) -> int | None:
    """Return the position of the column that is left out, None for none."""
    if isinstance(drop, DropValue):
        return _position_of(name, drop.value, groups, categories)
    if drop is None or not groups or (drop == "if_binary" and len(groups) != 2):
        return None
    if drop == "last":
        return len(groups) - 1
    if drop == "most_frequent":
        return max(range(len(groups)), key=lambda at: groups[at].n_rows)
    return 0


def _position_of(
    name: Hashable, value: Any, groups: Sequence[Group], categories: Sequence[Any]
) -> int:
    """Return the column of the category to drop."""
    key = keys([value])[0]
    at = next((at for at, one in enumerate(groups) if key in one.keys), None)
    if at is None:
        raise ValueError(
            f"drop[{name!r}] = {value!r} is no category of the column; they are"
            f" {shortened(categories)}"
        )
    if groups[at].is_rare:
        raise ValueError(f"drop[{name!r}] = {value!r} is infrequent: it has no column of its own")
    return at


def shortened(values: Sequence[Any], limit: int = 20) -> str:
    """Return the first values as text, and how many there are where those are not all."""
    text = ", ".join(map(repr, values[:limit]))
    return text if len(values) <= limit else f"{text}, … ({len(values)} in all)"
