"""Output buffers: aligned, recycled within a limit, and owned by one array at a time."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

import onehot_fast
from onehot_fast._runtime import memory
from support.programs import needs_fork, run, start
from support.strategies import examples

MIB = 2**20
LARGE = MIB // 4  # from here on blocks are mapped and recycled
PAGE = 2**16  # of any system
BYTE = np.dtype(np.uint8)
SIZES = [LARGE - 1, LARGE, LARGE + 1, LARGE * 5 // 4, MIB // 2, MIB - 7, 2 * MIB]


@pytest.fixture(autouse=True)
def small_empty_cache():
    """Start with an empty cache and a limit of 64 MiB, and empty it at the end."""
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
    """Delete arrays in order; return their addresses."""
    arrays.reverse()
    return [address(arrays.pop()) for _ in range(len(arrays))]


@pytest.mark.parametrize("dtype", ["?", ">i4", "f4", "c16", "M8[s]", "U3", "V5", "f4,i1", "O"])
@pytest.mark.parametrize(
    "shape",
    [
        7,
        (65,),
        (3, 5),
        (LARGE,),
        (300, 2, 1000),
        (2 * MIB + 1,),
        (2, 0, 3),
        (),
        (1,) * 63 + (LARGE,),
    ],
    ids=lambda shape: str(shape)[-20:],
)
def test_arrays_are_ordinary(shape, dtype):
    """An array has the requested shape and dtype, is writable, aligned and in C order."""
    array = onehot_fast.empty(shape, dtype)
    array[...] = np.zeros((), dtype)

    expected = np.empty(shape, dtype)
    assert (type(array), array.shape, array.dtype) == (np.ndarray, expected.shape, expected.dtype)
    assert array.flags.c_contiguous
    assert array.flags.writeable
    if array.size and dtype != "O":
        assert address(array) % (2 * MIB if array.nbytes >= 2 * MIB else 64) == 0


def test_a_block_is_reused():
    """The next array of the size gets the same memory, which is not fresh."""
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


@pytest.mark.parametrize(
    ("freed", "asked", "reused"),
    [
        *((order, 66, order.index(72)) for order in permutations([64, 72, 80])),
        ([80], 64, 0),
        ([80], 63, None),
        ([80], 81, None),
        ([257], 272, 0),
    ],
)
def test_the_best_fitting_block_is_reused(freed, asked, reused):
    """It is at most a quarter larger. From 16 MiB on, blocks consist of whole huge pages."""
    places = free([make(n * PAGE) for n in freed])
    n_blocks, n_bytes = kept()
    array = make(asked * PAGE)

    assert n_blocks == len(freed)
    assert n_bytes >= sum(freed) * PAGE
    assert (address(array) in places) == (reused is not None)
    if reused is not None:
        assert address(array) == places[reused]
        assert kept()[0] == len(freed) - 1


@pytest.mark.parametrize(
    ("limit", "sizes", "left"),
    [
        (4 * MIB, [MIB, 2 * MIB, MIB, 2 * MIB], [2, 3]),
        (4 * MIB, [MIB, 5 * MIB], [0]),
        (64 * MIB, [LARGE] * 70, [*range(6, 70)]),
        (0, [MIB], []),
    ],
    ids=["the oldest are unmapped", "larger than the limit", "more than 64 blocks", "none"],
)
def test_the_limit_decides_which_blocks_are_kept(limit, sizes, left):
    assert memory.set_limit(limit) == 64 * MIB
    places = free([make(size) for size in sizes])

    assert kept() == (len(left), sum(sizes[i] for i in left))
    again = [make(sizes[i]) for i in left]
    assert {address(array) for array in again} == {places[i] for i in left}
    del again
    assert memory.set_limit(LARGE) == limit
    assert kept()[1] <= LARGE


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


@pytest.mark.parametrize("n_bytes", [1000, LARGE - 1, LARGE, 3 * MIB])
@pytest.mark.parametrize("recycled", [False, True])
def test_tracemalloc_sees_each_array(n_bytes, recycled):
    """A snapshot shows the bytes of a large array in NumPy's domain."""
    free([make(n_bytes)] * recycled)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        array = make(n_bytes)
        during, _ = tracemalloc.get_traced_memory()
        del array
        after, _ = tracemalloc.get_traced_memory()
        array = make(n_bytes)
        domain = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
        traces = tracemalloc.take_snapshot().filter_traces([domain]).traces
    finally:
        tracemalloc.stop()

    assert n_bytes <= during - before < n_bytes + 2000
    assert after - before < 1000
    assert n_bytes < LARGE or array.nbytes in [trace.size for trace in traces]


@pytest.mark.parametrize("shape", [(0, 0), (3, 5), (1, 3 << 20), (700, 4000)])
def test_sparse_zeros_are_fresh_and_not_kept(shape):
    """Small and large matrices are zeros, writable, and leave no block when they are freed."""
    memory.empty_cache()
    for _ in range(2):
        made = memory.sparse_zeros(*shape)

        assert (made.shape, made.dtype) == (shape, np.float64)
        assert not made.any()
        made[...] = 1
        view = made[1:]
        del made
        assert view.all()
        del view
    assert memory.cache_info().n_blocks == memory.cache_info().n_live == 0


def test_a_failed_allocation_empties_the_cache():
    """A failed allocation names its size and empties the cache."""
    array = make(3 * MIB, 3)
    free([make(MIB)])
    before = memory.cache_info()
    with pytest.raises(MemoryError, match="1125899906842624 bytes"):
        make(2**50)

    assert kept() == (0, 0)
    assert memory.cache_info().n_live == before.n_live
    assert (array == 3).all()


class Life(RuleBasedStateMachine):
    """Allocate, view, free and limit in any order: every array keeps its own number."""

    arrays = Bundle("arrays")

    def __init__(self):
        super().__init__()
        self.before = memory.set_limit(2 * MIB)
        memory.empty_cache()
        self.n_others = memory.cache_info().n_live
        self.number = 0
        self.live = {}
        self.large = set()

    @rule(target=arrays, n_bytes=st.sampled_from(SIZES))
    def allocate(self, n_bytes):
        array, fresh = memory.allocate((n_bytes,), BYTE)
        assert not (fresh and array.any())
        self.number = self.number % 255 + 1
        array.fill(self.number)
        self.live[self.number] = array
        if n_bytes >= LARGE:
            self.large.add(self.number)
        return self.number

    @rule(name=arrays, begin=st.integers(0, 1000), step=st.sampled_from([1, 7, -3]))
    def keep_a_view_only(self, name, begin, step):
        """Keep a part of the array only."""
        if name in self.live:
            self.live[name] = self.live[name][begin::step]

    @rule(name=consumes(arrays))
    def free(self, name):
        self.live.pop(name, None)

    @rule(target=arrays)
    def empty_cache(self):
        before = memory.cache_info().n_bytes
        assert memory.empty_cache() == before
        assert memory.cache_info().n_blocks == 0
        return multiple()

    @rule(limit=st.sampled_from([0, LARGE, MIB, 2 * MIB, 64 * MIB]))
    def set_limit(self, limit):
        memory.set_limit(limit)

    @invariant()
    def nothing_changed(self):
        changed = [name for name, view in self.live.items() if not (view == name).all()]
        assert not changed

    @invariant()
    def the_books_are_right(self):
        info = memory.cache_info()
        n_large = len(self.large & self.live.keys())
        assert 0 <= info.n_bytes <= info.max_bytes
        assert (info.n_bytes == 0) is (info.n_blocks == 0)
        assert info.n_live - self.n_others == n_large

    def teardown(self):
        self.live.clear()
        memory.empty_cache()
        memory.set_limit(self.before)


def test_no_order_of_operations_shares_memory():
    run_state_machine_as_test(Life, settings=examples(0.3, stateful_step_count=30))


def test_threads_may_free_arrays_of_others():
    """Eight threads allocate, and free what others allocated, without ever sharing memory."""
    slots, changed = [(0, np.zeros(0))] * 16, []

    def live(seed):
        rng = np.random.default_rng(seed)
        for number, slot in enumerate(rng.integers(0, len(slots), 150)):
            array = make(int(rng.choice(SIZES)), number)
            (written, other), slots[slot] = slots[slot], (number, array)
            if not (other == written).all():
                changed.append(written)

    before = memory.cache_info().n_live
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(live, range(8)))
    slots.clear()

    assert changed == []
    assert memory.cache_info().n_live == before


PRELUDE = """
import numpy as np, os, threading
from time import monotonic, sleep
import onehot_fast
from onehot_fast._runtime import memory
def make(n_bytes):
    return memory.allocate((n_bytes,), np.dtype("u1"))[0]
"""


@pytest.mark.parametrize(
    "program",
    [
        "array = make(3 << 20)",
        "array = make(3 << 20); del array",
        "array = make(3 << 20); memory.array = array[5:]",
        "cycle = [make(3 << 20)]; cycle.append(cycle)",
        "threading.local().array = make(3 << 20)",
        "threading.Thread(target=lambda a: sleep(60), args=[make(3 << 20)], daemon=True).start()",
        "threading.Thread(target=lambda: (sleep(0.2), make(3 << 20), make(3 << 20))).start()",
        "import atexit; atexit.register(lambda a: (a.fill(1), make(3 << 20)), make(3 << 20))",
        "class C: __del__ = lambda self: self.a.fill(1)\nc = C(); c.a = make(3 << 20)",
    ],
    ids=["global", "kept", "view", "cycle", "local", "daemon", "thread", "atexit", "finalizer"],
)
def test_the_process_ends_quietly(program):
    assert run(PRELUDE + program) == ""


@pytest.mark.parametrize(("text", "limit"), [("0", 0), ("7", 7 * MIB), ("", None)])
def test_the_limit_of_the_environment(text, limit):
    """``ONEHOT_FAST_CACHE_MB`` sets the limit; the default is a sixteenth of the memory."""
    program = f"""{PRELUDE}
from onehot_fast._runtime import system
make(7 << 20)
make(8 << 20)
info = memory.cache_info()
print(info.max_bytes, (system.total_memory() or 0) // 16, info.n_bytes, info.n_live)
"""
    found, default, n_bytes, n_live = map(int, run(program, ONEHOT_FAST_CACHE_MB=text).split())

    assert found == (default if limit is None else limit)
    assert n_live == 0
    assert limit is None or n_bytes == limit


@pytest.mark.parametrize("text", ["-1", "1.5", "lots", "0x10", " 5", "²", "9" * 40])
def test_an_invalid_limit_ends_the_import(text):
    done = start("import onehot_fast._runtime.memory", ONEHOT_FAST_CACHE_MB=text)

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ValueError: ONEHOT_FAST_CACHE_MB must ")


@needs_fork
def test_a_child_has_blocks_of_its_own():
    """A child frees and fills inherited blocks; the arrays of the parent do not change."""
    program = f"""{PRELUDE}
live, kept = make(3 << 20), make(5 << 20)
live.fill(1)
del kept
child = os.fork()
if child == 0:
    before = memory.cache_info()
    again = make(5 << 20)
    again.fill(2)
    good = (live == 1).all()
    live.fill(2)
    del live, again
    after = memory.cache_info()
    good &= (before.n_live, before.n_blocks, after.n_live, after.n_blocks) == (1, 1, 0, 2)
    os._exit(0 if good and memory.empty_cache() == 8 << 20 else 1)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(code, (live == 1).all(), memory.cache_info().n_live)
"""

    assert run(program) == "0 True 1"


@needs_fork
def test_a_fork_may_happen_while_threads_allocate():
    program = f"""{PRELUDE}
stop = False
def work():
    while not stop:
        make(1 << 20), make(2 << 20)
threads = [threading.Thread(target=work) for _ in range(3)]
[thread.start() for thread in threads]
codes = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        [make(size << 20).fill(1) for size in (1, 2, 3)]
        os._exit(memory.empty_cache() < 6 << 20)
    codes.append(os.waitpid(child, 0)[1])
stop = True
print(codes)
"""

    # Python 3.12 warns of a fork beside threads.
    assert run(program, "-W", "ignore::DeprecationWarning") == str([0] * 20)


def test_idle_blocks_are_unmapped():
    """The next call unmaps blocks that were idle for a while."""
    program = f"""{PRELUDE}
memory.set_idle_seconds(0.05)
live = make(3 << 20)
live.fill(1)
make(5 << 20)
kept = memory.cache_info().n_bytes
sleep(0.1)
make(1 << 20)
info = memory.cache_info()
print(kept >> 20, info.n_bytes >> 20, info.n_live, (live == 1).all())
"""

    assert run(program) == "5 1 1 True"


needs_smaps = pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="only Linux has this file"
)
RECLAIMABLE = """
def reclaimable():
    for line in open("/proc/self/smaps_rollup"):
        if line.startswith("LazyFree:"):
            # The system counts small pages some at a time, so that a few are missing.
            return round(int(line.split()[1]) / 1024)
"""


@needs_smaps
def test_the_system_may_reclaim_kept_blocks():
    """The system may reclaim a block that was used once, from the moment it is kept."""
    program = f"""{PRELUDE}{RECLAIMABLE}
for n_bytes in (64 << 20, 4 << 20):
    before = reclaimable()
    array = make(n_bytes)
    array.fill(1)
    in_use = reclaimable()
    del array
    kept = reclaimable()
    again = make(n_bytes)
    again.fill(2)
    print(before, in_use, kept, reclaimable(), (again == 2).all())
    del again
"""

    assert run(program) == "0 0 64 0 True\n0 0 4 0 True"


@needs_smaps
def test_blocks_in_steady_use_are_reclaimable_when_idle():
    """A reused block is not reclaimable between calls; a later call or the limit changes that."""
    program = f"""{PRELUDE}{RECLAIMABLE}
memory.set_idle_seconds(60, steady_seconds=0.2)
memory.set_limit(3 << 30)
seen = []
for _ in range(3):
    make(64 << 20).fill(1)
    seen.append(reclaimable())
sleep(0.3)
make(1 << 20)
seen.append(reclaimable())
for _ in range(2):
    large = [make(640 << 20) for _ in range(2)]
    [array[: 32 << 20].fill(1) for array in large]  # the system counts the pages that are used
    del large
seen.append(reclaimable())
print(*seen)
"""

    assert run(program) == "64 0 0 64 96"
