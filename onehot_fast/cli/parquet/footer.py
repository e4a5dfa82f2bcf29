"""The metadata of a Parquet file: page headers, column chunks and the footer.

All of them are structs of Thrift's compact protocol. Here, a struct is a dict from field numbers to
(type, value), or the bytes of a struct that is already encoded; and a list is (type, values). The
field numbers are those of ``parquet.thrift``.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
INTEGERS = frozenset({I16, I32, I64})
FIXED_BYTES = {BYTE: 1, DOUBLE: 8}
MAX_NIBBLE = 15  # larger numbers do not fit into the byte of the type

# The encoded integers of one byte.
SMALL = [bytes([value]) for value in range(0x80)]

# Numbers of types, kinds of pages and encodings.
BOOLEAN = DATA_PAGE = PLAIN = 0
RLE = 3
# The names of types, encodings and codecs, in the order of their numbers.
TYPES = (
    "BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY",
)  # fmt: skip
ENCODINGS = (
    "PLAIN", "GROUP_VAR_INT", "PLAIN_DICTIONARY", "RLE", "BIT_PACKED", "DELTA_BINARY_PACKED",
    "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "RLE_DICTIONARY", "BYTE_STREAM_SPLIT",
)  # fmt: skip
# The fields of a chunk with the positions of data pages, index page and dictionary page.
POSITIONS = (9, 10, 11)

Struct: TypeAlias = dict[int, tuple[int, Any]]


class FooterError(ValueError):
    """The bytes are not a struct of Thrift's compact protocol."""


@dataclass(frozen=True)
class Chunk:
    """What the footer of a file says about a column chunk; numbers without a name are strings."""

    path: str
    physical_type: str
    encodings: frozenset[str]
    codec: int
    n_values: int
    n_plain: int  # the bytes before compression
    n_null: int  # 0 if it is unknown
    n_packed: int = 0  # the bytes after compression
    offset: int = (
        0  # where the pages begin; 0 if there is a dictionary, or if another file has them
    )


@dataclass
class Group:
    """A row group, and the column chunks that have been written so far."""

    n_rows: int
    chunks: list[bytes] = field(default_factory=list)  # encoded metadata
    offset: int = 0  # the position of the first chunk
    n_plain: int = 0  # the sizes of all chunks before and after compression
    n_packed: int = 0

    def add(self, described: Struct, start: int) -> None:
        """Add the metadata of a column chunk, whose positions are relative to `start`."""
        moved = {i: (I64, described[i][1] + start) for i in POSITIONS if i in described}
        # Field 2 of the outer struct is deprecated, and readers ignore it.
        self.chunks.append(encode({2: (I64, 0), 3: (STRUCT, {**described, **moved})}))
        self.offset = self.offset or min(position for _, position in moved.values())
        self.n_plain += described[6][1]
        self.n_packed += described[7][1]


def page_header(n_values: int, n_plain: int, n_packed: int) -> bytes:
    """Return the header of a page of Booleans without nulls.

    `n_plain` and `n_packed` are the bytes of the page before and after compression.
    """
    start, end = _around_packed_size(n_values, n_plain)
    return start + _encoded(I32, n_packed) + end


@lru_cache
def _around_packed_size(n_values: int, n_plain: int) -> tuple[bytes, bytes]:
    """Return what is before and after the size of a compressed page in its header.

    The pages of thousands of columns differ only in this size.
    """
    data_page: Struct = {1: (I32, n_values), 2: (I32, PLAIN), 3: (I32, RLE), 4: (I32, RLE)}
    sizes: Struct = {1: (I32, DATA_PAGE), 2: (I32, n_plain)}
    zero = encode({**sizes, 3: (I32, 0), 5: (STRUCT, data_page)})
    start = len(encode(sizes))  # its last byte is where the type of field 3 is
    return zero[:start], zero[start + 1 :]


def bits_chunk(
    name: str,
    codec: int,
    offset: int,
    sizes: tuple[int, int],
    n_pages: int,
    n_values: int,
    n_true: int,
) -> Struct:
    """Return the metadata of a column chunk of Booleans without nulls.

    `sizes` are the bytes of the pages with their headers, before and after compression.
    """
    return {
        1: (I32, BOOLEAN),
        2: (LIST, (I32, [PLAIN])),
        3: (LIST, (BINARY, [name.encode()])),
        4: (I32, codec),
        5: (I64, n_values),
        6: (I64, sizes[0]),
        7: (I64, sizes[1]),
        9: (I64, offset),
        12: (STRUCT, _statistics(n_true > 0, n_true == n_values)),
        13: (LIST, (STRUCT, [_counted_pages(n_pages)])),
    }


@lru_cache
def _statistics(maximum: bool, minimum: bool) -> bytes:
    """Return the statistics of Booleans without nulls."""
    bounds = {5: (BINARY, bytes([maximum])), 6: (BINARY, bytes([minimum]))}
    return encode({3: (I64, 0), **bounds})


@lru_cache
def _counted_pages(n_pages: int) -> bytes:
    """Return the number of the pages of a chunk of Booleans."""
    return encode({1: (I32, DATA_PAGE), 2: (I32, PLAIN), 3: (I32, n_pages)})


def chunks_of(footer: bytes, n_rows: int) -> list[Struct]:
    """Return the metadata of the column chunks in the footer of a file with one row group."""
    groups = decode(footer)[4][1][1]
    if [group[3][1] for group in groups] != [n_rows]:
        raise RuntimeError("pyarrow wrote other row groups than requested")
    return [chunk[3][1] for chunk in groups[0][1][1][1]]


def groups_of(footer: bytes) -> list[list[Chunk]]:
    """Return the column chunks of each row group, from the footer of any file.

    pyarrow's own objects for column chunks end the process if their content is invalid. As in
    pyarrow, a field of another type than expected counts as absent.
    """
    groups = _items(decode(footer), 4, STRUCT)
    return [[_chunk(column) for column in _items(group, 1, STRUCT)] for group in groups]


def _chunk(column: Struct) -> Chunk:
    """Return what a column chunk contains; raise an error if it is encrypted."""
    found = field_of(column, 3, STRUCT, {})
    path = ".".join(name.decode(errors="replace") for name in _items(found, 3, BINARY))
    if 8 in column or not found:
        name = f"column {path!r}" if path else "a column"
        raise ValueError(f"{name} is encrypted; write the file without encryption first")
    is_here = 1 not in column and 11 not in found
    return Chunk(
        path=path,
        physical_type=_name(TYPES, field_of(found, 1, I32, -1)),
        encodings=frozenset(_name(ENCODINGS, number) for number in _items(found, 2, I32)),
        codec=field_of(found, 4, I32, -1),
        n_values=field_of(found, 5, I64, 0),
        n_plain=field_of(found, 6, I64, 0),
        n_null=field_of(field_of(found, 12, STRUCT, {}), 3, I64, 0),
        n_packed=field_of(found, 7, I64, 0),
        offset=field_of(found, 9, I64, 0) if is_here else 0,
    )


def field_of(struct: Struct, number: int, kind: int, default: Any) -> Any:
    """Return a field of a struct, or `default` if there is none of the type `kind`."""
    found, value = struct.get(number, (kind, default))
    return value if found == kind else default


def _items(struct: Struct, number: int, kind: int) -> list[Any]:
    """Return the items of a list in a struct; no items if there is none of the type `kind`."""
    found, items = field_of(struct, number, LIST, (kind, []))
    return items if found == kind else []


def _name(names: Sequence[str], number: int) -> str:
    """Return the name of a number of the format, or the number itself."""
    return names[number] if 0 <= number < len(names) else str(number)


def footer_with(empty: bytes, groups: Sequence[Group]) -> bytes:
    """Return the footer of a file with `groups`; `empty` is the footer of a file without rows."""
    footer = decode(empty)
    footer[3] = I64, sum(group.n_rows for group in groups)
    footer[4] = LIST, (STRUCT, [_row_group(group) for group in groups])
    return encode(footer)


def _row_group(group: Group) -> bytes:
    """Return the metadata of a row group, without its optional number."""
    found: Struct = {
        1: (LIST, (STRUCT, group.chunks)),
        2: (I64, group.n_plain),
        3: (I64, group.n_rows),
        5: (I64, group.offset),
        6: (I64, group.n_packed),
    }
    return encode(found)


def encode(struct: Struct) -> bytes:
    """Encode a struct, whose fields must be in the order of their numbers."""
    out, before = bytearray(), 0
    for number, (kind, value) in struct.items():
        if 0 < number - before <= MAX_NIBBLE:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            out += _encoded(I16, number)
        out += _encoded(kind, value)
        before = number
    return bytes(out) + b"\0"


def _encoded(kind: int, value: Any) -> bytes:
    """Encode a value of the type `kind`; the type itself is not encoded."""
    if kind in INTEGERS:  # in zigzag encoding, small negative numbers are short too
        return _encoded_size(value << 1 if value >= 0 else ~(value << 1))
    if kind == BINARY:
        return _encoded_size(len(value)) + bytes(value)
    if kind == STRUCT:
        return value if isinstance(value, bytes) else encode(value)
    if kind in (LIST, SET):
        item_kind, items = value
        short = min(len(items), MAX_NIBBLE)
        size = _encoded_size(len(items)) if short == MAX_NIBBLE else b""
        encoded = b"".join(_encoded(item_kind, item) for item in items)
        return bytes([short << 4 | item_kind]) + size + encoded
    return bytes(value)  # a Boolean field, or a type in `FIXED_BYTES`


def _encoded_size(value: int) -> bytes:
    """Encode an unsigned integer, with 7 bits in each byte."""
    if value <= 0x7F:
        return SMALL[value]
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def decode(data: bytes) -> Struct:
    """Decode the struct at the start of `data`; raise a FooterError if there is none."""
    return read_struct(io.BytesIO(data))


def read_struct(data: io.BytesIO) -> Struct:
    """Read and decode a struct; raise a FooterError if there is none."""
    try:
        return _struct(data)
    except IndexError as error:
        raise FooterError("the footer ends within a value") from error


def _struct(data: io.BytesIO) -> Struct:
    """Read and decode a struct; raise an IndexError if it is cut."""
    found: Struct = {}
    number, read = 0, data.read
    while header := read(1)[0]:
        kind = header & 15
        number = number + (header >> 4) if header >> 4 else _value(I16, data)
        if kind in INTEGERS:  # most fields
            byte = read(1)[0]
            value = byte if byte <= 0x7F else _size(data, byte)
            found[number] = kind, value >> 1 ^ -(value & 1)
        else:  # the type of a Boolean field is its value
            found[number] = kind, b"" if kind in (TRUE, FALSE) else _value(kind, data)
    return found


def _value(kind: int, data: io.BytesIO) -> Any:
    """Read and decode a value of the type `kind`."""
    if kind in INTEGERS:
        value = _size(data)
        return value >> 1 ^ -(value & 1)
    if kind == BINARY:
        return data.read(_size(data))
    if kind == STRUCT:
        return _struct(data)
    if kind in (LIST, SET):
        header = data.read(1)[0]
        size = header >> 4 if header >> 4 < MAX_NIBBLE else _size(data)
        return header & 15, [_value(header & 15, data) for _ in range(size)]
    if kind in FIXED_BYTES:
        return data.read(FIXED_BYTES[kind])
    raise FooterError(f"unexpected Thrift type {kind} in the footer")


def _size(data: io.BytesIO, first: int | None = None) -> int:
    """Read an unsigned integer, whose first byte may have been read."""
    byte = data.read(1)[0] if first is None else first
    value = shift = 0
    while byte > 0x7F:
        value |= (byte & 0x7F) << shift
        shift += 7
        byte = data.read(1)[0]
    return value | byte << shift
