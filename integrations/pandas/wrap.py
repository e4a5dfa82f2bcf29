"""pandas out: codes become the columns of a frame, in one block and without a copy."""

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.extensions import ExtensionDtype

from onehot_fast._arguments import shapes
from onehot_fast._encode import scipy_sparse
from onehot_fast._runtime import dispatch, memory, parallel

__all__ = [
    "COPY_ON_WRITE",
    "AnyDtype",
    "Part",
    "dense_frame",
    "frame",
    "prefixed",
    "side_by_side",
    "sparse_frame",
]

AnyDtype: TypeAlias = np.dtype[Any] | ExtensionDtype
Writer: TypeAlias = Callable[..., None]

# From 3 on frames share columns until one of them is written to; before, a view is an alias.
COPY_ON_WRITE = int(pd.__version__.split(".")[0]) >= 3
# NumPy kinds that a frame keeps as they are; others it converts (text) or checks (dates).
KEPT_KINDS = "biufc"
MASKED = (pd.arrays.BooleanArray, pd.arrays.IntegerArray, pd.arrays.FloatingArray)
# New in pandas 3.1. Before, the constructor asked for an instance of a class without public name.
FROM_INDICES = getattr(pd.arrays.SparseArray, "from_indices", None)
IntIndex: Any = type(pd.arrays.SparseArray([1], kind="integer").sp_index)


class Part(NamedTuple):
    """What one variable adds to a frame.

    Attributes
    ----------
    codes : integer ndarray of shape (n_rows,), C-contiguous
    table : int32 ndarray, optional
        Entry k is the column of code k, -1 for none; the last entry is of missing codes. Without a
        table codes are columns, and negative ones none.
    width : int
        How many columns there are.
    """

    codes: npt.NDArray[np.integer]
    table: npt.NDArray[np.int32] | None
    width: int


def frame(
    block: npt.NDArray[Any], index: "pd.Index[Any] | None", columns: "pd.Index[Any] | None"
) -> pd.DataFrame:
    """Return the frame whose columns are the rows of a C-contiguous block: a view of it.

    Transposed, the block is the column-major one pandas keeps. The caller hands it over and keeps
    no reference: whoever writes to the frame writes to the block.
    """
    return pd.DataFrame(block.T, index=index, columns=columns, copy=False)


def side_by_side(pieces: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return frames of the same rows side by side, sharing their memory."""
    uncopied: dict[str, Any] = {} if COPY_ON_WRITE else {"copy": False}
    return cast(pd.DataFrame, pd.concat(pieces, axis=1, **uncopied))


def prefixed(categories: "pd.Index[Any]", prefix: object, prefix_sep: object) -> "pd.Index[Any]":
    """Return the column names `pandas.get_dummies` forms from a prefix."""
    return pd.Index([f"{prefix}{prefix_sep}{category}" for category in categories])


def dense_frame(
    parts: Sequence[Part],
    dtype: AnyDtype,
    index: "pd.Index[Any] | None" = None,
    columns: "pd.Index[Any] | None" = None,
) -> pd.DataFrame:
    """Return the columns of all parts side by side, of one dtype.

    Parameters
    ----------
    parts : sequence of Part, not empty
        All of the same number of rows.
    dtype : NumPy or pandas dtype
        NumPy numbers and Booleans are one block of memory, masked ones a block of values and one
        of masks, Arrow Booleans one block of bits; pandas converts Booleans to any other dtype.
    index, columns : pandas.Index, optional
        By default counted.

    Returns
    -------
    pandas.DataFrame of shape (n_rows, sum of the widths)
        It alone owns its memory.

    Raises
    ------
    MemoryError
        If the result cannot fit in memory, before it is allocated.

    Examples
    --------
    >>> codes = np.array([0, 1, -1], np.int8)
    >>> dense_frame([Part(codes, None, 2)], np.dtype("uint8"), columns=pd.Index(["a", "b"]))
       a  b
    0  1  0
    1  0  1
    2  0  0
    """
    if isinstance(dtype, np.dtype) and not dtype.hasobject:
        block = _block(parts, dtype)
        if dtype.kind in KEPT_KINDS:
            return frame(block, index, columns)
        return pd.DataFrame(block.T, index=index, columns=columns, dtype=cast(Any, dtype))
    arrays = _extension_arrays(parts, dtype)
    if arrays is not None:
        return _assemble(arrays, len(parts[0].codes), index, columns)
    block = _block(parts, np.dtype(bool))
    return pd.DataFrame(block.T, index=index, columns=columns, dtype=cast(Any, dtype))


def sparse_frame(
    parts: Sequence[Part],
    dtype: np.dtype[Any],
    fill_value: object,
    index: "pd.Index[Any] | None" = None,
    columns: "pd.Index[Any] | None" = None,
) -> pd.DataFrame:
    """Return the columns of all parts side by side, each a SparseArray of its ones.

    Parameters
    ----------
    parts : sequence of Part, not empty
        All of the same number of rows.
    dtype : NumPy dtype
        Of the ones.
    fill_value : scalar
        What stands everywhere else.
    index, columns : pandas.Index, optional
        By default counted.

    Returns
    -------
    pandas.DataFrame of shape (n_rows, sum of the widths)
        Its columns are slices of one CSC matrix.

    Examples
    --------
    >>> codes = np.array([0, 1, -1], np.int8)
    >>> sparse_frame([Part(codes, None, 2)], np.dtype(bool), False).dtypes.tolist()
    [Sparse[bool, False], Sparse[bool, False]]
    """
    starts = [0, *accumulate(part.width for part in parts)]
    tables = [_global_table(part, start) for part, start in zip(parts, starts, strict=False)]
    n_rows = len(parts[0].codes)
    codes = [part.codes for part in parts]
    threads = parallel.resolve(None, 4 * len(codes) * n_rows)
    ones, rows, ends = dispatch.csc(codes, tables, starts[-1], dtype, threads)
    rows = rows.astype(np.int32, copy=False)  # an IntIndex holds no other
    if _goes_by_matrix(dtype):
        matrix = scipy_sparse.sparse_array("csc", (ones, rows, ends), (n_rows, starts[-1]))
        accessor = cast(Any, pd.DataFrame).sparse
        return cast(pd.DataFrame, accessor.from_spmatrix(matrix, index=index, columns=columns))
    arrays = [
        _sparse_array(ones[start:end], rows[start:end], n_rows, fill_value)
        for start, end in pairwise(ends.tolist())
    ]
    return _assemble(arrays, n_rows, index, columns)


def _goes_by_matrix(dtype: np.dtype[Any]) -> bool:
    """Tell whether pandas makes the same columns of SciPy's matrix.

    It does not check each of them: 465 columns take 3 ms and not 13. Before pandas 3.1 they had
    another fill value, and SciPy has no matrices of half precision.
    """
    plain = dtype.kind in "biu" or dtype in (np.float32, np.float64)
    return FROM_INDICES is not None and plain and find_spec("scipy") is not None


def _sparse_array(
    values: npt.NDArray[Any], rows: npt.NDArray[np.int32], n_rows: int, fill_value: Any
) -> Any:
    """Return the column that has the values in the rows, and the fill value elsewhere."""
    if FROM_INDICES is not None:
        return FROM_INDICES(values, rows, n_rows, fill_value)
    return pd.arrays.SparseArray(
        values,
        sparse_index=IntIndex(n_rows, rows, check_integrity=False),
        fill_value=fill_value,
        dtype=cast(Any, values.dtype),
    )


def _block(parts: Sequence[Part], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the (columns, rows) block of all parts."""
    shape = (sum(part.width for part in parts), len(parts[0].codes))
    shapes.check_size(shape, dtype)
    block, _ = memory.allocate(shape, dtype)
    values = np.zeros(2, dtype)
    values[1] = 1
    off, on = values.view(np.uint8).reshape(2, -1)
    threads = parallel.resolve(None, block.nbytes)
    for part, rows in _shares(parts, block):
        dispatch.encode_block(part.codes, part.table, rows, on, off, threads)
    return block


def _shares(
    parts: Sequence[Part], block: npt.NDArray[Any]
) -> Iterator[tuple[Part, npt.NDArray[Any]]]:
    """Yield each part with the rows of the block that it fills."""
    starts = accumulate((part.width for part in parts), initial=0)
    for part, start in zip(parts, starts, strict=False):
        yield part, block[start : start + part.width]


def _global_table(part: Part, start: int) -> npt.NDArray[np.int32]:
    """Return the table from a part's codes to columns counted over all parts."""
    table = part.table
    if table is None:
        table = np.arange(part.width + 1, dtype=np.int32)
        table[-1] = -1
    return np.where(table < 0, table, table + np.int32(start))


def _extension_arrays(parts: Sequence[Part], dtype: AnyDtype) -> list[Any] | None:
    """Return the columns in the memory pandas keeps them in, None where that is not known."""
    if not isinstance(dtype, ExtensionDtype):
        return None
    if isinstance(dtype, pd.ArrowDtype):
        return _arrow_booleans(parts) if dtype.name == "bool[pyarrow]" else None
    kind = cast(Any, dtype.construct_array_type())
    if not issubclass(kind, MASKED):
        return None
    block = _block(parts, np.dtype(cast(Any, dtype).numpy_dtype))
    masks = np.zeros(block.shape, bool)  # one per column: whoever makes one missing writes to it
    return [kind(values, mask) for values, mask in zip(block, masks, strict=True)]


def _arrow_booleans(parts: Sequence[Part]) -> list[Any]:
    """Return Arrow Booleans whose bits the kernel wrote; nobody can write to them again."""
    import pyarrow as pa

    n_rows = len(parts[0].codes)
    shape = (sum(part.width for part in parts), -(-n_rows // 8))
    shapes.check_size(shape, np.uint8)
    bits, _ = memory.allocate(shape, np.dtype(np.uint8))
    threads = parallel.resolve(None, bits.nbytes)
    for part, rows in _shares(parts, bits):
        dispatch.encode_bits(part.codes, part.table, rows, threads)
    columns = (
        pa.Array.from_buffers(pa.bool_(), n_rows, [None, pa.py_buffer(column)], null_count=0)
        for column in bits
    )
    return [pd.arrays.ArrowExtensionArray(column) for column in columns]


def _assemble(
    arrays: Sequence[Any],
    n_rows: int,
    index: "pd.Index[Any] | None",
    columns: "pd.Index[Any] | None",
) -> pd.DataFrame:
    """Return the frame of the arrays, which it takes over."""
    if index is None:
        index = pd.RangeIndex(n_rows)
    # By number, for labels may be repeated.
    assembled = pd.DataFrame(dict(enumerate(arrays)), index=index, copy=False)
    if columns is not None:
        assembled.columns = columns
    return assembled
