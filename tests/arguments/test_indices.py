"""Anything becomes a checked index array; depth and the policies are settled beside it."""

from __future__ import annotations

import array as buffers
import enum
from decimal import Decimal
from fractions import Fraction

import numpy as np
import oracle
import pytest
import strategies

from onehot_fast._arguments.indices import (
    as_array,
    as_indices,
    as_integer,
    mark_ignored,
    normalize_depth,
    resolve_depth,
    resolve_policy,
)
from onehot_fast._runtime.dispatch import INDEX_DTYPES

DTYPES = pytest.mark.parametrize("dtype", INDEX_DTYPES, ids=str)


class Count(enum.IntEnum):
    THREE = 3


class Exporter:
    """An object with the DLPack protocol and nothing else, as a tensor of another library."""

    def __init__(self, data):
        self.data = data

    def __dlpack__(self, **options):
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.data.__dlpack_device__()


class Elsewhere(Exporter):
    """An array on a device, as DLPack numbers its kind."""

    device = "cuda:0"

    def __init__(self, data, kind):
        super().__init__(data)
        self.kind = kind

    def __dlpack_device__(self):
        return self.kind, 0


@pytest.mark.parametrize("kind", [1, 3, 11])
def test_memory_that_the_cpu_reads_is_accepted(kind):
    np.testing.assert_array_equal(as_array(Elsewhere(np.arange(3), kind)), np.arange(3))


@pytest.mark.parametrize("kind", [2, 8, 10])
def test_an_array_on_another_device_is_rejected_with_the_remedy(kind):
    message = r"indices must be in the memory of the CPU, got an Elsewhere on cuda:0: .*\.cpu\(\)"
    with pytest.raises(ValueError, match=message):
        as_array(Elsewhere(np.arange(3), kind))


class Arraylike:
    """An object with `__array__` and nothing else."""

    def __init__(self, data):
        self.data = data

    def __array__(self, dtype=None, copy=None):
        return self.data


@DTYPES
def test_what_the_kernels_read_is_passed_through(dtype):
    """A native, contiguous array of a kernel's dtype is not copied, also when it is read-only."""
    indices = strategies.read_only(np.zeros((2, 3), dtype))

    assert as_indices(indices) is indices


@pytest.mark.parametrize("dtype", strategies.INDEX_DTYPES, ids=str)
@pytest.mark.parametrize("layout", sorted(strategies.LAYOUTS))
def test_values_survive_every_layout(dtype, layout):
    """Byte order, strides and alignment are mended by a copy; float16 is widened to float32."""
    special = strategies.special_indices(dtype, 5)
    values = strategies.LAYOUTS[layout](special[: len(special) // 2 * 2].reshape(2, -1))

    mended = as_indices(values)

    native = values.astype("f4" if dtype == "f2" else dtype)
    oracle.assert_same(mended, np.ascontiguousarray(native))
    assert mended.flags.c_contiguous
    assert mended.flags.aligned


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ([], np.zeros(0, "i8")),
        ([[], []], np.zeros((2, 0), "i8")),
        ((), np.zeros(0, "i8")),
        (range(0), np.zeros(0, "i8")),
        (range(3), np.array([0, 1, 2], "i8")),
        (7, np.array(7, "i8")),
        (2**63, np.array(2**63, "u8")),
        (1.5, np.array(1.5, "f8")),
        (np.int8(3), np.array(3, "i1")),
        ([[1], [2]], np.array([[1], [2]], "i8")),
        ([1, 2.5], np.array([1, 2.5])),
        ([np.int8(2), np.uint8(0), 1], np.array([2, 0, 1], "i8")),
        (buffers.array("h", [1, 2]), np.array([1, 2], "i2")),
        (memoryview(b"\1\2\3"), np.array([1, 2, 3], "u1")),
        (bytearray(b"\1\2\3"), np.array([1, 2, 3], "u1")),
        (Exporter(np.eye(2, dtype="i4")), np.eye(2, dtype="i4")),
        (Arraylike(np.arange(4, dtype="u2")), np.arange(4, dtype="u2")),
        (np.array([3, -1], object), np.array([3, -1], "i8")),
        (np.array([2**64 - 1], object), np.array([2**64 - 1], "u8")),
        (np.array([np.uint8(3), 4], object), np.array([3, 4], "i8")),
    ],
)
def test_everything_array_like_is_read(source, expected):
    """Sequences, numbers, buffers, protocols and objects that are all integers."""
    oracle.assert_same(as_indices(source), expected)


@pytest.mark.parametrize("wrap", [Exporter, Arraylike, memoryview])
def test_protocols_share_memory(wrap):
    data = np.arange(5)

    assert np.shares_memory(data, as_indices(wrap(data)))


def test_subclass_becomes_plain():
    assert type(as_array(np.arange(4).view(np.recarray))) is np.ndarray


NOT_INDICES = "indices must be integers .*, got dtype"
TOO_WIDE = "must fit one integer type of 64 bits"


@pytest.mark.parametrize(
    ("indices", "error", "message"),
    [
        *(
            (indices, TypeError, NOT_INDICES)
            for indices in [
                *([True], np.bool_(True), [1j], ["1"], b"12", None, [1, None], [Decimal(1)]),
                *(np.array([True, 2], object), np.array([], object)),
                *(np.zeros(2, dtype) for dtype in ("M8[s]", "m8[s]", "V4", [("a", "i4")])),
            ]
        ),
        pytest.param(
            np.zeros(2, np.longdouble),
            TypeError,
            NOT_INDICES,
            marks=pytest.mark.skipif(
                np.dtype(np.longdouble) == np.float64, reason="longdouble is float64 here"
            ),
        ),
        (np.ma.array([1, 2], mask=[0, 1]), TypeError, "indices must not be a masked array.*filled"),
        ([2**64], ValueError, TOO_WIDE),
        ([-(2**63) - 1, 0], ValueError, TOO_WIDE),
        (np.array([-1, 2**63], object), ValueError, TOO_WIDE),
        ([[1], [2, 3]], (ValueError, TypeError), "indices"),
    ],
    ids=repr,
)
def test_what_is_no_index_is_refused(indices, error, message):
    with pytest.raises(error, match=message):
        as_indices(indices)


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (0, 0),
        (3, 3),
        (2**63 - 1, 2**63 - 1),
        (Count.THREE, 3),
        (3.9, 3),
        (-0.9, 0),
        (np.float16(3.9), 3),
        (np.longdouble(3.9), 3),
        (np.int8(3), 3),
        (np.uint64(3), 3),
        (np.array(3), 3),
        (np.array([[[3.5]]], ">f4"), 3),
        ([3], 3),
        (Exporter(np.array([3])), 3),
    ],
)
def test_depth_is_one_number_truncated(depth, expected):
    """Integers, floats and arrays of exactly one of them."""
    actual = normalize_depth(depth)

    assert expected == actual
    assert type(actual) is int


@pytest.mark.parametrize(
    ("depth", "error", "message"),
    [
        (-1, ValueError, r"in \[0, 2\*\*63\), got -1"),
        (-1.5, ValueError, r"in \[0, 2\*\*63\), got -1"),
        (2**63, ValueError, r"in \[0, 2\*\*63\)"),
        (2**200, ValueError, r"in \[0, 2\*\*63\)"),
        (1e300, ValueError, r"in \[0, 2\*\*63\)"),
        (np.uint64(2**63), ValueError, r"in \[0, 2\*\*63\)"),
        (float("nan"), ValueError, "finite, got nan"),
        (np.float32("-inf"), ValueError, "finite, got -inf"),
        ([3, 3], ValueError, r"shape \(2,\)"),
        (np.zeros((1, 0)), ValueError, r"shape \(1, 0\)"),
        (True, TypeError, "bool"),
        (np.True_, TypeError, "bool"),
        ([True], TypeError, "bool"),
        ("3", TypeError, "'3'"),
        (3j, TypeError, "complex"),
        (Fraction(3), TypeError, "object"),
        (np.timedelta64(3, "s"), TypeError, "timedelta64"),
        (np.ma.array([3]), TypeError, "depth must not be a masked array"),
    ],
    ids=repr,
)
def test_depth_is_refused(depth, error, message):
    """A wrong kind is a TypeError, a wrong value a ValueError, and both show it."""
    with pytest.raises(error, match=message):
        normalize_depth(depth)


@pytest.mark.parametrize(
    ("indices", "ignore_index", "expected"),
    [
        (np.array([1, 5, 2]), None, 6),
        (np.array([1, 5, 2]), 5, 3),
        (np.array([-3, -1]), None, 0),
        (np.array(4, "u1"), None, 5),
        (np.array([255, 7], "u1"), None, 256),
        (np.array([255, 7], "u1"), 255, 8),
        (np.array([1.9, np.nan, np.inf]), None, 2),
        (np.array([-0.5]), None, 1),
    ],
)
def test_depth_none_looks_at_the_indices(indices, ignore_index, expected):
    """1 + the largest that is not ignored, and no class at all if they are all negative."""
    assert expected == resolve_depth(None, indices, ignore_index)


EMPTY = "depth=None needs an index"


@pytest.mark.parametrize(
    ("indices", "ignore_index", "message"),
    [
        (np.zeros(0, int), None, EMPTY),
        (np.array([7, 7]), 7, EMPTY),
        (np.array([np.nan]), None, EMPTY),
        (np.array([2**64 - 1], np.uint64), None, r"in \[0, 2\*\*63\)"),
    ],
)
def test_depth_none_needs_an_index(indices, ignore_index, message):
    """Where nothing is left to look at there is no largest; nor may it be beyond int64."""
    with pytest.raises(ValueError, match=message):
        resolve_depth(None, indices, ignore_index)


@pytest.mark.parametrize(
    ("ignored", "dtype", "expected"),
    [
        (-100, "i8", -100),
        (-100, "u8", None),
        (255, "u1", 255),
        (256, "u1", None),
        (-129, "i1", None),
        (2**64 - 1, "u8", 2**64 - 1),
        (2**63, "f4", None),
        (-(2**63), "f8", -(2**63)),
        (np.int16(7), "f4", 7),
        (10**30, "i8", None),
    ],
)
def test_ignore_index_no_index_can_equal(ignored, dtype, expected):
    """An ignored index outside the dtype of the indices never matches, and is no error."""
    assert mark_ignored(np.zeros(2, dtype), ignored)[1] == expected


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("wrap", "ignore"), ValueError, "'ignore', 'normalize', 'error', got 'wrap'"),
        (
            ("ignore", "clip"),
            ValueError,
            "out_of_range must be one of 'ignore', 'error', got 'clip'",
        ),
        (("ignore", "normalize"), ValueError, "out_of_range .* got 'normalize'"),
        ((None, "ignore"), TypeError, "negative_indices .* got None"),
        (("ignore", True), TypeError, "out_of_range .* got True"),
    ],
)
def test_policy_is_refused(arguments, error, message):
    """The message lists the words there are."""
    with pytest.raises(error, match=message):
        resolve_policy(*arguments, None)


@pytest.mark.parametrize("ignored", [True, np.False_, 1.0, "1", "12", [1, 2.0], [[1]], (3, None)])
def test_ignore_index_is_an_integer_or_several(ignored):
    """A bool or a float is refused, also where it equals an integer."""
    with pytest.raises(
        TypeError, match="ignore_index must be an integer, several integers or None"
    ):
        mark_ignored(np.zeros(2, "i4"), ignored)


@pytest.mark.parametrize("value", [3, np.uint8(3), np.array(3)])
def test_as_integer(value):
    assert as_integer(value, "axis") == 3
