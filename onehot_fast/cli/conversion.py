"""Copy rows from a source to an output, and replace some columns by new ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from onehot_fast.cli.errors import CommandError, Exit, encoding
from onehot_fast.cli.folders import MAX_OPEN, Files
from onehot_fast.cli.outputs import Output, name_within, new_file, new_output, written
from onehot_fast.cli.places import place_of
from onehot_fast.cli.progress import Step, showing
from onehot_fast.cli.signals import held, raise_if_received
from onehot_fast.cli.source import STANDARD, InputFiles
from onehot_fast.cli.writers import WRITERS, WriteOptions, Writer

T = TypeVar("T")

END = object()
# The size of a batch; several batches are in memory at the same time.
BATCH_BYTES = 16 << 20
MAX_ROWS = 1 << 17


@dataclass(frozen=True)
class Change:
    """How `convert` changes the rows: new columns replace old ones."""

    after: pa.Schema
    old: tuple[str, ...]  # the columns that are replaced
    new: tuple[str, ...]  # the columns that replace them, in order
    apply: Callable[[pa.RecordBatchReader], Iterable[pa.RecordBatch]]
    row_bytes: float  # about how many bytes a row of the new columns takes
    reads: tuple[str, ...] | None = None  # the columns that are read; None: all
    is_loaded: bool = False  # whether --encoder was given


def convert(source: InputFiles, change: Change, output: Output) -> int:
    """Write the changed rows of a source into a file or a folder, and return their number.

    An output folder gets a file for each input file or for each `file_rows` rows, or a subfolder
    for each value of the columns `partition_by`.
    """
    form = output.format(source)
    _check_keys(source, change, output)
    keys = [n for n in output.keys(source) if n in change.after.names and n not in change.new]
    after = pa.schema([f for f in change.after if f.name not in keys], change.after.metadata)

    def write(part: InputFiles, file: pa.NativeFile) -> AbstractContextManager[Writer]:
        return open_writer(WRITERS[form.kind], file, after, _options(part, change, output))

    @contextmanager
    def begin(path: Path, part: InputFiles = source) -> Iterator[Writer]:
        path.parent.mkdir(parents=True, exist_ok=True)
        # On some systems two names that differ only by case are one file.
        path.touch(exist_ok=False)
        with written(path, form) as file, write(part, file) as writer:
            yield writer

    with showing("writing", output.is_quiet) as step:
        if not output.is_folder:
            opened = new_file(output.path, form, output.may_replace)
            with opened as file, write(source, file) as writer:
                return _write(source, change, output, writer, step)
        with new_output(output.path, output.may_replace, is_folder=True) as folder:
            if output.is_divided:

                def begin_below(below: Path) -> AbstractContextManager[Writer]:
                    return begin(folder / f"{below}{form.suffix}")

                keys_and_rows = output.partition_by, output.file_rows
                with open_writer(Files, *keys_and_rows, begin_below) as writer:
                    return _write(source, change, output, writer, step)
            n_rows, n_files = 0, len(source.readers)
            for i, reader in enumerate(source.readers):
                path = folder / name_within(source, reader.place, form)
                if path.exists():
                    text = f"{output.path}: {reader.name} and another file would both become"
                    raise CommandError(Exit.OUTPUT, f"{text} {path.name}; rename one of them")

                def step_of_part(share: float, rows: int, i: int = i, before: int = n_rows) -> None:
                    step((i + share) / n_files, before + rows)

                part = source.part(i)
                with begin(path, part) as writer:
                    n_rows += _write(part, change, output, writer, step_of_part, keys)
            return n_rows


def _check_keys(source: InputFiles, change: Change, output: Output) -> None:
    """Raise an error if a column of --partition-by cannot name folders."""
    for name in output.partition_by:
        if name in change.old:
            text = f"--partition-by {name}: the column is encoded; choose another one, or other"
            raise CommandError(Exit.USAGE, f"{text} columns to encode with -c")
        if pa.types.is_nested(source.schema.field(name).type):
            text = f"--partition-by {name}: the column must not contain lists or structs"
            raise CommandError(Exit.COLUMN, f"{text}; choose another column")
        if not name or name.startswith(("_", ".")):
            text = f"--partition-by {name!r}: readers ignore folders named {name}=...; rename it"
            raise CommandError(Exit.USAGE, text)


@contextmanager
def open_writer(make: Callable[..., Writer], *arguments: Any) -> Iterator[Writer]:
    """Yield the writer that `make` returns, and close it at the end; after an error, abandon it."""
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


def _options(source: InputFiles, change: Change, output: Output) -> WriteOptions:
    """Return the options of the writer: the requested ones, or else those of the input."""
    local = None if output.path == STANDARD else place_of(output.path).local
    return WriteOptions(
        form=output.format(source),
        compression=output.compression or source.readers[0].compression,
        group_rows=output.group_rows or source.readers[0].group_rows,
        n_files=MAX_OPEN if output.partition_by else 1,
        new=change.new,
        plain=source.readers[0].plain,
        is_text=source.format.is_text,
        delimiter=output.delimiter,
        folder=None if local is None else os.path.dirname(os.path.abspath(local)),
    )


def _write(
    source: InputFiles,
    change: Change,
    output: Output,
    writer: Writer,
    step: Step,
    dropped: Sequence[str] = (),
) -> int:
    """Read, encode and write the rows in three threads, and return how many were written."""
    rows = batch_rows(source.row_bytes, change.row_bytes)
    coded = (*change.old, *output.partition_by)
    if output.format(source).kind == "parquet":
        coded += tuple(source.repeated)
    with closing(ahead(source.batches(rows, change.reads, coded))) as batches:
        first = next(batches, None)
        if first is None:
            return 0
        stream = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))

        def changed() -> Iterator[pa.RecordBatch]:
            with encoding(source.name, is_loaded=change.is_loaded):
                yield from change.apply(stream)

        with closing(ahead(changed())) as parts:
            for part in parts:
                writer.write(part.drop_columns(list(dropped)))
                # Show the progress of writing, because it takes most of the time.
                n_rows = source.n_rows
                share = source.share() if n_rows is None else writer.n_rows / max(1, n_rows)
                step(share, writer.n_rows)
    return writer.n_rows


def ahead(items: Iterable[T]) -> Generator[T, None, None]:
    """Yield the items of an iterable, while a thread computes the next item.

    The thread is only one item ahead, because batches are large. Closing the generator ends
    the thread.
    """
    iterator = iter(items)
    thread = ThreadPoolExecutor(1)

    def next_item() -> Future[T | object]:
        with held():  # otherwise a thread could start that `shutdown` does not know
            coming = thread.submit(next, iterator, END)
        raise_if_received()
        return coming

    try:
        coming = next_item()
        while (item := coming.result()) is not END:
            coming = next_item()
            yield item  # type: ignore[misc]  # not END
    finally:
        with held():
            thread.shutdown(cancel_futures=True)
            if isinstance(iterator, Generator):
                iterator.close()


def batch_rows(*row_bytes: float) -> int:
    """Return how many rows a batch may have if a row takes the sum of `row_bytes` in memory."""
    n_rows = BATCH_BYTES / max(1.0, sum(row_bytes))
    # A multiple of 64: slices of bits that do not begin at a byte would have to be shifted.
    return max(64, min(MAX_ROWS, int(n_rows)) // 64 * 64)


def no_rows(schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch without rows; `pyarrow.Schema.empty_table` does not support unions."""
    for field in schema:
        if _has_empty_union(field.type):
            # pyarrow ends the process if it makes nulls of this type.
            text = f"the input is corrupt: column {field.name!r} has a union of no types"
            raise CommandError(Exit.CORRUPT, text)
    return pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in schema.types], schema=schema)


def _has_empty_union(kind: pa.DataType) -> bool:
    """Tell whether a type contains a union of no types."""
    kind = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    if pa.types.is_dictionary(kind):
        return _has_empty_union(kind.value_type)
    is_empty = pa.types.is_union(kind) and kind.num_fields == 0
    return is_empty or any(_has_empty_union(kind.field(i).type) for i in range(kind.num_fields))
