"""Axis, shape and size of a result, computed before the memory is allocated."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.indices import as_integer, normalize_depth
from onehot_fast._arguments.messages import human_size, shown
from onehot_fast._runtime import memory, system

LIMIT = sys.maxsize  # bytes and elements of one array
MAX_RANK = 64
ASK_ABOVE = 64 << 20  # bytes; for smaller results the free memory is not checked

Dimension = int | str | None
T = TypeVar("T")


def normalize_axis(axis: int, n_axes: int, of: str, rank: int) -> int:
    """Return `axis` as a position in [0, `n_axes`), or raise an error.

    `of` (e.g. "indices") and `rank` describe the array in the error message.
    """
    position = as_integer(axis, "axis")
    if not -n_axes <= position < n_axes:
        raise ValueError(
            f"axis must be in [{-n_axes}, {n_axes}) for {of} of rank {rank}, got {position}"
        )
    return position % n_axes


def insert_depth(shape: Sequence[T], depth: T, axis: int) -> tuple[T, ...]:
    """Return `shape` with `depth` inserted at the normalized `axis`."""
    return (*shape[:axis], depth, *shape[axis:])


def check_size(shape: Sequence[int], dtype: npt.DTypeLike) -> int:
    """Return the size in bytes of an array that is about to be allocated, or raise an error.

    ValueError means that the rank or the size exceeds NumPy's limits. Like NumPy, this check
    ignores dimensions of 0. MemoryError means that the array is larger than the free memory.
    """
    dtype = np.dtype(dtype)
    if len(shape) > MAX_RANK:
        raise ValueError(f"the result must have at most {MAX_RANK} dimensions, got {len(shape)}")
    elements = math.prod(size for size in shape if size)
    n_bytes = elements * dtype.itemsize
    if max(elements, n_bytes) > LIMIT:
        raise ValueError(
            f"the result is too big: shape {tuple(shape)} with {elements} elements"
            f"{' (not counting dimensions of 0)' if 0 in shape else ''} of {dtype.itemsize} bytes"
            f" needs {n_bytes} bytes, more than 2**{LIMIT.bit_length()} - 1"
        )
    if 0 in shape:
        return 0
    if n_bytes > ASK_ABOVE and not memory.is_kept(n_bytes):
        _check_memory(tuple(shape), dtype, elements, n_bytes)
    return n_bytes


def known_depth(depth: Any) -> Dimension:
    """Return a depth that may be symbolic (a str) or unknown (None, an empty array)."""
    if depth is None or isinstance(depth, str):
        return depth
    return normalize_depth(depth) if np.size(depth) else None


def known_dimensions(shape: Iterable[Any]) -> tuple[Dimension, ...]:
    """Return `shape` as a tuple, in which -1, an unknown dimension, becomes None.

    Raise an error unless each item is an int >= -1, a str or None.
    """
    if isinstance(shape, str) or not isinstance(shape, Iterable):
        raise TypeError(
            f"indices_shape must be None or a sequence of int, str or None, got {shown(shape)}"
        )
    dimensions = [*shape]
    for i, size in enumerate(dimensions):
        if size is not None and not isinstance(size, str):
            dimensions[i] = as_integer(size, f"indices_shape[{i}]")
            if dimensions[i] < -1:
                raise ValueError(
                    f"indices_shape[{i}] must be at least 0, or -1 or None if it is unknown, got"
                    f" {dimensions[i]}"
                )
            dimensions[i] = None if dimensions[i] == -1 else dimensions[i]
    return tuple(dimensions)


def _check_memory(
    shape: tuple[int, ...], dtype: np.dtype[Any], elements: int, n_bytes: int
) -> None:
    """Raise an error if the result exceeds the free memory, and suggest smaller outputs."""
    free = system.available_memory()
    if free is not None and n_bytes > free and memory.empty_cache():
        free = system.available_memory()
    if free is None or n_bytes <= free:
        return
    smaller = "a sparse format"
    if dtype.itemsize > 1:
        smaller = f"dtype=bool ({human_size(elements)}) or {smaller}"
    raise MemoryError(
        f"the result needs {human_size(n_bytes)} (shape {shape}, {dtype}), but only"
        f" {human_size(free)} are free; smaller: {smaller}"
    )
