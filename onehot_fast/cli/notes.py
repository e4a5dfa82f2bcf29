"""Notes on how a file is read, and on columns that should probably not be encoded."""

from __future__ import annotations

from collections.abc import Collection

from onehot_fast.adapter import guards, human_size
from onehot_fast.cli import messages
from onehot_fast.cli.outputs import Destination
from onehot_fast.cli.reader import Input
from onehot_fast.cli.source import InputFiles
from onehot_fast.encoder import Encoder

# The size of a feature in a text file: a digit and a delimiter.
TEXT_FEATURE_BYTES = 2
# A named column with more categories may be an identifier.
MAX_KEYS = 10_000


def note_reading(source: InputFiles, spec: Input, is_quiet: bool) -> None:
    """Print the notes on how the files are read."""
    for text in source.notes():
        messages.note(text, is_quiet)
    if spec.nulls and source.format.is_text:
        messages.note(
            "--null adds to the empty field. Before, it replaced the usual marks (NA, null, ...),"
            " and --null '' made the empty field a category, as --keep-empty does now",
            is_quiet,
        )


def note_marks(source: InputFiles, columns: Collection[str], is_quiet: bool) -> None:
    """Print a note for each mark of a missing value in columns that have been read."""
    for text in source.notes_on_marks(columns):
        messages.note(text, is_quiet)


def note_suspects(source: InputFiles, encoder: Encoder, is_quiet: bool) -> None:
    """Print a note for each column that was chosen by default but may be an identifier."""
    schema, n_rows = encoder.schema, source.n_rows or 0
    n_kept = len(source.schema.names) - len(schema.columns)
    for column in schema.columns:
        n_features = column.n_features
        if guards.is_like_identifier(column, n_rows):
            messages.note(
                f"{source.name}: {guards.described(column, n_rows)}, and may be an identifier;"
                " name the columns to encode with -c",
                is_quiet,
            )
        elif n_features > guards.MANY_FEATURES and n_features > (n_kept + schema.n_features) / 2:
            messages.note(
                f"{source.name}: column {column.name!r} has {n_features:,} of"
                f" {schema.n_features:,} features; name the columns to encode with -c",
                is_quiet,
            )


def note_identifiers(
    source: InputFiles, encoder: Encoder, layout: str, destination: Destination
) -> None:
    """Print a note for each named column that may be an identifier, with the size of its features.

    A result of this size takes long and may exceed the memory, so say it before it is written.
    """
    n_rows = source.n_rows or 0
    for column in encoder.schema.columns:
        if len(column.known) <= MAX_KEYS or not guards.is_like_identifier(column, n_rows):
            continue
        bits = 1 if layout in ("columns", "struct") and column.options.dtype.kind == "b" else 8
        n_bytes = n_rows * column.n_features * column.options.dtype.itemsize * bits // 8
        if destination.format.is_text:
            n_bytes = n_rows * column.n_features * TEXT_FEATURE_BYTES
        messages.note(
            f"{source.name}: {guards.described(column, n_rows)}, and may be an identifier; its"
            f" features take {human_size(n_bytes)}; pass --max-categories or --min-frequency"
            " for fewer, or -o FILE.npz for a sparse matrix",
            destination.is_quiet,
        )
