"""What the core asks of every library: the columns of an output table, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from onehot_fast.column import Block, Kept, Table
from onehot_fast.integrations.arrow import buffers
from onehot_fast.integrations.arrow.batches import table_of
from onehot_fast.integrations.arrow.metadata import metadata_without

__all__ = ["wrap"]

Piece: TypeAlias = Kept | Block
Named: TypeAlias = tuple[pa.Field, Any]


def wrap(table: Table, pieces: Sequence[Piece]) -> pa.Table:
    """Return the table of the pieces, in their order.

    Parameters
    ----------
    table : Table
        Of any library.
    pieces : sequence of Kept or Block
        Columns that are kept are shared with their fields and metadata, the memory of blocks is
        taken over; the values of a block may also be a list of arrays from `block`.

    Returns
    -------
    pyarrow.Table of table.n_rows

    Raises
    ------
    TypeError, ValueError
        A column holds objects that are no values of Arrow, or of no single type.

    Examples
    --------
    >>> table = Table(("n",), 2, (False,), lambda _: None, lambda _: np.array([1, 2]))
    >>> wrap(table, [Block(("a",), np.array([[True, False]])), Kept(0)]).to_pydict()
    {'a': [True, False], 'n': [1, 2]}
    """
    source = table.source if isinstance(table.source, pa.Table) else None
    named: list[Named] = []
    for piece in pieces:
        if isinstance(piece, Block):
            named += _new(piece)
        elif source is not None:
            named.append((source.field(piece.position), source.column(piece.position)))
        else:
            named.append(_kept(table, piece.position))
    metadata = None
    if source is not None:
        kept = {piece.position for piece in pieces if isinstance(piece, Kept)}
        changed = {name for at, name in enumerate(source.column_names) if at not in kept}
        metadata = metadata_without(source.schema.metadata, changed)
    schema = pa.schema([field for field, _ in named], metadata)
    return table_of([values for _, values in named], schema, table.n_rows)


def _new(block: Block) -> Iterator[Named]:
    """Yield the columns of a block."""
    if isinstance(block.values, list):
        arrays = block.values
    elif block.values.dtype.kind in "iuf":
        arrays = buffers.columns(np.ascontiguousarray(block.values))
    else:
        arrays = [
            _array(values, name) for name, values in zip(block.names, block.values, strict=True)
        ]
    nullable = not isinstance(block.values, list)
    for name, values in zip(block.names, arrays, strict=True):
        yield pa.field(str(name), values.type, nullable), values


def _kept(table: Table, position: int) -> Named:
    """Return a column of another library."""
    name = table.names[position]
    values = _array(table.values(position), name)
    return pa.field(str(name), values.type), values


def _array(values: npt.NDArray[Any], name: object) -> pa.Array:
    """Return values of one column; among objects NaN is null, as pandas means it."""
    try:
        return pa.array(values, from_pandas=values.dtype == object)
    except (pa.ArrowException, OverflowError) as error:
        raise TypeError(f"column {name!r} has no type in Arrow: {error}") from error
