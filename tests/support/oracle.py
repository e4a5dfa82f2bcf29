"""The operator, slow and obvious: what every fast path is held against.

Two rules keep it honest. An index becomes a Python integer before it is compared, so no type is too
narrow for it. An element is selected as opaque bytes, never computed, so no NaN or sign is lost.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def class_of(
    index: float, depth: int, negative: str = "ignore", ignore_index: int | None = None
) -> int | None:
    """Return the class one index lights, or None; `index` is a Python int or float."""
    if isinstance(index, float):
        if not -(2.0**63) < index < 2.0**63:  # NaN fails both comparisons
            return None
        index = math.trunc(index)
    if index == ignore_index:
        return None
    if index < 0 and negative == "normalize":
        index += depth
    return index if 0 <= index < depth else None


def one_hot(
    indices: np.ndarray,
    depth: int,
    on: Any,
    off: Any,
    axis: int = -1,
    negative: str = "ignore",
    ignore_index: int | None = None,
) -> np.ndarray:
    """Encode `indices`; `on` and `off` are 0-d arrays or typed scalars of one dtype."""
    found = [class_of(k, depth, negative, ignore_index) for k in indices.ravel().tolist()]
    classes = np.array([-1 if k is None else k for k in found], np.int64).reshape(indices.shape)
    lit = classes[..., np.newaxis] == np.arange(depth, dtype=np.int64)
    lit = np.ascontiguousarray(np.moveaxis(lit, -1, axis))
    off, on = np.asarray(off), np.asarray(on)
    if off.dtype.hasobject:
        pair = np.empty(2, off.dtype)
        pair[0], pair[1] = off[()], on[()]
        return pair[lit.astype(np.intp)]
    pair = np.frombuffer(off.tobytes() + on.tobytes(), f"V{off.dtype.itemsize}")
    return pair[lit.astype(np.intp)].view(off.dtype)


def decode(
    tensor: np.ndarray, on: Any, axis: int = -1, default: Any = -1, multiple: str = "error"
) -> np.ndarray:
    """Return the first position along `axis` that holds `on`, as int64."""
    rows = np.moveaxis(tensor, axis, -1)
    hits = agree(rows, np.asarray(on))
    counts = hits.sum(axis=-1)
    if default == "error" and (counts == 0).any():
        raise ValueError("a row has no on")
    if multiple == "error" and (counts > 1).any():
        raise ValueError("a row has more than one on")
    flat = hits.reshape(math.prod(rows.shape[:-1]), rows.shape[-1])
    for row in rows[counts == 0] if rows.shape[-1] else []:
        same = agree(row, np.full(row.shape, row[0], row.dtype))
        if row.dtype.kind in "biufc":
            same |= (row == row[0]) | ((row != row) & (row[0] != row[0]))
        if not same.all():
            raise ValueError("a row has no on and elements that differ")
    first = [next(iter(np.flatnonzero(row)), default) for row in flat]
    return np.array(first, np.int64).reshape(rows.shape[:-1])


def as_bytes(array: np.ndarray) -> np.ndarray:
    """Return elements without references as a trailing axis of bytes, without any padding."""
    width = array.dtype.itemsize
    raw = np.ascontiguousarray(array.view(f"V{width}")).tobytes()
    if array.dtype.char in "gG" and np.finfo(np.longdouble).nmant == 63:  # 80 bits
        size = np.dtype(np.longdouble).itemsize
        parts = np.frombuffer(raw, np.uint8).reshape(*array.shape, width // size, size)
        counted = parts[..., :10] if array.dtype.isnative else parts[..., -10:]
        return counted.reshape(*array.shape, width // size * 10)
    return np.frombuffer(raw, np.uint8).reshape(*array.shape, width)


def agree(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return where elements have the same bits; references are identical, else equal."""
    if one.dtype.names:  # NumPy does not copy the padding between fields, so it is not compared
        return np.logical_and.reduce([agree(one[name], other[name]) for name in one.dtype.names])
    if not one.dtype.hasobject:
        return (as_bytes(one) == as_bytes(other)).all(axis=-1)
    one, other = np.broadcast_arrays(one.astype(object), other.astype(object))
    pairs = zip(one.ravel().tolist(), other.ravel().tolist(), strict=True)
    return np.array([a is b or a == b for a, b in pairs], bool).reshape(one.shape)


def assert_same(actual: Any, expected: np.ndarray) -> None:
    """Compare type, dtype, shape and elements, exactly."""
    assert type(actual) is type(expected)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    different = np.argwhere(~agree(actual, expected)).tolist()
    if different:
        i = tuple(different[0])
        shown = f"{actual[i]!r}, expected {expected[i]!r}"
        raise AssertionError(f"{len(different)} elements differ, the first at {i}: {shown}")
