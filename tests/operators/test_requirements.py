"""The requirements R1 to R25 of ONNX OneHot-9, OneHot-11 and OpenVINO OneHot-1, one by one."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import oracle
import pytest

import onehot_fast
from onehot_fast.operators import onnx, openvino

SHAPES = [(), (4,), (2, 3), (2, 1, 3), (0, 2)]
NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
           "float16", "float32", "float64"]  # fmt: skip
ONE, ZERO = np.int64([1, 0])

# Both standards under one signature, for what they have in common: (indices, depth, off, on, axis).
BOTH = {
    "onnx": lambda indices, depth, off, on, axis: onnx.one_hot(
        indices, depth, np.array([off, on]), axis
    ),
    "openvino": lambda indices, depth, off, on, axis: openvino.one_hot(
        indices, depth, on, off, axis
    ),
}
both = pytest.mark.parametrize("one_hot", BOTH.values(), ids=BOTH)


def classes(shape, depth=3):
    """Return indices of a shape that name every class and one beyond."""
    return np.arange(np.prod(shape, dtype=int)).reshape(shape) % (depth + 1)


@both
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_r01_rank_is_one_more(one_hot, shape):
    """R1: the output has one dimension more than the indices."""
    assert len(shape) + 1 == one_hot(classes(shape), 3, ZERO, ONE, -1).ndim


@both
@pytest.mark.parametrize("axis", [-4, -3, -2, -1, 0, 1, 2, 3])
def test_r02_r03_on_where_the_index_is_the_class(one_hot, axis):
    """R2, R3: depth is inserted at the axis; on is where the position along it is the index."""
    indices = classes((2, 3, 2))
    actual = one_hot(indices, 3, np.float64(-0.5), np.float64(7), axis)
    position = np.expand_dims(np.arange(3), tuple(i for i in range(4) if i != axis % 4))

    expected = np.where(np.expand_dims(indices, axis) == position, 7, -0.5)
    assert (expected.shape, expected.tolist()) == (actual.shape, actual.tolist())


@pytest.mark.parametrize(
    ("axis", "place"), [(0, lambda i, j, k, c: (c, i, j, k)), (-1, lambda i, j, k, c: (i, j, k, c))]
)
def test_r03_scatter_form(axis, place):
    """R3: output[input[i, j, k], i, j, k] is on for axis 0, and the mirror of it for axis -1."""
    indices = classes((2, 3, 2)) % 3
    actual = onnx.one_hot(indices, 3, [0, 1], axis)
    expected = np.zeros(actual.shape, int)
    i, j, k = np.indices(indices.shape)
    expected[place(i, j, k, indices)] = 1

    assert expected.tolist() == actual.tolist()


@both
@pytest.mark.parametrize("index", [3, 4, 300, 2**31 - 1])
def test_r04_index_from_depth_on_is_default(one_hot, index):
    """R4: an index that is not below depth is legal, and its row is all off."""
    actual = one_hot(np.array([index, 1], np.int32), np.int32(3), np.int8(5), np.int8(6), -1)

    assert actual.tolist() == [[5, 5, 5], [5, 6, 5]]


@both
@pytest.mark.parametrize("dtype", [*NUMBERS, "bool", "U3"])
def test_r05_dtype_and_values_are_carried(one_hot, dtype):
    """R5: the output has the dtype of the values, and their bits."""
    off, on = np.array([0, 1], dtype)
    actual = one_hot(classes(5), 3, off, on, 0)

    oracle.assert_same(actual, oracle.one_hot(classes(5), 3, on, off, 0))


@both
def test_r06_rows_are_independent(one_hot):
    """R6: each index lights one element at most, and equal indices light equal rows."""
    indices = np.array([2, 2, 0, 2, 9, 9])
    actual = one_hot(indices, 3, ZERO, ONE, -1)

    assert actual.sum(axis=-1).tolist() == [1, 1, 1, 1, 0, 0]
    assert (
        np.concatenate([one_hot(indices[k : k + 1], 3, ZERO, ONE, -1) for k in range(6)]).tolist()
        == actual.tolist()
    )


def test_r07_openvino_takes_four_required_inputs_in_order():
    """R7: OpenVINO's inputs are indices, depth, on_value, off_value, all required."""
    parameters = list(inspect.signature(openvino.one_hot).parameters.values())

    assert [p.name for p in parameters[:4]] == ["indices", "depth", "on_value", "off_value"]
    assert [inspect.Parameter.empty] * 4 == [p.default for p in parameters[:4]]
    assert openvino.one_hot([1], 2, 8, 3, -1).tolist() == [[3, 8]]


def test_r08_openvino_axis_is_required():
    """R8: OpenVINO's axis is a required int, and a negative one counts from the end."""
    with pytest.raises(TypeError, match="axis"):
        openvino.one_hot([0], 2, 1, 0)

    assert openvino.one_hot([0], 2, 1, 0, -2).tolist() == openvino.one_hot([0], 2, 1, 0, 0).tolist()


@both
@pytest.mark.parametrize("axis", [-1, 0])
def test_r09_indices_may_be_0d(one_hot, axis):
    """R9: 0-D indices make a vector, in ONNX as well."""
    assert one_hot(np.int32(1), np.int32(3), ZERO, ONE, axis).tolist() == [0, 1, 0]


@pytest.mark.parametrize("version", [1, 16])
@pytest.mark.parametrize("index", [-1, -3, -4, -(2**31), -(2**63)])
def test_r10_openvino_negative_indices_are_off(index, version):
    """R10: what OpenVINO leaves undefined is decided: a negative index is all off."""
    assert openvino.one_hot([index], 3, 1, 0, -1, version=version).tolist() == [[0, 0, 0]]


# (requirement, arguments that replace good ones, error, text in its message)
OPENVINO_REFUSES = [
    *(("R11 depth", {"depth": depth}, ValueError, r"depth = .* is not positive")
      for depth in [0, -1, np.int64(0), np.int64(-(2**63))]),
    *(("R11 depth of rank", {"depth": depth}, ValueError, r"depth has shape \(.*\)")
      for depth in [[3], np.array([3]), np.array([[3]]), np.array([], int)]),
    *(("R11 T1", {"depth": np.array(3, t1)}, TypeError, f"depth is of type {t1}; .* int32, int64")
      for t1 in ["int8", "uint32", "float32"]),
    *(("R12 T2", {"on_value": on, "off_value": off}, TypeError, "on_value is .* and off_value is")
      for on, off in [(np.int32(1), np.uint32(0)), (np.bool_(True), np.int8(0)), ("a", 0),
                      (np.bytes_(b"a"), "b"), (1.0, 0)]),
    *(("R12 values of rank", {"on_value": on, "off_value": off}, ValueError,
       r"o(n|ff)_value has shape \(.*\); .* shape \(\)")
      for on, off in [([1], 0), (1, [0]), (np.ones((1, 1), int), 0), ([1, 2], 0)]),
    *(("R13 T1", {"indices": np.zeros(2, t1)}, TypeError,
       f"indices is of type {t1}; .* int32, int64")
      for t1 in ["int8", "int16", "uint8", "uint16", "uint32", "uint64", "float32", "bool"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [row[1:] for row in OPENVINO_REFUSES],
    ids=[f"{name} {changed}" for name, changed, *_ in OPENVINO_REFUSES],
)
def test_r11_r12_r13_openvino_refuses(changed, error, message):
    """R11 to R13: depth is 0-D, positive and of T1; values are 0-D and of one type."""
    arguments = {"indices": [0], "depth": 2, "on_value": 1, "off_value": 0, "axis": -1}

    with pytest.raises(error, match=message):
        openvino.one_hot(**(arguments | changed))


@pytest.mark.parametrize("values", [[], [1], [0, 1, 2], 1, [[0, 1]], [[0], [1]]], ids=repr)
def test_r14_values_are_exactly_two(values):
    """R14: ONNX's values have rank 1 and two elements."""
    with pytest.raises(ValueError, match=r"values has shape \(.*\); OneHot-11 accepts \(2,\)"):
        onnx.one_hot([1], 3, values)


@pytest.mark.parametrize("opset", [9, 11, 28])
def test_r15_axis_default_is_innermost(opset):
    """R15: without an axis, the new dimension is the last."""
    indices = classes((2, 3))

    assert onnx.one_hot(indices, 4, [0, 1], opset=opset).shape == (2, 3, 4)
    oracle.assert_same(
        onnx.one_hot(indices, 4, [0, 1], opset=opset),
        onnx.one_hot(indices, 4, [0, 1], -1, opset=opset),
    )


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
@pytest.mark.parametrize("outside", [-2, 1])
@pytest.mark.parametrize("opset", [9, 11, 28])
def test_r16_axis_range(rank, outside, opset):
    """R16: an axis outside [-r - 1, r] is refused; its ends are accepted."""
    indices = np.zeros((2,) * rank, int)
    axis = rank + outside if outside > 0 else -rank + outside
    with pytest.raises(ValueError, match=rf"axis = {axis} is outside \[{-rank - 1}, {rank}\]"):
        onnx.one_hot(indices, 4, [0, 1], axis, opset=opset)

    assert onnx.one_hot(indices, 4, [0, 1], -rank - 1, opset=opset).shape[0] == 4
    assert onnx.one_hot(indices, 4, [0, 1], rank, opset=opset).shape[-1] == 4


VALUES = {
    **{name: np.array([2, 5], name) for name in NUMBERS},
    "bool": np.array([False, True]),
    "complex64": np.array([-0.0 + 1j, np.nan], "complex64"),
    "complex128": np.array([0, complex(np.inf, -0.0)]),
    "string": np.array(["no", "maybe"]),
}
COUNTING = np.array([[0, 3, 1], [2, 3, 4]])


def text_of(tensor):
    """Return what tells two tensors apart, in a form that compares and prints well."""
    return str(tensor.dtype), tensor.shape, tensor.tobytes()


def test_r17_r18_every_type_is_listed():
    """R17, R18: the standard names 11 types of numbers and 15 of values."""
    assert set(NUMBERS) == set(onnx.NUMBERS)
    assert set(VALUES) == set(onnx.VALUES)
    assert (len(onnx.NUMBERS), len(onnx.VALUES)) == (11, 15)


@pytest.mark.parametrize("t3", VALUES)
def test_r17_r18_types(t3):
    """R17, R18: indices and values of every type go with a depth of every type."""
    values = VALUES[t3]
    expected = text_of(oracle.one_hot(COUNTING, 4, values[1, ...], values[0, ...]))
    actual = {
        (t1, t2): text_of(onnx.one_hot(COUNTING.astype(t1), np.array(4, t2), values))
        for t1 in NUMBERS
        for t2 in NUMBERS
    }

    assert dict.fromkeys(itertools.product(NUMBERS, NUMBERS), expected) == actual


# The rows for the classes 0, 1, 2 and for none.
FIRST, SECOND, THIRD, NONE = [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]
DEPTHS = [3, np.int64(3), np.array(3), [3], np.array([3]), 3.0, 3.9, np.float16(3.5),
          np.float32(3.9), np.array(3.9), np.array([3.9])]  # fmt: skip
# Index types with a fraction, the last one just below 3.
FRACTIONS = [np.float16([0.9, 1.5, 2.5, -0.9]), np.float32([0.9, 1.5, 2.5, -0.9]),
             np.float64([0.9, 1.5, 2.999, -0.9])]  # fmt: skip
WRAPPED = [-1, -2, -3, -4, -5, -6, -7, 3, -(2**63)]  # nothing wraps twice
# What ONNX makes: (requirement, indices, depth, values, opset, rows).
ONNX_ROWS = [
    *(("R14 values are [off_value, on_value]", [1], 3, [7, 9], opset, [[7, 9, 7]])
      for opset in [9, 11, 28]),
    *(("R19 a float index is cast to int64 before use, toward zero", indices, 3, [0, 1], 9,
       [FIRST, SECOND, THIRD, FIRST]) for indices in FRACTIONS),
    *(("R20 a float depth is truncated, R21 it is a scalar, or later a tensor of one element",
       [2], depth, [0, 1], 11, [THIRD]) for depth in DEPTHS),
    *(("R22 from opset 11, [-depth, -1] means that plus depth; what is outside is all off",
       WRAPPED, 3, [0, 1], opset, [THIRD, SECOND, FIRST] + [NONE] * 6) for opset in [11, 22, 28]),
    *(("R23 before opset 11 the range is [0, depth); what is outside is all off",
       np.array([-1, -3, -4, 0, 2, 3], dtype), 3, [0, 1], opset, [NONE] * 3 + [FIRST, THIRD, NONE])
      for opset in [9, 10] for dtype in ["int64", "float32"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("indices", "depth", "values", "opset", "rows"),
    [row[1:] for row in ONNX_ROWS],
    ids=[row[0] for row in ONNX_ROWS],
)
def test_r14_r19_to_r23_onnx_rows(indices, depth, values, opset, rows):
    """R14, R19 to R23: what each index lights, in each version."""
    assert onnx.one_hot(indices, depth, values, opset=opset).tolist() == rows


@pytest.mark.parametrize(
    "values", [[0, 1], [0.0, 1.0], ["a", "b"], [False, True], [0j, 1j]], ids=repr
)
@pytest.mark.parametrize("axis", [-2, 0, 1])
def test_r24_versions_differ_in_negative_indices_only(values, axis):
    """R24: without negative indices, all versions give the same."""
    indices = np.array([0.5, 2, 9], "float32")
    expected = onnx.one_hot(indices, 3.5, values, axis, opset=9)

    oracle.assert_same(onnx.one_hot(indices, 3.5, values, axis, opset=11), expected)
    oracle.assert_same(onnx.one_hot(indices, 3.5, values, axis, opset=28), expected)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("depth", [3, 3.9, np.uint8(3), np.array([3])], ids=repr)
@pytest.mark.parametrize("axis", [-1, 0])
def test_r25_shape_is_inferred(shape, depth, axis):
    """R25: the shape is known without the data, and is the shape that evaluation gives."""
    inferred = onehot_fast.infer_shape(shape, depth, axis)

    assert onnx.one_hot(classes(shape), depth, [0, 1], axis).shape == inferred
