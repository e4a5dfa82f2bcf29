"""The metadata of a Parquet file: page headers, column chunks and the footer.

All of them are structs of Thrift's compact protocol. Here, a struct is a dict from field numbers to
(type, value), or the bytes of a struct that is already encoded; and a list is (type, values). The
classes that are named like a struct of ``parquet.thrift`` contain the numbers of its fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

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

Struct: TypeAlias = dict[int, tuple[int, Any]]
# The fields of a struct that are read, each with those of the structs in it; None means all fields.
Wanted: TypeAlias = Mapping[int, "Wanted | None"]


class FileMetaData:
    """The footer of a file."""

    NUM_ROWS, ROW_GROUPS = 3, 4


class RowGroup:
    """A row group in the footer."""

    COLUMNS, TOTAL_BYTE_SIZE, NUM_ROWS = 1, 2, 3
    FILE_OFFSET, TOTAL_COMPRESSED_SIZE = 5, 6


class ColumnChunk:
    """A column chunk in a row group; its metadata may be encrypted, its pages in another file."""

    FILE_PATH = 1
    FILE_OFFSET = 2  # deprecated; readers ignore it
    META_DATA = 3
    CRYPTO_METADATA = 8


class ColumnMetaData:
    """The metadata of a column chunk."""

    TYPE, ENCODINGS, PATH_IN_SCHEMA, CODEC, NUM_VALUES = 1, 2, 3, 4, 5
    TOTAL_UNCOMPRESSED_SIZE, TOTAL_COMPRESSED_SIZE = 6, 7
    DATA_PAGE_OFFSET, INDEX_PAGE_OFFSET, DICTIONARY_PAGE_OFFSET = 9, 10, 11
    STATISTICS, ENCODING_STATS = 12, 13


class Statistics:
    """The statistics of a column chunk."""

    NULL_COUNT, MAX_VALUE, MIN_VALUE = 3, 5, 6


class PageEncodingStats:
    """How many pages of a column chunk have a type and an encoding."""

    PAGE_TYPE, ENCODING, COUNT = 1, 2, 3


class PageHeader:
    """The header before each page."""

    TYPE, UNCOMPRESSED_PAGE_SIZE, COMPRESSED_PAGE_SIZE, CRC, DATA_PAGE_HEADER = 1, 2, 3, 4, 5


class DataPageHeader:
    """The part of the header of a data page."""

    NUM_VALUES, ENCODING, DEFINITION_LEVEL_ENCODING, REPETITION_LEVEL_ENCODING = 1, 2, 3, 4


# The fields with positions in the file.
POSITIONS = (
    ColumnMetaData.DATA_PAGE_OFFSET,
    ColumnMetaData.INDEX_PAGE_OFFSET,
    ColumnMetaData.DICTIONARY_PAGE_OFFSET,
)


# The fields that `groups_of` reads. Thousands of chunks have 40 fields each.
OF_CHUNK: Wanted = {
    ColumnChunk.FILE_PATH: None,
    ColumnChunk.META_DATA: {
        ColumnMetaData.TYPE: None,
        ColumnMetaData.ENCODINGS: None,
        ColumnMetaData.CODEC: None,
        ColumnMetaData.NUM_VALUES: None,
        ColumnMetaData.TOTAL_UNCOMPRESSED_SIZE: None,
        ColumnMetaData.TOTAL_COMPRESSED_SIZE: None,
        ColumnMetaData.DATA_PAGE_OFFSET: None,
        ColumnMetaData.DICTIONARY_PAGE_OFFSET: None,
        ColumnMetaData.STATISTICS: {Statistics.NULL_COUNT: None},
    },
    ColumnChunk.CRYPTO_METADATA: None,
}
OF_GROUP: Wanted = {RowGroup.COLUMNS: OF_CHUNK}


class FooterError(ValueError):
    """The bytes are not a struct of Thrift's compact protocol."""


class Chunk(NamedTuple):
    """What the footer of a file says about a column chunk; numbers without a name are strings."""

    path: str
    physical_type: str
    encodings: frozenset[str]
    codec: int
    n_values: int
    n_plain: int  # the bytes before compression
    n_null: int  # 0 if it is unknown
    n_packed: int = 0  # the bytes after compression
    # Where the pages begin; 0 if there is a dictionary, or if another file has them.
    offset: int = 0


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
        chunk: Struct = {
            ColumnChunk.FILE_OFFSET: (I64, 0),
            ColumnChunk.META_DATA: (STRUCT, {**described, **moved}),
        }
        self.chunks.append(encode(chunk))
        self.offset = self.offset or min(position for _, position in moved.values())
        self.n_plain += described[ColumnMetaData.TOTAL_UNCOMPRESSED_SIZE][1]
        self.n_packed += described[ColumnMetaData.TOTAL_COMPRESSED_SIZE][1]


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
    data_page: Struct = {
        DataPageHeader.NUM_VALUES: (I32, n_values),
        DataPageHeader.ENCODING: (I32, PLAIN),
        DataPageHeader.DEFINITION_LEVEL_ENCODING: (I32, RLE),
        DataPageHeader.REPETITION_LEVEL_ENCODING: (I32, RLE),
    }
    before: Struct = {
        PageHeader.TYPE: (I32, DATA_PAGE),
        PageHeader.UNCOMPRESSED_PAGE_SIZE: (I32, n_plain),
    }
    after: Struct = {
        PageHeader.COMPRESSED_PAGE_SIZE: (I32, 0),
        PageHeader.DATA_PAGE_HEADER: (STRUCT, data_page),
    }
    zero = encode({**before, **after})
    start = len(encode(before))  # its last byte is where the type of the compressed size is
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
        ColumnMetaData.TYPE: (I32, BOOLEAN),
        ColumnMetaData.ENCODINGS: (LIST, (I32, [PLAIN])),
        ColumnMetaData.PATH_IN_SCHEMA: (LIST, (BINARY, [name.encode()])),
        ColumnMetaData.CODEC: (I32, codec),
        ColumnMetaData.NUM_VALUES: (I64, n_values),
        ColumnMetaData.TOTAL_UNCOMPRESSED_SIZE: (I64, sizes[0]),
        ColumnMetaData.TOTAL_COMPRESSED_SIZE: (I64, sizes[1]),
        ColumnMetaData.DATA_PAGE_OFFSET: (I64, offset),
        ColumnMetaData.STATISTICS: (STRUCT, _statistics(n_true > 0, n_true == n_values)),
        ColumnMetaData.ENCODING_STATS: (LIST, (STRUCT, [_counted_pages(n_pages)])),
    }


@lru_cache
def _statistics(maximum: bool, minimum: bool) -> bytes:
    """Return the statistics of Booleans without nulls."""
    found: Struct = {
        Statistics.NULL_COUNT: (I64, 0),
        Statistics.MAX_VALUE: (BINARY, bytes([maximum])),
        Statistics.MIN_VALUE: (BINARY, bytes([minimum])),
    }
    return encode(found)


@lru_cache
def _counted_pages(n_pages: int) -> bytes:
    """Return the number of the pages of a chunk of Booleans."""
    counted: Struct = {
        PageEncodingStats.PAGE_TYPE: (I32, DATA_PAGE),
        PageEncodingStats.ENCODING: (I32, PLAIN),
        PageEncodingStats.COUNT: (I32, n_pages),
    }
    return encode(counted)


def chunks_of(footer: bytes, n_rows: int) -> list[Struct]:
    """Return the metadata of the column chunks in the footer of a file with one row group."""
    _, (_, groups) = decode(footer)[FileMetaData.ROW_GROUPS]
    if [group[RowGroup.NUM_ROWS][1] for group in groups] != [n_rows]:
        raise RuntimeError("pyarrow wrote other row groups than requested")
    _, (_, chunks) = groups[0][RowGroup.COLUMNS]
    return [chunk[ColumnChunk.META_DATA][1] for chunk in chunks]


def groups_of(footer: bytes, paths: Sequence[str]) -> list[list[Chunk]]:
    """Return the column chunks of each row group, from the footer of any file.

    `paths` are the paths of the columns in the schema; pyarrow ignores the path of a chunk.
    pyarrow's own objects for column chunks end the process if their content is invalid. As in
    pyarrow, a field of another type than expected counts as absent.
    """
    encodings: dict[tuple[int, ...], frozenset[str]] = {}
    return [
        [
            _chunk(one, path, encodings)
            for one, path in zip(_items(group, RowGroup.COLUMNS, STRUCT), paths, strict=False)
        ]
        for group in _structs_in(footer, FileMetaData.ROW_GROUPS, OF_GROUP)
    ]


def _structs_in(data: bytes, wanted_field: int, wanted: Wanted) -> Iterator[Struct]:
    """Yield the structs in a list, which is a field of the struct at the start of `data`.

    Decoded row groups take ten times the memory of their chunks, so there is only one at a time.
    """
    number = at = 0
    try:
        while data[at]:
            number, kind, at = _head_of_field(data, at, number)
            if number == wanted_field and kind == LIST:
                item, size, at = _head_of_list(data, at)
                for _ in range(size):
                    if item == STRUCT:
                        found, at = _struct(data, at, wanted)
                        yield found
                    else:
                        at = _after(item, data, at)
            elif kind not in (TRUE, FALSE):
                at = _after(kind, data, at)
    except IndexError as error:
        raise FooterError("the footer ends within a value") from error


def _chunk(column: Struct, path: str, known: dict[tuple[int, ...], frozenset[str]]) -> Chunk:
    """Return what a column chunk contains; raise an error if it is encrypted.

    `known` are the sets of encodings that other chunks have.
    """
    found = field_of(column, ColumnChunk.META_DATA, STRUCT, {})
    if ColumnChunk.CRYPTO_METADATA in column or not found:
        raise ValueError(f"column {path!r} is encrypted; write the file without encryption first")
    has_dictionary = ColumnMetaData.DICTIONARY_PAGE_OFFSET in found
    is_here = ColumnChunk.FILE_PATH not in column and not has_dictionary
    numbers = tuple(_items(found, ColumnMetaData.ENCODINGS, I32))
    if numbers not in known:
        known[numbers] = frozenset(_name(ENCODINGS, number) for number in numbers)
    statistics = field_of(found, ColumnMetaData.STATISTICS, STRUCT, {})
    return Chunk(
        path=path,
        physical_type=_name(TYPES, field_of(found, ColumnMetaData.TYPE, I32, -1)),
        encodings=known[numbers],
        codec=field_of(found, ColumnMetaData.CODEC, I32, -1),
        n_values=field_of(found, ColumnMetaData.NUM_VALUES, I64, 0),
        n_plain=field_of(found, ColumnMetaData.TOTAL_UNCOMPRESSED_SIZE, I64, 0),
        n_null=field_of(statistics, Statistics.NULL_COUNT, I64, 0),
        n_packed=field_of(found, ColumnMetaData.TOTAL_COMPRESSED_SIZE, I64, 0),
        offset=field_of(found, ColumnMetaData.DATA_PAGE_OFFSET, I64, 0) if is_here else 0,
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
    footer[FileMetaData.NUM_ROWS] = I64, sum(group.n_rows for group in groups)
    footer[FileMetaData.ROW_GROUPS] = LIST, (STRUCT, [_row_group(group) for group in groups])
    return encode(footer)


class Part(NamedTuple):
    """Neighbouring row groups of a footer."""

    start: int  # where their metadata begins and ends in the footer
    end: int
    n_groups: int
    n_rows: int


class DividedFooter(NamedTuple):
    """A footer in parts of a few row groups; each part is the footer of a file with only these.

    pyarrow needs 1.2 kB of memory for each column chunk, 20 times its bytes in the file. So a file
    of many chunks is read part by part. There is one copy of what all parts have in common.
    """

    n_rows: int
    before_rows: bytes  # before the number of rows
    before_groups: bytes  # after the number of rows, and before the list of the row groups
    after_groups: bytes
    parts: list[Part]

    def footer(self, part: Part, groups: bytes) -> bytes:
        """Return the footer of a part; `groups` is the metadata of its row groups in the file."""
        middle = self.before_groups + _encoded_head_of_list(STRUCT, part.n_groups)
        rows = _encoded(I64, part.n_rows)
        return b"".join([self.before_rows, rows, middle, groups, self.after_groups])


def divided(footer: bytes, part_bytes: int) -> DividedFooter:
    """Divide a footer into parts of about `part_bytes` bytes, but at least one row group.

    Raise a FooterError if it is not in the form that all writers give it.
    """
    # The number of rows and the list of row groups, and where they begin and end in the footer.
    rows: tuple[int, int, int] | None = None
    groups: tuple[list[Part], int, int] | None = None
    number = at = 0
    try:
        while footer[at]:
            before = number
            number, kind, start = _head_of_field(footer, at, number)
            if number <= before:
                raise FooterError("the fields of the footer are not in order")
            if number == FileMetaData.NUM_ROWS and kind == I64:
                n_rows, at = _value(kind, footer, start, None)
                rows = n_rows, start, at
            elif number == FileMetaData.ROW_GROUPS and kind == LIST and rows:
                parts, at = _parts(footer, start, part_bytes)
                groups = parts, start, at
            else:
                at = start if kind in (TRUE, FALSE) else _after(kind, footer, start)
    except IndexError as error:
        raise FooterError("the footer ends within a value") from error
    if rows is None or groups is None or at + 1 != len(footer):
        raise FooterError("the footer has no list of row groups, or ends with other bytes")
    n_rows, *rows_at = rows
    parts, *groups_at = groups
    before_groups = footer[rows_at[1] : groups_at[0]]
    return DividedFooter(n_rows, footer[: rows_at[0]], before_groups, footer[groups_at[1] :], parts)


def _parts(footer: bytes, at: int, part_bytes: int) -> tuple[list[Part], int]:
    """Return the row groups of the list at a position in parts, and the position after it."""
    item, size, at = _head_of_list(footer, at)
    if item != STRUCT:
        raise FooterError("the list of row groups contains other values")
    parts: list[Part] = []
    for _ in range(size):
        group, end = _struct(footer, at, {RowGroup.NUM_ROWS: None})
        n_rows = field_of(group, RowGroup.NUM_ROWS, I64, 0)
        if parts and parts[-1].end + (end - at) - parts[-1].start <= part_bytes:
            last = parts.pop()
            parts.append(Part(last.start, end, last.n_groups + 1, last.n_rows + n_rows))
        else:
            parts.append(Part(at, end, 1, n_rows))
        at = end
    return parts, at


def _row_group(group: Group) -> bytes:
    """Return the metadata of a row group, without its optional number."""
    found: Struct = {
        RowGroup.COLUMNS: (LIST, (STRUCT, group.chunks)),
        RowGroup.TOTAL_BYTE_SIZE: (I64, group.n_plain),
        RowGroup.NUM_ROWS: (I64, group.n_rows),
        RowGroup.FILE_OFFSET: (I64, group.offset),
        RowGroup.TOTAL_COMPRESSED_SIZE: (I64, group.n_packed),
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
        encoded = b"".join(_encoded(item_kind, item) for item in items)
        return _encoded_head_of_list(item_kind, len(items)) + encoded
    return bytes(value)  # a Boolean field, or a type in `FIXED_BYTES`


def _encoded_head_of_list(item_kind: int, n_items: int) -> bytes:
    """Encode what is before the items of a list."""
    short = min(n_items, MAX_NIBBLE)
    size = _encoded_size(n_items) if short == MAX_NIBBLE else b""
    return bytes([short << 4 | item_kind]) + size


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
    return read_struct(data)[0]


def read_struct(data: bytes, start: int = 0, wanted: Wanted | None = None) -> tuple[Struct, int]:
    """Decode the struct at a position, and return it with the position after it.

    Only the fields in `wanted` are returned, by default all. Raise a FooterError if there is no
    struct.
    """
    try:
        return _struct(data, start, wanted)
    except IndexError as error:
        raise FooterError("the footer ends within a value") from error


def _struct(data: bytes, at: int, wanted: Wanted | None) -> tuple[Struct, int]:
    """Decode a struct, and return the position after it; raise an IndexError if it is cut."""
    found: Struct = {}
    number = 0
    while header := data[at]:
        at += 1
        kind = header & 15
        if header >> 4:
            number += header >> 4
        else:
            number, at = _value(I16, data, at, None)
        if kind in INTEGERS:  # most fields
            value = data[at]
            at += 1
            if value > 0x7F:
                value, at = _rest_of_size(value, data, at)
            if wanted is None or number in wanted:
                found[number] = kind, value >> 1 ^ -(value & 1)
        elif kind in (TRUE, FALSE):  # the type of a Boolean field is its value
            if wanted is None or number in wanted:
                found[number] = kind, b""
        elif wanted is None:
            decoded, at = _value(kind, data, at, None)
            found[number] = kind, decoded
        elif number in wanted:
            decoded, at = _value(kind, data, at, wanted[number])
            found[number] = kind, decoded
        else:
            at = _after(kind, data, at)
    return found, at + 1


def _value(kind: int, data: bytes, at: int, wanted: Wanted | None) -> tuple[Any, int]:
    """Decode a value of the type `kind`, and return the position after it."""
    if kind == STRUCT:
        return _struct(data, at, wanted)
    if kind in INTEGERS:
        value, at = _size(data, at)
        return value >> 1 ^ -(value & 1), at
    if kind == BINARY:
        size, at = _size(data, at)
        return data[at : at + size], at + size
    if kind in (LIST, SET):
        item, size, at = _head_of_list(data, at)
        items = []
        for _ in range(size):
            value, at = _value(item, data, at, wanted)
            items.append(value)
        return (item, items), at
    end = at + _fixed_size(kind)
    return data[at:end], end


def _after(kind: int, data: bytes, at: int) -> int:
    """Return the position after a value of the type `kind`, which is not decoded."""
    if kind == STRUCT:
        while header := data[at]:
            at = at + 1 if header >> 4 else _after(I16, data, at + 1)
            kind = header & 15
            if kind in INTEGERS:
                while data[at] > 0x7F:
                    at += 1
                at += 1
            elif kind not in (TRUE, FALSE):
                at = _after(kind, data, at)
        return at + 1
    if kind in INTEGERS:
        while data[at] > 0x7F:
            at += 1
        return at + 1
    if kind == BINARY:
        size, at = _size(data, at)
        return at + size
    if kind in (LIST, SET):
        item, size, at = _head_of_list(data, at)
        for _ in range(size):
            at = _after(item, data, at)
        return at
    return at + _fixed_size(kind)


def _fixed_size(kind: int) -> int:
    """Return the bytes of each value of a type; raise a FooterError for an unknown type."""
    if kind not in FIXED_BYTES:
        raise FooterError(f"unexpected Thrift type {kind} in the footer")
    return FIXED_BYTES[kind]


def _head_of_field(data: bytes, at: int, before: int) -> tuple[int, int, int]:
    """Return the number and the type of a field, and the position of its value.

    `before` is the number of the field before it.
    """
    header = data[at]
    if header >> 4:
        return before + (header >> 4), header & 15, at + 1
    number, at = _value(I16, data, at + 1, None)
    return number, header & 15, at


def _head_of_list(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the type and the number of the items of a list, and the position of the first one."""
    header = data[at]
    if header >> 4 < MAX_NIBBLE:
        return header & 15, header >> 4, at + 1
    size, at = _size(data, at + 1)
    return header & 15, size, at


def _size(data: bytes, at: int) -> tuple[int, int]:
    """Decode an unsigned integer, and return the position after it."""
    byte = data[at]
    return (byte, at + 1) if byte <= 0x7F else _rest_of_size(byte, data, at + 1)


def _rest_of_size(first: int, data: bytes, at: int) -> tuple[int, int]:
    """Decode the bytes after the first one of an unsigned integer."""
    value, shift = first & 0x7F, 7
    while (byte := data[at]) > 0x7F:
        value |= (byte & 0x7F) << shift
        shift += 7
        at += 1
    return value | byte << shift, at + 1
