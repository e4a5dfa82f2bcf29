"""The features of one input column: their categories and their names.

The options and the learned categories determine the features. The rows to encode do not.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.messages import shown
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.classes import distinct_scalars
from onehot_fast._categories.elements import UNKNOWN
from onehot_fast._runtime.cache import Cache
from onehot_fast._runtime.utils import cached_property
from onehot_fast._schema.coded_column import Lut, lut_of, new_luts
from onehot_fast._schema.option_checks import DropValue
from onehot_fast._schema.options import ColumnOptions
from onehot_fast._schema.statistics import ColumnStatistics, Counts
from onehot_fast.table import ReadColumn, Table

Flags: TypeAlias = npt.NDArray[np.bool_]

MAX_OF_LIBRARIES = 16


class Special(enum.Enum):
    """The meaning of a feature, or of a decoded value, that is not a single category.

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


def state_of(schema: Any) -> dict[str, Any]:
    """Return the fields of a dataclass without its cached properties."""
    return {field.name: getattr(schema, field.name) for field in dataclasses.fields(schema)}


@dataclass(frozen=True, eq=False)
class ColumnSchema:
    """The features of one input column: features, or the codes of `Schema.of_codes`."""

    name: Hashable
    options: ColumnOptions
    learned: ColumnStatistics  # all categories in their order, including infrequent categories
    is_infrequent: Flags  # for each category
    feature_of_category: npt.NDArray[np.int32]  # -1 for a dropped category
    specials: dict[Special, int]  # the feature of each `Special` that has one
    n_features: int
    # The meanings of a row of zeros, the most likely first: categories and `Special` values.
    zero_row_labels: tuple[Any, ...]

    __getstate__ = state_of

    @classmethod
    def declared(cls, categories: Any, dtype: np.dtype[Any]) -> ColumnSchema:
        """Return the schema of a column with these categories; feature names have no prefix.

        A value that is not one of the categories becomes a row of zeros.
        """
        if isinstance(categories, str) and categories == "auto":
            raise ValueError("categories must be a sequence of categories, got 'auto'")
        declared = tuple(distinct_scalars(categories))
        options = ColumnOptions.with_defaults(
            categories=declared, handle_unknown="ignore", dtype=dtype, prefix="", prefix_sep=""
        )
        schema = column_schema("array", options, ColumnStatistics(), 0)
        return dataclasses.replace(schema, zero_row_labels=())

    def features_of(self, categories: Any) -> npt.NDArray[np.int64]:
        """Return the feature of each category and, as the last entry, of a missing value.

        The number is -1 for a dropped category, and `UNKNOWN` for an unknown category, which is
        also the code of an unknown value. The code of a missing value is -1.
        """
        if not isinstance(categories, Categories):
            categories = Categories.of(categories)
        positions = self.known.find(categories)
        features = np.where(positions < 0, UNKNOWN, self.lut[positions])
        return np.concatenate([features, [self.missing_feature]])

    @cached_property
    def known(self) -> Categories:
        """All categories in their order."""
        return self.learned.categories

    @cached_property
    def is_ragged(self) -> bool:
        """Whether a row has any number of labels, each of which sets its feature."""
        return self.learned.is_ragged

    def check_plain(self, consumer: str) -> None:
        """Raise an error if a row has several labels, which `consumer` cannot take."""
        self.learned.check_plain(self.name, consumer)

    def read_from(self, table: Table, position: int) -> ReadColumn:
        """Return a column of a table in the form in which `fit` read it."""
        if self.is_ragged:
            return table.labels(position, self.options.sep)
        try:
            return table.column(position)
        except TypeError:
            if table.read_lists(position) is None:
                raise
            raise TypeError(
                "the rows are lists, but fit saw no lists in this column: pass single values, or"
                " fit the encoder to rows of lists"
            ) from None

    @property
    def types(self) -> frozenset[str]:
        """The types of the column in the tables that `fit` read, as results of `Table.type_of`."""
        return self.learned.types

    @cached_property
    def categories(self) -> tuple[Any, ...]:
        """All categories in their order, as objects."""
        return tuple(self.known.tolist())

    @cached_property
    def category_of_feature(self) -> npt.NDArray[np.int64]:
        """For each feature of a single category, the position of the category in `known`."""
        return np.flatnonzero((self.feature_of_category >= 0) & ~self.is_infrequent)

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The meaning of each feature: a category or a Special."""
        return (*self.known.take(self.category_of_feature).tolist(), *self.specials)

    @property
    def shown_labels(self) -> list[Any]:
        """The `labels`, with the text of each Special in its place, e.g. "(missing)"."""
        return [
            _special_label(label) if isinstance(label, Special) else label for label in self.labels
        ]

    @property
    def text_labels(self) -> list[str]:
        """The names of the features without their prefix."""
        own = self.known.take(self.category_of_feature).text_labels()
        return own + [_special_label(special) for special in self.specials]

    @cached_property
    def names(self) -> list[str]:
        """The names of the features."""
        prefix = self.prefix
        return [prefix + label for label in self.text_labels]

    @property
    def prefix(self) -> str:
        """The prefix of the names of the features, including the separator."""
        prefix = self.name if self.options.prefix is None else self.options.prefix
        return f"{prefix}{self.options.prefix_sep}"

    @cached_property
    def lut(self) -> npt.NDArray[np.int32]:
        """The feature of each category, and last of an unknown and a missing value."""
        known_and_unknown = np.append(self.feature_of_category, np.int32(self.unknown_feature))
        return lut_of(known_and_unknown, self.missing_feature)

    @cached_property
    def unknown_entries(self) -> Flags:
        """Whether each entry of `lut` is that of an unknown value."""
        flags = np.zeros(len(self.lut), np.bool_)
        flags[len(self.known)] = True
        return flags

    @cached_property
    def luts(self) -> Cache[Lut]:
        """The attribute of the same name of every `CodedColumn` that uses `lut`."""
        return new_luts()

    @cached_property
    def of_dictionary(self) -> Cache[Any]:
        """The look-up tables of the last dictionary, by the identity of `Column.shared`."""
        return Cache(1)

    @cached_property
    def of_library(self) -> Cache[Any]:
        """What integrations make from this column, by a key that names the integration."""
        return Cache(MAX_OF_LIBRARIES)

    @cached_property
    def propagates_missing(self) -> bool:
        """Whether all features of a missing value are NaN."""
        return self.options.handle_missing == "propagate"

    @property
    def missing_feature(self) -> int:
        """The feature of a missing value, or -1 if it has none."""
        return self.specials.get(Special.MISSING, -1)

    @property
    def unknown_feature(self) -> int:
        """The feature of an unknown value, or -1 if it has none."""
        rule = self.options.handle_unknown
        label = Special.INFREQUENT if rule == "infrequent" else Special.UNKNOWN
        return self.specials.get(label, -1)

    @cached_property
    def hides_unknown(self) -> bool:
        """Whether the row of an unknown value is the row of zeros of a dropped category."""
        rule = self.options.handle_unknown
        if rule == "error" or (rule == "infrequent" and bool(self.is_infrequent.any())):
            return False  # an unknown value counts as infrequent, even if those are dropped
        return self.unknown_feature < 0 and bool((self.feature_of_category < 0).any())

    @cached_property
    def warns_of_unknown(self) -> bool:
        """Whether an unknown value causes a warning."""
        return self.options.handle_unknown == "warn" or self.hides_unknown

    @cached_property
    def has_distinct_names(self) -> bool:
        """Whether all features have different names; False if this is not certain."""
        if self.known.family in (None, "binary"):
            return False
        if self.known.family != "string" or not self.specials:
            return True
        positions = self.known.find(Categories.of([_special_label(s) for s in self.specials]))
        return not np.isin(positions[positions >= 0], self.category_of_feature).any()


def column_schema(
    name: Hashable, options: ColumnOptions, learned: ColumnStatistics, n_rows: int
) -> ColumnSchema:
    """Return the schema of a column from its options and its statistics.

    Each category that is neither infrequent nor dropped has its own feature. The columns of
    `specials` follow.
    """
    ordered = learned.ordered(options.categories)
    is_rare = infrequent(ordered.counts, n_rows, options.min_frequency, options.max_categories)
    is_dropped = dropped_categories(name, options.drop, ordered, is_rare)
    is_own = ~(is_rare | is_dropped)
    n_own = int(is_own.sum())
    features = np.where(is_own, is_own.cumsum() - 1, np.where(is_dropped, -1, n_own))
    loses_infrequent = bool((is_rare & is_dropped).any())
    specials = [Special.INFREQUENT] * bool(is_rare.any() and not loses_infrequent)
    specials += [Special.UNKNOWN] * (options.handle_unknown == "indicator")
    specials += [Special.MISSING] * (options.handle_missing == "indicator")
    n_features = n_own + len(specials)
    labels: list[Any] = [Special.INFREQUENT] * loses_infrequent
    labels = labels or ordered.categories.take(np.flatnonzero(is_dropped)).tolist()
    # A column without features cannot contain NaN.
    is_lost = options.handle_missing == "propagate" and n_features == 0
    labels += [Special.MISSING] * (options.handle_missing == "ignore" or is_lost)
    # Without infrequent categories, handle_unknown="infrequent" is the same as "ignore".
    ignoring = ("ignore", "warn") if is_rare.any() else ("ignore", "warn", "infrequent")
    labels += [Special.UNKNOWN] * (options.handle_unknown in ignoring)
    return ColumnSchema(
        name,
        options,
        ordered,
        is_rare,
        features.astype(np.int32),
        {special: n_own + i for i, special in enumerate(specials)},
        n_features,
        tuple(labels),
    )


def infrequent(
    counts: Counts, n_rows: int, min_frequency: int | float | None, max_categories: int | None
) -> Flags:
    """Tell which categories are infrequent, by the rules of scikit-learn's OneHotEncoder.

    `max_categories` counts one feature for infrequent categories, even if `min_frequency` makes no
    category infrequent.
    Among equally frequent categories, the last in order is kept.
    """
    is_share = isinstance(min_frequency, float)
    rare: Flags = counts < (min_frequency or 0) * (n_rows if is_share else 1)
    n_frequent = len(rare) - int(rare.sum())
    if max_categories is not None and max_categories < n_frequent + 1:
        by_count = np.argsort(counts, kind="stable")
        rare[by_count[: len(rare) - (max_categories - 1)]] = True
    return rare


def dropped_categories(
    name: Hashable, drop: str | DropValue | None, learned: ColumnStatistics, is_rare: Flags
) -> Flags:
    """Tell which categories are dropped; all infrequent ones together count as the last one."""
    is_dropped = np.zeros(len(is_rare), np.bool_)
    frequent = np.flatnonzero(~is_rare)
    counts = learned.counts[frequent]
    if is_rare.any():
        counts = np.append(counts, learned.counts[is_rare].sum())
    if isinstance(drop, DropValue):
        is_dropped[_frequent_position(name, drop.value, learned.categories, is_rare)] = True
    elif drop is not None and len(counts) and (drop != "if_binary" or len(counts) == 2):
        position = {"last": len(counts) - 1, "most_frequent": int(counts.argmax())}.get(drop, 0)
        is_dropped[is_rare if position == len(frequent) else frequent[position]] = True
    return is_dropped


def _frequent_position(name: Hashable, value: Any, known: Categories, is_rare: Flags) -> int:
    """Return the position of a category to drop; raise an error if it cannot be dropped."""
    try:
        position = int(known.find(Categories.of([value]))[0])
    except TypeError:  # the value cannot be hashed
        position = -1
    if position < 0:
        raise ValueError(
            f"drop[{name!r}] must be one of the categories {shortened(known)}, got {value!r}"
        )
    if is_rare[position]:
        raise ValueError(
            f"drop[{name!r}] must be a frequent category, got {value!r}, which is infrequent; drop"
            " another category, or change min_frequency= or max_categories="
        )
    return position


def shortened(categories: Categories, limit: int = 20) -> str:
    """Return the first `limit` categories as text, and the total number if there are more."""
    n = len(categories)
    if not n:
        return "(none)"
    text = ", ".join(map(shown, categories.take(range(min(n, limit))).tolist()))
    return text if n <= limit else f"{text}, … ({n} in all)"


def _special_label(special: Special) -> str:
    """Return the label of a feature that is not a category, e.g. "(missing)"."""
    return f"({special.value})"
