"""One-hot encode and decode torch tensors, with any dtype, on any axis and device.

>>> import torch
>>> from onehot_fast.integrations.torch import one_hot
>>> one_hot(torch.tensor([0, 2, 255]), 3, dtype=torch.bfloat16, ignore_index=255)
tensor([[1., 0., 0.],
        [0., 0., 1.],
        [0., 0., 0.]], dtype=torch.bfloat16)
"""

from onehot_fast.adapter import require

require("torch")

from .function import decode, multi_hot, one_hot

__all__ = ["decode", "multi_hot", "one_hot"]


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]
