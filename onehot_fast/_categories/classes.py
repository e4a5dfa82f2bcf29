"""The classes of `one_hot` and `decode`: distinct scalars in order, and the class of any element.

An element becomes an integer, and a look-up table (`CodedElements.lut`) maps integers to classes.
Integers of few bits, and integers whose classes lie close together, are such integers themselves.
All other elements are looked up in hash tables.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import (
    as_array,
    as_scalar,
    is_array_like,
    is_container,
    items_of,
    unwrapped,
)
from onehot_fast._arguments.indices import as_contiguous
from onehot_fast._arguments.messages import shown, with_article
from onehot_fast._arguments.values import as_element, native
from onehot_fast._categories.categories import Categories, Kind, exactly_as, kind_of_dtype
from onehot_fast._categories.distinct import check_distinct
from onehot_fast._categories.elements import LEFT_OUT, UNKNOWN, CodedElements, Elements
from onehot_fast._categories.hashtable.dictionary import Dictionary
from onehot_fast._categories.keys import as_array as array_of_scalars
from onehot_fast._categories.keys import as_objects, is_missing, key, keys, plain
from onehot_fast._categories.kinds import kinds_of, listed_kinds, other_kinds
from onehot_fast._categories.palettes import (
    Palette,
    distinct_colors,
    ignored_colors,
    is_numeric,
    numbers_of,
    palette_of,
)
from onehot_fast._categories.values import Values, read_column
from onehot_fast._kernels import dispatch
from onehot_fast._runtime.registry import reader_of

__all__ = ["Scalars", "distinct_classes", "read_classes"]

AnyArray: TypeAlias = npt.NDArray[Any]

# Integers are their own codes if the largest class is at most so much larger than the smallest.
MAX_SPAN = 1 << 16
DISTINCT_HINT = (
    "list each class once: pass onehot_fast.distinct_classes(categories), which sorts them, or"
    " list(dict.fromkeys(categories)), which does not"
)
MAX_SHOWN = 3  # unknown elements in a message
DTYPE_OF_KIND = {"int64": np.int64, "uint64": np.uint64, "float64": np.float64}


class Scalars:
    """Distinct scalars in order, of which at most one is a missing value.

    Parameters
    ----------
    items : sequence of scalars
        The classes, as Python objects or NumPy scalars.
    values : ndarray, shape (n_classes,)
        The classes, in the dtype that `take` returns.
    ignored : sequence of scalars
        The elements to leave out.
    """

    def __init__(self, items: Sequence[Any], values: AnyArray, ignored: Sequence[Any] = ()) -> None:
        self.values: AnyArray = values
        self.ignored: list[Any] = [None if is_missing(item) else item for item in ignored]
        missing = check_distinct(items, "categories", hint=DISTINCT_HINT)
        present = [item for i, item in enumerate(items) if i != missing]
        places = [i for i in range(len(items)) if i != missing]
        self._missing = UNKNOWN if missing < 0 else missing  # the class of a missing element
        position_of: dict[Hashable, int] = {}
        if ignored:
            position_of = {its_key: i for i, its_key in enumerate(keys(present))}
        for item in self.ignored:
            if item is None:
                self._missing = LEFT_OUT
                continue
            position = position_of.setdefault(key(plain(item)), len(present))
            if position == len(present):
                present.append(item)
                places.append(LEFT_OUT)
            places[position] = LEFT_OUT
        self._known = Categories.of(present)
        self._classes = np.array(places, np.int32)  # the class of each known element

    def __len__(self) -> int:
        """Return the number of classes."""
        return len(self.values)

    def shape_of(self, shape: tuple[Any, ...], name: str) -> tuple[Any, ...]:
        """Return the shape of the elements of an array, which are scalars."""
        return shape

    def code(self, elements: Elements, name: str) -> CodedElements:
        """Return elements as integers, and the class of each integer."""
        flat = elements.flat
        if type(flat) is np.ndarray and is_numeric(flat.dtype):
            return self._code_numbers(flat)
        column = read_column(flat)
        if isinstance(column, Values):
            codes = column.lookup(self._known)
            if codes is not None:
                return CodedElements.of_codes(codes, self._classes, self._missing)
            column = column.encode()
        found = self._known.find(Categories.of(column.stored))
        classes = np.append(self._classes, UNKNOWN)[found]
        return CodedElements(column.codes, np.append(classes, self._missing).astype(np.int32), 0)

    def _code_numbers(self, numbers: AnyArray) -> CodedElements:
        """Return real numbers as integers for the kernels."""
        numbers = as_contiguous(numbers.astype(numbers.dtype.newbyteorder("="), copy=False))
        dtype = numbers.dtype
        if dtype.kind == "b":
            return self._code_booleans(numbers.view(np.uint8))
        known, classes = self._numbers_of_kind(kind_of_dtype(dtype))
        if dtype.kind != "f":
            limits = np.iinfo(dtype)
            is_possible = (known >= limits.min) & (known <= limits.max)
            known, classes = known[is_possible], classes[is_possible]
            if not len(known) or int(known.max()) - int(known.min()) <= MAX_SPAN:
                return CodedElements.of_numbers(numbers, known, classes)
            few = CodedElements.of_few(numbers, known, classes)
        else:
            few = self._few_floats(numbers, known, classes)
        if few is not None:
            return few
        table = Dictionary(kind_of_dtype(dtype), known if len(known) else None)
        return CodedElements.of_codes(table.lookup(numbers), classes, self._missing)

    def _few_floats(
        self, numbers: AnyArray, known: AnyArray, classes: AnyArray
    ) -> CodedElements | None:
        """Return floats as integers of their bits, if few numbers have a class, else None."""
        dtype = numbers.dtype
        with np.errstate(over="ignore"):
            rounded = known.astype(dtype)
        is_exact = rounded.astype(np.float64) == known
        if self._missing != UNKNOWN or not is_exact.any():
            return None  # NaN has many bits
        # 0.0 and -0.0 are one number of different bits.
        rounded, classes = rounded[is_exact], classes[is_exact]
        is_zero = rounded == 0
        rounded = np.concatenate([np.abs(rounded, where=is_zero, out=rounded), -rounded[is_zero]])
        bits = np.dtype(f"u{dtype.itemsize}")
        classes = np.concatenate([classes, classes[is_zero]])
        return CodedElements.of_few(numbers.view(bits), rounded.view(bits), classes)

    def _code_booleans(self, bits: npt.NDArray[np.uint8]) -> CodedElements:
        """Return Booleans as bytes; each byte that is not 0 is True."""
        known, classes = self._numbers_of_kind("int64")
        class_of = dict(zip(known.tolist(), classes.tolist(), strict=True))
        both = [class_of.get(0, UNKNOWN), class_of.get(1, UNKNOWN)]  # the last is of all but 0
        return CodedElements(bits, np.array(both, np.int32), 0)

    def _numbers_of_kind(self, kind: Kind) -> tuple[AnyArray, npt.NDArray[np.int32]]:
        """Return the known numbers that a kind of `Dictionary` can hold, and their classes."""
        known, dtype = self._known, np.dtype(DTYPE_OF_KIND[kind])
        if known.family == "number":
            assert isinstance(known.values, np.ndarray)
            numbers, is_exact = exactly_as(known.values, kind)
            return numbers[is_exact], self._classes[is_exact]
        if known.family is not None:
            return np.empty(0, dtype), self._classes[:0]
        found = [(i, _number_in(its_key, dtype)) for i, its_key in enumerate(known.to_keys())]
        found = [(i, number) for i, number in found if number is not None]
        places = [i for i, _ in found]
        return np.array([number for _, number in found], dtype), self._classes[places]

    def take(self, positions: npt.NDArray[np.int64], default: AnyArray | None) -> AnyArray:
        """Return the classes at some positions; -1 gives `default`."""
        if default is None:
            default = np.zeros((), self.values.dtype)
        every = np.concatenate([self.values, default.reshape(1)])
        return every[positions.reshape(-1)].reshape(positions.shape)

    def default_element(self, default: Any) -> AnyArray:
        """Return the element for rows without a class in the dtype of the classes."""
        dtype = self.values.dtype
        default = as_scalar(default, "default")
        if dtype.kind == "O":
            return as_objects([default])
        element = as_element(default, dtype, "default")
        is_same = keys([element[()]]) == keys([default])
        if not (is_same or (is_missing(element[()]) and is_missing(default))):
            raise ValueError(f"default must fit the dtype {dtype} of categories, got {default!r}")
        return element

    def reason(self, elements: Elements, value: Any) -> str:
        """Return why an element is unknown, if a person cannot see it from the element."""
        known, dtype = self._known, getattr(elements.flat, "dtype", None)
        if known.family == "number" and isinstance(value, float | np.floating):
            if isinstance(dtype, np.dtype) and value in np.asarray(known.values).astype(dtype):
                return (
                    f"; a category that {dtype} cannot represent is rounded to this element: pass"
                    f" categories=numpy.array(categories, '{dtype}')"
                )
            if _is_rounded_to_one(value, np.asarray(known.values)):
                return (
                    f"; it is a category after rounding to {known.dtype}: pass"
                    f" indices=numpy.asarray(indices, '{known.dtype}')"
                )
        if is_missing(value):
            return ", which is missing: list None in categories to make it a class"
        is_other, kinds = other_kinds(Categories.of([value]), known)
        if is_other.any():
            return f", which is {kinds}; categories are {listed_kinds(kinds_of(known))}"
        return ""

    def value_at(self, elements: Elements, position: int) -> Any:
        """Return one element as a Python object or NumPy scalar."""
        return plain(elements.value(position))


def _number_in(its_key: Any, dtype: np.dtype[Any]) -> Any:
    """Return the number that equals a key in a dtype, or None if there is none."""
    if isinstance(its_key, complex):
        if its_key.imag != 0:
            return None
        its_key = its_key.real
    if not isinstance(its_key, int | float | Decimal | Fraction):
        return None
    if dtype.kind == "f":
        try:
            number: int | float = float(its_key)
        except OverflowError:
            return None
        return number if number == its_key else None
    limits = np.iinfo(dtype)
    if not limits.min <= its_key <= limits.max:
        return None
    number = int(its_key)
    return number if number == its_key else None


def read_classes(categories: Any, ignore_index: Any = None) -> Scalars | Palette:
    """Return the classes in `categories`; `ignore_index` has elements to leave out."""
    value = sequence_of_classes(categories)
    colors = palette_of(value)
    if colors is not None:
        if ignore_index is None:
            return Palette(colors)
        return Palette(colors, ignored_colors(ignore_index, colors.shape[1]))
    items = [*map(plain, items_of(value, "categories"))]
    for i, item in enumerate(items):
        if isinstance(item, tuple | list | np.ndarray):
            raise TypeError(
                f"categories[{i}] must be a scalar, or all categories colors, got {shown(item)}"
            )
    ignored = ignored_elements(ignore_index)
    for item in ignored:
        if isinstance(item, tuple | list | np.ndarray):
            raise TypeError(
                f"ignore_index must be one or several scalars like categories, got {shown(item)};"
                " for a color, pass categories as colors"
            )
    return Scalars(items, _values_of(value, items), ignored)


def sequence_of_classes(categories: Any) -> Any:
    """Return an ordered container of classes; raise TypeError for other values, such as text."""
    # A dtype or a Column declares its categories.
    value = unwrapped(categories)
    if not isinstance(value, Iterable) and not is_array_like(value):
        value = getattr(value, "categories", value)
    is_text = isinstance(value, str | bytes)
    if is_text or isinstance(value, set | frozenset | Mapping) or not is_container(value):
        raise TypeError(
            f"categories must be a sequence of the classes in order, got {with_article(value)}:"
            f" {shown(value)}{_remedy(value)}"
        )
    return value


def distinct_scalars(categories: Any) -> list[Any]:
    """Return distinct classes that are scalars and not missing, for functions that skip these."""
    items = [*map(plain, items_of(sequence_of_classes(categories), "categories"))]
    check_distinct(
        items, "categories", "missing elements have no class: leave it out", DISTINCT_HINT
    )
    return items


def unknown_message(
    classes: Scalars | Palette,
    elements: Elements,
    coded: CodedElements,
    shape: tuple[int, ...],
    name: str,
) -> str:
    """Return the message that names the first unknown elements and where they are, or ""."""
    found: dict[str, str] = {}
    first: Any = None
    for position in coded.unknown():
        value = classes.value_at(elements, position)
        where = ", ".join(map(str, np.unravel_index(position, shape)))
        found.setdefault(shown(value), f"{name}[{where}]" if shape else name)
        first = value if len(found) == 1 else first
        if len(found) == MAX_SHOWN:
            break
    if not found:
        return ""
    (text, place), *others = found.items()
    if not len(classes):
        return (
            f"{place} must be a category, but categories is empty, got {text}; pass"
            f" categories=onehot_fast.distinct_classes({name})"
        )
    expected = f"one of the {len(classes):,} categories"
    if len(classes) == 1:
        only = classes.values[0]
        only = tuple(only.tolist()) if isinstance(classes, Palette) else plain(only)
        expected = f"{shown(only)}, the only category"
    more = "".join(f", {other} at {where}" for other, where in others)
    return (
        f"{place} must be {expected}, got {text}{classes.reason(elements, first)}"
        + (f"; also unknown: {more[2:]}" if more else "")
        + "; pass handle_unknown='ignore' for rows of off_value, or list the elements to leave out"
        " in ignore_index"
    )


def _remedy(value: Any) -> str:
    """Return what to pass instead of text, a set or a mapping."""
    if value == "auto":
        return "; pass onehot_fast.distinct_classes(array)"
    if isinstance(value, str):
        return f"; pass list({shown(value)}) for one class for each letter"
    if isinstance(value, bytes):
        return "; pass [value[i : i + 1] for i in range(len(value))] for one class for each byte"
    if isinstance(value, set | frozenset | Mapping):
        return (
            ", which has no order; pass sorted(...)"
            if not isinstance(value, Mapping)
            else ("; pass list(...) of its keys")
        )
    return ""


def _values_of(source: Any, items: list[Any]) -> AnyArray:
    """Return the classes as an array, in the dtype of the source if NumPy has it."""
    if isinstance(source, np.ma.MaskedArray) and not np.ma.is_masked(source):
        source = np.asarray(source)
    if isinstance(source, np.ma.MaskedArray):  # no dtype of NumPy has a masked element
        return as_objects(items)
    is_column = reader_of(source) is not None
    if isinstance(getattr(source, "dtype", None), np.dtype) or (
        is_array_like(source) and not is_column
    ):
        array = as_array(source, "categories")
        return array.astype(native(array.dtype))
    if is_column:
        numbers = Elements.read(source, "categories").flat
        if isinstance(numbers, np.ndarray):
            return numbers.astype(native(numbers.dtype))
    return array_of_scalars(items)


def ignored_elements(ignore_index: Any) -> list[Any]:
    """Return the elements to leave out: one scalar, or several in a container."""
    if ignore_index is None:
        return []
    if isinstance(ignore_index, set | frozenset):
        ignore_index = list(ignore_index)
    if isinstance(ignore_index, str | bytes) or not is_container(ignore_index):
        return [plain(as_scalar(ignore_index, "ignore_index"))]
    return [*map(plain, items_of(ignore_index, "ignore_index"))]


def _is_rounded_to_one(value: float | np.floating[Any], known: AnyArray) -> bool:
    """Tell whether a float becomes a category in the dtype of the categories."""
    if known.dtype.kind in "iu":
        info = np.iinfo(known.dtype)
        return bool(info.min <= value <= info.max) and int(value) in known.tolist()
    with np.errstate(over="ignore"):
        return bool((np.asarray(value).astype(known.dtype) == known).any())


def distinct_classes(array: Any, *, palette: bool = False) -> AnyArray:
    """Return the distinct elements of an array in order, as `categories` for `one_hot`.

    Parameters
    ----------
    array : array_like of any rank
        Elements of any type that `one_hot` accepts with `categories`. Missing values are left out.
    palette : bool, default False
        Whether the last axis holds the numbers of one colour, so that the classes are colours.

    Returns
    -------
    ndarray of shape (n_classes,), or (n_classes, n_channels) for a palette
        The classes, sorted, in the dtype of the array. The dtype is object if NumPy has no dtype
        for them. Colours are sorted by the first channel, then by the second, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> from onehot_fast import distinct_classes
    >>> distinct_classes(np.array([[0, 255], [128, 255]], np.uint8))
    array([  0, 128, 255], dtype=uint8)
    >>> distinct_classes([[[255, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]], palette=True)
    array([[  0,   0,   0],
           [255,   0,   0]])
    """
    elements = Elements.read(array, "array")
    flat, shape = elements.flat, elements.shape
    if palette:
        numbers = numbers_of(flat, "array")
        if not shape or not shape[-1]:
            raise ValueError(
                "array must have the channels of a color in its last axis if palette=True, got"
                f" shape {shape}"
            )
        return distinct_colors(numbers.reshape(shape))
    column = read_column(flat).encode()
    occurring = np.flatnonzero(dispatch.count(column.codes, column.n_categories))
    found = Categories.of(column.stored).take(occurring)
    values = found.take(found.argsort()).to_array()
    if isinstance(flat, np.ndarray) and flat.dtype.kind != "O":
        return values.astype(native(flat.dtype))
    return values
