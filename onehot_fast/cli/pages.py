"""Boolean columns as the pages of Parquet, which hold their bits just as Arrow does.

pyarrow writes them value by value, in 3 ns each; a bitmap that exists needs only compression.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pyarrow as pa

from onehot_fast.cli import thrift
from onehot_fast.cli.thrift import BINARY, I32, STRUCT, TRUE, Struct, Value, binary, i32, i64

__all__ = ["BitChunk", "Codec", "codec_named", "codec_of"]

# The numbers that parquet.thrift gives to what is written here.
BOOLEAN, PLAIN, RLE, DATA_PAGE = 0, 0, 3, 0
CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
NO_CODEC, OLD_LZ4, LZ4_RAW = 0, 5, 7
# The library's default for gzip is the slowest level, 80 ms for a page of 128 kB.
LEVELS = {"gzip": 6}


class Codec:
    """A compression of pages by its number in Parquet; for one thread, as those of pyarrow are."""

    def __init__(self, number: int) -> None:
        self.number = number
        name = CODECS.get(number)
        self._codec = None if name is None else pa.Codec(name, LEVELS.get(name))

    @property
    def compresses(self) -> bool:
        """Whether it compresses."""
        return self._codec is not None

    @property
    def name(self) -> str:
        """What pyarrow calls it."""
        return CODECS.get(self.number, "none")

    def compress(self, data: pa.Buffer) -> bytes:
        """Return the data of a page as it is stored, in memory of just that size."""
        if self._codec is None:
            return data.to_pybytes()  # type: ignore[no-any-return]
        return self._codec.compress(data, asbytes=True)  # type: ignore[no-any-return]


def codec_named(name: str) -> Codec:
    """Return the compression that pyarrow calls so in Parquet."""
    numbers = {known: number for number, known in CODECS.items()} | {"lz4": LZ4_RAW}
    return Codec(numbers.get(name, NO_CODEC))


def codec_of(number: int) -> Codec:
    """Return the compression for new columns beside one that has this; none that is outdated."""
    number = LZ4_RAW if number == OLD_LZ4 else number
    known = number in CODECS and pa.Codec.is_available(CODECS[number])
    return Codec(number if known else NO_CODEC)


class BitChunk:
    """The column chunk of a Boolean column without nulls, page by page."""

    def __init__(self, name: str, codec: Codec) -> None:
        self._name, self._codec = name, codec
        self.parts: list[Any] = []
        self.length = 0
        self._n_values = self._n_pages = self._unpacked = 0
        self._any, self._all = False, True

    def add(self, values: pa.BooleanArray) -> None:
        """Add a page with these values."""
        n = len(values)
        bits = _bits(values)
        data = self._codec.compress(bits)
        header = thrift.dumps(
            {
                1: i32(DATA_PAGE),
                2: i32(bits.size),
                3: i32(len(data)),
                4: i32(_signed(zlib.crc32(data))),
                5: thrift.struct({1: i32(n), 2: i32(PLAIN), 3: i32(RLE), 4: i32(RLE)}),
            }
        )
        self.parts += [header, data]
        self._note(np.frombuffer(bits, np.uint8), n)
        self._n_values += n
        self._n_pages += 1
        self.length += len(header) + len(data)
        self._unpacked += len(header) + bits.size

    def _note(self, bits: Any, n: int) -> None:
        """Keep what the statistics say: whether any value is true, and whether all are."""
        self._any = self._any or bool(bits[: n // 8].any())
        self._all = self._all and bool((bits[: n // 8] == 0xFF).all())
        if n % 8:
            last, full = bits[n // 8] & (1 << n % 8) - 1, (1 << n % 8) - 1
            self._any = self._any or bool(last)
            self._all = self._all and bool(last == full)

    def fields(self) -> Struct:
        """Return the ColumnChunk struct, with offsets from the beginning of the parts."""
        least, most = bytes([self._all]), bytes([self._any])
        statistics: Struct = {
            3: i64(0), 5: binary(most), 6: binary(least), 7: Value(TRUE, True), 8: Value(TRUE, True)
        }  # fmt: skip
        metadata: Struct = {
            1: i32(BOOLEAN),
            2: thrift.listed(I32, [PLAIN, RLE]),
            3: thrift.listed(BINARY, [self._name.encode()]),
            4: i32(self._codec.number),
            5: i64(self._n_values),
            6: i64(self._unpacked),
            7: i64(self.length),
            9: i64(0),
            12: thrift.struct(statistics),
            13: thrift.listed(STRUCT, [{1: i32(DATA_PAGE), 2: i32(PLAIN), 3: i32(self._n_pages)}]),
        }
        return {2: i64(0), 3: thrift.struct(metadata)}


def _bits(values: pa.BooleanArray) -> pa.Buffer:
    """Return the bits of an array, the first in the lowest bit of the first byte."""
    if values.offset % 8:
        values = pa.concat_arrays([values, values.slice(0, 0)])
        if values.offset % 8:
            raise ValueError(f"the bits begin within a byte, at {values.offset}")
    buffer = values.buffers()[1]
    return buffer.slice(values.offset // 8, -(-len(values) // 8))


def _signed(number: int) -> int:
    """Return the signed integer that has the same 32 bits."""
    return number - (1 << 32) if number >= 1 << 31 else number
