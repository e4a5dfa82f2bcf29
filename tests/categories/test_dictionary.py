"""The dictionary against a Python dict: any values, in any layout, with every instruction set."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast._categories.hashtable.dictionary import Dictionary, number_labels
from onehot_fast._categories.strings import Strings
from onehot_fast._kernels import simd
from onehot_fast.adapter import Rows
from onehot_fast.adapter import read_arrow as read
from support.dictionary_values import (
    ALPHABETS,
    BYTES_TYPES,
    LENGTHS,
    TEXT_TYPES,
    arrow,
    columns,
    every_variant,
    instruction_set,
    learned,
    numbered,
    texts_of,
)
from support.programs import running
from support.strategies import examples

pa = pytest.importorskip("pyarrow")

INTEGERS = [np.dtype(name) for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]
SEPARATORS = ("|", "aa", "aab", "é", "\0", "\U0001f600|")


def check(kind, values, rows):
    """Compare the codes of values, when they are learned and looked up, with a dict."""
    codes, distinct = numbered(rows)
    dictionary = Dictionary(kind)
    assert dictionary.encode(values).tolist() == codes
    assert dictionary.values.tolist() == distinct
    assert len(dictionary) == len(distinct)
    assert dictionary.lookup(values).tolist() == codes

    half = Dictionary(kind, dictionary.values.take(np.arange(len(distinct) // 2)))
    expected = [code if code < len(half) else -2 for code in codes]
    assert half.lookup(values).tolist() == expected


# ---- Texts ----


@every_variant
@given(rows=columns(), skipped=st.integers(0, 9), shared=st.booleans())
@examples(0.7)
def test_texts_of_every_layout_get_codes(variant, rows, skipped, shared):
    """Every layout of texts and bytes, with any offset, forward and backward."""
    if not shared:
        rows = [None if row is None else "".join(list(row)) for row in rows]
    objects = np.array([*rows, None], object)[:-1]
    texts = np.array([row or "" for row in rows], "U")
    encoded = np.array([(row or "").encode() for row in rows], "S")
    with instruction_set(variant):
        for kind in TEXT_TYPES:
            check("string", arrow(rows, kind, skipped), rows)
        raw = [None if row is None else row.encode() for row in rows]
        for kind in BYTES_TYPES:
            check("binary", arrow(raw, kind, skipped), raw)
        check("string", objects, rows)
        check("string", objects[::-1], rows[::-1])
        check("string", tuple(rows), rows)
        check("string", texts[::-2].astype(texts.dtype.newbyteorder()), texts[::-2].tolist())
        for values in (texts, Strings.from_objects(texts.tolist())):
            check("string", values, texts.tolist())
        for values in (encoded, encoded.astype(object), tuple(encoded.tolist())):
            check("binary", values, encoded.tolist())


@every_variant
@given(rows=columns())
@examples(0.5)
def test_texts_of_variable_width_get_codes(variant, rows):
    """StringDType, with and without missing values, forward and backward."""
    dtype = np.dtypes.StringDType
    known = [row or "" for row in rows]
    replaced = ["gone\0" if row is None else row for row in rows]
    with instruction_set(variant):
        check("string", np.array(known, dtype()), known)
        for na_object in (None, float("nan"), object(), "gone\0"):
            array = np.array(known, dtype(na_object=na_object))
            array[[row is None for row in rows]] = na_object
            expected = replaced if isinstance(na_object, str) else rows
            check("string", array, expected)
            check("string", array[::-2], expected[::-2])


@every_variant
def test_texts_of_variable_width_may_be_assigned(variant):
    """NumPy keeps a short text in the memory of the long text that it replaced."""
    rows = ["x" * length for length in (*LENGTHS, 300, 70_000)] * 2
    array = np.array(rows, np.dtypes.StringDType())
    for shift in range(3):
        rows = rows[shift:] + rows[:shift]
        array[:] = rows
        array[3] = rows[3] = "\0é" * shift
        with instruction_set(variant):
            check("string", array, rows)


def test_texts_of_variable_width_may_change_while_they_are_read():
    """NumPy's lock protects each read; every value is one that was in the array."""
    array = np.array(["a", "b" * 40] * 5000, np.dtypes.StringDType())

    def write():
        array[::2] = "c" * 30
        array[::2] = "a"

    with running(write):
        for _ in range(200):
            assert {*learned("string", array).values.tolist()} <= {"a", "b" * 40, "c" * 30}


def test_another_instruction_set_finds_the_same_values():
    """A dictionary keeps the hash function of its creation."""
    rows = np.array([f"{i}{'x' * (i % 30)}" for i in range(2000)], object)
    for learner in simd.variants():
        with instruction_set(learner):
            dictionary = learned("string", rows)
        for reader in simd.variants():
            with instruction_set(reader):
                assert np.array_equal(dictionary.lookup(rows), np.arange(2000))
                assert dictionary.encode(rows[::-1])[0] == 1999


def test_lone_surrogates_are_restored():
    rows = ["\ud800", "\udfff" * 9, "a\udc80", "\ud800"]
    check("string", np.array(rows, object), rows)
    check("string", np.array(rows), rows)


# ---- Objects ----


def test_missing_objects_have_the_code_minus_one():
    """None, NaN of any float type and the objects in `missing` are missing."""
    other = object()
    objects = np.array(["a", None, float("nan"), np.float64("nan"), other, "a"] * 300, object)
    dictionary = Dictionary("string")
    assert dictionary.encode(objects, missing=(other,)).tolist() == [0, -1, -1, -1, -1, 0] * 300
    assert dictionary.lookup(objects, missing=[other]).tolist() == [0, -1, -1, -1, -1, 0] * 300


@pytest.mark.parametrize("n_before", [0, 3, 700, 5000])
@pytest.mark.parametrize("bad", [1, 1.5, b"x", True, ("a",), type("Sub", (str,), {})("x")])
def test_other_objects_are_rejected_with_their_row(bad, n_before):
    """Subclasses of str are rejected too, because they may redefine equality."""
    objects = np.empty(n_before + 2, object)
    objects[:] = "x"
    objects[n_before] = bad
    with pytest.raises(TypeError, match=f"row {n_before}: the value does not fit"):
        Dictionary("string").encode(objects)
    with pytest.raises(TypeError, match=f"row {n_before}: the value does not fit"):
        learned("string", np.array(["x"], object)).lookup(objects)


@pytest.mark.parametrize("n_rows", [1023, 1024, 2049, 60_000, 150_000])
@pytest.mark.parametrize("n_levels", [2, 900, 7000, 30_000])
def test_objects_that_many_rows_share_have_one_code(n_rows, n_levels):
    """The cached code of an object's address is its own: known, unknown or missing."""
    levels: list[str | None] = [f"level {i}" for i in range(n_levels - 1)]
    objects = np.array([*levels, None], object)
    draw = np.random.default_rng(n_rows)
    drawn = draw.integers(0, n_levels, n_rows)
    # In the second half all objects are new, or almost none.
    drawn[n_rows // 2 :] = np.sort(drawn[n_rows // 2 :])
    rows = objects[drawn]
    codes, distinct = numbered(rows.tolist())
    dictionary = Dictionary("string")
    assert dictionary.encode(rows).tolist() == codes
    assert dictionary.values.tolist() == distinct
    half = Dictionary("string", dictionary.values.take(range(len(distinct) // 2)))
    assert half.lookup(rows).tolist() == [code if code < len(half) else -2 for code in codes]


# ---- Numbers ----


@every_variant
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@given(data=st.data())
@examples(0.25)
def test_integers_of_every_width_get_codes(variant, dtype, data):
    """Integers of every width, in small and large ranges, of NumPy and of Arrow with nulls."""
    info = np.iinfo(dtype)
    one = st.one_of(st.integers(int(info.min), int(info.max)), st.integers(0, 9))
    rows = data.draw(st.lists(one, max_size=700))
    array = np.array(rows, dtype)
    kind = "int64" if dtype.kind == "i" else "uint64"
    with instruction_set(variant):
        check(kind, array, rows)
        check(kind, array[::-2].astype(dtype.newbyteorder()), rows[::-2])
        holes = [None if row % 3 == 0 else row for row in rows]
        check(kind, arrow(holes, pa.from_numpy_dtype(dtype), 5), holes)


@given(rows=st.lists(st.floats(width=16) | st.sampled_from([0.0, -0.0]), max_size=300))
@examples(0.7)
def test_floats_get_codes(rows):
    """-0.0 is 0.0, and NaN is missing."""
    expected = [None if row != row else row for row in rows]
    for dtype in (np.float16, np.float32, np.float64):
        check("float64", np.array(rows, dtype), expected)
    (chunk,) = read(pa.array(rows, pa.float64(), from_pandas=False))
    check("float64", chunk, expected)
    assert not np.signbit(learned("float64", np.array([-0.0])).values).any()


DAYS = np.array(["2020-01-02", "NaT", "1960-01-01", "2020-01-02"], "M8[D]")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([True, False, True]), [1, 0, 1]),
        (pa.array([True, None, False]), [1, None, 0]),
        *((days, [18263, None, -3653, 18263])
          for days in (DAYS, DAYS.astype(">M8[D]"), DAYS - np.datetime64(0, "D"),
                       pa.array(DAYS.tolist(), pa.date32()))),
        *((pa.array([5, None, 5], pa.timestamp(unit, "UTC")), [5, None, 5])
          for unit in ("s", "ns")),
    ],
)  # fmt: skip
def test_booleans_dates_and_durations_are_integers(values, expected):
    """NaT is missing; days of Arrow and NumPy are the same integers."""
    check("int64", next(read(values)) if isinstance(values, pa.Array) else values, expected)


def test_integers_of_the_other_sign_are_rejected_or_unknown():
    """Integers outside the kind of the dictionary are rejected in `encode`, unknown in `lookup`."""
    signed, unsigned = Dictionary("int64"), Dictionary("uint64")
    with pytest.raises(TypeError, match="row 1: the value does not fit"):
        signed.encode(np.array([1, 2**63], np.uint64))
    with pytest.raises(TypeError, match="row 0: the value does not fit"):
        unsigned.encode(np.array([-1]))
    assert learned("int64", np.array([-1])).lookup(np.array([2**64 - 1], "u8")).tolist() == [-2]
    assert learned("uint64", np.array([2**63], "u8")).lookup(np.array([-(2**63)])).tolist() == [-2]


# ---- Sizes, kinds and threads ----


def test_initial_values_must_be_distinct_and_present():
    values: Any
    for kind, values in (
        ("string", Strings.from_objects(["a", "b", "a"])),
        ("int64", np.array([1, 1])),
        ("float64", np.array([0.0, -0.0])),
        ("float64", np.array([np.nan])),
    ):
        with pytest.raises(ValueError, match="distinct and not missing"):
            Dictionary(kind, values)


@pytest.mark.parametrize("kind", ["string", "binary", "int64", "uint64", "float64"])
def test_values_of_another_kind_are_rejected(kind):
    sources: dict[str, list[Any]] = {
        "string": [np.array(["a"]), pa.array(["a"]), Strings.from_objects(["a"])],
        "binary": [np.array([b"a"]), pa.array([b"a"]), Strings.from_objects([b"a"])],
        "float64": [np.array([1.5]), pa.array([1.5])],
        "none": [[1], (1,), np.array([1j]), pa.array([[1]]), pa.array(["a"]).dictionary_encode()],
    }
    for other, values in sources.items():
        for value in values:
            if other != kind:
                chunk = next(read(value)) if isinstance(value, pa.Array) else value
                with pytest.raises(TypeError):
                    Dictionary(kind).encode(chunk)


def test_threads_look_up_concurrently():
    rows = np.array([f"value {i}" for i in range(3000)])
    dictionary = learned("string", rows)
    with ThreadPoolExecutor(8) as pool:
        for codes in pool.map(lambda _: dictionary.lookup(rows), range(160)):
            assert np.array_equal(codes, np.arange(3000))


# ---- Split texts ----


def check_pieces(values, rows, separator):
    """Compare the pieces with `str.split`, with and without empty ones."""
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
@examples(0.7)
def test_texts_are_split_at_the_separator(variant, data, separator, skipped):
    """Overlapping separators, at the ends or nowhere; any length; missing texts."""
    part = st.sampled_from([separator, separator[0], "", "a", "b", "x" * 15, "y" * 40, "é\0"])
    text = st.lists(part, max_size=12).map("".join)
    rows = data.draw(st.lists(st.none() | text, max_size=40))
    with instruction_set(variant):
        for kind in TEXT_TYPES:
            check_pieces(arrow(rows, kind, skipped), rows, separator)
        known = [row or "" for row in rows]
        check_pieces(Strings.from_objects(known), known, separator)


def test_other_values_and_empty_separators_cannot_be_split():
    with pytest.raises(TypeError, match="must be Strings or an Arrow array"):
        Dictionary("string").split(np.array(["a|b"], object), b"|")
    with pytest.raises(ValueError, match="the separator must not be empty"):
        Dictionary("string").split(Strings.from_objects(["a"]), b"")


# ---- Strings ----

any_text = st.one_of(
    *map(texts_of, ALPHABETS), st.text(st.characters(exclude_categories=()), max_size=20)
)
lists = st.one_of(st.lists(any_text, max_size=60), st.lists(st.binary(max_size=20), max_size=60))


@given(lists, st.data())
@examples(1.5)
def test_strings_behave_like_a_list(rows, data):
    """Items, iteration, pickling, selection and equality; lone surrogates too."""
    strings = Strings.from_objects(rows)
    assert strings.tolist() == list(strings) == strings.to_object().tolist() == rows
    assert [strings[i] for i in range(-len(rows), 0)] == rows
    restored = pickle.loads(pickle.dumps(strings))
    assert restored == strings
    assert restored.tolist() == rows
    positions = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=50)) if rows else []
    chosen = strings.take(np.array(positions, np.int64))
    assert chosen.tolist() == [rows[i] for i in positions]
    assert (strings == chosen) == (rows == chosen.tolist())


@given(lists, st.randoms())
@examples(1.5)
def test_argsort_gives_the_order_of_python(rows, random):
    """A stable sort by code points."""
    rows = rows * 3
    random.shuffle(rows)
    order = Strings.from_objects(rows).argsort()
    assert order.tolist() == sorted(range(len(rows)), key=rows.__getitem__)


def test_strings_copy_their_arrays_and_are_immutable():
    """The first text need not begin at the start of the data."""
    data = np.frombuffer(b"xxabcyy", np.uint8).copy()
    strings = Strings(np.array([2, 4, 4, 5]), data, True)
    data[:] = 0
    assert strings.tolist() == ["ab", "", "c"]
    assert strings == Strings.from_objects(["ab", "", "c"])
    assert strings.take([2, 0]).tolist() == ["c", "ab"]
    for array in (strings.data, strings.offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        hash(strings)


@pytest.mark.parametrize("offsets", [[], [0, 2, 1], [-1, 1], [0, 4], [[0, 1]]])
def test_wrong_offsets_are_rejected(offsets):
    with pytest.raises(ValueError, match="offsets"):
        Strings(np.array(offsets, np.int64), np.zeros(3, np.uint8), True)


def test_wrong_values_and_positions_are_rejected():
    with pytest.raises(TypeError, match="value 1 must be a str, got an int"):
        Strings.from_objects(["a", 1])
    with pytest.raises(TypeError, match="value 1 must be a str, got a bytes"):
        Strings.from_objects(["a", b"b"])
    strings = Strings.from_objects(["a"])
    for position in (1, -2):
        with pytest.raises(IndexError):
            strings[position]
    for position in (1, -1):
        with pytest.raises(IndexError):
            strings.take([position])
    assert strings != ["a"]
    assert strings != Strings.from_objects([b"a"])


# ---- Numbers of labels ----


@pytest.mark.parametrize("change", [list.clear, lambda rows: rows.append([3])])
def test_rows_may_change_the_list_of_rows(change):
    """The rows are those of the list before the call."""

    def row():
        change(rows)
        yield 1

    rows: list[Any] = [row(), [2]]
    numbered = Rows.numbered(rows, {})
    assert numbered.offsets.tolist() == [0, 1, 2]
    assert numbered.elements.tolist() == [0, 1]


@pytest.mark.parametrize("n_labels", [3, 20_000])
@pytest.mark.parametrize("kind", ["shared", "equal", "temporary"])
def test_labels_of_many_rows_are_numbered_by_their_value(kind, n_labels):
    """Whether equal labels are one object, several, or objects that share an address in turn."""
    numbers = np.random.default_rng(0).integers(0, n_labels, (6000, 2)).tolist()
    shared = [f"label {i}" for i in range(n_labels)]
    makers: dict[str, Any] = {
        "shared": lambda row: [shared[i] for i in row],
        "equal": lambda row: [f"label {i}" for i in row],
        "temporary": lambda row: (f"label {i}" for i in row),
    }
    order: dict[str, int] = {}
    expected = [order.setdefault(f"label {i}", len(order)) for row in numbers for i in row]
    for known in ({}, {"another": 0}):
        first = len(known)
        offsets, codes = number_labels(tuple(map(makers[kind], numbers)), known)
        assert offsets.tolist() == [*range(0, 12_001, 2)]
        assert (codes - first).tolist() == expected
        assert len(known) == len(order) + first


def test_equal_labels_of_several_types_have_one_number():
    """Equal labels of several types share one number, in the first row and in every later one."""
    rows = tuple([1, 1.0, True, "1"] for _ in range(2000))
    numbers: dict[Any, int] = {}
    _, codes = number_labels(rows, numbers)
    assert codes.tolist() == [0, 0, 0, 1] * 2000
    assert numbers == {1: 0, "1": 1}


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (([1], None), TypeError, "'NoneType' object is not iterable"),
        (([1, {}],), TypeError, "unhashable type: 'dict'"),
        (None, TypeError, "rows"),
        ((iter(int, 0), (1 / 0 for _ in [1])), ZeroDivisionError, "division"),
    ],
)
def test_rows_that_are_no_labels_raise_an_error(rows, error, message):
    with pytest.raises(error, match=message):
        number_labels(rows, {})
