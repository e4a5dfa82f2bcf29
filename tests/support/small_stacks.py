"""Every public call by one thread and by two; run as a program with OMP_STACKSIZE=16k.

The numbers of threads that calls choose are replaced, because they depend on the machine. Results
have some megabytes, so that two threads get work.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, get_args

import numpy as np

from onehot_fast import (
    Encoder,
    OneHotMatrix,
    decode,
    decode_sequences,
    distinct_classes,
    distinct_labels,
    empty,
    lowercase_mask,
    multi_hot,
    one_hot,
    one_hot_sequences,
    tokenize_sequences,
)
from onehot_fast._kernels import simd
from onehot_fast._kernels.dispatch import INDEX_DTYPES
from onehot_fast._runtime import memory, parallel, team
from onehot_fast.encoder import Output

Call = Callable[[], Any]
OF_FRAMES = {"columns", "array", "vector", "category"}  # of outputs that arrays do not have
N = 80_000  # rows, more than a block of each kernel has


def same(a: Any, b: Any) -> bool:
    """Tell whether two results are equal, bit for bit where they are numbers."""
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, OneHotMatrix):
        return same(a.to_csr(), b.to_csr())
    if hasattr(a, "indptr"):
        return all(
            same(getattr(a, each), getattr(b, each)) for each in ("indptr", "indices", "data")
        )
    if hasattr(a, "equals"):
        return a.equals(b)
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype == object:
        return a.tolist() == b.tolist()
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def tensor_calls(rng: np.random.Generator) -> dict[str, Call]:
    """Return calls of `one_hot` and `decode` for every kind of index, width and layout."""
    calls: dict[str, Call] = {}
    values = {"on_value": 2, "off_value": 1}
    for kind in INDEX_DTYPES:
        indices = rng.integers(0, 21, N).astype(kind)
        for axis in (-1, 0):
            calls[f"one_hot {kind} {axis}"] = lambda i=indices, a=axis: one_hot(i, 21, axis=a)
    indices = rng.integers(0, 21, N)
    grid = indices[: N // 8 * 8].reshape(-1, 8)
    for dtype in ("u1", "f2", "f4", "f8", "c16", "U3"):
        options = {
            "dtype": dtype,
            **({"on_value": "y", "off_value": "n"} if dtype == "U3" else values),
        }
        for depth in (2, 21, 100, 300, 5000):
            few = rng.integers(0, depth, 1_500_000 // depth)
            for axis in (-1, 0):
                calls[f"one_hot {dtype} {depth} {axis}"] = (
                    lambda i=few, d=depth, a=axis, o=options: one_hot(i, d, axis=a, **o)
                )
        calls[f"one_hot {dtype} inner"] = lambda o=options: one_hot(grid, 21, axis=1, **o)
    for width in ("u1", "f2", "f4", "f8"):
        shapes = {
            -1: one_hot(indices, 21, dtype=width),
            0: one_hot(indices, 21, axis=0, dtype=width),
            1: one_hot(indices[: N // 8].reshape(10, -1), 300, axis=1, dtype=width),
        }
        for axis, tensor in shapes.items():
            calls[f"decode {width} {axis}"] = lambda t=tensor, a=axis: decode(t, axis=a)
    scores = rng.normal(size=(N, 9))
    calls["decode argmax"] = lambda: decode(scores, rule="argmax")
    calls["empty"] = lambda: one_hot(indices, depth=21, out=empty((N, 21), "f4"), dtype="f4")
    return calls


def class_calls(rng: np.random.Generator) -> dict[str, Call]:
    """Return calls of `one_hot` and `decode` with categories of every kind of element."""
    calls: dict[str, Call] = {}
    for dtype in ("u1", "i2", "i4", "i8", "f4", "f8", "U3", "S3", "M8[D]"):
        for n_classes in (3, 21, 90):
            pool = np.arange(n_classes).astype("i8").astype(dtype)
            values = pool[rng.integers(0, n_classes, N)]
            for axis in (-1, 0):
                calls[f"classes {dtype} {n_classes} {axis}"] = lambda v=values, p=pool, a=axis: (
                    one_hot(v, categories=p, axis=a)
                )
            tensor = one_hot(values, categories=pool)
            calls[f"decode classes {dtype} {n_classes}"] = lambda t=tensor, p=pool: decode(
                t, categories=p
            )
    far = rng.integers(0, 2**60, 2000)
    ids = far[rng.integers(0, 2000, N // 40)]
    calls["classes far"] = lambda: one_hot(ids, categories=far)
    for n_channels in (3, 4, 9):
        palette = np.unique(rng.integers(0, 256, (21, n_channels), np.uint8), axis=0)
        image = palette[rng.integers(0, len(palette), N)]
        calls[f"palette {n_channels}"] = lambda i=image, p=palette: one_hot(i, categories=p)
    calls["distinct_classes"] = lambda: distinct_classes(ids)
    return calls


def sequence_calls(rng: np.random.Generator) -> dict[str, Call]:
    """Return calls of the functions for sequences of letters."""
    letters = np.frombuffer(b"ACGTacgtN", np.uint8)[rng.integers(0, 9, N)].reshape(-1, 800)
    options: dict[str, Any] = {"neutral": "N", "ignore_case": True}
    calls: dict[str, Call] = {}
    for dtype in ("u1", "f2", "f4", "f8"):
        for axis in (-1, 1):
            calls[f"one_hot_sequences {dtype} {axis}"] = lambda d=dtype, a=axis: one_hot_sequences(
                letters, dtype=d, axis=a, **options
            )
    encoded = one_hot_sequences(letters, **options)
    calls["decode_sequences"] = lambda: decode_sequences(encoded)
    calls["tokenize_sequences"] = lambda: tokenize_sequences(letters, **options)
    calls["lowercase_mask"] = lambda: lowercase_mask(letters)
    return calls


def label_calls(rng: np.random.Generator) -> dict[str, Call]:
    """Return calls of `multi_hot` and `distinct_labels`."""
    indices, offsets = rng.integers(0, 40, N), np.arange(0, N + 1, 4)
    words = [f"t{i}" for i in range(300)]
    lists = np.array([f"{a} {b}" for a, b in zip(words, words[::-1], strict=True)])
    texts = lists[rng.integers(0, 300, N // 4)].tolist()
    calls: dict[str, Call] = {
        f"multi_hot {output} {mode}": lambda o=output, m=mode: multi_hot(
            indices, 40, offsets=offsets, output=o, mode=m
        )
        for output in ("numpy", "csr", "csc")
        for mode in ("set", "count")
    }
    calls["multi_hot sep"] = lambda: multi_hot(texts, categories=words, sep=" ")
    calls["distinct_labels"] = lambda: distinct_labels(texts, sep=" ")
    ragged = {"texts": texts, "lists": [text.split() for text in texts], "plain": texts}
    encoder = Encoder(["texts", "lists", "plain"], sep={"texts": " "}).fit(ragged)
    for output in ("numpy", "csr", "csc"):
        calls[f"ragged {output}"] = lambda o=output: encoder.transform(ragged, o)
    return calls


def table_calls(rng: np.random.Generator) -> dict[str, Call]:
    """Return calls of `Encoder` with every kind of column and every output."""
    texts = [f"category {i} {'x' * (i % 40)}" for i in range(400)]
    fixed = np.array([each[:20] for each in texts])
    table = {
        "object": np.array(texts, object)[rng.integers(0, 400, N)],
        "bytes": np.array([each.encode() for each in texts[:30]], object)[rng.integers(0, 30, N)],
        "fixed": fixed[rng.integers(0, 300, N)],
        "fixed bytes": fixed[:9].astype("S20")[rng.integers(0, 9, N)],
        "packed": np.array(texts[:50], np.dtypes.StringDType())[rng.integers(0, 50, N)],
        "wide": rng.integers(0, 300, N) * 2**40,
        "narrow": rng.integers(0, 7, N).astype("i2"),
        "float": rng.integers(0, 30, N) / 7,
        "bool": rng.integers(0, 2, N).astype(bool),
        "date": rng.integers(0, 40, N).astype("M8[D]"),
    }
    many = {
        "many": rng.integers(0, 9_000, N) * 2**33,
        "texts": rng.integers(0, 9_000, N).astype("U8"),
    }
    pair = {name: table[name] for name in ("wide", "float")}
    encoder = Encoder([*table], handle_unknown="ignore", dtype="u1").fit(table)
    of_pair = Encoder([*pair]).fit(pair)
    encoded = of_pair.transform(pair, "numpy")
    calls: dict[str, Call] = {
        "fit": lambda: Encoder([*table]).fit(table).get_feature_names_out(),
        "fit many": lambda: Encoder([*many]).fit(many).get_feature_names_out(),
        "partial_fit": lambda: Encoder([*table]).partial_fit(table).partial_fit(table).categories,
        "merge": lambda: Encoder([*pair]).fit(pair).merge(Encoder([*pair]).fit(pair)).categories,
        "transform many": lambda: Encoder([*many]).fit(many).transform(many, "csr"),
        "inverse_transform": lambda: of_pair.inverse_transform(encoded),
        "check": lambda: repr(encoder.check(table)),
        "JSON": lambda: Encoder.from_json(encoder.to_json()).get_feature_names_out(),
    }
    needed = {"pandas": "pandas", "arrow": "pyarrow", "polars": "polars"}
    for output in {*get_args(Output), None} - OF_FRAMES:
        if output not in needed or find_spec(needed[output]):
            calls[f"transform {output}"] = lambda o=output: encoder.transform(table, o)
            calls[f"fit_transform {output}"] = lambda o=output: Encoder([*pair]).fit_transform(
                pair, output=o
            )
    return calls


def matrix_calls(rng: np.random.Generator) -> dict[str, Call]:
    """Return calls of `OneHotMatrix`."""
    sizes = [40, 300, 2, 2, 70_000]
    codes = [rng.integers(0, size, N) for size in sizes]
    wide = OneHotMatrix.from_codes(codes, sizes, numeric=rng.normal(size=(N, 2)))
    small = OneHotMatrix.from_codes(rng.integers(0, 40, (3, N)), [40] * 3)
    narrow = OneHotMatrix.from_codes(rng.integers(0, 2, (60, N // 6)), [2] * 60)
    weights, chosen = rng.random(N), rng.integers(0, 2, N).astype(bool)
    calls: dict[str, Call] = {"from_codes": lambda: OneHotMatrix.from_codes(codes, sizes)}
    for k in (1, 3, 8, 9, 17):
        x, y = rng.normal(size=(wide.shape[1], k)), rng.normal(size=(N, k))
        calls[f"matvec {k}"] = lambda x=x: (wide.matvec(x), wide.matmat(x), wide @ x)
        calls[f"rmatvec {k}"] = lambda y=y: (wide.rmatvec(y), wide.rmatmat(y), wide.T @ y)
    for output in ("dense", "csr"):
        calls[f"gram {output}"] = lambda o=output: small.gram(output=o)
        calls[f"gram weights {output}"] = lambda o=output: small.gram(weights, o)
        calls[f"gram narrow {output}"] = lambda o=output: narrow.gram(output=o)
    calls["sums"] = lambda: (small.sum(0), small.sum(1), small.mean(), small.std(weights))
    calls["group_sums"] = lambda: wide.group_sums(weights)
    calls["forms"] = lambda: (small.to_csr(), small.to_csc(), small.to_numpy())
    calls["vstack"] = lambda: OneHotMatrix.vstack([small, small])
    calls["rows"] = lambda: small[chosen]
    return calls


def main() -> None:
    """Make all calls, with ordinary stores and with those that bypass the caches."""
    n_threads = 1
    parallel.resolve = lambda num_threads, n_bytes: n_threads
    rng = np.random.default_rng(0)
    parts = tensor_calls, class_calls, sequence_calls, label_calls, table_calls, matrix_calls
    calls = {name: call for part in parts for name, call in part(rng).items()}
    in_teams = 0
    for stream_bytes in (1 << 10, 1 << 40):
        simd.set_stream_bytes(stream_bytes)
        for name, call in calls.items():
            # Of the library's memory nothing is reused: cleared memory is written in another way.
            memory.empty_cache()
            n_threads = 1
            expected = call()
            n_threads = 2
            assert same(call(), expected), f"{name}: the number of threads changes the result"
            in_teams += team.spinning_workers()
    assert in_teams, "no call had two threads"
    print(len(calls), "calls")


if __name__ == "__main__":
    main()
