"""Thrift's compact protocol, in which the footer of a Parquet file is written.

A structure is a dict of its fields: number → (type, value); a list is (type, values). A value of
the type `RAW` is a structure that is encoded already.
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["BINARY", "I16", "I32", "I64", "LIST", "RAW", "STRUCT", "Struct", "decode", "encode"]

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
RAW = -STRUCT
LONGEST_NIBBLE = 15  # from here on a number has bytes of its own

Struct: TypeAlias = dict[int, tuple[int, Any]]


def encode(struct: Struct) -> bytes:
    """Return the bytes of a structure, whose fields are in the order of their numbers."""
    out = bytearray()
    _put_struct(out, struct)
    return bytes(out)


def decode(data: bytes) -> Struct:
    """Return the structure that some bytes begin with.

    Raises
    ------
    ValueError, IndexError
        There is none, or one with a map.
    """
    return _Reader(data).struct()


def _put_struct(out: bytearray, struct: Struct) -> None:
    before = 0
    for number, (kind, value) in struct.items():
        code = (TRUE if value else FALSE) if kind in (TRUE, FALSE) else abs(kind)
        if 0 < number - before <= LONGEST_NIBBLE:
            out.append((number - before) << 4 | code)
        else:
            out.append(code)
            _put_number(out, number)
        before = number
        if code not in (TRUE, FALSE):
            _put(out, kind, value)
    out.append(0)


def _put(out: bytearray, kind: int, value: Any) -> None:
    """Add a value, which is not that of a Boolean field."""
    if kind in (I16, I32, I64):
        _put_number(out, value)
    elif kind == BINARY:
        _put_size(out, len(value))
        out += value
    elif kind == STRUCT:
        _put_struct(out, value)
    elif kind in (LIST, SET):
        of, items = value
        short = min(len(items), LONGEST_NIBBLE)
        out.append(short << 4 | abs(of))
        if short == LONGEST_NIBBLE:
            _put_size(out, len(items))
        for item in items:
            _put(out, of, item)
    elif kind in (TRUE, FALSE):
        out.append(TRUE if value else FALSE)
    else:  # RAW, BYTE, DOUBLE
        out += value


def _put_number(out: bytearray, value: int) -> None:
    """Add a signed number: zigzag, so that a small negative one is short too."""
    _put_size(out, value << 1 if value >= 0 else ~(value << 1))


def _put_size(out: bytearray, value: int) -> None:
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


class _Reader:
    """Bytes, and how far they have been read."""

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
        """Read a value, which is not that of a Boolean field."""
        if kind in (I16, I32, I64):
            return self._number()
        if kind == BINARY:
            return self._take(self._size())
        if kind == STRUCT:
            return self.struct()
        if kind in (LIST, SET):
            header = self._byte()
            size = header >> 4 if header >> 4 < LONGEST_NIBBLE else self._size()
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
