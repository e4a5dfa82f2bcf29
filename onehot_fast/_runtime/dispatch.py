"""The functions that call the kernels for all other modules, and a description of this build.

Kernels do not know the dtype of a result, only the width of its elements in bytes.
"""

from __future__ import annotations

import platform
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._kernels import chunks, code_columns, ragged, simd, sparse
from onehot_fast._kernels.code_columns import INDEX_DTYPES
from onehot_fast._kernels.decode import decode, decode_bits
from onehot_fast._kernels.planes import encode_bits, encode_block
from onehot_fast._kernels.ragged import multi_hot, multi_hot_count
from onehot_fast._kernels.rows import encode, encode_matrix
from onehot_fast._kernels.scan import count, first_invalid
from onehot_fast._runtime import memory, parallel
from onehot_fast._version import __version__

__all__ = [
    "INDEX_DTYPES", "build_info", "count", "csc", "csr", "decode", "decode_bits", "encode",
    "encode_bits", "encode_block", "encode_matrix", "first_invalid", "maximum", "multi_hot",
    "multi_hot_count", "multi_hot_csr", "recode",
]  # fmt: skip

AnyArray: TypeAlias = npt.NDArray[Any]


def maximum(indices: AnyArray, ignore_index: int | None) -> int | None:
    """Return the largest index other than `ignore_index`, or None if there is no such index.

    Floats that do not fit int64 are skipped.
    """
    if not indices.size:
        return None
    largest, limit = indices.max(), 2.0**63
    is_float = indices.dtype.kind == "f"
    if (not is_float or -limit <= largest < limit) and int(largest) != ignore_index:
        return int(largest)
    if is_float:
        in_range = indices[(indices >= -limit) & (indices < limit)]
        return maximum(in_range.astype(np.int64), ignore_index)
    # The ignored index becomes 0. The others wrap around and keep their order.
    others = (indices - largest).view(f"u{indices.itemsize}")
    return int(largest) + int(others.max()) - 2 ** (8 * indices.itemsize) if others.any() else None


def csr(
    codes: list[AnyArray],
    tables: list[npt.NDArray[np.int32] | None],
    n_columns: int,
    data_dtype: npt.DTypeLike,
    num_threads: int = 1,
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return ``(data, indices, indptr)`` of the one-hot matrix in CSR format.

    Each item of `tables` maps the codes of one column to columns of the matrix (see
    `encode_matrix`).
    """
    room = len(codes) * len(codes[0])
    position = _position_dtype(room, n_columns)
    indices, _ = memory.allocate((room,), position)
    indptr, _ = memory.allocate((len(codes[0]) + 1,), position)
    n_bytes = indices.nbytes + indptr.nbytes + room * np.dtype(data_dtype).itemsize
    total = sparse.csr(codes, tables, indices, indptr, n_columns, num_threads)
    return _ones(total, data_dtype, n_bytes), indices[:total], indptr


def csc(
    codes: list[AnyArray],
    tables: list[npt.NDArray[np.int32] | None],
    n_columns: int,
    data_dtype: npt.DTypeLike,
    num_threads: int = 1,
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return ``(data, indices, indptr)`` of the one-hot matrix in CSC format.

    Each item of `tables` maps the codes of one column to columns of the matrix (see
    `encode_matrix`).
    """
    position = _position_dtype(len(codes) * len(codes[0]), len(codes[0]))
    groups, parts = _groups(len(codes[0]), n_columns, num_threads)
    counts = np.zeros((groups, n_columns, parts), position)
    sparse.csc(codes, tables, counts, np.empty(0, position), num_threads)
    # The row numbers of a column are stored part after part.
    in_order = counts.transpose(1, 0, 2).reshape(n_columns, groups * parts)
    ends = in_order.cumsum(dtype=position).reshape(in_order.shape)
    indptr = np.append(position.type(0), ends[:, -1])
    places = (ends - in_order).reshape(n_columns, groups, parts).transpose(1, 0, 2)
    indices, _ = memory.allocate((int(indptr[-1]),), position)
    places = np.ascontiguousarray(places)
    ends_of_parts = places + counts
    sparse.csc(codes, tables, places, indices, num_threads)
    if not np.array_equal(places, ends_of_parts):  # some rows were not written
        raise RuntimeError("another thread changed the codes while they were read")
    return _ones(len(indices), data_dtype, indices.nbytes * 2), indices, indptr


def recode(
    codes: AnyArray,
    table: npt.NDArray[np.int32],
    num_threads: int = 1,
    dtype: np.dtype[Any] | None = None,
) -> AnyArray:
    """Return the table entry of each code.

    `dtype` must fit all entries. By default, it is the smallest signed dtype that does.
    """
    dtype = dtype or np.min_scalar_type(-max(int(table.max()) + 1, 1))
    out, _ = memory.allocate((len(codes),), dtype)
    code_columns.recode(codes, table, out, num_threads)
    return out


def multi_hot_csr(
    offsets: npt.NDArray[np.int64],
    codes: AnyArray,
    table: npt.NDArray[np.int32] | None,
    n_columns: int,
    data_dtype: npt.DTypeLike,
    count: bool,
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return ``(data, indices, indptr)`` of the multi-hot matrix in CSR format.

    The data are ones. If `count` is true, they are how often each column occurs in its row.
    """
    # Clip the size only to allocate memory: the kernel rejects offsets outside the codes.
    room = min(max(int(offsets[-1]) - int(offsets[0]), 0), len(codes))
    position = _position_dtype(room, n_columns)
    indices = np.empty(room, np.int32)
    indptr = np.empty(len(offsets), np.int64)
    counts = np.empty(room, np.int64)
    total = ragged.csr(offsets, codes, table, indices, indptr, counts, n_columns)
    data = counts[:total].astype(data_dtype) if count else _ones(total, data_dtype, 0)
    return data, indices[:total].astype(position, copy=False), indptr.astype(position, copy=False)


def _groups(n_rows: int, n_columns: int, num_threads: int) -> tuple[int, int]:
    """Return how many groups of rows `csc` forms, and how many parts each group has."""
    n_groups = 1 if num_threads == 1 else 4 * num_threads
    # Counting for all parts and columns must take less time than reading the rows.
    affordable = n_rows // (8 * max(n_columns, 1))
    parts = sparse.GROUP_PARTS if affordable >= sparse.GROUP_PARTS else 1
    return max(1, min(n_groups, affordable // parts)), parts


def _position_dtype(*largest: int) -> np.dtype[Any]:
    """Return int32 if it can represent all the given numbers, else int64, as SciPy does."""
    return np.dtype(np.int32 if max(largest) <= np.iinfo(np.int32).max else np.int64)


def _ones(n: int, dtype: npt.DTypeLike, result_bytes: int) -> AnyArray:
    """Return an array of ``n`` ones; if `result_bytes` is large, stores bypass the CPU caches."""
    ones, is_fresh = memory.allocate((n,), np.dtype(dtype))
    one = np.ones(1, dtype)
    is_large = result_bytes > simd.get_stream_bytes() and not is_fresh
    if not (is_large and simd.stream_fill(ones.view(np.uint8), one.view(np.uint8))):
        ones.fill(1)
    return ones


def build_info() -> dict[str, Any]:
    """Return a description of this build and of the machine, for bug reports.

    Returns
    -------
    dict
        ``version``, ``python``, ``numpy`` and ``machine``: str;
        ``openmp``: bool; ``openmp_version``: int, the date of the OpenMP standard (yyyymm) or 0;
        ``simd``: str, the active variant of the kernels; ``simd_variants``: tuple of str, the
        variants that this processor can run, best first (``ONEHOT_FAST_SIMD`` selects one);
        ``stream_bytes``: int, the output size in bytes above which stores bypass the caches
        (``ONEHOT_FAST_STREAM_BYTES`` sets it);
        ``num_threads``: int, the number of threads that a large call uses by default.

    Examples
    --------
    >>> import onehot_fast
    >>> info = onehot_fast.build_info()
    >>> info["simd"] in info["simd_variants"]
    True
    """
    return {
        "version": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "openmp": chunks.openmp_version() > 0,
        "openmp_version": chunks.openmp_version(),
        "simd": simd.active(),
        "simd_variants": simd.variants(),
        "stream_bytes": simd.get_stream_bytes(),
        "num_threads": parallel.available(),
    }
