"""Colours as classes: each element is a row of numbers, such as the channels of a pixel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import (
    as_array,
    is_array_like,
    is_container,
    items_of,
    shape_of,
    unwrapped,
)
from onehot_fast._arguments.indices import as_contiguous, int64_or_uint64
from onehot_fast._arguments.messages import shown, with_article
from onehot_fast._categories.categories import Kind, exactly_as
from onehot_fast._categories.elements import BLOCK, LEFT_OUT, NUMBERS, UNKNOWN, Coded, Elements
from onehot_fast._categories.factorize import OF_ANOTHER_PACKAGE
from onehot_fast._categories.hashtable.dictionary import Dictionary
from onehot_fast._categories.keys import plain
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
        The colours to leave out.
    """

    def __init__(self, values: AnyArray, ignored: Sequence[Color] = ()) -> None:
        self.values = values
        class_of: dict[Color, int] = {}
        for i, color in enumerate(_colors(values)):
            first = class_of.setdefault(color, i)
            if first != i:
                raise ValueError(
                    f"categories[{i}] must differ from categories[{first}], got the color {color}"
                    " twice"
                )
        class_of |= dict.fromkeys(ignored, LEFT_OUT)
        self._colors = values
        if ignored:
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
        channels = self.n_channels
        if shape and (shape[-1] == channels or not isinstance(shape[-1], int)):
            return shape[:-1]
        hint = ""
        if shape and shape[-1] == channels + 1 == 4:
            hint = f": pass {name}[..., :3] to leave out the alpha channel"
        elif channels in shape[:-1]:
            axis = shape.index(channels)
            hint = f": move the channels to the end, e.g. numpy.moveaxis({name}, {axis}, -1)"
        raise ValueError(
            f"the last axis of {name} must have the {channels} channels of the colors in"
            f" categories, got shape {shape}{hint}"
        )

    def code(self, elements: Elements, name: str) -> Coded:
        """Return the pixels of an image as integers, and the class of each integer."""
        image = without_mask(elements.flat, name)
        if not isinstance(image, np.ndarray) or not is_numeric(image.dtype):
            kind = f"dtype {image.dtype}" if isinstance(image, np.ndarray) else with_article(image)
            raise TypeError(f"{name} must contain numbers if categories are colors, got {kind}")
        image = as_contiguous(image.astype(image.dtype.newbyteorder("="), copy=False))
        pixels = image.reshape(-1, self.n_channels)
        colors, classes = self._in_dtype(image.dtype)
        if pixels.shape[1] * pixels.itemsize <= HALF_WORD:
            few = Coded.of_few(_as_keys(pixels), _as_keys(colors), classes)
            if few is not None:
                return few
        table = _table(colors)
        codes = memory.allocate((len(pixels),), np.dtype(np.int32))[0]
        for begin in range(0, len(pixels), BLOCK):
            codes[begin : begin + BLOCK] = table.lookup(_as_keys(pixels[begin : begin + BLOCK]))
        return Coded.of_codes(codes, classes, UNKNOWN)

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
        dtype: Any = getattr(elements.flat, "dtype", None)
        lost = len(self._classes) - len(self._in_dtype(dtype)[1])
        return (
            f"; {lost} of the colors cannot be represented in {dtype}: pass categories in the dtype"
            f" of the image, e.g. numpy.array(categories, '{dtype}')"
            if lost
            else ""
        )


def without_mask(image: Any, name: str) -> Any:
    """Return the data of a masked array; raise an error if a channel of a pixel is masked."""
    if isinstance(image, np.ma.MaskedArray):
        if np.ma.getmaskarray(image).any():
            raise ValueError(
                f"{name} has masked elements, and a pixel without a channel has no color: pass"
                f" {name}.filled(...) with the channel of a color, which may be in ignore_index"
            )
        return image.data
    return image


def palette_of(value: Any) -> AnyArray | None:
    """Return the colours of a two-dimensional container of numbers, or None for other values."""
    if is_array_like(value) and len(shape_of(value)) == 2:
        array = as_array(value, "categories")
        if not is_numeric(array.dtype):
            raise TypeError(
                "categories with two dimensions are colors and must be numbers, got dtype"
                f" {array.dtype}; pass one dimension for other classes"
            )
        return _checked(array.astype(array.dtype.newbyteorder("=")))
    if not isinstance(value, list | tuple) or not any(map(_is_row, value)):
        return None
    rows = [_row(row, f"categories[{i}]") for i, row in enumerate(value)]
    return _checked(array_of_rows(rows, "categories"))


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
    """Return the distinct colours of an image in lexicographic order."""
    image = as_contiguous(image.astype(image.dtype.newbyteorder("="), copy=False))
    pixels = image.reshape(-1, image.shape[-1])
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
    if not items or not all(isinstance(item, NUMBER_TYPES) for item in items):
        raise TypeError(
            f"{where} must be a color, a sequence of integers, floats or Booleans, got"
            f" {shown(value)}: categories are scalars, or all of them colors"
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
