"""Steps of a stream in threads of their own, a few batches apart."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, Full, Queue
from typing import Any, TypeVar

import pyarrow as pa

__all__ = ["ahead", "batch_rows", "beside", "in_order", "sliced"]

T = TypeVar("T")
U = TypeVar("U")

# How long a thread that waits for room may miss that nobody wants its batches any more.
PATIENCE = 0.1
# A batch is as large as fits well beside a few others, and small enough to be far from the limit.
BATCH_BYTES = 16 << 20
MOST_ROWS = 1 << 17
WORKERS = 2


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
    try:  # before there is a thread to wait for: a signal may come at any moment
        thread.start()
        yield from _taken(queue)
    finally:
        stop.set()
        if thread.ident is not None:
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


def in_order(function: Callable[[T], U], items: Iterable[T]) -> Generator[U, None, None]:
    """Yield the results of a function in the order of the items, at work on two at a time."""
    with ThreadPoolExecutor(WORKERS) as pool:
        waiting: deque[Future[U]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > WORKERS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:
                one.cancel()


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


@contextmanager
def beside(work: Iterable[object]) -> Iterator[None]:
    """Run work in a thread of its own while the block runs, to its end if the block is well.

    Its exception is raised at the end of the block.
    """
    stop = threading.Event()
    failures: list[BaseException] = []

    def run() -> None:
        try:
            for _ in work:
                if stop.is_set():
                    return
        except BaseException as error:  # to be raised where somebody can act on it
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
        yield
        while thread.is_alive():
            thread.join(PATIENCE)  # in turns, so that a signal is heard
    finally:
        stop.set()
        if thread.ident is not None:
            thread.join()
    if failures:
        raise failures[0]
