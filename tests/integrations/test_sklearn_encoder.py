"""The encoder is scikit-learn's, on random tables: results, attributes, warnings and errors."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from scipy import sparse
from sklearn import preprocessing
from sklearn.utils.estimator_checks import check_estimator

from onehot_fast.integrations.sklearn.encoder import OneHotEncoder

TEXTS = ["a", "b", "B", "", "a longer text", "é"]
NUMBERS = [0, 1, 2, -3, 200, 10**6]
# What the values of a column are drawn from, and the dtype of an array of them.
POOLS: dict[str, tuple[list[Any], Any]] = {
    "object": (TEXTS, object),
    "missing": ([*TEXTS, None, np.nan, float("nan")], object),
    "mixed": ([*TEXTS, *NUMBERS], object),
    "numbers": ([*NUMBERS, 1.0, True, 2.5, None, np.nan], object),
    "str": (TEXTS, np.str_),
    "bytes": ([b"a", b"b", b"ab"], np.bytes_),
    "int64": (NUMBERS, np.int64),
    "uint8": ([0, 1, 200, 255], np.uint8),
    "float64": ([0.0, 1.5, np.nan, 1e300], np.float64),
    "float32": ([0.5, np.nan, -1.0], np.float32),
    "infinite": ([0.5, np.inf], np.float64),
    "complex": ([1j, 2.0], np.complex128),
    "bool": ([False, True], np.bool_),
}  # fmt: skip
SERIES = {
    "object": (["a", "b", None, np.nan, 1, 2.5], object),
    "texts": (TEXTS, object),
    "str": ([*TEXTS, None], "str"),
    "category": ([*TEXTS, None], "category"),
    "numeric category": ([3, 1, 2, None], "category"),
    "Boolean category": ([True, False], "category"),
    "int64": (NUMBERS, "int64"),
    "Int64": ([1, 2, None], "Int64"),
    "boolean": ([True, False, None], "boolean"),
    "float": ([1.5, None, -2.0], "float64"),
    "bool": ([True, False], "bool"),
}  # fmt: skip
STUMBLES = "stumbles"


@dataclass(frozen=True)
class Case:
    """Rows to learn from, rows to encode, and the parameters."""

    train: Any
    test: Any
    params: dict[str, Any]


def rows(draw: st.DrawFn, pool: list[Any], n_rows: int) -> list[Any]:
    """Return values of a column, of which most repeat."""
    few = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=4))
    return draw(st.lists(st.sampled_from(few), min_size=n_rows, max_size=n_rows))


def array(columns: list[list[Any]], dtype: Any) -> Any:
    """Return an array of rows whose elements are what they were."""
    if dtype is not object:
        return np.array(columns, dtype).T
    out = np.empty((len(columns[0]), len(columns)), object)
    for at, column in enumerate(columns):
        out[:, at] = [None] * len(column)
        for row, value in enumerate(column):
            out[row, at] = value
    return out


@st.composite
def arrays(draw: st.DrawFn, n_columns: int, kind: str, *, as_list: bool) -> Any:
    """Return an array, or a list of lists, of one kind."""
    pool, dtype = POOLS[kind]
    n_rows = draw(st.integers(0, 12))
    columns = [rows(draw, pool, n_rows) for _ in range(n_columns)]
    found = array(columns, dtype)
    return [list(row) for row in zip(*columns, strict=True)] if as_list else found


@st.composite
def frames(draw: st.DrawFn, n_columns: int, kinds: list[str]) -> Any:
    """Return a DataFrame whose columns are of these kinds."""
    pandas = pytest.importorskip("pandas")
    n_rows = draw(st.integers(0, 12))
    columns = {}
    for at, kind in enumerate(kinds):
        pool, dtype = SERIES[kind]
        columns[f"c{at}"] = pandas.Series(rows(draw, pool, n_rows), dtype=dtype)
    return pandas.DataFrame(columns)


@st.composite
def parameters(draw: st.DrawFn, pools: list[list[Any]]) -> dict[str, Any]:
    """Return the parameters of an encoder of columns with values of these pools."""
    named = st.tuples(*map(st.sampled_from, pools)).map(list)
    chosen = {
        "drop": st.sampled_from([None, None, "first", "if_binary"]) | named,
        "handle_unknown": st.sampled_from(["error", "ignore", "infrequent_if_exist", "warn"]),
        "min_frequency": st.none() | st.sampled_from([1, 2, 3, 0.2, 0.5]),
        "max_categories": st.none() | st.integers(1, 4),
        "dtype": st.sampled_from([np.float64, "float32", int, "uint8", bool, None]),
        "sparse_output": st.booleans(),
        "feature_name_combiner": st.sampled_from(["concat", lambda f, c: f"{f}={c!r}"]),
    }
    names = draw(st.lists(st.sampled_from(sorted(chosen)), unique=True, max_size=4))
    params = {name: draw(chosen[name]) for name in names}
    if draw(st.integers(0, 3)) == 0:
        lists = st.tuples(
            *(st.lists(st.sampled_from(pool), min_size=1, max_size=5) for pool in pools)
        )
        params["categories"] = list(draw(lists))
    return params


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Return a task on arrays or lists."""
    kind, as_list = draw(st.sampled_from(sorted(POOLS))), draw(st.booleans())
    n_columns = draw(st.integers(1, 3))
    train, test = (draw(arrays(n_columns, kind, as_list=as_list)) for _ in range(2))
    return Case(train, test, draw(parameters([POOLS[kind][0]] * n_columns)))


@st.composite
def frame_cases(draw: st.DrawFn) -> Case:
    """Return a task on DataFrames."""
    kinds = draw(st.lists(st.sampled_from(sorted(SERIES)), min_size=1, max_size=3))
    train, test = (draw(frames(len(kinds), kinds)) for _ in range(2))
    return Case(train, test, draw(parameters([SERIES[kind][0] for kind in kinds])))


def error_of(error: Exception) -> Any:
    """Return the type of an error; what was not meant to be one is said to stumble."""
    words = str(error)
    # Numbers compared with categories that are objects; `item` of a category that has no such.
    meant = not isinstance(error, TypeError | AttributeError) or "uniformly" in words
    return (type(error), words[:25]) if meant else STUMBLES


def outcome(work: Any) -> Any:
    """Return what a call gives: the type of its error, or its result and the warnings' texts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = work()
        except Exception as error:
            return error_of(error)
    return result, [str(one.message) for one in caught if one.category is UserWarning]


def plain(value: Any) -> Any:
    """Return a result as what can be compared: arrays as their dtype and values, NaN as a word."""
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if sparse.issparse(value):
        parts = value.indptr, value.indices, value.data
        return [type(value), value.shape, *map(plain, parts), value.dtype]
    if isinstance(value, np.ndarray):
        return [value.dtype, value.shape, [plain(one) for one in value.tolist()]]
    return "NaN" if isinstance(value, float) and value != value else value


def results(kind: Any, case: Case) -> dict[str, Any]:
    """Return all that an encoder of this class makes of a case."""
    encoder = kind(**case.params)
    found = {"fit": plain(outcome(lambda: encoder.fit(case.train) is encoder))}
    if found["fit"] != [True, []]:
        return found
    names = ("categories_", "drop_idx_", "infrequent_categories_", "_n_features_outs")
    found |= {name: plain(getattr(encoder, name, "absent")) for name in names}
    found["names"] = plain(outcome(encoder.get_feature_names_out))
    found["features"] = plain(getattr(encoder, "feature_names_in_", None))
    found["known"] = plain(outcome(lambda: encoder.transform(case.train)))
    found["one row"] = plain(outcome(lambda: encoder.transform(case.test[:1])))
    encoded = outcome(lambda: encoder.transform(case.test))
    found["encoded"] = plain(encoded)
    if isinstance(encoded, tuple) and isinstance(encoded[1], list):
        found["decoded"] = plain(outcome(lambda: encoder.inverse_transform(encoded[0])))
    found["at once"] = plain(outcome(lambda: kind(**case.params).fit_transform(case.train)))
    return found


def check(case: Case) -> None:
    """Assert that ours is scikit-learn's, where that was meant to be."""
    theirs = results(preprocessing.OneHotEncoder, case)
    meant = {name: value for name, value in theirs.items() if value != STUMBLES}
    ours = results(OneHotEncoder, case)
    assert {name: ours.get(name) for name in meant} == meant


@given(case=cases())
def test_arrays_and_lists_are_encoded_as_by_scikit_learn(case):
    """Whatever the values and the parameters, all that scikit-learn makes of them is ours."""
    check(case)


@given(case=frame_cases())
def test_frames_are_encoded_as_by_scikit_learn(case):
    """A DataFrame's columns keep their dtypes, and what is missing in them is NaN or None."""
    check(case)


@pytest.mark.parametrize("values", [["a", ["b"]], [{}, {}], ["a", 1], [None, b"a", "a"]])
@pytest.mark.parametrize("kind", [preprocessing.OneHotEncoder, OneHotEncoder])
def test_values_without_hash_or_order_are_refused(kind, values):
    """The error names their types, as scikit-learn's does."""
    rows = array([values], object)
    names = sorted({type(value).__name__ for value in values})

    with pytest.raises(
        TypeError, match=rf"uniformly strings or numbers. Got {re.escape(str(names))}"
    ):
        kind().fit(rows)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"sparse_output": False, "drop": "first"},
        {"handle_unknown": "indicator", "handle_missing": "indicator"},
    ],
)
def test_scikit_learn_accepts_the_estimator(params):
    """The estimator keeps to scikit-learn's contract."""
    results = check_estimator(OneHotEncoder(**params), on_skip=None, on_fail=None)
    outcomes = {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"}

    assert outcomes == {}
    assert len(results) > 40
