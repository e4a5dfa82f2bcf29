"""The number of threads: the argument, the work, the limits and the load."""

from __future__ import annotations

import ctypes
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import onehot_fast
from onehot_fast._runtime import parallel
from support.programs import needs_fork, needs_openmp, run

LARGE = parallel.WORTH_THREADS
CPUS = os.cpu_count() or 1
AVAILABLE = "from onehot_fast._runtime import parallel; print(parallel.available())"


@pytest.fixture
def machine(monkeypatch):
    """Return a function that makes up a machine and what runs on it."""

    def make(running=1, spinning=0, stalled=False, cpus=4, openmp=4, affinity=4, quota=None):
        team = SimpleNamespace(
            max_threads=lambda: openmp,
            spinning_workers=lambda: spinning,
            was_stalled=lambda: stalled,
        )
        monkeypatch.setattr(parallel, "team", team)
        monkeypatch.setattr(parallel, "_quota", lambda: quota)
        monkeypatch.setattr(parallel.system, "running_threads", lambda: running)
        monkeypatch.setattr(os, "cpu_count", lambda: cpus)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(affinity), raising=False)

    return make


@pytest.mark.parametrize("n_bytes", [0, 1, LARGE, 2**60])
@pytest.mark.parametrize("asked", [1, 2, 3, 7, np.int64(2), np.uint8(3), np.array(2)], ids=repr)
def test_an_explicit_number_is_obeyed(asked, n_bytes, machine):
    """The number of threads is what the caller says, whatever the work and the machine are."""
    machine(running=99, stalled=True, openmp=1, quota=1)
    resolved = parallel.resolve(asked, n_bytes)

    assert resolved == asked
    assert type(resolved) is int


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        *((each, TypeError, "an integer or None, got")
          for each in [True, False, np.True_, 2.0, "2", [2], (), np.array([1, 2])]),
        *((each, ValueError, f"at least 1, got {each}") for each in [0, np.int8(-128), -(2**70)]),
    ],
)  # fmt: skip
def test_only_integers_from_one_are_accepted(asked, error, message):
    with pytest.raises(error, match=f"num_threads must be {message}"):
        onehot_fast.one_hot([0], 1, num_threads=asked)


def test_more_threads_than_any_system_has_are_limited():
    """An absurd number ends neither in a crash nor in an error: there is not that much work."""
    program = """
        import numpy as np, onehot_fast
        for asked in (1000, 10**5, 2**31 - 1, 2**31, 2**100):
            print(onehot_fast.one_hot(np.arange(200_000) % 7, 7, num_threads=asked).sum())
    """

    assert run(program).split() == ["200000.0"] * 5


@pytest.mark.parametrize(("n_bytes", "affinity"), [(0, 4), (LARGE - 1, 4), (2**60, 1)])
def test_one_thread_needs_no_question_about_the_load(n_bytes, affinity, machine, monkeypatch):
    """Neither does small work, nor a single processor."""
    machine(affinity=affinity)
    monkeypatch.delattr(parallel.system, "running_threads")

    assert parallel.resolve(None, n_bytes) == 1


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        *(({}, 4), ({"openmp": 3}, 3), ({"openmp": 64}, 4), ({"affinity": 2}, 2)),
        *(({"quota": 3}, 3), ({"quota": 99}, 4), ({"quota": 0}, 4), ({"openmp": 0}, 1)),
        ({"openmp": 3, "affinity": 2, "quota": 1}, 1),
    ],
    ids=repr,
)
def test_available_is_the_least_of_all_limits(limits, expected, machine):
    machine(**limits)

    assert parallel.available() == expected
    assert parallel.resolve(None, LARGE) == expected


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        *(
            ({"running": n}, threads)
            for n, threads in ((None, 4), (0, 4), (1, 4), (2, 3), (4, 1), (99, 1))
        ),
        *(({"running": n, "spinning": 3}, threads) for n, threads in ((4, 4), (5, 3), (2, 4))),
        *(({"running": n, "cpus": 8}, threads) for n, threads in ((3, 4), (7, 2))),
        *(({"running": 1, "stalled": True}, 1), ({"running": 2, "openmp": 1}, 1)),
    ],
    ids=repr,
)
def test_busy_processors_are_left_alone(load, expected, machine):
    """Others that run take their processors away; our own waiting workers do not."""
    machine(**load)

    assert parallel.resolve(None, LARGE) == expected


def test_a_new_process_has_no_stall():
    """A process that has run nothing has no team to wait for."""
    program = """
        from onehot_fast._runtime import team
        print(team.was_stalled(), team.spinning_workers())
    """

    assert run(program) == "False 0"


@needs_openmp
@pytest.mark.parametrize("n_threads", [1, 2])
def test_omp_num_threads_limits_the_default(n_threads):
    """``OMP_NUM_THREADS`` bounds the default, as the affinity and the processors do."""
    most = int(run(AVAILABLE, OMP_NUM_THREADS="999"))

    assert most <= CPUS
    assert int(run(AVAILABLE, OMP_NUM_THREADS=str(n_threads))) == min(n_threads, most)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_the_affinity_limits_the_default():
    bind = "import os, onehot_fast; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
    without = "del os.sched_getaffinity; os.cpu_count = lambda: 1\n"

    assert run(bind + AVAILABLE) == run(f"import os\n{without}{AVAILABLE}") == "1"


@needs_openmp
def test_threadpoolctl_limits_the_default():
    """A limit that threadpoolctl sets holds, and ends."""
    threadpoolctl = pytest.importorskip("threadpoolctl")
    before = parallel.available()
    with threadpoolctl.threadpool_limits(1):
        limited = parallel.available()

    assert limited == 1
    assert parallel.available() == before


@needs_openmp
@pytest.mark.skipif(sys.platform != "linux", reason="the library has another name elsewhere")
def test_a_call_inside_a_parallel_region_uses_one_thread():
    """The number of threads is one inside a parallel region of the same OpenMP.

    A wheel has an OpenMP of its own.
    """
    from onehot_fast._runtime import team

    seen = []
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: seen.append(team.max_threads()))
    ours = ctypes.CDLL(team.__file__)  # finds what the module is linked with
    ours.GOMP_parallel(callback, None, ctypes.c_uint(2), ctypes.c_uint(0))

    assert seen == [1, 1]


@pytest.mark.parametrize("n_bytes", [0, 2**40], ids=["small", "large"])
def test_results_have_the_order_of_the_items(n_bytes):
    """The error is that of the first item."""
    squares = parallel.parallel_map(lambda item: item * item, range(50), n_bytes)

    assert squares == [i * i for i in range(50)]
    with pytest.raises(ValueError, match="'a'"):
        parallel.parallel_map(int, ["1", "a", "b"], n_bytes)


@pytest.mark.parametrize(("n_items", "share"), [(1, 6), (2, 3), (4, 1), (9, 1)])
def test_calls_of_workers_share_the_threads(monkeypatch, n_items, share):
    monkeypatch.setattr(parallel, "available", lambda: 6)
    monkeypatch.setattr(parallel, "_idle_threads", lambda requested: requested)

    found = parallel.parallel_map(lambda _: parallel.resolve(None, 2**40), range(n_items), 2**40)

    assert found == [share] * n_items
    assert parallel.resolve(None, 2**40) == 6


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is not kept elsewhere")
def test_threads_that_the_system_refuses_are_done_without():
    """GNU OpenMP would end the process."""
    program = """
        import os, resource
        import numpy as np
        from onehot_fast import one_hot

        indices, out = np.arange(900_000) % 5, np.ones((900_000, 5), np.float32)
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**20, resource.RLIM_INFINITY))
        print(one_hot(indices, 5, out=out, num_threads=8).sum())
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(one_hot(indices, 5, num_threads=8).sum())
        """

    assert run(program) == "900000.0\n900000.0"


@needs_fork
@needs_openmp
@pytest.mark.skipif(sys.platform != "linux", reason="the library has another name elsewhere")
def test_a_child_of_a_runtime_that_keeps_its_team_uses_one_thread():
    program = """
        import ctypes, os, signal
        import numpy as np
        from onehot_fast import one_hot
        from onehot_fast._runtime import team

        def encode():
            return one_hot(np.arange(900_000) % 5, 5, num_threads=2).sum() == 900_000

        def fork_once(_):
            if next(turns, False):
                number = os.fork()
                if number == 0:
                    signal.alarm(300)
                    os._exit(0 if encode() and team.max_threads() == 1 else 1)
                codes.append(os.waitpid(number, 0)[1])

        encode()
        codes, turns = [], iter([True])
        # Inside a parallel region the runtime refuses to end its teams.
        region = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(fork_once)
        ours = ctypes.CDLL(team.__file__)  # finds what the module is linked with
        ours.GOMP_parallel(region, None, ctypes.c_uint(2), ctypes.c_uint(0))
        print(codes, encode())
        """

    # Python 3.12 warns of a fork beside threads.
    assert run(program, "-W", "ignore::DeprecationWarning") == "[0] True"
