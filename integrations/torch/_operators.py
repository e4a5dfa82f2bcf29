"""Custom torch operators: compiled kernels on the CPU, `_launch` on other devices.

`torch.compile` and `torch.export` keep these operators in graphs for the CPU. An `axis` argument is
never negative. For uint64 labels, `ignore_index` holds the int64 values with the same bits, because
operator schemas have no unsigned integers.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

import onehot_fast

from . import _launch
from ._composition import FLOAT8, INTEGER_OF_SIZE, scalar, smoothed_values

POLICIES = (
    "int axis, int[] ignore_index, str negative_indices, str out_of_range, float label_smoothing"
)
# The dtypes that NumPy lacks. `_widened` returns their values in another dtype.
NOT_IN_NUMPY = frozenset([torch.bfloat16, *FLOAT8, torch.complex32])
QUIET_NAN = 0x7FC00000  # of float32; its lowest 22 bits are free


@cache
def one_and_zero(dtype: torch.dtype) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return 1 and 0 of `dtype` as 0-D arrays; see `as_numpy` for their NumPy dtype.

    Other values are not cached: their number has no bound, and 0.0 and -0.0 are equal keys.
    """
    return as_numpy(scalar(1, dtype)), as_numpy(scalar(0, dtype))


def as_numpy(tensor: torch.Tensor) -> npt.NDArray[Any]:
    """Return a tensor as an array without a copy; if NumPy lacks its dtype, view it as integers."""
    if tensor.dtype in NOT_IN_NUMPY:
        tensor = tensor.view(INTEGER_OF_SIZE[tensor.dtype.itemsize])
    return np.asarray(tensor.numpy())


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    """Return the elements in a dtype of NumPy; elements of different bits keep different bits."""
    if tensor.dtype not in NOT_IN_NUMPY:
        return tensor
    if tensor.dtype.is_complex:
        return torch.view_as_complex(_widened_floats(torch.view_as_real(tensor)))
    return _widened_floats(tensor)


def _widened_floats(tensor: torch.Tensor) -> torch.Tensor:
    """Return floats of one or two bytes as float32, with their bits in the payload of a NaN."""
    floats = tensor.to(torch.float32)
    is_nan = floats.isnan()
    if bool(is_nan.any()):  # the conversion can make two different NaNs equal
        size = tensor.dtype.itemsize
        bits = tensor.view(INTEGER_OF_SIZE[size]).to(torch.int32) & (256**size - 1)
        floats = torch.where(is_nan, (bits | QUIET_NAN).view(torch.float32), floats)
    return floats


def _elements(dtype: torch.dtype, label_smoothing: float, num_classes: int) -> dict[str, Any]:
    """Return the arguments of the core's function for the elements of a result."""
    hot, cold = one_and_zero(dtype)
    if label_smoothing:
        values = smoothed_values(label_smoothing, num_classes)
        hot, cold = (as_numpy(scalar(value, dtype)) for value in values)
        return {"on_value": hot, "off_value": cold}
    if dtype in NOT_IN_NUMPY:
        return {"on_value": hot, "off_value": cold}
    return {"dtype": hot.dtype}


def in_numpy(elements: Any) -> Any:
    """Return a tensor of floats that NumPy lacks as float32, which is exact, else the argument."""
    is_lacking = isinstance(elements, torch.Tensor) and elements.dtype in NOT_IN_NUMPY
    return elements.to(torch.float32) if is_lacking else elements


def encode_elements(
    tensor: torch.Tensor,
    num_classes: int,
    dtype: torch.dtype,
    axis: int,
    label_smoothing: float,
    out: torch.Tensor | None,
    **options: Any,
) -> torch.Tensor:
    """Encode elements of the CPU, whose classes are listed, with the kernels of the package."""
    tensor = in_numpy(_plain(tensor))
    elements = _elements(dtype, label_smoothing, num_classes)
    target = None if out is None else as_numpy(_plain(out))
    array = onehot_fast.one_hot(tensor.numpy(), axis=axis, **elements, out=target, **options)
    if out is not None:
        if not out.is_inference():
            torch.autograd.graph.increment_version(out)
        return out
    encoded = torch.from_numpy(array)
    return encoded if encoded.dtype == dtype else encoded.view(dtype)


def _whole(tensor: torch.Tensor, ignore_index: list[int]) -> torch.Tensor:
    """Return float labels truncated to whole numbers; warn if a counted one has a fraction."""
    whole = tensor.trunc()
    is_fraction = (whole != tensor) & tensor.isfinite()
    for ignored in ignore_index:
        is_fraction &= whole != ignored
    if not bool(is_fraction.any()):
        return whole
    value = tensor[is_fraction][0].item()
    warnings.warn(
        f"a label of {value} is truncated to {int(value)}; from onehot_fast 0.3 on, labels that are"
        " no whole numbers are out of range: pass tensor.trunc(), or out_of_range='ignore'",
        FutureWarning,
        stacklevel=4,
    )
    return whole


def _encode(
    tensor: torch.Tensor, num_classes: int, dtype: torch.dtype, *policies: Any, out: Any = None
) -> npt.NDArray[Any]:
    """Encode a CPU tensor with the kernels of the package, and return the NumPy array."""
    axis, ignore_index, negative_indices, out_of_range, label_smoothing = policies
    elements = _elements(dtype, label_smoothing, num_classes)
    if out_of_range == "error" and tensor.dtype.is_floating_point:
        tensor = _whole(tensor, ignore_index)
    if tensor.dtype == torch.uint64:
        ignore_index = [index % 2**64 for index in ignore_index]
    return onehot_fast.one_hot(
        tensor.numpy(),
        num_classes,
        **elements,
        axis=axis,
        negative_indices=negative_indices,
        out_of_range=out_of_range,
        ignore_index=ignore_index or None,
        out=out,
    )


def _allocate_by_kernel(tensor: Any, num_classes: int, dtype: Any, *policies: Any) -> torch.Tensor:
    array = _encode(tensor, num_classes, dtype, *policies)
    encoded = torch.from_numpy(array)
    return encoded if encoded.dtype == dtype else encoded.view(dtype)


def _fill_by_kernel(tensor: Any, num_classes: int, *policies_and_out: Any) -> None:
    *policies, out = policies_and_out
    _encode(tensor, num_classes, out.dtype, *policies, out=as_numpy(out))


def _empty(
    tensor: torch.Tensor, num_classes: int, dtype: torch.dtype, axis: int, *policies: Any
) -> torch.Tensor:
    """Return an uninitialized tensor with the shape, dtype and device of the result."""
    shape = [*tensor.shape[:axis], num_classes, *tensor.shape[axis:]]
    return tensor.new_empty(shape, dtype=dtype)


def _allocate_on_device(
    tensor: torch.Tensor, num_classes: int, dtype: torch.dtype, *policies: Any
) -> torch.Tensor:
    out = _empty(tensor, num_classes, dtype, *policies)
    _launch.encode_into(tensor, num_classes, *policies, out)
    return out


def _allocate_batched(info: Any, in_dims: Any, tensor: Any, *arguments: Any) -> Any:
    """Encode the whole batch of `torch.vmap` in one call."""
    num_classes, dtype, axis, *rest = arguments
    return ALLOCATING(tensor.movedim(in_dims[0], 0), num_classes, dtype, axis + 1, *rest), 0


def _fill_batched(info: Any, in_dims: Any, tensor: Any, *arguments: Any) -> Any:
    """Fill `out` for the whole batch of `torch.vmap` in one call."""
    num_classes, axis, *rest, out = arguments
    if in_dims[-1] is None:
        raise ValueError("out must be batched like tensor: pass the dimension of out in in_dims")
    out = out.movedim(in_dims[-1], 0)
    if in_dims[0] is None:
        tensor = tensor.expand(info.batch_size, *tensor.shape)
    else:
        tensor = tensor.movedim(in_dims[0], 0)
    FILLING(tensor, num_classes, axis + 1, *rest, out)
    return None, None


def _decode_by_kernel(
    tensor: torch.Tensor, axis: int, on_value: float, default: int | None, multiple: Any
) -> torch.Tensor:
    # First to the dtype of the tensor: 0.9 is another number in bfloat16 than in float32.
    hot = scalar(on_value, tensor.dtype)
    classes = onehot_fast.decode(
        _widened(tensor.detach()).numpy(),
        axis,
        on_value=_widened(hot).numpy(),
        default="error" if default is None else default,
        multiple=multiple,
    )
    return torch.from_numpy(classes)


def _decode_fake(tensor: torch.Tensor, axis: int, *rules: Any) -> torch.Tensor:
    shape = [*tensor.shape[:axis], *tensor.shape[axis + 1 :]]
    return tensor.new_empty(shape, dtype=torch.int64)


def _decode_batched(info: Any, in_dims: Any, tensor: Any, axis: int, *rules: Any) -> Any:
    """Decode the whole batch of `torch.vmap` in one call."""
    return DECODING(tensor.movedim(in_dims[0], 0), axis + 1, *rules), 0


def _operator(
    name: str, schema: str, by_torch: Any, by_kernel: Any, fake: Any, batched: Any
) -> Any:
    """Register and return a custom operator with its implementations."""
    changed = ("out",) if "(a!)" in schema else ()
    operator = torch.library.custom_op(name, by_torch, mutates_args=changed, schema=schema)
    operator.register_kernel("cpu", by_kernel)
    operator.register_fake(fake)
    operator.register_vmap(batched)
    return operator


def is_direct(tensor: torch.Tensor, out: torch.Tensor | None) -> bool:
    """Tell whether nothing observes the calls of operators, so that kernels can be called directly.

    Observers are modes (e.g. of fake tensors), transforms such as vmap, tracers, and subclasses
    that implement operators. The machinery of operators takes longer than a small call.
    """
    return (
        not has_observers()
        and (type(tensor) in PLAIN or _is_stored(tensor))
        and (out is None or type(out) in PLAIN or _is_stored(out))
    )


def _is_stored(tensor: torch.Tensor) -> bool:
    """Tell whether a subclass has the storage of a plain tensor, and its operators."""
    return type(tensor).__torch_dispatch__ is torch.Tensor.__torch_dispatch__


def has_observers() -> bool:
    """Tell whether a mode, a transform or a tracer is active."""
    return N_DISPATCH_MODES() > 0 or CURRENT_TRANSFORM() is not None or CURRENT_TRACE() is not None


PLAIN = (torch.Tensor, torch.nn.Parameter)
# These functions are private: in a version without them, all calls use the operators.
N_DISPATCH_MODES = getattr(torch._C, "_len_torch_dispatch_stack", None) or (lambda: 1)
CURRENT_TRANSFORM = getattr(torch._C._functorch, "peek_interpreter_stack", None) or (lambda: 1)
CURRENT_TRACE = getattr(torch._C, "_get_tracing_state", None) or (lambda: 1)


def allocate(
    tensor: torch.Tensor, num_classes: int, dtype: torch.dtype, *policies: Any
) -> torch.Tensor:
    """Return the one-hot tensor without the machinery of operators."""
    allocating = _allocate_by_kernel if tensor.device.type == "cpu" else _allocate_on_device
    return allocating(_plain(tensor), num_classes, dtype, *policies)


def fill(tensor: torch.Tensor, num_classes: int, *policies_and_out: Any) -> None:
    """Write the one-hot tensor into `out` without the machinery of operators."""
    *policies, out = policies_and_out
    filling = _fill_by_kernel if tensor.device.type == "cpu" else _launch.encode_into
    filling(_plain(tensor), num_classes, *policies, _plain(out))
    if not out.is_inference():
        torch.autograd.graph.increment_version(out)  # autograd detects that a saved tensor changed


def labels_of(tensor: torch.Tensor, *rules: Any) -> torch.Tensor:
    """Decode without the machinery of operators."""
    decoding = _decode_by_kernel if tensor.device.type == "cpu" else _launch.decode
    return decoding(_plain(tensor), *rules)


def multi_hot_by_kernel(
    flat: torch.Tensor,
    num_classes: int,
    offsets: torch.Tensor,
    mode: Any,
    dtype: torch.dtype,
    out_of_range: Any,
) -> torch.Tensor:
    """Return the multi-hot matrix of labels of the CPU, by the kernels of the package."""
    # Ones and counts of these dtypes are exact in float32.
    is_known = dtype not in NOT_IN_NUMPY
    matrix = onehot_fast.multi_hot(
        _plain(flat).numpy(),
        num_classes,
        offsets=_plain(offsets).numpy(),
        mode=mode,
        dtype=one_and_zero(dtype if is_known else torch.float32)[0].dtype,
        out_of_range=out_of_range,
    )
    return torch.from_numpy(matrix).to(dtype)


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if type(tensor) is torch.Tensor else tensor.as_subclass(torch.Tensor)


ALLOCATING = _operator(
    "onehot_fast::one_hot",
    f"(Tensor tensor, SymInt num_classes, ScalarType dtype, {POLICIES}) -> Tensor",
    _allocate_on_device,
    _allocate_by_kernel,
    _empty,
    _allocate_batched,
)
FILLING = _operator(
    "onehot_fast::one_hot_out",
    f"(Tensor tensor, SymInt num_classes, {POLICIES}, Tensor(a!) out) -> ()",
    _launch.encode_into,
    _fill_by_kernel,
    lambda *arguments: None,
    _fill_batched,
)
DECODING = _operator(
    "onehot_fast::decode",
    "(Tensor tensor, int axis, Scalar on_value, int? default, str multiple) -> Tensor",
    _launch.decode,
    _decode_by_kernel,
    _decode_fake,
    _decode_batched,
)
