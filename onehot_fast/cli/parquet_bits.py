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


@dataclass(frozen=True)
class BitColumns:
    """The columns of a file that are read as bitmaps."""

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
        """Yield the rows; `raw` is the file `file`, opened again."""
        chosen = [name for name in self.schema.names if columns is None or name in columns]
        for number in range(len(self.groups)):
            bitmaps = self._bitmaps(raw, file, number)
            if bitmaps is None:
                yield from file.iter_batches(rows, row_groups=[number], columns=chosen)
            else:
                yield from self._group(file, number, rows, chosen, bitmaps)

    def _bitmaps(
        self, raw: pa.NativeFile, file: pq.ParquetFile, number: int
    ) -> dict[str, pa.Array] | None:
        """Return the columns of a row group; None if they are too large or have another form."""
        n_rows = file.metadata.row_group(number).num_rows
        if len(self.positions) * n_rows // 8 > MAX_BITS_BYTES:
            return None
        found: dict[str, pa.Array] = {}
        for name, i in self.positions.items():
            array = read_bits(raw, self.groups[number][i], n_rows)
            if array is None:
                return None
            found[name] = array
        return found

    def _group(
        self,
        file: pq.ParquetFile,
        number: int,
        rows: int,
        chosen: Sequence[str],
        bitmaps: dict[str, pa.Array],
    ) -> Batches:
        """Yield the rows of a row group, whose other columns pyarrow reads."""
        n_rows, start = file.metadata.row_group(number).num_rows, 0
        others = [name for name in chosen if name not in bitmaps]
        for part in _read_by_pyarrow(file, number, rows, others):
            length = min(rows, n_rows - start) if part is None else part.num_rows
            arrays = [
                bitmaps[name].slice(start, length) if name in bitmaps else part.column(name)
                for name in chosen
            ]
            types = {} if part is None else {field.name: field for field in part.schema}
            fields = [types.get(name, self.schema.field(name)) for name in chosen]
            schema = pa.schema(fields, self.schema.metadata)
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
            start += length


def _read_by_pyarrow(
    file: pq.ParquetFile, number: int, rows: int, names: Sequence[str]
) -> Iterator[Any]:
    """Yield batches of some columns of a row group; None for each batch if there are none."""
    if names:
        yield from file.iter_batches(rows, row_groups=[number], columns=names)
    else:
        yield from [None] * -(-file.metadata.row_group(number).num_rows // rows)
