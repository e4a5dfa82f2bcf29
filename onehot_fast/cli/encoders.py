"""What was learned of a file: the encoder of its columns, and those of the labels in its lists."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onehot_fast.cli.errors import CommandError, Exit, one_line, reading
from onehot_fast.cli.labels import LabelColumn
from onehot_fast.cli.stores import open_place, place_of
from onehot_fast.encoder import Encoder

__all__ = ["ENCODER_KEY", "Encoders", "load_encoders", "parse_encoders"]

# The encoder in the metadata of an encoded file, for `decode`.
ENCODER_KEY = b"onehot_fast.encoder"
FORMAT, VERSION = "onehot_fast.command", 1


@dataclass(frozen=True)
class Encoders:
    """Which columns are encoded, and how.

    Attributes
    ----------
    values : Encoder
        Of the columns of one value a row.
    labels : tuple of LabelColumn
        Those of any number of labels a row.
    """

    values: Encoder
    labels: tuple[LabelColumn, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are encoded, those of labels last."""
        return [*map(str, self.values.columns or ()), *(column.name for column in self.labels)]

    @property
    def each(self) -> list[Encoder]:
        """The encoders."""
        return [self.values, *(column.encoder for column in self.labels)]

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return sum(encoder.n_features for encoder in self.each)

    def features(self) -> dict[str, list[str]]:
        """Return the names of the features of each column."""
        columns = [column for encoder in self.each for column in encoder.schema.columns]
        return {str(column.name): column.names for column in columns}

    def bytes(self, n_rows: int) -> dict[str, int]:
        """Return the size of each form of the encoding of so many rows, about: one label a row."""
        sizes = [encoder.estimate(n_rows).bytes for encoder in self.each if encoder.n_features]
        return {form: sum(size[form] for size in sizes) for form in sizes[0]} if sizes else {}

    def to_json(self) -> str:
        """Return the text of the encoder; of one with labels, what `Encoder` does not read."""
        if not self.labels:
            return self.values.to_json()
        labels = [
            {"column": one.name, "sep": one.sep, "encoder": json.loads(one.encoder.to_json())}
            for one in self.labels
        ]
        values = json.loads(self.values.to_json())
        document = {"format": FORMAT, "version": VERSION, "values": values, "labels": labels}
        return json.dumps(document, ensure_ascii=False, indent=1)


def load_encoders(path: str) -> Encoders:
    """Read encoders from a file."""
    try:
        with reading(path):
            place = place_of(path)
            file = place.open("rb") if isinstance(place, Path) else open_place(place)
            with file:
                text = bytes(file.read()).decode()
    except CommandError as error:
        raise CommandError(Exit.SCHEMA, str(error)) from error
    return parse_encoders(text, path)


def parse_encoders(text: str | bytes, name: str) -> Encoders:
    """Return the encoders that a text is."""
    try:
        encoders = _parsed(text)
        for encoder in encoders.each:
            _ = encoder.schema.names
    except (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        text = f"{name} is not an encoder that --save-encoder wrote: {one_line(error)}"
        raise CommandError(Exit.SCHEMA, text) from error
    return encoders


def _parsed(text: str | bytes) -> Encoders:
    """Return the encoders that a text is; see `Encoders.to_json`."""
    start = text[:100] if isinstance(text, str) else text[:100].decode("utf-8", "replace")
    if FORMAT not in start:
        return Encoders(Encoder.from_json(text))
    document: Any = json.loads(text)
    if document["version"] != VERSION:
        raise ValueError(f"it is of version {document['version']!r}; this release reads {VERSION}")
    labels = [_label_column(**one) for one in document["labels"]]
    names = [one.name for one in labels]
    encoders = Encoders(_encoder(document["values"]), tuple(labels))
    if len(set(encoders.columns)) < len(encoders.columns):
        raise ValueError(f"of the columns {', '.join(names)} one is there twice")
    return encoders


def _label_column(column: Any, sep: Any, encoder: Any) -> LabelColumn:
    """Return a column of labels."""
    found = _encoder(encoder)
    if list(found.columns or ()) != [column] or not isinstance(column, str):
        raise ValueError(f"the encoder of the labels of {column!r} is one of {found.columns}")
    if not (sep is None or (isinstance(sep, str) and sep)):
        raise ValueError(f"sep = {sep!r} is no text")
    return LabelColumn(column, sep, found)


def _encoder(document: Any) -> Encoder:
    return Encoder.from_json(json.dumps(document, ensure_ascii=False))
