"""Rows of labels become offsets and numbers; a label is hashed and a row iterated over once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast._categories.numbering import number_labels

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
