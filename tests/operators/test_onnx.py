"""OneHot of ONNX: its types, its signature and its errors."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from onehot_fast.operators import onnx
from support import oracle

STRINGS = {
    "U": np.array(["no", "maybe"]),
    "S": np.array([b"no", b"maybe"]),
    "object": np.array(["no", "maybe"], object),
    "StringDType": np.array(["no", "maybe"], np.dtypes.StringDType()),
}
opsets = pytest.mark.parametrize("opset", [9, 11, 28])


@pytest.mark.parametrize("axis", [-4, -3, -2, -1, 0, 1, 2, 3])
@opsets
def test_every_axis_is_a_position_in_the_result(axis, opset):
    """Every axis in [-r - 1, r] is a position in the output, in every version."""
    indices = np.array([[[0, -1], [2, 9]], [[-3, -4], [1, 1]]])
    values = np.float32([1, 3])
    actual = onnx.one_hot(indices, 3, values, axis, opset=opset)

    negative = "ignore" if opset < 11 else "normalize"
    oracle.assert_same(actual, oracle.one_hot(indices, 3, values[1], values[0], axis, negative))
    if axis == -1:
        oracle.assert_same(onnx.one_hot(indices, 3, values, opset=opset), actual)


@pytest.mark.parametrize("values", STRINGS.values(), ids=STRINGS)
def test_strings_keep_their_dtype(values):
    actual = onnx.one_hot([1, 7], 2, values)

    assert values.dtype == actual.dtype
    assert actual.tolist() == values[np.array([[0, 1], [0, 0]])].tolist()


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        *(([0, 1], "int64"), ([0.0, 1.0], "float32"), ((0, 1.5), "float32")),
        ([0j, 1.0], "complex128"),
        *(([0.0, math.inf], "float32"), (np.array([1, 258], ">u2"), "u2"), ([False, True], "bool")),
        *((["no", "maybe"], "<U5"), ([np.float64(0), np.float64(1)], "float64")),
        (np.array([0.0, 1.0]), "float64"),
    ],
)
def test_plain_ints_and_floats_are_int64_and_float32(values, dtype):
    """Values that have a type keep it."""
    actual = onnx.one_hot([1], 2, values)

    assert np.dtype(dtype) == actual.dtype
    assert actual.tolist() == [list(values)]


@pytest.mark.parametrize(
    ("opset", "version"), [(9, 9), (10, 9), (11, 11), (27, 11), (28, 28), (99, 28), (np.int8(9), 9)]
)
def test_the_newest_version_up_to_the_opset_applies(opset, version):
    """It decides what -1 means, and whether bfloat16 is a type of values."""
    last = onnx.one_hot([-1], 3, [0, 1], opset=opset)

    assert [[0, 0, version >= 11]] == last.tolist()
    values = np.array([1, 3], pytest.importorskip("ml_dtypes").bfloat16)
    if version == 28:
        actual = onnx.one_hot([0, 2], 4, values, opset=opset)
        oracle.assert_same(actual, oracle.one_hot(np.array([0, 2]), 4, values[1], values[0]))
    else:
        with pytest.raises(TypeError, match=f"OneHot-{version}: values"):
            onnx.one_hot([0, 2], 4, values, opset=opset)


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3fn", "int4"])
def test_small_types_are_in_no_opset(name):
    dtype = getattr(pytest.importorskip("ml_dtypes"), name)
    with pytest.raises(TypeError, match="values"):
        onnx.one_hot([0], 2, np.array([0, 1], dtype), opset=28)


VALUES = {
    **{name: np.array([2, 5], name) for name in onnx.NUMBERS},
    "bool": np.array([False, True]),
    "complex64": np.array([-0.0 + 1j, np.nan], "complex64"),
    "complex128": np.array([0, complex(np.inf, -0.0)]),
    "string": np.array(["no", "maybe"]),
}
COUNTING = np.array([[0, 3, 1], [2, 3, 4]])


def text_of(tensor):
    """Return the dtype, shape and bytes of a tensor."""
    return str(tensor.dtype), tensor.shape, tensor.tobytes()


@pytest.mark.parametrize("t3", VALUES)
def test_every_type_of_indices_values_and_depth_is_accepted(t3):
    """Indices and values of every type go with a depth of every type: 11, 15 and 11."""
    values = VALUES[t3]
    expected = text_of(oracle.one_hot(COUNTING, 4, values[1, ...], values[0, ...]))
    actual = {
        (t1, t2): text_of(onnx.one_hot(COUNTING.astype(t1), np.array(4, t2), values))
        for t1 in onnx.NUMBERS
        for t2 in onnx.NUMBERS
    }

    assert set(VALUES) == set(onnx.VALUES)
    assert (len(onnx.NUMBERS), len(onnx.VALUES)) == (11, 15)
    assert dict.fromkeys(itertools.product(onnx.NUMBERS, onnx.NUMBERS), expected) == actual


# The rows of the classes 0, 1, 2 and of none.
FIRST, SECOND, THIRD, NONE = [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]
DEPTHS = [3, np.int64(3), np.array(3), [3], np.array([3]), 3.0, 3.9, np.float16(3.5),
          np.float32(3.9), np.array(3.9), np.array([3.9])]  # fmt: skip
WRAPPED = [-1, -2, -3, -4, -5, -6, -7, 3, -(2**63)]  # nothing wraps twice
OUTSIDE = [np.nan, -np.nan, np.inf, -np.inf, 1e20, -1e20, 2.0**63, -(2.0**63)]
# (requirement, indices, depth, values, opset, rows)
ROWS = [
    *(("values are [off_value, on_value]", [1], 3, [7, 9], opset, [[7, 9, 7]])
      for opset in [9, 11, 28]),
    *(("a float index is truncated, then compared, then wrapped",
       np.array([1.9, -0.5, -1.5, 0.5, -3.7, 3.2], dtype), 3, [0, 1], opset,
       [SECOND, FIRST, wrapped[0], FIRST, wrapped[1], NONE])
      for dtype in ["float16", "float32", "float64"]
      for opset, wrapped in [(9, [NONE, NONE]), (11, [THIRD, FIRST]), (28, [THIRD, FIRST])]),
    *(("a float that int64 cannot hold is out of range", np.array(OUTSIDE, dtype), 3, [0, 1],
       opset, [NONE] * 8) for dtype in ["float32", "float64"] for opset in [9, 11, 28]),
    *(("a depth is a scalar or has one element, and is truncated", [2], depth, [0, 1], 11, [THIRD])
      for depth in DEPTHS),
    *(("from opset 11, [-depth, -1] counts from the end", WRAPPED, 3, [0, 1], opset,
       [THIRD, SECOND, FIRST] + [NONE] * 6) for opset in [11, 22, 28]),
    *(("before opset 11, the range is [0, depth)", np.array([-1, -3, -4, 0, 2, 3], dtype), 3,
       [0, 1], opset, [NONE] * 3 + [FIRST, THIRD, NONE])
      for opset in [9, 10] for dtype in ["int64", "float32"]),
    ("uint64 is not negative", np.uint64([2**63, 2**64 - 1, 2**64 - 3]), 3, [0, 1], 11, [NONE] * 3),
    *(("a depth of 0 makes an empty output", [0, 1], depth, [0, 1], opset, [[], []])
      for depth in [0, 0.9, np.uint8(0), np.array([0]), -0.5, -0.0, np.float32(-0.99)]
      for opset in [9, 11, 28]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("indices", "depth", "values", "opset", "rows"),
    [row[1:] for row in ROWS],
    ids=[row[0] for row in ROWS],
)
def test_each_version_treats_indices_out_of_range_as_the_standard(
    indices, depth, values, opset, rows
):
    assert onnx.one_hot(indices, depth, values, opset=opset).tolist() == rows


# (argument, what it must not be, error, text in its message)
ERRORS = [
    ("opset", [8, 1, 0, -1], ValueError, "opset must be at least 9"),
    ("opset", [True, 11.0, "11", None], TypeError, "opset"),
    ("indices", [True, [True, False], np.array(["1"]), [1j], np.array([1], "M8[D]"), [None]],
     TypeError, "OneHot-11: indices must have one of the types int8, .* float64, got"),
    ("depth", [True, "3", 1j, None, [None], 2**70], TypeError, "depth must have one of the types"),
    ("depth", [math.nan, math.inf, -math.inf, np.float16(math.inf)], ValueError, "finite"),
    ("depth", [-1, -1.5, np.int8(-128), np.array([-1])], ValueError, r"in \[0, 2\*\*63\), got -"),
    ("depth", [np.array([[3]]), np.array([3, 3]), np.zeros(0), []], ValueError, "depth must have"),
    ("values", [[], [1], [0, 1, 2], 1, [[0, 1]], [[0], [1]]], ValueError, "values must be"),
    ("values", [np.array([0, 1], "M8[D]"), np.array([0, 1], "m8[s]"), np.array([None, "a"], object),
                np.array([0, 1], [("a", "i4")]), np.zeros(2, "V4"), [0, 2**70]], TypeError,
     "values must have one of the types int8, .* string, got"),
    ("values", [[0.0, 1e39]], ValueError, "fit float32"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [(name, value, *expected) for name, wrong, *expected in ERRORS for value in wrong],
    ids=repr,
)
def test_arguments_outside_the_standard_are_rejected(name, value, error, message):
    """Arguments outside the standard are rejected, without indices too."""
    for indices in ([0], np.zeros(0, int)):
        with pytest.raises(error, match=message):
            onnx.one_hot(**{"indices": indices, "depth": 2, "values": [0, 1], name: value})


@pytest.mark.parametrize("depth", [2**60, 16777217.0, 300, np.float32(70_000)])
def test_an_index_type_may_be_too_narrow_for_the_depth(depth):
    """A plain float as depth is not rounded to float32, and no index wraps beyond its type."""
    assert onnx.one_hot(np.zeros(0), depth, np.float32([0, 1])).shape == (0, int(depth))
    if depth < 2**20:
        indices = np.array([0, 1, 127, -128], np.int8)
        expected = oracle.one_hot(indices, int(depth), *np.int8([1, 0]), -1, "normalize")
        oracle.assert_same(onnx.one_hot(indices, depth, np.int8([0, 1])), expected)


@pytest.mark.parametrize("extreme", [np.longdouble, np.clongdouble])
@pytest.mark.parametrize("name", ["indices", "depth", "values"])
def test_extended_precision_is_rejected(name, extreme):
    """The standard has no number wider than 64 bits, no complex wider than 128."""
    if np.dtype(extreme).itemsize == np.dtype(np.complex128).itemsize // 2:
        pytest.skip("long double is double here")
    inputs = {"indices": [0, 1], "depth": 2, "values": [0, 1]}
    inputs[name] = np.array(inputs[name], extreme)
    with pytest.raises(TypeError, match=name):
        onnx.one_hot(**inputs)
