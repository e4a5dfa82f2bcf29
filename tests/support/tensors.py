"""Labels and options to draw for the torch functions, and what their outcomes are compared by."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import torch

from onehot_fast.integrations.torch.function import INDICES, _ignored

UNSIGNED = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)
# Values at the limits of the dtypes, by dtype.
LIMITS = {
    torch.uint8: [255], torch.uint64: [2**63, 2**64 - 1], torch.int64: [-(2**63), 2**63 - 1],
    torch.float16: [float("nan"), -0.5, 1.9, -float("inf")],
    torch.float64: [float("nan"), 1e30, -1e30, -(2.0**63), 2.0**63, -0.5],
}  # fmt: skip


@st.composite
def labels_and_options(draw):
    """Return a tensor, a number of classes and options."""
    dtype = draw(st.sampled_from(INDICES))
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    low = 0 if dtype in UNSIGNED else -4
    # Limits seldom: with the policy "error" they hide what else is in the tensor.
    limits = st.sampled_from(draw(st.sampled_from([[0], [0], LIMITS.get(dtype, [1])])))
    size = int(np.prod(shape))
    values = draw(st.lists(st.integers(low, 9) | limits, min_size=size, max_size=size))
    tensor = torch.tensor(values, dtype=dtype).reshape(shape)
    if draw(st.booleans()) and tensor.ndim > 1:
        tensor = tensor.transpose(0, -1)
    if draw(st.booleans()) and tensor.ndim:
        tensor = torch.stack([tensor, tensor], -1)[..., 1]
    options = {
        "axis": draw(st.integers(-tensor.ndim - 1, tensor.ndim)),
        "ignore_index": draw(st.sampled_from([None, 3, -1, [0, 5], 2**63 - 1, 2**64 - 1])),
        "negative_indices": draw(st.sampled_from(["ignore", "normalize", "error"])),
        "out_of_range": draw(st.sampled_from(["ignore", "error"])),
    }
    return tensor, draw(st.integers(0, 10)), options


def array_for_core(tensor, options):
    """Return the labels as an array which the core must encode as the torch functions encode them.

    Both truncate fractions, except for the core with the policy "error", which rejects them; the
    torch functions only announce that they will.
    """
    labels = tensor.numpy()
    is_truncated = options["out_of_range"] == "error" and labels.dtype.kind == "f"
    return np.trunc(labels) if is_truncated else labels


# A label with a fraction, which one of the two truncates.
FRACTION = (
    torch.tensor(-0.5, dtype=torch.float16),
    0,
    {"axis": 0, "ignore_index": None, "negative_indices": "ignore", "out_of_range": "error"},
)


def operator_policies(tensor, options, smoothing):
    """Return the policies as the operators take them."""
    ignored = _ignored(options["ignore_index"], tensor.dtype)
    axis = options["axis"] % (tensor.ndim + 1)
    return axis, ignored, options["negative_indices"], options["out_of_range"], smoothing


def outcome(work):
    """Return the result of a call, or the message of its error."""
    try:
        return work()
    except ValueError as error:
        return str(error)


def stored(tensor):
    """Return the elements of a tensor as bytes, in C order."""
    if not tensor.numel():
        return b""
    dense = tensor.clone(memory_format=torch.contiguous_format).view(-1)
    return dense.view(torch.uint8).numpy().tobytes()
