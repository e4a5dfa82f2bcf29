"""The metadata of a Parquet file: headers of pages, column chunks and the footer.

They are structures of Thrift's compact protocol. A structure is a dict of its fields, number →
(type, value); a list is (type, values); `RAW` is a structure that is encoded already. Fields have
the numbers of ``parquet.thrift``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
RAW = -STRUCT
MAX_NIBBLE = 15  # larger numbers do not fit into the byte of the type

# Numbers of types, kinds of pages and encodings.
BOOLEAN = DATA_PAGE = PLAIN = 0
RLE = 3
MAX_ORDINAL = (1 << 15) - 1
# The fields of a chunk with the positions of data pages, index page and dictionary page.
POSITIONS = (9, 10, 11)

Struct: TypeAlias = dict[int, tuple[int, Any]]


class Chunk(NamedTuple):
    """A column chunk: its metadata, encoded or not, its position, and its sizes."""

    described: Any
    offset: int
    n_plain: int
    n_packed: int

    def moved(self, start: int) -> Chunk:
        """Return the chunk, encoded, in a file where its piece begins at a position."""
        inner: Struct = {
            i: (I64, value + start) if i in POSITIONS else (kind, value)
            for i, (kind, value) in self.described.items()
        }
        # Field 2 of the outer structure is deprecated, and readers ignore it.
        described = encode({2: (I64, 0), 3: (STRUCT, inner)})
        return self._replace(described=described, offset=self.offset + start)


class Group(NamedTuple):
    """A row group: the number of its rows, and its chunks, which are added when written."""

    n_rows: int
    chunks: list[Chunk]


def page_header(n_values: int, n_plain: int, n_packed: int) -> bytes:
    """Return the header of a page of Booleans without nulls, of these sizes in bytes."""
    data_page: Struct = {1: (I32, n_values), 2: (I32, PLAIN), 3: (I32, RLE), 4: (I32, RLE)}
    sizes: Struct = {1: (I32, DATA_PAGE), 2: (I32, n_plain), 3: (I32, n_packed)}
    return encode({**sizes, 5: (STRUCT, data_page)})


def bits_chunk(
    name: str,
    codec: int,
    offset: int,
    sizes: tuple[int, int],
    n_pages: int,
    n_values: int,
    n_true: int,
) -> Chunk:
    """Return the metadata of a column of Booleans without nulls in a row group.

    `sizes` are the bytes of pages and headers before and after compression.
    """
    statistics: Struct = {
        3: (I64, 0),  # nulls
        5: (BINARY, bytes([n_true > 0])),  # maximum
        6: (BINARY, bytes([n_true == n_values])),  # minimum
    }
    pages: Struct = {1: (I32, DATA_PAGE), 2: (I32, PLAIN), 3: (I32, n_pages)}
    described: Struct = {
        1: (I32, BOOLEAN),
        2: (LIST, (I32, [PLAIN])),
        3: (LIST, (BINARY, [name.encode()])),
        4: (I32, codec),
        5: (I64, n_values),
        6: (I64, sizes[0]),
        7: (I64, sizes[1]),
        9: (I64, offset),
        12: (STRUCT, statistics),
        13: (LIST, (STRUCT, [pages])),
    }
    return Chunk(described, offset, *sizes)


def chunks_of(footer: bytes, n_rows: int, start: int) -> list[Chunk]:
    """Return the chunks of a file of one row group, with positions relative to `start`.

    Raises
    ------
    RuntimeError
        The file has other row groups.
    """
    groups = decode(footer)[4][1][1]
    if [group[3][1] for group in groups] != [n_rows]:
        raise RuntimeError("pyarrow wrote other row groups than requested")
    chunks = []
    for described in (chunk[3][1] for chunk in groups[0][1][1][1]):
        for i in POSITIONS:
            if i in described:
                described[i] = I64, described[i][1] - start
        offset = min(described[i][1] for i in POSITIONS if i in described)
        chunks.append(Chunk(described, offset, described[6][1], described[7][1]))
    return chunks


def footer_with(empty: bytes, groups: Sequence[Group]) -> bytes:
    """Return the footer of a file with row groups, from that of a file without rows."""
    footer = decode(empty)
    footer[3] = I64, sum(group.n_rows for group in groups)
    footer[4] = LIST, (RAW, [_row_group(i, group) for i, group in enumerate(groups)])
    return encode(footer)


def _row_group(number: int, group: Group) -> bytes:
    """Return the metadata of a row group."""
    chunks = group.chunks
    found: Struct = {
        1: (LIST, (RAW, [chunk.described for chunk in chunks])),
        2: (I64, sum(chunk.n_plain for chunk in chunks)),
        3: (I64, group.n_rows),
        5: (I64, min((chunk.offset for chunk in chunks), default=0)),
        6: (I64, sum(chunk.n_packed for chunk in chunks)),
    }
    if number <= MAX_ORDINAL:
        found[7] = I16, number
    return encode(found)


def encode(struct: Struct) -> bytes:
    """Return a structure as bytes; its fields must be in the order of their numbers."""
    out = bytearray()
    _add_struct(out, struct)
    return bytes(out)


def decode(data: bytes) -> Struct:
    """Return the structure that some bytes begin with.

    Raises
    ------
    ValueError, IndexError
        The bytes are no structure, or one with a map.
    """
    return _Decoder(data).struct()


def _add_struct(out: bytearray, struct: Struct) -> None:
    """Add a structure: for each field the difference of its number, its type and its value."""
    before = 0
    for number, (kind, value) in struct.items():
        code = (TRUE if value else FALSE) if kind in (TRUE, FALSE) else abs(kind)
        if 0 < number - before <= MAX_NIBBLE:
            out.append((number - before) << 4 | code)
        else:
            out.append(code)
            _add_number(out, number)
        before = number
        if code not in (TRUE, FALSE):
            _add(out, kind, value)
    out.append(0)


def _add(out: bytearray, kind: int, value: Any) -> None:
    """Add a value; a Boolean field has none."""
    if kind in (I16, I32, I64):
        _add_number(out, value)
    elif kind == BINARY:
        _add_size(out, len(value))
        out += value
    elif kind == STRUCT:
        _add_struct(out, value)
    elif kind in (LIST, SET):
        item_kind, items = value
        short = min(len(items), MAX_NIBBLE)
        out.append(short << 4 | abs(item_kind))
        if short == MAX_NIBBLE:
            _add_size(out, len(items))
        for item in items:
            _add(out, item_kind, item)
    elif kind in (TRUE, FALSE):
        out.append(TRUE if value else FALSE)
    else:  # RAW, BYTE, DOUBLE
        out += value


def _add_number(out: bytearray, value: int) -> None:
    """Add a signed number in zigzag encoding, in which small negative numbers are short too."""
    _add_size(out, value << 1 if value >= 0 else ~(value << 1))


def _add_size(out: bytearray, value: int) -> None:
    """Add an unsigned number, 7 bits a byte."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


class _Decoder:
    """Bytes and a position in them."""

    def __init__(self, data: bytes) -> None:
        self._data, self._next = data, 0

    def struct(self) -> Struct:
        found: Struct = {}
        number = 0
        while header := self._byte():
            kind = header & 15
            number = number + (header >> 4) if header >> 4 else self._number()
            found[number] = kind, kind == TRUE if kind in (TRUE, FALSE) else self._value(kind)
        return found

    def _value(self, kind: int) -> Any:
        if kind in (I16, I32, I64):
            return self._number()
        if kind == BINARY:
            return self._take(self._size())
        if kind == STRUCT:
            return self.struct()
        if kind in (LIST, SET):
            header = self._byte()
            size = header >> 4 if header >> 4 < MAX_NIBBLE else self._size()
            return header & 15, [self._value(header & 15) for _ in range(size)]
        if kind in (TRUE, FALSE):
            return self._byte() == TRUE
        if kind in (BYTE, DOUBLE):
            return self._take(1 if kind == BYTE else 8)
        raise ValueError(f"unexpected type {kind}")

    def _byte(self) -> int:
        self._next += 1
        return self._data[self._next - 1]

    def _take(self, size: int) -> bytes:
        self._next += size
        return self._data[self._next - size : self._next]

    def _number(self) -> int:
        value = self._size()
        return value >> 1 ^ -(value & 1)

    def _size(self) -> int:
        value = shift = 0
        while (byte := self._byte()) > 0x7F:
            value |= (byte & 0x7F) << shift
            shift += 7
        return value | byte << shift
