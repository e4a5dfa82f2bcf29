"""Conversion and checks of indices and of depth.

The caller's indices are never changed. An array that the kernels cannot read (foreign byte order,
strides, float16) is copied; all other arrays are used without a copy.
"""

import operator
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import as_array, as_scalar, is_container, items_of
from onehot_fast._arguments.messages import shown
from onehot_fast._kernels import dispatch

_KERNEL_DTYPES = frozenset(dispatch.INDEX_DTYPES)
_IGNORED = "an integer, several integers or None"
_INT64 = np.iinfo(np.int64)
_BLOCK = 1 << 16  # indices that one step checks for fractions
_MAX_DEPTH = int(_INT64.max)


def as_indices(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the indices as an array that kernels can read: native, aligned and C-contiguous."""
    if array.dtype not in _KERNEL_DTYPES:
        array = _to_kernel_dtype(array)
    return as_contiguous(array)


def as_contiguous(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array, or a copy if the array is not C-contiguous and aligned."""
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else array.copy(order="C")


def _to_kernel_dtype(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the indices in a dtype that the kernels can read, without changing a value."""
    dtype = array.dtype
    native = dtype.newbyteorder("=")
    if native in _KERNEL_DTYPES:
        return array.astype(native, order="C")
    if native == np.float16:
        return array.astype(np.float32, order="C")
    if dtype.kind == "O" and array.size and all(map(_is_integer, array.flat)):
        return int64_or_uint64(array, "indices")
    if dtype.kind == "b":
        hint = ": use .astype('uint8') to encode Booleans as classes 0 and 1"
    elif dtype.kind in "OSUTMm":
        hint = ": encode other values with Encoder, or with .onehot of pandas or polars"
    else:
        hint = ""
    raise TypeError(
        "indices must be integers of 8 to 64 bits, float16, float32 or float64, got dtype"
        f" {dtype}{hint}"
    )


def _is_integer(value: object) -> bool:
    """Tell whether a value is a Python or NumPy integer, but not a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def int64_or_uint64(items: Any, what: str) -> npt.NDArray[Any]:
    """Return integers as an int64 array or, if they do not fit, as a uint64 array."""
    with suppress(OverflowError):
        return np.array(items, np.int64, order="C")
    objects = np.asarray(items, object)
    smallest, largest = int(min(objects.flat)), int(max(objects.flat))
    if smallest >= 0 and largest < 2**64:
        return np.array(items, np.uint64, order="C")
    raise ValueError(
        f"all {what} must fit into int64, or all into uint64, got values from {smallest}"
        f" to {largest}"
    )


def mark_ignored(
    indices: npt.NDArray[Any], ignore_index: object
) -> tuple[npt.NDArray[Any], int | None]:
    """Return the indices, and the one index that the kernels must ignore (None: no index).

    Kernels can ignore only one index. If the array contains several of the indices to ignore, the
    result is a copy of the array in which the first of them replaces the others.
    """
    if ignore_index is None:
        return indices, None
    ignored = integers_of(ignore_index, "ignore_index", _IGNORED)
    reachable = {_reachable(each, indices.dtype) for each in ignored} - {None}
    if len(reachable) < 2:
        return indices, next(iter(reachable), None)
    whole = np.trunc(indices) if indices.dtype.kind == "f" else indices
    is_ignored = np.isin(whole, np.array(list(reachable), indices.dtype))
    if not is_ignored.any():
        return indices, None
    first = indices.flat[np.argmax(is_ignored)]
    return np.where(is_ignored, first, indices), int(first)


def as_integer(value: object, name: str, accepted: str = "an integer") -> int:
    """Return a Python or NumPy integer as int; raise an error for other values and for bool."""
    if type(value) is int:
        return value
    if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be {accepted}, got {shown(value)}")
    return operator.index(value)


def integers_of(value: object, name: str, accepted: str) -> list[int]:
    """Return one integer, or the integers of an array-like or a set, as a list."""
    if type(value) is int:
        return [value]
    if isinstance(value, set | frozenset):
        value = list(value)
    if isinstance(value, int | str | bytes) or not is_container(value):
        return [as_integer(as_scalar(value, name), name, accepted)]
    return [as_integer(each, name, accepted) for each in items_of(value, name)]


def fits(number: int, dtype: np.dtype[Any]) -> bool:
    """Tell whether a dtype of integers can hold a number."""
    limits = np.iinfo(dtype)
    return bool(limits.min <= number <= limits.max)


def _reachable(number: int, dtype: np.dtype[Any]) -> int | None:
    """Return the index to ignore, or None if an index of this dtype cannot equal it."""
    smallest, largest = _limits(dtype)
    if not smallest <= number <= largest:
        return None
    # A float dtype cannot represent every integer.
    is_exact = dtype.kind != "f" or int(dtype.type(number)) == number
    return number if is_exact else None


@cache
def _limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return the smallest and the largest index that an array of indices can contain."""
    # Float indices are truncated to int64 before they are compared.
    limits = _INT64 if dtype.kind == "f" else np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def resolve_depth(depth: object, indices: npt.NDArray[Any], ignore_index: int | None) -> int:
    """Return the number of classes: `depth`, or the largest index + 1 if `depth` is None."""
    if depth is not None:
        return normalize_depth(depth)
    largest = maximum(indices, ignore_index)
    if largest is None:
        raise ValueError(
            "depth=None needs an index that is not ignored, but indices of shape"
            f" {indices.shape} have none: pass depth"
        )
    return normalize_depth(max(largest + 1, 0))


def normalize_depth(depth: object) -> int:
    """Return a depth truncated toward zero; raise ValueError if it is not in [0, 2**63)."""
    number = depth if type(depth) is int else _depth_number(depth)
    if not 0 <= number <= _MAX_DEPTH:
        raise ValueError(f"depth must be in [0, 2**63), got {number}")
    return number


def _depth_number(depth: object) -> int:
    array = as_array(depth, "depth")
    if array.dtype.kind not in "iuf":
        raise TypeError(
            "depth must be an integer, a float or an array of one element, got"
            f" {shown(depth)} of dtype {array.dtype}"
        )
    if array.size != 1:
        raise ValueError(f"depth must have one element, got shape {array.shape}")
    try:
        return int(array.item())
    except (ValueError, OverflowError):
        raise ValueError(f"depth must be finite, got {array.item()}") from None


def check_range(
    indices: npt.NDArray[Any],
    source: npt.NDArray[Any],
    depth: int,
    negative_indices: str,
    out_of_range: str,
    ignore_index: int | None,
) -> None:
    """Raise an error for the first index, in C order, that the options of `one_hot` reject.

    `source` has the indices in their original dtype, for the error message. A fraction, such as
    1.2 and -0.5, is out of range.
    """
    wrap, too_large = negative_indices == "normalize", out_of_range == "error"
    # With "normalize" the range is [-depth, depth): smaller indices are out of range.
    lowest = -depth if wrap else 0
    negative = negative_indices == "error" or (wrap and too_large)
    if not (negative or too_large):
        return
    position = dispatch.first_invalid(
        indices.reshape(-1),
        lowest if negative else None,
        depth if too_large else None,
        ignore_index,
    )
    fraction = -1
    if too_large and indices.dtype.kind == "f":
        reach = indices.size if position < 0 else position
        fraction = first_fraction(indices.reshape(-1)[:reach], ignore_index)
    position = position if fraction < 0 else fraction
    if position >= 0:
        where = tuple(map(int, np.unravel_index(position, indices.shape)))
        place = f"indices[{', '.join(map(str, where))}]" if where else "indices"
        expected = f"in [{lowest}, {depth})" if fraction < 0 else "a whole number"
        raise ValueError(f"{place} must be {expected}, got {source[where]!s}")


def first_fraction(indices: npt.NDArray[Any], ignore_index: int | None = None) -> int:
    """Return the position of the first float that is finite but no whole number, or -1."""
    for begin in range(0, len(indices), _BLOCK):
        block = indices[begin : begin + _BLOCK]
        whole = np.trunc(block)
        offends = (whole != block) & np.isfinite(block)
        if ignore_index is not None:
            offends &= whole != ignore_index
        if offends.any():
            return begin + int(np.argmax(offends))
    return -1


def maximum(indices: npt.NDArray[Any], ignore_index: int | None) -> int | None:
    """Return the largest index other than `ignore_index`, or None if there is no such index.

    Floats that do not fit int64 are skipped.
    """
    if not indices.size:
        return None
    largest, limit = indices.max(), 2.0**63
    is_float = indices.dtype.kind == "f"
    if (not is_float or -limit <= largest < limit) and int(largest) != ignore_index:
        return int(largest)
    if is_float:
        in_range = indices[(indices >= -limit) & (indices < limit)]
        return maximum(in_range.astype(np.int64), ignore_index)
    # The ignored index becomes 0. The others wrap around and keep their order.
    others = (indices - largest).view(f"u{indices.itemsize}")
    return int(largest) + int(others.max()) - 2 ** (8 * indices.itemsize) if others.any() else None
