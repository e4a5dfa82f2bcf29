"""A stream of rows with some columns in place of others, from source to target."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from onehot_fast.cli.errors import CommandError, Exit, as_typed, is_undecodable, writing
from onehot_fast.cli.formats import Format
from onehot_fast.cli.matrix import MatrixSink
from onehot_fast.cli.output import Output, name_within
from onehot_fast.cli.partitions import MOST_OPEN, open_partitions
from onehot_fast.cli.parts import MOST_WRITERS, open_parts
from onehot_fast.cli.pipeline import ahead, batch_rows
from onehot_fast.cli.progress import Step, showing
from onehot_fast.cli.sinks import Sink, WriteOptions, open_sink
from onehot_fast.cli.sources import Source
from onehot_fast.cli.stores import is_remote, uploading
from onehot_fast.cli.target import STDOUT, new_file, new_folder

__all__ = ["Change", "convert", "refusals"]


@dataclass(frozen=True)
class Change:
    """Some columns go and others take their place; all else stays as it is.

    Attributes
    ----------
    before, after : pyarrow.Schema
        Of the input and of the output.
    old, new : tuple of str
        The names of the columns that go, and of those that come, in order.
    apply : callable
        Turns a stream of batches, of all columns or of the old ones alone, into one where the new
        ones have taken their place.
    row_bytes : float
        About how many bytes a row of the new columns has.
    reads : tuple of str, optional
        The columns that are read; by default all.
    """

    before: pa.Schema
    after: pa.Schema
    old: tuple[str, ...]
    new: tuple[str, ...]
    apply: Callable[[pa.RecordBatchReader], Iterable[pa.RecordBatch]]
    row_bytes: float
    reads: tuple[str, ...] | None = None

    @property
    def kept(self) -> list[str]:
        """The names of the columns that stay as they are."""
        return [name for name in self.before.names if name not in self.old]

    def without(self, names: Sequence[str]) -> Change:
        """Return a change after which some of the columns that stay are gone too."""
        if not names:
            return self
        fields = [field for field in self.after if field.name not in names]

        def apply(batches: pa.RecordBatchReader) -> Iterable[pa.RecordBatch]:
            return (batch.drop_columns(list(names)) for batch in self.apply(batches))

        after = pa.schema(fields, self.after.metadata)
        return replace(self, after=after, apply=apply)


def convert(source: Source, change: Change, output: Output) -> int:
    """Write the rows of a source, changed, in one file or in the files of a folder.

    In a folder there is a file for each that is read, or one for so many rows. What goes to a store
    is made on the local disk first.

    Returns
    -------
    int
        The number of rows.
    """
    if is_remote(output.path):
        form = output.format(source)
        with uploading(output.path) as local:
            made = replace(output, path=local, wanted=form, may_replace=True)
            return convert(source, change, made)
    form, may_replace = output.format(source), output.may_replace
    for name in output.partition_by:
        if name not in change.kept:
            text = f"--partition-by {name}: is encoded; -c names the columns to encode"
            raise CommandError(Exit.USAGE, text)
        if pa.types.is_nested(change.before.field(name).type):
            raise CommandError(Exit.COLUMN, f"--partition-by {name}: holds lists or structures")
        if name.startswith(("_", ".")):
            text = f"--partition-by {name}: readers pass over folders named {name}=...; rename it"
            raise CommandError(Exit.USAGE, text)
    with showing("writing", output.is_quiet) as step:
        if not output.is_folder:
            with new_file(output.path, form, may_replace) as file:
                options = _options(source, change, output)
                sink = _open(file, output, change.after, form, options)
                return _write(source, change, output, sink, step)
        with new_folder(output.path, may_replace) as folder:
            if output.partition_by or output.file_rows is not None:
                opened = _parts(source, change, output, folder)
                return _write(source, change, output, opened, step)
            after = set(change.after.names)
            kept = [name for name in output.keys(source) if name in change.kept and name in after]
            return _each_file(source, change.without(kept), output, folder, step)


def _each_file(source: Source, change: Change, output: Output, folder: Path, step: Step) -> int:
    """Write a file for each that is read, of the same name."""
    form, n_rows = output.format(source), 0
    for i, reader in enumerate(source.readers):
        path = folder / name_within(source, reader.path, form)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            text = f"{output.path}: {reader.name} and another file would both be {path.name}"
            raise CommandError(Exit.OUTPUT, text)
        part = Source(reader.name, [reader])
        with new_file(str(path), form) as file:
            options = _options(part, change, output)
            sink = _open(file, output, change.after, form, options)
            share = _share_of(step, i, len(source.readers), n_rows)
            n_rows += _write(part, change, output, sink, share)
    return n_rows


def _open(
    file: pa.NativeFile, output: Output, schema: pa.Schema, form: Format, options: WriteOptions
) -> AbstractContextManager[Sink]:
    """Return what writes a file."""
    return open_sink(file, output.path, schema, form, options, {"npz": MatrixSink})


def _parts(
    source: Source, change: Change, output: Output, folder: Path
) -> AbstractContextManager[Sink]:
    """Return what writes files of so many rows, named by their numbers."""
    form, options = output.format(source), _options(source, change, output)
    after = change.without(output.partition_by).after

    @contextmanager
    def begin(number: int, below: Path = Path()) -> Iterator[Sink]:
        path = folder / below / f"part-{number:06}{form.suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            new_file(str(path), form) as file,
            _open(file, output, after, form, options) as sink,
        ):
            yield sink

    if output.partition_by:
        return open_partitions(output.partition_by, output.file_rows, begin)
    return open_parts(output.file_rows or 1, begin)


def refusals(name: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches; a value that is refused is an error in the file of this name."""
    try:
        yield from batches
    except (TypeError, ValueError, pa.ArrowException) as error:
        code = Exit.CORRUPT if is_undecodable(error) else Exit.VALUE
        raise CommandError(code, f"{name}: {as_typed(error)}") from error


def _share_of(step: Step, position: int, n: int, before: int) -> Step:
    """Return what tells the progress of one of several files, after so many rows of others."""
    return lambda share, rows: step((position + share) / n, before + rows)


def _options(source: Source, change: Change, output: Output) -> WriteOptions:
    """Return how the files are written: as it was asked for, or else as the input is."""
    n_at_once = 1 if output.file_rows is None else MOST_WRITERS
    n_at_once = MOST_OPEN if output.partition_by else n_at_once
    return WriteOptions(
        compression=output.compression or source.readers[0].compression,
        group_rows=output.group_rows or source.readers[0].group_rows,
        n_at_once=n_at_once,
        new=change.new,
        plain=source.readers[0].plain,
        is_text=source.format.is_text,
        delimiter=output.delimiter,
        folder=None if output.path == STDOUT else os.path.dirname(os.path.abspath(output.path)),
    )


def _write(
    source: Source,
    change: Change,
    output: Output,
    opened: AbstractContextManager[Sink],
    step: Step,
) -> int:
    """Write the rows, a batch at a time: read, encoded and written by a thread each."""
    rows = batch_rows(source.row_bytes, change.row_bytes)
    coded = (*change.old, *output.partition_by)
    if output.format(source).kind == "parquet":
        coded += tuple(source.repeated)
    schema = source.coded_schema(coded)
    if change.reads is not None:
        schema = pa.schema([field for field in schema if field.name in change.reads])
    with (
        opened as sink,
        closing(ahead(source.batches(rows, change.reads, coded))) as batches,
    ):
        stream = pa.RecordBatchReader.from_batches(schema, batches)
        with closing(ahead(change.apply(stream))) as parts:
            for part in parts:
                with writing(output.path):
                    sink.write(part)
                # What was read says little: most of the time is spent on what is written.
                n_rows = source.n_rows
                share = source.share() if n_rows is None else sink.n_rows / max(1, n_rows)
                step(share, sink.n_rows)
    return sink.n_rows
