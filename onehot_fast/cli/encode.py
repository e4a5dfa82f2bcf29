"""``onehot-fast encode``: learn the categories, then write the file with its columns encoded."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from onehot_fast.cli.conversion import Change, Output, convert, refusals
from onehot_fast.cli.errors import CommandError, Exit, as_typed, plural
from onehot_fast.cli.learning import (
    ENCODER_KEY,
    chosen_columns,
    learn,
    load_encoder,
    notes_on,
    require_fit,
)
from onehot_fast.cli.options import new_encoder
from onehot_fast.cli.progress import note, noting_warnings, showing, tell
from onehot_fast.cli.sources import Input, Source, open_source
from onehot_fast.cli.target import require_free, save_text
from onehot_fast.encoder import Encoder
from onehot_fast.integrations.arrow import encode, encoded_schema

__all__ = ["MOST_FEATURES", "Learning", "encoding", "run_encode"]

NOT_IN_TEXT = ("struct", "array", "tensor")
# Of columns that nobody named: more than these are identifiers or free text, nearly always.
MOST_FEATURES = 1000


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
    max_features : int
        The most that are made of columns that nobody named.
    """

    columns: Sequence[str] = ()
    typed: dict[str, Sequence[str]] | None = None
    encoder_file: str | None = None
    max_features: int = MOST_FEATURES


def run_encode(
    spec: Input, learning: Learning, layout: str, output: Output, save_encoder: str | None
) -> None:
    """Encode a file.

    Raises
    ------
    CommandError
        See `Exit`.
    """
    with ExitStack() as resources:
        source = open_source(spec, resources)
        output = output.prepared(source, spec, learning.encoder_file)
        form = output.format(source)
        if form.is_text and layout in NOT_IN_TEXT:
            raise CommandError(Exit.USAGE, f"--layout {layout} has no form in {form.kind}")
        if save_encoder is not None:
            require_free(save_encoder, source.identities(), output.may_replace)
            if os.path.realpath(save_encoder) == os.path.realpath(output.path):
                raise CommandError(Exit.USAGE, f"{save_encoder}: is the output too")
        encoder = find_encoder(source, learning, output, is_wide=layout != "dictionary")
        change = encoding(source, encoder, layout)
        with noting_warnings(source.name, output.is_quiet):
            n_rows = convert(source, change, output)
        if save_encoder is not None:
            save_text(save_encoder, encoder.to_json(), output.may_replace)
    became = f"{plural(len(change.old), 'column')} became {plural(encoder.n_features, 'feature')}"
    tell(f"{output.path}: {plural(n_rows, 'row')}, {became}", output.is_quiet)
    if form.is_text and save_encoder is None and learning.encoder_file is None:
        text = f"{form.kind} cannot hold the encoder: --save-encoder keeps it, for decode"
        tell(f"{text} and for later files", output.is_quiet)


def find_encoder(source: Source, learning: Learning, output: Output, is_wide: bool) -> Encoder:
    """Return the encoder from its file, or learn it."""
    if learning.encoder_file is None:
        columns = chosen_columns(source, learning.columns, output.keys(source))
        if output.format(source).is_text:
            source.keep_text([*columns, *output.partition_by])
        typed = learning.typed or {}
        encoder = new_encoder(columns, typed)
        is_asked_for = bool(learning.columns) or not is_wide
        most = math.inf if is_asked_for else learning.max_features
        are_grouped = typed.get("min_frequency") or typed.get("max_categories")
        with showing("learning", output.is_quiet) as step:
            learn(source, encoder, step, most, not is_asked_for and not are_grouped)
        for text in () if is_asked_for else notes_on(source, encoder):
            note(text, output.is_quiet)
        return encoder
    encoder = load_encoder(learning.encoder_file)
    columns = tuple(map(str, encoder.columns or ()))
    source.require(columns, Exit.SCHEMA)
    if learning.columns and set(chosen_columns(source, learning.columns)) != set(columns):
        text = f"{learning.encoder_file}: the encoder is that of the columns {', '.join(columns)}"
        raise CommandError(Exit.SCHEMA, text)
    # Codes such as 007 are texts in one file, and look like integers in another.
    known = encoder.categories
    source.read_as_text([n for n in columns if isinstance(next(iter(known[n]), None), str)])
    if output.format(source).is_text:
        source.keep_text([*columns, *output.partition_by])
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
        raise CommandError(Exit.USAGE, as_typed(error)) from error
    except ValueError as error:
        raise CommandError(Exit.VALUE, f"{source.name}: {as_typed(error)}") from error
    metadata = {**(after.metadata or {}), ENCODER_KEY: encoder.to_json().encode()}

    def apply(batches: pa.RecordBatchReader) -> Iterable[pa.RecordBatch]:
        return refusals(source.name, encode(batches, encoder, layout=layout))

    # Booleans are bits only where they are columns.
    wide = 1 if layout in ("columns", "struct") else 8
    row_bytes = encoder.estimate(1000).bytes["arrow"] / 1000 * wide
    return Change(source.schema, after.with_metadata(metadata), old, new, apply, row_bytes)
