"""An Arrow dictionary to a tensor, by the libraries that accept one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.kinds.frames import N_CLASSES, FrameWork
from benchmarks.kinds.labels import Array
from benchmarks.peers.forms import former
from benchmarks.peers.registry import OURSELVES, Call

BARE = "one_hot of the codes"


def _as_matrix(result: Any, work: FrameWork) -> Array:
    """Return the cells of what NumPy takes for an array."""
    return np.asarray(result)


def _columns(result: Any, work: FrameWork) -> Array:
    """Return the cells of a frame of polars."""
    cells: Array = result.to_numpy()
    return cells


@former("arrow.one_hot", library=OURSELVES, form="tensor", read=_as_matrix)
def ours(library: Any, work: FrameWork) -> Call:
    """Make a tensor of fixed shape."""
    one_hot, data = import_module("onehot_fast.integrations.arrow").one_hot, work.data
    return lambda: one_hot(data)


@former(BARE, library=OURSELVES, form="tensor", read=_as_matrix)
def kernel(library: Any, work: FrameWork) -> Call:
    """Encode an array of NumPy: what the kernel alone takes."""
    one_hot, [codes] = library.one_hot, work.codes
    return lambda: one_hot(codes, N_CLASSES, dtype=np.uint8)


@former("eye.take", library="numpy", form="tensor", read=_as_matrix)
def numpy_take(numpy: Any, work: FrameWork) -> Call:
    """Look rows up in the unit matrix, by the dictionary's indices."""
    eye, data = np.eye(N_CLASSES, dtype=np.uint8), work.data
    return lambda: eye.take(data.indices.to_numpy(), axis=0)


@former("Series.to_dummies", library="polars", form="tensor", read=_columns)
def polars_dummies(polars: Any, work: FrameWork) -> Call:
    """Make columns, from an Enum of polars' own."""
    names = work.data.dictionary.to_pylist()
    series = polars.Series("x", work.data.cast("string"), dtype=polars.Enum(names))
    return lambda: series.to_dummies()
