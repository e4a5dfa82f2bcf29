"""How many threads a call uses.

By default as many as OpenMP says (``OMP_NUM_THREADS``, or what threadpoolctl set), within the CPU
affinity and the control group's quota; one for small work, one inside anybody's parallel region,
and no more than there are idle processors. An explicit ``num_threads`` is obeyed.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TypeVar

import numpy as np

from onehot_fast._kernels import chunks
from onehot_fast._runtime import system

Item = TypeVar("Item")
Result = TypeVar("Result")

# Below this many bytes of output a second thread saves less than asking for it costs: 8 MiB take
# 0.2 ms on one thread, a look at the load 0.01 ms, waking a sleeping thread up to 0.05 ms.
WORTH_THREADS = 8 << 20

# More than any team is good for; GNU OpenMP crashes where the system refuses it a thread.
MAX_THREADS = 1024


# Whether this thread starts no other thread, and whether its rows are a part of a table.
_is_single_threaded = ContextVar("is_single_threaded", default=False)
_is_part = ContextVar("is_part", default=False)


@contextmanager
def part_of_table(*, one_thread: bool = True) -> Iterator[None]:
    """Treat all rows as a part of a table: messages contain no row numbers and no counts.

    By default no other thread starts, unless `num_threads` asks for it: an engine has one thread
    for each processor.
    """
    tokens = _is_part.set(True), _is_single_threaded.set(one_thread)
    try:
        yield
    finally:
        _is_part.reset(tokens[0])
        _is_single_threaded.reset(tokens[1])


def is_part_of_table() -> bool:
    """Tell whether the rows are a part of a table, so that their numbers mean nothing."""
    return _is_part.get()


def available() -> int:
    """Return how many threads a large call may use on an idle machine."""
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(chunks.max_threads(), processors, _quota() or processors))


@cache
def _quota() -> int | None:
    """Return the processors the control group grants this process, asked once."""
    return system.cpu_quota()


def _idle_threads(requested: int) -> int:
    """Return how many of the wanted threads would find an idle processor.

    The barrier at the end of a team waits for its slowest thread: one that shares its processor
    with another process costs more than all the others save.
    """
    if chunks.was_stalled():
        return 1
    running = system.running_threads()
    if running is None:
        return requested
    others = max(0, running - 1 - chunks.spinning_workers())
    return max(1, min(requested, (os.cpu_count() or requested) - others))


def resolve(num_threads: int | None, n_bytes: int) -> int:
    """Return the threads for an output of ``n_bytes``: as asked, or by the work and the machine."""
    if num_threads is None:
        is_one = n_bytes < WORTH_THREADS or _is_single_threaded.get()
        requested = 1 if is_one else available()
        return requested if requested == 1 else _idle_threads(requested)
    kind = type(num_threads).__name__
    if isinstance(num_threads, bool | np.bool_):
        raise TypeError(f"num_threads must be an integer or None, not {kind}")
    try:
        asked = operator.index(num_threads)
    except TypeError:
        raise TypeError(f"num_threads must be an integer or None, not {kind}") from None
    if asked < 1:
        raise ValueError(f"num_threads = {asked} must be at least 1")
    return min(asked, MAX_THREADS)


def parallel_map(
    work: Callable[[Item], Result], items: Iterable[Item], n_bytes: int
) -> list[Result]:
    """Return what the work makes of each item, side by side where it reads many bytes in all.

    It is for work of libraries that release the GIL; an error is that of the first item with one.
    """
    items = [*items]
    threads = min(resolve(None, n_bytes), len(items))
    if threads <= 1:
        return [*map(work, items)]
    from concurrent.futures import ThreadPoolExecutor  # 3 ms that only large tables pay for

    # Made for this call: a pool that stays would not survive a fork.
    with ThreadPoolExecutor(threads) as pool:
        return [*pool.map(work, items)]
