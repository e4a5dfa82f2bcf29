"""Multi-hot encoding of rows with any number of classes, as ones or counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.checks import check_choice, max_positional, number_dtype
from onehot_fast._arguments.indices import as_indices, resolve_depth
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.column import Column
from onehot_fast._categories.keys import plain
from onehot_fast._categories.lists import Rows, integers_of
from onehot_fast._categories.values import read_column
from onehot_fast._pipeline import write
from onehot_fast._pipeline.write import wrap_sparse
from onehot_fast._schema.coded_column import CodedColumn
from onehot_fast._schema.formats import SPARSE_CLASSES
from onehot_fast._schema.option_checks import declared_categories

__all__ = ["distinct_labels", "multi_hot"]

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array, csr_matrix

AnyArray: TypeAlias = npt.NDArray[Any]

COUNTABLE = frozenset(map(np.dtype, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")))
MAX_DEPTH = np.iinfo(np.int32).max - 1


class _MultiHotKeywords(TypedDict, total=False):
    """The keywords of `multi_hot` that do not change the type of its result."""

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
@max_positional(2, "pass the options after multi_hot(rows, depth) by keyword")
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
    rows : sequence of sequences, array_like of shape (n_rows, width), strings, or flat elements
        The elements are integer classes or, if `categories` is passed, any scalars. None is a row
        without elements. Negative integers and missing scalars are skipped, so you can use
        them to pad rows to the same length. Rows, flat elements, categories and offsets may be
        arrays, tensors in the memory of the CPU, Series, Arrow arrays, and other containers.
    depth : int, optional
        The number of classes; by default 1 + the largest integer.
    categories : array_like or sequence of scalars, optional
        The classes in order, instead of `depth`. `distinct_labels` returns the classes of `rows`.
    offsets : array_like of int, shape (n_rows + 1,), optional
        If given, `rows` is a flat array or a `Column`, and row ``i`` has the elements
        ``rows[offsets[i]:offsets[i + 1]]``, as in an Arrow list array. The offsets of
        ``torch.nn.EmbeddingBag`` lack the last one: append ``len(rows)``. The codes of a `Column`,
        or of a categorical column, are classes.
    sep : str, optional
        The separator of the labels in a string, if `rows` contains strings (or None) or is a string
        column of a library. Spaces are not stripped; empty labels are skipped.
    mode : {"set", "count"}, default "set"
        "set" writes 1 for each class of a row. "count" writes the number of times that the class
        occurs in the row (modulo the range of an integer dtype).
    dtype : dtype_like, default float32
        The dtype of the result. Counts need an integer, float32 or float64.
    out_of_range : {"ignore", "error"}, default "ignore"
        Whether an integer >= `depth`, or a scalar that is not in `categories`, is skipped or raises
        an error.
    output : {"numpy", "csr", "csr_matrix", "csc"}, default "numpy"
        A row-major matrix, or a `scipy.sparse.csr_array`, `csr_matrix` or `csc_array`.
    num_threads : int, optional
        The number of threads. By default, it depends on the size of the result.

    Returns
    -------
    ndarray, csr_array, csr_matrix or csc_array of shape (n_rows, depth)

    Raises
    ------
    TypeError
        The rows have an unsupported type, the elements are not integers and `categories` is not
        passed, or an option has the wrong type.
    ValueError
        Both `depth` and `categories` are passed, or no depth can be inferred; the offsets decrease
        or exceed the number of elements; an option has an unknown value; an element is rejected.
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
    check_choice(output, "output", ("numpy", *SPARSE_CLASSES))
    element = _element(dtype, mode)
    ragged = Rows.read(rows, offsets, sep)
    if categories is not None and depth is not None:
        raise ValueError("depth and categories cannot be combined: pass one of them")
    coded = _classes(ragged, depth) if categories is None else _labelled(ragged, categories)
    if out_of_range == "error":
        _check_classes(ragged, coded)
    counts = mode == "count"
    if output in SPARSE_CLASSES:
        parts = write.multi_hot_csr(ragged.offsets, coded, element, counts=counts)
        shape = len(ragged.offsets) - 1, coded.n_features
        matrix = wrap_sparse("csr" if output == "csc" else output, parts, shape)
        return matrix.tocsc() if output == "csc" else matrix
    return write.multi_hot(ragged.offsets, coded, element, counts=counts, num_threads=num_threads)


def _element(dtype: npt.DTypeLike | None, mode: str) -> np.dtype[Any]:
    """Return the dtype of the result, or raise an error if it is invalid for `mode`."""
    element = np.dtype(np.float32) if dtype is None else number_dtype(dtype, "dtype")
    if mode == "count" and element not in COUNTABLE:
        raise TypeError(
            f"dtype must be an integer, float32 or float64 for mode='count', got {element}"
        )
    return element


def _classes(ragged: Rows, depth: Any) -> CodedColumn:
    """Return integer elements as a column for the kernels; each integer is its own class."""
    elements = ragged.elements
    if isinstance(elements, Column) and ragged.codes_are_classes:
        depth = elements.n_categories if depth is None else depth
        elements = elements.codes
    integers = integers_of(elements)
    if integers is None:
        kind = getattr(elements, "dtype", np.dtype(object))
        raise TypeError(
            f"rows must contain integers, got elements of dtype {kind}: to encode other"
            " scalars, pass categories=onehot_fast.distinct_labels(rows)"
        )
    codes = as_indices(integers)
    n_classes = resolve_depth(depth, codes, None)
    if n_classes > MAX_DEPTH:
        raise ValueError(f"depth must be at most {MAX_DEPTH}, got {n_classes}")
    return CodedColumn(codes, None, n_classes)


def _labelled(ragged: Rows, categories: Any) -> CodedColumn:
    """Return scalar elements as a column for the kernels; classes are positions in `categories`."""
    known = declared_categories(categories, "categories")
    if known is None:
        raise ValueError("categories must not be 'auto'; pass distinct_labels(rows) instead")
    column = read_column(ragged.elements).encode()
    features = Categories.of(known).find(Categories.of(column.stored))
    return CodedColumn.of_positions(column.codes, features, len(known))


def _check_classes(ragged: Rows, coded: CodedColumn) -> None:
    """Raise an error for the first element that is not a class."""
    start, stop = int(ragged.offsets[0]), int(ragged.offsets[-1])
    features = coded.features()
    offends = (coded.codes >= 0) & ((features < 0) | (features >= coded.n_features))
    if not offends[start:stop].any():
        return
    position = start + int(np.argmax(offends[start:stop]))
    row, place = ragged.row_of(position)
    elements = ragged.elements
    if isinstance(elements, Column) and (ragged.codes_are_classes or coded.lut is not None):
        value = elements.categories[int(coded.codes[position])]
    elif isinstance(elements, Column):
        value = coded.codes[position]  # an integer, which is a class
    else:
        value = elements[position]
    expected = f"in [0, {coded.n_features})" if coded.lut is None else "one of the categories"
    raise ValueError(f"rows[{row}][{place}] must be {expected}, got {plain(value)!r}")


def distinct_labels(rows: Any, *, offsets: Any = None, sep: str | None = None) -> AnyArray:
    """Return the sorted distinct elements of ragged rows, as `categories` for `multi_hot`.

    Parameters
    ----------
    rows, offsets, sep
        As for `multi_hot`.

    Returns
    -------
    ndarray of shape (n_labels,)
        The dtype is object if NumPy has no dtype for the labels.

    Examples
    --------
    >>> distinct_labels(["new|red", None, "red|red"], sep="|")
    array(['new', 'red'], dtype=object)
    """
    ragged = Rows.read(rows, offsets, sep)
    column = read_column(ragged.elements).encode()
    used = column.codes[int(ragged.offsets[0]) : int(ragged.offsets[-1])]
    occurring = np.flatnonzero(CodedColumn(used, None, column.n_categories).counts())
    labels = Categories.of(column.stored).take(occurring)
    return labels.take(labels.argsort()).to_array()
