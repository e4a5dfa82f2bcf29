"""Foreign, released and malformed structures of the Arrow C data interface are refused."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from arrow_producer import FILL, TEXTS, CSchema, new_capsule, packed, producer

from onehot_fast._arrow.reader import Array, ArrowField, Stream, read

__all__ = ["producer"]

DATA = np.arange(4, dtype=np.int32)
BITMAP = packed([1, 0, 1, 1])
METADATA = b"\x01\x00\x00\x00\x03\x00\x00\x00key\xff\xff\xff\xff"
FAR = 2**62

# The fields of an int32 array of four rows that are wrong, and what is said.
WRONG_ARRAYS = [
    ({"release": None}, "is released"),
    ({"length": -1}, "has length -1"),
    ({"offset": -1}, "offset -1"),
    ({"length": 2**63 - 1, "offset": 1}, "together at most"),
    ({"length": 1, "offset": FAR}, "together at most"),
    ({"null_count": -2}, "has null_count -2"),
    ({"null_count": 5}, "has null_count 5"),
    ({"n_buffers": -1}, "has -1 buffers; accepted is 2"),
    ({"n_buffers": 1}, "has 1 buffers; accepted is 2"),
    ({"n_buffers": 3}, "has 3 buffers; accepted is 2"),
    ({"buffers": None}, "has no buffers"),
    ({"n_children": -1}, "has -1 children; its schema has 0"),
    ({"n_children": 1}, "has 1 children; its schema has 0"),
]
# The fields of a schema that are wrong.
WRONG_SCHEMAS = [
    ({"release": None}, ValueError, "schema is released"),
    ({"format": None}, ValueError, "no format"),
    ({"format": b""}, ValueError, "format '' is not one"),
    ({"format": b"x"}, ValueError, "format 'x' is not one"),
    ({"format": b"ii"}, ValueError, "format 'ii' is not one"),
    ({"format": b"+w:-3"}, ValueError, "is not one"),
    ({"format": b"+w:x"}, ValueError, "is not one"),
    ({"format": b"ts?:"}, ValueError, "is not one"),
    ({"format": b"\xff"}, ValueError, "format of an Arrow field is not UTF-8"),
    ({"name": b"\xff\xfe"}, ValueError, "name of an Arrow field is not UTF-8"),
    ({"metadata": METADATA}, ValueError, "count of -1"),
    ({"metadata": b"\xff\xff\xff\xff"}, ValueError, "count of -1"),
    ({"n_children": -1}, ValueError, "n_children = -1"),
    ({"n_children": 1}, ValueError, "n_children = 1; accepted is 0"),
    ({"format": b"+s", "n_children": 2}, ValueError, "has no children, and n_children = 2"),
    ({"format": b"+s", "n_children": 2**40}, ValueError, "n_children = 1099511627776"),
    ({"format": b"+l"}, ValueError, "n_children = 0; accepted is 1"),
    ({"format": b"+r"}, ValueError, "n_children = 0; accepted is 2"),
    ({"format": b"+ud:0,1"}, ValueError, "n_children = 0; accepted is 2"),
]
# Layouts that are not so: a format, how many children, the buffers of an array of one row.
WRONG_LAYOUTS = [
    (b"i", 0, [None, None], "buffer 1 is missing"),
    (b"b", 0, [None, None], "buffer 1 is missing"),
    (b"u", 0, [None, None, None], "buffer 1 is missing"),
    (b"u", 0, [None, TEXTS[0]], "2 buffers; accepted is 3"),
    (b"vu", 0, [None, None, None], "buffer 1 is missing"),
    (b"vu", 0, [None, DATA], "2 buffers; accepted is 3 or more"),
    (b"vz", 0, [None, DATA, DATA, None], "lacks the lengths"),
    (b"+l", 1, [None, None], "buffer 1 is missing"),
    (b"+vl", 1, [None, DATA, None], "buffer 2 is missing"),
    (b"+us:0", 1, [None], "buffer 0 is missing"),
    (b"+ud:0", 1, [DATA, None], "buffer 1 is missing"),
    (b"+s", 1, [], "0 buffers; accepted is 1"),
    (b"n", 0, [None], "1 buffers; accepted is 0"),
    (b"w:4", 0, [None, None], "buffer 1 is missing"),
    (b"tdD", 0, [None, None], "buffer 1 is missing"),
    (b"d:9,2", 0, [None, None], "buffer 1 is missing"),
]


def assert_refused(capsules: Any, message: str, error: type[Exception] = ValueError) -> None:
    """Read; the capsules are kept, as their destructors must not run while the error is told."""
    with pytest.raises(error, match=message):
        read(capsules)


@pytest.mark.parametrize(("fields", "message"), WRONG_ARRAYS)
def test_a_wrong_array_is_refused(producer, fields, message):
    """What a producer says is checked before it is believed; what is refused is released."""
    array = producer.array([BITMAP, DATA], **{"length": 4, "null_count": -1, **fields})

    assert_refused(producer.pair(producer.schema(name=b"tail"), array), message)


@pytest.mark.parametrize(("fields", "error", "message"), WRONG_SCHEMAS)
def test_a_wrong_schema_is_refused(producer, fields, error, message):
    schema = producer.schema(**fields)

    assert_refused(producer.pair(schema, producer.array([None, DATA], length=4)), message, error)


@pytest.mark.parametrize(("format", "n_children", "buffers", "message"), WRONG_LAYOUTS)
def test_a_layout_lacks_nothing(producer, format, n_children, buffers, message):
    schema = producer.schema(format, [producer.schema() for _ in range(n_children)])
    children = [producer.array([None, DATA], length=4) for _ in range(n_children)]
    array = producer.array(buffers, children, length=1)

    assert_refused(producer.pair(schema, array), message)


@pytest.mark.parametrize(
    ("child", "message"),
    [
        (None, "is released"),
        ({"release": None}, "is released"),
        ({"length": 3}, "has length 3; its parent needs 5 rows"),
        ({"length": -3}, "has length -3"),
        ({"n_buffers": 0}, "has 0 buffers"),
    ],
)
@pytest.mark.parametrize(("format", "rows"), [(b"+s", 4), (b"+us:0", 4), (b"+w:5", 0)])
def test_a_wrong_child_is_refused(producer, format, rows, child, message):
    schema = producer.schema(format, [producer.schema(name=b"x")])
    made = child and producer.array([None, DATA], **{"length": 5, **child})
    buffers = {b"+s": [None], b"+us:0": [np.zeros(8, np.int8)], b"+w:5": [None]}[format]
    array = producer.array(buffers, [made], length=rows or 1, offset=1 if rows else 0)

    assert_refused(producer.pair(schema, array), message)


@pytest.mark.parametrize("format", [b"+l", b"+L"])
@pytest.mark.parametrize(("end", "message"), [(5, "needs 5 rows"), (-1, "has an offset of -1")])
def test_lists_beyond_their_elements_are_refused(producer, format, end, message):
    """Their last offset is all that one can compare without reading them."""
    schema = producer.schema(format, [producer.schema(name=b"x")])
    offsets = np.array([0, 2, end], np.int64 if format == b"+L" else np.int32)
    array = producer.array([None, offsets], [producer.array([None, DATA], length=4)], length=2)

    assert_refused(producer.pair(schema, array), message)


def test_a_fixed_size_beyond_all_numbers_is_refused(producer):
    schema = producer.schema(b"+w:9999999999999999999", [producer.schema(name=b"x")])
    array = producer.array([None], [producer.array([None, DATA], length=4)], length=2)

    assert_refused(producer.pair(schema, array), "its parent needs 9223372036854775807 rows")


@pytest.mark.parametrize(("in_schema", "in_array"), [(True, False), (False, True)])
def test_a_dictionary_is_in_both_or_in_none(producer, in_schema, in_array):
    schema = producer.schema(dictionary=producer.schema(b"u") if in_schema else None)
    texts = producer.array([None, *TEXTS], length=3) if in_array else None
    array = producer.array([None, DATA], dictionary=texts, length=3)

    assert_refused(producer.pair(schema, array), r"dictionary; its schema has")


@pytest.mark.parametrize("format", [b"u", b"g", b"b", b"n"])
def test_indices_are_integers(producer, format):
    schema = producer.schema(format, dictionary=producer.schema(b"u"))

    assert_refused(producer.pair(schema, producer.array()), "accepted are integers")


def test_nesting_has_an_end(producer):
    schema = producer.schema(b"+l", [producer.schema()])
    schema.children[0] = ctypes.pointer(schema)

    assert_refused(producer.pair(schema, producer.array()), "deeper than 64 levels")


@pytest.mark.parametrize("name", [b"arrow_array", b"dltensor", None])
def test_a_capsule_of_another_name_is_refused(producer, name):
    structure = CSchema()
    capsule = new_capsule(ctypes.addressof(structure), name, None)
    came = "without a name" if name is None else repr(name.decode())

    expected = f"a capsule {came} came where .* 'arrow_"
    assert_refused((capsule, capsule), f"{expected}schema'", TypeError)
    assert_refused(capsule, f"{expected}array_stream'", TypeError)


@pytest.mark.parametrize("source", [None, 3, [1, 2], "text", np.arange(3)])
def test_an_object_without_the_interface_is_refused(source):
    with pytest.raises(TypeError, match="neither __arrow_c_array__ nor __arrow_c_stream__"):
        read(source)


@pytest.mark.parametrize("answer", [None, (), (1,), (1, 2), (1, 2, 3), "ab"])
def test_a_wrong_answer_is_refused(answer):
    class Source:
        def __arrow_c_array__(self) -> object:
            return answer

    with pytest.raises(TypeError, match="came where"):
        read(Source())


# Not within the test: Python 3.13 without a GIL keeps for ever what a class refers to.
class Pair(tuple[object, object]):
    chunk: Array

    def __iter__(self) -> Iterator[object]:
        return (self[position] for position in range(2))

    def __getitem__(self, position: Any) -> Any:
        return self.chunk.__arrow_c_array__()[position]


def test_a_pair_that_makes_its_capsules_when_asked(producer):
    """They are held as long as they are read, though the pair does not hold them."""
    pair = Pair((None, None))
    (pair.chunk,) = read(producer.integers([1, 2]))

    chunks = [array for _ in range(100) for array in read(pair)]

    assert [array.codes().tolist() for array in chunks] == [[1, 2]] * 100


@pytest.mark.parametrize("kind", [Array, ArrowField, Stream])
def test_nothing_is_made_by_hand(kind):
    with pytest.raises(TypeError, match="is made by reading"):
        kind()
    with pytest.raises(TypeError, match="is made by reading"):
        kind.__new__(kind)


# ---- Streams ----


def test_a_capsule_is_read_once(producer):
    pair = producer.integers([1, 2])
    stream = producer.stream(producer.schema(), [])
    read(pair)
    read(stream)

    assert_refused(pair, "is released: it was imported before")
    assert_refused(stream, "is released: it was imported before")


@pytest.mark.parametrize("field", ["get_schema", "get_next"])
def test_a_stream_without_its_callbacks_is_refused(producer, field):
    unused = producer.schema(release=None)

    assert_refused(producer.stream(unused, [], **{field: None}), "lacks get_schema or get_next")


@pytest.mark.parametrize("text", [None, b"the disk is gone", b"\xffbad"])
@pytest.mark.parametrize("number", [errno.EIO, errno.EINVAL, errno.ENOMEM])
def test_an_error_of_the_producer_is_told(producer, number, text):
    """The producer's number and text, or the system's where it has none; the stream ends."""
    arrays = [producer.array([None, DATA], length=4), number]
    stream = read(producer.stream(producer.schema(), arrays, text))
    told = os.strerror(number) if text is None else text.decode("utf-8", "replace")

    assert next(stream).codes().tolist() == DATA.tolist()
    with pytest.raises(OSError, match=told) as caught:
        next(stream)
    assert caught.value.errno == number
    assert list(stream) == []


def test_an_error_of_the_schema_is_told(producer):
    failing = producer.address(FILL(lambda _stream, _to: errno.ENOENT))
    unused = producer.schema(release=None)

    assert_refused(
        producer.stream(unused, [], b"no such table", get_schema=failing),
        "no such table",
        FileNotFoundError,
    )


def test_a_wrong_chunk_ends_the_stream(producer):
    """A malformed chunk is refused and released; those before it are good."""
    good = producer.array([None, DATA], length=4)
    bad = producer.array([None, DATA], length=-4)
    stream = read(producer.stream(producer.schema(), [good, bad]))

    assert len(next(stream)) == 4
    with pytest.raises(ValueError, match="length -4"):
        next(stream)
    assert list(stream) == []
