"""ONNX's OneHot operator, versions 9, 11 and 28, on NumPy arrays.

If ONNX's specification and reference code disagree, this module follows the specification: floats
are truncated before they are compared, values are copied and never computed, and an index outside
the range never wraps, in any opset.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast import tensor
from onehot_fast._arguments.arraylikes import as_array
from onehot_fast._arguments.indices import as_integer

__all__ = ["one_hot"]

VERSIONS = (9, 11, 28)
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
NUMBERS = (*INTEGERS, *FLOATS)  # T1 and T2
VALUES = (*NUMBERS, "bool", "complex64", "complex128", "string")  # T3
VALUES_28 = (*VALUES, "bfloat16")


def one_hot(
    indices: npt.ArrayLike,
    depth: npt.ArrayLike,
    values: npt.ArrayLike,
    axis: int = -1,
    *,
    opset: int = 11,
) -> npt.NDArray[Any]:
    """Encode `indices` like ONNX's OneHot.

    Plain Python numbers in `values` are converted like constants of ONNX: int becomes int64, and
    float becomes float32.

    Parameters
    ----------
    indices : array_like of T1, any shape
        T1 is an integer type of 8 to 64 bits, float16, float32 or float64. Floats are truncated
        toward zero to int64 before use; NaN, infinity and numbers beyond int64 are out of range.
        0-D is accepted.
    depth : scalar or array_like of T2, shape () or (1,)
        The number of classes, at least 0; T2 has the same 11 types as T1. Floats are truncated
        toward zero.
    values : array_like of T3, shape (2,)
        ``[off_value, on_value]``, in this order. T3 is a type of T1, bool, string, complex64 or
        complex128; from opset 28, also bfloat16. Strings are arrays of dtype ``S``, ``U`` or
        ``StringDType``, or object arrays of str.
    axis : int, default -1
        The position of the new dimension in the output, in [-r - 1, r] where r is the rank of
        `indices`.
    opset : int, default 11
        The opset of the model, at least 9. It selects version 9, 11 or 28 of OneHot. In opsets 9
        and 10 a negative index is out of range; from opset 11, an index in [-depth, -1] counts from
        the end.

    Returns
    -------
    ndarray
        The shape of `indices` with `depth` inserted at `axis`, and the dtype of `values`. An index
        out of range becomes a row of `off_value`.

    Raises
    ------
    TypeError
        An input has a type outside T1, T2 or T3, or `axis` or `opset` is not an integer.
    ValueError
        `depth` or `values` has the wrong shape; `depth` is negative, NaN or infinite; `axis` is out
        of range; `opset` is below 9; or the result exceeds the limits of NumPy.
    MemoryError
        The result is larger than the free memory.

    References
    ----------
    ONNX Operators, OneHot-9, OneHot-11 and OneHot-28: Inputs, Attributes and Type Constraints.

    Examples
    --------
    >>> from onehot_fast.operators import onnx
    >>> onnx.one_hot([0, -1, 7], 3, [2, 5])
    array([[5, 2, 2],
           [2, 2, 5],
           [2, 2, 2]])
    >>> onnx.one_hot([0, -1, 7], 3, [2, 5], opset=9)
    array([[5, 2, 2],
           [2, 2, 2],
           [2, 2, 2]])
    """
    version = _version(opset)
    where = f"OneHot-{version}"
    indices, depth, values = as_array(indices), as_array(depth, "depth"), _values(values)
    check_type("indices", indices, NUMBERS, where)
    check_type("depth", depth, NUMBERS, where)
    check_type("values", values, VALUES_28 if version >= 28 else VALUES, where)
    if depth.shape not in ((), (1,)):
        raise ValueError(f"{where}: depth must have shape () or (1,), got {depth.shape}")
    if values.shape != (2,):
        raise ValueError(
            f"{where}: values must be [off_value, on_value] of shape (2,), got shape {values.shape}"
        )
    return tensor.one_hot(
        indices,
        depth,
        on_value=values[1, ...],
        off_value=values[0, ...],
        axis=axis,
        negative_indices="normalize" if version >= 11 else "ignore",
    )


def _version(opset: int) -> int:
    """Return the version of OneHot in an opset."""
    number = as_integer(opset, "opset")
    if number < VERSIONS[0]:
        raise ValueError(f"opset must be at least 9, got {number}")
    return max(version for version in VERSIONS if version <= number)


def _values(data: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return `data` as an array; plain Python floats become float32, like constants of ONNX."""
    array = as_array(data, "values")
    if array.dtype != np.float64 or not _is_plain(data):
        return array
    with np.errstate(over="ignore"):
        narrow = array.astype(np.float32)
    if (np.isinf(narrow) != np.isinf(array)).any():
        raise ValueError(
            f"values must fit float32, the type of Python floats in ONNX, got {data!r}: pass"
            " np.array(values) to use float64"
        )
    return narrow


def _is_plain(data: Any) -> bool:
    """Tell whether `data` consists of plain Python numbers, which have no dtype."""
    if isinstance(data, (list, tuple)):
        return all(map(_is_plain, data))
    return type(data) in (bool, int, float)


def check_type(name: str, array: npt.NDArray[Any], accepted: Collection[str], where: str) -> None:
    """Raise TypeError unless the elements of the input `name` have one of the accepted types."""
    kind = array.dtype.kind
    # Any str or bytes has the type ``string``.
    is_text = kind == "O" and all(isinstance(item, str | bytes) for item in array.flat)
    if ("string" if is_text or kind in "SUT" else array.dtype.name) not in accepted:
        types = ", ".join(accepted)
        raise TypeError(f"{where}: {name} must have one of the types {types}, got {array.dtype}")
