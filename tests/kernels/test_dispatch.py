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
import pytest

import onehot_fast
from support import oracle, strategies

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


@every_geometry
@pytest.mark.parametrize("dtype", strategies.INDEX_DTYPES, ids=str)
def test_every_pair(dtype, shape, axis):
    """Each pair of index type and element width runs in each layout."""
    for width in WIDTHS:
        check(dtype, width, shape, axis)


@every_geometry
@pytest.mark.parametrize(("shift", "num_threads"), [(0, 2), (1, 1)])
def test_every_writer_equals_the_oracle(mode, shift, num_threads, shape, axis):
    """Each variant writes each width, on and off its alignment, by one thread and by two."""
    for width in (*WIDTHS, 7, 24, 33):
        check(INT16, width, shape, axis, shift=shift, num_threads=num_threads)
