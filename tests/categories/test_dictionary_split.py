"""Texts cut at a separator, the pieces numbered: against ``str.split``, in Arrow's layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrow_producer import Producer, producer
from dictionary_values import TEXT_TYPES, arrow, instruction_set
from hypothesis import given, settings
from hypothesis import strategies as st

from onehot_fast._arrow.array import read
from onehot_fast._categories.dictionary import Dictionary
from onehot_fast._categories.strings import Strings
from onehot_fast._kernels import simd

__all__ = ["producer"]

every_variant = pytest.mark.parametrize("variant", simd.variants())
SEPARATORS = ("|", "aa", "aab", "é", "\0", "\U0001f600|")


def check(values: Any, rows: list[str | None], separator: str) -> None:
    """Hold the pieces of rows against the slow way, the empty ones kept or not."""
    for keep_empty in (False, True):
        split = [[] if row is None else row.split(separator) for row in rows]
        if not keep_empty:
            split = [[piece for piece in row if piece] for row in split]
        dictionary = Dictionary("string")
        offsets, codes = dictionary.split(values, separator.encode(), keep_empty=keep_empty)
        pieces = [piece for row in split for piece in row]
        distinct = list(dict.fromkeys(pieces))
        assert np.diff(offsets).tolist() == list(map(len, split))
        assert dictionary.values.tolist() == distinct
        assert [distinct[code] for code in codes] == pieces


@every_variant
@given(data=st.data(), separator=st.sampled_from(SEPARATORS), skipped=st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_pieces(variant: str, data: st.DataObject, separator: str, skipped: int) -> None:
    """Separators that overlap, stand at the ends or nowhere; any length; missing texts."""
    part = st.sampled_from([separator, separator[0], "", "a", "b", "x" * 15, "y" * 40, "é\0"])
    text = st.lists(part, max_size=12).map("".join)
    rows = data.draw(st.lists(st.none() | text, max_size=40))
    with instruction_set(variant):
        for kind in TEXT_TYPES:
            check(arrow(rows, kind, skipped), rows, separator)
        known = [row or "" for row in rows]
        check(Strings.from_objects(known), known, separator)


def test_very_many_pieces() -> None:
    """More than there was room for, in one row and in many."""
    rows = ["|".join(map(str, range(50_000))), None, *(f"{i}|{i + 1}" for i in range(30_000))]
    dictionary = Dictionary("string")
    offsets, codes = dictionary.split(arrow(rows, TEXT_TYPES[0]), b"|")
    assert offsets[:3].tolist() == [0, 50_000, 50_000]
    assert codes[:50_000].tolist() == list(range(50_000))
    assert codes[50_000:].tolist() == [code for i in range(30_000) for code in (i, i + 1)]


@pytest.mark.parametrize("offsets", [[0, 2, 1, 3], [-1, 0, 1, 3], [0, 1, 2**30, 3], [3, 2, 1, 3]])
@pytest.mark.parametrize(("format", "dtype"), [(b"u", np.int32), (b"U", np.int64)])
def test_offsets_out_of_order_are_refused(
    producer: Producer, offsets: list[int], format: bytes, dtype: Any
) -> None:
    """No offset is believed that lies outside of what the last one allows."""
    parts = [None, np.array(offsets, dtype), np.frombuffer(b"abcdefgh" * 4, np.uint8)]
    array = producer.array(parts, length=3)
    (chunk,) = read(producer.pair(producer.schema(format), array))
    with pytest.raises(ValueError, match="malformed"):
        Dictionary("string").split(chunk, b"|")


def test_views_outside_their_buffers_are_refused(producer: Producer) -> None:
    """Neither a buffer nor a place in one is believed."""
    for buffer, offset in ((1, 0), (0, 10), (0, 2**31)):
        view = (20).to_bytes(4, "little") + b"abcd" + buffer.to_bytes(4, "little")
        views = np.frombuffer(view + offset.to_bytes(4, "little"), np.uint8)
        parts = [None, views, np.zeros(24, np.uint8), np.array([24], np.int64)]
        (chunk,) = read(producer.pair(producer.schema(b"vu"), producer.array(parts, length=1)))
        with pytest.raises(ValueError, match="malformed"):
            Dictionary("string").split(chunk, b"|")


def test_what_cannot_be_split() -> None:
    """Objects have no place in Arrow's layouts, and an empty separator separates nothing."""
    with pytest.raises(TypeError, match="only Arrow's texts"):
        Dictionary("string").split(np.array(["a|b"], object), b"|")
    with pytest.raises(ValueError, match="the separator is empty"):
        Dictionary("string").split(Strings.from_objects(["a"]), b"")
