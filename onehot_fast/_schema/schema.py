"""The output columns of a table: order, names and dtypes; and schemas of codes made of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np

from onehot_fast._categories.categories import Categories
from onehot_fast._categories.keys import as_objects
from onehot_fast._runtime.parallel import is_part_of_table
from onehot_fast._runtime.utils import cached_property, warn
from onehot_fast._schema.column_schema import ColumnSchema, Special, fields_of
from onehot_fast.table import column_position

Made = TypeVar("Made")

# The number of tables whose results are cached, and of their columns, before the cache is cleared.
MAX_CACHED_TABLES = 64
MAX_CACHED_NAMES = 1 << 14


@dataclass(frozen=True)
class ColumnOrder:
    """The columns of a table in the order of its encoded form.

    Columns that `fit` saw are in the fitted order, and columns that it did not see come last. If
    the other columns that `fit` saw are unknown, a table keeps its order.

    Attributes
    ----------
    positions : list of int
        In the table, before columns are encoded.
    unseen : set of int
        The positions of columns that `fit` did not see, or may not have seen.
    absent : list of hashable
        Columns that `fit` saw, are not encoded, and are not in the table.
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
    """Return the names of some columns as words."""
    return f"the column{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"


def column_order(
    names: Sequence[Hashable], encoded: list[int], fitted_names: Sequence[Hashable] | None
) -> ColumnOrder:
    """Return the order of the columns of a table; `encoded` has positions in the fitted order."""
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


@dataclass(frozen=True, eq=False)
class Schema:
    """The output columns of all input columns, side by side.

    Attributes
    ----------
    columns : tuple of ColumnSchema
    remainder : {"passthrough", "drop"}
        Whether the output includes the columns that are not encoded.
    fitted_names : tuple of hashable, optional
        All columns of the table that `fit` saw, in order; None if the columns that are not encoded
        are unknown.
    uses_default_columns : bool
        The encoded columns were chosen by their types, and not by the user.
    """

    columns: tuple[ColumnSchema, ...]
    remainder: str = "passthrough"
    fitted_names: tuple[Hashable, ...] | None = None
    uses_default_columns: bool = False

    def __repr__(self) -> str:
        """Show the first columns with their sizes."""
        sizes = ", ".join(f"{column.name!r}: {column.n_outputs:,}" for column in self.columns[:8])
        more = ", ..." if len(self.columns) > 8 else ""
        return f"<Schema of {self.n_features:,} features: {{{sizes}{more}}}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields without what is cached."""
        return fields_of(self)

    @cached_property
    def _cached(self) -> dict[Any, Any]:
        return {}

    def cached_for(self, names: tuple[Hashable, ...], make: Callable[[Schema, Any], Made]) -> Made:
        """Return ``make(schema, names)``, computed once for the names of a table.

        A schema never changes: an encoder that learns more or has other options has another schema.
        """
        # 1 and True are equal, but different names.
        if len(names) > MAX_CACHED_NAMES or not {str} >= set(map(type, names)):
            return make(self, names)
        key = (make, names)
        # Without a GIL, `dict.get` takes a lock for which threads would wait.
        try:
            found: Made = self._cached[key]
        except KeyError:
            found = make(self, names)
            if len(self._cached) >= MAX_CACHED_TABLES:
                self._cached.clear()
            self._cached[key] = found
        return found

    @cached_property
    def has_other_columns(self) -> bool:
        """Whether the output includes columns that are not encoded and that `fit` saw."""
        is_whole = len(self.fitted_names or ()) <= len(self.columns)
        return self.remainder == "passthrough" and not is_whole

    def positions_in(self, names: Sequence[Hashable]) -> list[int]:
        """Return where each column of the schema is in a table of these columns."""
        return [column_position(names, column.name) for column in self.columns]

    def column_of(self, name: Hashable) -> ColumnSchema:
        """Return the column of a name; the name does not matter if there is only one column."""
        named = [column for column in self.columns if column.name == name]
        if named or len(self.columns) == 1:
            return (named or self.columns)[0]
        known = [column.name for column in self.columns]
        raise ValueError(
            f"the name of the column must be one of {known!r}, got {name!r}: rename the column"
        )

    def column_order(self, names: Sequence[Hashable]) -> ColumnOrder:
        """Return which columns of a table with these names the encoded table has, in order."""
        encoded = self.positions_in(names)
        if self.remainder == "drop":
            return ColumnOrder(encoded, set(), [])
        return column_order(names, encoded, self.fitted_names)

    @cached_property
    def starts(self) -> list[int]:
        """The first output column of each input column, and the end."""
        return list(accumulate((column.n_outputs for column in self.columns), initial=0))

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

    @cached_property
    def warns(self) -> bool:
        """Whether a column warns about unknown values."""
        return any(column.options.handle_unknown == "warn" for column in self.columns)

    def check_names(self, kept: Iterable[Hashable] = ()) -> None:
        """Raise an error if two output columns, kept columns included, have the same name.

        Names are only made for columns whose prefixes may lead to equal names.
        """
        others = set(kept)
        suspects = _columns_with_related_prefixes(self.columns, others)
        suspects |= {id(column) for column in self.columns if not column.has_distinct_names}
        sources: dict[Hashable, str] = {}
        for column in self.columns:
            if id(column) in suspects:
                for name, label in zip(column.names, column.labels, strict=True):
                    _add_name(sources, name, f"column {column.name!r}, {_described(label)}")
        for other in others if sources else ():
            _add_name(sources, other, f"column {other!r}, which is not encoded")


def _columns_with_related_prefixes(
    columns: Iterable[ColumnSchema], kept: Iterable[Hashable]
) -> set[int]:
    """Return the ids of columns whose prefix starts another column's prefix or a kept name."""
    starts: list[tuple[str, ColumnSchema | None]] = [(c.prefix, c) for c in columns]
    starts += [(name, None) for name in kept if isinstance(name, str)]
    related: set[int] = set()
    open_columns: list[ColumnSchema] = []  # the prefix of each starts that of the next
    for start, column in sorted(starts, key=lambda pair: pair[0]):
        while open_columns and not start.startswith(open_columns[-1].prefix):
            open_columns.pop()
        if open_columns:
            related |= {id(open_columns[-1]), id(column)}
        if column is not None:
            open_columns.append(column)
    return related


def _add_name(sources: dict[Hashable, str], name: Hashable, source: str) -> None:
    """Add the name of an output column, or raise an error if it exists."""
    if name in sources:
        raise ValueError(
            f"two output columns would be named {name!r}: that of {sources[name]}, and that of"
            f" {source}; use another prefix, prefix_sep or type of the categories"
        )
    sources[name] = source


def _described(label: Any) -> str:
    """Return the meaning of an output column in words."""
    return f"{label.value} values" if isinstance(label, Special) else f"category {label!r}"


# ---- Schemas of codes ----

# The codes that are the same in every column; those of the categories follow.
RESERVED = {Special.MISSING: 0, Special.UNKNOWN: 1, Special.INFREQUENT: 2}


def code_schema(schema: Schema, names: tuple[Hashable, ...] = ()) -> Schema:
    """Return a schema with a code in place of each output column; `names` is ignored.

    Its look-up tables contain codes, which therefore obey every option as the outputs do.
    """
    return dataclasses.replace(schema, columns=tuple(map(_with_codes, schema.columns)))


def _with_codes(column: ColumnSchema) -> ColumnSchema:
    own = ~column.is_infrequent
    codes = np.where(own, own.cumsum() + len(RESERVED) - 1, RESERVED[Special.INFREQUENT])
    return _with_outputs(column, codes, RESERVED, len(RESERVED) + int(own.sum()))


def categorical_schema(schema: Schema, names: tuple[Hashable, ...] = ()) -> Schema:
    """Return a schema whose outputs are the categories of a categorical column; none is dropped."""
    return dataclasses.replace(schema, columns=tuple(map(_as_categorical, schema.columns)))


def _as_categorical(column: ColumnSchema) -> ColumnSchema:
    own, options = ~column.is_infrequent, column.options
    specials = [Special.INFREQUENT] if not own.all() else []
    specials += [Special.UNKNOWN] if options.handle_unknown == "indicator" else []
    specials += [Special.MISSING] if options.handle_missing == "indicator" else []
    n = int(own.sum())
    positions = np.where(own, own.cumsum() - 1, n)
    special_outputs = {special: n + i for i, special in enumerate(specials)}
    return _with_outputs(column, positions, special_outputs, n + len(specials))


def _with_outputs(
    column: ColumnSchema, outputs: Any, specials: dict[Special, int], n_outputs: int
) -> ColumnSchema:
    return dataclasses.replace(
        column,
        outputs=outputs.astype(np.int32),
        specials=specials,
        n_outputs=n_outputs,
        zero_row_labels=(),
    )


def categories_of_outputs(column: ColumnSchema, *, as_text: bool) -> Categories:
    """Return the categories of a column of `categorical_schema`; all texts if one must be."""
    if as_text or column.specials:
        return Categories.of(as_objects(column.text_labels))
    return column.known.take(column.category_of_feature)
