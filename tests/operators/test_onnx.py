"""ONNX's OneHot: its types, its signature and what it refuses."""

from __future__ import annotations

import numpy as np
import oracle
import pytest

from onehot_fast.operators import onnx

STRINGS = {
    "U": np.array(["no", "maybe"]),
    "S": np.array([b"no", b"maybe"]),
    "object": np.array(["no", "maybe"], object),
}
if hasattr(np, "dtypes") and hasattr(np.dtypes, "StringDType"):
    STRINGS["StringDType"] = np.array(["no", "maybe"], np.dtypes.StringDType())


@pytest.mark.parametrize("axis", [-4, -3, -2, -1, 0, 1, 2, 3])
@pytest.mark.parametrize("opset", [9, 11, 28])
def test_axis(axis, opset):
    """Every axis in [-r - 1, r] is a position in the output, in every version."""
    indices = np.array([[[0, -1], [2, 9]], [[-3, -4], [1, 1]]])
    values = np.float32([1, 3])
    actual = onnx.one_hot(indices, 3, values, axis, opset=opset)

    negative = "ignore" if opset < 11 else "normalize"
    oracle.assert_same(actual, oracle.one_hot(indices, 3, values[1], values[0], axis, negative))


@pytest.mark.parametrize("values", STRINGS.values(), ids=STRINGS)
def test_strings(values):
    """A string is what NumPy holds strings in; the dtype stays."""
    actual = onnx.one_hot([1, 7], 2, values)

    assert values.dtype == actual.dtype
    assert actual.tolist() == values[np.array([[0, 1], [0, 0]])].tolist()


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([0, 1], "int64"),
        ([0.0, 1.0], "float32"),
        ((0, 1.5), "float32"),
        ([False, True], "bool"),
        ([0j, 1.0], "complex128"),
        (["no", "maybe"], "<U5"),
        ([np.float64(0), np.float64(1)], "float64"),
        (np.array([0.0, 1.0]), "float64"),
    ],
)
def test_plain_values(values, dtype):
    """Plain ints and floats are int64 and float32; what has a type keeps it."""
    actual = onnx.one_hot([1], 2, values)

    assert np.dtype(dtype) == actual.dtype
    assert actual.tolist() == [list(values)]


def test_plain_values_beyond_float32():
    """A plain float that float32 turns into infinity is refused, and infinity itself is not."""
    with pytest.raises(ValueError, match="exceeds float32"):
        onnx.one_hot([1], 2, [0.0, 1e39])

    assert onnx.one_hot([1], 2, [0.0, float("inf")]).tolist() == [[0.0, float("inf")]]


def test_plain_float_indices_keep_their_precision():
    """Indices and depth are numbers of classes, and no constants to be rounded."""
    actual = onnx.one_hot(np.zeros(0), 16777217.0, [0, 1])

    assert actual.shape == (0, 16777217)


@pytest.mark.parametrize(
    ("opset", "version"), [(9, 9), (10, 9), (11, 11), (27, 11), (28, 28), (99, 28), (np.int8(9), 9)]
)
def test_opset_maps_to_the_newest_version(opset, version):
    """The newest version up to the opset applies, and says what -1 means."""
    last = onnx.one_hot([-1], 3, [0, 1], opset=opset)

    assert [[0, 0, version >= 11]] == last.tolist()
    assert version == onnx._version(opset)


def test_bfloat16_needs_opset_28():
    """Opset 28 adds bfloat16 to the types of values; before, it is refused."""
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    values = np.array([1, 3], bfloat16)
    actual = onnx.one_hot([0, 2], 4, values, opset=28)

    oracle.assert_same(actual, oracle.one_hot(np.array([0, 2]), 4, values[1], values[0]))
    with pytest.raises(TypeError, match="OneHot-11"):
        onnx.one_hot([0, 2], 4, values)


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3fn", "int4"])
def test_small_types_are_in_no_opset(name):
    dtype = getattr(pytest.importorskip("ml_dtypes"), name)
    with pytest.raises(TypeError, match="values"):
        onnx.one_hot([0], 2, np.array([0, 1], dtype), opset=28)


NOT_T1 = r"indices is of type .*; OneHot-11 accepts int8, .* float64"
NOT_T3 = r"values is of type .*; OneHot-11 accepts int8, .* string"
# (argument, what it may not be, error, text in its message)
REFUSED = [
    ("opset", [8, 1, 0, -1], ValueError, "opset = .* has no OneHot"),
    ("opset", [True, 11.0, "11", None], TypeError, "opset"),
    ("indices", [True, [True, False], np.array(["1"]), [1j], np.array([1], "M8[D]"), [None]],
     TypeError, NOT_T1),
    ("depth", [True, "3", 1j, None, [None], 2**70], TypeError, "depth is of type"),
    ("values", [np.array([0, 1], "M8[D]"), np.array([0, 1], "m8[s]"), np.array([None, "a"], object),
                np.array([0, 1], [("a", "i4")]), np.zeros(2, "V4"), [0, 2**70]], TypeError, NOT_T3),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [(name, value, *said) for name, refused, *said in REFUSED for value in refused],
    ids=repr,
)
def test_outside_the_standard(name, value, error, message):
    """What is none of the standard's opsets or types is refused, and no depth is inferred."""
    with pytest.raises(error, match=message):
        onnx.one_hot(**{"indices": [0], "depth": 2, "values": [0, 1], name: value})


@pytest.mark.parametrize("extreme", [np.longdouble, np.clongdouble])
@pytest.mark.parametrize("name", ["indices", "depth", "values"])
def test_extended_precision_is_refused(name, extreme):
    """The standard has no number wider than 64 bits, no complex wider than 128."""
    if np.dtype(extreme).itemsize == np.dtype(np.complex128).itemsize // 2:
        pytest.skip("long double is double here")
    inputs = {"indices": [0, 1], "depth": 2, "values": [0, 1]}
    inputs[name] = np.array(inputs[name], extreme)
    with pytest.raises(TypeError, match=name):
        onnx.one_hot(**inputs)


@pytest.mark.parametrize("order", ["<", ">"])
def test_byte_order_is_no_type(order):
    indices, depth = np.array([2, 0], f"{order}i4"), np.array(3, f"{order}f4")
    values = np.array([1, 258], f"{order}u2")
    actual = onnx.one_hot(indices, depth, values)

    assert actual.tolist() == [[1, 1, 258], [258, 1, 1]]


def test_inputs_stay():
    indices, depth, values = np.array([-1, 5]), np.array([3.5]), np.array([1.0, 2.0])
    onnx.one_hot(indices, depth, values)

    assert (indices.tolist(), depth.tolist(), values.tolist()) == ([-1, 5], [3.5], [1.0, 2.0])
