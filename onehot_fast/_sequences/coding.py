"""What each letter of a sequence means: a row of elements, which the options choose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import items_of
from onehot_fast._arguments.checks import check_choice
from onehot_fast._arguments.indices import as_integer
from onehot_fast._arguments.messages import listed, shown
from onehot_fast._arguments.values import as_element

AnyArray: TypeAlias = npt.NDArray[Any]

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
        return as_bytes(self.rows[numbers]).reshape(N_BYTES + 1, -1)

    def numbers(self, points: AnyArray) -> npt.NDArray[np.int64]:
        """Return the row of each code point, or -1 for a letter that is an error."""
        lut = np.full(int(points.max(initial=0)) + 1, self.other)
        known = [letter for letter in self.row_of if letter < len(lut)]
        lut[known] = [self.row_of[letter] for letter in known]
        return lut[points]


def as_bytes(array: AnyArray) -> npt.NDArray[np.uint8]:
    """Return the memory of a contiguous array as bytes."""
    return array.reshape(-1).view(np.uint8)


def letters_of(value: Any, name: str) -> list[str]:
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
    return letters_of(item, name)


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


def read_alphabet(alphabet: Any) -> list[list[str]]:
    """Return the letters of each class."""
    if isinstance(alphabet, str | bytes | bytearray):
        name = "".join(letters_of(alphabet, "alphabet"))
        alphabet = ALPHABETS.get(name.lower(), alphabet)
    if isinstance(alphabet, str | bytes | bytearray):
        _check_name(name)
    if isinstance(alphabet, str | bytes | bytearray):
        classes = [[letter] for letter in letters_of(alphabet, "alphabet")]
    else:
        classes = [_item_letters(item, "alphabet") for item in items_of(alphabet, "alphabet")]
    if not classes:
        raise ValueError("alphabet must have at least one letter, got none")
    letters = [letter for each in classes for letter in each]
    for i, letter in enumerate(letters):
        if letter in letters[:i]:
            words = ": the letters of an item are one class, not a word of several letters"
            raise ValueError(
                f"alphabet must have distinct letters, got {letter!r} twice"
                f"{words if len(letters) > len(classes) else ''}"
            )
    return classes


class Meanings:
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


def described(classes: list[list[str]]) -> str:
    """Return an alphabet for a message."""
    if all(len(letters) == 1 for letters in classes):
        text = "".join(letters[0] for letters in classes)
        return repr(text if len(text) <= MAX_SHOWN_LETTERS else f"{text[:MAX_SHOWN_LETTERS]}…")
    return shown(["".join(letters) for letters in classes])


def ambiguity_codes(ambiguous: Any, meanings: Meanings) -> dict[str, Any]:
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
            f" acids, got {described(meanings.classes)}: pass a mapping such as {{'R': 'AG'}}"
        )
    # Letters of the alphabet and neutral letters keep their meaning.
    return {code: letters for code, letters in codes.items() if code not in meanings.row_of}


def weights_of(letter: str, value: Any, meanings: Meanings, weights: str) -> list[Any]:
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
    for each in letters_of(value, f"ambiguous[{letter!r}]"):
        position = meanings.position(each)
        if position is None:
            raise ValueError(
                f"ambiguous[{letter!r}] must be letters of the alphabet"
                f" {described(meanings.classes)}, got {each!r}"
            )
        positions[position] = each
    if not positions:
        raise ValueError(f"ambiguous[{letter!r}] must have at least one letter, got {value!r}")
    share: Any = 1 if weights == "ones" or len(positions) == 1 else 1 / len(positions)
    return [share if k in positions else 0 for k in range(n_classes)]


def one_hot_coding(
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
    classes = read_alphabet(alphabet)
    n_classes = len(classes)
    meanings = Meanings(classes, ignore_case)
    rows = [*np.full((n_classes + 2, n_classes), off, element)]
    for k in range(n_classes):
        rows[k][k] = on
    zeros, neutral_row = n_classes, n_classes + 1
    rows[neutral_row][...] = as_element(neutral_value, element, "neutral_value")
    for letter in letters_of(neutral, "neutral"):
        meanings.add(letter, neutral_row, "neutral")
    for letter, value in ambiguity_codes(ambiguous, meanings).items():
        row = np.full(n_classes, off, element)
        for k, weight in enumerate(weights_of(letter, value, meanings, ambiguous_weights)):
            row[k] = _weight_element(weight, element, letter)
        meanings.add(letter, len(rows), "ambiguous")
        rows.append(row)
    other = {"error": -1, "zeros": zeros, "neutral": neutral_row}[unknown]
    pad = {"zeros": zeros, "neutral": neutral_row}[pad_row]
    where = f"is not in the alphabet {described(classes)}"
    return Coding(meanings.points(), np.array(rows, element), other, pad, on, off, where)


def _weight_element(weight: Any, element: np.dtype[Any], letter: str) -> AnyArray:
    """Return a weight of an ambiguous letter as an element of the result."""
    weight = weight.item() if isinstance(weight, np.generic) else weight
    try:
        return as_element(weight, element, f"the weight of {letter!r}")
    except ValueError as error:
        raise ValueError(f"{error}: pass a float dtype, or ambiguous_weights='ones'") from None


def token_coding(
    alphabet: Any,
    neutral: Any,
    neutral_code: Any,
    unknown: str,
    ignore_case: bool,
    pad_code: Any,
    is_padded: bool,
    element: np.dtype[Any],
) -> Coding:
    """Return the rows, of one number each, of the options of `tokenize_sequences`."""
    classes = read_alphabet(alphabet)
    meanings = Meanings(classes, ignore_case)
    n_classes = len(classes)
    for letter in letters_of(neutral, "neutral"):
        meanings.add(letter, n_classes, "neutral")
    rows = np.empty((n_classes + 2, 1), element)
    if n_classes - 1 > np.iinfo(element).max:
        raise ValueError(f"dtype must hold {n_classes - 1}, the last class, got {element}")
    rows[:n_classes, 0] = np.arange(n_classes)
    uses_neutral = len(meanings.row_of) > sum(map(len, classes)) or unknown == "neutral"
    for row, value, name, is_used in (
        (n_classes, neutral_code, "neutral_code", uses_neutral),
        (n_classes + 1, pad_code, "pad_code", is_padded),
    ):
        number = as_integer(value, name)
        rows[row] = as_element(number, element, name) if is_used else 0
    return Coding(
        meanings.points(), rows, -1 if unknown == "error" else n_classes, n_classes + 1,
        rows[0], rows[0], f"is not in the alphabet {described(classes)}",
    )  # fmt: skip
