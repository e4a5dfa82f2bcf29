"""`one_hot` against the oracle, over hostile arrays."""

from __future__ import annotations

import array

import numpy as np
import oracle
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import onehot_fast

CASES = strategies.cases()
# Buffers are compared byte by byte: no references, and no padding, which NumPy does not copy.
BYTES = {name: v for name, v in strategies.PLAIN_VALUES.items() if name != "padded record"}
PLAIN_CASES = strategies.cases(BYTES)


def expected_of(case):
    """Return what the oracle makes of a case."""
    return oracle.one_hot(
        case.indices, case.depth, case.on, case.off, case.axis, case.negative, case.ignore_index
    )


@given(CASES)
def test_equals_oracle(case):
    """Values, dtype and shape are exact, the array is a new plain one, the inputs are untouched."""
    before = case.indices.tobytes()
    actual = onehot_fast.one_hot(case.indices, case.depth, **case.options)

    oracle.assert_same(actual, expected_of(case))
    assert actual.flags.c_contiguous
    assert actual.flags.writeable
    assert actual.flags.aligned
    assert case.indices.tobytes() == before


@pytest.mark.parametrize("num_threads", [1, 2, 3, 5])
@given(case=CASES)
def test_thread_count_never_changes_a_bit(num_threads, case):
    """Any number of threads gives the same result."""
    actual = onehot_fast.one_hot(case.indices, case.depth, **case.options, num_threads=num_threads)

    oracle.assert_same(actual, expected_of(case))


@st.composite
def plain_calls(draw):
    """Draw (indices, depth, axis, dtype) of a call that leaves everything else at its default."""
    depth = draw(st.sampled_from(strategies.DEPTHS))
    indices = draw(strategies.index_arrays(depth))
    axis = draw(st.integers(-indices.ndim - 1, indices.ndim))
    return indices, depth, axis, draw(st.sampled_from(["?", *"bBhHiIlLqQefdFD", ">i4", ">f8"]))


@given(plain_calls(), st.booleans())
def test_plain_call(call, into_out):
    """A call with ones and zeros, which may take a shorter way, gives the same."""
    indices, depth, axis, dtype = call
    off, on = strategies.pair_of(0, 1, dtype)
    expected = oracle.one_hot(indices, depth, on, off, axis)
    out = np.full(expected.shape, 1, dtype) if into_out else None
    actual = onehot_fast.one_hot(indices, depth, axis=axis, dtype=dtype, out=out)

    assert actual is out or not into_out
    oracle.assert_same(actual, expected)


@pytest.mark.parametrize("n_rows", [3, 3000, 300_000])
def test_a_result_lasts(n_rows):
    """Memory is not reused while an array, or a view of it, lives."""
    first = onehot_fast.one_hot(np.zeros(n_rows, int), 5)[::2, 0]
    second = onehot_fast.one_hot(np.ones(n_rows, int), 5)
    third = onehot_fast.one_hot(np.full(n_rows, 2), 5, dtype=bool)

    assert not np.shares_memory(first, second)
    assert (first == 1).all()
    assert (second[:, 1] == 1).all()
    assert third[:, 2].all()


@given(
    case=PLAIN_CASES,
    layout=st.sampled_from(strategies.OUT_LAYOUTS),
    shift=st.integers(0, 63),
    num_threads=st.sampled_from([1, 2, 3]),
)
def test_out_is_filled_and_nothing_else(case, layout, shift, num_threads):
    """`out` of any layout and alignment is filled and returned; no byte beside it changes."""
    expected = expected_of(case)
    dtype = f"V{expected.dtype.itemsize}"
    wanted, twin = strategies.guarded(case.shape, dtype, layout, shift)
    twin[...] = np.ascontiguousarray(expected).view(dtype).reshape(case.shape)
    buffer, raw = strategies.guarded(case.shape, dtype, layout, shift)
    out = raw.view(expected.dtype)
    actual = onehot_fast.one_hot(
        case.indices, case.depth, **case.options, out=out, num_threads=num_threads
    )

    assert actual is out
    oracle.assert_same(oracle.as_bytes(out), oracle.as_bytes(twin))
    oracle.assert_same(buffer, wanted)


@pytest.mark.parametrize("name", strategies.REFERENCE_VALUES)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_out_of_references(name, axis):
    """Objects and strings are written into `out` through its strides."""
    off, on = strategies.REFERENCE_VALUES[name]
    indices = np.array([[0, 3, -1], [2, 1, 9]])
    expected = oracle.one_hot(indices, 4, on, off, axis)
    out = np.flip(np.empty(expected.shape, off.dtype))
    actual = onehot_fast.one_hot(indices, 4, on_value=on, off_value=off, axis=axis, out=out)

    assert actual is out
    oracle.assert_same(actual, expected)


@pytest.mark.parametrize("layout", strategies.LAYOUTS)
@pytest.mark.parametrize("dtype", strategies.INDEX_DTYPES, ids=str)
def test_every_index_type_and_layout(dtype, layout):
    """Every layout of every index type is read, at all its extremes."""
    one, zero = np.float32([1, 0])
    for depth in (3, 21, 300):
        values = strategies.special_indices(dtype, depth)
        indices = strategies.LAYOUTS[layout](values[: len(values) // 2 * 2].reshape(2, -1))
        actual = onehot_fast.one_hot(indices, depth, negative_indices="normalize")

        oracle.assert_same(actual, oracle.one_hot(indices, depth, one, zero, -1, "normalize"))


@pytest.mark.parametrize("name", [name for name in strategies.VALUES if name != "big-endian"])
def test_every_value_type(name):
    """Elements of every dtype are copied exactly, and their dtype is that of the result."""
    off, on = strategies.VALUES[name]
    indices = np.arange(-3, 70).reshape(1, -1) % 11 - 1
    for axis in (0, -1):
        actual = onehot_fast.one_hot(indices, 9, on_value=on, off_value=off, axis=axis)

        oracle.assert_same(actual, oracle.one_hot(indices, 9, on, off, axis))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (0, 3), (2, 0, 4)], ids=str)
@pytest.mark.parametrize("depth", [0, 1, 5])
@pytest.mark.parametrize("axis", [0, -1])
def test_empty_and_scalar_indices(shape, depth, axis):
    """Zero-size dimensions and 0-d indices give the documented shape."""
    indices = np.zeros(shape, np.int64)
    actual = onehot_fast.one_hot(indices, depth, axis=axis)

    oracle.assert_same(actual, oracle.one_hot(indices, depth, *np.float32([1, 0]), axis))


def test_highest_rank():
    """Indices of one dimension less than NumPy's limit are accepted."""
    rank = 63 if int(np.__version__.split(".")[0]) >= 2 else 31
    actual = onehot_fast.one_hot(np.ones((1,) * rank, np.int8), 2, axis=5)

    assert actual.shape == (1,) * 5 + (2,) + (1,) * (rank - 5)
    assert actual.ravel().tolist() == [0, 1]


class Exporter:
    """An object that offers an array through one protocol only."""

    def __init__(self, values):
        self.values = np.array(values)


class ArrayExporter(Exporter):
    """`__array__`, as pandas and many others have it."""

    def __array__(self, dtype=None, copy=None):
        return self.values


class DLPackExporter(Exporter):
    """`__dlpack__`, as torch and others have it."""

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@pytest.mark.parametrize(
    "indices",
    [
        pytest.param([2, 0, 1], id="list"),
        pytest.param((2, 0, 1), id="tuple"),
        pytest.param([2.9, 0.0, 1.5], id="list of floats"),
        pytest.param([np.int8(2), np.uint8(0), 1], id="list of scalars"),
        pytest.param(array.array("h", [2, 0, 1]), id="array.array"),
        pytest.param(memoryview(array.array("Q", [2, 0, 1])), id="memoryview"),
        pytest.param(bytearray([2, 0, 1]), id="bytearray"),
        pytest.param(ArrayExporter([2, 0, 1]), id="__array__"),
        pytest.param(DLPackExporter([2, 0, 1]), id="__dlpack__"),
        pytest.param(np.ma.array([2, 0, 1]).data.view(np.matrix).A1, id="subclass"),
    ],
)
def test_array_likes(indices):
    """Anything that NumPy, DLPack or the buffer protocol can read is indices."""
    actual = onehot_fast.one_hot(indices, 3)

    oracle.assert_same(actual, np.float32([[0, 0, 1], [1, 0, 0], [0, 1, 0]]))


def test_python_integer():
    """A Python integer is 0-d indices."""
    oracle.assert_same(onehot_fast.one_hot(1, 3), np.float32([0, 1, 0]))


@pytest.mark.parametrize(
    "depth",
    [4, np.int8(4), np.uint64(4), np.array(4), np.array([4]), 4.0, 4.9, np.float16(4.5), [4]],
    ids=repr,
)
def test_depth_forms(depth):
    """The depth is an integer, a float that is truncated, or an array of one element."""
    oracle.assert_same(onehot_fast.one_hot([3], depth), np.float32([[0, 0, 0, 1]]))


@pytest.mark.parametrize("depth", [0, 0.9, -0.5])
def test_no_classes(depth):
    """A depth that truncates to 0 gives an empty array."""
    assert onehot_fast.one_hot([0, 1], depth).shape == (2, 0)


@pytest.mark.parametrize(
    ("indices", "ignore_index", "expected"),
    [
        ([0, 4, 2], None, 5),
        ([0, 4, 2], 4, 3),
        ([-5, -1], None, 0),
        ([1.9, np.nan, np.inf, 3.999], None, 4),
        (np.uint8([255, 7]), None, 256),
        (np.uint8([255, 7]), 255, 8),
        (np.array([[0, 1], [6, 3]], ">i2"), None, 7),
        (5, None, 6),
    ],
)
def test_depth_none(indices, ignore_index, expected):
    """Without a depth there is one class more than the largest index that counts."""
    actual = onehot_fast.one_hot(indices, None, ignore_index=ignore_index)

    assert actual.shape == (*np.shape(indices), expected)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "f4"),
        ({"on_value": 5, "off_value": -1}, "f4"),
        ({"on_value": 0.5}, "f4"),
        ({"on_value": True, "off_value": False}, "?"),
        ({"on_value": True}, "f4"),
        ({"on_value": np.int8(3)}, "i1"),
        ({"off_value": np.float64(0.1)}, "f8"),
        ({"on_value": np.uint16(3), "off_value": np.uint16(4)}, "u2"),
        ({"on_value": np.array(1, ">i4"), "off_value": np.array(0, ">i4")}, "=i4"),
        ({"dtype": ">i4"}, ">i4"),
        ({"dtype": "u1"}, "u1"),
        ({"dtype": bool}, "?"),
        ({"dtype": np.complex64, "on_value": 1j}, "c8"),
        ({"on_value": np.datetime64("2024-01-01", "D"), "off_value": np.datetime64("NaT", "D")},
         "M8[D]"),
        ({"dtype": np.int8, "on_value": np.int8(3)}, "i1"),
    ],
)  # fmt: skip
def test_dtype(options, expected):
    """Typed values decide the dtype, then `dtype`, then float32 (bool for two Python bools)."""
    actual = onehot_fast.one_hot([1], 2, **options)

    assert actual.dtype == np.dtype(expected)


@pytest.mark.parametrize("dtype", ["?", "u1", ">i2", "f2", "c16", "U3", object], ids=str)
def test_plain_values_take_the_dtype_of_out(dtype):
    """Without a dtype, plain values are written as what `out` holds."""
    out = np.empty((2, 2), dtype)
    on, off = ("b", "a") if np.dtype(dtype).kind == "U" else (1, 0)
    onehot_fast.one_hot([1, 0], 2, on_value=on, off_value=off, out=out)

    oracle.assert_same(out, np.array([[off, on], [on, off]], dtype))


def test_strings_are_as_wide_as_the_longer():
    """Python strings of two lengths fit into one array."""
    actual = onehot_fast.one_hot([1], 2, on_value="yes", off_value="no")

    oracle.assert_same(actual, np.array([["no", "yes"]]))
