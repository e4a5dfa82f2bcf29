"""Steps of a stream in threads of their own, a few batches apart."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

import pyarrow as pa

from onehot_fast.cli.errors import CommandError, Exit
from onehot_fast.cli.signals import PATIENCE, raise_if_signalled

__all__ = ["ahead", "batch_rows", "no_rows", "result_of", "sliced"]

T = TypeVar("T")

END = object()
# A batch is as large as fits well beside a few others, and small enough to be far from the limit.
BATCH_BYTES = 16 << 20
MOST_ROWS = 1 << 17


def ahead(items: Iterable[T]) -> Generator[T, None, None]:
    """Yield what a thread of its own takes from `items`, one ahead.

    More would be no faster, and batches are large. Its exception is raised here. When the generator
    is closed, the thread ends before that returns.

    Raises
    ------
    Interrupted
        A signal came.
    """
    iterator = iter(items)
    thread = ThreadPoolExecutor(1)
    try:
        coming = thread.submit(next, iterator, END)
        while (item := result_of(coming)) is not END:
            coming = thread.submit(next, iterator, END)
            yield item
    finally:
        thread.shutdown(cancel_futures=True)
        if isinstance(iterator, Generator):
            iterator.close()


def result_of(future: Future[Any]) -> Any:
    """Wait for what a thread does, and return or raise how it ended.

    Raises
    ------
    Interrupted
        A signal came first.
    """
    raise_if_signalled()
    while not wait([future], PATIENCE).done:
        raise_if_signalled()
    return future.result()


def batch_rows(*row_bytes: float) -> int:
    """Return how many rows a batch has, for the bytes of a row before and after."""
    n_rows = BATCH_BYTES / max(1.0, sum(row_bytes))
    # Whole bytes of bits: a slice that begins within a byte has to be shifted.
    return max(64, min(MOST_ROWS, int(n_rows)) // 64 * 64)


def sliced(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of at most so many rows, each a view."""
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)


def no_rows(schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch without rows; pyarrow itself, in `Schema.empty_table`, makes no unions.

    Raises
    ------
    CommandError
        A type is a union of no types, of which pyarrow ends the process.
    """
    for field in schema:
        if _has_empty_union(field.type):
            text = f"the input is corrupt: column {field.name!r} holds a union of no types"
            raise CommandError(Exit.CORRUPT, text)
    return pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in schema.types], schema=schema)


def _has_empty_union(kind: pa.DataType) -> bool:
    kind = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    if pa.types.is_dictionary(kind):
        return _has_empty_union(kind.value_type)
    is_empty = pa.types.is_union(kind) and kind.num_fields == 0
    return is_empty or any(_has_empty_union(kind.field(i).type) for i in range(kind.num_fields))
