"""The encoder is scikit-learn's, on random tables: results, attributes, warnings and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from sklearn import preprocessing
from sklearn_cases import (
    Case,
    cases,
    ordinal_parameters,
    outcome,
    parameters,
    plain,
    table_cases,
)

from onehot_fast.integrations.sklearn import OneHotEncoder, OrdinalEncoder


def results(kind: Any, case: Case) -> dict[str, Any]:
    """Return all that an encoder of this class makes of a case."""
    encoder = kind(**case.params)
    found = {"fit": outcome(lambda: encoder.fit(case.train) is encoder)}
    if found["fit"] != (True, []):
        return found
    names = ("categories_", "drop_idx_", "infrequent_categories_", "_n_features_outs")
    found |= {name: plain(getattr(encoder, name, "absent")) for name in names}
    found["names"] = plain(outcome(encoder.get_feature_names_out))
    found["features"] = plain(getattr(encoder, "feature_names_in_", None))
    found["known"] = plain(outcome(lambda: encoder.transform(case.train)))
    found["one row"] = plain(outcome(lambda: encoder.transform(case.test[:1])))
    encoded = outcome(lambda: encoder.transform(case.test))
    found["encoded"] = plain(encoded)
    if isinstance(encoded[1], list):
        found["decoded"] = plain(outcome(lambda: encoder.inverse_transform(encoded[0])))
    found["at once"] = plain(outcome(lambda: kind(**case.params).fit_transform(case.train)))
    return found


@given(case=cases())
def test_arrays_and_lists_are_encoded_as_by_scikit_learn(case):
    """Whatever the values and the parameters, all that scikit-learn makes of them is ours."""
    assert results(OneHotEncoder, case) == results(preprocessing.OneHotEncoder, case)


@given(case=table_cases())
def test_tables_are_encoded_as_by_scikit_learn(case):
    """A table's columns have the categories, dtypes and missing values of scikit-learn."""
    assert results(OneHotEncoder, case) == results(preprocessing.OneHotEncoder, case)


@given(case=cases(ordinal_parameters) | table_cases(ordinal_parameters))
def test_ordinal_codes_are_those_of_scikit_learn(case):
    """So are the codes, unknown and missing values included."""
    assert results(OrdinalEncoder, case) == results(preprocessing.OrdinalEncoder, case)


def test_a_missing_value_of_pandas_alone():
    """pandas.NA among objects has no truth value, not even beside itself."""
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": ["x"], "b": pd.array([pd.NA], dtype=object)})
    case = Case(table, table, {})

    assert results(OneHotEncoder, case) == results(preprocessing.OneHotEncoder, case)


@pytest.mark.parametrize("n_rows", [600, 10_000])
@settings(max_examples=max(5, settings().max_examples // 10))
@given(data=st.data())
def test_many_rows_are_encoded_as_by_scikit_learn(n_rows, data):
    """So are many rows of many levels, of which some are rare and some new in the second half."""
    seed = data.draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    values = random.zipf(1.3, (n_rows, 2)) % 1000
    kind = data.draw(st.sampled_from(["int64", "object", "str", "float64", "category"]))
    table: Any = values * 10**12 if kind == "int64" else values.astype(float)
    if kind in ("object", "str"):
        table = np.array([f"level {v}" for v in values.flat]).reshape(values.shape).astype(kind)
    if kind == "category":
        table = pytest.importorskip("pandas").DataFrame(values).astype("category")
    params = data.draw(parameters([[1], [2]]))
    params = {name: params[name] for name in params.keys() - {"categories", "drop", "dtype"}}
    case = Case(table[: n_rows // 2], table[n_rows // 2 :], params)

    assert results(OneHotEncoder, case) == results(preprocessing.OneHotEncoder, case)


@pytest.mark.parametrize("missing", [None, np.nan], ids=str)
@pytest.mark.parametrize("late", [["b", "a", "b"], ["b", np.str_("a"), "b"], [2, 1, 2]], ids=str)
def test_values_after_many_missing_ones_are_encoded_as_by_scikit_learn(late, missing):
    """What an array holds is not judged by its first rows."""
    column = np.array([missing] * 2000 + late, object).reshape(-1, 1)
    case = Case(column, column[::-1].copy(), {})

    assert results(OneHotEncoder, case) == results(preprocessing.OneHotEncoder, case)


@pytest.mark.parametrize("values", [[True], [1], [1.5], [np.nan], ["a"], ["a", None]], ids=str)
@pytest.mark.parametrize("dtype", ["object", "category", "str", "boolean", "Int64", "Float64"])
def test_few_rows_of_pandas_keep_the_dtypes_of_scikit_learn(values, dtype):
    """Cells that are read one by one do not tell a nullable or categorical column."""
    pandas = pytest.importorskip("pandas")
    try:
        table = pandas.DataFrame({"x": pandas.Series(values, dtype=dtype)})
    except (TypeError, ValueError):
        return  # pandas has no such column
    case = Case(table, table, {})
    assert results(OneHotEncoder, case) == results(preprocessing.OneHotEncoder, case)
    assert results(OrdinalEncoder, case) == results(preprocessing.OrdinalEncoder, case)
