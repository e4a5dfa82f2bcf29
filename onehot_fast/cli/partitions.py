"""A folder of files with N rows each, or with a subfolder for each value (``carrier=UA/``)."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.cli.folder_keys import MISSING, folder_name
from onehot_fast.cli.messages import CommandError, Exit
from onehot_fast.cli.outputs import Destination
from onehot_fast.cli.writers import MAX_OPEN, Writer

Begin: TypeAlias = Callable[[Path], AbstractContextManager[Writer]]
# The maximum number of bytes that wait in all partitions; if more wait, the largest are written.
MAX_WAITING_BYTES = 64 << 20
# More folders are nearly always a mistake: the column is an identifier or a time.
MAX_PARTITIONS = 10_000
# The name of the column of row numbers in a table of keys; no key may have this name.
ROW = ""


@dataclass
class _Partition:
    """A folder, and the rows that wait until they are written into it."""

    folder: Path
    batches: list[pa.RecordBatch] = field(default_factory=list)
    n_bytes: int = 0
    n_files: int = 0
    n_rows: int = 0  # in the open file
    writer: Writer | None = None  # writes the open file
    file: ExitStack = field(default_factory=ExitStack)  # closes the writer


class Files(Writer):
    """Files of at most `file_rows` rows, in one folder for each combination of key values.

    The keys are the columns `partition_by`. Their values are in the names of the folders, not in
    the files. `begin` takes the path of a new file in `root` and opens its writer. Rows wait in
    memory until they are written.
    """

    def __init__(self, destination: Destination, root: Path, begin: Begin) -> None:
        self._keys, self._root, self._begin = list(destination.partition_by), root, begin
        self._suffix = destination.format.suffix
        self._rows = destination.file_rows or sys.maxsize
        self._partitions: dict[Path, _Partition] = {}
        self._open: dict[Path, _Partition] = {}  # the one that was written last is at the end
        self._n_bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows; if too many bytes wait in memory, write the rows of the largest partitions."""
        for folder, rows in self._divided(batch) if self._keys else [(self._root, batch)]:
            partition = self._partitions.setdefault(folder, _Partition(folder))
            if len(self._partitions) > MAX_PARTITIONS:
                raise CommandError(
                    Exit.VALUE,
                    f"--partition-by {', '.join(self._keys)}: the output would have more than"
                    f" {MAX_PARTITIONS:,} folders; choose a column with fewer values",
                )
            partition.batches.append(rows)
            partition.n_bytes += rows.nbytes + 1
            self._n_bytes += rows.nbytes + 1
        self.n_rows += batch.num_rows
        while self._n_bytes > (MAX_WAITING_BYTES if self._keys else 0):
            self._flush(max(self._partitions.values(), key=lambda one: one.n_bytes))

    def _divided(self, batch: pa.RecordBatch) -> Iterator[tuple[Path, pa.RecordBatch]]:
        """Yield each folder, and its rows without the key columns."""
        keys = {}
        for name in self._keys:
            column = batch.column(name)
            if pa.types.is_dictionary(column.type):  # pyarrow cannot cast dictionaries of views
                texts = column.dictionary.cast(pa.string())
                column = pa.DictionaryArray.from_arrays(column.indices, texts)
            keys[name] = column = column.cast(pa.string())
            if pc.any(pc.equal(column, MISSING)).as_py():
                raise CommandError(
                    Exit.VALUE,
                    f"--partition-by {name}: the column contains {MISSING}, which stands for a"
                    " missing value in folder names; replace this value",
                )
        left = batch.drop_columns(self._keys)
        table = pa.table({**keys, ROW: np.arange(batch.num_rows)})
        groups = table.group_by(self._keys, use_threads=False).aggregate([(ROW, "list")])
        rows = groups.column(f"{ROW}_list").combine_chunks()
        for values, positions in zip(groups.select(self._keys).to_pylist(), rows, strict=True):
            names = itertools.starmap(folder_name, values.items())
            yield self._root.joinpath(*names), left.take(positions.values)

    def _flush(self, partition: _Partition) -> None:
        """Write the waiting rows of a partition."""
        batches = partition.batches
        if len(batches) > 1:
            table = pa.Table.from_batches(batches).unify_dictionaries()
            batches = table.combine_chunks().to_batches()
        self._n_bytes -= partition.n_bytes
        partition.batches, partition.n_bytes = [], 0
        for batch in batches:
            while batch.num_rows:
                writer = self._writer_of(partition)
                n_rows = min(batch.num_rows, self._rows - partition.n_rows)
                writer.write(batch.slice(0, n_rows))
                partition.n_rows += n_rows
                batch = batch.slice(n_rows)
                if partition.n_rows == self._rows:
                    self._close(partition)

    def _writer_of(self, partition: _Partition) -> Writer:
        """Return the writer of the open file of a partition; open a file if there is none."""
        if partition.writer is None:
            if len(self._open) == MAX_OPEN:
                self._close(next(iter(self._open.values())))
            path = partition.folder / f"part-{partition.n_files:06}{self._suffix}"
            partition.writer = partition.file.enter_context(self._begin(path))
            partition.n_files, partition.n_rows = partition.n_files + 1, 0
        self._open.pop(partition.folder, None)
        self._open[partition.folder] = partition
        return partition.writer

    def _close(self, partition: _Partition) -> None:
        """Complete the file of a partition."""
        del self._open[partition.folder]
        partition.writer = None
        partition.file.close()

    def close(self) -> None:
        """Write all waiting rows, and complete all files."""
        for partition in self._partitions.values():
            self._flush(partition)
        if not self._keys and not self.n_rows:  # a folder without keys always has a file
            self._writer_of(_Partition(self._root))
        while self._open:
            self._close(next(iter(self._open.values())))

    def abandon(self) -> None:
        """Abandon all open files after an error; rows that wait in memory are not written."""
        for partition in self._open.values():
            partition.file.__exit__(*sys.exc_info())
