"""What the accessors of pandas and polars share: ``series.onehot`` and ``frame.onehot``.

An integration says how its containers are read and wrapped; the methods, their options and their
errors are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
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

from onehot_fast._arguments.choices import (
    check_choice,
    check_no_options,
    check_options,
    check_prefix,
    number_dtype,
)
from onehot_fast._categories.lookup import code_column
from onehot_fast._categories.options import ColumnKeywords, Drop, HandleMissing, HandleUnknown
from onehot_fast._categories.schema import ColumnSchema
from onehot_fast._encode import write
from onehot_fast._encode.write import CodedColumn
from onehot_fast._runtime.registry import library
from onehot_fast.column import Column, as_values
from onehot_fast.encoder import Encoder
from onehot_fast.ragged import distinct_labels, multi_hot
from onehot_fast.table import Table

if TYPE_CHECKING:
    import pyarrow as pa
    from scipy.sparse import csc_array, csr_array

AnyArray: TypeAlias = npt.NDArray[Any]
Frame = TypeVar("Frame")  # the table of a library


class TableKeywords(TypedDict, total=False):
    """The options of an encoder of a table: one value, or a mapping from columns to values."""

    categories: Any
    drop: Drop | Mapping[Any, Any] | None
    handle_missing: HandleMissing | Mapping[Any, HandleMissing]
    handle_unknown: HandleUnknown | Mapping[Any, HandleUnknown]
    min_frequency: float | Mapping[Any, float | None] | None
    max_categories: int | Mapping[Any, int | None] | None
    prefix: str | Mapping[Any, str | None] | None
    prefix_sep: str | Mapping[Any, str]
    dtype: Any
    remainder: Any


class _MultiHotKeywords(TypedDict, total=False):
    """The keywords of `SeriesAccessor.multi_hot` that have no influence on what it returns."""

    categories: Any
    mode: Literal["set", "count"]
    dtype: Any
    num_threads: int | None


class SeriesAccessor(Generic[Frame]):
    """The one-hot forms of one column; each library adds the one that is its table.

    Parameters
    ----------
    data : Series of n_rows
        Supplied by the library. Nothing is read before a method is called.
    """

    library: ClassVar[str]
    """The word for a table of the library, as in ``output="pandas"``."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __repr__(self) -> str:
        """Say what there is to call."""
        forms = "to_numpy, to_csr, to_csc, to_arrow, codes or multi_hot"
        return f"<onehot of a column: call it for its features, or {forms}>"

    def to_numpy(
        self,
        dtype: Any = np.float32,
        *,
        num_threads: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> AnyArray:
        """Encode as a row-major array, the layout that tensor libraries expect.

        Parameters
        ----------
        dtype : dtype, default float32
            Boolean, integer, floating or complex dtype of the elements.
        num_threads : int, optional
            By default as many as the size of the result makes worthwhile.
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
        """
        element = self._element(dtype)
        column, _ = self._coded(element, options)
        return write.rows([column], element, num_threads=num_threads)

    def to_csr(
        self,
        dtype: Any = np.float32,
        *,
        num_threads: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> csr_array:
        """Encode as a sparse array of rows, which is small however many categories there are.

        Parameters
        ----------
        dtype, num_threads, **options
            As for `to_numpy`.

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
        """
        return self._sparse("csr", dtype, num_threads, options)

    def to_csc(
        self,
        dtype: Any = np.float32,
        *,
        num_threads: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> csc_array:
        """Encode as a sparse array of columns, a ``scipy.sparse.csc_array``; see `to_csr`."""
        return self._sparse("csc", dtype, num_threads, options)

    def to_arrow(
        self,
        prefix: str | None = None,
        prefix_sep: str = "_",
        *,
        num_threads: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> pa.RecordBatch:
        """Encode as Arrow's Booleans, eight in a byte.

        Parameters
        ----------
        prefix, prefix_sep
            As for the frame.
        num_threads : int, optional
            By default as many as the size of the result makes worthwhile.
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
            As for the frame; two columns of one name are an error.
        """
        pa = library("pyarrow", ".onehot.to_arrow()")
        column, labels = self._coded(np.dtype(bool), options, prefix, prefix_sep)
        names = list(map(str, labels))
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"two columns would be named {twice!r}: in Arrow names are strings")
        bits = write.bits([column], num_threads=num_threads)
        bits.flags.writeable = False
        n_rows = len(column.codes)
        columns = [
            pa.Array.from_buffers(pa.bool_(), n_rows, [None, pa.py_buffer(row)], null_count=0)
            for row in bits
        ]
        return pa.RecordBatch.from_arrays(columns, names)

    def codes(self) -> npt.NDArray[np.integer[Any]]:
        """Return the column in which each row is on.

        Returns
        -------
        ndarray of shape (n_rows,), integer
            Position of the row's column in ``series.onehot()``, -1 where the value is missing.
            Codes that the library keeps itself are not copied: a read-only view.

        Raises
        ------
        TypeError
            If the dtype of the Series is not supported.
        """
        column, _ = self._coded(np.dtype(bool), {})
        return column.codes if column.lut is None else write.recode(column)

    @overload
    def multi_hot(
        self,
        sep: str | None = None,
        *,
        output: Literal["pandas", "polars"] | None = None,
        **options: Unpack[_MultiHotKeywords],
    ) -> Frame: ...
    @overload
    def multi_hot(
        self,
        sep: str | None = None,
        *,
        output: Literal["numpy"],
        **options: Unpack[_MultiHotKeywords],
    ) -> AnyArray: ...
    @overload
    def multi_hot(
        self,
        sep: str | None = None,
        *,
        output: Literal["csr"],
        **options: Unpack[_MultiHotKeywords],
    ) -> csr_array: ...
    def multi_hot(
        self,
        sep: str | None = None,
        *,
        categories: Any = None,
        mode: Literal["set", "count"] = "set",
        dtype: Any = None,
        output: Literal["pandas", "polars", "numpy", "csr"] | None = None,
        num_threads: int | None = None,
    ) -> Any:
        """Encode rows of several labels: lists, or separated texts.

        Parameters
        ----------
        sep : str, optional
            What stands between the labels of a text, literally. An empty label is none. Without
            it, every row is a list. A missing row has no labels.
        categories : sequence of scalars, optional
            The labels with a column, in their order; others are skipped. By default all that
            occur, sorted.
        mode : {"set", "count"}, default "set"
            Whether an element is 1 where its label occurs in the row, or how often it does.
        dtype : dtype, optional
            By default bool, and int64 for counts.
        output : {"numpy", "csr"} or the name of the library, optional
            A row-major array, a ``scipy.sparse.csr_array``, or by default a frame, whose columns
            are named by the labels.
        num_threads : int, optional
            By default as many as the size of the result makes worthwhile.

        Returns
        -------
        DataFrame, ndarray or csr_array of shape (n_rows, n_labels)

        Raises
        ------
        ImportError
            If `output` is "csr" and SciPy is not installed.
        TypeError, ValueError
            If a row is no list, or no text where there is a `sep`, or an option is refused.
        MemoryError
            If the result cannot fit in memory, before it is allocated.
        """
        form = self.library if output is None else output
        check_choice(form, "output", (self.library, "numpy", "csr"))
        if form == "csr":
            library("scipy.sparse", "output='csr'")
        element = self._element((np.int64 if mode == "count" else bool) if dtype is None else dtype)
        offsets, labels = self._labels(sep)
        known = distinct_labels(labels, offsets=offsets) if categories is None else categories
        matrix = multi_hot(
            labels,
            categories=known,
            offsets=offsets,
            mode=mode,
            dtype=element,
            output="csr" if form == "csr" else "numpy",
            num_threads=num_threads,
        )
        if form != self.library:
            return matrix
        return self._frame_of(matrix, list(getattr(known, "categories", known)))

    def _sparse(
        self,
        form: Literal["csr", "csc"],
        dtype: Any,
        num_threads: int | None,
        options: ColumnKeywords,
    ) -> Any:
        library("scipy.sparse", f".onehot.to_{form}()")
        element = self._element(dtype)
        column, _ = self._coded(element, options)
        return write.sparse_array(form, [column], element, num_threads=num_threads)

    def _coded(
        self,
        dtype: np.dtype[Any],
        options: ColumnKeywords,
        prefix: str | None = None,
        prefix_sep: str = "_",
    ) -> tuple[CodedColumn, Any]:
        """Return what `_encode` does, of options that exist."""
        check_options(options, ColumnKeywords.__annotations__)
        check_prefix(prefix, prefix_sep)
        return self._encode({**options, "dtype": dtype, "prefix": prefix, "prefix_sep": prefix_sep})

    def _element(self, dtype: Any) -> np.dtype[Any]:
        """Return the NumPy dtype of a result; a library may have names of its own."""
        return number_dtype(dtype, "dtype")

    def _encode(self, options: Mapping[str, Any]) -> tuple[CodedColumn, Any]:
        """Return the column under all options of `_encode_alone`, and the labels of its outputs."""
        raise NotImplementedError

    @staticmethod
    def _encode_alone(
        column: Column, name: Hashable, options: Mapping[str, Any]
    ) -> tuple[CodedColumn, ColumnSchema]:
        """Return a column under the options of an `Encoder` that is fitted to it alone.

        As there is one column, `drop` may be a category of it too, ``["first"]`` where it is
        spelled like a rule.
        """
        table = Table(
            (name,), len(column), lambda _: True, lambda _: column, lambda _: as_values(column)
        )
        drop = options.get("drop")
        by_column = drop if isinstance(drop, Mapping) else {name: drop}
        encoder = Encoder([name], **{**options, "drop": by_column}).fit(table)
        [schema] = encoder.schema.columns
        coded = code_column(schema, column)
        identity = CodedColumn(coded.codes, None, coded.n_outputs, coded.nan_where_missing)
        return (
            identity if np.array_equal(coded.lut_from(0), identity.lut_from(0)) else coded
        ), schema

    def _labels(self, sep: str | None) -> tuple[npt.NDArray[np.int64], Column]:
        """Return rows of labels: row ``i`` has those of ``offsets[i]:offsets[i + 1]``."""
        raise NotImplementedError

    def _frame_of(self, matrix: AnyArray, labels: list[Any]) -> Frame:
        """Return the table of a row-major matrix, which it may take over."""
        raise NotImplementedError


class TableAccessor(Generic[Frame]):
    """The one-hot form of a table, and the encoder that learns from it.

    Parameters
    ----------
    data : DataFrame of n_rows
        Supplied by the library. Nothing is read before a method is called.
    """

    def __init__(self, data: Any) -> None:
        self._data = data

    def __repr__(self) -> str:
        """Say what there is to call."""
        return "<onehot of a table: call it with the columns to encode, or fit>"

    def __call__(
        self,
        columns: Iterable[Hashable] | Encoder | None = None,
        *,
        num_threads: int | None = None,
        **options: Unpack[TableKeywords],
    ) -> Frame:
        """Encode some columns where they stand.

        Without an encoder the columns of the result depend on the rows at hand.

        Parameters
        ----------
        columns : column name, names, function, polars selector or Encoder, optional
            Those to encode, as for `onehot_fast.Encoder`; by default those of texts, objects and
            categories. Or a fitted `onehot_fast.Encoder`, which knows its columns and options.
        num_threads : int, optional
            By default as many as the size of the result makes worthwhile.
        **options
            `prefix`, `prefix_sep`, `dtype` (Boolean by default), `categories`, `drop`,
            `handle_missing`, `handle_unknown`, `min_frequency` and `max_categories` of
            `onehot_fast.Encoder`, of which each may be a dict from columns to values; `remainder`.

        Returns
        -------
        DataFrame of n_rows
            The new columns stand in the place of those they were made of. All others are
            untouched, and shared as the library shares them.

        Raises
        ------
        TypeError
            If `columns` or an option is of the wrong kind, there are options beside an Encoder, or
            a column cannot be encoded.
        ValueError
            If a column is absent or there twice, two columns would have one name, or an option or
            a value is refused.
        MemoryError
            If the result cannot fit in memory, before it is allocated.
        """
        if isinstance(columns, Encoder):
            check_no_options(options)
            encoded: Frame = columns.transform(self._data, num_threads=num_threads)
            return encoded
        encoder = self._new_encoder(columns, options)
        encoded = encoder.fit_transform(self._data, num_threads=num_threads)
        return encoded

    def fit(
        self, columns: Iterable[Hashable] | None = None, **options: Unpack[TableKeywords]
    ) -> Encoder:
        """Learn the categories, so that other rows get the same columns.

        Parameters
        ----------
        columns, **options
            As for the frame.

        Returns
        -------
        onehot_fast.Encoder
            Fitted; ``frame.onehot(encoder)`` applies it.

        Raises
        ------
        TypeError, ValueError
            As for `onehot_fast.Encoder.fit`.
        """
        return self._new_encoder(columns, options).fit(self._data)

    def _new_encoder(self, columns: Iterable[Hashable] | None, options: TableKeywords) -> Encoder:
        """Return an encoder that has learned nothing; a library may have dtypes of its own."""
        check_options(options, TableKeywords.__annotations__)
        return Encoder(columns, **options)
