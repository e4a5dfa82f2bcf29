"""The options of an encoder as one types them: a value for all columns, or for one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from onehot_fast.cli.errors import CommandError, Exit, one_line
from onehot_fast.encoder import Encoder

__all__ = ["new_encoder"]


def new_encoder(columns: Sequence[str], given: dict[str, Sequence[str]]) -> Encoder:
    """Return the encoder of some columns.

    Parameters
    ----------
    columns : sequence of str
        Those to encode.
    given : dict of str to sequence of str
        For each option of `Encoder` what was typed: ``VALUE`` or ``COLUMN=VALUE``, the last counts.

    Raises
    ------
    CommandError
        An option does not take the value.
    """
    options = {
        name: _resolved(columns, typed, PARSERS.get(name, str), name)
        for name, typed in given.items()
        if typed
    }
    try:
        return Encoder(columns, **options)
    except (TypeError, ValueError) as error:
        raise CommandError(Exit.USAGE, one_line(error)) from error


def _resolved(
    columns: Sequence[str], typed: Sequence[str], parse: Callable[[str], Any], option: str
) -> Any:
    """Return one value for all columns, or one for each that has any."""
    common: list[Any] = []
    special: dict[str, Any] = {}
    for text in typed:
        column, value = _split(columns, text)
        try:
            parsed = parse(value)
        except ValueError:
            name = f"--{option.replace('_', '-')}"
            raise CommandError(Exit.USAGE, f"{name} does not take {value!r}") from None
        if column is None:
            common = [parsed]
        else:
            special[column] = parsed
    if not special:
        return common[0]
    return {name: special.get(name, *common) for name in columns if common or name in special}


def _split(columns: Sequence[str], text: str) -> tuple[str | None, str]:
    """Return the column that a text names, and the value; the name itself may contain "="."""
    for column in sorted(columns, key=len, reverse=True):
        if text.startswith(f"{column}="):
            return column, text[len(column) + 1 :]
    return None, text


def _frequency(text: str) -> int | float:
    """Return a number of rows, or a share of them."""
    return float(text) if "." in text or "e" in text else int(text)


PARSERS: dict[str, Callable[[str], Any]] = {"min_frequency": _frequency, "max_categories": int}
