"""Parts of messages: values, sizes, similar names, and the place of an error as text."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

Result = TypeVar("Result")

MAX_SHOWN_LETTERS = 40  # the maximum length of the repr of a value
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return " did you mean 'name'?" with the most similar name, or "" if none is similar."""
    from difflib import get_close_matches  # imported here because the import takes 1 ms

    if not isinstance(name, str):
        return ""
    texts = [other for other in known if isinstance(other, str)]
    close = get_close_matches(name, texts, 1)  # case-sensitive
    close += [other for other in texts if other.casefold() == name.casefold()]
    return f" did you mean {close[0]!r}?" if close else ""


def with_article(value: object) -> str:
    """Return the name of a value's type with its article, e.g. "a list" or "an int"."""
    kind = type(value).__name__
    return f"{'an' if kind[:1] in 'aeioAEIO' or kind[:2] == 'nd' else 'a'} {kind}"


def human_size(n_bytes: int) -> str:
    """Format a number of bytes with a unit, e.g. "1.5 MiB"."""
    step = max(0, n_bytes.bit_length() - 1) // 10
    return f"{n_bytes / 1024**step:.{1 if step else 0}f} {UNITS[step]}"


def shown(value: object) -> str:
    """Return the repr of a value, shortened for a message."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN_LETTERS else f"{text[: MAX_SHOWN_LETTERS - 1]}…"


def error_at(place: str, error: TypeError | ValueError) -> TypeError | ValueError:
    """Return the error with the place, such as a column, at which it occurred, in its message."""
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"{place}: {error}")


def with_column_context(name: Hashable, work: Callable[..., Result], *arguments: Any) -> Result:
    """Return ``work(*arguments)``; add the name of the column to its errors."""
    try:
        return work(*arguments)
    except (TypeError, ValueError) as error:
        raise error_at(f"column {name!r}", error) from error


def listed(choices: Iterable[str]) -> str:
    """Return the choices in quotes, separated by commas."""
    return ", ".join(map(repr, choices))


def number_of(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun, e.g. "1 row" or "2,000 rows"."""
    return f"1 {one}" if n == 1 else f"{n:,} {many or f'{one}s'}"
