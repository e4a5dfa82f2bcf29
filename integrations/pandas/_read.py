"""Read pandas: frames become tables, columns become codes or values, lists become labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_float_dtype

from onehot_fast import Column
from onehot_fast.adapter import Rows, Table, Values, cached_property, integration, read_values

from ._codes import (
    arrow_chunks,
    as_series,
    category_codes,
    code_series,
    is_arrow_dictionary,
    is_arrow_string,
    is_encodable,
    numpy_values,
    pa_array,
    python_texts,
    python_values,
    without_missing,
)

__all__ = ["read_column", "read_labels", "read_lists", "read_table"]

# Up to this many columns, pandas makes all Series in less time than two by position.
MAX_LISTED_COLUMNS = 64
# Up to this many rows, reading cells is faster than making a Series.
MAX_CELL_ROWS = 4
# A frame of at most this many cells is converted at once, of which pandas may make a copy.
MAX_BLOCK_CELLS = 1 << 20


def read_table(table: Any) -> Table:
    """Return a DataFrame, or one pandas column, as a `Table`, without reading a column."""
    if not isinstance(table, pd.DataFrame):
        series = as_series(table)
        table = series.to_frame("x0" if series.name is None else series.name)
    return PandasTable(table)


class PandasTable(Table):
    """A DataFrame, read by the positions of its columns."""

    library = "pandas"
    source: pd.DataFrame

    def __init__(self, frame: pd.DataFrame) -> None:
        super().__init__(python_values(frame.columns), len(frame), frame)

    @cached_property
    def _dtypes(self) -> list[Any]:
        return self.source.dtypes.tolist()

    @cached_property
    def _every_series(self) -> list["pd.Series[Any]"]:
        return [series for _, series in self.source.items()]

    def _series(self, position: int) -> "pd.Series[Any]":
        is_wide = self.source.shape[1] > MAX_LISTED_COLUMNS
        return self.source.iloc[:, position] if is_wide else self._every_series[position]

    def is_encodable(self, position: int) -> bool:
        """Tell whether the dtype holds texts, objects or categories."""
        return is_encodable(self._dtypes[position])

    def type_of(self, position: int) -> str:
        """Return the dtype as text; pandas chooses the dtype of texts and objects itself."""
        dtype = self._dtypes[position]
        if isinstance(dtype, pd.CategoricalDtype):
            order = "ordered" if dtype.ordered else "unordered"
            return f"pandas:category[{dtype.categories.dtype}, {order}]"
        return "" if str(dtype) in ("object", "str") else f"pandas:{dtype}"

    def read(self, position: int) -> Column | Values:
        """Return a column as codes or values."""
        return read_column(self._series(position))

    def values(self, position: int) -> npt.NDArray[Any]:
        """Return a column as pandas converts it."""
        return self._series(position).to_numpy()

    def numbers(self, position: int) -> npt.NDArray[Any] | None:
        """Return a column of numbers or Booleans, sparse ones too."""
        if not isinstance(self._dtypes[position], pd.SparseDtype):
            return super().numbers(position)
        dense = self.values(position)
        return dense if dense.dtype.kind in "biuf" else None

    def block(self, positions: Sequence[int]) -> npt.NDArray[Any] | None:
        """Return columns of one dtype as the rows of an array."""
        part = self._part(list(positions))
        rows = part.to_numpy().T if part.size <= MAX_BLOCK_CELLS else None
        # Only Booleans become Booleans; pandas takes 0.1 ms to name the dtypes.
        if rows is not None and rows.dtype == bool:
            return rows
        if len(set(part.dtypes.tolist())) > 1:
            return None
        return part.to_numpy().T if rows is None else rows

    def _part(self, positions: list[int]) -> pd.DataFrame:
        first, stop = positions[0], positions[-1] + 1
        if positions != [*range(first, stop)]:
            return self.source.iloc[:, positions]
        is_whole = len(positions) == self.source.shape[1]
        return self.source if is_whole else self.source.iloc[:, first:stop]

    def cells(self, position: int) -> list[Any] | None:
        """Return the values of a column one by one, if that is faster than to read it."""
        if self.n_rows > MAX_CELL_ROWS:
            return None
        try:
            return [self.source.iat[row, position] for row in range(self.n_rows)]
        except (ArithmeticError, ValueError, NotImplementedError):  # a time that Python lacks
            return None


def read_column(values: Any) -> Column | Values:
    """Return a pandas column: a `Column` if it holds codes, else its `Values`."""
    series = as_series(values)
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes, ordered = category_codes(series), bool(dtype.ordered)
        kind = dtype.categories.dtype
        if isinstance(kind, pd.ArrowDtype) and is_float_dtype(kind):
            codes, values = without_missing(codes, numpy_values(dtype.categories))
            return Column(codes, values, ordered, "category")
        return Column(codes, dtype.categories, ordered, "category", read=numpy_values)
    if isinstance(dtype, np.dtype):
        return Values([series.to_numpy()])
    if is_arrow_string(dtype):
        return Values(arrow_chunks(pa_array(series)))
    if isinstance(dtype, pd.StringDtype):
        return Values([python_texts(series)])
    if is_arrow_dictionary(dtype):
        coded, levels = code_series(series)
        codes, values = without_missing(coded.outputs(), numpy_values(levels))
        return Column(codes, values, source="dictionary")
    if isinstance(dtype, pd.ArrowDtype):
        read: Column | Values = integration("arrow").read_column(pa_array(series))
        return read
    if isinstance(dtype, pd.DatetimeTZDtype):
        instants = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return Values([instants], lambda found: _in_zone(found, dtype.tz))
    if hasattr(dtype, "numpy_dtype"):  # integers, floats and Booleans with a mask
        numbers = series.array.to_numpy(dtype.numpy_dtype, na_value=0)
        return Values([np.ma.MaskedArray(numbers, series.isna().to_numpy())])
    coded, levels = code_series(series)
    return Column(coded.outputs(), numpy_values(levels))


def _in_zone(instants: npt.NDArray[np.datetime64], zone: Any) -> npt.NDArray[Any]:
    """Return instants of UTC as the Timestamps of a zone."""
    return pd.DatetimeIndex(instants).tz_localize("UTC").tz_convert(zone).to_numpy(object)


def read_lists(rows: Any) -> Rows:
    """Return a column of lists as offsets and flat elements; a missing list is empty."""
    if _is_arrow_list(rows):
        return Rows(*integration("arrow").read_lists(pa_array(rows)))
    return Rows.read(list(rows))


def read_labels(series: "pd.Series[Any]", sep: str | None) -> Rows:
    """Return the labels of each row, from lists or from text with the separator `sep`."""
    if sep is not None:
        return Rows.read(series, sep=sep)
    if _is_arrow_list(series):
        rows = Rows(*integration("arrow").flattened(pa_array(series)))
    else:
        rows = Rows.read(list(series))
    return Rows(rows.offsets, read_values(rows.elements).encode())


def _is_arrow_list(rows: Any) -> bool:
    """Tell whether rows are lists in Arrow memory."""
    dtype = getattr(rows, "dtype", None)
    return isinstance(dtype, pd.ArrowDtype) and hasattr(dtype.pyarrow_dtype, "value_field")
