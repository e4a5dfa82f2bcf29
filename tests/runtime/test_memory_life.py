"""Output buffers over a long and busy life: random use, threads, forks, idle times and the end."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
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
from programs import needs_fork, run, start
from strategies import examples

from onehot_fast._runtime import memory

MIB = 2**20
LARGE = MIB // 4
BYTE = np.dtype(np.uint8)
SIZES = [LARGE - 1, LARGE, LARGE + 1, LARGE * 5 // 4, MIB // 2, MIB - 7, 2 * MIB]


class Life(RuleBasedStateMachine):
    """Any order of allocating, viewing, freeing and bounding; every array keeps its own number."""

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
        """Let the array go and keep a part of it."""
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


def test_random_lives():
    run_state_machine_as_test(Life, settings=examples(0.3, stateful_step_count=30))


def test_threads_pass_arrays_on():
    """Eight threads allocate, and free what others allocated, without ever sharing memory."""
    slots = [None] * 16
    changed = []

    def live(seed):
        rng = np.random.default_rng(seed)
        for number, slot in enumerate(rng.integers(0, len(slots), 150)):
            array, _ = memory.allocate((int(rng.choice(SIZES)),), BYTE)
            array.fill(number)
            mine = number, array
            other = slots[slot]
            slots[slot] = mine
            if other is not None and not (other[1] == other[0]).all():
                changed.append(other[0])

    before = memory.cache_info().n_live
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(live, range(8)))
    slots.clear()
    info = memory.cache_info()

    assert changed == []
    assert info.n_live == before
    assert 0 <= info.n_bytes <= info.max_bytes


def test_a_block_outlives_its_thread():
    arrays = []
    worker = threading.Thread(target=lambda: arrays.append(memory.allocate((MIB,), BYTE)[0]))
    worker.start()
    worker.join()
    arrays[0].fill(1)
    before = memory.cache_info().n_live
    arrays.clear()

    assert memory.cache_info().n_live == before - 1


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
def test_the_end(program):
    assert run(PRELUDE + program) == ""


def test_the_default_bound():
    program = """
        from onehot_fast._runtime import memory, system
        print(memory.cache_info().max_bytes == (system.total_memory() or 0) // 16)
    """

    assert run(program, ONEHOT_FAST_CACHE_MB="") == "True"


@pytest.mark.parametrize("n_mib", [0, 7])
def test_the_bound_of_the_environment(n_mib):
    """``ONEHOT_FAST_CACHE_MB`` sets the bound, and 0 keeps nothing."""
    program = f"""{PRELUDE}
make(7 << 20)
make(8 << 20)
info = memory.cache_info()
print(info.max_bytes, info.n_bytes, info.n_live)
"""

    assert run(program, ONEHOT_FAST_CACHE_MB=str(n_mib)) == f"{n_mib * MIB} {n_mib * MIB} 0"


@pytest.mark.parametrize("text", ["-1", "1.5", "lots", "0x10", " 5", "²", "9" * 40])
def test_a_bad_bound_ends_the_import(text):
    done = start("import onehot_fast._runtime.memory", ONEHOT_FAST_CACHE_MB=text)

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ValueError: ONEHOT_FAST_CACHE_MB = ")


@needs_fork
def test_a_child_has_blocks_of_its_own():
    """A child frees, uses and fills what it inherited; the parent's arrays do not change."""
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
def test_fork_while_threads_allocate():
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

    # Python 3.12 warns of any fork beside threads, and these are ours.
    assert run(program, "-W", "ignore::DeprecationWarning") == str([0] * 20)


def test_idle_blocks_go_back():
    """What was not used for a while is given back with the next call; what is in use stays."""
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
            return int(line.split()[1]) >> 10
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
told = []
for _ in range(3):
    make(64 << 20).fill(1)
    told.append(reclaimable())
sleep(0.3)
make(1 << 20)
told.append(reclaimable())
for _ in range(2):
    large = [make(640 << 20) for _ in range(2)]
    [array[::4096].fill(1) for array in large]
    del large
told.append(reclaimable())
print(*told)
"""

    assert run(program) == "64 0 0 64 704"
