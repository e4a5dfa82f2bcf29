"""Boolean columns of a Parquet file that are read as bitmaps, beside the columns of pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from onehot_fast.cli.parquet import Chunk, are_bits, read_bits
from onehot_fast.cli.reader import Batches, Names

# A row group with larger bitmaps is read by pyarrow, which reads it in parts.
MAX_BITS_BYTES = 128 << 20
# Bitmaps begin at a multiple of this many bytes, as Arrow recommends.
ALIGNMENT = 64


@dataclass(frozen=True)
class BitColumns:
    """The columns of a file that are read as bitmaps; all of them are read."""

    positions: dict[str, int]  # of each column among the chunks of a row group
    groups: Sequence[Sequence[Chunk]]  # the chunks of each row group
    schema: pa.Schema  # of all columns of the file

    @classmethod
    def among(
        cls,
        names: Names,
        file: pq.ParquetFile,
        schema: pa.Schema,
        groups: Sequence[Sequence[Chunk]],
    ) -> BitColumns | None:
        """Return those of the columns `names` that are bitmaps; None if there are none.

        They are Booleans without nulls, such as the features that the command writes.
        """
        if len(groups) != file.metadata.num_row_groups:
            return None  # nothing is known about the chunks
        leaves = file.metadata.schema
        found = {}
        for i in range(len(leaves)):
            leaf = leaves.column(i)
            if leaf.path in names:
                is_required = not leaf.max_definition_level and not leaf.max_repetition_level
                if is_required and all(are_bits(chunks[i]) for chunks in groups):
                    found[leaf.path] = i
        are_unique = len(set(schema.names)) == len(schema)
        if not found or not are_unique or not set(found).issubset(schema.names):
            return None
        return cls(found, groups, schema)

    def batches(
        self, raw: pa.NativeFile, file: pq.ParquetFile, rows: int, columns: Names | None
    ) -> Batches:
        """Yield the rows; `raw` is the file `file`, opened again.

        The bitmaps of each row group are read into the same memory, and each batch has a copy of
        its part. Views of the bitmaps would keep up to three row groups in memory.
        """
        chosen = [name for name in self.schema.names if columns is None or name in columns]
        sizes = [self._column_bytes(file, number) for number in range(len(self.groups))]
        n_bytes = len(self.positions) * max(sizes, default=0)
        memory = memoryview(pa.allocate_buffer(n_bytes)).cast("B")
        for number in range(len(self.groups)):
            if self._read_bitmaps(raw, file, number, memory):
                yield from self._group(file, number, rows, chosen, memory)
            else:
                yield from file.iter_batches(rows, row_groups=[number], columns=chosen)

    def _column_bytes(self, file: pq.ParquetFile, number: int) -> int:
        """Return the bytes of a column in a row group, or 0 if the row group is too large."""
        n_bytes = _padded(file.metadata.row_group(number).num_rows)
        return n_bytes if len(self.positions) * n_bytes <= MAX_BITS_BYTES else 0

    def _read_bitmaps(
        self, raw: pa.NativeFile, file: pq.ParquetFile, number: int, memory: memoryview
    ) -> bool:
        """Read the columns of a row group into memory, one after the other.

        Return false if they are too large or have another form.
        """
        n_rows = file.metadata.row_group(number).num_rows
        column_bytes = self._column_bytes(file, number)
        if not column_bytes:
            return False
        for i, position in enumerate(self.positions.values()):
            array = read_bits(raw, self.groups[number][position], n_rows)
            if array is None:
                return False
            bits = memoryview(array.buffers()[1]).cast("B")[: (n_rows + 7) // 8]
            memory[i * column_bytes :][: len(bits)] = bits
        return True

    def _group(
        self,
        file: pq.ParquetFile,
        number: int,
        rows: int,
        chosen: Sequence[str],
        memory: memoryview,
    ) -> Batches:
        """Yield the rows of a row group, whose other columns pyarrow reads."""
        n_rows, start = file.metadata.row_group(number).num_rows, 0
        others = [name for name in chosen if name not in self.positions]
        column_bytes = self._column_bytes(file, number)
        columns = [memory[i * column_bytes :] for i in range(len(self.positions))]
        for part in _read_by_pyarrow(file, number, rows, others):
            length = min(rows, n_rows - start) if part is None else part.num_rows
            bits = _copied_bits(columns, start, length)
            bitmaps = dict(zip(self.positions, bits, strict=True))
            arrays = [bitmaps[name] if name in bitmaps else part.column(name) for name in chosen]
            types = {} if part is None else {field.name: field for field in part.schema}
            fields = [types.get(name, self.schema.field(name)) for name in chosen]
            schema = pa.schema(fields, self.schema.metadata)
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
            start += length


def _padded(n_bits: int) -> int:
    """Return the bytes of a bitmap, so that the next one begins where Arrow recommends it."""
    return -(-n_bits // (8 * ALIGNMENT)) * ALIGNMENT


def _copied_bits(bitmaps: Sequence[memoryview], start: int, length: int) -> list[pa.Array]:
    """Return copies of some rows of bitmaps, which share one buffer.

    Thousands of small buffers would leave gaps in the memory of the process.
    """
    first, end = start // 8, (start + length + 7) // 8
    column_bytes = _padded(8 * (end - first))
    memory = pa.allocate_buffer(len(bitmaps) * column_bytes)
    content = memoryview(memory).cast("B")
    arrays = []
    for i, bitmap in enumerate(bitmaps):
        content[i * column_bytes :][: end - first] = bitmap[first:end]
        bits = memory.slice(i * column_bytes, end - first)
        arrays.append(pa.Array.from_buffers(pa.bool_(), length, [None, bits], 0, start % 8))
    return arrays


def _read_by_pyarrow(
    file: pq.ParquetFile, number: int, rows: int, names: Sequence[str]
) -> Iterator[Any]:
    """Yield batches of some columns of a row group; None for each batch if there are none."""
    if names:
        yield from file.iter_batches(rows, row_groups=[number], columns=names)
    else:
        yield from [None] * -(-file.metadata.row_group(number).num_rows // rows)
