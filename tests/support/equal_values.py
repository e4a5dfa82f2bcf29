"""Equal values of several types, and the check that their order and parts do not matter."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from onehot_fast import Encoder

DAY = datetime.datetime(2020, 1, 1)
UTC = DAY.replace(tzinfo=datetime.UTC)
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
    [None], [math.nan], [np.datetime64("NaT", "ns")],
]  # fmt: skip


def check_order(values: list[Any], rows: list[Any], cuts: list[int], pivot: int) -> Encoder:
    """Check that other orders of the values, parts and groups of parts give an equal encoder."""
    parts = [rows[start:stop] for start, stop in pairwise([0, *cuts, len(rows)])]
    streamed = reduce(lambda e, part: e.partial_fit({"c": part}), parts, Encoder(["c"], prefix=""))
    whole, reordered, *fitted = (
        Encoder(["c"], prefix="").fit({"c": each}) for each in (values, rows, *parts)
    )
    groups = [group for group in (fitted[pivot:], fitted[:pivot]) if group]
    grouped = reduce(Encoder.merge, [reduce(Encoder.merge, group) for group in groups])
    for other in (reordered, streamed, fitted[0].merge(*fitted[1:]), grouped):
        assert other == whole, values
        assert [*other.get_feature_names_out()] == [*whole.get_feature_names_out()], values
        assert [*map(repr, other.categories["c"])] == [*map(repr, whole.categories["c"])], values
    return whole
