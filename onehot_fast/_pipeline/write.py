"""Create the result of an encoding: a dense or sparse matrix, a block of columns, bits or codes.

Every public function checks the size of its result, allocates it and calls a kernel. It chooses the
number of threads if the kernel uses several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments import fastpath
from onehot_fast._arguments.messages import human_size
from onehot_fast._arguments.shapes import check_size
from onehot_fast._arguments.values import resolve_values
from onehot_fast._kernels import dispatch
from onehot_fast._pipeline import sparse
from onehot_fast._pipeline.code import Coded
from onehot_fast._runtime import memory, parallel
from onehot_fast._runtime.registry import library
from onehot_fast._schema.coded_column import CodedColumn, Lut
from onehot_fast._schema.column_schema import ColumnSchema
from onehot_fast._schema.formats import SPARSE_CLASSES
from onehot_fast._schema.schema import Schema

AnyArray: TypeAlias = npt.NDArray[Any]
SparseParts: TypeAlias = tuple[AnyArray, AnyArray, AnyArray]
# Numeric columns that are not encoded: the position in the matrix and the values of each column.
Others: TypeAlias = Sequence[tuple[int, AnyArray]]

INT32_MAX = np.iinfo(np.int32).max
MAX_BYTES = np.iinfo(np.intp).max  # the maximum size of an array
# The size of a cache line, and the minimum size of a bitmap that is padded to whole cache lines.
LINE, LONG_BITS = 64, 4096
# The characters of the dtypes that SciPy supports in computations: all but float16 and objects.
SCIPY_DTYPES = "?" + np.typecodes["AllInteger"] + "fdgFDG"
# Up to this many rows of CSR or columns of CSC, an empty matrix is copied: SciPy takes longer.
MAX_COPIED_GROUPS = 16
# A sparse result of at most this size is not compared with the free memory.
ALWAYS_FREE_BYTES = 1 << 16
# The dtypes of codes (supported by torch), and of indices (accepted by torch's embeddings).
CODE_DTYPES = np.uint8, np.int16, np.int32
INDEX_DTYPES = np.int32, np.int64


def rows(
    columns: Sequence[CodedColumn],
    dtype: npt.DTypeLike,
    *,
    n_rows: int | None = None,
    others: Others = (),
    on: Any = 1,
    off: Any = 0,
    num_threads: int | None = None,
) -> AnyArray:
    """Return the C-contiguous (n_rows, n_features) matrix of the features of all columns.

    If `columns` is empty, `n_rows` is required, as in all functions below. `others` are numeric
    columns to insert: pairs of a position in the matrix (ascending) and the values.
    """
    small = None if others else _small(columns, -1, dtype, on, off, num_threads)
    if small is not None:
        return small
    starts = _starts(columns, others)
    shape = _n_rows(columns, n_rows), starts[-1]
    _check_room(columns, shape, np.dtype(dtype), len(others))
    _, on_value, off_value = resolve_values(on, off, dtype)
    out, is_zero = memory.allocate(shape, on_value.dtype)
    threads = parallel.resolve(num_threads, out.nbytes)
    values: Any = {"on": on_value, "off": off_value, "num_threads": threads}
    if _has_ragged(columns):
        offsets = [column.offsets for column in columns]
        dispatch.encode_ragged(offsets, *_codes_and_luts(columns, starts), out, **values)
    elif len(columns) == 1 and columns[0].lut is None and not others:
        dispatch.encode(columns[0].codes, out, shape[1], 1, zeroed=is_zero, **values)
    elif columns:
        dispatch.encode_matrix(*_codes_and_luts(columns, starts), out, zeroed=is_zero, **values)
    for column, start in zip(columns, starts, strict=False):
        if column.nan_where_missing:
            out[column.rows_of_nan(), start : start + column.n_features] = np.nan
    for position, numbers in others:
        out[:, position] = numbers
    return out


def block(
    columns: Sequence[CodedColumn],
    dtype: npt.DTypeLike,
    *,
    n_rows: int | None = None,
    packed: bool = False,
    on: Any = 1,
    off: Any = 0,
    num_threads: int | None = None,
) -> AnyArray:
    """Return the C-contiguous (n_features, n_rows) block, whose rows are the features.

    If `packed` and the dtype is bool, return the result of `bits` instead.
    """
    if packed and np.dtype(dtype) == np.bool_:
        return bits(columns, n_rows=n_rows, num_threads=num_threads)
    small = _small(columns, 0, dtype, on, off, num_threads)
    if small is not None:
        return small
    starts = _starts(columns)
    shape = starts[-1], _n_rows(columns, n_rows)
    _check_room(columns, shape[::-1], np.dtype(dtype))
    _, on_value, off_value = resolve_values(on, off, dtype)
    out, _ = memory.allocate(shape, on_value.dtype)
    for column, start in zip(columns, starts, strict=False):
        part = out[start : start + column.n_features]
        threads = parallel.resolve(num_threads, part.nbytes)
        if column.offsets is not None:
            part[...] = off_value
            dispatch.write_planes(column.offsets, column.codes, column.lut, part, on_value, threads)
        else:
            dispatch.encode_block(column.codes, column.lut, part, on_value, off_value, threads)
        if column.nan_where_missing:
            part[:, column.rows_of_nan()] = np.nan
    return out


def bits(
    columns: Sequence[CodedColumn], *, n_rows: int | None = None, num_threads: int | None = None
) -> npt.NDArray[np.uint8]:
    """Return the features as bitmaps: an array of n_features rows, with one bit per element.

    The first of eight bits is the lowest bit of a byte. Large bitmaps are padded with zeros to
    whole cache lines, as Arrow recommends.
    """
    starts, n_rows = _starts(columns), _n_rows(columns, n_rows)
    n_bytes = -(-n_rows // 8)
    shape = starts[-1], bytes_of_bits(n_rows)
    check_size(shape, np.uint8)
    out, _ = memory.allocate(shape, np.dtype(np.uint8))
    out[:, n_bytes:] = 0
    for column, start in zip(columns, starts, strict=False):
        part = out[start : start + column.n_features]
        threads = parallel.resolve(num_threads, part.nbytes)
        if column.offsets is not None:
            part[...] = 0
            dispatch.write_planes(column.offsets, column.codes, column.lut, part, None, threads)
        else:
            dispatch.encode_bits(column.codes, column.lut, part, threads, result_bytes=out.nbytes)
    return out


def bytes_of_bits(n_rows: int) -> int:
    """Return the number of bytes of one feature in `bits`, including the padding."""
    n_bytes = -(-n_rows // 8)
    return n_bytes if n_bytes < LONG_BITS else -(-n_bytes // LINE) * LINE


def sparse_parts(
    form: str,
    columns: Sequence[CodedColumn],
    dtype: npt.DTypeLike,
    *,
    n_rows: int | None = None,
    others: Others = (),
    num_threads: int | None = None,
) -> SparseParts:
    """Return ``(data, indices, indptr)`` of the one-hot matrix as canonical CSR or CSC.

    The matrix has the columns of `others`, but no entries in them.
    """
    starts, n_rows = _starts(columns, others), _n_rows(columns, n_rows)
    return _sparse_parts(form, columns, starts, dtype, n_rows, num_threads)


def _sparse_parts(
    form: str,
    columns: Sequence[CodedColumn],
    starts: Sequence[int],
    dtype: npt.DTypeLike,
    n_rows: int,
    num_threads: int | None,
) -> SparseParts:
    """Return `sparse_parts` for the result of `_starts`."""
    is_ragged = _has_ragged(columns)
    # A property of each column would take longer than encoding a row.
    n_codes = sum(c.n_codes for c in columns) if is_ragged else n_rows * len(columns)
    is_csc = SPARSE_CLASSES[form].startswith("csc")
    n_groups, n_positions = (starts[-1], n_rows) if is_csc else (n_rows, starts[-1])
    # The kernel for ragged columns fills an int64 `indptr`, also if the result has int32.
    _check_sparse_size(n_codes, n_groups, n_positions, dtype, n_counts=n_rows * is_ragged)
    if not columns:
        return np.empty(0, dtype), np.empty(0, np.int32), np.zeros(n_groups + 1, np.int32)
    threads = parallel.resolve(num_threads, 4 * n_codes)  # checks the argument, too
    codes, luts = _codes_and_luts(columns, starts)
    if is_ragged:  # one thread
        offsets = [column.offsets for column in columns]
        return sparse.ragged(offsets, codes, luts, n_rows, n_codes, starts[-1], dtype, is_csc)
    return sparse.compressed(codes, luts, starts[-1], dtype, is_csc, threads)


def sparse_array(
    form: str,
    columns: Sequence[CodedColumn],
    dtype: npt.DTypeLike,
    *,
    n_rows: int | None = None,
    others: Others = (),
    num_threads: int | None = None,
) -> Any:
    """Return the one-hot matrix as a ``scipy.sparse`` container; `form` is one of `SPARSE_CLASSES`.

    Zeros in `others` are not stored.
    """
    starts = _starts(columns, others)
    shape = _n_rows(columns, n_rows), starts[-1]
    parts = _sparse_parts(form, columns, starts, dtype, shape[0], num_threads)
    matrix = wrap_sparse(form, parts, shape)
    if not others and not any([column.nan_where_missing for column in columns]):
        return matrix
    # Further elements: the rows, a column, and the value of all rows or of each row.
    nan = np.array(np.nan)
    cells = [
        (column.rows_of_nan(), position, nan)
        for column, start in zip(columns, starts, strict=False)
        if column.nan_where_missing
        for position in range(start, start + column.n_features)
    ]
    for position, numbers in others:
        rows = np.flatnonzero(numbers)
        cells.append((rows, position, numbers[rows]))
    if not any(len(rows) for rows, _, _ in cells):
        return matrix
    from scipy.sparse import coo_array

    i = np.concatenate([rows for rows, _, _ in cells]).astype(parts[1].dtype)
    j = np.repeat([column for _, column, _ in cells], [len(rows) for rows, _, _ in cells])
    values = [np.broadcast_to(v, len(rows)).astype(matrix.dtype) for rows, _, v in cells]
    entries = coo_array((np.concatenate(values), (i, j.astype(i.dtype))), shape=shape)
    return type(matrix)(matrix + entries.asformat(form[:3]))


def wrap_sparse(form: str, parts: SparseParts, shape: tuple[int, int]) -> Any:
    """Return the ``scipy.sparse`` container of canonical ``(data, indices, indptr)``."""
    dtype = parts[0].dtype
    # Other packages give their dtypes type characters of NumPy's.
    if dtype.isbuiltin == 2 or dtype.char not in SCIPY_DTYPES:
        raise ValueError(
            "dtype must be bool, an integer, float32, float64 or complex for scipy.sparse, got"
            f" {dtype.name!r}"
        )
    name = SPARSE_CLASSES[form]
    container = getattr(library("scipy.sparse", f"a {name}"), name)
    if len(parts[2]) - 1 <= MAX_COPIED_GROUPS and parts[1].dtype == np.int32:
        # SciPy would check the arrays again, which takes as long as encoding a row. `copy.copy`
        # calls methods for pickles, which take longer than copying the attributes.
        matrix: Any = object.__new__(container)
        matrix.__dict__.update(_empty_matrix(container, shape).__dict__)
        data, indices, matrix.indptr = parts
        matrix.data, matrix.indices = _trimmed(data), _trimmed(indices)
        return matrix
    return _marked_canonical(container(parts, shape=shape, copy=False))


def _marked_canonical(matrix: Any) -> Any:
    """Return a matrix whose flags tell SciPy what the kernels do, so that it does not check it."""
    # They write sorted indices without duplicates.
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def _trimmed(array: AnyArray) -> AnyArray:
    """Return the array, or a copy if less than half of the memory that it keeps is its own."""
    base = array.base
    is_mostly_unused = isinstance(base, np.ndarray) and 2 * array.nbytes < base.nbytes
    return array.copy() if is_mostly_unused else array


@lru_cache(maxsize=64)
def _empty_matrix(container: type, shape: tuple[int, int]) -> Any:
    """Return a matrix of SciPy without entries. It is never written to, only copied."""
    return _marked_canonical(container(shape, dtype=bool))


def code_matrix(form: str, coded: Coded, num_threads: int | None = None) -> npt.NDArray[Any]:
    """Return the C-contiguous (n_rows, n_columns) matrix of the format "codes" or "indices".

    The table was coded with `Schema.of_codes`. Codes start at 0 in each column. The first index of
    a column follows the last index of the preceding column.
    """
    schema, columns = coded.schema, coded.columns
    joint = form == "indices"
    n_codes = [schema.n_features] if joint else [column.n_features for column in schema.columns]
    accepted: Any = INDEX_DTYPES if joint else CODE_DTYPES
    largest = max([*n_codes, 1]) - 1
    dtype = np.dtype(next(d for d in accepted if largest <= np.iinfo(d).max))
    shape = coded.n_rows, len(columns)
    check_size(shape, dtype)
    out, _ = memory.allocate(shape, dtype)
    for i, (column, start) in enumerate(zip(columns, schema.starts, strict=False)):
        own = column.features(num_threads)
        if joint and start:
            np.add(own, start, out=out[:, i], dtype=dtype, casting="unsafe")
        else:
            out[:, i] = own
    return out


def counts(column: CodedColumn, dtype: npt.DTypeLike) -> AnyArray:
    """Return the matrix of a ragged column: how often each row has each code."""
    assert column.offsets is not None
    shape = column.n_rows, column.n_features
    check_size(shape, dtype)
    out, is_zero = memory.allocate(shape, np.dtype(dtype))
    if not is_zero:
        out.fill(0)
    dispatch.multi_hot_count(column.offsets, column.codes, column.lut, out)
    return out


def counts_csr(column: CodedColumn, dtype: npt.DTypeLike) -> SparseParts:
    """Return ``(data, indices, indptr)`` of the matrix of `counts`."""
    assert column.offsets is not None
    n_codes, width = column.n_codes, column.n_features
    _check_sparse_size(n_codes, column.n_rows, width, dtype, n_counts=n_codes)
    return sparse.multi_hot_counts(column.offsets, column.codes, column.lut, width, dtype)


def _has_ragged(columns: Sequence[CodedColumn]) -> bool:
    """Tell whether the rows of a column have any number of codes."""
    return not all([column.offsets is None for column in columns])


def _small(
    columns: Sequence[CodedColumn],
    axis: int,
    dtype: npt.DTypeLike,
    on: Any,
    off: Any,
    num_threads: int | None,
) -> AnyArray | None:
    """Return the result if the fast path applies (a small column without a `lut`), or None."""
    parallel.resolve(num_threads, 0)  # raises an error if num_threads is invalid
    if len(columns) != 1 or columns[0].lut is not None or columns[0].nan_where_missing:
        return None
    if columns[0].offsets is not None:
        return None
    codes, n_features = columns[0].codes, columns[0].n_features
    return fastpath.one_hot_small(codes, n_features, on, off, 0.0, axis, np.dtype(dtype), None)


def _starts(columns: Sequence[CodedColumn], others: Others = ()) -> list[int]:
    """Return a list of the first position of each column, followed by the matrix width."""
    widths = [column.n_features for column in columns]
    if not others:
        return [0, *accumulate(widths)]
    starts, position = [], 0
    taken = {position for position, _ in others}
    for n_features in [*widths, 0]:
        while position in taken:
            position += 1
        starts.append(position)
        position += n_features
    return starts


def _n_rows(columns: Sequence[CodedColumn], n_rows: int | None) -> int:
    return columns[0].n_rows if columns else n_rows or 0


def _codes_and_luts(
    columns: Sequence[CodedColumn], starts: Sequence[int]
) -> tuple[list[AnyArray], list[Lut | None]]:
    """Return the codes of each column, and a look-up table to positions in the matrix."""
    if len(columns) == 1 and starts[0] == 0 and starts[1] == columns[0].n_features:
        return [columns[0].codes], [columns[0].lut]
    codes: list[AnyArray] = []
    luts: list[Lut | None] = []
    for column, start in zip(columns, starts, strict=False):
        if column.lut is None and column.n_features > len(column.codes):
            codes.append(_shifted(column, start))
            luts.append(None)
        else:
            codes.append(column.codes)
            luts.append(column.lut_from(start))
    return codes, luts


def _shifted(column: CodedColumn, start: int) -> npt.NDArray[np.int64]:
    """Return the positions of the features of a column, or -1, without a table of all its codes."""
    codes = column.codes.astype(np.int64)  # a copy, which no other thread can change
    is_feature = codes.view(np.uint64) < column.n_features  # negative codes become huge
    return np.where(is_feature, codes + start, -1)


def _sparse_arrays(
    n_ones: int, n_groups: int, n_positions: int, dtype: npt.DTypeLike
) -> tuple[int, int, int]:
    """Return the sizes of data, indices and indptr in bytes."""
    position = 4 if max(n_ones, n_positions) <= INT32_MAX else 8
    return n_ones * np.dtype(dtype).itemsize, n_ones * position, (n_groups + 1) * position


def _check_sparse_size(
    n_ones: int, n_groups: int, n_positions: int, dtype: npt.DTypeLike, n_counts: int = 0
) -> None:
    """Raise an error if a sparse result and `n_counts` int64 exceed the free memory."""
    # No dtype has elements of more than 32 bytes, and a position has at most 8.
    if 40 * n_ones + 8 * (n_groups + 1 + n_counts) <= ALWAYS_FREE_BYTES:
        return
    arrays = _sparse_arrays(n_ones, n_groups, n_positions, dtype)
    # Skip the check if all buffers are recycled: querying the free memory takes 0.3 ms.
    if max(arrays) > MAX_BYTES or not all(memory.is_kept(n_bytes) for n_bytes in arrays):
        check_size((sum(arrays) + 8 * n_counts,), np.uint8)


def _check_room(
    columns: Sequence[CodedColumn], shape: tuple[int, int], dtype: np.dtype[Any], n_others: int = 0
) -> None:
    """Raise an error that suggests smaller outputs if a dense result exceeds the free memory."""
    try:
        check_size(shape, dtype)
    except MemoryError as error:
        elements = shape[0] * shape[1]
        n_codes = sum(column.n_codes for column in columns) + shape[0] * n_others
        smaller = {
            "output='csr' or .onehot.to_csr()": sum(_sparse_arrays(n_codes, *shape, dtype)),
            "output='csc' or .onehot.to_csc()": sum(_sparse_arrays(n_codes, *shape[::-1], dtype)),
            "dtype=bool": elements,
        }
        n_bytes = elements * dtype.itemsize
        named = [f"{how} ({human_size(n)})" for how, n in smaller.items() if n < n_bytes]
        text = str(error).partition("; smaller")[0]
        raise MemoryError(f"{text}; smaller: {', '.join(named) or 'none'}") from None


# ---- Sizes of results ----


@dataclass(frozen=True)
class Estimate:
    """The estimated size of an encoded table.

    Attributes
    ----------
    rows, columns : int
        The shape of the encoded table.
    bytes : dict of str to int
        The sizes of the formats "numpy", "pandas", "arrow", "csr" and "csc". The sparse sizes are
        upper bounds, because zeros are not stored; columns with several labels are assumed to have
        as many in each row as in `fit`. "arrow" stores a Boolean as one bit.
    """

    rows: int
    columns: int
    bytes: dict[str, int]

    def __repr__(self) -> str:
        """Return the size of each output format with a unit."""
        sizes = ", ".join(f"{form} {human_size(size)}" for form, size in self.bytes.items())
        return f"<Estimate of {self.rows:,} rows, {self.columns:,} features: {sizes}>"


def _most_ones(column: ColumnSchema, n_rows: int, n_fitted: int) -> int:
    """Return how many elements of a column are not zero, at most.

    A ragged column is assumed to have as many labels in each row as in `fit`.
    """
    if column.propagates_missing:
        return n_rows * column.n_features
    if column.is_ragged:
        return -(-int(column.learned.counts.sum()) * n_rows // max(n_fitted, 1))
    return n_rows * min(1, column.n_features)


def estimate(schema: Schema, n_rows: int) -> Estimate:
    """Return the sizes of `n_rows` encoded rows in five output formats."""
    widths = [(c.n_features, c.options.dtype) for c in schema.columns]
    packed = sum(
        n * (bytes_of_bits(n_rows) if dtype == np.bool_ else n_rows * dtype.itemsize)
        for n, dtype in widths
    )
    shape, dtype = (n_rows, schema.n_features), schema.dtype
    n_ones = sum(_most_ones(column, n_rows, schema.n_rows) for column in schema.columns)
    sizes = {
        "numpy": n_rows * schema.n_features * dtype.itemsize,
        "pandas": sum(n * n_rows * kind.itemsize for n, kind in widths),
        "arrow": packed,
        "csr": sum(_sparse_arrays(n_ones, *shape, dtype)),
        "csc": sum(_sparse_arrays(n_ones, *shape[::-1], dtype)),
    }
    return Estimate(*shape, sizes)
