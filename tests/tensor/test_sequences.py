"""One-hot encoding of the letters of sequences, and the reverse, against a slow oracle."""

from __future__ import annotations

import itertools
import math
import pathlib

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import onehot_fast
from onehot_fast import decode_sequences, lowercase_mask, one_hot_sequences, tokenize_sequences
from onehot_fast._kernels import simd, table_rows
from onehot_fast._sequences.coding import ALPHABETS, IUPAC_AMINO_ACIDS, IUPAC_NUCLEOTIDES
from support import strategies

SIDES = ("right", "left", "both")
DTYPES = ("?", "u1", "i1", "i2", "f2", "f4", "f8", ">f4", "c8", "i8", "c16")
# Lengths around vectors, blocks of 64 and tiles of 4096 letters.
LENGTHS = (0, 1, 2, 3, 7, 15, 16, 17, 31, 63, 64, 65, 127, 129, 1000, 4095, 4096, 4097)


# ---- The oracle: one letter after another, from the definition of the options ----


def row_of_letter(letter, classes, options):
    """Return the elements of a letter, or raise LookupError."""
    neutral_row = [options["neutral_value"]] * len(classes)
    forms = {letter, letter.swapcase()} if options["ignore_case"] else {letter}
    for k, letters in enumerate(classes):
        if forms & set(letters):
            return [int(i == k) for i in range(len(classes))]
    if forms & set(options["neutral"]):
        return neutral_row
    for code, stands_for in options["ambiguous"].items():
        if code in forms:
            hits = [any(each in stands_for for each in letters) for letters in classes]
            share = 1 if options["ambiguous_weights"] == "ones" else 1 / sum(hits)
            return [share if hit else 0 for hit in hits]
    if options["unknown"] == "error":
        raise LookupError(letter)
    return neutral_row if options["unknown"] == "neutral" else [0] * len(classes)


def fitted(text, length, pad, truncate):
    """Return a text of `length` letters; None is padding."""
    rest = len(text) - length
    if rest > 0:
        begin = {"right": 0, "left": rest, "both": rest // 2}[truncate]
        return list(text[begin : begin + length])
    before = {"right": 0, "left": -rest, "both": -rest // 2}[pad or "right"]
    return [None] * before + list(text) + [None] * (-rest - before)


def oracle(texts, classes, dtype, options, length, pad, truncate, pad_row):
    """Return the encoding of texts, with the classes last."""
    pads = [options["neutral_value"] if pad_row == "neutral" else 0] * len(classes)
    shape = (len(texts), length, len(classes))
    rows = [
        pads if letter is None else row_of_letter(letter, classes, options)
        for text in texts
        for letter in fitted(text, length, pad, truncate)
    ]
    return np.array(rows, dtype).reshape(shape) if rows else np.zeros(shape, dtype)


def assert_same(actual, expected):
    """Compare dtype, shape and bytes; NaNs are equal."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(actual, expected)


ALPHABET_CASES = {
    **{name: (name, [*letters]) for name, letters in ALPHABETS.items()},
    "text": ("ACGT", [*"ACGT"]),
    "bytes": (b"TGCA", [*"TGCA"]),
    "groups": (["A", "C", "G", "TU"], ["A", "C", "G", "TU"]),
    "one letter": ("A", ["A"]),
    "NUL": ("\0A", ["\0", "A"]),
    "Latin-1": ("aé\xff", ["a", "é", "\xff"]),
    "beyond Latin-1": ("aéЖ日😀", [*"aéЖ日😀"]),
    "many letters": ("".join(map(chr, range(0x4E00, 0x4F2C))), [*map(chr, range(0x4E00, 0x4F2C))]),
}


@st.composite
def cases(draw):
    """Draw texts and options, such that every letter has a meaning."""
    alphabet, classes = ALPHABET_CASES[draw(st.sampled_from(sorted(ALPHABET_CASES)))]
    ignore_case = draw(st.booleans())
    taken = set("".join(classes))
    if ignore_case:
        taken |= {letter.swapcase() for letter in taken}
    free = [c for c in "NXn-*.\0é日" if c not in taken]
    if ignore_case:
        free = [c for c in free if c != "n"]
    neutral = "".join(draw(st.lists(st.sampled_from(free), unique=True, max_size=3)))
    free = [c for c in free if c not in neutral and c.swapcase() not in neutral and c not in "Nn"]
    ambiguous = {}
    for code in draw(st.lists(st.sampled_from(free), unique=True, max_size=2)) if free else ():
        count = draw(st.integers(1, min(3, len(classes))))
        ambiguous[code] = "".join(letters[0] for letters in classes[:count])
    weights = draw(st.sampled_from(["share", "ones"]))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    if dtype.kind not in "fc" and any(len(value) > 1 for value in ambiguous.values()):
        weights = "ones"
    values = [0, 1] + [-1] * (dtype.kind in "ifc") + [0.25, math.nan] * (dtype.kind in "fc")
    unknown = draw(st.sampled_from(["error", "zeros", "neutral"]))
    options = {
        "neutral": neutral,
        "neutral_value": draw(st.sampled_from(values)),
        "unknown": unknown,
        "ambiguous": ambiguous,
        "ambiguous_weights": weights,
        "ignore_case": ignore_case,
    }
    letters = "".join(classes) + neutral + "".join(ambiguous)
    if ignore_case:
        letters += "".join(c.swapcase() for c in letters if len(c.swapcase()) == 1)
    if unknown != "error":
        letters += "?\x7f\x80ÿŁ"
    limit = 40 if len(classes) > 20 else 5000
    length = st.sampled_from([n for n in LENGTHS if n <= limit])
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    texts = [
        "".join(rng.choice([*letters], draw(length)).tolist())
        for _ in range(draw(st.integers(0, 4)))
    ]
    return texts, alphabet, classes, dtype, options


@given(cases(), st.data())
def test_every_option_matches_the_oracle(case, data):
    texts, alphabet, classes, dtype, options = case
    longest = max(map(len, texts), default=0)
    length = data.draw(st.sampled_from([None, 0, 1, max(longest - 3, 0), longest, longest + 2]))
    pad, pad_row = (
        data.draw(st.sampled_from(SIDES)),
        data.draw(st.sampled_from(["zeros", "neutral"])),
    )
    truncate = None if length is None else data.draw(st.sampled_from(SIDES))
    axis = data.draw(st.sampled_from([-1, 0, 1, 2, -2, -3]))
    size = longest if length is None else length
    wanted = oracle(texts, classes, dtype, options, size, pad, truncate, pad_row)
    wanted = np.moveaxis(wanted, -1, axis)
    keywords = {
        **options, "length": length, "pad": pad, "truncate": truncate, "pad_row": pad_row,
        "axis": axis, "num_threads": data.draw(st.sampled_from([None, 1, 2])),
    }  # fmt: skip

    assert_same(one_hot_sequences(texts, alphabet, dtype=dtype, **keywords), wanted)
    out = strategies.strided(np.full(wanted.shape, 7, dtype))
    assert one_hot_sequences(texts, alphabet, out=out, **keywords) is out
    assert_same(out, wanted)


@given(cases())
def test_ragged_output_is_every_sequence_one_after_another(case):
    texts, alphabet, classes, dtype, options = case

    rows, offsets = one_hot_sequences(texts, alphabet, dtype=dtype, ragged=True, **options)

    wanted = oracle(["".join(texts)], classes, dtype, options, sum(map(len, texts)), None, None, "")
    assert_same(rows, wanted[0])
    assert offsets.tolist() == [0, *itertools.accumulate(map(len, texts))]


@given(cases(), st.sampled_from(SIDES), st.data())
def test_tokens_are_the_classes(case, pad, data):
    texts, alphabet, classes, _, options = case
    chosen = {name: options[name] for name in ("neutral", "ignore_case")}
    unknown = "error" if options["unknown"] == "error" else "neutral"
    texts = ["".join(c for c in text if c not in _ambiguous_forms(options)) for text in texts]
    dtype = data.draw(st.sampled_from(["i2", "i4", "i8", ">i4"]))
    longest = max(map(len, texts), default=0)
    plain = {**options, "ambiguous": {}, "neutral_value": 0, "unknown": unknown}

    tokens = tokenize_sequences(
        texts,
        alphabet,
        neutral_code=900,
        pad_code=901,
        pad=pad,
        unknown=unknown,
        dtype=dtype,
        **chosen,
    )

    wanted = np.full((len(texts), longest), 901, dtype)
    for i, text in enumerate(texts):
        for j, letter in enumerate(fitted(text, longest, pad, None)):
            if letter is not None:
                row = row_of_letter(letter, classes, plain)
                wanted[i, j] = row.index(1) if any(row) else 900
    assert_same(tokens, wanted)


def _ambiguous_forms(options):
    """Return the ambiguous letters, in both cases if case is ignored."""
    codes = set(options["ambiguous"])
    return codes | {code.swapcase() for code in codes} if options["ignore_case"] else codes


@given(cases(), st.sampled_from(SIDES))
def test_the_mask_has_the_lower_case_letters(case, pad):
    texts = case[0]
    longest = max(map(len, texts), default=0)

    wanted = [[c is not None and c.islower() for c in fitted(t, longest, pad, None)] for t in texts]

    mask = lowercase_mask(texts, pad=pad)
    assert_same(mask, np.array(wanted, bool).reshape(len(texts), longest))


# ---- The kernel ----


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("variant", simd.variants())
def test_the_kernel_copies_any_table(variant, streamed):
    """The kernel copies rows of each width and depth from a table as NumPy's indexing does.

    The tables have one-hot rows, other rows or both, and the result is on and off alignment.
    """
    before = simd.activate(variant), simd.set_stream_bytes(0 if streamed else 2**62)
    try:
        for width, depth, n_special in itertools.product(
            (1, 2, 4, 16, 20), (1, 4, 20, 256), (0, 3, 250)
        ):
            check_kernel(width, depth, n_special)
    finally:
        simd.activate(before[0])
        simd.set_stream_bytes(before[1])


def check_kernel(width, depth, n_special):
    """Compare the kernel with NumPy's indexing of the same table."""
    rng = np.random.default_rng(width * depth + n_special)
    on, off = rng.integers(0, 256, (2, width), np.uint8)
    table = np.broadcast_to(off, (257, depth, width)).copy()
    codes = rng.permutation(256)
    table[codes[n_special:], np.arange(256 - n_special) % depth] = on
    table[codes[:n_special]] = rng.integers(0, 256, (n_special, depth, width), np.uint8)
    table[256] = rng.integers(0, 256, (depth, width), np.uint8) if n_special else off
    sizes = rng.permutation(
        [0, 1, 63, 500 if depth < 70 else 70, 5000 if depth * width < 20 else 9]
    )
    flat = rng.integers(0, 256, sizes.sum(), np.uint8)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    segments = table_rows.Segments.of_flat(flat, offsets)
    length = int(sizes.max()) + 3
    padded = np.broadcast_to(table[256], (len(sizes), length, depth, width)).copy()
    for i, size in enumerate(sizes):
        start = (length - size) // 2
        padded[i, start : start + size] = table[flat[offsets[i] : offsets[i + 1]]]
    layouts = {
        1: padded, length: padded.transpose(0, 2, 1, 3),
        length * len(sizes): padded.transpose(2, 0, 1, 3),
    }  # fmt: skip
    flat_table = table.reshape(257, -1)
    for inner, wanted in layouts.items():
        for shift in (0, 1):
            buffer, out = strategies.guarded((padded.size,), np.uint8, shift=shift)
            twin = buffer.copy()
            table_rows.encode(
                segments, flat_table, out, on, off, length=length, side="both", inner=inner,
                num_threads=2,
            )  # fmt: skip
            np.testing.assert_array_equal(out, wanted.reshape(-1))
            out[...] = twin[_inside(buffer, out)]
            np.testing.assert_array_equal(buffer, twin)
    out = np.empty(table[flat].size, np.uint8)
    table_rows.encode(segments, flat_table, out, on, off, offsets=offsets)
    np.testing.assert_array_equal(out, table[flat].reshape(-1))


def _inside(buffer, out):
    """Return the slice of a buffer that a view of it covers."""
    start = out.ctypes.data - buffer.ctypes.data
    return slice(start, start + out.nbytes)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("variant", simd.variants())
def test_the_kernel_writes_borders_of_runs_tiles_and_cache_lines(variant, streamed):
    """The kernel copies runs of equal length as NumPy does, and writes nothing beside the result.

    Some of the runs have rows that are not one-hot.
    """
    before = simd.activate(variant), simd.set_stream_bytes(0 if streamed else 2**62)
    try:
        for width, depth, length, shift in itertools.product(
            (1, 4, 8), (2, 4, 5), (15, 16, 64, 65, 127, 1000), (0, 1, 4, 16, 40)
        ):
            check_borders(width, depth, length, shift)
    finally:
        simd.activate(before[0])
        simd.set_stream_bytes(before[1])


def check_borders(width, depth, length, shift):
    """Compare both layouts of a matrix of letters with NumPy's indexing of the table."""
    rng = np.random.default_rng(width + 10 * depth + length)
    on, off = rng.integers(0, 256, (2, width), np.uint8)
    table = np.broadcast_to(off, (257, depth, width)).copy()
    table[np.arange(depth), np.arange(depth)] = on
    table[255] = rng.integers(0, 256, (depth, width), np.uint8)
    letters = rng.integers(0, depth + 1, (9, length), np.uint8)
    letters[[2, 3, 5], [0, -1, length // 2]] = 255
    segments = table_rows.Segments.of_matrix(letters)
    rows = table[letters]
    for inner, wanted in ((1, rows), (length, rows.transpose(0, 2, 1, 3))):
        buffer, out = strategies.guarded((rows.size,), np.uint8, shift=shift)
        twin = buffer.copy()
        table_rows.encode(
            segments, table.reshape(257, -1), out, on, off, length=length, inner=inner
        )
        np.testing.assert_array_equal(out, wanted.reshape(-1))
        out[...] = twin[_inside(buffer, out)]
        np.testing.assert_array_equal(buffer, twin)


@pytest.mark.parametrize("variant", simd.variants())
@given(st.data())
def test_the_kernel_finds_flagged_codes(variant, data):
    """The kernel reports the only flagged code wherever it is, and none if there is none."""
    before = simd.activate(variant)
    try:
        check_flags(data)
    finally:
        simd.activate(before)


def check_flags(data):
    width, depth = data.draw(st.sampled_from([(1, 4), (4, 4), (1, 1), (4, 1), (1, 3), (8, 40)]))
    sizes = data.draw(st.lists(st.sampled_from([0, 1, 5, 64, 1000, 5000]), min_size=1, max_size=4))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    codes = np.full(offsets[-1], 65, np.uint8)
    if data.draw(st.booleans()) and len(codes):
        codes[data.draw(st.sampled_from([0, len(codes) // 2, len(codes) - 1]))] = 200
    eye = np.concatenate([np.eye(depth), np.zeros((257 - depth, depth))]) * data.draw(
        st.sampled_from([1, 3])
    )
    rows = eye[(np.arange(257) + 1) % 7].astype(f"u{width}")
    table = rows.view(np.uint8).reshape(257, -1)
    flags = (np.arange(256) == 200).astype(np.uint8)
    on, off = (np.array([n], f"u{width}").view(np.uint8) for n in (1, 0))
    segments = table_rows.Segments.of_flat(codes, offsets)
    for length, side, inner in (
        (-1, "right", 1), (max(sizes), "both", 1), (max(sizes) + 3, "left", max(sizes) + 3),
    ):  # fmt: skip
        n_rows = len(codes) if length < 0 else length * len(sizes)
        out = np.empty(n_rows * depth * width, np.uint8)
        options = {"length": length, "side": side, "inner": inner, "num_threads": 2}
        options["offsets"] = offsets if length < 0 else None
        found = table_rows.encode(segments, table, out, on, off, flags=flags, **options)
        assert found == (200 in codes)
        assert not table_rows.encode(segments, table, out, on, off, **options)


def test_the_kernel_rejects_sizes_that_do_not_fit():
    table, one = np.zeros((257, 4), np.uint8), np.ones(1, np.uint8)
    segments = table_rows.Segments.of_matrix(np.zeros((2, 3), np.uint8))
    encode = table_rows.encode
    for out, options in (
        (np.zeros(23, np.uint8), {"length": 3}),
        (np.zeros(16, np.uint8), {"length": 2}),
        (np.zeros(24, np.uint8), {"length": 3, "inner": 2}),
        (np.zeros(24, np.uint8), {"offsets": np.array([0, 3, 5])}),
        (np.zeros(24, np.uint8), {"offsets": np.array([0, 3])}),
        (np.zeros(24, np.uint8), {}),
    ):
        with pytest.raises(ValueError, match="table_rows"):
            encode(segments, table, out, one, one, **options)
    with pytest.raises(ValueError, match="257 rows"):
        encode(segments, table[:256], np.zeros(24, np.uint8), one, one, length=3)
    for offsets in ([0, 9], [2, 1], [-1, 2], []):
        with pytest.raises(ValueError, match="offsets"):
            table_rows.Segments.of_flat(np.zeros(5, np.uint8), np.array(offsets, np.int64))


# ---- Wrong letters ----


@given(st.data())
def test_the_first_wrong_letter_is_named(data):
    """The error names the first wrong letter in every layout, however the sequences are stored.

    Other sequences may be shorter, which would be an error of its own; `out` is not changed.
    """
    n = data.draw(st.integers(1, 3))
    length = data.draw(st.sampled_from([1, 5, 64, 65, 1000, 70_000]))
    points = np.random.default_rng(0).choice(np.frombuffer(b"ACGT", np.uint8), (n, length))
    points = points.astype(np.uint32)
    wrong = data.draw(st.sampled_from([*"XNa-\0\x7f\xe9", "日"]))
    at = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, length - 1))
    points[at] = ord(wrong)
    points.reshape(-1)[np.ravel_multi_index(at, points.shape) + 1 :][::7] = ord("?")
    forms = [["".join(map(chr, row)) for row in points.tolist()], points.view("U1")]
    if ord(wrong) < 256:
        forms.append(points.astype(np.uint8))
    out = np.full((n, length, 4), 7, np.float32)

    unequal = [*forms[0], "ACG"]
    layouts = [{"axis": 1}, {"dtype": "u1"}, {"ragged": True}]
    calls = [*itertools.product([*forms, unequal], layouts)]
    calls += [(form, {"out": out}) for form in forms]
    for form, options in calls:
        with pytest.raises(ValueError, match="is not in the alphabet") as raised:
            one_hot_sequences(form, num_threads=data.draw(st.sampled_from([1, 2])), **options)
        assert f"sequences[{at[0]}], position {at[1]}: the letter {wrong!r}" in str(raised.value)
    assert (out == 7).all()


@pytest.mark.parametrize(
    ("text", "options", "remedy"),
    [
        ("ACgT", {}, "ignore_case=True"),
        ("ACUT", {}, "alphabet='nucleotides'"),
        ("ACNT", {}, "neutral='N'"),
        ("ACRT", {}, "ambiguous='iupac'"),
        ("AC-T", {}, "unknown='neutral'"),
        ("MBA", {"alphabet": "protein"}, "ambiguous='iupac'"),
        ("MUA", {"alphabet": "protein"}, "neutral='U'"),
    ],
)
def test_the_error_for_a_letter_has_a_remedy_that_works(text, options, remedy):
    with pytest.raises(ValueError, match="position") as raised:
        one_hot_sequences(text, **options)

    assert remedy in str(raised.value)
    name, _, value = remedy.partition("=")
    encoded = one_hot_sequences(
        text, **{**options, name: {"True": True}.get(value, value.strip("'"))}
    )
    assert encoded.shape[0] == len(text)


# ---- Ways to pass sequences ----

TEXTS = ["ACGTN", "", "GGAT", "N" * 70, "TTAACG"]
OPTIONS = {"neutral": "N", "neutral_value": 0.25, "pad": "right"}


def containers():
    """Return each way to store TEXTS that needs no library but NumPy."""
    encoded = [text.encode() for text in TEXTS]
    return {
        "list of str": TEXTS,
        "tuple of bytes": tuple(encoded),
        "generator": (text for text in TEXTS),
        "bytearray": [bytearray(text) for text in encoded],
        "subclass": [type("Text", (str,), {})(text) for text in TEXTS],
        "numpy scalars": [*np.array(TEXTS[2:3] + TEXTS[2:])][1:],
        "U": np.array(TEXTS),
        "big-endian U": np.array(TEXTS).astype(np.array(TEXTS).dtype.newbyteorder(">")),
        "S": np.array(encoded),
        "object": np.array(TEXTS, object),
        "StringDType": np.array(TEXTS, np.dtypes.StringDType()),
        "reversed": np.array(TEXTS[::-1])[::-1],
        "letters": [np.frombuffer(text, "S1") for text in encoded],
        "codes": [np.frombuffer(text, np.uint8) for text in encoded],
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(containers()))
def test_each_container_gives_the_same_rows(name):
    texts = TEXTS[2:] if name == "numpy scalars" else TEXTS
    wanted = one_hot_sequences(texts, **OPTIONS)

    assert_same(one_hot_sequences(containers()[name], **OPTIONS), wanted)


@pytest.mark.parametrize("dtype", ["S1", "U1", ">U1", "u1"])
@pytest.mark.parametrize("shape", [(5,), (0,), (2, 5), (0, 5), (2, 0), (2, 3, 5)])
@pytest.mark.parametrize("layout", sorted(strategies.LAYOUTS))
def test_single_letters_have_the_sequence_last(dtype, shape, layout):
    letters = np.random.default_rng(1).choice([*"ACGT"], shape)
    codes = np.char.encode(letters, "ascii") if dtype in ("S1", "u1") else letters.astype(dtype)
    codes = np.ascontiguousarray(codes).view("u1").reshape(shape) if dtype == "u1" else codes
    given_codes = strategies.LAYOUTS[layout](codes)
    if layout == "broadcast":
        letters = strategies.broadcast(letters)
    if dtype == "u1" and layout == "swapped":
        given_codes = codes

    for axis in range(-len(shape) - 1, len(shape) + 1):
        encoded = one_hot_sequences(given_codes, axis=axis, dtype="u1")
        wanted = np.array(letters)[..., None] == np.array([*"ACGT"])
        assert_same(encoded, np.moveaxis(wanted.astype("u1"), -1, axis))


def test_arrays_of_strings_keep_their_shape():
    words = np.array([["ACG", "T"], ["", "GG"]])
    encoded = one_hot_sequences(words, pad="left", axis=2)
    assert encoded.shape == (2, 2, 4, 3)
    assert decode_sequences(encoded, axis=2, output="U").tolist() == [
        ["ACG", "NNT"],
        ["NNN", "NGG"],
    ]
    for dtype in ("S3", object):
        assert_same(one_hot_sequences(words.astype(dtype), pad="left", axis=2), encoded)
    assert one_hot_sequences(np.array("ACG")).shape == (3, 4)


def test_libraries_are_read_as_lists():
    wanted = one_hot_sequences(TEXTS, **OPTIONS)
    pa = pytest.importorskip("pyarrow")
    for kind in ("string", "large_string", "string_view", "binary", "large_binary", "binary_view"):
        whole = (
            pa.array(["XYZ", *TEXTS, "Q"], "string").cast("binary").cast(kind)
            if ("binary" in kind and "view" not in kind)
            else pa.array(["XYZ", *TEXTS, "Q"], kind)
        )
        assert_same(one_hot_sequences(whole.slice(1, len(TEXTS)), **OPTIONS), wanted)
    chunked = pa.chunked_array([TEXTS[:2], [], TEXTS[2:]])
    assert_same(one_hot_sequences(chunked, **OPTIONS), wanted)
    assert_same(one_hot_sequences(chunked.dictionary_encode(), **OPTIONS), wanted)
    assert one_hot_sequences(pa.array([], "string")).shape == (0, 0, 4)
    with pytest.raises(TypeError, match=r"sequences\[3\] is missing"):
        one_hot_sequences(pa.chunked_array([["A", "C"], ["G", None]]))
    with pytest.raises(TypeError, match=r"sequences\[0\] must be a str or bytes, got an int"):
        one_hot_sequences(pa.array([1, 2]))


def test_text_beyond_ascii_in_arrow_arrays_is_decoded():
    pa = pytest.importorskip("pyarrow")
    texts = ["aé", "日a", "", "\0"]
    for kind in ("string", "large_string", "string_view"):
        array = pa.array(texts, kind)
        for options in ({"alphabet": "aé日\0"}, {"alphabet": "a", "unknown": "zeros"}):
            assert_same(
                one_hot_sequences(array, pad="right", **options),
                one_hot_sequences(texts, pad="right", **options),
            )
        assert_same(lowercase_mask(array, pad="left"), lowercase_mask(texts, pad="left"))
        with pytest.raises(ValueError, match=r"sequences\[0\], position 1: the letter 'é'"):
            one_hot_sequences(array, "a", pad="right")


def test_series_are_read():
    wanted = one_hot_sequences(TEXTS, **OPTIONS)
    pd = pytest.importorskip("pandas")
    for dtype in (object, "string", "category", "str"):
        assert_same(one_hot_sequences(pd.Series(TEXTS, dtype=dtype), **OPTIONS), wanted)
    pl = pytest.importorskip("polars")
    for dtype in (pl.String, pl.Categorical, pl.Object):
        assert_same(one_hot_sequences(pl.Series(TEXTS, dtype=dtype), **OPTIONS), wanted)
    assert_same(one_hot_sequences(pl.Series(TEXTS).cast(pl.Binary), **OPTIONS), wanted)
    for missing in (pd.Series(["A", None]), pl.Series(["A", None])):
        with pytest.raises(TypeError, match=r"sequences\[1\].*missing"):
            one_hot_sequences(missing)


def test_tensors_of_character_codes_are_read():
    torch = pytest.importorskip("torch")
    codes = torch.tensor([[65, 67], [71, 84]], dtype=torch.uint8)
    assert_same(one_hot_sequences(codes, axis=1), one_hot_sequences(["AC", "GT"], axis=1))


@pytest.mark.parametrize(
    ("sequences", "error", "hint"),
    [
        ([["A", "C"]], TypeError, "sequences[0]"),
        (["A", None], TypeError, "missing"),
        (["A", math.nan], TypeError, "missing"),
        ([1], TypeError, "an int"),
        ({"A"}, TypeError, "a set"),
        ({"A": 1}, TypeError, "a dict"),
        (7, TypeError, "an int"),
        (None, TypeError, "a NoneType"),
        (np.array([65]), TypeError, "int64"),
        (np.array(65, np.uint8), ValueError, "dimension"),
        (np.ma.array(["A"]), TypeError, "masked"),
    ],
)
def test_other_inputs_raise_an_error(sequences, error, hint):
    with pytest.raises(error) as raised:
        one_hot_sequences(sequences)
    assert hint in str(raised.value)


# ---- Options ----


def test_lengths_must_be_equal_by_default():
    for options, words in (
        ({}, ["pad='right'", "ragged=True", "1 to 3"]),
        ({"length": 2}, ["sequences[1]", "truncate='right'"]),
        ({"length": 2, "truncate": "left"}, ["sequences[0]", "pad='right'"]),
    ):
        with pytest.raises(ValueError, match="letters") as raised:
            one_hot_sequences(["A", "CGT"], **options)
        assert all(word in str(raised.value) for word in words)


@pytest.mark.parametrize(
    ("options", "error", "name"),
    [
        ({"alphabet": ""}, ValueError, "alphabet"),
        ({"alphabet": []}, ValueError, "alphabet"),
        ({"alphabet": "AA"}, ValueError, "'A' twice"),
        ({"alphabet": ["A", "BA"]}, ValueError, "'A' twice"),
        ({"alphabet": ["AA", "AC"]}, ValueError, "one class, not a word"),
        ({"alphabet": ["A", ""]}, TypeError, "alphabet"),
        ({"alphabet": ["A", 1]}, TypeError, "alphabet"),
        ({"alphabet": 4}, TypeError, "alphabet"),
        ({"alphabet": "Aa", "ignore_case": True}, ValueError, "ignore_case=True"),
        ({"neutral": "A"}, ValueError, "neutral"),
        ({"neutral": "a", "ignore_case": True}, ValueError, "neutral"),
        ({"neutral": 1}, TypeError, "neutral"),
        ({"neutral": "N", "neutral_value": 0.25, "dtype": "u1"}, ValueError, "neutral_value"),
        ({"neutral_value": "x"}, TypeError, "neutral_value"),
        ({"unknown": "ignore"}, ValueError, "unknown"),
        ({"ambiguous": "IUB"}, ValueError, "ambiguous"),
        ({"ambiguous": ["R"]}, TypeError, "ambiguous"),
        ({"ambiguous": {"R": "AX"}}, ValueError, "ambiguous['R']"),
        ({"ambiguous": {"R": ""}}, ValueError, "ambiguous['R']"),
        ({"ambiguous": {"R": [1, 2]}}, ValueError, "4 weights"),
        ({"ambiguous": {"RY": "AG"}}, TypeError, "single letters"),
        ({"ambiguous": {"A": "AG"}}, ValueError, "ambiguous"),
        ({"ambiguous": {"R": "AG"}, "dtype": "u1"}, ValueError, "ambiguous_weights='ones'"),
        ({"ambiguous": "iupac", "alphabet": "XY"}, ValueError, "iupac"),
        ({"ambiguous_weights": "half"}, ValueError, "ambiguous_weights"),
        ({"ignore_case": 1}, TypeError, "ignore_case"),
        ({"pad": "end"}, ValueError, "pad"),
        ({"pad_row": "N"}, ValueError, "pad_row"),
        ({"truncate": "right"}, TypeError, "length="),
        ({"length": -1}, ValueError, "length"),
        ({"length": 1.5}, TypeError, "length"),
        ({"ragged": True, "pad": "right"}, TypeError, "ragged"),
        ({"ragged": True, "axis": 0}, ValueError, "axis"),
        ({"ragged": "yes"}, TypeError, "ragged"),
        ({"axis": 3}, ValueError, "axis"),
        ({"dtype": "U3"}, TypeError, "dtype"),
        ({"dtype": "M8[s]"}, TypeError, "dtype"),
        ({"dtype": object}, TypeError, "dtype"),
        ({"dtype": "float33"}, TypeError, "ml_dtypes"),
        ({"num_threads": 0}, ValueError, "num_threads"),
        ({"out": np.zeros((1, 1, 4))[:, :, ::-1][..., :3]}, ValueError, "out"),
        ({"out": [1]}, TypeError, "out"),
        ({"separator": 1}, TypeError, "separator"),
    ],
)
def test_invalid_options_raise_an_error(options, error, name):
    with pytest.raises(error) as raised:
        one_hot_sequences(["A"], **options)
    assert name in str(raised.value)


def test_iupac_codes_follow_the_alphabet():
    for alphabet, t in (("ACGT", "T"), ("ACGU", "U"), ("TGCA", "T")):
        for code, letters in IUPAC_NUCLEOTIDES.items():
            row = one_hot_sequences(code, alphabet, ambiguous="iupac", ambiguous_weights="ones")[0]
            found = {letter for letter, element in zip(alphabet, row, strict=True) if element}
            assert found == set(letters.replace("T", t))
    for code, letters in IUPAC_AMINO_ACIDS.items():
        row = one_hot_sequences(code, "protein", ambiguous="iupac", dtype="f8")[0]
        found = {a for a, element in zip(ALPHABETS["protein"], row, strict=True) if element}
        assert found == set(letters)
        assert np.isclose(row.sum(), 1)
    # A neutral letter and a letter of the alphabet keep their meaning.
    row = one_hot_sequences("N", neutral="N", neutral_value=-1, ambiguous="iupac")[0]
    assert row.tolist() == [-1] * 4
    assert one_hot_sequences("N", "ACGTN", ambiguous="iupac")[0].tolist() == [0, 0, 0, 0, 1]


def test_weights_may_be_numbers():
    ambiguous = {"B": [0.5, 0.25, np.float32(0.25), 0]}
    assert one_hot_sequences("B", ambiguous=ambiguous)[0].tolist() == [0.5, 0.25, 0.25, 0]


def test_t_and_u_can_be_one_letter():
    assert_same(one_hot_sequences("GAUTU", "nucleotides"), one_hot_sequences("GATTT"))


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    wanted = one_hot_sequences(TEXTS, axis=1, **OPTIONS)
    encoded = one_hot_sequences(TEXTS, axis=1, dtype=ml_dtypes.bfloat16, **OPTIONS)
    assert encoded.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(encoded.astype(np.float32), wanted)


def test_out_decides_the_dtype_and_must_not_share_the_memory_of_the_letters():
    out = np.zeros((5, 4), np.float16)
    assert one_hot_sequences("ACGTA", out=out) is out
    assert_same(out, one_hot_sequences("ACGTA", dtype="f2"))
    codes = np.frombuffer(bytearray(b"ACGT" * 4), np.uint8)
    with pytest.raises(ValueError, match="overlaps"):
        one_hot_sequences(codes[:4], out=codes.reshape(4, 4))


def test_large_results_are_equal_for_any_number_of_threads():
    letters = np.random.default_rng(3).choice(np.frombuffer(b"ACGTN", np.uint8), (300, 5000))
    for options in ({"axis": 1}, {"axis": -1}, {"axis": 0}):
        one, two = (
            one_hot_sequences(letters, neutral="N", neutral_value=0.5, num_threads=n, **options)
            for n in (1, 2)
        )
        assert_same(one, two)


# ---- Tokens ----


@pytest.mark.parametrize(
    ("options", "error", "name"),
    [
        ({"dtype": "f4"}, TypeError, "dtype"),
        ({"neutral": "N", "neutral_code": -1, "dtype": "u1"}, ValueError, "neutral_code"),
        ({"pad": "right", "pad_code": 300, "dtype": "i1"}, ValueError, "pad_code"),
        ({"neutral_code": 0.5}, TypeError, "neutral_code"),
        ({"unknown": "zeros"}, ValueError, "unknown"),
        ({"alphabet": "".join(map(chr, range(300))), "dtype": "i1"}, ValueError, "299"),
    ],
)
def test_invalid_options_of_tokens_raise_an_error(options, error, name):
    with pytest.raises(error) as raised:
        tokenize_sequences(["A"], **options)
    assert name in str(raised.value)


def test_tokens_of_unsigned_dtypes_need_no_code_that_is_not_used():
    assert tokenize_sequences("GAT", dtype="u1").tolist() == [2, 0, 3]
    rows, offsets = tokenize_sequences(["GA", "", "T"], ragged=True, dtype="i1")
    assert (rows.tolist(), offsets.tolist()) == ([2, 0, 3], [0, 2, 2, 3])
    assert np.array_equal(
        one_hot_sequences("GATTA"), onehot_fast.one_hot(tokenize_sequences("GATTA"), 4)
    )


# ---- Decoding ----


@given(cases(), st.sampled_from(["list", "S", "U"]), st.data())
def test_decoding_restores_the_letters(case, output, data):
    texts, alphabet, classes, dtype, options = case
    first = {letter: letters[0] for letters in classes for letter in letters}
    texts = ["".join(c for c in text if c in first or c in options["neutral"]) for text in texts]
    texts = [
        text.replace("\0", "") if "\0" in first or "\0" in options["neutral"] else text
        for text in texts
    ]
    neutral_value = 0 if len(classes) == 1 else options["neutral_value"]
    spare = next(c for c in "N?#" if c not in first)
    if output == "S" and any(ord(c) > 255 for c in "".join(classes)):
        output = "U"
    axis = data.draw(st.sampled_from([-1, 0, 1]))
    tensor = one_hot_sequences(
        texts, alphabet, neutral=options["neutral"], neutral_value=neutral_value, pad="right",
        axis=axis, dtype=dtype,
    )  # fmt: skip

    decoded = decode_sequences(tensor, alphabet, axis=axis, neutral=spare, output=output)

    longest = max(map(len, texts), default=0)
    wanted = ["".join(first.get(c, spare) for c in text).ljust(longest, spare) for text in texts]
    decoded = decoded if output == "list" else [*decoded.tolist()]
    decoded = [text.decode("latin-1") if output == "S" else text for text in decoded]
    assert decoded == wanted


def test_decoding_ambiguous_letters():
    codes = "".join(IUPAC_NUCLEOTIDES) + "ACGT"
    for weights in ("share", "ones"):
        options = {"ambiguous": "iupac", "ambiguous_weights": weights}
        tensor = one_hot_sequences(codes, **options)
        assert decode_sequences(tensor, **options) == codes
    with pytest.raises(ValueError, match=r"letter \[0\].*rule='argmax'"):
        decode_sequences(one_hot_sequences("RN", ambiguous="iupac"))


def test_decoding_scores():
    scores = np.random.default_rng(5).random((3, 7, 4))
    wanted = np.array([*"ACGT"])[scores.argmax(-1)]
    assert decode_sequences(scores, rule="argmax") == ["".join(row) for row in wanted]
    assert decode_sequences(np.zeros((2, 4)), rule="argmax") == "NN"


@pytest.mark.parametrize("pad", SIDES)
def test_padding_can_be_stripped(pad):
    texts = ["ACGTN", "N", "", "GGAT", "T"]
    tensor = one_hot_sequences(texts, neutral="N", neutral_value=0.25, pad=pad, axis=1)
    assert decode_sequences(tensor, axis=1, strip_padding=True) == texts
    rows, offsets = one_hot_sequences(texts, neutral="N", ragged=True)
    assert decode_sequences(rows, offsets=offsets) == texts


def test_decoding_to_arrow():
    pa = pytest.importorskip("pyarrow")
    found = decode_sequences(one_hot_sequences(["AC", "GT"]), output="arrow")
    assert found.equals(pa.array(["AC", "GT"]))


@pytest.mark.parametrize(
    ("tensor", "options", "error", "hint"),
    [
        ([[1, 1, 0, 0]], {}, ValueError, "letter [0]"),
        ([[[0, 0, 0, 1], [0, 0, 2, 0]]], {}, ValueError, "letter [0, 1]"),
        ([[0, 0, 0, 0]], {"neutral": None}, ValueError, "neutral='N'"),
        ([[0, 0, 0]], {}, ValueError, "4 classes"),
        ([0, 0, 0, 1], {}, ValueError, "rank"),
        ([["A"]], {}, TypeError, "dtype"),
        ([[0, 0, 0, 1]], {"neutral": "NN"}, TypeError, "neutral"),
        ([[0, 0, 0, 1]], {"rule": "max"}, ValueError, "rule"),
        ([[0, 0, 0, 1]], {"output": "pandas"}, ValueError, "output"),
        ([[0, 0, 0, 1]], {"offsets": [0, 2]}, ValueError, "offsets"),
        ([[0, 0, 0, 1]], {"offsets": [[0, 1]]}, ValueError, "offsets"),
        ([[1, 0]], {"alphabet": "\0A", "output": "S"}, ValueError, "NUL"),
        ([[1, 0]], {"alphabet": "日A", "output": "S"}, ValueError, "output='U'"),
    ],
)
def test_what_cannot_be_decoded_raises_an_error(tensor, options, error, hint):
    with pytest.raises(error) as raised:
        decode_sequences(np.array(tensor), **options)
    assert hint in str(raised.value)


def test_malformed_arrow_strings_raise_an_error():
    """No byte outside the buffers of the producer is read."""
    pa = pytest.importorskip("pyarrow")
    data = pa.py_buffer(b"ACGT")
    for width, make in ((np.int32, pa.StringArray), (np.int64, pa.LargeStringArray)):
        for offsets in ([0, 4, 2], [0, -1, 4], [2, 1, 4]):
            buffer = pa.py_buffer(np.array(offsets, width).tobytes())
            with pytest.raises(ValueError, match="offset"):
                one_hot_sequences(make.from_buffers(2, buffer, data), pad="right")


# ---- Neutral letters of decoding ----


@pytest.mark.parametrize(
    ("alphabet", "letter"),
    [("dna", "N"), ("rna", "N"), ("protein", "X"), ("iupac", "-"), ("ACGTN", "-"), ("acgt", "N")],
)
def test_neutral_rows_become_a_letter_outside_the_alphabet(alphabet, letter):
    text = "".join(ALPHABETS.get(alphabet, alphabet))
    for value in (0, 0.25, math.nan):
        tensor = one_hot_sequences(
            [text, text[:1]], alphabet, pad="right", pad_row="neutral", neutral_value=value
        )
        decoded = decode_sequences(tensor, alphabet)
        assert decoded == [text, text[0] + letter * (len(text) - 1)]


def test_a_neutral_letter_of_the_alphabet_is_an_error():
    rows = np.eye(2)
    with pytest.raises(ValueError, match="neutral"):
        decode_sequences(rows, "AN", neutral="N")
    with pytest.raises(ValueError, match=r"pass neutral='[^N-]'"):
        decode_sequences(np.zeros((1, 2)), "N-")
    assert decode_sequences(rows, "N-") == "N-"


def test_ambiguous_letters_of_equal_weights_are_restored():
    for text, alphabet in (("MXB", "protein"), ("ANR", "dna"), ("AN", "rna")):
        options = {"ambiguous": "iupac", "neutral": "-"}
        tensor = one_hot_sequences([text + "-"], alphabet, **options)
        assert decode_sequences(tensor, alphabet, **options) == [text + "-"]
        tensor = one_hot_sequences([text], alphabet, ambiguous="iupac")
        assert decode_sequences(tensor, alphabet, ambiguous="iupac") == [text]


def test_letters_that_differ_in_case_only_from_those_of_a_code_are_found():
    options = {"alphabet": "acgt", "ambiguous": "iupac"}
    tensor = one_hot_sequences("acgtR", ignore_case=True, **options)
    assert decode_sequences(tensor, **options) == "acgtR"


# ---- Scores ----


def test_scores_that_are_partly_nan_raise_an_error():
    scores = np.array([[0, 1, 0, 0], [math.nan, 1, 0, 0]])
    with pytest.raises(ValueError, match=r"letter \[1\].*nan_to_num"):
        decode_sequences(scores, rule="argmax")
    assert decode_sequences(np.full((1, 4), math.nan), rule="argmax") == "N"
    with pytest.raises(TypeError, match="ambiguous"):
        decode_sequences(scores[:1], rule="argmax", ambiguous="iupac")


def test_scores_of_one_letter_are_that_letter_unless_they_are_zero():
    scores = np.array([[0.5], [0], [-2], [1], [math.nan]])
    assert decode_sequences(scores, "A", rule="argmax") == "ANAAN"


# ---- Memory and shapes ----


@pytest.mark.parametrize("kind", ["string", "large_string", "binary", "string_view"])
@pytest.mark.parametrize("start", [0, 1])
def test_out_must_not_share_the_memory_of_an_arrow_array(kind, start):
    # pyarrow 18 builds no view from its own buffers: it counts the letters' buffer as one too many.
    pa = pytest.importorskip("pyarrow", "19" if kind == "string_view" else None)
    array = pa.array(["ACGT" * 16] * 3, kind)
    none, places, letters, *rest = array.buffers()
    memory = bytearray(letters.to_pybytes().ljust(4096, b"A"))
    shared = pa.Array.from_buffers(array.type, 3, [none, places, pa.py_buffer(memory), *rest])
    before, cells = bytes(memory), np.frombuffer(memory, np.uint8)
    with pytest.raises(ValueError, match="sequences"):
        one_hot_sequences(shared[start:], out=cells[: (3 - start) * 256].reshape(-1, 64, 4))
    assert bytes(memory) == before
    out = cells[2048 : 2048 + (3 - start) * 256].reshape(-1, 64, 4)
    if kind != "string_view":  # it declares all 4096 bytes
        one_hot_sequences(shared[start:], out=out)
        assert_same(out, one_hot_sequences(array[start:], dtype="u1"))


@pytest.mark.parametrize("axis", [None, 1.0, "1"])
def test_the_axis_must_be_an_integer(axis):
    for function in (one_hot_sequences, lambda x, axis: decode_sequences(np.eye(4), axis=axis)):
        with pytest.raises(TypeError, match="axis"):
            function("ACGT", axis=axis)


@pytest.mark.parametrize("dtype", ["S1", "U1", "u1"])
@pytest.mark.parametrize("options", [{}, {"pad": "left"}, {"truncate": "both"}])
@pytest.mark.parametrize("length", [0, 3, 9])
def test_no_sequences_have_the_shape_of_length(dtype, options, length):
    empty = np.empty((0, 5), dtype)
    assert one_hot_sequences(empty, length=length, **options).shape == (0, length, 4)
    assert tokenize_sequences(empty, length=length, **options).shape == (0, length)


@pytest.mark.parametrize("dtype", ["S2", "U2", "S7", "T", object])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_no_strings_are_as_long_as_the_longest_of_none(dtype, shape):
    empty = np.empty(shape, np.dtypes.StringDType() if dtype == "T" else dtype)
    assert one_hot_sequences(empty).shape == (*shape, 0, 4)
    assert tokenize_sequences(empty, length=3, pad="left").shape == (*shape, 3)
    assert one_hot_sequences(empty, ragged=True)[1].tolist() == [0]


def test_a_dtype_of_torch_is_named_as_one_of_numpy():
    torch = pytest.importorskip("torch")
    for function, dtype in ((one_hot_sequences, torch.float16), (tokenize_sequences, torch.int64)):
        with pytest.raises(TypeError, match=r"dtype .*: pass '(float16|int64)'"):
            function("ACGT", dtype=dtype)


@pytest.mark.parametrize("dtype", ["u1", "i1", "S1"])
def test_memoryviews_keep_their_shape(dtype):
    codes = np.frombuffer(b"ACGTAC", dtype).reshape(2, 3)
    for view in (codes, codes[:, ::-1], codes[0], codes[0, ::-1], codes[0, :0]):
        expected = one_hot_sequences(view.view(np.uint8))
        assert_same(one_hot_sequences(memoryview(view)), expected)


def test_out_must_not_share_the_memory_of_a_memoryview_or_a_column_of_codes():
    memory = np.frombuffer(bytearray(b"ACGT" * 4), np.uint8)
    pa = pytest.importorskip("pyarrow")
    column = pa.Array.from_buffers(pa.uint8(), 4, [None, pa.py_buffer(memory)])
    chunked = pa.chunked_array([column[:2], column[2:]])
    for sequence in (memoryview(memory)[:4], column, chunked):
        with pytest.raises(ValueError, match="sequences"):
            one_hot_sequences(sequence, out=memory.reshape(4, 4))


@pytest.mark.parametrize("dtype", ["U1", "S1"])
def test_empty_elements_of_single_letters_are_the_letter_nul(dtype):
    letters = np.array([["A", "", "C", ""]], dtype)
    expected = tokenize_sequences(letters, "AC\0")
    assert expected.tolist() == [[0, 2, 1, 2]]
    assert_same(tokenize_sequences([*letters], "AC\0"), expected)


# ---- Columns, tables and other objects ----


def _columns_of_codes(codes):
    """Yield columns of integers of one byte, of each library."""
    pa = pytest.importorskip("pyarrow")
    yield pa.array(codes, pa.uint8())
    yield pa.chunked_array([codes[:1], codes[1:]], pa.uint8())
    pd = pytest.importorskip("pandas")
    for dtype in ("UInt8", "uint8[pyarrow]", *([] if None in codes else ["uint8"])):
        yield pd.Series(codes, dtype=dtype)
    yield pytest.importorskip("polars").Series(codes, dtype=pytest.importorskip("polars").UInt8)


def test_columns_of_character_codes_are_one_sequence():
    for column in _columns_of_codes([65, 84, 71]):
        assert_same(one_hot_sequences(column), one_hot_sequences("ATG"))
    for column in _columns_of_codes([65, None, 71]):
        with pytest.raises(TypeError, match="missing"):
            one_hot_sequences(column, unknown="zeros")


@pytest.mark.parametrize(
    ("text", "options", "remedies"),
    [
        ("ACn", {}, {"neutral": "N", "ignore_case": True}),
        ("ACn", {}, {"ambiguous": "iupac", "ignore_case": True}),
        ("ACn", {"ambiguous": "iupac"}, {"ignore_case": True}),
        ("ACu", {}, {"alphabet": "nucleotides", "ignore_case": True}),
        ("ACt", {"alphabet": "rna"}, {"alphabet": "nucleotides", "ignore_case": True}),
        ("ACu", {"ignore_case": True}, {"alphabet": "nucleotides"}),
        ("acu", {"alphabet": "acgt"}, {"alphabet": ["a", "c", "g", "tu"]}),
        ("ACU", {"alphabet": "iupac"}, {"alphabet": [*"ACG", "TU", *"RYSWKMBDHVN"]}),
        ("ACUN", {"alphabet": "ACGTN"}, {"alphabet": ["A", "C", "G", "TU", "N"]}),
    ],
)
def test_the_remedy_names_the_case_and_the_class_of_u(text, options, remedies):
    with pytest.raises(ValueError, match="position") as raised:
        one_hot_sequences(text, **options)
    for name, value in remedies.items():
        assert f"{name}={value!r}" in str(raised.value)
    assert len(one_hot_sequences(text, **{**options, **remedies})) == len(text)


@pytest.mark.parametrize(
    ("alphabet", "name"),
    [
        ("proteins", "protein"), ("nucleotide", "nucleotides"), ("amino", "protein"),
        ("amino_acids", "protein"), ("Proteins", "protein"), (b"proteins", "protein"),
        ("dnas", "dna"), ("iupca", "iupac"),
    ],
)  # fmt: skip
def test_a_misspelt_name_of_an_alphabet_raises_an_error(alphabet, name):
    with pytest.raises(ValueError, match=f"did you mean '{name}'"):
        one_hot_sequences("ACGT", alphabet)


def test_names_of_alphabets_may_be_bytes_and_letters_may_be_lower_case():
    for name in ALPHABETS:
        expected = one_hot_sequences("ACG", name)
        assert_same(one_hot_sequences("ACG", name.encode()), expected)
    for letters in ("acgt", "acgu", "abcdefghijklmnopqrstuvwxyz", "acdefghiklmnpqrstvwy", "abc"):
        assert one_hot_sequences(letters, letters).shape == (len(letters), len(letters))
    assert one_hot_sequences("pro", list("proteins")).shape == (3, 8)


# ---- Errors that say what to write ----


def test_tables_are_not_one_column():
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    data = {"a": ["ACGT"]}
    batch = pa.RecordBatch.from_pydict(data)
    for table in (
        pd.DataFrame(data),
        pl.DataFrame(data),
        pl.LazyFrame(data),
        pa.table(data),
        batch,
    ):
        with pytest.raises(TypeError, match="one column"):
            one_hot_sequences(table)


def test_arrow_strings_that_are_not_utf8_are_named():
    pa = pytest.importorskip("pyarrow")
    places, data = np.array([0, 1, 3], np.int32), b"A\xffC"
    array = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(places), pa.py_buffer(data)])
    with pytest.raises(ValueError, match=r"sequences\[1\].*UTF-8.*0xff"):
        one_hot_sequences(array, pad="right")


def test_tensors_that_require_a_gradient_must_be_detached():
    torch = pytest.importorskip("torch")
    tensor = torch.eye(4, requires_grad=True)
    with pytest.raises(TypeError, match="detach"):
        decode_sequences(tensor)
    assert decode_sequences(tensor.detach()) == "ACGT"


def test_other_mistakes_name_the_remedy():
    with pytest.raises(TypeError, match="offsets="):
        decode_sequences(one_hot_sequences(["AC", "G"], ragged=True))
    for dtype in ("U1", "S1", object):
        with pytest.raises(TypeError, match="dtype"):
            one_hot_sequences("A", dtype=dtype)
    with pytest.raises(ValueError, match="unknown='neutral' with neutral_code="):
        tokenize_sequences("A", unknown="zeros")
    for paths in (pathlib.Path("ACGT"), [pathlib.Path("ACGT")]):
        with pytest.raises(TypeError, match="Path"):
            one_hot_sequences(paths)


def test_arrow_cannot_hold_surrogates():
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match=r"surrogates.*output='list'"):
        decode_sequences(np.eye(2), "\ud800A", output="arrow")
    assert decode_sequences(np.eye(2), "\ud800A") == "\ud800A"
