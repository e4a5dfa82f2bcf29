"""Rows put into folders by their keys, ``carrier=UA/part-000000.parquet``, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.cli.errors import CommandError, Exit, plural
from onehot_fast.cli.hive import folder_name
from onehot_fast.cli.sinks import Sink

__all__ = ["MOST_OPEN", "open_partitions"]

# So many files are open at a time; the one that was written longest ago is closed for another.
MOST_OPEN = 64
# So many bytes wait, in all partitions together: then the largest are written.
WAITING_BYTES = 64 << 20
# More folders than these are a mistake, nearly always: an identifier, or a time.
MOST_PARTITIONS = 10_000

Begin: TypeAlias = Callable[[int, Path], AbstractContextManager[Sink]]


@dataclass
class _Partition:
    """The rows of one combination of keys."""

    folder: Path
    batches: list[pa.RecordBatch] = field(default_factory=list)
    n_bytes: int = 0
    n_files: int = 0
    n_rows: int = 0  # in the file that is open
    sink: Sink | None = None
    file: ExitStack = field(default_factory=ExitStack)


@contextmanager
def open_partitions(keys: Sequence[str], rows: int | None, begin: Begin) -> Iterator[Sink]:
    """Give what writes each row into the folder of its keys, which are not in the file.

    Parameters
    ----------
    keys : sequence of str
        The columns.
    rows : int, optional
        The most rows of a file.
    begin : callable
        Opens the file of a number, from 0, in a folder.
    """
    sink = _Partitions(keys, rows, begin)
    try:
        yield sink
        sink.close()
    except BaseException as error:
        sink.end(error)
        raise


class _Partitions(Sink):
    """The folders, each with what it waits to be written."""

    def __init__(self, keys: Sequence[str], rows: int | None, begin: Begin) -> None:
        self._keys, self._rows, self._begin = list(keys), rows, begin
        self._partitions: dict[Path, _Partition] = {}
        self._open: dict[Path, _Partition] = {}  # the one that was written last comes last
        self._n_bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Take in rows, and write the largest partitions if too much waits."""
        values = [_texts(batch.column(batch.schema.get_field_index(name))) for name in self._keys]
        left = batch.drop_columns(self._keys)
        for positions in _groups(values):
            names = zip(self._keys, [v[int(positions[0])].as_py() for v in values], strict=True)
            folder = Path(*(folder_name(name, value) for name, value in names))
            rows = left if len(positions) == left.num_rows else left.take(pa.array(positions))
            self._add(folder, rows)
        self.n_rows += batch.num_rows
        while self._n_bytes > WAITING_BYTES:
            self._flush(max(self._partitions.values(), key=lambda one: one.n_bytes))

    def _add(self, folder: Path, rows: pa.RecordBatch) -> None:
        if folder not in self._partitions:
            if len(self._partitions) == MOST_PARTITIONS:
                names = ", ".join(self._keys)
                text = f"--partition-by {names}: more than {plural(MOST_PARTITIONS, 'folder')}"
                raise CommandError(Exit.VALUE, text)
            self._partitions[folder] = _Partition(folder)
        partition = self._partitions[folder]
        partition.batches.append(rows)
        partition.n_bytes += rows.nbytes
        self._n_bytes += rows.nbytes

    def _flush(self, partition: _Partition) -> None:
        """Write what waits."""
        table = pa.Table.from_batches(partition.batches).unify_dictionaries().combine_chunks()
        self._n_bytes -= partition.n_bytes
        partition.batches, partition.n_bytes = [], 0
        for batch in table.to_batches():
            while batch.num_rows:
                sink = self._sink_of(partition)
                room = batch.num_rows if self._rows is None else self._rows - partition.n_rows
                sink.write(batch.slice(0, room))
                partition.n_rows += min(room, batch.num_rows)
                batch = batch.slice(room)
                if partition.n_rows == self._rows:
                    self._close(partition)

    def _sink_of(self, partition: _Partition) -> Sink:
        """Return the open file of a partition, or begin one."""
        if partition.sink is None:
            if len(self._open) == MOST_OPEN:
                self._close(next(iter(self._open.values())))
            opened = self._begin(partition.n_files, partition.folder)
            partition.sink = partition.file.enter_context(opened)
            partition.n_files, partition.n_rows = partition.n_files + 1, 0
        self._open.pop(partition.folder, None)
        self._open[partition.folder] = partition
        return partition.sink

    def _close(self, partition: _Partition) -> None:
        """Complete the file of a partition."""
        del self._open[partition.folder]
        partition.sink = None
        partition.file.close()

    def close(self) -> None:
        """Write all that waits, and complete all files."""
        for partition in self._partitions.values():
            if partition.batches:
                self._flush(partition)
        while self._open:
            self._close(next(iter(self._open.values())))

    def end(self, error: BaseException) -> None:
        """Complete no file."""
        for partition in self._open.values():
            partition.file.__exit__(type(error), error, error.__traceback__)


def _texts(column: Any) -> Any:
    """Return the values of a key as they are written in the name of a folder."""
    if pa.types.is_dictionary(column.type):
        values = _texts(column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices, values).dictionary_decode()
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return column.cast(pa.string())
    return pc.cast(column, pa.string())


def _groups(keys: Sequence[Any]) -> list[Any]:
    """Return the positions of the rows of each combination of keys, in their order."""
    group = np.zeros(len(keys[0]), np.int64)
    for column in keys:
        codes = column.dictionary_encode("encode").indices.to_numpy(zero_copy_only=False)
        # Numbered anew with each key, so that no product leaves 64 bits.
        group = np.unique(group * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    order = np.argsort(group, kind="stable")
    ends = np.flatnonzero(np.diff(group[order])) + 1
    return [part for part in np.split(order, ends) if len(part)]
