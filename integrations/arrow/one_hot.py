"""One column of Arrow, one-hot encoded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from onehot_fast import tensor
from onehot_fast._arguments.indices import require_word, resolve_depth
from onehot_fast._categories.keys import as_array, in_order, keys, plain
from onehot_fast._categories.options import number_dtype
from onehot_fast._categories.schema import Schema
from onehot_fast._encode.outputs import Coded
from onehot_fast._runtime import dispatch, parallel
from onehot_fast.integrations.arrow import buffers
from onehot_fast.integrations.arrow.batches import batch_of
from onehot_fast.integrations.arrow.classes import column_of, given_classes
from onehot_fast.integrations.arrow.incoming import as_column
from onehot_fast.integrations.arrow.layouts import LAYOUTS, Layout, block, feature_fields, form_of
from onehot_fast.integrations.arrow.read import ColumnReader, integer_codes
from onehot_fast.integrations.arrow.result import OneHotArray
from onehot_fast.integrations.arrow.values import storage

__all__ = ["one_hot"]

AnyArray: TypeAlias = npt.NDArray[Any]
NO_CODES = np.empty(0, np.int8)


def one_hot(
    array: Any,
    *,
    categories: Any = None,
    depth: Any = None,
    layout: Layout = "tensor",
    dtype: npt.DTypeLike = np.uint8,
) -> OneHotArray:
    """Return the one-hot encoding of a column.

    Parameters
    ----------
    array : Array, ChunkedArray, or an object with the Arrow PyCapsule interface, of n_rows
        Null and NaN are missing.
    categories : sequence of scalars, or Array, optional
        The classes in their order; by default those of the dictionary, in its order, or the values
        that occur, sorted.
    depth : int, optional
        The integers of `array` are the classes themselves, and there are so many of them.
    layout : {"tensor", "fixed_size_list", "struct", "columns", "dictionary"}, default "tensor"
        "tensor" (of one dimension) and "fixed_size_list" are rows in memory, and of bytes where the
        dtype is bool. The fields of "struct" and "columns" are named by the classes; their Booleans
        are bits. "dictionary" has the classes as its values, and is encoded only when NumPy or
        DLPack ask for the matrix.
    dtype : dtype_like, default uint8
        Of the elements: bool, an integer or a float.

    Returns
    -------
    OneHotArray of n_rows
        Of which none is null: what is missing, or no class, is off everywhere (and null in a
        dictionary).

    Raises
    ------
    TypeError
        `array` offers no Arrow data, or a type that cannot be encoded; it does not hold integers
        where a `depth` is given; or an argument is of the wrong kind.
    ValueError
        Both `categories` and `depth` are given; two classes are equal or, as fields, of one name;
        an index is outside its dictionary.
    MemoryError
        The result is larger than the free memory. Nothing has been allocated.

    Examples
    --------
    >>> import pyarrow as pa
    >>> sizes = pa.array(["M", "S", None]).dictionary_encode()
    >>> one_hot(sizes, layout="struct", dtype=bool).to_arrow().to_pylist()[0]
    {'M': True, 'S': False}
    >>> pa.array(one_hot(pa.array([2, 0, 7]), depth=3)).to_numpy_ndarray()
    array([[0, 0, 1],
           [1, 0, 0],
           [0, 0, 0]], dtype=uint8)
    """
    require_word(layout, "layout", LAYOUTS)
    element = number_dtype(dtype, "dtype").newbyteorder("=")
    buffers.arrow_type(element)
    found = _classes(array, categories, depth)
    if layout in ("columns", "struct", "dictionary"):
        return _by_class(found, layout, element)
    element = np.dtype(np.uint8) if element == np.bool_ else element
    matrix = tensor.one_hot(found.codes, len(found.categories), dtype=element)
    wrap = buffers.tensors if layout == "tensor" else buffers.fixed_size_lists
    return OneHotArray(wrap(matrix), element, found.categories, matrix)


class Classes(NamedTuple):
    """The class of each row, negative or too large for none, and what the classes stand for."""

    codes: npt.NDArray[np.integer[Any]]
    categories: AnyArray | range


def _classes(array: Any, categories: Any, depth: Any) -> Classes:
    """Return the classes by whichever argument tells them."""
    if categories is not None and depth is not None:
        raise ValueError("depth and categories are both given; accepted is one of them")
    values = as_column(array)
    if depth is not None:
        codes = integer_codes(values)
        return Classes(codes, range(resolve_depth(depth, NO_CODES, None)))
    column = ColumnReader().read(values)
    if categories is None and pa.types.is_dictionary(storage(values).type):
        return Classes(column.codes, column.categories)
    if categories is None:
        return _among(column, in_order(map(plain, column.categories)))
    return _among(column, given_classes(categories))


def _among(column: Any, known: Sequence[Any]) -> Classes:
    """Return the classes of values that are looked up."""
    places = {key: at for at, key in enumerate(keys(known))}
    found = [places.get(key, -1) for key in keys(map(plain, column.categories))]
    table = np.array([*found, -1], np.int32)
    threads = parallel.resolve(None, column.codes.nbytes)
    return Classes(dispatch.recode(column.codes, table, threads), as_array(known))


def _by_class(found: Classes, layout: Layout, element: np.dtype[Any]) -> OneHotArray:
    """Return a form in which every class has a name or a value of its own."""
    column = column_of(found.categories, element)
    labels = column.labels
    table = np.append(np.arange(len(labels), dtype=np.int32), np.int32(-1))
    coded = Coded(Schema((column,)), [found.codes], [table], len(found.codes))
    if layout == "columns":
        fields = pa.schema(feature_fields(column))
        rows: Any = batch_of(block(coded, 0, 1), fields, coded.n_rows)
    else:
        rows = form_of(column, layout).build(coded)
    return OneHotArray(rows, element, found.categories)
