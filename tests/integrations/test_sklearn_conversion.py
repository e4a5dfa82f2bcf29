"""Encoder and scikit-learn's OneHotEncoder turn into each other where both can say it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pandas")
pytest.importorskip("sklearn")

import pandas as pd
from sklearn import preprocessing

from onehot_fast import Encoder
from onehot_fast.integrations.sklearn import OneHotEncoder

TEXTS = st.sampled_from(["a", "b", "cc", "d"])
NUMBERS = st.sampled_from([-1, 0, 7, 2**40])
FRAMES = st.lists(st.tuples(TEXTS, NUMBERS), min_size=2, max_size=9).map(
    lambda rows: pd.DataFrame(rows, columns=["text", "number"])
)
RULES = st.sampled_from(["error", "ignore"])


@given(fitted=FRAMES, rows=FRAMES, rule=RULES, drop=st.sampled_from([None, "first", "if_binary"]))
@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_both_ways_give_the_same(fitted: Any, rows: Any, rule: str, drop: Any) -> None:
    """Rows, names and categories; in a frame and in an array."""
    theirs = preprocessing.OneHotEncoder(
        handle_unknown=rule, drop=drop, dtype="float32", sparse_output=False
    ).fit(fitted)
    rows = fitted if rule == "error" else rows
    ours = Encoder.from_sklearn(theirs)
    back = ours.to_sklearn()

    expected = theirs.transform(rows)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    np.testing.assert_array_equal(ours.transform(rows, "numpy"), expected)
    assert back.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    np.testing.assert_array_equal(back.transform(rows), expected)
    assert [c.dtype for c in back.categories_] == [c.dtype for c in theirs.categories_]
    if expected.shape[1]:
        decoded = back.inverse_transform(expected)
        np.testing.assert_array_equal(decoded, theirs.inverse_transform(expected))


@pytest.mark.parametrize("kind", [OneHotEncoder, preprocessing.OneHotEncoder])
@pytest.mark.parametrize("drop", [None, "first", [None, 3.0]], ids=str)
def test_missing_values_are_a_feature(kind: Any, drop: Any) -> None:
    """Where they are a category; dropped they are all off, and unknown ones are refused."""
    rows = np.array([["a", 3.0], [None, np.nan], ["b", 3.0]], object)
    theirs = kind(drop=drop, sparse_output=False).fit(rows)
    ours = Encoder.from_sklearn(theirs)

    np.testing.assert_array_equal(ours.transform(rows), theirs.transform(rows))
    assert ours.columns == ("x0", "x1")
    assert ours.schema.dtype == np.float64
    with pytest.raises(ValueError, match="'c' is unknown"):
        ours.transform(np.array([["c", 3.0]], object))


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        (preprocessing.OneHotEncoder(min_frequency=2), "infrequent"),
        (preprocessing.OneHotEncoder(feature_name_combiner=str), "feature_name_combiner"),
        (preprocessing.OneHotEncoder(categories=[["a", "b", None, np.nan]]), "several categories"),
    ],
    ids=["infrequent", "names", "missing"],
)
def test_what_cannot_be_taken_over_is_refused(encoder: Any, message: str) -> None:
    """With the reason."""
    with pytest.raises(ValueError, match=message):
        Encoder.from_sklearn(encoder.fit(np.array([["a"], ["b"], ["a"]], object)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"handle_unknown": "indicator"}, "outputs that scikit-learn's"),
        ({"handle_missing": "indicator"}, "outputs that scikit-learn's"),
        ({"min_frequency": 2}, "outputs that scikit-learn's"),
        ({}, r"set_params\(handle_missing='error'\) goes with handle_unknown='error'"),
        ({"handle_unknown": {"k": "ignore"}}, "handle_missing"),
        ({"handle_unknown": "ignore", "drop": {"m": "x"}}, "of all columns, of none"),
        ({"handle_unknown": "ignore", "categories": {"k": []}}, "has no categories"),
    ],
    ids=str,
)
def test_what_scikit_learn_cannot_do_is_refused(options: dict[str, Any], message: str) -> None:
    """With the reason, and where that is all with what to set."""
    table = {"k": ["a", "b", "b"], "m": ["x", "y", "z"]}
    encoder = Encoder(["k", "m"], **options).fit(table)

    with pytest.raises(ValueError, match=message):
        encoder.to_sklearn()
