"""Checks of options that every function words alike, and the words of their messages."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
T = TypeVar("T")

# So many letters of a value are shown.
MAX_SHOWN_LETTERS = 40
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
# How other libraries spell what has another name here.
FOREIGN_OPTION_NAMES = {
    "drop_first": "drop='first'",
    "dummy_na": "handle_missing='indicator'",
    "drop_nulls": "handle_missing='ignore', the default; 'indicator' gives nulls a column",
    "sparse": "output='csr' of Encoder.transform, or series.onehot.to_csr()",
    "sparse_output": "output='csr' of Encoder.transform, or series.onehot.to_csr()",
    "separator": "prefix_sep=",
    "cols": "columns=",
    "variables": "columns=",
    "subset": "columns=",
    "top_categories": "max_categories=, which counts the column of the others too",
    "dtype": "dtype= of Encoder: Encoder(dtype=...) or encoder.set_params(dtype=...)",
    "dim": "axis=",
    "num_classes": "depth=",
    "all_off": "default=",
}
# Options of `one_hot` and `decode` that most other functions do not have.
TENSOR_OPTIONS = ("depth=", "axis=", "default=")
# Names of the forms of output in other libraries.
FOREIGN_OUTPUT_NAMES = {"sparse": "csr", "dense": "numpy", "array": "numpy", "pyarrow": "arrow"}


def check_choice(value: object, name: str, choices: tuple[str, ...]) -> None:
    """Refuse what is not one of the choices."""
    if not isinstance(value, str):
        raise TypeError(f"{name} = {shown(value)} is not a string: accepted are {_listed(choices)}")
    if value not in choices:
        form = FOREIGN_OUTPUT_NAMES.get(value)
        hint = f" did you mean {form!r}?" if form in choices else did_you_mean(value, choices)
        raise ValueError(f"{name} = {value!r} is unknown:{hint} accepted are {_listed(choices)}")


def check_options(options: Iterable[str], accepted: Collection[str] | None) -> None:
    """Reject an option that does not exist, and any option beside an Encoder (`accepted` None)."""
    for name in options:
        if accepted is None:
            raise TypeError(f"{name} is given, and an Encoder, which has options of its own")
        if name not in accepted:
            here = FOREIGN_OPTION_NAMES.get(name)
            if here and (here not in TENSOR_OPTIONS or here[:-1] in accepted):
                raise TypeError(f"{name!r} is not an option: here it is {here}")
            hint = did_you_mean(name, accepted)
            raise TypeError(f"{name!r} is not an option:{hint} accepted are {_listed(accepted)}")


def max_positional(n_arguments: int, hint: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Refuse more positional arguments than so many, self among them, with a hint.

    A keyword that the function does not have is refused too, with the one that may be meant.
    """

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        accepted = inspect.signature(function).parameters

        @functools.wraps(function)
        def checked(*args: P.args, **options: P.kwargs) -> T:
            if len(args) > n_arguments:
                raise TypeError(f"{args[n_arguments]!r} is one argument too many: {hint}")
            if not (options.keys() <= accepted.keys() or "options" in accepted):
                unknown = [name for name in options if name not in accepted]
                check_options(unknown, [*accepted][1:])
            return function(*args, **options)

        return checked

    return decorated


def columns_only(method: Callable[P, T]) -> Callable[P, T]:
    """Reject positional arguments after the columns."""
    return max_positional(2, "the columns are one list, columns=['a', 'b']")(method)


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return a question about the most similar of the known names, "" if none is similar."""
    texts = [other for other in known if isinstance(other, str)]
    from difflib import get_close_matches  # 1 ms that only an error pays for

    close = get_close_matches(name, texts, 1) if isinstance(name, str) else []
    if not close and isinstance(name, str):  # difflib takes capitals for other letters
        close = [other for other in texts if other.casefold() == name.casefold()]
    return f" did you mean {close[0]!r}?" if close else ""


def check_text(value: object, name: str) -> str:
    """Return a text, or refuse what is none."""
    if not isinstance(value, str):
        raise TypeError(f"{name} = {shown(value)} is {with_article(value)}; accepted is a str")
    return value


def check_separator(sep: Any) -> None:
    """Refuse what cannot stand between labels."""
    if not isinstance(sep, str):
        raise TypeError(f"sep = {sep!r} is {with_article(sep)}; accepted is a str")
    if not sep:
        raise ValueError("sep is empty; accepted is a string that stands between labels")


def number_dtype(value: Any, where: str) -> np.dtype[Any]:
    """Return a dtype of which 0 and 1 are values."""
    dtype: np.dtype[Any] | None = None
    if value is not None:  # which would be float64, and nobody who writes None means that
        try:
            dtype = np.dtype(value)
        except (TypeError, ValueError, SyntaxError):  # NumPy reads some texts as Python does
            dtype = None
    if dtype is None or (dtype.kind not in "biufc" and dtype.isbuiltin != 2):
        raise TypeError(
            f"{where} = {shown(value)} is not a Boolean, integer, float or complex dtype"
        )
    return dtype


def check_prefix(prefix: object, prefix_sep: object) -> None:
    """Refuse prefixes that are no texts; no prefix is None."""
    if prefix is not None:
        check_text(prefix, "prefix")
    check_text(prefix_sep, "prefix_sep")


def with_article(value: object) -> str:
    """Return the type of a value as a sentence names it: a list, an int."""
    kind = type(value).__name__
    return f"{'an' if kind[:1] in 'aeioAEIO' or kind[:2] == 'nd' else 'a'} {kind}"


def human_size(n_bytes: int) -> str:
    """Return a number of bytes as people say it."""
    step = max(0, n_bytes.bit_length() - 1) // 10
    return f"{n_bytes / 1024**step:.{1 if step else 0}f} {UNITS[step]}"


def shown(value: object) -> str:
    """Return a value as a message shows it, shortened where it is long."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN_LETTERS else f"{text[: MAX_SHOWN_LETTERS - 1]}…"


def _listed(choices: Iterable[str]) -> str:
    """Return the choices quoted, as in 'a', 'b'."""
    return ", ".join(map(repr, choices))
