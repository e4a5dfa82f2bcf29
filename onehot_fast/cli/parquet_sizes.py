"""Estimates of the bytes of a row of a Parquet file in memory, from the footer and a few values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from onehot_fast.cli.parquet import Chunk

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
# The types of texts that pyarrow can read as dictionaries.
TEXT_TYPES = pa.string(), pa.large_string(), pa.binary(), pa.large_binary()
# The size of the length before each string that is stored without a dictionary.
BYTES_OF_LENGTH = 4
# A dictionary of numbers is useless if the column takes more than this share of its plain size.
MAX_DICTIONARY_SHARE = 0.9
# How many row groups are looked at to estimate the bytes of a row.
MAX_SAMPLES = 64


def has_no_use_for_dictionary(chunk: Chunk) -> bool:
    """Tell whether a column has no dictionary, or one that saves almost no space."""
    if not any("DICTIONARY" in encoding for encoding in chunk.encodings):
        return True
    n_bytes = VALUE_BYTES.get(chunk.physical_type, 0) * (chunk.n_values - chunk.n_null)
    return 0 < MAX_DICTIONARY_SHARE * n_bytes < chunk.n_plain


def has_short_texts(chunk: Chunk) -> bool:
    """Tell whether a chunk of strings is smaller than their lengths without a dictionary."""
    return chunk.n_plain < BYTES_OF_LENGTH * chunk.n_values


def texts_of(groups: Sequence[Sequence[Chunk]]) -> list[str]:
    """Return the paths of the columns of strings."""
    return [c.path for c in groups[0] if c.physical_type == TEXT] if groups else []


def estimated_row_bytes(file: pq.ParquetFile, groups: Sequence[Sequence[Chunk]]) -> float:
    """Return the approximate bytes of a row in memory, without compression and dictionaries.

    `groups` are the chunks of each row group; there are none if nothing is known about them. The
    columns of strings should be open as dictionaries, so that reading one value reads them all.
    """
    metadata = file.metadata
    if not groups:
        sizes = (metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        return float(2 * sum(sizes) / max(1, metadata.num_rows))
    # Bits are the same in memory; other values may take twice the bytes of their pages.
    total = sum(
        VALUE_BYTES[BITS] * c.n_values if c.physical_type == BITS else 2 * c.n_plain
        for c in itertools.chain.from_iterable(groups)
    )
    largest = max((_row_bytes(file, groups, i) for i in _with_long_texts(groups)), default=0.0)
    return float(max(total / max(1, metadata.num_rows), largest))


def _row_bytes(file: pq.ParquetFile, groups: Sequence[Sequence[Chunk]], number: int) -> float:
    """Return the approximate bytes of the rows with the longest strings of a row group."""
    chunks = groups[number]
    n_rows = max(1, file.metadata.row_group(number).num_rows)
    fixed = sum(c.n_values * VALUE_BYTES.get(c.physical_type, 0) for c in chunks)
    # Reading one value reads the whole dictionary.
    batches = file.iter_batches(64, row_groups=[number], columns=texts_of(groups))
    first = next(batches, None)
    lengths = [] if first is None else [*_longest_of(first.columns)]
    coded = [c.n_values for c in chunks if c.physical_type == TEXT]
    longest = 0
    if len(lengths) == len(coded):
        longest = sum(n * length for n, length in zip(coded, lengths, strict=True))
    # Rows whose strings all have the maximum length are rare; 64 MB of them do no harm.
    return float(max(fixed / n_rows, longest / 4 / n_rows))


def _with_long_texts(groups: Sequence[Sequence[Chunk]]) -> list[int]:
    """Return the row groups that may contain the longest strings, at most `MAX_SAMPLES`."""

    def n_text(number: int) -> int:
        return sum(c.n_plain for c in groups[number] if c.physical_type == TEXT)

    return sorted(range(len(groups)), key=n_text, reverse=True)[:MAX_SAMPLES]


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
