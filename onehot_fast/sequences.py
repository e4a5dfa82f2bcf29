"""Encoding of the letters of sequences, such as DNA, proteins and text, and the reverse."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments import scatter
from onehot_fast._arguments.arraylikes import (
    as_array,
    is_array_like,
    is_container,
    items_of,
    unwrapped,
)
from onehot_fast._arguments.checks import check_choice, max_positional
from onehot_fast._arguments.indices import as_contiguous, as_integer
from onehot_fast._arguments.messages import listed, shown, with_article
from onehot_fast._arguments.shapes import check_size, insert_depth, normalize_axis
from onehot_fast._arguments.values import as_element, resolve_values
from onehot_fast._arrow.array import Array
from onehot_fast._categories.letters import segments_of_arrow, segments_of_texts
from onehot_fast._categories.values import Values
from onehot_fast._kernels import table_rows
from onehot_fast._kernels.table_rows import Segments
from onehot_fast._runtime import memory, parallel
from onehot_fast._runtime.registry import integration, reader_of, require

__all__ = [
    "ALPHABETS", "decode_sequences", "lowercase_mask", "one_hot_sequences", "tokenize_sequences",
]  # fmt: skip

AnyArray: TypeAlias = npt.NDArray[Any]
Offsets: TypeAlias = npt.NDArray[np.int64]
Side: TypeAlias = Literal["right", "left", "both"]

SIDES = ("right", "left", "both")
# The named alphabets. An item of several letters is one class with several letters.
ALPHABETS: dict[str, tuple[str, ...]] = {
    "dna": tuple("ACGT"),
    "rna": tuple("ACGU"),
    "nucleotides": ("A", "C", "G", "TU"),
    "iupac": tuple("ACGTRYSWKMBDHVN"),
    "protein": tuple("ACDEFGHIKLMNPQRSTVWY"),
}
# The ambiguity codes of the IUPAC, as the letters that each of them stands for.
IUPAC_NUCLEOTIDES = {
    "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC", "B": "CGT", "D": "AGT",
    "H": "ACT", "V": "ACG", "N": "ACGT",
}  # fmt: skip
IUPAC_AMINO_ACIDS = {"B": "DN", "Z": "EQ", "J": "IL", "X": "ACDEFGHIKLMNPQRSTVWY"}
# How words begin that people use instead of the name of an alphabet.
OTHER_NAMES = {"amino": "protein", "peptide": "protein", "nucle": "nucleotides"}
MIN_NAME_LENGTH = 3
N_BYTES = 256
MAX_SHOWN_LETTERS = 30
# The number of elements that one NumPy call compares.
BLOCK = 1 << 18


# ---- The options that say what a letter means ----


class Coding(NamedTuple):
    """What each letter means: the number of a row of elements."""

    row_of: dict[int, int]  # the row of each letter, by its code point
    rows: AnyArray  # (n_rows, n_classes)
    other: int  # the row of every other letter; -1: it is an error
    pad: int
    on: AnyArray  # the elements of most rows
    off: AnyArray
    where: str  # what an error says about other letters

    def table(self) -> npt.NDArray[np.uint8]:
        """Return the rows of all letters of one byte, and the pad, as bytes."""
        numbers = np.full(N_BYTES + 1, self.other)
        for letter, row in self.row_of.items():
            if letter < N_BYTES:
                numbers[letter] = row
        numbers[N_BYTES] = self.pad
        return _as_bytes(self.rows[numbers]).reshape(N_BYTES + 1, -1)

    def numbers(self, points: AnyArray) -> npt.NDArray[np.int64]:
        """Return the row of each code point, or -1 for a letter that is an error."""
        lut = np.full(int(points.max(initial=0)) + 1, self.other)
        known = [letter for letter in self.row_of if letter < len(lut)]
        lut[known] = [self.row_of[letter] for letter in known]
        return lut[points]


def _as_bytes(array: AnyArray) -> npt.NDArray[np.uint8]:
    """Return the memory of a contiguous array as bytes."""
    return array.reshape(-1).view(np.uint8)


def _letters_of(value: Any, name: str) -> list[str]:
    """Return the letters of a str, bytes, or a sequence of them, as strings of one letter."""
    if isinstance(value, str):
        return list(value)
    if isinstance(value, bytes | bytearray):
        return list(value.decode("latin-1"))
    return [letter for item in items_of(value, name) for letter in _item_letters(item, name)]


def _item_letters(item: Any, name: str) -> list[str]:
    """Return the letters of one item of an alphabet."""
    if not isinstance(item, str | bytes) or not item:
        raise TypeError(f"{name} must contain letters, got {shown(item)}")
    return _letters_of(item, name)


def _check_name(text: str) -> None:
    """Raise an error for letters that are probably a misspelt name of an alphabet."""
    if len(text) < MIN_NAME_LENGTH or text.isupper() or not text[1:].islower():
        return
    from difflib import get_close_matches  # imported here because the import takes 1 ms

    word = text.lower().strip(" _-")
    meant = [name for start, name in OTHER_NAMES.items() if word.startswith(start)]
    meant += get_close_matches(word, ALPHABETS, 1, 0.65)
    if meant:
        raise ValueError(
            f"alphabet must be letters or one of {listed(ALPHABETS)}, got {text!r}; did you mean"
            f" {meant[0]!r}? If these are the letters, pass list({text!r})"
        )


def _read_alphabet(alphabet: Any) -> list[list[str]]:
    """Return the letters of each class."""
    if isinstance(alphabet, str | bytes | bytearray):
        name = "".join(_letters_of(alphabet, "alphabet"))
        alphabet = ALPHABETS.get(name.lower(), alphabet)
    if isinstance(alphabet, str | bytes | bytearray):
        _check_name(name)
    if isinstance(alphabet, str | bytes | bytearray):
        classes = [[letter] for letter in _letters_of(alphabet, "alphabet")]
    else:
        classes = [_item_letters(item, "alphabet") for item in items_of(alphabet, "alphabet")]
    if not classes:
        raise ValueError("alphabet must have at least one letter, got none")
    letters = [letter for each in classes for letter in each]
    for i, letter in enumerate(letters):
        if letter in letters[:i]:
            raise ValueError(f"alphabet must have distinct letters, got {letter!r} twice")
    return classes


class _Meanings:
    """Collects the letters of all options, and the row of each."""

    def __init__(self, classes: list[list[str]], ignore_case: bool) -> None:
        self.row_of: dict[str, int] = {}
        self.classes = classes
        self.ignore_case = ignore_case
        for row, letters in enumerate(classes):
            for letter in letters:
                self.add(letter, row, "alphabet")

    def add(self, letter: str, row: int, option: str) -> None:
        """Give a letter its row, and also its other case if case is ignored."""
        forms = {letter}
        if self.ignore_case and len(letter.swapcase()) == 1:
            forms.add(letter.swapcase())
        for form in sorted(forms):
            if self.row_of.setdefault(form, row) != row:
                case = " (ignore_case=True)" if self.ignore_case else ""
                raise ValueError(
                    f"{option} must not contain {letter!r}, because another class or option"
                    f" contains {form!r}{case}"
                )

    def position(self, letter: str) -> int | None:
        """Return the class of a letter of the alphabet, or None."""
        row = self.row_of.get(letter)
        return row if row is not None and row < len(self.classes) else None

    def points(self) -> dict[int, int]:
        """Return the row of each letter by its code point."""
        return {ord(letter): row for letter, row in self.row_of.items()}


def _described(classes: list[list[str]]) -> str:
    """Return an alphabet for a message."""
    if all(len(letters) == 1 for letters in classes):
        text = "".join(letters[0] for letters in classes)
        return repr(text if len(text) <= MAX_SHOWN_LETTERS else f"{text[:MAX_SHOWN_LETTERS]}…")
    return shown(["".join(letters) for letters in classes])


def _ambiguity_codes(ambiguous: Any, meanings: _Meanings) -> dict[str, Any]:
    """Return the letters or weights of each ambiguous letter."""
    if ambiguous is None:
        return {}
    if isinstance(ambiguous, Mapping):
        for letter in ambiguous:
            if not isinstance(letter, str) or len(letter) != 1:
                raise TypeError(
                    f"the keys of ambiguous must be single letters, got {shown(letter)}"
                )
        return dict(ambiguous)
    if not isinstance(ambiguous, str):
        raise TypeError(f"ambiguous must be 'iupac', a mapping or None, got {shown(ambiguous)}")
    check_choice(ambiguous, "ambiguous", ("iupac",))
    has = {letter for letters in meanings.classes for letter in letters}
    has = {letter.upper() for letter in has} if meanings.ignore_case else has
    if has >= set(ALPHABETS["protein"]):
        codes = IUPAC_AMINO_ACIDS
    elif has >= set("ACG") and has & set("TU"):
        t = "T" if "T" in has else "U"
        codes = {code: letters.replace("T", t) for code, letters in IUPAC_NUCLEOTIDES.items()}
    else:
        raise ValueError(
            "ambiguous='iupac' needs an alphabet with A, C, G and T or U, or with the 20 amino"
            f" acids, got {_described(meanings.classes)}: pass a mapping such as {{'R': 'AG'}}"
        )
    # Letters of the alphabet and neutral letters keep their meaning.
    return {code: letters for code, letters in codes.items() if code not in meanings.row_of}


def _weights(letter: str, value: Any, meanings: _Meanings, weights: str) -> list[Any]:
    """Return the elements of the row of an ambiguous letter."""
    n_classes = len(meanings.classes)
    if not isinstance(value, str | bytes):
        numbers = items_of(value, f"ambiguous[{letter!r}]")
        if len(numbers) != n_classes:
            raise ValueError(
                f"ambiguous[{letter!r}] must be the letters that {letter!r} stands for, or"
                f" {n_classes} weights, got {len(numbers)} items"
            )
        return numbers
    positions = {}
    for each in _letters_of(value, f"ambiguous[{letter!r}]"):
        position = meanings.position(each)
        if position is None:
            raise ValueError(
                f"ambiguous[{letter!r}] must be letters of the alphabet"
                f" {_described(meanings.classes)}, got {each!r}"
            )
        positions[position] = each
    if not positions:
        raise ValueError(f"ambiguous[{letter!r}] must have at least one letter, got {value!r}")
    share: Any = 1 if weights == "ones" or len(positions) == 1 else 1 / len(positions)
    return [share if k in positions else 0 for k in range(n_classes)]


def _one_hot_coding(
    alphabet: Any,
    neutral: Any,
    neutral_value: Any,
    unknown: str,
    ambiguous: Any,
    ambiguous_weights: str,
    ignore_case: bool,
    pad_row: str,
    values: tuple[np.dtype[Any], AnyArray, AnyArray],
) -> Coding:
    """Return the rows of the options of `one_hot_sequences`."""
    element, on, off = values
    classes = _read_alphabet(alphabet)
    n_classes = len(classes)
    meanings = _Meanings(classes, ignore_case)
    rows = [*np.full((n_classes + 2, n_classes), off, element)]
    for k in range(n_classes):
        rows[k][k] = on
    zeros, neutral_row = n_classes, n_classes + 1
    rows[neutral_row][...] = as_element(neutral_value, element, "neutral_value")
    for letter in _letters_of(neutral, "neutral"):
        meanings.add(letter, neutral_row, "neutral")
    for letter, value in _ambiguity_codes(ambiguous, meanings).items():
        row = np.full(n_classes, off, element)
        for k, weight in enumerate(_weights(letter, value, meanings, ambiguous_weights)):
            row[k] = _weight_element(weight, element, letter)
        meanings.add(letter, len(rows), "ambiguous")
        rows.append(row)
    other = {"error": -1, "zeros": zeros, "neutral": neutral_row}[unknown]
    pad = {"zeros": zeros, "neutral": neutral_row}[pad_row]
    where = f"is not in the alphabet {_described(classes)}"
    return Coding(meanings.points(), np.array(rows, element), other, pad, on, off, where)


def _weight_element(weight: Any, element: np.dtype[Any], letter: str) -> AnyArray:
    """Return a weight of an ambiguous letter as an element of the result."""
    weight = weight.item() if isinstance(weight, np.generic) else weight
    try:
        return as_element(weight, element, f"the weight of {letter!r}")
    except ValueError as error:
        raise ValueError(f"{error}: pass a float dtype, or ambiguous_weights='ones'") from None


# ---- Sequences as letters ----


class Letters(NamedTuple):
    """Sequences as runs of letters."""

    shape: tuple[int, ...]  # the shape of the sequences; () for a single sequence
    segments: Segments  # letters of one byte, unless `points` is set
    # Code points of all letters, one sequence after another, if some exceed one byte.
    points: AnyArray | None = None
    is_utf8: bool = False  # whether letters beyond ASCII take several bytes of `segments`
    sources: tuple[AnyArray, ...] = ()  # the memory that is read, if others can write to it


def _read(sequences: Any) -> Letters:
    """Return sequences of any supported type as letters, in place if possible."""
    sequences = _content(unwrapped(sequences))
    if isinstance(sequences, str | bytes | bytearray):
        return _of_items([sequences], ())
    library = reader_of(sequences)
    if _is_table(sequences):
        raise TypeError(
            f"sequences must be one column, got {with_article(sequences)}: pass table['column']"
            " (collect a lazy frame first)"
        )
    if library is not None:
        return _of_column(integration(library).read_column(sequences))
    if is_array_like(sequences):
        if isinstance(sequences, memoryview) and sequences.format in ("B", "b", "c"):
            return _of_array(np.asarray(sequences).view(np.uint8))
        return _of_array(as_array(sequences, "sequences"))
    if isinstance(sequences, set | frozenset | Mapping) or not is_container(sequences):
        raise TypeError(
            "sequences must be a str, bytes, a sequence of them, an array of strings or of uint8"
            f" character codes, or a column of strings, got {with_article(sequences)}"
        )
    return _of_items(list(sequences))


def _is_table(source: Any) -> bool:
    """Tell whether an object is a DataFrame, or a table or record batch of Arrow."""
    return not isinstance(source, np.ndarray) and type(source).__name__ in (
        "DataFrame", "LazyFrame", "RecordBatch", "Table",
    )  # fmt: skip


def _content(item: Any) -> Any:
    """Return the letters of a record of a library of biology, and any other object unchanged.

    Records of pyfaidx and Biopython have the attribute ``seq``, and sequences of Biopython
    have the method ``__bytes__``.
    """
    if isinstance(item, np.ndarray | list | tuple | bytes | str) or reader_of(item) is not None:
        return item
    if isinstance(item, os.PathLike):  # a path has the method as well
        return item
    letters = getattr(item, "seq", item)
    if hasattr(letters, "__bytes__") and not is_array_like(letters):
        return bytes(letters)
    return letters if isinstance(letters, str) else item


def _of_items(items: list[Any], shape: tuple[int, ...] | None = None) -> Letters:
    """Return a list of sequences as letters."""
    shape = (len(items),) if shape is None else shape
    if not set(map(type, items)) <= {str, bytes}:
        items = [_as_text(item, i, shape) for i, item in enumerate(items)]
    segments = segments_of_texts(items)
    if segments is not None:
        return Letters(shape, segments)
    texts = [item if isinstance(item, str) else item.decode("latin-1") for item in items]
    encoded = "".join(texts).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(encoded, np.dtype("<u4"))
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    return Letters(shape, _placeholder(sizes), points)


def _placeholder(sizes: npt.NDArray[np.int64]) -> Segments:
    """Return segments with the lengths of sequences whose letters are code points."""
    offsets = _offsets(sizes)
    return Segments.of_flat(np.empty(int(offsets[-1]), np.uint8), offsets)


def _offsets(sizes: npt.NDArray[np.int64]) -> Offsets:
    """Return the start of each sequence, followed by the end of the last one."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _as_text(item: Any, position: int, shape: tuple[int, ...]) -> str | bytes:
    """Return one sequence as a plain str or bytes."""
    item = _content(unwrapped(item))
    if isinstance(item, str):
        return str.__str__(item) if type(item) is not str else item
    if isinstance(item, bytes | bytearray):
        return bytes(item)
    where = _place(position, shape)
    if is_array_like(item):
        array = as_array(item, where)
        if array.ndim == 1 and array.dtype.kind in "SU" and _letter_width(array) == 1:
            # NumPy returns the letter NUL as an empty string.
            is_text = array.dtype.kind == "U"
            return "".join(c or "\0" for c in array.tolist()) if is_text else array.tobytes()
        if array.ndim == 1 and array.dtype == np.uint8:
            return array.tobytes()
    raise TypeError(
        f"{where} must be a str or bytes, got {with_article(item)}: {shown(item)}"
        f"{'; fill or remove missing sequences' if _is_absent(item) else ''}"
    )


def _is_absent(item: Any) -> bool:
    """Tell whether an object is a missing value: None, NaN or pandas.NA."""
    return (
        item is None
        or type(item).__name__ in ("NAType", "NaTType")
        or (isinstance(item, float) and math.isnan(item))
    )


def _place(position: int, shape: tuple[int, ...]) -> str:
    """Return the index expression of a sequence."""
    if not shape:
        return "sequences"
    return f"sequences[{', '.join(map(str, np.unravel_index(position, shape)))}]"


def _of_column(column: Any) -> Letters:
    """Return the column of a library as letters."""
    chunks = column.chunks if isinstance(column, Values) else None
    if chunks is not None and all(isinstance(chunk, Array) for chunk in chunks):
        kinds = {chunk.schema.kind for chunk in chunks}
        if kinds <= {"string", "binary"}:
            row = 0
            for chunk in chunks:
                valid = chunk.valid()
                if valid is not None:
                    raise TypeError(
                        f"{_place(row + int(np.argmin(valid)), (1 << 62,))} is missing: fill or"
                        " remove missing sequences"
                    )
                row += len(chunk)
            return Letters(
                (row,),
                segments_of_arrow(list(chunks)),
                is_utf8=kinds == {"string"},
                sources=tuple(part for chunk in chunks for part in _chunk_memory(chunk)),
            )
        if all(chunk.schema.format == "C" for chunk in chunks):
            has_missing = any(chunk.valid() is not None for chunk in chunks)
            return _of_codes([chunk.codes() for chunk in chunks], has_missing)
    elif chunks is not None:
        if chunks and all(chunk.dtype == np.uint8 for chunk in chunks):
            has_missing = any(np.ma.getmaskarray(chunk).any() for chunk in chunks)
            return _of_codes([np.ma.getdata(chunk) for chunk in chunks], has_missing)
        return _of_items([item for chunk in chunks for item in chunk.tolist()])
    items = column.encode().tolist()
    return _of_items(items)


class _Memory:
    """Memory at an address, as an object that NumPy reads without a copy."""

    def __init__(self, address: int, size: int, owner: Array) -> None:
        self.__array_interface__ = {
            "version": 3, "typestr": "|u1", "shape": (size,), "data": (address, True),
        }  # fmt: skip
        self.owner = owner


def _chunk_memory(chunk: Array) -> list[AnyArray]:
    """Return the buffers of an Arrow chunk of checked strings or bytes without nulls."""

    def memory_at(address: Any, size: int) -> AnyArray:
        if not (address and size):
            return np.empty(0, np.uint8)
        return np.asarray(_Memory(address, size, chunk))

    if not len(chunk):
        return []
    # The start and the number of rows; the buffers follow the format, the name, the metadata and
    # three numbers.
    start, n_rows = int(str(chunk.identity[0])), len(chunk)
    code, buffers = chunk.schema.format, chunk.identity[10:-1]
    if code in ("vu", "vz"):
        views = memory_at(buffers[1], 16 * (start + n_rows))
        n_data = len(buffers) - 3
        sizes = memory_at(buffers[-1], 8 * n_data).view(np.int64).tolist()
        data = [memory_at(buffers[2 + i], size) for i, size in enumerate(sizes)]
        return [views, memory_at(buffers[-1], 8 * n_data), *data]
    kind = np.dtype(np.int64 if code in ("U", "Z") else np.int32)
    offsets = memory_at(buffers[1], kind.itemsize * (start + n_rows + 1))
    return [offsets, memory_at(buffers[2], int(offsets.view(kind)[-1]))]


def _of_codes(chunks: list[AnyArray], has_missing: bool) -> Letters:
    """Return a column of character codes as the letters of one sequence."""
    if has_missing:
        raise TypeError("sequences has missing character codes: fill or remove them")
    if not chunks:
        return _of_items([""], ())
    return _of_array(np.concatenate(chunks))._replace(sources=tuple(chunks))


def _letter_width(array: AnyArray) -> int:
    """Return how many letters an element of a fixed-width string dtype has."""
    return array.dtype.itemsize // (4 if array.dtype.kind == "U" else 1)


def _of_array(array: AnyArray) -> Letters:
    """Return an array as letters: of sequences, or of single letters along the last axis."""
    kind = array.dtype.kind
    if kind in "OT":
        items = [array[()]] if array.ndim == 0 else array.reshape(-1).tolist()
        return _of_items(items, array.shape)
    if kind not in "SU" and array.dtype != np.uint8:
        raise TypeError(
            f"sequences must be strings, bytes or uint8 character codes, got dtype {array.dtype}"
        )
    if kind in "SU" and array.ndim == 0:
        return _of_items([array.item()], ())
    if kind in "SU" and _letter_width(array) != 1:
        return _of_fixed(array)
    if array.ndim == 0:
        raise ValueError("sequences must have at least one dimension, the letters, got a scalar")
    shape, n_letters = array.shape[:-1], array.shape[-1]
    letters = as_contiguous(array)
    if kind == "U" and array.size:
        points = _points(letters).reshape(-1)
        return _of_points(shape, points, np.full(math.prod(shape), n_letters, np.int64), array)
    if not array.size:
        letters = np.empty(array.shape, np.uint8)
    matrix = letters.view(np.uint8).reshape(math.prod(shape), n_letters)
    return Letters(shape, Segments.of_matrix(matrix), sources=(array,))


def _points(array: AnyArray) -> npt.NDArray[np.uint32]:
    """Return the code points of a contiguous array of dtype U."""
    return array.view(np.dtype("u4").newbyteorder(array.dtype.byteorder)).astype(
        np.uint32, copy=False
    )


def _of_points(
    shape: tuple[int, ...], points: AnyArray, sizes: npt.NDArray[np.int64], source: AnyArray
) -> Letters:
    """Return code points as letters of one byte if all fit."""
    if points.max(initial=0) < N_BYTES:
        segments = Segments.of_flat(points.astype(np.uint8), _offsets(sizes))
        return Letters(shape, segments, sources=(source,))
    return Letters(shape, _placeholder(sizes), points, sources=(source,))


def _of_fixed(array: AnyArray) -> Letters:
    """Return an array of dtype S or U, of which each element is a sequence, as letters."""
    flat = as_contiguous(array).reshape(-1)
    width = _letter_width(array)
    if not width:
        return _of_items([""] * len(flat), array.shape)
    letters: AnyArray = flat.view(np.uint8) if array.dtype.kind == "S" else _points(flat)
    matrix = letters.reshape(len(flat), width)
    # NumPy fills short strings with NUL, which it therefore does not count at the end.
    is_filled = matrix != 0
    sizes = np.where(is_filled.any(1), width - is_filled[:, ::-1].argmax(1), 0).astype(np.int64)
    if array.dtype.kind == "S" and (sizes == width).all():
        return Letters(array.shape, Segments.of_matrix(matrix), sources=(array,))
    kept = matrix[np.arange(width) < sizes[:, None]]
    return _of_points(array.shape, kept, sizes, array)


# ---- Letters to rows ----


class _LengthKeywords(TypedDict, total=False):
    """The keywords that decide the length of a sequence in the result."""

    length: int | None
    pad: Side | None
    truncate: Side | None


class _CodingKeywords(_LengthKeywords, total=False):
    """The keywords of `one_hot_sequences` that do not change the type of its result."""

    neutral: Any
    neutral_value: Any
    unknown: Literal["error", "zeros", "neutral"]
    ambiguous: Any
    ambiguous_weights: Literal["share", "ones"]
    ignore_case: bool
    pad_row: Literal["zeros", "neutral"]
    axis: int
    dtype: npt.DTypeLike | None
    out: AnyArray | None
    num_threads: int | None


def _check_lengths(length: Any, pad: str | None, truncate: str | None, ragged: bool) -> int | None:
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
            f"{_place(first, letters.shape)} must have at most length={length} letters, got"
            f" {sizes[first]}: pass truncate='right' (or 'left', 'both')"
        )
    if least < length and pad is None and len(letters.segments):
        sizes = letters.segments.sizes()
        first = int(np.argmax(sizes < length))
        raise ValueError(
            f"{_place(first, letters.shape)} must have length={length} letters, got"
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


def _checked(letters: Letters, coding: Coding, ignore_case: bool, threads: int) -> Letters:
    """Return letters of which each has a meaning, or raise an error for the first other letter.

    Text in UTF-8 with letters beyond ASCII is decoded.
    """
    if letters.points is not None:
        numbers = coding.numbers(letters.points)
        if coding.other < 0 and (numbers < 0).any():
            at = int(np.argmax(numbers < 0))
            offsets = _offsets(letters.segments.sizes())
            first = int(np.searchsorted(offsets, at, "right")) - 1
            place, position = _place(first, letters.shape), at - int(offsets[first])
            raise _unknown_letter(chr(letters.points[at]), place, position, coding, ignore_case)
        return letters
    flags = _ascii_flags(coding.other, coding.row_of, letters.is_utf8)
    if flags is None:
        return letters
    offsets = _offsets(letters.segments.sizes())
    found = table_rows.find_first(letters.segments, flags, offsets, threads)
    if found is None:
        return letters
    run, position = found
    byte = letters.segments.item(run)[position]
    if letters.is_utf8 and byte >= 128:
        texts = [_utf8_text(letters, i) for i in range(letters.segments.n)]
        return _checked(_of_items(texts, letters.shape), coding, ignore_case, threads)
    raise _unknown_letter(chr(byte), _place(run, letters.shape), position, coding, ignore_case)


def _utf8_text(letters: Letters, i: int) -> str:
    """Return a sequence in UTF-8 as a str."""
    try:
        return letters.segments.item(i).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{_place(i, letters.shape)} must be UTF-8, got the byte"
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


def _encode(
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
    letters = _checked(letters, coding, ignore_case, threads)
    offsets: Offsets | None = None
    if ragged:
        offsets = _offsets(letters.segments.sizes())
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
        table_rows.encode(
            segments,
            table,
            _as_bytes(target),
            _as_bytes(coding.on),
            _as_bytes(coding.off),
            length=size,
            side=pad or "right",
            inner=max(math.prod(shape[position:]), 1),
            offsets=offsets,
            num_threads=threads,
            zeroed=zeroed,
        )
    if cells is not None and target is not cells:
        cells[...] = target
    result = target if cells is None else out
    return (result, offsets) if ragged else result


def _segments_and_table(
    letters: Letters, coding: Coding
) -> tuple[Segments | None, npt.NDArray[np.uint8]]:
    """Return the codes and the table for the kernel; None if there are too many rows for bytes."""
    if letters.points is None:
        return letters.segments, coding.table()
    n_rows = len(coding.rows)
    table = np.zeros((N_BYTES + 1, coding.rows.shape[1]), coding.rows.dtype)
    if n_rows > N_BYTES:
        return None, _as_bytes(table)
    table[:n_rows] = coding.rows
    table[N_BYTES] = coding.rows[coding.pad]
    numbers = coding.numbers(letters.points).astype(np.uint8)
    segments = Segments.of_flat(numbers, _offsets(letters.segments.sizes()))
    return segments, _as_bytes(table).reshape(N_BYTES + 1, -1)


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
        offsets = _offsets(letters.segments.sizes())
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


@overload
def one_hot_sequences(
    sequences: Any,
    alphabet: Any = "ACGT",
    *,
    ragged: Literal[False] = False,
    **keywords: Unpack[_CodingKeywords],
) -> AnyArray: ...
@overload
def one_hot_sequences(
    sequences: Any,
    alphabet: Any = "ACGT",
    *,
    ragged: Literal[True],
    **keywords: Unpack[_CodingKeywords],
) -> tuple[AnyArray, Offsets]: ...
@max_positional(2, "pass the options after one_hot_sequences(sequences, alphabet) by keyword")
def one_hot_sequences(
    sequences: Any,
    alphabet: Any = "ACGT",
    *,
    neutral: Any = "",
    neutral_value: Any = 0,
    unknown: Literal["error", "zeros", "neutral"] = "error",
    ambiguous: Any = None,
    ambiguous_weights: Literal["share", "ones"] = "share",
    ignore_case: bool = False,
    length: int | None = None,
    pad: Side | None = None,
    pad_row: Literal["zeros", "neutral"] = "zeros",
    truncate: Side | None = None,
    ragged: bool = False,
    axis: int = -1,
    dtype: npt.DTypeLike | None = None,
    out: AnyArray | None = None,
    num_threads: int | None = None,
) -> Any:
    """Return the one-hot encoding of the letters of sequences.

    Parameters
    ----------
    sequences : str, bytes, sequence of them, or array_like
        One sequence of L letters, or N sequences. Arrays of dtype S1, U1 or uint8 (character codes)
        contain single letters, and their last axis is the sequence. Each element of another array
        of strings, bytes or objects, and of an Arrow array or a Series, is a sequence. A byte
        is the letter with this code point. Letters beyond Latin-1 are slower.
    alphabet : str, bytes or sequence of str, default "ACGT"
        The letters in the order of the classes, or the name of an alphabet: "dna", "rna",
        "nucleotides" (T and U are one class), "iupac" or "protein" (`ALPHABETS`). An item of a
        sequence may have several letters, which are one class: ``["A", "C", "G", "TU"]``. Lower
        case that resembles a name, such as "proteins", raises an error.
    neutral : str, bytes or sequence of str, default ""
        Letters that get `neutral_value` in every class, such as "N" or "N-".
    neutral_value : scalar, default 0
        For example 0, 0.25, NaN or -1.
    unknown : {"error", "zeros", "neutral"}, default "error"
        Whether a letter that no option names raises an error, or becomes a row of zeros or a
        neutral row.
    ambiguous : "iupac" or mapping, optional
        Letters that stand for several letters: a mapping such as ``{"R": "AG"}``, or a mapping from
        a letter to its weights, one for each class. "iupac" means the codes of nucleotides or amino
        acids that have no other meaning. By default, no letter is ambiguous.
    ambiguous_weights : {"share", "ones"}, default "share"
        Whether each of the ``n`` letters that an ambiguous letter stands for gets ``1 / n`` or 1.
    ignore_case : bool, default False
        Whether "a" means the same as "A". `lowercase_mask` finds lower-case letters.
    length : int, optional
        The number of letters of each sequence in the result; by default that of the longest.
    pad : {"right", "left", "both"}, optional
        Where shorter sequences are padded. By default, they raise an error.
    pad_row : {"zeros", "neutral"}, default "zeros"
        Whether a sequence is padded with rows of zeros or with neutral rows.
    truncate : {"right", "left", "both"}, optional
        Where sequences longer than `length` are cut. By default, they raise an error.
    ragged : bool, default False
        Whether the result is one flat array of all letters and the offsets of the sequences.
    axis : int, default -1
        The position of the classes in the result; 1 for the convolutions of torch.
    dtype : dtype_like, default float32
        A Boolean or numeric dtype, also one that ml_dtypes registers.
    out : ndarray, optional
        The array to write the result to. It must have the shape and dtype of the result.
    num_threads : int, optional
        The number of threads. By default, it depends on the size of the result.

    Returns
    -------
    ndarray of shape (L, K), (N, L, K) or (..., L, K)
        With `ragged`, a tuple: an array of shape (n_letters, K), and the offsets, an int64 array of
        shape (N + 1,). Sequence ``i`` has the rows ``offsets[i]`` to ``offsets[i + 1]``.

    Raises
    ------
    TypeError
        The sequences, a letter or an option have the wrong type, or a sequence is missing.
    ValueError
        A letter is not in the alphabet (the message names the first such letter with its sequence
        and position); lengths differ; an option has an unknown value; the letters of the options
        overlap; the dtype cannot hold a value; `out` does not fit. `out` is not changed.
    MemoryError
        The result is larger than the free memory. Nothing has been allocated.

    See Also
    --------
    decode_sequences : Return the sequences of a one-hot encoding.
    tokenize_sequences : Return the class of each letter, for embeddings.

    Examples
    --------
    >>> import onehot_fast
    >>> onehot_fast.one_hot_sequences("GATTA", dtype="uint8")
    array([[0, 0, 1, 0],
           [1, 0, 0, 0],
           [0, 0, 0, 1],
           [0, 0, 0, 1],
           [1, 0, 0, 0]], dtype=uint8)
    >>> options = {"neutral": "N", "neutral_value": 0.25, "ignore_case": True, "pad": "right"}
    >>> batch = onehot_fast.one_hot_sequences(["ACGTN", "ggat"], "ACGT", axis=1, **options)
    >>> batch.shape
    (2, 4, 5)
    >>> batch[0]
    array([[1.  , 0.  , 0.  , 0.  , 0.25],
           [0.  , 1.  , 0.  , 0.  , 0.25],
           [0.  , 0.  , 1.  , 0.  , 0.25],
           [0.  , 0.  , 0.  , 1.  , 0.25]], dtype=float32)
    >>> onehot_fast.one_hot_sequences(["ACG", "AXG"])
    Traceback (most recent call last):
        ...
    ValueError: sequences[1], position 1: the letter 'X' is not in the alphabet 'ACGT'; pass \
neutral='X' or unknown='neutral'
    """
    check_choice(unknown, "unknown", ("error", "zeros", "neutral"))
    check_choice(ambiguous_weights, "ambiguous_weights", ("share", "ones"))
    check_choice(pad_row, "pad_row", ("zeros", "neutral"))
    _check_flag(ignore_case, "ignore_case")
    _check_flag(ragged, "ragged")
    length = _check_lengths(length, pad, truncate, ragged)
    default = out.dtype if isinstance(out, np.ndarray) else None
    chosen = default if dtype is None else np.dtype(dtype)
    if chosen is not None:
        _check_number(chosen)
    values = resolve_values(1, 0, dtype, default)
    coding = _one_hot_coding(
        alphabet, neutral, neutral_value, unknown, ambiguous, ambiguous_weights, ignore_case,
        pad_row, values,
    )  # fmt: skip
    axis = as_integer(axis, "axis")
    if ragged and axis not in (-1, 1):
        raise ValueError(f"axis must be -1 with ragged=True, got {axis}")
    return _encode(
        _read(sequences), coding, ignore_case, axis=axis, length=length, pad=pad,
        truncate=truncate, ragged=ragged, out=out, num_threads=num_threads,
    )  # fmt: skip


def _check_flag(value: object, name: str) -> None:
    """Raise an error unless a value is a bool."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")


def _check_number(element: np.dtype[Any]) -> None:
    """Raise an error for a dtype of the result that has no numbers."""
    if element.kind not in "biufc" and element.isbuiltin != 2:
        raise TypeError(f"dtype must be a Boolean or numeric dtype, got {element}")


class _TokenKeywords(_LengthKeywords, total=False):
    """The keywords of `tokenize_sequences` that do not change the type of its result."""

    neutral: Any
    neutral_code: int
    unknown: Literal["error", "neutral"]
    ignore_case: bool
    pad_code: int
    dtype: npt.DTypeLike
    out: AnyArray | None
    num_threads: int | None


@overload
def tokenize_sequences(
    sequences: Any,
    alphabet: Any = "ACGT",
    *,
    ragged: Literal[False] = False,
    **keywords: Unpack[_TokenKeywords],
) -> AnyArray: ...
@overload
def tokenize_sequences(
    sequences: Any,
    alphabet: Any = "ACGT",
    *,
    ragged: Literal[True],
    **keywords: Unpack[_TokenKeywords],
) -> tuple[AnyArray, Offsets]: ...
@max_positional(2, "pass the options after tokenize_sequences(sequences, alphabet) by keyword")
def tokenize_sequences(
    sequences: Any,
    alphabet: Any = "ACGT",
    *,
    neutral: Any = "",
    neutral_code: int = -1,
    unknown: Literal["error", "neutral"] = "error",
    ignore_case: bool = False,
    length: int | None = None,
    pad: Side | None = None,
    pad_code: int = -1,
    truncate: Side | None = None,
    ragged: bool = False,
    dtype: npt.DTypeLike = np.int32,
    out: AnyArray | None = None,
    num_threads: int | None = None,
) -> Any:
    """Return the number of the class of each letter, for embeddings.

    Parameters
    ----------
    sequences, alphabet, ignore_case, length, pad, truncate, ragged, out, num_threads
        As for `one_hot_sequences`.
    neutral : str, bytes or sequence of str, default ""
        Letters that get `neutral_code`.
    neutral_code, pad_code : int, default -1
        The number of neutral letters, and of padding. An embedding needs numbers from 0: pass
        ``len(alphabet)``, for example.
    unknown : {"error", "neutral"}, default "error"
        Whether a letter that no option names raises an error, or gets `neutral_code`.
    dtype : dtype_like, default int32
        An integer dtype.

    Returns
    -------
    ndarray of shape (L,), (N, L) or (..., L)
        With `ragged`, a tuple: an array of shape (n_letters,), and the offsets.

    Examples
    --------
    >>> import onehot_fast
    >>> onehot_fast.tokenize_sequences(["GATN", "TA"], neutral="N", neutral_code=4, pad="right")
    array([[ 2,  0,  3,  4],
           [ 3,  0, -1, -1]], dtype=int32)
    """
    given: object = unknown
    if isinstance(given, str) and given == "zeros":
        raise ValueError(
            "unknown must be 'error' or 'neutral', got 'zeros': pass unknown='neutral' with"
            " neutral_code=, the number of other letters"
        )
    check_choice(unknown, "unknown", ("error", "neutral"))
    _check_flag(ignore_case, "ignore_case")
    _check_flag(ragged, "ragged")
    length = _check_lengths(length, pad, truncate, ragged)
    element = np.dtype(dtype)
    if element.kind not in "iu":
        raise TypeError(f"dtype must be an integer dtype, got {element}")
    classes = _read_alphabet(alphabet)
    meanings = _Meanings(classes, ignore_case)
    n_classes = len(classes)
    for letter in _letters_of(neutral, "neutral"):
        meanings.add(letter, n_classes, "neutral")
    rows = np.empty((n_classes + 2, 1), element)
    if n_classes - 1 > np.iinfo(element).max:
        raise ValueError(f"dtype must hold {n_classes - 1}, the last class, got {element}")
    rows[:n_classes, 0] = np.arange(n_classes)
    uses_neutral = len(meanings.row_of) > sum(map(len, classes)) or unknown == "neutral"
    for row, value, name, is_used in (
        (n_classes, neutral_code, "neutral_code", uses_neutral),
        (n_classes + 1, pad_code, "pad_code", pad is not None),
    ):
        number = as_integer(value, name)
        rows[row] = as_element(number, element, name) if is_used else 0
    coding = Coding(
        meanings.points(), rows, -1 if unknown == "error" else n_classes, n_classes + 1,
        rows[0], rows[0], f"is not in the alphabet {_described(classes)}",
    )  # fmt: skip
    return _encode(
        _read(sequences), coding, ignore_case, axis=None, length=length, pad=pad,
        truncate=truncate, ragged=ragged, out=out, num_threads=num_threads,
    )  # fmt: skip


@overload
def lowercase_mask(
    sequences: Any, *, ragged: Literal[False] = False, **keywords: Unpack[_LengthKeywords]
) -> npt.NDArray[np.bool_]: ...
@overload
def lowercase_mask(
    sequences: Any, *, ragged: Literal[True], **keywords: Unpack[_LengthKeywords]
) -> tuple[npt.NDArray[np.bool_], Offsets]: ...
@max_positional(1, "pass the options after lowercase_mask(sequences) by keyword")
def lowercase_mask(
    sequences: Any,
    *,
    length: int | None = None,
    pad: Side | None = None,
    truncate: Side | None = None,
    ragged: bool = False,
) -> Any:
    """Return which letters of sequences are lower case, such as the soft-masked bases of a genome.

    Parameters
    ----------
    sequences, length, pad, truncate, ragged
        As for `one_hot_sequences`. Padding is False.

    Returns
    -------
    ndarray of bool, of shape (L,), (N, L) or (..., L)
        With `ragged`, a tuple: an array of shape (n_letters,), and the offsets.

    Examples
    --------
    >>> import onehot_fast
    >>> onehot_fast.lowercase_mask(["ACgt", "a"], pad="right")
    array([[False, False,  True,  True],
           [ True, False, False, False]])
    """
    _check_flag(ragged, "ragged")
    length = _check_lengths(length, pad, truncate, ragged)
    rows = np.array([[False], [True]])
    coding = Coding({}, rows, 0, 0, rows[1], rows[0], "")
    letters = _checked(_read(sequences), coding, False, 1)
    points: Iterable[int] = range(N_BYTES)
    if letters.points is not None:
        points = np.flatnonzero(np.bincount(letters.points)).tolist()
    coding.row_of.update({point: 1 for point in points if chr(point).islower()})
    return _encode(
        letters, coding, False, axis=None, length=length, pad=pad, truncate=truncate,
        ragged=ragged, out=None, num_threads=None,
    )  # fmt: skip


# ---- Rows to letters ----


@max_positional(2, "pass the options after decode_sequences(tensor, alphabet) by keyword")
def decode_sequences(
    tensor: Any,
    alphabet: Any = "ACGT",
    *,
    axis: int = -1,
    rule: Literal["exact", "argmax"] = "exact",
    neutral: Any = ...,
    ambiguous: Any = None,
    ambiguous_weights: Literal["share", "ones"] = "share",
    offsets: Any = None,
    strip_padding: bool = False,
    output: Literal["list", "S", "U", "arrow"] = "list",
) -> Any:
    """Return the sequences of a one-hot encoding: the inverse of `one_hot_sequences`.

    Parameters
    ----------
    tensor : array_like of shape (L, K), (N, L, K) or (..., L, K)
        The encoding, with its K classes at `axis`.
    alphabet, ambiguous, ambiguous_weights
        As for `one_hot_sequences`. A class with several letters is decoded as its first letter.
    axis : int, default -1
        The dimension of the classes.
    rule : {"exact", "argmax"}, default "exact"
        "exact" returns the letter of the only 1 of a row whose other elements are 0. "argmax"
        returns the letter of the largest element of each row that is not neutral; NaN raises an
        error unless the whole row is NaN. An alphabet of one letter has that letter in each row
        that is neither 0 nor NaN. "argmax" cannot be combined with `ambiguous`.
    neutral : str, optional
        The letter of rows whose elements are all equal, which must not be in the alphabet. By
        default "X" for an alphabet with the 20 amino acids and "N" for any other, or "-" if this
        letter is in the alphabet. None raises an error for such rows.
    offsets : array_like of int, shape (N + 1,), optional
        If given, `tensor` has shape (n_letters, K), and sequence ``i`` has the rows
        ``offsets[i]:offsets[i + 1]``, as with ``ragged=True``.
    strip_padding : bool, default False
        Whether rows of zeros at both ends of a sequence are padding, and become no letter.
    output : {"list", "S", "U", "arrow"}, default "list"
        A (nested) list of str, an array of dtype S or U, or a `pyarrow.Array` of strings.

    Returns
    -------
    str, list of str, ndarray or pyarrow.Array
        A str if the tensor has shape (L, K) and `output` is "list".

    Raises
    ------
    TypeError
        The tensor or an option has the wrong type.
    ValueError
        A row is neither one-hot nor neutral nor the row of an ambiguous letter (the message names
        the first such row); the tensor has not K classes; an option has an unknown value.

    Examples
    --------
    >>> import onehot_fast
    >>> options = {"neutral": "N", "neutral_value": 0.25, "pad": "right"}
    >>> batch = onehot_fast.one_hot_sequences(["ACGTN", "GGAT"], **options)
    >>> onehot_fast.decode_sequences(batch)
    ['ACGTN', 'GGATN']
    >>> onehot_fast.decode_sequences(batch, strip_padding=True)
    ['ACGTN', 'GGAT']
    >>> onehot_fast.decode_sequences([[0.1, 0.2, 0.7, 0.0], [0.9, 0.0, 0.1, 0.0]], rule="argmax")
    'GA'
    """
    check_choice(rule, "rule", ("exact", "argmax"))
    check_choice(output, "output", ("list", "S", "U", "arrow"))
    check_choice(ambiguous_weights, "ambiguous_weights", ("share", "ones"))
    _check_flag(strip_padding, "strip_padding")
    is_letter = isinstance(neutral, str) and len(neutral) == 1
    if neutral is not None and neutral is not ... and not is_letter:
        raise TypeError(f"neutral must be a single letter or None, got {shown(neutral)}")
    if rule == "argmax" and ambiguous is not None:
        raise TypeError("ambiguous cannot be combined with rule='argmax'")
    classes = _read_alphabet(alphabet)
    if is_letter and any(neutral in letters for letters in classes):
        raise ValueError(
            f"neutral must not be a letter of the alphabet {_described(classes)}, got {neutral!r}"
        )
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
    meanings = _Meanings(classes, len({letter.lower() for letter in letters}) == len(letters))
    rows = {}
    for letter, value in _ambiguity_codes(ambiguous, meanings).items():
        rows[letter] = np.array(_weights(letter, value, meanings, weights)).astype(dtype)
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
