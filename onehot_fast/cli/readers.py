"""Readers of each format, which read a file in batches of bounded size."""

from __future__ import annotations

import itertools
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from onehot_fast.cli.parquet import (
    CODECS,
    Chunk,
    FooterError,
    are_bits,
    footer_in,
    groups_of,
    read_bits,
)
from onehot_fast.cli.places import Format, Place

Batches: TypeAlias = Generator[pa.RecordBatch, None, None]
Names: TypeAlias = Collection[str]

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
# The type of intervals of months, for which early versions of pyarrow have no number.
MONTHS = "month_interval"
# The encodings that it can read so.
CODED = frozenset(["PLAIN", "PLAIN_DICTIONARY", "RLE", "RLE_DICTIONARY", "BIT_PACKED"])
# Views, and the types that replace them within dictionaries and before they are written as text.
PLAIN_TEXTS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
# Smaller batches of Arrow files are merged.
MIN_BATCH_ROWS = 256
# The size of the length before each string that is stored without a dictionary.
BYTES_OF_LENGTH = 4
# A dictionary of numbers is useless if the column takes more than this share of its plain size.
MAX_DICTIONARY_SHARE = 0.9
# How many row groups are looked at to estimate the bytes of a row.
MAX_SAMPLES = 64
# A row group with larger bitmaps is read by pyarrow, which reads it in parts.
MAX_BITS_BYTES = 128 << 20
# An Arrow file with a larger batch is memory-mapped, and copied slice by slice.
MAX_READ_BYTES = 64 << 20
# The size of the footer's length and the magic at the end of an Arrow file; where its footer says
# where the batches are listed; and the size of an entry in this list.
TAIL_BYTES = 10
BATCHES_AT = 4 + 2 * 3
BLOCK_BYTES = 24
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


@dataclass(frozen=True)
class Input:
    """The input that the user named, and how it is read."""

    place: Place  # a file, a folder or standard input
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
    # For Arrow streams:
    may_lack_end: bool = False  # whether a stream without an end marker is read

    @property
    def has_header(self) -> bool:
        """Whether the first row of a CSV file contains the names of the columns."""
        return not self.no_header and self.names is None


class Reader(ABC):
    """A file that is read in batches."""

    n_rows: int | None = None  # None: not known before the file has been read
    schema: pa.Schema
    # The codec of the file, for an Arrow output.
    compression: str | None = None
    # The paths of columns whose values hardly repeat, so that a dictionary is useless.
    plain: Collection[str] = ()
    # The columns whose strings repeat so often that they are read and written as dictionaries.
    repeated: Collection[str] = ()
    share: float = 0.0  # how much of the file has been read
    notes: Sequence[str] = ()  # on how the file is read
    # The types in the file of columns that are read as another type, but decoded to this one.
    types_in_file: Mapping[str, pa.DataType] = MappingProxyType({})

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
            for batch in _in_larger_batches(batches, rows):
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


class MessageReader(Reader):
    """An Arrow IPC file or stream, which may contain what pyarrow can read and hardly process."""

    def _set_schema(self, schema: pa.Schema) -> None:
        """Take over the schema of the file; dictionaries of views become plain dictionaries."""
        fields = [field.with_type(_without_views(field.type)) for field in schema]
        self.schema: pa.Schema = pa.schema(fields, schema.metadata)
        self.types_in_file: Mapping[str, pa.DataType] = {
            field.name: field.type
            for field in schema
            if pa.types.is_dictionary(field.type) and field.type.value_type in PLAIN_TEXTS
        }
        for field in schema:
            if str(field.type) == MONTHS:
                raise ValueError(
                    f"column {field.name!r} has type {field.type}, whose values Python cannot read;"
                    " write the file again without it, or with month_day_nano_interval"
                )

    def batches(self, rows: int, columns: Names | None, coded: Names) -> Batches:
        """Yield the rows; batches of a few rows are merged."""
        schema = pa.schema([self.schema.field(i) for i in _positions(self.schema, columns)])
        are_mergeable = all(map(_is_mergeable, schema.types))
        waiting: list[pa.RecordBatch] = []
        for batch in self._parts(rows, columns):
            if batch.schema.types != schema.types:
                pairs = zip(batch.columns, schema.types, strict=True)
                arrays = [_as_plain_dictionary(array, kind) for array, kind in pairs]
                batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
            waiting.append(_without_null_values(batch))
            n_waiting = sum(one.num_rows for one in waiting)
            if not are_mergeable or n_waiting >= min(rows, MIN_BATCH_ROWS):
                yield from _merged(waiting)
                waiting = []
        yield from _merged(waiting)

    @abstractmethod
    def _parts(self, rows: int, columns: Names | None) -> Batches:
        """Yield the batches of the file, in slices of at most `rows` rows."""


def _without_views(kind: pa.DataType) -> pa.DataType:
    """Return a type whose dictionaries, at any depth, contain plain strings instead of views.

    pyarrow cannot take from, cast or write dictionaries of views, which polars writes.
    """
    if pa.types.is_dictionary(kind):
        values = PLAIN_TEXTS.get(kind.value_type, kind.value_type)
        return pa.dictionary(kind.index_type, values, kind.ordered)
    if pa.types.is_struct(kind):
        return pa.struct([f.with_type(_without_views(f.type)) for f in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_without_views(kind.value_type)))
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_without_views(kind.value_type)))
    if pa.types.is_fixed_size_list(kind):
        item = kind.value_field.with_type(_without_views(kind.value_type))
        return pa.list_(item, kind.list_size)
    return kind


def _as_plain_dictionary(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return an array as `kind`, the result of `_without_views` for its type."""
    if array.type == kind:
        return array
    if pa.types.is_dictionary(kind):
        values = array.dictionary.cast(kind.value_type)
        return pa.DictionaryArray.from_arrays(array.indices, values, ordered=kind.ordered)
    if pa.types.is_struct(kind):
        children = [
            _as_plain_dictionary(array.field(i), kind.field(i).type) for i in range(kind.num_fields)
        ]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=mask)
    values = _as_plain_dictionary(array.values, kind.value_type)
    own = array.buffers()[: 1 if pa.types.is_fixed_size_list(kind) else 2]
    return pa.Array.from_buffers(kind, len(array), own, array.null_count, array.offset, [values])


def _without_null_values(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch whose dictionaries contain no null, which pyarrow could not unify."""
    for i, array in enumerate(batch.columns):
        if pa.types.is_dictionary(array.type) and array.dictionary.null_count:
            is_value = pc.is_valid(array.dictionary)
            numbers = pc.subtract(pc.cumulative_sum(is_value.cast(pa.int64())), 1)
            new = pc.if_else(is_value, numbers, None).cast(array.type.index_type)
            codes, values = new.take(array.indices), array.dictionary.filter(is_value)
            plain = pa.DictionaryArray.from_arrays(codes, values, ordered=array.type.ordered)
            batch = batch.set_column(i, batch.schema.field(i), plain)
    return batch


def _is_mergeable(kind: pa.DataType) -> bool:
    """Tell whether pyarrow can concatenate arrays of a type that have other dictionaries."""
    if isinstance(kind, pa.BaseExtensionType):
        return _is_mergeable(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return not pa.types.is_nested(kind.value_type)
    if pa.types.is_struct(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        parts = [kind.field(i).type for i in range(kind.num_fields)]
        return all(_is_mergeable(part) and not pa.types.is_dictionary(part) for part in parts)
    return not pa.types.is_nested(kind) and not pa.types.is_run_end_encoded(kind)


def _in_larger_batches(batches: Iterable[pa.RecordBatch], rows: int) -> Batches:
    """Yield the rows of batches, of which neighbours are merged up to `rows` rows.

    Each batch costs time for each of its features, and the batches of small row groups are small.
    """
    waiting: list[pa.RecordBatch] = []
    n_waiting = 0
    for batch in batches:
        if waiting and (
            n_waiting + batch.num_rows > rows or not all(map(_is_mergeable, batch.schema.types))
        ):
            yield from _merged(waiting)
            waiting, n_waiting = [], 0
        waiting.append(batch)
        n_waiting += batch.num_rows
    yield from _merged(waiting)


def _merged(batches: Sequence[pa.RecordBatch]) -> Sequence[pa.RecordBatch]:
    """Return batches as one batch; no or one batch is returned unchanged."""
    if len(batches) < 2:
        return batches
    table = pa.Table.from_batches(batches).unify_dictionaries()
    return list(table.combine_chunks().to_batches())


class ArrowReader(MessageReader):
    """An Arrow IPC file.

    If a memory-mapped file is truncated, the system kills a process that reads beyond the new end.
    Therefore, only files with very large batches are mapped, and the size of the file is checked
    before each slice is read.
    """

    def _describe(self) -> None:
        with self.place.open() as file:
            self._set_schema(pa.ipc.open_file(file).schema)
            largest = max(_batch_bytes(file), default=0)
        self._is_mapped = self.place.local is not None and largest > MAX_READ_BYTES

    def _parts(self, rows: int, columns: Names | None) -> Batches:
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


def _batch_bytes(file: pa.NativeFile) -> list[int]:
    """Return the bytes of each batch of an Arrow file, which pyarrow has opened without an error.

    They are in the footer: a table of Flatbuffers, whose field 3 is a vector of structs of an
    offset, the size of the metadata and the size of the data. pyarrow does not show them, and the
    messages before the footer need not begin with a schema.
    """
    file.seek(file.size() - TAIL_BYTES)
    n_bytes = int.from_bytes(file.read(4), "little")
    file.seek(file.size() - TAIL_BYTES - n_bytes)
    footer = bytes(file.read(n_bytes))

    def number(at: int, size: int = 4, signed: bool = False) -> int:
        return int.from_bytes(footer[at : at + size], "little", signed=signed)

    table = number(0)
    fields = table - number(table, signed=True)  # the positions of the table's fields
    if number(fields, 2) <= BATCHES_AT or not number(fields + BATCHES_AT, 2):
        return []
    at = table + number(fields + BATCHES_AT, 2)
    start = at + number(at)
    blocks = range(start + 4, start + 4 + number(start) * BLOCK_BYTES, BLOCK_BYTES)
    return [number(block + 16, 8) for block in blocks if block < n_bytes]


class StreamReader(MessageReader):
    """An Arrow IPC stream, which may be compressed as a whole."""

    def _describe(self) -> None:
        with self.place.open() as file:
            self._set_schema(pa.ipc.open_stream(unpacked(file, self.format)).schema)
            self._has_end = self.format.compression is not None or self._ends_with_marker(file)
        if self.spec.may_lack_end and not self._has_end:
            self.notes: Sequence[str] = ("the stream has no end marker; rows may be missing",)

    def _ends_with_marker(self, file: pa.NativeFile) -> bool:
        """Tell whether a file ends as the writer of a stream ends it."""
        file.seek(max(0, self.n_bytes - len(END_OF_STREAM)))
        return bytes(file.read()) == END_OF_STREAM

    def _parts(self, rows: int, columns: Names | None) -> Batches:
        with self.place.open() as packed:
            file = unpacked(packed, self.format)
            reader = pa.ipc.open_stream(file, options=_only(self.schema, columns))
            for batch in reader:
                self.share: float = packed.tell() / self.n_bytes
                batch.validate(full=True)  # no offset or code points outside its data
                yield from sliced(batch, rows)
            file.read()  # checks the length or checksum at the end of a compressed file
            if not self._has_end and not self.spec.may_lack_end:
                raise EOFError(
                    "the stream is truncated between batches, or was closed without its end"
                    " marker; pass --no-end-marker to read the rows before it"
                )


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
    return pa.ipc.IpcReadOptions(included_fields=_positions(schema, columns))


def _positions(schema: pa.Schema, columns: Names | None) -> list[int]:
    """Return the positions of the columns with these names; None means all columns."""
    return [i for i, name in enumerate(schema.names) if columns is None or name in columns]


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
