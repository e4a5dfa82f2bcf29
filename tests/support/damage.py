"""Damaged documents, pickles and skops files, and arrays that lie: an error, or an answer.

A case is made from its seed alone. It reads something damaged. Either an error of a documented
class says what is wrong, or the result works: its calls return, or raise documented errors.
"""

from __future__ import annotations

import copy
import ctypes
import io
import json
import math
import pickle
import random
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

from onehot_fast import Encoder, OneHotMatrix, decode, multi_hot, one_hot

# The classes that `Encoder.transform` and the other calls document.
ERRORS = (ValueError, TypeError)
N_ROWS = 4
TABLE: dict[str, list[Any]] = {
    "text": ["b", "ä", None, "b"],
    "integer": [1, 2, 3, 3],
    "float": [1.5, math.nan, -0.0, 2.0],
    "object": [Decimal("1.1"), (b"\x00", True), b"x", "y"],
}
DEEP = 100_000
# Values that replace a part of a document.
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 3, 2**31, 2**63, 2**70, 10**400, 0.5, -0.0, 1e308, math.nan,
    math.inf, "", "x", "auto", "first", "float32", "O", "S3", "\ud800", "9" * 5000, "x" * 20_000,
    [], {}, [[]], [None], ["b", "b"], [1, "a"], {"a": 1}, [2**70], [-1, -1], [0] * 1000,
    {"decimal": "1E-999999999"}, {"fraction": "1/0"}, {"tuple": []}, {"bytes": "0"},
    {"float": "nan"}, {"datetime": "2020-01-01", "zone": "../../etc/passwd"},
    {"timedelta64": 2**62, "unit": "W"}, {"per column": [["text", 1]]},
    {"per column": {}},
]  # fmt: skip


class Twice(dict[Any, Any]):
    """A dict whose JSON has its keys twice, at first with other values."""

    def __init__(self, later: dict[Any, Any], first: Any) -> None:
        super().__init__(later)
        self.first = first

    def items(self) -> Any:
        """Return the items twice."""
        return [*((key, self.first) for key in self), *super().items()]


def case(seed: int, kind: str = "") -> Counter[str]:
    """Read one damaged thing; count what happened."""
    draw = random.Random(seed)
    kind = kind or draw.choice([*CASES])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        is_rejected = CASES[kind](draw)
    return Counter({kind: 1, "rejected": int(is_rejected)})


# ---- Encoders and matrices to damage ----


@cache
def encoders() -> list[Encoder]:
    """Return encoders with all kinds of categories and options."""
    every = [*TABLE]
    names = ["text", "integer"]
    return [
        Encoder(every, min_frequency=2, drop={"text": "b"}, handle_unknown="infrequent").fit(TABLE),
        Encoder(every, drop="first", handle_unknown="indicator", remainder="drop").fit(TABLE),
        Encoder(["text"], categories={"text": ["b", "ä"]}, prefix="p", dtype="f4").fit(TABLE),
        Encoder(names, handle_missing="propagate", max_categories=2, dtype="f4").fit(TABLE),
        Encoder(names, prefix={"text": "t", "integer": "i"}, handle_unknown="ignore"),
    ]


@cache
def matrices() -> list[OneHotMatrix]:
    """Return matrices with shared codes, one large column, numeric columns, names and NaN."""
    codes = np.arange(N_ROWS)
    only = {"text": TABLE["text"], "integer": TABLE["integer"]}
    table = {**only, "float": [0.5] * N_ROWS}
    partly = Encoder(["text", "integer"], drop="first").fit(table)
    return [
        OneHotMatrix.from_codes([codes, codes % 2, -codes], [4, 2, 1]),
        OneHotMatrix.from_codes([codes * 90], [300], numeric=np.ones((N_ROWS, 2))),
        Encoder(["text", "integer"], handle_missing="propagate", dtype="f4")
        .fit(only)
        .transform(only, "implicit"),
        partly.transform(table, "implicit"),
        OneHotMatrix.from_codes([codes], [4], column_names=["a", "b", "c", "d"]),
    ]


def rejection(call: Callable[[], Any], errors: tuple[type[Exception], ...]) -> str:
    """Return the message of an error that a call raises, or "" if it returns."""
    try:
        call()
    except errors as error:
        message = str(error)
    else:
        return ""
    assert message, "an error says what is wrong"
    return message


def use(thing: Encoder | OneHotMatrix) -> None:
    """Call the methods; each returns a result of the right shape, or raises a documented error."""
    calls = _calls_of_matrix(thing) if isinstance(thing, OneHotMatrix) else _calls_of_encoder(thing)
    for call in calls:
        rejection(call, ERRORS)


def _calls_of_encoder(encoder: Encoder) -> list[Callable[[], Any]]:
    table = {name: np.array(["b", None, "y", 3], object) for name in TABLE}

    def transform() -> None:
        matrix = encoder.transform(table, "numpy")
        names = encoder.get_feature_names_out()
        assert matrix.shape == (N_ROWS, len(names))
        encoder.inverse_transform(matrix)

    return [
        transform,
        lambda: encoder.transform(TABLE, "csr").toarray(),
        lambda: use(encoder.transform(TABLE, "implicit")),
        lambda: encoder.transform(TABLE, "codes"),
        lambda: encoder.check(table),
        lambda: (repr(encoder), encoder.features, encoder.summary(), encoder._repr_html_()),
        lambda: encoder.to_sql("duckdb"),
        lambda: encoder == Encoder.from_json(encoder.to_json()),
        lambda: copy.deepcopy(encoder).partial_fit(TABLE),
    ]


def _calls_of_matrix(matrix: OneHotMatrix) -> list[Callable[[], Any]]:
    rows, columns = matrix.shape

    def products() -> None:
        assert matrix.matvec(np.ones(columns)).shape == (rows,)
        assert matrix.rmatvec(np.ones((rows, 2))).shape == (columns, 2)

    def gram() -> None:
        dense, gram = matrix.to_numpy(), matrix.gram()
        if np.isfinite(dense).all():
            np.testing.assert_allclose(gram, dense.T @ dense)

    calls: list[Callable[[], Any]] = [
        lambda: (repr(matrix), matrix.T, matrix.nbytes),
        lambda: matrix[::2].to_csr().toarray() if columns < 10**5 else None,
        lambda: OneHotMatrix.vstack([matrix, matrix]),
        lambda: pickle.loads(pickle.dumps(matrix)),
    ]
    if columns < 10**4:  # others need gigabytes
        calls += [
            products,
            lambda: matrix.column_names,
            lambda: np.testing.assert_array_equal(matrix.to_numpy(), matrix.to_csr().toarray()),
            gram,
            lambda: matrix.gram(output="csr"),
        ]
    return calls


# ---- Damage ----


def places(part: Any) -> list[tuple[Any, Any]]:
    """Return every container in nested lists and dicts, with every key that it has."""
    if not isinstance(part, dict | list):
        return []
    keys = [*part] if isinstance(part, dict) else [*range(len(part))]
    return [(part, key) for key in keys] + [place for key in keys for place in places(part[key])]


def damaged(draw: random.Random, document: Any, values: list[Any]) -> Any:
    """Return a copy of nested lists and dicts with 1 to 3 changes."""
    whole = [copy.deepcopy(document)]
    for _ in range(draw.randint(1, 3)):
        container, key = draw.choice(places(whole))
        what = draw.random()
        if what < 0.5:
            container[key] = _changed(draw, container[key], values)
        elif what < 0.65:
            del container[key]
            whole = whole or [None]
        elif what < 0.75:
            container[key] = copy.deepcopy(draw.choice(draw.choice(places(document))[:1]))
        elif isinstance(container, list):
            container.insert(draw.randrange(len(container) + 1), copy.deepcopy(container[key]))
        elif what < 0.9:
            name = draw.choice(["x", "tuple", "decimal", "rows", "name", 1, ("a",), *container])
            container[name] = container.pop(key)
        elif isinstance(container[key], dict):
            container[key] = Twice(container[key], copy.deepcopy(draw.choice(values)))
    return whole[0]


def _changed(draw: random.Random, part: Any, values: list[Any]) -> Any:
    """Return another value, or a changed array."""
    if not isinstance(part, np.ndarray) or draw.random() < 0.2:
        return copy.deepcopy(draw.choice(values))
    what = draw.randrange(8)
    array = part.copy()
    if what == 0:
        return array[: draw.randrange(len(array) + 1)]
    if what == 1:
        return np.append(array, array)
    if what == 2:
        kind = draw.choice(["u1", "i4", ">i8", "f8", "?", "O", "S3", "M8[s]", "c16"])
        return array.astype(kind) if array.dtype.kind != "O" else np.arange(3).astype(kind)
    if what == 3:
        return array.reshape(draw.choice([(-1, 1), (1, -1), (1, *array.shape)]))
    if what == 4:
        return np.repeat(array, 2, axis=0)[::2]
    if what == 5:
        return array.tolist()
    if array.size and array.dtype.kind != "O":
        edges = np.array([0, -1, 255, 2**31, -(2**63), 2**63 - 1, math.nan, math.inf])
        with np.errstate(all="ignore"):
            array.flat[draw.randrange(array.size)] = draw.choice(edges.astype(array.dtype))
    elif array.size:
        array[draw.randrange(array.size)] = draw.choice([None, math.nan, (1,), array[0]])
    return array


def _changed_bytes(draw: random.Random, data: bytes) -> bytes:
    """Return bytes of which some are others, or are missing, or occur twice."""
    changed = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 8])):
        begin = draw.randrange(len(changed) + 1)
        end = begin + draw.choice([0, 1, 1, 2, 8, 100])
        new = draw.choice([b"", draw.randbytes(draw.randint(1, 3)), bytes(changed[begin:end] * 2)])
        new = draw.choice([new, b"NaN", b"1e999", b'"', b"[" * 50, b"\xed\xa0\x80", b"\\ud800"])
        changed[begin:end] = new
    return bytes(changed)


# ---- Cases ----


def _json_text(draw: random.Random) -> str | bytes:
    text = draw.choice(encoders()).to_json()
    what = draw.random()
    if what < 0.4:
        return _changed_bytes(draw, text.encode())
    if what < 0.41:
        at = draw.randrange(len(text))
        opening, closing = draw.choice(["[]", ('{"a":', "}"), ('{"tuple":[', "]}")])
        return text[:at] + opening * DEEP + closing * DEEP + text[at:]
    if what < 0.42:
        at = draw.randrange(len(text))
        return text[:at] + draw.choice(["9", " ", "\\u0000", "1,", '"x",']) * 50_000 + text[at:]
    changed = damaged(draw, json.loads(text), VALUES)
    try:
        # The indented form asks `Twice` for its items.
        return json.dumps(changed, indent=1, ensure_ascii=draw.random() < 0.5)
    except (TypeError, ValueError):  # a key that JSON does not have, or 10**400
        return _changed_bytes(draw, text.encode())


def _json(draw: random.Random) -> bool:
    """Read a changed JSON document."""
    text, read = _json_text(draw), []
    message = rejection(lambda: read.append(Encoder.from_json(text)), (ValueError,))
    if message:
        assert message.startswith("the "), message
        assert len(message) < 2000, message
    for encoder in read:
        use(encoder)
    return not read


def _things() -> list[Encoder | OneHotMatrix]:
    return [*encoders(), *matrices()]


def _state(draw: random.Random) -> bool:
    """Restore a changed state, as from a pickle."""
    thing = draw.choice(_things())
    state = _tree(thing.__getstate__())
    values = [*VALUES, np.arange(3), np.zeros(0), (1,), b"x", {1}, np.float32(1), object()]
    kept = state.pop("version")
    changed = damaged(draw, state, values)
    if isinstance(changed, dict):
        changed.setdefault("version", kept)
    new, state = type(thing).__new__(type(thing)), _untree(changed)
    message = rejection(lambda: new.__setstate__(state), (ValueError,))
    if message:
        assert "pickle" in message, message
        assert type(thing).__name__ in message, message
    else:
        use(new)
    return bool(message)


def _tree(part: Any) -> Any:
    """Return nested dicts and lists in which lists marked as such replace tuples."""
    if isinstance(part, dict):
        return {key: _tree(value) for key, value in part.items()}
    if isinstance(part, tuple):
        return [tuple, *map(_tree, part)]
    return [*map(_tree, part)] if isinstance(part, list) else part


def _untree(part: Any) -> Any:
    """Return the tuples that `_tree` replaced."""
    if isinstance(part, dict):
        return {key: _untree(value) for key, value in part.items()}
    if not isinstance(part, list):
        return part
    return tuple(map(_untree, part[1:])) if part and part[0] is tuple else [*map(_untree, part)]


@cache
def _skops_files() -> list[tuple[bytes, list[str]]]:
    import skops.io

    files = [skops.io.dumps(thing) for thing in _things()]
    return [(file, skops.io.get_untrusted_types(data=file)) for file in files]


def _skops(draw: random.Random) -> bool:
    """Load a changed skops file: its schema, one of its arrays, or any bytes."""
    file, types = draw.choice(_skops_files())
    if draw.random() < 0.1:
        file = _changed_bytes(draw, file)
    else:
        with zipfile.ZipFile(io.BytesIO(file)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        arrays = [name for name, content in members.items() if content.startswith(b"\x93NUMPY")]
        if arrays and draw.random() < 0.4:
            name = draw.choice(arrays)
            out = io.BytesIO()
            np.save(out, _saved_array(_changed(draw, _array_in(members[name]), VALUES)))
            members[name] = out.getvalue()
        else:
            schema = json.loads(members["schema.json"])
            kept = {key: schema[key] for key in ("protocol", "_skops_version") if key in schema}
            changed = damaged(draw, schema, VALUES)
            changed = {**changed, **kept} if isinstance(changed, dict) else changed
            members["schema.json"] = json.dumps(changed, default=str, skipkeys=True).encode()
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        file = out.getvalue()
    found: list[Any] = []
    message = rejection(lambda: found.append(_loaded(file, types)), (SkopsError, ValueError))
    if message and not message.startswith("skops: "):
        assert "pickle" in message, message
    for thing in found:
        # Without content in its file, an object was never given a state.
        if isinstance(thing, Encoder | OneHotMatrix) and vars(thing):
            use(thing)
    return not found


class SkopsError(Exception):
    """An error that skops or NumPy raises, before or after our part."""


def _loaded(file: bytes, types: list[str]) -> Any:
    """Load a skops file; raise SkopsError for an error that is not raised in this package."""
    import skops.io

    try:
        return skops.io.loads(file, trusted=types)
    except Exception as error:
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        names = {frame.f_globals["__name__"].partition(".")[0] for frame in frames}
        if "onehot_fast" in names:
            raise
        raise SkopsError(f"skops: {error!r}") from error


def _array_in(content: bytes) -> np.ndarray:
    """Return the array in a file, or another one if it is saved as a pickle."""
    try:
        array: np.ndarray = np.load(io.BytesIO(content))
    except ValueError:
        return np.zeros(3)
    return array


def _saved_array(value: Any) -> np.ndarray:
    """Return an array that NumPy saves without pickles."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        return np.zeros(3)
    return np.zeros(3) if array.dtype.hasobject else array


class Liar:
    """An object with one of the protocols of arrays, whose answer is wrong."""

    def __init__(self, methods: dict[str, Any]) -> None:
        self.methods = methods

    def __getattr__(self, name: str) -> Any:
        try:
            return self.methods[name]
        except KeyError:
            raise AttributeError(name) from None


ROOM = ctypes.create_string_buffer(4096)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


def _answer(draw: random.Random) -> Any:
    """Return something that is no array, or not the expected one."""
    name = draw.choice([b"nothing", b"used_dltensor", b"used_dltensor_versioned", None])
    capsule = new_capsule(ctypes.addressof(ROOM), name, None)
    return draw.choice(
        [None, 1, "x", b"abc", [], [1, 2], (), (1, 2), {}, object(), np.zeros((2, 0, 3)),
         np.array("x"), np.array([1.5, None], object), np.zeros(3, "i4,f8"),
         np.zeros((2, 2), "M8[s]"), capsule, (capsule, capsule)]
    )  # fmt: skip


def _interface(draw: random.Random) -> Any:
    """Return an `__array_interface__` whose parts have wrong types or do not fit each other.

    Its data is an object with a buffer: nobody can check an address. NumPy itself does not check
    large strides, negative offsets, and pointers to objects.
    """
    data = bytearray(24)
    interface: dict[str, Any] = {"shape": (3,), "typestr": "<i8", "version": 3, "data": data}
    for _ in range(draw.randint(1, 2)):
        key = draw.choice(["shape", "typestr", "version", "strides", "descr", "offset"])
        interface[key] = draw.choice(
            [None, 3, "x", "<i8", "|V8", (), (3, 3), (-1,), (2**31, 2**31), (8,),
             (0,), b"abc", (None, False), [("a", "<i8")], 2.5, {}]
        )  # fmt: skip
        if draw.random() < 0.3:
            del interface[key]
    return interface


def _lies(draw: random.Random) -> Liar:
    answer, other = _answer(draw), _answer(draw)
    number = iter(range(10**9))
    methods: dict[str, Any] = {}
    protocol = draw.randrange(6)
    if protocol == 0:
        methods["__array_interface__"] = _interface(draw)
    elif protocol == 1:
        methods["__array__"] = lambda dtype=None, copy=None: answer if next(number) % 2 else other
    elif protocol == 2:
        methods["__dlpack__"] = lambda **_: answer
        methods["__dlpack_device__"] = draw.choice([lambda: (1, 0), lambda: other, lambda: (2, 0)])
    elif protocol == 3:
        methods["__arrow_c_array__"] = lambda requested_schema=None: answer
    elif protocol == 4:
        methods["__arrow_c_stream__"] = lambda requested_schema=None: answer
        methods["__arrow_c_schema__"] = lambda: other
    else:
        methods |= {"__array__": answer, "__dlpack__": other, "__arrow_c_array__": answer}
    for name, value in {"dtype": answer, "shape": other, "ndim": answer, "size": other}.items():
        if draw.random() < 0.1:
            methods[name] = value
    kind = type("Liar", (Liar,), {k: _method(k) for k in methods if k.startswith("__")})
    return kind(methods)


def _method(name: str) -> Any:
    """Return a property, because protocols are looked up in the type."""
    return property(lambda self: self.methods[name])


def _array(draw: random.Random) -> bool:
    """Pass an array that lies."""
    liar = _lies(draw)
    known = Encoder(["c"], handle_unknown="ignore").fit({"c": ["a", "b"]})
    calls: list[Callable[[], Any]] = [
        lambda: one_hot(liar, 3),
        lambda: one_hot([0, 1], 3, on_value=liar),
        lambda: one_hot([0, 1], 3, out=liar),
        lambda: one_hot([0, 1], 3, ignore_index=liar),
        lambda: decode(liar),
        lambda: multi_hot(liar, 3),
        lambda: multi_hot([1, 2], 3, offsets=liar),
        lambda: multi_hot([[1]], categories=liar),
        lambda: Encoder().fit_transform({"c": liar}, "numpy"),
        lambda: known.transform({"c": liar}, "numpy"),
        lambda: known.transform(liar, "numpy"),
        lambda: known.inverse_transform(liar),
        lambda: Encoder(["c"], categories={"c": liar}).fit({"c": ["a"]}),
        lambda: OneHotMatrix.from_codes([liar], [3]).to_numpy(),
        lambda: OneHotMatrix.from_codes([[0, 1]], [3], numeric=liar).to_numpy(),
        lambda: matrices()[0] @ liar,
        lambda: matrices()[0].gram(liar),
        lambda: matrices()[0][liar],
    ]
    # An answer may be rows that do not exist.
    return bool(rejection(draw.choice(calls), (*ERRORS, IndexError)))


CASES: dict[str, Callable[[random.Random], bool]] = {
    "JSON": _json,
    "pickle": _state,
    "skops": _skops,
    "array": _array,
}
