"""Columns of values of any kind, and what makes a table of them in each library that is there."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from torture.tensors import pick

LETTERS = "abé€𝄞 _\0"


def draw_rows(rng: np.random.Generator, pool: list[Any], n: int) -> list[Any]:
    """Return so many values of a pool."""
    return [pool[i] for i in rng.integers(0, len(pool), n)]


def _texts(rng: np.random.Generator, most: int) -> list[Any]:
    n = min(most, int(pick(rng, [1, 3, 30, 200])))
    texts = ["".join(pick(rng, LETTERS) for _ in range(int(rng.integers(20)))) for _ in range(n)]
    return [*texts, *[None] * int(rng.integers(2))]


def _integers(rng: np.random.Generator, most: int) -> list[Any]:
    near = int(pick(rng, [0, 0, 2**31, -(2**63), 2**63 - 100, 2**53]))
    n = min(most, int(pick(rng, [1, 2, 50, 90])))
    return [near + int(i) for i in rng.integers(0, 99, n)]


def _floats(rng: np.random.Generator, most: int) -> list[Any]:
    special = [0.0, -0.0, 0.1, 1e300, 5e-324, math.inf, -math.inf, math.nan, 2.0**63]
    return [pick(rng, special) for _ in range(int(rng.integers(1, 6)))] + [float(rng.random())]


def _truths(rng: np.random.Generator, most: int) -> list[Any]:
    return [True, False][int(rng.integers(2)) :]


# What makes a pool of values, of so many at most.
KINDS: dict[str, Callable[[np.random.Generator, int], list[Any]]] = {
    "text": _texts,
    "declared": _texts,
    "integer": _integers,
    "float": _floats,
    "truth": _truths,
}
DTYPES = {"integer": np.int64, "float": np.float64, "truth": np.bool_}


def _array(values: list[Any], kind: str) -> np.ndarray:
    array = np.empty(len(values), DTYPES.get(kind, object))
    array[:] = values
    return array


def mapping(rows: Any, kinds: Any) -> Any:
    """Return a dict of arrays."""
    return {name: _array(values, kinds[name]) for name, values in rows.items()}


def _lists(rows: Any, kinds: Any) -> Any:
    return dict(rows)


def pandas(rows: Any, kinds: Any) -> Any:
    """Return a frame of pandas."""
    import pandas as pd

    return pd.DataFrame({n: pd.Series(_array(v, kinds[n])) for n, v in rows.items()})


def _arrow(rows: Any, kinds: Any) -> Any:
    import pyarrow as pa

    types = {"integer": pa.int64(), "float": pa.float64(), "truth": pa.bool_()}
    columns = {n: pa.array(v, types.get(kinds[n], pa.string())) for n, v in rows.items()}
    for name, kind in kinds.items():
        if kind == "declared":  # by its values alone: a dictionary declares nothing in Arrow
            columns[name] = columns[name].dictionary_encode()
    return pa.table(columns)


def _polars(rows: Any, kinds: Any) -> Any:
    import polars as pl

    types = {"integer": pl.Int64, "float": pl.Float64, "truth": pl.Boolean}
    return pl.DataFrame(
        {n: pl.Series(n, v, types.get(kinds[n], pl.String)) for n, v in rows.items()}
    )


def _dask(rows: Any, kinds: Any) -> Any:
    import dask
    import dask.dataframe as dd

    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(pandas(rows, kinds), npartitions=3)


def doors(*names: str) -> dict[str, Callable[[Any, Any], Any]]:
    """Return what makes a table of each library that is there, or of these among them."""
    made = {
        "mapping": mapping, "lists": _lists, "pandas": pandas, "pyarrow": _arrow,
        "polars": _polars, "dask": _dask,
    }  # fmt: skip
    modules = {"dask": "dask.dataframe", "mapping": "numpy", "lists": "numpy"}
    found = {}
    for name in names or made:
        try:
            __import__(modules.get(name, name))
        except ImportError:
            continue
        found[name] = made[name]
    return found
