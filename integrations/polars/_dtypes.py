"""The dtypes of results: NumPy's, polars' and Arrow's names for the same elements."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from onehot_fast.adapter import number_dtype

__all__ = ["Element", "element_of", "result_dtype"]

AnyDtype: TypeAlias = np.dtype[Any]


class Element(NamedTuple):
    """One element of a result: its dtype in polars, and its type by the Arrow C data interface."""

    dtype: Any
    format: str


ELEMENTS: dict[AnyDtype, Element] = {
    np.dtype(bool): Element(pl.Boolean, "b"),
    np.dtype(np.int8): Element(pl.Int8, "c"),
    np.dtype(np.int16): Element(pl.Int16, "s"),
    np.dtype(np.int32): Element(pl.Int32, "i"),
    np.dtype(np.int64): Element(pl.Int64, "l"),
    np.dtype(np.uint8): Element(pl.UInt8, "C"),
    np.dtype(np.uint16): Element(pl.UInt16, "S"),
    np.dtype(np.uint32): Element(pl.UInt32, "I"),
    np.dtype(np.uint64): Element(pl.UInt64, "L"),
    np.dtype(np.float32): Element(pl.Float32, "f"),
    np.dtype(np.float64): Element(pl.Float64, "g"),
}
if hasattr(pl, "Float16"):  # polars 1.36
    ELEMENTS[np.dtype(np.float16)] = Element(pl.Float16, "e")
TO_NUMPY: dict[Any, AnyDtype] = {element.dtype: dtype for dtype, element in ELEMENTS.items()}


def result_dtype(dtype: Any) -> AnyDtype:
    """Return the NumPy dtype of a NumPy or polars dtype; raise TypeError if it is not numeric."""
    if not isinstance(dtype, pl.DataType | type(pl.UInt8)):
        return number_dtype(dtype, "dtype")
    if dtype not in TO_NUMPY:
        raise TypeError(f"dtype = {dtype!r} is not a Boolean, integer or floating dtype")
    return TO_NUMPY[dtype]


def element_of(dtype: AnyDtype) -> Element:
    """Return the polars dtype and Arrow format of a NumPy dtype, or raise TypeError."""
    if dtype not in ELEMENTS:
        accepted = ", ".join(map(str, ELEMENTS))
        raise TypeError(f"dtype = {dtype} is unknown to polars; accepted are {accepted}")
    return ELEMENTS[dtype]
