"""The reader of Parquet files."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq

from onehot_fast.cli.arrow_batches import in_larger_batches
from onehot_fast.cli.parquet import CODECS, FooterError, footer_in, groups_of
from onehot_fast.cli.parquet_bits import BitColumns
from onehot_fast.cli.parquet_sizes import (
    TEXT_TYPES,
    estimated_row_bytes,
    has_no_use_for_dictionary,
    has_short_texts,
    texts_of,
)
from onehot_fast.cli.reader import Batches, Names, Reader

# The size of the buffers through which column chunks are read, however large they are.
BUFFER_BYTES = 1 << 20
# The encodings of strings that pyarrow can read as dictionaries.
CODED = frozenset(["PLAIN", "PLAIN_DICTIONARY", "RLE", "RLE_DICTIONARY", "BIT_PACKED"])


class ParquetReader(Reader):
    """A Parquet file."""

    def _describe(self) -> None:
        with self._opened(None) as file:
            self.schema: pa.Schema = _stored(file.schema_arrow)
            lost = [name for name in file.schema_arrow.names if name not in self.schema.names]
            self.metadata: pq.FileMetaData = file.metadata
            paths = [file.schema.column(i).path for i in range(self.metadata.num_columns)]
            _check_row_groups(self.metadata)
        with self.place.open() as raw:
            footer = footer_in(raw)
        self._digest = sha256(footer).digest()
        try:
            self._groups = groups_of(footer, paths)
        except FooterError:
            # pyarrow has read this footer, because it ignores some types that are damaged. Then
            # nothing is known about the chunks, and no column is read as a dictionary.
            self._groups = []
        self.notes: Sequence[str] = [
            f"column {name!r} is a struct without fields, which Parquet does not store"
            for name in lost
        ]
        self.n_rows: int = self.metadata.num_rows
        chunks = list(itertools.chain.from_iterable(self._groups))
        # pyarrow cannot read strings of other encodings as dictionaries.
        self._plain_coded = {chunk.path for chunk in chunks}
        self._plain_coded -= {c.path for c in chunks if not CODED.issuperset(c.encodings or {""})}
        if chunks:
            codecs = {number: name for name, (number, _) in CODECS.items()}
            # Files of some codecs are read, but not written: Hadoop's LZ4, for example.
            self.compression: str | None = codecs.get(chunks[0].codec)
            self.plain: Collection[str] = {
                c.path for c in self._groups[0] if has_no_use_for_dictionary(c)
            }
            # A chunk without a dictionary would store the length of each string. If every chunk is
            # smaller than these lengths, the strings count as repeated.
            others = {chunk.path for chunk in chunks if not has_short_texts(chunk)}
            self.repeated: Collection[str] = set(self._texts(self.schema.names)) - others

    @cached_property
    def row_bytes(self) -> float:
        """The approximate bytes of a row in memory, without compression and dictionaries."""
        texts = texts_of(self._groups)
        with self.open([path for path in texts if path in self._plain_coded]) as file:
            return estimated_row_bytes(file, self._groups)

    def _texts(self, names: Names) -> list[str]:
        """Return those of the columns `names` that pyarrow can read as dictionaries."""
        return [
            field.name
            for field in self.schema
            if field.name in names and field.type in TEXT_TYPES and field.name in self._plain_coded
        ]

    @contextmanager
    def open(self, dictionaries: Sequence[str] = ()) -> Iterator[pq.ParquetFile]:
        """Open the file; the columns with the paths `dictionaries` are read as dictionaries.

        Raise an error if the file has another footer than before.
        """
        with self.place.open() as raw:
            if sha256(footer_in(raw)).digest() != self._digest:
                raise OSError("the file changed while it was read; run the command again")
        # pyarrow needs some kilobytes for the metadata of each column chunk.
        with self._opened(self.metadata, dictionaries) as file:
            yield file

    @contextmanager
    def _opened(
        self, metadata: pq.FileMetaData | None, dictionaries: Sequence[str] = ()
    ) -> Iterator[pq.ParquetFile]:
        """Open the file, whose metadata pyarrow reads if it is None."""
        with self.place.open() as file:
            yield pq.ParquetFile(
                file,
                metadata=metadata,
                read_dictionary=list(dictionaries),
                buffer_size=BUFFER_BYTES,
                pre_buffer=False,
                page_checksum_verification=True,
            )

    def batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows; pyarrow decodes the columns of a batch in several threads."""
        with self.open(self._texts(coded)) as file:
            n_read = 0
            wanted = {*coded} if columns is None else {*coded}.intersection(columns)
            bits = BitColumns.among(wanted, file, self.schema, self._groups)
            if bits is None:
                batches = file.iter_batches(rows, columns=columns)
            else:
                batches = self._with_bits(file, bits, rows, columns)
            for batch in in_larger_batches(batches, rows):
                n_read += batch.num_rows
                self.share: float = n_read / max(1, self.n_rows)
                yield batch
            if n_read != self.metadata.num_rows:
                raise EOFError(
                    f"the file contains {n_read:,} rows, but its footer says"
                    f" {self.metadata.num_rows:,}; write it again"
                )

    def _with_bits(
        self, file: pq.ParquetFile, bits: BitColumns, rows: int, columns: Names | None
    ) -> Batches:
        """Yield the rows, with the columns `bits` as bitmaps and the others as pyarrow reads."""
        with self.place.open() as raw:
            yield from bits.batches(raw, file, rows, columns)


def _check_row_groups(metadata: pq.FileMetaData) -> None:
    """Raise an error for row groups that contradict the file; pyarrow could end the process."""
    n_rows = 0
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        n_rows += group.num_rows
        if group.num_rows < 0 or group.num_columns != metadata.num_columns:
            raise pa.ArrowInvalid(
                f"row group {i} has {group.num_rows:,} rows and {group.num_columns:,} of the"
                f" {metadata.num_columns:,} columns; write the file again"
            )
    if n_rows != metadata.num_rows:
        raise EOFError(
            f"the row groups have {n_rows:,} rows, but the footer says {metadata.num_rows:,}; write"
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
