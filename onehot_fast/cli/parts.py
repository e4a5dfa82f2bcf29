"""Rows cut into files of so many, two of which are written at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from queue import SimpleQueue

import pyarrow as pa

from onehot_fast.cli.signals import PATIENCE, raise_if_signalled
from onehot_fast.cli.sinks import Sink

__all__ = ["MOST_WRITERS", "open_parts"]

# Each holds the rows of a row group.
MOST_WRITERS = 2
# So many batches wait for a writer, all parts together.
MOST_WAITING = 2


@contextmanager
def open_parts(rows: int, begin: Callable[[int], AbstractContextManager[Sink]]) -> Iterator[Sink]:
    """Give what writes so many rows into each file; `begin` opens the file of a number, from 0.

    A file is begun by a thread of its own while the one before is still written. There is at least
    one, however few rows come.
    """
    sink = _Parts(rows, begin)
    try:
        yield sink
        sink.close()
    except BaseException:
        sink.abandon()
        raise


class _Abandoned(Exception):
    """Another part could not be written, or the run was interrupted."""


class _Parts(Sink):
    """The files of a folder."""

    def __init__(self, rows: int, begin: Callable[[int], AbstractContextManager[Sink]]) -> None:
        self._rows, self._begin = rows, begin
        self._threads = ThreadPoolExecutor(min(MOST_WRITERS, pa.cpu_count()))
        self._room = threading.Semaphore(MOST_WAITING)
        self._is_abandoned = False
        self._written: list[Future[None]] = []
        self._n_begun = 0
        self._next_part()

    def _next_part(self) -> None:
        """Begin another file."""
        self._batches: SimpleQueue[pa.RecordBatch | None] = SimpleQueue()
        self._left = self._rows
        writing = self._threads.submit(self._write_part, self._n_begun, self._batches)
        self._written.append(writing)
        self._n_begun += 1

    def _write_part(self, number: int, batches: SimpleQueue[pa.RecordBatch | None]) -> None:
        """Write one file, in a thread."""
        with self._begin(number) as sink:
            while (batch := batches.get()) is not None:
                if self._is_abandoned:
                    raise _Abandoned
                sink.write(batch)
                self._room.release()
            if self._is_abandoned:
                raise _Abandoned

    def write(self, batch: pa.RecordBatch) -> None:
        """Hand over the rows to the files they belong to."""
        while batch.num_rows:
            if not self._left:
                self._batches.put(None)
                self._next_part()
            part = batch.slice(0, self._left)
            batch = batch.slice(part.num_rows)
            # The oldest part that is not complete has a thread: there will be room.
            while not self._room.acquire(timeout=PATIENCE):
                self._look_after()
            self._batches.put(part)
            self._left -= part.num_rows
            self.n_rows += part.num_rows
        self._look_after()

    def _look_after(self) -> None:
        """Raise what a thread has raised, or that a signal came."""
        raise_if_signalled()
        for writing in self._written:
            if writing.done():
                writing.result()
        self._written = [writing for writing in self._written if not writing.done()]

    def close(self) -> None:
        """Wait until all files are complete."""
        self._batches.put(None)
        while self._written:
            wait(self._written, PATIENCE)
            self._look_after()
        self._threads.shutdown()

    def abandon(self) -> None:
        """Let the threads end, and complete no file."""
        self._is_abandoned = True
        self._batches.put(None)
        self._threads.shutdown(cancel_futures=True)
