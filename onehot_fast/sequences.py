"""Encoding of the letters of sequences, such as DNA, proteins and text, and the reverse."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.checks import check_choice, max_positional, number_dtype
from onehot_fast._arguments.indices import as_integer
from onehot_fast._arguments.messages import shown
from onehot_fast._arguments.values import resolve_values
from onehot_fast._sequences.coding import (
    ALPHABETS,
    N_BYTES,
    Coding,
    described,
    one_hot_coding,
    read_alphabet,
    token_coding,
)
from onehot_fast._sequences.decode import decode
from onehot_fast._sequences.encode import check_lengths, checked, encode
from onehot_fast._sequences.letters import Offsets, read

__all__ = [
    "ALPHABETS", "decode_sequences", "lowercase_mask", "one_hot_sequences", "tokenize_sequences",
]  # fmt: skip

AnyArray: TypeAlias = npt.NDArray[Any]
Side: TypeAlias = Literal["right", "left", "both"]


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
    length = check_lengths(length, pad, truncate, ragged)
    given = out.dtype if dtype is None and isinstance(out, np.ndarray) else dtype
    chosen = None if given is None else number_dtype(given, "dtype")
    values = resolve_values(1, 0, chosen)
    coding = one_hot_coding(
        alphabet, neutral, neutral_value, unknown, ambiguous, ambiguous_weights, ignore_case,
        pad_row, values,
    )  # fmt: skip
    axis = as_integer(axis, "axis")
    if ragged and axis not in (-1, 1):
        raise ValueError(f"axis must be -1 with ragged=True, got {axis}")
    return encode(
        read(sequences), coding, ignore_case, axis=axis, length=length, pad=pad,
        truncate=truncate, ragged=ragged, out=out, num_threads=num_threads,
    )  # fmt: skip


def _check_flag(value: object, name: str) -> None:
    """Raise an error unless a value is a bool."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")


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
    length = check_lengths(length, pad, truncate, ragged)
    element = number_dtype(dtype, "dtype")
    if element.kind not in "iu":
        raise TypeError(f"dtype must be an integer dtype, got {element}")
    coding = token_coding(
        alphabet, neutral, neutral_code, unknown, ignore_case, pad_code, pad is not None, element
    )
    return encode(
        read(sequences), coding, ignore_case, axis=None, length=length, pad=pad,
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
    length = check_lengths(length, pad, truncate, ragged)
    rows = np.array([[False], [True]])
    coding = Coding({}, rows, 0, 0, rows[1], rows[0], "")
    letters = checked(read(sequences), coding, False, 1)
    points: Iterable[int] = range(N_BYTES)
    if letters.points is not None:
        points = np.flatnonzero(np.bincount(letters.points)).tolist()
    coding.row_of.update({point: 1 for point in points if chr(point).islower()})
    return encode(
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
    classes = read_alphabet(alphabet)
    if is_letter and any(neutral in letters for letters in classes):
        raise ValueError(
            f"neutral must not be a letter of the alphabet {described(classes)}, got {neutral!r}"
        )
    return decode(
        tensor, classes, axis=axis, rule=rule, neutral=neutral, ambiguous=ambiguous,
        ambiguous_weights=ambiguous_weights, offsets=offsets, strip_padding=strip_padding,
        output=output,
    )  # fmt: skip
