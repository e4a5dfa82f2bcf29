"""The functions `one_hot` and `decode` on arrays.

Both functions check types, shapes, ranges and the size, in this order, before they allocate memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias, TypedDict, TypeVar, Unpack, overload

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments import fastpath, scatter
from onehot_fast._arguments.arraylikes import as_array
from onehot_fast._arguments.checks import check_choice, check_options, max_positional
from onehot_fast._arguments.indices import (
    as_contiguous,
    as_indices,
    as_integer,
    check_range,
    mark_ignored,
    resolve_depth,
)
from onehot_fast._arguments.messages import number_of, with_article
from onehot_fast._arguments.shapes import (
    Dimension,
    check_size,
    insert_depth,
    known_depth,
    known_dimensions,
    normalize_axis,
)
from onehot_fast._arguments.values import as_element, require_bytes, resolve_values, smoothed_values
from onehot_fast._kernels import dispatch
from onehot_fast._runtime import memory, parallel

__all__ = ["decode", "empty", "infer_shape", "one_hot"]

_BLOCK = 1 << 18  # the number of elements that one NumPy call searches

AnyArray: TypeAlias = npt.NDArray[Any]
Scalar = TypeVar("Scalar", bound=np.generic)


class _Default(str):
    """A default value that can be distinguished from an equal value that was passed."""

    __slots__ = ()


_IGNORE: Any = _Default("ignore")


class _OneHotKeywords(TypedDict, total=False):
    """The keywords of `one_hot` that do not change the type of its result."""

    categories: Any
    handle_unknown: Literal["error", "ignore"] | None
    on_value: Any
    off_value: Any
    axis: int
    negative_indices: Literal["ignore", "normalize", "error"]
    out_of_range: Literal["ignore", "error"]
    ignore_index: Any
    label_smoothing: float
    num_threads: int | None


@overload
def one_hot(
    indices: Any,
    depth: Any = ...,
    *,
    out: npt.NDArray[Scalar],
    dtype: npt.DTypeLike | None = None,
    **keywords: Unpack[_OneHotKeywords],
) -> npt.NDArray[Scalar]: ...
@overload
def one_hot(
    indices: Any,
    depth: Any = ...,
    *,
    dtype: type[Scalar] | np.dtype[Scalar],
    out: None = None,
    **keywords: Unpack[_OneHotKeywords],
) -> npt.NDArray[Scalar]: ...
@overload
def one_hot(
    indices: Any,
    depth: Any = ...,
    *,
    dtype: npt.DTypeLike | None = None,
    out: None = None,
    **keywords: Unpack[_OneHotKeywords],
) -> npt.NDArray[Any]: ...
def one_hot(
    indices: Any,
    depth: Any = ...,  # required without categories; unknown keywords are reported first
    *,
    categories: Any = None,
    handle_unknown: Literal["error", "ignore"] | None = None,
    on_value: Any = 1,
    off_value: Any = 0,
    axis: int = -1,
    dtype: npt.DTypeLike | None = None,
    negative_indices: Literal["ignore", "normalize", "error"] = _IGNORE,
    out_of_range: Literal["ignore", "error"] = _IGNORE,
    ignore_index: Any = None,
    label_smoothing: float = 0.0,
    out: npt.NDArray[Any] | None = None,
    num_threads: int | None = None,
    **unknown: Any,
) -> npt.NDArray[Any]:
    """Return the one-hot encoding of indices, or of elements of any type.

    The result has the shape of the indices with a new dimension of size `depth` at `axis`. Along
    this dimension, the position given by the index is `on_value` and all others are `off_value`
    (ONNX OneHot-11, OpenVINO OneHot-1). An index out of range becomes a row of `off_value`. If the
    labels are not 0, 1, 2, ..., pass `categories` instead of `depth`: the position of a label is
    its position in `categories`.

    Parameters
    ----------
    indices : array_like of integer or float, of any shape; with `categories`, of any type
        A NumPy array, a (nested) sequence or one number, or an object with the array, buffer or
        DLPack protocol. Integers have 8 to 64 bits. float16, float32 and float64 are truncated
        toward zero to int64 (ONNX OneHot-11, Inputs): 1.9 is class 1, -0.5 is class 0; NaN,
        infinities and numbers beyond int64 are out of range. An object array is accepted if all its
        elements are integers. Any strides and byte order are accepted, and the indices are never
        changed. With `categories`: Booleans, integers, floats, strings, bytes, datetimes and other
        scalars, also mixed in nested sequences, columns of pandas, polars and Arrow, and masked
        arrays, whose masked elements are missing. If the categories are colours, the last axis has
        the channels of one colour (it may be a view with any strides, which is copied); a pixel
        with a masked channel is missing.
    depth : int, float, array of one element, or None
        The number of classes, truncated toward zero, at least 0. None means 1 + the largest index,
        or 0 if all indices are negative; ignored indices do not count.
    categories : array_like or sequence of scalars, or of colours, optional
        The classes in order, instead of `depth`. Elements are compared by value: 1, 1.0 and True
        are one category, "1" is another one, and the float32 0.1 is not the float 0.1. None, NaN,
        NaT, NA and masked elements are one category, if `categories` contains one of them, and
        otherwise unknown.
        Numbers in two dimensions, of shape ``(n_classes, n_channels)``, are colours, also as a list
        of tuples. They have up to 16 channels. `distinct_classes` returns the classes of an array.
    handle_unknown : {"error", "ignore"}, optional
        Whether an element that is no category raises an error, which is the default, or becomes a
        row of `off_value`. It needs `categories`.
    on_value, off_value : scalar, default 1 and 0
        The elements of the result, copied bit for bit. A *typed* value (a NumPy scalar, a 0-D
        array) keeps its dtype. Any other value is converted to the dtype of the result: 0.1 is
        rounded to float32, but 1.5 is rejected for integers, 300 for uint8 and 1e39 for float32. A
        value that is not a tuple fills every field of a structured dtype.
    axis : int, default -1
        The position of the new dimension in the *result*, from ``-r - 1`` to ``r`` for indices of
        rank ``r`` (ONNX OneHot-11, Attributes).
    dtype : dtype_like, optional
        The dtype of the result: any NumPy dtype, in any byte order, or a dtype that ml_dtypes
        registers. The default is the dtype of the typed values, else the dtype of `out`. Without
        both, it is bool for two bools, float32 for real numbers, complex128 for complex numbers,
        and a string dtype as wide as the longer value for two str or two bytes. Other Python
        objects need ``dtype=object``. ``"S"``, ``"U"``, ``"V"`` and ``"M8"`` get their width or
        unit from the values.
    negative_indices : {"ignore", "normalize", "error"}, default "ignore"
        "ignore" encodes a negative index as a row of `off_value` (OpenVINO OneHot-1). "normalize"
        counts it from the end: -1 is the last class (ONNX OneHot-11), and an index below ``-depth``
        is out of range. "error" raises an error. Not for `categories`.
    out_of_range : {"ignore", "error"}, default "ignore"
        Whether an index >= `depth`, NaN or an infinity becomes a row of `off_value` or raises an
        error. "error" also rejects a float with a fraction, such as 1.2 and -0.5. Not for
        `categories`.
    ignore_index : int, or array_like or set of int; with `categories`, of elements, optional
        These indices become rows of `off_value`, before `negative_indices` and `out_of_range`
        apply. PyTorch's losses have an option of the same name. Beside `categories`, these are
        elements, or one or several colours; a category among them keeps its position. ``[None]``
        names the missing elements, and the pixels with NaN or a masked channel; None alone, the
        default, names no element.
    label_smoothing : float, default 0.0
        A number ``s`` in [0, 1): the values are ``1 - s + s / depth`` and ``s / depth`` instead of
        1 and 0, so that a row still sums to 1. The dtype must be a float. An ignored or invalid
        index becomes a row of ``s / depth``: exclude such rows from the loss.
    out : ndarray, optional
        The array to write the result to. It must have the shape and dtype of the result, be
        writable and not overlap the indices; any strides are accepted. It is unchanged after an
        error, unless an element is unknown: its content is then undefined.
    num_threads : int, optional
        The number of threads. By default, it depends on the size of the result.

    Returns
    -------
    ndarray
        A new array in C order, or `out` itself.

    Raises
    ------
    TypeError
        `indices` has a dtype that is not listed above, such as bool, or is a masked array without
        `categories`; `depth` or `ignore_index` is not a number; a value has the wrong type for the
        dtype; typed values, `dtype` and `out` have different dtypes; `categories` is text, a set or
        a mapping, or is combined with `depth`, `negative_indices` or `out_of_range`.
    UnknownValueError
        An element is no category. This is a ValueError; the message names the first elements and
        where they are.
    ValueError
        `depth` is negative, not finite, has more than one element, or is None and there are no
        indices; `axis` is out of range; an option is invalid or rejects an index (the message names
        the first such index in C order); the dtype cannot hold a value; `out` has the wrong shape
        or overlaps the indices; the result has more dimensions or bytes than an array can have; two
        categories are equal; the last axis has another number of channels than the colours.
    MemoryError
        The result is larger than the free memory. Nothing has been allocated.

    Examples
    --------
    >>> import numpy as np
    >>> import onehot_fast
    >>> onehot_fast.one_hot([0, 2, -1], 3)
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 0., 0.]], dtype=float32)
    >>> onehot_fast.one_hot([0, 2, -1], 3, dtype=bool, negative_indices="normalize", axis=0)
    array([[ True, False, False],
           [False, False, False],
           [False,  True,  True]])
    >>> onehot_fast.one_hot([[3, 300]], 21, out_of_range="error")
    Traceback (most recent call last):
        ...
    ValueError: indices[0, 1] must be in [0, 21), got 300
    >>> onehot_fast.one_hot([[3, 255]], 4, ignore_index=255, out_of_range="error", dtype="uint8")
    array([[[0, 0, 0, 1],
            [0, 0, 0, 0]]], dtype=uint8)
    >>> onehot_fast.one_hot([0, 1], 2, label_smoothing=0.1)
    array([[0.95, 0.05],
           [0.05, 0.95]], dtype=float32)
    >>> onehot_fast.one_hot([1, 0], 2, on_value="yes", off_value="no")
    array([['no', 'yes'],
           ['yes', 'no']], dtype='<U3')
    >>> onehot_fast.one_hot([7, 11, 8], categories=[7, 8, 11])
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    >>> onehot_fast.one_hot(list("AGT"), categories=list("ACGT"), dtype="uint8")
    array([[1, 0, 0, 0],
           [0, 0, 1, 0],
           [0, 0, 0, 1]], dtype=uint8)

    Notes
    -----
    For the labels of a model, pass ``out_of_range="error", negative_indices="error"``. By default,
    a wrong label becomes a row of zeros, and the model is trained with this row without a warning.
    """
    if unknown:  # not in a decorator, whose overhead would exceed the time of a small call
        check_options(unknown, _OneHotKeywords.__annotations__.keys() | {"depth", "dtype", "out"})
    if (
        categories is None
        and handle_unknown is None
        and ignore_index is None
        # A small result is written by one thread.
        and (num_threads is None or (type(num_threads) is int and num_threads == 1))
        and (negative_indices is _IGNORE or negative_indices == "ignore")
        and (out_of_range is _IGNORE or out_of_range == "ignore")
    ):
        small = fastpath.one_hot_small(
            indices, depth, on_value, off_value, label_smoothing, axis, dtype, out
        )
        if small is not None:
            return small
    if categories is not None or handle_unknown is not None:
        _check_alternatives(depth, categories, negative_indices, out_of_range)
        labels: _Indices | _Elements = _Elements(indices, categories, handle_unknown, ignore_index)
    elif depth is ...:
        raise TypeError(
            "one_hot() requires depth, the number of classes, or categories, the classes in order:"
            " one_hot(indices, depth)"
        )
    else:
        labels = _Indices(indices, depth, negative_indices, out_of_range, ignore_index)
    default = out.dtype if isinstance(out, np.ndarray) else None
    element, on, off = resolve_values(on_value, off_value, dtype, default)
    rank = len(labels.shape)
    position = normalize_axis(axis, rank + 1, "indices", rank)
    n_classes = labels.count_classes()
    if type(label_smoothing) is not float or label_smoothing != 0:
        on, off = smoothed_values(label_smoothing, n_classes, element, on_value, off_value)
    shape = insert_depth(labels.shape, n_classes, position)
    threads = parallel.resolve(num_threads, math.prod(shape) * element.itemsize)
    cells = None if out is None else scatter.check_out(out, shape, element, [labels.source])
    labels.check(n_classes)
    zeroed = False
    if cells is None:
        cells, zeroed = _allocate(shape, element)
    is_plain = cells.flags.c_contiguous and not element.hasobject
    target = cells
    if not is_plain:  # the kernel writes a mask, with which NumPy fills the cells
        target, zeroed = _allocate(shape, np.dtype(np.bool_))
    labels.encode(
        target,
        n_classes,
        math.prod(labels.shape[position:]),
        on if is_plain else np.array(True),
        off if is_plain else np.array(False),
        threads,
        zeroed,
    )
    if not is_plain:
        scatter.fill(cells, target, on, off)
    return cells if out is None else out


def _check_alternatives(
    depth: Any, categories: Any, negative_indices: Any, out_of_range: Any
) -> None:
    """Raise an error for options of labels that are numbers, beside options of categories."""
    if categories is None:
        raise TypeError("handle_unknown needs categories; for a depth, pass out_of_range")
    if depth is not ...:
        raise TypeError("depth and categories cannot be combined: pass one of them")
    given = {"negative_indices": negative_indices, "out_of_range": out_of_range}
    for name, value in given.items():
        if value is not _IGNORE:
            raise TypeError(
                f"{name} cannot be combined with categories: pass handle_unknown='error' or"
                " 'ignore' for elements that are no category"
            )


class _Indices:
    """Labels that are the numbers of their classes."""

    __slots__ = ("_depth", "_negative", "_out_of_range", "array", "ignored", "shape", "source")

    def __init__(
        self, indices: Any, depth: Any, negative_indices: Any, out_of_range: Any, ignore_index: Any
    ) -> None:
        self.source = as_array(indices)
        self.array, self.ignored = mark_ignored(as_indices(self.source), ignore_index)
        self.shape = self.array.shape
        self._depth = depth
        self._negative = check_choice(
            negative_indices, "negative_indices", ("ignore", "normalize", "error")
        )
        self._out_of_range = check_choice(out_of_range, "out_of_range", ("ignore", "error"))

    def count_classes(self) -> int:
        """Return the number of classes; it may have to search the labels."""
        return resolve_depth(self._depth, self.array, self.ignored)

    def check(self, n_classes: int) -> None:
        """Raise an error for the first label that the options reject."""
        check_range(
            self.array, self.source, n_classes, self._negative, self._out_of_range, self.ignored
        )

    def encode(
        self,
        out: AnyArray,
        depth: int,
        inner: int,
        on: AnyArray,
        off: AnyArray,
        num_threads: int,
        zeroed: bool,
    ) -> None:
        """Write the result to `out`, of shape (outer, depth, inner)."""
        wrap = self._negative == "normalize"
        dispatch.encode(
            self.array, out, depth, inner, on, off, wrap, self.ignored, num_threads, zeroed
        )


class _Elements:
    """Elements of any type, whose classes are listed in order."""

    def __init__(self, array: Any, categories: Any, handle_unknown: Any, ignore_index: Any) -> None:
        # The module is imported here, because most calls do not need it.
        from onehot_fast._categories.classes import read_classes
        from onehot_fast._categories.elements import Elements

        check_choice(handle_unknown or "error", "handle_unknown", ("error", "ignore"))
        self._is_strict = handle_unknown != "ignore"
        self._classes = read_classes(categories, ignore_index)
        self._elements = Elements.read(array, "indices")
        self.shape = self._classes.shape_of(self._elements.shape, "indices")
        self._coded = self._classes.code(self._elements, "indices")
        array = self._elements.array
        self.source = self._coded.integers if array is None else array

    def count_classes(self) -> int:
        """Return the number of classes."""
        return len(self._classes)

    def check(self, n_classes: int) -> None:
        """Check nothing: the kernel finds unknown elements while it writes the result."""

    def encode(
        self,
        out: AnyArray,
        depth: int,
        inner: int,
        on: AnyArray,
        off: AnyArray,
        num_threads: int,
        zeroed: bool,
    ) -> None:
        """Write the result to `out`; then raise an error if an element has no class."""
        coded = self._coded
        has_unknown = dispatch.encode_integers(
            coded.integers, coded.lut, coded.low, coded.values, out, depth, inner, on, off,
            num_threads, zeroed,
        )  # fmt: skip
        if self._is_strict and (has_unknown or not depth):
            from onehot_fast._categories.classes import unknown_message
            from onehot_fast._reports.unknown import UnknownValueError

            message = unknown_message(self._classes, self._elements, coded, self.shape, "indices")
            if message:
                raise UnknownValueError(message)


def _allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[npt.NDArray[Any], bool]:
    """Return a new array and whether its memory is known to be all zeros; check its size first."""
    check_size(shape, dtype)
    return memory.allocate(shape, dtype)


@overload
def decode(
    tensor: Any,
    axis: int = -1,
    *,
    categories: None = None,
    on_value: Any = 1,
    default: int | Literal["error"] = ...,
    multiple: Literal["error", "first"] = "error",
    rule: Literal["exact", "argmax"] = "exact",
) -> npt.NDArray[np.int64]: ...
@overload
def decode(
    tensor: Any,
    axis: int = -1,
    *,
    categories: Any,
    on_value: Any = 1,
    default: Any = ...,
    multiple: Literal["error", "first"] = "error",
    rule: Literal["exact", "argmax"] = "exact",
) -> npt.NDArray[Any]: ...
@max_positional(2, "pass the options after decode(tensor, axis) by keyword")
def decode(
    tensor: Any,
    axis: int = -1,
    *,
    categories: Any = None,
    on_value: Any = 1,
    default: Any = ...,
    multiple: Literal["error", "first"] = "error",
    rule: Literal["exact", "argmax"] = "exact",
) -> npt.NDArray[Any]:
    """Return the class of each row of a one-hot tensor: the inverse of `one_hot`.

    The classes are the numbers of their positions, or the elements of `categories`.

    Elements are compared with `on_value`. Unlike argmax, `decode` distinguishes a row of zeros from
    class 0, and `on_value` may be smaller than the other elements. For scores and probabilities,
    pass ``rule="argmax"``.

    Parameters
    ----------
    tensor : array_like of any dtype, of rank 1 or higher
        Elements are equal if their bits are equal: -0.0 is not 0.0, and NaNs are equal only if
        their payloads are. Structures are compared field by field. Objects and the elements of a
        StringDType are equal if they are identical or ``==`` is True.
    axis : int, default -1
        The dimension of the classes, from ``-r`` to ``r - 1`` for a tensor of rank ``r``.
    categories : array_like or sequence of scalars, or of colours, optional
        The classes in order, as in `one_hot`.
    on_value : scalar, default 1
        The element that marks the class, converted to the dtype of the tensor as in `one_hot`.
    default : int or "error", or an element beside `categories`
        The result for a row whose elements are all equal and differ from `on_value`, such as a row
        of zeros. "error" rejects such rows. By default, it is -1, and "error" with `categories`.
        Beside `categories`, it must fit their dtype exactly; for colours, it is one colour.
    multiple : {"error", "first"}, default "error"
        Whether a row with several elements equal to `on_value` is rejected or gets the first class.
    rule : {"exact", "argmax"}, default "exact"
        "argmax" returns the class of the largest element, and the first class in case of ties, like
        `numpy.argmax` and ONNX's ArgMax; NaN counts as the largest. For "argmax", the tensor must
        contain Booleans, integers or floats, and `on_value`, `default` and `multiple` must keep
        their defaults.

    Returns
    -------
    ndarray
        The class indices as int64, in the shape of the tensor without `axis`. With `categories`,
        their elements, of the dtype of an array or of a column of numbers. Elements of a list are
        int64, bool, float64 or complex128 if all have this Python type and fit it, datetime64,
        float32 or another dtype if all are NumPy scalars of it (int64 for integers of any size),
        and otherwise object: text, bytes, dates, several types, and None among others. Colours are
        bool, int64, uint64 or float64; their channels are the last axis.

    Raises
    ------
    TypeError
        `tensor` is a masked array; `on_value` is typed and has another dtype, or has the wrong type
        for the dtype; `axis`, `default` or `categories` has the wrong type.
    ValueError
        `tensor` has rank 0; `axis` is out of range, or has not one position for each category; two
        categories are equal; the dtype cannot hold `on_value`; `default` or
        `multiple` is unknown or rejects a row; a row without `on_value` has elements that
        differ from each other. The message names the first such row in C order.
    MemoryError
        The result is larger than the free memory.

    Examples
    --------
    >>> import onehot_fast
    >>> onehot_fast.decode([[0, 1, 0], [0, 0, 0], [1, 0, 0]])
    array([ 1, -1,  0])
    >>> onehot_fast.decode([[0, 1], [1, 1]])
    Traceback (most recent call last):
        ...
    ValueError: tensor[1, :] has more than one element equal to on_value = 1

    Scores are decoded by their largest element:

    >>> softmax = [[0.2, 0.7, 0.1], [0.5, 0.3, 0.2]]
    >>> onehot_fast.decode(softmax)
    Traceback (most recent call last):
        ...
    ValueError: tensor[0, :] has no element equal to on_value = 1, but contains 0.2 and 0.7; pass \
rule='argmax' to decode scores
    >>> onehot_fast.decode(softmax, rule="argmax")
    array([1, 0])
    >>> onehot_fast.decode(softmax, rule="argmax", categories=["cat", "dog", "fox"])
    array(['dog', 'cat'], dtype=object)
    """
    check_choice(rule, "rule", ("exact", "argmax"))
    if hasattr(tensor, "tocoo"):
        raise TypeError(f"tensor must be dense, got {with_article(tensor)}: pass its .toarray()")
    cells = as_array(tensor, "tensor")
    position = _class_axis(axis, cells.ndim)
    if categories is not None:
        return _decode_to(
            categories, cells, position, on_value, default, multiple=multiple, rule=rule
        )
    default = -1 if default is ... else default
    if rule == "argmax":
        _check_argmax(on_value, type(default) is int and default == -1, multiple)
        return _largest(cells, position)
    check_choice(multiple, "multiple", ("error", "first"))
    return _exact(cells, position, on_value, _default_index(default), default == "error", multiple)


def _decode_to(
    categories: Any,
    cells: npt.NDArray[Any],
    axis: int,
    on_value: Any,
    default: Any,
    *,
    multiple: str,
    rule: str,
) -> npt.NDArray[Any]:
    """Return the category of each row."""
    # The module is imported here, because most calls do not need it.
    from onehot_fast._categories.classes import read_classes

    classes = read_classes(categories)
    if len(classes) != cells.shape[axis]:
        raise ValueError(
            f"tensor must have {number_of(len(classes), 'position')} on axis {axis}, one for each"
            f" category, got shape {cells.shape}"
        )
    if rule == "argmax":
        _check_argmax(on_value, default is ..., multiple)
        return classes.take(_largest(cells, axis), None)
    check_choice(multiple, "multiple", ("error", "first"))
    is_strict = default is ... or (isinstance(default, str) and default == "error")
    element = None if is_strict else classes.default_element(default)
    remedy = "; pass default= to decode such rows"
    return classes.take(_exact(cells, axis, on_value, -1, is_strict, multiple, remedy), element)


def _check_argmax(on_value: Any, is_default: bool, multiple: str) -> None:
    """Raise an error for options that the largest element does not need."""
    if type(on_value) is not int or on_value != 1 or not is_default or multiple != "error":
        raise TypeError("on_value, default and multiple cannot be used with rule='argmax'")


def _exact(
    cells: npt.NDArray[Any],
    axis: int,
    on_value: Any,
    default: int,
    is_strict: bool,
    multiple: str,
    remedy_of_empty: str = "",
) -> npt.NDArray[np.int64]:
    """Return the position of `on_value` in each row, or `default`; raise for rows without one.

    If `is_strict`, a row of equal elements without `on_value` raises an error, too, which ends with
    `remedy_of_empty`.
    """
    require_bytes(cells.dtype)
    on = as_element(on_value, cells.dtype, "on_value")
    classes, empty, several, uneven = _find(cells, axis, on, default)
    faults = []
    if is_strict and empty >= 0:
        faults.append((empty, "no", remedy_of_empty))
    if multiple == "error" and several >= 0:
        faults.append((several, "more than one", ""))
    if uneven >= 0:
        uneven, elements = _first_uneven(cells, axis, on, uneven)
    if uneven >= 0:
        remedy = f", but contains {elements}; pass rule='argmax' to decode scores"
        faults.append((uneven, "no", remedy))
    if faults:
        row, how_many, remedy = min(faults)
        place = _row_name(row, classes.shape, axis)
        raise ValueError(
            f"tensor{place} has {how_many} element equal to on_value = {on_value!r}{remedy}"
        )
    return classes


def _class_axis(axis: int, rank: int) -> int:
    """Return the axis of the classes in a tensor, counted from the front."""
    if rank == 0:
        raise ValueError("tensor must have rank 1 or higher, got rank 0")
    return normalize_axis(axis, rank, "a tensor", rank)


def _default_index(default: object) -> int:
    """Return `default` as an integer that fits int64; "error" becomes -1."""
    if isinstance(default, str):
        if default != "error":
            raise ValueError(f"default must be an integer or 'error', got {default!r}")
        return -1
    index = as_integer(default, "default", "an integer or 'error'")
    limits = np.iinfo(np.int64)
    if not limits.min <= index <= limits.max:
        raise ValueError(f"default must fit int64, the dtype of the result, got {index}")
    return index


def _find(
    cells: npt.NDArray[Any], axis: int, on: npt.NDArray[Any], default: int
) -> tuple[npt.NDArray[np.int64], int, int, int]:
    """Return the class of each row and the first invalid rows, like `scatter.decode`."""
    depth = cells.shape[axis]
    shape = cells.shape[:axis] + cells.shape[axis + 1 :]
    inner = math.prod(shape[axis:])
    check_size(shape, np.int64)
    if not cells.flags.c_contiguous:
        check_size(cells.shape, cells.dtype)  # `as_contiguous` will copy the cells
    cube = as_contiguous(cells).reshape(math.prod(shape[:axis]), depth, inner)
    classes, empty, several, uneven = scatter.decode(cube, on, None, default)
    return classes.reshape(shape), empty, several, uneven


def _first_uneven(
    cells: npt.NDArray[Any], axis: int, on: npt.NDArray[Any], row: int
) -> tuple[int, str]:
    """Return the index of the first row that may contain scores, and two of its elements as text.

    No element of such a row equals `on_value`, and the elements are not all equal. The index is -1
    if there is no such row. `row` is the first row whose elements differ in their bytes; they can
    still be equal, like 0.0 and -0.0.
    """
    if cells.dtype.kind not in "biufc" and cells.dtype.isbuiltin != 2:
        return row, "different elements"
    rows = np.atleast_2d(np.moveaxis(cells, axis, -1))
    classes = _find(cells, axis, on, -1)[0].reshape(-1)
    empty = row + np.flatnonzero(classes[row:] < 0)
    for start in range(0, len(empty), step := max(1, _BLOCK // cells.shape[axis])):
        block = rows[np.unravel_index(empty[start : start + step], rows.shape[:-1])]
        first = block[:, :1]
        differs = (block != first) & ((block == block) | (first == first))
        if differs.any():
            i, j = np.unravel_index(differs.argmax(), differs.shape)
            return int(empty[start + i]), f"{block[i, 0]} and {block[i, j]}"
    return -1, ""


def _largest(cells: npt.NDArray[Any], axis: int) -> npt.NDArray[np.int64]:
    """Return the position of the largest element of each row, like `numpy.argmax`."""
    if cells.dtype.kind not in "buif" and cells.dtype.isbuiltin != 2:
        raise TypeError(
            "tensor must contain Booleans, integers or floats for rule='argmax', got dtype"
            f" {cells.dtype}"
        )
    moved = np.moveaxis(cells, axis, -1)
    shape = moved.shape[:-1]
    check_size(shape, np.int64)
    if not moved.shape[-1] and math.prod(shape):
        raise ValueError(f"tensor must have at least one class, got shape {cells.shape}")
    classes = np.empty(shape, np.int64)
    if not shape or not classes.size:
        return np.asarray(np.argmax(moved, -1)) if not shape else classes
    # NumPy copies an array if its classes are not in the last dimension: blocks limit the copy.
    step = max(1, _BLOCK * len(classes) // moved.size)
    for start in range(0, len(classes), step):
        block = slice(start, start + step)
        np.argmax(moved[block], -1, out=classes[block])
    return classes


def _row_name(row: int, shape: tuple[int, ...], axis: int) -> str:
    """Return the index expression of a row of a tensor, such as "[2, :, 5]"."""
    where = [*map(str, np.unravel_index(row, shape))]
    return f"[{', '.join([*where[:axis], ':', *where[axis:]])}]"


def infer_shape(
    indices_shape: Sequence[Dimension] | None,
    depth: Any = ...,
    axis: int = -1,
    *,
    categories: Any = None,
) -> tuple[Dimension, ...] | None:
    """Infer the shape of the result of `one_hot` from indices whose dimensions may be unknown.

    Parameters
    ----------
    indices_shape : sequence of (int, str or None), or None
        Known (int), symbolic (str) and unknown (None or -1) dimensions; None if the rank is
        unknown.
    depth : int, float, array of one element, str or None
        A number as in `one_hot`. A str is a symbolic dimension. None or an empty array means that
        the depth is unknown.
    categories : array_like or sequence of scalars, or of colours, optional
        The classes in order, instead of `depth`. If they are colours, the last dimension of
        `indices_shape` is that of the channels.
    axis : int, default -1
        The position of the new dimension in the output.

    Returns
    -------
    tuple of (int, str or None), or None
        None if `indices_shape` is None.

    Raises
    ------
    TypeError
        A dimension, `depth` or `axis` has the wrong type, for example bool; not exactly one of
        `depth` and `categories` is passed.
    ValueError
        A dimension is below -1; `depth` is negative, NaN or infinite; or `axis` is out of range.

    Examples
    --------
    >>> infer_shape(("batch", 28, None), 10, axis=1)
    ('batch', 10, 28, None)
    >>> infer_shape((4,), None)
    (4, None)
    >>> infer_shape((-1, 512, 512, 3), axis=1, categories=[(0, 0, 0), (255, 0, 0)])
    (None, 2, 512, 512)
    >>> infer_shape(None, 10) is None
    True
    """
    if (depth is ...) == (categories is None):
        raise TypeError("infer_shape() requires either depth or categories")
    dimensions = None if indices_shape is None else known_dimensions(indices_shape)
    if categories is None:
        size = known_depth(depth)
    else:
        # The module is imported here, because most calls do not need it.
        from onehot_fast._categories.classes import read_classes

        classes = read_classes(categories)
        size = len(classes)
        if dimensions is not None:
            dimensions = classes.shape_of(dimensions, "indices")
    if dimensions is None:
        as_integer(axis, "axis")
        return None
    position = normalize_axis(axis, len(dimensions) + 1, "indices", len(dimensions))
    return insert_depth(dimensions, size, position)


def empty(shape: int | Sequence[int], dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    """Return an uninitialised array that you can reuse as ``out=`` in many calls.

    The array is aligned to 64 bytes. A large array uses huge pages, if the system offers them.
    Without huge pages, for example in an array from `numpy.empty`, the first write can take several
    times as long.

    Parameters
    ----------
    shape : int or sequence of int
        The shape, as `infer_shape` returns it.
    dtype : dtype_like, default float32
        The dtype of the elements.

    Returns
    -------
    ndarray
        A C-contiguous array of `shape` and `dtype` with arbitrary elements.

    Raises
    ------
    TypeError
        `shape` does not consist of integers, or `dtype` is not a dtype.
    ValueError
        A dimension is negative, or the rank or the size exceeds the limits of NumPy.
    MemoryError
        The array is larger than the free memory.

    See Also
    --------
    empty_cache : Return cached memory to the operating system.

    Examples
    --------
    >>> from onehot_fast import empty, one_hot
    >>> batch = empty((2, 3), "int8")
    >>> one_hot([2, 0], 3, out=batch)
    array([[0, 0, 1],
           [1, 0, 0]], dtype=int8)
    """
    sizes = (shape,) if isinstance(shape, SupportsIndex) else tuple(shape)
    dimensions = tuple(as_integer(size, "shape") for size in sizes)
    if any(size < 0 for size in dimensions):
        raise ValueError(f"shape must not have negative dimensions, got {dimensions}")
    return _allocate(dimensions, np.dtype(dtype))[0]
