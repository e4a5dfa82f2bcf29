"""``.onehot`` on Series, Index and DataFrame, registered when this module is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack, cast, overload

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.extensions import ExtensionDtype
from pandas.api.types import is_bool_dtype, is_list_like, is_numeric_dtype, pandas_dtype

from onehot_fast import Column, Encoder, Special
from onehot_fast.adapter import (
    CodedColumn,
    ColumnKeywords,
    ColumnSchema,
    EncodedLayout,
    Rows,
    TableKeywords,
    check_options,
    code_table,
    columns_only,
    number_dtype,
    with_article,
)
from onehot_fast.integrations._accessors.series import EagerSeriesAccessor
from onehot_fast.integrations._accessors.table import EagerTableAccessor

from ._codes import as_series, code_series, prefixed, python_values, without_missing
from ._read import read_labels, read_table
from ._write import AnyDtype, check_length, dense_frame, sparse_frame, wrap

__all__ = ["FrameAccessor", "OneHotAccessor", "onehot"]


@pd.api.extensions.register_index_accessor("onehot")
@pd.api.extensions.register_series_accessor("onehot")
class OneHotAccessor(EagerSeriesAccessor[pd.DataFrame]):
    """One-hot encode a Series or an Index with ``series.onehot``.

    The columns are the same as in `pandas.get_dummies`: the declared categories of a categorical
    Series and the values of an Arrow dictionary, in order, otherwise the sorted distinct values. A
    missing value becomes a row of zeros. ``DataFrame.onehot`` and `onehot_fast.Encoder` read the
    values of an unordered Arrow dictionary as plain values, which they sort.

    Every method except `codes` and `multi_hot` takes options of `onehot_fast.Encoder`:
    `categories`, `drop`, `handle_missing`, `handle_unknown`, `min_frequency` and `max_categories`.
    `drop` is "first", "last", "if_binary", "most_frequent" or a category. Write ``["first"]`` for a
    category named "first". The columns of infrequent, unknown and missing values are labelled
    "(infrequent)", "(unknown)" and "(missing)".

    A call returns a frame with the index of the Series. Without options, it equals the result of
    `pandas.get_dummies`, except that the features of nullable and Arrow data also have NumPy's
    dtype bool. `dtype` may be a pandas dtype, e.g. "Int8" or "bool[pyarrow]". ``sparse=True``
    returns `pandas.arrays.SparseArray` columns, which need a few bytes per row for all columns
    together.

    Parameters
    ----------
    data : pandas.Series or pandas.Index of n_rows
        Passed by pandas. The values must be hashable, except that `multi_hot` accepts lists.

    Examples
    --------
    >>> sizes = pd.Series(["S", "L", None])
    >>> sizes.onehot(prefix="size")
       size_L  size_S
    0   False    True
    1    True   False
    2   False   False
    >>> sizes.onehot(["S", "M", "L"], drop="M", handle_missing="indicator", dtype="uint8")
       S  L  (missing)
    0  1  0          0
    1  0  1          0
    2  0  0          1
    >>> sizes.onehot.to_numpy()
    array([[0., 1.],
           [1., 0.],
           [0., 0.]], dtype=float32)
    >>> sizes.onehot.to_csr().indices.tolist(), sizes.onehot.to_csc().indptr.tolist()
    ([1, 0], [0, 1, 2])
    """

    _library = "pandas"

    def __call__(  # noqa: D102  inherits its docstring
        self,
        categories: Any = None,
        *,
        prefix: str | None = None,
        prefix_sep: str = "_",
        dtype: Any = bool,
        sparse: bool = False,
        num_threads: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> pd.DataFrame:
        element = self._element(dtype) if sparse else frame_dtype(dtype)
        in_numpy = element if isinstance(element, np.dtype) else np.dtype(bool)
        column, labels_of = self._coded(categories, in_numpy, options, prefix, prefix_sep)
        labels = pd.Index(labels_of(), tupleize_cols=False)
        index = self._series().index
        if not column.n_features:
            return pd.DataFrame(index=index)
        if sparse:
            check_sparse([column])
            frame = sparse_frame([column], in_numpy, index)
            # pandas creates a Series for each sparse column, and infers the dtype of the labels.
            labels = pd.Index(python_values(labels))
        else:
            frame = dense_frame([column], element, index, num_threads)
        frame.columns = labels
        return frame

    def _encode(self, options: Mapping[str, Any]) -> tuple[CodedColumn, Callable[[], Any]]:
        series = self._series()
        try:
            column, labels = code_series(series)
        except TypeError as error:
            raise TypeError(
                f"the values cannot be categories ({error}): use multi_hot to encode lists"
            ) from error
        if not self._has_defaults(options):
            # Declare the levels as categories, to keep their order and unobserved categories.
            levels = labels.to_numpy(object)
            codes, known = without_missing(column.features(), levels)
            if len(known) < len(levels):
                labels = labels[pd.notna(levels)]
            declared = Column(codes, known, source="category")
            name = "x0" if series.name is None else series.name
            column, schema = self._encode_alone(declared, name, options)
            labels = _labels(column, schema, labels)
        prefix = options["prefix"]
        if prefix is None:
            return column, lambda: labels
        return column, lambda: prefixed(labels, prefix, options["prefix_sep"])

    def _labels(self, sep: str | None) -> Rows:
        return read_labels(self._series(), sep)

    def _frame_of(self, matrix: npt.NDArray[Any], labels: list[Any]) -> pd.DataFrame:
        try:
            columns = pd.Index(labels, tupleize_cols=False)
        except UnicodeEncodeError:  # Arrow strings cannot represent a lone surrogate
            columns = pd.Index(labels, dtype=object)
        return pd.DataFrame(matrix, index=self._series().index, columns=columns, copy=False)

    def _series(self) -> pd.Series[Any]:
        """Return the values as a Series; raise TypeError for a MultiIndex."""
        if isinstance(self._data, pd.MultiIndex):
            raise TypeError(
                "a MultiIndex has several values in each row: use"
                " index.get_level_values(level).onehot to encode one level"
            )
        return as_series(self._data)


def _labels(column: CodedColumn, schema: ColumnSchema, levels: pd.Index[Any]) -> pd.Index[Any]:
    """Return the label of each feature: one of `levels`, or a text such as "(missing)"."""
    outputs = column.lut_from(0)[:-1]
    level_of = np.full(column.n_features, -1)
    level_of[outputs[outputs >= 0]] = np.flatnonzero(outputs >= 0)
    is_special = any(isinstance(label, Special) for label in schema.labels)
    if not is_special and (level_of >= 0).all():
        return levels.take(level_of)
    shown: pd.Index[Any] = pd.Index(schema.shown_labels, tupleize_cols=False)
    return shown


@pd.api.extensions.register_dataframe_accessor("onehot")
class FrameAccessor(EagerTableAccessor[pd.DataFrame]):
    """One-hot encode a DataFrame with ``frame.onehot``.

    Adjacent new columns of one NumPy dtype are stored together, so ``to_numpy()`` does not copy
    these columns. As in `pandas.get_dummies`, `prefix` and `prefix_sep` may be lists in the order
    of the columns, and ``sparse=True`` returns `pandas.arrays.SparseArray` columns. A `dtype` may
    be a pandas dtype, e.g. "bool[pyarrow]".

    Parameters
    ----------
    data : pandas.DataFrame of n_rows
        Passed by pandas.

    Examples
    --------
    >>> frame = pd.DataFrame({"price": [2, 3], "size": ["S", "L"], "sold": [True, False]})
    >>> frame.onehot(dtype="uint8")
       price  size_L  size_S   sold
    0      2       0       1   True
    1      3       1       0  False
    >>> frame.onehot(["size"], drop={"size": "L"}, prefix="is")
       price   is_S   sold
    0      2   True   True
    1      3  False  False
    >>> encoder = frame.onehot.fit(handle_unknown="ignore")
    >>> pd.DataFrame({"price": [4, 5], "size": ["M", "S"], "sold": [True, True]}).onehot(encoder)
       price  size_L  size_S  sold
    0      4   False   False  True
    1      5   False    True  True
    """

    @columns_only
    def __call__(  # noqa: D102  inherits its docstring
        self,
        columns: Any = None,
        *,
        sparse: bool = False,
        num_threads: int | None = None,
        **options: Unpack[TableKeywords],
    ) -> pd.DataFrame:
        dtype = options.get("dtype", bool)
        element = None if isinstance(dtype, Mapping) else frame_dtype(dtype)
        if not sparse and not isinstance(element, ExtensionDtype):
            return super().__call__(columns, num_threads=num_threads, **options)
        if not sparse:
            options["dtype"] = bool
        table = read_table(self._data).coded_once()
        if isinstance(columns, Encoder):
            check_options(options, None)
            schema = columns.schema
        else:
            schema = self._new_encoder(columns, options).fit(table).schema
        layout = EncodedLayout(schema, table.names)
        coded_columns = code_table(table, schema, schema.positions_of(table.names)).columns
        parts = layout.parts(coded_columns)
        if sparse:
            check_sparse(coded_columns)
        return wrap(table, parts, sparse=sparse, dtype=element)

    def _new_encoder(self, columns: Any, options: TableKeywords) -> Encoder:
        """Return an encoder with these options; lists become dicts with column names as keys."""
        by_column: dict[str, Any] = {}
        for name in ("prefix", "prefix_sep"):
            values = options.get(name)
            if is_list_like(values) and not isinstance(values, Mapping):
                encoded = Encoder(columns).partial_fit(self._data.iloc[:0]).columns or ()
                check_length(values, name, len(encoded))
                by_column[name] = dict(zip(encoded, cast(Any, values), strict=True))
        return super()._new_encoder(columns, cast(TableKeywords, {**options, **by_column}))


def frame_dtype(dtype: Any) -> AnyDtype:
    """Return a NumPy or pandas dtype; raise an error if it is neither numeric nor Boolean."""
    if isinstance(dtype, str | ExtensionDtype):
        try:
            extension = pandas_dtype(dtype)
        except (TypeError, ImportError):  # pyarrow may be absent
            return number_dtype(dtype, "dtype")
        is_number = is_numeric_dtype(extension) or is_bool_dtype(extension)
        if is_number and isinstance(extension, ExtensionDtype):
            return extension
    return number_dtype(dtype, "dtype")


def check_sparse(columns: Sequence[CodedColumn]) -> None:
    """Raise ValueError if features can be NaN, because a sparse column has only one fill value."""
    if any(column.nan_where_missing for column in columns):
        raise ValueError(
            "handle_missing='propagate' is not available with sparse=True: pass sparse=False, or"
            " use handle_missing='ignore'"
        )


@overload
def onehot(
    data: pd.DataFrame,
    columns: Any = None,
    *,
    sparse: bool = False,
    num_threads: int | None = None,
    **options: Unpack[TableKeywords],
) -> pd.DataFrame: ...
@overload
def onehot(
    data: pd.Series[Any] | pd.Index[Any],
    categories: Any = None,
    *,
    prefix: str | None = None,
    prefix_sep: str = "_",
    dtype: Any = bool,
    sparse: bool = False,
    num_threads: int | None = None,
    **options: Unpack[ColumnKeywords],
) -> pd.DataFrame: ...
def onehot(data: Any, *args: Any, **options: Any) -> pd.DataFrame:
    """Encode a DataFrame, Series or Index like ``data.onehot(...)``, but visible to type checkers.

    pandas adds the accessors at run time, so type checkers do not see them. You can also call the
    classes: ``OneHotAccessor(series).to_csr()`` is ``series.onehot.to_csr()``.

    Parameters
    ----------
    data : pandas.DataFrame, Series or Index of n_rows
        The object to encode.
    *args, **options
        The arguments of `FrameAccessor` or `OneHotAccessor`.

    Returns
    -------
    pandas.DataFrame of n_rows

    Raises
    ------
    TypeError
        If `data` has another type; the accessors may raise further errors.

    Examples
    --------
    >>> onehot(pd.Series(["S", "L"]), prefix="size", dtype="uint8")
       size_L  size_S
    0       0       1
    1       1       0
    """
    if isinstance(data, pd.DataFrame):
        return FrameAccessor(data)(*args, **options)
    if isinstance(data, pd.Series | pd.Index):
        return OneHotAccessor(data)(*args, **options)
    raise TypeError(f"data must be a pandas DataFrame, Series or Index, got {with_article(data)}")
