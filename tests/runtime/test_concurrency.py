"""Calls in several Python threads: they release the GIL, obey Ctrl-C and give right results."""

from __future__ import annotations

import multiprocessing
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

import onehot_fast
from support import oracle, strategies
from support.programs import HANG, run

N_CALLERS = 8
REPEATS = 5
DEPTH = 21
INDICES = np.random.default_rng(5).integers(-1, DEPTH + 1, 60_000, np.int16)
EXPECTED = np.equal.outer(INDICES, np.arange(DEPTH)).astype(np.float32)  # several chunks


def in_threads(call):
    """Run `call(number)` in every caller at the same moment, several times; return the results."""
    barrier = Barrier(N_CALLERS, timeout=HANG)

    def run(number):
        barrier.wait()
        return [call(number) for _ in range(REPEATS)]

    with ThreadPoolExecutor(N_CALLERS) as pool:
        return [result for results in pool.map(run, range(N_CALLERS)) for result in results]


# Every two of them meet: each layout with each dtype and with each number of threads.
CALLS = [
    (name, (0, 1, -1)[(i + j) % 3], num_threads)
    for i, name in enumerate(["bool", "float32", "V12", "object"])
    for j, num_threads in enumerate([None, 1, 2, 3])
]


@pytest.mark.parametrize(("name", "axis", "num_threads"), CALLS)
def test_callers_do_not_disturb_each_other(name, axis, num_threads):
    off, on = strategies.VALUES[name]
    indices = np.random.default_rng(1).integers(-1, 22, (N_CALLERS, 3, 1025), np.int32)
    expected = [oracle.one_hot(each, 21, on, off, axis) for each in indices]
    options = {"on_value": on, "off_value": off, "axis": axis, "num_threads": num_threads}
    actual = in_threads(lambda number: onehot_fast.one_hot(indices[number], 21, **options))
    decoded = in_threads(lambda n: onehot_fast.decode(expected[n], axis, on_value=on))

    oracle.assert_same(np.stack(actual), np.repeat(expected, REPEATS, axis=0))
    classes = np.where(indices < 21, indices, -1).astype(np.int64)
    oracle.assert_same(np.stack(decoded), np.repeat(classes, REPEATS, axis=0))


@pytest.mark.parametrize("num_threads", [None, 1, 2])
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("reuse", [False, True], ids=["new", "out"])
def test_callers_share_the_indices_of_large_work(reuse, axis, num_threads):
    """Callers whose work is many chunks read the same indices, and may write parts of one array."""
    expected = np.ascontiguousarray(np.moveaxis(EXPECTED, -1, axis))
    outs = np.full((N_CALLERS, *expected.shape), 7, np.float32) if reuse else [None] * N_CALLERS

    def call(number):
        result = onehot_fast.one_hot(
            INDICES, DEPTH, axis=axis, out=outs[number], num_threads=num_threads
        )
        return result.tobytes() == expected.tobytes()

    assert in_threads(call) == [True] * (N_CALLERS * REPEATS)


def test_an_error_in_one_caller_is_its_own():
    """An error neither stops nor changes the other calls."""

    def call(number):
        indices = np.full(5000, number)
        try:
            return onehot_fast.one_hot(indices, 4, out_of_range="error")[0].tolist()
        except ValueError as error:
            return str(error)

    results = in_threads(call)

    rows = np.eye(4).tolist()
    assert results[: 4 * REPEATS] == [rows[n] for n in range(4) for _ in range(REPEATS)]
    assert results[4 * REPEATS :] == [
        f"indices[0] must be in [0, 4), got {n}"
        for n in range(4, N_CALLERS)
        for _ in range(REPEATS)
    ]


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("num_threads", [1, 2])
def test_other_threads_run_during_a_call(num_threads, axis):
    """A counter in another thread moves while a kernel runs, and only because it runs.

    The interpreter never takes the GIL from anybody here: the counter moves only when the call
    itself lets go of it.
    """
    program = f"""
        import sys, threading, time
        import numpy as np
        from onehot_fast import one_hot

        indices = np.arange(400_000) % 50
        out = np.empty((400_000, 50) if {axis} else (50, 400_000), np.float32)
        count, stop = 0, False

        def work():
            global count
            while not stop:
                count += 1
                time.sleep(0.0001)

        def moved():
            before = count
            one_hot(indices, 50, axis={axis}, out=out, num_threads={num_threads})
            return count > before

        sys.setswitchinterval(1000)
        worker = threading.Thread(target=work)
        worker.start()
        # Once would do on an idle machine.
        print(any(moved() for _ in range(100)))
        stop = True
        worker.join()
    """

    assert run(program) == "True"


# A thread that presses Ctrl-C as soon as the kernel has written something, or the result is there.
# The outputs have five slabs; of memory that is not touched none is used. On a busy machine the
# thread may come too late, when the call is over: then the next attempt counts.
INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, onehot_fast

indices = np.zeros(1_250_000_000 // 400, np.uint8)
N_ATTEMPTS = 20

def press(has_begun, is_over):
    while not has_begun() and not is_over.is_set():
        time.sleep(0.0001)
    os.kill(os.getpid(), signal.SIGINT)

def interrupted(call, has_begun, error):
    # Tell whether the call itself ended with the error.
    is_over = threading.Event()
    presser = threading.Thread(target=press, args=[has_begun, is_over])
    in_time = True
    try:
        presser.start()
        call()
        in_time = False
        is_over.set()
        while True:
            time.sleep(0.01)
    except error as caught:
        presser.join()
        return in_time and [str(caught), onehot_fast.cache_info().n_live]

def first(attempts):
    return next(filter(None, attempts), None)

# A shell starts what it puts in the background with Ctrl-C ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.setswitchinterval(1000)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals on this system")
@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("axis", [0, 1])
def test_ctrl_c_stops_a_long_call(axis, num_threads):
    """An interrupted call ends with KeyboardInterrupt, and has not written the rest of `out`."""
    program = f"""{INTERRUPTED}
def attempt(_):
    out = np.zeros((len(indices), 100) if {axis} else (100, len(indices)), np.float32)
    def call():
        options = dict(axis={axis}, off_value=2, out=out, num_threads={num_threads})
        onehot_fast.one_hot(indices, 100, **options)
    done = interrupted(call, lambda: out.flat[0], KeyboardInterrupt)
    return done and out.flat[-1] == 0 and (out.flat[0], out.flat[-1])
print(*first(map(attempt, range(N_ATTEMPTS))))
"""

    assert run(program) == "1.0 0.0"


HANDLERS = {
    "KeyboardInterrupt": ("", "1 0"),
    "LookupError": (
        """
def handler(*_):
    raise LookupError("handled")
signal.signal(signal.SIGINT, handler)
""",
        "handled 1 0",
    ),
}


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals on this system")
@pytest.mark.parametrize("error", HANDLERS)
def test_the_error_of_a_signal_leaves_no_memory_behind(error):
    handler, expected = HANDLERS[error]
    program = f"""{INTERRUPTED}{handler}
def call():
    onehot_fast.one_hot(indices, 100, off_value=2, num_threads=2)
def attempt(_):
    return interrupted(call, lambda: onehot_fast.cache_info().n_live, {error})
# While the error is handled its traceback holds the frame, and the frame the result.
print(*first(map(attempt, range(N_ATTEMPTS))), onehot_fast.cache_info().n_live)
"""

    assert run(program).strip() == expected


def encode_slices(number):
    """Return whether a part of the work comes out right, with default threads and with two."""
    part = slice(number * 7_000, (number + 2) * 7_000)
    calls = [onehot_fast.one_hot(INDICES[part], DEPTH, num_threads=n) for n in (None, 2)]
    return all(bool((call == EXPECTED[part]).all()) for call in calls)


# Python 3.12 warns of a fork beside threads: those of pytest-xdist.
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_calls_in_workers_of_joblib_are_right(backend):
    """Calls inside the workers of joblib are right, in threads and in processes."""
    joblib = pytest.importorskip("joblib")
    if backend == "multiprocessing" and multiprocessing.get_start_method() != "fork":
        pytest.skip("new processes of multiprocessing import this file by a name of pytest")
    # A new process cannot import this file by the name pytest gave it.
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    task = joblib.delayed(encode_slices)
    right = joblib.Parallel(n_jobs=2, backend=backend)(task(number) for number in range(6))

    assert right == [True] * 6


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity on this system")
def test_workers_of_joblib_take_one_thread_each():
    joblib = pytest.importorskip("joblib")
    n_jobs = len(os.sched_getaffinity(0))
    task = joblib.delayed(lambda: onehot_fast.build_info()["num_threads"])

    assert joblib.Parallel(n_jobs=n_jobs, backend="loky")([task()] * n_jobs) == [1] * n_jobs


MUST_NOT_IMPORT = """
try:
    import onehot_fast
except ImportError:
    pass
else:
    raise AssertionError("it was imported")
"""


@pytest.mark.parametrize("kind", ["legacy", "isolated"])
def test_threads_work_beside_a_second_interpreter(kind):
    """It shares the GIL or has its own, and may import the package as little as NumPy.

    After a second interpreter, Python no longer knows which thread holds the GIL.
    """
    program = f"""
        from threading import Thread
        import numpy as np
        from onehot_fast import Encoder, one_hot
        try:
            import _interpreters as interpreters
            other = interpreters.create("{kind}")
        except ImportError:
            import _xxsubinterpreters as interpreters
            other = interpreters.create(isolated={kind == "isolated"})

        n_right = []
        def work():
            n_right.append(one_hot(np.arange(900_000) % 5, 5, num_threads=2).sum() == 900_000)
            rows = {{"c": np.array(["a", "b", None] * 30_000, object)}}
            n_right.append(Encoder(["c"]).fit_transform(rows).sum() == 60_000)

        threads = [Thread(target=work) for _ in range(4)]
        for thread in threads[:2]:
            thread.start()
        failed = interpreters.run_string(other, {MUST_NOT_IMPORT!r})
        interpreters.destroy(other)
        for thread in threads[2:]:
            thread.start()
        for thread in threads:
            thread.join()
        print(sum(n_right), failed)
        """

    assert run(program) == "8 None"
