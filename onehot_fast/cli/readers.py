"""Readers of each format, which read a file in batches of bounded size."""

from __future__ import annotations

import itertools
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from onehot_fast.cli.places import Format, Place

Batches: TypeAlias = Generator[pa.RecordBatch, None, None]
Names: TypeAlias = Collection[str]

# The size of the buffers through which column chunks are read, however large they are.
BUFFER_BYTES = 1 << 20
# The size of a value in memory, for each type of Parquet.
VALUE_BYTES = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}
TEXT = "BYTE_ARRAY"
# The types that Parquet can read as dictionaries.
TEXT_TYPES = pa.string(), pa.large_string(), pa.binary(), pa.large_binary()
# The size of the length before each string that is stored without a dictionary.
BYTES_OF_LENGTH = 4
# A dictionary of numbers is useless if the column takes more than this share of its plain size.
MAX_DICTIONARY_SHARE = 0.9
# An Arrow file with a larger batch is memory-mapped, and copied slice by slice.
MAX_READ_BYTES = 64 << 20
# The size of the magic and its padding, after which an Arrow file contains the same messages as a
# stream.
MAGIC_BYTES = 8
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


@dataclass(frozen=True)
class Input:
    """The input that the user named, and how it is read."""

    input_path: str  # a file, a folder or "-"
    input_format: Format | None = None  # None: the format of the name, or that of the content
    # For CSV:
    delimiter: str | None = None  # None: the delimiter of the format
    nulls: Sequence[str] = ()  # marks of a missing value, besides the empty field
    keep_empty: bool = False  # whether the empty field of a column of text is a string
    is_text: bool = False  # whether all columns are read as strings
    text_columns: Sequence[str] = ()  # the columns that are read as strings
    encoding: str = "utf8"
    decimal: str = "."
    no_header: bool = False  # whether the first row is data
    names: Sequence[str] | None = None  # the names of the columns, if the first row is data
    fill_rows: bool = False  # whether short rows are filled with missing values

    @property
    def has_header(self) -> bool:
        """Whether the first row of a CSV file contains the names of the columns."""
        return not self.no_header and self.names is None


class Reader(ABC):
    """A file that is read in batches."""

    n_rows: int | None = None  # None: not known before the file has been read
    schema: pa.Schema
    # How the file is written, for an output of the same format.
    compression: str | None = None
    group_rows: int | None = None
    # The paths of columns whose values hardly repeat, so that a dictionary is useless.
    plain: Collection[str] = ()
    # The columns whose strings repeat so often that they are read and written as dictionaries.
    repeated: Collection[str] = ()
    share: float = 0.0  # how much of the file has been read
    notes: Sequence[str] = ()  # on how the file is read

    def __init__(self, place: Place, name: str, form: Format, spec: Input) -> None:
        self.place: Place = place
        self.name: str = name
        self.format: Format = form
        self.spec: Input = spec
        self.n_bytes: int = place.system.get_file_info(place.raw).size or 0
        # The columns in the names of the file's folders, as in year=2013/, and their values.
        self.keys: dict[str, str | None] = {}
        self._describe()

    @abstractmethod
    def _describe(self) -> None:
        """Read the schema and the other attributes of the file."""

    @property
    def row_bytes(self) -> float:
        """The approximate bytes of a row in memory, from the types; a string counts as 32 bytes."""
        total = 0.0
        for field in self.schema:
            try:
                total += field.type.bit_width / 8
            except ValueError:
                total += 32
        return total

    @abstractmethod
    def batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows; see `InputFiles.batches`."""

    # For CSV files; the columns of other files have fixed types, names and missing values.

    def set_types(self, schema: pa.Schema) -> None:  # noqa: B027
        """Read the columns of a CSV file as the types of `schema`."""

    def decide(self, names: Names) -> dict[str, pa.DataType]:
        """Return the types of columns that have no type yet, as far as the file contains values."""
        return {}

    @property
    def marked(self) -> Names:
        """The columns without a type that contain a mark of a missing value."""
        return ()

    def marks(self, name: str) -> Counter[str]:
        """Return how often a column contains each usual mark of a missing value."""
        return Counter()


class ParquetReader(Reader):
    """A Parquet file."""

    def _describe(self) -> None:
        with self.open() as file:
            self.schema: pa.Schema = file.schema_arrow
            self.metadata: pq.FileMetaData = file.metadata
        self.n_rows: int = self.metadata.num_rows
        groups = self._groups()
        if groups and groups[0]:
            self.group_rows: int | None = self.metadata.row_group(0).num_rows or None
            codec: str = groups[0][0].compression.lower()
            self.compression: str | None = codec.replace("uncompressed", "none")
            self.plain: Collection[str] = {c.path_in_schema for c in groups[0] if _is_plain(c)}
            # A chunk without a dictionary would store the length of each string. If every chunk is
            # smaller than these lengths, the strings count as repeated.
            others = {
                chunk.path_in_schema
                for chunk in itertools.chain.from_iterable(groups)
                if chunk.total_uncompressed_size >= BYTES_OF_LENGTH * chunk.num_values
            }
            self.repeated: Collection[str] = set(self._texts(self.schema.names)) - others

    def _groups(self) -> list[list[pq.ColumnChunkMetaData]]:
        """Return the column chunks of each row group."""
        groups = map(self.metadata.row_group, range(self.metadata.num_row_groups))
        return [[group.column(i) for i in range(group.num_columns)] for group in groups]

    @cached_property
    def row_bytes(self) -> float:
        """The approximate bytes of a row in memory, without compression and dictionaries."""
        groups, largest, total = self._groups(), 0.0, 0.0
        texts = [c.path_in_schema for c in groups[0] if c.physical_type == TEXT] if groups else []
        with self.open(texts) as file:
            for number, chunks in enumerate(groups):
                n_rows = max(1, self.metadata.row_group(number).num_rows)
                total += self.metadata.row_group(number).total_byte_size
                fixed = sum(c.num_values * VALUE_BYTES.get(c.physical_type, 0) for c in chunks)
                # Reading one value reads the whole dictionary.
                first = next(file.iter_batches(64, row_groups=[number], columns=texts), None)
                lengths = [] if first is None else [*_longest_of(first.columns)]
                coded = [c.num_values for c in chunks if c.physical_type == TEXT]
                longest = 0
                if len(lengths) == len(coded):
                    longest = sum(n * length for n, length in zip(coded, lengths, strict=True))
                # Rows whose strings all have the maximum length are rare; 64 MB of them do no harm.
                largest = max(largest, fixed / n_rows, longest / 4 / n_rows)
        return max(2 * total / max(1, self.n_rows), largest)

    def _texts(self, names: Names) -> list[str]:
        """Return those of the columns `names` that pyarrow can read as dictionaries."""
        return [f.name for f in self.schema if f.name in names and f.type in TEXT_TYPES]

    @contextmanager
    def open(self, dictionaries: Sequence[str] = ()) -> Iterator[pq.ParquetFile]:
        """Open the file; the columns with the paths `dictionaries` are read as dictionaries."""
        with self.place.open() as file:
            yield pq.ParquetFile(
                file,
                read_dictionary=list(dictionaries),
                buffer_size=BUFFER_BYTES,
                pre_buffer=False,
                page_checksum_verification=True,
            )

    def batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows; pyarrow decodes the columns of a batch in several threads."""
        with self.open(self._texts(coded)) as file:
            for batch in file.iter_batches(rows, columns=columns):
                self.share: float = self.share + batch.num_rows / max(1, self.n_rows)
                yield batch


class ArrowReader(Reader):
    """An Arrow IPC file.

    If a memory-mapped file is truncated, the system kills a process that reads beyond the new end.
    Therefore, only files with very large batches are mapped, and the size of the file is checked
    before each slice is read.
    """

    def _describe(self) -> None:
        with self.place.open() as file:
            reader = pa.ipc.open_file(file)
            self.schema: pa.Schema = reader.schema
            n_batches = reader.num_record_batches
        local = self.place.local
        self._is_mapped = local is not None and _largest_batch(local, n_batches) > MAX_READ_BYTES

    def batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows."""
        opened = pa.memory_map(self.place.raw) if self._is_mapped else self.place.open()
        with opened as file:
            reader = pa.ipc.open_file(file, options=_only(self.schema, columns))
            for i in range(reader.num_record_batches):
                self.share: float = i / reader.num_record_batches
                self._require_size()
                for part in sliced(reader.get_batch(i), rows):
                    self._require_size()
                    part.validate(full=True)  # no offset or code points outside its data
                    if self._is_mapped:
                        arrays = [_copied(array) for array in part.columns]
                        part = pa.RecordBatch.from_arrays(arrays, schema=part.schema)
                    yield part

    def _require_size(self) -> None:
        """Raise an error if the file has become smaller since it was opened."""
        if self._is_mapped and os.stat(self.place.path).st_size < self.n_bytes:
            raise EOFError("the file was truncated while it was read")


def _largest_batch(path: Path, n_batches: int) -> int:
    """Return the bytes of the largest batch of an Arrow file, without reading the batches."""
    with pa.memory_map(os.fsencode(path)) as file:
        file.seek(MAGIC_BYTES)
        messages = pa.ipc.MessageReader.open_stream(file)
        sizes = (message.body.size for message in messages if message.type == "record batch")
        return max(itertools.islice(sizes, n_batches), default=0)


class StreamReader(Reader):
    """An Arrow IPC stream, which may be compressed as a whole."""

    def _describe(self) -> None:
        with self.place.open() as file:
            self.schema: pa.Schema = pa.ipc.open_stream(unpacked(file, self.format)).schema

    def batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows."""
        with self.place.open() as packed:
            file = unpacked(packed, self.format)
            reader = pa.ipc.open_stream(file, options=_only(self.schema, columns))
            for batch in reader:
                self.share: float = packed.tell() / self.n_bytes
                batch.validate(full=True)  # no offset or code points outside its data
                yield from sliced(batch, rows)
            file.read()  # checks the length or checksum at the end of a compressed file
            if self.format.compression is None:  # may be truncated between batches
                packed.seek(max(0, self.n_bytes - len(END_OF_STREAM)))
                if bytes(packed.read()) != END_OF_STREAM:
                    raise EOFError("the stream is truncated: it has no end marker")


def unpacked(file: pa.NativeFile, form: Format) -> Any:
    """Return a file object that decompresses a file of the format `form`."""
    return file if form.compression is None else pa.CompressedInputStream(file, form.compression)


def sliced(batch: pa.RecordBatch, rows: int) -> Batches:
    """Yield views of a batch, of at most `rows` rows each."""
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _copied(array: pa.Array) -> pa.Array:
    """Return a copy of an array, so that it does not depend on a mapped file."""
    if pa.types.is_dictionary(array.type):
        codes, values = _copied(array.indices), _copied(array.dictionary)
        return pa.DictionaryArray.from_arrays(codes, values, ordered=array.type.ordered)
    return pa.concat_arrays([array, array.slice(0, 0)])


def _only(schema: pa.Schema, columns: Names | None) -> pa.ipc.IpcReadOptions:
    """Return options for reading only some columns; None means all columns."""
    found = [i for i, name in enumerate(schema.names) if columns is None or name in columns]
    return pa.ipc.IpcReadOptions(included_fields=found)


def _is_plain(chunk: pq.ColumnChunkMetaData) -> bool:
    """Tell whether a column has no dictionary, or one that saves almost no space."""
    if not any("DICTIONARY" in encoding for encoding in chunk.encodings):
        return True
    n_null = chunk.statistics.null_count if chunk.is_stats_set else None
    n_bytes = VALUE_BYTES.get(chunk.physical_type, 0) * (chunk.num_values - (n_null or 0))
    return bool(0 < MAX_DICTIONARY_SHARE * n_bytes < chunk.total_uncompressed_size)


def _longest_of(columns: Iterable[pa.Array]) -> Iterator[int]:
    """Yield the length of the longest string in each dictionary, at any depth of nesting."""
    for column in columns:
        kind = column.type
        if pa.types.is_dictionary(kind):
            yield pc.max(pc.binary_length(column.dictionary)).as_py() or 0
        elif pa.types.is_struct(kind):
            yield from _longest_of(column.field(i) for i in range(kind.num_fields))
        elif pa.types.is_nested(kind):
            yield from _longest_of((column.values,))
