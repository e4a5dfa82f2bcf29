"""Bitmaps are decoded like the rows that they contain, at any bit and of any length."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from onehot_fast._kernels import dispatch

# Around the sizes of a byte, a word and a chunk of the kernel.
LENGTHS = [0, 1, 7, 8, 63, 64, 65, 200, 16384, 16385]


@pytest.mark.parametrize("n_rows", LENGTHS)
@pytest.mark.parametrize("depth", [0, 1, 3, 70])
@pytest.mark.parametrize("start", [0, 1, 8, 63])
@pytest.mark.parametrize("is_valid", [True, False])
def test_bitmaps_are_decoded_like_unpacked_matrices(n_rows, depth, start, is_valid):
    """The classes and the first row with several ones are those of an unpacked matrix."""
    rng = np.random.default_rng([n_rows, depth, start])
    cells = rng.random((depth, n_rows)) < 0.3
    if is_valid and depth:
        classes = rng.integers(-1, depth, n_rows)
        cells = np.arange(depth)[:, np.newaxis] == classes
    before = rng.random(start) < 0.5
    planes = [pa.array(np.concatenate([before, row])).slice(start) for row in cells]

    addresses = np.array([plane.buffers()[1].address for plane in planes], np.uintp)
    starts = np.array([plane.offset for plane in planes], np.int64)
    found, several = dispatch.decode_bits(addresses, starts, n_rows, 2)

    counts = cells.sum(axis=0) if depth else np.zeros(n_rows, int)
    first = cells.argmax(axis=0) if depth else np.zeros(n_rows, int)
    np.testing.assert_array_equal(found, np.where(counts > 0, first, -1))
    assert several == next(iter(np.flatnonzero(counts > 1)), -1)
