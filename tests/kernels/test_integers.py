"""The kernel of integers whose classes are listed, in every variant, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast._kernels import dispatch
from support.strategies import INTEGERS, LENGTHS, examples

ONE, ZERO = np.array(1, np.uint8), np.array(0, np.uint8)


@st.composite
def calls(draw):
    """Draw integers, a look-up table and where it begins, or values to compare."""
    dtype = draw(st.sampled_from(INTEGERS))
    limits = np.iinfo(dtype)
    n_classes = draw(st.sampled_from((1, 2, 3, 10, 31, 32, 33, 100, 254, 255, 256, 300)))
    entries = st.integers(-2, n_classes - 1)
    is_compared = draw(st.booleans())
    n_entries = draw(st.integers(1, 32 if is_compared else 300))
    if is_compared:
        entries = st.integers(-2, min(n_classes, 254) - 1)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if draw(st.booleans()):  # an addition
        first = draw(entries)
        lut = np.minimum(first + np.arange(n_entries + 1), min(n_classes, 254) - 1)
        lut[-1] = draw(st.sampled_from((-1, -2)))
    else:
        lut = rng.integers(-2, min(n_classes, 254 if is_compared else 300), n_entries + 1)
    span = min(n_entries, limits.max - limits.min)
    low = draw(st.integers(limits.min, limits.max - span))
    low = draw(st.sampled_from([low, max(limits.min, min(0, limits.max - span))]))
    values = None
    known = [low + i for i in range(n_entries) if low + i <= limits.max]
    if is_compared and draw(st.booleans()):  # far from one another
        drawn = rng.integers(limits.min, limits.max, len(known), dtype, endpoint=True)
        known = list(dict.fromkeys(drawn.tolist()))
    lut = np.append(lut[: len(known)], lut[-1]).astype(np.int32)
    if is_compared:
        values = np.array([each % 2**64 for each in known], np.uint64)
    outer, inner = draw(st.sampled_from(((1, 1), (2, 3), (1, 400), (3, 100))))
    n = draw(st.sampled_from(LENGTHS)) if inner == 1 else outer * inner
    # Python's integers: those of uint64 do not fit into the int64 of the generator.
    near = [max(known[0] - 1, limits.min), min(known[-1] + 1, limits.max)]
    chosen = np.array(known + near, object)[rng.integers(0, len(known) + len(near), n)]
    return chosen.astype(dtype), known, lut, low, values, n_classes, inner


@pytest.mark.usefixtures("mode")
@examples(2)
@given(call=calls(), num_threads=st.sampled_from((1, 2)))
def test_integers_have_the_class_of_their_entry(call, num_threads):
    """The kernel writes the class of each integer, and tells whether any integer is unknown."""
    integers, known, lut, low, values, n_classes, inner = call
    class_of = dict(zip(known, lut[:-1].tolist(), strict=True))
    classes = np.array([class_of.get(int(each), lut[-1]) for each in integers], np.int64)
    is_hot = classes[:, None] == np.arange(n_classes)
    wanted = is_hot.reshape(-1, inner, n_classes).transpose(0, 2, 1)
    out = np.full(wanted.shape, 7, np.uint8)

    is_unknown = dispatch.encode_integers(
        integers, lut, low, values, out, n_classes, inner, ONE, ZERO, num_threads=num_threads
    )

    np.testing.assert_array_equal(out, wanted)
    assert is_unknown == bool((classes == -2).any())


@st.composite
def pixel_calls(draw):
    """Draw pixels of up to 8 bytes, colours with their classes, and a size of the result."""
    width, n_colors = draw(st.integers(1, 8)), draw(st.sampled_from((1, 2, 5, 21, 32)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    colors = np.unique(rng.integers(0, 256, (n_colors, width), np.uint8), axis=0)
    n_classes = draw(st.sampled_from((1, 3, 40, 254, 300)))
    lut = rng.integers(-2, min(n_classes, 254), len(colors) + 1).astype(np.int32)
    outer, inner = draw(st.sampled_from(((1, 1), (2, 3), (1, 400), (3, 1200))))
    n = draw(st.sampled_from(LENGTHS)) if inner == 1 else outer * inner
    pixels = colors[rng.integers(0, len(colors), n)]
    is_changed = rng.random(n) < 0.1
    pixels[is_changed, rng.integers(0, width)] += 1
    return pixels, colors, lut, n_classes, inner


@pytest.mark.usefixtures("mode")
@examples(2)
@given(call=pixel_calls(), num_threads=st.sampled_from((1, 2)))
def test_pixels_have_the_class_of_their_color(call, num_threads):
    """Rows of bytes are read without a copy, and no byte behind the last one matters."""
    pixels, colors, lut, n_classes, inner = call
    class_of = dict(zip(map(bytes, colors), lut[:-1].tolist(), strict=True))
    classes = np.array([class_of.get(bytes(each), lut[-1]) for each in pixels], np.int64)
    is_hot = classes[:, None] == np.arange(n_classes)
    wanted = is_hot.reshape(-1, inner, n_classes).transpose(0, 2, 1)
    out = np.full(wanted.shape, 7, np.uint8)
    words = np.empty(len(colors), np.uint64)
    dispatch.pack(colors, words)

    is_unknown = dispatch.encode_integers(
        pixels, lut, 0, words, out, n_classes, inner, ONE, ZERO, num_threads=num_threads
    )

    np.testing.assert_array_equal(out, wanted)
    assert is_unknown == bool((classes == -2).any())


@pytest.mark.usefixtures("mode")
@pytest.mark.parametrize("n_classes", [40, 200], ids=["expanded", "scattered"])
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_many_integers_of_many_classes(dtype, n_classes):
    """A column longer than its look-up table reads classes from a table of bytes."""
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(3)
    n, span = 66_000, min(60_000, limits.max - limits.min)
    low = limits.min if limits.bits < 32 else 1_000
    lut = np.full(span + 1, -2, np.int32)
    places = rng.choice(span, n_classes, replace=False)
    lut[places] = rng.permutation(n_classes)
    lut[rng.integers(0, span)] = -1
    steps = np.append(places, rng.integers(0, span + 1, 10))[rng.integers(0, n_classes + 10, n)]
    integers = (steps + low).astype(dtype)
    classes = lut[steps]
    for inner in (1, n):
        out = np.full((n // inner, n_classes, inner), 7, np.uint8)
        options = (None, out, n_classes, inner, ONE, ZERO)

        assert dispatch.encode_integers(integers, lut, low, *options) == bool((classes == -2).any())

        wanted = classes.reshape(-1, 1, inner) == np.arange(n_classes)[:, None]
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.usefixtures("mode")
@pytest.mark.parametrize("inner", [1, 600], ids=["rows", "planes"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8], ids=["uint8", "int8"])
def test_every_byte_is_known_or_not(dtype, inner):
    """Bytes that are their own codes are written as they are; each unknown one is found."""
    lut = np.full(257, -2, np.int32)
    order = np.random.default_rng(5).permutation(256)
    lut[order[:50]] = np.arange(50)
    lut[order[50:90]] = -1
    low = np.iinfo(dtype).min
    for step in range(256):
        # Around the place of the element are bytes that are known.
        integers = np.full(600, order[7], np.int64)
        integers[[step, 599]] = step
        out = np.full((600 // inner, 50, inner), 7, np.uint8)

        is_unknown = dispatch.encode_integers(
            (integers + low).astype(dtype), lut, low, None, out, 50, inner, ONE, ZERO
        )

        assert is_unknown == (lut[step] == -2)
        wanted = lut[integers].reshape(-1, 1, inner) == np.arange(50)[:, None]
        np.testing.assert_array_equal(out, wanted)


def test_rejects_pixels_that_are_no_integer():
    out, lut = np.empty((2, 1), np.uint8), np.array([0, -2], np.int32)
    for width in (0, 9):
        with pytest.raises(ValueError, match=f"1 to 8 bytes, got {width}"):
            dispatch.encode_integers(
                np.zeros((2, width), np.uint8), lut, 0, np.zeros(1, "u8"), out, 1, 1, ONE, ZERO
            )


def test_too_many_values_are_rejected():
    out = np.empty((1, 40), np.uint8)
    values, lut = np.arange(33, dtype=np.uint64), np.arange(34, dtype=np.int32)
    with pytest.raises(ValueError, match="1 to 32 values"):
        dispatch.encode_integers(np.zeros(1, int), lut, 0, values, out, 40, 1, ONE, ZERO)
    out = np.empty((1, 300), np.uint8)
    with pytest.raises(ValueError, match="below 254"):
        dispatch.encode_integers(
            np.zeros(1, int), np.array([254, -1], np.int32), 0, values[:1], out, 300, 1, ONE, ZERO
        )


@given(width=st.integers(1, 8), n=st.sampled_from(LENGTHS), seed=st.integers(0, 2**32))
def test_rows_of_bytes_are_packed(width, n, seed):
    rows = np.random.default_rng(seed).integers(0, 256, (n, width), np.uint8)
    wanted = [int.from_bytes(row.tobytes(), "little") for row in rows]
    for dtype in (np.uint32, np.uint64):
        words = np.empty(n, dtype)
        if width > words.itemsize:
            with pytest.raises(ValueError, match="do not fit"):
                dispatch.pack(rows, words)
        else:
            dispatch.pack(rows, words)
            assert words.tolist() == wanted
