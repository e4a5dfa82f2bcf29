"""The footer of a Parquet file: which columns there are, and where their chunks lie.

pyarrow reads and writes these too, but it cannot put column chunks that exist already into another
file. The structs: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from onehot_fast.cli import thrift
from onehot_fast.cli.thrift import STRUCT, Struct, Value, i64, listed

__all__ = ["Chunk", "Footer", "Tree", "footer_of", "read_footer", "written"]

MAGIC = b"PAR1"

# The numbers of the fields, by the names of the structs and fields in parquet.thrift.
SCHEMA, N_ROWS, ROW_GROUPS, KEY_VALUES, COLUMN_ORDERS, ENCRYPTION = 2, 3, 4, 5, 7, 8
ELEMENT_TYPE, ELEMENT_REPETITION, ELEMENT_NAME, ELEMENT_CHILDREN = 1, 3, 4, 5
REPEATED = 2
GROUP_COLUMNS, GROUP_BYTES, GROUP_ROWS, GROUP_SORTING = 1, 2, 3, 4
GROUP_OFFSET, GROUP_COMPRESSED, GROUP_ORDINAL = 5, 6, 7
SORTED_COLUMN = 1
CHUNK_PATH, CHUNK_OFFSET, CHUNK_METADATA = 1, 2, 3
OFFSET_INDEX, OFFSET_INDEX_LENGTH, COLUMN_INDEX, COLUMN_INDEX_LENGTH, CRYPTO = 4, 5, 6, 7, 8
CHUNK_TYPE, CHUNK_COLUMN, CODEC, N_VALUES = 1, 3, 4, 5
UNCOMPRESSED_SIZE, COMPRESSED_SIZE = 6, 7
DATA_OFFSET, INDEX_OFFSET, DICTIONARY_OFFSET = 9, 10, 11
BLOOM_OFFSET, BLOOM_LENGTH = 14, 15


class Tree(NamedTuple):
    """A top-level column in the list of schema elements: itself and what is nested in it."""

    name: str
    elements: list[Struct]
    first: int  # among the leaves, which are what has chunks
    n_leaves: int


class _Leaf(NamedTuple):
    """What the schema says about a column that has chunks."""

    type: Value | None
    path: list[bytes]
    is_repeated: bool


class Chunk(NamedTuple):
    """A column chunk: its ColumnChunk struct, and where its bytes begin and how many they are."""

    fields: Struct
    start: int
    length: int

    @property
    def metadata(self) -> Struct:
        """The ColumnMetaData struct."""
        found: Struct = self.fields[CHUNK_METADATA].value
        return found


@dataclass(frozen=True)
class Footer:
    """The FileMetaData struct of a file, and the size of the file."""

    fields: Struct
    n_bytes: int

    @property
    def elements(self) -> list[Struct]:
        """The schema: the root, and then all columns, what contains others before these."""
        found: list[Struct] = self.fields[SCHEMA].value[1]
        return found

    @property
    def groups(self) -> list[Struct]:
        """The row groups that have rows."""
        found = self.fields[ROW_GROUPS].value[1]
        return [group for group in found if group[GROUP_ROWS].value]

    @property
    def trees(self) -> list[Tree]:
        """The top-level columns."""
        elements, trees, at, leaf = self.elements, [], 1, 0
        while at < len(elements):
            end, n_leaves = _end_of(elements, at)
            name = elements[at][ELEMENT_NAME].value.decode()
            trees.append(Tree(name, elements[at:end], leaf, n_leaves))
            at, leaf = end, leaf + n_leaves
        return trees

    @property
    def is_plain(self) -> bool:
        """Whether all is in the one file, and can be read without a key."""
        chunks = [c for group in self.groups for c in group[GROUP_COLUMNS].value[1]]
        foreign = {CHUNK_PATH, CRYPTO}
        return ENCRYPTION not in self.fields and not any(foreign & chunk.keys() for chunk in chunks)

    def chunks(self, group: Struct) -> list[Chunk]:
        """Return the column chunks of a row group.

        Raises
        ------
        ValueError
            One of them is not within the file, or is not what the schema says.
        """
        chunks = [self._chunk(fields) for fields in group[GROUP_COLUMNS].value[1]]
        for chunk, leaf in zip(chunks, self._leaves(), strict=True):
            found = chunk.metadata
            fits = found[CHUNK_TYPE] == leaf.type and found[CHUNK_COLUMN].value[1] == leaf.path
            if not fits or not (leaf.is_repeated or found[N_VALUES] == group[GROUP_ROWS]):
                name = b".".join(leaf.path).decode(errors="replace")
                raise ValueError(f"the footer contradicts itself about the column {name!r}")
        return chunks

    def _leaves(self) -> Iterator[_Leaf]:
        """Yield what the schema says about the columns that have chunks."""
        groups: list[tuple[int, _Leaf]] = []  # how many of its children are to come, and the group
        for element in self.elements[1:]:
            path = [*(groups[-1][1].path if groups else []), element[ELEMENT_NAME].value]
            repetition = element[ELEMENT_REPETITION].value
            is_repeated = repetition == REPEATED or bool(groups and groups[-1][1].is_repeated)
            one = _Leaf(element.get(ELEMENT_TYPE), path, is_repeated)
            if groups:
                groups[-1] = groups[-1][0] - 1, groups[-1][1]
            children = element.get(ELEMENT_CHILDREN)
            if children is not None and children.value:
                groups.append((children.value, one))
            else:
                yield one
            while groups and not groups[-1][0]:
                groups.pop()

    def _chunk(self, fields: Struct) -> Chunk:
        """Return a column chunk with its place."""
        metadata = fields[CHUNK_METADATA].value
        start, length = metadata[DATA_OFFSET].value, metadata[COMPRESSED_SIZE].value
        dictionary = metadata.get(DICTIONARY_OFFSET)
        if dictionary is not None and 0 < dictionary.value < start:
            start = dictionary.value
        if start < len(MAGIC) or length < 0 or start + length > self.n_bytes:
            raise ValueError("the footer places a column outside the file")
        return Chunk(fields, start, length)


def _end_of(elements: Sequence[Struct], at: int) -> tuple[int, int]:
    """Return where the elements of a column end, and how many leaves are among them."""
    left, leaves = 1, 0
    while left:
        children = elements[at].get(ELEMENT_CHILDREN)
        count = 0 if children is None else children.value
        leaves += not count
        left += count - 1
        at += 1
    return at, leaves


def read_footer(file: BinaryIO) -> Footer | None:
    """Return the footer of a file, None if only a key can read it.

    Raises
    ------
    ValueError
        The file has no footer, or it cannot be understood.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if len(end) < 8 or end[4:] != MAGIC or length + 12 > size:
        return None
    file.seek(size - 8 - length)
    return Footer(thrift.loads(file.read(length))[0], size)


def footer_of(data: memoryview) -> Footer:
    """Return the footer of a file in memory."""
    length = int.from_bytes(data[-8:-4], "little")
    return Footer(thrift.loads(bytes(data[-8 - length : -8]))[0], len(data))


def written(table: pa.Table, **options: Any) -> tuple[memoryview, Footer]:
    """Return a table as a Parquet file of at most one row group, and its footer."""
    out = pa.BufferOutputStream()
    with pq.ParquetWriter(out, table.schema, **options) as writer:
        if table.num_rows:
            writer.write_table(table, row_group_size=table.num_rows)
    data = memoryview(out.getvalue()).cast("B")
    return data, footer_of(data)


def moved(chunk: Chunk, start: int) -> Struct:
    """Return the struct of a column chunk that begins elsewhere, without its indexes."""
    metadata = dict(chunk.metadata)
    for number in (DATA_OFFSET, INDEX_OFFSET, DICTIONARY_OFFSET):
        # Some writers say 0 where there is no dictionary.
        if number in metadata and metadata[number].value >= chunk.start:
            metadata[number] = i64(metadata[number].value - chunk.start + start)
    for number in (BLOOM_OFFSET, BLOOM_LENGTH):
        metadata.pop(number, None)
    return {CHUNK_OFFSET: i64(0), CHUNK_METADATA: Value(STRUCT, metadata)}


def row_group(chunks: list[Struct], n_rows: int, start: int) -> Struct:
    """Return the struct of a row group that begins at `start`."""
    sizes = [chunk[CHUNK_METADATA].value for chunk in chunks]
    return {
        GROUP_COLUMNS: listed(STRUCT, chunks),
        GROUP_BYTES: i64(sum(size[UNCOMPRESSED_SIZE].value for size in sizes)),
        GROUP_ROWS: i64(n_rows),
        GROUP_OFFSET: i64(start),
        GROUP_COMPRESSED: i64(sum(size[COMPRESSED_SIZE].value for size in sizes)),
    }
