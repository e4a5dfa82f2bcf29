"""Anything becomes a checked index array; depth and the policies are settled beside it."""

from __future__ import annotations

import array as buffers
import enum
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import onehot_fast
from onehot_fast._arguments.indices import (
    Policy,
    as_array,
    as_indices,
    as_integer,
    check_range,
    mark_ignored,
    normalize_depth,
    resolve_depth,
    resolve_policy,
)
from onehot_fast._runtime.dispatch import INDEX_DTYPES

DTYPES = pytest.mark.parametrize("dtype", INDEX_DTYPES, ids=str)


class Count(enum.IntEnum):
    """An int that is not exactly an int."""

    THREE = 3


class Exporter:
    """An object with the DLPack protocol and nothing else, as a tensor of another library."""

    def __init__(self, data):
        self.data = data

    def __dlpack__(self, **options):
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.data.__dlpack_device__()


class Arraylike:
    """An object with `__array__` and nothing else."""

    def __init__(self, data):
        self.data = data

    def __array__(self, dtype=None, copy=None):
        return self.data


@DTYPES
def test_what_the_kernels_read_is_passed_through(dtype):
    """A native, contiguous array of a kernel's dtype is not copied, also when it is read-only."""
    indices = np.zeros((2, 3), dtype)
    indices.flags.writeable = False

    assert as_indices(indices) is indices


@DTYPES
@pytest.mark.parametrize(
    "disguise",
    [
        lambda values: values.astype(values.dtype.newbyteorder("S")),
        lambda values: np.asfortranarray(values),
        lambda values: np.repeat(values, 2, axis=1)[:, ::2],
        lambda values: values[::-1, ::-1][::-1, ::-1],
        lambda values: np.ndarray(values.shape, values.dtype, b"\0" + values.tobytes(), offset=1),
    ],
    ids=["byte-swapped", "fortran", "strided", "reversed twice", "unaligned"],
)
def test_values_survive_every_layout(dtype, disguise):
    """Byte order, strides and alignment are mended by a copy that changes no value."""
    values = np.arange(6).astype(dtype).reshape(2, 3)

    mended = as_indices(disguise(values))

    assert mended.dtype == dtype
    assert mended.dtype.isnative
    assert mended.flags.c_contiguous
    assert mended.flags.aligned
    assert values.tolist() == mended.tolist()


@pytest.mark.parametrize("order", ["<", ">"])
def test_float16_is_widened(order):
    """Every float16 is a float32."""
    values = np.array([65504, -0.5, np.nan, 6e-8], f"{order}f2")

    indices = as_indices(values)

    assert indices.dtype == np.float32
    np.testing.assert_array_equal(indices, values)


@pytest.mark.parametrize(
    ("source", "dtype", "shape"),
    [
        ([], "i8", (0,)),
        ([[], []], "i8", (2, 0)),
        ((), "i8", (0,)),
        (range(0), "i8", (0,)),
        (range(3), "i8", (3,)),
        (7, "i8", ()),
        (2**63, "u8", ()),
        (1.5, "f8", ()),
        (np.int8(3), "i1", ()),
        ([[1], [2]], "i8", (2, 1)),
        ([1, 2.5], "f8", (2,)),
        (np.zeros(0, "f4"), "f4", (0,)),
        (buffers.array("h", [1, 2]), "i2", (2,)),
        (memoryview(b"\1\2\3"), "u1", (3,)),
        (bytearray(b"\1\2\3"), "u1", (3,)),
        (Exporter(np.zeros((2, 2), "i4")), "i4", (2, 2)),
        (Arraylike(np.zeros(4, "u2")), "u2", (4,)),
        (np.array([3, -1], object), "i8", (2,)),
        (np.array([2**64 - 1], object), "u8", (1,)),
        (np.array([np.uint8(3), 4], object), "i8", (2,)),
    ],
)
def test_everything_array_like_is_read(source, dtype, shape):
    """Sequences, numbers, buffers, protocols and objects that are all integers."""
    indices = as_indices(source)

    assert (dtype, shape) == (indices.dtype.str[1:], indices.shape)


@pytest.mark.parametrize("wrap", [Exporter, Arraylike, memoryview])
def test_protocols_share_memory(wrap):
    """What another library holds is looked at where it is."""
    data = np.arange(5)

    assert np.shares_memory(data, as_indices(wrap(data)))


def test_subclass_becomes_plain():
    """A subclass of ndarray has no say in what follows."""
    assert type(as_array(np.arange(4).view(np.recarray))) is np.ndarray


@pytest.mark.parametrize(
    "indices",
    [
        [True],
        np.bool_(True),
        [1j],
        ["1"],
        b"12",
        None,
        [1, None],
        [Decimal(1)],
        np.array([True, 2], object),
        np.array([], object),
        np.zeros(2, "M8[s]"),
        np.zeros(2, "m8[s]"),
        np.zeros(2, "V4"),
        np.zeros(2, [("a", "i4")]),
        pytest.param(
            np.zeros(2, np.longdouble),
            marks=pytest.mark.skipif(
                np.dtype(np.longdouble) == np.float64, reason="longdouble is float64 here"
            ),
        ),
    ],
    ids=repr,
)
def test_other_kinds_are_refused(indices):
    """The message names the dtype that came in and those that are accepted."""
    with pytest.raises(TypeError, match=r"indices have dtype .*: accepted are integers"):
        as_indices(indices)


def test_masked_array_is_refused():
    """A masked element is neither an index nor missing by itself."""
    with pytest.raises(TypeError, match=r"indices is a masked array.*filled"):
        as_indices(np.ma.array([1, 2], mask=[0, 1]))


@pytest.mark.parametrize("indices", [[2**64], [-(2**63) - 1, 0], np.array([-1, 2**63], object)])
def test_integers_beyond_64_bits_are_refused(indices):
    """No kernel compares more than 64 bits, and none is cut off."""
    with pytest.raises(ValueError, match="no integer type of 64 bits"):
        as_indices(indices)


@pytest.mark.filterwarnings("ignore:Creating an ndarray from ragged")  # NumPy 1.23
def test_ragged_sequence_is_refused():
    """The error says which argument is not a regular array."""
    with pytest.raises((ValueError, TypeError), match="indices"):
        as_indices([[1], [2, 3]])


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
        (-1, ValueError, "-1 is negative"),
        (-1.5, ValueError, "-1 is negative"),
        (2**63, ValueError, "too large"),
        (2**200, ValueError, "too large"),
        (1e300, ValueError, "too large"),
        (np.uint64(2**63), ValueError, "too large"),
        (float("nan"), ValueError, "nan is not finite"),
        (np.float32("-inf"), ValueError, "inf is not finite"),
        ([3, 3], ValueError, r"shape \(2,\)"),
        (np.zeros((1, 0)), ValueError, r"shape \(1, 0\)"),
        (True, TypeError, "bool"),
        (np.True_, TypeError, "bool"),
        ([True], TypeError, "bool"),
        ("3", TypeError, "'3'"),
        (3j, TypeError, "complex"),
        (Fraction(3), TypeError, "object"),
        (np.timedelta64(3, "s"), TypeError, "timedelta64"),
        (np.ma.array([3]), TypeError, "depth is a masked array"),
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
        (np.array([-1]), None, 0),
        (np.array(4, "u1"), None, 5),
        (np.array([1.9, np.nan, np.inf]), None, 2),
        (np.array([-0.5]), None, 1),
    ],
)
def test_depth_none_looks_at_the_indices(indices, ignore_index, expected):
    """1 + the largest that is not ignored, and no class at all if they are all negative."""
    assert expected == resolve_depth(None, indices, ignore_index)


@pytest.mark.parametrize(
    ("indices", "ignore_index"),
    [(np.zeros(0, int), None), (np.array([7, 7]), 7), (np.array([np.nan]), None)],
)
def test_depth_none_needs_an_index(indices, ignore_index):
    """Where nothing is left to look at there is no largest."""
    with pytest.raises(ValueError, match="cannot infer depth from empty indices"):
        resolve_depth(None, indices, ignore_index)


def test_depth_none_beyond_int64():
    """The largest uint64 asks for more classes than an array has elements."""
    with pytest.raises(ValueError, match="too large"):
        resolve_depth(None, np.array([2**64 - 1], np.uint64), None)


@pytest.mark.parametrize(
    ("negative", "large", "expected"),
    [
        ("ignore", "ignore", Policy(False, False, False, None)),
        ("ignore", "error", Policy(False, False, True, None)),
        ("normalize", "ignore", Policy(True, False, False, None)),
        ("normalize", "error", Policy(True, True, True, None)),
        ("error", "ignore", Policy(False, True, False, None)),
        ("error", "error", Policy(False, True, True, None)),
    ],
)
def test_policy_words(negative, large, expected):
    """Only with wrapping is an index below the range out of range, not negative."""
    assert expected == resolve_policy(negative, large, None)


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (
            ("wrap", "ignore"),
            ValueError,
            "negative_indices = 'wrap'.*'ignore', 'normalize', 'error'",
        ),
        (("ignore", "clip"), ValueError, "out_of_range = 'clip'.*'ignore', 'error'"),
        (("ignore", "normalize"), ValueError, "out_of_range = 'normalize'"),
        ((None, "ignore"), TypeError, "negative_indices = None"),
        (("ignore", True), TypeError, "out_of_range = True"),
    ],
)
def test_unknown_policy_words(words, error, message):
    """The message lists the words there are."""
    with pytest.raises(error, match=message):
        resolve_policy(*words, None)


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


@pytest.mark.parametrize("ignored", [True, np.False_, 1.0, "1", "12", [1, 2.0], [[1]], (3, None)])
def test_ignore_index_is_an_integer_or_several(ignored):
    """A bool or a float is refused, also where it equals an integer."""
    with pytest.raises(TypeError, match=r"ignore_index = .*an integer, several, or None"):
        mark_ignored(np.zeros(2, "i4"), ignored)


@pytest.mark.parametrize("value", [3, np.uint8(3), np.array(3)])
def test_as_integer(value):
    """Whatever has an index value is an integer."""
    assert as_integer(value, "axis") == 3


@pytest.mark.parametrize(
    ("indices", "options", "message"),
    [
        ([[0, 300]], {"out_of_range": "error"}, r"indices\[0, 1\] = 300 is outside \[0, 21\)"),
        (300, {"out_of_range": "error"}, r"^indices = 300 is outside \[0, 21\)"),
        ([1, -1], {"negative_indices": "error"}, r"indices\[1\] = -1 is outside \[0, 21\)"),
        (np.float32([21.7]), {"out_of_range": "error"}, r"indices\[0\] = 21.7 is outside"),
        (np.float16([99.9]), {"out_of_range": "error"}, r"indices\[0\] = 99.9 is outside"),
        ([np.nan], {"out_of_range": "error"}, r"indices\[0\] = nan is outside"),
        (
            [-21, -22, 21],
            {"negative_indices": "normalize", "out_of_range": "error"},
            r"indices\[1\] = -22 is outside \[-21, 21\)",
        ),
        (
            [21, -1],
            {"negative_indices": "error", "out_of_range": "error"},
            r"indices\[0\] = 21 is outside",
        ),
        (
            np.array([[1, 2], [30, 3]]).T,
            {"out_of_range": "error"},
            r"indices\[0, 1\] = 30 is outside",
        ),
        (np.array([0, 256], ">u2"), {"out_of_range": "error"}, r"indices\[1\] = 256 is outside"),
        (np.array([2**64 - 1], "u8"), {"out_of_range": "error"}, r"= 18446744073709551615 is"),
    ],
)
def test_message_shows_the_index_as_it_came(indices, options, message):
    """Position and value are those of the array that was passed, before any conversion."""
    with pytest.raises(ValueError, match=message):
        onehot_fast.one_hot(indices, 21, **options)


def test_check_range_passes_what_is_ignored():
    """An ignored index offends no policy."""
    indices = np.array([-100, 3, 300])
    policy = Policy(wrap=False, check_negative=True, check_large=False, ignore_index=-100)

    check_range(indices, indices, 4, policy)
