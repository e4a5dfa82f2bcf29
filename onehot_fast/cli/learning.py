"""The encoder of a file: learned in one pass over its encoded columns, or read from a schema."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Any

import numpy as np
import pyarrow as pa

from onehot_fast.adapter import identifiers
from onehot_fast.cli.encoders import Encoders
from onehot_fast.cli.errors import CommandError, Exit, as_typed, is_undecodable
from onehot_fast.cli.labels import holds_lists
from onehot_fast.cli.pipeline import MOST_ROWS, ahead, no_rows
from onehot_fast.cli.progress import Step
from onehot_fast.cli.sources import Source
from onehot_fast.integrations.arrow import read_table

__all__ = ["chosen_columns", "learn", "notes_on", "require_fit"]


def chosen_columns(
    source: Source, named: Sequence[str], but: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the columns to encode in the order of the file: the wanted, or else all texts.

    Those in `but` are encoded only if they are wanted.
    """
    if named:
        there = set(source.schema.names)
        split = [[name] if name in there else name.split(",") for name in named]
        names = [name for parts in split for name in parts]
        source.require(names)
        return tuple(name for name in source.schema.names if name in names)
    table = read_table(no_rows(source.schema))
    found = tuple(
        str(name)
        for name, is_one in zip(table.names, table.encodable, strict=True)
        if is_one and name not in but
    )
    if not found:
        raise CommandError(Exit.COLUMN, f"{source.name}: no column holds texts; -c names columns")
    source.require(found)
    return found


def learn(source: Source, encoders: Encoders, step: Step, most: float, is_early: bool) -> None:
    """Let the encoders see all rows, and settle their schemas, of at most so many features.

    They are counted after each batch if more rows cannot make them fewer.
    """
    columns, n_rows = encoders.columns, 0
    batches = source.batches(MOST_ROWS, columns, columns)
    try:
        encoders.values.partial_fit(no_rows(source.schema))  # which other columns there are
        with closing(ahead(batches)) as parts:
            for part in parts:
                _see(encoders, part)
                n_rows += part.num_rows
                step(source.share(), n_rows)
                if is_early:
                    with suppress(ValueError):  # what a later part brings may settle it
                        _check_features(source, encoders, most)
        if not source.n_rows:
            # They are learned too, as columns without categories.
            _see(encoders, no_rows(pa.schema([source.schema.field(name) for name in columns])))
        for encoder in encoders.each:
            _ = encoder.schema
        _check_features(source, encoders, most)
    except TypeError as error:
        raise CommandError(Exit.COLUMN, f"{source.name}: {as_typed(error)}") from error
    except (ValueError, pa.ArrowException) as error:
        code = Exit.CORRUPT if is_undecodable(error) else Exit.VALUE
        raise CommandError(code, f"{source.name}: {as_typed(error)}") from error


def _see(encoders: Encoders, rows: pa.RecordBatch) -> None:
    """Let the encoders see some rows."""
    encoders.values.partial_fit(rows)
    for column in encoders.labels:
        column.learn(rows.column(column.name))


def _check_features(source: Source, encoders: Encoders, most: float) -> None:
    """Refuse more features than so many."""
    columns = [column for encoder in encoders.each for column in encoder.schema.columns]
    remedy = "-c COLUMN chooses the columns, --max-features N allows more"
    try:
        identifiers.check_features(columns, most, remedy)
    except ValueError as error:
        raise CommandError(Exit.COLUMN, f"{source.name}: {error}") from error


def notes_on(source: Source, encoders: Encoders) -> list[str]:
    """Return what is to be said of encoded columns that nobody may have meant."""
    schema, n_rows, notes = encoders.values.schema, source.n_rows or 0, []
    n_kept = len(source.schema.names) - len(schema.columns)
    for column in schema.columns:
        n_outputs, hint = column.n_outputs, "-c names the columns to encode"
        if identifiers.is_like_identifier(column, n_rows):
            what = identifiers.described(column, n_rows)
            notes.append(f"{source.name}: {what}: an identifier? {hint}")
        elif n_outputs > identifiers.MANY_FEATURES and n_outputs > (n_kept + schema.n_features) / 2:
            what = f"column {column.name!r} makes {n_outputs:,} of {schema.n_features:,} features"
            notes.append(f"{source.name}: {what}; {hint}")
    return notes


def require_fit(source: Source, encoders: Encoders) -> None:
    """Refuse encoders whose columns the file lacks, or has in another type."""
    source.require(encoders.columns, Exit.SCHEMA)
    known = [each.categories.items() for each in encoders.each]
    for name, categories in [item for items in known for item in items]:
        kind = source.schema.field(str(name)).type
        kind = kind.value_type if holds_lists(kind) else kind
        if not _fits(kind, categories):
            first = categories.tolist()[0]
            raise CommandError(
                Exit.SCHEMA,
                f"{source.name}: column {name!r} holds {kind}, and the encoder knows values like"
                f" {first!r}",
            )


def _fits(kind: pa.DataType, categories: Any) -> bool:
    """Tell whether a column may hold one of the categories; strange types may hold anything."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    values = categories.tolist()
    is_text = any(isinstance(value, str) for value in values)
    is_number = any(isinstance(value, bool | int | float | np.number) for value in values)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return is_text or not values
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return is_number or not values
    return True
