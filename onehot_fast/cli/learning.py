"""The encoder of a run: learned from the rows of the source, or loaded from a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.adapter import ColumnSchema, guards, human_size
from onehot_fast.cli import messages
from onehot_fast.cli.arrow_batches import PLAIN_TEXTS
from onehot_fast.cli.batches import MAX_ROWS, ahead, no_rows
from onehot_fast.cli.encoders import ENCODER_KEY, load_encoder, names_of, parsed_encoder
from onehot_fast.cli.flags import THRESHOLDS
from onehot_fast.cli.messages import CommandError, Exit, encoding_input
from onehot_fast.cli.notes import note_identifiers, note_suspects
from onehot_fast.cli.outputs import Destination
from onehot_fast.cli.places import Place
from onehot_fast.cli.schemas import has_strings
from onehot_fast.cli.source import InputFiles
from onehot_fast.cli.typed_options import new_encoder
from onehot_fast.encoder import Encoder
from onehot_fast.integrations.arrow import flattened, is_list_type, read_table

# A longer category is refused: it would become the name of a feature, and writing it to Parquet
# takes more than 40 times its bytes in memory.
MAX_CATEGORY_BYTES = 16 << 20


def learned_encoder(
    source: InputFiles,
    named: Sequence[str],
    typed: dict[str, Sequence[str]],
    limit: float,
    destination: Destination,
    layout: str,
) -> Encoder:
    """Learn an encoder from the source; raise an error for more than `limit` features."""
    columns = chosen_columns(source, named, destination.keys)
    encoder = new_encoder(source.schema, columns, typed)
    # With these options, more rows can reduce the number of features.
    are_grouped = any(typed[name] for name in THRESHOLDS)
    early_limit = math.inf if are_grouped else max(limit, guards.MAX_FEATURES)
    learn(source, encoder, destination.is_quiet, limit, early_limit)
    if limit < math.inf:
        note_suspects(source, encoder, destination.is_quiet)
    elif layout in ("columns", "struct", "array", "tensor"):
        note_identifiers(source, encoder, layout, destination)
    return encoder


def loaded_encoder(source: InputFiles, place: Place, named: Sequence[str]) -> Encoder:
    """Load the encoder, and read columns of the source as strings if their categories are."""
    encoder = load_encoder(place)
    columns = names_of(encoder)
    source.require(columns, Exit.SCHEMA)
    if named and set(chosen_columns(source, named)) != set(columns):
        raise CommandError(
            Exit.SCHEMA,
            f"{place.address}: -c must name exactly the columns of the encoder:"
            f" {', '.join(columns)}; omit -c to encode them",
        )
    known = {str(name): one.tolist() for name, one in encoder.categories.items()}
    kinds = {name: fitted_kind(known[name]) for name in columns}
    kinds |= {str(one.name): pa.string() for one in encoder.schema.columns if one.learned.is_split}
    source.set_types(
        {
            name: kind
            for name, kind in kinds.items()
            if kind is not None and _may_become(source.schema.field(name).type, kind)
        }
    )
    source.decide(columns)
    for column in encoder.schema.columns:
        name = str(column.name)
        kind = source.schema.field(name).type
        if not pa.types.is_null(kind):
            _check_form(source, column, kind)
        if not _fits(_label_type(kind), known[name]):
            raise CommandError(
                Exit.SCHEMA,
                f"{source.name}: column {name!r} has type {kind}, but the encoder has categories"
                f" such as {known[name][0]!r}; convert the column, or omit --encoder",
            )
    return encoder


def _check_form(source: InputFiles, column: ColumnSchema, kind: pa.DataType) -> None:
    """Raise an error if a column has lists, but had single values in `fit`, or the reverse."""
    expected = {
        (True, True): "strings or lists",
        (True, False): "lists",
        (False, False): "single values",
    }[column.is_ragged, column.learned.is_split]
    are_lists = is_list_type(kind)
    if are_lists != column.is_ragged and not (column.learned.is_split and has_strings(kind)):
        raise CommandError(
            Exit.SCHEMA,
            f"{source.name}: column {str(column.name)!r} must contain {expected}, because the"
            f" encoder was fitted to such a column, got {kind}; convert the column, or omit"
            " --encoder",
        )


def _label_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the labels of lists, and any other type itself."""
    while isinstance(kind, pa.BaseExtensionType) and is_list_type(kind):
        kind = kind.storage_type
    return kind.value_type if is_list_type(kind) else kind


def fitted_kind(categories: Sequence[Any]) -> pa.DataType | None:
    """Return the type of a CSV column with these categories; None if it depends on the file."""
    first = next(iter(categories), None)
    kinds = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    return kinds.get(type(first), pa.date32() if type(first) is date else None)


def _may_become(kind: pa.DataType, fitted: pa.DataType) -> bool:
    """Tell whether a CSV column that looks like one type is read as the type of an encoder.

    Codes such as 007 are strings in one file and look like integers in another; so do 0 and 1 if
    they are Booleans. A column without values has any type.
    """
    if pa.types.is_string(fitted) or pa.types.is_null(kind):
        return True
    return pa.types.is_integer(kind) and fitted in (pa.float64(), pa.bool_())


def _fits(kind: pa.DataType, categories: Sequence[Any]) -> bool:
    """Tell whether a column of the type `kind` can contain any of `categories`.

    Types other than strings, numbers and Booleans are not checked.
    """
    expected: Any = str if has_strings(kind) else object
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        expected = (bool, int, float, np.number)
    return not categories or any(isinstance(one, expected) for one in categories)


def chosen_columns(source: InputFiles, named: Sequence[str], but: Sequence[str] = ()) -> list[str]:
    """Return the columns to encode: those in `named`, or by default those that `Encoder` chooses.

    These are all columns of strings, and of lists of strings. They are in the order of the file.
    Columns in `but` are encoded only if they are named.
    """
    names = source.schema.names
    if named:
        split = [[name] if name in names else name.split(",") for name in named]
        wanted = [name for parts in split for name in parts]
        source.require(wanted)
        source.decide(wanted)
        return [name for name in names if name in wanted]
    source.decide()
    table = read_table(no_rows(source.schema))
    pairs = zip(source.schema, table.encodable, strict=True)
    found = [field.name for field, is_encodable in pairs if is_encodable and field.name not in but]
    if not found:
        raise CommandError(
            Exit.COLUMN,
            f"{source.name}: no column contains strings; pass -c to name the columns to encode",
        )
    source.require(found)
    return found


def learn(
    source: InputFiles,
    encoder: Encoder,
    is_quiet: bool,
    limit: float = math.inf,
    early_limit: float = math.inf,
) -> None:
    """Fit the encoder to all rows, and raise an error if it has more than `limit` features.

    If it has more than `early_limit` features after a batch, raise the error before reading the
    rest.
    """
    columns, n_rows = names_of(encoder), 0
    batches = source.batches(MAX_ROWS, columns, columns)
    with messages.showing("learning", is_quiet) as step, encoding_input(source.name, Exit.COLUMN):
        # Learn without rows first: files may be empty, and the encoder stores all columns' names.
        encoder.partial_fit(read_table(no_rows(source.schema), source.types))
        with closing(ahead(batches)) as parts:
            for part in parts:
                _check_lengths(source, part)
                # A reader may have converted strings to dictionaries, which are faster.
                encoder.partial_fit(read_table(part, source.types))
                n_rows += part.num_rows
                step(source.share, n_rows)
                if early_limit < math.inf:
                    with suppress(ValueError):  # later rows may contain the category to drop
                        if encoder.n_features > early_limit:
                            counted = f"counted in the first {n_rows:,} rows; "
                            _check_features(source, encoder, limit, counted)
        _check_features(source, encoder, limit)


def _check_lengths(source: InputFiles, rows: pa.RecordBatch) -> None:
    """Raise an error for a column with a value that is too long to be the name of a feature."""
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        texts = column.dictionary if pa.types.is_dictionary(column.type) else column
        while is_list_type(texts.type):
            _, texts = flattened(texts)
        if not (has_strings(texts.type) or _is_bytes(texts.type)):
            continue
        # Early versions of pyarrow have no `nbytes` of views.
        if texts.get_total_buffer_size() <= MAX_CATEGORY_BYTES:
            continue
        texts = texts.cast(PLAIN_TEXTS.get(texts.type, texts.type))
        size = pc.max(pc.binary_length(texts)).as_py() or 0
        if size > MAX_CATEGORY_BYTES:
            raise CommandError(
                Exit.COLUMN,
                f"{source.name}: column {name!r} has a value of {human_size(size)}, but a"
                f" category may have {human_size(MAX_CATEGORY_BYTES)} at most; name the"
                f" columns to encode with -c, without {name!r}",
            )


def _is_bytes(kind: pa.DataType) -> bool:
    """Tell whether a column contains bytes of any length."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _check_features(source: InputFiles, encoder: Encoder, limit: float, counted: str = "") -> None:
    """Raise an error for more than `limit` features; its message includes the text `counted`."""
    columns = encoder.schema.columns  # not in `try`, because it may raise other errors
    remedy = (
        f"{counted}name the columns with -c, pass --max-categories or --min-frequency for fewer"
        " features, or --max-features to allow more"
    )
    try:
        guards.check_features(columns, limit, remedy)
    except ValueError as error:
        raise CommandError(Exit.COLUMN, f"{source.name}: {error}") from error


def found_encoder(source: InputFiles, encoder_file: Place | None) -> Encoder:
    """Return the encoder in `encoder_file`, or the one in the metadata of the source."""
    if encoder_file is not None:
        return load_encoder(encoder_file)
    text = (source.schema.metadata or {}).get(ENCODER_KEY)
    if text is None:
        raise CommandError(
            Exit.SCHEMA,
            f"{source.name} does not contain an encoder; pass --encoder FILE, with the file that"
            " `encode --save-encoder FILE` wrote",
        )
    return parsed_encoder(text, source.name)
