"""``onehot-fast encode`` and ``onehot-fast decode``: replace columns of a file by others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from onehot_fast.adapter import guards, number_of
from onehot_fast.cli import messages
from onehot_fast.cli.conversion import convert
from onehot_fast.cli.encoders import names_of
from onehot_fast.cli.learning import fitted_kind, found_encoder, learned_encoder, loaded_encoder
from onehot_fast.cli.messages import CommandError, Exit
from onehot_fast.cli.notes import note_marks, note_reading
from onehot_fast.cli.outputs import (
    Destination,
    check_encoder_place,
    new_output,
    resolved_destination,
)
from onehot_fast.cli.places import Place
from onehot_fast.cli.plan import chosen_layout, decode_plan, encode_plan, encoded_columns, layout_of
from onehot_fast.cli.reader import Input
from onehot_fast.cli.source import InputFiles, open_source
from onehot_fast.encoder import Encoder


def run_encode(
    spec: Input,
    options: dict[str, Any],
    columns: Sequence[str],
    typed: dict[str, Sequence[str]],
    max_features: int,
    encoder_file: Place | None,
    save_encoder: Place | None,
    layout: str | None,
) -> None:
    """Encode columns of a file, with the encoder in `encoder_file` or a new one.

    By default, all columns of strings and of lists of strings are encoded. `options` are the
    options of the output, and `typed` are the options of a new encoder, as the user typed them.
    """
    with open_source(spec) as source:
        destination = resolved_destination(source, spec, encoder_file, **options)
        note_reading(source, spec, destination.is_quiet)
        layout = chosen_layout(layout, destination)
        if save_encoder is not None:
            check_encoder_place(save_encoder, source, destination)
        if encoder_file is not None:
            encoder = loaded_encoder(source, encoder_file, columns)
        else:
            limit = math.inf if columns or layout == "dictionary" else max_features
            encoder = learned_encoder(source, columns, typed, limit, destination, layout)
        names = names_of(encoder)
        if encoder_file is None:
            note_marks(source, names, destination.is_quiet)
        if destination.format.is_text:
            source.keep_text([*names, *destination.partition_by])
        elif not destination.format.has_only_features:
            source.decide()
        with messages.noting_warnings(source.name, destination.is_quiet):
            is_loaded = encoder_file is not None
            plan = encode_plan(source, encoder, layout, destination.format, is_loaded)
            convert(source, plan, destination)
            if not is_loaded:
                guards.check_separators(encoder.schema)
                guards.check_rows_exist(encoder.schema)
                guards.check_features_exist(encoder.schema)
        # The marks in new columns of features are those of the encoded columns.
        learned = names if encoder_file is None else ()
        note_marks(source, {*source.schema.names} - {*learned}, destination.is_quiet)
        if save_encoder is not None:
            with new_output(save_encoder, destination.may_replace) as part:
                part.write_text(encoder.to_json(), encoding="utf-8")
    _tell_written(source, destination, number_of(encoder.n_features, "feature"))
    if destination.format.is_text and save_encoder is None and encoder_file is None:
        messages.tell(
            f"{destination.format.kind} files cannot store the encoder; pass --save-encoder FILE to"
            " keep it for decode and for later files",
            destination.is_quiet,
        )


def run_decode(
    spec: Input, options: dict[str, Any], encoder_file: Place | None, layout: str | None
) -> None:
    """Decode a file with the encoder in `encoder_file`, or else with the one in the file."""
    with open_source(spec) as source:
        destination = resolved_destination(source, spec, encoder_file, **options)
        note_reading(source, spec, destination.is_quiet)
        if destination.format.has_only_features:
            raise CommandError(
                Exit.USAGE,
                "npz files contain only features; choose another format for decoded columns",
            )
        encoder = found_encoder(source, encoder_file)
        layout = layout or layout_of(source, encoder)
        old = encoded_columns(encoder, layout)
        _set_types_of_features(source, encoder, layout, old)
        if destination.format.is_text:
            source.keep_text([*old, *destination.partition_by])
        else:
            source.decide()
        plan = decode_plan(source, encoder, layout, old, destination.format)
        convert(source, plan, destination)
    _tell_written(source, destination, number_of(len(plan.new), "decoded column"))


def _set_types_of_features(
    source: InputFiles, encoder: Encoder, layout: str, old: set[str]
) -> None:
    """Read the encoded columns `old` of CSV files as types that can be decoded."""
    # The first rows of a column may be empty, so that the column has no type.
    kind = pa.float64() if layout == "columns" else pa.string()
    nulls = [field.name for field in source.schema if pa.types.is_null(field.type)]
    source.set_types(dict.fromkeys(old.intersection(nulls), kind))
    if layout == "columns" and source.format.is_text:  # smaller, and faster to decode
        digits = [f.name for f in source.schema if f.name in old and f.type == pa.int64()]
        source.set_types(dict.fromkeys(digits, pa.uint8()))
    if layout == "dictionary":  # texts that look like numbers may be categories
        known = {str(name): one for name, one in encoder.categories.items()}
        kinds = {name: fitted_kind(known[name].tolist()) for name in old.intersection(known)}
        source.set_types({name: kind for name, kind in kinds.items() if kind is not None})


def _tell_written(source: InputFiles, destination: Destination, columns: str) -> None:
    """Say on a terminal how many rows and columns have been written."""
    rows = number_of(source.n_rows or 0, "row")
    messages.tell(f"{destination.place.address}: wrote {rows}, {columns}", destination.is_quiet)
