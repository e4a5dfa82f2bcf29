"""Read an array-like of any rank and type as flat elements, without changing a value.

NumPy would convert nested lists of several types to one type: [1, "a"] to text. The elements of
lists therefore stay Python objects, unless all of them have one type.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import (
    as_array,
    as_scalar,
    as_scalars,
    is_array_like,
    is_container,
    unwrapped,
)
from onehot_fast._arguments.indices import as_contiguous, int64_or_uint64
from onehot_fast._arguments.messages import with_article
from onehot_fast._arrow.array import Array
from onehot_fast._categories.column import Column
from onehot_fast._categories.keys import PLAIN, as_objects
from onehot_fast._categories.values import Values, read_column
from onehot_fast._kernels import dispatch
from onehot_fast._runtime.registry import reader_of

AnyArray: TypeAlias = npt.NDArray[Any]

NUMBERS = "biuf"  # the kinds of dtypes of real numbers


class Elements(NamedTuple):
    """The elements of an array-like in C order, and the shape of the array-like."""

    flat: AnyArray | Column | Values
    shape: tuple[int, ...]
    array: AnyArray | None = None  # the array whose memory has the elements, if there is one

    @classmethod
    def read(cls, source: Any, name: str) -> Elements:
        """Read a scalar, nested sequences, an array-like of any rank, or a column of a library.

        A masked array stays one if an element is masked.
        """
        source = unwrapped(source)
        if isinstance(source, np.ma.MaskedArray):
            return cls.of_array(source if np.ma.is_masked(source) else np.asarray(source.data))
        if isinstance(source, np.ndarray):
            return cls.of_array(as_array(source, name))
        if isinstance(source, Column | Values):
            return cls(source, (len(source),))
        library = reader_of(source)
        if library is not None and len(getattr(source, "shape", ())) < 2:
            column = read_column(source)
            return cls(_as_numbers(column), (len(column),))
        if library is not None or is_array_like(source):
            return cls.of_array(as_array(source, name))
        if isinstance(source, list | tuple) and source and all(map(_is_array, source)):
            arrays = [as_array(part, f"{name}[{i}]") for i, part in enumerate(source)]
            if len({(array.dtype, array.shape) for array in arrays}) == 1:
                return cls.of_array(np.stack(arrays))
        items: list[Any] = []
        shape = _flatten(source, items, name)
        return cls(_array_of(items), shape)

    @classmethod
    def of_array(cls, array: AnyArray) -> Elements:
        """Return the elements of an array, without a copy if the array is contiguous."""
        return cls(array.reshape(-1), array.shape, array)

    def value(self, position: int) -> Any:
        """Return one element as a Python object or NumPy scalar."""
        flat = self.flat
        if isinstance(flat, Column | Values):
            return flat.encode().take(np.array([position])).tolist()[0]
        return as_scalar(flat[position])


def _is_array(source: Any) -> bool:
    """Tell whether a value is an array without a mask."""
    return is_array_like(source) and not isinstance(source, np.ma.MaskedArray)


def _as_numbers(column: Column | Values) -> AnyArray | Column | Values:
    """Return the numbers of a column without missing values as an array, else the column."""
    if isinstance(column, Values) and column.convert is None and len(column.chunks) == 1:
        chunk = column.chunks[0]
        if isinstance(chunk, Array) and chunk.schema.kind == "integer" and not chunk.null_count:
            chunk = chunk.codes()
        if type(chunk) is np.ndarray and chunk.dtype.kind in NUMBERS:
            return as_contiguous(chunk)
    return column


def _flatten(source: Any, items: list[Any], name: str) -> tuple[int, ...]:
    """Append the scalars of nested sequences to `items`; return the shape of the sequences."""
    source = unwrapped(source)
    if isinstance(source, str | bytes) or not is_container(source):
        items.append(as_scalar(source, name))
        return ()
    if is_array_like(source):
        is_masked = isinstance(source, np.ma.MaskedArray)
        array: AnyArray = source if is_masked else as_array(source, name)
        items.extend(as_scalars(list(array.reshape(-1)), name) if is_masked else array.reshape(-1))
        return array.shape
    if reader_of(source) is not None:
        values = read_column(source).encode().tolist()
        items.extend(values)
        return (len(values),)
    if isinstance(source, set | frozenset | dict):
        raise TypeError(f"{name} must be an array or a sequence, got {with_article(source)}")
    parts = list(source)
    if not _are_nested(parts):
        items.extend(as_scalars(parts, name))
        return (len(parts),)
    shapes = []
    for i, part in enumerate(parts):
        shapes.append(_flatten(part, items, f"{name}[{i}]"))
        if shapes[i] != shapes[0]:
            raise ValueError(
                f"{name} must have rows of one shape, but {name}[0] has shape {shapes[0]} and"
                f" {name}[{i}] has shape {shapes[i]} (multi_hot accepts rows of any length)"
            )
    return (len(parts), *shapes[0])


def _are_nested(parts: list[Any]) -> bool:
    """Tell whether an item of a list has items itself; a text has none here."""
    if set(map(type, parts)) <= PLAIN:
        return False
    return any(
        not isinstance(part, str | bytes) and is_container(part) for part in map(unwrapped, parts)
    )


def _array_of(items: list[Any]) -> AnyArray:
    """Return a list of scalars as an array that has a dtype of its own if all have one type."""
    kinds = set(map(type, items))
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    if kind is int and min(items) >= -(2**63) and max(items) < 2**64:
        if min(items) >= 0 or max(items) < 2**63:
            return int64_or_uint64(items, "labels")
    elif kind in (bool, float) or (kind is not None and issubclass(kind, np.number | np.bool_)):
        return np.array(items)
    return as_objects(items)


# The two classes of an element that has none: it was left out on purpose, or it is unknown.
LEFT_OUT, UNKNOWN = -1, -2
BLOCK = 1 << 16  # elements that one step of Python code handles
# The kernels find up to so many values, whose classes are below this limit, faster than a hash
# table of any size.
MAX_FEW, MAX_FEW_CLASS = 32, 254


class CodedElements(NamedTuple):
    """Elements as integers for the kernels, and the class of each integer."""

    # C-contiguous and of a dtype that the kernels read. Each row of bytes in two dimensions is one
    # integer, whose lowest byte is the first.
    integers: AnyArray
    # Entry i is the class of the integer low + i, LEFT_OUT or UNKNOWN. The last entry is the class
    # of all other integers.
    lut: npt.NDArray[np.int32]
    low: int = 0
    # If there are values, entry i belongs to the integer values[i], modulo 2**64.
    values: npt.NDArray[np.uint64] | None = None

    @classmethod
    def of_few(
        cls, integers: AnyArray, numbers: AnyArray, classes: AnyArray
    ) -> CodedElements | None:
        """Return integers as they are, if the numbers that have a class are few; else None."""
        if not 0 < len(numbers) <= MAX_FEW or classes.max() >= MAX_FEW_CLASS:
            return None
        lut = np.append(classes, UNKNOWN).astype(np.int32)
        return cls(integers, lut, 0, numbers.astype(np.uint64))

    @classmethod
    def of_codes(
        cls, codes: npt.NDArray[np.int32], classes: AnyArray, missing: int
    ) -> CodedElements:
        """Return the elements from their codes in a hash table: -1 if missing, -2 if unknown."""
        lut = np.concatenate([[UNKNOWN, missing], classes, [UNKNOWN]]).astype(np.int32)
        return cls(codes, lut, -2)

    @classmethod
    def of_numbers(cls, integers: AnyArray, numbers: AnyArray, classes: AnyArray) -> CodedElements:
        """Return integers as they are; `numbers` are those that have a class."""
        if not len(numbers):
            return cls(integers, np.array([UNKNOWN], np.int32), 0)
        low = numbers.min()
        lut = np.full(int(numbers.max()) - int(low) + 2, UNKNOWN, np.int32)
        lut[(numbers - low).astype(np.int64)] = classes
        return cls(integers, lut, int(low))

    def classes(self, begin: int, end: int) -> npt.NDArray[np.int32]:
        """Return the classes of the elements from `begin` to `end`."""
        if self.values is not None:
            block = self.integers[begin:end]
            integers = np.empty(len(block), np.uint64)
            if block.ndim == 2:
                dispatch.pack(block, integers)
            else:
                integers[:] = block.astype(np.uint64)
            classes = np.full(len(integers), self.lut[-1])
            for value, its_class in zip(self.values, self.lut[:-1], strict=True):
                classes[integers == value] = its_class
            return classes
        low = np.uint64(self.low % 2**64)
        steps = self.integers[begin:end].astype(np.uint64) - low  # modulo 2**64, as the kernels
        last = np.uint64(len(self.lut) - 1)
        found: npt.NDArray[np.int32] = self.lut[np.minimum(steps, last).astype(np.int64)]
        return found

    def unknown(self) -> Iterator[int]:
        """Yield the position of each unknown element, in order."""
        for begin in range(0, len(self.integers), BLOCK):
            found = self.classes(begin, begin + BLOCK) == UNKNOWN
            yield from (begin + np.flatnonzero(found)).tolist()
