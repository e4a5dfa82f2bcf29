"""The readers of Arrow IPC files and streams."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence

import pyarrow as pa

from onehot_fast.cli.arrow_batches import (
    PLAIN_TEXTS,
    as_plain_dictionary,
    is_mergeable,
    merged,
    without_dictionary_views,
    without_null_values,
)
from onehot_fast.cli.reader import Batches, Names, Reader, sliced, unpacked

# The type of intervals of months, for which early versions of pyarrow have no number.
MONTHS = "month_interval"
# Smaller batches of Arrow files are merged.
MIN_BATCH_ROWS = 256
# An Arrow file with a larger batch is memory-mapped, and copied slice by slice.
MAX_READ_BYTES = 64 << 20
# The size of the footer's length and the magic at the end of an Arrow file; where its footer says
# where the batches are listed; and the size of an entry in this list.
ARROW_TAIL_BYTES = 10
BATCHES_AT = 4 + 2 * 3
BATCH_ENTRY_BYTES = 24
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


class MessageReader(Reader):
    """An Arrow IPC file or stream, which may contain what pyarrow can read and hardly process."""

    def _set_schema(self, schema: pa.Schema) -> None:
        """Take over the schema of the file; dictionaries of views become plain dictionaries."""
        fields = [field.with_type(without_dictionary_views(field.type)) for field in schema]
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
        are_mergeable = all(map(is_mergeable, schema.types))
        waiting: list[pa.RecordBatch] = []
        for batch in self._parts(rows, columns):
            if batch.schema.types != schema.types:
                pairs = zip(batch.columns, schema.types, strict=True)
                arrays = [as_plain_dictionary(array, kind) for array, kind in pairs]
                batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
            waiting.append(without_null_values(batch))
            n_waiting = sum(one.num_rows for one in waiting)
            if not are_mergeable or n_waiting >= min(rows, MIN_BATCH_ROWS):
                yield from merged(waiting)
                waiting = []
        yield from merged(waiting)

    @abstractmethod
    def _parts(self, rows: int, columns: Names | None) -> Batches:
        """Yield the batches of the file, in slices of at most `rows` rows."""


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
    file.seek(file.size() - ARROW_TAIL_BYTES)
    n_bytes = int.from_bytes(file.read(4), "little")
    file.seek(file.size() - ARROW_TAIL_BYTES - n_bytes)
    footer = bytes(file.read(n_bytes))

    def number(at: int, size: int = 4, signed: bool = False) -> int:
        return int.from_bytes(footer[at : at + size], "little", signed=signed)

    table = number(0)
    fields = table - number(table, signed=True)  # the positions of the table's fields
    if number(fields, 2) <= BATCHES_AT or not number(fields + BATCHES_AT, 2):
        return []
    at = table + number(fields + BATCHES_AT, 2)
    start = at + number(at)
    blocks = range(start + 4, start + 4 + number(start) * BATCH_ENTRY_BYTES, BATCH_ENTRY_BYTES)
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
