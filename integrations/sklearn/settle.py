"""From categories to output columns: which are grouped, which is dropped, what each stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onehot_fast._categories.grouping import infrequent
from onehot_fast._categories.keys import keys, plain
from onehot_fast._categories.learned import Learned
from onehot_fast._categories.options import ColumnOptions, DropValue
from onehot_fast._categories.schema import ColumnSchema, Special, column_schema
from onehot_fast.integrations.sklearn.learned import Met, as_items
from onehot_fast.integrations.sklearn.source import AnyArray

# What stands for the infrequent categories in names and decoded rows.
INFREQUENT = "infrequent_sklearn"
# scikit-learn's words → those of the core; "warn" is a matter of `transform` alone.
UNKNOWN_WORDS = {"infrequent_if_exist": "infrequent", "warn": "infrequent"}


@dataclass(frozen=True)
class Settled:
    """The outputs of one feature."""

    schema: ColumnSchema
    categories: AnyArray
    rare: list[bool]  # for each category, whether it is infrequent
    dropped: int | None  # the first category without an output of its own or of its group

    @property
    def infrequent(self) -> AnyArray | None:
        """The positions of the infrequent categories, None if there are none."""
        return np.flatnonzero(self.rare) if any(self.rare) else None

    @property
    def dropped_group(self) -> int | None:
        """The place of the dropped category, where the infrequent ones are one at the end."""
        if self.dropped is None:
            return None
        before = self.rare if self.rare[self.dropped] else self.rare[: self.dropped]
        return before.count(False)

    @property
    def labels(self) -> AnyArray:
        """What each output stands for, that of the dropped category included."""
        labels = self.categories
        extra: list[Any] = [INFREQUENT] if any(self.rare) else []
        extra += [one for one in self.schema.labels if one in (Special.UNKNOWN, Special.MISSING)]
        if extra:
            kept = labels[~np.array(self.rare, np.bool_)]
            labels = np.concatenate((kept, np.array(extra, object)))
        return labels

    @property
    def own_labels(self) -> AnyArray:
        """What each output stands for."""
        group = self.dropped_group
        return self.labels if group is None else np.delete(self.labels, group)


def settle(
    categories: Sequence[AnyArray], found: Sequence[Met], n_rows: int, params: dict[str, Any]
) -> list[Settled]:
    """Return the outputs of every feature.

    Raises
    ------
    ValueError
        `drop` names no category, or one that is infrequent.
    """
    items = [as_items(one) for one in categories]
    limits = plain(params["min_frequency"]), params["max_categories"]
    if limits[0] is not None and not isinstance(limits[0], int):
        limits = float(limits[0]), limits[1]
    rare = []
    for own, one in zip(items, found, strict=True):
        counts = one.counts
        rare.append(infrequent([counts.get(key, 0) for key in keys(own)], n_rows, *limits))
    drops = list(_drops(params["drop"], items, rare))
    settled = []
    for at, (own, one, drop) in enumerate(zip(items, found, drops, strict=True)):
        options = ColumnOptions(
            tuple(own),
            drop,
            _missing_word(params["handle_missing"]),
            UNKNOWN_WORDS.get(params["handle_unknown"], params["handle_unknown"]),
            *limits,
            np.dtype(params["dtype"]),
        )
        schema = column_schema(at, options, Learned({}, one.counts), n_rows)
        off = [k for k, key in enumerate(keys(own)) if schema.places[key] < 0]
        settled.append(Settled(schema, categories[at], rare[at], off[0] if off else None))
    return settled


def _missing_word(word: str) -> str:
    """Return the core's word; as a category a missing value is no matter of the core's."""
    return "ignore" if word == "category" else word


def _drops(
    drop: Any, items: Sequence[list[Any]], rare: Sequence[list[bool]]
) -> Iterator[str | DropValue | None]:
    """Yield what is dropped of each feature: by a rule, or the category that was named."""
    if drop is None or isinstance(drop, str):
        yield from [drop] * len(items)
        return
    named = np.asarray(drop, dtype=object)
    if len(named) != len(items):
        raise ValueError(
            "`drop` should have length equal to the number of features"
            f" ({len(items)}), got {len(named)}"
        )
    places = [_place(named[at], own) for at, own in enumerate(items)]
    for at, place in enumerate(places):
        if place is not None and rare[at][place]:
            raise ValueError(
                f"Unable to drop category {items[at][place]!r} from feature {at} because it is"
                " infrequent"
            )
    absent = [
        f"Category: {at}, Feature: {named[at]}" for at, place in enumerate(places) if place is None
    ]
    if absent:
        lines = "\n".join(absent)
        raise ValueError(
            "The following categories were supposed to be dropped, but were not found in the"
            f" training data.\n{lines}"
        )
    pairs = zip(items, places, strict=True)
    yield from (DropValue(own[place]) for own, place in pairs if place is not None)


def _place(value: Any, own: list[Any]) -> int | None:
    """Return the position of a category that was named, None if it is none."""
    one = np.empty(1, object)
    one[0] = value
    known = {key: at for at, key in enumerate(keys(own))}
    return known.get(keys(as_items(one))[0])
