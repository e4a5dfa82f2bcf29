"""A producer of the Arrow C data interface in ctypes: any structure, right or wrong, counted."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Iterator, Sequence
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from typing import Any, TypeVar

import numpy as np
import pytest

INTEGERS = dict(zip("cCsSiIlL", "bBhHiIqQ", strict=True))
TEXTS = (np.array([0, 1, 2, 3], np.int32), np.frombuffer(b"abc", np.uint8))

S = TypeVar("S", "CSchema", "CArray", "CStream")

RELEASE = ctypes.CFUNCTYPE(None, c_void_p)
FILL = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
TELL = ctypes.CFUNCTYPE(c_void_p, c_void_p)
# PYFUNCTYPE and a plain address: a py_object would bring the dying capsule back to life.
DESTROY = ctypes.PYFUNCTYPE(None, c_void_p)

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]
get_pointer = ("PyCapsule_GetPointer", ctypes.pythonapi)
pointer_in = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, c_char_p)(get_pointer)
pointer_in_dying = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(get_pointer)


class CSchema(Structure):
    """``struct ArrowSchema``."""


class CArray(Structure):
    """``struct ArrowArray``."""


class CStream(Structure):
    """``struct ArrowArrayStream``."""

    _fields_ = tuple(
        (name, c_void_p)
        for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")
    )


def common_fields(kind):
    """Return the fields with which both structures of data end."""
    return [
        ("children", POINTER(POINTER(kind))), ("dictionary", POINTER(kind)),
        ("release", c_void_p), ("private_data", c_void_p),
    ]  # fmt: skip


CSchema._fields_ = [
    *((name, c_char_p) for name in ("format", "name", "metadata")),
    *((name, c_int64) for name in ("flags", "n_children")),
    *common_fields(CSchema),
]
CArray._fields_ = [
    *((n, c_int64) for n in ("length", "null_count", "offset", "n_buffers", "n_children")),
    ("buffers", POINTER(c_void_p)),
    *common_fields(CArray),
]


class Producer:
    """Makes structures and counts their releases; all memory lives as long as the producer."""

    def __init__(self) -> None:
        self.n_made = 0
        self.n_released = 0
        self.keep: list[Any] = []

    def schema(self, format=b"i", children=(), dictionary=None, **fields):
        """Make a type; ``fields`` set what would be set otherwise."""
        made = CSchema(format=format, release=self.releaser(CSchema, [*children, dictionary]))
        self.below(made, CSchema, children, dictionary)
        return self.done(made, fields)

    def array(self, parts=(), children=(), dictionary=None, **fields):
        """Make an array of ndarrays and None; ``fields`` set what would be set otherwise."""
        addresses = [None if part is None else part.ctypes.data for part in parts]
        pointers = (c_void_p * len(addresses))(*addresses)
        self.keep += [pointers, parts]
        release = self.releaser(CArray, [*children, dictionary])
        made = CArray(release=release, n_buffers=len(addresses))
        made.buffers = ctypes.cast(pointers, POINTER(c_void_p))
        self.below(made, CArray, children, dictionary)
        return self.done(made, fields)

    def below(self, made, kind, children, dictionary):
        """Hang children and a dictionary below a structure."""
        pointers = [
            POINTER(kind)() if child is None else ctypes.pointer(child) for child in children
        ]
        block = (POINTER(kind) * len(pointers))(*pointers)
        made.n_children = len(pointers)
        made.children = ctypes.cast(block, POINTER(POINTER(kind))) if pointers else None
        made.dictionary = None if dictionary is None else ctypes.pointer(dictionary)
        self.keep += [block, list(children), dictionary]

    def done(self, made: S, fields: dict[str, Any]) -> S:
        """Set the fields that are asked for; a structure without ``release`` is not counted."""
        for name, value in fields.items():
            setattr(made, name, value)
        self.n_made += made.release is not None
        self.keep.append(made)
        return made

    def releaser(self, kind: Any, below: Sequence[Any] = ()) -> int | None:
        """Return the address of a release callback, which releases all below too."""

        def release(address: int) -> None:
            self.n_released += 1
            kind.from_address(address).release = None
            for child in below:
                if child is not None and child.release:
                    RELEASE(child.release)(ctypes.addressof(child))

        return self.address(RELEASE(release))

    def address(self, function: Any) -> int | None:
        """Return the address of a callback, and keep it."""
        self.keep.append(function)
        return ctypes.cast(function, c_void_p).value

    def capsule(self, structure: Structure, name: bytes) -> object:
        """Put a structure into a capsule that releases it in the end, unless it was moved out.

        Its destructor is Python, which must not run while an error is on its way: keep the capsule
        in a variable where an error is expected.
        """

        def destroy(capsule: int) -> None:
            held = type(structure).from_address(pointer_in_dying(capsule, name))
            if held.release:
                RELEASE(held.release)(ctypes.addressof(held))

        self.keep += [structure, name]
        return new_capsule(ctypes.addressof(structure), name, self.address(DESTROY(destroy)))

    def pair(self, schema: CSchema, array: CArray) -> tuple[object, object]:
        return self.capsule(schema, b"arrow_schema"), self.capsule(array, b"arrow_array")

    def stream(self, schema, arrays, text=None, **fields):
        """Return the capsule of a stream of arrays and, for its end, errors."""
        waiting = iter(arrays)

        def move(structure: Structure, to: int) -> int:
            ctypes.memmove(to, ctypes.addressof(structure), ctypes.sizeof(structure))
            structure.release = None
            return 0

        def get_next(_: int, to: int) -> int:
            following = next(waiting, None)
            if following is None:
                return 0
            return following if isinstance(following, int) else move(following, to)

        made = CStream(release=self.releaser(CStream))
        made.get_schema = self.address(FILL(lambda _, to: move(schema, to)))
        made.get_next = self.address(FILL(get_next))
        told = None if text is None else ctypes.create_string_buffer(text)
        self.keep.append(told)
        where = None if told is None else ctypes.addressof(told)
        made.get_last_error = self.address(TELL(lambda _: where))
        return self.capsule(self.done(made, fields), b"arrow_array_stream")

    def integers(self, values: Any, **fields: Any) -> tuple[object, object]:
        data = np.asarray(values, np.int32)
        return self.pair(self.schema(), self.array([None, data], length=len(data), **fields))


def packed(valid: Any, begin: int = 0) -> np.ndarray:
    """Return a validity bitmap whose first row is bit ``begin``."""
    return np.packbits(np.r_[np.zeros(begin, bool), valid], bitorder="little")


def dictionary_pair(producer, codes, format="i", n_texts=3, valid=None):
    """Return the capsules of texts by their index."""
    data = np.asarray(codes, INTEGERS[format])
    schema = producer.schema(format.encode(), dictionary=producer.schema(b"u"))
    texts = producer.array([None, *TEXTS], length=n_texts)
    bitmap = None if valid is None else packed(valid)
    null_count = 0 if valid is None else -1
    array = producer.array(
        [bitmap, data], dictionary=texts, length=len(data), null_count=null_count
    )
    return producer.pair(schema, array)


@pytest.fixture
def producer() -> Iterator[Producer]:
    """Make a producer, and hold at the end that all it made was released, once each."""
    made = Producer()
    yield made
    for _ in range(3000):
        gc.collect()
        if made.n_released == made.n_made:
            break
        time.sleep(0.01)  # without a GIL, another thread may still have to let go
    assert made.n_released == made.n_made
