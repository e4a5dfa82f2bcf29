"""Threads that share fitted encoders and tables.

The threads begin with empty caches: hash tables, look-up tables, names and layouts are made by
the first thread. ThreadSanitizer watches in ``.ci/variant thread``.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np

from torture import pick
from torture.works import Work, as_bytes, works

THREADS, REPEATS, HANG = 6, 3, 300


def case(seed: int) -> Counter[str]:
    """Let threads use new objects at the same moment, in any order of the calls."""
    rng = np.random.default_rng(seed)
    n = int(pick(rng, [50, 3000]))
    alone, shared = (works(seed, n, libraries=False) for _ in range(2))
    for name in rng.permutation([*shared]).tolist():
        _together(name, shared[name], as_bytes(alone[name]()))
    return Counter(dict.fromkeys(shared, THREADS * REPEATS))


def _together(name: str, work: Work, expected: bytes) -> None:
    """Call from every thread after one barrier; all results are right."""
    barrier = Barrier(THREADS, timeout=HANG)

    def check(_: int) -> None:
        barrier.wait()
        for _ in range(REPEATS):
            assert as_bytes(work()) == expected, f"{name}: another result"

    with ThreadPoolExecutor(THREADS) as pool:
        [*pool.map(check, range(THREADS))]
