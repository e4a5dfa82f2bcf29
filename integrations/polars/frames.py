"""polars out: codes become columns over the memory that the kernel wrote."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from onehot_fast._arguments import shapes
from onehot_fast._arrow.block import ArrowBlock
from onehot_fast._encode import outputs
from onehot_fast._encode.outputs import Coded
from onehot_fast._runtime import dispatch, memory, parallel
from onehot_fast.integrations.polars.dtypes import element_of

__all__ = ["as_struct", "block", "numbered"]


def block(coded: Coded, first: int, stop: int) -> ArrowBlock:
    """Return the outputs of consecutive columns as an Arrow struct array.

    Parameters
    ----------
    coded : Coded
        The rows to encode.
    first, stop : int
        The first column of the schema, and the one behind the last. All have one dtype.

    Returns
    -------
    ArrowBlock
        Over one block of memory, which is its own. Booleans are bit-packed. The fields are
        numbered.

    Raises
    ------
    TypeError
        If polars has no such numbers.
    MemoryError
        If the result cannot fit in memory, before it is allocated.
    """
    starts = coded.schema.starts
    return _write(coded, first, stop, numbered(starts[stop] - starts[first]))


def as_struct(coded: Coded, name: str) -> pl.Series:
    """Return the outputs of one column as the fields of a Struct.

    Parameters
    ----------
    coded : Coded
        The rows to encode, of one column.
    name : str
        Of the Series.

    Returns
    -------
    polars.Series of Struct, of n_rows
        Without nulls; its fields share one block of memory.

    Raises
    ------
    TypeError, MemoryError
        As for `block`.
    """
    names = coded.schema.names
    if "\0" in "".join(names):  # which ends a name in C
        fields = pl.Series(block(coded, 0, 1))
        return fields.struct.rename_fields(list(names)).alias(name)
    return pl.Series(name, _write(coded, 0, 1, names))


def numbered(n: int) -> list[str]:
    """Return names that are no names yet."""
    return [str(position) for position in range(n)]


def _write(coded: Coded, first: int, stop: int, names: Sequence[str]) -> ArrowBlock:
    """Return the outputs of consecutive columns by these names."""
    dtype = coded.schema.columns[first].options.dtype
    form = element_of(dtype).format
    if dtype == np.dtype(bool):
        return ArrowBlock(names, _bits(coded, first, stop), coded.n_rows, form, 1)
    values = outputs.block(coded, first, stop)
    return ArrowBlock(names, values, coded.n_rows, form, 8 * dtype.itemsize)


def _bits(coded: Coded, first: int, stop: int) -> npt.NDArray[np.uint8]:
    """Return the outputs of consecutive columns as rows of bits, the lowest first."""
    starts = coded.schema.starts
    base = starts[first]
    shape = (starts[stop] - base, -(-coded.n_rows // 8))
    shapes.check_size(shape, np.uint8)
    bits, _ = memory.allocate(shape, np.dtype(np.uint8))
    for at in range(first, stop):
        part = bits[starts[at] - base : starts[at + 1] - base]
        threads = parallel.resolve(None, part.nbytes)
        dispatch.encode_bits(coded.codes[at], coded.tables[at], part, threads, first=starts[at])
    return bits
