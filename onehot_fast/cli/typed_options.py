"""Encoders of some columns of a file, with the options that the user typed for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import pyarrow as pa

from onehot_fast.adapter import did_you_mean
from onehot_fast.cli.encoders import Encoders
from onehot_fast.cli.flags import HINTS, SEP, flag, is_number
from onehot_fast.cli.labels import LabelColumn, has_lists, has_strings
from onehot_fast.cli.messages import CommandError, Exit, without_remedy
from onehot_fast.encoder import Encoder

# The values that the user typed for each option of `Encoder`, and for ``sep``.
Typed: TypeAlias = Mapping[str, Sequence[str]]


def new_encoders(schema: pa.Schema, columns: Sequence[str], typed: Typed) -> Encoders:
    """Return unfitted encoders for some columns of a file.

    For each option, `typed` contains ``VALUE`` or ``COLUMN=VALUE``. ``COLUMN=VALUE`` takes
    precedence for its column. If an option has several values for the same columns, the last one
    is used.
    """
    kinds = {name: schema.field(name).type for name in columns}
    options = {name: _parsed_option(columns, texts, name) for name, texts in typed.items() if texts}
    separators = _separators(kinds, options.pop(SEP, {}))
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
    """Return the separator of each column of labels; None is the separator of lists."""
    found: dict[str, str | None] = {name: None for name in kinds if has_lists(kinds[name])}
    if isinstance(typed, str):
        return {n: found.get(n, typed) for n in kinds if n in found or has_strings(kinds[n])}
    for name, sep in typed.items():
        if not has_strings(kinds[name]):
            raise CommandError(
                Exit.USAGE,
                f"--sep {name}={sep}: the column must contain strings, got {kinds[name]}",
            )
        found[name] = sep
    return found


def _options_of_labels(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the encoder's options for a column of labels.

    Raise an error for --drop and for --handle-missing propagate.
    """
    chosen = {k: v for k, v in options.items() if not isinstance(v, dict) and k != "drop"}
    chosen |= {k: v[name] for k, v in options.items() if isinstance(v, dict) and name in v}
    for option, value in chosen.items():
        if option == "drop" or (option, value) == ("handle_missing", "propagate"):
            raise CommandError(
                Exit.USAGE,
                f"{flag(option)} {value}: not supported for {name!r}, which has several labels per"
                " row",
            )
    return chosen


def _parsed_option(columns: Sequence[str], texts: Sequence[str], option: str) -> Any:
    """Parse the values of an option; return one value, or a dict with a value for each column."""
    common: list[Any] = []
    special: dict[str, Any] = {}
    for text in texts:
        typed = f"{flag(option)} {text}"
        column, value = _split_option(columns, text, typed)
        try:
            parsed = _number(value) if is_number(option) else value
            if option != SEP:
                keyword: dict[str, Any] = {option: parsed if column is None else {column: parsed}}
                Encoder(columns, **keyword)
            elif not parsed:
                raise ValueError("the separator must not be empty")
        except (TypeError, ValueError) as error:
            raise CommandError(
                Exit.USAGE, f"{typed}: {without_remedy(error)}{HINTS.get(option, '')}"
            ) from error
        if column is None:
            common = [parsed]
        else:
            special[column] = parsed
    if not special:
        return common[0]
    return {name: special.get(name, *common) for name in columns if common or name in special}


def _number(text: str) -> int | float | str:
    """Return a number, or the text itself if it is not a number: `Encoder` rejects it."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _split_option(columns: Sequence[str], text: str, typed: str) -> tuple[str | None, str]:
    """Split ``COLUMN=VALUE`` into column and value; without ``COLUMN=``, the column is None."""
    for column in sorted(columns, key=len, reverse=True):
        if text.startswith(f"{column}="):
            return column, text[len(column) + 1 :]
    name, equals, _ = text.partition("=")
    if equals and name.strip():
        hint = did_you_mean(name, columns)
        hint = hint or f" the encoded columns are {', '.join(columns)}"
        raise CommandError(
            Exit.USAGE,
            f"{typed}: the column {name!r} is not encoded;{hint}"
            f" (if the value contains =, type {columns[0]}={text})",
        )
    return None, text
