"""Multi-hot encoding of rows with any number of classes, as ones or counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import as_array, is_container
from onehot_fast._arguments.checks import check_choice, max_positional, number_dtype
from onehot_fast._arguments.indices import as_indices, fits, resolve_depth
from onehot_fast._arguments.indices import integers_of as indices_of
from onehot_fast._arguments.messages import number_of, shown
from onehot_fast._arguments.shapes import check_size
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.classes import distinct_scalars, ignored_elements
from onehot_fast._categories.column import Column
from onehot_fast._categories.keys import is_missing, plain
from onehot_fast._categories.lists import Rows, integers_of
from onehot_fast._categories.values import read_column
from onehot_fast._pipeline import write
from onehot_fast._pipeline.write import wrap_sparse
from onehot_fast._reports.unknown import UnknownValueError
from onehot_fast._runtime.registry import library
from onehot_fast._schema.coded_column import CodedColumn
from onehot_fast._schema.formats import SPARSE_CLASSES

__all__ = ["distinct_labels", "multi_hot"]

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array, csr_matrix

AnyArray: TypeAlias = npt.NDArray[Any]

COUNTABLE = frozenset(map(np.dtype, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")))
MAX_DEPTH = np.iinfo(np.int32).max - 1


class _MultiHotKeywords(TypedDict, total=False):
    """The keywords of `multi_hot` that do not change the type of its result."""

    categories: Any
    handle_unknown: Literal["ignore", "error"] | None
    offsets: Any
    include_last_offset: bool
    sep: str | None
    mode: Literal["set", "count"]
    weights: Any
    dtype: npt.DTypeLike | None
    out_of_range: Literal["ignore", "error"]
    ignore_index: Any
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
    handle_unknown: Literal["ignore", "error"] | None = None,
    offsets: Any = None,
    include_last_offset: bool = True,
    sep: str | None = None,
    mode: Literal["set", "count"] = "set",
    weights: Any = None,
    dtype: npt.DTypeLike | None = None,
    out_of_range: Literal["ignore", "error"] = "ignore",
    ignore_index: Any = None,
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
        arrays, tensors in the memory of the CPU, Series, Arrow arrays, masked arrays, whose masked
        elements are missing, and other containers.
    depth : int, optional
        The number of classes; by default 1 + the largest integer.
    categories : array_like or sequence of scalars, optional
        The classes in order, instead of `depth`. `distinct_labels` returns the classes of `rows`.
    handle_unknown : {"ignore", "error"}, optional
        Whether an element that is not in `categories` is skipped, which is the default, or raises
        an error. It needs `categories`.
    offsets : array_like of int, shape (n_rows + 1,), optional
        If given, `rows` is a flat array or a `Column`, and row ``i`` has the elements
        ``rows[offsets[i]:offsets[i + 1]]``, as in an Arrow list array. The codes of a `Column`, or
        of a categorical column, are classes.
    include_last_offset : bool, default True
        Whether `offsets` has the end of the last row. False is for the offsets of
        `torch.nn.EmbeddingBag`, whose shape is (n_rows,).
    sep : str, optional
        The separator of the labels in a string, if `rows` contains strings (or None) or is a string
        column of a library. Spaces are not stripped; empty labels are skipped.
    mode : {"set", "count"}, default "set"
        "set" writes 1 for each class of a row. "count" writes the number of times that the class
        occurs in the row (modulo the range of an integer dtype).
    weights : array_like of numbers, optional
        A weight for each element, in the order of the elements: of shape (n_elements,), or in rows
        like the elements. "count" then writes the sum of the weights of each class, in float32 or
        float64; "set" has no weights.
    dtype : dtype_like, default float32
        The dtype of the result. Counts need an integer, float32 or float64.
    out_of_range : {"ignore", "error"}, default "ignore"
        Whether an integer >= `depth`, or a scalar that is not in `categories`, is skipped or raises
        an error.
    ignore_index : element, or array_like or set of elements, optional
        These elements are skipped, e.g. a padding id of 0. Their columns stay.
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
    UnknownValueError
        An element is not in `categories`, and "error" was passed. This is a ValueError.
    ValueError
        Both `depth` and `categories` are passed, or no depth can be inferred; `weights` are not
        one for each element; the offsets decrease or exceed the number of elements; an option has
        an unknown value; an integer is out of range, and "error" was passed.
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
    is_strict = out_of_range == "error"
    if handle_unknown is not None:
        _check_handle_unknown(handle_unknown, categories, out_of_range)
        is_strict = handle_unknown == "error"
    element = _element(dtype, mode, is_weighted=weights is not None)
    ragged = Rows.read(rows, offsets, sep, has_last=include_last_offset)
    if categories is not None and depth is not None:
        raise ValueError("depth and categories cannot be combined: pass one of them")
    if categories is None:
        coded = _classes(ragged, depth, ignore_index)
    else:
        coded = _labelled(ragged, categories, ignore_index)
    if is_strict:
        _check_classes(ragged, coded, "handle_unknown" if handle_unknown else "out_of_range")
    shape = len(ragged.offsets) - 1, coded.n_features
    if weights is not None:
        return _weighted(ragged, coded, weights, shape, element, output)
    coded.offsets = ragged.offsets
    if output not in SPARSE_CLASSES:
        if mode == "count":
            return write.counts(coded, element)
        return write.rows([coded], element, num_threads=num_threads)
    if mode == "set":
        return write.sparse_array(output, [coded], element)
    is_csc = SPARSE_CLASSES[output].startswith("csc")
    matrix = wrap_sparse("csr" if is_csc else output, write.counts_csr(coded, element), shape)
    return matrix.tocsc() if is_csc else matrix


def _check_handle_unknown(handle_unknown: str, categories: Any, out_of_range: str) -> None:
    """Raise an error if `handle_unknown` is invalid beside the other options."""
    check_choice(handle_unknown, "handle_unknown", ("ignore", "error"))
    if categories is None:
        raise TypeError("handle_unknown needs categories; for a depth, pass out_of_range")
    if out_of_range != "ignore":
        raise TypeError("out_of_range cannot be combined with handle_unknown: pass one of them")


def _element(dtype: npt.DTypeLike | None, mode: str, *, is_weighted: bool) -> np.dtype[Any]:
    """Return the dtype of the result, or raise an error if it is invalid for `mode`."""
    if is_weighted and mode != "count":
        raise ValueError(f"weights need mode='count', which adds them up, got mode={mode!r}")
    element = np.dtype(np.float32) if dtype is None else number_dtype(dtype, "dtype")
    if mode == "count" and element not in COUNTABLE:
        raise TypeError(
            f"dtype must be an integer, float32 or float64 for mode='count', got {element}"
        )
    if is_weighted and element.kind != "f":
        raise TypeError(f"dtype must be float32 or float64 for weights, got {element}")
    return element


def _classes(ragged: Rows, depth: Any, ignore_index: Any) -> CodedColumn:
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
    if ignore_index is not None:
        ignored = indices_of(ignore_index, "ignore_index", "an integer or several integers")
        codes = _without(
            codes, np.isin(codes, [each for each in ignored if fits(each, codes.dtype)])
        )
    n_classes = resolve_depth(depth, codes, None)
    if n_classes > MAX_DEPTH:
        raise ValueError(f"depth must be at most {MAX_DEPTH}, got {n_classes}")
    return CodedColumn(codes, None, n_classes)


def _without(codes: AnyArray, is_ignored: npt.NDArray[np.bool_]) -> AnyArray:
    """Return codes in which -1, a missing element, replaces some of them."""
    if not is_ignored.any():
        return codes
    if codes.dtype == np.uint64:  # integers beyond int64 stay out of range: no depth is as large
        codes = np.minimum(codes, np.uint64(np.iinfo(np.int64).max))
    return np.where(is_ignored, -1, codes.astype(np.int64))


def _labelled(ragged: Rows, categories: Any, ignore_index: Any) -> CodedColumn:
    """Return scalar elements as a column for the kernels; classes are positions in `categories`."""
    if isinstance(categories, str) and categories == "auto":
        raise ValueError("categories must not be 'auto'; pass distinct_labels(rows) instead")
    known = distinct_scalars(categories)
    column = read_column(ragged.elements).encode()
    found = Categories.of(column.stored)
    features, codes = Categories.of(known).find(found), column.codes
    if ignore_index is not None:
        present = [item for item in ignored_elements(ignore_index) if not is_missing(item)]
        is_ignored = np.append(Categories.distinct(present)[0].find(found) >= 0, False)
        codes = _without(codes, is_ignored[np.where(codes < 0, -1, codes)])
    return CodedColumn.of_positions(codes, features, len(known))


def _weighted(
    ragged: Rows,
    coded: CodedColumn,
    weights: Any,
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    output: str,
) -> Any:
    """Return the sums of the weights of each class in each row."""
    offsets = ragged.offsets
    lengths = np.diff(offsets)
    given = _flat_weights(weights, lengths, len(coded.codes))
    if offsets[0] < 0 or offsets[-1] > len(given) or (lengths < 0).any():
        raise ValueError(f"offsets must not decrease and be in [0, {len(given)}]")
    used = slice(int(offsets[0]), int(offsets[-1]))
    features = coded.features()[used]
    is_class = (features >= 0) & (features < shape[1])
    rows = np.repeat(np.arange(shape[0]), lengths)[is_class]
    columns = features[is_class].astype(np.int64)
    sums = given[used][is_class].astype(dtype)
    if output in SPARSE_CLASSES:
        sparse = library("scipy.sparse", f"output={output!r}")
        return getattr(sparse, SPARSE_CLASSES[output])(
            sparse.coo_array((sums, (rows, columns)), shape)
        )
    check_size(shape, dtype)
    out = np.zeros(shape, dtype)
    np.add.at(out.reshape(-1), rows * shape[1] + columns, sums)
    return out


def _flat_weights(weights: Any, lengths: npt.NDArray[np.int64], n_elements: int) -> AnyArray:
    """Return one weight for each element; they may be flat, or in rows like the elements."""
    if isinstance(weights, list | tuple) and any(map(is_container, weights)):
        rows = [as_array(row, f"weights[{i}]") for i, row in enumerate(weights)]
        flat = np.concatenate([row.reshape(-1) for row in rows])
        is_like_elements = [row.shape for row in rows] == [(length,) for length in lengths.tolist()]
        form = f"rows of shapes {shown([row.shape for row in rows])}"
    else:
        array = as_array(weights, "weights")
        flat = array.reshape(-1)
        is_matrix = array.ndim == 2 and len(array) == len(lengths)
        is_like_elements = array.ndim == 1 or (
            is_matrix and bool((lengths == array.shape[1]).all())
        )
        form = f"shape {array.shape}"
    if is_like_elements and flat.size == n_elements and flat.dtype.kind in "biuf":
        return flat
    raise ValueError(
        f"weights must be real numbers, one for each element: of shape {(n_elements,)}, or in"
        f" {number_of(len(lengths), 'row')} like the elements, got dtype {flat.dtype} and {form}"
    )


def _check_classes(ragged: Rows, coded: CodedColumn, option: str) -> None:
    """Raise an error for the first element that is not a class; `option` asked for the check."""
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
    found = f"rows[{row}][{place}] must be"
    remedy = f"pass {option}='ignore' to skip such elements, or list them in ignore_index"
    if coded.lut is None:
        raise ValueError(f"{found} in [0, {coded.n_features}), got {plain(value)!r}; {remedy}")
    raise UnknownValueError(f"{found} one of the categories, got {plain(value)!r}; {remedy}")


def distinct_labels(
    rows: Any, *, offsets: Any = None, include_last_offset: bool = True, sep: str | None = None
) -> AnyArray:
    """Return the sorted distinct elements of ragged rows, as `categories` for `multi_hot`.

    Parameters
    ----------
    rows, offsets, include_last_offset, sep
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
    ragged = Rows.read(rows, offsets, sep, has_last=include_last_offset)
    column = read_column(ragged.elements).encode()
    used = column.codes[int(ragged.offsets[0]) : int(ragged.offsets[-1])]
    occurring = np.flatnonzero(CodedColumn(used, None, column.n_categories).counts())
    labels = Categories.of(column.stored).take(occurring)
    return labels.take(labels.argsort()).to_array()
