"""The columns of an encoded or decoded table, in their order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._categories.categories import Categories
from onehot_fast._categories.keys import is_missing, key, plain
from onehot_fast._categories.label_lists import lists_of
from onehot_fast._pipeline.code import Coded
from onehot_fast._runtime.cache import Cache
from onehot_fast._runtime.registry import wrappers
from onehot_fast._runtime.utils import cached_property, collector_paused
from onehot_fast._schema.coded_column import CodedColumn
from onehot_fast._schema.column_schema import MAX_OF_LIBRARIES, ColumnSchema
from onehot_fast._schema.schema import ColumnOrder, Schema, categories_of_features
from onehot_fast.table import Table

AnyArray: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class OneColumn:
    """A part of a table that is one column."""

    name: Hashable

    @property
    def names(self) -> tuple[Hashable]:
        """The name of the column, as the only item of a tuple."""
        return (self.name,)


@dataclass(frozen=True, eq=False)
class PassThrough(OneColumn):
    """The column at `position` of the input table, which the result contains unchanged."""

    position: int


class FeatureRange(NamedTuple):
    """The output columns of ``schema.columns[columns]``, which have the same dtype."""

    columns: slice
    names: tuple[str, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True, eq=False)
class FeatureBlock:
    """Adjacent features of one dtype, which an integration writes in one block."""

    names: tuple[str, ...]  # one name per feature; may be empty
    columns: tuple[CodedColumn, ...]  # the columns to pass to the functions of `write`
    dtype: np.dtype[Any]


@dataclass(frozen=True, eq=False)
class Decoded(OneColumn):
    """A new column of decoded values."""

    distinct: AnyArray  # the values that occur; of dtype object if they have several types
    positions: AnyArray  # the index in `distinct` of each row's value
    schema: ColumnSchema  # the fitted column, whose types the integration restores

    def types_in(self, library: str) -> list[str]:
        """Return the types of a library, such as "pandas", that the column had in `fit`."""
        names = sorted(self.schema.types)
        return [name.partition(":")[2] for name in names if name.startswith(f"{library}:")]

    def with_types(self, types: Iterable[str]) -> Decoded:
        """Return the column as if `fit` had read it with these results of `Table.type_of`."""
        learned = replace(self.schema.learned, types=frozenset(types))
        return replace(self, schema=replace(self.schema, learned=learned))

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.positions)

    def holds(self, values: Iterable[Any]) -> bool:
        """Tell whether `values` equals `distinct`; missing values equal each other."""
        return identities(values) == identities(self.distinct)


@dataclass(frozen=True, eq=False)
class DecodedLists(OneColumn):
    """A new column of decoded lists of labels."""

    labels: Decoded  # the labels of all rows; `schema` has the types of the lists
    offsets: npt.NDArray[np.int64]  # row i has the labels offsets[i]:offsets[i + 1]
    is_missing: npt.NDArray[np.bool_]  # for each row; such a row has no labels

    def with_types(self, types: Iterable[str]) -> DecodedLists:
        """Return the column as if `fit` had read it with these results of `Table.type_of`."""
        return replace(self, labels=self.labels.with_types(types))

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.is_missing)

    def tolist(self) -> list[list[Any] | None]:
        """Return the rows as lists of Python objects, and None for missing rows."""
        distinct = [plain(value) for value in self.labels.distinct.tolist()]
        positions = self.labels.positions.astype(np.int64, copy=False)
        with collector_paused():
            return lists_of(distinct, positions, self.offsets, self.is_missing.view(np.uint8))


def identities(values: Iterable[Any]) -> list[Hashable]:
    """Return hashable keys by which values can be compared; a missing value becomes None."""
    return [None if is_missing(value) else key(plain(value)) for value in values]


@dataclass(frozen=True, eq=False)
class Categorical(OneColumn):
    """A new categorical column."""

    codes: AnyArray  # the position in `categories` of each row's value, or -1 if it is missing
    categories: Categories  # including categories that do not occur


# A column, or adjacent features, of a table that an integration creates.
Part: TypeAlias = PassThrough | FeatureBlock | Decoded | DecodedLists | Categorical


class EncodedLayout:
    """The columns that `transform` returns for tables with the column names `names`.

    `Schema.column_order` determines the order. Features replace the column that they encode.
    Raise a ValueError if a column of the schema is absent or duplicated, or if two output columns
    have the same name.
    """

    def __init__(self, schema: Schema, names: Sequence[Hashable]) -> None:
        # What an integration makes for the next table with these names, by a key that names it.
        self.of_library: Cache[Any] = Cache(MAX_OF_LIBRARIES)
        self.order: ColumnOrder = schema.column_order(names)
        index_of = {position: i for i, position in enumerate(schema.positions_in(names))}
        schema.check_names(names[i] for i in self.order.positions if i not in index_of)
        self.columns: list[PassThrough | FeatureRange] = []

        def kind(position: int) -> tuple[bool, Any]:
            index = index_of.get(position, -1)
            return (True, schema.columns[index].options.dtype) if index >= 0 else (False, None)

        for (is_encoded, dtype), run in groupby(self.order.positions, kind):
            if is_encoded:
                indices = [index_of[position] for position in run]
                first, stop = indices[0], indices[-1] + 1
                names_of_range = schema.names[schema.starts[first] : schema.starts[stop]]
                self.columns.append(FeatureRange(slice(first, stop), names_of_range, dtype))
            else:
                self.columns += [PassThrough(names[position], position) for position in run]
        # A matrix has no columns that were not seen in `fit`.
        self.matrix_columns: list[PassThrough | FeatureRange] = [
            part
            for part in self.columns
            if not (isinstance(part, PassThrough) and part.position in self.order.new_columns)
        ]

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns of the encoded table."""
        return [name for part in self.columns for name in part.names]

    @property
    def matrix_names(self) -> list[Hashable]:
        """The names of the columns of the encoded matrix."""
        return [name for part in self.matrix_columns for name in part.names]

    @cached_property
    def others(self) -> list[tuple[int, int]]:
        """Pairs of positions, in the matrix and in the table, of columns that are not encoded."""
        others, place = [], 0
        for part in self.matrix_columns:
            if isinstance(part, PassThrough):
                others.append((place, part.position))
            place += len(part.names)
        return others

    def parts(self, columns: Sequence[CodedColumn]) -> list[Part]:
        """Describe each column of the encoded table; no feature is computed yet."""
        return [
            part
            if isinstance(part, PassThrough)
            else FeatureBlock(part.names, tuple(columns[part.columns]), part.dtype)
            for part in self.columns
        ]


class MatrixLayout(NamedTuple):
    """The dtype of an encoded matrix, and its columns that are not encoded."""

    dtype: np.dtype[Any]
    others: list[tuple[int, AnyArray]]  # the position in the matrix and the values of each


def matrix_layout(table: Table, schema: Schema) -> MatrixLayout:
    """Return the layout of the encoded matrix; raise an error if a column has no place in it."""
    if not schema.has_other_columns:
        return MatrixLayout(schema.dtype, [])
    layout = schema.cached_for(table.names, EncodedLayout)
    layout.order.check_absent()
    others = [(place, _numbers(table, position)) for place, position in layout.others]
    try:
        dtype = np.result_type(schema.dtype, *(values.dtype for _, values in others))
    except TypeError as error:
        raise ValueError(
            f"the features have dtype {schema.dtype}, which has no common dtype with the columns"
            f" that are not encoded ({error}): create the Encoder with another dtype=, or with"
            " remainder='drop' to return only the features"
        ) from None
    return MatrixLayout(dtype, others)


def matrix_names(schema: Schema, names: Sequence[Hashable]) -> list[str]:
    """Return the column names of the matrix, for a table with the column names `names`."""
    return [*map(str, EncodedLayout(schema, names).matrix_names)]


def _numbers(table: Table, position: int) -> AnyArray:
    """Return the values of a column; raise an error if the column is not numeric."""
    table.check_complete([position])
    values = table.numbers(position)
    if values is None:
        name = table.names[position]
        kind = table.type_of(position).partition(":")[2]
        if not kind or "://" in kind:  # the name of a nested type is encoded
            kind = str(table.to_numpy(position).dtype)
        raise ValueError(
            f"column {name!r} is not numeric (dtype {kind}), but a matrix includes only Boolean,"
            " integer and float columns: convert or drop the column before fit, encode it with"
            " columns=[...], or pass remainder='drop' (to a fitted encoder:"
            " encoder.set_params(remainder='drop')) to leave out all columns that are not encoded"
        )
    return values


def categorical_order(table: Table, schema: Schema) -> ColumnOrder:
    """Return the order of the columns of a table in which categorical columns are encoded."""
    if table.library == "numpy":
        raise ValueError(
            f"output='category' needs a table of {', '.join(wrappers())}, because mappings and"
            " arrays have no categorical dtype; pass output='codes' for integer codes"
        )
    order = schema.cached_for(table.names, Schema.column_order)
    order.warn_if_absent()
    return order


def categorical_parts(coded: Coded, order: ColumnOrder, *, as_text: bool) -> list[Part]:
    """Return the columns of a table in which categorical columns replace the encoded columns.

    The table was coded with `Schema.of_categories`.
    """
    names, schema = coded.table.names, coded.schema
    parts: list[Part] = [PassThrough(name, i) for i, name in enumerate(names)]
    positions = schema.positions_in(names)
    for position, column, codes in zip(positions, schema.columns, coded.columns, strict=True):
        known = categories_of_features(column, as_text=as_text)
        parts[position] = Categorical(column.name, codes.features(), known)
    return [parts[position] for position in order.positions]
