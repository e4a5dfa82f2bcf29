"""The fast path of small calls.

For 32 labels the kernel takes tens of nanoseconds, and checking arguments takes a hundred times as
long. This module handles common small calls on the CPU. For all other calls, also those with an
invalid argument or label, `one_hot_small` returns None. Then ``function.py`` checks the arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import onehot_fast

from ._composition import INTEGER_OF_SIZE
from ._operators import NOT_IN_NUMPY, as_numpy, has_observers, one_and_zero

MAX_LABELS = 4096  # they are read twice, to check them first
MAX_ELEMENTS = 1 << 18  # larger results use the slow path, which adds little to their time
# Negative labels are large as unsigned integers, so one comparison finds all that are not valid.
UNSIGNED = {
    torch.uint8: np.dtype("u1"), torch.int8: np.dtype("u1"),
    torch.uint16: np.dtype("u2"), torch.int16: np.dtype("u2"),
    torch.uint32: np.dtype("u4"), torch.int32: np.dtype("u4"),
    torch.uint64: np.dtype("u8"), torch.int64: np.dtype("u8"),
}  # fmt: skip
FLOATS = torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128
# The dtypes of results, with those of NumPy that hold their elements.
STORED = {
    dtype: np.dtype(str(stored).removeprefix("torch."))
    for dtype, stored in (
        *((dtype, INTEGER_OF_SIZE[dtype.itemsize]) for dtype in NOT_IN_NUMPY),
        *((dtype, dtype) for dtype in (*UNSIGNED, torch.bool, *FLOATS)),
    )
}


def one_hot_small(
    tensor: Any,
    num_classes: Any,
    dtype: Any,
    axis: Any,
    ignore_index: Any,
    negative_indices: Any,
    out_of_range: Any,
    label_smoothing: Any,
    out: Any,
) -> torch.Tensor | None:
    """Return the one-hot encoding, or None if the call is not common, small and valid.

    A common call has plain tensors of integer labels on the CPU, which nothing observes, ints for
    `num_classes` and `axis`, one policy for negative and too large labels, no label smoothing, and
    at most one ignored label, which is no class.
    """
    if not _is_plain(tensor) or type(num_classes) is not int or type(axis) is not int:
        return None
    if type(label_smoothing) is not float or label_smoothing or has_observers():
        return None
    if type(negative_indices) is not str or type(out_of_range) is not str:
        return None
    if negative_indices != out_of_range:
        return None
    if ignore_index is not None and (
        type(ignore_index) is not int or 0 <= ignore_index < num_classes
    ):
        return None
    unsigned = UNSIGNED.get(tensor.dtype)
    if out is not None:
        if not _is_plain(out) or out.is_inference() or not (dtype is None or dtype is out.dtype):
            return None
        dtype = out.dtype
    elif dtype is None:
        dtype = torch.float32
    element = STORED.get(dtype) if type(dtype) is torch.dtype else None
    if unsigned is None or element is None:
        return None
    try:
        labels = tensor.numpy()
        target = None if out is None else as_numpy(out)
    except (RuntimeError, TypeError):  # e.g. of a sparse, nested or negated tensor
        return None
    position = axis if axis >= 0 else axis + labels.ndim + 1
    if not 0 <= position <= labels.ndim or not 0 < labels.size <= MAX_LABELS:
        return None
    if not 0 < labels.size * num_classes <= MAX_ELEMENTS:
        return None
    shape = *labels.shape[:position], num_classes, *labels.shape[position:]
    if target is not None and target.shape != shape:
        return None
    if negative_indices == "error":
        if not _are_valid(labels, labels.view(unsigned), num_classes, ignore_index):
            return None
    elif negative_indices != "ignore":
        return None
    array = onehot_fast.one_hot(labels, num_classes, axis=position, dtype=element, out=target)
    if dtype in NOT_IN_NUMPY:  # these are integers 1 and 0 so far
        np.multiply(array, one_and_zero(dtype)[0], out=array)
    if out is not None:
        torch.autograd.graph.increment_version(out)
        return out
    encoded = torch.from_numpy(array)
    return encoded if encoded.dtype == dtype else encoded.view(dtype)


def _is_plain(tensor: Any) -> bool:
    return type(tensor) is torch.Tensor and tensor.is_cpu


def _are_valid(labels: Any, codes: Any, num_classes: int, ignore_index: int | None) -> bool:
    """Tell whether each label is a class or ignored; `codes` are the labels without signs."""
    if np.maximum.reduce(codes, axis=None) < num_classes:
        return True
    if ignore_index is None:
        return False
    others = labels[codes >= num_classes]
    return bool((others == ignore_index).all())
