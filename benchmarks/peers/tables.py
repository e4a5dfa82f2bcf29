"""The table libraries, each from the input that is fastest for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.kinds.labels import Array, Work
from benchmarks.peers.registry import Call, Task, contender, is_column


def has_every_class(work: Work) -> bool:
    """Return whether no class is absent: polars makes columns of those present only."""
    return is_column(work) and np.unique(work.indices).size == work.depth


@contender("get_dummies", library="pandas", suits=is_column)
def pandas_get_dummies(task: Task) -> Call:
    """Encode a category column, whose codes exist already."""
    pandas, work = task.library, task.work
    categories = pandas.Categorical.from_codes(work.indices, categories=range(work.depth))
    column = pandas.Series(categories)
    return lambda: pandas.get_dummies(column, dtype=work.dtype)


@contender("OneHotEncoder", library="sklearn", suits=is_column)
def sklearn_encoder(task: Task) -> Call:
    """Transform to dense output, fitted before."""
    from sklearn.preprocessing import OneHotEncoder

    work = task.work
    table = work.indices.reshape(-1, 1)
    encoder = OneHotEncoder(
        categories=[np.arange(work.depth)], dtype=work.dtype, sparse_output=False
    )
    transform = encoder.fit(table[:1]).transform
    return lambda: transform(table)


def _by_class(frame: Any) -> Array:
    """Return a frame whose columns are named ``x_<class>``, in the order of the classes."""
    columns = sorted(frame.columns, key=lambda name: int(name.removeprefix("x_")))
    cells: Array = frame.select(columns).to_numpy()
    return cells


@contender("to_dummies", library="polars", suits=has_every_class, read=_by_class)
def polars_to_dummies(task: Task) -> Call:
    """Encode an integer column; what it makes is uint8, anything else a cast."""
    polars, work = task.library, task.work
    column = polars.Series("x", work.indices)
    if work.dtype == np.uint8:
        return lambda: column.to_dummies()
    dtype = polars.Series(np.empty(0, work.dtype)).dtype
    return lambda: column.to_dummies().cast(dtype)
