"""Invalid, released and malformed structures of the Arrow C data interface are rejected."""

from __future__ import annotations

import ctypes
import errno
import os
from typing import Any

import numpy as np
import pytest

from onehot_fast.adapter import read_arrow as read
from support.arrow_producer import FILL, TEXTS, CSchema, new_capsule, packed, producer

__all__ = ["producer"]

DATA = np.arange(4, dtype=np.int32)
BITMAP = packed([1, 0, 1, 1])
METADATA = b"\x01\x00\x00\x00\x03\x00\x00\x00key\xff\xff\xff\xff"
FAR = 2**62

# Wrong fields of an int32 array of four rows, and the message.
WRONG_ARRAYS = [
    ({"release": None}, "is released"),
    ({"length": -1}, "got -1 and 0"),
    ({"offset": -1}, "got 4 and -1"),
    ({"length": 2**63 - 1, "offset": 1}, "together at most"),
    ({"length": 1, "offset": FAR}, "together at most"),
    ({"null_count": -2}, r"null_count must be in \[-1, 4\], got -2"),
    ({"null_count": 5}, "null_count must be .* got 5"),
    ({"n_buffers": -1}, "n_buffers must be 2, got -1"),
    ({"n_buffers": 3}, "n_buffers must be 2, got 3"),
    ({"buffers": None}, "buffers is NULL"),
    ({"n_children": -1}, "n_children must be 0, got -1"),
    ({"n_children": 1}, "n_children must be 0, got 1"),
]
# Wrong fields of a schema, and the message.
WRONG_SCHEMAS = [
    ({"release": None}, "schema is released"),
    ({"format": None}, "no format"),
    *(
        ({"format": format}, "an Arrow format must be a format string")
        for format in (b"", b"x", b"ii", b"+w:-3", b"+w:x", b"ts?:")
    ),
    ({"format": b"\xff"}, "format of an Arrow field is not UTF-8"),
    ({"name": b"\xff\xfe"}, "name of an Arrow field is not UTF-8"),
    ({"metadata": METADATA}, "a count in the metadata .* got -1"),
    ({"metadata": b"\xff\xff\xff\xff"}, "a count in the metadata .* got -1"),
    ({"n_children": -1}, "n_children must be 0, got -1"),
    ({"n_children": 1}, "n_children must be 0, got 1"),
    ({"format": b"+s", "n_children": 2}, "n_children is 2, but children is NULL"),
    ({"format": b"+s", "n_children": 2**40}, "got 1099511627776"),
    ({"format": b"+l"}, "n_children must be 1, got 0"),
    ({"format": b"+r"}, "n_children must be 2, got 0"),
    ({"format": b"+ud:0,1"}, "n_children must be 2, got 0"),
]
# A format, the number of children, wrong buffers of an array of one row, and the message.
WRONG_LAYOUTS = [
    *((format, 0, [None, None], "buffer 1 is NULL") for format in (b"i", b"b", b"w:4", b"tdD")),
    (b"d:9,2", 0, [None, None], "buffer 1 is NULL"),
    (b"u", 0, [None, None, None], "buffer 1 is NULL"),
    (b"u", 0, [None, TEXTS[0]], "n_buffers must be 3, got 2"),
    (b"vu", 0, [None, None, None], "buffer 1 is NULL"),
    (b"vu", 0, [None, DATA], "n_buffers must be at least 3, got 2"),
    (b"vz", 0, [None, DATA, DATA, None], "the data buffers. must not be NULL"),
    (b"+l", 1, [None, None], "buffer 1 is NULL"),
    (b"+vl", 1, [None, DATA, None], "buffer 2 is NULL"),
    (b"+us:0", 1, [None], "buffer 0 is NULL"),
    (b"+ud:0", 1, [DATA, None], "buffer 1 is NULL"),
    (b"+s", 1, [], "n_buffers must be 1, got 0"),
    (b"n", 0, [None], "n_buffers must be 0, got 1"),
]


def assert_rejected(capsules, message, error=ValueError):
    """Read; the caller keeps the capsules, whose destructors must not run during the error."""
    with pytest.raises(error, match=message):
        read(capsules)


@pytest.mark.parametrize(("fields", "message"), WRONG_ARRAYS)
def test_a_wrong_array_is_rejected(producer, fields, message):
    """The fields are checked before they are used, and a rejected array is released."""
    array = producer.array([BITMAP, DATA], **{"length": 4, "null_count": -1, **fields})

    assert_rejected(producer.pair(producer.schema(name=b"tail"), array), message)


@pytest.mark.parametrize(("fields", "message"), WRONG_SCHEMAS)
def test_a_wrong_schema_is_rejected(producer, fields, message):
    schema = producer.schema(**fields)

    assert_rejected(producer.pair(schema, producer.array([None, DATA], length=4)), message)


@pytest.mark.parametrize(("format", "n_children", "buffers", "message"), WRONG_LAYOUTS)
def test_a_wrong_layout_is_rejected(producer, format, n_children, buffers, message):
    schema = producer.schema(format, [producer.schema() for _ in range(n_children)])
    children = [producer.array([None, DATA], length=4) for _ in range(n_children)]
    array = producer.array(buffers, children, length=1)

    assert_rejected(producer.pair(schema, array), message)


@pytest.mark.parametrize(
    ("child", "message"),
    [
        (None, "is released"),
        ({"release": None}, "is released"),
        ({"length": 3}, "requires a length of at least 5, got 3"),
        ({"length": -3}, "got -3 and 0"),
        ({"n_buffers": 0}, "n_buffers must be 2, got 0"),
    ],
)
@pytest.mark.parametrize(("format", "rows"), [(b"+s", 4), (b"+us:0", 4), (b"+w:5", 0)])
def test_a_wrong_child_is_rejected(producer, format, rows, child, message):
    schema = producer.schema(format, [producer.schema(name=b"x")])
    made = child and producer.array([None, DATA], **{"length": 5, **child})
    buffers = {b"+s": [None], b"+us:0": [np.zeros(8, np.int8)], b"+w:5": [None]}[format]
    array = producer.array(buffers, [made], length=rows or 1, offset=1 if rows else 0)

    assert_rejected(producer.pair(schema, array), message)


@pytest.mark.parametrize(
    ("format", "offsets", "message"),
    [
        *((format, np.array([0, 2, end], dtype), message)
          for format, dtype in ((b"+l", np.int32), (b"+L", np.int64))
          for end, message in ((5, "at least 5, got"), (-1, "got -1"))),
        (b"+w:9999999999999999999", None, "at least 9223372036854775807"),
    ],
)  # fmt: skip
def test_lists_beyond_their_elements_are_rejected(producer, format, offsets, message):
    schema = producer.schema(format, [producer.schema(name=b"x")])
    buffers = [None] if offsets is None else [None, offsets]
    array = producer.array(buffers, [producer.array([None, DATA], length=4)], length=2)

    assert_rejected(producer.pair(schema, array), message)


@pytest.mark.parametrize(("in_schema", "in_array"), [(True, False), (False, True)])
def test_a_dictionary_must_be_in_the_schema_and_in_the_array(producer, in_schema, in_array):
    schema = producer.schema(dictionary=producer.schema(b"u") if in_schema else None)
    texts = producer.array([None, *TEXTS], length=3) if in_array else None
    array = producer.array([None, DATA], dictionary=texts, length=3)

    assert_rejected(producer.pair(schema, array), "dictionary, but its schema has")


@pytest.mark.parametrize("format", [b"u", b"g", b"b", b"n"])
def test_indices_must_be_integers(producer, format):
    schema = producer.schema(format, dictionary=producer.schema(b"u"))

    assert_rejected(producer.pair(schema, producer.array()), "must be integers")


def test_nesting_is_limited(producer):
    schema = producer.schema(b"+l", [producer.schema()])
    schema.children[0] = ctypes.pointer(schema)

    assert_rejected(producer.pair(schema, producer.array()), "at most 64 levels")


@pytest.mark.parametrize("name", [b"arrow_array", b"dltensor", None])
def test_a_capsule_of_another_name_is_rejected(producer, name):
    structure = CSchema()
    capsule = new_capsule(ctypes.addressof(structure), name, None)
    got = "got a capsule " + ("without a name" if name is None else repr(name.decode()))

    assert_rejected((capsule, capsule), f"'arrow_schema', {got}", TypeError)
    assert_rejected(capsule, f"'arrow_array_stream', {got}", TypeError)


@pytest.mark.parametrize("source", [None, 3, [1, 2], "text", np.arange(3)])
def test_an_object_without_the_interface_is_rejected(source):
    with pytest.raises(TypeError, match="with __arrow_c_array__ or __arrow_c_stream__"):
        read(source)


@pytest.mark.parametrize("answer", [None, (), (1,), (1, 2), (1, 2, 3), "ab"])
def test_a_wrong_answer_is_rejected(answer):
    class Source:
        def __arrow_c_array__(self):
            return answer

    with pytest.raises(TypeError, match=r"expected (an|the) Arrow capsule"):
        read(Source())


# Outside the test, because Python 3.13 without a GIL never frees what a class refers to.
class Pair(tuple[object, object]):
    chunk: Any

    def __iter__(self):
        return (self[position] for position in range(2))

    def __getitem__(self, position):
        return self.chunk.__arrow_c_array__()[position]


def test_a_pair_may_create_its_capsules_on_access(producer):
    """The reader keeps the capsules alive, because the pair does not."""
    pair = Pair((None, None))
    (pair.chunk,) = read(producer.integers([1, 2]))

    chunks = [array for _ in range(100) for array in read(pair)]

    assert [array.codes().tolist() for array in chunks] == [[1, 2]] * 100


def test_constructors_raise_an_error(producer):
    stream = read(producer.integers([1, 2]))
    for kind in (type(stream), type(next(stream)), type(stream.schema)):
        for make in (kind, lambda kind=kind: kind.__new__(kind)):
            with pytest.raises(TypeError, match="cannot be created directly"):
                make()


# ---- Streams ----


def test_a_capsule_is_read_once(producer):
    pair = producer.integers([1, 2])
    stream = producer.stream(producer.schema(), [])
    read(pair)
    read(stream)

    assert_rejected(pair, "is released: it was imported before")
    assert_rejected(stream, "is released: it was imported before")


@pytest.mark.parametrize("field", ["get_schema", "get_next"])
def test_a_stream_without_its_callbacks_is_rejected(producer, field):
    unused = producer.schema(release=None)

    assert_rejected(producer.stream(unused, [], **{field: None}), "lacks get_schema or get_next")


@pytest.mark.parametrize("text", [None, b"the disk is gone", b"\xffbad"])
@pytest.mark.parametrize("number", [errno.EIO, errno.EINVAL, errno.ENOMEM])
def test_an_error_of_the_producer_is_raised(producer, number, text):
    """The error has the producer's number and text, by default the system's; the stream ends."""
    arrays = [producer.array([None, DATA], length=4), number]
    stream = read(producer.stream(producer.schema(), arrays, text))
    message = os.strerror(number) if text is None else text.decode("utf-8", "replace")

    assert next(stream).codes().tolist() == DATA.tolist()
    with pytest.raises(OSError, match=message) as caught:
        next(stream)
    assert caught.value.errno == number
    assert list(stream) == []


def test_an_error_of_the_schema_is_raised(producer):
    failing = producer.address(FILL(lambda _stream, _to: errno.ENOENT))
    unused = producer.schema(release=None)

    assert_rejected(
        producer.stream(unused, [], b"no such table", get_schema=failing),
        "no such table",
        FileNotFoundError,
    )


def test_a_wrong_chunk_ends_the_stream(producer):
    """A malformed chunk is rejected and released; those before it are valid."""
    good = producer.array([None, DATA], length=4)
    bad = producer.array([None, DATA], length=-4)
    stream = read(producer.stream(producer.schema(), [good, bad]))

    assert len(next(stream)) == 4
    with pytest.raises(ValueError, match="got -4 and 0"):
        next(stream)
    assert list(stream) == []
