"""A Parquet file put together from column chunks: some copied from other files, some new."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from onehot_fast.cli import thrift
from onehot_fast.cli.errors import reading, writing
from onehot_fast.cli.footer import (
    BLOOM_LENGTH,
    BLOOM_OFFSET,
    CHUNK_METADATA,
    COLUMN_INDEX,
    COLUMN_INDEX_LENGTH,
    ELEMENT_CHILDREN,
    MAGIC,
    N_ROWS,
    OFFSET_INDEX,
    OFFSET_INDEX_LENGTH,
    ROW_GROUPS,
    SCHEMA,
    Chunk,
    Tree,
    moved,
    row_group,
)
from onehot_fast.cli.thrift import STRUCT, Struct, i32, i64, listed

__all__ = ["Assembly", "Copied", "NewChunk", "Original"]

COPY_BYTES = 4 << 20


class NewChunk(NamedTuple):
    """A chunk that was made here, and its bytes in parts."""

    chunk: Chunk
    parts: Sequence[Any]


@dataclass(frozen=True)
class Original:
    """A file that chunks are copied from."""

    file: BinaryIO
    name: str

    def read(self, start: int, length: int) -> bytes:
        """Return some bytes of the file."""
        with reading(self.name):
            self.file.seek(start)
            data = self.file.read(length)
            if len(data) < length:
                raise EOFError("the file has become shorter")
        return data


class Copied(NamedTuple):
    """A chunk that is copied."""

    chunk: Chunk
    original: Original


class Assembly:
    """The file that is being written.

    Parameters
    ----------
    out : pyarrow.NativeFile
        Written from front to back; it stays open.
    name : str
        What the user calls it.
    """

    def __init__(self, out: pa.NativeFile, name: str) -> None:
        self._out, self._name = out, name
        self._groups: list[Struct] = []
        self._at = self._rows = 0
        self._write(MAGIC)

    @property
    def n_groups(self) -> int:
        """The number of row groups so far."""
        return len(self._groups)

    def add(self, n_rows: int, chunks: Iterable[NewChunk | Copied], more: Struct) -> None:
        """Write a row group: its chunks in the order of the leaves, and more fields of it."""
        start = self._at
        fields: list[Struct] = []
        copied: list[tuple[Struct, Copied, int]] = []
        for one in chunks:
            begin = self._at
            fields.append(moved(one.chunk, begin))
            if isinstance(one, NewChunk):
                for part in one.parts:
                    self._write(part)
            else:
                self._copy(one.original, one.chunk.start, one.chunk.length)
                copied.append((fields[-1], one, begin - one.chunk.start))
        for own, source, shift in copied:
            self._add_bloom_filter(own, source)
            self._add_indexes(own, source, shift)
        self._groups.append(row_group(fields, n_rows, start) | more)
        self._rows += n_rows

    def finish(self, fields: Struct, root: Struct, trees: Iterable[Tree]) -> None:
        """Write the footer: these fields with this schema and the row groups of this file."""
        columns = list(trees)
        root = {**root, ELEMENT_CHILDREN: i32(len(columns))}
        elements = [root, *(element for tree in columns for element in tree.elements)]
        own = {
            SCHEMA: listed(STRUCT, elements),
            N_ROWS: i64(self._rows),
            ROW_GROUPS: listed(STRUCT, self._groups),
        }
        data = thrift.dumps({**fields, **own})
        self._write(data)
        self._write(len(data).to_bytes(4, "little") + MAGIC)

    def _write(self, data: Any) -> None:
        """Write some bytes."""
        with writing(self._name):
            self._out.write(data)
        self._at += len(data)

    def _copy(self, original: Original, start: int, length: int) -> None:
        """Copy bytes of another file."""
        for at in range(start, start + length, COPY_BYTES):
            self._write(original.read(at, min(COPY_BYTES, start + length - at)))

    def _add_bloom_filter(self, fields: Struct, source: Copied) -> None:
        """Copy the Bloom filter of a chunk, if its length is known."""
        before, after = source.chunk.metadata, fields[CHUNK_METADATA].value
        if {BLOOM_OFFSET, BLOOM_LENGTH} <= before.keys():
            after[BLOOM_OFFSET], after[BLOOM_LENGTH] = i64(self._at), before[BLOOM_LENGTH]
            self._copy(source.original, before[BLOOM_OFFSET].value, before[BLOOM_LENGTH].value)

    def _add_indexes(self, fields: Struct, source: Copied, shift: int) -> None:
        """Copy the page index of a chunk whose pages have moved."""
        numbers = OFFSET_INDEX, OFFSET_INDEX_LENGTH, COLUMN_INDEX, COLUMN_INDEX_LENGTH
        before = source.chunk.fields
        if not set(numbers) <= before.keys():
            return
        place, length, other_place, other_length = (before[number].value for number in numbers)
        with reading(source.original.name):
            data = _shifted(source.original.read(place, length), shift)
        fields[OFFSET_INDEX], fields[OFFSET_INDEX_LENGTH] = i64(self._at), i32(len(data))
        self._write(data)
        fields[COLUMN_INDEX], fields[COLUMN_INDEX_LENGTH] = i64(self._at), i32(other_length)
        self._copy(source.original, other_place, other_length)


def _shifted(data: bytes, shift: int) -> bytes:
    """Return an OffsetIndex whose pages have moved."""
    fields, _ = thrift.loads(data)
    kind, pages = fields[1].value
    pages = [{**page, 1: i64(page[1].value + shift)} for page in pages]
    return thrift.dumps({**fields, 1: listed(kind, pages)})
