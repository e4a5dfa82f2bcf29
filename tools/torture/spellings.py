"""Values of mixed types in random orders, parts and groupings: encoders and names are equal."""

from __future__ import annotations

import datetime
import math
import random
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from onehot_fast import Encoder

UTC = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
DAY = datetime.datetime(2020, 1, 1)
# Each line holds equal values.
EQUAL: list[list[Any]] = [
    [1, True, 1.0, Fraction(1), Decimal(1), Decimal("1.00"), 1 + 0j, np.float32(1), np.True_],
    [0, 0.0, -0.0, False, Decimal("-0"), 0j, np.longdouble(0), np.float16(-0.0), np.int8(0)],
    [0.5, Fraction(1, 2), Decimal("0.50"), np.longdouble(0.5), np.clongdouble(0.5)],
    [2**63, np.uint64(2**63), float(2**63), Decimal(2**63)],
    [10**400, Fraction(10**400), Decimal("1E+400")],
    [np.longdouble("0.1"), np.clongdouble("0.1")],
    [0.3, np.float64(0.3), np.complex128(0.3)],
    [np.float32(0.7), np.complex64(0.7)],
    [UTC, UTC.astimezone(datetime.timezone(datetime.timedelta(hours=2)))],
    [np.datetime64("2020-01-01"), DAY, np.datetime64("2020-01-01T00", "h")],
    [datetime.timedelta(1), np.timedelta64(24, "h")],
    [(1, "a"), (True, "a"), (1.0, "a")],
    [frozenset("ab")], [frozenset("b")], [frozenset("a")], [1j], [-1j], [b"\0"], ["text"], ["a"],
    [None], [math.nan], [np.datetime64("NaT")],
]  # fmt: skip


def case(seed: int) -> Counter[str]:
    """Fit rows as a whole, in another order, in parts, and merged in any grouping."""
    draw = random.Random(seed)
    return _dictionaries(draw) if seed % 4 == 0 else _mixed(draw)


def _mixed(draw: random.Random) -> Counter[str]:
    lines = draw.sample(EQUAL, draw.randint(1, len(EQUAL)))
    rows = [draw.choice(draw.choice(lines)) for _ in range(draw.choice([1, 2, 5, 12, 40]))]
    whole = _fit(rows)
    order = draw.sample(rows, len(rows))
    same = [_fit(order), *_in_parts(draw, order)]
    for other in same:
        names = other.get_feature_names_out().tolist()
        assert other == whole, rows
        assert names == whole.get_feature_names_out().tolist(), rows
        assert repr(other.categories) == repr(whole.categories), rows
    again = Encoder.from_json(whole.to_json()) if _has_json(rows) else whole
    assert again == whole, rows
    return Counter({"fit": 1 + len(same)})


def _in_parts(draw: random.Random, rows: list[Any]) -> list[Encoder]:
    """Return the encoder of consecutive parts: streamed, merged at once, and merged in pairs."""
    ends = sorted(draw.choices(range(len(rows) + 1), k=draw.randint(0, 4)))
    parts = [rows[start:end] for start, end in zip([0, *ends], [*ends, len(rows)], strict=True)]
    streamed = Encoder(["c"], prefix="")
    for part in parts:
        streamed.partial_fit({"c": part})
    fitted = draw.sample([_fit(part) for part in parts], len(parts))
    pivot = draw.randrange(len(fitted))
    halves = [half for half in (fitted[:pivot], fitted[pivot:]) if half]
    grouped = [reduce(Encoder.merge, half) for half in halves]
    return [streamed, fitted[0].merge(*fitted[1:]), reduce(Encoder.merge, grouped)]


def _dictionaries(draw: random.Random) -> Counter[str]:
    """Compare an Arrow table of row groups with its batches: declared order and unused values."""
    levels = draw.sample("SMLXYZ", draw.randint(1, 6))
    rows = [draw.choice([None, *levels]) for _ in range(draw.choice([1, 4, 12]))]
    size = draw.choice([1, 2, 4])
    codes = [None if row is None else levels.index(row) for row in rows]
    chunks = [
        pa.DictionaryArray.from_arrays(
            pa.array(codes[i : i + size], pa.int8()), pa.array(levels), ordered=True
        )
        for i in range(0, len(codes), size)
    ]
    table = pa.table({"c": pa.chunked_array(chunks)})
    options = {"drop": draw.choice([None, "first"]), "handle_missing": "indicator"}
    whole = Encoder(["c"], **options).fit(table)
    streamed = Encoder(["c"], **options)
    for batch in table.to_batches():
        streamed.partial_fit(batch)
    assert whole.categories["c"].tolist() == levels
    assert streamed == whole
    assert streamed.to_json() == whole.to_json()
    return Counter({"fit of an Arrow table": 2})


def _fit(rows: list[Any]) -> Encoder:
    return Encoder(["c"], prefix="").fit({"c": rows})


def _has_json(rows: list[Any]) -> bool:
    return not any(isinstance(row, frozenset | np.clongdouble) for row in rows)
