"""Thrift's compact protocol, as far as the metadata of Parquet needs it.

A struct is a dict from the number of a field to a `Value`; what is not understood is carried along.
The protocol: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

__all__ = [
    "BINARY", "FALSE", "I32", "I64", "LIST", "STRUCT", "TRUE",
    "Struct", "Value", "binary", "dumps", "i32", "i64", "listed", "loads", "struct",
]  # fmt: skip

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
INTEGERS = {I16, I32, I64}
# Deeper than any metadata of Parquet: corrupt bytes must not exhaust the stack.
MOST_DEPTH = 32


class Value(NamedTuple):
    """A value and its type. That of a list is a pair: the type of its elements, and these."""

    kind: int
    value: Any


Struct: TypeAlias = dict[int, Value]


def i32(number: int) -> Value:
    """Return an integer of 32 bits."""
    return Value(I32, number)


def i64(number: int) -> Value:
    """Return an integer of 64 bits."""
    return Value(I64, number)


def binary(text: bytes | str) -> Value:
    """Return bytes, or the UTF-8 of a text."""
    return Value(BINARY, text.encode() if isinstance(text, str) else text)


def struct(fields: Struct) -> Value:
    """Return a struct as a value."""
    return Value(STRUCT, fields)


def listed(kind: int, items: list[Any]) -> Value:
    """Return a list of values of one type."""
    return Value(LIST, (kind, items))


def loads(data: bytes, start: int = 0) -> tuple[Struct, int]:
    """Return the struct at a position, and the position behind it.

    Raises
    ------
    ValueError
        The bytes are no struct.
    """
    reader = _Reader(data, start)
    try:
        return reader.struct(0), reader.at
    except IndexError:
        raise ValueError("the metadata ends within a value") from None


class _Reader:
    """The position in some bytes."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def byte(self) -> int:
        """Return the next byte."""
        value = self.data[self.at]
        self.at += 1
        return value

    def varint(self) -> int:
        """Return an unsigned integer of variable length."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def zigzag(self) -> int:
        """Return a signed integer."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def take(self, length: int) -> bytes:
        """Return the next bytes."""
        end = self.at + length
        if end > len(self.data):
            raise IndexError
        part = self.data[self.at : end]
        self.at = end
        return bytes(part)

    def struct(self, depth: int) -> Struct:
        """Return a struct."""
        if depth > MOST_DEPTH:
            raise ValueError("the metadata is nested too deeply")
        fields: Struct = {}
        number = 0
        while (head := self.byte()) != 0:
            kind = head & 0x0F
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            fields[number] = Value(kind, self.value(kind, depth + 1))
        return fields

    def value(self, kind: int, depth: int) -> Any:
        """Return a value of a type."""
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind in INTEGERS:
            return self.zigzag()
        if kind == BINARY:
            return self.take(self.varint())
        if kind == BYTE:
            return self.byte()
        if kind == DOUBLE:
            return self.take(8)
        if kind in (LIST, SET):
            return self.items(depth)
        if kind == STRUCT:
            return self.struct(depth)
        raise ValueError(f"the metadata holds a value of the unknown type {kind}")

    def items(self, depth: int) -> tuple[int, list[Any]]:
        """Return the elements of a list, and their type."""
        head = self.byte()
        count = head >> 4
        count = self.varint() if count == 15 else count
        kind = head & 0x0F
        if count > len(self.data) - self.at:  # an element takes a byte at least
            raise IndexError
        if kind in (TRUE, FALSE):
            return kind, [self.byte() == TRUE for _ in range(count)]
        return kind, [self.value(kind, depth + 1) for _ in range(count)]


def dumps(fields: Struct) -> bytes:
    """Return a struct as bytes."""
    out = bytearray()
    _write_struct(out, fields)
    return bytes(out)


def _write_varint(out: bytearray, value: int) -> None:
    """Write an unsigned integer."""
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _write_zigzag(out: bytearray, value: int) -> None:
    """Write a signed integer."""
    _write_varint(out, value << 1 if value >= 0 else (-value << 1) - 1)


def _write_struct(out: bytearray, fields: Struct) -> None:
    """Write the fields in the order of their numbers."""
    last = 0
    for number, (kind, value) in sorted(fields.items()):
        if kind in (TRUE, FALSE):
            kind = TRUE if value else FALSE
        if 0 < number - last <= 15:
            out.append((number - last) << 4 | kind)
        else:
            out.append(kind)
            _write_zigzag(out, number)
        last = number
        if kind not in (TRUE, FALSE):  # which are their own type
            _write_value(out, kind, value)
    out.append(0)


def _write_value(out: bytearray, kind: int, value: Any) -> None:
    """Write a value of a type."""
    if kind in INTEGERS:
        _write_zigzag(out, value)
    elif kind == BINARY:
        _write_varint(out, len(value))
        out += value
    elif kind == STRUCT:
        _write_struct(out, value)
    elif kind == BYTE:
        out.append(value)
    elif kind == DOUBLE:
        out += value
    elif kind in (TRUE, FALSE):
        out.append(TRUE if value else FALSE)
    else:
        _write_items(out, *value)


def _write_items(out: bytearray, kind: int, items: list[Any]) -> None:
    """Write a list."""
    out.append(min(len(items), 15) << 4 | kind)
    if len(items) >= 15:
        _write_varint(out, len(items))
    for item in items:
        _write_value(out, kind, item)
