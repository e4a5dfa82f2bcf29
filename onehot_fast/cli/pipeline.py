"""Steps of a stream in threads of their own, a few batches apart."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from queue import Empty, Full, Queue
from typing import Any, TypeVar

import pyarrow as pa

from onehot_fast.cli.signals import undisturbed

__all__ = ["ahead", "batch_rows", "end_threads", "sliced"]

T = TypeVar("T")

# The threads that run, and what tells them to stop.
_running: dict[threading.Thread, threading.Event] = {}

# How long a thread that waits for room may miss that nobody wants its batches any more.
PATIENCE = 0.1
# A batch is as large as fits well beside a few others, and small enough to be far from the limit.
BATCH_BYTES = 16 << 20
MOST_ROWS = 1 << 17


@dataclass(frozen=True)
class _Failure:
    """An exception on its way to the thread that waits."""

    error: BaseException


class _End:
    """Nothing follows."""


def ahead(items: Iterable[T], depth: int = 1) -> Generator[T, None, None]:
    """Yield what a thread of its own takes from `items`, at most `depth` ahead.

    Its exception is raised here. When the generator is closed, the thread ends before that returns.
    """
    queue: Queue[Any] = Queue(depth)
    stop = threading.Event()

    def offer(item: Any) -> bool:
        while not stop.is_set():
            try:
                queue.put(item, timeout=PATIENCE)
            except Full:
                continue
            return True
        return False

    def produce() -> None:
        iterator = iter(items)
        try:
            for item in iterator:
                if not offer(item):
                    return
            offer(_End)
        except BaseException as error:  # to be raised where somebody can act on it
            offer(_Failure(error))
        finally:
            if isinstance(iterator, Generator):
                iterator.close()

    thread = threading.Thread(target=produce, daemon=True)
    try:
        with undisturbed():  # and if a signal came, it is raised here, within the `try`
            _running[thread] = stop
            thread.start()
        yield from _taken(queue)
    finally:
        with undisturbed():
            _end(thread)


def end_threads() -> None:
    """End the threads that are left where a signal came between two steps.

    One that still runs when the interpreter ends can take the process down with it.
    """
    for thread in list(_running):
        _end(thread)


def _end(thread: threading.Thread) -> None:
    """Tell a thread to stop, and wait for it."""
    stop = _running.pop(thread, None)
    if stop is not None:
        stop.set()
        thread.join()


def _taken(queue: Queue[Any]) -> Iterator[Any]:
    """Yield what is in a queue until its end, or raise the failure in it."""
    while True:
        try:
            # With a timeout, for without one some systems do not hear a signal here.
            item = queue.get(timeout=PATIENCE)
        except Empty:
            continue
        if item is _End:
            return
        if isinstance(item, _Failure):
            raise item.error
        yield item


def batch_rows(*row_bytes: float) -> int:
    """Return how many rows a batch has, for the bytes of a row before and after."""
    wanted = BATCH_BYTES / max(1.0, sum(row_bytes))
    # Whole bytes of bits: a slice that begins within a byte has to be shifted.
    return max(64, min(MOST_ROWS, int(wanted)) // 64 * 64)


def sliced(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of at most so many rows, each a view."""
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)
