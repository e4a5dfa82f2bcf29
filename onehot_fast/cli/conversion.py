"""Copy rows from a source to an output, and replace some columns by new ones."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.cli.messages import CommandError, Exit, Step, encoding, showing
from onehot_fast.cli.outputs import Output, name_within, new_file, new_output, written
from onehot_fast.cli.places import MISSING, folder_name
from onehot_fast.cli.signals import ends_process, held, raise_if_received
from onehot_fast.cli.source import InputFiles
from onehot_fast.cli.writers import MAX_OPEN, WRITERS, Change, Writer

T = TypeVar("T")
Begin: TypeAlias = Callable[[Path], AbstractContextManager[Writer]]

END = object()
# The size of a batch; several batches are in memory at the same time.
BATCH_BYTES = 16 << 20
MAX_ROWS = 1 << 17
# The maximum number of bytes that wait in all partitions; if more wait, the largest are written.
MAX_WAITING_BYTES = 64 << 20
# More folders are nearly always a mistake: the column is an identifier or a time.
MAX_PARTITIONS = 10_000
# The name of the column of row numbers in a table of keys; no key may have this name.
ROW = ""


def convert(source: InputFiles, change: Change, output: Output) -> None:
    """Write the changed rows of a source into a file or a folder.

    An output folder contains one file for each input file, one file for each `file_rows` rows, or
    one subfolder for each value of the columns `partition_by`.
    """
    _check_keys(source, change, output)
    keys = [name for name in output.keys if name in change.after.names and name not in change.new]
    after = pa.schema([f for f in change.after if f.name not in keys], change.after.metadata)
    change = replace(change, after=after)

    def write(file: pa.NativeFile, part: InputFiles) -> AbstractContextManager[Writer]:
        return open_writer(WRITERS[output.form.kind], file, change, output, part.readers[0])

    @contextmanager
    def begin(path: Path, part: InputFiles = source) -> Iterator[Writer]:
        path.parent.mkdir(parents=True, exist_ok=True)
        # On some systems two names that differ only by case are one file.
        path.touch(exist_ok=False)
        with written(path, output.form) as file, write(file, part) as writer:
            yield writer

    with showing("writing", output.is_quiet) as step:
        if not output.is_folder:
            opened = new_file(output.place, output.form, output.may_replace)
            with opened as file, write(file, source) as writer:
                _write(source, change, output, writer, step)
            return
        with new_output(output.place, output.may_replace, is_folder=True) as folder:
            if output.partition_by or output.file_rows is not None:
                with open_writer(Files, output, folder, begin) as writer:
                    _write(source, change, output, writer, step)
                return
            n_rows, n_files = 0, len(source.readers)
            for i, reader in enumerate(source.readers):
                path = folder / name_within(source, reader.place, output.form)
                if path.exists():
                    raise CommandError(
                        Exit.OUTPUT,
                        f"{output.place.address}: {reader.name} and another file would both become"
                        f" {path.name}; rename one of them",
                    )

                def step_of_part(share: float, rows: int, i: int = i, before: int = n_rows) -> None:
                    step((i + share) / n_files, before + rows)

                part = replace(source, name=reader.name, readers=[reader])
                with begin(path, part) as writer:
                    _write(part, change, output, writer, step_of_part, keys)
                n_rows += reader.n_rows or 0


def _check_keys(source: InputFiles, change: Change, output: Output) -> None:
    """Raise an error if a column of --partition-by cannot name folders."""
    for name in output.partition_by:
        if name in change.old:
            raise CommandError(
                Exit.USAGE,
                f"--partition-by {name}: the column is encoded, so it cannot name folders;"
                " choose another one, or pass -c to encode others",
            )
        if pa.types.is_nested(source.schema.field(name).type):
            raise CommandError(
                Exit.COLUMN,
                f"--partition-by {name}: the column must not contain lists or structs; choose"
                " another column",
            )
        if not name or name.startswith(("_", ".")):
            raise CommandError(
                Exit.USAGE,
                f"--partition-by {name!r}: readers skip folders named '{name}=...'; rename the"
                " column",
            )


@contextmanager
def open_writer(make: Callable[..., Writer], *arguments: Any) -> Iterator[Writer]:
    """Yield the writer that `make` returns. Close it after the block; abandon it after an error."""
    with held():
        writer = make(*arguments)
    try:
        raise_if_received()
        yield writer
        writer.close()
    except BaseException:
        with held():
            writer.abandon()
        raise


def _write(
    source: InputFiles,
    change: Change,
    output: Output,
    writer: Writer,
    step: Step,
    dropped: Sequence[str] = (),
) -> None:
    """Write the changed rows without the columns `dropped`.

    Three threads read, encode and write at the same time.
    """
    rows, n_rows = batch_rows(source.row_bytes, change.row_bytes), source.n_rows
    reads = change.old if output.form.kind == "npz" else None
    coded = {*change.old, *output.partition_by}
    if output.form.kind == "parquet":
        coded |= set.intersection(*(set(reader.repeated) for reader in source.readers))
    with closing(ahead(source.batches(rows, reads, coded))) as batches:
        first = next(batches, None)
        if first is None:
            return
        stream = pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))

        def changed() -> Generator[pa.RecordBatch, None, None]:
            with encoding(source.name, is_loaded=change.is_loaded):
                yield from change.apply(stream)

        with closing(ahead(changed())) as parts:
            for part in parts:
                writer.write(part.drop_columns(list(dropped)))
                # Show the progress of writing, because it takes most of the time.
                share = source.share if n_rows is None else writer.n_rows / max(1, n_rows)
                step(share, writer.n_rows)


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
        while (item := coming.result()) is not END:
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


# --- a folder of files with N rows each, or with a subfolder for each value (``carrier=UA/``)


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

    def __init__(self, output: Output, root: Path, begin: Begin) -> None:
        self._keys, self._root, self._begin = list(output.partition_by), root, begin
        self._suffix = output.form.suffix
        self._rows = output.file_rows or sys.maxsize
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
