"""Strings against lists of str and bytes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from dictionary_values import ALPHABETS, texts_of
from hypothesis import given, settings
from hypothesis import strategies as st

from onehot_fast._categories.strings import Strings

any_text = st.one_of(
    *map(texts_of, ALPHABETS), st.text(st.characters(exclude_categories=()), max_size=20)
)
lists = st.one_of(st.lists(any_text, max_size=60), st.lists(st.binary(max_size=20), max_size=60))


@given(lists)
@settings(max_examples=150, deadline=None)
def test_objects_come_back(rows: list[Any]) -> None:
    """As a list, an array of objects, one by one and pickled; lone surrogates too."""
    strings = Strings.from_objects(rows)
    assert strings.tolist() == list(strings) == rows
    assert strings.to_object().tolist() == rows
    assert [strings[i] for i in range(-len(rows), 0)] == rows
    restored = pickle.loads(pickle.dumps(strings))
    assert restored == strings
    assert restored.tolist() == rows


@given(lists, st.randoms())
@settings(max_examples=150, deadline=None)
def test_argsort_is_the_order_of_python(rows: list[Any], random: Any) -> None:
    """Stable, by code points, however alike the beginnings are."""
    rows = rows * 3
    random.shuffle(rows)
    order = Strings.from_objects(rows).argsort()
    assert order.tolist() == sorted(range(len(rows)), key=rows.__getitem__)


@pytest.mark.parametrize("front", [0, 7, 8, 9, 5000])
def test_argsort_of_many_that_begin_alike(front: int) -> None:
    """Sorted by what is behind what all have in common; zeros and ends are told apart."""
    random = np.random.default_rng(front)
    ends = [
        "",
        "\0",
        "\0\0",
        *("\0" * int(n) + chr(int(c)) for n, c in random.integers(0, 20, (400, 2))),
    ]
    rows = ["é" * front + end for end in ends] * 2
    order = Strings.from_objects(rows).argsort()
    assert order.tolist() == sorted(range(len(rows)), key=rows.__getitem__)


@given(lists, st.data())
@settings(max_examples=100, deadline=None)
def test_array_operations(rows: list[Any], data: st.DataObject) -> None:
    """Choosing and equality are those of lists."""
    strings = Strings.from_objects(rows)
    positions = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=50)) if rows else []
    chosen = strings.take(np.array(positions, np.int64))
    assert chosen.tolist() == [rows[i] for i in positions]
    assert strings == Strings.from_objects(rows)
    assert strings.equals(strings)
    assert (strings == chosen) == (rows == chosen.tolist())


def test_offsets_from_anywhere() -> None:
    """The first text need not begin where the data begin."""
    strings = Strings(np.array([2, 4, 4, 5]), np.frombuffer(b"xxabcyy", np.uint8), True)
    assert strings.tolist() == ["ab", "", "c"]
    assert strings == Strings.from_objects(["ab", "", "c"])
    assert strings.take([2, 0]).tolist() == ["c", "ab"]


def test_strings_are_immutable() -> None:
    """Neither by what they were made of, nor by what they show."""
    data = np.frombuffer(b"ab", np.uint8).copy()
    strings = Strings([0, 1, 2], data, False)
    data[0] = 0
    assert strings.tolist() == [b"a", b"b"]
    for array in (strings.data, strings.offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        hash(strings)


@pytest.mark.parametrize("offsets", [[], [0, 2, 1], [-1, 1], [0, 4], [[0, 1]]])
def test_wrong_offsets_are_refused(offsets: Any) -> None:
    """Whoever unpickles something malformed gets an error."""
    with pytest.raises(ValueError, match="offsets"):
        Strings(np.array(offsets, np.int64), np.zeros(3, np.uint8), True)


def test_wrong_values_and_positions() -> None:
    """Each error says what came."""
    with pytest.raises(TypeError, match="value 1 is an int"):
        Strings.from_objects(["a", 1])
    with pytest.raises(TypeError, match="value 1 is a bytes"):
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
