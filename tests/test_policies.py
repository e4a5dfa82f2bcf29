"""`one_hot` and the policies for indices that name no class."""

from __future__ import annotations

import math
import re

import numpy as np
import oracle
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import onehot_fast

# What each pair of policies accepts, besides the classes: (negative indices, out of range).
POLICIES = [(n, r) for n in ("ignore", "normalize", "error") for r in ("ignore", "error")]


def offends(index, depth, negative, out_of_range, ignore_index):
    """Tell whether one Python index is an error under the policies."""
    if isinstance(index, float):
        if not abs(index) < 2.0**63:
            return out_of_range == "error"
        index = math.trunc(index)
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
    return f"indices[{', '.join(map(str, position))}] = " if position else "indices = "


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
def test_policy(negative, out_of_range, data):
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
        ([0, 5], {"out_of_range": "error"}, r"indices\[1\] = 5 is outside \[0, 3\)"),
        ([[0, 1], [3, 9]], {"out_of_range": "error"}, r"indices\[1, 0\] = 3 is outside \[0, 3\)"),
        (np.uint64(2**64 - 1), {"out_of_range": "error"}, r"= 18446744073709551615 is outside"),
        (np.int64(-(2**63)), {"negative_indices": "error"}, r"= -9223372036854775808 is outside"),
        ([0.0, np.nan], {"out_of_range": "error"}, r"indices\[1\] = nan is"),
        ([0.0, np.inf], {"out_of_range": "error"}, r"indices\[1\] = inf is"),
        ([0.0, -np.inf], {"out_of_range": "error"}, r"indices\[1\] = -inf is"),
        ([2, -1], {"negative_indices": "error"}, r"indices\[1\] = -1 is outside \[0, 3\)"),
        ([-3, -4], {"negative_indices": "normalize", "out_of_range": "error"},
         r"indices\[1\] = -4 is outside \[-3, 3\)"),
        ([-3, 3], {"negative_indices": "normalize", "out_of_range": "error"},
         r"indices\[1\] = 3 is outside \[-3, 3\)"),
        (300, {"out_of_range": "error"}, r"^indices = 300 is outside \[0, 3\)"),
        (np.float32([21.7]), {"out_of_range": "error"}, r"indices\[0\] = 21.7 is outside"),
        (np.float16([99.9]), {"out_of_range": "error"}, r"indices\[0\] = 99.9 is outside"),
        (np.array([0, 256], ">u2"), {"out_of_range": "error"}, r"indices\[1\] = 256 is outside"),
        (np.array([[1, 2], [30, 3]]).T, {"out_of_range": "error"}, r"indices\[0, 1\] = 30 is"),
        (np.array([[1, 2], [0, 30]])[::-1, ::2].T, {"out_of_range": "error", "depth": 1},
         r"indices\[0, 1\] = 1 is outside \[0, 1\)"),
    ],
)  # fmt: skip
def test_message_names_position_value_and_range(indices, options, accepted):
    """The message says which index of the caller's array offends and what is accepted."""
    with pytest.raises(ValueError, match=accepted):
        onehot_fast.one_hot(indices, **{"depth": 3} | options)


@pytest.mark.parametrize("position", [0, 1, 63, 64, 4095, 4096, 9999, 69_999])
@pytest.mark.parametrize("dtype", strategies.INDEX_DTYPES, ids=str)
def test_scan_finds_one_offender_anywhere(dtype, position):
    indices = np.zeros(70_000, dtype)
    indices[position] = 21

    with pytest.raises(ValueError, match=rf"indices\[{position}\] = 21(\.0)? is outside"):
        onehot_fast.one_hot(indices, 21, out_of_range="error")
