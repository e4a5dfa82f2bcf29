"""The reader of Parquet files."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from onehot_fast.cli.arrow_batches import in_larger_batches
from onehot_fast.cli.parquet import (
    CODECS,
    Chunk,
    FooterError,
    are_bits,
    footer_in,
    groups_of,
    read_bits,
)
from onehot_fast.cli.reader import Batches, Names, Reader

# The size of the buffers through which column chunks are read, however large they are.
BUFFER_BYTES = 1 << 20
# The size of a value in memory, for each type of Parquet.
VALUE_BYTES: dict[str, float] = {
    "BOOLEAN": 0.125,
    "INT32": 4,
    "INT64": 8,
    "INT96": 8,
    "FLOAT": 4,
    "DOUBLE": 8,
}
BITS, TEXT = "BOOLEAN", "BYTE_ARRAY"
# The types that Parquet can read as dictionaries.
TEXT_TYPES = pa.string(), pa.large_string(), pa.binary(), pa.large_binary()
# The encodings that it can read so.
CODED = frozenset(["PLAIN", "PLAIN_DICTIONARY", "RLE", "RLE_DICTIONARY", "BIT_PACKED"])
# The size of the length before each string that is stored without a dictionary.
BYTES_OF_LENGTH = 4
# A dictionary of numbers is useless if the column takes more than this share of its plain size.
MAX_DICTIONARY_SHARE = 0.9
# How many row groups are looked at to estimate the bytes of a row.
MAX_SAMPLES = 64
# A row group with larger bitmaps is read by pyarrow, which reads it in parts.
MAX_BITS_BYTES = 128 << 20


class ParquetReader(Reader):
    """A Parquet file."""

    def _describe(self) -> None:
        with self.open() as file:
            self.schema: pa.Schema = _stored(file.schema_arrow)
            lost = [name for name in file.schema_arrow.names if name not in self.schema.names]
            self.metadata: pq.FileMetaData = file.metadata
            paths = [file.schema.column(i).path for i in range(self.metadata.num_columns)]
        try:
            with self.place.open() as raw:
                # The names are those of the schema; pyarrow ignores the path of a chunk.
                self._groups = [
                    [replace(chunk, path=path) for chunk, path in zip(group, paths, strict=False)]
                    for group in groups_of(footer_in(raw))
                ]
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
            self.plain: Collection[str] = {c.path for c in self._groups[0] if _is_plain(c)}
            # A chunk without a dictionary would store the length of each string. If every chunk is
            # smaller than these lengths, the strings count as repeated.
            others = {c.path for c in chunks if c.n_plain >= BYTES_OF_LENGTH * c.n_values}
            self.repeated: Collection[str] = set(self._texts(self.schema.names)) - others

    @cached_property
    def row_bytes(self) -> float:
        """The approximate bytes of a row in memory, without compression and dictionaries."""
        groups, largest = self._groups, 0.0
        # Bits are the same in memory; other values may take twice the bytes of their pages.
        total = sum(
            VALUE_BYTES[BITS] * c.n_values if c.physical_type == BITS else 2 * c.n_plain
            for c in itertools.chain.from_iterable(groups)
        )
        if not groups:  # nothing is known about the chunks
            metadata = self.metadata
            sizes = (metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
            total = 2 * sum(sizes)
        texts = [c.path for c in groups[0] if c.physical_type == TEXT] if groups else []
        with self.open([path for path in texts if path in self._plain_coded]) as file:
            for number in self._groups_with_long_texts():
                chunks = groups[number]
                n_rows = max(1, self.metadata.row_group(number).num_rows)
                fixed = sum(c.n_values * VALUE_BYTES.get(c.physical_type, 0) for c in chunks)
                # Reading one value reads the whole dictionary.
                first = next(file.iter_batches(64, row_groups=[number], columns=texts), None)
                lengths = [] if first is None else [*_longest_of(first.columns)]
                coded = [c.n_values for c in chunks if c.physical_type == TEXT]
                longest = 0
                if len(lengths) == len(coded):
                    longest = sum(n * length for n, length in zip(coded, lengths, strict=True))
                # Rows whose strings all have the maximum length are rare; 64 MB of them do no harm.
                largest = max(largest, fixed / n_rows, longest / 4 / n_rows)
        return max(total / max(1, self.n_rows), largest)

    def _groups_with_long_texts(self) -> list[int]:
        """Return the row groups that may contain the longest strings, at most `MAX_SAMPLES`."""

        def n_text(number: int) -> int:
            return sum(c.n_plain for c in self._groups[number] if c.physical_type == TEXT)

        return sorted(range(len(self._groups)), key=n_text, reverse=True)[:MAX_SAMPLES]

    def _texts(self, names: Names) -> list[str]:
        """Return those of the columns `names` that pyarrow can read as dictionaries."""
        return [
            field.name
            for field in self.schema
            if field.name in names and field.type in TEXT_TYPES and field.name in self._plain_coded
        ]

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
            n_read = 0
            bits = self._bits(columns, coded)
            if bits:
                batches = self._batches_with_bits(file, rows, columns, bits)
            else:
                batches = file.iter_batches(rows, columns=columns)
            for batch in in_larger_batches(batches, rows):
                n_read += batch.num_rows
                self.share: float = n_read / max(1, self.n_rows)
                yield batch
            if n_read != self.metadata.num_rows:
                raise EOFError(
                    f"the file contains {n_read:,} rows, but its footer says"
                    f" {self.metadata.num_rows:,}; write it again"
                )

    def _bits(self, columns: Names | None, coded: Names) -> dict[str, int]:
        """Return the columns to read as bitmaps, and their positions among the chunks of a group.

        They are Booleans in `coded` without nulls, such as the features that the command writes.
        """
        if len(self._groups) != self.metadata.num_row_groups:
            return {}  # nothing is known about the chunks
        names = self.schema.names
        leaves = self.metadata.schema
        found = {}
        for i in range(len(leaves)):
            leaf = leaves.column(i)
            if leaf.path in coded and (columns is None or leaf.path in columns):
                is_required = not leaf.max_definition_level and not leaf.max_repetition_level
                if is_required and all(are_bits(chunks[i]) for chunks in self._groups):
                    found[leaf.path] = i
        return found if len(set(names)) == len(names) and set(found).issubset(names) else {}

    def _batches_with_bits(
        self, file: pq.ParquetFile, rows: int, columns: Names | None, bits: dict[str, int]
    ) -> Batches:
        """Yield the rows, with the columns in `bits` as bitmaps and the others as pyarrow reads."""
        chosen = [name for name in self.schema.names if columns is None or name in columns]
        others = [name for name in chosen if name not in bits]
        with self.place.open() as raw:
            for number, chunks in enumerate(self._groups):
                n_rows = self.metadata.row_group(number).num_rows
                found: dict[str, pa.Array] = {}
                if len(bits) * n_rows // 8 <= MAX_BITS_BYTES:
                    for name, i in bits.items():
                        array = read_bits(raw, chunks[i], n_rows)
                        if array is None:
                            break
                        found[name] = array
                if len(found) < len(bits):
                    yield from file.iter_batches(rows, row_groups=[number], columns=chosen)
                    continue
                start = 0
                for part in self._others(file, rows, number, others):
                    length = min(rows, n_rows - start) if part is None else part.num_rows
                    arrays = [
                        found[name].slice(start, length) if name in bits else part.column(name)
                        for name in chosen
                    ]
                    types = {} if part is None else {f.name: f for f in part.schema}
                    fields = [types.get(name, self.schema.field(name)) for name in chosen]
                    schema = pa.schema(fields, self.schema.metadata)
                    yield pa.RecordBatch.from_arrays(arrays, schema=schema)
                    start += length

    def _others(
        self, file: pq.ParquetFile, rows: int, number: int, names: Sequence[str]
    ) -> Iterator[Any]:
        """Yield batches of some columns of a row group; None for each batch if there are none."""
        if names:
            yield from file.iter_batches(rows, row_groups=[number], columns=names)
        else:
            yield from [None] * -(-self.metadata.row_group(number).num_rows // rows)


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


def _is_plain(chunk: Chunk) -> bool:
    """Tell whether a column has no dictionary, or one that saves almost no space."""
    if not any("DICTIONARY" in encoding for encoding in chunk.encodings):
        return True
    n_bytes = VALUE_BYTES.get(chunk.physical_type, 0) * (chunk.n_values - chunk.n_null)
    return 0 < MAX_DICTIONARY_SHARE * n_bytes < chunk.n_plain


def _longest_of(columns: Iterable[pa.Array]) -> Iterator[int]:
    """Yield the length of the longest string in each column of strings, at any depth of nesting.

    The dictionary of a column also contains the strings of later rows.
    """
    for column in columns:
        kind = column.type
        if pa.types.is_dictionary(kind):
            yield pc.max(pc.binary_length(column.dictionary)).as_py() or 0
        elif kind in TEXT_TYPES:
            yield pc.max(pc.binary_length(column)).as_py() or 0
        elif pa.types.is_struct(kind):
            yield from _longest_of(column.field(i) for i in range(kind.num_fields))
        elif pa.types.is_nested(kind):
            yield from _longest_of((column.values,))
