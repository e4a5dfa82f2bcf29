"""The check that declared values are distinct, for every place that accepts categories."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from onehot_fast._categories.keys import NEVER_MISSING, is_missing, keys

UNIQUE_HINT = "pass distinct values, e.g. column.dropna().unique() (polars: .drop_nulls().unique())"


def check_distinct(
    items: Sequence[Any], where: str, no_missing: str | None = None, hint: str = UNIQUE_HINT
) -> int:
    """Raise an error if two items are equal; return the position of the missing item, or -1.

    All missing values are one item. If `no_missing` is passed, a missing item raises an error that
    ends with this remedy. `hint` is the remedy for equal items.
    """
    if set(map(type, items)) <= NEVER_MISSING and len(set(items)) == len(items):
        return -1
    seen: dict[Hashable, int] = {}
    missing = -1
    for i, item in enumerate(items):
        is_absent = is_missing(item)
        if is_absent and no_missing is not None:
            raise ValueError(
                f"{where}[{i}] must not be a missing value, got {item!r}; {no_missing}"
            )
        its_key = None if is_absent else _hashable(item, f"{where}[{i}]")
        first = seen.setdefault(its_key, i)
        if first != i:
            raise ValueError(
                f"{where}[{i}] must differ from {where}[{first}] = {items[first]!r}, got {item!r};"
                f" {hint}"
            )
        missing = i if is_absent else missing
    return missing


def _hashable(value: Any, where: str) -> Hashable:
    """Return the key of a category; raise TypeError if it cannot be hashed."""
    try:
        key = keys([value])[0]
        hash(key)
    except TypeError as error:
        is_list = isinstance(value, list) and where.startswith("categories[0]")
        hint = "; for one list per column, pass categories={'plan': [...]}" if is_list else ""
        raise TypeError(
            f"{where} must be hashable to be a category, got {value!r}: {error}{hint}"
        ) from None
    return key
