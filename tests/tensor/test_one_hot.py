"""`one_hot` against the oracle, over hostile arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onehot_fast
from support import oracle, strategies

CASES = strategies.cases()
# Buffers are compared byte by byte: no references, and no padding, which NumPy does not copy.
BYTES = {name: v for name, v in strategies.PLAIN_VALUES.items() if name != "padded record"}
PLAIN_CASES = strategies.cases(BYTES)


def expected_of(case):
    return oracle.one_hot(
        case.indices, case.depth, case.on, case.off, case.axis, case.negative, case.ignore_index
    )


@pytest.mark.parametrize("num_threads", [None, 1, 2, 3, 5])
@given(case=CASES)
def test_one_hot_equals_the_oracle(num_threads, case):
    """Values, dtype and shape are exact, the array is a new plain one, the inputs are untouched."""
    before = case.indices.tobytes()
    actual = onehot_fast.one_hot(case.indices, case.depth, **case.options, num_threads=num_threads)

    oracle.assert_same(actual, expected_of(case))
    assert actual.flags.c_contiguous
    assert actual.flags.writeable
    assert actual.flags.aligned
    assert case.indices.tobytes() == before


@pytest.mark.parametrize("n_rows", [3, 3000, 300_000])
def test_later_calls_do_not_change_a_result(n_rows):
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
    oracle.assert_same(oracle.as_bytes(out), oracle.as_bytes(twin.view(expected.dtype)))
    twin[...] = raw  # the padding within extended floats may be anything
    oracle.assert_same(buffer, wanted)


@pytest.mark.parametrize("name", strategies.VALUES)
def test_values_of_every_dtype_are_copied_exactly(name):
    """Elements of every dtype are copied exactly, into any strides, and decoded on every axis."""
    off, on = strategies.VALUES[name]
    indices = np.arange(-3, 69).reshape(3, -1) % 11 - 1
    classes = np.where(indices < 9, indices, -1)
    for axis in (0, 1, -1):
        expected = oracle.one_hot(indices, 9, on, off, axis)
        out = np.flip(np.empty(expected.shape, off.dtype))
        options = {"on_value": on, "off_value": off, "axis": axis, "dtype": off.dtype}

        oracle.assert_same(onehot_fast.one_hot(indices, 9, **options), expected)
        assert onehot_fast.one_hot(indices, 9, **options, out=out) is out
        oracle.assert_same(out, expected)
        if name != "equal":
            oracle.assert_same(onehot_fast.decode(expected, axis, on_value=on), classes)


@pytest.mark.parametrize("dtype", ["?", "u1", ">i2", "f2", "c16", "U3", object], ids=str)
def test_plain_values_take_the_dtype_of_out(dtype):
    """Plain values without a dtype are written in the dtype of `out`."""
    out = np.empty((2, 2), dtype)
    on, off = ("b", "a") if np.dtype(dtype).kind == "U" else (1, 0)
    onehot_fast.one_hot([1, 0], 2, on_value=on, off_value=off, out=out)

    oracle.assert_same(out, np.array([[off, on], [on, off]], dtype))


@pytest.mark.parametrize("dtype", ["f4", object])
def test_the_highest_rank_is_supported(dtype):
    rank = 63
    actual = onehot_fast.one_hot(np.ones((1,) * rank, np.int8), 2, axis=5, dtype=dtype)

    assert actual.shape == (1,) * 5 + (2,) + (1,) * (rank - 5)
    assert actual.ravel().tolist() == [0, 1]
