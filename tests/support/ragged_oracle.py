"""Columns with several labels in a row, slow and obvious: a row is a list of labels, or None.

The options are those of `encoder_oracle`, whose functions give the features of one label.
"""

from __future__ import annotations

from typing import Any

from support import encoder_oracle as of_values
from support.encoder_oracle import Options

Row = list[Any] | None


def labels_of(row: Row) -> list[Any]:
    """Return the distinct labels of a row; a missing row has a missing label."""
    found: list[Any] = []
    for label in [None] if row is None else row:
        label = None if of_values.is_missing(label) else label
        if label not in found:
            found.append(label)
    return found


def values_of(rows: list[Row]) -> list[Any]:
    """Return each distinct label of each row: a column whose frequencies are those of the rows."""
    return [label for row in rows for label in labels_of(row)]


def _options(rows: list[Row], options: Options) -> Options:
    """Return options for `values_of`, in which a share of the rows is a number of rows."""
    least = options.min_frequency
    if isinstance(least, float):
        # A float that is no share in the oracle would be one, so the next integer is used.
        least = max(1, -int(-least * len(rows) // 1))
    return Options(
        options.categories, None, options.handle_missing, options.handle_unknown, least,
        options.max_categories,
    )  # fmt: skip


def labels(rows: list[Row], options: Options) -> list[Any]:
    return of_values.labels(values_of(rows), _options(rows, options))


def refused_row(rows: list[Row], fitted: list[Row], options: Options) -> int | None:
    """Return the row that is refused first: what is missing is looked for first."""
    values, chosen = values_of(fitted), _options(fitted, options)
    for rule in ("handle_missing", "handle_unknown"):
        for i, row in enumerate(rows):
            for label in labels_of(row):
                is_of_rule = of_values.is_missing(label) == (rule == "handle_missing")
                if is_of_rule and of_values.refused_row([label], values, chosen) is not None:
                    return i
    return None


def encode(rows: list[Row], fitted: list[Row], options: Options) -> list[list[float]]:
    """Return the encoding of the rows by an encoder that was fitted on `fitted`."""
    values, chosen = values_of(fitted), _options(fitted, options)
    outputs = of_values.labels(values, chosen)
    encoded = []
    for row in rows:
        meanings = [of_values.meaning(label, values, chosen) for label in labels_of(row)]
        is_nan = "nan" in meanings
        encoded.append([float("nan") if is_nan else float(o in meanings) for o in outputs])
    return encoded


def decode(rows: list[Row], fitted: list[Row], options: Options) -> list[list[Any] | None]:
    """Return the rows that remain of an encoding: lists of labels in the order of the outputs."""
    outputs = labels(fitted, options)
    decoded: list[list[Any] | None] = []
    for encoded in encode(rows, fitted, options):
        found = [
            None if output == of_values.MISSING else output
            for output, cell in zip(outputs, encoded, strict=True)
            if cell == 1
        ]
        is_nan = any(cell != cell for cell in encoded)
        decoded.append(None if is_nan or found == [None] else found)
    return decoded
