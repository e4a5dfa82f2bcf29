"""Values of mixed types in random orders, parts and groupings: encoders and names are equal."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pyarrow as pa
from equal_values import EQUAL, check_order

from onehot_fast import Encoder


def case(seed: int) -> Counter[str]:
    """Fit rows as a whole, in another order, in parts, and merged in any grouping."""
    draw = random.Random(seed)
    if seed % 4 == 0:
        return _dictionaries(draw)
    lines = draw.sample(EQUAL, draw.randint(1, len(EQUAL)))
    values = [draw.choice(draw.choice(lines)) for _ in range(draw.choice([1, 2, 5, 12, 40]))]
    rows = draw.sample(values, len(values))
    cuts = sorted(draw.choices(range(len(rows) + 1), k=draw.randint(0, 4)))
    whole = check_order(values, rows, cuts, draw.randint(0, len(cuts)))
    if not any(isinstance(value, frozenset | np.clongdouble) for value in values):
        assert Encoder.from_json(whole.to_json()) == whole, values
    return Counter({"fit": 5})


def _dictionaries(draw: random.Random) -> Counter[str]:
    """Compare an Arrow table of row groups with its batches: declared order and unused values."""
    labels = draw.sample("SMLXYZ", draw.randint(1, 6))
    rows = [draw.choice([None, *labels]) for _ in range(draw.choice([1, 4, 12]))]
    size = draw.choice([1, 2, 4])
    codes = [None if row is None else labels.index(row) for row in rows]
    chunks = [
        pa.DictionaryArray.from_arrays(
            pa.array(codes[i : i + size], pa.int8()), pa.array(labels), ordered=True
        )
        for i in range(0, len(codes), size)
    ]
    table = pa.table({"c": pa.chunked_array(chunks)})
    options = {"drop": draw.choice([None, "first"]), "handle_missing": "indicator"}
    whole = Encoder(["c"], **options).fit(table)
    streamed = Encoder(["c"], **options)
    for batch in table.to_batches():
        streamed.partial_fit(batch)
    assert whole.categories["c"].tolist() == labels
    assert streamed == whole
    assert streamed.to_json() == whole.to_json()
    return Counter({"fit of an Arrow table": 2})
