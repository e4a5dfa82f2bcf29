"""Output buffers: aligned, recycled within a bound, and never handed out twice."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from itertools import permutations

import numpy as np
import pytest

import onehot_fast
from onehot_fast._runtime import memory

MIB = 2**20
LARGE = MIB // 4  # from here on blocks are mapped and recycled
PAGE = 2**16  # of any system
BYTE = np.dtype(np.uint8)


@pytest.fixture(autouse=True)
def small_empty_cache():
    """Begin with nothing kept and a bound of 64 MiB; leave nothing behind."""
    before = memory.set_limit(64 * MIB)
    memory.empty_cache()
    yield
    memory.empty_cache()
    memory.set_limit(before)


def make(n_bytes, value=None):
    array, _ = memory.allocate((n_bytes,), BYTE)
    if value is not None:
        array.fill(value)
    return array


def address(array):
    return array.ctypes.data


def kept():
    """Return the number of free blocks and their bytes."""
    info = memory.cache_info()
    return info.n_blocks, info.n_bytes


def free(arrays):
    """Give arrays back, the first one first; return where they were."""
    arrays.reverse()
    return [address(arrays.pop()) for _ in range(len(arrays))]


@pytest.mark.parametrize(
    "n_bytes",
    [1, 63, 64, 65, 4097, LARGE - 1, LARGE, LARGE + 1, 2 * MIB - 1, 2 * MIB, 3 * MIB + 5, 17 * MIB],
)
def test_alignment(n_bytes):
    array = make(n_bytes)

    assert array.nbytes == n_bytes
    assert address(array) % (2 * MIB if n_bytes >= 2 * MIB else 64) == 0


@pytest.mark.parametrize("dtype", ["?", "f2", "f4", "c16", "M8[s]", "S3", "V5", "f4,i1", ">i4"])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (300, 2, 1000), (2, 0, 3), ()])
def test_arrays_are_ordinary(shape, dtype):
    """An array has the shape and dtype asked for, in C order, writeable and of no strange class."""
    array, _ = memory.allocate(shape, np.dtype(dtype))
    array[...] = np.zeros((), dtype)

    assert (type(array), array.shape, array.dtype) == (np.ndarray, shape, np.dtype(dtype))
    assert array.flags.c_contiguous
    assert array.flags.aligned
    assert array.flags.writeable


@pytest.mark.parametrize("rank", [0, 1, 2, 31, 32, 33, 63, 64, 65])
@pytest.mark.parametrize("width", [1, LARGE], ids=["small", "large"])
def test_every_rank(rank, width):
    """NumPy's rank limit is the only one."""
    arguments = (1,) * rank, np.dtype(f"V{width}")
    try:
        expected = np.empty(*arguments)
    except ValueError:
        with pytest.raises(ValueError, match="dimension"):
            memory.allocate(*arguments)
    else:
        array, _ = memory.allocate(*arguments)
        assert (array.shape, array.strides) == (expected.shape, expected.strides)


def test_objects_are_left_to_numpy():
    """An array of references begins with None everywhere, and no block is used for it."""
    before = memory.cache_info()
    array, fresh = memory.allocate((MIB,), np.dtype(object))

    assert not fresh
    assert array[0] is array[-1] is None
    assert memory.cache_info() == before


def test_fresh_memory_is_zero():
    array, fresh = memory.allocate((3 * MIB,), BYTE)

    assert fresh
    assert not array.any()


def test_a_block_is_handed_out_again():
    """The next array of the size gets the same memory, and it is not called fresh."""
    array = make(3 * MIB, 7)
    place = address(array)
    before = memory.cache_info()
    del array
    between = memory.cache_info()
    array, fresh = memory.allocate((3 * MIB,), BYTE)
    after = memory.cache_info()

    assert (address(array), fresh) == (place, False)
    assert (between.n_blocks, between.n_bytes) == (1, 3 * MIB)
    assert before.n_live == after.n_live == between.n_live + 1
    assert (after.hits - before.hits, after.misses - before.misses) == (1, 0)


def test_results_are_recycled():
    indices = np.arange(30_000) % 10
    places = {address(onehot_fast.one_hot(indices, 10)) for _ in range(5)}

    assert len(places) == 1


@pytest.mark.parametrize("order", [*permutations([64, 72, 80])])
def test_best_fit(order):
    arrays = [make(n * PAGE) for n in order]
    places = dict(zip(order, free(arrays), strict=True))
    best = make(66 * PAGE)

    assert address(best) == places[72]


def test_latest_of_equals():
    """Of equal blocks the one that came back last is taken: the caches may still know it."""
    places = free([make(LARGE) for _ in range(3)])
    again = [make(LARGE) for _ in range(3)]

    assert [address(array) for array in again] == places[::-1]


@pytest.mark.parametrize(("asked", "taken"), [(64, True), (63, False), (81, False)])
def test_a_quarter_more_at_most(asked, taken):
    """A block of 80 pages serves arrays of 64 to 80, and comes back whole."""
    (place,) = free([make(80 * PAGE)])
    array = make(asked * PAGE)
    rest = kept()

    assert (address(array) == place) is taken
    assert rest == ((0, 0) if taken else (1, 80 * PAGE))
    del array
    assert kept() == ((1, 80 * PAGE) if taken else (2, (80 + asked) * PAGE))


def test_huge_pages_are_kept_whole():
    """From 16 MiB on a block is whole huge pages, so lengths that differ a little share one."""
    (place,) = free([make(16 * MIB + 1)])
    array = make(17 * MIB)

    assert address(array) == place
    del array
    assert kept() == (1, 18 * MIB)


def test_the_bound_evicts_the_oldest():
    memory.set_limit(4 * MIB)
    sizes = [MIB, 2 * MIB, MIB, 2 * MIB]
    places = free([make(size) for size in sizes])
    left = kept()
    again = [make(MIB), make(2 * MIB)]

    assert left == (2, 3 * MIB)
    assert [address(array) for array in again] == places[2:]


def test_use_renews_a_block():
    memory.set_limit(3 * MIB)
    places = free([make(MIB), make(2 * MIB)])
    again = make(MIB)
    other = make(3 * MIB // 2)
    del again, other

    assert kept() == (2, 5 * MIB // 2)
    assert address(make(MIB)) == places[0]


@pytest.mark.parametrize(
    ("limit", "sizes", "expected"),
    [(4 * MIB, [MIB, 5 * MIB], (1, MIB)), (64 * MIB, [LARGE] * 70, (64, 64 * LARGE))],
    ids=["larger than the bound", "more than 64 blocks"],
)
def test_not_kept(limit, sizes, expected):
    """A block above the bound goes to the system at once; many do not make the search long."""
    memory.set_limit(limit)
    free([make(size) for size in sizes])

    assert kept() == expected


def test_set_limit_drops_what_is_above():
    """A lower bound holds at once, 0 keeps nothing, and the bound before is returned."""
    places = free([make(MIB), make(2 * MIB)])
    before = memory.set_limit(2 * MIB)
    left = kept()
    again = address(make(2 * MIB))
    memory.set_limit(0)
    nothing = kept()
    free([make(MIB)])

    assert before == 64 * MIB
    assert left == (1, 2 * MIB)
    assert again == places[1]
    assert nothing == kept() == (0, 0)
    assert memory.set_limit(7) == 0


def test_empty_cache():
    array = make(3 * MIB, 5)
    free([make(MIB), make(2 * MIB)])

    assert memory.empty_cache() == 3 * MIB
    assert memory.empty_cache() == 0
    assert kept() == (0, 0)
    assert (array == 5).all()


@pytest.mark.parametrize(
    "view_of",
    [
        lambda array: array[MIB : MIB + 9],
        lambda array: array.reshape(1024, -1).T[3:, ::5],
        lambda array: array.view(np.float64),
        lambda array: np.frombuffer(memoryview(array), np.uint8),
        lambda array: np.from_dlpack(array),
        lambda array: array.view(np.recarray),
        lambda array: np.lib.stride_tricks.as_strided(array, (9,), (MIB // 4,)),
    ],
    ids=["slice", "transpose", "view", "buffer", "dlpack", "subclass", "as_strided"],
)
def test_a_view_keeps_its_block(view_of):
    array = make(3 * MIB, 0)
    view = view_of(array)
    del array
    others = [make(3 * MIB, 0xFF) for _ in range(3)]

    assert kept() == (0, 0)
    assert not np.asarray(view).any()
    del others
    memory.empty_cache()
    del view
    assert kept() == (1, 3 * MIB)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("n_indices", [10, 40_000], ids=["small", "large"])
def test_pickle(n_indices, protocol):
    result = onehot_fast.one_hot(np.arange(n_indices) % 7, 7)
    expected = np.array(result)
    twin = pickle.loads(pickle.dumps(result, protocol))
    del result
    make(n_indices * 28, 0xFF)

    np.testing.assert_array_equal(twin, expected)


@pytest.mark.parametrize("n_bytes", [1000, LARGE - 1, LARGE, 3 * MIB])
@pytest.mark.parametrize("recycled", [False, True])
def test_tracemalloc_sees_each_array(n_bytes, recycled):
    free([make(n_bytes)] * recycled)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        array = make(n_bytes)
        during, _ = tracemalloc.get_traced_memory()
        del array
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert n_bytes <= during - before < n_bytes + 2000
    assert after - before < 1000


def test_tracemalloc_counts_them_with_those_of_numpy():
    """A snapshot shows the bytes of a large array in NumPy's domain."""
    tracemalloc.start()
    try:
        array = make(3 * MIB)
        domain = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
        traces = tracemalloc.take_snapshot().filter_traces([domain]).traces
    finally:
        tracemalloc.stop()

    assert array.nbytes in [trace.size for trace in traces]


def test_more_than_the_system_has():
    """A refused allocation says how much it was, gives back what was kept, and harms nothing."""
    array = make(3 * MIB, 3)
    free([make(MIB)])
    before = memory.cache_info()
    with pytest.raises(MemoryError, match="1125899906842624 bytes"):
        make(2**50)

    assert kept() == (0, 0)
    assert memory.cache_info().n_live == before.n_live
    assert (array == 3).all()


def test_the_owner_is_harmless():
    """The base of an array can be made, copied and deleted by the curious without any effect."""
    array = make(3 * MIB)
    owner = type(array.base)()
    with pytest.raises(TypeError):
        copy.copy(owner)
    before = memory.cache_info()
    del owner

    assert memory.cache_info() == before
