"""The options of an encoder, as they are typed, and what they become."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import click
import pyarrow as pa

from onehot_fast.cli.encoders import Encoders
from onehot_fast.cli.errors import CommandError, Exit, closest, one_line
from onehot_fast.cli.labels import LabelColumn, holds_lists
from onehot_fast.cli.options import add_options
from onehot_fast.encoder import Encoder

__all__ = ["new_encoders", "with_encoder_options"]

F = TypeVar("F", bound=Callable[..., Any])

# What the encoder is told: the option, what it takes, and what it means.
ENCODER_OPTIONS = (
    ("drop", "RULE", "Makes no feature: first, last, if_binary, most_frequent or COLUMN=CATEGORY."),
    ("handle_unknown", "RULE", "Unseen: error (default), ignore, warn, indicator or infrequent."),
    ("handle_missing", "RULE", "Nulls: ignore (default), indicator, error or propagate."),
    ("min_frequency", "N", "Rarer categories share a feature; rows as 10, a share of all as 0.01."),
    ("max_categories", "N", "The most features of a column; the rarest categories share one."),
    ("dtype", "DTYPE", "The type of the features, as uint8 or float32; default: bool."),
    ("prefix", "TEXT", "How names of features begin; default: with the name of the column."),
    ("prefix_sep", "TEXT", "What stands between prefix and category; default: _"),
    ("sep", "TEXT", "Between the labels of a text of several; each is a feature. Lists need none."),
)  # fmt: skip

HINTS = {
    "drop": "; a category is COLUMN=CATEGORY",
    "dtype": ", such as bool, uint8 or float32",
}


def with_encoder_options(command: F) -> F:
    """Give a command the options of an encoder, as they were typed, as `typed`."""
    names = [name for name, _, _ in ENCODER_OPTIONS]

    @functools.wraps(command)
    def call(**others: Any) -> Any:
        typed = {name: others.pop(name) for name in names}
        return command(typed=typed, **others)

    options = [
        click.option(
            f"--{name.replace('_', '-')}",
            name,
            multiple=True,
            metavar=f"[COLUMN=]{metavar}",
            help=text,
        )
        for name, metavar, text in ENCODER_OPTIONS
    ]
    return cast(F, add_options(options, call))


def new_encoders(kinds: Mapping[str, pa.DataType], typed: dict[str, Sequence[str]]) -> Encoders:
    """Return the encoders of some columns.

    Parameters
    ----------
    kinds : dict of str to pyarrow.DataType
        The columns to encode, and their types. Lists, and texts that have a separator, are encoded
        by their labels.
    typed : dict of str to sequence of str
        For each option of `Encoder`, and for ``sep``, what was typed: ``VALUE`` or
        ``COLUMN=VALUE``, the last counts.

    Raises
    ------
    CommandError
        An option does not take the value.
    """
    columns = list(kinds)
    options = {name: _resolved(columns, texts, name) for name, texts in typed.items() if texts}
    separators = _separators(kinds, options.pop("sep", {}))
    labels = [
        LabelColumn(name, sep, Encoder([name], **_options_of_labels(name, options)))
        for name, sep in separators.items()
    ]
    values = [name for name in columns if name not in separators]
    for option, value in options.items():
        if isinstance(value, dict):
            options[option] = {name: one for name, one in value.items() if name in values}
    return Encoders(Encoder(values, **options), tuple(labels))


def _separators(kinds: Mapping[str, pa.DataType], typed: Any) -> dict[str, str | None]:
    """Return what separates the labels of each column that has any, None where they are lists."""
    found: dict[str, str | None] = {name: None for name in kinds if holds_lists(kinds[name])}
    if isinstance(typed, str):
        return {n: found.get(n, typed) for n in kinds if n in found or _is_text(kinds[n])}
    for name, sep in typed.items():
        if not _is_text(kinds[name]):
            text = f"--sep {name}={sep}: the column holds {kinds[name]}, and no texts"
            raise CommandError(Exit.USAGE, text)
        found[name] = sep
    return found


def _is_text(kind: pa.DataType) -> bool:
    """Tell whether a column holds texts."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _options_of_labels(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a column of labels; a rule of what to drop is for single values."""
    chosen = {
        option: value.get(name) if isinstance(value, dict) else value
        for option, value in options.items()
        if not isinstance(value, dict) or name in value
    }
    refused = [("drop", isinstance(options.get("drop"), dict)), ("handle_missing", True)]
    for option, is_refused in refused:
        value = chosen.get(option)
        if is_refused and value is not None and (option == "drop" or value == "propagate"):
            text = f"--{option.replace('_', '-')} {value}: {name!r} holds several labels a row"
            raise CommandError(Exit.USAGE, f"{text}, for which that has no meaning")
    chosen.pop("drop", None)
    return chosen


def _resolved(columns: Sequence[str], texts: Sequence[str], option: str) -> Any:
    """Return one value for all columns, or one for each that has any."""
    common: list[Any] = []
    special: dict[str, Any] = {}
    for text in texts:
        typed = f"--{option.replace('_', '-')} {text}"
        column, value = _split(columns, text, typed)
        try:
            parsed = PARSERS.get(option, str)(value)
        except ValueError:
            numbers = "a number of rows as 10, or a share of them as 0.01"
            accepted = numbers if option == "min_frequency" else "a whole number"
            raise CommandError(Exit.USAGE, f"{typed}: accepted is {accepted}") from None
        try:
            _check(columns, option, parsed if column is None else {column: parsed})
        except (TypeError, ValueError) as error:
            text = f"{typed}: {one_line(error)}{HINTS.get(option, '')}"
            raise CommandError(Exit.USAGE, text) from error
        if column is None:
            common = [parsed]
        else:
            special[column] = parsed
    if not special:
        return common[0]
    return {name: special.get(name, *common) for name in columns if common or name in special}


def _check(columns: Sequence[str], option: str, value: Any) -> None:
    """Refuse a value that is none of an option."""
    if option != "sep":
        keyword: dict[str, Any] = {option: value}
        Encoder(columns, **keyword)
    elif "" in (value, *(value.values() if isinstance(value, dict) else ())):
        raise ValueError("an empty text separates nothing")


def _split(columns: Sequence[str], text: str, typed: str) -> tuple[str | None, str]:
    """Return the column that a text names, and the value; the name itself may contain "="."""
    for column in sorted(columns, key=len, reverse=True):
        if text.startswith(f"{column}="):
            return column, text[len(column) + 1 :]
    name, equals, _ = text.partition("=")
    if equals and name.strip():
        raise CommandError(
            Exit.USAGE,
            f"{typed}: {name!r} is none of the columns that are encoded"
            f"{closest(name, columns) or ': ' + ', '.join(columns)}"
            f" (for a value with = in it: {columns[0]}={text})",
        )
    return None, text


def _frequency(text: str) -> int | float:
    """Return a number of rows, or a share of them."""
    return float(text) if "." in text or "e" in text else int(text)


PARSERS: dict[str, Callable[[str], Any]] = {"min_frequency": _frequency, "max_categories": int}
