"""Damaged documents of encoders: they raise ValueError, or can be used."""

from __future__ import annotations

import contextlib
import datetime
import functools
import json
import random
import warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from onehot_fast import Column, Encoder
from onehot_fast._categories.scalar_json import EXACT
from torture.files import changed_bytes

# Replacements of parts of a document.
SCALARS: list[Any] = [
    None, True, False, -1, 0, 1, 2**31, 2**63, 2**70, 10**400, 1.5, 1e308, "", "x", "auto", "first",
    "\ud800", "\0",
    "9" * 5000, [], {}, [1], ["x"], [None], [[1]], {"a": 1}, float("nan"), float("inf"),
    {"float": "nan"}, {"decimal": "1E+999999999"}, {"decimal": "sNaN"}, {"fraction": "1e999999999"},
    {"fraction": "1/0"}, {"bytes": "0"}, {"datetime": "2020-01-01", "zone": "../../etc/passwd"},
    {"datetime": "2020-01-01T00:00:00", "zone": "A" * 5000}, {"date": "9999-99-99"},
    {"timedelta": [10**12]},
    {"datetime64": "9" * 30, "unit": "Y"}, {"datetime64": 2**62, "unit": "Y"},
    {"timedelta64": 1, "unit": "W"},
    {"Timestamp": "2020", "unit": "zz"}, {"Period": "2020", "freq": "9" * 300 + "D"},
    {"complex": "1e999j"},
    {"Interval": [2, 1], "closed": "right"}, {"tuple": [[1]]}, {"longdouble": "1e5000"},
    {"per column": [["c", 1]]},
    json.loads('{"tuple": [' * 60 + "1" + "]}" * 60), "a" * 100_000,
    {"decimal": "1E+99999999"}, {"decimal": "1E-999999999"}, {"Period": "1" * 100_000, "freq": "M"},
    {"Timestamp": "2020", "unit": "D"}, {"Timestamp": "9999-01-01", "unit": "s"},
    {"Timedelta": "1" * 100_000, "unit": "s"}, {"Period": "9999", "freq": "999999D"},
    {"datetime64": 2**62, "unit": "as"}, {"timedelta64": 2**62, "unit": "W"},
    {"timedelta64": 5, "unit": "99999999W"}, {"fraction": "1/" + "9" * 4000}, 10**4000,
    *({tag: "1" * 100_000} for tag in EXACT),
]  # fmt: skip
SECONDS = 30  # of a case


@functools.cache
def _originals() -> list[str]:
    """Return documents of every shape."""
    texts = ["x", "y", None, "x", "ä"]
    times = [
        datetime.datetime(2020, 1, 1, 6), datetime.date(2020, 1, 1), datetime.timedelta(1), "t",
        None,
    ]  # fmt: skip
    numbers = [Decimal("1.5"), Fraction(1, 3), 2, 0.5, 1j]
    coded = Column(
        np.array([0, 1, -1, 1, 0], np.int8), np.array(["S", "M"], object), source="category"
    )
    table = {"a": texts, "t": times, "n": numbers, "i": np.arange(5), "f": np.ones(5, "f4")}
    table["d"] = coded
    made = [
        Encoder([*table], handle_unknown="ignore").fit(table),
        Encoder([*table], drop="first", handle_unknown="indicator", min_frequency=2).fit(table),
        Encoder(["a"], categories={"a": ["x", "y", "ä"]}, drop={"a": "x"}, prefix="p").fit(table),
        Encoder(["a"], dtype="float32", handle_missing="propagate", max_categories=2),
        Encoder(["a"], handle_missing="indicator", remainder="drop").fit(table),
    ]
    return [encoder.to_json() for encoder in made]


def case(seed: int) -> Counter[str]:
    """Read one changed document, and use the encoder."""
    draw = random.Random(seed)
    text: Any = draw.choice(_originals())
    if draw.random() < 0.8:
        text = json.dumps(_changed(draw, json.loads(text)), ensure_ascii=draw.random() < 0.5)
        text = text.encode("utf-8", "surrogatepass") if draw.random() < 0.2 else text
    else:
        text = changed_bytes(draw, text.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            encoder = Encoder.from_json(text)
        except ValueError:
            return Counter({"from_json": 1, "rejected": 1})
        return Counter({"from_json": 1, **_use(encoder)})


def _use(encoder: Encoder) -> Counter[str]:
    """Use an encoder; errors are allowed, because it may not fit the table."""
    table = {name: np.array(["x", None, "y"], object) for name in "atnifd"}
    again = Encoder.from_json(encoder.to_json())
    assert again == encoder
    try:
        names = encoder.get_feature_names_out()
        matrix = encoder.transform(table, "numpy")
        encoder.inverse_transform(matrix)
        encoder.check(table)
        repr((encoder, encoder.features, encoder.summary(), encoder._repr_html_()))
        for dialect in ("duckdb", "postgres", "spark"):
            with contextlib.suppress(ValueError):
                encoder.to_sql(dialect)
    except (ValueError, TypeError, RuntimeError) as error:
        return Counter({f"used, {type(error).__name__}": 1})
    assert matrix.shape == (3, len(names))
    return Counter({"used": 1})


def _changed(draw: random.Random, document: Any) -> Any:
    """Return a document with parts that are replaced, deleted, repeated or renamed."""
    places: list[tuple[Any, Any]] = []

    def walk(part: Any) -> None:
        for key, value in part.items() if isinstance(part, dict) else enumerate(part):
            places.append((part, key))
            if isinstance(value, dict | list):
                walk(value)

    walk(document)
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        part, key = draw.choice(places)
        try:
            what = draw.random()
            if what < 0.7:
                part[key] = draw.choice(SCALARS)
            elif what < 0.8:
                del part[key]
            elif what < 0.9 and isinstance(part, list):
                part.append(part[key])
            elif isinstance(part, dict):
                part[draw.choice(["x", "tuple", "decimal", "rows", "name"])] = part.pop(key)
        except (KeyError, IndexError):
            pass
    return document
