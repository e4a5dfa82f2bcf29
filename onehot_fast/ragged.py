"""Rows that hold any number of classes each: several ons in a row, or counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import check_choice, max_positional, number_dtype
from onehot_fast._arguments.indices import as_indices, resolve_depth
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.factorize import Factorized
from onehot_fast._categories.keys import plain
from onehot_fast._categories.lists import Rows
from onehot_fast._encode import write
from onehot_fast._encode.scipy_sparse import FORMATS, sparse_array
from onehot_fast._schema.coded_column import CodedColumn
from onehot_fast._schema.options import declared_categories
from onehot_fast.column import Column, read_column

__all__ = ["distinct_labels", "multi_hot"]

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array, csr_matrix

AnyArray: TypeAlias = npt.NDArray[Any]

COUNTABLE = frozenset(map(np.dtype, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")))
MAX_DEPTH = np.iinfo(np.int32).max - 1


class _MultiHotKeywords(TypedDict, total=False):
    """The keywords of `multi_hot` that have no influence on the type of its result."""

    categories: Any
    offsets: Any
    sep: str | None
    mode: Literal["set", "count"]
    dtype: npt.DTypeLike | None
    out_of_range: Literal["ignore", "error"]
    num_threads: int | None


@overload
def multi_hot(
    rows: Any,
    depth: int | None = None,
    *,
    output: Literal["numpy"] = "numpy",
    **keywords: Unpack[_MultiHotKeywords],
) -> AnyArray: ...
@overload
def multi_hot(
    rows: Any,
    depth: int | None = None,
    *,
    output: Literal["csr"],
    **keywords: Unpack[_MultiHotKeywords],
) -> csr_array: ...
@overload
def multi_hot(
    rows: Any,
    depth: int | None = None,
    *,
    output: Literal["csr_matrix"],
    **keywords: Unpack[_MultiHotKeywords],
) -> csr_matrix: ...
@overload
def multi_hot(
    rows: Any,
    depth: int | None = None,
    *,
    output: Literal["csc"],
    **keywords: Unpack[_MultiHotKeywords],
) -> csc_array: ...
@max_positional(2, "multi_hot(rows, depth) takes all else by keyword")
def multi_hot(
    rows: Any,
    depth: Any = None,
    *,
    categories: Any = None,
    offsets: Any = None,
    sep: str | None = None,
    mode: Literal["set", "count"] = "set",
    dtype: npt.DTypeLike | None = None,
    out_of_range: Literal["ignore", "error"] = "ignore",
    output: Literal["numpy", "csr", "csr_matrix", "csc"] = "numpy",
    num_threads: int | None = None,
) -> Any:
    """Return the multi-hot encoding of rows that hold any number of classes.

    Parameters
    ----------
    rows : sequence of sequences, ndarray of shape (n_rows, width), texts, or flat elements
        The elements are integers, which are classes, or any scalars where `categories` tells their
        classes. None is a row without elements. A negative integer and a missing scalar are no
        class, with which rows of one length are filled up.
    depth : int, optional
        The number of classes; by default 1 + the largest integer.
    categories : sequence of scalars, optional
        The classes in their order, instead of `depth`; `distinct_labels` finds them.
    offsets : array_like of int, shape (n_rows + 1,), optional
        `rows` is flat, and row ``i`` has the elements ``offsets[i]:offsets[i + 1]``, as in an
        Arrow list array. They may also be a `Column`.
    sep : str, optional
        `rows` are texts (or None), or a library's column of them, and this stands between the
        labels of each. Nothing is stripped; an empty label is none.
    mode : {"set", "count"}, default "set"
        Whether an element is 1 where its class occurs in the row, or how often it does (modulo
        the range of an integer dtype).
    dtype : dtype_like, default float32
        The dtype of the result. Counts need an integer, float32 or float64.
    out_of_range : {"ignore", "error"}, default "ignore"
        What is no class, an integer from `depth` or a scalar that is no category, is skipped or
        refused.
    output : {"numpy", "csr", "csr_matrix", "csc"}, default "numpy"
        A row-major matrix, or a `scipy.sparse.csr_array`, `csr_matrix` or `csc_array`.
    num_threads : int, optional
        By default as many as the size of the result makes worthwhile.

    Returns
    -------
    ndarray, csr_array or csc_array of shape (n_rows, depth)

    Raises
    ------
    TypeError
        The rows are of another kind, scalars without `categories`, or an option is of the wrong
        kind.
    ValueError
        Both `depth` and `categories` are given, or no depth can be inferred; the offsets do not
        walk over the elements; a word is unknown; an element is refused.
    MemoryError
        The result is larger than the free memory. Nothing has been allocated.

    Examples
    --------
    >>> import onehot_fast
    >>> onehot_fast.multi_hot([[0, 2], [], [1, 1]], 3, dtype="uint8")
    array([[1, 0, 1],
           [0, 0, 0],
           [0, 1, 0]], dtype=uint8)
    >>> tags = ["new|red", None, "red|red"]
    >>> onehot_fast.multi_hot(tags, sep="|", categories=["red", "new"], mode="count", dtype=int)
    array([[1, 1],
           [0, 0],
           [2, 0]])
    """
    check_choice(mode, "mode", ("set", "count"))
    check_choice(out_of_range, "out_of_range", ("ignore", "error"))
    check_choice(output, "output", ("numpy", *FORMATS))
    element = _element(dtype, mode)
    ragged = Rows.read(rows, offsets, sep)
    if categories is not None and depth is not None:
        raise ValueError("depth and categories are both given; accepted is one of them")
    coded = _classes(ragged, depth) if categories is None else _labelled(ragged, categories)
    if out_of_range == "error":
        _check_classes(ragged, coded)
    counts = mode == "count"
    if output in FORMATS:
        parts = write.multi_hot_csr(ragged.offsets, coded, element, counts=counts)
        shape = len(ragged.offsets) - 1, coded.n_outputs
        if output == "csc":
            return sparse_array("csr", parts, shape).tocsc()
        return sparse_array(output, parts, shape)
    return write.multi_hot(ragged.offsets, coded, element, counts=counts, num_threads=num_threads)


def _element(dtype: npt.DTypeLike | None, mode: str) -> np.dtype[Any]:
    element = np.dtype(np.float32) if dtype is None else number_dtype(dtype, "dtype")
    if mode == "count" and element not in COUNTABLE:
        raise TypeError(
            f"dtype = {element} cannot count: accepted are integers, float32 and float64"
        )
    return element


def _classes(ragged: Rows, depth: Any) -> CodedColumn:
    """Return elements that are the classes themselves."""
    elements = ragged.elements
    if isinstance(elements, Factorized):
        elements = np.empty(0, object)  # texts, which are refused
    if isinstance(elements, Column):
        depth = elements.n_categories if depth is None else depth
        elements = elements.codes
    if elements.dtype.kind not in "iu":
        raise TypeError(
            f"the elements have dtype {elements.dtype}; accepted are integers, and any scalars"
            " with categories=, which onehot_fast.distinct_labels finds"
        )
    codes = as_indices(elements)
    n_classes = resolve_depth(depth, codes, None)
    if n_classes > MAX_DEPTH:
        raise ValueError(f"depth = {n_classes} is too large: accepted are numbers to {MAX_DEPTH}")
    return CodedColumn(codes, None, n_classes)


def _labelled(ragged: Rows, categories: Any) -> CodedColumn:
    """Return elements that are looked up among the categories."""
    known = declared_categories(categories, "categories")
    if known is None:
        raise ValueError("categories = 'auto' is not accepted here; distinct_labels finds them")
    column = read_column(ragged.elements)
    outputs = Categories.of(known).find(Categories.of(column.stored))
    return CodedColumn(column.codes, np.append(outputs, -1).astype(np.int32), len(known))


def _check_classes(ragged: Rows, coded: CodedColumn) -> None:
    """Refuse the first element that is no class."""
    start, stop = int(ragged.offsets[0]), int(ragged.offsets[-1])
    offends = (coded.codes >= 0) & (coded.outputs() < 0)
    if not offends[start:stop].any():
        return
    position = start + int(np.argmax(offends[start:stop]))
    row, place = ragged.row_of(position)
    elements = ragged.elements
    is_coded = isinstance(elements, Column | Factorized)
    value = elements.categories[int(coded.codes[position])] if is_coded else elements[position]
    where = f"rows[{row}][{place}] = {plain(value)!r}"
    if coded.lut is None:
        raise ValueError(f"{where} is outside [0, {coded.n_outputs})")
    raise ValueError(f"{where} is none of the {coded.n_outputs} categories")


def distinct_labels(rows: Any, *, offsets: Any = None, sep: str | None = None) -> AnyArray:
    """Return the distinct elements of ragged rows, sorted: the categories for `multi_hot`.

    Parameters
    ----------
    rows, offsets, sep
        As for `multi_hot`.

    Returns
    -------
    ndarray of shape (n_labels,)
        Of dtype object where NumPy has no dtype for the labels.

    Examples
    --------
    >>> distinct_labels(["new|red", None, "red|red"], sep="|")
    array(['new', 'red'], dtype=object)
    """
    ragged = Rows.read(rows, offsets, sep)
    column = read_column(ragged.elements)
    used = column.codes[int(ragged.offsets[0]) : int(ragged.offsets[-1])]
    occurring = np.flatnonzero(write.count(used, column.n_categories))
    labels = Categories.of(column.stored).take(occurring)
    return labels.take(labels.argsort()).to_array()
