"""`one_hot` of a tensor, as two custom operators of torch: one that allocates, one that fills."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

import onehot_fast
from onehot_fast.adapter import checks

__all__ = ["one_hot"]

INTEGERS = (
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.uint16, torch.uint32, torch.uint64,
)  # fmt: skip
INDICES = (*INTEGERS, torch.float16, torch.float32, torch.float64)
# The integers in which the elements lie whose dtype NumPy does not have, by their bytes.
BITS = {1: torch.uint8, 2: torch.uint16}

# What is whole as it stands, in a graph too.
WHOLE = (int, torch.SymInt)
POLICIES = "int axis, int[] ignore_index, str negative_indices, str out_of_range"


def one_hot(
    tensor: torch.Tensor,
    num_classes: int,
    *,
    dtype: torch.dtype | None = None,
    axis: int = -1,
    ignore_index: int | Sequence[int] | None = None,
    negative_indices: Literal["ignore", "normalize", "error"] = "ignore",
    out_of_range: Literal["ignore", "error"] = "ignore",
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the one-hot encoding of a tensor of indices, by the policies of `onehot_fast.one_hot`.

    It is a custom operator of torch, ``torch.ops.onehot_fast.one_hot``: `torch.compile` and
    `torch.export` keep it in their graphs. The memory of the result is that of the kernels.

    Parameters
    ----------
    tensor : Tensor of integers, float16, float32 or float64, of any shape, on the CPU
        It is read where it lies, whatever its strides.
    num_classes : int
        From 0.
    dtype : torch.dtype, optional
        Of the result: any of torch's, bfloat16 and the float8 dtypes too. By default that of `out`,
        else float32.
    axis : int, default -1
        Where the classes stand in the result: 1 gives (N, C, H, W) of (N, H, W).
    ignore_index : int or several, optional
        The rows of these are all off, before any policy looks at them.
    negative_indices : {"ignore", "normalize", "error"}, default "ignore"
        A negative index makes a row that is all off, counts from the back, or is refused.
    out_of_range : {"ignore", "error"}, default "ignore"
        An index from `num_classes` on makes a row that is all off, or is refused.
    out : Tensor, optional
        Where the result goes: of the right shape and dtype, of any strides, on the CPU.

    Returns
    -------
    Tensor
        The shape of `tensor` with a dimension of `num_classes` at `axis`; or `out` itself.

    Raises
    ------
    TypeError
        `tensor` or `out` is no tensor, or not of the dtypes above; another argument is not of the
        type above.
    ValueError
        It is sparse, or on another device than the CPU; `num_classes` is negative; `axis` is out of
        range; a policy is unknown or refuses an index; `out` does not fit.
    MemoryError
        The result is larger than the free memory.

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
    """
    _check_tensor(tensor, "tensor")
    if tensor.dtype not in INDICES:
        raise TypeError(
            f"tensor has dtype {tensor.dtype}; accepted are integers, float16, float32 and float64"
        )
    checks.check_choice(negative_indices, "negative_indices", ("ignore", "normalize", "error"))
    checks.check_choice(out_of_range, "out_of_range", ("ignore", "error"))
    num_classes, axis = _whole(num_classes, "num_classes"), _whole(axis, "axis")
    if num_classes < 0:
        raise ValueError(
            f"num_classes = {num_classes} is negative; of labels that are all there, it is"
            " int(tensor.max()) + 1"
        )
    rank = tensor.ndim + 1
    if not -rank <= axis < rank:
        raise ValueError(f"axis = {axis} is outside [{-rank}, {rank})")
    axis = axis % rank
    listed = [*ignore_index] if isinstance(ignore_index, Sequence) else [ignore_index]
    several = [_whole(index, "ignore_index") for index in listed if index is not None]
    if dtype is not None and not isinstance(dtype, torch.dtype):
        raise TypeError(
            f"dtype = {dtype!r} is {checks.with_article(dtype)}; accepted is a torch.dtype, such as"
            " torch.float32"
        )
    policies = axis, several, negative_indices, out_of_range
    if out is None:
        dtype = torch.float32 if dtype is None else dtype
        made: torch.Tensor = ALLOCATING(tensor, num_classes, dtype, *policies)
        return made
    _check_tensor(out, "out")
    if dtype not in (None, out.dtype):
        raise ValueError(f"dtype = {dtype}, and out has {out.dtype}: pass one of them")
    shape = _shape(tensor, num_classes, axis)
    if list(out.shape) != shape:
        raise ValueError(f"out has shape {tuple(out.shape)}; the result has {tuple(shape)}")
    FILLING(tensor, num_classes, *policies, out)
    return out


def _whole(value: Any, name: str) -> int:
    """Return an argument as an int, or refuse it."""
    if isinstance(value, WHOLE):
        return value
    try:
        return operator.index(value)
    except TypeError:
        hint = "; of labels that are all there, int(tensor.max()) + 1"
        raise TypeError(
            f"{name} = {value!r} is {checks.with_article(value)}; accepted is an int"
            f"{hint if name == 'num_classes' else ''}"
        ) from None


def _check_tensor(tensor: Any, name: str) -> None:
    """Refuse what is no tensor that the kernels can read."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(
            f"{name} is {checks.with_article(tensor)}; accepted is a torch.Tensor (of an array,"
            " onehot_fast.one_hot makes an array)"
        )
    if tensor.layout != torch.strided:
        raise ValueError(f"{name} has layout {tensor.layout}; accepted is {name}.to_dense()")
    if tensor.device.type not in ("cpu", "meta"):
        raise ValueError(
            f"{name} is on {tensor.device}, and onehot_fast encodes on the CPU alone: encode before"
            f" the batch is moved, as in one_hot({name}.cpu(), ...).to({str(tensor.device)!r}), or"
            " use torch.nn.functional.one_hot there"
        )


def _shape(tensor: torch.Tensor, num_classes: int, axis: int) -> list[int]:
    return [*tensor.shape[:axis], num_classes, *tensor.shape[axis:]]


@cache
def _element(dtype: torch.dtype) -> tuple[torch.dtype, npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the dtype in which NumPy holds elements, and 1 and 0 as 0-D arrays of it."""
    one, zero = (torch.tensor(value).to(dtype) for value in (1.0, 0.0))
    try:
        return dtype, one.numpy(), zero.numpy()
    except TypeError:
        bits = BITS[dtype.itemsize]
        return bits, one.view(bits).numpy(), zero.view(bits).numpy()


def _encode(
    tensor: torch.Tensor,
    num_classes: int,
    dtype: torch.dtype,
    policies: tuple[int, list[int], Any, Any],
    out: npt.NDArray[Any] | None,
) -> npt.NDArray[Any]:
    """Return the encoding as an array."""
    axis, ignore_index, negative_indices, out_of_range = policies
    _, on, off = _element(dtype)
    return onehot_fast.one_hot(
        np.from_dlpack(tensor.detach()),
        num_classes,
        on_value=on,
        off_value=off,
        axis=axis,
        negative_indices=negative_indices,
        out_of_range=out_of_range,
        ignore_index=ignore_index or None,
        out=out,
    )


def _allocate(
    tensor: torch.Tensor, num_classes: int, dtype: torch.dtype, *policies: Any
) -> torch.Tensor:
    encoded = torch.from_numpy(_encode(tensor, num_classes, dtype, policies, None))
    return encoded if encoded.dtype == dtype else encoded.view(dtype)


def _allocate_fake(
    tensor: torch.Tensor, num_classes: int, dtype: torch.dtype, axis: int, *policies: Any
) -> torch.Tensor:
    """Return a tensor like the result, of which only shape and dtype are looked at."""
    return tensor.new_empty(_shape(tensor, num_classes, axis), dtype=dtype)


def _fill(tensor: torch.Tensor, num_classes: int, *rest: Any) -> None:
    *policies, out = rest
    stored, *_ = _element(out.dtype)
    memory = out.detach() if stored == out.dtype else out.detach().view(stored)
    _encode(tensor, num_classes, out.dtype, tuple(policies), memory.numpy())


def _fill_fake(*arguments: Any) -> None:
    """Nothing has a shape to tell."""


ALLOCATING: Any = torch.library.custom_op(
    "onehot_fast::one_hot",
    _allocate,
    mutates_args=(),
    device_types="cpu",
    schema=f"(Tensor tensor, SymInt num_classes, ScalarType dtype, {POLICIES}) -> Tensor",
)
ALLOCATING.register_fake(_allocate_fake)
FILLING: Any = torch.library.custom_op(
    "onehot_fast::one_hot_out",
    _fill,
    mutates_args=("out",),
    device_types="cpu",
    schema=f"(Tensor tensor, SymInt num_classes, {POLICIES}, Tensor(a!) out) -> ()",
)
FILLING.register_fake(_fill_fake)
