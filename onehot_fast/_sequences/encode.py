"""Check the letters and lengths of sequences, and write the row of each letter."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments import scatter
from onehot_fast._arguments.checks import check_choice
from onehot_fast._arguments.indices import as_integer
from onehot_fast._arguments.shapes import check_size, insert_depth, normalize_axis
from onehot_fast._kernels import table_rows
from onehot_fast._kernels.table_rows import Segments
from onehot_fast._runtime import memory, parallel
from onehot_fast._sequences.coding import (
    ALPHABETS,
    IUPAC_AMINO_ACIDS,
    IUPAC_NUCLEOTIDES,
    N_BYTES,
    Coding,
    as_bytes,
)
from onehot_fast._sequences.letters import Letters, Offsets, of_items, offsets_of, place_of

AnyArray: TypeAlias = npt.NDArray[Any]

SIDES = ("right", "left", "both")


def check_lengths(length: Any, pad: str | None, truncate: str | None, ragged: bool) -> int | None:
    """Return `length` as an int or None, after the check of all options of the length."""
    for value, name in ((pad, "pad"), (truncate, "truncate")):
        if value is not None:
            check_choice(value, name, SIDES)
    size = None if length is None else as_integer(length, "length", "an integer or None")
    if size is not None and size < 0:
        raise ValueError(f"length must be at least 0, got {size}")
    if truncate is not None and length is None:
        raise TypeError("truncate needs length=, the number of letters to keep")
    if ragged and not (length is None and pad is None and truncate is None):
        raise TypeError("length, pad and truncate cannot be combined with ragged=True")
    return size


def _resolve_length(
    letters: Letters, length: int | None, pad: str | None, truncate: str | None
) -> int:
    """Return the length of all sequences in the result, or raise an error."""
    least, most = letters.segments.extent()
    if length is None:
        if least < most and pad is None:
            raise ValueError(
                f"sequences must have equal lengths, got {least} to {most} letters: pass"
                " pad='right' (or 'left', 'both'), or ragged=True"
            )
        return most
    if most > length and truncate is None and len(letters.segments):
        sizes = letters.segments.sizes()
        first = int(np.argmax(sizes > length))
        raise ValueError(
            f"{place_of(first, letters.shape)} must have at most length={length} letters, got"
            f" {sizes[first]}: pass truncate='right' (or 'left', 'both')"
        )
    if least < length and pad is None and len(letters.segments):
        sizes = letters.segments.sizes()
        first = int(np.argmax(sizes < length))
        raise ValueError(
            f"{place_of(first, letters.shape)} must have length={length} letters, got"
            f" {sizes[first]}: pass pad='right' (or 'left', 'both')"
        )
    return length


def _ascii_flags(other: int, known: Iterable[int], is_utf8: bool) -> AnyArray | None:
    """Return a flag for each byte that is no known letter, or None if every byte is fine."""
    if other >= 0 and not is_utf8:
        return None
    flags = np.zeros(N_BYTES, np.uint8)
    if other < 0:
        flags[:] = 1
        flags[[letter for letter in known if letter < N_BYTES]] = 0
    if is_utf8:
        flags[128:] = 1
    return flags


def checked(letters: Letters, coding: Coding, ignore_case: bool, threads: int) -> Letters:
    """Return letters of which each has a meaning, or raise an error for the first other letter.

    Text in UTF-8 with letters beyond ASCII is decoded.
    """
    if letters.points is not None:
        numbers = coding.numbers(letters.points)
        if coding.other < 0 and (numbers < 0).any():
            at = int(np.argmax(numbers < 0))
            offsets = offsets_of(letters.segments.sizes())
            first = int(np.searchsorted(offsets, at, "right")) - 1
            place, position = place_of(first, letters.shape), at - int(offsets[first])
            raise _unknown_letter(chr(letters.points[at]), place, position, coding, ignore_case)
        return letters
    flags = _ascii_flags(coding.other, coding.row_of, letters.is_utf8)
    if flags is None:
        return letters
    offsets = offsets_of(letters.segments.sizes())
    found = table_rows.find_first(letters.segments, flags, offsets, threads)
    if found is None:
        return letters
    run, position = found
    byte = letters.segments.item(run)[position]
    if letters.is_utf8 and byte >= 128:
        texts = [_utf8_text(letters, i) for i in range(letters.segments.n)]
        return checked(of_items(texts, letters.shape), coding, ignore_case, threads)
    raise _unknown_letter(chr(byte), place_of(run, letters.shape), position, coding, ignore_case)


def _utf8_text(letters: Letters, i: int) -> str:
    """Return a sequence in UTF-8 as a str."""
    try:
        return letters.segments.item(i).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{place_of(i, letters.shape)} must be UTF-8, got the byte"
            f" {error.object[error.start]:#04x} at byte {error.start}: cast the column to binary"
            " if each byte is a letter"
        ) from None


def _unknown_letter(
    letter: str, place: str, position: int, coding: Coding, ignore_case: bool
) -> ValueError:
    """Return the error for a letter without a meaning."""
    known = {chr(point) for point in coding.row_of}
    upper = letter.upper()
    # Whether the letter could be meant as its upper case, which needs an option.
    is_folded = letter.islower() and not ignore_case and not any(map(str.islower, known))
    case = ", ignore_case=True" if is_folded else ""
    is_protein = known >= set(ALPHABETS["protein"])
    partner = {"T": "U", "U": "T", "t": "u", "u": "t"}.get(upper if is_folded else letter)
    if not ignore_case and letter.swapcase() in known:
        remedy = "pass ignore_case=True"
    elif partner in known and not is_protein:
        alphabet = _with_partner(coding, partner, upper if is_folded else letter, ignore_case)
        remedy = f"pass alphabet={alphabet}{case}, in which T and U are one class"
    else:
        remedy = f"pass neutral={(upper if is_folded else letter)!r}{case} or unknown='neutral'"
        codes = IUPAC_AMINO_ACIDS if is_protein else IUPAC_NUCLEOTIDES
        if known >= set("ACG") and upper in codes:
            remedy += f", or ambiguous='iupac'{case}"
    return ValueError(
        f"{place}, position {position}: the letter {letter!r} {coding.where}; {remedy}"
    )


def _with_partner(coding: Coding, partner: str, letter: str, ignore_case: bool) -> str:
    """Return the alphabet with another letter in the class of its partner, as an expression."""
    classes = [""] * coding.rows.shape[1]
    for point, row in coding.row_of.items():
        is_copy = ignore_case and chr(point).islower()
        if row < len(classes) and not is_copy:
            classes[row] += chr(point)
            if chr(point) == (partner.upper() if ignore_case else partner):
                classes[row] += letter.upper() if ignore_case else letter
    is_nucleotides = [each in ("TU", "UT") or each for each in classes] == ["A", "C", "G", True]
    return repr("nucleotides" if is_nucleotides else classes)


def encode(
    letters: Letters,
    coding: Coding,
    ignore_case: bool,
    *,
    axis: int | None,
    length: int | None,
    pad: str | None,
    truncate: str | None,
    ragged: bool,
    out: AnyArray | None,
    num_threads: int | None,
) -> Any:
    """Return the row of each letter, with its elements along `axis`, or without that axis."""
    element = coding.rows.dtype
    n_classes = coding.rows.shape[1]
    n_letters = int(letters.segments.sizes().sum())
    threads = parallel.resolve(num_threads, n_letters * n_classes * element.itemsize)
    # Nobody sees a new output before the kernel has checked its letters, which it then reads once.
    is_new = out is None and _is_plain(letters, length, pad, ragged)
    flags = _ascii_flags(coding.other, coding.row_of, False) if is_new else None
    if not is_new:
        letters = checked(letters, coding, ignore_case, threads)
    offsets: Offsets | None = None
    if ragged:
        offsets = offsets_of(letters.segments.sizes())
        shape: tuple[int, ...] = (int(offsets[-1]),)
        size = -1
    else:
        size = _resolve_length(letters, length, pad, truncate)
        shape = (*letters.shape, size)
    position = len(shape)
    if axis is not None:
        position = normalize_axis(axis, len(shape) + 1, "letters", len(shape))
    result_shape = shape if axis is None else insert_depth(shape, n_classes, position)
    cells = None
    if out is not None:
        cells = scatter.check_out(out, result_shape, element, letters.sources, "sequences")
    zeroed = False
    target = cells
    if target is None or not target.flags.c_contiguous:
        check_size(result_shape, element)
        target, zeroed = memory.allocate(result_shape, element)
    segments, table = _segments_and_table(letters, coding)
    if not math.prod(shape):
        pass  # there are no letters, and no padding
    elif segments is None:
        _take_rows(letters, coding, size, pad, truncate, position, target)
    else:
        if truncate is not None and segments.extent()[1] > size:
            segments = segments.cut(size, truncate)
        # Another thread may have corrected the letter before it is looked for.
        while table_rows.encode(
            segments,
            table,
            as_bytes(target),
            as_bytes(coding.on),
            as_bytes(coding.off),
            length=size,
            side=pad or "right",
            inner=max(math.prod(shape[position:]), 1),
            offsets=offsets,
            num_threads=threads,
            zeroed=zeroed,
            flags=flags,
        ):
            checked(letters, coding, ignore_case, threads)
    if cells is not None and target is not cells:
        cells[...] = target
    result = target if cells is None else out
    return (result, offsets) if ragged else result


def _is_plain(letters: Letters, length: int | None, pad: str | None, ragged: bool) -> bool:
    """Tell whether each letter is a byte, none is cut off, and the lengths are no error."""
    if letters.points is not None or letters.is_utf8:
        return False
    least, most = letters.segments.extent()
    size = most if length is None else length
    return ragged or (most <= size and (least == size or pad is not None))


def _segments_and_table(
    letters: Letters, coding: Coding
) -> tuple[Segments | None, npt.NDArray[np.uint8]]:
    """Return the codes and the table for the kernel; None if there are too many rows for bytes."""
    if letters.points is None:
        return letters.segments, coding.table()
    n_rows = len(coding.rows)
    table = np.zeros((N_BYTES + 1, coding.rows.shape[1]), coding.rows.dtype)
    if n_rows > N_BYTES:
        return None, as_bytes(table)
    table[:n_rows] = coding.rows
    table[N_BYTES] = coding.rows[coding.pad]
    numbers = coding.numbers(letters.points).astype(np.uint8)
    segments = Segments.of_flat(numbers, offsets_of(letters.segments.sizes()))
    return segments, as_bytes(table).reshape(N_BYTES + 1, -1)


def _take_rows(
    letters: Letters,
    coding: Coding,
    length: int,
    pad: str | None,
    truncate: str | None,
    position: int,
    target: AnyArray,
) -> None:
    """Write the rows of letters that have more than 256 rows."""
    assert letters.points is not None
    numbers = coding.numbers(letters.points)
    if length >= 0:
        offsets = offsets_of(letters.segments.sizes())
        padded = np.full((len(letters.segments), length), coding.pad)
        for i, row in enumerate(padded):
            begin, end = int(offsets[i]), int(offsets[i + 1])
            rest = max(end - begin - length, 0)
            begin += {"left": rest, "both": rest // 2}.get(truncate or "right", 0)
            end = min(end, begin + length)
            room = length - (end - begin)
            at = {"left": room, "both": room // 2}.get(pad or "right", 0)
            row[at : at + end - begin] = numbers[begin:end]
        numbers = padded.reshape(*letters.shape, length)
    if coding.rows.shape[1] == 1 and target.ndim == numbers.ndim:
        target[...] = coding.rows[:, 0][numbers]
    else:
        np.moveaxis(target, position, -1)[...] = coding.rows[numbers]
