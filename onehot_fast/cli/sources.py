"""Where rows come from: a file, a folder of files, or standard input."""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa

from onehot_fast.cli.csv_reader import TextOptions, TextReader
from onehot_fast.cli.errors import CommandError, Exit, closest, plural, reading
from onehot_fast.cli.formats import Format, format_of_content, format_of_name
from onehot_fast.cli.hive import keys_of, with_keys
from onehot_fast.cli.readers import ArrowReader, ParquetReader, Reader, StreamReader
from onehot_fast.cli.signals import raise_if_signalled, wait_until_ready
from onehot_fast.cli.stores import Place, RemotePath, open_place, place_of

__all__ = ["Input", "Source", "open_source"]

STDIN = "-"
READERS: dict[str, type[ParquetReader] | type[ArrowReader] | type[StreamReader]] = {
    "parquet": ParquetReader,
    "arrow": ArrowReader,
    "arrows": StreamReader,
}


@dataclass
class Source:
    """Files of one schema, read one after the other, any number of times.

    Attributes
    ----------
    name : str
        What the user calls it.
    readers : list of Reader
        One for each file, not empty.
    folder : Path or RemotePath, optional
        The folder they are in, if it was that what the user named.
    keys : list of str
        The columns that are in the names of the folders only, as in ``year=2013/``.
    """

    name: str
    readers: list[Reader]
    folder: Place | None = None
    keys: list[str] = field(default_factory=list)
    _done: int = field(default=0, init=False)
    _counted: int | None = field(default=None, init=False)

    @property
    def schema(self) -> pa.Schema:
        """The schema of the rows."""
        return self.readers[0].schema

    @property
    def format(self) -> Format:
        """The format of the files."""
        return self.readers[0].format

    @property
    def n_rows(self) -> int | None:
        """The number of rows where the files say it, or where they have been read before."""
        counts = [reader.n_rows for reader in self.readers]
        return self._counted if None in counts else sum(count or 0 for count in counts)

    @property
    def n_bytes(self) -> int:
        """The size of the files."""
        return sum(reader.n_bytes for reader in self.readers)

    @property
    def row_bytes(self) -> float:
        """About how many bytes a row takes in memory."""
        sizes = []
        for reader in self.readers:
            with reading(reader.name):
                sizes.append(reader.row_bytes)
        return max(sizes)

    def batches(
        self, rows: int, columns: Sequence[str] | None = None, coded: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows, some at a time: all columns, or some of them in the order of the file.

        The columns in `coded` are those that are encoded: their texts come as dictionaries where
        the format can do that, and what a text file marks as missing is null.
        """
        count = 0
        for i, reader in enumerate(self.readers):
            self._done = i
            with reading(reader.name):
                for batch in reader.batches(rows, columns, coded):
                    count += batch.num_rows
                    yield batch
        self._done = len(self.readers)
        self._counted = count

    def coded_schema(self, coded: Sequence[str]) -> pa.Schema:
        """Return the schema of the batches of all columns."""
        return self.readers[0].coded_schema(coded)

    @property
    def repeated(self) -> set[str]:
        """The texts whose values repeat much in all files; see `Reader.repeated`."""
        return set.intersection(*(set(reader.repeated) for reader in self.readers))

    def share(self) -> float:
        """Return which share of the rows has been read."""
        if self._done >= len(self.readers):
            return 1.0
        return (self._done + self.readers[self._done].share()) / len(self.readers)

    def keep_text(self, typed: Sequence[str]) -> None:
        """Read text files as what they are, but for some columns: bytes, in any encoding."""
        read_as = [
            field if field.name in typed else field.with_type(pa.binary()) for field in self.schema
        ]
        self.set_types(pa.schema(read_as))

    def read_as_text(self, columns: Sequence[str]) -> None:
        """Read columns of text files as texts, whatever they look like."""
        text = pa.string()
        fields = [f.with_type(text) if f.name in columns else f for f in self.schema]
        self.set_types(pa.schema(fields))

    def set_types(self, schema: pa.Schema) -> None:
        """Read the columns of text files as these types."""
        for reader in self.readers:
            reader.set_types(schema)

    def identities(self) -> list[os.stat_result]:
        """Return what tells whether another file is one of these."""
        paths = [reader.path for reader in self.readers]
        found = [os.stat(path) for path in paths if isinstance(path, Path)]
        return [*found, os.fstat(sys.stdin.fileno())] if self.name == "standard input" else found

    def addresses(self) -> list[str]:
        """Return the addresses of the files that are in a store."""
        return [str(r.path) for r in self.readers if isinstance(r.path, RemotePath)]

    def require(self, columns: Sequence[str], code: Exit = Exit.COLUMN) -> None:
        """Refuse a column that is not there, or there twice."""
        for name in columns:
            count = self.schema.names.count(name)
            if count != 1:
                names = ", ".join(self.schema.names)
                hint = closest(name, self.schema.names) or f"; its columns are: {names}"
                text = f"has {count} columns {name!r}" if count else f"has no column {name!r}{hint}"
                raise CommandError(code, f"{self.name} {text}")


@dataclass(frozen=True)
class Input:
    """What the user named.

    Attributes
    ----------
    path : str
        A file, a folder or "-".
    format : Format, optional
        By default what the name says, or else the content.
    text : TextOptions
        How it is read if it is CSV.
    """

    path: str
    format: Format | None = None
    text: TextOptions = field(default_factory=TextOptions)


def open_source(spec: Input, resources: ExitStack) -> Source:
    """Open what the user named; what that needs is in `resources`, and ends with them."""
    path, chosen, text = spec.path, spec.format, spec.text
    source = _source(path, chosen, text, resources)
    if source.format.is_text:
        source.require(text.columns)
        source.read_as_text(source.schema.names if text.is_plain else text.columns)
    else:
        source.read_as_text([name for name in text.columns if name in source.keys])
    return source


def _source(path: str, chosen: Format | None, text: TextOptions, resources: ExitStack) -> Source:
    """Open a file, a folder or standard input."""
    if path == STDIN:
        spooled = resources.enter_context(tempfile.TemporaryDirectory(prefix="onehot-fast-"))
        file = Path(spooled, "standard-input")
        _spool(file)
        return Source("standard input", [_open(file, "standard input", chosen, text)])
    place = place_of(path)
    if isinstance(place, RemotePath):
        with reading(path):
            if not place.system.exists(place.key):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            is_folder = place.system.isdir(place.key)
    else:
        is_folder = place.is_dir()
    if is_folder:
        return _open_folder(place, chosen, text)
    return Source(path, [_open(place, path, chosen, text)])


def _spool(file: Path) -> None:
    """Copy standard input to a file: it cannot be read a second time, nor from its end."""
    if sys.stdin is None:
        raise CommandError(Exit.INPUT, "standard input is closed")
    with reading("standard input"), file.open("wb") as copy:
        stdin = sys.stdin.fileno()
        wait_until_ready(readable=[stdin])
        while block := os.read(stdin, 1 << 20):
            copy.write(block)
            wait_until_ready(readable=[stdin])


def _open(path: Place, name: str, chosen: Format | None, text: TextOptions) -> Reader:
    raise_if_signalled()
    with reading(name):
        if isinstance(path, Path) and not stat.S_ISREG(os.stat(path).st_mode):
            raise CommandError(Exit.INPUT, f"{name}: not a regular file; - reads standard input")
        form = chosen or format_of_name(path.name)
        if form is None:
            with open_place(path) as file:
                form = format_of_content(bytes(file.read(8)))
        if form.kind == "npz":
            raise CommandError(Exit.INPUT, f"{name}: npz is a matrix, which is only written")
        if form.is_text:
            return TextReader(path, name, form, text)
        reader = READERS[form.kind](path, name, form)
        list(reader.schema.names)  # which raises where one is not UTF-8
        return reader


def _open_folder(folder: Place, chosen: Format | None, text: TextOptions) -> Source:
    """Open the files of a folder in the order of their names; hidden ones are not data."""
    paths: Sequence[Any]
    if isinstance(folder, RemotePath):
        paths = folder.files()
    else:
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    shown = [path for path in paths if not _is_hidden(path.relative_to(folder))]
    data = [path for path in shown if chosen is not None or format_of_name(path.name) is not None]
    if not data:
        raise CommandError(Exit.INPUT, f"{folder}: there is no data file in the folder")
    readers = [_open(path, str(path), chosen, text) for path in data]
    first = readers[0]
    for other in readers[1:]:
        # What the first rows of a text file look like is not what it promises.
        if isinstance(other, TextReader) and other.schema.names == first.schema.names:
            other.set_types(first.schema)
        if not other.schema.equals(first.schema):
            raise CommandError(
                Exit.SCHEMA,
                f"{other.name}: its columns or types differ from those of {first.name}:"
                f" {_difference(first.schema, other.schema)}",
            )
    found = [keys_of(path.relative_to(folder).parts[:-1]) for path in data]
    readers, keys = with_keys(readers, found)
    return Source(str(folder), readers, folder, keys)


def _is_hidden(path: PurePath) -> bool:
    """Tell whether a file or a folder above it is marked as no data."""
    return any(part.startswith((".", "_")) for part in path.parts)


def _difference(one: pa.Schema, two: pa.Schema) -> str:
    for left, right in zip(one, two, strict=False):
        if left != right:
            return f"{right.name} ({right.type}) instead of {left.name} ({left.type})"
    return f"{plural(len(two), 'column')} instead of {len(one)}"
