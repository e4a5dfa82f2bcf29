"""Functions that call the kernels with NumPy arrays, and a description of this build.

Kernels do not know the dtype of a result, only the width of its elements in bytes.
"""

from __future__ import annotations

import platform
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._kernels import chunks, planes, ragged, rows, scan, simd, sparse
from onehot_fast._kernels import decode as _decode
from onehot_fast._kernels.code_columns import INDEX_DTYPES as INDEX_DTYPES
from onehot_fast._kernels.code_columns import recode as _recode
from onehot_fast._runtime import memory, parallel
from onehot_fast._version import __version__

AnyArray: TypeAlias = npt.NDArray[Any]

# From this many codes on, `count` uses one histogram: adding up four takes longer than they save.
_MANY_COUNTS = 1 << 12


def _bits(ignore_index: int | None) -> int | None:
    """Return the ignored index as the unsigned integer with the same 64 bits; None stays None."""
    return None if ignore_index is None else ignore_index & 0xFFFF_FFFF_FFFF_FFFF


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
    """Write the one-hot encoding of checked contiguous indices to ``out`` (outer, depth, inner).

    If ``zeroed``, the system has just allocated ``out``, and all its bytes are 0.
    """
    if out.nbytes:
        elements, policy = _elements(on, off), (wrap, _bits(ignore_index))
        flat, cells = indices.reshape(-1), _memory_of(out)
        rows.encode(flat, cells, depth, inner, *elements, *policy, num_threads, zeroed)


def first_invalid(
    indices: AnyArray,
    depth: int,
    *,
    wrap: bool,
    ignore_index: int | None,
    negative: bool,
    too_large: bool,
) -> int:
    """Return the flat position of the first index that the policy rejects, or -1."""
    ignored = _bits(ignore_index)
    return scan.first_invalid(indices.reshape(-1), depth, wrap, ignored, negative, too_large)


def maximum(indices: AnyArray, ignore_index: int | None) -> int | None:
    """Return the maximum of all indices except ignored ones and floats beyond int64, or None."""
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


def decode(
    cube: AnyArray, on: AnyArray, off: AnyArray | None, default: int, num_threads: int
) -> tuple[npt.NDArray[np.int64], int, int, int]:
    """Return the position of each row's hot element (else ``default``), and three row numbers.

    A row is ``cube[i, :, k]``. The row numbers (-1 for no such row) are: the first row without a
    hot element; the first with several; the first that has no hot element, but an element that
    differs from ``off`` (if ``off`` is None: elements that differ from each other).
    """
    outer, depth, inner = cube.shape
    out = np.empty(outer * inner, np.int64)
    if out.size == 0 or depth == 0:
        out.fill(default)
        return out, 0 if out.size else -1, -1, -1
    zero = None if off is None else _memory_of(off)
    elements = _memory_of(on), zero, default, num_threads
    return out, *_decode.decode(_memory_of(cube), out, depth, inner, *elements)


def encode_matrix(
    codes: list[AnyArray],
    tables: list[npt.NDArray[np.int32] | None],
    out: AnyArray,
    on: AnyArray,
    off: AnyArray,
    num_threads: int = 1,
    zeroed: bool = False,
) -> None:
    """Fill the C-contiguous (rows, columns) ``out`` from several columns of codes, in one pass.

    A table maps each code to a column of ``out``, or to -1 for no column. Its last entry applies to
    values that are not codes. If a table is None, each code is the number of its column.
    """
    if out.nbytes:
        elements = _elements(on, off)
        arguments = out.shape[1], *elements, num_threads, zeroed
        rows.encode_columns(codes, tables, _memory_of(out), *arguments)


def encode_block(
    codes: AnyArray,
    table: npt.NDArray[np.int32] | None,
    out: AnyArray,
    on: AnyArray,
    off: AnyArray,
    num_threads: int = 1,
) -> None:
    """Write the one-hot encoding of a column of codes to C-contiguous ``out`` (columns, rows)."""
    if out.nbytes:
        arguments = len(out), *_elements(on, off), num_threads
        planes.encode_block(codes, table, _memory_of(out), *arguments)


def encode_bits(
    codes: AnyArray,
    table: npt.NDArray[np.int32] | None,
    out: npt.NDArray[np.uint8],
    num_threads: int = 1,
    result_bytes: int | None = None,
) -> None:
    """Write one bit per code to each row of ``out`` (columns, bytes); the lowest bit is the first.

    If a row of ``out`` has more bytes than the bits need, the other bytes keep their values.
    ``result_bytes`` is the size of the whole result, of which ``out`` may be a part.
    """
    if out.nbytes:
        planes.encode_bits(codes, table, out, result_bytes or out.nbytes, num_threads)


def csr(
    codes: list[AnyArray],
    tables: list[npt.NDArray[np.int32] | None],
    n_columns: int,
    data_dtype: npt.DTypeLike,
    num_threads: int = 1,
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return ``(data, indices, indptr)`` of the one-hot matrix in CSR format."""
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
    """Return ``(data, indices, indptr)`` of the one-hot matrix in CSC format."""
    position = _position_dtype(len(codes) * len(codes[0]), len(codes[0]))
    groups, parts = _groups(len(codes[0]), n_columns, num_threads)
    counts = np.zeros((groups, n_columns, parts), position)
    sparse.csc_counts(codes, tables, counts, num_threads)
    # The row numbers of a column are stored part after part.
    in_order = counts.transpose(1, 0, 2).reshape(n_columns, groups * parts)
    ends = in_order.cumsum(dtype=position).reshape(in_order.shape)
    indptr = np.append(position.type(0), ends[:, -1])
    places = (ends - in_order).reshape(n_columns, groups, parts).transpose(1, 0, 2)
    indices, _ = memory.allocate((int(indptr[-1]),), position)
    places = np.ascontiguousarray(places)
    ends_of_parts = places + counts
    sparse.csc_rows(codes, tables, places, indices, num_threads)
    if not np.array_equal(places, ends_of_parts):  # some rows were not written
        raise RuntimeError("another thread changed the codes while they were read")
    data = _ones(len(indices), data_dtype, indices.nbytes * 2)
    return data, indices, indptr


def recode(
    codes: AnyArray, table: npt.NDArray[np.int32], num_threads: int = 1
) -> npt.NDArray[np.signedinteger[Any]]:
    """Return the table entry of each code, in the smallest signed dtype that fits all entries."""
    span = int(table.max()) + 1
    out, _ = memory.allocate((len(codes),), np.min_scalar_type(-max(span, 1)))
    _recode(codes, table, out, span, num_threads)
    return out


def count(codes: AnyArray, n_codes: int) -> npt.NDArray[np.int64]:
    """Return how often each code in [0, n_codes) occurs."""
    counts = np.zeros((4 if n_codes < _MANY_COUNTS else 1, n_codes + 1), np.int64)
    scan.count(codes, counts)
    total: npt.NDArray[np.int64] = counts.sum(axis=0)[:n_codes]
    return total


def multi_hot(
    offsets: npt.NDArray[np.int64],
    codes: AnyArray,
    table: npt.NDArray[np.int32] | None,
    out: AnyArray,
    on: AnyArray,
    off: AnyArray,
    num_threads: int = 1,
) -> None:
    """Fill each row i of ``out`` from the codes ``codes[offsets[i]:offsets[i + 1]]``."""
    arguments = out.shape[1], *_elements(on, off), num_threads
    ragged.encode(offsets, codes, table, _memory_of(out), *arguments)


def multi_hot_count(
    offsets: npt.NDArray[np.int64],
    codes: AnyArray,
    table: npt.NDArray[np.int32] | None,
    out: AnyArray,
) -> None:
    """Add 1 to ``out[row, column]`` for each code of a row; `table` maps codes to columns."""
    ragged.count(offsets, codes, table, out)


def multi_hot_csr(
    offsets: npt.NDArray[np.int64],
    codes: AnyArray,
    table: npt.NDArray[np.int32] | None,
    n_columns: int,
    data_dtype: npt.DTypeLike,
    count: bool,
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return ``(data, indices, indptr)`` of the CSR matrix: ones or, if `count`, counts."""
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
    """Return into how many groups `csc` splits the rows, and into how many parts each group."""
    n_groups = 1 if num_threads == 1 else 4 * num_threads
    # Counting for all parts and columns must take less time than reading the rows.
    affordable = n_rows // (8 * max(n_columns, 1))
    parts = sparse.GROUP_PARTS if affordable >= sparse.GROUP_PARTS else 1
    return max(1, min(n_groups, affordable // parts)), parts


def _memory_of(out: AnyArray) -> npt.NDArray[np.uint8]:
    """Return a 1-D view of the bytes of a contiguous array."""
    return out.reshape(-1).view(np.uint8)


def _elements(on: AnyArray, off: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the bytes of the on and off elements."""
    return _memory_of(on), _memory_of(off)


def _position_dtype(*largest: int) -> np.dtype[Any]:
    """Return int32 if it can represent all the given numbers, else int64, as SciPy does."""
    return np.dtype(np.int32 if max(largest) <= np.iinfo(np.int32).max else np.int64)


def _ones(n: int, dtype: npt.DTypeLike, result_bytes: int) -> AnyArray:
    """Return ``n`` ones; stores bypass the caches if the result is large and memory is reused."""
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
