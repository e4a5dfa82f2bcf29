"""The requirements that OneHot of ONNX and of OpenVINO have in common."""

from __future__ import annotations

import numpy as np
import oracle
import pytest

import onehot_fast
from onehot_fast.operators import onnx, openvino

INT64 = np.iinfo(np.int64)
SHAPES = [(), (4,), (2, 3), (2, 1, 3), (0, 2), (0, 3, 0)]
# Both standards with one signature: (indices, depth, off, on, axis).
BOTH = {
    "onnx": lambda indices, depth, off, on, axis=-1: onnx.one_hot(
        indices, depth, np.array([off, on]), axis
    ),
    "openvino": lambda indices, depth, off, on, axis=-1: openvino.one_hot(
        indices, depth, on, off, axis
    ),
}
axes = pytest.mark.parametrize("axis", [0, -1])


@pytest.fixture(params=BOTH.values(), ids=BOTH)
def one_hot(request):
    return request.param


def classes(shape, depth=3):
    """Return indices of a shape: all classes, and one beyond."""
    return np.arange(np.prod(shape, dtype=int)).reshape(shape) % (depth + 1)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@axes
def test_depth_is_inserted_at_the_axis(one_hot, shape, axis):
    """The output has one dimension more than the indices, as shape inference says."""
    one, zero = np.float32([1, 0])
    actual = one_hot(classes(shape), 3, zero, one, axis)

    oracle.assert_same(actual, oracle.one_hot(classes(shape), 3, one, zero, axis))
    assert actual.shape == onehot_fast.infer_shape(shape, 3, axis)


@pytest.mark.parametrize("axis", [-4, -3, -2, -1, 0, 1, 2, 3])
def test_an_element_is_hot_where_the_index_is_the_class(one_hot, axis):
    indices = classes((2, 3, 2))
    actual = one_hot(indices, 3, np.float64(-0.5), np.float64(7), axis)
    position = np.expand_dims(np.arange(3), tuple(i for i in range(4) if i != axis % 4))

    expected = np.where(np.expand_dims(indices, axis) == position, 7, -0.5)
    assert (expected.shape, expected.tolist()) == (actual.shape, actual.tolist())


@pytest.mark.parametrize(
    "indices",
    [[2**32 + 1, -(2**32), 2**32, 2**40 + 2, -(2**32) + 1], [INT64.min, INT64.max]],
    ids=["low half", "extremes"],
)
@pytest.mark.parametrize("depth", [1, 3, 300])
@axes
def test_far_indices_are_neither_cut_nor_negated(one_hot, indices, depth, axis):
    assert not one_hot(indices, depth, 0, 1, axis).any()


@pytest.mark.parametrize("shape", [(1000, 1000), (4,), (0,), (2, 0, 3)], ids=str)
def test_axis_and_size_are_checked_before_allocation(one_hot, shape):
    indices, rank = np.zeros(shape, np.int64), len(shape)
    for axis in (-rank - 2, rank + 1, 2**40):
        with pytest.raises(ValueError, match=rf"in \[{-rank - 1}, {rank + 1}\) .*, got {axis}"):
            one_hot(indices, 2**62, 0, 1, axis)
    for axis in (-rank - 1, rank):
        with pytest.raises(ValueError, match=r"too big: shape .* more than 2\*\*63 - 1"):
            one_hot(indices, 2**62, np.float32(0), np.float32(1), axis)
