"""Where rows come from: a file, a folder of files, or standard input."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyarrow import fs

from onehot_fast.adapter import did_you_mean, number_of
from onehot_fast.cli.arrow_reader import ArrowReader, StreamReader
from onehot_fast.cli.csv_reader import TextReader
from onehot_fast.cli.folder_keys import key_type, keys_of
from onehot_fast.cli.formats import Format, format_of_content
from onehot_fast.cli.messages import CommandError, Exit, reading
from onehot_fast.cli.parquet_reader import ParquetReader
from onehot_fast.cli.places import Place, local_place
from onehot_fast.cli.reader import Batches, Input, Names, Reader
from onehot_fast.cli.schemas import as_common, common_schema, difference

STANDARD_INPUT = "standard input"  # its name in messages
KEY_BYTES = 16
# Formats with the same messages, which a program reads by their content.
ARROW_FORMATS = Format("arrow"), Format("arrows")
READERS: dict[str, type[Reader]] = {
    "parquet": ParquetReader,
    "arrow": ArrowReader,
    "arrows": StreamReader,
    "csv": TextReader,
    "tsv": TextReader,
}


@dataclass
class InputFiles:
    """Files with the same schema, which can be read several times."""

    name: str  # as the user typed it
    readers: list[Reader]  # one for each file, not empty
    folder: Place | None = None  # the folder of the files, if the user named it
    # The columns that are only in the names of folders; their values are in `Reader.keys`.
    keys: dict[str, pa.DataType] = field(default_factory=dict)
    # The columns of Parquet and Arrow files, to which each file is converted; None: of the first.
    common: pa.Schema | None = None
    share: float = field(default=0.0, init=False)  # how much of the files has been read

    @property
    def schema(self) -> pa.Schema:
        """The schema of the rows; the columns from names of folders come last."""
        keys = [pa.field(name, kind) for name, kind in self.keys.items()]
        schema = self.readers[0].schema if self.common is None else self.common
        return pa.schema([*schema, *keys], schema.metadata)

    @property
    def types(self) -> pa.Schema:
        """The schema of the files, whose columns may be read as another type (see `Reader`)."""
        schema, types = self.schema, self.readers[0].types_in_file
        if any(reader.types_in_file != types for reader in self.readers):
            return schema
        fields = [field.with_type(types.get(field.name, field.type)) for field in schema]
        return pa.schema(fields, schema.metadata)

    @property
    def format(self) -> Format:
        """The format of the files."""
        return self.readers[0].format

    @property
    def n_rows(self) -> int | None:
        """The number of rows; None if it is unknown because files have not been read yet."""
        counts = [reader.n_rows for reader in self.readers]
        return None if None in counts else sum(count or 0 for count in counts)

    @property
    def row_bytes(self) -> float:
        """The approximate bytes of a row in memory."""
        sizes = []
        for reader in self.readers:
            with reading(reader.name):
                sizes.append(reader.row_bytes)
        return max(sizes) + KEY_BYTES * len(self.keys)

    def batches(self, rows: int, columns: Names | None = None, coded: Names = ()) -> Batches:
        """Yield batches of at most `rows` rows, with all columns or only those in `columns`.

        The columns in `coded` get a dictionary type if they contain strings and the format supports
        dictionaries. In CSV, the usual marks of missing values in these columns are counted.
        """
        for i, reader in enumerate(self.readers):
            reader.share, n_rows = 0.0, 0
            with reading(reader.name):
                for batch in self._batches(reader, rows, columns, coded):
                    n_rows += batch.num_rows
                    self.share = (i + reader.share) / len(self.readers)
                    yield batch
            reader.n_rows = n_rows

    def _batches(self, reader: Reader, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows of a file; the columns from names of its folders come last."""
        keys = [name for name in self.keys if columns is None or name in columns]
        chosen = None if columns is None else [name for name in columns if name not in keys]
        # A batch without columns would have no number of rows, so read one column and drop it.
        extra = reader.schema.names[:1] if chosen == [] else []
        for batch in reader.batches(rows, extra or chosen, coded):
            n_rows, batch = batch.num_rows, batch.select([]) if extra else batch
            if self.common is not None and not extra:
                are_coded = any(each.format.kind == "parquet" for each in self.readers)
                batch = as_common(batch, self.common, coded if are_coded else ())
            for name in keys:
                key = pa.scalar(reader.keys[name], pa.string()).cast(self.keys[name])
                column = pa.repeat(key, n_rows)
                if name in coded and pa.types.is_string(column.type):
                    column = column.dictionary_encode()
                batch = batch.append_column(pa.field(name, column.type), column)
            yield batch

    def keep_text(self, typed: Names) -> None:
        """Read the columns of CSV files as unchanged bytes, except the columns in `typed`."""
        self.set_types(dict.fromkeys({*self.schema.names} - {*typed}, pa.binary()))

    def set_types(self, kinds: dict[str, pa.DataType]) -> None:
        """Read the columns of CSV files as the types in `kinds`.

        For columns from names of folders, types other than string are ignored.
        """
        for reader in self.readers:
            fields = [f.with_type(kinds.get(f.name, f.type)) for f in reader.schema]
            reader.set_types(pa.schema(fields))
        for name in self.keys:
            if kinds.get(name) == pa.string():
                self.keys[name] = pa.string()

    def decide(self, names: Names | None = None) -> None:
        """Decide the types of columns of CSV files whose first rows are missing.

        Read on until each of the columns in `names`, by default of all columns, has a value. A
        column that contains only marks of missing values is text, because nothing says otherwise.
        """
        wanted = self.schema.names if names is None else names
        for reader in self.readers:
            left = [f.name for f in reader.schema if pa.types.is_null(f.type) and f.name in wanted]
            if not left or not self.format.is_text:
                return
            with reading(reader.name):
                self.set_types(reader.decide(left))
        marked = {name for reader in self.readers for name in reader.marked}
        left = [f.name for f in self.schema if pa.types.is_null(f.type) and f.name in wanted]
        self.set_types(dict.fromkeys(marked.intersection(left), pa.string()))

    def notes(self) -> list[str]:
        """Return the notes on how files are read, each with the name of its first file."""
        first: dict[str, str] = {}
        counts: Counter[str] = Counter()
        for reader in self.readers:
            counts.update(reader.notes)
            for text in reader.notes:
                first.setdefault(text, reader.name)
        return [
            f"{name}{f' and {counts[text] - 1:,} more files' if counts[text] > 1 else ''}: {text}"
            for text, name in first.items()
        ]

    def notes_on_marks(self, names: Names) -> list[str]:
        """Return a note for each column of CSV files that contains usual marks of missing values.

        The columns are those in `names` that have been read last.
        """
        spec, notes = self.readers[0].spec, []
        for column in self.schema:
            name, is_text = column.name, pa.types.is_string(column.type)
            found: Counter[str] = Counter()
            for reader in self.readers:
                found.update(reader.marks(name))
            is_chosen = spec.is_text or spec.keep_empty or name in spec.text_columns
            if name not in names or (is_text and is_chosen):
                continue
            for mark, count in found.most_common():
                rows = number_of(count, "row")
                if is_text and mark:
                    notes.append(
                        f"{self.name}: {mark!r} ({rows}) of column {name!r} is text;"
                        f" --null {shlex.quote(mark)} reads it as missing"
                    )
                elif is_text:
                    notes.append(
                        f"{self.name}: '' ({rows}) of column {name!r} is a category, because it is"
                        " quoted; --null '' reads it as missing"
                    )
                elif mark:
                    notes.append(
                        f"{self.name}: {mark!r} ({rows}) of column {name!r} is missing;"
                        f" --text-column {shlex.quote(name)} reads it as text"
                    )
        return notes

    def identities(self) -> list[Any]:
        """Return `Place.identity` of each file that is read, to compare it with outputs."""
        found = [reader.place.identity for reader in self.readers]
        if self.name == STANDARD_INPUT:
            stdin = os.fstat(sys.stdin.fileno())
            found.append((stdin.st_dev, stdin.st_ino))
        return found

    def require(self, columns: Names, code: Exit = Exit.COLUMN) -> None:
        """Raise an error if a column does not exist, or appears twice."""
        counts = Counter(self.schema.names)
        for name in columns:
            if not counts[name]:
                hint = did_you_mean(name, counts) or f" its columns are: {', '.join(counts)}"
                raise CommandError(code, f"{self.name} has no column {name!r};{hint}")
            if counts[name] > 1:
                raise CommandError(
                    code, f"{self.name} has {counts[name]} columns {name!r}; rename all but one"
                )


@contextmanager
def open_source(spec: Input) -> Iterator[InputFiles]:
    """Open a file, a folder or standard input; remove the temporary files after the block."""
    place, name = spec.place, spec.place.address
    with ExitStack() as resources:
        if place.is_standard:
            folder = resources.enter_context(tempfile.TemporaryDirectory(prefix="onehot-fast-"))
            name, path = STANDARD_INPUT, os.path.join(folder, "stdin")
            if sys.stdin is None:
                raise CommandError(Exit.INPUT, f"{name} is closed; name an input file")
            with reading(name), open(path, "wb") as copy:  # because it cannot be read twice
                while block := os.read(sys.stdin.fileno(), 1 << 20):
                    copy.write(block)
            place = local_place(path)
        with reading(name):
            kind = place.kind
        if kind == fs.FileType.NotFound:
            raise CommandError(Exit.INPUT, f"{name}: No such file or directory")
        if kind == fs.FileType.Directory:
            source = _open_folder(place, spec)
        else:
            source = InputFiles(name, [_open(place, name, spec)])
        if source.format.is_text:
            source.require(spec.text_columns)
        texts = source.schema.names if spec.is_text else spec.text_columns
        source.set_types(dict.fromkeys(texts, pa.string()))
        yield source


def _open(place: Place, name: str, spec: Input) -> Reader:
    """Open a file; `spec`, the extension or the first bytes determine its format."""
    with reading(name):
        if place.kind == fs.FileType.Unknown:
            raise CommandError(
                Exit.INPUT, f"{name} is not a regular file; type - to read standard input"
            )
        form = spec.input_format or place.format
        if form is None or (spec.input_format is None and form in ARROW_FORMATS):
            with place.open() as file:
                found = format_of_content(bytes(file.read(8)))
            # Many programs give streams the extension of files.
            form = found if form is None or found in ARROW_FORMATS else form
        if not form.is_readable:
            raise CommandError(
                Exit.INPUT,
                f"{name}: {form.kind} files can only be written, not read; name another input",
            )
        reader = READERS[form.kind](place, name, form, spec)
        list(reader.schema.names)  # raises an error if a name is not UTF-8
        return reader


def _open_folder(folder: Place, spec: Input) -> InputFiles:
    """Open the files of a folder, ordered by name."""
    readers = [_open(place, place.address, spec) for place in _data_files(folder, spec)]
    first = readers[0]
    _set_types_of_texts(readers)
    schema = first.schema
    for reader in readers:
        schema = _schema_with(schema, reader, first)
        reader.keys = keys_of(reader.place.below(folder).parts[:-1])
        if list(reader.keys) != list(first.keys):
            one, two = ("/".join(each.keys) or "none" for each in (first, reader))
            raise CommandError(
                Exit.SCHEMA,
                f"{reader.name}: the folder names (KEY=VALUE) have keys {two}, but those of"
                f" {first.name} have {one}; rename the folders",
            )
    own = [name for name in first.keys if name not in first.schema.names]
    keys = {name: key_type([reader.keys[name] for reader in readers]) for name in own}
    are_converted = len(readers) > 1 and not first.format.is_text
    return InputFiles(folder.address, readers, folder, keys, schema if are_converted else None)


def _data_files(folder: Place, spec: Input) -> list[Place]:
    """Return the data files of a folder; names that begin with . or _ are skipped."""
    with reading(folder.address):
        files = folder.files()
    data = [
        place
        for place in files
        if not any(part.startswith((".", "_")) for part in place.below(folder).parts)
        and (spec.input_format or place.format) is not None
    ]
    if not data:
        raise CommandError(
            Exit.INPUT,
            f"{folder.address}: the folder contains no data file, e.g. .parquet or .csv; name"
            " another input",
        )
    return data


def _set_types_of_texts(readers: Sequence[Reader]) -> None:
    """Read text files as the types of the first file, not as those of their first rows.

    If the first rows of a column are missing in the first file, the next file decides.
    """
    first = readers[0].schema
    alike = [reader for reader in readers if reader.schema.names == first.names]
    kinds = [
        next((kind for kind in found if not pa.types.is_null(kind)), found[0])
        for found in zip(*(reader.schema.types for reader in alike), strict=True)
    ]
    pairs = zip(first, kinds, strict=True)
    schema = pa.schema([field.with_type(kind) for field, kind in pairs])
    for reader in alike:
        reader.set_types(schema)


def _schema_with(schema: pa.Schema, reader: Reader, first: Reader) -> pa.Schema:
    """Return a schema that holds the rows of one more file; raise an error if there is none."""
    if reader.schema.equals(schema):
        return schema
    # Files other than text are converted while they are read.
    common = None if reader.format.is_text else common_schema(schema, reader.schema)
    if common is None:
        raise CommandError(
            Exit.SCHEMA,
            f"{reader.name}: columns or types differ from those of {first.name}:"
            f" {difference(first.schema, reader.schema)}",
        )
    return common
