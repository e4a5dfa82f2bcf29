"""What `fit` learns about each column: its categories and their counts.

The rows of a table can be learned in parts, whose statistics are merged. The result does not depend
on the order or grouping of the parts, because the union of the categories is sorted at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.messages import shown, with_article, with_column_context
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.column import Column
from onehot_fast._categories.keys import NEVER_MISSING, is_missing, name_keys
from onehot_fast._categories.ragged import RaggedColumn
from onehot_fast._categories.strings import Strings
from onehot_fast._kernels import dispatch
from onehot_fast._schema.coded_column import lut_of

Counts: TypeAlias = npt.NDArray[np.int64]
INT64_MAX = np.iinfo(np.int64).max


def checked_count(source: Any) -> int:
    """Return a number of rows or categories; raise an error if it is invalid."""
    if type(source) is not int or not 0 <= source <= INT64_MAX:
        raise ValueError(f"a count must be an int in [0, {INT64_MAX}], got {shown(source)}")
    return source


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """The categories of a column, and the number of rows of each category."""

    # The declared categories first, in their declared order, then all others.
    categories: Categories = field(default_factory=lambda: Categories.of([]))
    counts: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    n_declared: int | None = None  # None if no categories are declared or the parts disagree
    conflict: bool = False  # whether parts of the data declare different categories or orders
    is_in_schema_order: bool = False
    types: frozenset[str] = frozenset()  # the results of `Table.type_of` for all parts
    # Whether a row has any number of labels. `counts` are then numbers of rows with each label.
    is_ragged: bool = False
    is_split: bool = False  # whether these labels were parts of texts with a separator
    # Whether one of these texts contained it; None if no text was seen. JSON does not keep it.
    has_separator: bool | None = None

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> ColumnStatistics:
        """Return the statistics from a column of `TableStatistics.to_plain`, and check them."""
        categories = Categories.from_plain(plain["categories"])
        types = frozenset(plain["types"])
        made = cls(**{**plain, "categories": categories, "types": types})
        counts, n_declared = made.counts, made.n_declared
        if (
            not isinstance(counts, np.ndarray)
            or (counts.dtype, counts.shape) != (np.dtype(np.int64), (len(categories),))
            or (counts < 0).any()
        ):
            raise ValueError("'counts' must have a number of rows for each of the categories")
        if n_declared is not None and checked_count(n_declared) > len(categories):
            raise ValueError(f"'n_declared' is {n_declared}, but {len(categories)} exist")
        _check_types(
            bool,
            conflict=made.conflict,
            is_in_schema_order=made.is_in_schema_order,
            is_ragged=made.is_ragged,
            is_split=made.is_split,
            has_separator=made.has_separator or False,
        )
        _check_types(str, **{f"types {i}": kind for i, kind in enumerate(types)})
        return made

    @staticmethod
    def merge(parts: Sequence[ColumnStatistics]) -> ColumnStatistics:
        """Merge the statistics of the parts of a column; `parts` must not be empty."""
        # A part without any value fits both kinds of columns.
        decisive = [part for part in parts if len(part.categories)]
        if len({part.is_ragged for part in decisive}) > 1:
            raise ValueError(
                "some parts of the data have several labels in a row, and others one value: pass"
                " sep= or lists for all parts, or for none"
            )
        ragged = [part for part in decisive or parts if part.is_ragged]
        # Parts of both forms are decoded to lists, which hold any label.
        is_split = bool(ragged) and all(part.is_split for part in ragged)
        # Sort parts with declared categories first, as their categories must precede the others.
        parts = sorted(parts, key=lambda part: part.n_declared is None)
        categories, positions = Categories.union([part.categories for part in parts])
        counts = np.zeros(len(categories), np.int64)
        for part, in_union in zip(parts, positions, strict=True):
            counts[in_union] += part.counts
        n_declared = parts[0].n_declared
        conflict = any(part.conflict for part in parts) or any(
            not np.array_equal(places[: part.n_declared], np.arange(n_declared))
            for part, places in zip(parts, positions, strict=True)
            if part.n_declared is not None and n_declared is not None
        )
        types = frozenset().union(*(part.types for part in parts))
        n_declared = None if conflict else n_declared
        found = {part.has_separator for part in parts} - {None}
        return ColumnStatistics(
            categories,
            counts,
            n_declared,
            conflict,
            types=types,
            is_ragged=bool(ragged),
            is_split=is_split,
            has_separator=any(found) if found else None,
        )

    def is_same(self, other: ColumnStatistics) -> bool:
        """Tell whether `other` has the same categories, of the same types, and the same counts."""
        kind, others = (
            (each.n_declared, each.conflict, each.is_ragged, each.is_split)
            for each in (self, other)
        )
        if kind != others:
            return False
        first, second = (each.sorted_after(each.n_declared or 0) for each in (self, other))
        same_counts = np.array_equal(first.counts, second.counts)
        return same_counts and first.categories.is_same(second.categories)

    def check_plain(self, name: Hashable, consumer: str) -> None:
        """Raise an error if a row has several labels, which `consumer` cannot take."""
        if self.is_ragged:
            raise ValueError(
                f"column {name!r} has several labels in a row, which {consumer} does not support:"
                " use Encoder.transform(table, output='csr') or output='numpy', or leave the column"
                " out of columns=[...]"
            )

    def take(self, positions: npt.NDArray[np.int64]) -> ColumnStatistics:
        """Return the categories at `positions`, with their counts."""
        categories = self.categories.take(positions)
        return replace(self, categories=categories, counts=self.counts[positions])

    def most_frequent(self, n: int | None = None) -> ColumnStatistics:
        """Return the `n` most frequent categories, by default all; ties keep their order."""
        return self.take(np.argsort(-self.counts, kind="stable")[:n])

    def sorted_after(self, n: int) -> ColumnStatistics:
        """Return the statistics with the categories sorted, except the first `n`, which stay."""
        others = self.categories.take(np.arange(n, len(self.categories)))
        return self.take(np.append(np.arange(n), n + others.argsort()))

    def ordered(self, declared: Sequence[Any] | None = None) -> ColumnStatistics:
        """Return the statistics with the categories in the order of the features.

        `declared`, the value of the option `categories`, sets the order. If it is None, the order
        of a categorical dtype is kept, provided that all parts of the data have the same dtype and
        all categories are declared in it. Otherwise, the categories are sorted.
        """
        if declared is None:
            is_ordered = self.is_in_schema_order or self.n_declared == len(self.categories)
            return replace(self if is_ordered else self.sorted_after(0), is_in_schema_order=True)
        known = Categories.of(declared)
        counts = np.zeros(len(known), np.int64)
        positions = known.find(self.categories)
        if (positions < 0).any():  # possible only in a JSON document
            other = self.categories.take([int(np.argmax(positions < 0))]).tolist()[0]
            raise ValueError(
                "the option 'categories' must include all categories of 'fitted', but lacks"
                f" {shown(other)}"
            )
        counts[positions] = self.counts
        return replace(self, categories=known, counts=counts)


@dataclass(frozen=True)
class InputTable:
    """The columns of the table that was passed to `fit`, in order."""

    names: tuple[Hashable, ...]
    has_names: bool = True  # False for a plain array
    library: str | None = None  # the integration that read the table; None after `from_json`
    uses_default_columns: bool = False  # whether the user did not choose the encoded columns

    def check_width(self, names: Sequence[Hashable], has_names: bool, estimator: str) -> None:
        """Reject an array with another number of columns than in the table of `fit`."""
        if not (self.has_names or has_names) and len(self.names) != len(names):
            raise ValueError(
                f"X has {len(names)} features, but {estimator} is expecting {len(self.names)}"
                " features as input"
            )


@dataclass(frozen=True, eq=False)
class TableStatistics:
    """What `fit` learns about the encoded columns of a table."""

    names: tuple[Hashable, ...]
    columns: tuple[ColumnStatistics, ...]
    n_rows: int
    input: InputTable | None = None  # None if only the encoded columns are known

    def to_plain(self) -> dict[str, Any]:
        """Return the fields as plain types and arrays, which other tools can load safely."""
        columns = [
            {
                **vars(column),
                "categories": column.categories.to_plain(),
                "types": sorted(column.types),
            }
            for column in self.columns
        ]
        return {**vars(self), "columns": columns, "input": self.input and vars(self.input)}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> TableStatistics:
        """Return the statistics from the result of `to_plain`; raise an error if it is damaged."""
        source = None if plain["input"] is None else InputTable(**plain["input"])
        columns = tuple(map(ColumnStatistics.from_plain, plain["columns"]))
        made = cls(**{**plain, "columns": columns, "input": source})
        checked_count(made.n_rows)
        keys = _checked_keys(made.names)
        if len({*keys}) < len(keys) or len(keys) != len(columns):
            raise ValueError("'names' must contain a different name for each column")
        if source is not None:
            _check_types(
                bool, has_names=source.has_names, uses_default_columns=source.uses_default_columns
            )
            if source.library is not None:
                _check_types(str, library=source.library)
            if [key for key in _checked_keys(source.names) if key in {*keys}] != keys:
                raise ValueError("'input' must contain the encoded columns in their order")
        return made

    def merge(self, *others: TableStatistics) -> TableStatistics:
        """Return the statistics of the rows of this table and all others."""
        for other in others:
            if name_keys(self.names) != name_keys(other.names):
                raise ValueError(
                    f"all encoders must have the same columns, got {list(self.names)!r} and"
                    f" {list(other.names)!r}; pass the same columns=[...] to all"
                )
        states = (self, *others)
        columns = zip(*(state.columns for state in states), strict=True)
        merged = tuple(
            with_column_context(name, ColumnStatistics.merge, parts)
            for name, parts in zip(self.names, columns, strict=True)
        )
        n_rows = sum(state.n_rows for state in states)
        return TableStatistics(self.names, merged, n_rows, _common_input(states))

    def check_plain(self, consumer: str) -> None:
        """Raise an error if a row of a column has several labels, which `consumer` cannot take."""
        for name, column in zip(self.names, self.columns, strict=True):
            column.check_plain(name, consumer)

    def in_order_of(self, names: tuple[Hashable, ...]) -> TableStatistics:
        """Return a copy with its columns in the order of `names`, which are its names."""
        by_key = dict(zip(name_keys(self.names), self.columns, strict=True))
        return replace(self, names=names, columns=tuple(by_key[key] for key in name_keys(names)))

    def in_schema_order(self) -> TableStatistics:
        """Return a copy with the categories in the order that `ordered` returns.

        A schema made from the copy shares the memory of its categories. A column is unchanged if
        only some of its categories are declared.
        """
        columns = (
            column.ordered() if column.n_declared in (None, len(column.categories)) else column
            for column in self.columns
        )
        return replace(self, columns=tuple(columns))

    def is_same(self, other: TableStatistics) -> bool:
        """Tell whether `other` has the same names, number of rows, categories and counts."""
        mine, others = (
            (
                name_keys(each.names),
                each.n_rows,
                None if each.input is None else name_keys(each.input.names),
            )
            for each in (self, other)
        )
        if mine != others:
            return False
        return all(map(ColumnStatistics.is_same, self.columns, other.columns))


def _check_types(kind: type, **values: Any) -> None:
    """Raise TypeError if a value is not an instance of `kind`."""
    for name, value in values.items():
        if not isinstance(value, kind):
            raise TypeError(f"{name!r} must be {with_article(kind())}, got {with_article(value)}")


def _checked_keys(names: Any) -> list[Hashable]:
    """Return the keys of column names; raise TypeError if they are no tuple of hashable names."""
    _check_types(tuple, names=names)
    hash(names)
    return name_keys(names)


def _common_input(states: Sequence[TableStatistics]) -> InputTable | None:
    """Return the first `input` that is not None; raise an error if two have different columns."""
    known = [state.input for state in states if state.input is not None]
    if not known:
        return None
    counts = [Counter(name_keys(each.names)) for each in known]
    for each, other in zip(known[1:], counts[1:], strict=True):
        keys = [*(counts[0] - other), *(other - counts[0])]
        if keys:
            names = (*known[0].names, *each.names)
            by_key = dict(zip(name_keys(names), names, strict=True))
            different = [by_key[key] for key in keys]
            raise ValueError(
                f"the encoders must be fitted to tables with the same columns, but only some tables"
                f" have the columns {different!r}; fit all encoders to the same columns, or to the"
                f" encoded columns {list(states[0].names)!r} alone"
            )
    return known[0]


# What `Table` has read, as codes: a value in each row, or any number of labels.
CodedRows: TypeAlias = Column | RaggedColumn


def elements_of(rows: CodedRows) -> Column:
    """Return the values of all rows: the column itself, or the labels of all rows."""
    if isinstance(rows, Column):
        return rows
    assert isinstance(rows.elements, Column)  # `RaggedColumn.encode` made it
    return rows.elements


def learn(rows: CodedRows) -> ColumnStatistics:
    """Return the statistics of one column; skip undeclared categories that do not occur."""
    found, column = counted(rows), elements_of(rows)
    if not (column.declared or column.is_conflicting):
        occurring = np.flatnonzero(found.counts)
        if len(occurring) < len(found.categories):
            found = found.take(occurring)
    _check_present(found.categories)
    if column.is_conflicting:
        return replace(found, conflict=True)
    if column.declared:
        # An empty declaration has no order to keep.
        return replace(found, n_declared=len(found.categories) or None)
    return replace(found, categories=found.categories.with_positive_zero())


def _check_present(categories: Categories) -> None:
    """Raise an error if a category is a missing value in NumPy and pandas.

    The lowest time and duration of Arrow and polars, -2**63 units, is NaT there.
    """
    values = categories.values
    if isinstance(values, Strings) or values.dtype != object:
        return
    if not set(map(type, values)) <= NEVER_MISSING and any(map(is_missing, values)):
        raise ValueError(
            "a category must not be a missing value, got NaT, which is how NumPy reads a time or"
            " duration of -2**63 units: replace the value with null before fit"
        )


def counted(rows: CodedRows) -> ColumnStatistics:
    """Return the distinct categories of a column, and the number of rows that have each."""
    column = elements_of(rows)
    # Equal values of different types, such as 1 and 1.0, are one category.
    categories, positions = Categories.of(column.stored), None
    if not column.is_distinct:
        categories, positions = Categories.distinct(column.stored)
    if isinstance(rows, RaggedColumn):
        # A row that has both 1 and 1.0 has one category.
        lut = None if positions is None else lut_of(positions)
        n_rows = dispatch.count_rows(rows.offsets, column.codes, lut, len(categories))
        return ColumnStatistics(categories, n_rows, is_ragged=True, is_split=rows.is_split)
    counts = column.counts
    if counts is None:
        counts = dispatch.count(column.codes, column.n_categories)
    if positions is not None:
        each, counts = counts, np.zeros(len(categories), np.int64)
        np.add.at(counts, positions, each)
    return ColumnStatistics(categories, counts)


def count_missing(rows: CodedRows, found: ColumnStatistics) -> int:
    """Return the number of rows that have a missing value; `found` is the result of `counted`."""
    if isinstance(rows, Column):
        return len(rows) - int(found.counts.sum())
    codes = elements_of(rows).codes
    if codes.dtype.kind == "u":
        return 0
    # The missing labels have the code 0, and all others have the code -1, which does not count.
    is_label = codes >= 0
    return int(dispatch.count_rows(rows.offsets, -is_label.astype(np.int8), None, 1)[0])


def learn_known(rows: CodedRows, known: Categories) -> tuple[ColumnStatistics, Counts]:
    """Return the statistics of the values in `known`, and each category's position in `known`.

    A category of `rows` that is not in `known` has position -1.
    """
    found = counted(rows)
    positions = known.find(found.categories)
    occurring = np.flatnonzero((positions >= 0) & (found.counts > 0))
    if not len(occurring):  # do not keep the type of unknown values
        return ColumnStatistics(is_ragged=found.is_ragged, is_split=found.is_split), positions
    learned = found.take(occurring[np.argsort(positions[occurring])])
    return replace(learned, categories=learned.categories.with_positive_zero()), positions
