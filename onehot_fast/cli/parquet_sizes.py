"""What the column chunks of a Parquet file say about its columns, and the bytes of a row."""

from __future__ import annotations

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
# The encodings of strings that pyarrow can read as dictionaries.
CODED = frozenset(["PLAIN", "PLAIN_DICTIONARY", "RLE", "RLE_DICTIONARY", "BIT_PACKED"])
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


class ChunkSummary:
    """What all column chunks of a file say, collected from the row groups in order."""

    def __init__(self) -> None:
        self.is_known: bool = True  # whether the footer says something about each row group
        self.first: Sequence[Chunk] = ()  # of the first row group
        self.paths: set[str] = set()
        self._otherwise_coded: set[str] = set()  # paths of columns with encodings not in `CODED`
        self._long: set[str] = set()  # paths of columns with a chunk without short texts
        self._text_bytes: list[int] = []  # of the strings of each row group, in the file
        self._bytes = 0.0  # of all chunks in memory
        self._largest_row = 0.0  # the bytes of a row in memory without strings, in any row group
        self._stored_bytes = 0

    def add(self, groups: Sequence[Sequence[Chunk]], metadata: pq.FileMetaData) -> None:
        """Add the next row groups; there are no `groups` if nothing is known about them."""
        self.is_known = self.is_known and len(groups) == metadata.num_row_groups
        numbers = range(metadata.num_row_groups)
        stored = [metadata.row_group(i) for i in numbers]
        self._stored_bytes += sum(group.total_byte_size for group in stored)
        if groups and not self._text_bytes:
            self.first = groups[0]
        for chunks, group in zip(groups, stored, strict=False):
            fixed = sum(c.n_values * VALUE_BYTES.get(c.physical_type, 0) for c in chunks)
            self._largest_row = max(self._largest_row, fixed / max(1, group.num_rows))
            self._text_bytes.append(sum(c.n_plain for c in chunks if c.physical_type == TEXT))
            for c in chunks:
                self.paths.add(c.path)
                if not CODED.issuperset(c.encodings or {""}):
                    self._otherwise_coded.add(c.path)
                if not has_short_texts(c):
                    self._long.add(c.path)
                # Bits are the same in memory; other values may take twice the bytes of their pages.
                is_bits = c.physical_type == BITS
                self._bytes += VALUE_BYTES[BITS] * c.n_values if is_bits else 2 * c.n_plain

    @property
    def codable(self) -> set[str]:
        """The paths of the columns that pyarrow can read as dictionaries if they are strings."""
        return self.paths - self._otherwise_coded if self.is_known else set()

    @property
    def repeated(self) -> set[str]:
        """The paths of the columns whose strings repeat.

        A chunk without a dictionary would store the length of each string. If every chunk is
        smaller than these lengths, the strings count as repeated.
        """
        return self.codable - self._long

    @property
    def plain(self) -> set[str]:
        """The paths of the columns for which a dictionary is useless."""
        return {c.path for c in self.first if has_no_use_for_dictionary(c)}

    def row_bytes(self, n_rows: int) -> float:
        """Return the approximate bytes of a row in memory, without compression and dictionaries.

        `n_rows` is the number of rows of the file. Long strings may make it larger.
        """
        if not self.is_known:
            return 2 * self._stored_bytes / max(1, n_rows)
        return max(self._bytes / max(1, n_rows), self._largest_row)

    @property
    def samples(self) -> set[int]:
        """The row groups that may contain the longest strings, at most `MAX_SAMPLES`."""
        sizes = self._text_bytes if self.is_known else []
        with_text = [number for number, size in enumerate(sizes) if size]
        return set(sorted(with_text, key=sizes.__getitem__, reverse=True)[:MAX_SAMPLES])


def texts_of(chunks: Sequence[Chunk]) -> list[str]:
    """Return the paths of the columns of strings."""
    return [c.path for c in chunks if c.physical_type == TEXT]


def long_text_bytes(file: pq.ParquetFile, chunks: Sequence[Chunk], number: int) -> float:
    """Return the approximate bytes of a row with the longest strings of a row group.

    The columns of strings should be open as dictionaries, so that reading one value reads them all.
    """
    batches = file.iter_batches(64, row_groups=[number], columns=texts_of(chunks))
    first = next(batches, None)
    lengths = [] if first is None else [*_longest_of(first.columns)]
    coded = [c.n_values for c in chunks if c.physical_type == TEXT]
    if len(lengths) != len(coded):
        return 0.0
    longest = sum(n * length for n, length in zip(coded, lengths, strict=True))
    # Rows whose strings all have the maximum length are rare; 64 MB of them do no harm.
    return float(longest / 4 / max(1, file.metadata.row_group(number).num_rows))


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
