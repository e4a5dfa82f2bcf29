"""Checks of options that every function words alike: choices, option names, texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches


def check_choice(value: object, name: str, choices: tuple[str, ...]) -> None:
    """Refuse what is not one of the choices."""
    if not isinstance(value, str):
        raise TypeError(f"{name} = {value!r} is no string: accepted are {_listed(choices)}")
    if value not in choices:
        raise ValueError(f"{name} = {value!r} is unknown: accepted are {_listed(choices)}")


def check_options(given: Iterable[str], accepted: Collection[str]) -> None:
    """Refuse an option that does not exist, and name the one that may be meant."""
    for name in given:
        if name not in accepted:
            close = get_close_matches(name, accepted, 1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise TypeError(f"{name!r} is no option: {hint}accepted are {_listed(accepted)}")


def check_text(value: object, name: str) -> str:
    """Return a text, or refuse what is none."""
    if not isinstance(value, str):
        raise TypeError(f"{name} = {value!r} is {with_article(value)}; accepted is a str")
    return value


def check_prefix(prefix: object, prefix_sep: object) -> None:
    """Refuse prefixes that are no texts; no prefix is None."""
    if prefix is not None:
        check_text(prefix, "prefix")
    check_text(prefix_sep, "prefix_sep")


def with_article(value: object) -> str:
    """Return the type of a value as a sentence names it: a list, an int."""
    kind = type(value).__name__
    return f"{'an' if kind[:1] in 'aeioAEIO' or kind[:2] == 'nd' else 'a'} {kind}"


def _listed(choices: Iterable[str]) -> str:
    """Return the choices quoted, as in 'a', 'b'."""
    return ", ".join(map(repr, choices))
