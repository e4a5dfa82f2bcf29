"""The output columns of one input column: their categories and their names.

They depend on the options and on what `fit` learned, but not on the rows to encode.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import shown
from onehot_fast._categories.categories import Categories
from onehot_fast._runtime.utils import cached_property
from onehot_fast._schema.options import ColumnOptions, DropValue, declared_categories
from onehot_fast._schema.statistics import ColumnStatistics, Counts

UNKNOWN = -2  # the output column of an unknown category; a dropped category has -1


class Special(enum.Enum):
    """The meanings of an output column or a decoded value that is not a single category.

    Attributes
    ----------
    INFREQUENT
        One of the infrequent categories.
    UNKNOWN
        A value that was not seen in `fit`.
    MISSING
        A missing value.
    """

    INFREQUENT = "infrequent"
    UNKNOWN = "unknown"
    MISSING = "missing"

    def __repr__(self) -> str:
        """Return the member as Python code."""
        return f"Special.{self.name}"


@dataclass(frozen=True, eq=False)
class ColumnSchema:
    """The output columns of one input column.

    Attributes
    ----------
    name : hashable
    options : ColumnOptions
    known : Categories
        All categories in their order, including infrequent categories.
    outputs : ndarray of int32, shape (n_categories,)
        The output column of each category, or -1 if the category is dropped.
    specials : dict of Special to int
        The output column of each `Special` that has one.
    n_outputs : int
    types : frozenset of str
        The types of the fitted columns: see `Table.type_of`.
    zero_row_labels : tuple
        What a row of zeros can mean, the most likely first: a category or a `Special`.
    """

    name: Hashable
    options: ColumnOptions
    known: Categories
    outputs: npt.NDArray[np.int32]
    specials: dict[Special, int]
    n_outputs: int
    zero_row_labels: tuple[Any, ...]
    types: frozenset[str] = frozenset()

    @classmethod
    def declared(cls, categories: Any, dtype: np.dtype[Any]) -> ColumnSchema:
        """Return the schema of a column of given categories; feature names have no prefix.

        Any other value becomes a row of zeros.
        """
        declared = declared_categories(categories, "categories")
        if declared is None:
            raise ValueError("categories must be a sequence of categories here, got 'auto'")
        options = ColumnOptions(
            declared, handle_unknown="ignore", dtype=dtype, prefix="", prefix_sep=""
        )
        known = Categories.of(declared)
        outputs = np.arange(len(known), dtype=np.int32)
        return cls("array", options, known, outputs, {}, len(known), ())

    def outputs_of(self, categories: Any) -> npt.NDArray[np.int64]:
        """Return the output columns of the categories, followed by that for a missing value.

        A dropped category has -1; an unknown category has `UNKNOWN`.
        """
        if not isinstance(categories, Categories):
            categories = Categories.of(categories)
        positions = self.known.find(categories)
        outputs = np.full(len(positions) + 1, self.missing_output, np.int64)
        is_known = positions >= 0
        outputs[:-1] = UNKNOWN
        outputs[:-1][is_known] = self.outputs[positions[is_known]]
        return outputs

    @cached_property
    def categories(self) -> tuple[Any, ...]:
        """All categories in their order, as objects."""
        return tuple(self.known.tolist())

    @cached_property
    def category_of_feature(self) -> npt.NDArray[np.int64]:
        """The position of the category of each output column that represents a single category."""
        is_own = self.outputs >= 0
        if Special.INFREQUENT in self.specials:
            is_own &= self.outputs != self.specials[Special.INFREQUENT]
        return np.flatnonzero(is_own)

    @cached_property
    def is_infrequent(self) -> npt.NDArray[np.bool_]:
        """Whether each category is infrequent."""
        is_dropped = Special.INFREQUENT in self.zero_row_labels
        output = -1 if is_dropped else self.specials.get(Special.INFREQUENT, -2)
        flags: npt.NDArray[np.bool_] = self.outputs == output
        return flags

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The meaning of each output column: a category or a Special."""
        return (*self.known.take(self.category_of_feature).tolist(), *self.specials)

    @property
    def text_labels(self) -> list[str]:
        """The names of the output columns without their prefix."""
        own = self.known.take(self.category_of_feature).text_labels()
        return own + [_special_label(special) for special in self.specials]

    @cached_property
    def names(self) -> list[str]:
        """The names of the output columns."""
        prefix = self.prefix
        return [prefix + label for label in self.text_labels]

    @property
    def prefix(self) -> str:
        """The prefix of the names of the output columns, including the separator."""
        prefix = self.name if self.options.prefix is None else self.options.prefix
        return f"{prefix}{self.options.prefix_sep}"

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields without the cached properties."""
        return fields_of(self)

    @cached_property
    def lut(self) -> npt.NDArray[np.int32]:
        """The output column of each category, then of an unknown value and a missing value."""
        last = [self.unknown_output, self.missing_output]
        return np.concatenate([self.outputs, np.array(last, np.int32)])

    @cached_property
    def shifted_luts(self) -> dict[int, npt.NDArray[np.int32]]:
        """The cache of `lut` shifted to another first output column: see `CodedColumn`."""
        return {}

    @cached_property
    def last_luts(self) -> list[tuple[object, Any, dict[int, Any]]]:
        """One tuple: the last shared categories that were all known, `lut` and `shifted_luts`."""
        return [(None, None, {})]

    @cached_property
    def propagates_missing(self) -> bool:
        """Whether all outputs of a missing value are NaN."""
        return self.options.handle_missing == "propagate"

    @property
    def missing_output(self) -> int:
        """The output column of a missing value, or -1."""
        return self.specials.get(Special.MISSING, -1)

    @property
    def unknown_output(self) -> int:
        """The output column of an unknown value, or -1."""
        rule = self.options.handle_unknown
        label = Special.INFREQUENT if rule == "infrequent" else Special.UNKNOWN
        return self.specials.get(label, -1)

    @cached_property
    def has_distinct_names(self) -> bool:
        """Whether all output columns have different names; False if this is not certain."""
        if self.known.family in (None, "binary"):
            return False
        if self.known.family != "string" or not self.specials:
            return True
        positions = self.known.find(Categories.of([_special_label(s) for s in self.specials]))
        return not np.isin(positions[positions >= 0], self.category_of_feature).any()


def column_schema(
    name: Hashable, options: ColumnOptions, learned: ColumnStatistics, n_rows: int
) -> ColumnSchema:
    """Return the output columns of an input column."""
    known, counts = ordered_counts(options, learned)
    rare = infrequent(counts, n_rows, options.min_frequency, options.max_categories)
    groups = group(counts, rare)
    dropped = which_to_drop(name, options.drop, groups, known)
    outputs, n_outputs, specials = groups.of_category, len(groups), []
    zero_row_labels: list[Any] = []
    if dropped is not None:
        zero_row_labels.append(_label_of(groups, dropped, known))
        outputs = np.where(outputs == dropped, -1, outputs - (outputs > dropped)).astype(np.int32)
        n_outputs -= 1
    if groups.has_infrequent and dropped != len(groups) - 1:
        specials.append(Special.INFREQUENT)
        n_outputs -= 1
    specials += [Special.UNKNOWN] if options.handle_unknown == "indicator" else []
    specials += [Special.MISSING] if options.handle_missing == "indicator" else []
    special_outputs = {special: n_outputs + i for i, special in enumerate(specials)}
    n_outputs += len(specials)
    # A column without output columns cannot contain NaN.
    is_lost = options.handle_missing == "propagate" and n_outputs == 0
    zero_row_labels += [Special.MISSING] if options.handle_missing == "ignore" or is_lost else []
    zero_row_labels += [Special.UNKNOWN] if _zeros_can_mean_unknown(options, groups) else []
    return ColumnSchema(
        name,
        options,
        known,
        outputs,
        special_outputs,
        n_outputs,
        tuple(zero_row_labels),
        learned.types,
    )


def ordered_counts(options: ColumnOptions, learned: ColumnStatistics) -> tuple[Categories, Counts]:
    """Return the categories in their order, and the number of rows of each category."""
    if options.categories is None:
        return learned.ordered()
    known = Categories.of(options.categories)
    counts = np.zeros(len(known), np.int64)
    positions = known.find(learned.categories)
    if (positions < 0).any():  # possible only in a JSON document
        other = learned.categories.take([int(np.argmax(positions < 0))]).tolist()[0]
        raise ValueError(f"the learned category {shown(other)} must be a declared category")
    counts[positions] = learned.counts
    return known, counts


def _label_of(groups: CategoryGroups, position: int, known: Categories) -> Any:
    if groups.has_infrequent and position == len(groups) - 1:
        return Special.INFREQUENT
    category = int(np.argmax(groups.of_category == position))
    return known.take([category]).tolist()[0]


def _zeros_can_mean_unknown(options: ColumnOptions, groups: CategoryGroups) -> bool:
    """Tell whether a row of zeros can mean an unknown value."""
    rule = options.handle_unknown
    return rule in ("ignore", "warn") or (rule == "infrequent" and not groups.has_infrequent)


# ---- Groups of categories ----

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CategoryGroups:
    """A partition of the categories: one group per frequent category, one for all infrequent.

    Attributes
    ----------
    of_category : ndarray of int32, shape (n_categories,)
        The group of each category; infrequent categories have the last group.
    n_rows : ndarray of int64, shape (n_groups,)
        The number of rows of each group.
    has_infrequent : bool
        Whether the last group contains the infrequent categories.
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

    `max_categories` includes the feature for infrequent categories, even if there are none. Ties
    keep the category that sorts last.
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


def group(counts: npt.NDArray[np.int64], rare: Flags) -> CategoryGroups:
    """Return the groups of categories; groups are in the order of the categories."""
    frequent = ~rare
    n_frequent = int(frequent.sum())
    of_category = np.where(rare, n_frequent, np.cumsum(frequent) - 1).astype(np.int32)
    if n_frequent == len(rare):
        return CategoryGroups(of_category, counts, has_infrequent=False)
    n_rows = np.append(counts[frequent], counts[rare].sum())
    return CategoryGroups(of_category, n_rows, has_infrequent=True)


def which_to_drop(
    name: Hashable, drop: str | DropValue | None, groups: CategoryGroups, categories: Categories
) -> int | None:
    """Return the index of the group to drop, or None."""
    if isinstance(drop, DropValue):
        return _group_of(name, drop.value, groups, categories)
    if drop is None or not len(groups) or (drop == "if_binary" and len(groups) != 2):
        return None
    if drop == "last":
        return len(groups) - 1
    return int(np.argmax(groups.n_rows)) if drop == "most_frequent" else 0


def _group_of(name: Hashable, value: Any, groups: CategoryGroups, categories: Categories) -> int:
    try:
        position = int(categories.find(Categories.of([value]))[0])
    except TypeError:  # the value cannot be hashed
        position = -1
    if position < 0:
        raise ValueError(
            f"drop[{name!r}] must be one of the categories {shortened(categories)}, got {value!r}"
        )
    dropped = int(groups.of_category[position])
    if groups.has_infrequent and dropped == len(groups) - 1:
        raise ValueError(f"drop[{name!r}] must be a frequent category, got {value!r}")
    return dropped


def shortened(categories: Categories, limit: int = 20) -> str:
    """Return the first `limit` categories as text, and the total number if there are more."""
    n = len(categories)
    text = ", ".join(map(shown, categories.take(range(min(n, limit))).tolist()))
    return text if n <= limit else f"{text}, … ({n} in all)"


def _special_label(special: Special) -> str:
    """Return a special label as text; the parentheses distinguish it from a category."""
    return f"({special.value})"


def fields_of(schema: Any) -> dict[str, Any]:
    """Return the fields of a dataclass without its cached properties."""
    return {field.name: getattr(schema, field.name) for field in dataclasses.fields(schema)}
