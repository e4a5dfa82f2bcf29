"""A version of ``dask.dataframe.get_dummies`` that does not need ``categorize()``."""

from itertools import compress
from typing import Any, TypeAlias

import dask.dataframe as dd
import pandas as pd
from dask.dataframe.utils import make_meta
from pandas.api.types import is_object_dtype

from onehot_fast import Encoder
from onehot_fast.adapter import (
    ColumnSchema,
    code_column,
    integration,
    part_of_table,
    read_column,
    read_table,
)

from ._engine import as_frame, on_partitions

__all__ = ["get_dummies"]

# One value for all encoded columns, or one value for each.
PerColumn: TypeAlias = str | list[str] | dict[Any, str] | None


def get_dummies(
    data: dd.DataFrame | dd.Series,
    prefix: PerColumn = None,
    prefix_sep: PerColumn = "_",
    dummy_na: bool = False,
    columns: Any = None,
    sparse: bool = False,
    drop_first: bool = False,
    dtype: Any = bool,
) -> dd.DataFrame:
    """Convert categorical variables into indicator columns, as `dask.dataframe.get_dummies` does.

    You need not call ``categorize()``: categories that Dask does not know are computed immediately.
    The result is lazy.

    Parameters
    ----------
    data : dask.dataframe.DataFrame or Series
        The data to encode.
    prefix : str, list of str or dict of str, optional
        The prefix of the new column names; by default the column name for a DataFrame.
    prefix_sep : str, list of str or dict of str, default "_"
        The string between prefix and category.
    dummy_na : bool, default False
        Add a column for missing values, even if there are none.
    columns : list-like, optional
        The columns of a DataFrame to encode; by default the columns with object, string or
        categorical dtype. The other columns come first in the result, unchanged.
    sparse : bool, default False
        Return `pandas.arrays.SparseArray` columns.
    drop_first : bool, default False
        Omit the column of the first category of each variable.
    dtype : dtype, default bool
        The dtype of the new columns. None means the default of `pandas.get_dummies`.

    Returns
    -------
    dask.dataframe.DataFrame
        The result of ``dask.dataframe.get_dummies`` after ``categorize()``.

    Raises
    ------
    TypeError
        `data` is not a Dask DataFrame or Series, `columns` is not list-like, or values cannot be
        hashed.
    ValueError
        `dtype` is object, `prefix` or `prefix_sep` has the wrong length, or a column of `columns`
        is absent or duplicated.

    Examples
    --------
    >>> sizes = pd.DataFrame({"size": ["S", "L"], "price": [2, 3]})
    >>> get_dummies(dd.from_pandas(sizes, npartitions=2)).compute()
       price  size_L  size_S
    0      2   False    True
    1      3    True   False
    """
    frame, is_series = as_frame(data), isinstance(data, dd.Series)
    options: dict[str, Any] = {"prefix": prefix, "prefix_sep": prefix_sep, "dummy_na": dummy_na}
    options |= {"sparse": sparse, "drop_first": drop_first, "dtype": dtype}
    meta = make_meta(frame)
    names = list(frame.columns)
    if not is_series:
        # Check the arguments before anything is computed.
        integration("pandas").get_dummies(meta, columns=columns, **options)
        if columns is None:
            names = list(compress(names, read_table(meta).encodable))
        else:
            names = list(columns)
        options["columns"] = names
    encoder = Encoder(names).fit(frame)
    encoder.schema.check_plain("get_dummies")
    return on_partitions(_dummies_part, frame, encoder, meta.dtypes, is_series, options)


def _dummies_part(
    part: pd.DataFrame, encoder: Encoder, dtypes: Any, is_series: bool, options: dict[str, Any]
) -> pd.DataFrame:
    """Encode a partition with one indicator column for each category of all partitions."""
    with part_of_table():
        categorical: Any = part.copy(deep=False)
        for column in encoder.schema.columns:
            codes = code_column(column, read_column(part[column.name])).features()
            levels = _levels(column, dtypes[column.name])
            categorical[column.name] = pd.Categorical.from_codes(
                codes, dtype=pd.CategoricalDtype(levels), validate=False
            )
        data = categorical[categorical.columns[0]] if is_series else categorical
        dummies: pd.DataFrame = integration("pandas").get_dummies(data, **options)
        return dummies


def _levels(column: ColumnSchema, dtype: Any) -> Any:
    """Return the categories as an Index.

    pandas names the features of categories in Arrow memory by the values that Arrow stores. If Dask
    does not know the categories of a column yet, the encoder has seen their dtype.
    """
    if isinstance(dtype, pd.CategoricalDtype):
        levels = integration("pandas").fitted_categories(column)
        if levels is not None and isinstance(levels.dtype, pd.ArrowDtype):
            return levels
    is_inferred = is_object_dtype(dtype) or isinstance(dtype, pd.CategoricalDtype)
    return pd.Index(column.known.to_array(), dtype=None if is_inferred else dtype)
