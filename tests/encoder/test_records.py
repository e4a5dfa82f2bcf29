"""Records, a list of mappings or one mapping of scalars, wherever an Encoder takes a table."""

from __future__ import annotations

import datetime
from collections import UserDict

import numpy as np
import pytest

from onehot_fast import Encoder

RECORDS = [
    {"carrier": "UA", "hour": 5, "note": None},
    {"carrier": None, "hour": 6},
    {"hour": 7, "carrier": "AA", "gate": "B"},
    UserDict(carrier="UA", hour=8),
]
COLUMNS = {
    "carrier": ["UA", None, "AA", "UA"],
    "hour": [5, 6, 7, 8],
    "note": [None] * 4,
    "gate": [None, None, "B", None],
}


@pytest.mark.parametrize("columns", [None, ["carrier"], ["hour", "gate"]])
def test_records_are_the_mapping_of_their_columns(columns):
    """The same encoder and the same rows, in every call that takes a table."""
    records, mapping = (
        Encoder(columns, handle_unknown="ignore", remainder="drop").fit(table)
        for table in (RECORDS, COLUMNS)
    )

    assert records == mapping
    assert records.to_json() == mapping.to_json()
    assert records.partial_fit(RECORDS) == mapping.partial_fit(COLUMNS)
    for form in ("numpy", "codes", "indices"):
        np.testing.assert_array_equal(
            records.transform(RECORDS, form), records.transform(COLUMNS, form)
        )
    assert repr(records.check(RECORDS)) == repr(records.check(COLUMNS))
    assert records.estimate(RECORDS).bytes == records.estimate(COLUMNS).bytes
    encoded = records.transform(COLUMNS, "numpy")
    rows = [dict(zip(records.get_feature_names_out(), row, strict=True)) for row in encoded]
    decoded = records.inverse_transform(rows)
    expected = records.inverse_transform(encoded)
    assert {k: v.tolist() for k, v in decoded.items()} == {
        k: v.tolist() for k, v in expected.items()
    }


@pytest.mark.parametrize(
    "record",
    [{"c": "UA"}, {"c": "UA", "n": 1.5, "d": datetime.date(2024, 1, 1)}, {"c": "UA", "x": None}],
)
def test_a_mapping_of_scalars_is_one_record(record):
    encoder = Encoder(["c"], remainder="drop").fit({"c": ["UA", "AA"]})

    assert encoder.transform(record, "numpy").tolist() == [[False, True]]
    assert encoder.transform([record], "numpy").tolist() == [[False, True]]
    assert encoder.transform({"c": np.str_("UA")}, "numpy").tolist() == [[False, True]]


def test_a_column_that_no_record_has_is_absent():
    encoder = Encoder(["c"], remainder="drop").fit({"c": ["UA", "AA"]})

    with pytest.raises(ValueError, match="the table has no column 'c'"):
        encoder.transform([{"n": 1}, {"n": 2}])
    assert encoder.transform([{}, {"c": "UA"}], "numpy").tolist() == [[0, 0], [0, 1]]
