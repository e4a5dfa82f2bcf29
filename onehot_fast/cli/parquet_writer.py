"""Parquet files whose columns of outputs are written as the bits they are, all else by pyarrow.

pyarrow takes Booleans one by one, about 10 ns each; in Arrow's memory they lie already as the
format has them. And it writes one column after the other. So a row group is made of pieces, some
neighbouring columns of one kind each: several threads prepare them in memory, and they are written
in the order of the columns. The footer is what pyarrow writes for a file of all columns, with what
is said of the chunks in each piece.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from onehot_fast.cli.parquet_footer import (
    BitsChunk,
    Chunk,
    Group,
    chunks_of,
    footer_with,
    page_header,
)
from onehot_fast.cli.pipeline import result_of

__all__ = ["GroupWriter"]

MAGIC = b"PAR1"
# How the format numbers the codecs, and what pyarrow calls that which is within the pages.
CODECS: dict[str, tuple[int, str | None]] = {
    "none": (0, None),
    "snappy": (1, "snappy"),
    "gzip": (2, "gzip"),
    "brotli": (4, "brotli"),
    "zstd": (6, "zstd"),
    "lz4": (7, "lz4_raw"),
}
PAGE_ROWS = 1 << 20
# Rows: less than a page; pyarrow's own 1,024 cost an eighth more, of dictionaries twice as much.
WRITTEN_AT_ONCE = 1 << 16
# Of columns that are prepared together; more than one in smaller ones costs more than it brings.
PIECE_BYTES = 4 << 20
MOST_THREADS = 4
TAIL_BYTES = 8  # the size of the footer, and the magic


class GroupWriter:
    """A Parquet file, a row group at a time, which is prepared by threads of its own.

    Parameters
    ----------
    file : pyarrow.NativeFile
        Written from its beginning, and not closed.
    schema : pyarrow.Schema
    outputs : collection of str
        The names of the columns that are written here if they are Booleans that are never null.
    compression : str
        As `pyarrow.parquet.ParquetWriter` has it.
    n_at_once : int
        Such files being written, which share the threads.
    **options
        For it.
    """

    def __init__(
        self,
        file: pa.NativeFile,
        schema: pa.Schema,
        outputs: Collection[str],
        compression: str,
        n_at_once: int = 1,
        **options: Any,
    ) -> None:
        self._file, self._schema = file, schema
        self._options = {
            **options,
            "compression": compression,
            "write_batch_size": WRITTEN_AT_ONCE,
        }
        self._codec_number, self._codec_name = CODECS.get(compression, (-1, None))
        is_open = self._codec_number >= 0
        is_bits = [is_open and f.name in outputs and _is_required(f) for f in schema]
        runs = itertools.groupby(range(len(schema)), is_bits.__getitem__)
        self._runs = [(kind, list(columns)) for kind, columns in runs]
        self._groups: list[Group] = []
        n_threads = max(1, min(MOST_THREADS, pa.cpu_count()) // n_at_once)
        self._threads = ThreadPoolExecutor(n_threads)
        # Pieces that are being prepared, or wait to be written, each with its row group.
        self._coming: deque[tuple[Group, Future[_Piece]]] = deque()
        self._most_coming = 2 * n_threads
        self._offset = 0
        self._put(MAGIC)

    def write(self, rows: pa.Table) -> None:
        """Begin to write a row group, which has rows; the end of it may come with the next."""
        group = Group(rows.num_rows, [])
        self._groups.append(group)
        for is_bits, columns in self._runs:
            for some in _cut(rows, columns):
                while len(self._coming) >= self._most_coming:
                    self._write_next()
                prepare = self._bits if is_bits else self._kept
                piece = self._threads.submit(prepare, rows.select(some))
                self._coming.append((group, piece))

    def _write_next(self) -> None:
        """Write the piece whose turn it is, and raise what went wrong."""
        group, coming = self._coming.popleft()
        content, chunks = result_of(coming)
        group.chunks.extend(chunk.placed(self._offset) for chunk in chunks)
        self._put(content)

    def _put(self, content: pa.Buffer | bytes) -> None:
        """Write on, megabytes at once: page by page takes half as long again."""
        self._file.write(content)
        self._offset += len(content)

    def _kept(self, rows: pa.Table) -> _Piece:
        """Let pyarrow write columns, as a file of one row group, and take them out of it."""
        out = pa.BufferOutputStream()
        with pq.ParquetWriter(out, rows.schema, store_schema=False, **self._options) as writer:
            writer.write_table(rows, rows.num_rows)
        content, footer = _split(out.getvalue())
        return content, chunks_of(footer, rows.num_rows, len(MAGIC))

    def _bits(self, rows: pa.Table) -> _Piece:
        """Return columns of bits as pages with their headers."""
        # Of this piece alone: that of gzip keeps what it works on.
        codec = None if self._codec_name is None else pa.Codec(self._codec_name)
        content: list[bytes] = []
        chunks: list[Chunk] = []
        start = 0
        for name, column in zip(rows.schema.names, rows.columns, strict=True):
            pages, n_plain, n_true = _pages(column, codec)
            n_packed = sum(map(len, pages))
            chunk = BitsChunk(start, n_plain, n_packed, len(pages) // 2, rows.num_rows, n_true)
            chunks.append(chunk.described(name, self._codec_number))
            content += pages
            start += n_packed
        return b"".join(content), chunks

    def close(self) -> None:
        """Write what is left and the footer."""
        while self._coming:
            self._write_next()
        self._threads.shutdown()
        out = pa.BufferOutputStream()
        pq.ParquetWriter(out, self._schema, **self._options).close()
        footer = footer_with(_split(out.getvalue())[1], self._groups)
        self._put(footer + len(footer).to_bytes(4, "little") + MAGIC)

    def abandon(self) -> None:
        """Let the threads end, and write nothing more: not even a footer."""
        self._threads.shutdown(cancel_futures=True)
        self._coming.clear()


def _split(file: pa.Buffer) -> tuple[pa.Buffer, bytes]:
    """Return what stands between the magic and the footer of a file, and the footer."""
    end = file.size - TAIL_BYTES
    start = end - int.from_bytes(file[end : end + 4].to_pybytes(), "little")
    return file[len(MAGIC) : start], file[start:end].to_pybytes()


# What is written, and where the chunks are in it.
_Piece: TypeAlias = tuple[pa.Buffer | bytes, list[Chunk]]


def _is_required(field: pa.Field) -> bool:
    """Tell whether a column holds Booleans that are never null."""
    return bool(pa.types.is_boolean(field.type) and not field.nullable)


def _cut(rows: pa.Table, columns: Sequence[int]) -> Iterator[list[int]]:
    """Yield neighbouring columns that are prepared together."""
    some, n_bytes = [], 0
    for i in columns:
        some.append(i)
        n_bytes += rows.column(i).nbytes
        if n_bytes >= PIECE_BYTES:
            yield some
            some, n_bytes = [], 0
    if some:
        yield some


def _pages(column: pa.ChunkedArray, codec: pa.Codec | None) -> tuple[list[bytes], int, int]:
    """Return a header and a content for each page, their bytes before compression, and the ons."""
    array = pa.concat_arrays(column.chunks)  # one that begins with a byte
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
