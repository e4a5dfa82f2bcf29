"""Which dtype the values of an array have, and which kind of dictionary holds them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from onehot_fast._arrow.array import Array
from onehot_fast._categories.source import dtype_in_memory
from onehot_fast._categories.strings import Strings

# The kinds of values of which there are dictionaries.
Kind: TypeAlias = Literal["string", "binary", "int64", "uint64", "float64"]

ARROW_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
TEXT_KINDS: dict[str, Kind] = {"U": "string", "T": "string", "S": "binary"}


def dtype_of(values: Any) -> np.dtype[Any] | None:
    """Return the dtype of numbers and times, None for all other values."""
    if isinstance(values, np.ndarray):
        return values.dtype.newbyteorder("=") if values.dtype.kind in "biufmM" else None
    return _arrow_dtype(values.schema.format) if isinstance(values, Array) else None


def _arrow_dtype(form: str) -> np.dtype[Any] | None:
    """Return the dtype of a format of Arrow; instants with a zone are integers."""
    if form.startswith("tD"):
        return np.dtype(f"m8[{ARROW_UNITS[form[2]]}]")
    if form.startswith("ts") and not form[4:]:
        return np.dtype(f"M8[{ARROW_UNITS[form[2]]}]")
    in_memory = dtype_in_memory(form)
    return np.dtype(in_memory) if in_memory else None


def kind_of(values: Any) -> Kind:
    """Return the kind of the dictionary that holds the values of an array.

    Raises
    ------
    TypeError
        There is none.
    """
    dtype = dtype_of(values)
    if dtype is not None:
        return kind_of_dtype(dtype)
    if isinstance(values, Strings):
        return "string" if values.is_text else "binary"
    if isinstance(values, Array) and values.schema.kind in ("string", "binary"):
        return "string" if values.schema.kind == "string" else "binary"
    if isinstance(values, np.ndarray) and values.dtype.kind in TEXT_KINDS:
        return TEXT_KINDS[values.dtype.kind]
    raise TypeError(f"{values!r} has values that no dictionary holds")


def kind_of_dtype(dtype: np.dtype[Any]) -> Kind:
    """Return the kind of the dictionary that holds numbers or times."""
    if dtype.kind == "f":
        return "float64"
    return "uint64" if dtype == np.uint64 else "int64"
