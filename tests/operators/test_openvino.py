"""OneHot of OpenVINO: its types, its signature and its errors."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from onehot_fast.operators import openvino
from support import oracle

INDICES = np.array([[0, -1, 2], [3, -3, -4]])
STRING = np.dtypes.StringDType()
PLAIN_VALUES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                "float16", "float32", "float64", "bool")  # fmt: skip
SMALL_VALUES = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn",
                "int4", "uint4", "uint2")  # fmt: skip


@pytest.mark.parametrize("t1", ["int32", "int64"])
@pytest.mark.parametrize("of_depth", ["int32", "int64"])
@pytest.mark.parametrize("t2", PLAIN_VALUES)
def test_every_type_of_indices_values_and_depth_is_accepted(t1, of_depth, t2):
    """Indices and depth of both types, also of one each, go with values of every type."""
    indices, on, off = INDICES.astype(t1), np.array(1, t2), np.array(0, t2)
    for axis in (-3, -2, -1, 0, 1, 2):
        actual = openvino.one_hot(indices, np.array(3, of_depth), on, off, axis)

        oracle.assert_same(actual, oracle.one_hot(indices, 3, on, off, axis))


@pytest.mark.parametrize("name", SMALL_VALUES)
def test_small_types_are_accepted(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    if not hasattr(ml_dtypes, name):
        pytest.skip("this ml_dtypes is older than the type")
    on, off = np.array([2, 1], getattr(ml_dtypes, name))
    actual = openvino.one_hot(INDICES, 3, on, off, 1)

    oracle.assert_same(actual, oracle.one_hot(INDICES, 3, on, off, 1))


@pytest.mark.parametrize(
    ("on", "off", "dtype"),
    [
        *(("maybe", "no", "<U5"), ("no", "maybe", "<U5"), (b"no", b"maybe", "S5")),
        *((1, 0, "int64"), (1.5, 0.0, "float64"), (True, False, "bool")),
        (np.array("no", object), np.array("maybe", object), object),
        (np.array("beyond the inline bytes", STRING), np.array("no", STRING), STRING),
        (np.array(258, ">i4"), np.array(1, "<i4"), "int32"),
    ],
)
def test_the_values_have_one_type(on, off, dtype):
    """Strings of two widths share the wider one, and both byte orders are one type."""
    actual = openvino.one_hot(np.array([1], ">i8"), np.array(2, "<i8"), on, off, 0)

    assert np.dtype(dtype) == actual.dtype
    assert actual.ravel().tolist() == [np.asarray(off).item(), np.asarray(on).item()]


@pytest.mark.parametrize(
    ("mode", "version"),
    [
        *(("ignore_negative", version) for version in (1, 16)),
        *((mode, 16) for mode in ("ignore-negative", "Ignore_Negative", "normalize", "NORMALIZE")),
    ],
)
@pytest.mark.parametrize("axis", [-3, 0, 1, 2])
def test_a_mode_decides_about_negative_indices(mode, version, axis):
    """A negative index has no hot element, also the lowest, or counts from the end."""
    indices = np.append(INDICES, [[-(2**31), -(2**63), 1]], 0)
    actual = openvino.one_hot(indices, 3, 1, 0, axis, negative_indices_mode=mode, version=version)

    negative = "normalize" if "norm" in mode.lower() else "ignore"
    expected = oracle.one_hot(indices, 3, np.int64(1), np.int64(0), axis, negative)
    oracle.assert_same(actual, expected)


def test_the_inputs_and_the_axis_are_required():
    """The inputs are indices, depth, on_value and off_value, in this order."""
    parameters = list(inspect.signature(openvino.one_hot).parameters.values())

    assert [p.name for p in parameters[:4]] == ["indices", "depth", "on_value", "off_value"]
    assert {p.default for p in parameters[:5]} == {inspect.Parameter.empty}
    assert openvino.one_hot([1], 2, 8, 3, -1).tolist() == [[3, 8]]


VALUES = [np.complex64(1), np.datetime64(1, "D"), np.longdouble(1), np.array(None),
          np.void(b"a"), {}]  # fmt: skip
PAIRS = [(np.int32(1), np.uint32(0)), (np.bool_(True), np.int8(0)), ("a", 0), (1.0, 0),
         (np.bytes_(b"a"), "b"), (np.float32(1), np.float64(0))]  # fmt: skip
# (arguments, error, text in its message)
ERRORS = [
    ({"negative_indices_mode": "normalize"}, ValueError, "version=16"),  # OneHot-1 has no mode
    *(({"negative_indices_mode": mode, "version": version}, ValueError, "negative_indices_mode")
      for mode in ["", "wrap", "ignore", "ignore negative", "error"] for version in [1, 16]),
    *(({"negative_indices_mode": mode, "version": 16}, TypeError, "negative_indices_mode")
      for mode in [None, 1, b"normalize", True]),
    *(({"version": version}, ValueError, f"version must be 1 or 16, got {version}")
      for version in [0, 2, 15, 17, -1]),
    *(({"version": version}, TypeError, "version") for version in [True, "1", 1.0, None]),
    *(({name: value}, TypeError, f"OneHot-1: {name} must have one of the types int8, ")
      for name in ["on_value", "off_value"] for value in VALUES),
    *(({"on_value": on, "off_value": off}, TypeError, "on_value and off_value must have the same")
      for on, off in PAIRS),
    *(({"on_value": on, "off_value": off}, ValueError, r"o(n|ff)_value must be a scalar of shape")
      for on, off in [([1], 0), (1, [0]), (np.ones((1, 1), int), 0), ([1, 2], 0)]),
    *(({"axis": axis}, TypeError, "axis") for axis in [None, True, 1.0, "1"]),
    *(({"depth": depth}, TypeError, "depth must have one of the types int32, int64, got")
      for depth in [True, 3.0, "3", None, np.uint8(3), np.float32(3), np.int8(3)]),
    *(({"depth": depth, "version": version}, ValueError, "depth must be at least 1, got")
      for depth in [0, -1, np.int64(0), np.int64(-(2**63))] for version in [1, 16]),
    *(({"depth": depth}, ValueError, r"depth must be a scalar of shape \(\), got")
      for depth in [[3], np.array([3]), np.array([[3]]), np.array([], int)]),
    *(({"indices": np.zeros(2, t1)}, TypeError, f"indices must .* int32, int64, got {t1}")
      for t1 in ["int8", "int16", "uint8", "uint16", "uint32", "uint64", "float32", "bool"]),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "error", "message"), ERRORS, ids=repr)
def test_arguments_outside_the_standard_are_rejected(changed, error, message):
    """Modes, versions and types outside the standard are rejected, and nothing is inferred."""
    arguments = {"indices": [0], "depth": 2, "on_value": 1, "off_value": 0, "axis": -1}

    with pytest.raises(error, match=message):
        openvino.one_hot(**(arguments | changed))
