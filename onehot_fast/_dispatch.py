"""From dtypes to kernels: one table, (layout, index dtype) → the compiled specialisation.

The element is not in the table: a kernel knows it by its width in bytes alone, at run time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._kernels import decode as _decode
from onehot_fast._kernels import planes, rows, scan

AnyArray: TypeAlias = npt.NDArray[Any]
Kernel: TypeAlias = Callable[..., Any]

# dtype → the name of its specialisation in the fused type `index_t` (see _kernels/types.pxd)
_FUSED = {
    np.dtype(np.int8): "int8_t",
    np.dtype(np.int16): "int16_t",
    np.dtype(np.int32): "int32_t",
    np.dtype(np.int64): "int64_t",
    np.dtype(np.uint8): "uint8_t",
    np.dtype(np.uint16): "uint16_t",
    np.dtype(np.uint32): "uint32_t",
    np.dtype(np.uint64): "uint64_t",
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
}
INDEX_DTYPES = tuple(_FUSED)

_KERNELS: dict[tuple[str, np.dtype[Any]], Kernel] = {
    (name, dtype): entry[fused]
    for name, entry in (
        ("rows", rows.encode),
        ("planes", planes.encode),
        ("first_invalid", scan.first_invalid),
        ("maximum", scan.maximum),
    )
    for dtype, fused in _FUSED.items()
}


# Groups at least this wide are worth not zeroing twice: of four cache lines one is written, and not four.
_SPARSE_BYTES = 256


def layout(inner: int, width: int) -> str:
    """Return the layout of the kernel for runs of ``inner`` elements of ``width`` bytes."""
    return "rows" if rows.fits_rows(inner, width) else "planes"


def kernel(name: str, dtype: np.dtype[Any]) -> Kernel:
    """Return the specialisation of a kernel for indices of ``dtype``."""
    try:
        return _KERNELS[name, dtype]
    except KeyError:
        accepted = ", ".join(map(str, INDEX_DTYPES))
        raise TypeError(f"no {name} kernel for indices of {dtype}: accepted are {accepted}") from None


def _bits(ignore_index: int | None) -> int | None:
    """Return the 64-bit pattern by which the kernels compare the ignored index."""
    return None if ignore_index is None else ignore_index & 0xFFFF_FFFF_FFFF_FFFF


def encode(
    indices: AnyArray,
    out: AnyArray,
    depth: int,
    inner: int,
    on: npt.NDArray[np.uint8],
    off: npt.NDArray[np.uint8],
    *,
    wrap: bool = False,
    ignore_index: int | None = None,
    num_threads: int = 1,
    zeroed: bool = False,
) -> None:
    """Fill ``out``, seen as (outer, depth, inner), from contiguous checked ``indices``.

    ``zeroed`` says that ``out`` is fresh from the system, and so all zero already.
    """
    if out.nbytes == 0:
        return
    name = layout(inner, out.itemsize)
    write = kernel(name, indices.dtype)
    strategy = ()
    if zeroed and name == "rows" and depth * inner * out.itemsize >= _SPARSE_BYTES and not off.any():
        strategy = (rows.SCATTER_ONLY,)
    memory = out.reshape(-1).view(np.uint8)
    write(
        indices.reshape(-1), memory, depth, inner, on, off, wrap, _bits(ignore_index), num_threads,
        *strategy,
    )


def first_invalid(
    indices: AnyArray,
    depth: int,
    *,
    wrap: bool,
    ignore_index: int | None,
    negative: bool,
    too_large: bool,
) -> int:
    """Return the flat position of the first index a policy forbids, or -1."""
    scan_for = kernel("first_invalid", indices.dtype)
    position: int = scan_for(
        indices.reshape(-1), depth, wrap, _bits(ignore_index), negative, too_large
    )
    return position


def maximum(indices: AnyArray, ignore_index: int | None) -> int | None:
    """Return the largest index that is not ignored, or None."""
    largest: int | None = kernel("maximum", indices.dtype)(indices.reshape(-1), _bits(ignore_index))
    return largest


def decode(
    tensor: AnyArray,
    out: npt.NDArray[np.int64],
    depth: int,
    inner: int,
    on: npt.NDArray[np.uint8],
    all_off: int,
    num_threads: int,
) -> tuple[int, int]:
    """Fill ``out`` with the position of each row's first on; return the first row of each fault."""
    if out.size == 0:
        return -1, -1
    if depth == 0:
        out.fill(all_off)
        return 0, -1
    memory = tensor.reshape(-1).view(np.uint8)
    faults: tuple[int, int] = _decode.decode(
        memory, out.reshape(-1), depth, inner, on, all_off, num_threads
    )
    return faults
