"""The edges E1 to E26 at which implementations of OneHot differ, and what this one does.

E3, E8 and E10 to E13 are requirements too: R20, R14, R23, R22, R10 and R9. E17 to E19 are types of
values and indices: R18, R13, and what `test_onnx.py` and `test_openvino.py` refuse.
"""

from __future__ import annotations

import math

import numpy as np
import oracle
import pytest

import onehot_fast
from onehot_fast._runtime import system
from onehot_fast.operators import onnx, openvino

OPSETS = pytest.mark.parametrize("opset", [9, 11, 28])
FLOATS = pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
AXES = pytest.mark.parametrize("axis", [0, -1])
INT64 = np.iinfo(np.int64)


@FLOATS
@pytest.mark.parametrize(("opset", "last"), [(9, None), (11, 2), (28, 2)])
def test_e01_truncate_then_check_then_wrap(dtype, opset, last):
    """E1: a fractional index is truncated, then held against the range, then wrapped."""
    indices = np.array([1.9, -0.5, -1.5, 0.5, -3.7, 3.2], dtype)
    actual = onnx.one_hot(indices, 3, [0, 1], opset=opset)

    first = 0 if opset >= 11 else None
    lit = [row.index(1) if any(row) else None for row in actual.tolist()]
    assert lit == [1, 0, last, 0, first, None]


@FLOATS
@OPSETS
@AXES
def test_e02_not_finite_is_off(dtype, opset, axis):
    """E2: NaN, infinity and what int64 cannot hold name no class, least of all class 0."""
    with np.errstate(over="ignore"):
        indices = np.array([np.nan, -np.nan, np.inf, -np.inf, 1e20, -1e20, 2.0**63, -(2.0**63)])
        indices = indices.astype(dtype)

    assert not onnx.one_hot(indices, 3, [0, 1], axis, opset=opset).any()


@pytest.mark.parametrize(
    "indices",
    [
        pytest.param(np.uint64([2**63, 2**64 - 1, 2**64 - 3, 2**63 + 1]), id="E14 uint64"),
        pytest.param([2**32 + 1, -(2**32), 2**32, 2**40 + 2, -(2**32) + 1], id="E21 low half"),
        pytest.param([INT64.min, INT64.max], id="E22 extremes of int64"),
    ],
)
@OPSETS
@AXES
@pytest.mark.parametrize("depth", [1, 3, 300])
def test_e14_e21_e22_far_indices_are_off(indices, opset, axis, depth):
    """E14, E21, E22: an index far off is compared as it is: not negated, cut or overflowing."""
    assert not onnx.one_hot(indices, depth, [0, 1], axis, opset=opset).any()
    if not isinstance(indices, np.ndarray):
        assert not openvino.one_hot(indices, depth, 1, 0, axis).any()


# (edge, arguments that replace good ones, error, text in its message)
ONNX_REFUSES = [
    *(("E4", {"depth": depth}, ValueError, "depth")
      for depth in [math.nan, math.inf, -math.inf, np.float16(math.inf)]),
    *(("E6", {"depth": depth}, ValueError, r"depth = -.* is negative")
      for depth in [-1, -1.5, np.int8(-128), np.array([-1])]),
    *(("E7", {"depth": depth}, ValueError, r"depth has shape .* accepts \(\) and \(1,\)")
      for depth in [np.array([[3]]), np.array([3, 3]), np.zeros(0), []]),
    *(("E23", {"indices": np.zeros(0, int), **wrong}, ValueError, next(iter(wrong)))
      for wrong in [{"axis": 2}, {"depth": -1}, {"values": [0]}, {"opset": 8}]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [row[1:] for row in ONNX_REFUSES],
    ids=[f"{name} {changed}" for name, changed, *_ in ONNX_REFUSES],
)
def test_e04_e06_e07_e23_onnx_refuses(changed, error, message):
    """E4, E6, E7: a depth is finite, positive and one; E23: also where no index is."""
    with pytest.raises(error, match=message):
        onnx.one_hot(**{"indices": [0], "depth": 3, "values": [0, 1]} | changed)


@OPSETS
@pytest.mark.parametrize(
    "depth", [0, 0.9, np.uint8(0), np.array([0]), -0.5, -0.0, np.float32(-0.99)], ids=repr
)
def test_e05_e06_onnx_allows_no_classes(depth, opset):
    """E5: ONNX's depth may be 0, which makes an empty output; E6: -0.5 is truncated to it."""
    assert onnx.one_hot([0, 1], depth, [0, 1], opset=opset).shape == (2, 0)


def test_e05_openvino_refuses_no_classes():
    """E5: OpenVINO's depth is positive in its document, and so it is here, in OneHot-16 too."""
    with pytest.raises(ValueError, match="not positive"):
        openvino.one_hot([0, 1], 0, 1, 0, -1, version=16)


@pytest.mark.parametrize("axis", [-4, 3, 2**40])
def test_e09_axis_is_checked_before_allocation(axis, monkeypatch):
    """E9: an axis out of range is named with the range, before the size is looked at."""
    monkeypatch.setattr(system, "available_memory", lambda: 0)
    indices = np.zeros((1000, 1000), np.int64)
    with pytest.raises(ValueError, match=rf"axis = {axis} is outside \[-3, 2\]"):
        onnx.one_hot(indices, 1000, [0, 1], axis)
    with pytest.raises(ValueError, match=rf"axis = {axis} is outside \[-3, 2\]"):
        openvino.one_hot(indices, 1000, 1, 0, axis)


@pytest.mark.parametrize(
    "values",
    [
        np.float32([-np.inf, np.inf]),
        np.float16([60000, -60000]),
        np.float32([1e8, 0.1]),
        np.float64([np.nan, 1]),
        np.float64([-0.0, 0.0]),
        np.array([0x7FF0_0000_0000_0001, 0xFFF8_0000_DEAD_BEEF], np.uint64).view(np.float64),
        np.array([INT64.min, INT64.max]),
        np.array([0, 2**64 - 1], np.uint64),
        np.array([True, False]),
    ],
    ids=[
        *("infinities", "float16", "cancelling", "nan", "zeros", "payloads", "int64", "uint64"),
        "E16 bool",
    ],
)
@AXES
def test_e15_e16_values_are_selected(values, axis):
    """E15: values are copied bit for bit; arithmetic would overflow, cancel or spread NaN."""
    indices = np.array([0, 2, 7])
    expected = oracle.one_hot(indices, 3, values[1], values[0], axis)

    oracle.assert_same(onnx.one_hot(indices, 3, values, axis), expected)
    oracle.assert_same(openvino.one_hot(indices, 3, values[1], values[0], axis), expected)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("depth", [300, 70_000])
@AXES
def test_e20_depth_beyond_a_narrow_index(dtype, depth, axis):
    """E20: a depth that the index type cannot hold neither wraps nor lights two classes."""
    info = np.iinfo(dtype)
    indices = np.array([0, 1, info.max, info.min], dtype)
    actual = onnx.one_hot(indices, depth, np.int8([0, 1]), axis)

    oracle.assert_same(actual, oracle.one_hot(indices, depth, *np.int8([1, 0]), axis, "normalize"))


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3, 0)], ids=str)
@AXES
def test_e23_empty_indices(shape, axis):
    """E23: empty indices give an empty output of the right shape and dtype."""
    indices, on, off = np.zeros(shape, int), *np.float32([1, 0])
    expected = oracle.one_hot(indices, 4, on, off, axis)

    oracle.assert_same(onnx.one_hot(indices, 4, np.array([off, on]), axis), expected)
    oracle.assert_same(openvino.one_hot(indices, 4, on, off, axis), expected)


def test_e24_no_promotion():
    """E24: values of two types are an error."""
    with pytest.raises(TypeError, match="on_value is float32 and off_value is float64"):
        openvino.one_hot([0], 2, np.float32(1), np.float64(0), -1)


@pytest.mark.parametrize("shape", [(4,), (0,), (2, 0, 3)], ids=str)
@AXES
def test_e25_overflowing_size(shape, axis):
    """E25: a size that overflows is refused with its numbers, empty or not."""
    indices = np.zeros(shape, np.int64)
    with pytest.raises(ValueError, match=r"too big: shape .* exceeds 2\*\*63 - 1 bytes"):
        onnx.one_hot(indices, 2**62, np.float32([0, 1]), axis)
    with pytest.raises(ValueError, match=r"too big: shape .* exceeds 2\*\*63 - 1 bytes"):
        openvino.one_hot(indices, 2**62, np.float32(1), np.float32(0), axis)


def test_e25_large_and_empty():
    """E25: an empty output whose other dimensions still fit is no error."""
    assert onnx.one_hot(np.zeros(0), 2**60, np.float32([0, 1])).shape == (0, 2**60)


def test_e25_larger_than_memory(monkeypatch):
    """E25: what cannot fit into memory is refused before it is allocated, with its size."""
    monkeypatch.setattr(system, "available_memory", lambda: 2**30)
    with pytest.raises(MemoryError, match=r"4\.0 GiB .* dtype=bool .* sparse"):
        onnx.one_hot(np.zeros(2**10, np.int8), 2**20, np.float32([0, 1]))


@pytest.mark.parametrize("depth", [None, "classes"])
def test_e26_symbolic_depth(depth):
    """E26: a depth that is not known yet is carried into the inferred shape."""
    assert (None, depth, "n", 4) == onehot_fast.infer_shape((None, "n", 4), depth, 1)
