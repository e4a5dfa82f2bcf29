"""The encoders of a file: one for columns of single values, and one for each column of labels.

Labels are the items of a list, or the parts of a string between separators. A column of labels has
its own `Encoder`, for which each label is a row, so that every option also applies to labels.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast.adapter import CodedColumn, ColumnSchema, checks, lookup, write
from onehot_fast.cli.messages import CommandError, Exit, reading, without_remedy
from onehot_fast.cli.places import Place
from onehot_fast.encoder import Encoder
from onehot_fast.integrations.arrow import (
    cast_to,
    encoded_schema,
    fitted_type,
    flattened,
    plain_type,
    read_column,
    read_table,
    rows_of,
    taken,
)

Offsets: TypeAlias = npt.NDArray[np.int64]
# The values that the user typed for each option of `Encoder`, and for ``sep``.
Typed: TypeAlias = Mapping[str, Sequence[str]]

# The key of the encoder in the metadata of an encoded file.
ENCODER_KEY = b"onehot_fast.encoder"
FORMAT, VERSION = "onehot_fast.command", 1
TEXTS = pa.string(), pa.large_string(), pa.string_view()


def has_lists(kind: pa.DataType) -> bool:
    """Tell whether a column contains lists whose elements are not nested (no lists or structs)."""
    tests = pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list
    return any(test(kind) for test in tests) and not pa.types.is_nested(kind.value_type)


def is_text(kind: pa.DataType) -> bool:
    """Tell whether a column contains strings."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return kind in TEXTS


@dataclass(frozen=True)
class LabelColumn:
    """A column with any number of labels in each row."""

    name: str
    sep: str | None  # the separator of labels in a string; None: the rows are lists
    encoder: Encoder  # fitted to a table whose only column, `name`, contains the labels

    def learn(self, column: Any, types: pa.Schema) -> None:
        """Fit the encoder to the labels of more rows; `types` has the type of the column."""
        _, labels = self._read(column)
        self.encoder.partial_fit(read_table(pa.table({self.name: labels}), types))

    def encoded(self, column: Any) -> pa.RecordBatch:
        """Return the features of some rows as columns."""
        offsets, coded, dtype = self._coded(column)
        matrix = write.multi_hot(offsets, coded, dtype)
        schema = encoded_schema(pa.schema([(self.name, pa.string())]), self.encoder)
        columns = [pa.array(column) for column in np.ascontiguousarray(matrix.T)]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def rows(self, column: Any) -> Any:
        """Return the features of some rows as a `scipy.sparse.csr_array`."""
        from scipy.sparse import csr_array

        offsets, coded, dtype = self._coded(column)
        parts = write.multi_hot_csr(offsets, coded, dtype)
        return csr_array(parts, shape=(len(offsets) - 1, coded.n_outputs))

    def _coded(self, column: Any) -> tuple[Offsets, CodedColumn, np.dtype[Any]]:
        """Return the offsets of the rows, the codes of the labels, and the dtype of features."""
        offsets, labels = self._read(column)
        schema = self.encoder.schema.columns[0]
        coded = lookup.code_column(schema, read_column(labels))
        return offsets, coded, schema.options.dtype

    def _read(self, column: Any) -> tuple[Offsets, Any]:
        """Return the offsets of the rows, and all labels; a null row has null as its only label."""
        if isinstance(column, pa.ChunkedArray):  # the column has no rows
            column = column.combine_chunks()
        if self.sep is not None and is_text(column.type):
            offsets, labels = flattened(_split(column, self.sep))
            is_label = pc.not_equal(labels, "").to_numpy(zero_copy_only=False)
            before = np.concatenate([[0], np.cumsum(is_label, dtype=np.int64)])
            offsets, labels = before[offsets], labels.filter(pa.array(is_label))
        elif self.sep is None and has_lists(column.type):
            offsets, labels = flattened(column)
        else:
            if self.sep is None:
                raise TypeError(
                    f"column {self.name!r} must contain lists of single values, got {column.type}"
                )
            raise TypeError(f"column {self.name!r} must contain strings, got {column.type}")
        is_null = column.is_null().to_numpy(zero_copy_only=False)
        if not is_null.any():
            return offsets, labels
        if self.encoder.get_params()["handle_missing"] == "error":
            row = int(np.argmax(is_null))
            raise ValueError(
                f"column {self.name!r}: the labels of row {row} are missing; use"
                " handle_missing='ignore' (or 'indicator')"
            )
        order = np.insert(np.arange(len(labels)), offsets[:-1][is_null], -1)
        offsets[1:] += np.cumsum(is_null)
        return offsets, taken(labels, pa.array(order, mask=order < 0))

    def decoded(
        self, features: pa.RecordBatch, can_hold: Callable[[pa.Array], bool]
    ) -> pa.RecordBatch:
        """Decode features to a column of labels; the labels are in the order of the features.

        The column has the type that `fit` saw, unless this is a type of fixed-size lists, or one
        that the output cannot hold. If there is a feature for missing values, null rows become null
        again. Otherwise, they become rows without labels. Unknown and infrequent labels are lost.
        """
        known = self.encoder.features
        columns = [features.column(name).to_numpy(zero_copy_only=False) for name in known["name"]]
        matrix = np.column_stack(columns or [np.empty((features.num_rows, 0))]) == 1
        is_label = known["kind"] == "category"
        labels = matrix[:, is_label]
        is_missing = matrix[:, known["kind"] == "missing"].any(axis=1)
        is_empty = ~labels.any(axis=1)
        # A missing value among other labels was an item of the list; it becomes the last one.
        is_null, is_element = is_missing & is_empty, is_missing & ~is_empty & (self.sep is None)
        row, label = np.nonzero(np.column_stack([labels, is_element]))
        categories = [*known["category"][is_label].tolist(), None]
        values = pa.array(categories, pa.string() if self.sep is not None else None)
        offsets = np.searchsorted(row, np.arange(features.num_rows + 1))
        starts = pa.array(offsets.astype(np.int32), mask=np.append(is_null, False))
        kind = fitted_type(self.encoder.schema.columns[0])
        if self.sep is not None:
            texts = pc.binary_join(pa.ListArray.from_arrays(starts, values.take(label)), self.sep)
            kind = pa.string() if kind is None else plain_type(kind)
            fitted = cast_to(texts, kind) if kind in TEXTS else texts
            return pa.record_batch([fitted if can_hold(fitted[:1]) else texts], [self.name])
        elements = [] if kind is None or not has_lists(kind) else [kind.value_type]
        for element in [*elements, *map(plain_type, elements)]:
            lists = _lists(starts, rows_of(values, element, label), pa.types.is_large_list(kind))
            if can_hold(lists[:1]):
                return pa.record_batch([lists], [self.name])
        lists = pa.ListArray.from_arrays(starts, values.take(label))
        return pa.record_batch([lists], [self.name])


def _lists(starts: pa.Array, elements: pa.Array, is_large: bool) -> pa.Array:
    """Return the lists of elements that begin at some positions."""
    if not is_large:
        return pa.ListArray.from_arrays(starts, elements)
    return pa.LargeListArray.from_arrays(starts.cast(pa.int64()), elements)


def _split(column: Any, sep: str) -> Any:
    """Split each string of a column into a list of labels."""
    if pa.types.is_dictionary(column.type):
        return _split(column.dictionary, sep).take(column.indices)
    if pa.types.is_string_view(column.type):  # which pyarrow cannot split
        column = column.cast(pa.large_string())
    return pc.split_pattern(column, sep)


@dataclass(frozen=True)
class Encoders:
    """The encoders of the columns of a file."""

    values: Encoder  # the columns with one value in each row
    labels: tuple[LabelColumn, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The names of the encoded columns; the columns of labels are last."""
        return [*map(str, self.values.columns or ()), *(column.name for column in self.labels)]

    @property
    def each(self) -> list[Encoder]:
        """All encoders."""
        return [self.values, *(column.encoder for column in self.labels)]

    @property
    def schemas(self) -> list[ColumnSchema]:
        """The fitted schemas of all columns."""
        return [column for encoder in self.each for column in encoder.schema.columns]

    @property
    def n_features(self) -> int:
        """The number of features."""
        return sum(encoder.n_features for encoder in self.each)

    def learn(self, rows: pa.RecordBatch, types: pa.Schema) -> None:
        """Fit all encoders to more rows; `types` is the schema of the file.

        A reader may have converted columns of strings to dictionaries, which are faster.
        """
        self.values.partial_fit(read_table(rows, types))
        for column in self.labels:
            column.learn(rows.column(column.name), types)

    def estimate(self, n_rows: int) -> dict[str, int]:
        """Return the estimated bytes of `n_rows` rows in each output form, e.g. "csr".

        Each row is counted with one label in each column of labels.
        """
        sizes = [encoder.estimate(n_rows).bytes for encoder in self.each if encoder.n_features]
        return {form: sum(size[form] for size in sizes) for form in sizes[0]} if sizes else {}

    def to_json(self) -> str:
        """Return the encoders as JSON; `Encoder.from_json` can read it if `labels` is empty."""
        if not self.labels:
            return self.values.to_json()
        labels = [
            {"column": one.name, "sep": one.sep, "encoder": json.loads(one.encoder.to_json())}
            for one in self.labels
        ]
        values = json.loads(self.values.to_json())
        document = {"format": FORMAT, "version": VERSION, "values": values, "labels": labels}
        return json.dumps(document, ensure_ascii=False, indent=1)

    @classmethod
    def load(cls, place: Place) -> Encoders:
        """Read encoders from a file."""
        with reading(place.address, Exit.SCHEMA), place.open() as file:
            return cls.parse(bytes(file.read()), place.address)

    @classmethod
    def parse(cls, text: bytes, name: str) -> Encoders:
        """Parse the JSON of encoders, which was read from the file `name`."""
        try:
            encoders = _parsed(text)
            _ = [column.names for column in encoders.schemas]
        except (
            ArithmeticError,
            LookupError,
            OSError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:
            raise CommandError(
                Exit.SCHEMA,
                f"{name} is not an encoder written by --save-encoder: {without_remedy(error)}",
            ) from error
        return encoders

    def with_labels(self, batch: Any) -> Any:
        """Return a batch after replacing each column of labels by its features."""
        for column in self.labels:
            i = batch.schema.get_field_index(column.name)
            batch = _replaced(batch, i, {i}, column.encoded(batch.column(i)))
        return batch

    def without_features(self, batch: Any, can_hold: Callable[[pa.Array], bool]) -> Any:
        """Return a batch after replacing the features of labels by the columns of labels.

        `can_hold` tells whether the output can hold the values of an array.
        """
        for column in self.labels:
            names = set(column.encoder.schema.names)
            places = {i for i, name in enumerate(batch.schema.names) if name in names}
            first = min(places, default=0)
            if not places:  # no features: insert the column after those before it in the input
                order = [str(name) for name in self.values.schema.fitted_names or self.columns]
                earlier = set(order[: order.index(column.name)])
                found = [i for i, name in enumerate(batch.schema.names) if name in earlier]
                first = max(found, default=-1) + 1
            batch = _replaced(batch, first, places, column.decoded(batch, can_hold))
        return batch


def _parsed(text: bytes) -> Encoders:
    """Parse the JSON that `Encoders.to_json` returned."""
    if FORMAT.encode() not in text[:100]:
        return Encoders(Encoder.from_json(text))
    document: Any = json.loads(text)
    if document["version"] != VERSION:
        raise ValueError(f"version must be {VERSION}, got {document['version']!r}")
    labels = [_label_column(**one) for one in document["labels"]]
    encoders = Encoders(Encoder.from_json(json.dumps(document["values"])), tuple(labels))
    if len(set(encoders.columns)) < len(encoders.columns):
        raise ValueError(f"a column appears twice in {', '.join(encoders.columns)}")
    return encoders


def _label_column(column: Any, sep: Any, encoder: Any) -> LabelColumn:
    """Return a column of labels; the arguments are its entries in the JSON of a saved encoder."""
    made = Encoder.from_json(json.dumps(encoder))
    if list(made.columns or ()) != [column] or not isinstance(column, str):
        raise ValueError(
            f"the encoder of {column!r} must encode only this column, got {made.columns}"
        )
    if not (sep is None or (isinstance(sep, str) and sep)):
        raise ValueError(f"sep must be null or a string with at least one character, got {sep!r}")
    return LabelColumn(column, sep, made)


def _replaced(
    batch: pa.RecordBatch, first: int, places: set[int], new: pa.RecordBatch
) -> pa.RecordBatch:
    """Remove the columns at `places` from a batch, and insert the columns of `new` at `first`."""
    pairs = list(zip(batch.schema, batch.columns, strict=True))
    pairs = [pair for i, pair in enumerate(pairs) if i not in places]
    pairs[first:first] = zip(new.schema, new.columns, strict=True)
    schema = pa.schema([field for field, _ in pairs], batch.schema.metadata)
    return type(batch).from_arrays([column for _, column in pairs], schema=schema)


# --- options that the user typed


HINTS = {
    "drop": "; type a category as COLUMN=CATEGORY",
    "dtype": ", e.g. bool, uint8 or float32",
    "min_frequency": "; type a number of rows, e.g. 10, or a fraction of them, e.g. 0.01",
    "max_categories": "; type an integer, e.g. 10",
}


def flag(name: str) -> str:
    """Return an option of `Encoder` as an option of the command, e.g. ``--max-categories``."""
    return f"--{name.replace('_', '-')}"


def new_encoders(schema: pa.Schema, columns: Sequence[str], typed: Typed) -> Encoders:
    """Return unfitted encoders for some columns of a file.

    For each option, `typed` contains ``VALUE`` or ``COLUMN=VALUE``. ``COLUMN=VALUE`` takes
    precedence for its column. If an option has several values for the same columns, the last one
    is used.
    """
    kinds = {name: schema.field(name).type for name in columns}
    options = {name: _resolved(columns, texts, name) for name, texts in typed.items() if texts}
    separators = _separators(kinds, options.pop("sep", {}))
    labels = [
        LabelColumn(name, sep, Encoder([name], **_options_of_labels(name, options)))
        for name, sep in separators.items()
    ]
    values = [name for name in columns if name not in separators]
    for option, value in options.items():
        if isinstance(value, dict):
            options[option] = {name: one for name, one in value.items() if name in values}
    return Encoders(Encoder(values, **options), tuple(labels))


def _separators(kinds: Mapping[str, pa.DataType], typed: Any) -> dict[str, str | None]:
    """Return the separator of each column of labels; None is the separator of lists."""
    found: dict[str, str | None] = {name: None for name in kinds if has_lists(kinds[name])}
    if isinstance(typed, str):
        return {n: found.get(n, typed) for n in kinds if n in found or is_text(kinds[n])}
    for name, sep in typed.items():
        if not is_text(kinds[name]):
            raise CommandError(
                Exit.USAGE,
                f"--sep {name}={sep}: the column must contain strings, got {kinds[name]}",
            )
        found[name] = sep
    return found


def _options_of_labels(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the encoder's options for a column of labels.

    Raise an error for --drop and for --handle-missing propagate.
    """
    chosen = {k: v for k, v in options.items() if not isinstance(v, dict) and k != "drop"}
    chosen |= {k: v[name] for k, v in options.items() if isinstance(v, dict) and name in v}
    for option, value in chosen.items():
        if option == "drop" or (option, value) == ("handle_missing", "propagate"):
            raise CommandError(
                Exit.USAGE,
                f"{flag(option)} {value}: not supported for {name!r}, which has several labels per"
                " row",
            )
    return chosen


def _resolved(columns: Sequence[str], texts: Sequence[str], option: str) -> Any:
    """Parse the values of an option; return one value, or a dict with a value for each column."""
    common: list[Any] = []
    special: dict[str, Any] = {}
    for text in texts:
        typed = f"{flag(option)} {text}"
        column, value = _split_option(columns, text, typed)
        try:
            parsed = _number(value) if option in ("min_frequency", "max_categories") else value
            if option != "sep":
                keyword: dict[str, Any] = {option: parsed if column is None else {column: parsed}}
                Encoder(columns, **keyword)
            elif not parsed:
                raise ValueError("the separator must not be empty")
        except (TypeError, ValueError) as error:
            raise CommandError(
                Exit.USAGE, f"{typed}: {without_remedy(error)}{HINTS.get(option, '')}"
            ) from error
        if column is None:
            common = [parsed]
        else:
            special[column] = parsed
    if not special:
        return common[0]
    return {name: special.get(name, *common) for name in columns if common or name in special}


def _number(text: str) -> int | float | str:
    """Return a number, or the text itself if it is not a number: `Encoder` rejects it."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _split_option(columns: Sequence[str], text: str, typed: str) -> tuple[str | None, str]:
    """Split ``COLUMN=VALUE`` into column and value; without ``COLUMN=``, the column is None."""
    for column in sorted(columns, key=len, reverse=True):
        if text.startswith(f"{column}="):
            return column, text[len(column) + 1 :]
    name, equals, _ = text.partition("=")
    if equals and name.strip():
        hint = checks.did_you_mean(name, columns)
        hint = hint or f" the encoded columns are {', '.join(columns)}"
        raise CommandError(
            Exit.USAGE,
            f"{typed}: the column {name!r} is not encoded;{hint}"
            f" (if the value contains =, type {columns[0]}={text})",
        )
    return None, text
