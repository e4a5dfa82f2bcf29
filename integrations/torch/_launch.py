"""One-hot encoding and decoding on CUDA devices, by the Triton kernels of `_kernels`.

Nothing here imports triton before a CUDA tensor arrives. The functions have the arguments and the
results of those in `_composition`, which serve where Triton or a kernel is missing.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from typing import Any, NamedTuple

import torch

from . import _composition
from ._composition import (
    FLOAT8,
    INT64,
    INTEGER_OF_SIZE,
    INVALID_LABEL,
    NO_CLASS,
    SEVERAL_CLASSES,
    scalar,
    smoothed_values,
)  # fmt: skip

# The devices whose tensors the kernels read. Tests add "cpu", for the interpreter of Triton.
DEVICES = {"cuda"}
# `torch.library.triton_op` needs torch 2.6. ROCm also calls its devices "cuda".
HAS_TRITON = (
    torch.version.cuda is not None
    and hasattr(torch.library, "triton_op")
    and find_spec("triton") is not None
)

TILE_BYTES = 8192  # of `expand`
EXPANDED_BYTES = 128  # the widest rows that `expand` writes, see `RECIPROCAL_BITS`
PLANE_TILE_BYTES = 4096  # of `planes`
WIDE_ROWS = 8  # of at least 1 KB, in a block of `fill_and_scatter`; 16 of bytes
FILLED_BYTES = 32768  # wider rows are filled by torch
MIN_PROGRAMS = 128  # with fewer programs, most of a GPU would be idle
SCATTERED_LABELS = 256
CHECKED_LABELS = 256  # at a time by `expand`: one for each thread
DECODED_ELEMENTS = 4096  # of `decode_rows`
DECODED_PLANE = 512  # elements of a tile of `decode_planes`
MIN_DECODED_PLANE = 128  # smaller planes would leave most of a tile empty
WIDTHS = (4, 16, 64, 512)  # of the tiles of `decode_rows`
# The bits of 1 as a signed integer; those of 0 are 0.
ONE_BITS = {
    dtype: int(scalar(1, dtype).view(INTEGER_OF_SIZE[dtype.itemsize]))
    for dtype in (
        torch.float16, torch.bfloat16, torch.float32, torch.float64, *FLOAT8,
    )
}  # fmt: skip
COMPONENT = {
    torch.complex32: torch.float16, torch.complex64: torch.float32, torch.complex128: torch.float64,
}  # fmt: skip
# The bits without the sign, and those of the largest value that is not NaN. In the "fnuz" dtypes,
# 0 and NaN have one representation each, as all integers.
MAGNITUDES = {
    torch.float8_e4m3fn: (0x7F, 0x7E), torch.float8_e5m2: (0x7F, 0x7C),
    torch.float16: (0x7FFF, 0x7C00), torch.bfloat16: (0x7FFF, 0x7F80),
    torch.float32: (0x7FFF_FFFF, 0x7F80_0000), torch.float64: (2**63 - 1, 0x7FF << 52),
}  # fmt: skip
SIGNED_OF_SIZE = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

_flags: dict[torch.device, Flags] = {}
_found: dict[torch.device, Any] = {}


class Flags(NamedTuple):
    """Numbers that are 1 until a kernel finds an invalid label or row."""

    invalid_label: torch.Tensor
    several_classes: torch.Tensor
    no_class: torch.Tensor
    unread: torch.Tensor


class Rules(NamedTuple):
    """What the kernels do with labels, as integers of 64 bits that wrap around.

    A label is rejected if it differs from `ignored` and ``label - low > span``. A label that equals
    `dropped` becomes a row of zeros, and `shift` is added to other negative labels.
    """

    shift: int
    dropped: int
    low: int
    span: int
    ignored: int

    @property
    def can_reject(self) -> bool:
        """Whether a label can be invalid."""
        return self.span < 2**63 - 1

    @property
    def can_change(self) -> bool:
        """Whether the class of a label can differ from the label."""
        return self.shift != 0 or self.dropped != INT64.min


ACCEPT_ALL = Rules(0, INT64.min, 0, INT64.max, 0)


def rules(
    dtype: torch.dtype,
    num_classes: int,
    ignore_index: Sequence[int],
    negative_indices: str,
    out_of_range: str,
) -> Rules:
    """Return the rules for integer labels of a dtype, with at most one ignored label."""
    is_strict = out_of_range == "error"
    is_signed = dtype.is_signed
    smallest, largest = INT64.min, num_classes - 1 if is_strict else INT64.max
    if not is_signed:
        # The largest labels of uint64 are negative here, and out of range. Widened labels of other
        # dtypes are never negative.
        smallest = 0 if is_strict else INT64.min
    elif negative_indices == "error":
        smallest = 0
    elif negative_indices == "normalize" and is_strict:
        smallest = -num_classes
    # The comparison is signed, so both sides are moved by 2**63.
    low = smallest - INT64.min if smallest < 0 else smallest + INT64.min
    span = largest - smallest + INT64.min
    shift = num_classes if is_signed and negative_indices == "normalize" else 0
    dropped, ignored = INT64.min, smallest
    if ignore_index:
        dropped = ignored = ignore_index[0]
    return Rules(shift, dropped, low, span, ignored)


def find_kernels(device: torch.device) -> Any:
    """Return the module of the kernels, or None if they cannot run on a device.

    The first call for a device runs one kernel, because Triton needs a C compiler at run time.
    """
    if device.type not in DEVICES:
        return None
    if device in _found:
        return _found[device]
    if _is_capturing(device):
        return None  # a graph must not contain the trial
    found = None
    if HAS_TRITON or "cpu" in DEVICES:
        try:
            kernels = importlib.import_module("._kernels", __package__)
            with _current(device):
                _launch_encode(kernels, *_trial(device))
            found = kernels
        except Exception as error:  # Triton has no common class of errors
            reason = str(error).strip().partition("\n")[0]
            warnings.warn(
                "onehot_fast uses plain torch operations, which are slower, because Triton cannot"
                f" compile a kernel for {device}: {type(error).__name__}: {reason}",
                RuntimeWarning,
                stacklevel=2,
            )
    _found[device] = found
    return found


def _trial(device: torch.device) -> tuple[Any, ...]:
    """Return the arguments of a small launch."""
    labels = torch.zeros(1, dtype=torch.int64, device=device)
    return labels, 1, 1, (1, 0), ACCEPT_ALL, torch.empty((1, 1), device=device).view(torch.int32)


def _is_capturing(device: torch.device) -> bool:
    return device.type == "cuda" and bool(torch.cuda.is_current_stream_capturing())


def _flags_of(device: torch.device) -> Flags:
    """Return the flags of a device, which exist once."""
    flags = _flags.get(device)
    if flags is None:
        if _is_capturing(device):  # memory of a graph must not be used outside of it
            return Flags(*torch.ones(4, dtype=torch.int32, device=device).unbind())
        # A copy from the CPU is complete when `to` returns, so that all streams can read it.
        flags = Flags(*torch.ones(4, dtype=torch.int32).to(device).unbind())
        _flags[device] = flags
    return flags


def encode_into(tensor: torch.Tensor, num_classes: int, *policies_and_out: Any) -> None:
    """Write the one-hot tensor of labels into `out`, the last of `policies_and_out`."""
    axis, ignore_index, negative_indices, out_of_range, label_smoothing, out = policies_and_out
    if not tensor.numel():
        return
    kernels = find_kernels(tensor.device)
    order = _memory_order(out)
    if kernels is None or order is None or not 0 < num_classes < 2**31:
        _composition.encode_into(tensor, num_classes, *policies_and_out)
        return
    policies = ignore_index, negative_indices, out_of_range
    if tensor.dtype.is_floating_point or len(ignore_index) > 1:
        tensor = _composition.resolve_labels(tensor, num_classes, *policies)
        label_rules = ACCEPT_ALL
    else:
        label_rules = rules(tensor.dtype, num_classes, *policies)
    place = order.index(axis)
    inner = math.prod(out.shape[i] for i in order[place + 1 :])
    labels = _in_order(tensor, [i - (i > axis) for i in order if i != axis]).contiguous()
    if label_smoothing:
        on, off = smoothed_values(label_smoothing, num_classes)
        bits = bits_of(on, out.dtype), bits_of(off, out.dtype)
    else:
        dtype = COMPONENT.get(out.dtype, out.dtype)
        bits = ONE_BITS.get(dtype, 1), 0
    words = _in_order(out, order)
    if out.dtype == torch.complex128:
        words = torch.view_as_real(words).view(torch.int64)
    else:
        words = words.view(SIGNED_OF_SIZE[out.dtype.itemsize])
    with _current(tensor.device):
        _launch_encode(kernels, labels, num_classes, inner, bits, label_rules, words)
        if label_rules.can_reject:
            torch._assert_async(_flags_of(tensor.device).invalid_label, INVALID_LABEL)


def _launch_encode(
    kernels: Any,
    labels: torch.Tensor,
    num_classes: int,
    inner: int,
    bits: tuple[int, int],
    label_rules: Rules,
    out: torch.Tensor,
) -> None:
    """Launch the kernel for the shape; `out` is contiguous and has the classes before `inner`."""
    on, off = bits
    size = out.dtype.itemsize
    n_rows = labels.numel()
    words = out.numel() // (n_rows * num_classes)
    flag = _flags_of(labels.device).invalid_label
    label_bytes = labels.dtype.itemsize
    is_whole = labels.dtype.is_signed or label_bytes == 8
    way = choose_way(n_rows, num_classes, inner, size, words)
    is_aligned = inner % 16 == 0
    # The other kernels read bytes: one variant serves labels of all widths.
    is_compiled_for_width = way == "expand" or (way == "planes" and is_aligned)
    stored = SIGNED_OF_SIZE[label_bytes if is_compiled_for_width else 1]
    if labels.dtype != stored:
        labels = labels.flatten().view(stored)  # scalars have no view of other sizes
    arguments: dict[str, Any] = {
        "labels": labels, "out": out, "flag": flag, "on": on, "n_classes": num_classes,
        "label_mask": -1 if is_whole else 256**label_bytes - 1,
        "shift": label_rules.shift, "dropped": label_rules.dropped, "low": label_rules.low,
        "span": label_rules.span, "ignored": label_rules.ignored,
    }  # fmt: skip
    if way != "expand":
        arguments["label_bytes"] = label_bytes
    if way == "expand":
        tile = TILE_BYTES // size
        groups = tile // num_classes // 16
        arguments |= {"n_rows": n_rows, "off": off, "rows_of_tile": groups}
        kernels.expand[(-(-n_rows // (groups * 16)),)](
            **arguments,
            reciprocal=-(-(2**18) // num_classes),
            can_reject=int(label_rules.can_reject),
            can_change=int(label_rules.can_change),
            ROWS=CHECKED_LABELS,
            TILE=tile,
            num_warps=8,
        )
    elif way == "fill_and_scatter":
        n_filled = rows_of_block(num_classes, size)
        kernels.fill_and_scatter[(-(-n_rows // n_filled),)](
            **arguments,
            n_rows=n_rows,
            off=off,
            ROWS=n_filled,
            TILE=(8192 if n_filled == 128 else 16384) // size,
            num_warps=8,
        )
    elif way == "planes":
        tile = PLANE_TILE_BYTES // size
        n_tiles = -(-inner // tile)
        kernels.planes[(n_rows // inner * n_tiles,)](
            **arguments,
            inner=inner,
            n_tiles=n_tiles,
            off=off,
            IS_ALIGNED=is_aligned,
            TILE=tile,
            num_warps=4,
        )
    else:
        out.fill_(off)
        kernels.scatter[(-(-n_rows // SCATTERED_LABELS),)](
            **arguments,
            n_rows=n_rows,
            inner=inner,
            words=words,
            TILE=SCATTERED_LABELS,
            num_warps=4,
        )


def choose_way(n_rows: int, num_classes: int, inner: int, size: int, words: int) -> str:
    """Return the name of the kernel for a shape and an element of `words` words of `size` bytes."""
    if words > 1:
        return "scatter"
    if inner > 1:
        return "planes" if inner * size >= PLANE_TILE_BYTES // 4 else "scatter"
    row_bytes = num_classes * size
    if size >= 4 and row_bytes <= EXPANDED_BYTES:
        return "expand"
    n_programs = -(-n_rows // rows_of_block(num_classes, size))
    is_wide = row_bytes > FILLED_BYTES or (n_programs < MIN_PROGRAMS and row_bytes > 1024)
    return "scatter" if is_wide else "fill_and_scatter"


def rows_of_block(num_classes: int, size: int) -> int:
    """Return the number of rows that a block of `fill_and_scatter` writes."""
    row_bytes = num_classes * size
    if size == 1 and row_bytes < 32:
        return 1024
    # Rows of this number end at a multiple of 16 bytes, so that all stores can be that wide.
    return 128 if row_bytes < 1024 else max(WIDE_ROWS, 16 // size)


def decode(
    tensor: torch.Tensor, axis: int, on_value: float, default: int | None, multiple: str
) -> torch.Tensor:
    """Return the index of `on_value` in each row, as `_composition.decode` does."""
    n_classes = tensor.shape[axis]
    kernels = find_kernels(tensor.device) if tensor.numel() and n_classes < 2**31 else None
    if kernels is None:
        return _composition.decode(tensor, axis, on_value, default, multiple)
    order = _memory_order(tensor)
    if order is None:
        tensor = tensor.contiguous()
        order = list(range(tensor.ndim))
    dense = _in_order(tensor, order)
    place = order.index(axis)
    inner = math.prod(dense.shape[place + 1 :])
    if 1 < inner < MIN_DECODED_PLANE:
        rows = tensor.movedim(axis, -1).contiguous()
        return decode(rows, tensor.ndim - 1, on_value, default, multiple)
    component = COMPONENT.get(tensor.dtype, tensor.dtype)
    if tensor.dtype.is_complex:
        dense = torch.view_as_real(dense)
    shape = [tensor.shape[i] for i in order if i != axis]
    labels = torch.empty(shape, dtype=torch.int64, device=tensor.device)
    flags = _flags_of(tensor.device)
    magnitude, largest = MAGNITUDES.get(component, (-1, INT64.max))
    arguments: dict[str, Any] = {
        "encoded": dense.view(SIGNED_OF_SIZE[component.itemsize]),
        "out": labels,
        "several": flags.several_classes if multiple == "error" else flags.unread,
        "nothing": flags.no_class,
        "n_classes": n_classes,
        "on": bits_of(on_value, component),
        "default": -1 if default is None else default,
        "is_strict": int(default is None),
        "magnitude": magnitude,
        "largest": largest,
        "WORDS": 2 if tensor.dtype.is_complex else 1,
    }  # fmt: skip
    with _current(tensor.device):
        _launch_decode(kernels, inner, labels.numel(), arguments)
        if multiple == "error":
            torch._assert_async(flags.several_classes, SEVERAL_CLASSES)
        torch._assert_async(flags.no_class, NO_CLASS)
    kept = [i - (i > axis) for i in order if i != axis]
    inverse = sorted(range(len(kept)), key=kept.__getitem__)
    return _in_order(labels, inverse).contiguous()


def _launch_decode(kernels: Any, inner: int, n_rows: int, arguments: dict[str, Any]) -> None:
    """Launch the kernel for the shape."""
    n_classes = arguments["n_classes"]
    if inner > 1:
        n_tiles = -(-inner // DECODED_PLANE)
        kernels.decode_planes[(n_rows // inner * n_tiles,)](
            **arguments,
            inner=inner,
            n_tiles=n_tiles,
            IS_ALIGNED=inner % 16 == 0 and arguments["WORDS"] == 1,
            TILE=DECODED_PLANE,
            num_warps=4,
        )
        return
    width = next((width for width in WIDTHS if n_classes <= width), WIDTHS[-1])
    width = width if arguments["WORDS"] == 1 else 16
    n_read = DECODED_ELEMENTS // width
    kernels.decode_rows[(-(-n_rows // n_read),)](
        **arguments,
        n_rows=n_rows,
        IS_ALIGNED=n_classes % 16 == 0 and arguments["WORDS"] == 1,
        ROWS=n_read,
        COLUMNS=width,
        num_warps=4,
    )


def bits_of(value: float, dtype: torch.dtype) -> int:
    """Return the bits of a value in a dtype as a signed integer."""
    if value == 1:
        return ONE_BITS.get(dtype, 1)
    return int(scalar(value, dtype).view(SIGNED_OF_SIZE[dtype.itemsize]))


def _current(device: torch.device) -> Any:
    """Return a context in which Triton launches kernels on a device."""
    if device.type != "cuda" or device.index == torch.cuda.current_device():
        return nullcontext()
    return torch.cuda.device(device)


def _memory_order(tensor: torch.Tensor) -> list[int] | None:
    """Return the dimensions in the order of their strides, or None if the memory has gaps."""
    if tensor.is_contiguous():
        return list(range(tensor.ndim))
    order = sorted(range(tensor.ndim), key=lambda i: -tensor.stride(i))
    return order if tensor.permute(order).is_contiguous() else None


def _in_order(tensor: torch.Tensor, order: list[int]) -> torch.Tensor:
    """Return a tensor with its dimensions in an order; the common order takes no time."""
    return tensor if order == [*range(len(order))] else tensor.permute(order)
