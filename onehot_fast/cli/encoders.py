"""The encoders of a file: one for columns of single values, and one for each column of labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from onehot_fast.adapter import ColumnSchema
from onehot_fast.cli.labels import LabelColumn
from onehot_fast.cli.messages import CommandError, Exit, reading, without_remedy
from onehot_fast.cli.places import Place
from onehot_fast.encoder import Encoder
from onehot_fast.integrations.arrow import read_table

# The key of the encoder in the metadata of an encoded file.
ENCODER_KEY = b"onehot_fast.encoder"
FORMAT, VERSION = "onehot_fast.command", 1


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
            encoders = _encoders_in(text)
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


def _encoders_in(text: bytes) -> Encoders:
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
