"""The columns of an output table, in order: those that are kept, and those that are new."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy.typing as npt

from onehot_fast._categories.schema import Schema, check_names
from onehot_fast._encode.outputs import Coded, block
from onehot_fast.column import Block, Kept, Table

AnyArray: TypeAlias = npt.NDArray[Any]
Piece: TypeAlias = Kept | Block


def encoded_pieces(
    table: Table, coded: Coded, write: Callable[[Coded, int, int], Any] = block
) -> list[Piece]:
    """Return the table with its encoded columns replaced by their outputs.

    The outputs stand in the order of the schema, also where the table has another one. `write`
    makes those of consecutive columns (from one to before another) what the blocks hold.
    """
    schema = coded.schema
    encoded = {table.position(column.name) for column in schema.columns}
    kept = [at for at in range(len(table.names)) if at not in encoded]
    check_names(schema, (table.names[at] for at in kept))
    pieces: list[Piece] = []
    done = 0
    for is_encoded, positions in _runs(len(table.names), encoded):
        if not is_encoded:
            pieces += map(Kept, positions)
            continue
        stop = done + len(positions)
        pieces += (_block(coded, *part, write) for part in _same_dtype(schema, done, stop))
        done = stop
    return pieces


def _runs(n: int, encoded: set[int]) -> Iterator[tuple[bool, list[int]]]:
    """Yield the positions that stand side by side, and whether they are encoded."""
    run: list[int] = []
    for at in range(n):
        if run and (at in encoded) != (run[-1] in encoded):
            yield run[-1] in encoded, run
            run = []
        run.append(at)
    if run:
        yield run[-1] in encoded, run


def _same_dtype(schema: Schema, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of schema columns that share a dtype, and so a block."""
    for at in range(start + 1, stop + 1):
        dtypes = [schema.columns[i].options.dtype for i in (start, min(at, stop - 1))]
        if at == stop or dtypes[0] != dtypes[1]:
            yield start, at
            start = at


def _block(coded: Coded, first: int, stop: int, write: Callable[[Coded, int, int], Any]) -> Block:
    """Return the outputs of some columns."""
    starts = coded.schema.starts
    names = coded.schema.names[starts[first] : starts[stop]]
    return Block(names, write(coded, first, stop))


def decoded_pieces(table: Table, schema: Schema, values: Sequence[AnyArray]) -> list[Piece]:
    """Return the table with the outputs of each column replaced by what they stand for.

    A column without outputs follows the one before it in the schema, or stands first.
    """
    owner: dict[Hashable, int] = {
        name: at for at, column in enumerate(schema.columns) for name in column.names
    }
    pieces: list[Piece] = []
    done = 0
    for position, name in enumerate(table.names):
        at = owner.get(name)
        if at is None:
            pieces.append(Kept(position))
            continue
        pieces += (_decoded(schema, values, one) for one in range(done, at + 1))
        done = max(done, at + 1)
    rest = range(done, len(schema.columns))
    return pieces + [_decoded(schema, values, one) for one in rest]


def _decoded(schema: Schema, values: Sequence[AnyArray], at: int) -> Block:
    """Return one decoded column."""
    return Block((schema.columns[at].name,), values[at].reshape(1, -1))


def as_mapping(table: Table, pieces: Sequence[Piece]) -> dict[Hashable, AnyArray]:
    """Return the columns by their names: the form of a table that needs no library."""
    columns: dict[Hashable, AnyArray] = {}
    for piece in pieces:
        if isinstance(piece, Kept):
            columns[table.names[piece.position]] = table.values(piece.position)
        else:
            columns.update(zip(piece.names, piece.values, strict=True))
    return columns
