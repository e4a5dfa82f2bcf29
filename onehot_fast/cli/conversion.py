"""A stream of rows with some columns in place of others, from source to target."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from onehot_fast.cli.errors import CommandError, Exit, as_typed, is_undecodable, writing
from onehot_fast.cli.formats import Format
from onehot_fast.cli.parts import MOST_WRITERS, open_parts
from onehot_fast.cli.pipeline import ahead, batch_rows
from onehot_fast.cli.progress import showing
from onehot_fast.cli.sinks import Sink, WriteOptions, open_sink
from onehot_fast.cli.sources import Input, Source
from onehot_fast.cli.target import format_for, is_folder, new_file, new_folder, require_free

__all__ = ["Change", "Output", "convert", "refusals"]


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
    """

    before: pa.Schema
    after: pa.Schema
    old: tuple[str, ...]
    new: tuple[str, ...]
    apply: Callable[[pa.RecordBatchReader], Iterable[pa.RecordBatch]]
    row_bytes: float

    @property
    def kept(self) -> list[str]:
        """The names of the columns that stay as they are."""
        return [name for name in self.before.names if name not in self.old]


@dataclass(frozen=True)
class Output:
    """Where the rows go, and how they are written.

    Attributes
    ----------
    path : str
        A file, a folder or "-".
    wanted : Format, optional
        By default what the name says, or else that of the input.
    compression : str, optional
    group_rows : int, optional
        See `WriteOptions`.
    file_rows : int, optional
        The rows of each file of a folder; by default each input becomes a file.
    is_quiet : bool
    may_replace : bool
        What is there already.
    is_folder : bool
    delimiter : str, optional
        Of CSV.
    """

    path: str
    wanted: Format | None = None
    compression: str | None = None
    group_rows: int | None = None
    file_rows: int | None = None
    is_quiet: bool = False
    may_replace: bool = False
    is_folder: bool = False
    delimiter: str | None = None

    def format(self, source: Source) -> Format:
        """Return the format for what comes from a source."""
        return format_for(self.path, self.wanted, source.format, self.is_folder)

    def prepared(self, source: Source, spec: Input, *others: str | None) -> Output:
        """Return where exactly the rows of a source go.

        Raises
        ------
        CommandError
            That would destroy something: the input, one of the other files that are read, or what
            is there already.
        """
        is_many = source.folder is not None or self.file_rows is not None
        path, into_folder = self.path, is_folder(self.path, is_many)
        if self.file_rows is not None and not into_folder:
            text = f"{path}: --rows-per-file writes a folder; name one, with a slash as in parts/"
            raise CommandError(Exit.USAGE, text)
        if into_folder and not is_many and Path(path).is_dir():
            name = _name_within(source, source.readers[0].path, self.wanted or source.format)
            path, into_folder = str(Path(path, name)), False
        if source.folder is not None and _is_below(Path(path), source.folder):
            text = f"{path}: lies in the input; the next run would read it"
            raise CommandError(Exit.OUTPUT, text)
        require_free(path, source.identities(), self.may_replace)
        for other in others:
            if other is not None and Path(other).exists():
                require_free(path, [Path(other).stat()], may_replace=True)
        return replace(self, path=path, is_folder=into_folder, delimiter=spec.text.delimiter)


def convert(source: Source, change: Change, output: Output) -> int:
    """Write the rows of a source, changed, in one file or in the files of a folder.

    In a folder there is a file for each that is read, or one for so many rows.

    Returns
    -------
    int
        The number of rows.
    """
    form, may_replace = output.format(source), output.may_replace
    with showing("writing", output.is_quiet) as step:
        if not output.is_folder:
            with new_file(output.path, form, may_replace) as file:
                options = _options(source, change, output)
                sink = open_sink(file, output.path, change.after, form, options)
                return _write(source, change, output, sink, step)
        with new_folder(output.path, may_replace) as folder:
            if output.file_rows is not None:
                opened = _parts(source, change, output, folder)
                return _write(source, change, output, opened, step)
            return _each_file(source, change, output, folder, step)


def _each_file(
    source: Source, change: Change, output: Output, folder: Path, step: Callable[[float], None]
) -> int:
    """Write a file for each that is read, of the same name."""
    form, n_rows = output.format(source), 0
    for i, reader in enumerate(source.readers):
        path = folder / _name_within(source, reader.path, form)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            text = f"{output.path}: two files would be named {path.name}"
            raise CommandError(Exit.OUTPUT, text)
        part = Source(reader.name, [reader])
        with new_file(str(path), form) as file:
            options = _options(part, change, output)
            sink = open_sink(file, output.path, change.after, form, options)
            n_rows += _write(part, change, output, sink, _share_of(step, i, len(source.readers)))
    return n_rows


def _parts(
    source: Source, change: Change, output: Output, folder: Path
) -> AbstractContextManager[Sink]:
    """Return what writes files of so many rows, named by their numbers."""
    form, options = output.format(source), _options(source, change, output)

    @contextmanager
    def begin(number: int) -> Iterator[Sink]:
        path = folder / f"part-{number:06}{form.suffix}"
        with (
            new_file(str(path), form) as file,
            open_sink(file, output.path, change.after, form, options) as sink,
        ):
            yield sink

    return open_parts(output.file_rows or 1, begin)


def refusals(name: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches; a value that is refused is an error in the file of this name."""
    try:
        yield from batches
    except (TypeError, ValueError, pa.ArrowException) as error:
        code = Exit.CORRUPT if is_undecodable(error) else Exit.VALUE
        raise CommandError(code, f"{name}: {as_typed(error)}") from error


def _is_below(path: Path, folder: Path) -> bool:
    """Tell whether something is in a folder, or in one below it; or is that folder."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _name_within(source: Source, path: Path, form: Format) -> Path:
    """Return the name that the output of a file has in the folder."""
    if source.folder is None:
        return Path(f"{Path(source.name).name.split('.')[0]}{form.suffix}")
    below = path.relative_to(source.folder)
    return below.with_name(f"{below.name.split('.')[0]}{form.suffix}")


def _share_of(step: Callable[[float], None], position: int, n: int) -> Callable[[float], None]:
    """Return what tells the progress of one of several files."""
    return lambda share: step((position + share) / n)


def _options(source: Source, change: Change, output: Output) -> WriteOptions:
    """Return how the files are written: as it was asked for, or else as the input is."""
    return WriteOptions(
        compression=output.compression or source.readers[0].compression,
        group_rows=output.group_rows or source.readers[0].group_rows,
        n_at_once=1 if output.file_rows is None else MOST_WRITERS,
        new=change.new,
        plain=source.readers[0].plain,
        is_text=source.format.is_text,
        delimiter=output.delimiter,
    )


def _write(
    source: Source,
    change: Change,
    output: Output,
    opened: AbstractContextManager[Sink],
    step: Callable[[float], None],
) -> int:
    """Write the rows, a batch at a time: read, encoded and written by a thread each."""
    rows = batch_rows(source.row_bytes, change.row_bytes)
    schema = source.coded_schema(change.old)
    with (
        opened as sink,
        closing(ahead(source.batches(rows, coded=change.old))) as batches,
    ):
        stream = pa.RecordBatchReader.from_batches(schema, batches)
        with closing(ahead(change.apply(stream))) as parts:
            for part in parts:
                with writing(output.path):
                    sink.write(part)
                # What was read says little: most of the time is spent on what is written.
                n_rows = source.n_rows
                step(sink.n_rows / max(1, n_rows) if n_rows is not None else source.share())
    return sink.n_rows
