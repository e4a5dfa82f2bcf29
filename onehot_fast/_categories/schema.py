"""Which output columns there are, what each stands for and what it is called.

All of it follows from the options and what was learned; the rows to encode have no part in it.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from onehot_fast._categories.grouping import Group, group, infrequent, which_to_drop
from onehot_fast._categories.keys import keys, title
from onehot_fast._categories.learned import Learned
from onehot_fast._categories.options import ColumnOptions


class Special(enum.Enum):
    """What an output column or a decoded value can stand for besides a category.

    Attributes
    ----------
    INFREQUENT
        One of the infrequent categories.
    UNKNOWN
        A value that `fit` did not meet.
    MISSING
        No value.
    """

    INFREQUENT = "infrequent"
    UNKNOWN = "unknown"
    MISSING = "missing"

    def __repr__(self) -> str:
        """Return the name by which one writes it."""
        return f"Special.{self.name}"


@dataclass(frozen=True)
class ColumnSchema:
    """The output columns that one input column makes."""

    name: Hashable
    options: ColumnOptions
    categories: tuple[Any, ...]  # all of them in their order, the infrequent ones too
    labels: tuple[Any, ...]  # what each output column stands for: a category or a Special
    places: dict[Hashable, int]  # key of a category → its output column, -1 if dropped
    all_off: tuple[Any, ...]  # what a row without any on can stand for, the likeliest first

    @cached_property
    def specials(self) -> dict[Special, int]:
        """Where the columns are that stand for no category."""
        return {label: at for at, label in enumerate(self.labels) if isinstance(label, Special)}

    @property
    def names(self) -> list[str]:
        """The names of the output columns."""
        prefix = self.name if self.options.prefix is None else self.options.prefix
        start = f"{prefix}{self.options.prefix_sep}"
        return [f"{start}{_title(label)}" for label in self.labels]

    @property
    def missing_place(self) -> int:
        """The output column of a missing value, or -1."""
        return self.specials.get(Special.MISSING, -1)

    @property
    def unknown_place(self) -> int:
        """The output column of an unknown value, or -1."""
        rule = self.options.handle_unknown
        label = Special.INFREQUENT if rule == "infrequent" else Special.UNKNOWN
        return self.specials.get(label, -1)


@dataclass(frozen=True)
class Schema:
    """The output columns of all input columns, side by side."""

    columns: tuple[ColumnSchema, ...]

    @cached_property
    def starts(self) -> list[int]:
        """The first output column of each input column, and the end."""
        return list(accumulate((len(column.labels) for column in self.columns), initial=0))

    @property
    def n_features(self) -> int:
        """How many output columns there are."""
        return self.starts[-1]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all output columns."""
        return tuple(name for column in self.columns for name in column.names)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an output that has only one."""
        kinds = {column.options.dtype for column in self.columns}
        return kinds.pop() if len(kinds) == 1 else np.result_type(np.bool_, *kinds)


def column_schema(
    name: Hashable, options: ColumnOptions, learned: Learned, n_rows: int
) -> ColumnSchema:
    """Return the output columns of an input column."""
    if options.categories is None:
        order = learned.ordered()
        categories = tuple(learned.values[key] for key in order)
    else:
        order, categories = keys(options.categories), options.categories
    counts = [learned.counts.get(key, 0) for key in order]
    rare = infrequent(counts, n_rows, options.min_frequency, options.max_categories)
    groups = group(order, categories, counts, rare)
    dropped = which_to_drop(name, options.drop, groups, categories)
    kept = [one for at, one in enumerate(groups) if at != dropped]
    places = {key: at for at, one in enumerate(kept) for key in one.keys}
    labels = [Special.INFREQUENT if one.is_rare else one.value for one in kept]
    labels += [Special.UNKNOWN] if options.handle_unknown == "indicator" else []
    labels += [Special.MISSING] if options.handle_missing == "indicator" else []
    all_off: list[Any] = []
    if dropped is not None:
        places.update(dict.fromkeys(groups[dropped].keys, -1))
        all_off += [Special.INFREQUENT if groups[dropped].is_rare else groups[dropped].value]
    all_off += [Special.MISSING] if options.handle_missing == "ignore" else []
    all_off += [Special.UNKNOWN] if _ignores_unknown(options, groups) else []
    return ColumnSchema(name, options, categories, tuple(labels), places, tuple(all_off))


def _ignores_unknown(options: ColumnOptions, groups: Sequence[Group]) -> bool:
    """Tell whether the row of an unknown value is all off for that reason alone."""
    rule = options.handle_unknown
    return rule == "ignore" or (rule == "infrequent" and not any(one.is_rare for one in groups))


def _title(label: Any) -> str:
    """Return what a name says after the prefix; parentheses keep apart what is no category."""
    return f"({label.value})" if isinstance(label, Special) else title(label)


def check_names(schema: Schema, kept: Iterable[Hashable] = ()) -> None:
    """Refuse two output columns of one name, those included that are kept as they are."""
    makers: dict[Hashable, str] = {}
    made: list[tuple[Hashable, str]] = [
        (name, f"column {column.name!r}, {_describe(label)}")
        for column in schema.columns
        for name, label in zip(column.names, column.labels, strict=True)
    ]
    made += [(name, f"column {name!r}, which is not encoded") for name in set(kept)]
    for name, maker in made:
        if name in makers:
            raise ValueError(
                f"two output columns would be named {name!r}: that of {makers[name]}, and that of"
                f" {maker}; another prefix, prefix_sep or type of the categories keeps them apart"
            )
        makers[name] = maker


def _describe(label: Any) -> str:
    """Return what an output column stands for, in words."""
    return f"{label.value} values" if isinstance(label, Special) else f"category {label!r}"
