"""Numbers become bins: the counts of a search by NumPy, whatever the instruction set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast._categories.bins import find_bins

NUMBERS = [
    np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    5e-324,
    0.1,
    float(np.float32(0.1)),
    1.0,
    2.0**53,
    -1e300,
]
numbers = st.sampled_from(NUMBERS) | st.floats(width=16, allow_nan=False)


@given(
    edges=st.lists(st.lists(numbers.filter(lambda x: x == x), max_size=40), max_size=4),
    n_rows=st.sampled_from([0, 1, 2, 511, 512, 513, 2049, 20_000]),
    kind=st.sampled_from([np.float32, np.float64]),
    dtype=st.sampled_from(["u1", "u2", "i4", "f4", "f8"]),
    order=st.sampled_from("CFS"),
    by_column=st.booleans(),
    seed=st.integers(0, 9),
)
def test_bins_are_those_of_a_search(
    edges: Any, n_rows: int, kind: Any, dtype: str, order: str, by_column: bool, seed: int
) -> None:
    """Whatever the numbers and the strides; of ties and NaN no edge is above."""
    rng, own = np.random.default_rng(seed), [np.sort(np.array(each, float)) for each in edges]
    pool = np.concatenate([NUMBERS, rng.normal(size=9), *own])
    with np.errstate(over="ignore"):
        rows = rng.choice(pool, (n_rows, len(own))).astype(kind)
    strided = np.empty((2 * n_rows, 3 * len(own)), kind)[::-2, 1::3]
    strided[...] = rows
    values = strided if order == "S" else np.array(rows, order=order)

    bins = find_bins(values, own, dtype, by_column, num_threads=2)

    assert (bins.dtype, bins.shape) == (dtype, rows.shape)
    assert (bins.T if by_column else bins).flags.c_contiguous
    for i, each in enumerate(own):
        np.testing.assert_array_equal(bins[:, i], np.searchsorted(each, rows[:, i], "right"))


@pytest.mark.parametrize("n_edges", [7, 8, 9, 31, 32, 33, 255, 256, 65_536, 100_000])
def test_many_edges(n_edges: int) -> None:
    """Around the number that is not searched, and beyond one and two bytes."""
    rng = np.random.default_rng(0)
    edges, values = np.sort(rng.normal(size=n_edges)), rng.normal(size=(3000, 1))
    values[:100, 0] = rng.choice(edges, 100)

    bins = find_bins(values, [edges], np.int32)

    np.testing.assert_array_equal(bins[:, 0], np.searchsorted(edges, values[:, 0], "right"))


@pytest.mark.parametrize(
    ("values", "edges", "dtype"),
    [
        (np.zeros((2, 1), ">f8"), [np.zeros(1)], "f8"),
        (np.zeros((2, 1), int), [np.zeros(1)], "f8"),
        (np.zeros((2, 1)), [np.zeros(1)], "i8"),
        (np.zeros((2, 1)), [np.zeros(1)], ">f8"),
        (np.zeros((2, 1)), [], "f8"),
        (np.zeros(2), [np.zeros(1)], "f8"),
        (np.zeros((2, 1)), [np.zeros(1, complex)], "f8"),
    ],
)
def test_bins_of_other_arrays_are_refused(values: Any, edges: Any, dtype: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="find_bins"):
        find_bins(values, edges, dtype)
