"""``onehot-fast encode``: learn the categories, then write the file with its columns encoded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from onehot_fast.cli.conversion import Change, Output, convert, refusals
from onehot_fast.cli.errors import CommandError, Exit, one_line
from onehot_fast.cli.learning import chosen_columns, learn, load_encoder, require_fit
from onehot_fast.cli.options import new_encoder
from onehot_fast.cli.progress import showing, tell
from onehot_fast.cli.sources import Input, Source, open_source
from onehot_fast.cli.target import save_text
from onehot_fast.encoder import Encoder
from onehot_fast.integrations.arrow import encode, encoded_schema

__all__ = ["ENCODER_KEY", "Learning", "encoding", "run_encode"]

# The encoder in the metadata of the output, for `decode`.
ENCODER_KEY = b"onehot_fast.encoder"
NOT_IN_TEXT = ("struct", "array", "tensor")


@dataclass(frozen=True)
class Learning:
    """Where the encoder comes from.

    Attributes
    ----------
    columns : sequence of str
        Those to encode; none: all texts.
    typed : dict of str to sequence of str
        The options of the encoder, as they were typed.
    encoder_file : str, optional
        That of an encoder that was learned before.
    """

    columns: Sequence[str] = ()
    typed: dict[str, Sequence[str]] | None = None
    encoder_file: str | None = None


def run_encode(
    given: Input, learning: Learning, layout: str, output: Output, save_encoder: str | None
) -> None:
    """Encode a file.

    Raises
    ------
    CommandError
        See `Exit`.
    """
    with ExitStack() as resources:
        source = open_source(given, resources)
        form = output.format(source)
        if form.is_text and layout in NOT_IN_TEXT:
            raise CommandError(Exit.USAGE, f"--layout {layout} has no form in {form.kind}")
        encoder = find_encoder(source, learning, output)
        change = encoding(source, encoder, layout)
        convert(source, change, output)
        if save_encoder is not None:
            save_text(save_encoder, encoder.to_json())
    text = f"{output.path}: {len(change.old)} columns became {len(change.new)}"
    tell(text, output.is_quiet)


def find_encoder(source: Source, learning: Learning, output: Output) -> Encoder:
    """Return the encoder from its file, or learn it."""
    if learning.encoder_file is None:
        columns = chosen_columns(source, learning.columns)
        if output.format(source).is_text:
            source.keep_text(columns)
        encoder = new_encoder(columns, learning.typed or {})
        with showing("learning", output.is_quiet) as step:
            return learn(source, encoder, step)
    encoder = load_encoder(learning.encoder_file)
    columns = tuple(map(str, encoder.columns or ()))
    if learning.columns and set(learning.columns) != set(columns):
        text = f"{learning.encoder_file}: the encoder is that of the columns {', '.join(columns)}"
        raise CommandError(Exit.SCHEMA, text)
    if output.format(source).is_text:
        source.keep_text(columns)
    require_fit(source, encoder)
    return encoder


def encoding(source: Source, encoder: Encoder, layout: Any) -> Change:
    """Return what encoding does to the columns of a file."""
    names = set(map(str, encoder.columns or ()))
    old = tuple(name for name in source.schema.names if name in names)
    try:
        after = encoded_schema(source.schema, encoder, layout=layout)
        only = pa.schema([source.schema.field(name) for name in old])
        new = tuple(encoded_schema(only, encoder, layout=layout).names)
    except TypeError as error:
        raise CommandError(Exit.USAGE, one_line(error)) from error
    except ValueError as error:
        raise CommandError(Exit.VALUE, f"{source.name}: {one_line(error)}") from error
    metadata = {**(after.metadata or {}), ENCODER_KEY: encoder.to_json().encode()}

    def apply(batches: pa.RecordBatchReader) -> Iterable[pa.RecordBatch]:
        return refusals(source.name, encode(batches, encoder, layout=layout))

    # Booleans are bits only where they are columns.
    wide = 1 if layout in ("columns", "struct") else 8
    row_bytes = encoder.estimate(1000).bytes["arrow"] / 1000 * wide
    return Change(source.schema, after.with_metadata(metadata), old, new, apply, row_bytes)
