"""Parquet files whose columns of outputs are written as the bits they are, all else by pyarrow.

pyarrow takes Booleans one by one, about 10 ns each; in Arrow's memory they lie already as the
format has them. So in each row group pyarrow writes the other columns, and the pages of the
Booleans follow. The footer is what pyarrow writes for a file of all columns, with both kinds in it.
"""

from __future__ import annotations

import io
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from onehot_fast.cli.parquet_footer import BitsChunk, Group, footer_with, page_header
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


class GroupWriter:
    """A Parquet file, written by a thread of its own, a row group at a time.

    Parameters
    ----------
    file : pyarrow.NativeFile
        Written from its beginning, and not closed.
    schema : pyarrow.Schema
    outputs : collection of str
        The names of the columns that are written here if they are Booleans that are never null.
    compression : str
        As `pyarrow.parquet.ParquetWriter` has it.
    **options
        For it.
    """

    def __init__(
        self,
        file: pa.NativeFile,
        schema: pa.Schema,
        outputs: Collection[str],
        compression: str,
        **options: Any,
    ) -> None:
        self._schema, self._options = schema, {**options, "compression": compression}
        self._codec_number, codec = CODECS.get(compression, (-1, None))
        self._codec = None if codec is None else pa.Codec(codec)
        is_open = self._codec_number >= 0
        self._is_bits = [is_open and f.name in outputs and _is_required(f) for f in schema]
        self._bits = [i for i, is_bits in enumerate(self._is_bits) if is_bits]
        self._kept = [i for i, is_bits in enumerate(self._is_bits) if not is_bits]
        self._groups: list[Group] = []
        self._below = _Below(file)
        self._file = pa.PythonFile(self._below, "w")  # it counts the bytes, for pyarrow and for us
        self._writer: Any = None
        if self._kept or not self._bits:  # pyarrow writes no rows without columns
            kept = pa.schema([schema.field(i) for i in self._kept], schema.metadata)
            self._writer = pq.ParquetWriter(self._file, kept, **self._options)
        else:
            self._file.write(MAGIC)
        self._thread = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None

    def write(self, rows: pa.Table) -> None:
        """Begin to write a row group, which has rows, once the one before has been written."""
        self._wait()
        kept = self._thread.submit(self._write_kept, rows.select(self._kept))
        pages = [_pages(rows.column(i), self._codec) for i in self._bits]  # meanwhile
        self._writing = self._thread.submit(self._write_bits, kept, rows.num_rows, pages)

    def _wait(self) -> None:
        """Wait for the row group that is being written, and raise what went wrong."""
        if self._writing is not None:
            result_of(self._writing)
            self._writing = None

    def _write_kept(self, rows: pa.Table) -> None:
        """Write the columns that are pyarrow's."""
        if self._writer is not None:
            self._writer.write_table(rows, rows.num_rows)

    def _write_bits(self, kept: Future[None], n_rows: int, columns: list[_Pages]) -> None:
        """Write the other columns behind them."""
        kept.result()
        bits = []
        for i, pages in zip(self._bits, columns, strict=True):
            offset, n_packed = self._file.tell(), len(pages.content)
            self._file.write(pages.content)
            chunk = BitsChunk(offset, pages.n_plain, n_packed, pages.n_pages, n_rows, pages.n_true)
            bits.append((chunk, chunk.encoded(self._schema.field(i).name, self._codec_number)))
        self._groups.append(Group(n_rows, bits))

    def close(self) -> None:
        """Write the footer."""
        self._wait()
        self._thread.shutdown()
        if not self._bits:
            self._writer.close()
            return
        kept, of_kept, of_all = None, io.BytesIO(), io.BytesIO()
        if self._writer is not None:
            file, self._below.file = self._below.file, of_kept
            self._writer.close()
            self._below.file = file
            rest, kept = _footer(of_kept.getvalue())
            self._file.write(rest)
        pq.ParquetWriter(of_all, self._schema, **self._options).close()
        _, whole = _footer(of_all.getvalue())
        footer = footer_with(whole, kept, self._is_bits, self._groups)
        self._file.write(footer + len(footer).to_bytes(4, "little") + MAGIC)

    def abandon(self) -> None:
        """Let the thread end, and write nothing more: not even a footer."""
        self._below.file = None
        self._thread.shutdown(cancel_futures=True)
        if self._writer is not None:
            with suppress(OSError, ValueError):
                self._writer.close()
            self._writer.is_open = False


class _Below:
    """A file that can be exchanged under another, or taken away."""

    closed = False

    def __init__(self, file: Any) -> None:
        self.file = file

    def write(self, data: Any) -> int:
        """Write all of some bytes."""
        if self.file is None:
            raise OSError("the file was given up")
        self.file.write(data)
        return len(data)

    def flush(self) -> None:
        """Hold nothing back."""

    def close(self) -> None:
        """Leave the file below open."""


class _Pages(NamedTuple):
    """The pages of a column in a row group."""

    content: bytes
    n_plain: int  # bytes, before they were compressed
    n_pages: int
    n_true: int


def _is_required(field: pa.Field) -> bool:
    """Tell whether a column holds Booleans that are never null."""
    return bool(pa.types.is_boolean(field.type) and not field.nullable)


def _footer(content: bytes) -> tuple[bytes, bytes]:
    """Return what comes before the footer at the end of a file, and the footer."""
    size = int.from_bytes(content[-8:-4], "little")
    return content[: -8 - size], content[-8 - size : -8]


def _pages(column: pa.ChunkedArray, codec: pa.Codec | None) -> _Pages:
    """Return a column as pages with their headers."""
    array = pa.concat_arrays(column.chunks)  # one that begins with a byte
    content, n_plain, bits = [], 0, memoryview(array.buffers()[1])
    for start in range(0, len(array), PAGE_ROWS):
        n_values = min(PAGE_ROWS, len(array) - start)
        plain = bits[start // 8 : (start + n_values + 7) // 8]
        packed = plain if codec is None else codec.compress(plain, asbytes=True)
        header = page_header(n_values, len(plain), len(packed))
        n_plain += len(header) + len(plain)
        content += [header, packed]
    return _Pages(b"".join(content), n_plain, len(content) // 2, array.true_count)
