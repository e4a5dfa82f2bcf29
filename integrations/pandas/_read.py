"""pandas in: a Series becomes codes and levels, and nothing that is coded is hashed again."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import infer_dtype, is_object_dtype

from onehot_fast.adapter import CodedColumn, Column, Strings, Table, Values, read_arrow, write

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas.api.extensions import ExtensionDtype

__all__ = [
    "Codes",
    "arrow_array",
    "as_series",
    "code_series",
    "is_arrow_string",
    "is_encodable",
    "level_codes",
    "prefixed",
    "python_values",
    "read_column",
    "read_table",
]

Codes: TypeAlias = npt.NDArray[np.integer[Any]]
# The codes of a Series, where an output is the position of a level; and the levels.
Coding: TypeAlias = tuple[CodedColumn, "pd.Index[Any]"]

# So few levels of a category dtype are remembered.
FEW_LEVELS = 1000
# Of so few columns pandas makes all at once in less time than two by their positions.
FEW_COLUMNS = 64
# A frame of so few cells and of one dtype is read as one array, of which pandas may make a copy; of
# a larger one only the columns that are asked for.
SMALL_CELLS = 1 << 20
# Whole numbers that span less than this are codes already; a wider table would leave the caches.
WIDEST_SPAN = 1 << 16
# Rows in which the kind of objects is looked for.
SAMPLE = 2048


def read_table(table: Any) -> Table:
    """Return a DataFrame, or one column of pandas, as a `Table`, without reading a column.

    Parameters
    ----------
    table : DataFrame, Series, Index or pandas array
        A column alone is a table of its name, or of "x0".

    Returns
    -------
    Table
        Those columns count as encodable that `pandas.get_dummies` encodes without being asked.

    Examples
    --------
    >>> table = read_table(pd.DataFrame({"size": ["S", "L"], "price": [2, 3]}))
    >>> table.names, table.encodable
    (('size', 'price'), (True, False))
    """
    if not isinstance(table, pd.DataFrame):
        series = as_series(table)
        table = series.to_frame("x0" if series.name is None else series.name)
    frame: pd.DataFrame = table
    dtypes = cache(lambda: frame.dtypes.tolist())
    every = cache(lambda: [series for _, series in frame.items()])
    is_small = frame.size <= SMALL_CELLS
    matrix = cache(lambda: frame.to_numpy().T if is_small and len(set(dtypes())) == 1 else None)

    def column(position: int) -> "pd.Series[Any]":
        return frame.iloc[:, position] if frame.shape[1] > FEW_COLUMNS else every()[position]

    return Table(
        tuple(python_values(frame.columns)),
        len(frame),
        lambda position: is_encodable(dtypes()[position]),
        lambda position: read_column(column(position)),
        lambda position: column(position).to_numpy(),
        "pandas",
        frame,
        lambda positions: _side_by_side(frame, positions, matrix()),
    )


def _side_by_side(
    frame: pd.DataFrame, positions: Sequence[int], matrix: npt.NDArray[Any] | None
) -> npt.NDArray[Any] | None:
    """Return columns of one dtype as the rows of an array."""
    first, stop = positions[0], positions[-1] + 1
    are_neighbours = list(positions) == [*range(first, stop)]
    index = slice(first, stop) if are_neighbours else list(positions)
    if matrix is not None:
        return matrix[index]
    part = frame.iloc[:, index]
    return part.to_numpy().T if len(set(part.dtypes.tolist())) == 1 else None


def read_column(values: Any) -> Column | Values:
    """Return a column of pandas: a `Column` where it holds codes, else its `Values`.

    Parameters
    ----------
    values : Series, Index or pandas array of n_rows
        The codes of a categorical one are a read-only view of its own.

    Returns
    -------
    Column or Values
        Its categories are NumPy's where NumPy has a dtype for them, else objects.

    Raises
    ------
    TypeError
        If the values cannot be hashed.

    Examples
    --------
    >>> read_column(pd.Series(pd.Categorical(["S"], categories=["S", "M"], ordered=True)))
    Column(1 rows, 2 ordered categories, source='category')
    """
    series = as_series(values)
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        categories = _numpy_values(dtype.categories)
        return Column(_category_codes(series), categories, bool(dtype.ordered), "category")
    if isinstance(dtype, np.dtype):
        return Values([series.to_numpy()])
    if is_arrow_string(dtype):
        return Values(arrow_chunks(pa_array(series)))
    if isinstance(dtype, pd.StringDtype):
        return Values([_python_texts(series)])
    column, levels = code_series(series)
    source = "dictionary" if _is_arrow_dictionary(dtype) else "hash"
    return Column(level_codes(column), _numpy_values(levels), source=source)


def as_series(values: Any) -> "pd.Series[Any]":
    """Return a Series of the same memory."""
    if isinstance(values, pd.Series):
        return values
    # Before pandas 3 a Series of a CategoricalIndex itself would copy its codes.
    array = values.array if isinstance(values, pd.CategoricalIndex) else values
    return pd.Series(array, name=getattr(values, "name", None), copy=False)


def code_series(series: "pd.Series[Any]") -> Coding:
    """Return the codes and levels of a Series of any dtype whose values can be hashed.

    Parameters
    ----------
    series : pandas.Series of shape (n_rows,)
        Category and dictionary codes are taken as they are, whole numbers of a small span are codes
        themselves; strings and other integers are hashed by the core, all else by pandas.

    Returns
    -------
    column : CodedColumn
        Its outputs are the positions of the levels.
    levels : pandas.Index
        The levels `pandas.get_dummies` would name its columns by, in its order: the categories of
        ``pandas.Categorical(series)``; those of a categorical Series are a
        `pandas.CategoricalIndex`.

    Raises
    ------
    TypeError
        If the values cannot be hashed.

    Examples
    --------
    >>> column, levels = code_series(pd.Series([7, 5, 7]))
    >>> level_codes(column), levels
    (array([1, 0, 1], dtype=int8), Index([5, 7], dtype='int64'))
    """
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _coding(_category_codes(series), _category_levels(dtype))
    if is_arrow_string(dtype):
        return _code_arrow_strings(series)
    if _is_arrow_dictionary(dtype):
        return _code_dictionary(series)
    coding = None
    if isinstance(dtype, np.dtype) and dtype.kind in "iub":
        values = series.to_numpy()
        coding = _code_whole(values) or (_code_integers(values) if dtype.kind != "b" else None)
    elif dtype == np.dtype(object) or isinstance(dtype, pd.StringDtype):
        coding = _code_objects(series)
    return coding or _factorize(series)


def level_codes(column: CodedColumn) -> Codes:
    """Return the position of each row's level, -1 where the value is missing."""
    return column.codes if column.lut is None else write.recode(column)


def python_values(index: "pd.Index[Any]") -> list[Any]:
    """Return labels as Python's objects; to iterate over Arrow's takes 5 µs for each."""
    if isinstance(index, pd.CategoricalIndex):
        values, codes = python_values(index.categories), index.codes.tolist()
        if -1 in codes:  # among times a missing label is NaT
            values += list(index[codes.index(-1) :][:1])
        return [values[code] for code in codes]
    if not is_arrow_string(index.dtype):
        return list(index)
    import pyarrow as pa

    texts = pa.array(index.array)
    return list(index.astype(object)) if texts.null_count else texts.to_pylist()


def prefixed(levels: "pd.Index[Any]", prefix: object, prefix_sep: object) -> "pd.Index[Any]":
    """Return the column names `pandas.get_dummies` forms from a prefix."""
    return pd.Index([f"{prefix}{prefix_sep}{level}" for level in python_values(levels)])


def _coding(
    codes: Codes, levels: "pd.Index[Any]", lut: npt.NDArray[np.int32] | None = None
) -> Coding:
    return CodedColumn(codes, lut, len(levels)), levels


class _Same(NamedTuple):
    """A dtype that is equal to itself alone: to compare all categories takes too long."""

    dtype: pd.CategoricalDtype

    def __hash__(self) -> int:
        return id(self.dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.dtype is other.dtype


def _category_levels(dtype: pd.CategoricalDtype) -> "pd.Index[Any]":
    """Return the categories as an index of the dtype; few of them are remembered."""
    if len(dtype.categories) > FEW_LEVELS:
        return _new_levels.__wrapped__(_Same(dtype))
    return _new_levels(_Same(dtype)).view()


@lru_cache(maxsize=16)
def _new_levels(same: _Same) -> "pd.Index[Any]":
    each_once = np.arange(len(same.dtype.categories))
    return pd.CategoricalIndex(pd.Categorical.from_codes(each_once, dtype=same.dtype))


def _category_codes(series: "pd.Series[Any]") -> Codes:
    """Return the codes of a categorical Series: a view, which those of ``.cat.codes`` are not."""
    return np.ascontiguousarray(cast(pd.Categorical, series.array).codes)


def _numpy_values(index: "pd.Index[Any]") -> npt.NDArray[Any]:
    """Return labels as NumPy keeps them."""
    dtype: Any = index.dtype
    if isinstance(dtype, np.dtype):
        return index.to_numpy()
    if getattr(dtype, "numpy_dtype", np.dtype(object)).kind in "iufb":
        return index.to_numpy(dtype.numpy_dtype)
    return index.to_numpy(object)


def is_encodable(dtype: "np.dtype[Any] | ExtensionDtype") -> bool:
    """Tell whether `pandas.get_dummies` encodes a column of this dtype without being asked for."""
    if isinstance(dtype, pd.StringDtype | pd.CategoricalDtype):
        return True
    if isinstance(dtype, pd.ArrowDtype):
        # Text, dictionaries, and what NumPy only knows as objects: binary, decimals, times.
        text = dtype.type is str or hasattr(dtype.pyarrow_dtype, "index_type")
        return text or cast(Any, dtype).numpy_dtype == np.dtype(object)
    return bool(is_object_dtype(dtype))


def is_arrow_string(dtype: object) -> bool:
    """Tell whether columns of this dtype keep their strings in Arrow memory."""
    if isinstance(dtype, pd.StringDtype):
        return dtype.storage != "python"
    return isinstance(dtype, pd.ArrowDtype) and dtype.type is str


def _is_arrow_dictionary(dtype: object) -> bool:
    """Tell whether columns of this dtype are coded by Arrow."""
    return isinstance(dtype, pd.ArrowDtype) and hasattr(dtype.pyarrow_dtype, "index_type")


def _factorize(series: "pd.Series[Any]") -> Coding:
    """Return what pandas makes of values that only pandas can hash."""
    try:
        values = pd.Categorical(series)
    except ValueError:  # Arrow takes 0.0 and -0.0 for two values, and pandas for one
        values = pd.Categorical((series + 0.0).astype(series.dtype))
    except NotImplementedError as error:  # Arrow's word for lists and structs
        raise TypeError(f"values of dtype {series.dtype} cannot be hashed: {error}") from error
    return _coding(values.codes, values.categories)


def _code_whole(values: npt.NDArray[Any]) -> Coding | None:
    """Return whole numbers of a small span as codes, or None where a hash does better."""
    if not len(values):
        return None
    unsigned = np.dtype(f"u{values.itemsize}")
    low, high = values.min(), values.max()
    if int(high) - int(low) >= WIDEST_SPAN:
        return None
    codes, base = values.view(unsigned), low.reshape(1).view(unsigned)
    if low < 0 or int(high) >= WIDEST_SPAN:
        codes = codes - base  # modulo the width: the difference is right even where low is not
        span = int(high) - int(low) + 1
    else:
        base, span = np.zeros(1, unsigned), int(high) + 1
    codes = np.ascontiguousarray(codes)
    present = np.flatnonzero(write.count(codes, span))
    lut = np.full(span + 1, -1, np.int32)
    lut[present] = np.arange(len(present), dtype=np.int32)
    levels = (present.astype(unsigned) + base).view(values.dtype)
    return _coding(codes, pd.Index(levels), lut)


def _code_integers(values: npt.NDArray[Any]) -> Coding:
    """Return integers of any span as codes of the sorted ones."""
    column = Values([values]).encode()
    order = np.argsort(column.categories)
    return _coding(column.codes, pd.Index(column.categories[order]), _rank_lut(order))


def _python_texts(series: "pd.Series[Any]") -> npt.NDArray[np.object_]:
    """Return nullable strings that are Python's, a missing one as None."""
    texts: npt.NDArray[np.object_] = cast(Any, series.array).to_numpy(object, na_value=None)
    return texts


def _code_objects(series: "pd.Series[Any]") -> Coding | None:
    """Return strings that are Python's as codes of the sorted ones; None for other objects."""
    if isinstance(series.dtype, pd.StringDtype):
        values = _python_texts(series)
    else:
        values = np.asarray(series.array, dtype=object)
    if infer_dtype(values[:SAMPLE], skipna=True) != "string":
        return None
    column = Values([values]).encode()
    if not isinstance(column.stored, Strings):
        return None
    order = column.stored.argsort()
    texts = column.stored.take(order).to_object()
    return _coding(column.codes, pd.Index(texts, dtype=series.dtype), _rank_lut(order))


def _code_arrow_strings(series: "pd.Series[Any]") -> Coding:
    """Return strings that lie in Arrow memory as codes of the sorted ones."""
    import pyarrow as pa

    array = pa_array(series)
    column = Values(arrow_chunks(array)).encode()
    order = column.stored.argsort()
    texts = cast(Strings, column.stored.take(order))
    offsets, data = map(pa.py_buffer, (texts.offsets, texts.data))
    sorted_array = pa.LargeStringArray.from_buffers(len(texts), offsets, data)
    if array.type != sorted_array.type:
        sorted_array = sorted_array.cast(array.type)
    restore = cast(Any, series.dtype).__from_arrow__
    return _coding(column.codes, pd.Index(restore(sorted_array)), _rank_lut(order))


def pa_array(series: "pd.Series[Any]") -> "pa.Array | pa.ChunkedArray":
    """Return a Series that lies in Arrow memory as Arrow's."""
    import pyarrow as pa

    return pa.array(series.array)


def arrow_chunks(array: "pa.Array | pa.ChunkedArray") -> list[Any]:
    """Return the chunks of an array as the core reads them, at least one."""
    return list(read_arrow(array)) or arrow_chunks(array.combine_chunks())


def _rank_lut(order: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Return the look-up table from codes to positions in an order of them."""
    lut = np.full(len(order) + 1, -1, np.int32)
    lut[order] = np.arange(len(order), dtype=np.int32)
    return lut


def _code_dictionary(series: "pd.Series[Any]") -> Coding:
    """Return the codes of an Arrow dictionary, where its indices or its values may be null."""
    import pyarrow as pa

    encoded = arrow_array(series)
    codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy()
    # Arrow accepts nulls and repetitions among the values of a dictionary; levels have neither.
    proper = encoded.dictionary.dictionary_encode()
    lut = np.append(proper.indices.fill_null(-1).to_numpy(), np.int32(-1))
    return _coding(codes, pd.Index(pd.arrays.ArrowExtensionArray(proper.dictionary)), lut)


def arrow_array(values: "pd.Series[Any] | pd.Index[Any]") -> Any:
    """Return Arrow-backed values as one Arrow array, so that a dictionary is one for all rows."""
    import pyarrow as pa

    return _one_chunk(pa.array(values.array))


def _one_chunk(array: "pa.Array | pa.ChunkedArray") -> Any:
    import pyarrow as pa

    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
