"""Rows of labels become offsets and numbers; a label is hashed and a row iterated over once."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast._categories.numbering import number_integers, number_labels

INTEGERS = tuple(map(np.dtype, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")))

labels = st.none() | st.integers(-3, 3) | st.text("ab", max_size=2) | st.just((1, "a"))
kinds = st.sampled_from([list, tuple, iter, lambda row: dict.fromkeys(row), lambda row: (*row,)])


@given(st.lists(st.tuples(kinds, st.lists(labels, max_size=30)), max_size=8), st.lists(labels))
def test_numbers_are_those_of_first_sight(rows: list[Any], known: list[Any]) -> None:
    """Known labels keep their numbers, new ones get the next; rows may be of any kind."""
    kept = [list(dict.fromkeys(row)) if isinstance(kind(row), dict) else row for kind, row in rows]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(known))}
    order = [*dict.fromkeys([*known, *(label for row in kept for label in row)])]

    offsets, codes = number_labels([kind(row) for kind, row in rows], numbers)

    assert numbers == {label: number for number, label in enumerate(order)}
    assert list(numbers) == order
    assert (offsets.dtype, codes.dtype) == (np.int64, np.int32)
    assert np.diff(offsets).tolist() == [len(row) for row in kept]
    assert [order[code] for code in codes] == [label for row in kept for label in row]


def test_room_grows_with_long_rows() -> None:
    """More labels than were expected of the rows, among them very many new ones."""
    rows = [range(100_000), [], range(99_999, -1, -1)]

    offsets, codes = number_labels(rows, {})

    assert offsets.tolist() == [0, 100_000, 100_000, 200_000]
    np.testing.assert_array_equal(codes, [*range(100_000), *reversed(range(100_000))])


def test_the_rows_may_be_none_at_all() -> None:
    """The offsets of no rows are one zero."""
    offsets, codes = number_labels([], {})

    assert (offsets.tolist(), codes.tolist()) == ([0], [])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1], None], "'NoneType' object is not iterable"),
        ([[1], 2], "'int' object is not iterable"),
        ([[1, {}]], "unhashable type: 'dict'"),
        (None, "rows"),
    ],
)
def test_what_is_no_row_of_labels_is_refused(rows: Any, message: str) -> None:
    """Python's own errors, which name the kind."""
    with pytest.raises(TypeError, match=message):
        number_labels(rows, {})


@pytest.mark.parametrize("change", [list.clear, lambda rows: rows.append([])])
def test_rows_that_change_meanwhile_are_refused(change: Any) -> None:
    """A row that changes the list of rows ends the reading, before anything is out of place."""

    def changing() -> Any:
        change(rows)
        yield 1

    rows: list[Any] = [changing(), [2]]

    with pytest.raises(RuntimeError, match="the rows changed while they were read"):
        number_labels(rows, {})


def test_an_error_in_a_row_comes_through() -> None:
    """What a row raises while it is iterated over is not swallowed."""

    def broken() -> Any:
        yield 1
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        number_labels([broken()], {})


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@given(data=st.data())
def test_integers_are_numbered_in_order(dtype: np.dtype[Any], data: st.DataObject) -> None:
    """As `numpy.unique` does it, at both ends of the type; not where the range is too wide."""
    info = np.iinfo(dtype)
    first = data.draw(st.sampled_from([info.min, 0, info.max - 100]))
    steps = data.draw(st.lists(st.integers(0, 100), min_size=1, max_size=60))
    values = np.array([first + step for step in steps], dtype)
    span = max(steps) - min(steps)

    codes, distinct = number_integers(values, span)

    expected, positions = np.unique(values, return_inverse=True)
    assert (codes.dtype, distinct.dtype) == (np.int32, np.uint64)
    assert codes.tolist() == positions.tolist()
    assert distinct.astype(dtype).tolist() == expected.tolist()
    assert span == 0 or number_integers(values, span - 1) is None


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_the_whole_range_of_a_type_is_too_wide(dtype: np.dtype[Any]) -> None:
    """The distance of the ends of 64 bits does not wrap around."""
    info = np.iinfo(dtype)
    ends = np.array([info.min, info.max], dtype)

    assert number_integers(ends, min(2**31 - 1, int(info.max) - int(info.min) - 1)) is None


def test_integers_that_change_meanwhile_are_no_reason_to_write_elsewhere() -> None:
    """What is read another time may be any number: its code is one of the others, or -1."""
    values = np.zeros(200_000, np.int64)
    values[0] = 1000
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            values[1:] = 2**62
            values[1:] = 0

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(100):
            numbered = number_integers(values, 1000)
            assert numbered is None or -1 <= numbered[0].min() <= numbered[0].max() < 2
    finally:
        stop.set()
        writer.join()
