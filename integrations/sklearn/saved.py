"""An encoder as JSON: its parameters and what it learned. All else follows from these."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from onehot_fast._categories.scalar_json import Json, from_json, to_json
from onehot_fast._categories.serialize import learned_from_json, learned_to_json, read_document
from onehot_fast.integrations.sklearn.learned import Met, as_items
from onehot_fast.integrations.sklearn.source import NAN

FORMAT = "onehot_fast.sklearn.OneHotEncoder"
VERSION = 1


def dumps(
    params: dict[str, Any], names: list[str] | None, found: tuple[Met, ...] | None, n_rows: int
) -> str:
    """Return the text of an encoder; `names` are those of the features, None without."""
    fitted: Json = None
    if found is not None:
        fitted = {
            "rows": n_rows,
            "names": names,
            "features": [_met_to_json(one) for one in found],
        }
    document = {
        "format": FORMAT,
        "version": VERSION,
        "params": params_to_json(params),
        "fitted": fitted,
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)


def loads(text: str | bytes) -> tuple[dict[str, Any], Any, tuple[Met, ...] | None, int]:
    """Return the parameters, the names of the features, what was learned, and of how many rows."""
    document = read_document(text, FORMAT, VERSION)
    try:
        params = {name: _param_from_json(name, v) for name, v in document["params"].items()}
        fitted = document["fitted"]
        if fitted is None:
            return params, None, None, 0
        found = tuple(_met_from_json(one) for one in fitted["features"])
        return params, fitted["names"], found, fitted["rows"]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the text is no complete encoder: {error!r}") from error


def params_to_json(params: dict[str, Any]) -> dict[str, Json]:
    """Return parameters; two encoders with the same parameters have the same here."""
    return {name: _param_to_json(name, value) for name, value in params.items()}


def _param_to_json(name: str, value: Any) -> Json:
    """Return the value of one parameter."""
    if isinstance(value, str) or value is None:
        return value
    if name == "categories":
        return [_items_to_json(one) for one in value]
    if name == "drop":
        return _items_to_json(value)
    if name == "dtype":
        dtype = np.dtype(value)
        return dtype.name if dtype.isnative else dtype.str
    if callable(value):
        raise TypeError(f"{name} = {value!r} is a function, which cannot be written as JSON")
    return value.item() if isinstance(value, np.generic) else value


def _items_to_json(values: Any) -> list[Json]:
    """Return categories that were given."""
    items = as_items(values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object))
    return [to_json(np.nan if item is NAN else item) for item in items]


def _param_from_json(name: str, source: Json) -> Any:
    """Return the value of one parameter."""
    if name == "categories" and isinstance(source, list):
        return [[from_json(item) for item in one] for one in source]
    if isinstance(source, list):
        return [from_json(item) for item in source]
    return np.dtype(source) if name == "dtype" else source


def _met_to_json(one: Met) -> dict[str, Json]:
    """Return what was learned of one feature."""
    missing = {"None": one.n_none, "NaN": one.n_nan}
    return {"dtype": one.dtype.str, "missing": missing, **learned_to_json(one.known)}


def _met_from_json(source: Json) -> Met:
    """Return what was learned of one feature."""
    missing = source["missing"]
    known = learned_from_json(source)
    return Met(known, missing["None"], missing["NaN"], np.dtype(source["dtype"]))
