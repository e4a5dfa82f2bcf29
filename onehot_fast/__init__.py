"""The OneHot operator at the speed of memory."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from onehot_fast._runtime.build import build_info
from onehot_fast._runtime.memory import cache_info, empty_cache
from onehot_fast._version import __version__
from onehot_fast.tensor import decode, empty, infer_shape, one_hot

if TYPE_CHECKING:
    from onehot_fast.column import Column
    from onehot_fast.encoder import Check, Encoder, Estimate, Listing, Special
    from onehot_fast.implicit import OneHotMatrix
    from onehot_fast.ragged import distinct_labels, multi_hot

__all__ = [
    "Check",
    "Column",
    "Encoder",
    "Estimate",
    "Listing",
    "OneHotMatrix",
    "Special",
    "__version__",
    "build_info",
    "cache_info",
    "decode",
    "distinct_labels",
    "empty",
    "empty_cache",
    "infer_shape",
    "multi_hot",
    "one_hot",
]

# What works on tables is imported when it is first asked for: it would triple the time that
# `import onehot_fast` takes for those who came for the operator.
_TABLES = {
    "Check": "encoder",
    "Column": "column",
    "Encoder": "encoder",
    "Estimate": "encoder",
    "Listing": "encoder",
    "OneHotMatrix": "implicit",
    "Special": "encoder",
    "distinct_labels": "ragged",
    "multi_hot": "ragged",
}


def __getattr__(name: str) -> Any:
    """Import a public name of the tables."""
    if name not in _TABLES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_TABLES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, imported already or not."""
    return sorted({*__all__, *({"integrations", "operators"} & {*globals()})})
