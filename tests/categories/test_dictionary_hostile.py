"""The dictionary with malformed buffers, protected pages and hostile objects."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast.adapter import read_arrow as read
from support.arrow_producer import packed, producer
from support.dictionary_values import (
    BYTES_TYPES,
    LENGTHS,
    Dictionary,
    every_variant,
    guarded,
    instruction_set,
    learned,
    numbered,
)
from support.strategies import examples

__all__ = ["producer"]

pa = pytest.importorskip("pyarrow")


def texts(producer, format, parts, length, **fields):
    """Return the chunk of an array of texts made by hand."""
    array = producer.array(parts, length=length, **fields)
    (chunk,) = read(producer.pair(producer.schema(format), array))
    return chunk


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs mprotect")
@every_variant
@pytest.mark.parametrize("at_end", [False, True])
@given(order=st.permutations(LENGTHS * 2))
@examples(0.1)
def test_reads_stay_inside_the_buffers(variant, at_end, order):
    """Each buffer begins, or ends, at a page that cannot be read; tests/native has more layouts."""
    rows = [bytes([length % 3]) * length for length in order]
    with instruction_set(variant):
        for kind in BYTES_TYPES:
            whole = pa.array([*rows, None], kind)
            buffers = [
                buffer and pa.py_buffer(guarded(buffer.to_pybytes(), at_end))
                for buffer in whole.buffers()
            ]
            array = pa.Array.from_buffers(kind, len(whole), buffers)
            (chunk,) = read(array)
            dictionary = Dictionary("binary")
            expected = numbered([*rows, None])[0]
            assert dictionary.encode(chunk).tolist() == expected
            assert dictionary.lookup(chunk).tolist() == expected
    gc.collect()


# ---- Malformed buffers ----


METHODS = [Dictionary.encode, lambda dictionary, chunk: dictionary.split(chunk, b"|")]
either_method = pytest.mark.parametrize("method", METHODS, ids=["encode", "split"])


@either_method
@pytest.mark.parametrize(
    "offsets",
    [[0, 2, 1, 3], [0, 4, 4, 3], [-1, 0, 1, 3], [0, -5, 1, 3], [3, 2, 1, 3], [0, 1, 2**30, 3]],
)
@pytest.mark.parametrize(("format", "dtype"), [(b"u", np.int32), (b"U", np.int64)])
def test_offsets_out_of_order_are_rejected(producer, method, offsets, format, dtype):
    parts = [None, np.array(offsets, dtype), np.frombuffer(b"abcdefgh" * 4, np.uint8)]
    chunk = texts(producer, format, parts, 3)
    with pytest.raises(ValueError, match="inside the buffers"):
        method(Dictionary("string"), chunk)


def test_a_negative_last_offset_is_rejected(producer):
    chunk = texts(producer, b"U", [None, np.array([0, -1]), None], 1)
    with pytest.raises(ValueError, match="must be at least 0, got -1"):
        Dictionary("string").encode(chunk)


def test_the_data_may_be_missing_for_empty_texts_only(producer):
    chunk = texts(producer, b"u", [None, np.zeros(4, np.int32), None], 3)
    assert Dictionary("string").encode(chunk).tolist() == [0, 0, 0]
    chunk = texts(producer, b"u", [None, np.array([0, 1, 1, 1], np.int32), None], 3)
    with pytest.raises(ValueError, match="inside the buffers"):
        Dictionary("string").encode(chunk)


@either_method
@pytest.mark.parametrize(
    "view",
    [
        (13, 0, 0, 28),  # ends one byte after the buffer
        (13, 0, 1, 0),  # in a buffer that does not exist
        (13, 0, -1, 0),
        (13, 0, 0, -1),
        (-1, 0, 0, 0),
        (2**31 - 1, 0, 0, 0),
    ],
)
def test_views_outside_their_buffers_are_rejected(producer, method, view):
    views = np.array([(1, 97, 0, 0), view], np.int32).view(np.uint8).ravel()
    data = np.zeros(40, np.uint8)
    chunk = texts(producer, b"vu", [None, views, data, np.array([40], np.int64)], 2)
    with pytest.raises(ValueError, match=r"row 1: .*inside the buffers"):
        method(Dictionary("string"), chunk)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("begin", range(9))
def test_values_of_nulls_are_ignored(producer, begin, n):
    """They may be malformed; the bitmap begins at any bit."""
    random = np.random.default_rng(n)
    valid = random.random(n) < 0.5
    views = np.full((begin + n, 4), 2**31 - 1, np.int32)
    views[begin:][valid] = (1, 97, 0, 0)
    parts = [packed(valid, begin), views.view(np.uint8).ravel(), np.zeros(0, np.int64)]
    chunk = texts(producer, b"vu", parts, n, offset=begin, null_count=-1)
    assert Dictionary("string").encode(chunk).tolist() == np.where(valid, 0, -1).tolist()


def test_invalid_utf8_is_an_error_of_the_values_only(producer):
    parts = [None, np.array([0, 1, 2], np.int32), np.frombuffer(b"\xff\xc0", np.uint8)]
    dictionary = learned("string", texts(producer, b"u", parts, 2))
    with pytest.raises(UnicodeDecodeError):
        dictionary.values.tolist()
    assert learned("binary", texts(producer, b"z", parts, 2)).values.tolist() == [b"\xff", b"\xc0"]


def test_invalid_characters_are_rejected():
    rows = np.array(["a", "b"], "U3")
    rows.view(np.uint32)[4] = 0x110000
    with pytest.raises(TypeError, match="row 1:"):
        Dictionary("string").encode(rows)


# ---- Objects ----


def test_objects_keep_their_reference_counts():
    """The counts do not change, even after an error."""
    rows = np.array([f"{i % 50}é" for i in range(3000)] + [None, float("nan")], object)
    before = [sys.getrefcount(row) for row in rows]
    dictionary = learned("string", rows)
    dictionary.lookup(rows)
    with pytest.raises(TypeError):
        dictionary.encode(np.append(rows, [1]))
    dictionary.values.tolist()
    gc.collect()
    after = [sys.getrefcount(row) for row in rows]
    assert after[:-2] == before[:-2]


def test_a_huge_text_that_is_not_ascii_is_read():
    rows = ["é" * 3_000_000, "x", "é" * 3_000_000 + "x", "é" * 70_000, "é" * 3_000_000]
    assert Dictionary("string").encode(np.array(rows, object)).tolist() == [0, 1, 2, 3, 0]
