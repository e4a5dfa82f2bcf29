"""Listings: slices, rows as Python objects, and shares in percent."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal

import numpy as np
import pytest

from onehot_fast import Encoder

TABLE = {
    "size": ["S", "L", None, "S"],
    "odd": [b"x", datetime.date(2024, 1, 1), Decimal("1.5"), ("a", 1)],
    "day": np.array(["2024-01-01", "2024-01-02", "NaT", "2024-01-01"], "M8[D]"),
    "number": np.array([1.5, np.inf, np.nan, 2.5]),
}


def listings():
    encoder = Encoder([*TABLE], handle_missing="indicator").fit(TABLE)
    return {
        "features": encoder.features,
        "vocabulary": encoder.vocabulary,
        "summary": encoder.summary(),
        "check": encoder.check({**TABLE, "size": ["S", "XL", None, "S"]}),
    }


@pytest.mark.parametrize("name", ["features", "vocabulary", "summary", "check"])
def test_rows_of_each_listing_are_json(name):
    listing = listings()[name]

    rows, columns = listing.to_dict("records"), listing.to_dict("list")

    assert listing.to_dict() == rows
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert json.loads(json.dumps(columns, allow_nan=False)) == columns
    assert len(rows) == listing.n_rows > 0
    assert [row["column"] for row in rows] == columns["column"] == listing["column"].tolist()
    assert all([*row] == [*listing] for row in rows)
    with pytest.raises(ValueError, match="orient must be one of 'records', 'list', got 'index'"):
        listing.to_dict("index")


def test_values_keep_their_type_or_become_the_text_of_features():
    features = listings()["features"].to_dict()

    by_name = {row["name"]: row["category"] for row in features if row["kind"] == "category"}
    assert by_name["number_1.5"] == 1.5
    for name, category in by_name.items():
        assert isinstance(category, str | float)
        assert name.endswith(str(category))


@pytest.mark.parametrize("rows", [slice(5), slice(1, None, 2), slice(-2, None), slice(0, 0)])
def test_a_slice_is_a_listing_of_these_rows(rows):
    for listing in listings().values():
        part = listing[rows]
        assert type(part) is type(listing)
        assert part.to_dict() == listing.to_dict()[rows]
        assert getattr(part, "checked_rows", 0) == getattr(listing, "checked_rows", 0)
        assert repr(part).splitlines()[0].startswith(("<Check", "column"))


def test_an_unknown_column_is_named_with_the_columns():
    with pytest.raises(KeyError, match=r"'share'.*'kind'.*\[:5\]"):
        _ = listings()["features"]["share"]
    assert "share" not in listings()["features"]
    assert listings()["features"].get("share") is None


@pytest.mark.parametrize(
    ("n_rare", "n", "text"),
    [(1, 25_000, "0.004%"), (1, 3, "33.33%"), (24_999, 25_000, "99.996%"), (1, 10**6, "0.0001%")],
)
def test_a_share_is_neither_none_nor_all_unless_it_is(n_rare, n, text):
    values = np.repeat(["new", "a"], [n_rare, n - n_rare])

    [line] = repr(Encoder(["c"]).fit({"c": ["a"]}).check({"c": values})).splitlines()[2:]

    assert line.split()[-1] == text
    whole = Encoder(["c"]).fit({"c": ["a"]}).check({"c": ["new"]})
    assert repr(whole).endswith("100.00%")


def test_categories_that_are_floats_are_not_shares():
    encoder = Encoder(["c"]).fit({"c": [1.5, 2.5]})

    assert "%" not in repr(encoder.features)
    assert "1.5" in repr(encoder.features)
