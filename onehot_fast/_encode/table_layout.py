"""The columns of an encoded or decoded table, in order: those that stay, and those that are new."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._categories.categories import Categories
from onehot_fast._encode.write import recode
from onehot_fast._schema.coded_column import CodedColumn
from onehot_fast._schema.coding import levels
from onehot_fast._schema.schema import Schema
from onehot_fast.table import Table

AnyArray: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class PassThrough:
    """The input column at `position` of the table, as it is."""

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
    """New columns of one dtype that stand side by side: an integration writes them, in one block.

    Attributes
    ----------
    names : tuple of str
        One for each output; there may be none.
    columns : tuple of CodedColumn
        What the functions of ``write`` take.
    dtype : numpy.dtype
        Of all outputs.
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
        Each value that occurs; of dtype object where they are mixed.
    positions : ndarray of integers, shape (n_rows,), optional
        Which of them each row has. Without it, the rows are `distinct` itself.
    """

    name: Hashable
    distinct: AnyArray
    positions: AnyArray | None = None

    @property
    def values(self) -> AnyArray:
        """The value of each row."""
        values: AnyArray = self.distinct
        return values if self.positions is None else values[self.positions]

    def names_in(self, table: Table) -> tuple[Hashable, ...]:
        """Return the name of the column."""
        return (self.name,)


@dataclass(frozen=True, eq=False)
class Categorical:
    """A new column of a dtype of categories.

    Attributes
    ----------
    name : hashable
    codes : ndarray of signed integers, shape (n_rows,)
        -1 where the value is missing.
    categories : Categories
        All of them, whether they occur or not.
    """

    name: Hashable
    codes: AnyArray
    categories: Categories

    def names_in(self, table: Table) -> tuple[Hashable, ...]:
        """Return the name of the column."""
        return (self.name,)


Part: TypeAlias = PassThrough | Outputs | Decoded | Categorical


class EncodedLayout:
    """How the tables of one list of names are encoded; nothing is written.

    The outputs stand in the order of the schema, where the encoded columns stood, also where the
    table has these in another order.

    Parameters
    ----------
    schema : Schema
    names : sequence of hashable
        The columns of the table to encode.

    Attributes
    ----------
    columns : list of PassThrough or OutputRange
        Those of the encoded table.
    memo : dict
        What an integration made for the last of these tables, and needs for the next one.

    Raises
    ------
    ValueError
        A column of the schema is absent or there twice, or two output columns have one name.
    """

    def __init__(self, schema: Schema, names: Sequence[Hashable]) -> None:
        self.memo: dict[str, Any] = {}
        self.columns: list[PassThrough | OutputRange] = []
        encoded = set(schema.positions_in(names))
        if schema.remainder == "drop":
            names = [names[i] for i in sorted(encoded)]
            encoded = set(range(len(names)))
        self._source = names
        schema.check_names(names[i] for i in range(len(names)) if i not in encoded)
        first = 0
        for is_encoded, positions in _runs(len(names), encoded):
            if is_encoded:
                self.columns += _same_dtype(schema, first, first + len(positions))
                first += len(positions)
            else:
                self.columns += map(PassThrough, positions)

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns of the encoded table."""
        names: list[Hashable] = []
        for part in self.columns:
            names += [self._source[part.position]] if isinstance(part, PassThrough) else part.names
        return names

    def parts(self, columns: Sequence[CodedColumn]) -> list[Part]:
        """Return the encoded table, in which the outputs wait to be written."""
        return [
            part
            if isinstance(part, PassThrough)
            else Outputs(part.names, tuple(columns[part.columns]), part.dtype)
            for part in self.columns
        ]


def categorical_parts(
    table: Table, schema: Schema, columns: Sequence[CodedColumn], *, as_text: bool
) -> list[Part]:
    """Return a table with categorical columns where the encoded ones were.

    The outputs of the schema are levels: see `coding.grouping`.
    """
    positions = dict(zip(schema.positions_in(table.names), range(len(columns)), strict=True))
    parts: list[Part] = []
    for position in range(len(table.names)):
        if position in positions:
            i = positions[position]
            known = levels(schema.columns[i], as_text=as_text)
            parts.append(Categorical(schema.columns[i].name, recode(columns[i]), known))
        elif schema.remainder == "passthrough":
            parts.append(PassThrough(position))
    return parts


def _runs(n: int, encoded: set[int]) -> Iterator[tuple[bool, list[int]]]:
    """Yield the positions that stand side by side, and whether they are encoded."""
    run: list[int] = []
    for i in range(n):
        if run and (i in encoded) != (run[-1] in encoded):
            yield run[-1] in encoded, run
            run = []
        run.append(i)
    if run:
        yield run[-1] in encoded, run


def _same_dtype(schema: Schema, first: int, stop: int) -> Iterator[OutputRange]:
    """Yield the ranges of columns that share a dtype, and so a block of memory."""
    for i in range(first + 1, stop + 1):
        dtypes = [schema.columns[j].options.dtype for j in (first, min(i, stop - 1))]
        if i == stop or dtypes[0] != dtypes[1]:
            names = schema.names[schema.starts[first] : schema.starts[i]]
            yield OutputRange(slice(first, i), names, dtypes[0])
            first = i
