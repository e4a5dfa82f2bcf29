"""OneHot of OpenVINO, versions 1 and 16: OpenVINO's signature, OpenVINO's rules, NumPy arrays."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from onehot_fast import tensor
from onehot_fast._arguments.choices import with_article
from onehot_fast._arguments.indices import as_array, as_integer
from onehot_fast.operators._types import FLOATS, INTEGERS, check_type, type_name

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
    """Encode `indices` as OneHot of OpenVINO does.

    Plain Python numbers become what OpenVINO's own Python API makes of them: int64 of int, float64
    of float.

    Parameters
    ----------
    indices : array_like of T1, any shape
        T1 is int32 or int64. 0-D is accepted.
    depth : scalar or array_like of T1, shape ()
        The number of classes, at least 1. Its type may be the other one than that of the indices:
        OpenVINO itself takes both, although its specification has one T1 for the two.
    on_value, off_value : scalar or array_like of T2, shape ()
        Of one type: any integer or float type, bool, string (``S``, ``U``, ``StringDType`` or an
        object that is a str) and those of ml_dtypes that OpenVINO knows: bfloat16, the float8s,
        float4, int4, uint2 and uint4.
    axis : int
        The position of the new dimension in the output, in [-r - 1, r] where r is the rank of
        `indices`.
    negative_indices_mode : {"ignore_negative", "normalize"}, default "ignore_negative"
        ``normalize`` counts an index in [-depth, -1] from the end; ``ignore_negative``, also
        spelled ``ignore-negative``, takes every negative index as out of range. Upper and lower
        case are the same. Version 1 has no such attribute.
    version : {1, 16}, default 1
        The version of OneHot.

    Returns
    -------
    ndarray
        The shape of `indices` with `depth` inserted at `axis`, and the dtype of the values (of two
        fixed-width strings, the wider). The row of an index that is out of range is all off.

    Raises
    ------
    TypeError
        An input has a type outside T1 or T2, the two values differ in type, or `axis` or
        `negative_indices_mode` is of the wrong kind.
    ValueError
        `depth` or a value is not 0-D, `depth` is not positive, `axis` is out of range, an unknown
        `version` or mode, a mode with version 1, or a result that is too big to exist.
    MemoryError
        The result is larger than the memory that is free.

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
    size = _depth(depth, where)
    on, off = _of_one_dtype(
        _value("on_value", on_value, where), _value("off_value", off_value, where)
    )
    return tensor.one_hot(
        indices,
        size,
        on_value=on,
        off_value=off,
        axis=axis,
        negative_indices=negative_indices,
    )


def _negative_indices(mode: str, version: int) -> Literal["ignore", "normalize"]:
    """Return the policy that an attribute of a version stands for."""
    if version not in VERSIONS:
        raise ValueError(f"version = {version}; accepted are 1 and 16")
    if not isinstance(mode, str):
        raise TypeError(f"negative_indices_mode = {mode!r} is {with_article(mode)}, not a str")
    policy = MODES.get(mode.lower().replace("-", "_"))
    if policy is None:
        accepted = "'ignore_negative', 'ignore-negative' and 'normalize'"
        raise ValueError(f"negative_indices_mode = {mode!r} is unknown: accepted are {accepted}")
    if version == 1 and policy != "ignore":
        raise ValueError(f"negative_indices_mode = {mode!r} needs version=16; OneHot-1 has no mode")
    return policy


def _depth(data: npt.ArrayLike, where: str) -> int:
    """Return the depth as a positive int, once its type and its shape are right."""
    depth = as_array(data, "depth")
    check_type("depth", depth, INDICES, where)
    _check_scalar("depth", depth, where)
    if depth <= 0:
        raise ValueError(f"depth = {depth} is not positive; {where} accepts 1 and above")
    return int(depth)


def _value(name: str, data: npt.ArrayLike, where: str) -> npt.NDArray[Any]:
    """Return one of the two values as a 0-D array."""
    value = as_array(data, name)
    check_type(name, value, VALUES, where)
    _check_scalar(name, value, where)
    return value


def _check_scalar(name: str, array: npt.NDArray[Any], where: str) -> None:
    """Raise ValueError unless an input is 0-D."""
    if array.shape != ():
        raise ValueError(f"{name} has shape {array.shape}; {where} accepts a scalar, shape ()")


def _of_one_dtype(
    on: npt.NDArray[Any], off: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return both values in one dtype; byte order and the width of strings may have differed."""
    if on.dtype == off.dtype:
        return on, off
    if on.dtype.kind == off.dtype.kind and type_name(on) == type_name(off):
        dtype = np.promote_types(on.dtype, off.dtype)
        return on.astype(dtype), off.astype(dtype)
    raise TypeError(
        f"on_value is {on.dtype} and off_value is {off.dtype}: accepted is one type for both"
    )
