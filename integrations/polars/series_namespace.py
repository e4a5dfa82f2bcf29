"""``Series.onehot``: the namespace, registered when this module is imported."""

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt
import polars as pl

from onehot_fast._categories.learn import code_table
from onehot_fast._encode import outputs
from onehot_fast._encode.outputs import Coded
from onehot_fast._runtime import dispatch, parallel
from onehot_fast._runtime.registry import library
from onehot_fast.integrations.polars.dtypes import result_dtype
from onehot_fast.integrations.polars.frames import as_struct, block
from onehot_fast.integrations.polars.lists import encode_lists
from onehot_fast.integrations.polars.options import ColumnOptions, new_encoder
from onehot_fast.integrations.polars.tables import read_table

__all__ = ["SeriesNamespace"]


@pl.api.register_series_namespace("onehot")
class SeriesNamespace:
    """The one-hot forms of a Series, as ``series.onehot``.

    Parameters
    ----------
    series : polars.Series of n_rows
        Supplied by polars. Of any dtype but lists, arrays and structs, which only `multi_hot`
        takes.

    Notes
    -----
    The columns are those of the categories: of an Enum all that it declares, in its order;
    otherwise the values that occur, sorted. A null and NaN are missing, and off in every column.

    Every form but `codes` and `multi_hot` takes options of `onehot_fast.Encoder`: `categories`,
    `drop`, `handle_missing`, `handle_unknown`, `min_frequency` and `max_categories`. As there is
    one column, `drop` may be a category too, ``["first"]`` if it is spelled like a rule.
    """

    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def __call__(
        self,
        prefix: str | None = None,
        prefix_sep: str = "_",
        dtype: Any = pl.Boolean,
        **options: Unpack[ColumnOptions],
    ) -> pl.DataFrame:
        """Encode as a frame with one column per category.

        Parameters
        ----------
        prefix : str, optional
            The columns are named ``f"{prefix}{prefix_sep}{category}"``; by default the prefix is
            the name of the Series.
        prefix_sep : str, default "_"
            What stands between prefix and category.
        dtype : polars or NumPy dtype, default Boolean
            Boolean, integer or floating dtype of every column.
        **options
            See the class.

        Returns
        -------
        polars.DataFrame of shape (n_rows, n_columns)
            Over one block of memory that the kernel wrote, in which Booleans are bit-packed.

        Raises
        ------
        TypeError
            If the dtype of the Series or `dtype` is none of those above, or an option is of the
            wrong kind.
        ValueError
            If an option or a value is refused, or two columns would have one name.
        MemoryError
            If the result cannot fit in memory, before it is allocated.

        Examples
        --------
        >>> sizes = pl.Series("size", ["S", "L", None], dtype=pl.Enum(["S", "M", "L"]))
        >>> sizes.onehot(dtype=pl.UInt8).to_dict(as_series=False)
        {'size_S': [1, 0, 0], 'size_M': [0, 0, 0], 'size_L': [0, 1, 0]}
        >>> sizes.onehot("is", drop="M", handle_missing="indicator").columns
        ['is_S', 'is_L', 'is_(missing)']
        """
        named: dict[str, Any] = {"prefix": prefix, "prefix_sep": prefix_sep, **options}
        return as_struct(self._coded(dtype, named), "").struct.unnest()

    def to_numpy(
        self, dtype: Any = np.float32, **options: Unpack[ColumnOptions]
    ) -> npt.NDArray[Any]:
        """Encode as a row-major array, the layout tensor libraries expect.

        Parameters
        ----------
        dtype : NumPy or polars dtype, default float32
            Boolean, integer, floating or complex dtype of the elements.
        **options
            See the class.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            C-contiguous; its columns are those of the frame ``series.onehot()``.

        Raises
        ------
        TypeError, ValueError, MemoryError
            As for the frame.

        Examples
        --------
        >>> pl.Series([7, 5, 7]).onehot.to_numpy()
        array([[0., 1.],
               [1., 0.],
               [0., 1.]], dtype=float32)
        """
        return outputs.matrix(self._coded(dtype, options))

    def to_csr(self, dtype: Any = np.float32, **options: Unpack[ColumnOptions]) -> Any:
        """Encode as a sparse array, which is small however many categories there are.

        Parameters
        ----------
        dtype : NumPy or polars dtype, default float32
            Boolean, integer, floating or complex dtype of the elements.
        **options
            See the class.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_rows, n_columns)
            In canonical form; its columns are those of the frame ``series.onehot()``.

        Raises
        ------
        ImportError
            If SciPy is not installed.
        TypeError, ValueError
            As for the frame.

        Examples
        --------
        >>> ones = pl.Series(["b", None, "a"]).onehot.to_csr()
        >>> ones.indices.tolist(), ones.indptr.tolist(), ones.shape
        ([1, 0], [0, 1, 1, 2], (3, 2))
        """
        library("scipy.sparse", "to_csr")
        return outputs.sparse(self._coded(dtype, options), "csr")

    def to_arrow(
        self, prefix: str | None = None, prefix_sep: str = "_", **options: Unpack[ColumnOptions]
    ) -> Any:
        """Encode as Arrow's Booleans, eight in a byte.

        Parameters
        ----------
        prefix, prefix_sep
            As for the frame.
        **options
            See the class.

        Returns
        -------
        pyarrow.RecordBatch of n_rows
            One Boolean column per category, without nulls: a missing value is off in all of them.
            All lie in one buffer. Without any category it has no columns and so no rows.

        Raises
        ------
        ImportError
            If pyarrow is not installed.
        TypeError, ValueError, MemoryError
            As for the frame.

        Examples
        --------
        >>> batch = pl.Series("is", ["b", "a", None]).onehot.to_arrow()
        >>> batch.to_pydict()
        {'is_a': [False, True, False], 'is_b': [True, False, False]}
        """
        pa = library("pyarrow", "to_arrow")
        named: dict[str, Any] = {"prefix": prefix, "prefix_sep": prefix_sep, **options}
        coded = self._coded(pl.Boolean, named)
        names = list(coded.schema.names)
        return pa.RecordBatch.from_arrays(pa.record_batch(block(coded, 0, 1)).columns, names)

    def codes(self) -> npt.NDArray[np.integer]:
        """Return the column in which each row is on.

        Returns
        -------
        ndarray of shape (n_rows,), integer
            Position of the row's column in ``series.onehot()``, -1 where the value is missing.
            For an Enum in one chunk and without nulls this is a read-only view of its own codes.

        Raises
        ------
        TypeError
            If the dtype of the Series is not supported.

        Examples
        --------
        >>> pl.Series(["b", "a", None, "b"]).onehot.codes().tolist()
        [1, 0, -1, 1]
        """
        coded = self._coded(pl.Boolean, {})
        codes, table = coded.codes[0], coded.tables[0]
        if (table[:-1] == np.arange(len(table) - 1)).all():
            return codes
        return dispatch.recode(codes, table, parallel.resolve(None, codes.nbytes))

    def multi_hot(
        self,
        sep: str | None = None,
        *,
        categories: Any = None,
        mode: Literal["set", "count"] = "set",
        dtype: Any = None,
        output: Literal["polars", "numpy", "csr"] = "polars",
    ) -> Any:
        """Encode rows of several labels: lists, or separated texts.

        Parameters
        ----------
        sep : str, optional
            What stands between the labels of a text, literally. An empty label is none. Without
            it, the Series is of List or Array. A missing row has no labels.
        categories : sequence of scalars, optional
            The labels with a column, in their order; others are skipped. By default all that
            occur, sorted.
        mode : {"set", "count"}, default "set"
            Whether an element is 1 where its label occurs in the row, or how often it does.
        dtype : polars or NumPy dtype, optional
            By default Boolean, and Int64 for counts.
        output : {"polars", "numpy", "csr"}, default "polars"
            A frame whose columns are named by the labels, a row-major array, or a
            ``scipy.sparse.csr_array``.

        Returns
        -------
        DataFrame, ndarray or csr_array of shape (n_rows, n_labels)

        Raises
        ------
        ImportError
            If `output` is "csr" and SciPy is not installed.
        TypeError, ValueError
            If the rows are no lists, or no texts where there is a `sep`, or an option is refused,
            or two columns would have one name.
        MemoryError
            If the result cannot fit in memory, before it is allocated.

        Examples
        --------
        >>> tags = pl.Series(["new|red", None, "red"])
        >>> tags.onehot.multi_hot("|", dtype=pl.UInt8).to_dict(as_series=False)
        {'new': [1, 0, 0], 'red': [1, 0, 1]}
        """
        if output == "csr":
            library("scipy.sparse", "multi_hot")
        element = result_dtype((np.int64 if mode == "count" else bool) if dtype is None else dtype)
        return encode_lists(self._series, sep, categories, mode, element, output)

    def _coded(self, dtype: Any, options: Mapping[str, Any]) -> Coded:
        """Return the rows as codes, under the options of an encoder fitted to them alone."""
        name = self._series.name
        table = read_table(self._series)
        # The encoder reads a column to learn from it and to encode it: hashed once for both.
        table = dataclasses.replace(table, names=(name,), read=cache(table.read))
        drop = options.get("drop")
        by_column = drop if isinstance(drop, Mapping) else {name: drop}
        encoder = new_encoder([name], {**options, "dtype": dtype, "drop": by_column}).fit(table)
        return code_table(table, encoder._schema())
