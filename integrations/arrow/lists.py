"""Rows of several labels: the lists of Arrow, where they lie."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast._arrow import reader
from onehot_fast._categories.lists import Rows
from onehot_fast.integrations.arrow.incoming import as_column
from onehot_fast.integrations.arrow.read import read_column
from onehot_fast.integrations.arrow.values import storage

__all__ = ["flat", "read_lists"]

Offsets: TypeAlias = npt.NDArray[np.int64]


def read_lists(rows: Any) -> Rows:
    """Return a column of lists as offsets and flat elements.

    Parameters
    ----------
    rows : Array, ChunkedArray, or an object with the Arrow PyCapsule interface, of n_rows
        Lists of any kind. A null list is empty, whatever lies beneath it.

    Returns
    -------
    Rows
        Row ``i`` has the elements ``offsets[i]:offsets[i + 1]``; those of integers are an array,
        in which a null is -1, all others a `Column`.

    Raises
    ------
    TypeError
        The rows are no lists, or lists of lists.

    Examples
    --------
    >>> read_lists(pa.array([[2, 0], None, [2]]))
    Rows(offsets=array([0, 2, 2, 3]), elements=array([2, 0, 2]))
    """
    offsets, elements = flat(as_column(rows))
    if pa.types.is_integer(elements.type):
        return Rows(offsets, next(reader.read(elements)).codes())
    return Rows(offsets, read_column(elements))


def flat(lists: pa.Array | pa.ChunkedArray) -> tuple[Offsets, pa.Array]:
    """Return where the elements of each list begin, and the end; and all elements in a row."""
    lists = storage(lists)
    kind = lists.type
    if not any(is_kind(kind) for is_kind in LISTS):
        raise TypeError(f"rows have the Arrow type {kind}; accepted are lists")
    if isinstance(lists, pa.ChunkedArray):
        chunks = lists.chunks or [pa.nulls(0, kind)]
        lists = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy()
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets, lists.flatten()


NAMES = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
# The views came with pyarrow 16.
LISTS = [getattr(pa.types, f"is_{name}") for name in NAMES if hasattr(pa.types, f"is_{name}")]
