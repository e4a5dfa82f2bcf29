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
    lut = np.append(lut[: len(known)], lut[-1]).astype(np.int32)
    if is_compared:
        values = np.array([each % 2**64 for each in known], np.uint64)
    outer, inner = draw(st.sampled_from(((1, 1), (2, 3), (1, 400), (3, 100))))
    n = draw(st.sampled_from(LENGTHS)) if inner == 1 else outer * inner
    # Python's integers: those of uint64 do not fit into the int64 of the generator.
    chosen = rng.integers(-1, len(known) + 1, n).astype(object) + low
    chosen = np.clip(chosen, limits.min, limits.max)
    return chosen.astype(dtype), lut, low, values, n_classes, inner


@pytest.mark.usefixtures("mode")
@examples(2)
@given(call=calls(), num_threads=st.sampled_from((1, 2)))
def test_integers_have_the_class_of_their_entry(call, num_threads):
    """Also tell whether an integer is unknown, in each way to write a result."""
    integers, lut, low, values, n_classes, inner = call
    steps = [int(each) - low for each in integers]
    classes = np.array([lut[step if 0 <= step < len(lut) - 1 else -1] for step in steps], np.int64)
    is_hot = classes[:, None] == np.arange(n_classes)
    wanted = is_hot.reshape(-1, inner, n_classes).transpose(0, 2, 1)
    out = np.full(wanted.shape, 7, np.uint8)

    is_unknown = dispatch.encode_integers(
        integers, lut, low, values, out, n_classes, inner, ONE, ZERO, num_threads=num_threads
    )

    np.testing.assert_array_equal(out, wanted)
    assert is_unknown == bool((classes == -2).any())


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
