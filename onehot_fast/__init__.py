"""The OneHot operator at the speed of memory."""

from onehot_fast._build import build_info
from onehot_fast._memory import cache_info, empty_cache
from onehot_fast._version import __version__
from onehot_fast.column import Column
from onehot_fast.encoder import Encoder
from onehot_fast.ragged import multi_hot
from onehot_fast.tensor import decode, infer_shape, one_hot

__all__ = [
    "Column",
    "Encoder",
    "__version__",
    "build_info",
    "cache_info",
    "decode",
    "empty_cache",
    "infer_shape",
    "multi_hot",
    "one_hot",
]
