"""OpenVINO's OneHot operator, versions 1 and 16, on NumPy arrays."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

import numpy.typing as npt

from onehot_fast import tensor
from onehot_fast._arguments.arraylikes import as_array
from onehot_fast._arguments.checks import check_choice, check_text
from onehot_fast._arguments.indices import as_integer
from onehot_fast.operators.onnx import FLOATS, INTEGERS, check_type

__all__ = ["one_hot"]

VERSIONS = (1, 16)
INDICES = ("int32", "int64")  # T1
SMALL = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn")
VALUES = (*INTEGERS, *FLOATS, "bool", "string", *SMALL, "int4", "uint2", "uint4")  # T2
MODES: dict[str, Literal["ignore", "normalize"]] = {
    "ignore_negative": "ignore",
    "normalize": "normalize",
}


def one_hot(
    indices: npt.ArrayLike,
    depth: npt.ArrayLike,
    on_value: npt.ArrayLike,
    off_value: npt.ArrayLike,
    axis: int,
    *,
    negative_indices_mode: str = "ignore_negative",
    version: int = 1,
) -> npt.NDArray[Any]:
    """Encode `indices` like OpenVINO's OneHot.

    Plain Python numbers are converted as in OpenVINO's Python API: int becomes int64, and float
    becomes float64.

    Parameters
    ----------
    indices : array_like of T1, any shape
        T1 is int32 or int64. 0-D is accepted.
    depth : scalar or array_like of T1, shape ()
        The number of classes, at least 1. Its type may differ from the type of the indices, as in
        OpenVINO itself, although the specification requires the same T1.
    on_value, off_value : scalar or array_like of T2, shape ()
        Two values of the same type: any integer or float type, bool, string (``S``, ``U``,
        ``StringDType`` or an object that is a str), or a type of ml_dtypes: bfloat16, float8,
        float4, int4, uint2 or uint4.
    axis : int
        The position of the new dimension in the output, in [-r - 1, r] where r is the rank of
        `indices`.
    negative_indices_mode : {"ignore_negative", "normalize"}, default "ignore_negative"
        ``normalize`` counts an index in [-depth, -1] from the end. ``ignore_negative`` (also
        spelled ``ignore-negative``) treats every negative index as out of range. The names are not
        case-sensitive. Version 1 accepts only the default.
    version : {1, 16}, default 1
        The version of OneHot.

    Returns
    -------
    ndarray
        The shape of `indices` with `depth` inserted at `axis`, and the dtype of the values (for
        fixed-width strings, the wider dtype). An index out of range becomes a row of `off_value`.

    Raises
    ------
    TypeError
        An input has a type outside T1 or T2, the two values differ in type, or `axis` or
        `negative_indices_mode` has the wrong type.
    ValueError
        `depth` or a value is not 0-D; `depth` is not positive; `axis` is out of range; `version` or
        the mode is unknown; version 1 gets "normalize"; or the result exceeds NumPy's limits.
    MemoryError
        The result is larger than the free memory.

    References
    ----------
    OpenVINO operation set, OneHot-1 and OneHot-16: Attributes, Inputs and Types.

    Examples
    --------
    >>> from onehot_fast.operators import openvino
    >>> openvino.one_hot([0, 3, 1, 2], 3, 1, 2, -1)
    array([[1, 2, 2],
           [2, 2, 2],
           [2, 1, 2],
           [2, 2, 1]])
    >>> openvino.one_hot([0, -5, -2, 2], 3, 1, 2, -1, negative_indices_mode="normalize", version=16)
    array([[1, 2, 2],
           [2, 2, 2],
           [2, 1, 2],
           [2, 2, 1]])
    """
    version = as_integer(version, "version")
    negative_indices = _negative_indices(negative_indices_mode, version)
    where = f"OneHot-{version}"
    indices = as_array(indices)
    check_type("indices", indices, INDICES, where)
    size = _scalar("depth", depth, INDICES, where)
    if size <= 0:
        raise ValueError(f"{where}: depth must be at least 1, got {size}")
    return tensor.one_hot(
        indices,
        int(size),
        on_value=_scalar("on_value", on_value, VALUES, where),
        off_value=_scalar("off_value", off_value, VALUES, where),
        axis=axis,
        negative_indices=negative_indices,
    )


def _negative_indices(mode: str, version: int) -> Literal["ignore", "normalize"]:
    """Return the `negative_indices` option of `tensor.one_hot` for a mode of OpenVINO."""
    if version not in VERSIONS:
        raise ValueError(f"version must be 1 or 16, got {version}")
    spelled = check_text(mode, "negative_indices_mode").lower().replace("-", "_")
    check_choice(spelled, "negative_indices_mode", tuple(MODES))
    policy = MODES[spelled]
    if version == 1 and policy != "ignore":
        raise ValueError(f"negative_indices_mode={mode!r} is new in OneHot-16; pass version=16")
    return policy


def _scalar(
    name: str, data: npt.ArrayLike, accepted: Collection[str], where: str
) -> npt.NDArray[Any]:
    """Return an input as a 0-D array of one of the accepted types, or raise an error."""
    array = as_array(data, name)
    check_type(name, array, accepted, where)
    if array.shape != ():
        raise ValueError(f"{where}: {name} must be a scalar of shape (), got shape {array.shape}")
    return array
