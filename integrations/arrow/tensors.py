"""One-hot encode one Arrow column into memory that Arrow, NumPy and DLPack share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

import onehot_fast
from onehot_fast import UnknownValueError
from onehot_fast.adapter import (
    Categories,
    CodedColumn,
    ColumnSchema,
    check_choice,
    code_column,
    frequency_table,
    max_positional,
    number_dtype,
    read_arrow,
    shown,
    write,
)

from ._read import as_column, read_column, read_integers
from ._values import plain_array
from ._write import (
    LAYOUTS,
    Layout,
    arrow_type,
    nested,
    row_element,
    rows_array,
    rows_type,
)

__all__ = ["OneHotArray", "one_hot"]

AnyArray: TypeAlias = npt.NDArray[Any]

# What a notebook shows: the classes, and the rows that are counted.
MAX_CLASSES_SHOWN = 20
MAX_ROWS_COUNTED = 100_000
# Before version 2.1, NumPy cannot export read-only memory through DLPack.
EXPORTS_READ_ONLY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


@max_positional(1, "pass categories=[...] or depth= by keyword: one_hot(array, depth=3)")
def one_hot(
    array: Any,
    *,
    categories: Any = None,
    depth: Any = None,
    handle_unknown: Literal["ignore", "error"] | None = None,
    out_of_range: Literal["ignore", "error"] = "ignore",
    layout: Layout = "tensor",
    dtype: npt.DTypeLike = np.uint8,
    num_threads: int | None = None,
) -> OneHotArray:
    """Return the one-hot encoding of a column.

    Parameters
    ----------
    array : Array, ChunkedArray, or an object with the Arrow PyCapsule interface, of n_rows
        The column. Null and NaN are missing values.
    categories : array_like or sequence of scalars, optional
        The classes in order. The default is the values of the dictionary, or the sorted distinct
        values. A Boolean array of only True has one class; pass [False, True] for two.
    depth : int, optional
        The number of classes. If given, `array` contains class labels from 0 to depth - 1.
    handle_unknown : {"ignore", "error"}, optional
        Whether a value that is not in `categories` becomes zeros, which is the default, or raises
        an error. It needs `categories`. A missing value is never unknown.
    out_of_range : {"ignore", "error"}, default "ignore"
        Whether a label that is negative or at least `depth` becomes zeros or raises an error. It
        needs `depth`.
    layout : {"tensor", "array", "struct", "columns", "dictionary"}, default "tensor"
        "tensor" (one-dimensional) and "array" (fixed-size lists) store rows contiguously, as bytes
        if the dtype is bool. "struct" and "columns" have a field per class, bit-packed for bool.
        A "dictionary" array has the classes as values; NumPy and DLPack make a matrix from it.
    dtype : dtype_like, default uint8
        The dtype of the elements: bool, an integer or a float.
    num_threads : int, optional
        The number of threads; by default it depends on the size of the result.

    Returns
    -------
    OneHotArray of n_rows
        Missing values and values that are not a class become zeros (null in a dictionary).

    Raises
    ------
    UnknownValueError
        A value is not in `categories`, and `handle_unknown` is "error". This is a ValueError.
    TypeError
        `array` has no Arrow data or cannot be encoded, `depth` is given but `array` does not
        contain integers, or an argument has the wrong type.
    ValueError
        Both `categories` and `depth` are given, two classes are equal, two fields would have the
        same name, an index is outside its dictionary, or a label is rejected.
    MemoryError
        The result is larger than the free memory. Nothing has been allocated.

    Examples
    --------
    >>> import pyarrow as pa
    >>> sizes = pa.array(["M", "S", None]).dictionary_encode()
    >>> one_hot(sizes, layout="struct", dtype=bool).to_arrow().to_pylist()[0]
    {'M': True, 'S': False}
    >>> pa.array(one_hot(pa.array([2, 0, 7]), depth=3)).to_numpy_ndarray()
    array([[0, 0, 1],
           [1, 0, 0],
           [0, 0, 0]], dtype=uint8)
    """
    check_choice(layout, "layout", LAYOUTS)
    element = number_dtype(dtype, "dtype").newbyteorder("=")
    arrow_type(element)
    check_choice(out_of_range, "out_of_range", ("ignore", "error"))
    if handle_unknown is not None:
        check_choice(handle_unknown, "handle_unknown", ("ignore", "error"))
    if (handle_unknown is not None and categories is None) or (
        out_of_range == "error" and depth is None
    ):
        raise TypeError("handle_unknown needs categories, and out_of_range='error' needs depth")
    coded, known = _read(array, categories, depth, element)
    if "error" in (handle_unknown, out_of_range):
        _check_classes(array, coded, len(known), "depth" if categories is None else "categories")
    if layout == "tensor" or layout == "array":
        matrix = write.rows([coded], row_element(element), num_threads=num_threads)
        kind = rows_type(matrix.dtype, matrix.shape[1], layout)
        return OneHotArray(rows_array(matrix, kind), matrix.dtype, known, matrix)
    column = ColumnSchema.declared(known, element)
    _, encode = nested(column, "struct" if layout == "columns" else layout, num_threads)
    rows: Any = encode(coded)
    if layout == "columns":
        rows = pa.RecordBatch.from_struct_array(rows)
    return OneHotArray(rows, element, known)


def _read(
    array: Any, categories: Any, depth: Any, element: np.dtype[Any]
) -> tuple[CodedColumn, AnyArray | range]:
    """Return the codes and the classes of a column."""
    if categories is not None and depth is not None:
        raise ValueError("depth and categories are both given: pass only one of them")
    values = as_column(array)
    if pa.types.is_struct(values.type):
        raise TypeError(
            f"array must be a column, got a table with columns {[*values.type.names]!r}: pass one"
            " column, or use an Encoder to encode a table"
        )
    if depth is not None:
        codes = read_integers(values)
        shape: Any = onehot_fast.infer_shape((0,), depth)
        n_classes = int(shape[1])
        return CodedColumn(codes, None, n_classes), range(n_classes)
    column = read_column(values).encode()
    if categories is None and pa.types.is_dictionary(plain_array(values).type):
        known = column.categories
        return CodedColumn(column.codes, None, len(known)), known
    if categories is None:
        found = Categories.of(column.stored)
        order = found.argsort()
        if column.source == "bool":  # whose codes have two categories, also if one does not occur
            order = order[[bool((column.codes == code).any()) for code in order]]
        coded = CodedColumn.of_order(column.codes, order, len(found))
        return coded, found.take(order).to_array()
    schema = ColumnSchema.declared(categories, element)
    return code_column(schema, column), schema.known.to_array()


def _check_classes(array: Any, coded: CodedColumn, n_classes: int, option: str) -> None:
    """Raise an error for the first value that is neither missing nor a class."""
    values = as_column(array)
    features = coded.features()
    if option == "depth":  # negative labels are not missing
        nulls = pc.is_null(plain_array(values)).to_numpy(zero_copy_only=False)
        is_absent = np.asarray(nulls, np.bool_)
    else:
        is_absent = coded.codes < 0
    is_invalid = ~is_absent & ((features < 0) | (features >= n_classes))
    if is_invalid.any():
        row = int(np.argmax(is_invalid))
        got = f"got {values[row].as_py()!r}"
        if option == "depth":
            raise ValueError(
                f"array[{row}] must be in [0, {n_classes}), {got}; pass out_of_range='ignore' to"
                " get zeros instead"
            )
        raise UnknownValueError(
            f"array[{row}] must be one of the categories, {got}; pass handle_unknown='ignore' to"
            " get zeros instead"
        )


class OneHotArray:
    """One-hot encoded rows that every library can import without a copy.

    pyarrow, polars, pandas, DuckDB and nanoarrow import it through the Arrow PyCapsule interface.
    NumPy and DLPack import a matrix of shape (n_rows, depth), which is a copy unless the layout is
    "tensor" or "array". The memory is read-only, except for consumers older than DLPack 1.0. The
    memory is freed with the last reference in any library.

    Parameters
    ----------
    arrow : pyarrow.Array or RecordBatch
        The rows.
    dtype : dtype
        The dtype of the matrix.
    categories : sequence
        The class of each column of the matrix.
    matrix : ndarray of shape (n_rows, depth), optional
        The matrix that shares the memory of `arrow`.

    Examples
    --------
    >>> from onehot_fast.integrations.arrow import one_hot
    >>> result = one_hot(pa.array(["b", "a", None]))
    >>> result
    OneHotArray(3 rows, 2 classes, extension<arrow.fixed_shape_tensor[value_type=uint8, shape=[2]]>)
    >>> np.asarray(result)
    array([[0, 1],
           [1, 0],
           [0, 0]], dtype=uint8)
    """

    __slots__ = ("_arrow", "_categories", "_dtype", "_matrix")

    def __init__(
        self,
        arrow: Any,
        dtype: np.dtype[Any],
        categories: Sequence[Any] | AnyArray,
        matrix: AnyArray | None = None,
    ) -> None:
        self._arrow = arrow
        self._dtype = dtype
        self._categories = categories
        self._matrix = matrix

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix: (n_rows, n_classes)."""
        return len(self), len(self._categories)

    @property
    def categories(self) -> Sequence[Any] | AnyArray:
        """The classes, in order."""
        return self._categories

    def to_arrow(self) -> Any:
        """Return the rows: a RecordBatch if the layout is "columns", otherwise an Array."""
        return self._arrow

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._arrow)

    def __repr__(self) -> str:
        """Return the number of rows and classes, and the type."""
        kind = getattr(self._arrow, "type", "columns")
        return f"OneHotArray({len(self)} rows, {len(self._categories)} classes, {kind})"

    def _repr_html_(self) -> str:
        """Return HTML: the text of `__repr__`, and the share of ones of the first classes."""
        n_rows, n_classes = min(len(self), MAX_ROWS_COUNTED), min(self.shape[1], MAX_CLASSES_SHOWN)
        if self._matrix is None:
            first = _matrix_of(self._arrow.slice(0, n_rows), self.shape[1], self._dtype)
        else:
            first = self._matrix[:n_rows]
        counts = np.count_nonzero(first[:, :n_classes], axis=0).tolist()
        names = [self._categories[i] for i in range(n_classes)]
        rows = [
            (shown(name), f"{count:,}", count / max(n_rows, 1))
            for name, count in zip(names, counts, strict=True)
        ]
        notes = [f"counts of the first {n_rows:,} rows"] if n_rows < len(self) else []
        if n_classes < self.shape[1]:
            notes.append(f"… {self.shape[1] - n_classes:,} more classes")
        return frequency_table(repr(self), rows, "; ".join(notes))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        """Return the matrix, read-only if it shares the memory of the Arrow array."""
        matrix = self._matrix
        if copy is False and (matrix is None or (dtype is not None and dtype != self._dtype)):
            raise ValueError("this result cannot become an array without a copy: pass copy=None")
        if matrix is None:
            matrix, copy = _matrix_of(self._arrow, self.shape[1], self._dtype), False
        if copy or (dtype is not None and dtype != self._dtype):
            return np.array(matrix, dtype)
        if self._matrix is not None:
            matrix = matrix.view()
            matrix.flags.writeable = False
        return matrix

    def __dlpack__(self, **options: Any) -> Any:
        """Return the DLPack capsule of the matrix; `options` are passed to NumPy's method."""
        if EXPORTS_READ_ONLY and options.get("max_version") is not None:
            return np.asarray(self).__dlpack__(**options)
        matrix = np.asarray(self) if self._matrix is None else self._matrix
        return matrix.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, Any]:
        """Return the DLPack device, always the CPU."""
        return np.empty(0, np.uint8).__dlpack_device__()

    def __arrow_c_schema__(self) -> object:
        """Return the capsule of the Arrow type or schema."""
        kind = self._arrow.schema if isinstance(self._arrow, pa.RecordBatch) else self._arrow.type
        return kind.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Return the capsules of the type and the rows; the layout "columns" becomes a struct."""
        capsules: tuple[object, object] = self._arrow.__arrow_c_array__(requested_schema)
        return capsules

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the capsule of a stream with all rows in one chunk."""
        chunks = self._arrow
        if not isinstance(chunks, pa.RecordBatch):
            chunks = pa.chunked_array([chunks])
        return chunks.__arrow_c_stream__(requested_schema)


def _matrix_of(arrow: Any, depth: int, dtype: np.dtype[Any]) -> AnyArray:
    """Return the one-hot matrix of a batch, a struct array or a dictionary array."""
    if isinstance(arrow, pa.DictionaryArray):
        return write.rows([CodedColumn(next(read_arrow(arrow)).codes(), None, depth)], dtype)
    columns = arrow.columns if isinstance(arrow, pa.RecordBatch) else arrow.flatten()
    block = np.empty((depth, len(arrow)), dtype)
    for row, column in zip(block, columns, strict=True):
        row[:] = column.to_numpy(zero_copy_only=False)
    return block.T
