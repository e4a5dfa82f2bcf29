"""What a Parquet file says of itself: headers of pages, chunks of columns, and the footer.

The numbers of the fields are those of the format (parquet.thrift).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from onehot_fast.cli.thrift import BINARY, I16, I32, I64, LIST, RAW, STRUCT, Struct, decode, encode

__all__ = ["BitsChunk", "Group", "footer_with", "page_header"]

# Of types, kinds of pages and encodings.
BOOLEAN = DATA_PAGE = PLAIN = 0
RLE = 3
MOST_ORDINAL = (1 << 15) - 1


def page_header(n_values: int, n_plain: int, n_packed: int) -> bytes:
    """Return the header of a page of Booleans that are never null, hence without levels.

    Parameters
    ----------
    n_values : int
    n_plain, n_packed : int
        The bytes of the page before and after compression.
    """
    data_page: Struct = {1: (I32, n_values), 2: (I32, PLAIN), 3: (I32, RLE), 4: (I32, RLE)}
    sizes: Struct = {1: (I32, DATA_PAGE), 2: (I32, n_plain), 3: (I32, n_packed)}
    return encode({**sizes, 5: (STRUCT, data_page)})


class BitsChunk(NamedTuple):
    """A column of Booleans that are never null, in one row group.

    Attributes
    ----------
    offset : int
        Where its first page begins in the file.
    n_plain, n_packed : int
        The bytes of its pages and their headers before and after compression.
    n_pages, n_values, n_true : int
    """

    offset: int
    n_plain: int
    n_packed: int
    n_pages: int
    n_values: int
    n_true: int

    def encoded(self, name: str, codec: int) -> bytes:
        """Return what the footer says of it."""
        least, greatest = self.n_true == self.n_values, self.n_true > 0
        statistics: Struct = {
            3: (I64, 0),  # nulls
            5: (BINARY, bytes([greatest])),
            6: (BINARY, bytes([least])),
        }
        pages: Struct = {1: (I32, DATA_PAGE), 2: (I32, PLAIN), 3: (I32, self.n_pages)}
        described: Struct = {
            1: (I32, BOOLEAN),
            2: (LIST, (I32, [PLAIN])),
            3: (LIST, (BINARY, [name.encode()])),
            4: (I32, codec),
            5: (I64, self.n_values),
            6: (I64, self.n_plain),
            7: (I64, self.n_packed),
            9: (I64, self.offset),
            12: (STRUCT, statistics),
            13: (LIST, (STRUCT, [pages])),
        }
        return encode({2: (I64, 0), 3: (STRUCT, described)})


class Group(NamedTuple):
    """A row group: its rows, and its columns of bits with what the footer says of them."""

    n_rows: int
    bits: Sequence[tuple[BitsChunk, bytes]]


class _Chunk(NamedTuple):
    """A column of a row group, of either kind."""

    described: bytes
    offset: int
    n_plain: int
    n_packed: int


def footer_with(
    whole: bytes, kept: bytes | None, is_bits: Sequence[bool], groups: Sequence[Group]
) -> bytes:
    """Return the footer of a file of two kinds of columns.

    Parameters
    ----------
    whole : bytes
        The footer of a file of all columns, without rows.
    kept : bytes, optional
        The footer of a file of these row groups without the columns of bits; None: there are no
        others.
    is_bits : sequence of bool
        Which columns of the table are those of bits.
    groups : sequence of Group

    Raises
    ------
    RuntimeError
        The row groups of the kept columns are others.
    """
    footer = decode(whole)
    others = [] if kept is None else decode(kept)[4][1][1]
    if kept is not None and [other[3][1] for other in others] != [group.n_rows for group in groups]:
        raise RuntimeError("pyarrow made other row groups than it was given")
    n_leaves = _leaves_of_columns(footer[2][1][1])
    rows = []
    for number, group in enumerate(groups):
        bits = iter(group.bits)
        leaves = iter(others[number][1][1][1] if others else ())
        chunks = []
        for is_own, n in zip(is_bits, n_leaves, strict=True):
            if is_own:
                chunk, described = next(bits)
                chunks.append(_Chunk(described, chunk.offset, chunk.n_plain, chunk.n_packed))
            else:
                chunks += [_kept_chunk(next(leaves)) for _ in range(n)]
        rows.append(_row_group(number, group.n_rows, chunks))
    footer[3] = I64, sum(group.n_rows for group in groups)
    footer[4] = LIST, (RAW, rows)
    return encode(footer)


def _leaves_of_columns(elements: list[Struct]) -> list[int]:
    """Return how many columns of Parquet each column of a table is, from the schema's tree."""
    found: list[int] = []
    open_children: list[int] = []  # of each group that is not complete, from the root on
    for element in elements:
        n_children = element[5][1] if 5 in element else 0
        if len(open_children) == 1:
            found.append(0)
        if not n_children and open_children:
            found[-1] += 1
        if open_children:
            open_children[-1] -= 1
        open_children.append(n_children)
        while len(open_children) > 1 and not open_children[-1]:
            open_children.pop()
    return found


def _kept_chunk(chunk: Struct) -> _Chunk:
    """Return a column chunk of another footer."""
    described = chunk[3][1]
    offsets = [described[field][1] for field in (9, 11) if field in described]
    return _Chunk(encode(chunk), min(offsets), described[6][1], described[7][1])


def _row_group(number: int, n_rows: int, chunks: Sequence[_Chunk]) -> bytes:
    """Return what the footer says of a row group."""
    group: Struct = {
        1: (LIST, (RAW, [chunk.described for chunk in chunks])),
        2: (I64, sum(chunk.n_plain for chunk in chunks)),
        3: (I64, n_rows),
        5: (I64, min(chunk.offset for chunk in chunks)),
        6: (I64, sum(chunk.n_packed for chunk in chunks)),
    }
    if number <= MOST_ORDINAL:
        group[7] = I16, number
    return encode(group)
