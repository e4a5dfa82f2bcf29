"""The size of a result, and the inference of its shape."""

from __future__ import annotations

import numpy as np
import pytest

from onehot_fast import empty, infer_shape

GIB = 2**30
FREE = "onehot_fast._runtime.system.available_memory"


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        *(((2, 3, 5), "f8"), ((), "u1"), ((7,), "S0"), ((1,) * 64, "f8")),
        # A dimension of 0 makes a result of no bytes, however large the others are.
        *(((0,), "f4"), ((0, 5), "f4"), ((2**40, 0), "f4"), ((0, 2**60), "f4")),
    ],
)
def test_sizes_that_fit_are_accepted(shape, dtype):
    assert empty(shape, dtype).shape == shape


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        *(((4, 2**62), "u1"), ((2**61,), "f4"), ((2**31, 2**31, 2**31), "?"), ((2**63,), "u1")),
        *(((2**62,), "f4"), ((10**30, 1), "u1"), ((0, 2**62), "f4"), ((0, 2**63), "u1")),
        *(((2**32, 0, 2**32), "u1"), ((2**63,), "S0")),
    ],
)
def test_sizes_that_overflow_are_rejected(shape, dtype):
    """Elements and bytes are counted without overflow, a 0 left out; the message names them."""
    with pytest.raises(ValueError, match=r"too big: shape \(.* elements .* more than 2\*\*63 - 1"):
        empty(shape, dtype)


@pytest.mark.parametrize(
    ("shape", "dtype", "error", "message"),
    [
        ((1,) * 65, "f8", ValueError, "at most 64 dimensions"),
        ((2, -1), "f8", ValueError, "must not have negative dimensions, got"),
        ((2, 1.5), "f8", TypeError, "shape must be an integer, got 1.5"),
        (2.5, "f8", TypeError, "not iterable"),
        (3, "no dtype", TypeError, "not understood"),
    ],
)
def test_invalid_shapes_and_dtypes_are_rejected(shape, dtype, error, message):
    with pytest.raises(error, match=message):
        empty(shape, dtype)


@pytest.mark.parametrize(
    ("shape", "dtype", "message"),
    [
        ((2**20, 2**10), "f4", r"4\.0 GiB.*1\.0 GiB are free.*dtype=bool \(1\.0 GiB\).*sparse"),
        ((2**20, 2**11), "u1", "2.0 GiB .*smaller: a sparse format"),
        ((3 * 2**29,), "u1", "1.5 GiB"),
        ((2**63 - 1,), "u1", "8.0 EiB"),
    ],
)
def test_a_result_larger_than_the_free_memory_is_rejected(shape, dtype, message, monkeypatch):
    """The error names the size of the result, the free memory and smaller forms."""
    monkeypatch.setattr(FREE, lambda: GIB)
    with pytest.raises(MemoryError, match=message):
        empty(shape, dtype)


@pytest.mark.parametrize("free", [2**28, 2**29, None])
def test_a_result_that_fits_into_the_free_memory_is_made(free, monkeypatch):
    monkeypatch.setattr(FREE, lambda: free)

    assert empty((2**28,), "u1").nbytes == 2**28


def test_small_results_do_not_read_the_free_memory(monkeypatch):
    monkeypatch.delattr(FREE)

    assert empty((64 << 20,), "u1").nbytes == 64 << 20


@pytest.mark.parametrize(
    ("shape", "depth", "axis", "expected"),
    [
        *(((2, 3), 4, -1, (2, 3, 4)), ((2, 3), 0.9, -1, (2, 3, 0)), ((2, 3), 4, 0, (4, 2, 3))),
        *(((2,), np.float16(-0.5), -1, (2, 0)), ((2, 3), 4, -2, (2, 4, 3)), ((), 4, -1, (4,))),
        *(((0,), 0, 0, (0, 0)), ([2, "N", None], 4, 1, (2, 4, "N", None))),
        (("batch",), "classes", -1, ("batch", "classes")),
        ((-1, 2), 3, 1, (None, 3, 2)),
        *(((2,), depth, 0, (None, 2)) for depth in (None, np.zeros(0), [])),
        ((np.int8(2), np.uint64(3)), np.int8(4), 2, (2, 3, 4)),
        *((None, 4, 7, None), (None, None, -1, None)),
    ],
)
def test_infer_shape_keeps_symbols_and_unknown_sizes(shape, depth, axis, expected):
    """`infer_shape` keeps known, symbolic and unknown sizes, and returns Python's integers."""
    actual = infer_shape(shape, depth, axis)

    assert expected == actual
    assert actual is None or [*map(type, expected)] == [*map(type, actual)]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        *((((2,), depth), ValueError, "depth")
          for depth in (-1, -1.5, np.int8(-3), np.nan, np.inf, -np.inf, [1, 2])),
        *((((2,), depth), TypeError, "depth")
          for depth in (True, np.False_, np.array(True), 1j, b"3", [None])),
        ((None, -1), ValueError, "depth"),  # a wrong depth is wrong for any rank
        *(((shape, 3), TypeError, "indices_shape")
          for shape in ("N", 3, (2, True), (2.0,), (2, [3]), (np.True_,))),
        (((2, -2), 3), ValueError, r"indices_shape\[1\] must be at least 0.*got -2"),
        *(((shape, 3, axis), ValueError, "axis")
          for shape, axis in (((2, 3), 3), (("N", None), -4), ((), 1))),
        *(((shape, 3, 0.0), TypeError, "axis") for shape in (None, (2, 3))),
    ],
    ids=repr,
)  # fmt: skip
def test_infer_shape_rejects_what_one_hot_rejects(arguments, error, message):
    """Depth and axis are checked as in `one_hot`; a shape is a sequence of int, str and None."""
    with pytest.raises(error, match=message):
        infer_shape(*arguments)
