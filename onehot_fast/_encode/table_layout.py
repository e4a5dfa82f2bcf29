"""The columns of an encoded or decoded table, in order: those that stay, and those that are new."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._categories.schema import Schema, check_names
from onehot_fast._encode.write import CodedColumn
from onehot_fast.table import Table, column_position

AnyArray: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class PassThrough:
    """The input column at `position` of the table, as it is."""

    position: int


@dataclass(frozen=True)
class OutputRange:
    """The outputs of the columns ``first`` to ``stop - 1`` of a schema, which share a dtype."""

    first: int
    stop: int


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


@dataclass(frozen=True, eq=False)
class Decoded:
    """A new column of decoded values, shape (n_rows,); of dtype object where they are mixed."""

    name: Hashable
    values: AnyArray


Part: TypeAlias = PassThrough | Outputs | Decoded


def table_layout(names: Sequence[Hashable], schema: Schema) -> list[PassThrough | OutputRange]:
    """Return the columns of the encoded table; nothing is written.

    The outputs stand in the order of the schema, where the encoded columns stood, also where the
    table has these in another order.

    Parameters
    ----------
    names : sequence of hashable
        The columns of the table to encode.
    schema : Schema

    Returns
    -------
    list of PassThrough or OutputRange

    Raises
    ------
    ValueError
        A column of the schema is absent or there twice, or two output columns have one name.
    """
    encoded = {column_position(names, column.name) for column in schema.columns}
    if schema.remainder == "drop":
        names = [names[i] for i in sorted(encoded)]
        encoded = set(range(len(names)))
    check_names(schema, (names[i] for i in range(len(names)) if i not in encoded))
    layout: list[PassThrough | OutputRange] = []
    first = 0
    for is_encoded, positions in _runs(len(names), encoded):
        if is_encoded:
            layout += _same_dtype(schema, first, first + len(positions))
            first += len(positions)
        else:
            layout += map(PassThrough, positions)
    return layout


class EncodedLayout:
    """How the tables of one list of names are encoded.

    Attributes
    ----------
    memo : dict
        What an integration made for the last of these tables, and needs for the next one.
    """

    def __init__(self, schema: Schema, names: tuple[Hashable, ...]) -> None:
        self.memo: dict[str, Any] = {}
        self._parts: list[PassThrough | tuple[slice, tuple[str, ...], np.dtype[Any]]] = []
        for part in table_layout(names, schema):
            if isinstance(part, PassThrough):
                self._parts.append(part)
                continue
            outputs = schema.names[schema.starts[part.first] : schema.starts[part.stop]]
            dtype = schema.columns[part.first].options.dtype
            self._parts.append((slice(part.first, part.stop), outputs, dtype))

    def parts(self, columns: Sequence[CodedColumn]) -> list[Part]:
        """Return the encoded table, in which the outputs wait to be written."""
        return [
            part
            if isinstance(part, PassThrough)
            else Outputs(part[1], tuple(columns[part[0]]), part[2])
            for part in self._parts
        ]


def table_names(names: Sequence[Hashable], schema: Schema) -> list[Hashable]:
    """Return the names of the columns of the encoded table."""
    result: list[Hashable] = []
    for part in table_layout(names, schema):
        if isinstance(part, PassThrough):
            result.append(names[part.position])
        else:
            result += schema.names[schema.starts[part.first] : schema.starts[part.stop]]
    return result


def decoded_layout(names: Sequence[Hashable], schema: Schema) -> list[PassThrough | int]:
    """Return the columns of the decoded table: a number is that of a column of the schema.

    A decoded column stands where its first output stood; one without outputs follows the column
    before it in the schema, or stands first.
    """
    owner: dict[Hashable, int] = {
        name: i for i, column in enumerate(schema.columns) for name in column.names
    }
    layout: list[PassThrough | int] = []
    n_decoded = 0
    for position, name in enumerate(names):
        i = owner.get(name)
        if i is None:
            layout.append(PassThrough(position))
        else:
            layout += range(n_decoded, i + 1)
            n_decoded = max(n_decoded, i + 1)
    return [*layout, *range(n_decoded, len(schema.columns))]


def decoded_parts(table: Table, schema: Schema, values: Sequence[AnyArray]) -> list[Part]:
    """Return the table with the outputs of each column replaced by what they stand for."""
    return [
        Decoded(schema.columns[part].name, values[part]) if isinstance(part, int) else part
        for part in decoded_layout(table.names, schema)
    ]


def part_names(table: Table, parts: Sequence[Part]) -> list[Hashable]:
    """Return the names of all columns of a table of parts."""
    names: list[Hashable] = []
    for part in parts:
        if isinstance(part, PassThrough):
            names.append(table.names[part.position])
        else:
            names += part.names if isinstance(part, Outputs) else [part.name]
    return names


def decoded_mapping(table: Table, parts: Sequence[Part]) -> dict[Hashable, AnyArray]:
    """Return decoded columns by their names: the form of a table that needs no library."""
    columns: dict[Hashable, AnyArray] = {}
    for part in parts:
        if isinstance(part, PassThrough):
            columns[table.names[part.position]] = table.values(part.position)
        elif isinstance(part, Decoded):
            columns[part.name] = part.values
    return columns


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
            yield OutputRange(first, i)
            first = i
