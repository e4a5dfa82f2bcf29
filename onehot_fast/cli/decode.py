"""``onehot-fast decode``: restore the columns that were encoded."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import pyarrow as pa

from onehot_fast.cli.conversion import Change, convert, no_rows
from onehot_fast.cli.encoders import (
    ENCODER_KEY,
    Encoders,
    load_encoders,
    parse_encoders,
    without_features,
)
from onehot_fast.cli.errors import CommandError, Exit, one_line, plural
from onehot_fast.cli.outputs import Output
from onehot_fast.cli.progress import tell
from onehot_fast.cli.source import Input, InputFiles, open_source
from onehot_fast.integrations.arrow import decode

__all__ = ["run_decode"]

# The estimated size of a decoded text and its code.
TEXT_BYTES = 40


def run_decode(spec: Input, encoder_file: str | None, layout: str | None, output: Output) -> None:
    """Decode a file."""
    with ExitStack() as resources:
        source = open_source(spec, resources)
        output = output.prepared(source, spec.text.delimiter, encoder_file)
        if output.format(source).kind == "npz":
            raise CommandError(Exit.USAGE, "npz can only hold features; name another format")
        encoders = _find_encoders(source, encoder_file)
        layout = layout or _layout_of(source, encoders)
        if source.format.is_text:
            _set_types_of_empty(source, encoders, layout)
        change = _decoding(source, encoders, layout)
        if output.format(source).is_text:
            source.keep_text([*change.old, *output.partition_by])
            change = _decoding(source, encoders, layout)
        n_rows = convert(source, change, output)
    wrote = f"wrote {plural(n_rows, 'row')}, {plural(len(change.new), 'decoded column')}"
    tell(f"{output.path}: {wrote}", output.is_quiet)


def _find_encoders(source: InputFiles, encoder_file: str | None) -> Encoders:
    """Return the encoder from a file, or that in the metadata of the source."""
    if encoder_file is not None:
        return load_encoders(encoder_file)
    text = (source.schema.metadata or {}).get(ENCODER_KEY)
    if text is None:
        reason = f", and {source.format.kind} cannot" if source.format.is_text else ""
        raise CommandError(
            Exit.SCHEMA,
            f"{source.name} does not contain its encoder{reason}; pass --encoder FILE, which"
            " `encode --save-encoder FILE` wrote",
        )
    return parse_encoders(text, source.name)


def _layout_of(source: InputFiles, encoders: Encoders) -> str:
    """Return the layout of an encoded file, by the types of its columns."""
    names = [str(name) for name in encoders.values.columns or ()]
    if not names or not all(name in source.schema.names for name in names):
        return "columns"
    kind = source.schema.field(names[0]).type
    if pa.types.is_struct(kind):
        return "struct"
    if isinstance(kind, pa.BaseExtensionType):
        return "tensor"
    return "array" if pa.types.is_nested(kind) else "dictionary"


def _set_types_of_empty(source: InputFiles, encoders: Encoders, layout: str) -> None:
    """Give columns of CSV the type of features or values if the first rows have no value."""
    kind = pa.float64() if layout == "columns" else pa.string()
    names = [n for e in encoders.each for n in e.schema.names]
    names = names if layout == "columns" else encoders.columns
    empty = [f.name for f in source.schema if pa.types.is_null(f.type) and f.name in names]
    source.set_types(dict.fromkeys(empty, kind))


def _decoding(source: InputFiles, encoders: Encoders, layout: Any) -> Change:
    """Return how decoding changes the columns of a file."""
    values = encoders.values
    is_wide = layout == "columns"
    old_names = set(values.schema.names if is_wide else map(str, values.columns or ()))
    of_labels = {n for one in encoders.labels for n in one.encoder.schema.names}
    source.require(sorted(of_labels), Exit.SCHEMA)
    old = tuple(name for name in source.schema.names if name in old_names | of_labels)

    def apply(batches: pa.RecordBatchReader) -> Iterable[pa.RecordBatch]:
        return without_features(decode(batches, values, layout=layout), encoders)

    try:
        empty = decode(no_rows(source.schema), values, layout=layout)
        after = next(without_features([no_rows(empty.schema)], encoders)).schema
    except (TypeError, ValueError) as error:
        raise CommandError(Exit.SCHEMA, f"{source.name}: {one_line(error)}") from error
    kept = {name for name in source.schema.names if name not in old}
    new = tuple(name for name in after.names if name not in kept)
    metadata = {k: v for k, v in (after.metadata or {}).items() if k != ENCODER_KEY}
    row_bytes = TEXT_BYTES * len(new)
    return Change(after.with_metadata(metadata or None), old, new, apply, row_bytes)
