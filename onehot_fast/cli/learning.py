"""The encoder of a file: learned in one pass over its encoded columns, or read from a schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from onehot_fast.adapter import identifiers
from onehot_fast.cli.errors import (
    CommandError,
    Exit,
    as_typed,
    is_undecodable,
    one_line,
    plural,
    reading,
)
from onehot_fast.cli.pipeline import MOST_ROWS, ahead
from onehot_fast.cli.sources import Source
from onehot_fast.encoder import Encoder
from onehot_fast.integrations.arrow import read_table

__all__ = [
    "ENCODER_KEY",
    "chosen_columns",
    "learn",
    "load_encoder",
    "notes_on",
    "parse_encoder",
    "require_fit",
]

# The encoder in the metadata of an encoded file, for `decode`.
ENCODER_KEY = b"onehot_fast.encoder"


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
    table = read_table(source.schema.empty_table())
    found = tuple(
        str(name)
        for name, is_one in zip(table.names, table.encodable, strict=True)
        if is_one and name not in but
    )
    if not found:
        raise CommandError(Exit.COLUMN, f"{source.name}: no column holds texts; -c names columns")
    source.require(found)
    return found


def learn(
    source: Source, encoder: Encoder, step: Callable[[float], None], most: float, is_early: bool
) -> None:
    """Let an encoder see all rows, and settle its schema, of at most so many features.

    They are counted after each batch if more rows cannot make them fewer.
    """
    columns = [str(name) for name in encoder.columns or ()]
    batches = source.batches(MOST_ROWS, columns, columns)
    try:
        with closing(ahead(batches)) as parts:
            for part in parts:
                encoder.partial_fit(part)
                step(source.share())
                if is_early:
                    with suppress(ValueError):  # what a later part brings may settle it
                        _check_features(source, encoder, most)
        if encoder.columns is not None and not source.n_rows:
            encoder.partial_fit(_empty(source.schema, columns))
        encoder.get_feature_names_out()
        _check_features(source, encoder, most)
    except TypeError as error:
        raise CommandError(Exit.COLUMN, f"{source.name}: {as_typed(error)}") from error
    except (ValueError, pa.ArrowException) as error:
        code = Exit.CORRUPT if is_undecodable(error) else Exit.VALUE
        raise CommandError(code, f"{source.name}: {as_typed(error)}") from error


def _check_features(source: Source, encoder: Encoder, most: float) -> None:
    """Refuse more features than so many."""
    sizes = [(column.n_outputs, str(column.name)) for column in encoder.schema.columns]
    if sum(size for size, _ in sizes) > most:
        largest = ", ".join(f"{name!r} {size:,}" for size, name in sorted(sizes)[:-4:-1])
        raise CommandError(
            Exit.COLUMN,
            f"{source.name}: more than {plural(int(most), 'feature')} of columns that nobody named"
            f" ({largest}); -c COLUMN names those to encode, --max-features N allows more",
        )


def notes_on(source: Source, encoder: Encoder) -> list[str]:
    """Return what is to be said of encoded columns that nobody may have meant."""
    schema, n_rows, notes = encoder.schema, source.n_rows or 0, []
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


def _empty(schema: pa.Schema, columns: Sequence[str]) -> pa.Table:
    """Return the columns without rows: they are learned too, as columns without categories."""
    return pa.schema([schema.field(name) for name in columns]).empty_table()


def load_encoder(path: str) -> Encoder:
    """Read an encoder from a file."""
    try:
        with reading(path):
            text = Path(path).read_text(encoding="utf-8")
    except CommandError as error:
        raise CommandError(Exit.SCHEMA, str(error)) from error
    return parse_encoder(text, path)


def parse_encoder(text: str | bytes, name: str) -> Encoder:
    """Return the encoder that a text is."""
    try:
        encoder = Encoder.from_json(text)
        encoder.get_feature_names_out()
    except (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        text = f"{name} is not an encoder that --save-encoder wrote: {one_line(error)}"
        raise CommandError(Exit.SCHEMA, text) from error
    return encoder


def require_fit(source: Source, encoder: Encoder) -> None:
    """Refuse an encoder whose columns the file lacks, or has in another type."""
    source.require([str(name) for name in encoder.columns or ()], Exit.SCHEMA)
    for name, categories in encoder.categories.items():
        kind = source.schema.field(str(name)).type
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
