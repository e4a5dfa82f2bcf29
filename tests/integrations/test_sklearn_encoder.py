"""The encoder is scikit-learn's, on random tables: results, attributes, warnings and errors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from scipy import sparse
from sklearn import preprocessing

from onehot_fast.integrations.sklearn import OneHotEncoder, OrdinalEncoder

TEXTS = ["a", "b", "B", "", "a longer text", "é", "a\0", "\U0001f600"]
NUMBERS = [0, 1, 2, -3, 200, 10**6]
LARGE = [2**53, 2**53 + 1, -(2**62), 1]
# What the values of a column are drawn from, and the dtype of an array of them.
POOLS: dict[str, tuple[list[Any], Any]] = {
    "object": (TEXTS, object),
    "surrogates": (["\ud800", "\uffff", "\U0001f600", "\ud800a", "é"], object),
    "missing": ([*TEXTS, None, np.nan, float("nan")], object),
    "None": ([*TEXTS, None], object),
    "NaN": ([*TEXTS, np.nan], object),
    "mixed": ([*TEXTS, *NUMBERS], object),
    "numbers": ([*NUMBERS, 1.0, True, 2.5, None, np.nan], object),
    "integers": ([*NUMBERS, None], object),
    "beyond": ([2**70, 1, -(2**64)], object),
    "subclasses": ([np.str_("a"), "a", np.int64(1), 1, np.float32(0.5)], object),
    "unhashable": (["a", ["b"], {}], object),
    "str": ([text.replace("\0", "0") for text in TEXTS], np.str_),
    "bytes": ([b"a", b"b", b"ab"], np.bytes_),
    "int64": (NUMBERS + LARGE, np.int64),
    "uint64": ([2**63, *LARGE[:2], 1], np.uint64),
    "int8": ([-128, 127, 0, 1], np.int8),
    "uint8": ([0, 1, 200, 255], np.uint8),
    "big-endian": (NUMBERS, np.dtype(">i4")),
    "float64": ([0.0, 1.5, np.nan, 1e300, 1.0, -3.0], np.float64),
    "float32": ([0.5, np.nan, -1.0, 0.1], np.float32),
    "zeros": ([0.0, -0.0, 1.0], np.float64),
    "infinite": ([0.5, np.inf], np.float64),
    "complex": ([1j, 2.0], np.complex128),
    "bool": ([False, True], np.bool_),
    "time": (["2024-02-29", "1969-01-01"], "M8[s]"),
}  # fmt: skip
SERIES = {
    "object": (["a", "b", None, np.nan, 1, 2.5], object),
    "texts": ([*TEXTS, None], object),
    "str": ([*TEXTS, None], "str"),
    "string": ([*TEXTS, None], "string"),
    "category": ([*TEXTS, None], "category"),
    "numeric category": ([3, 1, 2, None], "category"),
    "Boolean category": ([True, False, None], "category"),
    "mixed category": ([1, "a", None], "category"),
    "int64": (NUMBERS, "int64"),
    "Int64": ([1, 2, None], "Int64"),
    "boolean": ([True, False, None], "boolean"),
    "float": ([1.5, None, -2.0], "float64"),
    "bool": ([True, False], "bool"),
    "time": (["2024-02-29", "1970-01-01"], "datetime64[ns]"),
}  # fmt: skip
COLUMNS = {
    "String": [*TEXTS, None],
    "Categorical": [*TEXTS[:3], None],
    "Int64": [1, 2, -3, None],
    "UInt8": [1, 2],
    "Float64": [0.5, None, float("nan")],
    "Boolean": [True, False, None],
    "Date": [None],
}  # fmt: skip


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
    for i, column in enumerate(columns):
        for row, value in enumerate(column):
            out[row, i] = value
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
def frames(draw: st.DrawFn, kinds: list[str]) -> Any:
    """Return a DataFrame of pandas whose columns are of these kinds."""
    pandas = pytest.importorskip("pandas")
    n_rows = draw(st.integers(0, 12))
    columns = {}
    for i, kind in enumerate(kinds):
        pool, dtype = SERIES[kind]
        columns[f"c{i}"] = pandas.Series(rows(draw, pool, n_rows), dtype=dtype)
    return pandas.DataFrame(columns)


@st.composite
def tables(draw: st.DrawFn, kinds: list[str], library: str) -> Any:
    """Return a table of polars or Arrow whose columns are of these kinds."""
    polars = pytest.importorskip("polars")
    n_rows = draw(st.integers(0, 12))
    table = polars.DataFrame(
        polars.Series(f"c{i}", rows(draw, COLUMNS[kind], n_rows), getattr(polars, kind))
        for i, kind in enumerate(kinds)
    )
    return table.to_arrow() if library == "arrow" else table


@st.composite
def parameters(draw: st.DrawFn, pools: list[list[Any]]) -> dict[str, Any]:
    """Return the parameters of an encoder of columns with values of these pools."""
    named = st.tuples(*map(st.sampled_from, pools)).map(list)
    chosen = {
        "drop": st.sampled_from([None, None, "first", "if_binary"]) | named,
        "handle_unknown": st.sampled_from(["error", "ignore", "infrequent_if_exist", "warn"]),
        "min_frequency": st.none() | st.sampled_from([1, 2, 3, 0.2, 0.5]),
        "max_categories": st.none() | st.integers(1, 4),
        "dtype": st.sampled_from(
            [np.float64, "float32", int, "uint8", bool, None, object, "float16", ">i4", "M8[s]"]
        ),
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
def ordinal_parameters(draw: st.DrawFn, pools: list[list[Any]]) -> dict[str, Any]:
    """Return the parameters of an OrdinalEncoder."""
    numbers = st.sampled_from([np.nan, -1, -2, 0, 3, 100, 300])
    params = draw(parameters(pools))
    names = "min_frequency", "max_categories", "categories"
    params = {name: params[name] for name in names if name in params}
    dtypes = [np.float64, "float32", "float16", int, "int8", "uint8", bool, object, ">i4", "M8[s]"]
    if draw(st.booleans()):
        params["dtype"] = draw(st.sampled_from(dtypes))
    if draw(st.booleans()):
        params |= {"handle_unknown": "use_encoded_value", "unknown_value": draw(numbers)}
    if draw(st.booleans()):
        params["encoded_missing_value"] = draw(numbers)
    return params


@st.composite
def cases(draw: st.DrawFn, parameters: Any = parameters) -> Case:
    """Return a task on arrays or lists, which seldom are of two kinds."""
    n_columns = draw(st.integers(1, 3))
    kind, as_list = draw(st.sampled_from(sorted(POOLS))), draw(st.booleans())
    other = draw(st.sampled_from([kind, kind, kind, *sorted(POOLS)]))
    train = draw(arrays(n_columns, kind, as_list=as_list))
    test = draw(arrays(n_columns, other, as_list=draw(st.sampled_from([as_list, True, False]))))
    return Case(train, test, draw(parameters([POOLS[kind][0]] * n_columns)))


@st.composite
def table_cases(draw: st.DrawFn, parameters: Any = parameters) -> Case:
    """Return a task on tables of a library."""
    library = draw(st.sampled_from(["pandas", "pandas", "pandas", "polars", "arrow"]))
    known = SERIES if library == "pandas" else COLUMNS
    kinds = draw(st.lists(st.sampled_from(sorted(known)), min_size=1, max_size=3))
    source = frames(kinds) if library == "pandas" else tables(kinds, library)
    pools = [known[kind][0] if library == "pandas" else known[kind] for kind in kinds]
    return Case(draw(source), draw(source), draw(parameters(pools)))


def outcome(work: Any) -> Any:
    """Return what a call gives: its error, or its result and the warnings' texts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = work()
        except Exception as error:
            return type(error), str(error)
    return result, [str(each.message) for each in caught if each.category is UserWarning]


def plain(value: Any) -> Any:
    """Return a result as what can be compared, down to the types of objects; NaN as a word."""
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if sparse.issparse(value):
        parts = value.indptr, value.indices, value.data
        return [type(value), value.shape, *map(plain, parts), value.dtype]
    if isinstance(value, np.ndarray):
        is_plain = not value.dtype.hasobject
        return [value.dtype, value.shape, value.tobytes() if is_plain else plain(value.tolist())]
    return "NaN" if isinstance(value, float) and value != value else (type(value), value)


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
