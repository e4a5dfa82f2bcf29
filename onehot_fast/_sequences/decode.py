"""Find the letter of each row, and return letters as text."""

from __future__ import annotations

import itertools
import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import as_array
from onehot_fast._arguments.messages import shown
from onehot_fast._arguments.shapes import normalize_axis
from onehot_fast._runtime.registry import require
from onehot_fast._sequences.coding import ALPHABETS, N_BYTES, Meanings, ambiguity_codes, weights_of

AnyArray: TypeAlias = npt.NDArray[Any]

# The number of elements that one NumPy call compares.
BLOCK = 1 << 18


def decode(
    tensor: Any,
    classes: list[list[str]],
    *,
    axis: int,
    rule: str,
    neutral: Any,
    ambiguous: Any,
    ambiguous_weights: str,
    offsets: Any,
    strip_padding: bool,
    output: str,
) -> Any:
    """Return the sequences of a tensor, under the checked options of `decode_sequences`."""
    rows, shape = _class_rows(tensor, len(classes), axis)
    sizes = None
    if offsets is not None:
        sizes = _ragged_sizes(offsets, shape)
    codes, letters = _decoded(rows, shape, classes, rule, neutral, ambiguous, ambiguous_weights)
    points = np.array([ord(letter) for letter in letters], np.uint32)
    if points.max() < N_BYTES:
        points = points.astype(np.uint8)
    if sizes is None:
        sizes = np.full(math.prod(shape[:-1]), shape[-1], np.int64)
        shape = shape[:-1]
    else:
        shape = (len(sizes),)
    text = points[codes]
    if strip_padding:
        text, sizes = _stripped(rows, text, sizes)
    return _as_output(text, sizes, shape, output)


def _class_rows(tensor: Any, n_classes: int, axis: int) -> tuple[AnyArray, tuple[int, ...]]:
    """Return a tensor as a matrix with a row for each letter, and the shape of the letters."""
    if isinstance(tensor, tuple) and [getattr(part, "ndim", 0) for part in tensor] == [2, 1]:
        raise TypeError(
            "tensor must be one array, got a tuple of two: pass ragged output as"
            " decode_sequences(rows, offsets=offsets)"
        )
    if getattr(tensor, "requires_grad", False) is True:
        raise TypeError(
            "tensor must not require a gradient, got a tensor with requires_grad=True: pass"
            " tensor.detach()"
        )
    cells = as_array(tensor, "tensor")
    if cells.ndim < 2:
        raise ValueError(f"tensor must have rank 2 or higher, got rank {cells.ndim}")
    if cells.dtype.kind not in "biufc" and cells.dtype.isbuiltin != 2:
        raise TypeError(f"tensor must contain Booleans or numbers, got dtype {cells.dtype}")
    position = normalize_axis(axis, cells.ndim, "a tensor", cells.ndim)
    if cells.shape[position] != n_classes:
        raise ValueError(
            f"tensor must have {n_classes} classes at axis {axis}, one for each letter of the"
            f" alphabet, got shape {cells.shape}: pass axis= or alphabet="
        )
    moved = np.moveaxis(cells, position, -1)
    return moved.reshape(-1, n_classes), moved.shape[:-1]


def _ragged_sizes(offsets: Any, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return the number of letters of each sequence of a flat tensor."""
    starts = as_array(offsets, "offsets")
    if starts.dtype.kind not in "iu" or starts.ndim != 1 or len(starts) == 0 or len(shape) != 1:
        raise ValueError(
            "offsets needs a tensor of shape (n_letters, K), and a one-dimensional array of"
            f" integers, got dtype {starts.dtype}, shape {starts.shape} and {len(shape) + 1}"
            " dimensions of the tensor"
        )
    starts = starts.astype(np.int64)
    sizes: npt.NDArray[np.int64] = starts[1:] - starts[:-1]
    if starts[0] != 0 or starts[-1] != shape[0] or (sizes < 0).any():
        raise ValueError(f"offsets must ascend from 0 to {shape[0]}, the number of rows")
    return sizes


def _decoded(
    rows: AnyArray,
    shape: tuple[int, ...],
    classes: list[list[str]],
    rule: str,
    neutral: Any,
    ambiguous: Any,
    ambiguous_weights: str,
) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return the number of the letter of each row, and these letters; the last one is neutral."""
    letters = [each[0] for each in classes]
    known: dict[str, AnyArray] = {}
    if ambiguous is not None:
        known = _ambiguous_rows(classes, ambiguous, ambiguous_weights, rows.dtype)
        letters += known
    if neutral is ...:
        uneven = {letter for letter, row in known.items() if len(set(row.tolist())) > 1}
        neutral = _default_neutral({*itertools.chain(*classes), *uneven})
    letters.append(neutral or "?")
    codes = np.empty(len(rows), np.int64)
    step = max(1, BLOCK // len(classes))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        part, is_wrong = _decode_block(block, [*known.values()], rule)
        if neutral is None:
            is_wrong = is_wrong | (part < 0)
        if is_wrong.any():
            at = start + int(np.argmax(is_wrong))
            raise _undecodable(rows[at], at, shape, rule, {*letters} if neutral is None else None)
        codes[start : start + step] = part
    return codes, letters


def _default_neutral(taken: set[str]) -> str | None:
    """Return the letter of neutral rows, which is not a letter with another meaning."""
    is_protein = {letter.upper() for letter in taken} >= set(ALPHABETS["protein"])
    candidates = ("X" if is_protein else "N", "-")
    return next((letter for letter in candidates if letter not in taken), None)


def _decode_block(
    block: AnyArray, known: list[AnyArray], rule: str
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the number of the letter of each row (-1: neutral), and a mask of invalid rows."""
    n_classes = block.shape[1]
    is_one = block == 1
    first = is_one.argmax(1)
    is_hot = is_one.any(1) & (np.count_nonzero(block, axis=1) == 1)
    same = (block == block[:, :1]) | ((block != block) & (block != block)[:, :1])
    is_even = same.all(1) & ~is_hot
    codes = np.where(is_hot, first, -1)
    is_wrong = ~(is_hot | is_even)
    if rule == "argmax":
        is_nan = block != block
        if n_classes == 1:
            is_even = is_nan[:, 0] | (block[:, 0] == 0)
        return np.where(is_even, -1, block.argmax(1)), is_nan.any(1) & ~is_even
    for j, row in enumerate(known):
        found = np.flatnonzero(codes < 0)
        if not len(found):
            break
        hits = found[(block[found] == row).all(1)]
        codes[hits] = n_classes + j
        is_wrong[hits] = False
    return codes, is_wrong


def _ambiguous_rows(
    classes: list[list[str]], ambiguous: Any, weights: str, dtype: np.dtype[Any]
) -> dict[str, AnyArray]:
    """Return the row of each ambiguous letter."""
    letters = [letter for each in classes for letter in each]
    # A letter may have been encoded in either case, if no two letters differ in case only.
    meanings = Meanings(classes, len({letter.lower() for letter in letters}) == len(letters))
    rows = {}
    for letter, value in ambiguity_codes(ambiguous, meanings).items():
        rows[letter] = np.array(weights_of(letter, value, meanings, weights)).astype(dtype)
    return rows


def _undecodable(
    row: AnyArray, at: int, shape: tuple[int, ...], rule: str, taken: set[str] | None
) -> ValueError:
    """Return the error for a row that is no letter; `taken` are the letters if none is neutral."""
    where = ", ".join(map(str, np.unravel_index(at, shape)))
    numbers = shown(row.tolist())
    remedy = "pass rule='argmax' to decode scores, or ambiguous= for ambiguous letters"
    if (row != row).any() and rule == "argmax" and not (row != row).all():
        return ValueError(
            f"the row of letter [{where}] must have no NaN, or NaN only, got {numbers}: replace"
            " NaN, e.g. by numpy.nan_to_num(tensor, nan=-numpy.inf)"
        )
    if taken is not None and ((row == row[0]) | (row != row) & (row[0] != row[0])).all():
        spare = _default_neutral(taken - {"?"}) or next(c for c in "?#*_" if c not in taken)
        remedy = f"pass neutral={spare!r}, or another letter that is not in the alphabet"
    return ValueError(
        f"the row of letter [{where}] must have a single 1 and zeros, or equal elements, got"
        f" {numbers}: {remedy}"
    )


def _stripped(
    rows: AnyArray, text: AnyArray, sizes: npt.NDArray[np.int64]
) -> tuple[AnyArray, npt.NDArray[np.int64]]:
    """Return letters without the rows of zeros at both ends of each sequence, and the new sizes."""
    is_letter = np.zeros(len(rows), np.bool_)
    step = max(1, BLOCK // rows.shape[1])
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        is_letter[start : start + len(block)] = (block != 0).any(1)
    ends = np.cumsum(sizes)
    sequence = np.repeat(np.arange(len(sizes)), sizes)
    places = np.flatnonzero(is_letter)
    first, last = ends.copy(), ends - sizes
    np.minimum.at(first, sequence[places], places)
    np.maximum.at(last, sequence[places], places + 1)
    last = np.maximum(first, last)
    position = np.arange(len(rows))
    kept = (position >= first[sequence]) & (position < last[sequence])
    return text[kept], last - first


def _as_output(
    text: AnyArray, sizes: npt.NDArray[np.int64], shape: tuple[int, ...], output: str
) -> Any:
    """Return letters as a list, an array or an Arrow array."""
    if output in ("S", "U") and (text == 0).any():
        raise ValueError(
            f"output={output!r} cannot represent the letter NUL, which NumPy removes at the end of"
            " a string: pass output='list'"
        )
    if output == "S" and text.dtype != np.uint8:
        raise ValueError("output='S' needs letters of one byte: pass output='U'")
    if output == "S":
        width = max(int(sizes.max(initial=0)), 1)
        matrix = np.zeros((len(sizes), width), np.uint8)
        matrix[np.arange(width) < sizes[:, None]] = text
        return matrix.view(f"S{width}").reshape(shape)
    if text.dtype == np.uint8:
        joined = text.tobytes().decode("latin-1")
    else:
        joined = text.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    ends = np.cumsum(sizes).tolist()
    texts = [joined[end - size : end] for end, size in zip(ends, sizes.tolist(), strict=True)]
    if output == "arrow":
        if len(shape) > 1:
            raise ValueError(
                f"output='arrow' needs a tensor of rank 2 or 3, got rank {len(shape) + 2}"
            )
        pyarrow = require("pyarrow", what="output='arrow'")
        if ((text >= 0xD800) & (text <= 0xDFFF)).any():
            raise ValueError(
                "output='arrow' cannot represent surrogates, which UTF-8 excludes: pass"
                " output='list'"
            )
        return pyarrow.array(texts, "string")
    if output == "U":
        return np.array(texts, f"U{max(int(sizes.max(initial=0)), 1)}").reshape(shape)
    if not shape:
        return texts[0]
    found = np.empty(len(texts), object)
    found[:] = texts
    return found.reshape(shape).tolist()
