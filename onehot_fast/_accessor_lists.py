"""``series.onehot.multi_hot`` of pandas and polars: what they share."""

from __future__ import annotations

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

from onehot_fast._arguments.choices import check_choice, number_dtype
from onehot_fast._encode.scipy_sparse import FORMATS
from onehot_fast._runtime.registry import library
from onehot_fast.column import Column
from onehot_fast.ragged import distinct_labels, multi_hot

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

AnyArray: TypeAlias = npt.NDArray[Any]
Frame = TypeVar("Frame")  # the table of a library


class _MultiHotKeywords(TypedDict, total=False):
    """The keywords of `ListAccessor.multi_hot` that have no influence on what it returns."""

    categories: Any
    mode: Literal["set", "count"]
    dtype: Any
    num_threads: int | None


class ListAccessor(Generic[Frame]):
    """The one-hot form of a column whose rows have several labels.

    Parameters
    ----------
    data : Series of n_rows
        Supplied by the library. Nothing is read before a method is called.
    """

    _library: ClassVar[str]
    """The word for a table of the library, as in ``output="pandas"``."""

    def __init__(self, data: Any) -> None:
        self._data = data

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
    @overload
    def multi_hot(
        self,
        sep: str | None = None,
        *,
        output: Literal["csc"],
        **options: Unpack[_MultiHotKeywords],
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
        output : {"numpy", "csr", "csr_matrix", "csc"} or the name of the library, optional
            A row-major array, an array of ``scipy.sparse``, or by default a frame, whose columns
            are named by the labels.
        num_threads : int, optional
            By default as many as the size of the result makes worthwhile.

        Returns
        -------
        DataFrame, ndarray, csr_array or csc_array of shape (n_rows, n_labels)

        Raises
        ------
        ImportError
            If `output` is a sparse form and SciPy is not installed.
        TypeError, ValueError
            If a row is no list, or no text where there is a `sep`, or an option is refused.
        MemoryError
            If the result cannot fit in memory, before it is allocated.
        """
        form = self._library if output is None else output
        check_choice(form, "output", (self._library, "numpy", *FORMATS))
        if form in FORMATS:
            library("scipy.sparse", f"output={form!r}")
        element = self._element((np.int64 if mode == "count" else bool) if dtype is None else dtype)
        offsets, labels = self._labels(sep)
        known = distinct_labels(labels, offsets=offsets) if categories is None else categories
        matrix = multi_hot(
            labels,
            categories=known,
            offsets=offsets,
            mode=mode,
            dtype=element,
            output=form if form in FORMATS else "numpy",  # type: ignore[call-overload]
            num_threads=num_threads,
        )
        if form != self._library:
            return matrix
        return self._frame_of(matrix, list(getattr(known, "categories", known)))

    def _element(self, dtype: Any) -> np.dtype[Any]:
        """Return the NumPy dtype of a result; a library may have names of its own."""
        return number_dtype(dtype, "dtype")

    def _labels(self, sep: str | None) -> tuple[npt.NDArray[np.int64], Column]:
        """Return rows of labels: row ``i`` has those of ``offsets[i]:offsets[i + 1]``."""
        raise NotImplementedError

    def _frame_of(self, matrix: AnyArray, labels: list[Any]) -> Frame:
        """Return the table of a row-major matrix, which it may take over."""
        raise NotImplementedError
