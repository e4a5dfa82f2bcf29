"""What a Parquet file says of itself: headers of pages, chunks of columns, and the footer.

The numbers of the fields are those of the format (parquet.thrift).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from onehot_fast.cli.thrift import BINARY, I16, I32, I64, LIST, RAW, STRUCT, Struct, decode, encode

__all__ = ["BitsChunk", "Chunk", "Group", "Placed", "chunks_of", "footer_with", "page_header"]

# Of types, kinds of pages and encodings.
BOOLEAN = DATA_PAGE = PLAIN = 0
RLE = 3
MOST_ORDINAL = (1 << 15) - 1
# The fields that say where the pages of data, of an index and of a dictionary begin.
PLACES = (9, 10, 11)


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

    def described(self, name: str, codec: int) -> Chunk:
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
        return Chunk({2: (I64, 0), 3: (STRUCT, described)}, 0)


class Chunk(NamedTuple):
    """A column of a row group: what the footer of another file says of it.

    Attributes
    ----------
    described : Struct
    start : int
        Where in that file began what is taken out of it.
    """

    described: Struct
    start: int

    def placed(self, start: int) -> Placed:
        """Return the chunk in a file where what is taken begins here."""
        inner = dict(self.described[3][1])
        places = {i: inner[i][1] + start - self.start for i in PLACES if i in inner}
        inner.update({i: (I64, place) for i, place in places.items()})
        # Where what is described stands again, which readers are to ignore, is left out.
        encoded = encode({2: (I64, 0), 3: (STRUCT, inner)})
        return Placed(encoded, min(places.values()), inner[6][1], inner[7][1])


class Placed(NamedTuple):
    """A column of a row group, as the footer has it, where it begins, and its sizes."""

    described: bytes
    offset: int
    n_plain: int
    n_packed: int


class Group(NamedTuple):
    """A row group: its rows, and its columns, which may come later."""

    n_rows: int
    chunks: list[Placed]


def chunks_of(footer: bytes, n_rows: int, start: int) -> list[Chunk]:
    """Return the columns of a file of one row group, of which all from `start` on is taken.

    Raises
    ------
    RuntimeError
        There are more row groups, or other rows.
    """
    groups = decode(footer)[4][1][1]
    if [group[3][1] for group in groups] != [n_rows]:
        raise RuntimeError("pyarrow made other row groups than it was given")
    return [Chunk(chunk, start) for chunk in groups[0][1][1][1]]


def footer_with(whole: bytes, groups: Sequence[Group]) -> bytes:
    """Return the footer of a file.

    Parameters
    ----------
    whole : bytes
        The footer of a file of the same columns, without rows.
    groups : sequence of Group
    """
    footer = decode(whole)
    rows = [_row_group(i, group.n_rows, group.chunks) for i, group in enumerate(groups)]
    footer[3] = I64, sum(group.n_rows for group in groups)
    footer[4] = LIST, (RAW, rows)
    return encode(footer)


def _row_group(number: int, n_rows: int, chunks: Sequence[Placed]) -> bytes:
    """Return what the footer says of a row group."""
    group: Struct = {
        1: (LIST, (RAW, [chunk.described for chunk in chunks])),
        2: (I64, sum(chunk.n_plain for chunk in chunks)),
        3: (I64, n_rows),
        5: (I64, min((chunk.offset for chunk in chunks), default=0)),
        6: (I64, sum(chunk.n_packed for chunk in chunks)),
    }
    if number <= MOST_ORDINAL:
        group[7] = I16, number
    return encode(group)
