"""Damaged documents, pickles and skops files, and arrays that lie: a fixed sample of the fuzzer.

``python -m torture --only damaged`` runs more of them.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from onehot_fast import Encoder, OneHotMatrix
from support import damage

N_CASES = 150


@pytest.mark.parametrize("kind", damage.CASES)
def test_something_damaged_is_rejected_or_works(kind):
    """Some of the sample are rejected, and some work."""
    if kind == "skops":
        pytest.importorskip("skops.io")
    counts = sum((damage.case(seed, kind) for seed in range(N_CASES)), start=damage.Counter())

    assert 0 < counts["rejected"] < counts[kind] == N_CASES


def changed(state, *path, value):
    """Return a copy of a state, which is nested lists, tuples and dicts, with another value."""
    if not path:
        return value
    key, *rest = path
    if isinstance(state, tuple):
        return tuple(changed([*state], key, *rest, value=value))
    return type(state)(
        {**state, key: changed(state.get(key), *rest, value=value)}
        if isinstance(state, dict)
        else [changed(v, *rest, value=value) if i == key else v for i, v in enumerate(state)]
    )


FIRST = ("_fitted", "columns", 0)
DAMAGED = [
    ((*FIRST, "counts"), np.array([1]), "'counts'"),
    ((*FIRST, "counts"), np.array([1, -1]), "'counts'"),
    ((*FIRST, "counts"), np.array([1.0, 1.0]), "'counts'"),
    ((*FIRST, "categories", 0), np.array([0, 1, 99]), "offsets"),
    ((*FIRST, "categories", 1), np.array([97, 97], np.uint8), "distinct"),
    ((*FIRST, "categories", 1), np.array([195, 164], np.uint8), "within a letter"),
    ((*FIRST, "categories"), np.array([1, 1]), "distinct"),
    ((*FIRST, "categories"), np.array([1.0, np.nan]), "missing"),
    ((*FIRST, "categories"), np.array([None, "a"], object), "missing"),
    ((*FIRST, "categories"), np.array([["a", "b"]]), "one dimension"),
    ((*FIRST, "n_declared"), 3, "n_declared"),
    ((*FIRST, "conflict"), 1, "'conflict' must be a bool"),
    ((*FIRST, "types"), [1], "must be a str"),
    (("_fitted", "n_rows"), -1, "a count"),
    (("_fitted", "names"), ("a", "b"), "'names'"),
    (("_fitted", "names"), (["a"],), "hashable"),
    (("_fitted", "input", "names"), ("b",), "'input'"),
    (("_fitted", "input", "has_names"), None, "'has_names' must be a bool"),
    (("_fitted", "columns"), [], "'names'"),
    (("_fitted",), 5, "subscriptable"),
    (("_params", "drop"), "all", "drop must be"),
    (("_params",), {"columns": None, "size": 1}, "'size' is not an option"),
    (("_state",), None, "computed"),
]


@pytest.mark.parametrize(("path", "value", "message"), DAMAGED)
def test_a_damaged_pickle_of_an_encoder_says_what_is_wrong(path, value, message):
    state = Encoder().fit({"a": ["x", "y"]}).__getstate__()
    new = Encoder.__new__(Encoder)

    with pytest.raises(ValueError, match=f"pickle of an Encoder is damaged.*{message}.* fit it"):
        new.__setstate__(changed(state, *path, value=value))


def numbers(*values, dtype="i8"):
    return np.array(values, dtype)


OF_A_MATRIX = [
    (("codes", 0), numbers(0, 1, 7, dtype="u1"), "below 6"),
    (("codes", 0), numbers(0, 1, dtype="u1"), "3 numbers"),
    (("codes", 0), numbers(0, 1, 2), "uint8"),
    (("codes", 0), numbers(0, 0, 1, 1, 2, 2, dtype="u1")[::2], "contiguous"),
    (("codes",), [], "must have 1 arrays, got 0"),
    (("n_features",), [2, 2], "'codes'|'positions'"),
    (("n_features",), [1, 2**31], "n_features"),
    (("n_features",), [1, True], "n_features"),
    (("has_nan",), [False], "has_nan"),
    (("positions",), numbers(2), "within a categorical column"),
    (("positions",), numbers(3, 3), "ascend"),
    (("positions",), numbers(), "'numeric'"),
    (("numeric",), np.zeros((3, 1), "f4"), "float64"),
    (("numeric",), np.zeros((2, 1)), "2 numbers"),
    (("names",), ["a", "a", "b", "c"], "4 different texts"),
]


@pytest.mark.parametrize(("path", "value", "message"), OF_A_MATRIX)
def test_a_damaged_pickle_of_a_matrix_says_what_is_wrong(path, value, message):
    """Its codes would name elements that do not exist."""
    matrix = OneHotMatrix.from_codes([[0, 0, 0], [0, 1, -1]], [1, 2], numeric=np.ones((3, 1)))
    state = changed(matrix.__getstate__(), *path, value=value)

    with pytest.raises(ValueError, match=f"pickle of a OneHotMatrix is damaged.*(?:{message})"):
        OneHotMatrix.__new__(OneHotMatrix).__setstate__(state)
    again = pickle.loads(pickle.dumps(matrix))
    np.testing.assert_array_equal(again.to_numpy(), matrix.to_numpy())


@pytest.mark.parametrize("where", ["version", "written by"])
def test_an_unreadable_version_is_quoted_in_part(where):
    text = Encoder(["a"]).to_json().replace('"version": 4', '"version": 9')
    value = {"version": 9, "written by": "onehot_fast 8.1"} | {where: "9" * 100_000}
    document = damage.json.loads(text) | value

    with pytest.raises(ValueError, match="version must be at most 4") as caught:
        Encoder.from_json(damage.json.dumps(document))
    assert len(str(caught.value)) < 1000
