"""The argument `columns` of an encoder: which columns of a table it chooses."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from onehot_fast._arguments.messages import shown, with_article
from onehot_fast._categories.keys import name_keys
from onehot_fast._runtime.registry import integration, reader_of
from onehot_fast.table import Table


def column_names(columns: Any) -> tuple[Hashable, ...] | None:
    """Return the names of the columns to encode, or None if they depend on the table."""
    if columns is None or callable(columns) or is_selector(columns):
        return None
    if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
        hash(columns)  # raises TypeError for unhashable names
        return (columns,)
    if hasattr(columns, "columns"):
        raise TypeError(
            f"columns must be column names, got {with_article(columns)}; pass the table to fit()"
        )
    names = tuple(columns)
    for name in names:
        try:
            hash(name)
        except TypeError:
            raise TypeError(
                f"columns must be column names, got {with_article(name)}: {shown(name)}; pass"
                " one list of names, e.g. columns=['size', 'color']"
            ) from None
    twice = repeated_name(names)
    if twice is not None:
        raise ValueError(f"columns must have different names, got {twice.name!r} twice")
    return names


class Repeated(NamedTuple):
    """A name of a column that was passed twice; it may be None."""

    name: Hashable


def repeated_name(names: Sequence[Hashable]) -> Repeated | None:
    """Return the first name that equals an earlier one, or None if all names differ."""
    keys = name_keys(names)
    if len(set(keys)) == len(keys):
        return None
    seen: set[Hashable] = set()
    for name, key in zip(names, keys, strict=True):
        if key in seen:
            return Repeated(name)
        seen.add(key)
    return None


def is_selector(columns: Any) -> bool:
    """Tell whether `columns` is a polars selector or another polars expression."""
    return hasattr(columns, "meta") and reader_of(columns) == "polars"


def chosen_names(columns: Any, table: Table) -> tuple[Hashable, ...] | None:
    """Return the names of the columns to encode, or None for the default columns."""
    if columns is None:
        return None
    if is_selector(columns):
        if table.library != "polars":
            raise TypeError(
                f"columns={columns!r} requires a polars DataFrame, got a {table.library} table"
            )
        return column_names(integration("polars").selected_names(table.source, columns))
    names = columns(table.source) if callable(columns) else columns
    if callable(names) or names is None:
        raise TypeError(f"columns={columns!r} must return column names, got {names!r}")
    return column_names(names)
