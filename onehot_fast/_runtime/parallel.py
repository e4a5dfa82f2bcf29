"""The number of threads of a call.

The default is that of OpenMP (``OMP_NUM_THREADS``, threadpoolctl), limited by the CPU affinity, the
quota of the control group and the idle processors; it is one for small work and inside another
parallel region. An explicit ``num_threads`` is obeyed.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

import numpy as np

from onehot_fast._kernels import chunks
from onehot_fast._runtime import system

Item = TypeVar("Item")
Result = TypeVar("Result")

# For less output, a second thread costs more than it saves: 8 MiB take 0.2 ms on one thread,
# reading the load 0.01 ms, and waking a thread up to 0.05 ms.
WORTH_THREADS = 8 << 20

# More threads are never useful, and GNU OpenMP crashes if the system refuses one.
MAX_THREADS = 1024


# Whether this thread starts no others, and whether its rows are a part of a table.
_is_single_threaded = ContextVar("is_single_threaded", default=False)
_is_part = ContextVar("is_part", default=False)


@contextmanager
def part_of_table(*, one_thread: bool = True) -> Iterator[None]:
    """Treat all rows as a part of a table: messages contain no row numbers and no counts.

    By default no other thread starts without `num_threads`, because an engine has one thread for
    each processor.
    """
    tokens = _is_part.set(True), _is_single_threaded.set(one_thread)
    try:
        yield
    finally:
        _is_part.reset(tokens[0])
        _is_single_threaded.reset(tokens[1])


def is_part_of_table() -> bool:
    """Tell whether the rows are a part of a table, so that their numbers are meaningless."""
    return _is_part.get()


def available() -> int:
    """Return the number of threads of a large call on an idle machine."""
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(chunks.max_threads(), processors, _quota() or processors))


@cache
def _quota() -> int | None:
    """Return the processor quota of the control group, read once."""
    return system.cpu_quota()


def _idle_threads(requested: int) -> int:
    """Return how many of the requested threads have an idle processor.

    A team waits for its slowest thread at the end: a thread that shares its processor with another
    process costs more than the others save.
    """
    if chunks.was_stalled():
        return 1
    running = system.running_threads()
    if running is None:
        return requested
    others = max(0, running - 1 - chunks.spinning_workers())
    return max(1, min(requested, (os.cpu_count() or requested) - others))


def resolve(num_threads: int | None, n_bytes: int) -> int:
    """Return the number of threads for an output of ``n_bytes``."""
    if num_threads is None:
        is_one = n_bytes < WORTH_THREADS or _is_single_threaded.get()
        requested = 1 if is_one else available()
        return requested if requested == 1 else _idle_threads(requested)
    number: Any = None if isinstance(num_threads, bool | np.bool_) else num_threads
    try:
        asked = operator.index(number)
    except TypeError:
        raise TypeError(f"num_threads must be an integer or None, got {num_threads!r}") from None
    if asked < 1:
        raise ValueError(f"num_threads must be at least 1, got {asked}")
    return min(asked, MAX_THREADS)


def parallel_map(
    work: Callable[[Item], Result], items: Iterable[Item], n_bytes: int
) -> list[Result]:
    """Return the results for each item, computed in several threads if they read many bytes in all.

    It is for libraries that release the GIL. An error is that of the first item with one.
    """
    items = [*items]
    threads = min(resolve(None, n_bytes), len(items))
    if threads <= 1:
        return [*map(work, items)]
    from concurrent.futures import ThreadPoolExecutor  # takes 3 ms

    # A pool that is kept would not survive a fork.
    with ThreadPoolExecutor(threads) as pool:
        return [*pool.map(work, items)]
