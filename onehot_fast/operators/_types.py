"""Element types as the standards name them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy.typing as npt

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")


def type_name(array: npt.NDArray[Any]) -> str:
    """Return the name of the type of the elements: ``string`` for all kinds of text."""
    if array.dtype.kind in "SUT":
        return "string"
    if array.dtype.kind == "O" and all(isinstance(item, (str, bytes)) for item in array.flat):
        return "string"
    return str(array.dtype.name)


def check_type(name: str, array: npt.NDArray[Any], accepted: Collection[str], where: str) -> None:
    """Raise TypeError unless the elements of the input `name` have one of the accepted types."""
    if type_name(array) not in accepted:
        types = ", ".join(accepted)
        raise TypeError(f"{where}: {name} must have one of the types {types}, got {array.dtype}")
