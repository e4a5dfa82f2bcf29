"""An imported Arrow array is kept alive by its users, and released once."""

from __future__ import annotations

import ctypes
import gc
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from onehot_fast.adapter import read_arrow as read
from support.arrow_producer import (
    FILL,
    RELEASE,
    TEXTS,
    CArray,
    CSchema,
    dictionary_pair,
    pointer_in,
    producer,
)
from support.programs import HANG

__all__ = ["producer"]


def chunk_of(producer):
    """Return a struct of texts by their index, nested once more, and with nulls above."""
    texts = producer.array([None, *TEXTS], length=2)
    codes = np.arange(64, dtype=np.int8) % 2
    column = producer.array([None, codes], dictionary=texts, length=64)
    inner = producer.array([None], [column], length=64)
    outer = producer.array([codes.copy()], [inner], length=32, null_count=-1)
    schema = producer.schema(b"c", dictionary=producer.schema(b"u"))
    pair = producer.pair(producer.schema(b"+s", [producer.schema(b"+s", [schema])]), outer)
    return next(read(pair))


def moved(capsule, name, kind):
    """Move a structure out of its capsule, as a library that imports it does."""
    held = kind.from_address(pointer_in(capsule, name))
    copy = kind()
    ctypes.memmove(ctypes.addressof(copy), ctypes.addressof(held), ctypes.sizeof(kind))
    held.release = None
    return copy


def released(structure):
    """Release a structure, and tell whether it says so."""
    RELEASE(structure.release)(ctypes.addressof(structure))
    return structure.release is None


def columns(array):
    """Return the column at the bottom of `chunk_of`, and its dictionary."""
    column = array.child(0).child(0)
    assert column.dictionary is not None
    return column, column.dictionary


# Each takes a chunk, and gives what is kept of it: that alone must keep the memory.
KEPT: dict[str, Callable[[Any], Any]] = {
    "the array": lambda array: array,
    "a column": lambda array: columns(array)[0],
    "the dictionary": lambda array: columns(array)[1],
    "capsules of it": lambda array: array.__arrow_c_array__(),
    "capsules of a column": lambda array: columns(array)[0].__arrow_c_array__(),
    "capsules of the dictionary": lambda array: columns(array)[1].__arrow_c_array__(),
}


def array_part(producer):
    """Return how many arrays were released so far: a chunk has four, its schema is gone at once."""
    return producer.n_released - 4


@pytest.mark.parametrize("keep", KEPT.values(), ids=KEPT)
def test_every_user_keeps_the_memory(producer, keep):
    """The schema is released after reading, the array with its last user."""
    array = chunk_of(producer)
    kept = keep(array)
    del array
    gc.collect()
    assert array_part(producer) == 0

    del kept
    gc.collect()
    assert array_part(producer) == 4


def test_a_view_of_the_codes_keeps_the_memory(producer):
    view = next(read(producer.integers(range(100)))).codes()[10:][::2]
    gc.collect()
    assert (producer.n_released, view[3]) == (1, 16)

    del view
    assert producer.n_released == 2


def end(producer, held, number):
    """Give one of those back that are held; return how many arrays were released so far."""
    part = held.pop(number)
    if isinstance(part, CArray):
        assert released(part)
    del part
    return array_part(producer)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]])
def test_users_may_be_released_in_any_order(producer, order):
    array = chunk_of(producer)
    column = columns(array)[0].__arrow_c_array__()[1]
    whole = moved(array.__arrow_c_array__()[1], b"arrow_array", CArray)
    held = {0: array, 1: whole, 2: moved(column, b"arrow_array", CArray)}
    del array

    assert [end(producer, held, number) for number in order] == [0, 0, 4]


def test_a_child_may_be_moved_out(producer):
    imported = moved(chunk_of(producer).__arrow_c_array__()[1], b"arrow_array", CArray)
    child = CArray()
    source = imported.children[0].contents
    ctypes.memmove(ctypes.addressof(child), ctypes.addressof(source), ctypes.sizeof(CArray))
    source.release = None

    assert released(imported)
    assert (array_part(producer), child.length, child.n_children) == (0, 64, 1)
    assert child.children[0].contents.dictionary.contents.length == 2
    assert released(child)
    assert array_part(producer) == 4


def test_an_exported_schema_is_independent(producer):
    """An exported type has its own memory, even if a child is moved out of it."""
    metadata = np.array([1, 3], np.int32).tobytes() + b"key" + np.int32(2).tobytes() + b"\x00v"
    below = producer.schema(b"c", dictionary=producer.schema(b"u"), name=b"x", flags=3)
    made = producer.schema(b"+s", [below], metadata=metadata)
    empty = producer.array([None] * 2, dictionary=producer.array([None] * 3))
    schema = next(read(producer.pair(made, producer.array([None], [empty])))).schema
    capsule = schema.__arrow_c_schema__()
    assert schema.packed_metadata == metadata
    del schema
    copy = moved(capsule, b"arrow_schema", CSchema)
    child = copy.children[0].contents

    assert (copy.format, child.format, child.name, child.flags) == (b"+s", b"c", b"x", 3)
    assert child.dictionary.contents.format == b"u"
    assert released(copy)


def test_every_export_is_a_new_capsule_for_one_import(producer):
    """An Array can be read like the array of any library."""
    array = chunk_of(producer)
    pair = array.__arrow_c_array__()
    again = next(read(pair))

    assert columns(again)[0].codes().tolist() == columns(array)[0].codes().tolist()
    with pytest.raises(ValueError, match="is released"):
        read(pair)
    assert len(next(read(array))) == 32


def test_a_stream_does_not_keep_its_chunks(producer):
    """A chunk is released with its last user, and the stream at its end."""
    data = np.arange(4, dtype=np.int32)
    arrays = [producer.array([None, data], length=4) for _ in range(3)]
    stream = read(producer.stream(producer.schema(), arrays))

    assert [producer.n_released for _ in stream] == [1, 2, 3]
    assert producer.n_released == 5


def test_an_unfinished_stream_is_released(producer):
    arrays = [producer.array([None, np.zeros(4, np.int32)], length=4, release=None)]
    stream = read(producer.stream(producer.schema(), arrays))
    assert producer.n_released == 1

    del stream
    assert producer.n_released == 2


def test_a_stream_is_read_by_one_thread(producer):
    """A second thread gets an error while the first one waits for its chunk."""
    array = producer.array([None, np.zeros(4, np.int32)], length=4)
    asked, go_on = threading.Event(), threading.Event()

    def get_next(_, to):
        asked.set()
        assert go_on.wait(HANG)
        ctypes.memmove(to, ctypes.addressof(array), ctypes.sizeof(array))
        array.release = None
        return 0

    slow = producer.address(FILL(get_next))
    stream = read(producer.stream(producer.schema(), [], get_next=slow))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(next, stream)
        assert asked.wait(HANG)
        with pytest.raises(RuntimeError, match="another thread is already reading"):
            next(stream)
        go_on.set()
        assert len(first.result()) == 4


def test_threads_share_one_array(producer):
    array = chunk_of(producer)

    def use(number):
        column, texts = columns(array)
        copy = moved(column.__arrow_c_array__()[1], b"arrow_array", CArray)
        texts.__arrow_c_array__()
        n = int(column.codes().sum())
        return n if released(copy) else -number

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(use, range(400)))

    assert len(found) == 1
    assert array_part(producer) == 0


@pytest.mark.parametrize("made", ["array", "schema", "stream"])
def test_arrays_cannot_be_pickled(producer, made):
    stream = read(producer.integers([1, 2]))
    schema, array = stream.schema, next(stream)
    kind = {"array": array, "schema": schema, "stream": stream}[made]

    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(kind)


def test_equal_identities_are_equal_values(producer):
    """The same dictionary in two chunks has one identity; another slice or type has another."""
    first = next(read(dictionary_pair(producer, [0, 1])))
    second = next(read(dictionary_pair(producer, [1, 2], n_texts=2)))
    third = next(read(first.__arrow_c_array__()))
    texts = [array.dictionary for array in (first, second, third)]

    assert texts[0].identity == first.dictionary.identity == texts[2].identity
    assert texts[0].identity != texts[1].identity
    assert first.identity != second.identity
    assert hash(first.identity) == hash(third.identity)
