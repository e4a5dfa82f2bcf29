"""Tables in parts, and the test that compares every engine with one process.

An engine makes its table of parts, and returns the columns of a table as lists.
"""

from __future__ import annotations

import copy
import datetime as dt
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from onehot_fast import Column, Encoder
from onehot_fast.adapter import EncodedLayout
from support.encoder_oracle import UNKNOWN_RULES

Columns = dict[str, list[Any]]
NAN = float("nan")
US = "datetime64[us]"

TEXTS = ["", "a", "b", "B", "ab", "é", "日本", "a\0b", "x" * 20]
LEVELS = ["S", "M", "L", "XL"]
VALUES: dict[str, list[Any]] = {
    "text": TEXTS,
    "level": LEVELS,
    "number": [0, 1, -1, 2**40, -(2**63), 2**63 - 1],
    "real": [0.0, 1.5, -2.25, float("inf"), 1e300],
    "flag": [True, False],
    "moment": [dt.datetime(2013, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999999)],
}
MISSING: dict[str, list[Any]] = {"text": [None, NAN], "real": [None, NAN]}


@dataclass(frozen=True)
class Part:
    """Rows of Python values, with None and NaN as missing values; `levels` are those of "level"."""

    columns: Columns
    levels: list[str]

    def __len__(self) -> int:
        return len(self.columns["kept"])

    def table(self) -> dict[str, Any]:
        """Return the columns for the core alone."""
        codes = [-1 if v is None else self.levels.index(v) for v in self.columns["level"]]
        labels = np.array(self.levels, object)
        moments = np.array(self.columns["moment"], US)
        return self.columns | {
            "level": Column(np.array(codes, np.int8), labels, source="category"),
            "real": np.array([NAN if v is None else v for v in self.columns["real"]]),
            "moment": moments,
        }


def joined(parts: Sequence[Part]) -> Part:
    """Return all rows. The order of the levels is that of all parts that declare any, or sorted."""
    orders = [part.levels for part in parts if part.levels]
    is_one = all(order == orders[0] for order in orders)
    levels = orders[0] if orders and is_one else sorted({v for order in orders for v in order})
    names = parts[0].columns
    return Part({name: [v for part in parts for v in part.columns[name]] for name in names}, levels)


@st.composite
def part_of(draw: st.DrawFn, levels: list[str]) -> Part:
    """Return a part: perhaps without rows, its columns perhaps without a value."""
    n = draw(st.integers(0, 6))

    def column(pool: list[Any], missing: list[Any]) -> list[Any]:
        # Few values in a part, so that others have values that this one lacks.
        values = draw(st.lists(st.sampled_from(pool), max_size=3)) if pool else []
        rows = st.sampled_from(values + missing)
        return draw(st.lists(rows, min_size=n, max_size=n))

    declared = draw(st.sampled_from([levels, levels, draw(st.permutations(LEVELS))[:2], []]))
    pools = VALUES | {"level": declared}
    columns = {name: column(pool, MISSING.get(name, [None])) for name, pool in pools.items()}
    kept = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    return Part({**columns, "kept": kept}, declared)


PARTS = st.permutations(LEVELS).flatmap(
    lambda levels: st.lists(part_of(levels[:3]), min_size=1, max_size=4)
)
FLOATS = ["float32", "float64"]
OPTIONS = st.fixed_dictionaries(
    {"handle_unknown": st.sampled_from(UNKNOWN_RULES)},
    optional={
        "categories": st.sampled_from([{"text": ["b", "a", "zz"]}, {"level": ["L", "S"]}]),
        "drop": st.sampled_from(["first", "last", "if_binary", "most_frequent"]),
        "handle_missing": st.sampled_from(["ignore", "indicator", "error", "propagate"]),
        "min_frequency": st.sampled_from([1, 2, 0.3, {"text": 2}]),
        "max_categories": st.integers(1, 4),
        "dtype": st.sampled_from(["uint8", *FLOATS, {"text": "float32"}]),
        "prefix": st.sampled_from([{"text": "T"}]),
        "prefix_sep": st.sampled_from(["=", {"level": "."}]),
        "remainder": st.sampled_from(["drop", "passthrough"]),
    },
).filter(lambda o: o.get("handle_missing") != "propagate" or o.get("dtype") in FLOATS)
CHOICES = st.lists(st.sampled_from([*VALUES]), min_size=1, unique=True)


@dataclass(frozen=True)
class Engine:
    """How to make a table of parts, and how to read its columns.

    `declares` is whether a column can declare categories, which otherwise are plain texts, and
    `in_parts` whether each part declares its own. A rejected row raises one of `errors`.
    """

    name: str
    table: Callable[[Sequence[Part]], Any]
    columns: Callable[[Any], Columns]
    declares: bool = True
    in_parts: bool = False
    errors: tuple[type[BaseException], ...] = (ValueError,)

    def __repr__(self) -> str:
        return self.name

    def seen(self, part: Part) -> dict[str, Any]:
        """Return a part as the core reads it without the engine."""
        table = part.table()
        return table if self.declares else table | {"level": part.columns["level"]}


def plain(value: Any) -> Any:
    """Return a value of any library as one that can be compared: None where it is missing."""
    if value is None or str(value) in ("NaT", "<NA>", "nan"):
        return None
    if isinstance(value, dt.datetime | np.datetime64):
        return np.datetime64(value, "us").item()
    return value.item() if isinstance(value, np.generic) else value


def plain_columns(columns: dict[str, Any]) -> Columns:
    return {str(name): [plain(value) for value in values] for name, values in columns.items()}


def check_engine(
    engine: Engine,
    train: Sequence[Part],
    test: Sequence[Part],
    names: Sequence[str],
    options: dict[str, Any],
) -> None:
    """Compare an engine with the encoder in one process, which other tests compare with the oracle.

    What is learned, the names, the encoded and the decoded values are equal, and both reject the
    same values.
    """

    def learn() -> Encoder:
        parts = [Encoder(names, **options).partial_fit(engine.seen(part)) for part in train]
        return parts[0].merge(*parts[1:])

    learned = both(engine, learn, lambda: Encoder(names, **options).fit(engine.table(train)))
    if learned is None:
        return
    one_process, encoder = learned
    for label, counts in encoder.features.items():
        assert counts.tolist() == one_process.features[label].tolist()
    if engine.in_parts:
        assert document(encoder) == document(one_process)

    whole, rows = joined(test), engine.table(test)
    alone = copy.copy(one_process).set_params(remainder="drop")
    encoded = both(
        engine,
        lambda: alone.transform(engine.seen(whole), "numpy"),
        lambda: plain_columns(engine.columns(encoder.transform(rows))),
    )
    if encoded is None:
        return
    matrix, found = encoded
    features = dict(zip(one_process.schema.names, matrix.T.tolist(), strict=True))
    every = plain_columns({**whole.columns, **features})
    order = EncodedLayout(one_process.schema, [*whole.columns]).names
    assert [*found.items()] == [(name, every[name]) for name in order]

    nulls = {"missing": None, "unknown": None, "infrequent": None}
    decoded = both(
        engine,
        lambda: one_process.inverse_transform(matrix, **nulls),
        lambda: engine.columns(encoder.inverse_transform(encoder.transform(rows), **nulls)),
    )
    if decoded is not None:
        values, found = decoded
        every = plain_columns({**whole.columns, **values})
        kept = names if options.get("remainder") == "drop" else every
        assert plain_columns(found) == {name: every[name] for name in kept}


def both(engine: Engine, one_process: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """Return the results of one process and an engine, or None if both reject a value."""
    try:
        expected = one_process()
    except ValueError:
        with pytest.raises(engine.errors) as caught:
            other()
        # Which of several values comes first depends on the parts; all our messages name a column.
        assert {*re.findall(r"'\w+'", str(caught.value))} & {*map(repr, VALUES)}
        return None
    return expected, other()


def document(encoder: Encoder) -> dict[str, Any]:
    """Return the document of an encoder without the types of its columns, which a list lacks."""
    document: dict[str, Any] = json.loads(encoder.to_json())
    for column in document["fitted"]["columns"]:
        column.pop("types", None)
        column.pop("type", None)
    return document


def pandas_frame(part: Part) -> Any:
    """Return a part as a DataFrame that has a missing value of each kind."""
    pd = pytest.importorskip("pandas")
    columns: dict[str, Any] = {
        "text": pd.Series(part.columns["text"], dtype=object),
        "level": pd.Categorical(part.columns["level"], pd.Index(part.levels, dtype=object)),
        "number": pd.array(part.columns["number"], dtype="Int64"),
        "real": np.array(part.columns["real"], float),
        "flag": pd.array(part.columns["flag"], dtype="boolean"),
        "moment": np.array(part.columns["moment"], US),
        "kept": np.array(part.columns["kept"], np.int64),
    }
    return pd.DataFrame(columns)


def pandas_engine() -> Engine:
    return Engine(
        "pandas",
        lambda parts: pandas_frame(joined(parts)),
        lambda frame: {name: frame[name].tolist() for name in frame.columns},
    )


def without_nan(columns: Columns) -> Columns:
    """Return columns in which a missing text is None."""
    return {**columns, "text": [None if value != value else value for value in columns["text"]]}


def arrow_engine() -> Engine:
    """Return a table of several chunks, each of which has its own dictionary."""
    pa = pytest.importorskip("pyarrow")
    types = {"text": pa.string(), "level": pa.string(), "number": pa.int64(), "flag": pa.bool_()}
    types |= {"real": pa.float64(), "moment": pa.timestamp("us"), "kept": pa.int64()}

    def chunk(part: Part) -> Any:
        columns = without_nan(part.columns)
        arrays = {name: pa.array(values, types[name]) for name, values in columns.items()}
        return pa.table({**arrays, "level": arrays["level"].dictionary_encode()})

    return Engine(
        "arrow",
        lambda parts: pa.concat_tables([*map(chunk, parts)]),
        lambda table: table.to_pydict(),
        declares=False,
    )


def polars_engine() -> Engine:
    pl = pytest.importorskip("polars")

    def frame(parts: Sequence[Part]) -> Any:
        whole = joined(parts)
        schema = {"text": pl.String, "level": pl.Enum(whole.levels), "number": pl.Int64}
        schema |= {"real": pl.Float64, "flag": pl.Boolean, "moment": pl.Datetime("us")}
        return pl.DataFrame(without_nan(whole.columns), schema={**schema, "kept": pl.Int64})

    return Engine("polars", frame, lambda table: table.to_dict(as_series=False))


IN_ONE_PROCESS = {"pandas": pandas_engine, "arrow": arrow_engine, "polars": polars_engine}
