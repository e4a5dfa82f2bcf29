"""An encoder of some columns of a file, with the options that the user typed for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import pyarrow as pa

from onehot_fast.adapter import did_you_mean
from onehot_fast.cli.flags import HINTS, flag, is_number
from onehot_fast.cli.messages import CommandError, Exit, without_remedy
from onehot_fast.cli.schemas import has_strings
from onehot_fast.encoder import Encoder
from onehot_fast.integrations.arrow import is_list_type

# The values that the user typed for each option of `Encoder`.
Typed: TypeAlias = Mapping[str, Sequence[str]]


def new_encoder(schema: pa.Schema, columns: Sequence[str], typed: Typed) -> Encoder:
    """Return an unfitted encoder for some columns of a file.

    For each option, `typed` contains ``VALUE`` or ``COLUMN=VALUE``. ``COLUMN=VALUE`` takes
    precedence for its column. If an option has several values for the same columns, the last one
    is used.
    """
    options = {name: _parsed_option(columns, texts, name) for name, texts in typed.items() if texts}
    if "sep" in options:
        options["sep"] = _separators(schema, columns, options["sep"])
    return Encoder(columns, **options)


def _separators(schema: pa.Schema, columns: Sequence[str], sep: Any) -> dict[str, str]:
    """Return the separator of each column of strings that has one.

    Raise an error if ``COLUMN=VALUE`` names a column that contains something else.
    """
    kinds = {name: schema.field(name).type for name in columns}
    if isinstance(sep, str):
        return {name: sep for name, kind in kinds.items() if has_strings(kind)}
    for name, one in sep.items():
        if not has_strings(kinds[name]):
            remedy = (
                "lists need no separator"
                if is_list_type(kinds[name])
                else (f"in CSV, pass --text-column {name}")
            )
            raise CommandError(
                Exit.USAGE,
                f"--sep {name}={one}: the column must contain strings, got {kinds[name]}; {remedy}",
            )
    return dict(sep)


def only_columns(encoder: Encoder, columns: Sequence[str]) -> Encoder:
    """Return an unfitted encoder for fewer columns, with their options."""
    options: dict[str, Any] = {
        name: {column: one for column, one in value.items() if column in columns}
        if isinstance(value, Mapping)
        else value
        for name, value in encoder.get_params().items()
    }
    return Encoder(**{**options, "columns": columns})


def _parsed_option(columns: Sequence[str], texts: Sequence[str], option: str) -> Any:
    """Parse the values of an option; return one value, or a dict with a value for each column."""
    common: list[Any] = []
    special: dict[str, Any] = {}
    for text in texts:
        typed = f"{flag(option)} {text}"
        column, value = _split_option(columns, text, typed)
        try:
            parsed = _number(value) if is_number(option) else value
            keyword: dict[str, Any] = {option: parsed if column is None else {column: parsed}}
            Encoder(columns, **keyword)
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
