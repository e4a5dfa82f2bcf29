"""Every kernel is built and runs: index type by element width by layout, in every SIMD variant.

A call passes through two stages that are chosen separately: the narrowing of indices (by their
type) and the writing of elements (by their width and the layout). So the pairs are tried in the
variant this processor would choose. In every variant the writing is tried, with ordinary and with
streaming stores; tests/native has every narrowing, length and alignment. A test goes over the
widths of one kernel by itself: a call takes less time than a test, and a failure shows its
arguments.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import oracle
import pytest
import strategies

import onehot_fast
from onehot_fast._kernels import rows, sparse
from onehot_fast._runtime import dispatch

WIDTHS = (1, 2, 3, 4, 5, 8, 12, 16, 20, 32, 64)
DEPTH = 21
INT16 = np.dtype("i2")

# (shape of the indices, axis): large enough for whole vectors, several blocks and a tail.
GEOMETRIES = {
    "rows": ((4099,), -1),
    "planes": ((2, 4099), 1),
    "small inner": ((683, 3), 1),
    "one plane": ((4099,), 0),
}

every_geometry = pytest.mark.parametrize(("shape", "axis"), GEOMETRIES.values(), ids=GEOMETRIES)


@functools.cache
def indices_of(dtype, shape):
    """Return indices of a type, with all its special values among ordinary ones."""
    return strategies.index_values(dtype, DEPTH, math.prod(shape), 7).reshape(shape)


@functools.lru_cache(maxsize=64)
def lit_of(dtype, shape, axis):
    """Return the oracle's answer in zeros and ones, which any two elements may replace."""
    return oracle.one_hot(indices_of(dtype, shape), DEPTH, *np.uint8([1, 0]), axis)


def check(dtype, width, shape, axis, shift=0, num_threads=1):
    """Compare one call, into a guarded buffer that starts `shift` bytes past a cache line."""
    off, on = strategies.opaque_pair(width)
    lit = lit_of(dtype, shape, axis)
    wanted, twin = strategies.guarded(lit.shape, off.dtype, shift=shift)
    twin[...] = np.concatenate([off[None], on[None]])[lit]
    buffer, out = strategies.guarded(lit.shape, off.dtype, shift=shift)
    options = {"on_value": on, "off_value": off, "axis": axis, "num_threads": num_threads}
    onehot_fast.one_hot(indices_of(dtype, shape), DEPTH, out=out, **options)
    oracle.assert_same(out, twin)
    oracle.assert_same(buffer, wanted)


def test_table_is_complete():
    """The kernels read every index type there is, except float16, which is widened."""
    assert set(dispatch.INDEX_DTYPES) == set(strategies.INDEX_DTYPES) - {np.dtype("f2")}


@every_geometry
@pytest.mark.parametrize("dtype", strategies.INDEX_DTYPES, ids=str)
def test_every_pair(dtype, shape, axis):
    """Each pair of index type and element width runs in each layout."""
    for width in WIDTHS:
        check(dtype, width, shape, axis)


@every_geometry
@pytest.mark.parametrize(("shift", "num_threads"), [(0, 2), (1, 1)])
def test_every_writer(mode, shift, num_threads, shape, axis):
    """Each variant writes each width, on and off its alignment, by one thread and by two."""
    for width in (*WIDTHS, 7, 24, 33):
        check(INT16, width, shape, axis, shift=shift, num_threads=num_threads)


@pytest.mark.parametrize("num_threads", [-1, 0])
def test_a_kernel_without_threads_has_one(num_threads):
    """GNU OpenMP would end the process over a negative number."""
    indices, out = np.zeros(3 << 20, np.int8), np.zeros(3 << 20, np.uint8)
    on, off = np.full(1, 7, np.uint8), np.zeros(1, np.uint8)
    rows.encode(indices, out, 1, 1, on, off, False, None, num_threads)

    assert (out == 7).all()


def test_codes_that_change_between_two_looks_are_noticed(monkeypatch):
    """CSC counts first and then writes: rows that are not written would be any numbers."""
    codes = np.arange(100, dtype=np.int8) % 3
    real = sparse.csc_rows

    def csc_rows(*arguments):
        codes[:] = 2
        real(*arguments)

    monkeypatch.setattr(sparse, "csc_rows", csc_rows)
    with pytest.raises(RuntimeError, match="another thread changed the codes"):
        dispatch.csc([codes], [None], 3, np.int8)


@pytest.mark.parametrize("lowest", [0, -1], ids=["full rows", "rows with gaps"])
@pytest.mark.parametrize("num_threads", [1, 2])
def test_positions_of_64_bits(lowest, num_threads, monkeypatch):
    """64-bit positions, as for more than 2**31 nonzeros, equal those of 32 bits."""
    n, depth = 40_000, 21
    rng = np.random.default_rng(0)
    codes = [rng.integers(lowest, depth, n).astype(dtype) for dtype in ("i1", "i8")]
    tables = [np.array([*range(start, start + depth), -1], "i4") for start in (0, depth)]
    offsets = np.sort(rng.integers(0, n, n // 3))

    def results():
        yield dispatch.csr(codes, tables, 2 * depth, np.int8, num_threads)
        yield dispatch.csc(codes, tables, 2 * depth, np.int8, num_threads)
        yield dispatch.multi_hot_csr(offsets, codes[1], None, depth, np.int8, count=True)

    expected = list(results())
    monkeypatch.setattr(dispatch, "_position_dtype", lambda *_: np.dtype(np.int64))
    for narrow, wide in zip(expected, results(), strict=True):
        assert [part.dtype for part in wide[1:]] == [np.int64, np.int64]
        for each, other in zip(narrow, wide, strict=True):
            np.testing.assert_array_equal(each, other)
