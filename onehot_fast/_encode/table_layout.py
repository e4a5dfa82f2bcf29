"""The columns of an encoded or decoded table, in order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._categories.categories import Categories
from onehot_fast._categories.keys import is_missing, key, plain
from onehot_fast._runtime.utils import cached_property
from onehot_fast._schema.coded_column import CodedColumn
from onehot_fast._schema.column_schema import ColumnSchema
from onehot_fast._schema.lookup import code_table
from onehot_fast._schema.reports import check_dense
from onehot_fast._schema.schema import ColumnOrder, Schema, categories_of_outputs
from onehot_fast.table import Table

AnyArray: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class PassThrough:
    """The unchanged column at `position` of the table."""

    position: int

    def names_in(self, table: Table) -> tuple[Hashable, ...]:
        """Return the name of the column."""
        return (table.names[self.position],)


class OutputRange(NamedTuple):
    """The outputs of the columns ``schema.columns[columns]``, which share a dtype."""

    columns: slice
    names: tuple[str, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True, eq=False)
class Outputs:
    """Neighbouring features of one dtype, which an integration writes in one block.

    Attributes
    ----------
    names : tuple of str
        One for each feature; may be empty.
    columns : tuple of CodedColumn
        The arguments of the functions of ``write``.
    dtype : numpy.dtype
        The dtype of all features.
    """

    names: tuple[str, ...]
    columns: tuple[CodedColumn, ...]
    dtype: np.dtype[Any]

    def names_in(self, table: Table) -> tuple[Hashable, ...]:
        """Return the names of the columns."""
        return self.names


@dataclass(frozen=True, eq=False)
class Decoded:
    """A new column of decoded values.

    Attributes
    ----------
    name : hashable
    distinct : ndarray, shape (n_distinct,)
        Each value that occurs; of dtype object if they are mixed.
    positions : ndarray of integers, shape (n_rows,), optional
        The position in `distinct` for each row; by default the rows are `distinct` itself.
    schema : ColumnSchema, optional
        The fitted column, whose types are restored by their library.
    """

    name: Hashable
    distinct: AnyArray
    positions: AnyArray | None = None
    schema: ColumnSchema | None = None

    def types_in(self, library: str) -> list[str]:
        """Return the names of the fitted types that belong to a library."""
        names = () if self.schema is None else sorted(self.schema.types)
        return [name.partition(":")[2] for name in names if name.startswith(f"{library}:")]

    def holds(self, values: Iterable[Any]) -> bool:
        """Tell whether converted values equal the distinct values, including missing ones."""
        return _identities(values) == _identities(self.distinct)

    @property
    def values(self) -> AnyArray:
        """The value of each row."""
        values: AnyArray = self.distinct
        return values if self.positions is None else values[self.positions]

    def names_in(self, table: Table) -> tuple[Hashable, ...]:
        """Return the name of the column."""
        return (self.name,)


def _identities(values: Iterable[Any]) -> list[Hashable]:
    """Return an object for each value, which is equal for equal values; None if missing."""
    return [None if is_missing(value) else key(plain(value)) for value in values]


@dataclass(frozen=True, eq=False)
class Categorical:
    """A new column of a dtype of categories.

    Attributes
    ----------
    name : hashable
    codes : ndarray of signed integers, shape (n_rows,)
        -1 where the value is missing.
    categories : Categories
        All categories, also those that do not occur.
    """

    name: Hashable
    codes: AnyArray
    categories: Categories

    def names_in(self, table: Table) -> tuple[Hashable, ...]:
        """Return the name of the column."""
        return (self.name,)


Part: TypeAlias = PassThrough | Outputs | Decoded | Categorical


class EncodedLayout:
    """The columns of the tables and matrices that `transform` makes of tables with these names.

    `Schema.column_order` decides the order; the features of a column take its place.

    Parameters
    ----------
    schema : Schema
    names : sequence of hashable
        The columns of the table to encode.

    Attributes
    ----------
    order : ColumnOrder
    columns : list of PassThrough or OutputRange
        The columns of the encoded table.
    matrix_columns : list of PassThrough or OutputRange
        The columns of a matrix: without those that `fit` did not see.
    memo : dict
        Objects of an integration that it reuses for the next of these tables.

    Raises
    ------
    ValueError
        A column of the schema is absent or duplicated, or two columns of the result have one name.
    """

    def __init__(self, schema: Schema, names: Sequence[Hashable]) -> None:
        self.memo: dict[str, Any] = {}
        self._schema, self._source = schema, names
        self.order: ColumnOrder = schema.column_order(names)
        index_of = {position: i for i, position in enumerate(schema.positions_in(names))}
        schema.check_names(names[i] for i in self.order.positions if i not in index_of)
        self.columns: list[PassThrough | OutputRange] = []
        for is_encoded, run in groupby(self.order.positions, index_of.__contains__):
            if is_encoded:
                indices = [index_of[position] for position in run]
                self.columns += _same_dtype(schema, indices[0], indices[-1] + 1)
            else:
                self.columns += map(PassThrough, run)
        self.matrix_columns: list[PassThrough | OutputRange] = [
            part
            for part in self.columns
            if not (isinstance(part, PassThrough) and part.position in self.order.unseen)
        ]

    def check_table(self) -> None:
        """Reject too many features of default columns, and warn about columns that are absent."""
        check_dense(self._schema)
        self.order.warn_if_absent()

    def names_of(self, columns: Sequence[PassThrough | OutputRange]) -> list[Hashable]:
        """Return the names of some of the columns."""
        names: list[Hashable] = []
        for part in columns:
            names += [self._source[part.position]] if isinstance(part, PassThrough) else part.names
        return names

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns of the encoded table."""
        return self.names_of(self.columns)

    @cached_property
    def others(self) -> list[tuple[int, int]]:
        """The output column of each other column of a matrix, and its position in the table."""
        others, output = [], 0
        for part in self.matrix_columns:
            if isinstance(part, PassThrough):
                others.append((output, part.position))
            output += 1 if isinstance(part, PassThrough) else len(part.names)
        return others

    def code(self, table: Table) -> list[CodedColumn]:
        """Return the encoded columns of a table as codes."""
        return code_table(table, self._schema)

    def parts(self, columns: Sequence[CodedColumn]) -> list[Part]:
        """Return the columns of the encoded table; their features are not written yet."""
        return [
            part
            if isinstance(part, PassThrough)
            else Outputs(part.names, tuple(columns[part.columns]), part.dtype)
            for part in self.columns
        ]


def matrix_parts(table: Table, schema: Schema) -> tuple[np.dtype[Any], list[tuple[int, AnyArray]]]:
    """Return the dtype of a matrix, and the position and values of its columns without features.

    Raises
    ------
    ValueError
        The table lacks such a column, one of them is not numeric, or there is no common dtype.
    """
    if not schema.has_other_columns:
        return schema.dtype, []
    layout = schema.cached_for(table.names, EncodedLayout)
    layout.order.check_absent()
    others = [(output, _numbers(table, position)) for output, position in layout.others]
    try:
        return np.result_type(schema.dtype, *(values.dtype for _, values in others)), others
    except TypeError as error:
        raise ValueError(
            f"the features of dtype {schema.dtype} and the other columns have no common dtype"
            f" ({error}): pass another dtype=, or remainder='drop' for the features alone"
        ) from None


def matrix_names(schema: Schema, names: Sequence[Hashable]) -> list[str]:
    """Return the names of the columns of a matrix of a table."""
    layout = EncodedLayout(schema, names)
    return [*map(str, layout.names_of(layout.matrix_columns))]


def _numbers(table: Table, position: int) -> AnyArray:
    """Return a column for a matrix, or raise an error if it is not numeric."""
    values = table.numbers(position)
    if values is None:
        name = table.names[position]
        kind = table.type_of(position).partition(":")[2] or table.values(position).dtype
        raise ValueError(
            f"column {name!r} is not numeric (dtype {kind}), and a matrix includes only Boolean,"
            " integer and float columns: encode it with columns=[...], drop all columns that are"
            " not encoded with remainder='drop', or return a table, e.g. with output='pandas'"
        )
    return values


def categorical_parts(
    table: Table, schema: Schema, columns: Sequence[CodedColumn], *, as_text: bool
) -> list[Part]:
    """Return a table with categorical columns where the encoded ones were.

    The outputs of the schema are levels: see `categorical_schema`.
    """
    order = schema.cached_for(table.names, Schema.column_order)
    order.warn_if_absent()
    positions = dict(zip(schema.positions_in(table.names), range(len(columns)), strict=True))
    parts: list[Part] = []
    for position in order.positions:
        if position in positions:
            i = positions[position]
            known = categories_of_outputs(schema.columns[i], as_text=as_text)
            parts.append(Categorical(schema.columns[i].name, columns[i].outputs(), known))
        else:
            parts.append(PassThrough(position))
    return parts


def _same_dtype(schema: Schema, first: int, stop: int) -> Iterator[OutputRange]:
    """Yield the ranges of columns that share a dtype and a block of memory."""
    for i in range(first + 1, stop + 1):
        dtypes = [schema.columns[j].options.dtype for j in (first, min(i, stop - 1))]
        if i == stop or dtypes[0] != dtypes[1]:
            names = schema.names[schema.starts[first] : schema.starts[i]]
            yield OutputRange(slice(first, i), names, dtypes[0])
            first = i
