"""What is accepted as indices, depth and ignored indices."""

from __future__ import annotations

import array as buffers
import enum

import numpy as np
import pytest

from onehot_fast import empty, infer_shape, one_hot
from support import oracle, strategies

ONE, ZERO = np.float32([1, 0])


class Count(enum.IntEnum):
    THREE = 3


class Exporter:
    """An object with the DLPack protocol only, like a tensor of another library."""

    def __init__(self, data, kind=1):
        self.data, self.kind = data, kind
        self.device = "cpu" if kind == 1 else "cuda:0"

    def __dlpack__(self, **options):
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.kind, 0


class Arraylike:
    """An object with `__array__` only."""

    def __init__(self, data):
        self.data = data

    def __array__(self, dtype=None, copy=None):
        return self.data


@pytest.mark.parametrize("kind", [1, 3, 11])
def test_memory_that_the_cpu_reads_is_accepted(kind):
    assert one_hot(Exporter(np.arange(3), kind), 3).tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("kind", [2, 8, 10])
def test_an_array_on_another_device_is_rejected_with_the_remedy(kind):
    message = r"indices must be in the memory of the CPU, got an Exporter on cuda:0: .*\.cpu\(\)"
    with pytest.raises(ValueError, match=message):
        one_hot(Exporter(np.arange(3), kind), 3)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        *((empty, np.zeros(0, "i8")) for empty in ([], (), range(0))),
        *(([[], []], np.zeros((2, 0), "i8")), (range(3), np.array([0, 1, 2], "i8"))),
        *((7, np.array(7, "i8")), (2**63, np.array(2**63, "u8")), (1.5, np.array(1.5, "f8"))),
        *((np.int8(3), np.array(3, "i1")), ([[1], [2]], np.array([[1], [2]], "i8"))),
        ([1, 2.5], np.array([1, 2.5])),
        ([np.int8(2), np.uint8(0), 1], np.array([2, 0, 1], "i8")),
        (buffers.array("h", [1, 2]), np.array([1, 2], "i2")),
        (memoryview(b"\1\2\3"), np.array([1, 2, 3], "u1")),
        (bytearray(b"\1\2\3"), np.array([1, 2, 3], "u1")),
        (Exporter(np.eye(2, dtype="i4")), np.eye(2, dtype="i4")),
        (Arraylike(np.arange(4, dtype="u2")), np.arange(4, dtype="u2")),
        (np.arange(4).view(np.recarray), np.arange(4)),
        (np.array([3, -1], object), np.array([3, -1], "i8")),
        (np.array([2**64 - 1], object), np.array([2**64 - 1], "u8")),
        (np.array([np.uint8(3), 4], object), np.array([3, 4], "i8")),
    ],
)
def test_everything_array_like_is_read(source, expected):
    """Sequences, numbers, buffers, protocols and objects that are all integers."""
    actual = one_hot(source, 9)

    assert type(actual) is np.ndarray
    oracle.assert_same(actual, oracle.one_hot(expected, 9, ONE, ZERO))


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        *((0, 0), (3, 3), (2**63 - 1, 2**63 - 1), (Count.THREE, 3), (3.9, 3), (-0.9, 0)),
        *((np.float16(3.9), 3), (np.longdouble(3.9), 3), (np.int8(3), 3), (np.uint64(3), 3)),
        *((np.array(3), 3), (np.array([[[3.5]]], ">f4"), 3), ([3], 3)),
        (Exporter(np.array([3])), 3),
        *((form(np.array(3.9).astype(dtype)), 3) for dtype in strategies.INDEX_DTYPES
          for form in (lambda x: x[()], np.atleast_1d, np.asarray)),
    ],
)  # fmt: skip
def test_depth_is_one_number_and_is_truncated(depth, expected):
    (actual,) = infer_shape((), depth)

    assert expected == actual
    assert type(actual) is int


@pytest.mark.parametrize(
    ("indices", "ignore_index", "expected"),
    [
        *(([1, 5, 2], None, 6), (np.array([1, 5, 2]), 5, 3), (np.array(4, "u1"), None, 5)),
        *((np.array([-3, -1]), None, 0), (np.array([-0.5]), None, 1)),
        *((np.array([255, 7], "u1"), None, 256), (np.array([255, 7], "u1"), 255, 8)),
        (np.array([1.9, np.nan, np.inf]), None, 2),
    ],
)
def test_a_depth_of_none_is_inferred_from_the_indices(indices, ignore_index, expected):
    """1 + the largest index that is not ignored, and 0 if all are negative; `out` may be passed."""
    out = empty((*np.shape(indices), expected))

    assert one_hot(indices, None, ignore_index=ignore_index).shape == out.shape
    assert one_hot(indices, None, ignore_index=ignore_index, out=out) is out


@pytest.mark.parametrize(
    ("ignored", "dtype"),
    [
        *((-100, "i8"), (-100, "u8"), (255, "u1"), (256, "u1"), (-129, "i1"), (2**64 - 1, "u8")),
        *((2**63, "f4"), (-(2**63), "f8"), (np.int16(7), "f4"), (10**30, "i8")),
    ],
)
def test_an_ignored_index_is_compared_as_an_integer(ignored, dtype):
    """An integer outside the dtype of the indices matches none of them, and is no error."""
    indices = np.array([0, 100, 127], dtype)

    actual = one_hot(indices, 128, ignore_index=ignored, dtype="i1", negative_indices="normalize")
    assert actual.argmax(-1).tolist() == [0, 100, 127]
    own = np.array([ignored, 0]).astype(dtype) if -129 <= ignored <= 2**63 else indices[:1]
    if own[0] == ignored:
        assert not one_hot(own, 2**9, ignore_index=ignored, negative_indices="normalize")[0].any()
