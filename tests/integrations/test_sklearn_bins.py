"""Bins are those of scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from scipy import sparse
from sklearn import preprocessing

from onehot_fast.integrations.sklearn import KBinsDiscretizer

# What scikit-learn before 1.9 says of its default.
pytestmark = pytest.mark.filterwarnings("ignore:The current default behavior, quantile_method")
# None so close together that scikit-learn is left without a bin, which its fit does not survive.
NUMBERS = [0.0, -0.0, 1.0, 0.1, 0.3, -7.5, 1e300, 2.0**53]


@given(
    train=st.lists(st.tuples(*[st.sampled_from(NUMBERS)] * 2), min_size=2, max_size=20),
    test=st.lists(st.tuples(*[st.sampled_from(NUMBERS)] * 2), min_size=1, max_size=20),
    n_bins=st.sampled_from([2, 3, 10, 40, 66, 300]),
    encode=st.sampled_from(["onehot", "onehot-dense", "ordinal"]),
    strategy=st.sampled_from(["uniform", "quantile"]),
    dtype=st.sampled_from([None, np.float64, np.float32]),
    is_single=st.booleans(),
)
def test_bins_are_those_of_scikit_learn(
    train: Any, test: Any, n_bins: int, encode: Any, strategy: Any, dtype: Any, is_single: bool
) -> None:
    """Numbers on an edge, of either float dtype, and columns without a width."""
    options = {"encode": encode, "strategy": strategy, "dtype": dtype}
    kind = np.float32 if is_single else np.float64
    with np.errstate(all="ignore"):
        tables = [np.array(rows).clip(-1e30, 1e30).astype(kind) for rows in (train, test)]
    results = []
    for owner in (KBinsDiscretizer, preprocessing.KBinsDiscretizer):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = owner(n_bins, **options).fit(tables[0])
        # Values on the edges themselves, too.
        edges = [np.resize(own[np.isfinite(own)], 8) if np.isfinite(own).any() else np.zeros(8)
                 for own in fitted.bin_edges_]  # fmt: skip
        rows = np.concatenate([tables[1], np.stack(edges, axis=1).astype(kind)])
        results.append(fitted.transform(rows))
    ours, theirs = results

    assert type(ours) is type(theirs)
    assert ours.dtype == theirs.dtype
    if sparse.issparse(ours):
        assert ours.has_canonical_format
        ours, theirs = ours.toarray(), theirs.toarray()
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.filterwarnings("ignore:Bins whose width")
@pytest.mark.parametrize("n_bins", [4, 20, 32, 300])
@pytest.mark.parametrize("power", [1, 9])
def test_many_rows_and_tables(n_bins: int, power: int) -> None:
    """Edges that lie evenly, and edges of which most are close together."""
    pd = pytest.importorskip("pandas")
    numbers = np.random.default_rng(0).normal(size=(20_000, 2)) ** power
    values = pd.DataFrame(numbers, columns=["a", "b"])
    encoders = [
        owner(n_bins, encode="ordinal").set_output(transform="pandas").fit(values[:9000])
        for owner in (KBinsDiscretizer, preprocessing.KBinsDiscretizer)
    ]

    ours, theirs = (encoder.transform(values) for encoder in encoders)

    pd.testing.assert_frame_equal(ours, theirs)
