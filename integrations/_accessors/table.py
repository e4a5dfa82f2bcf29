"""The accessor ``frame.onehot`` that pandas, polars and Dask share."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack

import numpy as np
import numpy.typing as npt

from onehot_fast.adapter import (
    TableKeywords,
    check_options,
    columns_only,
    keywords,
    option_names,
)
from onehot_fast.encoder import Encoder, Output
from onehot_fast.integrations._accessors.methods import either, methods_of

if TYPE_CHECKING:
    import pyarrow as pa
    from scipy.sparse import csr_array

Frame = TypeVar("Frame")  # the table of a library


class TableAccessor(Generic[Frame]):
    """Encode a table as a frame or a matrix, now or later, or fit an encoder to it.

    Parameters
    ----------
    data : DataFrame of n_rows
        Supplied by the library. Nothing is read before a method is called.
    """

    def __init__(self, data: Any) -> None:
        self._data = data

    def __repr__(self) -> str:
        """Show how to call the accessor."""
        names = either(methods_of(self))
        return f"<onehot of a table: call it with the columns to encode, or {names}>"

    @columns_only
    def __call__(
        self,
        columns: Iterable[Hashable] | Encoder | None = None,
        *,
        num_threads: int | None = None,
        **options: Unpack[TableKeywords],
    ) -> Frame:
        """Replace the columns to encode by their features.

        Unless you pass an Encoder, the columns of the result depend on the values in the table.

        Parameters
        ----------
        columns : column name, names, function, polars selector or Encoder, optional
            The columns to encode, as for `onehot_fast.Encoder`, or a fitted `onehot_fast.Encoder`.
            By default, the columns of strings, objects and categories. In a column that you choose,
            each distinct value gets a feature, even if the values are numbers or dates.
        num_threads : int, optional
            The number of threads. By default it depends on the size of the result.
        **options
            `prefix`, `prefix_sep`, `dtype` (Boolean by default), `categories`, `sep`, `drop`,
            `handle_missing`, `handle_unknown`, `min_frequency` and `max_categories` of
            `onehot_fast.Encoder` (one value or a dict from columns to values), and `remainder`.

        Returns
        -------
        DataFrame of n_rows
            The features replace the columns that were encoded. Other columns are unchanged, and
            are not copied if the library can share their memory.

        Raises
        ------
        TypeError
            `columns` or an option has a wrong type, options are combined with an Encoder, or a
            column cannot be encoded.
        ValueError
            A column is absent or duplicated, two features would have the same name, or an option or
            a value is rejected.
        MemoryError
            The result does not fit in memory. Nothing has been allocated.
        """
        encoded: Frame = self._encoded(columns, None, num_threads, options)
        return encoded

    @columns_only
    def to_numpy(
        self,
        columns: Iterable[Hashable] | Encoder | None = None,
        *,
        num_threads: int | None = None,
        **options: Unpack[TableKeywords],
    ) -> npt.NDArray[Any]:
        """Encode some columns, and return all columns as one array.

        Parameters
        ----------
        columns, num_threads, **options
            As for ``frame.onehot()``, but `dtype` is float32 by default. Columns that are not
            encoded must be Boolean, integer or float, unless ``remainder="drop"``.

        Returns
        -------
        ndarray of n_rows
            The dtype is the common dtype of all columns; missing numbers are NaN.

        Raises
        ------
        TypeError, ValueError, MemoryError
            As for ``frame.onehot()``. A ValueError is also raised if a column of the result is not
            numeric.
        """
        matrix: npt.NDArray[Any] = self._encoded(columns, "numpy", num_threads, options, np.float32)
        return matrix

    @columns_only
    def to_csr(
        self,
        columns: Iterable[Hashable] | Encoder | None = None,
        *,
        num_threads: int | None = None,
        **options: Unpack[TableKeywords],
    ) -> csr_array:
        """Encode some columns, and return all columns as a sparse array; see `to_numpy`.

        Returns
        -------
        scipy.sparse.csr_array of n_rows
        """
        return self._encoded(columns, "csr", num_threads, options, np.float32)

    def _encoded(
        self,
        columns: Any,
        output: Output | None,
        num_threads: int | None,
        options: TableKeywords,
        dtype: Any = bool,
    ) -> Any:
        """Return the encoded table in an output format; `dtype` is the default of `options`."""
        try:
            if isinstance(columns, Encoder):
                check_options(options, None)
                return columns.transform(self._data, output, num_threads=num_threads)
            self._check_options(options)
            encoder = self._new_encoder(columns, {"dtype": dtype, **options})
            return encoder.fit_transform(self._data, output=output, num_threads=num_threads)
        except MemoryError as error:
            raise MemoryError(
                f"{error}; for a frame, .onehot.to_csr(..., remainder='drop') returns the features"
                " as a sparse matrix"
            ) from None

    def _check_options(self, options: Mapping[str, Any]) -> None:
        """Raise a TypeError for an unknown option, which names the right one or lists all."""
        if "output" in options:
            form = options["output"]
            method = f"to_{form}"
            remedy = f"Encoder(...).fit_transform(frame, output={form!r})"
            if method in methods_of(self):
                remedy = f".onehot.{method}(...); with remainder='drop' for the features alone"
            raise TypeError(f"'output' is not an option: call {remedy}")
        check_options(options, [*option_names(), *keywords(type(self).__call__)])

    @columns_only
    def fit(
        self, columns: Iterable[Hashable] | None = None, **options: Unpack[TableKeywords]
    ) -> Encoder:
        """Learn the categories, so that other rows get the same columns.

        Parameters
        ----------
        columns, **options
            As for ``frame.onehot()``.

        Returns
        -------
        onehot_fast.Encoder
            The fitted encoder. ``frame.onehot(encoder)`` applies it.

        Raises
        ------
        TypeError, ValueError
            As for `onehot_fast.Encoder.fit`.
        """
        self._check_options(options)
        return self._new_encoder(columns, options).fit(self._data)

    def _new_encoder(self, columns: Iterable[Hashable] | None, options: TableKeywords) -> Encoder:
        """Return an unfitted encoder; a subclass may first convert dtypes of its library."""
        check_options(options, option_names())
        return Encoder(columns, **options)


class EagerTableAccessor(TableAccessor[Frame]):
    """Encode a table of a library whose tables are in memory, or fit an encoder to it.

    Parameters
    ----------
    data : DataFrame of n_rows
        Supplied by the library. Nothing is read before a method is called.
    """

    @columns_only
    def to_arrow(
        self,
        columns: Iterable[Hashable] | Encoder | None = None,
        *,
        num_threads: int | None = None,
        **options: Unpack[TableKeywords],
    ) -> pa.Table:
        """Encode some columns, and return all columns as an Arrow table.

        Parameters
        ----------
        columns, num_threads, **options
            As for ``frame.onehot()``.

        Returns
        -------
        pyarrow.Table of n_rows
        """
        return self._encoded(columns, "arrow", num_threads, options)
