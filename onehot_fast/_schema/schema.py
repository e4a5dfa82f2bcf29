"""The order, names and dtypes of the features of a table, for each output format."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np

from onehot_fast._categories.categories import Categories
from onehot_fast._categories.keys import as_objects, name_key, name_keys
from onehot_fast._runtime.cache import Cache
from onehot_fast._runtime.parallel import is_part_of_table
from onehot_fast._runtime.utils import cached_property, warn
from onehot_fast._schema.column_schema import ColumnSchema, Special, column_schema, state_of
from onehot_fast._schema.options import Options
from onehot_fast._schema.statistics import TableStatistics
from onehot_fast.table import Table, column_positions

Made = TypeVar("Made")

# The maximum number of cached tables (then the cache is cleared), and of columns in each table.
MAX_CACHED_TABLES = 64
MAX_CACHED_NAMES = 1 << 14


@dataclass(frozen=True)
class ColumnOrder:
    """The order in which the columns of a table appear in the encoded table.

    Columns seen in `fit` come first, in the order of `fit`. Columns not seen in `fit` follow. If
    the encoder knows only the encoded columns, the others keep their positions in the table.
    """

    positions: list[int]  # in the table to encode
    # The positions of columns that were not, or may not have been, seen in `fit`.
    new_columns: set[int]
    absent: list[Hashable]  # columns seen in `fit`, but not encoded, that the table lacks

    def check_absent(self) -> None:
        """Raise an error if the table lacks a column that a matrix must have."""
        if self.absent:
            raise ValueError(
                f"the table lacks {_listed(self.absent)}, but a matrix must have all columns that"
                " fit saw; add them to the table, or use encoder.set_params(remainder='drop') to"
                " return only the features"
            )

    def warn_if_absent(self) -> None:
        """Warn if the table, and therefore the result, lacks columns seen in `fit`.

        For a part of a table, do not warn: the engine (e.g. Dask) warns once for the whole table.
        """
        if self.absent and not is_part_of_table():
            warn(f"the table, and thus the result, lacks {_listed(self.absent)}, which fit saw")


def _listed(names: Sequence[Hashable]) -> str:
    """Return a list of column names as text."""
    return f"the column{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"


@dataclass(frozen=True, eq=False)
class Schema:
    """The features of all encoded columns, and the names of all columns seen in `fit`."""

    columns: tuple[ColumnSchema, ...]
    remainder: str = "passthrough"  # or "drop": without the columns that are not encoded
    # All columns in order, or None if only the encoded columns are known.
    fitted_names: tuple[Hashable, ...] | None = None
    uses_default_columns: bool = False  # whether the user did not choose the encoded columns
    n_rows: int = 0

    __getstate__ = state_of

    def __repr__(self) -> str:
        """Return the first columns with their numbers of features as text."""
        sizes = ", ".join(f"{column.name!r}: {column.n_features:,}" for column in self.columns[:8])
        more = ", ..." if len(self.columns) > 8 else ""
        return f"<Schema of {self.n_features:,} features: {{{sizes}{more}}}>"

    @cached_property
    def _of_names(self) -> Cache[Any]:
        return Cache(MAX_CACHED_TABLES)

    def cached_for(self, names: tuple[Hashable, ...], make: Callable[[Schema, Any], Made]) -> Made:
        """Return ``make(self, names)``, and cache the result for the same `make` and `names`.

        The cache needs no invalidation, because a schema is immutable.
        """
        # Only str names are cached: 1 and True are different names but equal keys.
        if len(names) > MAX_CACHED_NAMES or not {str} >= set(map(type, names)):
            return make(self, names)
        found: Made = self._of_names.get((make, names), make, self, names)
        return found

    @cached_property
    def warned(self) -> Cache[set[Hashable]]:
        """For each table of an engine, the columns of which `warning_once` warned."""
        return Cache(MAX_CACHED_TABLES)

    @cached_property
    def has_other_columns(self) -> bool:
        """Whether the output includes columns seen in `fit` that are not encoded."""
        is_whole = len(self.fitted_names or ()) <= len(self.columns)
        return self.remainder == "passthrough" and not is_whole

    @cached_property
    def of_codes(self) -> Schema:
        """A copy of the schema for the output "codes", whose look-up tables contain these codes."""
        return replace(self, columns=tuple(map(_with_codes, self.columns)))

    @cached_property
    def of_categories(self) -> Schema:
        """A copy of the schema for the output "category", which drops no category."""
        columns = (
            column_schema(each.name, replace(each.options, drop=None), each.learned, self.n_rows)
            for each in self.columns
        )
        return replace(self, columns=tuple(columns))

    def positions_in(self, names: Sequence[Hashable]) -> list[int]:
        """Return the position of each column of the schema in a table with these names."""
        return column_positions(names, [column.name for column in self.columns])

    def positions_of(self, names: tuple[Hashable, ...]) -> list[int]:
        """Return the result of `positions_in`, and cache it for the next table."""
        return self.cached_for(names, Schema.positions_in)

    def positions_in_table(self, table: Table) -> list[int]:
        """Return the position of each column of the schema in a table, or raise a ValueError."""
        try:
            return self.positions_of(table.names)
        except ValueError:
            table.check_keys([column.name for column in self.columns])
            raise

    def column_of(self, name: Hashable) -> ColumnSchema:
        """Return the column named `name`. If the schema has only one column, return that column."""
        key = name_key(name)
        named = [column for column in self.columns if name_key(column.name) == key]
        if named or len(self.columns) == 1:
            return (named or self.columns)[0]
        known = [column.name for column in self.columns]
        raise ValueError(
            f"the name of the column must be one of {known!r}, got {name!r}; rename the column"
        )

    def column_order(self, names: Sequence[Hashable]) -> ColumnOrder:
        """Return the order of the columns in the encoded table, for a table with these names."""
        encoded = self.positions_in(names)
        if self.remainder == "drop":
            return ColumnOrder(encoded, set(), [])
        if self.fitted_names is None:
            order = [*range(len(names))]
            for slot, position in zip(sorted(encoded), encoded, strict=True):
                order[slot] = position
            return ColumnOrder(order, {*order} - {*encoded}, [])
        # Columns with the same name keep their order.
        waiting: dict[Hashable, deque[int]] = {}
        for position, key in enumerate(name_keys(names)):
            waiting.setdefault(key, deque()).append(position)
        order, absent = [], []
        for name, key in zip(self.fitted_names, name_keys(self.fitted_names), strict=True):
            if waiting.get(key):
                order.append(waiting[key].popleft())
            else:
                absent.append(name)
        unseen = {position for positions in waiting.values() for position in positions}
        return ColumnOrder(order + sorted(unseen), unseen, absent)

    @cached_property
    def starts(self) -> list[int]:
        """The first feature of each input column, followed by `n_features`."""
        return list(accumulate((column.n_features for column in self.columns), initial=0))

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.starts[-1]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all features."""
        return tuple(name for column in self.columns for name in column.names)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an array of all features."""
        kinds = {column.options.dtype for column in self.columns}
        return kinds.pop() if len(kinds) == 1 else np.result_type(np.bool_, *kinds)

    def check_plain(self, consumer: str) -> None:
        """Raise an error if a column has several labels in a row, which `consumer` cannot take."""
        for column in self.columns:
            column.check_plain(consumer)

    def check_names(self, kept: Iterable[Hashable] = ()) -> None:
        """Raise an error if two output columns have the same name.

        `kept` has the names of the output columns that are not encoded. The names of the features
        are generated only if two names could be equal.
        """
        # Two kept columns may have the same name.
        others = {name_key(name): name for name in kept}
        prefixes = [column.prefix for column in self.columns]
        # If a name starts with a prefix, so does the name that follows the prefix in sorted order.
        starts = sorted(prefixes + [name for name in others.values() if isinstance(name, str)])
        known = {*prefixes}
        overlaps = any(b.startswith(a) for a, b in pairwise(starts) if a in known)
        if not overlaps and all(column.has_distinct_names for column in self.columns):
            return
        sources: dict[Hashable, str] = {}
        for column in self.columns:
            for name, label in zip(column.names, column.labels, strict=True):
                is_special = isinstance(label, Special)
                meaning = f"{label.value} values" if is_special else f"category {label!r}"
                _add_name(sources, name, f"column {column.name!r}, {meaning}")
        for other in others.values():
            _add_name(sources, other, f"column {other!r}, which is not encoded")


def _add_name(sources: dict[Hashable, str], name: Hashable, source: str) -> None:
    """Add the name of an output column; raise an error if the name already exists."""
    if name in sources:
        raise ValueError(
            f"two output columns would be named {name!r}: one for {sources[name]}, and one for"
            f" {source}; pass another prefix= or prefix_sep=, or change the categories"
        )
    sources[name] = source


def schema_of(state: TableStatistics, options: Options) -> Schema:
    """Return the schema that follows from the statistics of a table and the options."""
    pairs = zip(state.names, state.columns, strict=True)
    columns = (
        column_schema(
            name,
            options.of_labels(name) if learned.is_ragged else options.of(name),
            learned,
            state.n_rows,
        )
        for name, learned in pairs
    )
    names = None if state.input is None else state.input.names
    is_default = state.input is not None and state.input.uses_default_columns
    remainder = options.values["remainder"]
    schema = Schema(tuple(columns), remainder, names, is_default, state.n_rows)
    schema.check_names()
    return schema


# ---- Schemas of codes ----

# These codes are the same in every column; the codes of the categories follow them.
RESERVED = {Special.MISSING: 0, Special.UNKNOWN: 1, Special.INFREQUENT: 2}


def _with_codes(column: ColumnSchema) -> ColumnSchema:
    own = ~column.is_infrequent
    codes = np.where(own, own.cumsum() + len(RESERVED) - 1, RESERVED[Special.INFREQUENT])
    return replace(
        column,
        feature_of_category=codes.astype(np.int32),
        specials=RESERVED,
        n_features=len(RESERVED) + int(own.sum()),
        zero_row_labels=(),
    )


def categories_of_features(column: ColumnSchema, *, as_text: bool) -> Categories:
    """Return the categories of a column of `Schema.of_categories`.

    They are strings if `as_text` is true, or if a feature is not a single category.
    """
    if as_text or column.specials:
        return Categories.of(as_objects(column.text_labels))
    return column.known.take(column.category_of_feature)
