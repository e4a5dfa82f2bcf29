"""The reader of Parquet files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from onehot_fast.cli.arrow_batches import in_larger_batches, nests_dictionaries
from onehot_fast.cli.parquet import (
    CODECS,
    Chunk,
    DividedFooter,
    FooterError,
    Part,
    as_file,
    divided,
    footer_in,
    groups_of,
    position_of_footer,
)
from onehot_fast.cli.parquet_bits import BitColumns
from onehot_fast.cli.parquet_sizes import TEXT_TYPES, ChunkSummary, long_text_bytes, texts_of
from onehot_fast.cli.reader import Batches, Names, Reader

# The size of the buffers through which column chunks are read, however large they are.
BUFFER_BYTES = 1 << 20
# The metadata of a file is read in parts of about this size, which pyarrow makes 20 times larger.
PART_BYTES = 1 << 18


class _Part(NamedTuple):
    """Neighbouring row groups of a file, which pyarrow sees as a whole file."""

    number: int
    metadata: pq.FileMetaData
    groups: list[list[Chunk]]  # the column chunks of each row group; empty if nothing is known


class ParquetReader(Reader):
    """A Parquet file.

    pyarrow needs 1.2 kB for the metadata of each column chunk. So the metadata of a file with many
    of them is read in parts, and only one part is in memory.
    """

    def _describe(self) -> None:
        self._part: _Part | None = None  # that was read last
        self._footer: DividedFooter | None = None  # None: in one part
        with self.place.open() as file:
            _, footer_bytes = position_of_footer(file)
            if footer_bytes > PART_BYTES:
                with suppress(FooterError):  # pyarrow reads the footer, or says what is wrong
                    self._footer = divided(footer_in(file), PART_BYTES)
            first = self._part_of(file, 0)
            self._digest = sha256(footer_in(file)).digest()
            self._set_schema(self._file_of(file, first))
            self.n_rows: int = first.metadata.num_rows
            if self._footer is not None:
                self.n_rows = self._footer.n_rows
            counter = _RowCounter()
            self._chunks = ChunkSummary()
            for part in self._parts_of(file):
                counter.add(part.metadata)
                self._chunks.add(part.groups, part.metadata)
            counter.require(self.n_rows)
        if self._chunks.is_known:
            codecs = {number: name for name, (number, _) in CODECS.items()}
            # Files of some codecs are read, but not written: Hadoop's LZ4, for example.
            for chunk in self._chunks.first[:1]:
                self.compression: str | None = codecs.get(chunk.codec)
            self.plain: Collection[str] = self._chunks.plain
            self.repeated: Collection[str] = self._chunks.repeated.intersection(
                self._texts(self.schema.names)
            )

    def _set_schema(self, file: pq.ParquetFile) -> None:
        """Take over the schema of the file, of which pyarrow reads the columns with values."""
        self.schema: pa.Schema = _stored(file.schema_arrow)
        self.notes: Sequence[str] = [
            f"column {name!r} is a struct without fields, which Parquet does not store"
            for name in file.schema_arrow.names
            if name not in self.schema.names
        ]

    @cached_property
    def row_bytes(self) -> float:
        """The approximate bytes of a row in memory, without compression and dictionaries."""
        chunks, largest, before = self._chunks, 0.0, 0
        paths = [path for path in texts_of(chunks.first) if path in chunks.codable]
        if samples := chunks.samples:
            with self._unchanged() as file:
                for part in self._parts_of(file):
                    opened = self._file_of(file, part, paths)
                    for number, group in enumerate(part.groups):
                        if before + number in samples:
                            largest = max(largest, long_text_bytes(opened, group, number))
                    before += len(part.groups)
        return max(chunks.row_bytes(self.n_rows), largest)

    def _texts(self, names: Names) -> list[str]:
        """Return those of the columns `names` that pyarrow can read as dictionaries."""
        codable = self._chunks.codable
        return [
            field.name
            for field in self.schema
            if field.name in names and field.type in TEXT_TYPES and field.name in codable
        ]

    @contextmanager
    def _unchanged(self) -> Iterator[pa.NativeFile]:
        """Open the file; raise an error if it has another footer than before."""
        with self.place.open() as file:
            if sha256(footer_in(file)).digest() != self._digest:
                raise OSError("the file changed while it was read; run the command again")
            yield file

    def _parts_of(self, file: pa.NativeFile) -> Iterator[_Part]:
        """Yield the parts of the file one after the other."""
        n_parts = 1 if self._footer is None else len(self._footer.parts)
        for number in range(n_parts):
            yield self._part_of(file, number)

    def _part_of(self, file: pa.NativeFile, number: int) -> _Part:
        """Return a part of the file, which stays in memory until another one is read."""
        if self._part is None or self._part.number != number:
            self._part = None
            if self._footer is None:
                metadata = pq.ParquetFile(file).metadata
                footer = footer_in(file)
            else:
                footer = self._footer_of_part(file, self._footer, self._footer.parts[number])
                metadata = pq.ParquetFile(as_file(footer)).metadata
            self._part = _Part(number, metadata, _groups_in(footer, metadata))
        return self._part

    @staticmethod
    def _footer_of_part(file: pa.NativeFile, divided: DividedFooter, part: Part) -> bytes:
        """Return the footer of a part of the file."""
        start, _ = position_of_footer(file)
        file.seek(start + part.start)
        return divided.footer(part, file.read(part.end - part.start))

    def _file_of(
        self, file: pa.NativeFile, part: _Part, dictionaries: Sequence[str] = ()
    ) -> pq.ParquetFile:
        """Return a part as a file; the columns with the paths `dictionaries` are dictionaries."""
        return pq.ParquetFile(
            file,
            metadata=part.metadata,
            read_dictionary=list(dictionaries),
            buffer_size=BUFFER_BYTES,
            pre_buffer=False,
            page_checksum_verification=True,
        )

    def batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows; pyarrow decodes the columns of a batch in several threads."""
        n_read = 0
        for batch in in_larger_batches(self._batches(rows, columns, coded), rows):
            n_read += batch.num_rows
            self.share: float = n_read / max(1, self.n_rows)
            yield batch
        if n_read != self.n_rows:
            raise EOFError(
                f"the file contains {n_read:,} rows, but its footer says {self.n_rows:,}; write it"
                " again"
            )

    def _batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows of one part after the other."""
        dictionaries = self._texts(coded)
        wanted = {*coded} if columns is None else {*coded}.intersection(columns)
        with self._unchanged() as file:
            for part in self._parts_of(file):
                opened = self._file_of(file, part, dictionaries)
                bits = BitColumns.among(wanted, opened, self.schema, part.groups)
                if bits is None:
                    yield from self._as_pyarrow_reads(opened, rows, columns)
                else:
                    yield from self._with_bits(opened, bits, rows, columns)

    def _as_pyarrow_reads(self, file: pq.ParquetFile, rows: int, columns: Names | None) -> Batches:
        """Yield the rows; row group by row group if pyarrow could not read a batch of several."""
        kinds = [f.type for f in self.schema if columns is None or f.name in columns]
        if any(map(nests_dictionaries, kinds)):
            for number in range(file.num_row_groups):
                yield from file.iter_batches(rows, row_groups=[number], columns=columns)
        else:
            yield from file.iter_batches(rows, columns=columns)

    def _with_bits(
        self, file: pq.ParquetFile, bits: BitColumns, rows: int, columns: Names | None
    ) -> Batches:
        """Yield the rows, with the columns `bits` as bitmaps and the others as pyarrow reads."""
        with self.place.open() as raw:
            yield from bits.batches(raw, file, rows, columns)


def _groups_in(footer: bytes, metadata: pq.FileMetaData) -> list[list[Chunk]]:
    """Return the column chunks of each row group; no row groups if nothing is known about them."""
    paths = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    try:
        return groups_of(footer, paths)
    except FooterError:
        # pyarrow has read this footer, because it ignores some types that are damaged. Then no
        # column is read as a dictionary.
        return []


class _RowCounter:
    """The rows of the row groups, which must not contradict the file.

    pyarrow could end the process if they do.
    """

    def __init__(self) -> None:
        self._n_groups = self._n_rows = 0

    def add(self, metadata: pq.FileMetaData) -> None:
        """Count the rows of the next row groups, and compare their columns with the schema."""
        for i in range(metadata.num_row_groups):
            group = metadata.row_group(i)
            if group.num_rows < 0 or group.num_columns != metadata.num_columns:
                raise pa.ArrowInvalid(
                    f"row group {self._n_groups} has {group.num_rows:,} rows and"
                    f" {group.num_columns:,} of the {metadata.num_columns:,} columns; write the"
                    " file again"
                )
            self._n_groups += 1
            self._n_rows += group.num_rows

    def require(self, n_rows: int) -> None:
        """Raise an error if the footer says another number of rows."""
        if self._n_rows != n_rows:
            raise EOFError(
                f"the row groups have {self._n_rows:,} rows, but the footer says {n_rows:,}; write"
                " the file again"
            )


def _stored(schema: pa.Schema) -> pa.Schema:
    """Return the columns of a Parquet file that pyarrow reads: those that contain any value.

    The format stores only the fields without children, so nothing is left of an empty struct.
    """
    fields = [(field, _stored_type(field.type)) for field in schema]
    return pa.schema(
        [field.with_type(kind) for field, kind in fields if kind is not None], schema.metadata
    )


def _stored_type(kind: pa.DataType) -> pa.DataType | None:
    """Return a type without empty structs at any depth; None if nothing is left."""
    if pa.types.is_struct(kind):
        fields = [(field, _stored_type(field.type)) for field in kind]
        kept = [field.with_type(one) for field, one in fields if one is not None]
        return pa.struct(kept) if kept else None
    return kind
