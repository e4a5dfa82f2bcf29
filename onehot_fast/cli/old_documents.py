"""Read the JSON with which earlier releases of the command saved columns of several labels.

Each of these columns had an encoder of its own, for which each label was a row. All other columns
had one encoder, "values". Here they become the JSON of one `Encoder`, which has the same features.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from onehot_fast.encoder import Encoder

FORMAT, VERSION = "onehot_fast.command", 1
# The version of the JSON of `Encoder` that has columns of several labels.
VERSION_WITH_LABELS = 4


def read_encoder(text: bytes) -> Encoder:
    """Return the encoder in a JSON document, which `Encoder.to_json` or an old command wrote."""
    if FORMAT.encode() not in text[:100]:
        return Encoder.from_json(text)
    document: Any = json.loads(text)
    if document["version"] != VERSION:
        raise ValueError(f"version must be {VERSION}, got {document['version']!r}")
    values, labels = document["values"], document["labels"]
    parts = [values, *(one["encoder"] for one in labels)]
    for part in parts:  # raises an error for a damaged part
        _ = Encoder.from_json(json.dumps(part)).schema
    for one in labels:
        name, found = one["column"], _names(one["encoder"])
        if not isinstance(name, str) or found != [name]:
            raise ValueError(f"the encoder of {name!r} must encode only this column, got {found}")
    return Encoder.from_json(json.dumps(_as_one(values, labels)))


def _names(part: Any) -> list[Any]:
    """Return the names of the columns that an encoder has learned."""
    return [column["name"] for column in part["fitted"]["columns"]]


def _as_one(values: Any, labels: list[Any]) -> dict[str, Any]:
    """Return the JSON of one encoder, which stands for that of values and those of labels."""
    columns = list(values["fitted"]["columns"])
    for one in labels:
        form = "lists" if one["sep"] is None else "texts"
        columns += [{**one["encoder"]["fitted"]["columns"][0], "labels": form}]
    table = values["fitted"].get("input")
    if table is not None:
        order = table["columns"]
        columns.sort(key=lambda column: order.index(column["name"]))
    return {
        **values,
        "version": VERSION_WITH_LABELS,
        "columns": [column["name"] for column in columns],
        "options": _options_as_one(values, labels),
        "fitted": {**values["fitted"], "columns": columns},
    }


def _options_as_one(values: Any, labels: list[Any]) -> dict[str, Any]:
    """Return the options of all columns, each of which is a mapping from columns to values."""
    pairs: dict[str, list[tuple[str, Any]]] = {}
    for name, option, value in _options(values):
        pairs.setdefault(option, []).append((name, value))
    for one in labels:
        if one["sep"] is not None:
            pairs.setdefault("sep", []).append((one["column"], one["sep"]))
        for name, option, value in _options(one["encoder"]):
            if option == "min_frequency" and isinstance(value, float):
                # A share of the labels, of which the new encoder does not know the number.
                value = math.ceil(value * one["encoder"]["fitted"]["rows"]) or None
            pairs.setdefault(option, []).append((name, value))
    return {option: {"per column": found} for option, found in pairs.items()}


def _options(part: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield each column of an encoder, and each option that has a value for it."""
    names = _names(part)
    for option, value in part["options"].items():
        if isinstance(value, dict):
            yield from ((name, option, one) for name, one in value["per column"])
        else:
            yield from ((name, option, value) for name in names)
