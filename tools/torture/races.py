"""A thread that changes every input while everything is called: nothing leaves its memory.

Results cannot be compared, because the input of a call is unknown. But classes and positions are in
range, and a rejected input raises an error.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from onehot_fast import Column, Encoder, OneHotMatrix, decode, multi_hot, one_hot
from torture import library

N, DEPTH = 3000, 12
# Errors that another thread may cause; every other one is a failure.
ERRORS = (ValueError, RuntimeError, TypeError, IndexError, MemoryError)
REPEATS = 12


class Shared:
    """Arrays that a thread fills with one of several contents, again and again."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.contents: list[tuple[np.ndarray, list[np.ndarray]]] = []
        # The first changed array, the end of the changed arrays, and whether to stop.
        self.range = (ctypes.c_size_t * 3)()

    def array(self, *contents: np.ndarray) -> np.ndarray:
        """Return an array that holds one of these contents, or a mixture of them, at any time."""
        made = contents[0].copy()
        self.add(made, *contents)
        return made

    def add(self, array: np.ndarray, *contents: np.ndarray) -> None:
        """Change an existing array, which may be a read-only view."""
        same = [np.ascontiguousarray(each, array.dtype) for each in contents]
        self.contents.append((array, same))

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Change some of the arrays in another thread, which needs no lock of Python's."""
        changed = (_Changed * len(self.contents))(
            *(
                _Changed(
                    array.ctypes.data, array.nbytes, len(contents),
                    (ctypes.c_void_p * len(contents))(*(each.ctypes.data for each in contents)),
                )
                for array, contents in self.contents
            )
        )  # fmt: skip
        change = ctypes.CDLL(library("changing")).change
        thread = threading.Thread(target=change, args=(changed, self.range))
        thread.start()
        try:
            yield
        finally:
            self.range[2] = 1
            thread.join()


class _Changed(ctypes.Structure):
    """An array and its contents, as ``changing.c`` sees them."""

    _fields_ = (
        ("array", ctypes.c_void_p),
        ("n_bytes", ctypes.c_size_t),
        ("n_contents", ctypes.c_size_t),
        ("contents", ctypes.POINTER(ctypes.c_void_p)),
    )


Call = tuple[str, Callable[[], Any], Callable[[Any], bool]]


def case(seed: int) -> Counter[str]:
    """Call everything a few times over inputs that another thread changes."""
    rng = np.random.default_rng(seed)
    shared = Shared(rng)
    kinds = (_operator, _ragged, _tables, _matrix, _columns, _arrow, _accessors)
    calls = [(len(shared.contents), call) for kind in kinds for call in kind(shared)]
    found: Counter[str] = Counter()
    with shared.changing():
        for _ in range(REPEATS):
            for position in rng.permutation(len(calls)):
                n_made, (name, call, check) = calls[position]
                # Mostly change only the last arrays, which the call reads: they change more often.
                first = max(n_made - 2, 0) if rng.random() < 0.8 else 0
                shared.range[:2] = first, n_made
                try:
                    result = call()
                except ERRORS:
                    found["rejected"] += 1
                else:
                    assert check(result), name
                found[name] += 1
    return found


def has_shape(*shape: int) -> Callable[[Any], bool]:
    """Return the check of a shape, and that all positions of a sparse matrix are within it."""

    def check(matrix: Any) -> bool:
        if isinstance(matrix, np.ndarray):
            return matrix.shape == shape
        ends, positions = matrix.indptr, matrix.indices
        n_vectors, size = shape if matrix.format == "csr" else shape[::-1]
        return bool(
            (matrix.shape, len(ends)) == (shape, n_vectors + 1)
            and (np.diff(ends) >= 0).all()
            and ends[-1] == len(positions) == len(matrix.data)
            and (positions >= 0).all()
            and (positions < size).all()
        )

    return check


def _is_sparse(matrix: Any) -> bool:
    """Check a matrix of any number of columns."""
    return has_shape(N, matrix.shape[1])(matrix)


def _is_consistent(matrix: OneHotMatrix) -> bool:
    """Check a matrix against itself: it must have read each code once."""
    ones, gram = matrix.to_numpy(), matrix.gram()
    return bool(
        (matrix.to_csr().toarray() == ones).all()
        and (matrix @ np.arange(ones.shape[1]) == ones @ np.arange(ones.shape[1])).all()
        and (matrix.sum(0) == ones.sum(0)).all()
        and (gram == ones.T @ ones).all()
    )


def _operator(shared: Shared) -> Iterator[Call]:
    """Yield calls of the operator over indices and tensors."""
    rng = shared.rng
    for dtype in ("i1", "u2", "i4", "i8", "u8", "f8"):
        good = rng.integers(0, DEPTH, N).astype(dtype)
        bad = rng.integers(0, 2**63, N).astype(dtype) if dtype != "f8" else np.full(N, 1e300)
        negative = ~good if dtype != "f8" else -good
        indices = shared.array(good, bad, np.full(N, DEPTH, dtype), negative)
        for axis, width in ((-1, "u1"), (-1, "f4"), (0, "u1"), (0, "V3")):
            off, on = np.zeros((), width), np.frombuffer(b"\1" * np.dtype(width).itemsize, width)[0]
            options = {"axis": axis, "on_value": on, "off_value": off, "dtype": width}
            check = has_shape(*((DEPTH, N) if axis == 0 else (N, DEPTH)))
            yield "one_hot", partial(one_hot, indices, DEPTH, num_threads=2, **options), check
        options = {"out_of_range": "error", "negative_indices": "normalize"}
        yield "one_hot", partial(one_hot, indices, DEPTH, **options), has_shape(N, DEPTH)
    for dtype, depth in (("u1", 4096), ("u2", 64), ("f4", 7), ("f8", 300), ("S3", 9), ("c16", 5)):
        shape = (max(1, N // depth), depth)
        ones, eye = np.ones(shape, dtype), np.eye(*shape, dtype="i1").astype(dtype)
        tensor = shared.array(ones, np.zeros(shape, dtype), eye)
        for axis in (0, 1):
            call = partial(decode, tensor, axis, on_value=ones.flat[0], multiple="first")
            yield "decode", call, lambda k, n=shape[axis]: ((k >= -1) & (k < n)).all()


def _ragged(shared: Shared) -> Iterator[Call]:
    """Yield encodings of flat elements between offsets."""
    rng, good = shared.rng, np.arange(N + 1)
    bad = good.copy()
    bad[1::2] = 2**40
    offsets = shared.array(good, bad, good[::-1].copy(), np.full(N + 1, -1), np.zeros(N + 1, int))
    codes = shared.array(rng.integers(0, DEPTH, N), rng.integers(-(2**63), 2**63 - 1, N))
    for mode in ("set", "count"):
        call = partial(multi_hot, codes, DEPTH, offsets=offsets, mode=mode)
        yield "multi_hot", call, has_shape(N, DEPTH)
        yield "multi_hot csr", partial(call, output="csr"), has_shape(N, DEPTH)


def _tables(shared: Shared) -> Iterator[Call]:
    """Yield encodings of coded columns, and what they are decoded from."""
    rng = shared.rng
    names = np.array([f"n{i}" for i in range(DEPTH)], object)
    encoder = Encoder(handle_unknown="ignore").fit({"a": names, "b": names[::-1]})
    table = {}
    for name, dtype in (("a", "i1"), ("b", "i8")):
        good = rng.integers(0, DEPTH, N).astype(dtype)
        codes = shared.array(good, np.full(N, np.iinfo(dtype).max, dtype), -good - 1)
        table[name] = Column(codes, names, source="category")
    shape = N, 2 * DEPTH
    for form in ("csr", "csc", "numpy"):
        yield f"transform {form}", partial(encoder.transform, table, form), has_shape(*shape)
    codes = [table[name].codes for name in "ab"]
    numeric = shared.array(np.zeros((N, 2)), np.ones((N, 2)))
    yield "implicit", partial(encoder.transform, table, "implicit"), _is_consistent
    call = partial(OneHotMatrix.from_codes, codes, [DEPTH] * 2, numeric=numeric)
    yield "from_codes", call, _is_consistent
    yield "fit", lambda: Encoder().fit(table), lambda fitted: fitted.n_features <= 2 * DEPTH
    encoded = shared.array(np.ones(shape), np.zeros(shape), encoder.transform(table, "numpy"))
    known = {*names.tolist(), None}
    call = partial(encoder.inverse_transform, encoded)
    yield "inverse_transform", call, lambda columns: set(columns["a"].tolist()) <= known


def _matrix(shared: Shared) -> Iterator[Call]:
    """Yield selections and products of a `OneHotMatrix` over masks, indices and operands."""
    rng = shared.rng
    codes = [rng.integers(0, size, N) for size in (300, 300, 5)]
    matrix = OneHotMatrix.from_codes(codes, [300, 300, 5], numeric=rng.random((N, 2)))
    n_columns = matrix.shape[1]
    mask = shared.array(np.ones(N, bool), np.zeros(N, bool), rng.random(N) < 0.5)
    positions = shared.array(
        rng.integers(0, N, N), np.full(N, 2**40), rng.integers(-N, 0, N), np.full(N, -(2**60))
    )

    def is_selection(chosen: OneHotMatrix) -> bool:
        # All columns must have the same rows, and each categorical one a 1 in each row.
        return bool((chosen.to_csr()[:, :605].sum(axis=1) == 3).all())

    yield "matrix mask", lambda: matrix[mask], is_selection
    yield "matrix rows", lambda: matrix[positions], is_selection
    yield "matrix rows, ...", lambda: matrix[mask, ...], is_selection
    for width in (None, 1, 9):
        shape = () if width is None else (width,)
        x, y = (
            shared.array(np.zeros((n, *shape)), np.ones((n, *shape)), np.full((n, *shape), np.nan))
            for n in (n_columns, N)
        )
        out, sums = (
            shared.array(np.zeros((n, *shape)), np.ones((n, *shape))) for n in (N, n_columns)
        )
        for name, product, operand, result in (
            ("matvec", matrix.matvec, x, out), ("rmatvec", matrix.rmatvec, y, sums),
        ):  # fmt: skip
            check = has_shape(*result.shape)
            yield f"{name}", partial(product, operand, num_threads=2), check
            yield f"{name} out", partial(product, operand, result, num_threads=2), check
        yield "matrix @", lambda x=x: matrix @ x, has_shape(N, *shape)
    weights = shared.array(np.ones(N), np.zeros(N), np.full(N, np.nan))
    square = has_shape(n_columns, n_columns)
    yield "gram", partial(matrix.gram, weights, num_threads=2), square
    yield "gram csr", partial(matrix.gram, weights, output="csr"), square
    for name in ("sum", "mean", "std"):
        call = partial(getattr(matrix, name), *((0,) if name == "sum" else ()), weights=weights)
        yield f"matrix {name}", call, has_shape(n_columns)
    yield "group_sums", partial(matrix.group_sums, weights), lambda sums: len(sums) == n_columns


def _accessors(shared: Shared) -> Iterator[Call]:
    """Yield all methods of the accessors of pandas and polars over memory of the caller."""
    rng = shared.rng
    numbers = shared.array(rng.integers(0, 50, N), rng.integers(-(2**63), 2**63 - 1, N))
    reals = shared.array(rng.random(N), np.full(N, np.nan))
    try:
        import pandas as pd

        import onehot_fast.integrations.pandas
    except ImportError:
        pass
    else:
        frame = pd.DataFrame({"k": pd.Categorical.from_codes([*range(3)] * (N // 3), [*"abc"])})
        codes = frame["k"].array.codes  # a view of the frame's memory
        shared.add(codes, codes.copy(), np.full(N, 127), np.full(N, -1))
        frame = frame.assign(n=pd.Series(numbers, copy=False), r=pd.Series(reals, copy=False))
        yield from _of_frame("pandas", frame, frame["k"], frame["n"])
    try:
        import polars as pl
        import pyarrow as pa

        import onehot_fast.integrations.polars  # noqa: F401
    except ImportError:
        return
    columns = {name: pa.array(array) for name, array in (("n", numbers), ("r", reals))}
    table = pl.from_arrow(pa.table(columns))
    yield from _of_frame("polars", table, table["n"], table["n"])


def _of_frame(library: str, frame: Any, *series: Any) -> Iterator[Call]:
    """Yield the methods that encode a frame, and those that encode a Series."""
    names = [each.name for each in series]

    def has_rows(result: Any) -> bool:
        shape = result.shape if hasattr(result, "shape") else (len(result), 1)
        # An Arrow batch without columns, of values that were all missing, has no rows.
        return bool(shape[0] == N or (len(shape) == 2 and not shape[1]))

    for method in ("__call__", "to_numpy", "to_csr", "to_arrow"):
        encode = getattr(frame.onehot, method)
        call = partial(encode, names[:1], **({} if method == "__call__" else {"remainder": "drop"}))
        yield f"{library} frame {method}", call, has_rows
        for each in series:
            yield f"{library} {each.name} {method}", partial(getattr(each.onehot, method)), has_rows


def _columns(shared: Shared) -> Iterator[Call]:
    """Yield encoders that learn values, and look them up, in memory of the caller."""
    rng = shared.rng
    contents = {
        "i8": (rng.integers(0, 50, N), rng.integers(-(2**63), 2**63 - 1, N)),
        "u1": (rng.integers(0, 50, N), rng.integers(0, 255, N)),
        "f8": (rng.integers(0, 50, N) / 4, np.full(N, np.nan), rng.random(N)),
        "f4": (rng.integers(0, 50, N) / 4, rng.random(N)),
        "M8[s]": (rng.integers(0, 50, N), rng.integers(0, 2**40, N)),
        "U20": (_texts(rng, "U20", 50), _texts(rng, "U20", N)),
        "S40": (_texts(rng, "S40", 50), _texts(rng, "S40", N)),
    }
    for dtype, parts in contents.items():
        values = {"c": shared.array(*(part.astype(dtype) for part in parts))}
        new = Encoder(["c"], handle_unknown="ignore")
        known = copy(new).fit({"c": parts[0].astype(dtype)})
        yield f"fit {dtype}", partial(new.fit_transform, values, output="csr"), _is_sparse
        yield f"transform {dtype}", partial(known.transform, values, "csr"), _is_sparse


def _texts(rng: np.random.Generator, dtype: str, n_distinct: int) -> np.ndarray:
    """Return texts of any length, some with letters beyond ASCII."""
    letter = "é" if dtype.startswith("U") else "e"
    width = np.dtype(dtype).itemsize // np.dtype(f"{dtype[0]}1").itemsize
    pool = [f"{i}{letter * int(rng.integers(0, width))}"[:width] for i in range(n_distinct)]
    return np.array(pool)[rng.integers(0, n_distinct, N)].astype(dtype)


def _arrow(shared: Shared) -> Iterator[Call]:
    """Yield calls over memory of Arrow: numbers, indices, nulls, and offsets below the last."""
    try:
        import pyarrow as pa
    except ImportError:
        return
    rng, new, strict = shared.rng, Encoder(["c"], handle_unknown="ignore"), Encoder(["c"])
    bits = shared.array(*(np.full(-(-N // 8), value, np.uint8) for value in (255, 0, 0x5A)))
    for kind, dtype in ((pa.int8(), "i1"), (pa.uint32(), "u4"), (pa.int64(), "i8")):
        good = rng.integers(0, 3, N).astype(dtype)
        data = shared.array(good, np.full(N, np.iinfo(dtype).max, dtype), ~good)
        for validity in (None, pa.py_buffer(bits)):
            indices = pa.Array.from_buffers(kind, N, [validity, pa.py_buffer(data)])
            call = partial(new.fit, {"c": indices})
            yield "arrow numbers", call, lambda fitted: fitted.n_features <= 2 * N
            coded = pa.DictionaryArray.from_arrays(indices, ["a", "b", "c"], safe=False)
            call = partial(strict.fit_transform, {"c": coded}, output="csr")
            yield "arrow dictionary", call, _is_sparse
    text = np.frombuffer(b"x" * 30 * N, np.uint8)
    data = shared.array(text, np.full(len(text), ord("|"), np.uint8))
    steps = np.sort(rng.integers(0, len(text), N + 1)).astype(np.int32)
    wild = rng.integers(-5, len(text), N + 1).astype(np.int32)
    steps[-1] = wild[-1] = len(text)
    buffers = [None, *map(pa.py_buffer, (shared.array(steps, wild), data))]
    strings = pa.Array.from_buffers(pa.string(), N, buffers)
    yield "arrow texts", partial(strict.fit_transform, {"c": strings}, output="csr"), _is_sparse
    call = partial(multi_hot, strings, sep="|", categories=["x", "xx"], output="csr")
    yield "arrow separated", call, has_shape(N, 2)
