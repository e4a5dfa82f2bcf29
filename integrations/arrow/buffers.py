"""ndarrays as Arrow arrays over the same memory: it is given back with the last reference to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = [
    "arrow_type",
    "bit_columns",
    "columns",
    "fixed_size_lists",
    "indices",
    "struct",
    "tensors",
]

AnyArray: TypeAlias = npt.NDArray[Any]


def arrow_type(dtype: np.dtype[Any]) -> pa.DataType:
    """Return the type of Arrow whose values are those of the dtype.

    Raises
    ------
    TypeError
        Arrow has none: it knows neither complex numbers nor bfloat16.
    """
    try:
        return pa.from_numpy_dtype(dtype)
    except (pa.ArrowNotImplementedError, TypeError) as error:
        raise TypeError(
            f"dtype = {dtype} has no type in Arrow; accepted are bool, integers, float16, float32"
            " and float64"
        ) from error


def columns(block: AnyArray) -> list[pa.Array]:
    """Return the rows of a C-contiguous (columns, rows) block of numbers, each as an array."""
    kind = arrow_type(block.dtype)
    n_rows = block.shape[1]
    memory, width = _memory(block), n_rows * block.itemsize
    return [
        pa.Array.from_buffers(kind, n_rows, [None, memory.slice(at * width, width)], 0)
        for at in range(len(block))
    ]


def bit_columns(bits: npt.NDArray[np.uint8], n_rows: int) -> list[pa.Array]:
    """Return the rows of a C-contiguous (columns, bytes) block of bits as Booleans."""
    kind = pa.bool_()
    memory, width = _memory(bits), bits.shape[1]
    return [
        pa.Array.from_buffers(kind, n_rows, [None, memory.slice(at * width, width)], 0)
        for at in range(len(bits))
    ]


def fixed_size_lists(matrix: AnyArray) -> pa.FixedSizeListArray:
    """Return the rows of a C-contiguous matrix of numbers as lists."""
    n_rows, width = matrix.shape
    kind = arrow_type(matrix.dtype)
    items = pa.Array.from_buffers(kind, matrix.size, [None, _memory(matrix)], 0)
    return pa.Array.from_buffers(pa.list_(kind, width), n_rows, [None], 0, children=[items])


def tensors(matrix: AnyArray) -> pa.FixedShapeTensorArray:
    """Return the rows of a C-contiguous matrix of numbers as tensors of one dimension."""
    kind = pa.fixed_shape_tensor(arrow_type(matrix.dtype), [matrix.shape[1]])
    return pa.ExtensionArray.from_storage(kind, fixed_size_lists(matrix))


def indices(places: npt.NDArray[np.int32], dtype: npt.DTypeLike) -> pa.Array:
    """Return places as integers of a width that holds them; a negative one is null."""
    is_valid = places >= 0
    n_null = len(places) - int(np.count_nonzero(is_valid))
    valid = _memory(np.packbits(is_valid, bitorder="little")) if n_null else None
    narrow = places.astype(dtype, copy=False)
    kind = arrow_type(narrow.dtype)
    return pa.Array.from_buffers(kind, len(narrow), [valid, _memory(narrow)], n_null)


def struct(arrays: Sequence[pa.Array], fields: Sequence[pa.Field], n_rows: int) -> pa.StructArray:
    """Return the arrays as the fields of a structure, of which there may be none."""
    children = list(arrays)
    return pa.Array.from_buffers(pa.struct(fields), n_rows, [None], 0, children=children)


def _memory(values: AnyArray) -> pa.Buffer:
    """Return the memory of an array, which nobody can write to through Arrow."""
    view = values.view()
    view.flags.writeable = False
    return pa.py_buffer(view)
