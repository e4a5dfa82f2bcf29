"""The oracle itself, against examples small enough to check by eye."""

from __future__ import annotations

import math

import numpy as np
import oracle
import pytest


@pytest.mark.parametrize(
    ("index", "depth", "negative", "ignore_index", "expected"),
    [
        pytest.param(0, 3, "ignore", None, 0, id="first class"),
        pytest.param(2, 3, "ignore", None, 2, id="last class"),
        pytest.param(3, 3, "ignore", None, None, id="too large"),
        pytest.param(-1, 3, "ignore", None, None, id="negative is not the last class"),
        pytest.param(-1, 3, "normalize", None, 2, id="negative wraps"),
        pytest.param(-3, 3, "normalize", None, 0, id="the lowest that wraps"),
        pytest.param(-4, 3, "normalize", None, None, id="wraps once only"),
        pytest.param(-(2**63), 3, "normalize", None, None, id="the smallest int64"),
        pytest.param(2**64 - 1, 3, "normalize", None, None, id="the largest uint64 is not -1"),
        pytest.param(2**63, 3, "ignore", None, None, id="2**63 is not class 0"),
        pytest.param(2**32 + 1, 3, "ignore", None, None, id="not narrowed to 32 bits"),
        pytest.param(1, 0, "ignore", None, None, id="no classes"),
        pytest.param(1.9, 3, "ignore", None, 1, id="truncated"),
        pytest.param(-0.5, 3, "ignore", None, 0, id="truncated toward zero"),
        pytest.param(-3.7, 3, "normalize", None, 0, id="truncated before it wraps"),
        pytest.param(3.0, 3, "ignore", None, None, id="whole number too large"),
        pytest.param(math.nan, 3, "normalize", None, None, id="NaN is not class 0"),
        pytest.param(-math.inf, 3, "normalize", None, None, id="infinity"),
        pytest.param(1, 3, "ignore", 1, None, id="ignored"),
        pytest.param(1.5, 3, "ignore", 1, None, id="ignored after truncation"),
        pytest.param(-1, 3, "normalize", -1, None, id="ignored before it wraps"),
        pytest.param(2, 3, "normalize", -1, 2, id="only the given index is ignored"),
    ],
)
def test_class_of(index, depth, negative, ignore_index, expected):
    """One index lights one class or none, by exact integer comparison."""
    actual = oracle.class_of(index, depth, negative, ignore_index)

    assert actual == expected


@pytest.mark.parametrize(
    ("axis", "expected"),
    [
        (-1, [[[7, 5], [5, 7]]]),
        (0, [[[7, 5]], [[5, 7]]]),
        (-3, [[[7, 5]], [[5, 7]]]),
        (1, [[[7, 5], [5, 7]]]),
    ],
)
def test_one_hot_axis(axis, expected):
    actual = oracle.one_hot(np.array([[0, 1]]), 2, np.int8(7), np.int8(5), axis)

    assert actual.tolist() == expected
    assert actual.dtype == np.int8


def test_narrow_type_has_more_classes_than_values():
    """An int8 index among 300 classes lights one cell, not two."""
    actual = oracle.one_hot(np.array([44, -128], np.int8), 300, np.True_, np.False_)

    assert np.argwhere(actual).tolist() == [[0, 44]]


def test_decode():
    """An all-off row differs from class 0; the first on wins where more than one is allowed."""
    tensor = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.int8)
    actual = oracle.decode(tensor, np.int8(1), multiple="first")

    assert actual.tolist() == [-1, 0, 1, 0]


@pytest.mark.parametrize("options", [{"default": "error"}, {"multiple": "error"}])
def test_decode_refuses(options):
    tensor = np.array([[0, 0], [1, 1]], np.int8)

    with pytest.raises(ValueError, match="a row"):
        oracle.decode(tensor, np.int8(1), **({"multiple": "first"} | options))


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
