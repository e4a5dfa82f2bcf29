"""Sparse matrices in SciPy's containers. SciPy is imported when the first one is made."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

from onehot_fast._runtime.registry import library

FORMATS = ("csr", "csc")
# The characters of the dtypes that SciPy computes with: float16 is not among them.
DTYPES = "?" + np.typecodes["AllInteger"] + "fdgFDG"


def sparse_array(
    form: str,
    parts: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]],
    shape: tuple[int, int],
) -> Any:
    """Return the `csr_array` or `csc_array` of canonical ``(data, indices, indptr)``."""
    dtype = parts[0].dtype
    if dtype.char not in DTYPES:
        raise ValueError(
            f"dtype = {dtype.name!r} is none of scipy.sparse; accepted are bool, integers, float32,"
            " float64 and complex dtypes"
        )
    module = library("scipy.sparse", f"a {form}_array")
    matrix = getattr(module, f"{form}_array")(parts, shape=shape, copy=False)
    # The kernels write each row in order and once, so that SciPy need not look.
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def filled(
    form: str, cells: list[tuple[npt.NDArray[Any], int, int]], shape: tuple[int, int], value: Any
) -> Any:
    """Return a matrix that holds a value where (rows, first column, last column + 1) say."""
    rows = [np.repeat(some, stop - start) for some, start, stop in cells]
    columns = [np.tile(np.arange(start, stop), len(some)) for some, start, stop in cells]
    position = np.int32 if max(shape) <= np.iinfo(np.int32).max else np.int64
    i = tuple(np.concatenate(parts).astype(position) for parts in (rows, columns))
    module = importlib.import_module("scipy.sparse")
    data = np.full(len(i[0]), value)
    return module.coo_array((data, i), shape=shape).asformat(form)
