"""The public functions `one_hot` and `decode`, which check their arguments."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, Literal, ParamSpec

import numpy as np
import torch
from torch.overrides import handle_torch_function, has_torch_function

from onehot_fast.adapter import (
    as_scalar,
    check_choice,
    check_options,
    is_container,
    items_of,
    number_of,
    read_classes,
    shown,
    with_article,
    wrong_channels,
)

from ._composition import FLOAT8, INT64, argmax, labels_of_elements, read_labels
from ._composition import decode as decode_by_torch
from ._composition import encode as encode_by_torch
from ._composition import multi_hot as multi_hot_by_torch
from ._fastpath import one_hot_small
from ._operators import (
    ALLOCATING,
    DECODING,
    FILLING,
    allocate,
    encode_elements,
    fill,
    in_numpy,
    is_direct,
    labels_of,
    multi_hot_by_kernel,
)

__all__ = ["decode", "multi_hot", "one_hot"]

P = ParamSpec("P")

INTEGERS = (
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.uint16, torch.uint32, torch.uint64,
)  # fmt: skip
INDICES = (*INTEGERS, torch.float16, torch.float32, torch.float64)
ELEMENTS = (torch.bool, *INDICES, torch.bfloat16, *FLOAT8)
SMOOTHED = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
VALUES = (
    torch.bool, *INTEGERS, *SMOOTHED, *FLOAT8, torch.complex32, torch.complex64, torch.complex128
)  # fmt: skip
COUNTABLE = (*INTEGERS, torch.float32, torch.float64)
HOST_MEMORY = (1, 3, 11)  # of DLPack: the CPU, and memory that CUDA or ROCm pinned
# Before torch 2.7, `torch.export` cannot be distinguished from `torch.compile`.
CAN_DETECT_EXPORT = hasattr(torch.compiler, "is_exporting")
IS_EXPORTING = getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)


def _public(*others: str) -> Callable[[Callable[P, torch.Tensor]], Callable[P, torch.Tensor]]:
    """Decorate a function of tensors: the first argument and `others`, which are keywords.

    Tensors that override torch's functions (subclasses, the proxies of `torch.fx`) and modes see
    the call as it is written. The error for an unknown keyword names the right one.
    """

    def decorate(function: Callable[P, torch.Tensor]) -> Callable[P, torch.Tensor]:
        accepted = tuple(inspect.signature(function).parameters)
        first = accepted[0]

        @functools.wraps(function)
        def public(*args: P.args, **options: P.kwargs) -> torch.Tensor:
            for name in options:
                if name not in accepted:
                    check_options([name], accepted[1:])
            tensor = args[0] if args else options.get(first)
            tensors = tensor, *[options.get(name) for name in others]
            if has_torch_function(tensors):
                result: torch.Tensor = handle_torch_function(public, tensors, *args, **options)
                return result
            return function(*args, **options)

        return public

    return decorate


@_public("out")
def one_hot(
    tensor: torch.Tensor,
    num_classes: int | None = -1,
    *,
    categories: Any = None,
    handle_unknown: Literal["error", "ignore"] | None = None,
    dtype: torch.dtype | None = None,
    axis: int = -1,
    ignore_index: Any = None,
    negative_indices: Literal["ignore", "normalize", "error"] = "error",
    out_of_range: Literal["ignore", "error"] = "error",
    label_smoothing: float = 0.0,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the one-hot encoding of a tensor of integer labels, on any device.

    Invalid labels raise an error by default, as in `torch.nn.functional.one_hot`. On the CPU, the
    compiled kernels of this package encode the labels; `torch.compile` keeps them in its graph, as
    the custom operator ``torch.ops.onehot_fast.one_hot``. On CUDA, Triton kernels encode the labels
    where Triton is installed and torch is at least 2.6. All else is plain torch operations: other
    devices, graphs of `torch.compile` for them, and exported programs.

    Parameters
    ----------
    tensor : Tensor of integers, float16, float32 or float64, of any shape and strides
        The labels. Floats are truncated toward zero. An array of CuPy or JAX on a GPU is accepted
        too, and its memory is read without a copy.
    num_classes : int, default -1
        The number of classes, 0 or more. -1 and None mean 1 + the largest label that is not
        ignored; reading this label from a GPU synchronizes with the device.
    categories : Tensor, array_like or sequence of numbers, or of colors, optional
        The classes in order, instead of `num_classes`, as in `onehot_fast.one_hot`. Numbers in two
        dimensions are colors, whose channels are the last dimension of `tensor`. A tensor on
        another device than the CPU must be on the device and have the dtype of `tensor`; equal
        categories in it are not detected, and the first one wins.
    handle_unknown : {"error", "ignore"}, optional
        Whether an element that is no category raises an error, which is the default, or becomes a
        row of zeros. It needs `categories`.
    dtype : torch.dtype, optional
        The dtype of the result: bool, an integer, a float (including bfloat16 and the float8
        dtypes with a zero) or a complex dtype. The default is the dtype of `out`, or float32
        without `out`.
    axis : int, default -1
        The position of the class dimension in the result. With 1, labels of shape (N, H, W) become
        (N, C, H, W).
    ignore_index : int, or array_like or set of int; with `categories`, of elements, optional
        These labels become rows of zeros and never raise an error.
    negative_indices : {"ignore", "normalize", "error"}, default "error"
        A negative label becomes a row of zeros ("ignore"), counts from the last class
        ("normalize"), or raises an error.
    out_of_range : {"ignore", "error"}, default "error"
        A label >= `num_classes` becomes a row of zeros or raises an error. NaN, infinities and
        floats that int64 cannot hold are out of range.
    label_smoothing : float, default 0.0
        The smoothing ``s`` in [0, 1). The values are ``1 - s + s / num_classes`` instead of 1 and
        ``s / num_classes`` instead of 0. `dtype` must be float16, bfloat16, float32 or float64.
    out : Tensor, optional
        The tensor to write the result into. It must have the shape, dtype and device of the
        result, and may have any strides. It is unchanged after an error of a check on the CPU,
        unless an element is no category: its content is then undefined, as it is after a failed
        assertion of a device.

    Returns
    -------
    Tensor
        The one-hot tensor, or `out`. It has the shape of `tensor` with a dimension of size
        `num_classes` inserted at `axis`, is on the same device, and has no gradient.

    Raises
    ------
    TypeError
        An argument does not have a type or dtype listed above.
    ValueError
        `tensor` is sparse; `num_classes` is not in [-1, ``2**63``), or is -1 or None but cannot be
        inferred (all labels are ignored, ``negative_indices="normalize"``, or `torch.export`);
        `axis` is out of range; an option is invalid; a label is invalid (on the CPU); `out` has
        another shape or device than the result, or requires a gradient.
    MemoryError
        The result is larger than the free memory (on the CPU).

    Notes
    -----
    On devices other than the CPU, an invalid label fails `torch._assert_async`, because raising an
    exception would synchronize with the device. CUDA reports a failed assertion at a later call,
    and the process cannot use CUDA afterwards. Encode ``tensor.cpu()`` to see the invalid label
    and its position.

    Examples
    --------
    >>> labels = torch.tensor([[0, 2], [1, 255]])
    >>> one_hot(labels, 3, axis=1, ignore_index=255, dtype=torch.uint8)
    tensor([[[1, 0],
             [0, 0],
             [0, 1]],
    <BLANKLINE>
            [[0, 0],
             [1, 0],
             [0, 0]]], dtype=torch.uint8)
    >>> one_hot(torch.tensor([0, 3]), 3)
    Traceback (most recent call last):
        ...
    ValueError: indices[1] must be in [0, 3), got 3
    """
    is_compiling = torch.compiler.is_compiling()
    if categories is None and handle_unknown is None and not is_compiling:
        small = one_hot_small(
            tensor, num_classes, dtype, axis, ignore_index, negative_indices, out_of_range,
            label_smoothing, out,
        )  # fmt: skip
        if small is not None:
            return small
    tensor = _from_device(tensor)
    _check_tensor(tensor, "tensor")
    if categories is not None or handle_unknown is not None:
        if categories is None:
            raise TypeError("handle_unknown needs categories; for num_classes, pass out_of_range")
        if num_classes != -1:
            raise TypeError("num_classes and categories cannot be combined: pass one of them")
        if (negative_indices, out_of_range) != ("error", "error"):
            raise TypeError(
                "negative_indices and out_of_range cannot be combined with categories: pass"
                " handle_unknown"
            )
        return _one_hot_of_elements(
            tensor, categories, handle_unknown or "error", dtype, axis, ignore_index,
            label_smoothing, out,
        )  # fmt: skip
    if tensor.dtype not in INDICES:
        raise TypeError(
            f"tensor must have an integer dtype, float16, float32 or float64, got {tensor.dtype}"
        )
    check_choice(negative_indices, "negative_indices", ("ignore", "normalize", "error"))
    check_choice(out_of_range, "out_of_range", ("ignore", "error"))
    axis = _position(axis, tensor.ndim + 1)
    ignored = _ignored(ignore_index, tensor.dtype)
    if out is not None:
        _check_tensor(out, "out")
        if dtype not in (None, out.dtype):
            raise ValueError(f"dtype and out.dtype must be the same, got {dtype} and {out.dtype}")
        dtype = out.dtype
    dtype = torch.float32 if dtype is None else dtype
    _check_dtype(dtype)
    smoothing = _smoothing(label_smoothing, dtype)
    tensor = _detached(tensor)
    classes = _num_classes(num_classes, tensor, ignored, negative_indices)
    policies = axis, ignored, negative_indices, out_of_range, smoothing
    if out is not None:
        _check_out(out, tensor, [*tensor.shape[:axis], classes, *tensor.shape[axis:]])
    if is_compiling and _is_composed(tensor):
        encoded = encode_by_torch(tensor, classes, dtype, *policies)
        return encoded if out is None else out.copy_(encoded)
    is_called_directly = not is_compiling and is_direct(tensor, out)
    if out is None:
        encode: Callable[..., torch.Tensor] = allocate if is_called_directly else ALLOCATING
        return encode(tensor, classes, dtype, *policies)
    write: Callable[..., None] = fill if is_called_directly else FILLING
    write(tensor, classes, *policies, out)
    return out


def _one_hot_of_elements(
    tensor: torch.Tensor,
    categories: Any,
    handle_unknown: str,
    dtype: torch.dtype | None,
    axis: int,
    ignore_index: Any,
    label_smoothing: float,
    out: torch.Tensor | None,
) -> torch.Tensor:
    """Return the one-hot encoding of a tensor whose elements are listed in `categories`."""
    check_choice(handle_unknown, "handle_unknown", ("error", "ignore"))
    if tensor.dtype not in ELEMENTS:
        raise TypeError(f"tensor must hold Booleans, integers or floats, got {tensor.dtype}")
    tensor = _detached(tensor)
    is_on_cpu = tensor.device.type == "cpu" and not torch.compiler.is_compiling()
    if is_on_cpu and is_direct(tensor, out):
        categories, ignore_index = in_numpy(categories), in_numpy(ignore_index)
        classes = read_classes(categories)
        shape = [*classes.shape_of(tuple(tensor.shape), "tensor")]
        position = _position(axis, len(shape) + 1)
        shape.insert(position, len(classes))
        if out is not None:
            _check_tensor(out, "out")
            _check_out(out, tensor, shape)
            if dtype not in (None, out.dtype):
                raise ValueError(
                    f"dtype and out.dtype must be the same, got {dtype} and {out.dtype}"
                )
            dtype = out.dtype
        dtype = torch.float32 if dtype is None else dtype
        _check_dtype(dtype)
        return encode_elements(
            tensor,
            len(classes),
            dtype,
            position,
            _smoothing(label_smoothing, dtype),
            out,
            categories=categories,
            handle_unknown=handle_unknown,
            ignore_index=ignore_index,
        )
    values, n_classes, places = _categories_like(categories, tensor)
    if values.ndim > 1 and tensor.shape[-1:] != values.shape[1:]:
        raise wrong_channels(tuple(map(int, tensor.shape)), int(values.shape[1]), "tensor")
    ignored = None
    if ignore_index is not None:
        ignored = _ignored_like(ignore_index, tensor, values.shape[1] if values.ndim > 1 else 0)
    labels = labels_of_elements(tensor, values, ignored, strict=handle_unknown == "error")
    if places is not None:  # some categories cannot occur in this dtype
        labels = torch.where(labels < 0, labels, places[labels.clamp(min=0)])
    return one_hot(
        labels,
        n_classes,
        dtype=dtype,
        axis=axis,
        negative_indices="ignore",
        out_of_range="ignore",
        label_smoothing=label_smoothing,
        out=out,
    )


def _categories_like(
    categories: Any, tensor: torch.Tensor
) -> tuple[torch.Tensor, int, torch.Tensor | None]:
    """Return the categories that the dtype of a tensor can hold, on its device.

    Also return the number of all categories and, if some are left out, the positions of the others.
    """
    values = _if_on_device(categories, tensor, "categories")
    if values is not None:
        return values, len(values), None
    rows, n_channels = _rows_of_categories(in_numpy(categories))
    values, kept = _as_elements(rows, n_channels, tensor)
    is_complete = len(kept) == len(rows)
    places = None if is_complete else torch.tensor(kept or [-1], device=tensor.device)
    return values, len(rows), places


def _ignored_like(ignore_index: Any, tensor: torch.Tensor, n_channels: int) -> torch.Tensor:
    """Return the elements to leave out that the dtype of a tensor can hold, on its device."""
    values = _if_on_device(ignore_index, tensor, "ignore_index")
    if values is not None:
        return values.unsqueeze(0) if values.ndim < (2 if n_channels else 1) else values
    return _as_elements(_rows_of_ignored(in_numpy(ignore_index), n_channels), n_channels, tensor)[0]


def _if_on_device(source: Any, tensor: torch.Tensor, name: str) -> torch.Tensor | None:
    """Return elements in a tensor that cannot be read without a synchronisation, else None."""
    source = _from_device(source)
    if not isinstance(source, torch.Tensor) or (
        source.device.type == "cpu" and not torch.compiler.is_compiling()
    ):
        return None
    if source.dtype != tensor.dtype or source.device != tensor.device:
        raise TypeError(
            f"{name} must have the dtype and the device of tensor, got {source.dtype} on"
            f" {source.device}: pass {name}.to(tensor)"
        )
    return source


def _as_elements(
    rows: list[list[Any]], n_channels: int, tensor: torch.Tensor
) -> tuple[torch.Tensor, list[int]]:
    """Return the rows that the dtype of a tensor can hold as elements, and their positions."""
    kept, fitting = _fitting(rows, tensor.dtype)
    items = fitting if n_channels else [row[0] for row in fitting]
    values = torch.tensor(items, dtype=tensor.dtype, device=tensor.device)
    return (values.reshape(-1, n_channels) if n_channels else values), kept


def _rows_of_categories(categories: Any) -> tuple[list[list[Any]], int]:
    """Return each category as a row of numbers, and the number of channels, 0 if no colors."""
    values = read_classes(categories).values
    if values.ndim > 1:
        return values.tolist(), values.shape[1]
    return [[math.nan if value is None else value] for value in values.tolist()], 0


def _rows_of_ignored(ignore_index: Any, n_channels: int) -> list[list[Any]]:
    """Return each element to leave out as a row of numbers, and NaN for missing elements."""
    classes = read_classes(np.empty((0, n_channels)) if n_channels else [], ignore_index)
    missing = [math.nan] * max(n_channels, 1)
    rows = [
        missing if each is None else [*each] if n_channels else [each] for each in classes.ignored
    ]
    return rows


def _fitting(rows: list[list[Any]], dtype: torch.dtype) -> tuple[list[int], list[list[Any]]]:
    """Return the positions of the rows whose numbers a dtype can hold, and these numbers."""
    kept = [i for i, row in enumerate(rows) if all(_fits(number, dtype) for number in row)]
    is_whole = not dtype.is_floating_point
    return kept, [[int(number) if is_whole else number for number in rows[i]] for i in kept]


def _numbers_of(categories: Any) -> tuple[list[Any], torch.dtype]:
    """Return the categories as a list of numbers or rows, and the dtype that holds them exactly."""
    values = read_classes(categories).values
    own = getattr(torch, values.dtype.name, None)
    if isinstance(own, torch.dtype) and not own.is_complex:
        return values.tolist(), own
    numbers = values.tolist()
    for dtype in (torch.int64, torch.uint64, torch.float64):
        kept, fitting = _fitting([[number] for number in numbers], dtype)
        if len(kept) == len(numbers):
            return [row[0] for row in fitting], dtype
    raise TypeError(f"categories must be numbers that one dtype can hold, got {shown(categories)}")


# `torch.compile` calls these functions with the constants of the graph, and does not trace them.
# `torch.compiler.assume_constant_result` sets the same attribute, but imports the compiler, which
# takes seconds.
for _function in (_rows_of_categories, _rows_of_ignored, _fitting, _numbers_of):
    vars(_function)["_dynamo_marked_constant"] = True


def _fits(number: Any, dtype: torch.dtype) -> bool:
    """Tell whether a real dtype has an element that equals a number; NaN equals NaN."""
    if not isinstance(number, int | float | np.number | np.bool_):
        return False
    try:
        # Some dtypes accept no whole floats.
        whole = number if dtype.is_floating_point else int(number)
        element = torch.tensor(whole, dtype=dtype).item()
    except (RuntimeError, OverflowError, TypeError, ValueError):
        return False
    return bool(element == number) or (element != element and number != number)


@_public()
def decode(
    tensor: torch.Tensor,
    axis: int = -1,
    *,
    categories: Any = None,
    on_value: float = 1,
    default: Any = ...,
    multiple: Literal["error", "first"] = "error",
    rule: Literal["exact", "argmax"] = "exact",
) -> torch.Tensor:
    """Return the labels of a one-hot tensor, on any device. This is the inverse of `one_hot`.

    Parameters
    ----------
    tensor : Tensor of any dtype that `one_hot` returns, of rank 1 or higher
        The one-hot tensor.
    axis : int, default -1
        The class dimension.
    categories : Tensor, array_like or sequence of numbers, or of colors, optional
        The classes in order, as in `one_hot`.
    on_value : int or float, default 1
        The value of a hot element. Elements are compared bit by bit.
    default : int or "error", or an element beside `categories`
        The label of a row in which all elements are equal but none is `on_value`, e.g. all zeros.
        "error" raises an error for such a row. A row with different elements, none of which is
        `on_value`, always raises an error. By default, it is -1, and "error" with `categories`.
    multiple : {"error", "first"}, default "error"
        A row with several hot elements raises an error, or gets the label of the first hot element.
    rule : {"exact", "argmax"}, default "exact"
        "argmax" returns the class of the largest element, e.g. of scores or probabilities. Ties
        return the first class, and NaN counts as the largest. `on_value`, `default` and `multiple`
        do not apply to "argmax".

    Returns
    -------
    Tensor of int64, or of the dtype of `categories`
        The labels, on the device of `tensor`. The shape is that of `tensor` without the dimension
        `axis`; the channels of colors are the last dimension. Categories in a list become bool,
        int64, uint64 or float64, the first one that holds all of them exactly.

    Raises
    ------
    TypeError
        An argument does not have a type or dtype listed above.
    ValueError
        `tensor` is sparse or has rank 0; `axis` is out of range; an option is invalid; the dtype
        cannot hold `on_value`; a row cannot be decoded (on the CPU; other devices fail
        `torch._assert_async`, see `one_hot`).

    Examples
    --------
    >>> decode(torch.tensor([[0, 1, 0], [0, 0, 0]]))
    tensor([ 1, -1])
    >>> decode(torch.tensor([[0.2, 0.7], [0.6, 0.4]]), rule="argmax")
    tensor([1, 0])
    """
    tensor = _from_device(tensor)
    _check_tensor(tensor, "tensor")
    if categories is not None:
        return _decode_to_elements(tensor, axis, categories, on_value, default, multiple, rule)
    default = -1 if default is ... else default
    _check_dtype(tensor.dtype, "tensor.dtype")
    check_choice(rule, "rule", ("exact", "argmax"))
    check_choice(multiple, "multiple", ("error", "first"))
    if tensor.ndim == 0:
        raise ValueError("tensor must have at least one dimension, got a 0-D tensor")
    axis = _position(axis, tensor.ndim)
    tensor = _detached(tensor)
    if rule == "argmax":
        if (on_value, default, multiple) != (1, -1, "error"):
            raise TypeError("on_value, default and multiple do not apply to rule='argmax'")
        if tensor.dtype.is_complex:
            raise TypeError(f"tensor must be real with rule='argmax', got {tensor.dtype}")
        if tensor.shape[axis] == 0:
            raise ValueError(
                "tensor must have at least one class with rule='argmax', got shape"
                f" {tuple(tensor.shape)}"
            )
        return argmax(tensor, axis)
    _check_on_value(on_value, tensor.dtype)
    if isinstance(default, str):
        check_choice(default, "default", ("error",))
        filler = None
    else:
        filler = _whole(default, "default")
        if isinstance(filler, int) and not -(2**63) <= filler < 2**63:
            raise ValueError(
                f"default must be in [-2**63, 2**63), the range of the int64 result, got {filler}"
            )
    is_compiling = torch.compiler.is_compiling()
    if is_compiling and _is_composed(tensor):
        return decode_by_torch(tensor, axis, on_value, filler, multiple)
    is_called_directly = not is_compiling and is_direct(tensor, None)
    find: Callable[..., torch.Tensor] = labels_of if is_called_directly else DECODING
    return find(tensor, axis, on_value, filler, multiple)


def _decode_to_elements(
    tensor: torch.Tensor,
    axis: int,
    categories: Any,
    on_value: float,
    default: Any,
    multiple: Any,
    rule: Any,
) -> torch.Tensor:
    """Return the category of each row."""
    values = _from_device(categories)
    if not isinstance(values, torch.Tensor):
        numbers, dtype = _numbers_of(categories)
        values = torch.tensor(numbers, dtype=dtype)
    values = values.to(tensor.device)
    axis = _position(axis, tensor.ndim) if tensor.ndim else axis
    if tensor.ndim and tensor.shape[axis] != len(values):
        raise ValueError(
            f"tensor must have {number_of(len(values), 'position')} on axis {axis}, one for each"
            f" category, got shape {tuple(tensor.shape)}"
        )
    is_strict = default is ... or (isinstance(default, str) and default == "error")
    options: dict[str, Any] = {} if rule == "argmax" else {"default": "error"}
    if rule == "argmax" and default is not ...:
        raise TypeError("on_value, default and multiple do not apply to rule='argmax'")
    if rule != "argmax" and not is_strict:
        options = {"default": -1}
    labels = decode(tensor, axis, on_value=on_value, multiple=multiple, rule=rule, **options)
    if is_strict or rule == "argmax":
        return values[labels]
    channels = [*default] if is_container(default) else [default]
    if len(channels) != math.prod(values.shape[1:]) or not all(
        _fits(channel, values.dtype) for channel in channels
    ):
        raise ValueError(f"default must fit the categories of {values.dtype}, got {default!r}")
    channels = _fitting([channels], values.dtype)[1][0]
    filler = torch.tensor(channels, dtype=values.dtype, device=values.device)
    return torch.cat([values, filler.reshape(1, *values.shape[1:])])[labels]


@_public("offsets")
def multi_hot(
    flat: torch.Tensor,
    num_classes: int | None = -1,
    *,
    offsets: torch.Tensor | Iterable[int],
    mode: Literal["set", "count"] = "set",
    dtype: torch.dtype | None = None,
    out_of_range: Literal["ignore", "error"] = "error",
) -> torch.Tensor:
    """Return the multi-hot matrix of rows that hold any number of labels, on any device.

    Parameters
    ----------
    flat : Tensor of integers, shape (n_labels,)
        The labels of all rows, one row after the other. Negative labels are skipped, so you can use
        them for padding.
    num_classes : int, default -1
        The number of classes, 0 or more. -1 and None mean 1 + the largest label; reading it from a
        GPU synchronizes with the device.
    offsets : Tensor or sequence of int, shape (n_rows + 1,)
        Row ``i`` has the labels ``flat[offsets[i]:offsets[i + 1]]``. The offsets of
        `torch.nn.EmbeddingBag` lack the last one unless ``include_last_offset=True``: append
        ``len(flat)``.
    mode : {"set", "count"}, default "set"
        "set" writes 1 for each class of a row. "count" writes the number of times that the class
        occurs in the row (modulo the range of an integer dtype).
    dtype : torch.dtype, optional
        The dtype of the result, as for `one_hot`; float32 by default. Counts need an integer,
        float32 or float64.
    out_of_range : {"ignore", "error"}, default "error"
        A label >= `num_classes` is skipped or raises an error.

    Returns
    -------
    Tensor of shape (n_rows, num_classes)
        It is on the device of `flat`.

    Raises
    ------
    TypeError
        An argument does not have a type or dtype listed above.
    ValueError
        `flat` or `offsets` has another shape, or `offsets` is on another device; `num_classes` is
        not in [-1, ``2**63``), or cannot be inferred; an option is invalid; the offsets decrease or
        exceed the number of labels, or a label is too large (on the CPU).

    Notes
    -----
    On devices other than the CPU, invalid labels and offsets fail `torch._assert_async`, as for
    `one_hot`.

    Examples
    --------
    >>> flat = torch.tensor([0, 2, 1, 1])
    >>> multi_hot(flat, 3, offsets=[0, 2, 2, 4], dtype=torch.uint8)
    tensor([[1, 0, 1],
            [0, 0, 0],
            [0, 1, 0]], dtype=torch.uint8)
    """
    flat = _from_device(flat)
    _check_flat(flat, "flat")
    flat = _detached(flat)
    offsets = _from_device(offsets)
    if not isinstance(offsets, torch.Tensor):
        several = items_of(offsets, "offsets")
        offsets = torch.tensor([_whole(each, "offsets") for each in several], device=flat.device)
    if not (isinstance(offsets, torch.Tensor) and len(offsets.shape) == 1 and len(offsets)):
        raise ValueError(
            "offsets must have one dimension and at least one element, got shape"
            f" {tuple(offsets.shape)}; no rows have the offsets [0]"
        )
    _check_flat(offsets, "offsets")
    offsets = _detached(offsets)
    if offsets.device != flat.device:
        raise ValueError(f"offsets must be on {flat.device} like flat, got {offsets.device}")
    check_choice(mode, "mode", ("set", "count"))
    check_choice(out_of_range, "out_of_range", ("ignore", "error"))
    dtype = torch.float32 if dtype is None else dtype
    _check_dtype(dtype)
    if mode == "count" and dtype not in COUNTABLE:
        raise TypeError(
            f"dtype must be an integer, float32 or float64 with mode='count', got {dtype}"
        )
    classes = _num_classes(num_classes, flat, [], "ignore")
    is_on_cpu = flat.device.type == "cpu" and not torch.compiler.is_compiling()
    if is_on_cpu and is_direct(flat, offsets):
        return multi_hot_by_kernel(flat, classes, offsets, mode, dtype, out_of_range)
    wide = offsets.to(torch.int64).contiguous()
    return multi_hot_by_torch(flat, classes, wide, mode, dtype, out_of_range)


def _check_flat(tensor: Any, name: str) -> None:
    """Raise an error unless an argument is a tensor of integers with one dimension."""
    _check_tensor(tensor, name)
    if tensor.dtype not in INTEGERS:
        raise TypeError(f"{name} must have an integer dtype, got {tensor.dtype}")
    if tensor.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {tuple(tensor.shape)}")


def _from_device(value: Any) -> Any:
    """Return an array on a device, e.g. of CuPy or JAX, as a tensor that shares its memory.

    Everything else is returned as it is: an array on the CPU belongs to the functions of the core.
    """
    if isinstance(value, torch.Tensor) or not hasattr(value, "__dlpack_device__"):
        return value
    on_device = value.__dlpack_device__()[0] not in HOST_MEMORY
    return torch.from_dlpack(value) if on_device else value


def _detached(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor whose memory has its values, and which has no gradient."""
    return tensor.detach().resolve_conj().resolve_neg()


def _is_composed(tensor: torch.Tensor) -> bool:
    """Tell whether a graph gets plain operations: an exported one, or one for another device."""
    return tensor.device.type != "cpu" or (CAN_DETECT_EXPORT and IS_EXPORTING())


def _whole(value: Any, name: str) -> int:
    """Return an integer argument as an int or `torch.SymInt`, or raise a TypeError."""
    try:
        whole: int = value if isinstance(value, torch.SymInt) else operator.index(value)
        return whole
    except TypeError:
        raise TypeError(f"{name} must be an int, got {value!r}") from None


def _position(axis: Any, rank: int) -> int:
    """Return an axis in [0, rank); raise an error if it is out of range."""
    position = _whole(axis, "axis")
    if not -rank <= position < rank:
        raise ValueError(f"axis must be in [{-rank}, {rank}), got {position}")
    return position % rank


def _check_tensor(tensor: Any, name: str) -> None:
    """Raise an error unless an argument is a strided (not sparse) torch tensor."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(
            f"{name} must be a torch.Tensor, got {with_article(tensor)}; for arrays, use"
            " onehot_fast.one_hot or onehot_fast.decode"
        )
    if type(tensor) is not torch.Tensor and hasattr(tensor, "to_local"):
        raise TypeError(
            f"{name} must not be distributed, got {with_article(tensor)}: pass {name}.to_local(),"
            " and make a distributed tensor of the result"
        )
    if tensor.is_nested:
        raise ValueError(
            f"{name} must not be nested: pass {name}.to_padded_tensor(-1), or call the function"
            f" for each tensor of {name}.unbind()"
        )
    if tensor.layout != torch.strided:
        raise ValueError(f"{name} must be strided, got {tensor.layout}: pass {name}.to_dense()")


def _check_dtype(dtype: Any, name: str = "dtype") -> None:
    """Raise an error for a dtype that `one_hot` cannot return."""
    if not isinstance(dtype, torch.dtype):
        raise TypeError(f"{name} must be a torch.dtype such as torch.float32, got {dtype!r}")
    if dtype not in VALUES:
        raise TypeError(
            f"{name} must be a Boolean, integer, float or complex dtype that can represent 0 and 1"
            f" and has elements of at least one byte, got {dtype}"
        )


def _check_out(out: torch.Tensor, tensor: torch.Tensor, shape: list[int]) -> None:
    """Raise an error unless `out` has the shape and device of the result and no gradient."""
    if list(out.shape) != shape:
        raise ValueError(f"out must have shape {tuple(shape)}, got {tuple(out.shape)}")
    if out.device != tensor.device:
        raise ValueError(f"out must be on {tensor.device} like tensor, got {out.device}")
    if out.requires_grad:
        raise ValueError("out must not require a gradient: pass out.detach()")
    # Dynamo cannot trace these questions.
    if not torch.compiler.is_compiling() and (out.is_neg() or out.is_conj()):
        raise ValueError(
            "out must not be a lazily negated or conjugated view: pass the tensor that it views"
        )


def _ignored(ignore_index: Any, dtype: torch.dtype) -> list[int]:
    """Return the ignored labels that 64 bits can hold.

    If `dtype` is uint64, each label becomes the int64 with the same bits.
    """
    if ignore_index is None:
        return []
    # Tuples of types, because `torch.compile` of torch 2.5 cannot trace unions.
    several = ignore_index if isinstance(ignore_index, (list, tuple)) else [ignore_index]
    if not all(i is None or isinstance(i, (int, torch.SymInt)) for i in several):
        several = _items(ignore_index)
    indices = [_whole(index, "ignore_index") for index in several if index is not None]
    if dtype == torch.uint64:
        return [i - 2**64 if i >= 2**63 else i for i in indices if 0 <= i < 2**64]
    return [index for index in indices if -(2**63) <= index < 2**63]


def _items(ignore_index: Any) -> list[Any]:
    """Return the labels in any container, or the only one; `torch.compile` does not trace this."""
    if isinstance(ignore_index, set | frozenset):
        return list(ignore_index)
    if isinstance(ignore_index, str | bytes) or not is_container(ignore_index):
        return [as_scalar(ignore_index, "ignore_index")]
    return items_of(ignore_index, "ignore_index")


def _smoothing(value: Any, dtype: torch.dtype) -> float:
    """Return the label smoothing as a float; raise an error if the value or `dtype` is invalid."""
    if type(value) is float and value == 0:
        return 0.0  # not -0.0, which would reach the elements
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating)):
        raise TypeError(f"label_smoothing must be a float, got {value!r}")
    if not 0 <= value < 1:
        raise ValueError(f"label_smoothing must be in [0, 1), got {value}")
    if value and dtype not in SMOOTHED:
        raise TypeError(
            f"dtype must be float16, bfloat16, float32 or float64 with label_smoothing, got {dtype}"
        )
    return float(value) + 0.0


def _check_on_value(value: Any, dtype: torch.dtype) -> None:
    """Raise an error for an `on_value` that `dtype` cannot represent."""
    if not isinstance(value, (int, float)):
        raise TypeError(f"on_value must be an int or a float, got {value!r}")
    if dtype.is_floating_point or dtype.is_complex:
        if not _is_in_range(value, dtype):
            raise ValueError(
                f"on_value must be representable as {dtype}, whose largest value is"
                f" {torch.finfo(dtype).max}, got {shown(value)}"
            )
        return
    limits = (0, 1) if dtype == torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
    if not (limits[0] <= value <= limits[1] and value == int(value)):
        raise ValueError(f"on_value must be representable as {dtype}, got {shown(value)}")


def _is_in_range(value: float, dtype: torch.dtype) -> bool:
    """Tell whether a float dtype rounds a finite number to a finite number."""
    if isinstance(value, float) and not math.isfinite(value):
        return True
    limits = torch.finfo(dtype)
    # Half of the distance to the next number, which would be infinite, is rounded down.
    if dtype in (torch.float64, torch.complex128):
        return bool(abs(value) <= limits.max)
    return bool(abs(value) < limits.max * (1 + limits.eps / 4))


def _num_classes(value: Any, tensor: torch.Tensor, ignored: list[int], negative: str) -> int:
    """Return the number of classes; for None and -1, infer it from the largest label."""
    if value is not None:
        given = _whole(value, "num_classes")
        if not isinstance(given, int) or 0 <= given < 2**63:
            return given
        if given != -1:
            raise ValueError(
                f"num_classes must be in [0, 2**63), got {given}; -1 means 1 + the largest label"
            )
    if negative == "normalize":
        raise ValueError(
            "num_classes must be given with negative_indices='normalize', which adds num_classes to"
            " negative labels"
        )
    if IS_EXPORTING():
        raise ValueError(
            "num_classes must be given under torch.export, where the labels are unknown"
        )
    labels, mask = read_labels(tensor, ignored)
    # `read_labels` maps labels that int64 cannot hold to its maximum.
    mask = labels == INT64.max if mask is None else mask | (labels == INT64.max)
    largest = int(labels.masked_fill(mask, INT64.min).max()) if tensor.numel() else INT64.min
    if largest == INT64.min:
        raise ValueError(
            f"num_classes cannot be inferred, because the tensor of shape {tuple(tensor.shape)} is"
            " empty, or all its labels are ignored or out of range: pass num_classes"
        )
    return max(largest + 1, 0)
