"""Sparse matrices in SciPy's containers. SciPy is imported when the first one is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._runtime.registry import library

AnyArray: TypeAlias = npt.NDArray[Any]

CLASSES = {"csr": "csr_array", "csc": "csc_array", "csr_matrix": "csr_matrix"}
FORMATS = tuple(CLASSES)
# The characters of the dtypes that SciPy computes with: float16 is not among them.
DTYPES = "?" + np.typecodes["AllInteger"] + "fdgFDG"


def sparse_array(
    form: str,
    parts: tuple[AnyArray, AnyArray, AnyArray],
    shape: tuple[int, int],
    cells: Sequence[tuple[AnyArray, int, AnyArray]] = (),
) -> Any:
    """Return a container of canonical ``(data, indices, indptr)``.

    `cells` are further elements: some rows, the column, and one value or one for each row.
    """
    dtype = parts[0].dtype
    if dtype.char not in DTYPES:
        raise ValueError(
            f"dtype = {dtype.name!r} is none of scipy.sparse; accepted are bool, integers, float32,"
            " float64 and complex dtypes"
        )
    name = CLASSES[form]
    module = library("scipy.sparse", f"a {name}")
    matrix = getattr(module, name)(parts, shape=shape, copy=False)
    # The kernels write each row in order and once, so that SciPy need not look.
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    if not cells:
        return matrix
    i = np.concatenate([rows for rows, _, _ in cells]).astype(parts[1].dtype)
    j = np.repeat([column for _, column, _ in cells], [len(rows) for rows, _, _ in cells])
    data = np.concatenate([np.broadcast_to(v, len(rows)).astype(dtype) for rows, _, v in cells])
    others = module.coo_array((data, (i, j.astype(i.dtype))), shape=shape)
    return getattr(module, name)(matrix + others.asformat(form[:3]))
