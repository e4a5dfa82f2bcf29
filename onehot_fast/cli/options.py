"""Encoders made of options as they were typed: ``VALUE``, or ``COLUMN=VALUE`` for one column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from onehot_fast.cli.encoders import Encoders, LabelColumn, has_lists
from onehot_fast.cli.errors import CommandError, Exit, closest, one_line
from onehot_fast.encoder import Encoder

__all__ = ["flag", "new_encoders"]

HINTS = {
    "drop": "; type a category as COLUMN=CATEGORY",
    "dtype": ", e.g. bool, uint8 or float32",
}


def _frequency(text: str) -> int | float:
    """Return a number of rows, or a share of them."""
    return float(text) if "." in text or "e" in text else int(text)


PARSERS: dict[str, Callable[[str], Any]] = {"min_frequency": _frequency, "max_categories": int}


def flag(name: str) -> str:
    """Return the name of an option as it is typed."""
    return f"--{name.replace('_', '-')}"


def new_encoders(kinds: Mapping[str, pa.DataType], typed: dict[str, Sequence[str]]) -> Encoders:
    """Return unfitted encoders of some columns.

    Parameters
    ----------
    kinds : dict of str to pyarrow.DataType
        The columns to encode, and their types. Lists, and texts with a separator, are encoded by
        their labels.
    typed : dict of str to sequence of str
        For each option of `Encoder`, and for ``sep``, the typed values: ``VALUE`` or
        ``COLUMN=VALUE``; the last one counts.

    Raises
    ------
    CommandError
        A value is invalid.
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
    """Return the separator of each column of labels; None for lists."""
    found: dict[str, str | None] = {name: None for name in kinds if has_lists(kinds[name])}
    if isinstance(typed, str):
        return {n: found.get(n, typed) for n in kinds if n in found or _is_text(kinds[n])}
    for name, sep in typed.items():
        if not _is_text(kinds[name]):
            text = f"--sep {name}={sep}: the column must contain texts, got {kinds[name]}"
            raise CommandError(Exit.USAGE, text)
        found[name] = sep
    return found


def _is_text(kind: pa.DataType) -> bool:
    """Tell whether a column contains texts."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _options_of_labels(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a column of labels, for which drop and propagate have no meaning."""
    chosen = {
        option: value.get(name) if isinstance(value, dict) else value
        for option, value in options.items()
        if not isinstance(value, dict) or name in value
    }
    drop, missing = chosen.pop("drop", None), chosen.get("handle_missing")
    invalid = f"--drop {drop}" if drop is not None and isinstance(options["drop"], dict) else ""
    invalid = "--handle-missing propagate" if missing == "propagate" else invalid
    if invalid:
        text = f"{invalid}: not supported for {name!r}, which has several labels a row"
        raise CommandError(Exit.USAGE, text)
    return chosen


def _resolved(columns: Sequence[str], texts: Sequence[str], option: str) -> Any:
    """Return one value for all columns, or one for each column that has any."""
    common: list[Any] = []
    special: dict[str, Any] = {}
    for text in texts:
        typed = f"{flag(option)} {text}"
        column, value = _split(columns, text, typed)
        try:
            parsed = PARSERS.get(option, str)(value)
        except ValueError:
            numbers = "a number of rows, e.g. 10, or a share of them, e.g. 0.01"
            expected = numbers if option == "min_frequency" else "an integer"
            raise CommandError(Exit.USAGE, f"{typed}: must be {expected}") from None
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
    """Raise an error if an option does not accept a value."""
    if option != "sep":
        keyword: dict[str, Any] = {option: value}
        Encoder(columns, **keyword)
    elif "" in (value, *(value.values() if isinstance(value, dict) else ())):
        raise ValueError("the separator must not be empty")


def _split(columns: Sequence[str], text: str, typed: str) -> tuple[str | None, str]:
    """Return the column that a text names, and the value; a name may contain "="."""
    for column in sorted(columns, key=len, reverse=True):
        if text.startswith(f"{column}="):
            return column, text[len(column) + 1 :]
    name, equals, _ = text.partition("=")
    if equals and name.strip():
        raise CommandError(
            Exit.USAGE,
            f"{typed}: the column {name!r} is not encoded"
            f"{closest(name, columns) or '; encoded are ' + ', '.join(columns)}"
            f" (type a value with = as {columns[0]}={text})",
        )
    return None, text
