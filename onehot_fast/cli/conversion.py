"""A stream of rows with some columns in place of others, from source to target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from onehot_fast.cli.errors import CommandError, Exit, is_undecodable, one_line, writing
from onehot_fast.cli.formats import Format
from onehot_fast.cli.pipeline import ahead, batch_rows
from onehot_fast.cli.progress import showing
from onehot_fast.cli.sinks import WriteOptions, open_sink
from onehot_fast.cli.sources import Source
from onehot_fast.cli.target import format_for, is_folder, new_file, new_folder

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
    is_quiet : bool
    """

    path: str
    wanted: Format | None = None
    compression: str | None = None
    group_rows: int | None = None
    is_quiet: bool = False

    def format(self, source: Source) -> Format:
        """Return the format for what comes from a source."""
        return format_for(self.path, self.wanted, source.format)


def convert(source: Source, change: Change, output: Output) -> None:
    """Write the rows of a source, changed: in one file, or in a folder a file for each."""
    form = output.format(source)
    if not is_folder(output.path):
        with showing("writing", output.is_quiet) as step, new_file(output.path, form) as file:
            _write(source, change, file, output, step)
        return
    with showing("writing", output.is_quiet) as step, new_folder(output.path) as folder:
        for i, reader in enumerate(source.readers):
            path = folder / _name_within(source, reader.path, form)
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                text = f"{output.path}: two files would be named {path.name}"
                raise CommandError(Exit.OUTPUT, text)
            part = Source(reader.name, [reader])
            with new_file(str(path), form) as file:
                _write(part, change, file, output, _share_of(step, i, len(source.readers)))


def refusals(name: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches; a value that is refused is an error in the file of this name."""
    try:
        yield from batches
    except (TypeError, ValueError, pa.ArrowException) as error:
        code = Exit.CORRUPT if is_undecodable(error) else Exit.VALUE
        raise CommandError(code, f"{name}: {one_line(error)}") from error


def _name_within(source: Source, path: Path, form: Format) -> Path:
    """Return the name that the output of a file has in the folder."""
    if source.folder is None:
        return Path(f"{Path(source.name).name.split('.')[0]}{form.suffix}")
    below = path.relative_to(source.folder)
    return below.with_name(f"{below.name.split('.')[0]}{form.suffix}")


def _share_of(step: Callable[[float], None], position: int, n: int) -> Callable[[float], None]:
    """Return what tells the progress of one of several files."""
    return lambda share: step((position + share) / n)


def _write(
    source: Source,
    change: Change,
    file: pa.NativeFile,
    output: Output,
    step: Callable[[float], None],
) -> None:
    """Write one file, a batch at a time: read, encoded and written by a thread each."""
    form = output.format(source)
    options = WriteOptions(
        compression=output.compression or source.readers[0].compression,
        group_rows=output.group_rows or source.readers[0].group_rows,
        new=change.new,
        is_text=source.format.is_text,
    )
    rows = batch_rows(source.row_bytes, change.row_bytes)
    schema = source.coded_schema(change.old)
    with (
        open_sink(file, output.path, change.after, form, options) as sink,
        closing(ahead(source.batches(rows, coded=change.old))) as batches,
    ):
        stream = pa.RecordBatchReader.from_batches(schema, batches)
        with closing(ahead(change.apply(stream))) as parts:
            for part in parts:
                with writing(output.path):
                    sink.write(part)
                step(source.share())
