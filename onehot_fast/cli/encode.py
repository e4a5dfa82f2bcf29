"""``onehot-fast encode`` and ``onehot-fast decode``: replace columns of a file by others."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast import Special
from onehot_fast.adapter import checks, reports
from onehot_fast.cli import messages
from onehot_fast.cli.conversion import MAX_ROWS, ahead, convert, no_rows
from onehot_fast.cli.encoders import ENCODER_KEY, Encoders, has_lists, is_text, new_encoders
from onehot_fast.cli.messages import CommandError, Exit, encoding, one_line
from onehot_fast.cli.outputs import Output, check_encoder_place, new_output, resolved_output
from onehot_fast.cli.places import Format, Place
from onehot_fast.cli.readers import PLAIN_TEXTS, Input
from onehot_fast.cli.source import InputFiles, open_source
from onehot_fast.cli.writers import Change, can_hold
from onehot_fast.integrations.arrow import decode_for, encode, encoded_schema, read_table

# The size of a feature in a text file: a digit and a delimiter.
TEXT_FEATURE_BYTES = 2
# The estimated size of a decoded string and its code.
TEXT_BYTES = 40
# A named column with more categories may be an identifier.
MAX_KEYS = 10_000
# A longer category is refused: it would become the name of a feature, and writing it to Parquet
# takes more than 40 times its bytes in memory.
MAX_CATEGORY_BYTES = 16 << 20
# Spark stores the columns of a frame here, and believes them rather than the columns of the file.
SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
# The layouts that these formats can contain.
LAYOUTS = {"npz": ["csr"], "csv": ["columns", "dictionary"], "tsv": ["columns", "dictionary"]}


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

    By default, all columns of strings are encoded. `options` are the options of the output, and
    `typed` are the options of a new encoder, as the user typed them.
    """
    with open_source(spec) as source:
        output = resolved_output(source, spec, encoder_file, **options)
        note_reading(source, spec, output.is_quiet)
        layout = _layout(layout, output)
        if save_encoder is not None:
            check_encoder_place(save_encoder, source, output)
        if encoder_file is not None:
            encoders = _loaded_encoders(source, encoder_file, columns)
        else:
            limit = math.inf if columns or layout == "dictionary" else max_features
            encoders = _learned_encoders(source, columns, typed, limit, output, layout)
        if encoder_file is None:
            note_marks(source, encoders.columns, output.is_quiet)
        if output.form.is_text:
            source.keep_text([*encoders.columns, *output.partition_by])
        elif output.form.kind != "npz":
            source.decide()
        with messages.noting_warnings(source.name, output.is_quiet):
            change = _encoding(source, encoders, layout, output.form, encoder_file is not None)
            convert(source, change, output)
            for encoder in encoders.each if encoder_file is None else ():
                reports.check_rows_exist(encoder.schema)
                reports.check_features_exist(encoder.schema)
        # The marks in new columns of features are those of the encoded columns.
        learned = encoders.columns if encoder_file is None else ()
        note_marks(source, {*source.schema.names} - {*learned}, output.is_quiet)
        if save_encoder is not None:
            with new_output(save_encoder, output.may_replace) as part:
                part.write_text(encoders.to_json(), encoding="utf-8")
    rows = reports.number_of(source.n_rows or 0, "row")
    features = reports.number_of(encoders.n_features, "feature")
    messages.tell(f"{output.place.address}: wrote {rows}, {features}", output.is_quiet)
    if output.form.is_text and save_encoder is None and encoder_file is None:
        messages.tell(
            f"{output.form.kind} files cannot store the encoder; pass --save-encoder FILE to keep"
            " it for decode and for later files",
            output.is_quiet,
        )


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


def _layout(chosen: str | None, output: Output) -> str:
    """Return the chosen layout, or else that of the format; raise an error if they conflict."""
    kind = output.form.kind
    layout = chosen or ("csr" if kind == "npz" else "columns")
    if layout == "csr" and kind != "npz":
        raise CommandError(Exit.USAGE, "--layout csr requires npz output, e.g. -o out.npz")
    allowed = LAYOUTS.get(kind, [layout])
    if layout not in allowed:
        raise CommandError(
            Exit.USAGE,
            f"--layout {layout} cannot be used with {kind} output; use --layout"
            f" {' or '.join(allowed)}",
        )
    if kind == "npz" and output.partition_by:
        raise CommandError(
            Exit.USAGE,
            "--partition-by cannot be used with npz output, which contains only features; choose"
            " another format",
        )
    return layout


def _learned_encoders(
    source: InputFiles,
    named: Sequence[str],
    typed: dict[str, Sequence[str]],
    limit: float,
    output: Output,
    layout: str,
) -> Encoders:
    """Learn encoders from the source; raise an error for more than `limit` features."""
    columns = chosen_columns(source, named, output.keys)
    encoders = new_encoders(source.schema, columns, typed)
    # With these options, more rows can reduce the number of features.
    are_grouped = typed["min_frequency"] or typed["max_categories"]
    early_limit = math.inf if are_grouped else max(limit, reports.MAX_FEATURES)
    learn(source, encoders, output.is_quiet, limit, early_limit)
    if limit < math.inf:
        note_suspects(source, encoders, output.is_quiet)
    elif layout in ("columns", "struct", "array", "tensor"):
        _note_identifiers(source, encoders, layout, output)
    return encoders


def _loaded_encoders(source: InputFiles, place: Place, named: Sequence[str]) -> Encoders:
    """Load the encoders, and read columns of the source as strings if their categories are."""
    encoders = Encoders.load(place)
    columns = tuple(encoders.columns)
    source.require(columns, Exit.SCHEMA)
    if named and set(chosen_columns(source, named)) != set(columns):
        raise CommandError(
            Exit.SCHEMA,
            f"{place.address}: -c must name exactly the columns of the encoder:"
            f" {', '.join(columns)}; omit -c to encode them",
        )
    known = {str(n): c for encoder in encoders.each for n, c in encoder.categories.items()}
    kinds = {name: _fitted_kind(known[name].tolist()) for name in columns}
    kinds |= {one.name: pa.string() for one in encoders.labels if one.sep is not None}
    source.set_types(
        {
            name: kind
            for name, kind in kinds.items()
            if kind is not None and _may_become(source.schema.field(name).type, kind)
        }
    )
    source.decide(columns)
    with encoding(source.name, Exit.SCHEMA):
        encoders.with_labels(no_rows(source.schema))
    for name, categories in known.items():
        kind = source.schema.field(name).type
        kind = kind.value_type if has_lists(kind) else kind
        if not _fits(kind, categories.tolist()):
            raise CommandError(
                Exit.SCHEMA,
                f"{source.name}: column {name!r} has type {kind}, but the encoder has categories"
                f" such as {categories.tolist()[0]!r}; convert the column, or omit --encoder",
            )
    return encoders


def _fitted_kind(categories: Sequence[Any]) -> pa.DataType | None:
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
    expected: Any = str if is_text(kind) else object
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        expected = (bool, int, float, np.number)
    return not categories or any(isinstance(one, expected) for one in categories)


def chosen_columns(source: InputFiles, named: Sequence[str], but: Sequence[str] = ()) -> list[str]:
    """Return the columns to encode: those in `named`, or by default all columns of strings.

    They are in the order of the file. Columns in `but` are encoded only if they are named.
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
    pairs = zip(table.names, table.encodable, strict=True)
    found = [str(name) for name, is_encodable in pairs if is_encodable and name not in but]
    if not found:
        raise CommandError(
            Exit.COLUMN,
            f"{source.name}: no column contains strings; pass -c to name the columns to encode",
        )
    source.require(found)
    return found


def learn(
    source: InputFiles,
    encoders: Encoders,
    is_quiet: bool,
    limit: float = math.inf,
    early_limit: float = math.inf,
) -> None:
    """Fit the encoders to all rows, and raise an error if they have more than `limit` features.

    If they have more than `early_limit` features after a batch, raise the error before reading the
    rest.
    """
    columns, n_rows = encoders.columns, 0
    batches = source.batches(MAX_ROWS, columns, columns)
    with messages.showing("learning", is_quiet) as step, encoding(source.name, Exit.COLUMN):
        # Learn without rows first: files may be empty, and the encoder stores all columns' names.
        encoders.learn(no_rows(source.schema), source.types)
        with closing(ahead(batches)) as parts:
            for part in parts:
                _check_lengths(source, part)
                encoders.learn(part, source.types)
                n_rows += part.num_rows
                step(source.share, n_rows)
                if early_limit < math.inf:
                    with suppress(ValueError):  # later rows may contain the category to drop
                        if encoders.n_features > early_limit:
                            counted = f"counted in the first {n_rows:,} rows; "
                            _check_features(source, encoders, limit, counted)
        _check_features(source, encoders, limit)


def _check_lengths(source: InputFiles, rows: pa.RecordBatch) -> None:
    """Raise an error for a column with a value that is too long to be the name of a feature."""
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        texts = column.dictionary if pa.types.is_dictionary(column.type) else column
        while has_lists(texts.type):
            texts = texts.flatten()
        if not (is_text(texts.type) or _is_bytes(texts.type)):
            continue
        # Early versions of pyarrow have no `nbytes` of views.
        if texts.get_total_buffer_size() <= MAX_CATEGORY_BYTES:
            continue
        texts = texts.cast(PLAIN_TEXTS.get(texts.type, texts.type))
        size = pc.max(pc.binary_length(texts)).as_py() or 0
        if size > MAX_CATEGORY_BYTES:
            raise CommandError(
                Exit.COLUMN,
                f"{source.name}: column {name!r} has a value of {checks.human_size(size)}, but a"
                f" category may have {checks.human_size(MAX_CATEGORY_BYTES)} at most; name the"
                f" columns to encode with -c, without {name!r}",
            )


def _is_bytes(kind: pa.DataType) -> bool:
    """Tell whether a column contains bytes of any length."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _check_features(
    source: InputFiles, encoders: Encoders, limit: float, counted: str = ""
) -> None:
    """Raise an error for more than `limit` features; its message includes the text `counted`."""
    columns = encoders.schemas  # not in `try`, because it may raise other errors
    remedy = (
        f"{counted}name the columns with -c, pass --max-categories or --min-frequency for fewer"
        " features, or --max-features to allow more"
    )
    try:
        reports.check_features(columns, limit, remedy)
    except ValueError as error:
        raise CommandError(Exit.COLUMN, f"{source.name}: {error}") from error


def note_suspects(source: InputFiles, encoders: Encoders, is_quiet: bool) -> None:
    """Print a note for each column that was chosen by default but may be an identifier."""
    schema, n_rows = encoders.values.schema, source.n_rows or 0
    n_kept = len(source.schema.names) - len(schema.columns)
    for column in schema.columns:
        n_outputs = column.n_outputs
        if reports.is_like_identifier(column, n_rows):
            messages.note(
                f"{source.name}: {reports.described(column, n_rows)}, and may be an identifier;"
                " name the columns to encode with -c",
                is_quiet,
            )
        elif n_outputs > reports.MANY_FEATURES and n_outputs > (n_kept + schema.n_features) / 2:
            messages.note(
                f"{source.name}: column {column.name!r} has {n_outputs:,} of"
                f" {schema.n_features:,} features; name the columns to encode with -c",
                is_quiet,
            )


def _note_identifiers(source: InputFiles, encoders: Encoders, layout: str, output: Output) -> None:
    """Print a note for each named column that may be an identifier, with the size of its features.

    A result of this size takes long and may exceed the memory, so say it before it is written.
    """
    n_rows = source.n_rows or 0
    for column in encoders.values.schema.columns:
        if len(column.known) <= MAX_KEYS or not reports.is_like_identifier(column, n_rows):
            continue
        bits = 1 if layout in ("columns", "struct") and column.options.dtype.kind == "b" else 8
        n_bytes = n_rows * column.n_outputs * column.options.dtype.itemsize * bits // 8
        if output.form.is_text:
            n_bytes = n_rows * column.n_outputs * TEXT_FEATURE_BYTES
        messages.note(
            f"{source.name}: {reports.described(column, n_rows)}, and may be an identifier; its"
            f" features take {checks.human_size(n_bytes)}; pass --max-categories or --min-frequency"
            " for fewer, or -o FILE.npz for a sparse matrix",
            output.is_quiet,
        )


def _encoding(
    source: InputFiles, encoders: Encoders, layout: Any, form: Format, is_loaded: bool
) -> Change:
    """Return how encoding changes the columns of a file."""
    with encoding(source.name, Exit.USAGE):
        after, new = _schema_after(source, encoders, layout)
    if layout == "dictionary" and not form.is_text:
        fields = [_held_labels(field, form) if field.name in new else field for field in after]
        after = pa.schema(fields, after.metadata)
    encoder = {ENCODER_KEY: encoders.to_json().encode()}
    after = after.with_metadata({**_kept_metadata(after), **encoder})
    if layout == "csr":
        after = _matrix_schema(encoders, encoder)

    def apply(batches: pa.RecordBatchReader) -> Iterable[pa.RecordBatch]:
        if layout == "csr":
            return _matrix_rows(batches, encoders, new, after)
        encoded = map(encoders.with_labels, encode(batches, encoders.values, layout=layout))
        return (_without_dictionaries(batch, after) for batch in encoded)

    # Booleans take one bit only in these layouts.
    bits = 1 if layout in ("columns", "struct") else 8
    row_bytes = encoders.estimate(1000).get("arrow", 0) / 1000 * bits
    are_features = layout == "columns"
    return Change(after, encoders.columns, new, apply, row_bytes, is_loaded, are_features)


def _held_labels(field: pa.Field, form: Format) -> pa.Field:
    """Return the field of a column of labels, without the dictionary that a format cannot hold."""
    has_dictionary = pa.types.is_dictionary(field.type)
    if not has_dictionary or can_hold(form, pa.nulls(1, field.type)):
        return field
    return field.with_type(field.type.value_type)


def _without_dictionaries(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch with plain labels where the schema has no dictionary."""
    if batch.schema.types == schema.types:
        return batch
    columns = [
        column if column.type == kind else column.dictionary.take(column.indices)
        for column, kind in zip(batch.columns, schema.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _kept_metadata(schema: pa.Schema) -> dict[bytes, bytes]:
    """Return the metadata of the input that are true for the output, too."""
    return {k: v for k, v in (schema.metadata or {}).items() if k != SPARK_SCHEMA}


def _schema_after(
    source: InputFiles, encoders: Encoders, layout: Any
) -> tuple[pa.Schema, dict[str, None]]:
    """Return the schema of the output, and the names of its new columns."""
    if encoders.labels and layout not in ("columns", "csr"):
        names = ", ".join(column.name for column in encoders.labels)
        raise CommandError(
            Exit.USAGE,
            f"--layout {layout} cannot be used with columns of several labels per row ({names});"
            " use --layout columns",
        )
    if layout in ("array", "tensor", "struct"):
        bare = [str(one.name) for one in encoders.schemas if not one.n_outputs]
        if bare:  # libraries cannot read lists of length 0 and structs without fields
            raise CommandError(
                Exit.COLUMN,
                f"{source.name}: --layout {layout} cannot hold column {bare[0]!r}, which has no"
                " features; use --layout columns, or name the other columns with -c",
            )
    form: Any = "columns" if layout == "csr" else layout
    empty = no_rows(encoded_schema(source.schema, encoders.values, layout=form))
    after = encoders.with_labels(empty).schema
    features = {name for column in encoders.schemas for name in column.names}
    new = features if form == "columns" else set(encoders.columns)
    for name, count in Counter(after.names).items():
        if count > 1 and name in new:
            raise ValueError(
                f"two columns of the output would be named {name!r}; pass --prefix to rename one"
            )
    return after, dict.fromkeys(name for name in after.names if name in new)


def _matrix_schema(encoders: Encoders, metadata: dict[bytes, bytes]) -> pa.Schema:
    """Return the schema of a matrix: each row lists the columns and values of its nonzeros."""
    dtype = np.result_type(np.bool_, *(column.options.dtype for column in encoders.schemas))
    if dtype.kind not in "biuf" or dtype == np.float16:
        raise CommandError(Exit.USAGE, f"--dtype {dtype}: not supported by SciPy; use float32")
    kind = pa.from_numpy_dtype(dtype)
    return pa.schema({"indices": pa.list_(pa.int32()), "data": pa.list_(kind)}, metadata)


def _matrix_rows(
    batches: Iterable[pa.RecordBatch], encoders: Encoders, names: Iterable[str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the nonzeros of each batch; `names` are the features in the order of the output."""
    try:
        from scipy import sparse
    except ImportError as error:
        raise CommandError(
            Exit.FAILED, "npz output requires SciPy; type pip install scipy"
        ) from error
    found = [name for column in encoders.schemas for name in column.names]
    positions = {name: i for i, name in enumerate(found)}
    order = [positions[name] for name in names]
    kind = schema.field("data").type.value_type
    features_alone = copy.copy(encoders.values).set_params(remainder="drop")
    for batch in batches:
        blocks = [features_alone.transform(batch, "csr")]
        blocks += [column.rows(batch.column(column.name)) for column in encoders.labels]
        rows = blocks[0] if len(blocks) == 1 else sparse.hstack(blocks, format="csr")
        if order != sorted(order):
            rows = rows[:, np.asarray(order)]
            rows.sort_indices()
        offsets = pa.array(rows.indptr.astype(np.int32))
        indices = pa.array(rows.indices.astype(np.int32, copy=False))
        lists = [
            pa.ListArray.from_arrays(offsets, indices),
            pa.ListArray.from_arrays(offsets, pa.array(rows.data).cast(kind)),
        ]
        yield pa.RecordBatch.from_arrays(lists, schema=schema)


# --- decoding


def run_decode(
    spec: Input, options: dict[str, Any], encoder_file: Place | None, layout: str | None
) -> None:
    """Decode a file with the encoder in `encoder_file`, or else with the one in the file."""
    with open_source(spec) as source:
        output = resolved_output(source, spec, encoder_file, **options)
        note_reading(source, spec, output.is_quiet)
        if output.form.kind == "npz":
            raise CommandError(
                Exit.USAGE,
                "npz files contain only features; choose another format for decoded columns",
            )
        encoders = _find_encoders(source, encoder_file)
        layout = layout or _layout_of(source, encoders)
        old = _encoded_columns(source, encoders, layout)
        # In CSV, the first rows of a column may be empty, so that the column has no type.
        kind = pa.float64() if layout == "columns" else pa.string()
        nulls = [field.name for field in source.schema if pa.types.is_null(field.type)]
        source.set_types(dict.fromkeys(old.intersection(nulls), kind))
        if layout == "columns" and source.format.is_text:  # smaller, and faster to decode
            digits = [f.name for f in source.schema if f.name in old and f.type == pa.int64()]
            source.set_types(dict.fromkeys(digits, pa.uint8()))
        if layout == "dictionary":  # texts of CSV that look like numbers may be categories
            known = {str(name): one for name, one in encoders.values.categories.items()}
            kinds = {name: _fitted_kind(known[name].tolist()) for name in old.intersection(known)}
            source.set_types({name: kind for name, kind in kinds.items() if kind is not None})
        if output.form.is_text:
            source.keep_text([*old, *output.partition_by])
        else:
            source.decide()
        change = _decoding(source, encoders, layout, old, output.form)
        convert(source, change, output)
    rows = reports.number_of(source.n_rows or 0, "row")
    columns = reports.number_of(len(change.new), "decoded column")
    messages.tell(f"{output.place.address}: wrote {rows}, {columns}", output.is_quiet)


def _find_encoders(source: InputFiles, encoder_file: Place | None) -> Encoders:
    """Return the encoders in `encoder_file`, or those in the metadata of the source."""
    if encoder_file is not None:
        return Encoders.load(encoder_file)
    text = (source.schema.metadata or {}).get(ENCODER_KEY)
    if text is None:
        raise CommandError(
            Exit.SCHEMA,
            f"{source.name} does not contain an encoder; pass --encoder FILE, with the file that"
            " `encode --save-encoder FILE` wrote",
        )
    return Encoders.parse(text, source.name)


def _layout_of(source: InputFiles, encoders: Encoders) -> str:
    """Detect the layout of an encoded file from the types of the columns."""
    names = [str(name) for name in encoders.values.columns or ()]
    if not names or not set(names).issubset(source.schema.names):
        return "columns"
    kind = source.schema.field(names[0]).type
    if pa.types.is_struct(kind):
        return "struct"
    if isinstance(kind, pa.FixedShapeTensorType):
        return "tensor"
    return "array" if pa.types.is_nested(kind) else "dictionary"


def _encoded_columns(source: InputFiles, encoders: Encoders, layout: str) -> set[str]:
    """Return the columns of a file that contain features."""
    of_labels = {n for one in encoders.labels for n in one.encoder.schema.names}
    source.require(sorted(of_labels), Exit.SCHEMA)
    values = encoders.values
    of_values = values.schema.names if layout == "columns" else map(str, values.columns or ())
    return of_labels.union(of_values)


def _decoding(
    source: InputFiles, encoders: Encoders, layout: Any, old: set[str], form: Format
) -> Change:
    """Return how decoding changes the columns of a file.

    The decoded columns have the types that `encode` saw, as far as the output format has them.
    """
    fits = partial(can_hold, form)
    nulls = dict.fromkeys(Special)

    def apply(batches: pa.RecordBatchReader) -> Iterable[pa.RecordBatch]:
        # Parquet stores codes of strings, and the file has the types of `after`.
        is_coded = form.kind == "parquet"
        decoded = decode_for(batches, encoders.values, layout, nulls, fits, is_coded)
        return (encoders.without_features(batch, fits) for batch in decoded)

    try:
        empty = decode_for(no_rows(source.schema), encoders.values, layout, nulls, fits)
        after = encoders.without_features(no_rows(empty.schema), fits).schema
    except (TypeError, ValueError) as error:
        raise CommandError(Exit.SCHEMA, f"{source.name}: {one_line(error)}") from error
    kept = {name for name in source.schema.names if name not in old}
    new = dict.fromkeys(name for name in after.names if name not in kept)
    metadata = {k: v for k, v in _kept_metadata(after).items() if k != ENCODER_KEY}
    row_bytes = TEXT_BYTES * len(new)
    return Change(after.with_metadata(metadata or None), old, new, apply, row_bytes)
