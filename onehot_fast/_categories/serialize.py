"""An encoder as JSON: its options and what it learned. The schema follows from these."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from onehot_fast._categories.keys import in_order, keys
from onehot_fast._categories.learned import Learned, State
from onehot_fast._categories.options import DROP_WORDS, DropValue, Options
from onehot_fast._categories.scalar_json import Json, from_json, to_json

FORMAT = "onehot_fast.Encoder"
VERSION = 1


def dumps(wanted: tuple[Hashable, ...] | None, options: Options, state: State | None) -> str:
    """Return the text of an encoder."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "columns": None if wanted is None else [to_json(name) for name in wanted],
        "options": {name: _option_to_json(name, value) for name, value in options.chosen()},
        "fitted": None if state is None else _state_to_json(state),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)


def read_document(text: str | bytes, wanted: str, version: int) -> dict[str, Any]:
    """Return the object in a text, if it is of the format and the version."""
    document = json.loads(text)
    if not isinstance(document, dict) or document.get("format") != wanted:
        raise ValueError(f"the text is no encoder: it has no 'format': {wanted!r}")
    if document.get("version") != version:
        raise ValueError(
            f"the encoder has version {document.get('version')!r}; this release reads {version}"
        )
    return document


def loads(text: str | bytes) -> tuple[list[Hashable] | None, dict[str, Any], State | None]:
    """Return the columns, the options as one passes them, and what was learned."""
    document = read_document(text, FORMAT, VERSION)
    try:
        wanted, fitted = document["columns"], document["fitted"]
        columns = None if wanted is None else [from_json(name) for name in wanted]
        options = {name: _option_from_json(name, v) for name, v in document["options"].items()}
        return columns, options, None if fitted is None else _state_from_json(fitted)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the text is no complete encoder: {error!r}") from error


def _option_to_json(option: str, value: Any) -> Json:
    """Return an option, one for all columns or one for each of some."""
    if not isinstance(value, Mapping):
        return _value_to_json(option, value)
    pairs = [[to_json(name), _value_to_json(option, one)] for name, one in value.items()]
    return {"per column": pairs}


def _option_from_json(option: str, source: Json) -> Any:
    """Return an option as one passes it."""
    if not isinstance(source, dict):
        return _value_from_json(option, source)
    pairs = source["per column"]
    return {from_json(name): _value_from_json(option, value) for name, value in pairs}


def _value_to_json(option: str, value: Any) -> Json:
    """Return the value of one option."""
    if option == "categories":
        return "auto" if value is None else [to_json(item) for item in value]
    if isinstance(value, DropValue):
        return [to_json(value.value)]
    if isinstance(value, np.dtype):
        return value.name if value.isnative else value.str
    return value


def _value_from_json(option: str, source: Json) -> Any:
    """Return the value of one option as one passes it."""
    if isinstance(source, list):
        return [from_json(item) for item in source]
    return source


def drop_as_given(value: str | DropValue | None) -> Any:
    """Return the category to drop as one writes it: in a list if it looks like a rule."""
    if not isinstance(value, DropValue):
        return value
    is_plain = value.value not in (*DROP_WORDS, None) and not isinstance(value.value, list)
    return value.value if is_plain else [value.value]


def _state_to_json(state: State) -> Json:
    """Return what was learned, the categories in their order."""
    pairs = zip(state.names, state.columns, strict=True)
    columns = [{"name": to_json(name), **learned_to_json(learned)} for name, learned in pairs]
    return {"rows": state.n_rows, "columns": columns}


def learned_to_json(learned: Learned) -> dict[str, Json]:
    """Return the categories of one column, the declared ones first, and their counts."""
    first = learned.declared or ()
    others = keys(in_order(v for key, v in learned.values.items() if key not in set(first)))
    order = [*first, *others]
    return {
        "declared": None if learned.declared is None else len(first),
        "conflict": learned.conflict,
        "categories": [to_json(learned.values[key]) for key in order],
        "counts": [learned.counts[key] for key in order],
    }


def _state_from_json(source: Json) -> State:
    """Return what was learned."""
    names = tuple(from_json(column["name"]) for column in source["columns"])
    columns = tuple(learned_from_json(column) for column in source["columns"])
    return State(names, columns, source["rows"])


def learned_from_json(source: Json) -> Learned:
    """Return the categories of one column and their counts."""
    values = [from_json(item) for item in source["categories"]]
    order = keys(values)
    declared = None if source["declared"] is None else tuple(order[: source["declared"]])
    counts = dict(zip(order, source["counts"], strict=True))
    return Learned(dict(zip(order, values, strict=True)), counts, declared, source["conflict"])
