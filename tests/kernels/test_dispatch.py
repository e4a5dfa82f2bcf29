"""Every kernel is built and runs: index type by element width by layout, in every SIMD variant.

A call passes through two stages that are chosen separately: the narrowing of indices (by their
type) and the writing of elements (by their width and the layout). So the pairs are tried in the
variant this processor would choose, and in every variant each stage is tried on its own, the
writing with ordinary and with streaming stores. A test goes over the lengths, widths and alignments
of one kernel by itself: a call takes less time than a test, and a failure shows its arguments.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import oracle
import pytest
import strategies

import onehot_fast
from onehot_fast._kernels import simd, sparse
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

NEVER = 2**62
MODES = {
    f"{variant}, {word}": (variant, n_bytes)
    for variant in simd.variants()
    for word, n_bytes in (("cached", NEVER), ("streamed", 0))
}
CACHED = {name: mode for name, mode in MODES.items() if mode[1] == NEVER}

every_geometry = pytest.mark.parametrize(("shape", "axis"), GEOMETRIES.values(), ids=GEOMETRIES)
every_index_type = pytest.mark.parametrize("dtype", strategies.INDEX_DTYPES, ids=str)


@pytest.fixture(params=MODES.values(), ids=MODES)
def mode(request):
    """Run the test in one SIMD variant, with or without streaming stores."""
    variant, n_bytes = request.param
    before = simd.activate(variant), simd.set_stream_bytes(n_bytes)
    yield
    simd.activate(before[0])
    simd.set_stream_bytes(before[1])


@functools.cache
def indices_of(dtype, shape, depth):
    """Return indices of a type, with all its special values among ordinary ones."""
    return strategies.index_values(dtype, depth, math.prod(shape), 7).reshape(shape)


@functools.lru_cache(maxsize=64)
def lit_of(dtype, shape, axis, depth, negative):
    """Return the oracle's answer in zeros and ones, which any two elements may replace."""
    one, zero = np.uint8([1, 0])
    return oracle.one_hot(indices_of(dtype, shape, depth), depth, one, zero, axis, negative)


def check(dtype, width, shape, axis, depth, negative="ignore", shift=0, num_threads=1):
    """Compare one call, into a guarded buffer that starts `shift` bytes past a cache line."""
    off, on = strategies.opaque_pair(width)
    lit = lit_of(dtype, shape, axis, depth, negative)
    wanted, twin = strategies.guarded(lit.shape, off.dtype, shift=shift)
    twin[...] = np.concatenate([off[None], on[None]])[lit]
    buffer, out = strategies.guarded(lit.shape, off.dtype, shift=shift)
    onehot_fast.one_hot(
        indices_of(dtype, shape, depth), depth, on_value=on, off_value=off, axis=axis,
        negative_indices=negative, out=out, num_threads=num_threads,
    )  # fmt: skip
    oracle.assert_same(out, twin)
    oracle.assert_same(buffer, wanted)


def test_table_is_complete():
    """The kernels read every index type there is, except float16, which is widened."""
    assert set(dispatch.INDEX_DTYPES) == set(strategies.INDEX_DTYPES) - {np.dtype("f2")}


@every_geometry
@every_index_type
def test_every_pair(dtype, shape, axis):
    """Each pair of index type and element width runs in each layout."""
    for width in WIDTHS:
        check(dtype, width, shape, axis, DEPTH)


@pytest.mark.parametrize("mode", CACHED.values(), ids=CACHED, indirect=True)
@pytest.mark.parametrize(
    ("depth", "negative"), [(3, "ignore"), (255, "normalize"), (511, "ignore")]
)
@every_index_type
def test_every_narrowing(mode, dtype, depth, negative):
    """Each variant reads each index type, in one and in several segments of classes."""
    for shape, axis in GEOMETRIES.values():
        check(dtype, 1, shape, axis, depth, negative)


@every_geometry
@pytest.mark.parametrize(("shift", "num_threads"), [(0, 2), (1, 1)])
def test_every_writer(mode, shift, num_threads, shape, axis):
    """Each variant writes each width, on and off its alignment, by one thread and by two."""
    for width in (*WIDTHS, 7, 24, 33):
        check(INT16, width, shape, axis, DEPTH, shift=shift, num_threads=num_threads)


LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300)


@pytest.mark.parametrize("width", [1, 2, 4, 8, 12, 16])
def test_every_length_and_alignment(mode, width):
    """Of a row and of a run; and a buffer may start at any byte of a cache line."""
    for length in LENGTHS:
        check(INT16, width, (131,), -1, length, shift=width)
        check(INT16, width, (5, length), 1, 9)
    for depth in (1025, 5003):
        check(INT16, width, (131,), -1, depth, shift=width)
    for shift in (1, 2, 4, 8, 15, 16, 17, 32, 33, 48, 63):
        for depth, axis in [(5, -1), (150, -1), (5, 0)]:
            check(INT16, width, (257,), axis, depth, shift=shift)


@pytest.mark.parametrize("num_threads", [-1, 0])
def test_a_kernel_without_threads_has_one(num_threads):
    """GNU OpenMP would end the process over a negative number."""
    indices, out = np.zeros(3 << 20, np.int8), np.zeros(3 << 20, np.uint8)
    on, off = np.full(1, 7, np.uint8), np.zeros(1, np.uint8)
    dispatch.encode(indices, out, 1, 1, on, off, num_threads=num_threads)

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
