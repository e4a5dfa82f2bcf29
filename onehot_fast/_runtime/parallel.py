"""The number of threads of a call.

The default is OpenMP's default (``OMP_NUM_THREADS``, threadpoolctl), limited by the CPU affinity,
the quota of the control group and the number of idle processors. Small work, and work inside a
parallel region, uses one thread. An explicit ``num_threads`` is limited by `MAX_THREADS` alone; it
is the largest number, because some kernels use one thread.
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

from onehot_fast._runtime import system, team

Item = TypeVar("Item")
Result = TypeVar("Result")

# For smaller outputs, a second thread costs more than it saves: one thread writes 8 MiB in 0.2 ms,
# reading the load of the machine takes 0.01 ms, and waking a thread takes up to 0.05 ms.
WORTH_THREADS = 8 << 20

# More threads are never useful, and GNU OpenMP crashes if the system cannot start a thread.
MAX_THREADS = 1024


# Whether calls for a part of a table use one thread; None if calls are for whole tables.
_one_thread = ContextVar[bool | None]("one_thread", default=None)
# The number of threads that a call in a worker of `parallel_map` may use; None outside of workers.
_share = ContextVar[int | None]("share", default=None)

# The processor quota of the control groups, which is read only once.
_quota = cache(system.cpu_quota)


@contextmanager
def part_of_table(*, one_thread: bool = True) -> Iterator[None]:
    """Return a context manager for code that processes only a part of a table.

    In the context, messages omit row numbers and counts. If `one_thread` is true, calls without
    `num_threads` use one thread, because Dask or Spark already runs one thread for each processor.
    """
    token = _one_thread.set(one_thread)
    try:
        yield
    finally:
        _one_thread.reset(token)


def is_part_of_table() -> bool:
    """Tell whether the caller runs in a `part_of_table` context."""
    return _one_thread.get() is not None


def available() -> int:
    """Return the number of threads that a large call uses on an idle machine."""
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(team.max_threads(), processors, _quota() or processors))


def _idle_threads(requested: int) -> int:
    """Return the requested number of threads, or the number of idle processors if it is smaller.

    All threads wait for the slowest one at the end. A thread that shares its processor with another
    process costs more time than the other threads save.
    """
    if team.was_stalled():
        return 1
    running = system.running_threads()
    if running is None:
        return requested
    others = max(0, running - 1 - team.spinning_workers())
    return max(1, min(requested, (os.cpu_count() or requested) - others))


def resolve(num_threads: int | None, n_bytes: int) -> int:
    """Return `num_threads` if it is valid or, for None, the default for an output of `n_bytes`."""
    if num_threads is None:
        is_one = n_bytes < WORTH_THREADS or _one_thread.get() or _share.get() == 1
        requested = 1 if is_one else min(available(), _share.get() or MAX_THREADS)
        return requested if requested == 1 else _idle_threads(requested)
    asked = num_threads if type(num_threads) is int else _as_integer(num_threads)
    if asked < 1:
        raise ValueError(f"num_threads must be at least 1, got {asked}")
    return min(asked, MAX_THREADS)


def _as_integer(num_threads: Any) -> int:
    """Return a number of threads as int; raise an error for other values and for bool."""
    number: Any = None if isinstance(num_threads, bool | np.bool_) else num_threads
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(f"num_threads must be an integer or None, got {num_threads!r}") from None


def parallel_map(
    work: Callable[[Item], Result], items: Iterable[Item], n_bytes: int
) -> list[Result]:
    """Return ``work(item)`` for each item; use several threads if ``n_bytes`` is large.

    Use this for work that releases the GIL. If several items fail, the first error in the order of
    the items is raised. Calls in the workers share the threads.
    """
    items = [*items]
    total = resolve(None, n_bytes)
    threads = min(total, len(items))
    if threads <= 1:
        return [*map(work, items)]
    from concurrent.futures import ThreadPoolExecutor  # takes 3 ms

    # The pool is not kept, because it would not survive a fork.
    with ThreadPoolExecutor(threads, initializer=_share.set, initargs=(total // threads,)) as pool:
        return [*pool.map(work, items)]
