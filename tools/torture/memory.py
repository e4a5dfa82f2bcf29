"""Failing allocations: MemoryError or the right result, never a crash; the next call works.

A process under an allocator that fails on demand (``failing_malloc.c``), and for Python's own
objects too, forks a child for each trial. In the child the n-th allocation of a call and some
after it fail, or its address space ends a little above what it has (RLIMIT_AS).
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from torture import library, pick
from torture.works import Work, as_bytes, works

TRIALS, CHILD_HANG, HANG = 25, 120, 500
# Exit codes. GNU OpenMP ends the process if it cannot allocate its own few bytes.
RIGHT, ENDED, REJECTED, WRONG, STAYS_WRONG = 0, 1, 70, 71, 72


def case(seed: int) -> Counter[str]:
    """Run trials in a process of its own, whose allocator can fail."""
    if sys.platform != "linux":
        return Counter()
    done = subprocess.run(
        [sys.executable, "-m", "torture.memory", str(seed)],
        env={**os.environ, "LD_PRELOAD": library("failing_malloc"), "PYTHONMALLOC": "malloc"},
        capture_output=True, text=True, timeout=HANG,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return Counter(json.loads(done.stdout.splitlines()[-1]))


def main(seed: int) -> None:
    """Fork a child for each trial; print the results."""
    rng, found = np.random.default_rng(seed), Counter[str]()
    sizes = {n: works(0, n, libraries=False) for n in (200, 60_000)}
    for each in sizes.values():
        del each["pickle"]  # it takes a MemoryError of its own for a class that is missing
    expected = {n: {k: as_bytes(work()) for k, work in each.items()} for n, each in sizes.items()}
    for _ in range(TRIALS):
        n, is_limit = int(pick(rng, [*sizes])), bool(rng.integers(2))
        name = pick(rng, [*sizes[n]])
        if is_limit:
            n = max(sizes)
            first, last = int(rng.integers(0, 24 << 20)), 0
        else:
            first, last = int(2 ** (rng.random() * 11)) - 1, int(pick(rng, [1, 1, 3, 3000]))
        trial = f"{name} {n} {'limit' if is_limit else 'allocations'} {first} {last}"
        number = os.fork()
        if number == 0:
            signal.alarm(CHILD_HANG)
            code = STAYS_WRONG
            try:
                code = _trial(sizes[n][name], expected[n][name], first, last)
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
        assert code in (RIGHT, REJECTED, ENDED), f"seed {seed}: {trial}: {code}"
        found["rejected"] += code == REJECTED
        found["ended by GNU OpenMP"] += code == ENDED
        found["limit" if is_limit else "allocation"] += 1
    print(json.dumps(found))


def _trial(work: Work, expected: bytes, first: int, last: int) -> int:
    """Call without memory, and once again with it."""
    gc.disable()
    fail_after = ctypes.CDLL(None).fail_after
    good, bad, none = ctypes.c_long(first), ctypes.c_long(last), ctypes.c_long(0)
    result: Any = None
    outcome, wrong = WRONG, None
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if not last:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + first, hard))
    try:
        fail_after(good, bad)
        result = work()
    except MemoryError:
        outcome = REJECTED
    except SystemError as error:
        # The error of NumPy's Boolean selection without a buffer.
        outcome = REJECTED if str(error) == "error return without exception set" else WRONG
        wrong = None if outcome == REJECTED else error
    except BaseException as error:
        wrong = error
    while True:
        try:
            fail_after(none, none)
            break
        except (MemoryError, ctypes.ArgumentError):  # of this call itself: fewer are left
            continue
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    if wrong is not None:
        print("raised", repr(wrong), repr(wrong.__cause__), file=sys.stderr, flush=True)
    if result is not None:
        outcome = RIGHT if as_bytes(result) == expected else WRONG
    result = None
    return outcome if as_bytes(work()) == expected else STAYS_WRONG


if __name__ == "__main__":
    main(int(sys.argv[1]))
