"""Values for the tests of the dictionary, their layouts, and the slow way to number them."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from onehot_fast._categories.hashtable.dictionary import Dictionary
from onehot_fast._kernels import simd
from onehot_fast.adapter import read_arrow as read

pa = pytest.importorskip("pyarrow")
every_variant = pytest.mark.parametrize("variant", simd.variants())

# Lengths around every bound of the loops: inline, views, one key, two, four and more vectors.
LENGTHS = (0, 1, 2, 3, 4, 7, 8, 9, 11, 12, 13, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 79, 80, 200)
ALPHABETS = ("a", "ab\0", "aé€\U0001f600\0", "\x7f\x80\u07ff\u0800\uffff")

TEXT_TYPES = (pa.string(), pa.large_string(), pa.string_view())
BYTES_TYPES = (pa.binary(), pa.large_binary(), pa.binary_view())


def texts_of(alphabet: str) -> st.SearchStrategy[str]:
    """Return texts of few characters, so that many have equal beginnings and ends."""
    short = st.text(alphabet, max_size=5)
    middle = st.sampled_from(LENGTHS).map(lambda n: alphabet[0] * n)
    return st.one_of(short, st.tuples(short, middle, short).map("".join))


@st.composite
def columns(draw: st.DrawFn) -> list[str | None]:
    """Draw the rows of a column: few or many different texts, and missing ones."""
    pool = draw(st.lists(texts_of(draw(st.sampled_from(ALPHABETS))), min_size=1, max_size=40))
    rows = draw(st.lists(st.sampled_from(pool), max_size=200))
    if draw(st.booleans()):
        missing = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
        return [None if gone else row for row, gone in zip(rows, missing, strict=True)]
    return list(rows)


def numbered(rows: Sequence[Any]) -> tuple[list[int], list[Any]]:
    """Return the codes in order of first appearance, None as -1, and the distinct values."""
    codes: dict[Any, int] = {}
    found = [-1 if row is None else codes.setdefault(row, len(codes)) for row in rows]
    return found, list(codes)


def arrow(rows: Sequence[Any], kind: Any, skipped: int = 0) -> Any:
    """Return the chunk of an Arrow array, sliced out of one with ``skipped`` rows in front."""
    front = pa.array([None, rows[0] if rows else None] * skipped, kind)[:skipped]
    whole = pa.concat_arrays([front, pa.array(rows, kind)])
    (chunk,) = read(whole[skipped:])
    return chunk


@contextmanager
def instruction_set(name: str) -> Iterator[None]:
    """Use one instruction set for new dictionaries."""
    before = simd.activate(name)
    try:
        yield
    finally:
        simd.activate(before)


def learned(kind: str, values: Any) -> Dictionary:
    """Return a dictionary of values."""
    dictionary = Dictionary(kind)
    dictionary.encode(values)
    return dictionary


def guarded(content: bytes, at_end: bool) -> np.ndarray[Any, Any]:
    """Return bytes that end before, or begin behind, a page that cannot be read."""
    page = mmap.PAGESIZE
    n_inside = max(1, -(-len(content) // page)) * page
    whole = np.frombuffer(mmap.mmap(-1, n_inside + 2 * page), np.uint8)
    first = page + n_inside - len(content) if at_end else page
    whole[first : first + len(content)] = np.frombuffer(content, np.uint8)
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for begin in (0, page + n_inside):
        assert protect(whole.ctypes.data + begin, page, 0) == 0
    return whole[first : first + len(content)]
