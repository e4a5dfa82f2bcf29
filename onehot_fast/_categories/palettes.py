"""Colours as classes: each element is a row of numbers, such as the channels of a pixel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import (
    as_array,
    as_scalar,
    is_array_like,
    is_container,
    items_of,
    shape_of,
    unwrapped,
)
from onehot_fast._arguments.indices import as_contiguous, int64_or_uint64
from onehot_fast._arguments.messages import number_of, shown, with_article
from onehot_fast._categories.categories import Kind, exactly_as
from onehot_fast._categories.elements import (
    BLOCK,
    LEFT_OUT,
    NUMBERS,
    UNKNOWN,
    CodedElements,
    Elements,
)
from onehot_fast._categories.factorize import OF_ANOTHER_PACKAGE
from onehot_fast._categories.hashtable.dictionary import Dictionary
from onehot_fast._categories.keys import is_missing, plain
from onehot_fast._kernels import dispatch
from onehot_fast._runtime import memory

AnyArray: TypeAlias = npt.NDArray[Any]
Color: TypeAlias = tuple[Any, ...]

MAX_CHANNELS = 16
WORD, HALF_WORD = 8, 4  # bytes; a colour of so many bytes is one integer
NUMBER_TYPES = (int, float, np.integer, np.floating, np.bool_)


class Palette:
    """Distinct colours in order, which are rows of numbers.

    Parameters
    ----------
    values : ndarray of numbers, shape (n_classes, n_channels)
        The colours, in the dtype that `take` returns.
    ignored : sequence of colours
        The colours to leave out. None is every missing pixel: one with a masked channel or NaN.
    """

    def __init__(self, values: AnyArray, ignored: Sequence[Color | None] = ()) -> None:
        self.values = values
        self.ignored = ignored
        self._missing = LEFT_OUT if None in ignored else UNKNOWN  # the class of a missing pixel
        class_of: dict[Color, int] = {}
        for i, color in enumerate(_colors(values)):
            first = class_of.setdefault(color, i)
            if first != i:
                raise ValueError(
                    f"categories[{i}] must differ from categories[{first}], got the color {color}"
                    " twice; list each color once: pass onehot_fast.distinct_classes(categories,"
                    " palette=True), which sorts them"
                )
        left_out = [color for color in ignored if color is not None]
        class_of |= dict.fromkeys(left_out, LEFT_OUT)
        self._colors = values
        if left_out:
            self._colors = array_of_rows([*map(list, class_of)], "categories and ignore_index")
        self._classes = np.array([*class_of.values()], np.int32)

    def __len__(self) -> int:
        """Return the number of classes."""
        return len(self.values)

    @property
    def n_channels(self) -> int:
        """The number of elements of a colour."""
        return int(self.values.shape[1])

    def shape_of(self, shape: tuple[Any, ...], name: str) -> tuple[Any, ...]:
        """Return the shape of the pixels of an image; raise an error if it has other channels.

        Dimensions may be unknown, which are None or a str.
        """
        if shape and (shape[-1] == self.n_channels or not isinstance(shape[-1], int)):
            return shape[:-1]
        raise wrong_channels(shape, self.n_channels, name)

    def code(self, elements: Elements, name: str) -> CodedElements:
        """Return the pixels of an image as integers, and the class of each integer."""
        numbers = numbers_of(elements.flat, name)
        missing = self._missing_pixels(numbers)
        image = np.asarray(numbers)
        image = as_contiguous(image.astype(image.dtype.newbyteorder("="), copy=False))
        pixels = image.reshape(-1, self.n_channels)
        colors, classes = self._in_dtype(image.dtype)
        if missing is None and pixels.shape[1] * pixels.itemsize <= WORD:
            few = CodedElements.of_few(_as_integers(pixels), _as_keys(colors), classes)
            if few is not None:
                return few
        table = _table(colors)
        codes = memory.allocate((len(pixels),), np.dtype(np.int32))[0]
        for begin in range(0, len(pixels), BLOCK):
            codes[begin : begin + BLOCK] = table.lookup(_as_keys(pixels[begin : begin + BLOCK]))
        if missing is not None:
            codes[missing] = -1
        return CodedElements.of_codes(codes, classes, self._missing)

    def _missing_pixels(self, image: AnyArray) -> npt.NDArray[np.bool_] | None:
        """Return a mask of the missing pixels, or None if no pixel differs from its numbers."""
        missing: Any = np.ma.getmaskarray(image) if np.ma.is_masked(image) else None
        if self._missing == LEFT_OUT and image.dtype.kind == "f":
            is_nan = np.isnan(np.asarray(image))
            missing = is_nan if missing is None else missing | is_nan
        return None if missing is None else missing.reshape(-1, self.n_channels).any(axis=1)

    def _in_dtype(self, dtype: np.dtype[Any]) -> tuple[AnyArray, AnyArray]:
        """Return the colours that a dtype can represent exactly, and the class of each."""
        converted, is_exact = exact_in(self._colors, dtype)
        kept = is_exact.all(axis=1)
        return converted[kept], self._classes[kept]

    def take(self, positions: npt.NDArray[np.int64], default: AnyArray | None) -> AnyArray:
        """Return the colours at some positions; -1 gives `default`."""
        extra = np.zeros((1, self.n_channels), self.values.dtype) if default is None else default
        every = np.concatenate([self.values, extra.reshape(1, -1)])
        return every[positions.reshape(-1)].reshape(*positions.shape, self.n_channels)

    def default_element(self, default: Any) -> AnyArray:
        """Return the colour for rows without a class in the dtype of the palette."""
        colors = colors_of(default, self.n_channels, "default")
        row, is_exact = exact_in(array_of_rows([*map(list, colors)], "default"), self.values.dtype)
        if len(row) != 1 or not is_exact.all():
            raise ValueError(
                f"default must be one color that fits {self.values.dtype}, got {default!r}"
            )
        return row

    def value_at(self, elements: Elements, position: int) -> Any:
        """Return the colour of one pixel as a tuple."""
        start = position * self.n_channels
        flat: Any = elements.flat
        return tuple(flat[start : start + self.n_channels].tolist())

    def reason(self, elements: Elements, value: Any) -> str:
        """Return why a colour is unknown, if the dtypes explain it, else ""."""
        if any(is_missing(number) for number in value):
            return ", which is missing: pass ignore_index=[None] to leave out all such pixels"
        dtype = numbers_of(elements.flat, "indices").dtype
        lost = len(self._classes) - len(self._in_dtype(dtype)[1])
        return (
            f"; {lost} of the colors cannot be represented in {dtype}: pass categories in the dtype"
            f" of the image, e.g. numpy.array(categories, '{dtype}')"
            if lost
            else ""
        )


def wrong_channels(shape: tuple[Any, ...], n_channels: int, name: str) -> ValueError:
    """Return the error for an image or a tensor whose last axis has not one channel per number."""
    hints = []
    if n_channels == 1:
        hints.append("numpy.ravel(categories) if they are no colors")
    elif n_channels in shape[:-1]:
        axis = shape.index(n_channels)
        moved = f"{name}.movedim(" if name == "tensor" else f"numpy.moveaxis({name}, "
        hints.append(f"{moved}{axis}, -1), which moves the channels to the end")
    if shape and shape[-1] == n_channels + 1 == 4:
        hints.append(f"{name}[..., :3], which leaves out the alpha channel")
    remedy = f"; pass {', or '.join(hints)}" if hints else ""
    return ValueError(
        f"the last axis of {name} must have {number_of(n_channels, 'channel')}, as the colors in"
        f" categories, got shape {shape}{remedy}"
    )


def numbers_of(flat: Any, name: str) -> AnyArray:
    """Return the numbers of an image, or of the items of nested lists; they may be masked."""
    if isinstance(flat, np.ndarray) and is_numeric(flat.dtype):
        return flat
    if type(flat) is np.ndarray and flat.dtype.kind == "O":  # lists of integers and floats
        items = flat.tolist()
        if all(isinstance(item, NUMBER_TYPES) for item in items):
            return array_of_rows([items], name).reshape(-1)
    kind = f"dtype {flat.dtype}" if isinstance(flat, np.ndarray) else with_article(flat)
    raise TypeError(
        f"{name} must contain numbers, the channels of colors, got {kind}; for text, dates and"
        " other elements, pass one scalar for each category"
    )


def palette_of(value: Any) -> AnyArray | None:
    """Return the colours of a two-dimensional container of numbers, or None for other values."""
    if is_array_like(value) and len(shape_of(value)) > 1:
        return _checked(_palette_array(value))
    if not isinstance(value, list | tuple) or not any(map(_is_row, value)):
        return None
    for i, part in enumerate(value):
        if not _is_row(part):
            raise TypeError(
                f"categories[{i}] must be a color like the others, got {shown(part)}; pass only"
                " scalars, e.g. [7, 8], or only colors, e.g. [(7, 7, 7), (8, 8, 8)]"
            )
    rows = [_row(row, f"categories[{i}]") for i, row in enumerate(value)]
    return _checked(array_of_rows(rows, "categories"))


def _palette_array(value: Any) -> AnyArray:
    """Return an array-like of colours as an array in native byte order."""
    if np.ma.is_masked(value):
        raise ValueError(
            "colors in categories must not be masked: a masked pixel is missing, and never a"
            " class; pass numpy.ma.compress_rows(categories)"
        )
    array = np.asarray(value) if np.ma.isMaskedArray(value) else as_array(value, "categories")
    if array.ndim > 2:
        raise ValueError(
            f"categories must have one dimension, or two for colors, got shape {array.shape}; for"
            f" colors, pass categories.reshape(-1, {array.shape[-1]})"
        )
    numbers = numbers_of(array.reshape(-1), "categories with two dimensions")
    return numbers.reshape(array.shape).astype(numbers.dtype.newbyteorder("="))


def ignored_colors(value: Any, n_channels: int) -> list[Color | None]:
    """Return the colours in `ignore_index` as tuples of numbers, and None for missing pixels."""
    parts = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
    present = [part for part in parts if not _is_absent(part)]
    if not present:
        return [None] * (len(parts) > 0)
    if len(present) == len(parts):
        colors: list[Color | None] = [*colors_of(value, n_channels, "ignore_index")]
    else:
        colors = [None, *colors_of(present, n_channels, "ignore_index")]
    for color in colors:
        if color is not None and any(number != number for number in color):
            raise ValueError(
                f"ignore_index must not have a color with NaN, got {color}; pass None to leave out"
                " all pixels with NaN or a masked channel"
            )
    return colors


def _is_absent(value: Any) -> bool:
    """Tell whether a value is a missing scalar."""
    return not is_container(value) and is_missing(as_scalar(value))


def colors_of(value: Any, n_channels: int, name: str) -> list[Color]:
    """Return one colour, or several colours, as tuples of numbers."""
    if isinstance(value, set | frozenset):
        value = list(value)
    if not is_container(value) or isinstance(value, str | bytes):
        raise TypeError(
            f"{name} must be a color of {n_channels} numbers, or several, got {value!r}"
        )
    if is_array_like(value):
        value = as_array(value, name)
        rows = list(value) if value.ndim > 1 else [value] if len(value) else []
    else:
        parts = list(value)
        rows = parts if any(map(_is_row, parts)) else [parts] if parts else []
    colors = [tuple(map(plain, _row(row, name))) for row in rows]
    for color in colors:
        if len(color) != n_channels:
            raise ValueError(f"{name} must have {n_channels} numbers for a color, got {color}")
    return colors


def array_of_rows(rows: list[list[Any]], name: str) -> AnyArray:
    """Return rows of numbers as an array of integers, if all are integers, or else of doubles."""
    lengths = sorted(set(map(len, rows)))
    if len(lengths) > 1:
        raise ValueError(
            f"{name} must have rows of one length, got rows of {lengths[0]} and {lengths[-1]}"
        )
    numbers = [plain(number) for row in rows for number in row]
    kinds = set(map(type, numbers))
    if any(issubclass(kind, float | np.floating) for kind in kinds):
        lost = next((number for number in numbers if not _fits_double(number)), None)
        if lost is not None:
            raise ValueError(
                f"{name} must fit float64 exactly if one of the numbers is a float, got {lost}:"
                " leave out the colors that the dtype of the image cannot represent"
            )
        array = np.array(numbers, np.float64)
    elif kinds == {bool}:
        array = np.array(numbers, np.bool_)
    else:
        array = int64_or_uint64(numbers, f"numbers of {name}")
    return array.reshape(len(rows), *lengths)


def _fits_double(number: Any) -> bool:
    """Tell whether float64 holds a Python number or a long double exactly; NaN counts as held."""
    try:
        double = float(number)
    except OverflowError:
        return False
    return bool(double == number or number != number)


def exact_in(values: AnyArray, dtype: np.dtype[Any]) -> tuple[AnyArray, npt.NDArray[np.bool_]]:
    """Return numbers in another dtype, and a mask of the numbers whose value is unchanged."""
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype.kind == "f":
            doubles, is_exact = exactly_as(values, "float64")
            converted = doubles.astype(dtype)
            return converted, is_exact & (converted.astype(np.float64) == doubles)
        integers, is_exact = exactly_as(values, "uint64" if dtype == np.uint64 else "int64")
        limits = np.iinfo(np.uint8 if dtype.kind == "b" else dtype)
        least, most = (0, 1) if dtype.kind == "b" else (limits.min, limits.max)
        is_exact &= (integers >= least) & (integers <= most)
        return integers.astype(dtype), is_exact


def distinct_colors(image: AnyArray) -> AnyArray:
    """Return the distinct colours of an image in lexicographic order, without missing ones."""
    pixels = image.reshape(-1, image.shape[-1])
    if np.ma.is_masked(pixels):
        pixels = pixels[~np.ma.getmaskarray(pixels).any(axis=1)]
    pixels = np.asarray(pixels)
    pixels = as_contiguous(pixels.astype(pixels.dtype.newbyteorder("="), copy=False))
    table = Dictionary(_kind(pixels))
    first: list[int] = []  # the pixel in which each colour appears first
    for begin in range(0, len(pixels), BLOCK):
        codes = table.encode(_as_keys(pixels[begin : begin + BLOCK]))
        places, where = np.unique(codes, return_index=True)
        first.extend((begin + where[places >= len(first)]).tolist())
    colors = pixels[first]
    colors = colors[~np.isnan(colors).any(axis=1)] if colors.dtype.kind == "f" else colors
    return colors[np.lexsort(colors.T[::-1])]


def _table(colors: AnyArray) -> Dictionary:
    """Return the hash table of colours of one dtype."""
    return Dictionary(_kind(colors), _as_keys(colors) if len(colors) else None)


def _kind(colors: AnyArray) -> Kind:
    """Return the kind of `Dictionary` for the keys of colours."""
    return "uint64" if colors.shape[-1] * colors.itemsize <= WORD else "binary"


def _as_keys(colors: AnyArray) -> AnyArray:
    """Return the bytes of each colour as an integer, or as bytes of one width if it has too many.

    Numbers are equal if their bytes are, because -0.0 becomes 0.0. NumPy cuts zeros off the end of
    bytes; the keys still differ, because all of them have one width.
    """
    if colors.dtype.kind == "f":
        colors = colors + colors.dtype.type(0)
    n, width = len(colors), colors.shape[1] * colors.itemsize
    raw = np.ascontiguousarray(colors).view(np.uint8).reshape(n, width)
    if width > WORD:
        return raw.view(f"S{width}").reshape(n)
    words = memory.allocate((n,), np.dtype(np.uint32 if width <= HALF_WORD else np.uint64))[0]
    dispatch.pack(raw, words)
    return words


def _as_integers(colors: AnyArray) -> AnyArray:
    """Return the bytes of each colour of at most 8 bytes as `CodedElements.integers`.

    Contiguous colours are not copied. Floats become one integer each, because -0.0 and 0.0 have
    different bytes.
    """
    if colors.dtype.kind == "f":
        return _as_keys(colors)
    n, width = len(colors), colors.shape[1] * colors.itemsize
    return np.ascontiguousarray(colors).view(np.uint8).reshape(n, width)


def _colors(values: AnyArray) -> list[Color]:
    """Return the rows of an array as tuples of Python numbers."""
    return [*map(tuple, values.tolist())]


def is_numeric(dtype: np.dtype[Any]) -> bool:
    """Tell whether a dtype holds real numbers that fit 64 bits."""
    return (
        dtype.kind in NUMBERS and dtype.itemsize <= WORD and dtype.isbuiltin != OF_ANOTHER_PACKAGE
    )


def _is_row(value: Any) -> bool:
    """Tell whether a value is a container, but neither text nor a set."""
    value = unwrapped(value)
    return not isinstance(value, str | bytes | frozenset | set | Mapping) and is_container(value)


def _row(value: Any, where: str) -> list[Any]:
    """Return the numbers of a colour; raise an error for another value."""
    items = items_of(value, where) if _is_row(value) else []
    if any(map(is_container, items)) and all(map(_is_row, items)):
        raise ValueError(
            f"{where} must be a color, which has one or more numbers, got {shown(value)}; to join"
            f" the colors of several lists, pass numpy.concatenate({where.partition('[')[0]})"
        )
    if not items or not all(isinstance(item, NUMBER_TYPES) for item in items):
        raise TypeError(
            f"{where} must be a color, a sequence of integers, floats or Booleans, got"
            f" {shown(value)}; pass one scalar for each category if they are no colors"
        )
    return items


def _checked(colors: AnyArray) -> AnyArray:
    """Return colours, or raise an error for those that no pixel can have."""
    if not 0 < colors.shape[1] <= MAX_CHANNELS:
        raise ValueError(
            f"colors in categories must have 1 to {MAX_CHANNELS} numbers, got shape {colors.shape}"
        )
    if colors.dtype.kind == "f" and np.isnan(colors).any():
        raise ValueError("colors in categories must not contain NaN")
    return colors
