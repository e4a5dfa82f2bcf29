"""The comparison of the oracle finds differences; literal results of `one_hot` check the rest."""

from __future__ import annotations

import numpy as np
import pytest

from support import oracle


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        pytest.param(np.float32([0.0]), np.float32([-0.0]), id="sign of zero"),
        pytest.param(np.int32([1]), np.int64([1]), id="dtype"),
        pytest.param(np.zeros((1, 2)), np.zeros((2, 1)), id="shape"),
        pytest.param([1], np.array([1]), id="type"),
        pytest.param(np.array(["a"], object), np.array(["b"], object), id="objects"),
    ],
)
def test_assert_same_can_fail(actual, expected):
    with pytest.raises(AssertionError):
        oracle.assert_same(actual, expected)
