"""One file of Parquet or Arrow, read in batches of bounded size."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from onehot_fast.cli.formats import Format
from onehot_fast.cli.pipeline import sliced
from onehot_fast.cli.stores import Place, open_place, size_of

__all__ = [
    "ArrowReader",
    "ParquetReader",
    "Reader",
    "StreamReader",
    "position",
    "unpacked",
]

# Column chunks are read through buffers of this size, however large they are.
BUFFER_BYTES = 1 << 20
# Of a value of Parquet in Arrow's memory, whatever it is in the file.
BYTES_OF_PHYSICAL = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}
# Before each text that stands in a file by itself.
BYTES_OF_LENGTH = 4
# Numbers that take more than this share of what they do without a dictionary have one for nothing.
LEAST_GAIN = 0.9
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


class Reader(ABC):
    """One open file."""

    n_rows: int | None = None
    schema: pa.Schema
    # How the file is written, for an output of the same format; None: the default.
    compression: str | None = None
    group_rows: int | None = None
    # The paths of columns whose values hardly repeat: a dictionary would be for nothing.
    plain: Collection[str] = ()
    # The texts whose values repeat so much that they are read, and written, by their dictionaries.
    repeated: Collection[str] = ()

    def __init__(self, path: Place, name: str, form: Format) -> None:
        self.path: Place = path
        self.name: str = name
        self.format: Format = form
        self.n_bytes: int = size_of(path)

    @property
    def row_bytes(self) -> float:
        """About how many bytes a row takes in memory: what the types say."""
        return bytes_of_types(self.schema)

    @abstractmethod
    def batches(
        self, rows: int, columns: Sequence[str] | None, coded: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows; see `Source.batches`."""

    @abstractmethod
    def share(self) -> float:
        """Return which share has been read."""

    def coded_schema(self, coded: Sequence[str]) -> pa.Schema:
        """Return the schema of the batches."""
        return self.schema

    def set_types(self, schema: pa.Schema) -> None:  # noqa: B027  most files say their types
        """Read the columns of a text file as these types."""


class ParquetReader(Reader):
    """A Parquet file."""

    def __init__(self, path: Place, name: str, form: Format) -> None:
        super().__init__(path, name, form)
        with self.open() as file:
            self.schema: pa.Schema = file.schema_arrow
            self.metadata: pq.FileMetaData = file.metadata
        self.n_rows: int = self.metadata.num_rows
        self._done = 0
        if self.metadata.num_row_groups and self.metadata.num_columns:
            first = self.metadata.row_group(0)
            self.group_rows: int | None = first.num_rows or None
            codec: str = first.column(0).compression.lower()
            self.compression: str | None = codec.replace("uncompressed", "none")
            chunks = [first.column(i) for i in range(first.num_columns)]
            self.plain: Collection[str] = {c.path_in_schema for c in chunks if _is_plain(c)}
            self.repeated: Collection[str] = self._repeated()

    def _repeated(self) -> set[str]:
        """Return the texts that take less in each row group than their lengths alone would."""
        found = set(self._texts(self.schema.names))
        for number in range(self.metadata.num_row_groups):
            group = self.metadata.row_group(number)
            for chunk in (group.column(i) for i in range(group.num_columns)):
                if chunk.total_uncompressed_size >= BYTES_OF_LENGTH * chunk.num_values:
                    found.discard(chunk.path_in_schema)
        return found

    @cached_property
    def row_bytes(self) -> float:
        """The size without compression, or that of what the file has once for many rows."""
        groups = [self.metadata.row_group(i) for i in range(self.metadata.num_row_groups)]
        n_bytes: int = sum(group.total_byte_size for group in groups)
        fixed = max((self._fixed_bytes(group) for group in groups), default=0.0)
        # Rows in which all texts are the longest are rare, but 64 MB of them are no harm.
        return max(2 * n_bytes / max(1, self.n_rows), fixed, self._longest_texts() / 4)

    def _fixed_bytes(self, group: pq.RowGroupMetaData) -> float:
        """Return the bytes of the numbers in a row, of which lists may have any number."""
        values = (group.column(i) for i in range(group.num_columns))
        n_bytes = sum(c.num_values * BYTES_OF_PHYSICAL.get(c.physical_type, 0) for c in values)
        return float(n_bytes / max(1, group.num_rows))

    def _longest_texts(self) -> float:
        """Return the bytes of the texts of a row, all as long as the longest of a dictionary."""
        parquet = self.metadata.schema
        leaves = [parquet.column(i) for i in range(self.metadata.num_columns)]
        paths = [leaf.path for leaf in leaves]
        texts = [
            i
            for i, leaf in enumerate(leaves)
            if leaf.physical_type == "BYTE_ARRAY" and paths.count(leaf.path) == 1
        ]
        longest, named = 0.0, [paths[i] for i in texts]
        with self.open(named) as file:
            for number in range(self.metadata.num_row_groups) if texts else ():
                group = self.metadata.row_group(number)
                # The first value brings all of the dictionary.
                first = next(file.iter_batches(64, row_groups=[number], columns=named), None)
                found = [] if first is None else [*_texts_of(first.columns)]
                if len(found) == len(texts):
                    n_values = [group.column(i).num_values for i in texts]
                    pairs = zip(n_values, found, strict=True)
                    n_bytes = sum(n * length for n, length in pairs)
                    longest = max(longest, n_bytes / max(1, group.num_rows))
        return longest

    def coded_schema(self, coded: Sequence[str]) -> pa.Schema:
        """Return the schema of the batches, with its dictionaries."""
        with self.open(self._texts(coded)) as file:
            return file.schema_arrow

    def _texts(self, names: Sequence[str]) -> list[str]:
        """Return those of some columns that can be read as dictionaries."""
        return [field.name for field in self.schema if field.name in names and _is_text(field.type)]

    def open(self, dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
        """Open the file; some texts, named by their paths, will be read as dictionaries."""
        return pq.ParquetFile(
            str(self.path) if isinstance(self.path, Path) else open_place(self.path),
            read_dictionary=list(dictionaries),
            buffer_size=BUFFER_BYTES,
            pre_buffer=False,
            page_checksum_verification=True,
        )

    def batches(
        self, rows: int, columns: Sequence[str] | None, coded: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows; pyarrow decodes the columns of a batch in several threads."""
        self._done = 0
        with self.open(self._texts(coded)) as file:
            for batch in file.iter_batches(rows, columns=columns):
                self._done += batch.num_rows
                yield batch

    def share(self) -> float:
        """Return the share of the rows."""
        return self._done / max(1, self.n_rows)


class ArrowReader(Reader):
    """An Arrow IPC file, mapped: a batch in it may be larger than the memory."""

    def __init__(self, path: Place, name: str, form: Format) -> None:
        super().__init__(path, name, form)
        with _mapped(path) as file:
            reader = pa.ipc.open_file(file)
            self.schema: pa.Schema = reader.schema
            self._n_batches: int = reader.num_record_batches
        self._done = 0

    def batches(
        self, rows: int, columns: Sequence[str] | None, coded: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        with _mapped(self.path) as file:
            reader = pa.ipc.open_file(file, options=_only(self.schema, columns))
            for i in range(reader.num_record_batches):
                self._done = i
                yield from sliced([_valid(reader.get_batch(i))], rows)
        self._done = self._n_batches

    def share(self) -> float:
        """Return the share of the batches."""
        return self._done / max(1, self._n_batches)


class StreamReader(Reader):
    """An Arrow IPC stream, perhaps compressed as a whole."""

    def __init__(self, path: Place, name: str, form: Format) -> None:
        super().__init__(path, name, form)
        self._file: Any = None
        with open_place(path) as file:
            self.schema: pa.Schema = pa.ipc.open_stream(unpacked(file, form)).schema

    def batches(
        self, rows: int, columns: Sequence[str] | None, coded: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        with open_place(self.path) as self._file:
            file = unpacked(self._file, self.format)
            reader = pa.ipc.open_stream(file, options=_only(self.schema, columns))
            for batch in reader:
                yield from sliced([_valid(batch)], rows)
            file.read()  # to the end of what is compressed, where its length is checked
            self._require_end()

    def _require_end(self) -> None:
        """Refuse a stream without an end mark.

        The format allows that, but then it looks like one that was cut between two batches.
        """
        if self.format.compression is None:
            with open_place(self.path) as file:
                file.seek(max(0, self.n_bytes - len(END_OF_STREAM)))
                if bytes(file.read()) != END_OF_STREAM:
                    raise EOFError("the stream has no end mark; it is truncated")

    def share(self) -> float:
        """Return the share of the bytes."""
        return position(self._file) / max(1, self.n_bytes)


def _mapped(path: Place) -> Any:
    """Open a file, in memory as far as it is looked at, where the system can do that."""
    return pa.memory_map(str(path)) if isinstance(path, Path) else open_place(path)


def unpacked(file: pa.NativeFile, form: Format) -> Any:
    """Return what a file holds without its compression."""
    return file if form.compression is None else pa.CompressedInputStream(file, form.compression)


def position(file: Any) -> int:
    """Return how far a file has been read."""
    try:
        return 0 if file is None else int(file.tell())
    except (ValueError, io.UnsupportedOperation):  # closed
        return 0


def _valid(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch that refers to nothing outside its memory, whatever the file said."""
    batch.validate(full=True)
    return batch


def _only(schema: pa.Schema, columns: Sequence[str] | None) -> pa.ipc.IpcReadOptions:
    """Return the options that read some columns."""
    if columns is None:
        return pa.ipc.IpcReadOptions()
    found = [i for i, name in enumerate(schema.names) if name in columns]
    return pa.ipc.IpcReadOptions(included_fields=found)


def _is_text(kind: pa.DataType) -> bool:
    """Tell whether Parquet can hand over a column as a dictionary."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def _is_plain(chunk: pq.ColumnChunkMetaData) -> bool:
    """Tell whether a column has no dictionary, or is about as large as without one."""
    if not any("DICTIONARY" in encoding for encoding in chunk.encodings):
        return True
    n_null = chunk.statistics.null_count if chunk.is_stats_set else None
    n_bytes = BYTES_OF_PHYSICAL.get(chunk.physical_type, 0) * (chunk.num_values - (n_null or 0))
    return bool(0 < LEAST_GAIN * n_bytes < chunk.total_uncompressed_size)


def _texts_of(columns: Iterable[pa.Array]) -> Iterator[int]:
    """Yield the length of the longest text in each dictionary, wherever it is nested."""
    for column in columns:
        kind = column.type
        if pa.types.is_dictionary(kind):
            yield pc.max(pc.binary_length(column.dictionary)).as_py() or 0
        elif pa.types.is_struct(kind):
            yield from _texts_of(column.field(i) for i in range(kind.num_fields))
        elif pa.types.is_map(kind):
            yield from _texts_of((column.keys, column.items))
        elif pa.types.is_nested(kind):
            yield from _texts_of((column.values,))


def bytes_of_types(schema: pa.Schema) -> float:
    """Return about how many bytes a row takes; a text is taken for 32."""
    total = 0.0
    for field in schema:
        try:
            total += field.type.bit_width / 8
        except ValueError:
            total += 32
    return total
