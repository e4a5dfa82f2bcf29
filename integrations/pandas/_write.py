"""pandas out: columns of codes become those of a frame, in one block and without a copy."""

import gc
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import accumulate, pairwise
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
    Outputs,
    Part,
    PassThrough,
    Table,
    write,
)

__all__ = [
    "COPY_ON_WRITE",
    "AnyDtype",
    "Dtype",
    "block_frame",
    "check_length",
    "dense_frame",
    "side_by_side",
    "sparse_frame",
    "wrap",
]

AnyDtype: TypeAlias = np.dtype[Any] | ExtensionDtype
Dtype: TypeAlias = npt.DTypeLike | ExtensionDtype

# From 3 on frames share columns until one of them is written to; before, a view is an alias.
COPY_ON_WRITE = int(pd.__version__.split(".")[0]) >= 3
# The type of a categorical column, as `read_table` spells it.
CATEGORY = re.compile(r"category\[(.*), (?:un)?ordered\]")
# NumPy kinds that a frame keeps as they are; others it converts (text) or checks (dates).
NATIVE_KINDS = "biufc"
MASKED = (pd.arrays.BooleanArray, pd.arrays.IntegerArray, pd.arrays.FloatingArray)
# New in pandas 3.1. Before, the constructor asked for an instance of a class without public name.
FROM_INDICES = getattr(pd.arrays.SparseArray, "from_indices", None)
# New in pandas 3.0: no more is looked at than has to be.
FROM_BLOCKS = getattr(getattr(pd.api, "internals", None), "create_dataframe_from_blocks", None)
IntIndex: Any = type(pd.arrays.SparseArray([1], kind="integer").sp_index)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector while pandas makes several objects for each of many columns.

    None of them is garbage; looking for it again and again takes two thirds of the time. (Freezing
    them would save another fifth, and resets the collector: in a loop it would never find garbage.)
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
    """Return the frame of the parts, in order; neighbouring outputs of one dtype are one block."""
    source = table.source if isinstance(table.source, pd.DataFrame) else None
    index = pd.RangeIndex(table.n_rows) if source is None else source.index
    memo = {} if memo is None else memo
    if "pandas" not in memo:
        memo["pandas"] = _labels(table, parts, source)
    labels = memo["pandas"].view()  # what one frame calls its labels is not the others'
    if len(parts) == 1 and isinstance(parts[0], Outputs) and not sparse and dtype is None:
        return _outputs_frame(parts[0], table.n_rows, index, labels, num_threads)
    frames = list(_frames(table, parts, source, index, num_threads, sparse, dtype))
    if not frames:
        return pd.DataFrame(index=index)
    result = side_by_side(frames)
    result.columns = labels
    return result


def _labels(table: Table, parts: Sequence[Part], source: pd.DataFrame | None) -> "pd.Index[Any]":
    """Return the labels of columns: in levels, if those of the source are and all names fit."""
    names = [name for part in parts for name in part.names_in(table)]
    has_levels = source is not None and source.columns.nlevels > 1
    all_tuples = has_levels and all(isinstance(name, tuple) for name in names)
    return pd.Index(names, tupleize_cols=all_tuples)


def _frames(
    table: Table,
    parts: Sequence[Part],
    source: pd.DataFrame | None,
    index: "pd.Index[Any]",
    num_threads: int | None,
    sparse: bool,
    dtype: AnyDtype | None,
) -> Iterator[pd.DataFrame]:
    """Yield frames that stand side by side: the new columns, and runs of input columns."""
    for neighbours in _neighbours(parts):
        part = neighbours[0]
        if isinstance(part, PassThrough):
            yield _input_columns(table, neighbours, source, index)
        elif isinstance(part, Decoded):
            yield _decoded_frame(neighbours, index)
        elif isinstance(part, Categorical):
            levels: Any = pd.Index(part.categories.to_array())
            values = pd.Categorical.from_codes(part.codes, levels)
            yield pd.DataFrame({0: values}, index=index, copy=False)
        elif sparse and part.names:
            yield sparse_frame(part.columns, part.dtype, index)
        elif dtype is not None and part.names:
            yield dense_frame(part.columns, dtype, index)
        else:
            yield _outputs_frame(part, table.n_rows, index, None, num_threads)


def _neighbours(parts: Sequence[Part]) -> Iterator[list[Any]]:
    """Yield the parts that become one frame."""
    run: list[Part] = []
    for part in parts:
        if run and not _are_one_frame(run[-1], part):
            yield run
            run = []
        run.append(part)
    if run:
        yield run


def _are_one_frame(last: Part, part: Part) -> bool:
    if isinstance(last, PassThrough) and isinstance(part, PassThrough):
        return part.position == last.position + 1
    return isinstance(last, Decoded) and isinstance(part, Decoded)


def _outputs_frame(
    part: Outputs,
    n_rows: int,
    index: "pd.Index[Any]",
    names: "pd.Index[Any] | None",
    num_threads: int | None,
) -> pd.DataFrame:
    block = write.columns(part.columns, part.dtype, n_rows=n_rows, num_threads=num_threads)
    return block_frame(block, index, names)


def _decoded_frame(run: Sequence[Decoded], index: "pd.Index[Any]") -> pd.DataFrame:
    """Return the frame of neighbouring columns of decoded values.

    Of objects pandas makes texts or times where all of them are such: the few that differ tell.
    """
    arrays = _text_arrays(run) or [
        _fitted_array(part) if part.positions is None else _fitted_array(part).take(part.positions)
        for part in run
    ]
    return _assemble(arrays, len(index), index, None)


def _fitted_array(part: Decoded) -> Any:
    """Return the distinct values in the fitted dtype if it holds them, else in pandas' own."""
    array = _new_array(part.distinct)
    names = part.types_in("pandas")
    if not names or part.schema is None:
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
    """Return the common dtype of the fitted columns."""
    categories = [CATEGORY.fullmatch(name) for name in names]
    if all(categories):
        [kind] = {match[1] for match in categories if match}
        is_ordered = all(name.endswith(", ordered]") for name in names)
        levels = pd.Index(schema.known.to_array()).astype(pandas_dtype(kind))
        return pd.CategoricalDtype(levels, is_ordered)
    return pd.concat([pd.Series([], dtype=pandas_dtype(name)) for name in names]).dtype


def _text_arrays(run: Sequence[Decoded]) -> list[Any] | None:
    """Return columns of texts, of which pandas makes all at once; None where not all are such."""
    rows = [part.positions for part in run if part.positions is not None and _has_text(part)]
    if not COPY_ON_WRITE or len(rows) < len(run) or any(part.types_in("pandas") for part in run):
        return None
    values = _new_array(np.concatenate([part.distinct for part in run]))
    if not isinstance(values.dtype, pd.StringDtype):
        return None
    starts = accumulate((len(part.distinct) for part in run), initial=0)
    every = np.concatenate([own + start for own, start in zip(rows, starts, strict=False)])
    taken, n_rows = values.take(every), len(rows[0])
    return [taken[i * n_rows : (i + 1) * n_rows] for i in range(len(run))]


def _has_text(part: Decoded) -> bool:
    """Tell whether a text is among the values; pandas makes no texts of missing ones alone."""
    return part.distinct.dtype == object and any(isinstance(v, str) for v in part.distinct)


def _new_array(values: Any) -> Any:
    """Return values as pandas keeps them."""
    array: Any = pd.Series(values, copy=False).array
    # Not isinstance: before pandas 3 the arrays of strings are a subclass.
    return array.to_numpy() if type(array) is pd.arrays.NumpyExtensionArray else array


def _input_columns(
    table: Table,
    run: Sequence[PassThrough],
    source: pd.DataFrame | None,
    index: "pd.Index[Any]",
) -> pd.DataFrame:
    """Return the frame of neighbouring columns as they were."""
    if source is None:
        columns = {part.position: table.values(part.position) for part in run}
        return pd.DataFrame(columns, index=index)
    columns_as_they_were = source.iloc[:, run[0].position : run[-1].position + 1]
    return columns_as_they_were if COPY_ON_WRITE else columns_as_they_were.copy()


def check_length(values: Any, name: str, n_columns: int) -> None:
    """Raise the error of pandas for a list that is not as long as there are columns."""
    if len(values) != n_columns:
        raise ValueError(
            f"Length of '{name}' ({len(values)}) did not match the length of the columns "
            f"being encoded ({n_columns})."
        )


def block_frame(
    block: npt.NDArray[Any], index: "pd.Index[Any] | None", columns: "pd.Index[Any] | None"
) -> pd.DataFrame:
    """Return the frame whose columns are the rows of a C-contiguous block: a view of it.

    Transposed, the block is the column-major one pandas keeps. The caller hands it over and keeps
    no reference: whoever writes to the frame writes to the block.
    """
    is_plain = block.dtype.kind in NATIVE_KINDS and len(block) > 0
    if FROM_BLOCKS is not None and is_plain and index is not None and columns is not None:
        # pandas turns an array of neighbours into this slice, in 1 ns for each of them.
        return cast(pd.DataFrame, FROM_BLOCKS([(block, slice(len(block)))], index, columns))
    return pd.DataFrame(block.T, index=index, columns=columns, copy=False)


@collector_paused()
def side_by_side(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return frames of the same rows side by side, sharing their memory; one alone as it is.

    The labels of the columns are for the caller to set: to join them takes pandas half the time.
    """
    if len(frames) == 1:
        return frames[0]
    uncopied: dict[str, Any] = {} if COPY_ON_WRITE else {"copy": False}
    return cast(pd.DataFrame, pd.concat(frames, axis=1, ignore_index=True, **uncopied))


def dense_frame(
    columns: Sequence[CodedColumn],
    dtype: AnyDtype,
    index: "pd.Index[Any] | None" = None,
    names: "pd.Index[Any] | None" = None,
) -> pd.DataFrame:
    """Return the outputs of one or more columns side by side, of one dtype.

    NumPy's numbers and Booleans are one block of memory, masked ones a block of values and one of
    masks, Arrow's Booleans one block of bits; pandas converts Booleans to any other dtype.
    """
    if isinstance(dtype, np.dtype) and not dtype.hasobject:
        if dtype.kind in NATIVE_KINDS:
            return block_frame(write.columns(columns, dtype), index, names)
        off_on = np.zeros(2, dtype)
        off_on[1] = 1
        block = write.columns(columns, off_on.dtype, on=off_on[1], off=off_on[0])
        return pd.DataFrame(block.T, index=index, columns=names, dtype=cast(Any, dtype))
    arrays = _extension_arrays(columns, dtype)
    if arrays is not None:
        return _assemble(arrays, len(columns[0].codes), index, names)
    block = write.columns(columns, bool)
    return pd.DataFrame(block.T, index=index, columns=names, dtype=cast(Any, dtype))


@collector_paused()
def sparse_frame(
    columns: Sequence[CodedColumn],
    dtype: np.dtype[Any],
    index: "pd.Index[Any] | None" = None,
    names: "pd.Index[Any] | None" = None,
) -> pd.DataFrame:
    """Return the outputs of one or more columns side by side, each a SparseArray of its ones.

    They are slices of one CSC matrix.
    """
    if _goes_by_matrix(dtype):
        from scipy.sparse import csc_array

        shape = len(columns[0].codes), sum(column.n_outputs for column in columns)
        matrix = csc_array(write.sparse_parts("csc", columns, dtype), shape=shape)
        matrix.has_sorted_indices = True
        accessor = cast(Any, pd.DataFrame).sparse
        return cast(pd.DataFrame, accessor.from_spmatrix(matrix, index=index, columns=names))
    n_rows = len(columns[0].codes)
    ones, rows, ends = write.sparse_parts("csc", columns, dtype)
    rows = rows.astype(np.int32, copy=False)  # an IntIndex holds no other
    fill_value = 0 if is_integer_dtype(dtype) else False if dtype == np.dtype(bool) else 0.0
    arrays = [
        _sparse_array(ones[start:end], rows[start:end], n_rows, fill_value)
        for start, end in pairwise(ends.tolist())
    ]
    return _assemble(arrays, n_rows, index, names)


def _goes_by_matrix(dtype: np.dtype[Any]) -> bool:
    """Tell whether pandas makes the same columns of SciPy's matrix.

    It does not check each of them: 465 columns take 3 ms and not 13 (and from blocks a third more
    than from the matrix). Before pandas 3.1 they had another fill value, and SciPy has no matrices
    of half precision.
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


def _extension_arrays(columns: Sequence[CodedColumn], dtype: AnyDtype) -> list[Any] | None:
    """Return the columns in the memory pandas keeps them in, None where that is not known."""
    if not isinstance(dtype, ExtensionDtype):
        return None
    if isinstance(dtype, pd.ArrowDtype):
        return _arrow_booleans(columns) if dtype.name == "bool[pyarrow]" else None
    kind = cast(Any, dtype.construct_array_type())
    if not issubclass(kind, MASKED):
        return None
    block = write.columns(columns, cast(Any, dtype).numpy_dtype)
    masks = np.zeros(block.shape, bool)  # one per column: whoever makes one missing writes to it
    return [kind(values, mask) for values, mask in zip(block, masks, strict=True)]


def _arrow_booleans(columns: Sequence[CodedColumn]) -> list[Any]:
    """Return Arrow Booleans whose bits the kernel wrote; nobody can write to them again."""
    import pyarrow as pa

    n_rows = len(columns[0].codes)
    arrays = (
        pa.Array.from_buffers(pa.bool_(), n_rows, [None, pa.py_buffer(bits)], null_count=0)
        for bits in write.columns(columns, bool, packed=True)
    )
    return [pd.arrays.ArrowExtensionArray(array) for array in arrays]


@collector_paused()
def _assemble(
    arrays: Sequence[Any],
    n_rows: int,
    index: "pd.Index[Any] | None",
    names: "pd.Index[Any] | None",
) -> pd.DataFrame:
    """Return the frame of the arrays, which it takes over."""
    if index is None:
        index = pd.RangeIndex(n_rows)
    if FROM_BLOCKS is not None and all(isinstance(a, ExtensionArray) for a in arrays):
        labels = pd.RangeIndex(len(arrays)) if names is None else names
        blocks = [*zip(arrays, np.arange(len(arrays))[:, np.newaxis], strict=True)]
        return cast(pd.DataFrame, FROM_BLOCKS(blocks, index, labels))
    # By number, for labels may be repeated.
    assembled = pd.DataFrame(dict(enumerate(arrays)), index=index, copy=False)
    if names is not None:
        assembled.columns = names
    return assembled
