"""One-hot encoding of labels, label masks and tables.

Call

- ``series.onehot()`` or ``frame.onehot(["plan"])`` to look at data, after
  ``import onehot_fast.integrations.pandas`` (or ``.polars``, or ``.dask``),
- ``Encoder(["plan"]).fit(train)``, then ``encoder.transform(test)``, for training and test data,
- ``one_hot(labels, depth)`` for integer labels and label masks, ``decode(tensor)`` for the reverse,
- ``multi_hot(rows, depth)`` for rows with several labels each.

>>> from onehot_fast import Encoder, one_hot
>>> one_hot([0, 2], 3)
array([[1., 0., 0.],
       [0., 0., 1.]], dtype=float32)
>>> encoder = Encoder(["plan"], dtype="uint8").fit({"plan": ["pro", "free", None]})
>>> encoder.transform({"plan": ["free", "pro"]})
array([[1, 0],
       [0, 1]], dtype=uint8)

`help(onehot_fast.Encoder)` lists the options for rare, missing and unknown values.
"""

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_IS_SOURCE = os.path.exists(os.path.join(_ROOT, "setup.py"))
try:
    # Only an installation maps the folder integrations/ to this name.
    if _IS_SOURCE and find_spec("onehot_fast.integrations") is None:
        raise ImportError("onehot_fast.integrations is not installed")
    from onehot_fast._build_info import build_info
    from onehot_fast._runtime.memory import cache_info, empty_cache
    from onehot_fast._runtime.registry import import_hint as _import_hint
    from onehot_fast._runtime.registry import integration_of_module as _integration_of_module
    from onehot_fast._version import __version__
    from onehot_fast.tensor import decode, empty, infer_shape, one_hot
except ImportError as _error:
    if not _IS_SOURCE:
        raise
    raise ImportError(
        f"onehot_fast was imported from its source directory, {_ROOT}, which is not installed for"
        f" this Python ({_error}). If it is installed elsewhere, start Python in another directory:"
        f" cd ~. Otherwise install it: python -m pip install -e {_ROOT}"
    ) from _error

if TYPE_CHECKING:
    from onehot_fast._categories.classes import distinct_classes
    from onehot_fast._categories.column import Column
    from onehot_fast.encoder import (
        Check,
        Encoder,
        Estimate,
        Listing,
        Special,
        UnknownValueError,
        UnknownValueWarning,
    )
    from onehot_fast.implicit import OneHotMatrix
    from onehot_fast.ragged import distinct_labels, multi_hot
    from onehot_fast.sequences import (
        decode_sequences,
        lowercase_mask,
        one_hot_sequences,
        tokenize_sequences,
    )

__all__ = [
    "Check", "Column", "Encoder", "Estimate", "Listing", "OneHotMatrix", "Special",
    "UnknownValueError", "UnknownValueWarning", "__version__", "build_info", "cache_info", "decode",
    "decode_sequences", "distinct_classes", "distinct_labels", "empty", "empty_cache",
    "infer_shape", "lowercase_mask", "multi_hot", "one_hot", "one_hot_sequences",
    "tokenize_sequences",
]  # fmt: skip

# Names of other modules are imported at their first use, because importing them here would triple
# the time of `import onehot_fast`. Names that are not listed are in the module `encoder`.
_MODULES = {
    "Column": "_categories.column", "OneHotMatrix": "implicit",
    "distinct_classes": "_categories.classes", "distinct_labels": "ragged", "multi_hot": "ragged",
    **dict.fromkeys(
        ("decode_sequences", "lowercase_mask", "one_hot_sequences", "tokenize_sequences"),
        "sequences",
    ),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name at its first use."""
    if name not in __all__:
        text, hint = f"module {__name__!r} has no attribute {name!r}", _import_hint(name)
        # `from onehot_fast import name` replaces an AttributeError, but not an ImportError, by its
        # own. Only its helper in `importlib` gets the ImportError, so that `hasattr` still works.
        if hint and sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap":
            raise ImportError(f"cannot import name {name!r} from {__name__!r}; use: {hint}")
        raise AttributeError(f"{text}; use: {hint}" if hint else text)
    module = import_module(f"{__name__}.{_MODULES.get(name, 'encoder')}")
    value = globals()[name] = getattr(module, name)
    return value


class _IntegrationHint:
    """A finder that explains that `import onehot_fast.pandas` lacks a part of the name.

    It comes last, after the finders that find modules, and finds none.
    """

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> None:
        """Raise ModuleNotFoundError for the name of an integration or of its library."""
        package, _, name = fullname.rpartition(".")
        module = _integration_of_module(name) if package == __name__ else None
        if module is not None:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}; use: import {__name__}.integrations.{module}",
                name=fullname,
            )


# `importlib.reload` must not add a second one.
if not any(type(finder).__name__ == _IntegrationHint.__name__ for finder in sys.meta_path):
    sys.meta_path.append(_IntegrationHint())


def __dir__() -> list[str]:
    """Return the public names, whether they are already imported or not."""
    return sorted({*__all__, *({"integrations", "operators"} & {*globals()})})
