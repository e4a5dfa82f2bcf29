"""The accessor ``series.onehot`` that pandas, polars and Dask share.

Methods, options and errors are the same in pandas and polars. Dask has the methods whose results
can be lazy. Each integration reads and creates the containers of its library.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)

import numpy as np
import numpy.typing as npt

from onehot_fast import Column, UnknownValueError, multi_hot
from onehot_fast.adapter import (
    FORMATS,
    OPTIONS,
    ArrowBlock,
    CodedColumn,
    ColumnKeywords,
    ColumnSchema,
    Rows,
    check_choice,
    check_options,
    check_text,
    code_column,
    distinct_labels,
    keywords,
    library,
    number_dtype,
    option_names,
    read_column,
    write,
)
from onehot_fast.encoder import Encoder
from onehot_fast.integrations._accessors.methods import either, methods_of

if TYPE_CHECKING:
    import pyarrow as pa
    from scipy.sparse import csc_array, csr_array

AnyArray: TypeAlias = npt.NDArray[Any]
Frame = TypeVar("Frame")  # the table of a library
Categories: TypeAlias = Any  # a sequence of scalars, an Encoder or None
Labels: TypeAlias = Callable[[], Any]  # returns the label of each feature

# The options of the methods. With their defaults, every category has its own column.
CHOICES = tuple(name for name in option_names(["categories", "features"]) if name != "sep")
declared_categories = OPTIONS["categories"].checked
# The formats of ``scipy.sparse``.
SPARSE_FORMATS = [name for name, each in FORMATS.items() if each.scipy_class]


class _LabelOptions(TypedDict, total=False):
    """The keywords of `SeriesAccessor.multi_hot` that do not change the type of its result."""

    categories: Any
    mode: Literal["set", "count"]
    dtype: Any
    num_threads: int | None


class SeriesAccessor(ABC, Generic[Frame]):
    """Encode one column as a frame or a matrix, now or later.

    Parameters
    ----------
    data : Series of n_rows
        Supplied by the library. Nothing is read before a method is called.
    """

    def __init__(self, data: Any) -> None:
        self._data = data

    def __repr__(self) -> str:
        """List the methods that encode the column."""
        return f"<onehot of a column: call it for its features, or {either(methods_of(self))}>"

    @abstractmethod
    def __call__(
        self,
        categories: Categories = None,
        *,
        prefix: str | None = None,
        prefix_sep: str = "_",
        dtype: Any = bool,
        num_threads: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> Frame:
        """Encode as a frame with one column per category.

        Parameters
        ----------
        categories : sequence of scalars or Encoder, optional
            The categories in their order, or a fitted `onehot_fast.Encoder`; by default the
            categories of the Series.
        prefix : str, optional
            Name the columns ``f"{prefix}{prefix_sep}{category}"``. The default is no prefix in
            pandas, and the name of the Series in polars.
        prefix_sep : str, default "_"
            The string between prefix and category.
        dtype : dtype, default bool
            A Boolean, integer or floating dtype of NumPy or of the library, for every column.
        num_threads : int, optional
            The number of threads. By default it depends on the size of the result.
        **options
            Options of `onehot_fast.Encoder`: see the docstring of the class.

        Returns
        -------
        DataFrame of shape (n_rows, n_columns)
            Columns of a NumPy dtype share one block of memory. In pandas, ``to_numpy()`` of the
            frame therefore needs no copy.

        Raises
        ------
        TypeError
            The values cannot be categories, `dtype` is not numeric, or an option is unknown or has
            a wrong type.
        ValueError
            An option or a value is rejected, or two columns would have the same name.
        MemoryError
            The result does not fit in memory. Nothing has been allocated.
        """

    def to_numpy(
        self,
        categories: Categories = None,
        *,
        dtype: Any = np.float32,
        num_threads: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> AnyArray:
        """Encode as an array stored row by row, the layout that tensor libraries expect.

        Parameters
        ----------
        categories, num_threads, **options
            As for ``series.onehot()``.
        dtype : dtype, default float32
            Boolean, integer, floating or complex dtype of the elements.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            C-contiguous, with the columns of the frame ``series.onehot()``.

        Raises
        ------
        TypeError, ValueError, MemoryError
            As for ``series.onehot()``.
        """
        matrix: AnyArray = self._matrix("numpy", categories, dtype, num_threads, options)
        return matrix

    def to_csr(
        self,
        categories: Categories = None,
        *,
        dtype: Any = np.float32,
        num_threads: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> csr_array:
        """Encode as a CSR array, whose size does not depend on the number of categories.

        Parameters
        ----------
        categories, dtype, num_threads, **options
            As for `to_numpy`.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_rows, n_columns)
            With the columns of the frame ``series.onehot()``. The indices of a row are sorted,
            without duplicates.

        Raises
        ------
        ImportError
            If SciPy is not installed.
        TypeError, ValueError
            As for ``series.onehot()``.
        """
        return self._matrix("csr", categories, dtype, num_threads, options)

    def to_csc(
        self,
        categories: Categories = None,
        *,
        dtype: Any = np.float32,
        num_threads: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> csc_array:
        """Encode as a ``scipy.sparse.csc_array``; see `to_csr`."""
        return self._matrix("csc", categories, dtype, num_threads, options)

    @abstractmethod
    def _matrix(
        self,
        form: Literal["numpy", "csr", "csc"],
        categories: Categories,
        dtype: Any,
        num_threads: int | None,
        options: ColumnKeywords,
    ) -> Any:
        """Return the column as a matrix in the format `form`."""


class EagerSeriesAccessor(SeriesAccessor[Frame]):
    """Encode one column of a library whose columns are in memory.

    Parameters
    ----------
    data : Series of n_rows
        Supplied by the library. Nothing is read before a method is called.
    """

    _library: ClassVar[str]
    """The name of the library, which is also the name of its output, e.g. "pandas"."""

    def to_arrow(
        self,
        categories: Categories = None,
        *,
        prefix: str | None = None,
        prefix_sep: str = "_",
        num_threads: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> pa.RecordBatch:
        """Encode as Arrow Booleans, which take one bit each.

        Parameters
        ----------
        categories, prefix, prefix_sep, num_threads, **options
            As for ``series.onehot()``.

        Returns
        -------
        pyarrow.RecordBatch of n_rows
            One Boolean column per category, without nulls: a missing value is False in all columns.
            All columns share one buffer. Without categories, the batch has rows but no columns.

        Raises
        ------
        ImportError
            If pyarrow is not installed.
        TypeError, ValueError, MemoryError
            As for ``series.onehot()``; two columns with the same name are an error.
        """
        pa = library("pyarrow", ".onehot.to_arrow()")
        column, labels = self._coded(categories, np.dtype(bool), options, prefix, prefix_sep)
        names = list(map(str, labels()))
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(
                f"two columns would be named {twice!r}, because column names in Arrow are strings:"
                " use categories that differ as strings"
            )
        bits = write.bits([column], num_threads=num_threads)
        # The names are set afterwards, because in C a name ends at "\0".
        block = ArrowBlock(map(str, range(len(bits))), bits, len(column.codes), "b", 1)
        return pa.record_batch(block).rename_columns(names)

    def codes(self) -> npt.NDArray[np.integer[Any]]:
        """Return the position of the feature that is one in each row.

        Returns
        -------
        ndarray of shape (n_rows,), integer
            The position of the feature in ``series.onehot()``, -1 where the value is missing.
            If the library stores codes itself, the result is a read-only view of them, not a copy.

        Raises
        ------
        TypeError
            If the dtype of the Series is not supported.
        """
        column, _ = self._coded(None, np.dtype(bool), {})
        return column.features()

    @overload
    def multi_hot(
        self,
        sep: str | None = None,
        *,
        output: Literal["pandas", "polars"] | None = None,
        **options: Unpack[_LabelOptions],
    ) -> Frame: ...
    @overload
    def multi_hot(
        self, sep: str | None = None, *, output: Literal["numpy"], **options: Unpack[_LabelOptions]
    ) -> AnyArray: ...
    @overload
    def multi_hot(
        self, sep: str | None = None, *, output: Literal["csr"], **options: Unpack[_LabelOptions]
    ) -> csr_array: ...
    @overload
    def multi_hot(
        self, sep: str | None = None, *, output: Literal["csc"], **options: Unpack[_LabelOptions]
    ) -> csc_array: ...
    def multi_hot(
        self,
        sep: str | None = None,
        *,
        categories: Any = None,
        mode: Literal["set", "count"] = "set",
        dtype: Any = None,
        output: Literal["pandas", "polars", "numpy", "csr", "csr_matrix", "csc"] | None = None,
        num_threads: int | None = None,
    ) -> Any:
        """Encode rows with any number of labels, stored as lists or as separated strings.

        Parameters
        ----------
        sep : str, optional
            The separator of the labels in a string. Empty labels are ignored. By default every row
            is a list. A missing row has no labels.
        categories : sequence of scalars, optional
            The labels that get a column, in order; other labels are ignored. By default all labels
            that occur, sorted.
        mode : {"set", "count"}, default "set"
            "set" writes 1 if the row has the label. "count" writes how often the row has it.
        dtype : dtype, optional
            By default bool, and int64 for counts.
        output : {"numpy", "csr", "csr_matrix", "csc"} or the name of the library, optional
            A row-major array, an array of ``scipy.sparse``, or by default a frame, whose columns
            are named after the labels.
        num_threads : int, optional
            The number of threads. By default it depends on the size of the result.

        Returns
        -------
        DataFrame, ndarray, csr_array or csc_array of shape (n_rows, n_labels)

        Raises
        ------
        ImportError
            If `output` is a sparse format and SciPy is not installed.
        TypeError, ValueError
            If a row is not a list (with `sep`, not a string), or an option has a wrong value.
        MemoryError
            If the result does not fit in memory. Nothing has been allocated.
        """
        form = self._library if output is None else output
        check_choice(form, "output", (self._library, "numpy", *SPARSE_FORMATS))
        element = self._element((np.int64 if mode == "count" else bool) if dtype is None else dtype)
        rows = self._labels(sep)
        known: Any = distinct_labels(rows.elements, offsets=rows.offsets)
        if categories is not None:
            known = declared_categories(categories, "categories") or categories
        matrix = multi_hot(
            rows.elements,
            categories=known,
            offsets=rows.offsets,
            mode=mode,
            dtype=element,
            output=form if form in SPARSE_FORMATS else "numpy",  # type: ignore[call-overload]
            num_threads=num_threads,
        )
        if form != self._library:
            return matrix
        return self._frame_of(matrix, list(known))

    def _matrix(
        self,
        form: Literal["numpy", "csr", "csc"],
        categories: Categories,
        dtype: Any,
        num_threads: int | None,
        options: ColumnKeywords,
    ) -> Any:
        """Return the column as a matrix in the format `form`."""
        element = self._element(dtype)
        column, _ = self._coded(categories, element, options)
        if form == "numpy":
            return write.rows([column], element, num_threads=num_threads)
        return write.sparse_array(form, [column], element, num_threads=num_threads)

    def _coded(
        self,
        categories: Categories,
        dtype: np.dtype[Any],
        options: ColumnKeywords,
        prefix: str | None = None,
        prefix_sep: str = "_",
    ) -> tuple[CodedColumn, Labels]:
        """Return the encoded column, and a function that returns the labels of its features."""
        if "sep" in options:  # known to `Encoder`, but here a row has one value
            raise TypeError(
                "'sep' is not an option of a Series: use series.onehot.multi_hot(sep), or"
                " frame.onehot([name], sep=sep)"
            )
        check_options(options, [*CHOICES, *keywords(type(self).__call__)])
        if prefix is not None:
            check_text(prefix, "prefix")
        check_text(prefix_sep, "prefix_sep")
        if isinstance(categories, Encoder):
            check_options(options if prefix is None else {"prefix": prefix}, None)
            schema = categories.schema.column_of(self._data.name)
            return code_column(schema, read_column(self._data)), lambda: schema.names
        if isinstance(categories, str) and categories != "auto":
            raise TypeError(
                f"categories must be a sequence of categories or an Encoder, got {categories!r};"
                f" to use it in the column names, pass prefix={categories!r}"
            )
        chosen = {} if categories is None else {"categories": categories}
        output = {"dtype": dtype, "prefix": prefix, "prefix_sep": prefix_sep}
        try:
            return self._encode({**options, **chosen, **output})
        except UnknownValueError:
            # Only declared categories can lack a value.
            declared = declared_categories(categories, "categories")
            values = read_column(self._data).encode().categories.tolist()
            if declared != (self._data.name,) or self._data.name in values:
                raise
            raise UnknownValueError(
                f"categories is [{self._data.name!r}], which is the name of the Series but none of"
                " its values: the first argument of series.onehot is the categories, not columns;"
                " call series.onehot()"
            ) from None

    @abstractmethod
    def _encode(self, options: Mapping[str, Any]) -> tuple[CodedColumn, Labels]:
        """Return the encoded column, and a function that returns the labels of its features."""

    @staticmethod
    def _has_defaults(options: Mapping[str, Any]) -> bool:
        """Tell whether `options` are the defaults, with which every category gets a column."""
        return all(options[name] is OPTIONS[name].default for name in CHOICES if name in options)

    @staticmethod
    def _encode_alone(
        column: Column, name: Hashable, options: Mapping[str, Any]
    ) -> tuple[CodedColumn, ColumnSchema]:
        """Encode the column with an `Encoder` that is fitted to this column only.

        The option `drop` is a rule, such as "first", or a category to drop. If a category has the
        name of a rule, pass it in a list: ``["first"]``.
        """
        drop = options.get("drop")
        by_column = drop if isinstance(drop, Mapping) else {name: drop}
        encoder = Encoder([name], **{**options, "drop": by_column}).fit({name: column})
        [schema] = encoder.schema.columns
        coded = code_column(schema, column)
        identity = CodedColumn(coded.codes, None, coded.n_features, coded.nan_where_missing)
        return (
            identity if np.array_equal(coded.lut_from(0), identity.lut_from(0)) else coded
        ), schema

    def _element(self, dtype: Any) -> np.dtype[Any]:
        """Return the NumPy dtype for `dtype`; a subclass may also accept dtypes of its library."""
        return number_dtype(dtype, "dtype")

    @abstractmethod
    def _labels(self, sep: str | None) -> Rows:
        """Return the labels of each row; their `elements` are a Column."""

    @abstractmethod
    def _frame_of(self, matrix: AnyArray, labels: list[Any]) -> Frame:
        """Return a row-major matrix as a table with these labels, without a copy if possible."""
