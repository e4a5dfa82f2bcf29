"""Rows with several ones: found as by a loop over values, written as in a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from onehot_fast._arguments import scatter
from onehot_fast._kernels import dispatch

# Around the sizes of a block and a tile of the kernel.
SHAPES = [(0, 3), (3, 0), (1, 1), (7, 31), (5, 32), (1, 33), (1025, 1), (1023, 2), (2049, 65)]
DTYPES = ["?", "i1", "u2", "f2", ">f4", "f8", "c8", "M8[s]"]


def laid_out(cells, layout):
    """Return equal cells in memory of another layout."""
    if layout == "columns":
        return np.asfortranarray(cells)
    if layout == "slice":
        wide = np.repeat(cells, 3, axis=1)
        wide[:, 1 : 1 + cells.shape[1]] = cells
        return wide[:, 1 : 1 + cells.shape[1]]
    if layout == "backwards":
        return cells[::-1].copy()[::-1]
    if layout == "every other":
        return np.repeat(cells, 2, axis=1)[:, ::2]
    if layout == "unaligned":
        raw = np.empty(cells.nbytes + 1, np.uint8)
        view = raw[1:].view(cells.dtype).reshape(cells.shape)
        view[...] = cells
        return view
    return cells


LAYOUTS = ["rows", "columns", "slice", "backwards", "every other", "unaligned"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_every_one_is_found_in_order(layout, dtype, n_threads):
    """The ones of each row are found in order, and a row with another element is odd."""
    for n_rows, depth in SHAPES:
        rng = np.random.default_rng([n_rows, depth])
        kinds = rng.choice(3, (n_rows, depth), p=[0.7, 0.299, 0.001])
        raw = np.array([2, 5, 9] if dtype != "?" else [0, 1, 3], f"u{np.dtype(dtype).itemsize}")
        values = raw.view(dtype)
        cells = scatter.comparable(laid_out(values[kinds], layout))
        off, on = values[:1], values[1:2]
        lengths, is_odd = dispatch.count_ones(cells, on, off, n_threads)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        features = dispatch.find_ones(cells, on, off, offsets, n_threads)

        expected = [[i for i, kind in enumerate(row) if kind == 1] for row in kinds.tolist()]
        assert lengths.tolist() == [len(row) for row in expected]
        assert features.tolist() == [i for row in expected for i in row]
        assert is_odd.tolist() == [2 in row for row in kinds.tolist()]


@pytest.mark.parametrize("order", ["C", "F"])
def test_nothing_is_written_beyond_the_place_of_a_row(order):
    """If another thread sets an element after the ones were counted."""
    cells = np.ones((3, 40), np.uint8, order)
    on, off = np.ones(1, np.uint8), np.zeros(1, np.uint8)
    offsets = np.array([0, 2, 2, 5])
    found = dispatch.find_ones(cells, on, off, offsets, 1)
    assert found.tolist() == [0, 1, 0, 1, 2]
    assert dispatch.find_ones(0 * cells, on, off, offsets, 1).tolist() == [0] * 5


def test_cells_that_the_kernel_cannot_compare():
    """The caller compares them with NumPy, and the kernel itself refuses them."""
    for dtype in (object, "c16", "g", "V3"):
        assert scatter.comparable(np.zeros((2, 2), dtype)) is None
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    for cells, fault in [
        (np.zeros((2, 2), object), "1, 2, 4 or 8 bytes"),
        (np.zeros(2, np.float32), "two dimensions"),
        (np.zeros((4, 8), np.float32)[::2, ::2], "adjacent"),
        (np.zeros(33, np.uint8)[1:].view(np.float32).reshape(4, 2), "aligned"),
        (np.zeros((2, 2)), "8 bytes"),
    ]:
        with pytest.raises(ValueError, match=fault):
            dispatch.count_ones(cells, one, zero, 1)
    with pytest.raises(ValueError, match="the places of row 1"):
        dispatch.find_ones(np.zeros((3, 2), np.float32), one, zero, np.array([0, 1, 0, 1]), 1)


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 65, 16384, 16385])
@pytest.mark.parametrize("dtype", ["?", "u2", "f4", "f8", "c16"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_features_are_written_as_planes_and_bits(n_rows, dtype, n_threads):
    """Like a transposed matrix: also labels that occur twice, are missing or have no feature."""
    rng = np.random.default_rng([n_rows])
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 4, n_rows))])
    codes = rng.integers(-1, 6, offsets[-1]).astype(np.int16)
    lut = np.array([2, 0, -1, 1, 1, 0, 2], np.int32)
    off, on = np.array([0, 1]).astype(dtype)[:, None]
    matrix = np.empty((n_rows, 3), dtype)
    dispatch.encode_ragged([offsets], [codes], [lut], matrix, on, off)

    block = np.full((3, n_rows), off)
    dispatch.write_planes(offsets, codes, lut, block, on, n_threads)
    np.testing.assert_array_equal(block, matrix.T)

    bitmaps = np.zeros((3, -(-n_rows // 8) + 1), np.uint8)
    dispatch.write_planes(offsets, codes, lut, bitmaps, None, n_threads)
    bits = np.unpackbits(bitmaps, axis=1, bitorder="little")
    np.testing.assert_array_equal(bits[:, :n_rows], matrix.T != 0)
    assert not bits[:, n_rows:].any()


def test_planes_that_are_too_small_are_refused():
    offsets, codes, on = np.array([0, 1, 1]), np.zeros(1, np.int8), np.ones(1, np.float32)
    with pytest.raises(ValueError, match="must have 8 bytes, got 4"):
        dispatch.write_planes(offsets, codes, None, np.zeros((1, 1), np.float32), on)
    with pytest.raises(ValueError, match="must have 1 bytes, got 0"):
        dispatch.write_planes(offsets, codes, None, np.zeros((1, 0), np.uint8), None)
    with pytest.raises(ValueError, match="offsets"):
        dispatch.write_planes(np.array([0, 2, 2]), codes, None, np.zeros((1, 2), np.uint8), None)
