"""Create pandas frames from one-hot features, decoded values and unchanged columns."""

from collections.abc import Hashable, Iterator, Sequence
from importlib.util import find_spec
from itertools import accumulate, groupby, pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.extensions import ExtensionArray, ExtensionDtype
from pandas.api.types import is_integer_dtype

from onehot_fast.adapter import (
    Cache,
    Categorical,
    Categories,
    CodedColumn,
    ColumnSchema,
    Decoded,
    DecodedLists,
    Part,
    PassThrough,
    Table,
    collector_paused,
    integration,
    name_keys,
    read_table,
    write,
)

from ._codes import python_values
from ._dtypes import AnyDtype as AnyDtype
from ._dtypes import arrow_type_name, category_of_name, common_dtype, dtype_of_name

# From pandas 3 on, frames share columns until one of the frames is modified.
COPY_ON_WRITE = int(pd.__version__.split(".")[0]) >= 3
# The kinds of NumPy arrays that a frame stores unchanged; it converts strings and checks dates.
NATIVE_KINDS = "biufc"
# The errors of libraries for the name of a dtype, zone, unit or type that they do not have.
UNKNOWN_DTYPE = (
    ArithmeticError, ImportError, LookupError, NotImplementedError, OSError, TypeError, ValueError,
)  # fmt: skip
MASKED = (pd.arrays.BooleanArray, pd.arrays.IntegerArray, pd.arrays.FloatingArray)
# New in pandas 3.1. Older versions need an `IntIndex`, which has no public name.
FROM_INDICES = getattr(pd.arrays.SparseArray, "from_indices", None)
# New in pandas 3.0: a constructor that omits checks.
FROM_BLOCKS = getattr(getattr(pd.api, "internals", None), "create_dataframe_from_blocks", None)
IntIndex: Any = type(pd.arrays.SparseArray([1], kind="integer").sp_index)


def wrap(
    table: Table,
    parts: Sequence[Part],
    cache: Cache[Any] | None = None,
    num_threads: int | None = None,
    *,
    sparse: bool = False,
    dtype: AnyDtype | None = None,
) -> pd.DataFrame:
    """Return a frame of the columns that `parts` describe; features of one part share memory."""
    source = table.source if isinstance(table.source, pd.DataFrame) else None
    index = pd.RangeIndex(table.n_rows) if source is None else source.index
    labels = _column_labels(parts, source, Cache(1) if cache is None else cache)
    frames = []
    for run in _neighbours(parts):
        part = run[0]
        if isinstance(part, PassThrough):
            frame = _input_columns(table, run, source, index)
        elif isinstance(part, Decoded):
            arrays = _text_arrays(run) or [_decoded_array(each, table) for each in run]
            frame = _assemble(arrays, index)
        elif isinstance(part, DecodedLists):
            frame = _assemble([_decoded_lists(part, table)], index)
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


def _labels_of(parts: Sequence[Part], has_levels: bool) -> "pd.Index[Any]":
    """Return the names of all parts as column labels, which may be a MultiIndex."""
    names = [name for part in parts for name in part.names]
    has_levels = has_levels or any(isinstance(part, Decoded | DecodedLists) for part in parts)
    return _labels(names, has_levels and _are_tuples(names))


def _labels(names: list[Any], is_multi_index: bool) -> "pd.Index[Any]":
    """Return names as column labels; among others, pandas would turn None and NA into NaN."""
    labels: pd.Index[Any] = pd.Index(names, tupleize_cols=is_multi_index)
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


def _column_labels(
    parts: Sequence[Part], source: pd.DataFrame | None, cache: Cache[Any]
) -> "pd.Index[Any]":
    """Return the column labels of the result, under the name that the source's labels have.

    The labels of a frame with a MultiIndex are tuples. Beside the names of features they are the
    items of a flat index, whose name is the tuple of the names of the levels. A decoded frame has
    only tuples, and therefore a MultiIndex.
    """
    columns = pd.Index([]) if source is None else source.columns
    # A view, so that renaming the labels changes one frame only.
    labels: pd.Index[Any] = cache.get("pandas", _labels_of, parts, columns.nlevels > 1).view()
    name = columns.name if columns.nlevels == 1 else tuple(columns.names)
    if labels.nlevels == 1:
        is_named = columns.nlevels == 1 or any(each is not None for each in columns.names)
        labels.name = name if is_named else None
    elif isinstance(name, tuple) and len(name) == labels.nlevels:
        labels.names = name
    return labels


def _are_tuples(names: Sequence[Hashable]) -> bool:
    """Tell whether the names are tuples of one length, of which pandas makes a MultiIndex."""
    lengths = {len(name) if isinstance(name, tuple) else 0 for name in names}
    return len(lengths) == 1 and min(lengths) > 1


def _decoded_array(part: Decoded, table: Table) -> Any:
    """Return decoded rows, in the dtype that the column had in `fit` if it can represent them."""
    fitted = _as_fitted(part, table)
    return _new_array(part.distinct).take(part.positions) if fitted is None else fitted


def _as_fitted(part: Decoded, table: Table) -> Any:
    """Return decoded rows in the dtype that the column had in `fit`.

    Return None if the dtype cannot represent the values (e.g. an integer dtype and a missing
    value), if there is no dtype (the column was fitted in another library), or if the installed
    libraries do not have it.
    """
    names = part.types_in("pandas")
    categories = [each for each in map(category_of_name, names) if each is not None]
    if not names:
        return None
    if len(categories) == len(names):
        kinds = {kind for kind, _ in categories}
        kind = _dtype_or_none([*kinds]) if len(kinds) == 1 else None
        is_ordered = all(ordered for _, ordered in categories)
        return None if kind is None else _categorical(part, kind, is_ordered, table)
    dtype = _dtype_or_none(names)
    return None if dtype is None else _rows_in(part, dtype, table)


def _dtype_or_none(names: Sequence[str]) -> Any:
    """Return the common dtype of dtypes with these names, or None if there is none."""
    try:
        return common_dtype([dtype_of_name(name) for name in names])
    except UNKNOWN_DTYPE:
        return None


def _rows_in(part: Decoded, dtype: Any, table: Table) -> Any:
    """Return decoded rows as an array of a dtype, or None if it cannot represent them."""
    if isinstance(dtype, pd.ArrowDtype):
        return _arrow_rows(part, dtype, table)
    if dtype == np.dtype(object):
        return pd.Series(part.distinct, dtype=object).to_numpy().take(part.positions)
    array = _new_array(part.distinct)
    if array.dtype != dtype:
        try:
            array = _new_array(pd.Series(array).astype(dtype))
        except (ArithmeticError, NotImplementedError, TypeError, ValueError):
            return None  # pandas raises these errors for values that a dtype cannot represent
        if not part.holds(array):
            return None
    return array.take(part.positions)


def _decoded_lists(part: DecodedLists, table: Table) -> Any:
    """Return decoded lists: in Arrow memory if `fit` saw them there, else as Python lists."""
    names = part.labels.types_in("pandas")
    dtype = _dtype_or_none(names) if names else None
    rows = _arrow_rows(part, dtype, table) if isinstance(dtype, pd.ArrowDtype) else None
    return pd.Series(part.tolist(), dtype=object).to_numpy() if rows is None else rows


def _arrow_rows(part: Decoded | DecodedLists, dtype: Any, table: Table) -> Any:
    """Return decoded rows as an array in Arrow memory, or None if the type cannot represent them.

    The Arrow integration converts the values: pandas lacks a conversion to many Arrow types.
    """
    typed = part.with_types([f"arrow:{arrow_type_name(dtype)}"])
    try:
        [column] = integration("arrow").wrap(table, [typed]).columns
    except TypeError:  # e.g. for text and numbers in one column
        return None
    is_fitted = _is_fitted(column.type, dtype.pyarrow_dtype)
    return pd.arrays.ArrowExtensionArray(column) if is_fitted else None


def _is_fitted(found: Any, expected: Any) -> bool:
    """Tell whether a column has the expected Arrow type.

    The indices of a dictionary are wider if it has too many values for their type.
    """
    if found == expected:
        return True
    are_dictionaries = hasattr(found, "index_type") and hasattr(expected, "index_type")
    return are_dictionaries and found.value_type == expected.value_type


def _categorical(part: Decoded, kind: Any, is_ordered: bool, table: Table) -> Any:
    """Return decoded rows as a Categorical, or None if a value is not one of the categories."""
    known = part.schema.known
    levels = _levels(part, kind, table)
    is_value = ~pd.isna(part.distinct)
    codes = np.full(len(part.distinct), -1, np.int64)
    codes[is_value] = known.find(Categories.of(part.distinct[is_value]))
    if levels is None or (codes[is_value] < 0).any():
        return None
    dtype = pd.CategoricalDtype(levels, is_ordered)
    return pd.Categorical.from_codes(cast(Any, codes), dtype=dtype).take(part.positions)


def _levels(part: Decoded, kind: Any, table: Table) -> Any:
    """Return the categories of a column as an Index of a dtype, or None if it cannot hold them."""
    levels = _rows_in(_every_category(part.schema), kind, table)
    return None if levels is None else pd.Index(levels, dtype=kind)


def _every_category(column: ColumnSchema) -> Decoded:
    """Return a decoded column that has each category once, in their order."""
    known = column.known
    return Decoded(column.name, known.to_array(), np.arange(len(known)), column)


def fitted_categories(column: ColumnSchema) -> Any:
    """Return the categories of a column as an Index of the dtype that they had in `fit`.

    Return None if `fit` saw no categories, or categories of several dtypes. Columns of other dtypes
    are ignored: a table in parts has them in place of categories that are not known yet.
    """
    every = _every_category(column)
    categories = [each for each in map(category_of_name, every.types_in("pandas")) if each]
    kinds = {kind for kind, _ in categories}
    kind = _dtype_or_none([*kinds]) if len(kinds) == 1 else None
    table = read_table({column.name: every.positions})
    return None if kind is None else _levels(every, kind, table)


def _text_arrays(run: Sequence[Decoded]) -> list[Any] | None:
    """Return the columns as string arrays, or None if pandas infers another dtype for a column."""
    # pandas infers no text dtype from missing values alone, and by default none before 3.0.
    rows = [
        part.positions
        for part in run
        if part.distinct.dtype == object and any(isinstance(value, str) for value in part.distinct)
    ]
    names = {name for part in run for name in part.types_in("pandas")}
    if not COPY_ON_WRITE or len(rows) < len(run) or not names <= {"str"}:
        return None
    values = _new_array(np.concatenate([part.distinct for part in run]))
    inferred = {values.dtype, *map(dtype_of_name, names)}
    if len(inferred) > 1 or not isinstance(values.dtype, pd.StringDtype):
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
        columns = {part.position: table.to_numpy(part.position) for part in run}
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
        block = write.block(columns, dtype, n_rows=n_rows, num_threads=num_threads)
        return pd.DataFrame(block.T, index=index, copy=False)
    if isinstance(dtype, np.dtype):
        off_on = np.zeros(2, dtype)
        off_on[1] = 1
    elif (arrays := _extension_arrays(columns, dtype, n_rows)) is not None:
        return _assemble(arrays, index)
    block = write.block(columns, off_on.dtype, n_rows=n_rows, on=off_on[1], off=off_on[0])
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
        matrix = write.sparse_array("csc", columns, dtype, n_rows=n_rows)
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

        rows = [[None, pa.py_buffer(bits)] for bits in write.block(columns, bool, packed=True)]
        arrays = [pa.Array.from_buffers(pa.bool_(), n_rows, row, null_count=0) for row in rows]
        return [pd.arrays.ArrowExtensionArray(array) for array in arrays]
    kind = cast(Any, dtype.construct_array_type())
    if not issubclass(kind, MASKED):
        return None
    block = write.block(columns, cast(Any, dtype).numpy_dtype)
    masks = np.zeros(block.shape, bool)  # one mask per column, because masks can be modified
    return [kind(values, mask) for values, mask in zip(block, masks, strict=True)]


@collector_paused()
def _assemble(arrays: Sequence[Any], index: "pd.Index[Any]") -> pd.DataFrame:
    """Return the arrays as the columns of a frame, without a copy."""
    if FROM_BLOCKS is not None and all(isinstance(a, ExtensionArray) for a in arrays):
        blocks = [*zip(arrays, np.arange(len(arrays))[:, np.newaxis], strict=True)]
        return cast(pd.DataFrame, FROM_BLOCKS(blocks, index, pd.RangeIndex(len(arrays))))
    columns = [
        # pandas would infer the dtype of an array of objects, but not of a Series of objects.
        pd.Series(array, index=index, dtype=object) if array.dtype == object else array
        for array in arrays
    ]
    return pd.DataFrame(dict(enumerate(columns)), index=index, copy=False)
