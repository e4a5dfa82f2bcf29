"""A writer of Parquet files that writes Boolean columns as bits; pyarrow writes the others.

A row group is divided into pieces. A piece contains neighbouring columns of one codec, which are
either all written as bits or all written by pyarrow. Threads prepare the pieces in memory, and the
pieces are written in the order of the columns.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from onehot_fast.cli.parquet.footer import (
    Group,
    Struct,
    bits_chunk,
    chunks_of,
    footer_with,
    page_header,
)

MAGIC = b"PAR1"
TAIL_BYTES = 8  # the size of the footer, and the magic
# The number of each codec in the format, and pyarrow's name for it.
CODECS: dict[str, tuple[int, str | None]] = {
    "none": (0, None),
    "snappy": (1, "snappy"),
    "gzip": (2, "gzip"),
    "brotli": (4, "brotli"),
    "zstd": (6, "zstd"),
    "lz4": (7, "lz4_raw"),
}
PAGE_ROWS = 1 << 20  # the maximum rows of a page of bits, a multiple of 8
# pyarrow's default of 1,024 rows takes an eighth longer, for dictionaries twice as long.
WRITE_BATCH_ROWS = 1 << 16
# The size of a piece; smaller pieces cost more than their concurrency gains.
PIECE_BYTES = 4 << 20
MAX_THREADS = 4

# The content of a piece, and the metadata of its column chunks. Positions in the metadata are those
# in a file that contains only this piece.
_Piece: TypeAlias = tuple[pa.Buffer | bytes, list[Struct]]


class _Kind(NamedTuple):
    """How a column is written."""

    codec: str
    is_bits: bool  # as bits, and not by pyarrow


class GroupWriter:
    """A Parquet file, which is written row group by row group; the caller closes `file`.

    The columns in `new` have the codec `new_codec`, and the others have `kept_codec`. New columns
    are written as bits if they are Booleans without nulls. `n_files` files are written at the same
    time and share the threads. `result_of` waits for a piece that a thread prepares. `options` are
    those of `pyarrow.parquet.ParquetWriter`.
    """

    def __init__(
        self,
        file: pa.NativeFile,
        schema: pa.Schema,
        new: Collection[str],
        new_codec: str,
        kept_codec: str,
        n_files: int = 1,
        result_of: Callable[[Future[_Piece]], _Piece] = Future.result,
        **options: Any,
    ) -> None:
        self._file, self._schema = file, schema
        self._options = {**options, "write_batch_size": WRITE_BATCH_ROWS}
        kinds = [
            _Kind(
                codec=new_codec if field.name in new else kept_codec,
                is_bits=field.name in new
                and new_codec in CODECS
                and pa.types.is_boolean(field.type)
                and not field.nullable,
            )
            for field in schema
        ]
        runs = itertools.groupby(range(len(schema)), kinds.__getitem__)
        self._runs = [(kind, list(columns)) for kind, columns in runs]
        self._groups: list[Group] = []
        n_threads = max(1, min(MAX_THREADS, pa.cpu_count()) // n_files)
        self._threads = ThreadPoolExecutor(n_threads)
        # Pieces that are being prepared or are ready to be written, each with its row group.
        self._coming: deque[tuple[Group, Future[_Piece]]] = deque()
        self._result_of = result_of
        self._max_coming = 2 * n_threads
        self._offset = 0
        self._write(MAGIC)

    def n_bytes(self, rows: pa.RecordBatch) -> int:
        """Return the bytes of rows in memory; pyarrow would look at each column of bits."""
        n_bits = sum(len(columns) for kind, columns in self._runs if kind.is_bits)
        others = [i for kind, columns in self._runs if not kind.is_bits for i in columns]
        return int(n_bits * rows.num_rows // 8 + rows.select(others).nbytes)

    def write(self, rows: pa.Table) -> None:
        """Start to write a row group, which must contain rows.

        Its last pieces may be written later, by the next call or by `close`.
        """
        group = Group(rows.num_rows)
        self._groups.append(group)
        for kind, columns in self._runs:
            for piece in _pieces(rows, columns, kind.is_bits):
                while len(self._coming) >= self._max_coming:
                    self._write_next()
                prepare = self._bits if kind.is_bits else self._plain
                coming = self._threads.submit(prepare, rows.select(piece), kind.codec)
                self._coming.append((group, coming))

    def _write_next(self) -> None:
        """Write the next piece, or raise the error of the thread that prepared it."""
        group, coming = self._coming.popleft()
        content, chunks = self._result_of(coming)
        for chunk in chunks:
            group.add(chunk, self._offset - len(MAGIC))
        self._write(content)

    def _write(self, content: pa.Buffer | bytes) -> None:
        """Write a whole piece at once; writing page by page would take 1.5 times as long."""
        self._file.write(content)
        self._offset += len(content)

    def _plain(self, rows: pa.Table, codec: str) -> _Piece:
        """Return columns as pyarrow writes them in a row group, and the metadata of the columns."""
        out = pa.BufferOutputStream()
        options = {**self._options, "compression": codec, "store_schema": False}
        pq.write_table(rows, out, rows.num_rows, **options)
        content, footer = _content_and_footer(out.getvalue())
        return content, chunks_of(footer, rows.num_rows)

    def _bits(self, rows: pa.Table, codec: str) -> _Piece:
        """Return Boolean columns as pages with headers, and the metadata of the columns."""
        number, name_of_codec = CODECS[codec]
        # One object for each piece, because that of gzip has a state.
        packer = None if name_of_codec is None else pa.Codec(name_of_codec)
        content: list[bytes] = []
        chunks: list[Struct] = []
        start = len(MAGIC)
        for name, column in zip(rows.schema.names, rows.columns, strict=True):
            pages, n_plain, n_true = _pages(column, packer)
            sizes = n_plain, sum(map(len, pages))
            n_pages, n_rows = len(pages) // 2, rows.num_rows
            chunk = bits_chunk(name, number, start, sizes, n_pages, n_rows, n_true)
            chunks.append(chunk)
            content += pages
            start += sizes[1]
        return b"".join(content), chunks

    def close(self) -> None:
        """Write the remaining pieces and the footer."""
        while self._coming:
            self._write_next()
        self._threads.shutdown()
        out = pa.BufferOutputStream()
        pq.ParquetWriter(out, self._schema, **self._options).close()
        footer = footer_with(_content_and_footer(out.getvalue())[1], self._groups)
        self._write(_with_tail(footer))

    def abandon(self, wait: bool = True) -> None:
        """End the threads, and write no footer, so that the incomplete file is not valid.

        If `wait` is false, threads may prepare their last piece after this call.
        """
        self._threads.shutdown(wait=wait, cancel_futures=True)
        self._coming.clear()


def position_of_footer(file: pa.NativeFile) -> tuple[int, int]:
    """Return where the footer of a Parquet file begins, and its size.

    If the file is no Parquet file or its footer is encrypted, the size is 0.
    """
    end = file.size() - TAIL_BYTES
    if end >= len(MAGIC):
        file.seek(end)
        tail = file.read(TAIL_BYTES)
        n_bytes = int.from_bytes(tail[:4], "little")
        if tail.endswith(MAGIC) and n_bytes <= end - len(MAGIC):
            return end - n_bytes, n_bytes
    return max(0, end), 0


def footer_in(file: pa.NativeFile) -> bytes:
    """Return the footer of a Parquet file, which pyarrow has opened without an error."""
    start, n_bytes = position_of_footer(file)
    file.seek(start)
    return bytes(file.read(n_bytes))


def as_file(footer: bytes) -> pa.BufferReader:
    """Return a file of nothing but a footer, from which pyarrow reads the metadata."""
    return pa.BufferReader(MAGIC + _with_tail(footer))


def _with_tail(footer: bytes) -> bytes:
    """Return a footer and what is after it in a file."""
    return footer + len(footer).to_bytes(4, "little") + MAGIC


def _content_and_footer(file: pa.Buffer) -> tuple[pa.Buffer, bytes]:
    """Return the content of a file between the magic and the footer, and the footer."""
    end = file.size - TAIL_BYTES
    start = end - int.from_bytes(file[end : end + 4].to_pybytes(), "little")
    return file[len(MAGIC) : start], file[start:end].to_pybytes()


def _pieces(rows: pa.Table, columns: Sequence[int], are_bits: bool) -> Iterator[list[int]]:
    """Yield lists of neighbouring columns; each list is one piece."""
    piece, n_bytes = [], 0
    for i in columns:
        piece.append(i)
        # pyarrow takes as long to sum the buffers of a column of bits as to copy them.
        n_bytes += rows.num_rows // 8 if are_bits else rows.column(i).nbytes
        if n_bytes >= PIECE_BYTES:
            yield piece
            piece, n_bytes = [], 0
    if piece:
        yield piece


def _pages(column: pa.ChunkedArray, codec: pa.Codec | None) -> tuple[list[bytes], int, int]:
    """Return all pages with headers, their bytes before compression, and the number of ones."""
    array = pa.concat_arrays(column.chunks)  # begins at a byte
    pages: list[bytes] = []
    n_plain, bits = 0, memoryview(array.buffers()[1])
    for start in range(0, len(array), PAGE_ROWS):
        n_values = min(PAGE_ROWS, len(array) - start)
        plain = bits[start // 8 : (start + n_values + 7) // 8]
        packed = bytes(plain) if codec is None else codec.compress(plain, asbytes=True)
        header = page_header(n_values, len(plain), len(packed))
        n_plain += len(header) + len(plain)
        pages += [header, packed]
    return pages, n_plain, int(array.true_count)
