"""Streamed rows that are no whole cache lines are the rows of a comparison."""

import numpy as np
import pytest

from onehot_fast import one_hot
from onehot_fast._kernels import simd

GUARD = 7


@pytest.mark.parametrize("variant", simd.variants())
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("depth", [2, 4, 8, 65, 100, 257, 1000])
@pytest.mark.parametrize("shift", [0, 1, 5])
@pytest.mark.parametrize("off", [0, 2])
def test_streamed_rows_keep_what_crosses_the_borders_of_blocks(variant, dtype, depth, shift, off):
    indices = np.random.default_rng(depth).integers(-1, depth, 1500)
    room = np.full(indices.size * depth + shift + 3, GUARD, dtype)
    out = room[shift:-3].reshape(indices.size, depth)
    before = simd.activate(variant), simd.set_stream_bytes(0)
    try:
        one_hot(indices, depth, dtype=dtype, off_value=off, out=out, num_threads=1)
    finally:
        simd.activate(before[0])
        simd.set_stream_bytes(before[1])
    np.testing.assert_array_equal(out, np.where(indices[:, None] == np.arange(depth), 1, off))
    assert (room[:shift] == GUARD).all()
    assert (room[-3:] == GUARD).all()
