"""Read the columns of a table as scikit-learn would convert them, and write CSR matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn import get_config
from sklearn.utils import check_array
from sklearn.utils._set_output import _get_output_config

from onehot_fast import Column, adapter
from onehot_fast.adapter import CodedColumn, Strings, Values, read_column, reader_of, write

AnyArray: TypeAlias = npt.NDArray[Any]
DType: TypeAlias = np.dtype[Any]

# The major and minor version of scikit-learn.
VERSION = tuple(map(int, sklearn.__version__.split(".")[:2]))
# Kinds of arrays that check_array neither copies nor converts.
PLAIN_KINDS = "OUbiuf"
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
OBJECT = np.dtype(object)
# The types that NaN may have in an array of objects.
NAN_TYPES = {float, np.float16, np.float32, np.float64}
# The kind of a dtype → the Python type of its elements. An array of objects is read only if all
# elements have the same type, and the type is one of these.
KIND_TYPES = {"U": str, "i": int, "u": int, "f": float, "b": bool}
# Up to this many rows, reading cell by cell is faster than creating a Series for each column.
MAX_CELL_ROWS = 16


class SklearnFallback(Exception):  # caught within this package
    """Raised if only scikit-learn's own code can read the values or report the error."""


class InputColumn(NamedTuple):
    """A column that is not encoded yet."""

    # A list has the texts of a few rows, and `missing` where a value is missing.
    source: Column | Values | list[Any]
    dtype: DType  # the dtype of the column as an array in scikit-learn
    missing: float | None = np.nan  # NaN or None; not used if `array` holds objects
    array: AnyArray | None = None  # the column, if it is an array

    def encode(self) -> Column:
        """Return the column in codes, with categories of the dtype `dtype` in any order."""
        source = self.source
        try:
            column = (read_column(source) if isinstance(source, list) else source).encode()
        except TypeError as error:  # a value is not hashable
            raise SklearnFallback from error
        values: Any = column.stored
        if python_type(values) is None:
            raise SklearnFallback
        if not isinstance(values, Strings):
            if self.array is not None and self.array.dtype == OBJECT:
                # Of equal values, such as 1 and True, scikit-learn keeps the first one.
                present = self.array[column.codes >= 0]
                if len(set(map(type, present.tolist()))) > 1:
                    raise SklearnFallback
            if rounds(values, self.dtype):
                raise SklearnFallback  # distinct integers may become one float
            values = values.astype(self.dtype, copy=False)
        if self.array is not None and self.array.dtype.kind == "f":
            # In scikit-learn, NumPy's sort decides whether the category is 0.0 or -0.0.
            is_negative_zero = (self.array == 0) & np.signbit(self.array)
            if is_negative_zero.any() or not np.isfinite(values.astype(np.float64)).all():
                raise SklearnFallback
        return Column.unchecked(column.codes, values)

    def missing_value(self, codes: AnyArray) -> float | None:
        """Return the missing value, NaN or None, of all rows with code -1."""
        if self.array is None or self.array.dtype != OBJECT:
            return self.missing
        types = set(map(type, self.array[codes == -1].tolist()))
        if types <= {type(None)}:
            return None
        if types <= NAN_TYPES:
            return np.nan
        raise SklearnFallback


def read_table(table: Any) -> tuple[tuple[Any, ...] | None, list[InputColumn]]:
    """Return the column names (None for an array or a list of rows) and the columns of a table."""
    if type(table) in (list, tuple):
        table = _array_of_rows(table)
    shape: tuple[int, ...] = getattr(table, "shape", ())
    if len(shape) != 2 or 0 in shape:
        raise SklearnFallback
    if type(table) in (np.ndarray, np.memmap):
        return None, [*map(read_array, table.T)]
    library = reader_of(table)
    if library is None:
        raise SklearnFallback
    named = adapter.read_table(table)
    cells: list[InputColumn | None] = [None] * shape[1]
    if shape[0] <= MAX_CELL_ROWS:
        cells[0] = _read_cells(named, 0)
        if cells[0] is None and library == "pandas":
            dtype, *others = set(table.dtypes.tolist())
            if not others and isinstance(dtype, np.dtype) and dtype.kind in "biuf":
                return named.names, [*map(read_array, table.to_numpy().T)]
        cells[1:] = [_read_cells(named, i) for i in range(1, shape[1])]
    if None not in cells:
        return named.names, cells  # type: ignore[return-value]
    if library == "pandas":
        series = [each for _, each in table.items()]
        read = read_series
    else:
        series = table.get_columns() if library == "polars" else table.columns
        if not any(map(_is_text, series)):  # scikit-learn converts all columns to one array
            arrays = [each.to_numpy() for each in series]
            is_one_dtype = len({array.dtype for array in arrays}) == 1
            return named.names, [*map(read_array, arrays if is_one_dtype else np.asarray(table).T)]
        read = _read_library_column
    return named.names, [own or read(each) for own, each in zip(cells, series, strict=True)]


def read_array(values: AnyArray) -> InputColumn:
    """Return an array of strings, objects or numbers as a column."""
    dtype = values.dtype
    if not dtype.isnative or not (dtype.kind in "OUbiu" or dtype in FLOATS):
        raise SklearnFallback
    return InputColumn(Values([values]), dtype, array=values)


def python_type(values: AnyArray | Strings) -> type | None:
    """Return the Python type of all values, or None if types differ or are not in `KIND_TYPES`."""
    if isinstance(values, Strings):
        return str if len(values) and values.is_text else None
    if values.dtype != OBJECT:
        return KIND_TYPES.get(values.dtype.kind)
    types = set(map(type, values.tolist()))
    return types.pop() if len(types) == 1 and types <= {*KIND_TYPES.values()} else None


def rounds(values: AnyArray, dtype: DType) -> bool:
    """Tell whether `dtype` is a float type that cannot represent some of these integers."""
    if values.dtype.kind not in "iu" or dtype.kind != "f" or not len(values):
        return False
    largest = 2 ** int(np.finfo(dtype).nmant + 1)
    return bool(values.min() < -largest or values.max() > largest)


def returns_table(transformer: Any) -> bool:
    """Tell whether `set_output` of a transformer, or scikit-learn's default, asks for a table."""
    return bool(_get_output_config("transform", estimator=transformer)["dense"] != "default")


def csr_format() -> Literal["csr", "csr_matrix"]:
    """Return "csr" if scikit-learn is configured to return sparse arrays, else "csr_matrix"."""
    # New in scikit-learn 1.9; older versions always return a matrix.
    return "csr" if get_config().get("sparse_interface") == "sparray" else "csr_matrix"


def one_hot_rows(columns: Sequence[CodedColumn], dtype: DType, *, is_sparse: bool) -> Any:
    """Return the one-hot rows of columns, as the CSR container of scikit-learn if `is_sparse`."""
    if not is_sparse:
        return write.rows(columns, dtype)
    return write.sparse_array(csr_format(), columns, dtype)


def _array_of_rows(rows: Sequence[Any]) -> AnyArray:
    """Convert a list of rows to an array as scikit-learn does."""
    try:
        array = np.asarray(rows)
        return np.asarray(rows, object) if array.dtype.kind == "U" else array
    except ValueError as error:  # rows of different lengths
        raise SklearnFallback from error


def _read_cells(table: adapter.Table, position: int) -> InputColumn | None:
    """Read a short column cell by cell; return None unless all cells are strings or missing."""
    values = table.cells(position) or ()
    types = set(map(type, values))
    if types == {str}:
        return InputColumn([*values], OBJECT)
    if types == {str, type(None)} and table.library == "polars":
        return InputColumn([*values], OBJECT, None)
    is_missing = [value is None or value != value for value in values]
    if table.library != "pandas" or not types <= {str, type(None), float} or not any(is_missing):
        return None
    dtype = table.source.dtypes.iloc[position]
    if hasattr(dtype, "categories"):
        dtype = dtype.categories.dtype
    if dtype != "str":
        return None
    texts = [np.nan if each else value for each, value in zip(is_missing, values, strict=True)]
    return InputColumn(texts, OBJECT)


def read_series(series: Any) -> InputColumn:
    """Return a column of a DataFrame; codes and Arrow strings are not copied."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in PLAIN_KINDS:
        return read_array(series.values)
    if hasattr(dtype, "categories"):
        return _read_category(series)
    if dtype == "str":
        return InputColumn(read_column(series), OBJECT)
    return read_array(_check_series(series))


def _read_category(series: Any) -> InputColumn:
    """Return a categorical column; its codes are not copied."""
    column = read_column(series).encode()
    values, is_missing = column.stored, column.codes < 0
    if isinstance(values, Strings) or python_type(values) is str:
        # Among categories of a nullable or Arrow dtype, a missing value is `pandas.NA`.
        is_nan = isinstance(getattr(series.dtype.categories.dtype, "na_value", np.nan), float)
        if not is_nan and is_missing.any():
            raise SklearnFallback
        return InputColumn(column, OBJECT)
    # A missing value makes integers floats, so check one row with and one without a value.
    rows = sorted({int(is_missing.argmin()), int(is_missing.argmax())})
    try:
        dtype = _check_series(series.iloc[rows]).dtype
    except (TypeError, ValueError) as error:  # the error must show all rows
        raise SklearnFallback from error
    if {values.dtype.kind, dtype.kind} <= {*"biuf"} and np.isfinite(values).all():
        return InputColumn(column, dtype)
    raise SklearnFallback


def _check_series(series: Any) -> AnyArray:
    """Return a Series as the array that scikit-learn's `check_array` makes from it."""
    array: AnyArray = check_array(
        series, ensure_2d=False, dtype=None, ensure_all_finite="allow-nan"
    )
    return array


def _read_library_column(series: Any) -> InputColumn:
    """Return a polars or Arrow column with dtype object, which it would have in scikit-learn."""
    if _is_text(series):
        return InputColumn(read_column(series), OBJECT, None)
    values = series.to_numpy()
    if not isinstance(values, np.ndarray):
        raise SklearnFallback
    return read_array(values)._replace(dtype=OBJECT)


def _is_text(series: Any) -> bool:
    """Tell whether a polars or Arrow column has strings, which may be dictionary-encoded."""
    if hasattr(series, "to_physical"):
        return series.dtype.base_type().__name__ in ("String", "Categorical", "Enum")
    name = str(series.type)
    if name.startswith("dictionary"):  # Arrow would convert nulls to categories
        return "string" in name and series.null_count == 0
    return name in ("string", "large_string", "string_view")
