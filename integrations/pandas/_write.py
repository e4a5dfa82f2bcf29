"""Create pandas frames from one-hot features, decoded values and unchanged columns."""

import gc
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import accumulate, groupby, pairwise
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.extensions import ExtensionArray, ExtensionDtype
from pandas.api.types import is_integer_dtype, pandas_dtype

from onehot_fast.adapter import (
    Categorical,
    CodedColumn,
    ColumnSchema,
    Decoded,
    Part,
    PassThrough,
    Table,
    name_keys,
    write,
)

from ._codes import python_values

AnyDtype: TypeAlias = np.dtype[Any] | ExtensionDtype

# From pandas 3 on, frames share columns until one of the frames is modified.
COPY_ON_WRITE = int(pd.__version__.split(".")[0]) >= 3
# The type of a categorical column, as `Table.type_of` returns it.
CATEGORY = re.compile(r"category\[(.*), (?:un)?ordered\]")
# The kinds of NumPy arrays that a frame stores unchanged; it converts strings and checks dates.
NATIVE_KINDS = "biufc"
MASKED = (pd.arrays.BooleanArray, pd.arrays.IntegerArray, pd.arrays.FloatingArray)
# New in pandas 3.1. Older versions need an `IntIndex`, which has no public name.
FROM_INDICES = getattr(pd.arrays.SparseArray, "from_indices", None)
# New in pandas 3.0: a constructor that omits checks.
FROM_BLOCKS = getattr(getattr(pd.api, "internals", None), "create_dataframe_from_blocks", None)
IntIndex: Any = type(pd.arrays.SparseArray([1], kind="integer").sp_index)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector while pandas creates several objects for each of many columns.

    None of these objects is garbage, and collection would take two thirds of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def wrap(
    table: Table,
    parts: Sequence[Part],
    memo: dict[str, Any] | None = None,
    num_threads: int | None = None,
    *,
    sparse: bool = False,
    dtype: AnyDtype | None = None,
) -> pd.DataFrame:
    """Return a frame of the columns that `parts` describe; features of one part share memory."""
    source = table.source if isinstance(table.source, pd.DataFrame) else None
    index = pd.RangeIndex(table.n_rows) if source is None else source.index
    memo = {} if memo is None else memo
    if "pandas" not in memo:
        names = [name for part in parts for name in part.names]
        has_levels = source is not None and source.columns.nlevels > 1
        all_tuples = has_levels and all(isinstance(name, tuple) for name in names)
        memo["pandas"] = _labels(names, all_tuples)
    labels = memo["pandas"].view()  # a view, so that renaming the labels changes one frame only
    frames = []
    for run in _neighbours(parts):
        part = run[0]
        if isinstance(part, PassThrough):
            frame = _input_columns(table, run, source, index)
        elif isinstance(part, Decoded):
            arrays = _text_arrays(run) or [_fitted_array(each).take(each.positions) for each in run]
            frame = _assemble(arrays, index)
        elif isinstance(part, Categorical):
            levels: Any = pd.Index(part.categories.to_array())
            values = pd.Categorical.from_codes(part.codes, levels)
            frame = pd.DataFrame({0: values}, index=index, copy=False)
        elif sparse and part.names:
            frame = sparse_frame(part.columns, part.dtype, index)
        else:
            kind = part.dtype if dtype is None else dtype
            frame = dense_frame(part.columns, kind, index, num_threads=num_threads)
        frames.append(frame)
    if not frames:
        return pd.DataFrame(index=index)
    result = side_by_side(frames)
    result.columns = labels
    return result


def _labels(names: list[Any], is_multi_index: bool) -> "pd.Index[Any]":
    """Return names as column labels; among others, pandas would turn None and NA into NaN."""
    labels = pd.Index(names, tupleize_cols=is_multi_index)
    is_kept = is_multi_index or set(map(type, names)) <= {str}
    if is_kept or name_keys(python_values(labels)) == name_keys(names):
        return labels
    return pd.Index(names, dtype=object, tupleize_cols=False)


def _neighbours(parts: Sequence[Part]) -> Iterator[list[Any]]:
    """Yield groups of adjacent input columns or adjacent decoded columns, and other parts alone."""

    def run_of(item: tuple[int, Part]) -> object:
        i, part = item
        if isinstance(part, PassThrough):
            return part.position - i
        return Decoded if isinstance(part, Decoded) else (i,)

    for _, run in groupby(enumerate(parts), run_of):
        yield [part for _, part in run]


def _fitted_array(part: Decoded) -> Any:
    """Return the distinct values in the dtype that the column had in `fit`, if possible."""
    array = _new_array(part.distinct)
    names = part.types_in("pandas")
    if not names:
        return array
    with suppress(ArithmeticError, NotImplementedError, TypeError, ValueError):
        dtype = _fitted_dtype(names, part.schema)
        if dtype == array.dtype:
            return array
        if isinstance(dtype, pd.CategoricalDtype):
            codes = dtype.categories.get_indexer(cast(Any, array))
            fitted: Any = pd.Categorical.from_codes(codes, dtype=dtype)
        else:
            fitted = _new_array(pd.Series(array).astype(dtype))
        return fitted if part.holds(fitted) else array
    return array


def _fitted_dtype(names: Sequence[str], schema: ColumnSchema) -> Any:
    """Return the common dtype of the dtypes with these names, which a column had in `fit`."""
    categories = [CATEGORY.fullmatch(name) for name in names]
    if all(categories):
        [kind] = {match[1] for match in categories if match}
        is_ordered = all(name.endswith(", ordered]") for name in names)
        levels = pd.Index(schema.known.to_array()).astype(pandas_dtype(kind))
        return pd.CategoricalDtype(levels, is_ordered)
    return pd.concat([pd.Series([], dtype=pandas_dtype(name)) for name in names]).dtype


def _text_arrays(run: Sequence[Decoded]) -> list[Any] | None:
    """Return the columns as string arrays, or None if pandas infers another dtype for a column."""
    # pandas infers no text dtype from missing values alone, and by default none before 3.0.
    rows = [
        part.positions
        for part in run
        if part.distinct.dtype == object and any(isinstance(value, str) for value in part.distinct)
    ]
    if not COPY_ON_WRITE or len(rows) < len(run) or any(part.types_in("pandas") for part in run):
        return None
    values = _new_array(np.concatenate([part.distinct for part in run]))
    if not isinstance(values.dtype, pd.StringDtype):
        return None
    starts = accumulate((len(part.distinct) for part in run), initial=0)
    every = np.concatenate([own + start for own, start in zip(rows, starts, strict=False)])
    taken, n_rows = values.take(every), len(rows[0])
    return [taken[i * n_rows : (i + 1) * n_rows] for i in range(len(run))]


def _new_array(values: Any) -> Any:
    """Return values as a pandas or NumPy array."""
    array: Any = pd.Series(values, copy=False).array
    # Not isinstance, because before pandas 3 string arrays are a subclass.
    return array.to_numpy() if type(array) is pd.arrays.NumpyExtensionArray else array


def _input_columns(
    table: Table,
    run: Sequence[PassThrough],
    source: pd.DataFrame | None,
    index: "pd.Index[Any]",
) -> pd.DataFrame:
    """Return adjacent input columns as a frame."""
    if source is None:
        columns = {part.position: table.values(part.position) for part in run}
        return pd.DataFrame(columns, index=index)
    kept = source.iloc[:, run[0].position : run[-1].position + 1]
    return kept if COPY_ON_WRITE else kept.copy()


def check_length(values: Any, name: str, n_columns: int) -> None:
    """Raise the same error as pandas unless a list has one value for each column."""
    if len(values) != n_columns:
        raise ValueError(
            f"Length of '{name}' ({len(values)}) did not match the length of the columns "
            f"being encoded ({n_columns})."
        )


@collector_paused()
def side_by_side(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate frames with the same rows horizontally, without a copy.

    The caller sets the column labels, because concatenating them would take half of the time.
    """
    if len(frames) == 1:
        return frames[0]
    uncopied: dict[str, Any] = {} if COPY_ON_WRITE else {"copy": False}
    return cast(pd.DataFrame, pd.concat(frames, axis=1, ignore_index=True, **uncopied))


def dense_frame(
    columns: Sequence[CodedColumn],
    dtype: AnyDtype,
    index: "pd.Index[Any]",
    num_threads: int | None = None,
) -> pd.DataFrame:
    """Return the features of columns as a dense frame, in one block of memory if possible.

    Nullable dtypes such as Int8 have a second block for masks. Rare dtypes are converted by pandas.
    The caller sets the column labels.
    """
    n_rows, off_on = len(index), np.array([False, True])
    if isinstance(dtype, np.dtype) and dtype.kind in NATIVE_KINDS:
        block = write.columns(columns, dtype, n_rows=n_rows, num_threads=num_threads)
        return pd.DataFrame(block.T, index=index, copy=False)
    if isinstance(dtype, np.dtype):
        off_on = np.zeros(2, dtype)
        off_on[1] = 1
    elif (arrays := _extension_arrays(columns, dtype, n_rows)) is not None:
        return _assemble(arrays, index)
    block = write.columns(columns, off_on.dtype, n_rows=n_rows, on=off_on[1], off=off_on[0])
    return pd.DataFrame(block.T, index=index, dtype=cast(Any, dtype))


@collector_paused()
def sparse_frame(
    columns: Sequence[CodedColumn], dtype: np.dtype[Any], index: "pd.Index[Any]"
) -> pd.DataFrame:
    """Return the features of columns as sparse columns that share the memory of a CSC matrix.

    The caller sets the column labels.
    """
    n_rows = len(index)
    # Before pandas 3.1 the fill value would differ, and SciPy has no half-precision matrices.
    is_plain = dtype.kind in "biu" or dtype in (np.float32, np.float64)
    if FROM_INDICES is not None and is_plain and find_spec("scipy") is not None:
        from scipy.sparse import csc_array

        shape = n_rows, sum(column.n_outputs for column in columns)
        matrix = csc_array(write.sparse_parts("csc", columns, dtype), shape=shape)
        matrix.has_sorted_indices = True
        accessor = cast(Any, pd.DataFrame).sparse
        return cast(pd.DataFrame, accessor.from_spmatrix(matrix, index=index))
    ones, rows, ends = write.sparse_parts("csc", columns, dtype)
    rows = rows.astype(np.int32, copy=False)  # the dtype that an IntIndex requires
    fill_value = 0 if is_integer_dtype(dtype) else False if dtype == np.dtype(bool) else 0.0
    arrays = [
        _sparse_array(ones[start:end], rows[start:end], n_rows, fill_value)
        for start, end in pairwise(ends.tolist())
    ]
    return _assemble(arrays, index)


def _sparse_array(
    values: npt.NDArray[Any], rows: npt.NDArray[np.int32], n_rows: int, fill_value: Any
) -> Any:
    """Return a sparse column with `values` in the given rows and the fill value elsewhere."""
    if FROM_INDICES is not None:
        return FROM_INDICES(values, rows, n_rows, fill_value)
    return pd.arrays.SparseArray(
        values,
        sparse_index=IntIndex(n_rows, rows, check_integrity=False),
        fill_value=fill_value,
        dtype=cast(Any, values.dtype),
    )


def _extension_arrays(
    columns: Sequence[CodedColumn], dtype: ExtensionDtype, n_rows: int
) -> list[Any] | None:
    """Return the features as extension arrays, or None if pandas must convert to the dtype."""
    if cast(Any, dtype) == "bool[pyarrow]":
        import pyarrow as pa

        rows = [[None, pa.py_buffer(bits)] for bits in write.columns(columns, bool, packed=True)]
        arrays = [pa.Array.from_buffers(pa.bool_(), n_rows, row, null_count=0) for row in rows]
        return [pd.arrays.ArrowExtensionArray(array) for array in arrays]
    kind = cast(Any, dtype.construct_array_type())
    if not issubclass(kind, MASKED):
        return None
    block = write.columns(columns, cast(Any, dtype).numpy_dtype)
    masks = np.zeros(block.shape, bool)  # one mask per column, because masks can be modified
    return [kind(values, mask) for values, mask in zip(block, masks, strict=True)]


@collector_paused()
def _assemble(arrays: Sequence[Any], index: "pd.Index[Any]") -> pd.DataFrame:
    """Return the arrays as the columns of a frame, without a copy."""
    if FROM_BLOCKS is not None and all(isinstance(a, ExtensionArray) for a in arrays):
        blocks = [*zip(arrays, np.arange(len(arrays))[:, np.newaxis], strict=True)]
        return cast(pd.DataFrame, FROM_BLOCKS(blocks, index, pd.RangeIndex(len(arrays))))
    return pd.DataFrame(dict(enumerate(arrays)), index=index, copy=False)
