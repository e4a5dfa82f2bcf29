"""Axis, shape and size of a result, and what is inferred of it before there is data."""

from __future__ import annotations

import numpy as np
import pytest

from onehot_fast._arguments import shapes
from onehot_fast._arguments.shapes import (
    check_size,
    infer_shape,
    inner_size,
    insert_depth,
    normalize_axis,
)
from onehot_fast._runtime import system

NUMBERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
GIB = 2**30


@pytest.fixture
def free(monkeypatch):
    """Return a function that sets how much memory the system says is free."""

    def set_free(n_bytes):
        monkeypatch.setattr(system, "available_memory", lambda: n_bytes)

    return set_free


@pytest.mark.parametrize("integer", [int, np.int8, np.uint8, np.int64, np.array], ids=repr)
@pytest.mark.parametrize(("axis", "expected"), [(0, 0), (1, 1), (2, 2)])
def test_axis_from_the_front(axis, expected, integer):
    """An axis that is not negative is itself, whatever kind of integer it is."""
    actual = normalize_axis(integer(axis), 2)

    assert (expected, int) == (actual, type(actual))


@pytest.mark.parametrize(("axis", "expected"), [(-1, 2), (-2, 1), (-3, 0)])
def test_axis_from_the_back(axis, expected):
    """A negative axis counts from the end of the output, which has one dimension more."""
    assert expected == normalize_axis(axis, 2)


@pytest.mark.parametrize("axis", [-1, 0])
def test_axis_of_a_scalar(axis):
    """The output of 0-D indices has one position, with two names."""
    assert normalize_axis(axis, 0) == 0


@pytest.mark.parametrize("axis", [-4, 3, 2**63, -(2**70)])
def test_axis_outside(axis):
    """The message names the axis, the range and the rank."""
    with pytest.raises(ValueError, match=rf"axis = {axis} is outside \[-3, 2\] .* rank 2"):
        normalize_axis(axis, 2)


@pytest.mark.parametrize(
    "axis", [True, np.True_, 1.0, np.float64(1), "1", None, [1], np.array([1]), np.array(1.0)],
    ids=repr,
)  # fmt: skip
def test_axis_of_a_wrong_kind(axis):
    """Only an integer is an axis: no bool, no float, no array."""
    with pytest.raises(TypeError, match=r"axis|integer"):
        normalize_axis(axis, 2)


@pytest.mark.parametrize(
    ("axis", "shape", "inner"), [(0, (9, 2, 3), 6), (1, (2, 9, 3), 3), (2, (2, 3, 9), 1)]
)
def test_insert_depth_and_inner_size(axis, shape, inner):
    """The depth stands at the axis, and what is behind it is the inner size."""
    assert shape == insert_depth((2, 3), 9, axis)
    assert inner == inner_size((2, 3), axis)


def test_size_in_bytes():
    """A size is elements times the width of one."""
    assert check_size((2, 3, 5), np.dtype("f8")) == 2 * 3 * 5 * 8
    assert check_size((), "u1") == 1
    assert check_size((7,), "S0") == 0


@pytest.mark.parametrize("shape", [(0,), (0, 5), (2**40, 0), (0, 2**60)])
def test_size_of_nothing(shape):
    """A dimension of 0 makes a result of no bytes, as large as the others may be."""
    assert check_size(shape, "f4") == 0


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((4, 2**62), "u1"),
        ((2**61,), "f4"),
        ((2**31, 2**31, 2**31), "?"),
        ((2**63,), "u1"),
        ((2**62,), "f4"),
        ((10**30, 1), "u1"),
        ((0, 2**62), "f4"),
        ((0, 2**63), "u1"),
        ((2**32, 0, 2**32), "u1"),
        ((2**63,), "S0"),
    ],
)
def test_size_overflows(shape, dtype):
    """Elements and bytes are counted without overflow, a 0 left out; the message names them."""
    with pytest.raises(ValueError, match=r"too big: shape \(.* elements .* exceeds 2\*\*63 - 1"):
        check_size(shape, dtype)


@pytest.mark.parametrize("shape", [(4, 2**62), (0, 2**62), (10**30,)])
def test_size_never_reaches_numpy(shape):
    """What is refused is refused by arithmetic: NumPy would not take these shapes either."""
    with pytest.raises((ValueError, OverflowError)):
        np.empty(shape, "f4")


def test_highest_rank():
    """The rank is bounded by NumPy's own bound."""
    assert np.empty((1,) * shapes.MAX_RANK).nbytes == check_size((1,) * shapes.MAX_RANK, "f8")


def test_rank_too_high():
    """One dimension more is refused, with the bound."""
    with pytest.raises(ValueError, match=f"NumPy allows {shapes.MAX_RANK}"):
        check_size((1,) * (shapes.MAX_RANK + 1), "f8")


def test_larger_than_the_free_memory(free):
    """A result above the free memory is refused with its size and with smaller forms."""
    free(GIB)
    with pytest.raises(MemoryError) as caught:
        check_size((2**20, 2**10), "f4")

    message = str(caught.value)
    assert "4.0 GiB" in message
    assert "1.0 GiB are free" in message
    assert "dtype=bool (1.0 GiB)" in message
    assert "sparse" in message


def test_narrow_result_has_no_narrower_form(free):
    """An element of one byte cannot become smaller; sparse still can."""
    free(GIB)
    with pytest.raises(MemoryError, match="smaller: a sparse form"):
        check_size((2**20, 2**11), "u1")


@pytest.mark.parametrize("n_bytes", [GIB, 2 * GIB, None])
def test_fits_into_the_free_memory(n_bytes, free):
    """A result that fits is allowed, and so is any where the system tells nothing."""
    free(n_bytes)

    assert check_size((GIB,), "u1") == GIB


def test_small_results_ask_nobody(monkeypatch):
    """The system is asked about large results only."""
    monkeypatch.delattr(system, "available_memory")

    assert check_size((shapes.ASK_ABOVE,), "u1") == shapes.ASK_ABOVE


@pytest.mark.parametrize(
    ("n_bytes", "expected"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1536 * 2**20, "1.5 GiB"),
     (2**63 - 1, "8.0 EiB")],
)  # fmt: skip
def test_human_sizes(n_bytes, expected):
    """Sizes are said in binary units."""
    assert expected == shapes.human_size(n_bytes)


@pytest.mark.parametrize(
    ("shape", "depth", "axis", "expected"),
    [
        ((2, 3), 4, -1, (2, 3, 4)),
        ((2, 3), 4, 0, (4, 2, 3)),
        ((2, 3), 4, -2, (2, 4, 3)),
        ((), 4, -1, (4,)),
        ((0,), 0, 0, (0, 0)),
        ([2, "N", None], 4, 1, (2, 4, "N", None)),
        (("batch",), "classes", -1, ("batch", "classes")),
        ((2,), None, 0, (None, 2)),
        ((2,), np.zeros(0), 0, (None, 2)),
        ((np.int8(2), np.uint64(3)), np.int8(4), 2, (2, 3, 4)),
        ((2,), [], 0, (None, 2)),
        (None, 4, 7, None),
        (None, None, -1, None),
    ],
)
def test_infer(shape, depth, axis, expected):
    """What is known, symbolic or unknown is carried through; an unknown rank stays unknown."""
    assert expected == infer_shape(shape, depth, axis)


def test_infer_makes_plain_integers():
    """Dimensions are Python integers, of whatever type they came."""
    actual = infer_shape((np.int8(2),), np.float32(4), np.int64(0))

    assert [int, int] == list(map(type, actual))


def test_infer_default_axis():
    """The default axis is that of `one_hot`."""
    assert infer_shape(("a", "b"), 3) == ("a", "b", 3)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(
    "form", [lambda x: x[()], np.atleast_1d, np.asarray], ids=["scalar", "1", "0-D"]
)
def test_infer_reads_every_type_of_depth(dtype, form):
    """A depth of all 11 types is read, a float truncated."""
    depth = form(np.array(3.9).astype(dtype))

    assert infer_shape((2,), depth) == (2, 3)


@pytest.mark.parametrize("depth", [0, 0.9, -0.5, np.float16(-0.5)])
def test_infer_depth_zero(depth):
    """A depth that truncates to 0 makes a dimension of 0."""
    assert infer_shape((2,), depth) == (2, 0)


@pytest.mark.parametrize(
    "depth", [-1, -1.5, np.int8(-3), np.nan, np.inf, -np.inf, [1, 2]], ids=repr
)
def test_infer_refuses_depth(depth):
    """A negative, NaN or infinite depth, or more than one, is a wrong value."""
    with pytest.raises(ValueError, match="depth"):
        infer_shape((2,), depth)


@pytest.mark.parametrize("depth", [True, np.False_, np.array(True), 1j, b"3", [None]], ids=repr)
def test_infer_refuses_the_kind_of_depth(depth):
    """A bool is no depth, nor is what is no number."""
    with pytest.raises(TypeError, match="depth"):
        infer_shape((2,), depth)


@pytest.mark.parametrize("shape", ["N", 3, (2, True), (2.0,), (2, [3]), (np.True_,)], ids=repr)
def test_infer_refuses_the_kind_of_shape(shape):
    """A shape is a sequence of int, str and None."""
    with pytest.raises(TypeError, match="indices_shape"):
        infer_shape(shape, 3)


def test_infer_refuses_negative_dimension():
    """A dimension is at least 0; the message says which is not."""
    with pytest.raises(ValueError, match=r"indices_shape\[1\] = -1 is negative"):
        infer_shape((2, -1), 3)


@pytest.mark.parametrize(("shape", "axis"), [((2, 3), 3), (("N", None), -4), ((), 1)])
def test_infer_refuses_axis(shape, axis):
    """The axis is checked where the rank is known."""
    with pytest.raises(ValueError, match="axis"):
        infer_shape(shape, 3, axis)


@pytest.mark.parametrize("shape", [None, (2, 3)])
def test_infer_refuses_the_kind_of_axis(shape):
    """The kind of the axis is checked even where the rank is unknown."""
    with pytest.raises(TypeError, match="axis"):
        infer_shape(shape, 3, 0.0)


def test_infer_checks_depth_of_unknown_rank():
    """A wrong depth is wrong for any rank."""
    with pytest.raises(ValueError, match="depth"):
        infer_shape(None, -1)
