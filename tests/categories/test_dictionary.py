"""The dictionary against a Python dict: any values, in any layout, with every instruction set."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from dictionary_values import (
    BYTES_TYPES,
    LENGTHS,
    TEXT_TYPES,
    arrow,
    columns,
    instruction_set,
    learned,
    numbered,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from onehot_fast._arrow.array import read
from onehot_fast._categories.dictionary import Dictionary, UnsupportedValueError
from onehot_fast._categories.strings import Strings
from onehot_fast._kernels import simd

every_variant = pytest.mark.parametrize("variant", simd.variants())
pa = pytest.importorskip("pyarrow")


def check(kind: str, values: Any, rows: list[Any]) -> None:
    """Hold what is learned of values, and what is found again, against the slow way."""
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
@given(rows=columns(), skipped=st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_arrow_texts(variant: str, rows: list[str | None], skipped: int) -> None:
    """Every Arrow layout of texts and bytes, from any bit of the bitmap on."""
    with instruction_set(variant):
        for kind in TEXT_TYPES:
            check("string", arrow(rows, kind, skipped), rows)
        encoded = [None if row is None else row.encode() for row in rows]
        for kind in BYTES_TYPES:
            check("binary", arrow(encoded, kind, skipped), encoded)


@every_variant
@given(rows=columns(), shared=st.booleans())
@settings(max_examples=60, deadline=None)
def test_numpy_texts(variant: str, rows: list[str | None], shared: bool) -> None:
    """Objects, shared or each row its own, and dtypes U and S, forward and backward."""
    with instruction_set(variant):
        if not shared:
            rows = [None if row is None else "".join(list(row)) for row in rows]
        objects = np.array([*rows, None], object)[:-1]
        check("string", objects, rows)
        check("string", objects[::-1], rows[::-1])
        check("string", tuple(rows), rows)
        texts = np.array([row or "" for row in rows], "U")
        check("string", texts, texts.tolist())
        check("string", texts[::-2].astype(texts.dtype.newbyteorder()), texts[::-2].tolist())
        encoded = np.array([(row or "").encode() for row in rows], "S")
        check("binary", encoded, encoded.tolist())
        check("binary", encoded.astype(object), encoded.tolist())
        check("binary", tuple(encoded.tolist()), encoded.tolist())
        check("string", Strings.from_objects(texts.tolist()), texts.tolist())


@every_variant
@given(rows=columns())
@settings(max_examples=40, deadline=None)
def test_variable_width_texts_of_numpy(variant: str, rows: list[str | None]) -> None:
    """StringDType, with and without missing values, forward and backward."""
    dtype = np.dtypes.StringDType
    known = [row or "" for row in rows]
    replaced = ["gone\0" if row is None else row for row in rows]
    with instruction_set(variant):
        check("string", np.array(known, dtype()), known)
        for na_object in (None, float("nan"), object()):
            array = np.array(
                [na_object if row is None else row for row in rows], dtype(na_object=na_object)
            )
            check("string", array, rows)
            check("string", array[::-2], rows[::-2])
        array = np.array(["\0" if row is None else row for row in rows], dtype(na_object="gone\0"))
        array[[row is None for row in rows]] = "gone\0"
        check("string", array, replaced)


@every_variant
def test_variable_width_texts_that_changed_their_place(variant: str) -> None:
    """NumPy keeps a short text that followed a long one where the long one was."""
    rows = ["x" * length for length in (*LENGTHS, 300, 70_000)] * 2
    array = np.array(rows, np.dtypes.StringDType())
    for shift in range(3):
        rows = rows[shift:] + rows[:shift]
        array[:] = rows
        array[3] = rows[3] = "\0é" * shift
        with instruction_set(variant):
            check("string", array, rows)


def test_variable_width_texts_are_read_while_others_write() -> None:
    """NumPy's own lock stands between the two; each row is some text that was in it."""
    array = np.array(["a", "b" * 40] * 5000, np.dtypes.StringDType())
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            array[::2] = "c" * 30
            array[::2] = "a"

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(200):
            dictionary = learned("string", array)
            assert set(dictionary.values.tolist()) <= {"a", "b" * 40, "c" * 30}
    finally:
        stop.set()
        writer.join()


@every_variant
def test_texts_that_differ_in_one_byte_are_different(variant: str) -> None:
    """Of every length, a change of any byte is another text."""
    with instruction_set(variant):
        rows = []
        for length in LENGTHS:
            for place in range(length):
                rows += ["x" * place + other + "x" * (length - place - 1) for other in "\0xy"]
        rows = list(dict.fromkeys([*rows, "", "\0", "\0\0", "x" * 16 + "\0"]))
        for kind in TEXT_TYPES:
            dictionary = learned("string", arrow(rows * 2, kind))
            assert dictionary.values.tolist() == rows
        assert learned("string", np.array(rows, object)).values.tolist() == rows


@every_variant
def test_one_dictionary_for_all_layouts(variant: str) -> None:
    """What is learned in one layout is found in every other."""
    rows = [f"{'v' * (i % 40)}{i}" for i in range(500)]
    with instruction_set(variant):
        sources = [arrow(rows, kind) for kind in TEXT_TYPES]
        sources += [np.array(rows, object), np.array(rows), Strings.from_objects(rows)]
        for first in sources:
            dictionary = learned("string", first)
            for other in sources:
                assert np.array_equal(dictionary.lookup(other), np.arange(500))


def test_an_instruction_set_chosen_later_finds_what_another_learned() -> None:
    """A table keeps the hash it was built with."""
    rows = np.array([f"{i}{'x' * (i % 30)}" for i in range(2000)], object)
    for learner in simd.variants():
        with instruction_set(learner):
            dictionary = learned("string", rows)
        for reader in simd.variants():
            with instruction_set(reader):
                assert np.array_equal(dictionary.lookup(rows), np.arange(2000))
                assert dictionary.encode(rows[::-1])[0] == 1999


def test_polars_strings() -> None:
    """Series of polars, short and long, sliced, with nulls."""
    pl = pytest.importorskip("polars")
    rows = ["a", None, "b" * 50, "a", "c" * 12, "c" * 13, None, ""] * 50
    for chunk in read(pl.Series(rows)[3:]):
        check("string", chunk, rows[3:])


def test_chunks_are_of_one_dictionary() -> None:
    """Each call goes on where the last one ended."""
    dictionary = Dictionary("string")
    for chunk in read(pa.chunked_array([["b", "a"], ["c", "b"], [], ["a"]])):
        dictionary.encode(chunk)
    assert dictionary.values.tolist() == ["b", "a", "c"]


def test_lone_surrogates_come_back() -> None:
    """Any str is a text, also one that UTF-8 proper cannot write."""
    rows = ["\ud800", "\udfff" * 9, "a\udc80", "\ud800"]
    check("string", np.array(rows, object), rows)
    check("string", np.array(rows), rows)


# ---- Objects that are no texts ----


def test_what_is_missing_among_objects() -> None:
    """None and NaN of any float type are missing, others where the caller says so."""
    other = object()
    objects = np.array(["a", None, float("nan"), np.float64("nan"), other, "a"] * 300, object)
    dictionary = Dictionary("string")
    assert dictionary.encode(objects, missing=(other,)).tolist() == [0, -1, -1, -1, -1, 0] * 300
    assert dictionary.lookup(objects, missing=[other]).tolist() == [0, -1, -1, -1, -1, 0] * 300


@pytest.mark.parametrize("n_before", [0, 3, 700, 5000])
@pytest.mark.parametrize("bad", [1, 1.5, b"x", True, ("a",), type("Sub", (str,), {})("x")])
def test_other_objects_are_refused_with_their_row(bad: Any, n_before: int) -> None:
    """A subclass of str may have its own equality, so it is no text either."""
    objects = np.empty(n_before + 2, object)
    objects[:] = "x"
    objects[n_before] = bad
    with pytest.raises(UnsupportedValueError, match=f"row {n_before} ") as caught:
        Dictionary("string").encode(objects)
    assert caught.value.row == n_before
    with pytest.raises(UnsupportedValueError):
        learned("string", np.array(["x"], object)).lookup(objects)


# ---- Numbers ----

INTEGERS = [np.dtype(name) for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]


@every_variant
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_integers(variant: str, dtype: np.dtype[Any], data: st.DataObject) -> None:
    """Integers of every width, near and far apart, of NumPy and of Arrow with nulls."""
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


@given(rows=st.lists(st.floats(width=32) | st.sampled_from([0.0, -0.0]), max_size=300))
@settings(max_examples=60, deadline=None)
def test_floats(rows: list[float]) -> None:
    """-0.0 is 0.0, and NaN is missing."""
    expected = [None if row != row else row for row in rows]
    for dtype in (np.float32, np.float64):
        check("float64", np.array(rows, dtype), expected)
    (chunk,) = read(pa.array(rows, pa.float64(), from_pandas=False))
    check("float64", chunk, expected)
    assert not np.signbit(learned("float64", np.array([-0.0])).values).any()


def test_half_floats() -> None:
    """Half floats are held as the doubles they are."""
    array = np.array([1.5, np.nan, -0.0, 65504, 0.0, 1.5], np.float16)
    check("float64", array, [1.5, None, 0.0, 65504.0, 0.0, 1.5])


def test_booleans_dates_and_durations_by_their_integers() -> None:
    """NaT is missing; Arrow's and NumPy's days are the same integers."""
    check("int64", np.array([True, False, True]), [1, 0, 1])
    days = np.array(["2020-01-02", "NaT", "1960-01-01", "2020-01-02"], "M8[D]")
    expected = [18263, None, -3653, 18263]
    check("int64", days, expected)
    check("int64", days.astype(">M8[D]"), expected)
    check("int64", (days - np.datetime64(0, "D")), expected)
    (chunk,) = read(pa.array(days.tolist(), pa.date32()))
    check("int64", chunk, expected)
    for unit in ("s", "ns"):
        (chunk,) = read(pa.array([5, None, 5], pa.timestamp(unit, "UTC")))
        check("int64", chunk, [5, None, 5])
    (chunk,) = read(pa.array([True, None, False]))
    check("int64", chunk, [1, None, 0])


def test_integers_of_the_other_sign() -> None:
    """They are refused while learning, and unknown when looked up."""
    signed, unsigned = Dictionary("int64"), Dictionary("uint64")
    with pytest.raises(UnsupportedValueError) as caught:
        signed.encode(np.array([1, 2**63], np.uint64))
    assert caught.value.row == 1
    with pytest.raises(UnsupportedValueError):
        unsigned.encode(np.array([-1]))
    assert learned("int64", np.array([-1])).lookup(np.array([2**64 - 1], "u8")).tolist() == [-2]
    assert learned("uint64", np.array([2**63], "u8")).lookup(np.array([-(2**63)])).tolist() == [-2]


# ---- Sizes ----


@every_variant
@pytest.mark.parametrize("width", [6, 30])
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 1000, 4097, 70_001])
def test_all_different(variant: str, n: int, width: int) -> None:
    """The table grows while it learns."""
    texts = np.char.zfill(np.arange(n).astype("U6"), width)
    expected = np.tile(np.arange(n), 2)
    both = np.concatenate([texts, texts])
    with instruction_set(variant):
        (chunk,) = read(pa.array(both, pa.string()))
        assert np.array_equal(Dictionary("string").encode(chunk), expected)
        assert np.array_equal(Dictionary("string").encode(both.astype(object)), expected)
        spread = (both.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)).view(np.int64)
        assert np.array_equal(Dictionary("int64").encode(spread), expected)


@pytest.mark.parametrize("n_rows", [1023, 1024, 2049, 60_000, 150_000])
@pytest.mark.parametrize("n_levels", [2, 900, 7000, 30_000])
def test_objects_that_many_rows_share(n_rows: int, n_levels: int) -> None:
    """What is remembered of an object by its address is its own code: known, unknown or missing."""
    levels: list[str | None] = [f"level {i}" for i in range(n_levels - 1)]
    objects = np.array([*levels, None], object)
    draw = np.random.default_rng(n_rows)
    drawn = draw.integers(0, n_levels, n_rows)
    # From some row on all objects are new, or hardly any is.
    drawn[n_rows // 2 :] = np.sort(drawn[n_rows // 2 :])
    rows = objects[drawn]
    codes, distinct = numbered(rows.tolist())
    dictionary = Dictionary("string")
    assert dictionary.encode(rows).tolist() == codes
    assert dictionary.values.tolist() == distinct
    half = Dictionary("string", dictionary.values.take(range(len(distinct) // 2)))
    assert half.lookup(rows).tolist() == [code if code < len(half) else -2 for code in codes]


def test_a_million_different_texts() -> None:
    """The codes and values of a large dictionary."""
    n = 1_000_000
    (chunk,) = read(pa.array(np.arange(n)).cast(pa.string()))
    dictionary = Dictionary("string")
    assert np.array_equal(dictionary.encode(chunk), np.arange(n))
    assert np.array_equal(dictionary.lookup(chunk), np.arange(n))
    assert dictionary.values[999_999] == "999999"


def test_equal_values_make_no_dictionary() -> None:
    """The values of a dictionary are distinct, and not missing."""
    values: Any
    for kind, values in (
        ("string", Strings.from_objects(["a", "b", "a"])),
        ("int64", np.array([1, 1])),
        ("float64", np.array([0.0, -0.0])),
        ("float64", np.array([np.nan])),
    ):
        with pytest.raises(ValueError, match="different"):
            Dictionary(kind, values)


@pytest.mark.parametrize("kind", ["string", "binary", "int64", "uint64", "float64"])
def test_values_of_another_kind_are_refused(kind: str) -> None:
    """By their type, before a row is read; also where there is no row."""
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


def test_look_up_from_many_threads() -> None:
    """Threads that look up at the same time do not disturb each other."""
    rows = np.array([f"value {i}" for i in range(3000)])
    dictionary = learned("string", rows)
    wrong: list[int] = []

    def look_up() -> None:
        for _ in range(20):
            if not np.array_equal(dictionary.lookup(rows), np.arange(3000)):
                wrong.append(1)

    threads = [threading.Thread(target=look_up) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
