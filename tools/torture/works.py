"""Calls of every kind with inputs of their own, and their results as bytes: the same each time."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from onehot_fast import Encoder, decode, empty, multi_hot, one_hot

Work = Callable[[], Any]


def works(seed: int = 0, n: int = 20_000, libraries: bool = True) -> dict[str, Work]:
    """Return calls by name, over about ``n`` rows; without libraries those of NumPy alone."""
    rng = np.random.default_rng(seed)
    found = {**_tensors(rng, n), **_tables(rng, n)}
    if libraries:
        for calls in (_pandas, _polars, _arrow, _sklearn):
            with suppress(ImportError):
                found.update(calls(rng, n))
    return found


class Checked:
    """Works, and what their results must be."""

    def __init__(self, works: dict[str, Work]) -> None:
        self.works = works
        self.expected = {name: hash(as_bytes(work())) for name, work in works.items()}

    def check(self, name: str) -> None:
        """Do a work, and compare its result."""
        assert hash(as_bytes(self.works[name]())) == self.expected[name], f"{name}: another result"


def as_bytes(result: Any) -> bytes:
    """Return the bytes that two equal results share."""
    if isinstance(result, np.ndarray) and result.dtype != object:
        return repr((result.dtype, result.shape)).encode() + result.tobytes()
    if hasattr(result, "indptr"):
        parts = result.indptr, result.indices, result.data
        return b"".join(as_bytes(np.asarray(part)) for part in parts)
    if hasattr(result, "to_numpy") and hasattr(result, "columns"):
        return repr([*result.columns]).encode() + as_bytes(result.to_numpy())
    if isinstance(result, dict):
        return b"".join(name.encode() + as_bytes(column) for name, column in result.items())
    if isinstance(result, np.ndarray):
        return pickle.dumps(result.tolist())
    return repr(result).encode()


def _tensors(rng: np.random.Generator, n: int) -> dict[str, Work]:
    indices = rng.integers(-2, 23, n)
    indices[0] = 21  # at least one is rejected
    few, bytes_, deep = indices[:32].astype("i4"), indices.astype("i1"), indices[:50] * 3000
    tensor = one_hot(indices, 21, dtype="u1")
    offsets = np.sort(rng.integers(0, n, n // 3))
    offsets[0], offsets[-1] = 0, n
    out = {"depth": 21, "axis": 0, "dtype": "f4"}
    return {
        "one_hot": lambda: one_hot(indices, 21),
        "one_hot threads": lambda: one_hot(indices, 21, num_threads=2),
        "one_hot few": lambda: one_hot(few, 10),
        "one_hot planes": lambda: one_hot(bytes_, 21, axis=0, dtype="u1", num_threads=2),
        "one_hot deep": lambda: one_hot(deep, 70_000, dtype="u1"),
        "one_hot text": lambda: one_hot(few, 7, on_value="yes", off_value="no", dtype="U3"),
        "one_hot rejected": lambda: _error(lambda: one_hot(indices, 21, out_of_range="error")),
        "out": lambda: one_hot(indices, out=empty((21, n), "f4"), **out),
        "decode": lambda: decode(tensor),
        "decode planes": lambda: decode(tensor.T, axis=0),
        "multi_hot": lambda: multi_hot(indices, 30, offsets=offsets, mode="count"),
        "multi_hot csr": lambda: multi_hot(indices, 30, offsets=offsets, output="csr"),
    }


def _tables(rng: np.random.Generator, n: int) -> dict[str, Work]:
    """Return calls of one encoder, whose caches are empty."""
    texts = np.array([f"category {i} {'x' * (i % 40)}" for i in range(500)], object)
    table = {
        "text": texts[rng.integers(0, 500, n)],
        "wide": texts[:20][rng.integers(0, 20, n)].astype("U60"),
        "number": rng.integers(0, 300, n) * 2**40,
        "float": rng.integers(0, 30, n) / 7,
    }
    options: dict[str, Any] = {"handle_unknown": "ignore", "min_frequency": 3, "dtype": "u1"}
    fitted = Encoder([*table], **options).fit(table)
    unseen = {**table, "text": np.array(["new"] * n, object)}
    # Where memory runs out, SciPy's slices and conversions of a matrix end the process.
    encoded, text = fitted.transform(table, "numpy")[: n // 10], fitted.to_json()
    encoder, strict = pickle.loads(pickle.dumps((fitted, Encoder(["text"]).fit(table))))
    half = {name: column[: n // 2] for name, column in table.items()}
    return {
        "names": lambda: encoder.get_feature_names_out(),
        "fit": lambda: Encoder([*table], **options).fit(table).get_feature_names_out(),
        "merge": lambda: _fitted(half).merge(_fitted(table)).n_features,
        "transform": lambda: encoder.transform(table, "numpy"),
        "transform csr": lambda: encoder.transform(table, "csr"),
        "transform unseen": lambda: encoder.transform(unseen, "csr"),
        "transform csc": lambda: encoder.transform(table, "csc"),
        "transform codes": lambda: encoder.transform(half, "codes"),
        "transform implicit": lambda: encoder.transform(table, "implicit").gram(num_threads=2),
        "transform rejected": lambda: _error(lambda: strict.transform(unseen, "numpy")),
        "inverse": lambda: encoder.inverse_transform(encoded),
        "json": lambda: Encoder.from_json(text).get_feature_names_out(),
        "pickle": lambda: pickle.loads(pickle.dumps(encoder)).get_feature_names_out(),
    }


def _fitted(table: dict[str, np.ndarray]) -> Encoder:
    return Encoder([*table]).fit(table)


def _error(call: Work) -> str:
    try:
        call()
    except ValueError as error:
        return str(error)
    raise AssertionError("it is not rejected")


def _values(rng: np.random.Generator, n: int) -> Any:
    return np.array(["a", "bb", "ccc", None, "d" * 30], object)[rng.integers(0, 5, n)]


def _pandas(rng: np.random.Generator, n: int) -> Iterator[tuple[str, Work]]:
    import pandas as pd

    from onehot_fast.integrations.pandas import get_dummies

    frame = pd.DataFrame({"c": pd.Series(_values(rng, n)), "n": rng.integers(0, 9, n)})
    category = frame["c"].astype("category")
    yield "get_dummies", lambda: get_dummies(frame)
    yield "series", lambda: category.onehot()
    yield "frame", lambda: frame.onehot(["c"])


def _polars(rng: np.random.Generator, n: int) -> Iterator[tuple[str, Work]]:
    import polars as pl

    import onehot_fast.integrations.polars  # noqa: F401

    series = pl.Series("c", _values(rng, n).tolist())
    yield "polars", lambda: series.onehot()


def _arrow(rng: np.random.Generator, n: int) -> Iterator[tuple[str, Work]]:
    import pyarrow as pa

    from onehot_fast.integrations import arrow

    array = pa.array(_values(rng, n).tolist())
    known = Encoder(["c"]).fit(pa.table({"c": array}))
    yield "arrow", lambda: np.asarray(arrow.one_hot(array).to_arrow().to_pylist())
    yield "arrow encode", lambda: arrow.encode(pa.table({"c": array}), known).num_rows


def _sklearn(rng: np.random.Generator, n: int) -> Iterator[tuple[str, Work]]:
    from onehot_fast.integrations.sklearn import OneHotEncoder

    x = np.stack([rng.integers(0, 9, n), rng.integers(0, 4, n)], 1)
    yield "sklearn", lambda: OneHotEncoder().fit_transform(x)
