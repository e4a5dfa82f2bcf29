"""Read DataFrames, and their columns as category codes, plain values or lists of labels."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from onehot_fast import Column
from onehot_fast.adapter import (
    CodedColumn,
    RaggedColumn,
    Rows,
    Table,
    Values,
    cached_property,
    hold_numbers,
    integration,
    of_lists,
)
from onehot_fast.adapter import are_lists as objects_are_lists
from onehot_fast.adapter import read_column as read_any_column

from ._codes import (
    arrow_chunks,
    arrow_levels,
    as_series,
    category_codes,
    category_values,
    code_series,
    has_missing_categories,
    is_arrow_string,
    is_encodable,
    numpy_values,
    pa_array,
    python_values,
)
from ._dtypes import dtype_name

# Up to this many rows, reading single cells is faster than creating a Series.
MAX_CELL_ROWS = 4


def read_table(table: Any) -> Table:
    """Return a DataFrame, Series or Index as a `Table`; no column is read yet."""
    if not isinstance(table, pd.DataFrame):
        series = as_series(table)
        table = series.to_frame("x0" if series.name is None else series.name)
    return PandasTable(table)


class PandasTable(Table):
    """A `Table` whose source is a DataFrame; columns are read by position."""

    library = "pandas"
    source: pd.DataFrame

    def __init__(self, frame: pd.DataFrame) -> None:
        super().__init__(python_values(frame.columns), len(frame), frame)

    @cached_property
    def _dtypes(self) -> list[Any]:
        return self.source.dtypes.tolist()

    @cached_property
    def _cell(self) -> Any:
        # No public way to read a row at once is faster, even if all columns have Arrow strings.
        return self.source.iat

    def is_encodable(self, position: int) -> bool:
        """Tell whether a column has strings, objects or categories, or lists of them."""
        dtype = self._dtypes[position]
        if is_arrow_list(dtype):
            return bool(integration("arrow").is_encodable(dtype.pyarrow_dtype))
        if not is_encodable(dtype):
            return False
        column = self.source.iloc[:, position]
        return not (are_lists(column) and hold_numbers(column.to_numpy()))

    def type_of(self, position: int) -> str:
        """Return the name of the dtype, or "" if no name would be read as the same dtype."""
        name = dtype_name(self._dtypes[position])
        return name and f"pandas:{name}"

    def read_column(self, position: int) -> Column | Values:
        """Return a column as codes or values."""
        return read_column(self.source.iloc[:, position])

    def read_lists(self, position: int) -> RaggedColumn | None:
        """Return a column of lists as rows of labels, or None if its rows are single values."""
        dtype = self._dtypes[position]
        if dtype != np.dtype(object) and not is_arrow_list(dtype):
            return None
        column = self.source.iloc[:, position]
        return read_ragged(column) if are_lists(column) else None

    def to_numpy(self, position: int) -> npt.NDArray[Any]:
        """Return a column as a NumPy array, converted by pandas."""
        return self.source.iloc[:, position].to_numpy()

    def numbers(self, position: int) -> npt.NDArray[Any] | None:
        """Return a dense or sparse column of numbers or Booleans, or None for other columns."""
        if not isinstance(self._dtypes[position], pd.SparseDtype):
            return super().numbers(position)
        dense = self.to_numpy(position)
        return dense if dense.dtype.kind in "biuf" else None

    def block(self, positions: Sequence[int]) -> npt.NDArray[Any] | None:
        """Return columns as the rows of an array, or None if their dtypes differ."""
        part, first, stop = self.source, positions[0], positions[-1] + 1
        if [*positions] != [*range(first, stop)]:
            part = part.iloc[:, [*positions]]
        elif len(positions) < part.shape[1]:
            part = part.iloc[:, first:stop]
        dtypes = part.dtypes.tolist()
        return part.to_numpy().T if dtypes.count(dtypes[0]) == len(dtypes) else None

    def cells(self, position: int) -> list[Any] | None:
        """Return the cells of a column as a list, or None if reading the column is faster."""
        if self.n_rows > MAX_CELL_ROWS:
            return None
        try:
            return [self._cell[row, position] for row in range(self.n_rows)]
        # No Python equivalent; pandas 2 raises an AssertionError for the lowest duration.
        except (ArithmeticError, AssertionError, NotImplementedError, ValueError):
            return None


def read_column(values: Any) -> Column | Values:
    """Return a pandas column as a `Column` if it has codes, otherwise as `Values`."""
    series = as_series(values)
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes, ordered = category_codes(series), bool(dtype.ordered)
        if has_missing_categories(dtype.categories):
            known = arrow_levels(pa_array(dtype.categories))
            coded = CodedColumn.of_positions(codes, known.codes, known.n_categories)
            return Column(coded.features(), known.stored, ordered, "category")
        return Column(codes, dtype.categories, ordered, "category", read=category_values)
    if isinstance(dtype, np.dtype):
        return Values([series.to_numpy()])
    if is_arrow_string(dtype):
        return Values(arrow_chunks(pa_array(series)))
    if isinstance(dtype, pd.StringDtype):
        return Values([cast(Any, series.array).to_numpy(object, na_value=None)])
    if isinstance(dtype, pd.ArrowDtype):
        read: Column | Values = integration("arrow").read_column(pa_array(series))
        return read
    if isinstance(dtype, pd.DatetimeTZDtype):
        instants = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()

        def in_zone(found: npt.NDArray[np.datetime64]) -> npt.NDArray[Any]:
            times = pd.DatetimeIndex(found).tz_localize("UTC").tz_convert(dtype.tz)
            return times.to_numpy(object)

        return Values([instants], in_zone)
    if hasattr(dtype, "numpy_dtype"):  # integers, floats and Booleans with a mask
        numbers = series.array.to_numpy(dtype.numpy_dtype, na_value=0)
        return Values([np.ma.MaskedArray(numbers, series.isna().to_numpy())])
    coded, levels = code_series(series)
    return Column(coded.features(), numpy_values(levels))


def are_lists(column: Any) -> bool:
    """Tell whether the rows of a column are Arrow lists, or Python objects that are lists."""
    series = as_series(column)
    if series.dtype == np.dtype(object):
        return objects_are_lists(series.to_numpy())
    return is_arrow_list(series.dtype)


def read_ragged(column: Any) -> RaggedColumn:
    """Return a column of lists as rows of labels; a missing list is missing."""
    series = as_series(column)
    if is_arrow_list(series.dtype):
        read: RaggedColumn = integration("arrow").read_ragged(pa_array(series))
        return read
    return of_lists(series.tolist())


def read_lists(rows: Any) -> Rows:
    """Return a column of lists as offsets and concatenated elements; a missing list is empty."""
    if is_arrow_list(getattr(rows, "dtype", None)):
        read: Rows = integration("arrow").read_lists(pa_array(rows))
        return read
    return Rows.read(list(rows))


def read_labels(series: "pd.Series[Any]", sep: str | None) -> Rows:
    """Return the labels of each row: the items of a list, or a string split at `sep`."""
    if sep is not None:
        return Rows.read(series, sep=sep)
    if is_arrow_list(series.dtype):
        rows = Rows(*integration("arrow").flattened(pa_array(series)))
    else:
        rows = Rows.read(list(series))
    return Rows(rows.offsets, read_any_column(rows.elements).encode())


def is_arrow_list(dtype: Any) -> bool:
    """Tell whether a dtype stores Arrow lists."""
    return isinstance(dtype, pd.ArrowDtype) and hasattr(dtype.pyarrow_dtype, "value_field")
