"""Arrow producers with invalid fields: they raise an error or are read, and are released once.

A reader cannot check the length of buffers: here they are longer than every length it accepts.
"""

from __future__ import annotations

import gc
import importlib.util
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from onehot_fast import Encoder, multi_hot
from onehot_fast._arrow.array import read
from support.arrow_producer import Producer
from torture import pick

ROOM = 4096  # rows that every buffer has
MOST = 64  # rows that a length may say
NUMBERS = (-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 7, 8, 63, 64, 2**62, 2**63 - 1)
# pyarrow raises OverflowError for dates that Python cannot represent.
ERRORS = (ValueError, TypeError, OSError, RuntimeError, MemoryError, OverflowError)
WIDTHS = {"c": 1, "C": 1, "s": 2, "S": 2, "i": 4, "I": 4, "l": 8, "L": 8, "f": 4, "g": 8, "e": 2}
WIDTHS |= {"tdD": 4, "tdm": 8, "tsu:": 8, "tsn:UTC": 8, "tDs": 8, "ttu": 8}


def case(seed: int) -> Counter[str]:
    """Make one array with invalid fields, and pass it to everything that reads Arrow."""
    found: Counter[str] = Counter()
    for name, (kinds, consume) in CONSUMERS.items():
        producer = Producer()
        pair = _made(producer, np.random.default_rng([seed, 1]), seed % 3, kinds)
        try:
            consume(pair)
        except ERRORS:
            found["rejected"] += 1
        found[name] += 1
        del pair
        if producer.n_released != producer.n_made:
            gc.collect()
        assert producer.n_released == producer.n_made, f"{name}: released not once each"
    return found


def _made(producer: Producer, rng: np.random.Generator, n_lies: int, kinds: Any) -> Any:
    """Return the capsules of an array of some kind, with a number of invalid fields."""
    nodes: list[Any] = []
    schema, array = _node(producer, rng, 0, nodes, kinds)
    for _ in range(n_lies):
        _lie(rng, pick(rng, nodes))
    return producer.pair(schema, array)


def _lie(rng: np.random.Generator, node: Any) -> None:
    """Set one number or pointer to something else."""
    schema, array = node
    what = int(rng.integers(8))
    if what < 5:
        field = pick(rng, ["length", "null_count", "offset", "n_buffers", "n_children"])
        value = pick(rng, NUMBERS)
        # Only the producer knows how many buffers an array of views has.
        if not (field == "n_buffers" and schema.format == b"vu" and 5 < value < ROOM):
            setattr(array, field, value)
    elif what == 5:
        setattr(array, pick(rng, ["buffers", "children", "dictionary"]), None)
    elif what == 6:
        schema.format = pick(rng, b" x +s u +w:-1 d:1 \xff n +us:".split(b" "))
    else:
        value = pick(rng, NUMBERS)
        if not schema.n_children < value < ROOM:  # nor how many children there are
            schema.n_children = value


def _bytes(rng: np.random.Generator, width: int) -> np.ndarray:
    """Return a buffer of random bytes."""
    wide = rng.integers(0, 256, ROOM * width + 16, np.uint8)
    if rng.random() < 0.5:
        wide[:] = wide % 3
    return wide


def _offsets(rng: np.random.Generator, dtype: str, most: int) -> np.ndarray:
    """Return offsets below a limit, in order or not: a reader must trust the last one."""
    values = rng.integers(0, most, ROOM + 1)
    if rng.random() < 0.6:
        values.sort()
    elif rng.random() < 0.5:
        values[:: int(rng.integers(2, 9))] *= -1
    return values.astype(dtype)


def _node(
    producer: Producer, rng: np.random.Generator, depth: int, nodes: list[Any], wanted: Any = ()
) -> Any:
    """Return a type and an array of it, with all below; each is added to the nodes."""
    kinds = [*WIDTHS, "b", "u", "U", "z", "Z", "vu", "n", "w:3"]
    kinds += ["+s", "+l", "+L", "+w:2", "dictionary"] if depth < 2 else []
    kind = pick(rng, wanted or kinds)
    validity = _bytes(rng, 1) if rng.random() < 0.4 else None
    fields = {
        "length": int(rng.integers(0, MOST)), "offset": int(pick(rng, [0, 0, 1, 9])),
        "null_count": 0 if validity is None else -1,
    }  # fmt: skip
    children, below, parts = [], (None, None), [validity]
    if kind in WIDTHS:
        parts += [_bytes(rng, WIDTHS[kind])]
    elif kind in ("b", "w:3"):
        parts += [_bytes(rng, 3)]
    elif kind in ("u", "z", "U", "Z"):
        parts += [_offsets(rng, "i4" if kind in "uz" else "i8", ROOM), _bytes(rng, 1)]
    elif kind == "vu":
        views = rng.integers(0, pick(rng, [8, 200, 2**31 - 1]), (ROOM, 4)).astype(np.int32)
        views[:, 2] %= 3
        parts += [views, _bytes(rng, 1), _bytes(rng, 1), np.array([ROOM, 100])]
    elif kind == "n":
        parts, fields["null_count"] = [], fields["length"]
    elif kind == "dictionary":
        kind = pick(rng, ["c", "S", "i", "l", "L"])
        parts += [_bytes(rng, WIDTHS[kind])]
        below = _node(producer, rng, 2, nodes)
    elif kind in ("+l", "+L"):
        parts += [_offsets(rng, "i4" if kind == "+l" else "i8", MOST)]
        children = [_node(producer, rng, depth + 1, nodes)]
    else:
        n = 1 if kind == "+w:2" else int(rng.integers(4))
        children = [_node(producer, rng, depth + 1, nodes) for _ in range(n)]
        fields["length"] = min([fields["length"], *(each[1].length // 4 for each in children)])
        fields["offset"] = 0
    schema = producer.schema(kind.encode(), [each[0] for each in children], below[0], name=b"x")
    array = producer.array(parts, [each[1] for each in children], below[1], **fields)
    nodes.append((schema, array))
    return schema, array


class Exporter:
    """An object with the PyCapsule interface, once."""

    def __init__(self, pair: Any) -> None:
        self.pair = pair

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.pair


def _read(pair: Any) -> None:
    """Read all that the reader offers."""
    (chunk,) = read(pair)
    len(chunk), repr(chunk), chunk.null_count, chunk.valid(), chunk.identity, chunk.dictionary
    if chunk.schema.kind == "struct":
        for position in range(len(chunk.schema.children)):
            len(chunk.child(position)), chunk.child(position).valid()
    chunk.codes()


LISTS, TEXTS = ("+l", "+L", "+w:2"), ("u", "U", "vu", "dictionary")
ENCODER = Encoder(["c"], handle_unknown="ignore")
# What reads an array, and of which kinds.
CONSUMERS: dict[str, tuple[tuple[str, ...], Callable[[Any], Any]]] = {"read": ((), _read)}
if importlib.util.find_spec("pyarrow"):
    CONSUMERS |= {
        "fit": ((), lambda pair: ENCODER.fit_transform({"c": Exporter(pair)}, "csr")),
        "fit table": (("+s",), lambda pair: Encoder().fit_transform(Exporter(pair), "numpy")),
        "multi_hot": (LISTS, lambda pair: multi_hot(Exporter(pair), 8)),
        "multi_hot labels": (
            LISTS,
            lambda pair: multi_hot(Exporter(pair), categories=["\0", 1], output="csr"),
        ),
        "multi_hot sep": (
            TEXTS,
            lambda pair: multi_hot(Exporter(pair), categories=["\0\1", "\2"], sep="\1"),
        ),
    }
