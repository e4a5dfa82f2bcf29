"""``onehot-fast encode``: learn the categories, then write the file with its columns encoded."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from onehot_fast.adapter import identifiers
from onehot_fast.cli.conversion import Change, convert, refusals
from onehot_fast.cli.encoder_options import new_encoders
from onehot_fast.cli.encoders import ENCODER_KEY, Encoders, load_encoders
from onehot_fast.cli.errors import CommandError, Exit, as_typed, plural
from onehot_fast.cli.formats import Format
from onehot_fast.cli.labels import with_labels
from onehot_fast.cli.learning import chosen_columns, learn, notes_on, require_fit
from onehot_fast.cli.matrix import matrix_rows, matrix_schema
from onehot_fast.cli.output import Output
from onehot_fast.cli.progress import note, noting_warnings, showing, tell
from onehot_fast.cli.sources import Input, Source, open_source
from onehot_fast.cli.stores import place_of
from onehot_fast.cli.target import STDOUT, require_free, save_text
from onehot_fast.integrations.arrow import encode, encoded_schema

__all__ = ["Learning", "encoding", "run_encode"]

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
    max_features : int
        The most that are made of columns that nobody named.
    """

    columns: Sequence[str] = ()
    typed: dict[str, Sequence[str]] | None = None
    encoder_file: str | None = None
    max_features: int = identifiers.MAX_DENSE_FEATURES


def run_encode(
    spec: Input, learning: Learning, layout: str | None, output: Output, save_encoder: str | None
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
        layout = _layout(layout, form, output)
        if save_encoder is not None:
            save_encoder = _place_for_encoder(save_encoder, source, output)
        encoders = find_encoders(source, learning, output, is_wide=layout != "dictionary")
        change = encoding(source, encoders, layout)
        with noting_warnings(source.name, output.is_quiet):
            n_rows = convert(source, change, output)
        if save_encoder is not None:
            save_text(save_encoder, encoders.to_json(), output.may_replace)
    became = f"{plural(len(change.old), 'column')} became {plural(encoders.n_features, 'feature')}"
    tell(f"{output.path}: {plural(n_rows, 'row')}, {became}", output.is_quiet)
    if form.is_text and save_encoder is None and learning.encoder_file is None:
        text = f"{form.kind} cannot hold the encoder: --save-encoder keeps it, for decode"
        tell(f"{text} and for later files", output.is_quiet)


def _place_for_encoder(path: str, source: Source, output: Output) -> str:
    """Return where the encoder is saved, once that is known to be possible."""
    if path == STDOUT:
        raise CommandError(Exit.USAGE, "--save-encoder -: name a file")
    place = place_of(path)
    if not isinstance(place, Path):
        require_free(path, source.identities(), output.may_replace, source.addresses())
        return path
    require_free(str(place), source.identities(), output.may_replace, source.addresses())
    saved = Path(os.path.realpath(place))
    written = Path(os.path.realpath(output.path))
    if saved == written or (output.is_folder and saved.is_relative_to(written)):
        is_in = "is the output too" if saved == written else "lies in the output"
        raise CommandError(Exit.USAGE, f"{path}: {is_in}")
    if not saved.parent.is_dir():
        raise CommandError(Exit.OUTPUT, f"{path}: there is no folder {saved.parent}")
    return str(place)


def _layout(chosen: str | None, form: Format, output: Output) -> str:
    """Return the layout: that of the format, where nobody chose one."""
    is_matrix = form.kind == "npz"
    layout = chosen or ("csr" if is_matrix else "columns")
    if form.is_text and layout in NOT_IN_TEXT:
        raise CommandError(Exit.USAGE, f"--layout {layout} has no form in {form.kind}")
    if (layout == "csr") != is_matrix:
        has = (
            "is a matrix of SciPy: name the output .npz" if not is_matrix else "has no form in npz"
        )
        raise CommandError(Exit.USAGE, f"--layout {layout} {has}")
    if is_matrix and output.partition_by:
        text = "--partition-by: a matrix has no columns but the features"
        raise CommandError(Exit.USAGE, text)
    return layout


def find_encoders(source: Source, learning: Learning, output: Output, is_wide: bool) -> Encoders:
    """Return the encoders from their file, or learn them."""
    if learning.encoder_file is None:
        columns = chosen_columns(source, learning.columns, output.keys(source))
        if output.format(source).is_text:
            source.keep_text([*columns, *output.partition_by])
        typed = learning.typed or {}
        encoders = new_encoders({name: source.schema.field(name).type for name in columns}, typed)
        is_asked_for = bool(learning.columns) or not is_wide
        most = math.inf if is_asked_for else learning.max_features
        are_grouped = typed.get("min_frequency") or typed.get("max_categories")
        with showing("learning", output.is_quiet) as step:
            learn(source, encoders, step, most, not is_asked_for and not are_grouped)
        for text in () if is_asked_for else notes_on(source, encoders):
            note(text, output.is_quiet)
        return encoders
    encoders = load_encoders(learning.encoder_file)
    columns = tuple(encoders.columns)
    source.require(columns, Exit.SCHEMA)
    if learning.columns and set(chosen_columns(source, learning.columns)) != set(columns):
        text = f"{learning.encoder_file}: the encoder is that of the columns {', '.join(columns)}"
        raise CommandError(Exit.SCHEMA, text)
    # Codes such as 007 are texts in one file, and look like integers in another.
    known = {str(n): c for encoder in encoders.each for n, c in encoder.categories.items()}
    texts = [one.name for one in encoders.labels if one.sep is not None]
    texts += [name for name in columns if isinstance(next(iter(known[name]), None), str)]
    source.read_as_text(texts)
    if output.format(source).is_text:
        source.keep_text([*columns, *output.partition_by])
    require_fit(source, encoders)
    return encoders


def encoding(source: Source, encoders: Encoders, layout: Any) -> Change:
    """Return what encoding does to the columns of a file."""
    old = tuple(name for name in source.schema.names if name in encoders.columns)
    try:
        after, new = _schema_after(source, encoders, layout)
    except TypeError as error:
        raise CommandError(Exit.USAGE, as_typed(error)) from error
    except ValueError as error:
        raise CommandError(Exit.VALUE, f"{source.name}: {as_typed(error)}") from error
    metadata = {**(after.metadata or {}), ENCODER_KEY: encoders.to_json().encode()}
    after = after.with_metadata(metadata)
    if layout == "csr":
        names = [name for encoder in encoders.each for name in encoder.schema.names]
        positions = {name: i for i, name in enumerate(names)}
        order = [positions[name] for name in new]
        after = matrix_schema(encoders, {ENCODER_KEY: metadata[ENCODER_KEY]})

    def apply(batches: pa.RecordBatchReader) -> Iterable[pa.RecordBatch]:
        if layout == "csr":
            return refusals(source.name, matrix_rows(batches, encoders, order, after))
        encoded = encode(batches, encoders.values, layout=layout)
        return refusals(source.name, with_labels(encoded, encoders.labels))

    # Booleans are bits only where they are columns.
    wide = 1 if layout in ("columns", "struct") else 8
    row_bytes = encoders.bytes(1000).get("arrow", 0) / 1000 * wide
    reads = old if layout == "csr" else None
    return Change(source.schema, after, old, new, apply, row_bytes, reads)


def _schema_after(
    source: Source, encoders: Encoders, layout: Any
) -> tuple[pa.Schema, tuple[str, ...]]:
    """Return the schema of the output, and the names of the columns that are new in it."""
    if encoders.labels and layout not in ("columns", "csr"):
        names = ", ".join(column.name for column in encoders.labels)
        text = f"--layout {layout} has no form for the several labels of a row, as in {names}"
        raise CommandError(Exit.USAGE, text)
    form: Any = "columns" if layout == "csr" else layout
    after = encoded_schema(source.schema, encoders.values, layout=form)
    ones = [str(name) for name in encoders.values.columns or ()]
    new = {*(encoders.values.schema.names if form == "columns" else ones)}
    for column in encoders.labels:
        i = after.get_field_index(column.name)
        fields = column.fields()
        after = pa.schema([*list(after)[:i], *fields, *list(after)[i + 1 :]], after.metadata)
        new.update(field.name for field in fields)
    for name in new:
        if after.names.count(name) > 1:
            text = f"two columns of the output would be named {name!r}; --prefix names them anew"
            raise ValueError(text)
    return after, tuple(name for name in after.names if name in new)
