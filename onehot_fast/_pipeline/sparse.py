"""Allocate the arrays of sparse matrices, and fill them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._kernels import dispatch
from onehot_fast._kernels.sparse import GROUP_PARTS
from onehot_fast._runtime import memory

AnyArray: TypeAlias = npt.NDArray[Any]
INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
INT32_MAX = int(np.iinfo(np.int32).max)

Luts: TypeAlias = list[npt.NDArray[np.int32] | None]


def compressed(
    codes: list[AnyArray],
    luts: Luts,
    n_columns: int,
    data_dtype: npt.DTypeLike,
    is_csc: bool,
    num_threads: int = 1,
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return ``(data, indices, indptr)`` of the one-hot matrix in CSR or CSC format.

    Each item of `luts` maps the codes of one column to columns of the matrix (see
    `encode_matrix`).
    """
    if is_csc:
        indices, indptr = _csc(codes, luts, n_columns, num_threads)
        result_bytes = indices.nbytes * 2
    else:
        indices, indptr = _csr(codes, luts, n_columns, num_threads)
        room = len(codes) * len(codes[0])
        result_bytes = room * (indices.itemsize + np.dtype(data_dtype).itemsize) + indptr.nbytes
    return _ones(len(indices), data_dtype, result_bytes), indices, indptr


def _csr(
    codes: list[AnyArray], luts: Luts, n_columns: int, num_threads: int
) -> tuple[AnyArray, AnyArray]:
    """Return ``(indices, indptr)`` of the CSR format."""
    room = len(codes) * len(codes[0])
    position = _position_dtype(room, n_columns)
    indices, _ = memory.allocate((room,), position)
    indptr, _ = memory.allocate((len(codes[0]) + 1,), position)
    total = dispatch.csr(codes, luts, indices, indptr, n_columns, num_threads)
    return indices[:total], indptr


def _csc(
    codes: list[AnyArray], luts: Luts, n_columns: int, num_threads: int
) -> tuple[AnyArray, AnyArray]:
    """Return ``(indices, indptr)`` of the CSC format."""
    position = _position_dtype(len(codes) * len(codes[0]), len(codes[0]))
    groups, parts = _groups(len(codes[0]), n_columns, num_threads)
    counts = np.zeros((groups, n_columns, parts), position)
    dispatch.csc(codes, luts, counts, np.empty(0, position), num_threads)
    # The row numbers of a column are stored part after part.
    in_order = counts.transpose(1, 0, 2).reshape(n_columns, groups * parts)
    ends = in_order.cumsum(dtype=position).reshape(in_order.shape)
    indptr = np.append(position.type(0), ends[:, -1])
    places = (ends - in_order).reshape(n_columns, groups, parts).transpose(1, 0, 2)
    indices, _ = memory.allocate((int(indptr[-1]),), position)
    places = np.ascontiguousarray(places)
    ends_of_parts = places + counts
    dispatch.csc(codes, luts, places, indices, num_threads)
    if not np.array_equal(places, ends_of_parts):  # some rows were not written
        raise RuntimeError("another thread changed the codes while they were read")
    return indices, indptr


def multi_hot_counts(
    offsets: npt.NDArray[np.int64],
    codes: AnyArray,
    lut: npt.NDArray[np.int32] | None,
    n_columns: int,
    data_dtype: npt.DTypeLike,
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return ``(data, indices, indptr)`` in CSR format; the data are how often a row has a code."""
    # Clip the size only to allocate memory: the kernel rejects offsets outside the codes.
    room = min(max(int(offsets[-1]) - int(offsets[0]), 0), len(codes))
    position = _position_dtype(room, n_columns)
    indices = np.empty(room, np.int32)
    indptr = np.empty(len(offsets), np.int64)
    counts = np.empty(room, np.int64)
    total = dispatch.multi_hot_csr(offsets, codes, lut, indices, indptr, counts, n_columns)
    data = counts[:total].astype(data_dtype)
    return data, indices[:total].astype(position, copy=False), indptr.astype(position, copy=False)


def ragged(
    offsets: Sequence[npt.NDArray[np.int64] | None],
    codes: Sequence[AnyArray],
    luts: Luts,
    n_rows: int,
    room: int,
    n_columns: int,
    data_dtype: npt.DTypeLike,
    is_csc: bool,
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return ``(data, indices, indptr)`` of a matrix of columns of which some are ragged.

    `room` is the number of codes of all rows.
    """
    indices, indptr = np.empty(room, np.int32), np.empty(n_rows + 1, np.int64)
    total = dispatch.csr_ragged(offsets, codes, luts, indices, indptr, n_columns)
    indices = indices[:total]
    if is_csc:
        position = _position_dtype(total, n_rows)
        ends = np.cumsum(dispatch.count(indices, n_columns))
        by_column = np.concatenate([np.zeros(1, np.int64), ends])
        rows, starts = np.empty(total, position), by_column[:-1].copy()
        dispatch.transpose(indices, indptr, rows, starts)
        return _ones(total, data_dtype, 0), rows, by_column.astype(position, copy=False)
    position = _position_dtype(total, n_columns)
    data = _ones(total, data_dtype, 0)
    return data, indices.astype(position, copy=False), indptr.astype(position, copy=False)


def _groups(n_rows: int, n_columns: int, num_threads: int) -> tuple[int, int]:
    """Return how many groups of rows `csc` forms, and how many parts each group has."""
    n_groups = 1 if num_threads == 1 else 4 * num_threads
    # Counting for all parts and columns must take less time than reading the rows.
    affordable = n_rows // (8 * max(n_columns, 1))
    parts = GROUP_PARTS if affordable >= GROUP_PARTS else 1
    return max(1, min(n_groups, affordable // parts)), parts


def _position_dtype(*largest: int) -> np.dtype[Any]:
    """Return int32 if it can represent all the given numbers, else int64, as SciPy does."""
    return INT32 if max(largest) <= INT32_MAX else INT64


def _ones(n: int, dtype: npt.DTypeLike, result_bytes: int) -> AnyArray:
    """Return an array of ``n`` ones; if `result_bytes` is large, stores bypass the CPU caches."""
    ones, is_fresh = memory.allocate((n,), np.dtype(dtype))
    if result_bytes > dispatch.get_stream_bytes() and not is_fresh:
        one = np.ones(1, dtype)
        if dispatch.stream_fill(ones.view(np.uint8), one.view(np.uint8)):
            return ones
    ones.fill(1)
    return ones
