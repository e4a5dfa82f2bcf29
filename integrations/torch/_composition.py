"""One-hot encoding and decoding by plain torch operations, for devices other than the CPU.

`torch.compile` traces these functions, so a compiled model contains no custom operator. Invalid
labels fail an asynchronous assertion, so the program never waits for the device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

INT64 = torch.iinfo(torch.int64)
# torch supports few operations on uint16, uint32 and uint64. In the signed dtypes, 0 and 1 have the
# same bits.
SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
FLOAT8 = (
    torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz
)  # fmt: skip
INTEGER_OF_SIZE = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

INVALID_LABEL = (
    "one_hot: a label is not in [0, num_classes);"
    " call one_hot(tensor.cpu(), ...) to see the label and its position"
)
SEVERAL_CLASSES = (
    "decode: a row has more than one element equal to on_value;"
    " call decode(tensor.cpu(), ...) to see the row"
)
INVALID_ELEMENT = (
    "multi_hot: a label is not below num_classes;"
    " call multi_hot(flat.cpu(), ...) to see the label and its position"
)
UNKNOWN_ELEMENT = (
    "one_hot: an element is not one of the categories;"
    " call one_hot(tensor.cpu(), ...) to see the element and its position"
)
INVALID_OFFSETS = "multi_hot: offsets must not decrease and must be in [0, len(flat)]"
NO_CLASS = (
    "decode: a row has no element equal to on_value; call decode(tensor.cpu(), ...) to see the row,"
    " or pass rule='argmax' to decode scores"
)


# These functions are private: in a version without them, `torch.vmap` reports that the assertion
# has no rule for batches.
IS_BATCHED = getattr(torch._C._functorch, "is_batchedtensor", None) or (lambda tensor: False)
UNWRAPPED: Any = getattr(torch._C._functorch, "get_unwrapped", None)


def require(is_valid: torch.Tensor, message: str) -> None:
    """Fail an asynchronous assertion unless all elements are true, for each batch of a vmap."""
    if not torch.compiler.is_compiling():
        while IS_BATCHED(is_valid):
            is_valid = UNWRAPPED(is_valid)
    torch._assert_async(is_valid.all(), message)


def read_labels(
    tensor: torch.Tensor, ignore_index: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return labels as int64, and the mask of ignored labels (None without an `ignore_index`).

    Labels that int64 cannot hold become the maximum of int64, which is always out of range. For
    uint64 labels, `ignore_index` holds the int64 values with the same bits.
    """
    overflow = None
    if tensor.dtype.is_floating_point:
        if tensor.dtype == torch.float16:
            tensor = tensor.to(torch.float32)  # the limits of int64 overflow in float16
        overflow = ~((tensor >= -(2.0**63)) & (tensor < 2.0**63))  # NaN as well
        labels = tensor.masked_fill(overflow, 0).to(torch.int64)
    elif tensor.dtype == torch.uint64:
        labels = tensor.view(torch.int64)
        overflow = labels < 0
    else:
        labels = tensor.to(torch.int64)
    ignored = None
    for index in ignore_index:
        is_equal = labels == index
        ignored = is_equal if ignored is None else ignored | is_equal
    if overflow is not None:
        if ignored is not None and tensor.dtype.is_floating_point:
            ignored = ignored & ~overflow
        labels = labels.masked_fill(overflow, INT64.max)
    return labels, ignored


def encode(
    tensor: torch.Tensor, num_classes: int, dtype: torch.dtype, *policies: Any
) -> torch.Tensor:
    """Return the one-hot tensor of labels; `POLICIES` in `_operators` lists the policies."""
    *rules, label_smoothing = policies
    labels, classes = _broadcastable(tensor, num_classes, *rules)
    is_hot = labels == classes
    if not label_smoothing:
        return is_hot.to(dtype)
    values = smoothed_values(label_smoothing, num_classes)
    return torch.where(is_hot, *(scalar(value, dtype, tensor.device) for value in values))


def encode_into(tensor: torch.Tensor, num_classes: int, *policies_and_out: Any) -> None:
    """Write the one-hot tensor into `out`, the last of `policies_and_out`, by one scatter.

    Temporary tensors have the size of the labels.
    """
    axis, *rules, label_smoothing, out = policies_and_out
    labels = resolve_labels(tensor, num_classes, *rules)
    if not num_classes:
        return
    values = smoothed_values(label_smoothing, num_classes)
    hot, cold = (scalar(value, out.dtype, out.device) for value in values)
    if out.dtype != torch.complex128:  # many dtypes have no scatter
        integer = INTEGER_OF_SIZE[out.dtype.itemsize]
        out, hot, cold = out.view(integer), hot.view(integer), cold.view(integer)
    out.copy_(cold)
    elements = torch.where((labels >= 0) & (labels < num_classes), hot, cold).unsqueeze(axis)
    out.scatter_(axis, labels.clamp(0, num_classes - 1).unsqueeze(axis), elements)


def labels_of_elements(
    tensor: torch.Tensor, categories: torch.Tensor, ignored: torch.Tensor | None, *, strict: bool
) -> torch.Tensor:
    """Return the position of each element in categories of the same dtype, or -1.

    Categories of two dimensions are colors. The first one of equal categories wins, and `ignored`
    elements have no position; an ignored color with NaN stands for every color with NaN. If
    `strict`, another element without a position fails an assertion.
    """
    tensor, categories = comparable(tensor), comparable(categories)
    find = _positions_of_colors if categories.ndim > 1 else _positions
    labels = find(tensor, categories)
    is_ignored = None
    if ignored is not None and len(ignored):
        is_ignored = find(tensor, comparable(ignored)) >= 0
        if ignored.ndim > 1 and tensor.dtype.is_floating_point:
            is_ignored |= ignored.isnan().any() & tensor.isnan().any(-1)
    if strict:
        is_known = labels >= 0 if is_ignored is None else (labels >= 0) | is_ignored
        require(is_known, UNKNOWN_ELEMENT)
    return labels if is_ignored is None else labels.masked_fill(is_ignored, -1)


def comparable(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor in a dtype that torch can sort; equal elements, and only they, stay equal."""
    if tensor.dtype == torch.uint64:
        return tensor.view(torch.int64)
    if tensor.dtype in SIGNED:
        return tensor.to(torch.int64)
    if tensor.dtype == torch.bool:
        return tensor.to(torch.uint8)
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize <= 2:
        return tensor.to(torch.float32)
    return tensor


def _positions(tensor: torch.Tensor, categories: torch.Tensor) -> torch.Tensor:
    """Return the position of each element in the categories, or -1; NaN equals NaN."""
    if not len(categories):
        return torch.full_like(tensor, -1, dtype=torch.int64)
    ordered, order = torch.sort(categories, stable=True)
    # The search needs an order, in which NaN has no place.
    keys = ordered
    if tensor.dtype.is_floating_point:
        keys = ordered.masked_fill(ordered.isnan(), math.inf)
    places = torch.searchsorted(keys, tensor.contiguous()).clamp(max=len(categories) - 1)
    labels = torch.where(ordered[places] == tensor, order[places], -1)
    if tensor.dtype.is_floating_point:
        is_nan = categories.isnan()
        first = torch.where(is_nan.any(), is_nan.to(torch.uint8).argmax(), -1)
        labels = torch.where(tensor.isnan(), first, labels)
    return labels


def _positions_of_colors(tensor: torch.Tensor, palette: torch.Tensor) -> torch.Tensor:
    """Return the position in a palette of the colors in the last dimension, or -1."""
    labels = torch.full(tensor.shape[:-1], -1, dtype=torch.int64, device=tensor.device)
    for position in reversed(range(len(palette))):  # the first of equal colors wins
        labels = torch.where((tensor == palette[position]).all(-1), position, labels)
    return labels


def multi_hot(
    flat: torch.Tensor,
    num_classes: int,
    offsets: torch.Tensor,
    mode: str,
    dtype: torch.dtype,
    out_of_range: str,
) -> torch.Tensor:
    """Return the multi-hot matrix of flat labels; row ``i`` has ``offsets[i]:offsets[i + 1]``."""
    n_rows, n_labels = len(offsets) - 1, len(flat)
    in_order = (offsets[1:] >= offsets[:-1]).all()
    require(in_order & (offsets[0] >= 0) & (offsets[-1] <= n_labels), INVALID_OFFSETS)
    positions = torch.arange(n_labels, device=flat.device)
    rows = torch.searchsorted(offsets, positions, right=True) - 1
    is_in_row = (rows >= 0) & (rows < n_rows)
    labels, _ = read_labels(flat, [])
    if out_of_range == "error":
        require((labels < num_classes) | ~is_in_row, INVALID_ELEMENT)
    is_used = is_in_row & (labels >= 0) & (labels < num_classes)
    # One more element takes what is skipped.
    n_elements = n_rows * num_classes
    index = torch.where(is_used, rows * num_classes + labels, n_elements)
    if mode == "count":
        counts = torch.zeros(n_elements + 1, dtype=torch.int64, device=flat.device)
        counts = counts.scatter_add(0, index, torch.ones_like(index))
        return counts[:-1].to(dtype).view(n_rows, num_classes)
    is_hot = torch.zeros(n_elements + 1, dtype=torch.bool, device=flat.device)
    is_hot = is_hot.scatter(0, index, torch.ones_like(index, dtype=torch.bool))
    return is_hot[:-1].to(dtype).view(n_rows, num_classes)


def smoothed_values(label_smoothing: float, num_classes: int) -> tuple[float, float]:
    """Return the value of the hot element and the value of the other elements."""
    share = label_smoothing / max(num_classes, 1)
    return 1 - label_smoothing + share, share


def scalar(value: float, dtype: torch.dtype, device: torch.device | str = "cpu") -> torch.Tensor:
    """Return a 0-D tensor that is filled on its device, without a copy from the CPU."""
    # Some versions of torch cannot fill float8 tensors.
    fillable = torch.float32 if dtype in FLOAT8 else dtype
    return torch.full((), value, dtype=fillable, device=device).to(dtype)


def _broadcastable(
    tensor: torch.Tensor, num_classes: int, axis: int, *rules: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Check the labels; return labels and classes that broadcast to the shape of the result."""
    labels = resolve_labels(tensor, num_classes, *rules)
    classes = torch.arange(num_classes, device=tensor.device)
    return labels.unsqueeze(axis), classes.view(-1, *[1] * (tensor.ndim - axis))


def resolve_labels(
    tensor: torch.Tensor,
    num_classes: int,
    ignore_index: Sequence[int],
    negative_indices: str,
    out_of_range: str,
) -> torch.Tensor:
    """Check the labels; return them as int64, outside [0, num_classes) for rows of zeros."""
    labels, ignored = read_labels(tensor, ignore_index)
    if negative_indices == "normalize":
        labels = torch.where(labels < 0, labels + num_classes, labels)
    is_strict = out_of_range == "error"
    invalid = labels >= num_classes if is_strict else None
    # A label below -num_classes is out of range, and is still negative after normalization.
    if negative_indices == "error" or (negative_indices == "normalize" and is_strict):
        invalid = labels < 0 if invalid is None else invalid | (labels < 0)
    if invalid is not None:
        if ignored is not None:
            invalid = invalid & ~ignored
        require(~invalid, INVALID_LABEL)
    return labels if ignored is None else labels.masked_fill(ignored, -1)


def decode(
    tensor: torch.Tensor, axis: int, on_value: float, default: int | None, multiple: str
) -> torch.Tensor:
    """Return the index of `on_value` in each row, or `default` for a row without `on_value`.

    Elements are compared bit by bit. A row without `on_value` is invalid if `default` is None or if
    the elements of the row differ.
    """
    is_hot = _equals(tensor, on_value)
    n_hot = is_hot.sum(axis)
    if multiple == "error":
        require(n_hot <= 1, SEVERAL_CLASSES)
    is_valid = n_hot > 0 if default is None else (n_hot > 0) | _is_constant(tensor, axis)
    require(is_valid, NO_CLASS)
    filler = -1 if default is None else default
    if tensor.shape[axis] == 0:
        return torch.full_like(n_hot, filler)
    return torch.where(n_hot > 0, is_hot.to(torch.uint8).argmax(axis), filler)


def argmax(tensor: torch.Tensor, axis: int) -> torch.Tensor:
    """Return the index of the first maximum of each row; NaN counts as the maximum."""
    if tensor.dtype == torch.bool:
        tensor = tensor.view(torch.uint8)
    elif tensor.dtype == torch.uint64:
        tensor = tensor.view(torch.int64) ^ INT64.min  # keeps the order of the uint64 values
    elif tensor.dtype in SIGNED:
        tensor = tensor.to(torch.int64)
    elif tensor.dtype in FLOAT8:
        tensor = tensor.to(torch.float32)
    return tensor.argmax(axis)


def _is_constant(tensor: torch.Tensor, axis: int) -> torch.Tensor:
    """Tell for each row whether all elements are equal; 0.0 equals -0.0, and NaN equals NaN."""
    if tensor.dtype in FLOAT8:
        tensor = tensor.to(torch.float32)
    elif tensor.dtype in SIGNED:
        tensor = tensor.view(SIGNED[tensor.dtype])
    first = tensor.narrow(axis, 0, min(1, tensor.shape[axis]))
    is_same = tensor == first
    if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
        is_same = is_same | (tensor.isnan() & first.isnan())
    return is_same.all(axis)


def _equals(tensor: torch.Tensor, value: float) -> torch.Tensor:
    """Tell for each element whether it has the bits of a value, which is rounded to the dtype.

    Numbers other than 0 and NaN have one representation, so they are compared as numbers: ONNX has
    no view of another dtype.
    """
    if tensor.dtype.is_complex:
        parts = torch.view_as_real(tensor)
        return _equals(parts[..., 0], value) & _equals(parts[..., 1], 0.0)
    element = scalar(value, tensor.dtype, tensor.device)
    is_float = tensor.dtype.is_floating_point
    if is_float and (value != value or _rounds_to_zero(value, tensor.dtype)):
        integer = INTEGER_OF_SIZE[tensor.dtype.itemsize]
        return tensor.view(integer) == element.view(integer)
    if tensor.dtype in FLOAT8:
        return tensor.to(torch.float32) == element.to(torch.float32)
    if tensor.dtype in SIGNED:
        return tensor.to(torch.int64) == element.to(torch.int64)
    return tensor == element


def _rounds_to_zero(value: float, dtype: torch.dtype) -> bool:
    """Tell whether a float dtype may round a value to zero."""
    limits = torch.finfo(dtype)
    return bool(abs(value) < limits.tiny * limits.eps)
