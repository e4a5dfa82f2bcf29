"""The dispatch layer: it maps the dtype of an array to the specialisation of a kernel for this dtype.

Other modules call kernels through this module. A kernel of one column of codes or indices is a fused `def`
over memoryviews: Cython compiles it once for each type. The tables below hold these specialisations, so that a
call looks up a dtype once; Cython's own dispatch would search through all types in each call (0.4 µs).

The arrays are in native byte order and C-contiguous: their dtype is in the table, or the call is an error.

Kernels do not know the dtype of a result: they get the bytes of its memory, and copy the bytes of elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from onehot_fast._kernels import code_columns, planes, ragged, rows, scan, sparse
from onehot_fast._kernels.code_columns import INDEX_DTYPES
from onehot_fast._kernels.decode import decode, decode_bits
from onehot_fast._kernels.simd import get_stream_bytes, stream_fill

__all__ = [
    "INDEX_DTYPES", "count", "csc", "csr", "decode", "decode_bits", "encode", "encode_bits",
    "encode_block", "encode_integers", "encode_matrix", "first_invalid", "get_stream_bytes",
    "multi_hot", "multi_hot_count", "multi_hot_csr", "pack", "recode", "stream_fill",
]  # fmt: skip

AnyArray: TypeAlias = npt.NDArray[Any]
Lut: TypeAlias = npt.NDArray[np.int32]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# The C name of each dtype, by which Cython names the specialisation. Codes are integers; indices
# may also be floats.
_CODES = {np.dtype(name): f"{name}_t" for name in (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)}  # fmt: skip
_INDICES = _CODES | {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}


class _Specialisations(dict[np.dtype[Any], Kernel]):
    """The specialisations of a kernel, by dtype."""

    def __init__(self, kernel: Kernel, c_names: dict[np.dtype[Any], str]) -> None:
        fused: Any = kernel  # its stub shows the signature that all specialisations have
        super().__init__({dtype: fused[c_name] for dtype, c_name in c_names.items()})

    def __missing__(self, dtype: np.dtype[Any]) -> NoReturn:
        raise ValueError(f"the dtype must be one of {', '.join(map(str, self))}, got {dtype!r}")


_count = _Specialisations(scan.count, _CODES)
_encode = _Specialisations(rows.encode, _INDICES)
_encode_integers = _Specialisations(rows.encode_integers, _CODES)
_encode_bits = _Specialisations(planes.encode_bits, _CODES)
_encode_block = _Specialisations(planes.encode_block, _CODES)
_first_invalid = _Specialisations(scan.first_invalid, _INDICES)
_multi_hot = _Specialisations(ragged.multi_hot, _CODES)
_multi_hot_count = _Specialisations(ragged.multi_hot_count, _INDICES)  # the dtype of the result
_multi_hot_csr = _Specialisations(ragged.csr, _CODES)
_recode = _Specialisations(code_columns.recode, _CODES)

# Kernels of several columns, which may have different dtypes; `csr` and `csc` have a fused type of
# their positions, which Cython dispatches.
csc, csr = sparse.csc, sparse.csr
pack = code_columns.pack


def _bytes_of(out: AnyArray) -> npt.NDArray[np.uint8]:
    """Return the memory of a C-contiguous array of any dtype as bytes; never copy."""
    return np.ndarray(out.nbytes, np.uint8, out)


def encode(
    indices: AnyArray,
    out: AnyArray,
    depth: int,
    inner: int,
    on: AnyArray,
    off: AnyArray,
    *,
    wrap: bool = False,
    ignore_index: int | None = None,
    num_threads: int = 1,
    zeroed: bool = False,
) -> None:
    """Write the one-hot encoding of the indices to `out`, of shape (outer, depth, inner)."""
    # The view is new, also of a vector: NumPy stores data for memoryviews in an array, and another
    # thread may encode the same array now.
    _encode[indices.dtype](
        indices.reshape(-1), _bytes_of(out), depth, inner, on, off, wrap, ignore_index, num_threads, zeroed
    )


def encode_integers(
    integers: AnyArray,
    lut: Lut,
    low: int,
    values: npt.NDArray[np.uint64] | None,
    out: AnyArray,
    depth: int,
    inner: int,
    on: AnyArray,
    off: AnyArray,
    *,
    num_threads: int = 1,
    zeroed: bool = False,
) -> bool:
    """Write the one-hot encoding of the classes of integers to `out`; see `rows.encode_integers`.

    Return whether an integer is unknown, which is the entry -2 of the look-up table.
    """
    return _encode_integers[integers.dtype](
        integers.reshape(-1),
        lut,
        low,
        values,
        _bytes_of(out),
        depth,
        inner,
        on,
        off,
        num_threads,
        zeroed,
    )


def encode_matrix(
    codes: list[AnyArray],
    luts: list[Lut | None],
    out: AnyArray,
    on: AnyArray,
    off: AnyArray,
    num_threads: int = 1,
    zeroed: bool = False,
) -> None:
    """Write the one-hot encoding of several columns of codes to `out`, of shape (rows, features)."""
    rows.encode_matrix(codes, luts, _bytes_of(out), out.shape[1], on, off, num_threads, zeroed)


def encode_block(
    codes: AnyArray, lut: Lut | None, out: AnyArray, on: AnyArray, off: AnyArray, num_threads: int = 1
) -> None:
    """Write the one-hot encoding of one column of codes to `out`, of shape (features, rows)."""
    _encode_block[codes.dtype](codes, lut, _bytes_of(out), len(out), on, off, num_threads)


def encode_bits(
    codes: AnyArray,
    lut: Lut | None,
    out: npt.NDArray[np.uint8],
    num_threads: int = 1,
    result_bytes: int = 0,
) -> None:
    """Write the one-hot encoding of one column of codes to `out`, as bits; see `planes`."""
    _encode_bits[codes.dtype](codes, lut, out, num_threads, result_bytes)


def recode(codes: AnyArray, lut: Lut, out: AnyArray, num_threads: int) -> None:
    """Write the entry of the look-up table for each code to `out`, integers that fit all entries."""
    _recode[codes.dtype](codes, lut, _bytes_of(out), out.itemsize, num_threads)


def multi_hot(
    offsets: npt.NDArray[np.int64],
    codes: AnyArray,
    lut: Lut | None,
    out: AnyArray,
    on: AnyArray,
    off: AnyArray,
    num_threads: int = 1,
) -> None:
    """Write `on` to ``out[row, feature]`` for each code of each row, and `off` elsewhere."""
    _multi_hot[codes.dtype](
        offsets, codes, lut, _bytes_of(out), out.shape[1], on, off, num_threads
    )


def multi_hot_count(
    offsets: npt.NDArray[np.int64], codes: AnyArray, lut: Lut | None, out: AnyArray
) -> None:
    """Add 1 to ``out[row, feature]`` for every code of each row."""
    _multi_hot_count[out.dtype](offsets, codes, lut, out)


def multi_hot_csr(
    offsets: npt.NDArray[np.int64],
    codes: AnyArray,
    lut: Lut | None,
    indices: npt.NDArray[np.int32],
    indptr: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    n_features: int,
) -> int:
    """Fill the arrays of a CSR matrix of rows with several codes; see `ragged.csr`."""
    return _multi_hot_csr[codes.dtype](offsets, codes, lut, indices, indptr, counts, n_features)


def count(codes: AnyArray, n_codes: int) -> npt.NDArray[np.int64]:
    """Return how often each code in [0, `n_codes`) occurs."""
    return _count[codes.dtype](codes, n_codes)


def first_invalid(
    indices: AnyArray, lowest: int | None, stop: int | None, ignored: int | None
) -> int:
    """Return the position of the first index outside [`lowest`, `stop`), or -1."""
    return _first_invalid[indices.dtype](indices, lowest, stop, ignored)
