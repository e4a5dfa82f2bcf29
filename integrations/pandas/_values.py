"""What a Series or Index holds, and its values as NumPy, Arrow and Python keep them."""

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_object_dtype

from onehot_fast.adapter import read_arrow

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas.api.extensions import ExtensionDtype

Codes: TypeAlias = npt.NDArray[np.integer[Any]]

TEXT_TYPES = ("string", "large_string", "string_view")


def as_series(values: Any) -> "pd.Series[Any]":
    """Return a Series of the same memory."""
    if isinstance(values, pd.Series):
        return values
    # Before pandas 3 a Series of a CategoricalIndex itself would copy its codes.
    array = values.array if isinstance(values, pd.CategoricalIndex) else values
    return pd.Series(array, name=getattr(values, "name", None), copy=False)


def is_encodable(dtype: "np.dtype[Any] | ExtensionDtype") -> bool:
    """Tell whether `pandas.get_dummies` encodes a column of this dtype without being asked for."""
    if isinstance(dtype, pd.StringDtype | pd.CategoricalDtype):
        return True
    if isinstance(dtype, pd.ArrowDtype):
        # Text, dictionaries, and what NumPy only knows as objects: binary, decimals, times.
        text = is_arrow_string(dtype) or hasattr(dtype.pyarrow_dtype, "index_type")
        return text or cast(Any, dtype).numpy_dtype == np.dtype(object)
    return bool(is_object_dtype(dtype))


def is_arrow_string(dtype: object) -> bool:
    """Tell whether columns of this dtype keep their strings in Arrow memory."""
    if isinstance(dtype, pd.StringDtype):
        return dtype.storage != "python"
    # By its name: pandas knows no type of Python for string views.
    return isinstance(dtype, pd.ArrowDtype) and str(dtype.pyarrow_dtype) in TEXT_TYPES


def is_arrow_dictionary(dtype: object) -> bool:
    """Tell whether columns of this dtype are coded by Arrow."""
    return isinstance(dtype, pd.ArrowDtype) and hasattr(dtype.pyarrow_dtype, "index_type")


def python_values(index: "pd.Index[Any]") -> list[Any]:
    """Return labels as Python's objects; to iterate over Arrow's takes 5 µs for each."""
    # Beside a missing label pandas turns intervals of integers into intervals of floats.
    if isinstance(index, pd.CategoricalIndex) and not isinstance(
        index.categories, pd.IntervalIndex
    ):
        values, codes = python_values(index.categories), index.codes.tolist()
        if -1 in codes:  # among times a missing label is NaT
            values += list(index[codes.index(-1) :][:1])
        return [values[code] for code in codes]
    if not is_arrow_string(index.dtype):
        return list(index)
    import pyarrow as pa

    texts = pa.array(index.array)
    return list(index.astype(object)) if texts.null_count else texts.to_pylist()


def numpy_values(index: "pd.Index[Any]") -> npt.NDArray[Any]:
    """Return labels as NumPy keeps them."""
    dtype: Any = index.dtype
    if isinstance(dtype, np.dtype):
        return index.to_numpy()
    if getattr(dtype, "numpy_dtype", np.dtype(object)).kind in "iufb":
        return index.to_numpy(dtype.numpy_dtype)
    return index.to_numpy(object)


def python_texts(series: "pd.Series[Any]") -> npt.NDArray[np.object_]:
    """Return nullable strings that are Python's, a missing one as None."""
    texts: npt.NDArray[np.object_] = cast(Any, series.array).to_numpy(object, na_value=None)
    return texts


def category_codes(series: "pd.Series[Any]") -> Codes:
    """Return the codes of a categorical Series: a view, which those of ``.cat.codes`` are not."""
    return np.ascontiguousarray(cast(pd.Categorical, series.array).codes)


def pa_array(series: "pd.Series[Any]") -> "pa.Array | pa.ChunkedArray":
    """Return a Series that lies in Arrow memory as Arrow's."""
    import pyarrow as pa

    return pa.array(series.array)


def arrow_array(values: "pd.Series[Any] | pd.Index[Any]") -> Any:
    """Return Arrow-backed values as one Arrow array, so that a dictionary is one for all rows."""
    import pyarrow as pa

    array = pa.array(values.array)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def arrow_chunks(array: "pa.Array | pa.ChunkedArray") -> list[Any]:
    """Return the chunks of an array as the core reads them, at least one."""
    return list(read_arrow(array)) or arrow_chunks(array.combine_chunks())


def without_missing(codes: Codes, values: npt.NDArray[Any]) -> tuple[Codes, npt.NDArray[Any]]:
    """Return codes and values without NaN, which Arrow, and so pandas, lets be one of them."""
    is_missing = pd.isna(values)
    if not is_missing.any():
        return codes, values
    positions = np.append(np.where(is_missing, -1, np.cumsum(~is_missing) - 1), -1)
    return positions[codes], values[~is_missing]
