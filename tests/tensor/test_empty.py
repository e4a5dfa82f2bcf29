"""Buffers for ``out=``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onehot_fast import empty, one_hot


@pytest.mark.parametrize("shape", [(), (0, 3), 7, (3, 4, 5), (512, 1024)])
@pytest.mark.parametrize("dtype", ["bool", np.float32, "datetime64[s]", "U3", object])
def test_a_buffer_is_what_was_asked_for(shape: Any, dtype: Any) -> None:
    """It has the shape and the dtype, and can be written to."""
    buffer = empty(shape, dtype)

    assert (buffer.shape, buffer.dtype) == (np.empty(shape, dtype).shape, np.dtype(dtype))
    assert buffer.flags.c_contiguous
    assert buffer.flags.writeable
    if np.dtype(dtype) != object and buffer.size:
        assert buffer.ctypes.data % 64 == 0


def test_a_buffer_takes_a_result() -> None:
    """The default dtype is that of `one_hot`."""
    buffer = empty((2, 3))

    assert one_hot([2, 0], 3, out=buffer) is buffer
    assert buffer.tolist() == [[0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    ("shape", "dtype", "error", "message"),
    [
        ((2, -1), float, ValueError, "negative dimension"),
        ((2, 1.5), float, TypeError, "shape must be an integer, got 1.5"),
        (2.5, float, TypeError, "not iterable"),
        ((2**40, 2**40), float, ValueError, "too big"),
        ((2**45,), np.uint8, MemoryError, "35184372088832"),
        (3, "no dtype", TypeError, "not understood"),
    ],
)
def test_what_is_no_buffer(shape: Any, dtype: Any, error: type[Exception], message: str) -> None:
    """Each is refused before anything is allocated."""
    with pytest.raises(error, match=message):
        empty(shape, dtype)
