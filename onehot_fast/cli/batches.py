"""Batches of rows: their size, one thread that is ahead, and their new columns."""

from __future__ import annotations

import copy
from collections.abc import Collection, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from typing import TypeVar

import numpy as np
import pyarrow as pa

from onehot_fast.cli.messages import CommandError, Exit
from onehot_fast.cli.signals import ends_process, held, raise_if_received, result_of
from onehot_fast.encoder import Encoder

T = TypeVar("T")

END = object()
# The size of a batch; several batches are in memory at the same time.
BATCH_BYTES = 16 << 20
MAX_ROWS = 1 << 17


def ahead(items: Generator[T, None, None]) -> Generator[T, None, None]:
    """Yield the items of a generator, while a thread computes the next item.

    The thread is only one item ahead, because batches are large. Closing the new generator ends
    the thread and closes `items`.
    """
    thread = ThreadPoolExecutor(1)

    def next_item() -> Future[T | object]:
        with held():  # otherwise a thread could start that `shutdown` does not know
            coming = thread.submit(next, items, END)
        raise_if_received()
        return coming

    try:
        coming = next_item()
        while (item := result_of(coming)) is not END:
            coming = next_item()
            yield item  # type: ignore[misc]  # not END
    finally:
        with held():
            thread.shutdown(wait=not ends_process(), cancel_futures=True)
            with suppress(*([ValueError] if ends_process() else [])):  # the thread still runs it
                items.close()


def batch_rows(*row_bytes: float) -> int:
    """Return the number of rows of a batch if a row takes the sum of `row_bytes` bytes."""
    n_rows = BATCH_BYTES / max(1.0, sum(row_bytes))
    # A multiple of 64: slices of bits that do not begin at a byte would have to be shifted.
    return max(64, min(MAX_ROWS, int(n_rows)) // 64 * 64)


def no_rows(schema: pa.Schema) -> pa.Table:
    """Return a table without rows; `pyarrow.Schema.empty_table` would fail for unions."""
    return pa.Table.from_batches([], schema)


def without_dictionaries(batch: pa.RecordBatch, names: Collection[str]) -> pa.RecordBatch:
    """Return a batch with plain values in the columns `names`, which have dictionaries."""
    for i, field in enumerate(batch.schema):
        if field.name in names:
            column = batch.column(i)
            plain = field.with_type(field.type.value_type)
            batch = batch.set_column(i, plain, column.dictionary.take(column.indices))
    return batch


def matrix_batches(
    batches: Iterable[pa.RecordBatch], encoder: Encoder, names: Iterable[str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the nonzeros of each batch; `names` are the features in the order of the output."""
    if find_spec("scipy") is None:
        raise CommandError(Exit.FAILED, "npz output requires SciPy; type pip install scipy")
    positions = {name: i for i, name in enumerate(encoder.schema.names)}
    order = [positions[name] for name in names]
    kind = schema.field("data").type.value_type
    features_alone = copy.copy(encoder).set_params(remainder="drop")
    for batch in batches:
        rows = features_alone.transform(batch, "csr")
        if order != sorted(order):
            rows = rows[:, np.asarray(order)]
            rows.sort_indices()
        offsets = pa.array(rows.indptr.astype(np.int32))
        indices = pa.array(rows.indices.astype(np.int32, copy=False))
        lists = [
            pa.ListArray.from_arrays(offsets, indices),
            pa.ListArray.from_arrays(offsets, pa.array(rows.data).cast(kind)),
        ]
        yield pa.RecordBatch.from_arrays(lists, schema=schema)
