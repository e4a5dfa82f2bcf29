"""`one_hot` and the policies for indices that name no class."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onehot_fast
from support import oracle, strategies

# What each pair of policies accepts, besides the classes: (negative indices, out of range).
POLICIES = [(n, r) for n in ("ignore", "normalize", "error") for r in ("ignore", "error")]


def offends(index, depth, negative, out_of_range, ignore_index):
    """Tell whether one Python index is an error under the policies."""
    if isinstance(index, float):
        if not abs(index) < 2.0**63:
            return out_of_range == "error"
        whole = math.trunc(index)
        if whole != index and whole != ignore_index and out_of_range == "error":
            return True
        index = whole
    if index == ignore_index:
        return False
    if index >= depth:
        return out_of_range == "error"
    below = index < 0 if negative == "error" else index < -depth
    if negative == "normalize":
        return below and out_of_range == "error"
    return below and negative == "error"


def named(position):
    """Return the text that names an index in a message."""
    return f"indices[{', '.join(map(str, position))}] must be" if position else "indices must be"


def unambiguous(indices):
    """Leave out -inf and the like, which are both negative and not an integer."""
    return indices.dtype.kind != "f" or not bool((indices.astype(float) <= -(2.0**63)).any())


@st.composite
def policy_calls(draw, negative, out_of_range):
    """Draw (indices, depth, ignored index, C-order positions of the offenders)."""
    depth = draw(st.sampled_from([1, 2, 3, 21, 127, 300]))
    indices = draw(strategies.index_arrays(depth).filter(unambiguous))
    ignored = draw(st.sampled_from([None, 0, -1, depth, 255]))
    flat = indices.flatten()
    bad = [
        i for i, k in enumerate(flat.tolist()) if offends(k, depth, negative, out_of_range, ignored)
    ]
    kept = draw(st.sampled_from([[], bad[-1:], bad]))  # none, late, or many
    flat[[i for i in bad if i not in kept[:1] and kept is not bad]] = 0
    return flat.reshape(indices.shape), depth, ignored, kept


@pytest.mark.parametrize(("negative", "out_of_range"), POLICIES)
@given(data=st.data())
def test_each_policy_agrees_with_the_oracle(negative, out_of_range, data):
    """The first offender in C order is named; without one, the call agrees with the oracle."""
    indices, depth, ignored, bad = data.draw(policy_calls(negative, out_of_range))
    options = {
        "negative_indices": negative, "out_of_range": out_of_range, "ignore_index": ignored,
    }  # fmt: skip
    if bad:
        first = [int(i) for i in np.unravel_index(bad[0], indices.shape)]
        with pytest.raises(ValueError, match=re.escape(named(first))):
            onehot_fast.one_hot(indices, depth, **options)
    else:
        actual = onehot_fast.one_hot(indices, depth, **options)
        one, zero = np.float32([1, 0])
        oracle.assert_same(actual, oracle.one_hot(indices, depth, one, zero, -1, negative, ignored))


@pytest.mark.parametrize(
    ("indices", "options", "accepted"),
    [
        ([0, 5], {"out_of_range": "error"}, r"indices\[1\] must be in \[0, 3\), got 5"),
        ([[0, 1], [3, 9]], {"out_of_range": "error"}, r"indices\[1, 0\] must be .*, got 3"),
        (np.uint64(2**64 - 1), {"out_of_range": "error"}, r"\), got 18446744073709551615"),
        (np.int64(-(2**63)), {"negative_indices": "error"}, r"\), got -9223372036854775808"),
        ([0.0, np.nan], {"out_of_range": "error"}, r"indices\[1\] must be .*, got nan"),
        ([0.0, np.inf], {"out_of_range": "error"}, r"indices\[1\] must be .*, got inf"),
        ([0.0, -np.inf], {"out_of_range": "error"}, r"indices\[1\] must be .*, got -inf"),
        ([2, -1], {"negative_indices": "error"}, r"indices\[1\] must be in \[0, 3\), got -1"),
        ([-3, -4], {"negative_indices": "normalize", "out_of_range": "error"},
         r"indices\[1\] must be in \[-3, 3\), got -4"),
        ([-3, 3], {"negative_indices": "normalize", "out_of_range": "error"},
         r"indices\[1\] must be in \[-3, 3\), got 3"),
        (300, {"out_of_range": "error"}, r"^indices must be in \[0, 3\), got 300"),
        (np.float32([21.7]), {"out_of_range": "error"}, r"indices\[0\] must be .*, got 21.7"),
        (np.float16([99.9]), {"out_of_range": "error"}, r"indices\[0\] must be .*, got 99.9"),
        (np.array([0, 256], ">u2"), {"out_of_range": "error"}, r"indices\[1\] must be .*, got 256"),
        (np.array([[1, 2], [30, 3]]).T, {"out_of_range": "error"}, r"indices\[0, 1\] .* got 30"),
        (np.array([[1, 2], [0, 30]])[::-1, ::2].T, {"out_of_range": "error", "depth": 1},
         r"indices\[0, 1\] must be in \[0, 1\), got 1"),
    ],
)  # fmt: skip
def test_a_message_names_position_value_and_range(indices, options, accepted):
    """The message has the position in the original array, the range and the value."""
    with pytest.raises(ValueError, match=accepted):
        onehot_fast.one_hot(indices, **{"depth": 3} | options)


@pytest.mark.parametrize("position", [0, 1, 63, 64, 4095, 4096, 9999, 69_999])
@pytest.mark.parametrize("dtype", strategies.INDEX_DTYPES, ids=str)
def test_one_invalid_index_is_found_anywhere(dtype, position):
    indices = np.zeros(70_000, dtype)
    indices[position] = 21

    with pytest.raises(ValueError, match=rf"indices\[{position}\] must be in \[0, 21\), got 21"):
        onehot_fast.one_hot(indices, 21, out_of_range="error")


@given(strategies.index_arrays(21), st.lists(st.integers(-3, 300) | st.just(2**63 - 1), max_size=4))
def test_several_ignored_indices_become_rows_of_zeros(indices, ignored):
    """Ignored indices become rows of zeros under every policy."""
    before = indices.copy()
    rows = [math.trunc(k) if math.isfinite(k) else k for k in indices.ravel().tolist()]
    expected = np.array([[k == c and k not in ignored for c in range(21)] for k in rows], bool)

    result = onehot_fast.one_hot(indices, 21, ignore_index=ignored, dtype=bool)

    oracle.assert_same(result, expected.reshape(*indices.shape, 21))
    oracle.assert_same(indices, before)


def test_ignored_indices_come_before_every_policy():
    """An ignored index is no error, and no largest index from which a depth would follow."""
    labels = np.array([[3, 255], [254, 1]])
    options = {"ignore_index": (255, 254, -1), "negative_indices": "error", "out_of_range": "error"}

    assert onehot_fast.one_hot(labels, None, **options).shape == (2, 2, 4)
    with pytest.raises(ValueError, match=r"indices\[1, 0\] must be .*, got 254"):
        onehot_fast.one_hot(labels, 4, **options | {"ignore_index": {255, -1}})


def test_ignored_numbers_are_compared_exactly_with_floats():
    """2**53 + 1 is no float64: it is ignored nowhere, and 2**53 in its place neither."""
    labels = np.array([2.0**53, 1.5, np.nan, -np.inf])

    result = onehot_fast.one_hot(labels, 3, ignore_index=[2**53 + 1, 1, -(2**63)], dtype=int)

    assert not result.any()
    with pytest.raises(ValueError, match=r"indices\[0\] must be .*, got 9007199254740992"):
        onehot_fast.one_hot(labels, 3, ignore_index=[2**53 + 1, 1], out_of_range="error")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5, np.float32(0.25), 0])
def test_label_smoothing_follows_its_formula(dtype, smoothing):
    """The values are those of the formula, rounded once, and a row sums to 1."""
    share = float(smoothing)
    on, off = dtype(1 - share + share / 7), dtype(share / 7)
    labels = np.array([0, 6, 3, -1])

    result = onehot_fast.one_hot(labels, 7, label_smoothing=smoothing, dtype=dtype)

    oracle.assert_same(result, onehot_fast.one_hot(labels, 7, on_value=on, off_value=off))
    np.testing.assert_allclose(result[:3].sum(axis=1), 1, rtol=1e-3)


def test_label_smoothing_uses_the_inferred_depth():
    """The depth of the formula is that of the result; without classes nothing is divided by it."""
    result = onehot_fast.one_hot([1, 0], None, label_smoothing=0.2, axis=0)

    assert result.tolist() == np.array([[0.1, 0.9], [0.9, 0.1]], np.float32).tolist()
    assert onehot_fast.one_hot([-1], 0, label_smoothing=0.2).shape == (1, 0)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"label_smoothing": 1.0}, ValueError, r"label_smoothing must be in \[0, 1\), got 1.0"),
        ({"label_smoothing": -0.1}, ValueError, "must be in"),
        ({"label_smoothing": math.nan}, ValueError, "must be in"),
        ({"label_smoothing": "0.1"}, TypeError, "label_smoothing must be a float, got '0.1'"),
        ({"label_smoothing": True}, TypeError, "got True"),
        ({"label_smoothing": 0.1, "dtype": "uint8"}, TypeError, "needs a float dtype, got uint8"),
        ({"label_smoothing": 0.1, "dtype": bool}, TypeError, "needs a float dtype"),
        ({"label_smoothing": 0.1, "on_value": 0.9}, TypeError, "cannot be combined with on_value"),
        ({"label_smoothing": 0.1, "off_value": 0.0}, TypeError, "cannot be combined with on_value"),
    ],
)
def test_label_smoothing_rejects_invalid_arguments(options, error, message):
    """Shares outside of [0, 1), dtypes that hold none, and values said twice."""
    with pytest.raises(error, match=message):
        onehot_fast.one_hot([0, 1], 2, **options)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_out_of_range_rejects_fractions(dtype):
    """A label with a fraction is no class; whole floats are, and ignored labels never raise."""
    strict = {"out_of_range": "error"}
    assert onehot_fast.one_hot(np.array([1, -0.0, 2], dtype), 3, **strict).argmax(-1).tolist() == [
        1, 0, 2,
    ]  # fmt: skip
    for labels, message in (
        ([0, 1.5], r"indices\[1\] must be a whole number, got 1.5"),
        ([-0.5, 9], r"indices\[0\] must be a whole number, got -0.5"),
        ([9, 0.5], r"indices\[0\] must be in \[0, 3\), got 9"),
        ([math.nan, 0.5], r"indices\[0\] must be in \[0, 3\), got nan"),
    ):
        with pytest.raises(ValueError, match=message):
            onehot_fast.one_hot(np.array(labels, dtype), 3, **strict)
    many = np.zeros(200_000, dtype)
    many[150_000] = 0.25
    with pytest.raises(ValueError, match=r"indices\[150000\]"):
        onehot_fast.one_hot(many, 3, **strict)
    ignored = onehot_fast.one_hot(np.array([255.5, 1], dtype), 3, ignore_index=255, **strict)
    assert ignored.sum(-1).tolist() == [0, 1]
    assert onehot_fast.one_hot(np.array([1.5], dtype), 3).argmax() == 1
