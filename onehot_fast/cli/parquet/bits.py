"""A reader of Boolean column chunks without nulls, whose pages already are Arrow bitmaps.

pyarrow unpacks each value and packs it again, which takes 5 to 10 times as long as decompressing.
"""

from __future__ import annotations

import zlib

import pyarrow as pa

from onehot_fast.cli.parquet.footer import (
    BOOLEAN,
    DATA_PAGE,
    I32,
    PLAIN,
    STRUCT,
    TYPES,
    Chunk,
    DataPageHeader,
    FooterError,
    PageHeader,
    field_of,
    read_struct,
)
from onehot_fast.cli.parquet.writer import CODECS

NAMES_OF_CODECS = {number: name for number, name in CODECS.values()}
BITS = TYPES[BOOLEAN]
PLAIN_ONLY = frozenset({"PLAIN"})


def are_bits(chunk: Chunk) -> bool:
    """Tell whether a chunk of a column without nulls seems to consist of plain pages of bits."""
    is_plain = chunk.physical_type == BITS and chunk.encodings == PLAIN_ONLY
    return is_plain and chunk.codec in NAMES_OF_CODECS and chunk.offset > 0 and chunk.n_packed > 0


def read_bits(file: pa.NativeFile, chunk: Chunk, n_rows: int) -> pa.Array | None:
    """Return the values of a chunk that `are_bits` accepts; None if its pages have another form.

    Raise an error if the chunk is corrupt.
    """
    file.seek(chunk.offset)
    content = file.read(chunk.n_packed)
    name = NAMES_OF_CODECS[chunk.codec]
    codec = None if name is None else pa.Codec(name)
    parts: list[pa.Array] = []
    n_read = at = 0
    while n_read < n_rows:
        try:
            header, at = read_struct(content, at)
        except FooterError:
            return None
        page = field_of(header, PageHeader.DATA_PAGE_HEADER, STRUCT, {})
        n_values = field_of(page, DataPageHeader.NUM_VALUES, I32, -1)
        n_plain = field_of(header, PageHeader.UNCOMPRESSED_PAGE_SIZE, I32, -1)
        n_packed = field_of(header, PageHeader.COMPRESSED_PAGE_SIZE, I32, -1)
        is_plain = field_of(page, DataPageHeader.ENCODING, I32, -1) == PLAIN
        if field_of(header, PageHeader.TYPE, I32, -1) != DATA_PAGE or not is_plain:
            return None
        packed = content[at : at + max(0, n_packed)]
        at += len(packed)
        if not 0 < n_values <= n_rows - n_read or n_plain != (n_values + 7) // 8:
            return None  # pyarrow says what is wrong, if anything is
        if len(packed) != n_packed:
            raise EOFError(f"a page of column {chunk.path!r} is truncated")
        checksum = field_of(header, PageHeader.CRC, I32, None)
        if checksum is not None and checksum & 0xFFFFFFFF != zlib.crc32(packed):
            raise OSError(f"a page of column {chunk.path!r} does not match its checksum")
        plain = packed if codec is None else codec.decompress(packed, n_plain)
        if len(plain) != n_plain:
            raise EOFError(f"a page of column {chunk.path!r} is truncated")
        buffers = [None, pa.py_buffer(plain)]
        parts.append(pa.Array.from_buffers(pa.bool_(), n_values, buffers, 0))
        n_read += n_values
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
