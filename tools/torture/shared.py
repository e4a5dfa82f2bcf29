"""Threads that share fitted encoders, a dictionary, and parts of one output.

The threads begin with empty caches: hash tables, look-up tables, names and layouts are made by
the first thread. ThreadSanitizer watches in ``.ci/variant thread``.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from onehot_fast import one_hot
from onehot_fast._categories.dictionary import Dictionary
from torture import pick
from torture.works import as_bytes, works

THREADS, REPEATS, HANG = 6, 3, 300
Shared = Iterator[tuple[str, Callable[[int], tuple[Any, Any]]]]


def case(seed: int) -> Counter[str]:
    """Let threads use new objects at the same moment."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    for name, call in [*_works(rng, seed), *_dictionaries(rng), *_outputs(rng)]:
        _together(name, call)
        found[name] += THREADS * REPEATS
    return found


def _together(name: str, call: Callable[[int], tuple[Any, Any]]) -> None:
    """Call from every thread after one barrier; all results are right."""
    barrier, wrong = threading.Barrier(THREADS, timeout=HANG), []

    def work(number: int) -> None:
        barrier.wait()
        try:
            for _ in range(REPEATS):
                actual, expected = call(number)
                assert as_bytes(actual) == as_bytes(expected), "another result"
        except BaseException as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, (name, wrong)


def _works(rng: np.random.Generator, seed: int) -> Shared:
    """Yield calls whose results are those of equal objects, in any order."""
    n = int(pick(rng, [50, 3000]))
    alone, shared = (works(seed, n, libraries=False) for _ in range(2))
    for name in rng.permutation([*shared]).tolist():
        result = alone[name]()
        yield name, lambda _, work=shared[name], result=result: (work(), result)


def _dictionaries(rng: np.random.Generator) -> Shared:
    """Yield look-ups in one dictionary, and reads of its values."""
    values = rng.permutation(int(pick(rng, [10, 20_000]))) * 2**35
    known = Dictionary("int64", values)
    order = rng.permutation(len(values))
    yield "lookup", lambda _: (known.lookup(values[order]), order.astype(np.int32))
    yield "values", lambda _: (known.values, values)


def _outputs(rng: np.random.Generator) -> Shared:
    """Yield writes into parts of one output."""
    n, depth = int(pick(rng, [300, 40_000])), int(pick(rng, [3, 17, 300]))
    n = min(n, 2_000_000 // depth)
    indices = rng.integers(-1, depth, (THREADS, n))
    expected = [one_hot(each, depth, dtype="u1") for each in indices]
    out = np.full((THREADS, n, depth), 9, np.uint8)

    def write(number: int) -> tuple[Any, Any]:
        one_hot(indices[number], depth, dtype="u1", out=out[number], num_threads=2)
        return out[number], expected[number]

    yield "out", write
