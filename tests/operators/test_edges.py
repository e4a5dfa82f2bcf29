"""The edges E1 to E26 at which implementations of OneHot differ, and what this one does."""

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
INT64 = np.iinfo(np.int64)


def lit(tensor):
    """Return the class that each row of 0 and 1 lights, None for a row that is all off."""
    return [row.index(1) if any(row) else None for row in tensor.tolist()]


@FLOATS
@pytest.mark.parametrize(("opset", "last"), [(9, None), (11, 2), (28, 2)])
def test_e01_truncate_then_check_then_wrap(dtype, opset, last):
    """E1: a fractional index is truncated, then held against the range, then wrapped."""
    indices = np.array([1.9, -0.5, -1.5, 0.5, -3.7, 3.2], dtype)

    first = 0 if opset >= 11 else None
    assert [1, 0, last, 0, first, None] == lit(onnx.one_hot(indices, 3, [0, 1], opset=opset))


@FLOATS
@OPSETS
@pytest.mark.parametrize("axis", [0, -1])
def test_e02_not_finite_is_off(dtype, opset, axis):
    """E2: NaN, infinity and what int64 cannot hold name no class, least of all class 0."""
    with np.errstate(over="ignore"):
        indices = np.array([np.nan, -np.nan, np.inf, -np.inf, 1e20, -1e20, 2.0**63, -(2.0**63)])
        indices = indices.astype(dtype)

    assert not onnx.one_hot(indices, 3, [0, 1], axis, opset=opset).any()


@pytest.mark.parametrize(
    "depth", [3.9, np.float16(3.5), np.float32(3.9), np.array([3.9])], ids=repr
)
def test_e03_fractional_depth(depth):
    """E3: a depth of 3.9 is 3."""
    assert onnx.one_hot([0], depth, [0, 1]).shape == (1, 3)


@pytest.mark.parametrize("depth", [3.0, np.float32(3)])
def test_e03_openvino_refuses_float_depth(depth):
    """E3: OpenVINO's depth is an integer."""
    with pytest.raises(TypeError, match="depth"):
        openvino.one_hot([0], depth, 1, 0, -1)


@pytest.mark.parametrize("depth", [math.nan, math.inf, -math.inf, np.float16(math.inf)], ids=repr)
def test_e04_depth_is_finite(depth):
    """E4: NaN and infinity are no depth."""
    with pytest.raises(ValueError, match="depth"):
        onnx.one_hot([0], depth, [0, 1])


@OPSETS
@pytest.mark.parametrize("depth", [0, 0.9, np.uint8(0), np.array([0])], ids=repr)
def test_e05_onnx_allows_no_classes(depth, opset):
    """E5: ONNX's depth may be 0, which makes an empty output."""
    assert onnx.one_hot([0, 1], depth, [0, 1], opset=opset).shape == (2, 0)


@pytest.mark.parametrize("version", [1, 16])
def test_e05_openvino_refuses_no_classes(version):
    """E5: OpenVINO's depth is positive in its document, and so it is here."""
    with pytest.raises(ValueError, match="not positive"):
        openvino.one_hot([0, 1], 0, 1, 0, -1, version=version)


@pytest.mark.parametrize("depth", [-1, -1.5, np.int8(-128), np.array([-1])], ids=repr)
def test_e06_negative_depth(depth):
    """E6: a negative depth is an error."""
    with pytest.raises(ValueError, match=r"depth = -.* is negative"):
        onnx.one_hot([0], depth, [0, 1])


@pytest.mark.parametrize("depth", [-0.5, -0.0, np.float32(-0.99)], ids=repr)
def test_e06_depth_that_truncates_to_zero(depth):
    """E6: -0.5 is truncated before its sign is looked at."""
    assert onnx.one_hot([0], depth, [0, 1]).shape == (1, 0)


def test_e07_depth_of_one_element():
    """E7: ONNX takes a depth of shape (1,), OpenVINO does not."""
    assert onnx.one_hot([0], np.array([3]), [0, 1]).shape == (1, 3)
    with pytest.raises(ValueError, match=r"depth has shape \(1,\)"):
        openvino.one_hot([0], np.array([3]), 1, 0, -1)


@pytest.mark.parametrize("depth", [np.array([[3]]), np.array([3, 3]), np.zeros(0), []], ids=repr)
def test_e07_depth_of_another_shape(depth):
    """E7: ONNX takes no depth of rank 2, of two elements or of none."""
    with pytest.raises(ValueError, match=r"depth has shape .* accepts \(\) and \(1,\)"):
        onnx.one_hot([0], depth, [0, 1])


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3,), (2, 1), (1, 2)], ids=str)
def test_e08_shape_of_values(shape):
    """E8: values of any shape but (2,) are an error."""
    with pytest.raises(ValueError, match="values has shape"):
        onnx.one_hot([0], 3, np.zeros(shape))


@pytest.mark.parametrize("axis", [-4, 3, 2**40])
def test_e09_axis_is_checked_before_allocation(axis, monkeypatch):
    """E9: an axis out of range is named with the range, before the size is looked at."""
    monkeypatch.setattr(system, "available_memory", lambda: 0)
    indices = np.zeros((1000, 1000), np.int64)
    with pytest.raises(ValueError, match=rf"axis = {axis} is outside \[-3, 2\]"):
        onnx.one_hot(indices, 1000, [0, 1], axis)
    with pytest.raises(ValueError, match=rf"axis = {axis} is outside \[-3, 2\]"):
        openvino.one_hot(indices, 1000, 1, 0, axis)


def test_e10_opset_9_ignores_negative_indices():
    """E10: in opset 9 a negative index is off, in indices of any type."""
    indices = [-1, -3, -4, 2]

    assert lit(onnx.one_hot(indices, 3, [0, 1], opset=9)) == [None, None, None, 2]
    assert lit(onnx.one_hot(np.float32(indices), 3, [0, 1], opset=9)) == [None, None, None, 2]


@pytest.mark.parametrize("opset", [11, 28])
def test_e11_opset_11_wraps(opset):
    """E11: from opset 11, [-depth, -1] counts from the end, and nothing wraps twice."""
    indices = [-1, -3, -4, -5, -6, -7, 3]

    assert lit(onnx.one_hot(indices, 3, [0, 1], opset=opset)) == [
        2,
        0,
        None,
        None,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize("version", [1, 16])
def test_e12_openvino_ignores_negative_indices(version):
    """E12: a negative index is off in OneHot-1, and in OneHot-16 unless asked otherwise."""
    assert lit(openvino.one_hot([-1, -3, 0], 3, 1, 0, -1, version=version)) == [None, None, 0]


@OPSETS
def test_e13_onnx_scalar_indices(opset):
    """E13: ONNX's indices may be 0-D."""
    assert onnx.one_hot(np.int8(1), 3, [0, 1], opset=opset).tolist() == [0, 1, 0]


def test_e13_openvino_scalar_indices():
    """E13: OpenVINO's indices may be 0-D."""
    assert openvino.one_hot(1, 3, 1, 0, 0).tolist() == [0, 1, 0]


@OPSETS
@pytest.mark.parametrize("axis", [0, -1])
def test_e14_large_uint64_is_off(opset, axis):
    """E14: an index of 2**63 and more is compared as it is, and never becomes negative."""
    indices = np.array([2**63, 2**64 - 1, 2**64 - 3, 2**63 + 1], np.uint64)

    assert not onnx.one_hot(indices, 3, [0, 1], axis, opset=opset).any()


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
    ],
    ids=["infinities", "float16", "cancelling", "nan", "zeros", "payloads", "int64", "uint64"],
)  # fmt: skip
@pytest.mark.parametrize("axis", [0, -1])
def test_e15_values_are_selected(values, axis):
    """E15: values are copied bit for bit; arithmetic would overflow, cancel or spread NaN."""
    indices = np.array([0, 2, 7])
    expected = oracle.one_hot(indices, 3, values[1], values[0], axis)

    oracle.assert_same(onnx.one_hot(indices, 3, values, axis), expected)
    oracle.assert_same(openvino.one_hot(indices, 3, values[1], values[0], axis), expected)


def test_e16_bool_values():
    """E16: values may be bool, in either sense."""
    assert onnx.one_hot([1], 2, [False, True]).tolist() == [[False, True]]
    assert openvino.one_hot([1], 2, False, True, -1).tolist() == [[True, False]]


@pytest.mark.parametrize("values", [np.array(["", "long enough"]), np.array(["a", "bc"], object)])
def test_e17_string_values(values):
    """E17: values may be strings, and keep their dtype and width."""
    actual = onnx.one_hot([1.0, 5.0], 2, values)

    assert values.dtype == actual.dtype
    assert values[np.array([[0, 1], [0, 0]])].tolist() == actual.tolist()


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_e18_complex_values(dtype):
    """E18: ONNX's values may be complex; OpenVINO has no such type."""
    values = np.array([complex(-0.0, np.nan), 1 - 2j], dtype)
    expected = oracle.one_hot(np.array([1]), 2, values[1], values[0])

    oracle.assert_same(onnx.one_hot([1], 2, values), expected)
    with pytest.raises(TypeError, match="on_value"):
        openvino.one_hot([1], 2, values[1], values[0], -1)


@pytest.mark.parametrize("indices", [True, [True, False], np.ones(2, bool)])
def test_e19_bool_indices(indices):
    """E19: bool is not among the types of indices."""
    with pytest.raises(TypeError, match="indices is of type bool"):
        onnx.one_hot(indices, 2, [0, 1])
    with pytest.raises(TypeError, match="indices is of type bool"):
        openvino.one_hot(indices, 2, 1, 0, -1)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("depth", [300, 70_000])
@pytest.mark.parametrize("axis", [0, -1])
def test_e20_depth_beyond_a_narrow_index(dtype, depth, axis):
    """E20: a depth that the index type cannot hold neither wraps nor lights two classes."""
    info = np.iinfo(dtype)
    indices = np.array([0, 1, info.max, info.min], dtype)
    actual = onnx.one_hot(indices, depth, np.int8([0, 1]), axis)

    oracle.assert_same(actual, oracle.one_hot(indices, depth, *np.int8([1, 0]), axis, "normalize"))


@pytest.mark.parametrize("index", [2**32 + 1, -(2**32), 2**32, 2**40 + 2, -(2**32) + 1])
def test_e21_wide_index_is_compared_at_64_bits(index):
    """E21: an index beyond 32 bits is not cut to its low half."""
    assert lit(onnx.one_hot([index], 3, [0, 1])) == [None]
    assert lit(openvino.one_hot([index], 3, 1, 0, -1)) == [None]


@OPSETS
@pytest.mark.parametrize("depth", [1, 3, 300])
def test_e22_extremes_of_int64(opset, depth):
    """E22: the extremes of int64 overflow nothing on their way."""
    assert lit(onnx.one_hot([INT64.min, INT64.max], depth, [0, 1], opset=opset)) == [None, None]


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3, 0)], ids=str)
@pytest.mark.parametrize("axis", [0, -1])
def test_e23_empty_indices(shape, axis):
    """E23: empty indices give an empty output of the right shape and dtype."""
    expected = oracle.one_hot(np.zeros(shape, int), 4, *np.float32([1, 0]), axis)

    oracle.assert_same(onnx.one_hot(np.zeros(shape, int), 4, np.float32([0, 1]), axis), expected)
    oracle.assert_same(
        openvino.one_hot(np.zeros(shape, int), 4, *np.float32([1, 0]), axis), expected
    )


@pytest.mark.parametrize(
    "wrong", [{"axis": 2}, {"depth": -1}, {"values": [0]}, {"opset": 8}], ids=str
)
def test_e23_empty_indices_are_still_validated(wrong):
    """E23: no index to look at is no reason to accept wrong arguments."""
    arguments = {"indices": np.zeros(0, int), "depth": 3, "values": [0, 1]} | wrong
    with pytest.raises(ValueError, match=next(iter(wrong))):
        onnx.one_hot(**arguments)


def test_e24_no_promotion():
    """E24: values of two types are an error."""
    with pytest.raises(TypeError, match="on_value is float32 and off_value is float64"):
        openvino.one_hot([0], 2, np.float32(1), np.float64(0), -1)


@pytest.mark.parametrize("shape", [(4,), (0,), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("axis", [0, -1])
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
