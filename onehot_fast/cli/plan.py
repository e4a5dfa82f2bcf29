"""The plan of a run: which columns of a file are replaced, by which columns, in which layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from onehot_fast import Special
from onehot_fast.cli.batches import matrix_batches, no_rows, without_dictionaries
from onehot_fast.cli.encoders import ENCODER_KEY, names_of
from onehot_fast.cli.formats import Format, can_hold
from onehot_fast.cli.messages import CommandError, Exit, encoding_input, one_line
from onehot_fast.cli.outputs import Destination
from onehot_fast.cli.source import InputFiles
from onehot_fast.encoder import Encoder
from onehot_fast.integrations.arrow import decode_for, encode, encoded_schema

# The estimated size of a decoded value: of a string and its code, or of a code alone.
TEXT_BYTES, CODE_BYTES = 40, 12
# Spark stores the columns of a frame here, and believes them rather than the columns of the file.
SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"


@dataclass(frozen=True)
class Plan:
    """How a subcommand changes the rows of the input: new columns replace old columns."""

    after: pa.Schema  # the schema of the new rows
    old: Collection[str]  # the columns that are replaced
    new: dict[str, None]  # the columns that replace them, in order
    apply: Callable[[pa.RecordBatchReader], Iterable[pa.RecordBatch]]
    row_bytes: float  # about how many bytes a row of the new columns takes
    is_loaded: bool = False  # whether --encoder was given
    are_features: bool = False  # whether each new column is a feature, not a column of values


def chosen_layout(chosen: str | None, destination: Destination) -> str:
    """Return the chosen layout, or else that of the format; raise an error if they conflict."""
    form = destination.format
    layout = chosen or form.layouts[0]
    if layout == "csr" and layout not in form.layouts:
        raise CommandError(Exit.USAGE, "--layout csr requires npz output, e.g. -o out.npz")
    if layout not in form.layouts:
        raise CommandError(
            Exit.USAGE,
            f"--layout {layout} cannot be used with {form.kind} output; use --layout"
            f" {' or '.join(form.layouts)}",
        )
    if form.has_only_features and destination.partition_by:
        raise CommandError(
            Exit.USAGE,
            "--partition-by cannot be used with npz output, which contains only features; choose"
            " another format",
        )
    return layout


def encode_plan(
    source: InputFiles, encoder: Encoder, layout: Any, form: Format, is_loaded: bool
) -> Plan:
    """Return how encoding changes the columns of a file."""
    with encoding_input(source.name, Exit.USAGE):
        after, new = _schema_after(source, encoder, layout)
    plain_labels: list[str] = []
    if layout == "dictionary" and not form.is_text:
        plain_labels = [name for name in new if not _can_hold_labels(after.field(name), form)]
        fields = [
            field.with_type(field.type.value_type) if field.name in plain_labels else field
            for field in after
        ]
        after = pa.schema(fields, after.metadata)
    with encoding_input(source.name):  # for example, a name is too long
        document = {ENCODER_KEY: encoder.to_json().encode()}
    after = after.with_metadata({**_kept_metadata(after), **document})
    if layout == "csr":
        after = _matrix_schema(encoder, document)

    def apply(batches: pa.RecordBatchReader) -> Iterable[pa.RecordBatch]:
        if layout == "csr":
            return matrix_batches(batches, encoder, new, after)
        encoded = encode(batches, encoder, layout=layout)
        return (without_dictionaries(batch, plain_labels) for batch in encoded)

    # Booleans take one bit only in these layouts.
    bits = 1 if layout in ("columns", "struct") else 8
    row_bytes = encoder.estimate(1000).bytes["arrow"] / 1000 * bits
    are_features = layout == "columns"
    return Plan(after, names_of(encoder), new, apply, row_bytes, is_loaded, are_features)


def _can_hold_labels(field: pa.Field, form: Format) -> bool:
    """Tell whether a format can hold a column of labels as it is, with its dictionary."""
    return not pa.types.is_dictionary(field.type) or can_hold(form, pa.nulls(1, field.type))


def _kept_metadata(schema: pa.Schema) -> dict[bytes, bytes]:
    """Return the metadata of the input that are true for the output, too."""
    return {k: v for k, v in (schema.metadata or {}).items() if k != SPARK_SCHEMA}


def _schema_after(
    source: InputFiles, encoder: Encoder, layout: Any
) -> tuple[pa.Schema, dict[str, None]]:
    """Return the schema of the output, and the names of its new columns."""
    columns = encoder.schema.columns
    several = [str(column.name) for column in columns if column.is_ragged]
    if several and layout == "dictionary":
        raise CommandError(
            Exit.USAGE,
            f"--layout {layout} cannot be used with columns of several labels per row"
            f" ({', '.join(several)}); use --layout columns, or name the other columns with -c",
        )
    if layout in ("array", "tensor", "struct"):
        bare = [str(one.name) for one in columns if not one.n_features]
        if bare:  # libraries cannot read lists of length 0 and structs without fields
            raise CommandError(
                Exit.COLUMN,
                f"{source.name}: --layout {layout} cannot hold column {bare[0]!r}, which has no"
                " features; use --layout columns, or name the other columns with -c",
            )
    form: Any = "columns" if layout == "csr" else layout
    after = encoded_schema(source.schema, encoder, layout=form)
    new = set(encoder.schema.names if form == "columns" else names_of(encoder))
    for name, count in Counter(after.names).items():
        if count > 1 and name in new:
            raise ValueError(
                f"two columns of the output would be named {name!r}; pass --prefix to rename one"
            )
    return after, dict.fromkeys(name for name in after.names if name in new)


def _matrix_schema(encoder: Encoder, metadata: dict[bytes, bytes]) -> pa.Schema:
    """Return the schema of a matrix: each row lists the columns and values of its nonzeros."""
    dtype = np.result_type(np.bool_, *(column.options.dtype for column in encoder.schema.columns))
    if dtype.kind not in "biuf" or dtype == np.float16:
        raise CommandError(Exit.USAGE, f"--dtype {dtype}: not supported by SciPy; use float32")
    kind = pa.from_numpy_dtype(dtype)
    return pa.schema({"indices": pa.list_(pa.int32()), "data": pa.list_(kind)}, metadata)


def layout_of(source: InputFiles, encoder: Encoder) -> str:
    """Detect the layout of an encoded file from the types of the columns."""
    names = names_of(encoder)
    if not names or not set(names).issubset(source.schema.names):
        return "columns"
    kind = source.schema.field(names[0]).type
    if pa.types.is_struct(kind):
        return "struct"
    if isinstance(kind, pa.FixedShapeTensorType):
        return "tensor"
    return "array" if pa.types.is_nested(kind) else "dictionary"


def encoded_columns(encoder: Encoder, layout: str) -> set[str]:
    """Return the columns of a file that contain features."""
    return set(encoder.schema.names if layout == "columns" else names_of(encoder))


def decode_plan(
    source: InputFiles, encoder: Encoder, layout: Any, old: set[str], form: Format
) -> Plan:
    """Return how decoding changes the columns of a file.

    The decoded columns have the types that `encode` saw, as far as the output format has them.
    """
    fits = partial(can_hold, form)
    # All special values become null. Among the labels of a row, only missing ones do.
    substitutes = {Special.MISSING: None}
    # Parquet stores codes of strings, and the file has the types of `after`.
    is_coded = form.kind == "parquet"

    def apply(batches: pa.RecordBatchReader) -> Iterable[pa.RecordBatch]:
        decoded: Iterable[pa.RecordBatch] = decode_for(
            batches, encoder, layout, substitutes, fits, is_coded
        )
        return decoded

    try:
        after = decode_for(no_rows(source.schema), encoder, layout, substitutes, fits).schema
    except (TypeError, ValueError) as error:
        raise CommandError(Exit.SCHEMA, f"{source.name}: {one_line(error)}") from error
    kept = {name for name in source.schema.names if name not in old}
    new = dict.fromkeys(name for name in after.names if name not in kept)
    metadata = {k: v for k, v in _kept_metadata(after).items() if k != ENCODER_KEY}
    row_bytes = (CODE_BYTES if is_coded else TEXT_BYTES) * len(new)
    return Plan(after.with_metadata(metadata or None), old, new, apply, row_bytes)
