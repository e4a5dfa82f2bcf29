"""Random tables for scikit-learn's encoders, and what can be compared of their results."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import sparse

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
    "Float64": ([1.5, None], "Float64"),
    "float": ([1.5, None, -2.0, 1.0], "float64"),
    "int8": ([1, -3, 100], "int8"),
    "Int8": ([1, -3, 100], "Int8"),
    "bool": ([True, False], "bool"),
    "time": (["2024-02-29", "1970-01-01"], "datetime64[ns]"),
}  # fmt: skip
COLUMNS = {
    "String": [*TEXTS, None],
    "Categorical": [*TEXTS[:3], None],
    "Int64": [1, 2, -3, None],
    "UInt8": [1, 2],
    "Int8": [0, 1, -3, 100],
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
def tables(draw: st.DrawFn, kinds: list[str], library: str) -> Any:
    """Return a table of a library whose columns are of these kinds."""
    n_rows = draw(st.integers(0, 12))
    if library == "pandas":
        pandas = pytest.importorskip("pandas")
        columns = [
            pandas.Series(rows(draw, SERIES[k][0], n_rows), dtype=SERIES[k][1]) for k in kinds
        ]
        return pandas.DataFrame({f"c{i}": column for i, column in enumerate(columns)})
    polars = pytest.importorskip("polars")
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
    params = draw(st.fixed_dictionaries({}, optional=chosen))
    if draw(st.integers(0, 3)) == 0:
        params["categories"] = [
            draw(st.lists(st.sampled_from(pool), min_size=1, max_size=5)) for pool in pools
        ]
    return params


@st.composite
def ordinal_parameters(draw: st.DrawFn, pools: list[list[Any]]) -> dict[str, Any]:
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
def target_parameters(draw: st.DrawFn, pools: list[list[Any]]) -> dict[str, Any]:
    declared = draw(parameters(pools))
    params = {name: declared[name] for name in ("categories",) if name in declared}
    if draw(st.booleans()):
        params["smooth"] = draw(st.sampled_from([0, 0.0, 1.5, 100.0, "auto"]))
    if draw(st.integers(0, 3)) == 0:
        params["target_type"] = draw(st.sampled_from(["binary", "continuous", "multiclass"]))
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
    source = tables(kinds, library)
    pools = [known[kind][0] if library == "pandas" else known[kind] for kind in kinds]
    return Case(draw(source), draw(source), draw(parameters(pools)))


def outcome(work: Any) -> Any:
    """Return what a call gives: its error, or its result and the warnings' texts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = work()
        except Exception as error:
            return type(error), re.sub("0x[0-9a-f]+", "", str(error))
    # Which of two equally spelled labels is named first depends on a set.
    texts = [sorted(str(each.message)) for each in caught if each.category is UserWarning]
    return result, texts


def plain(value: Any) -> Any:
    """Return a result as what can be compared, down to the types of objects; NaN as a word."""
    if isinstance(value, tuple | list):
        return [type(value), [plain(each) for each in value]]
    if sparse.issparse(value):
        parts = value.indptr, value.indices, value.data
        return [type(value), value.shape, *map(plain, parts), value.dtype]
    if isinstance(value, np.ndarray):
        is_plain = not value.dtype.hasobject
        return [value.dtype, value.shape, value.tobytes() if is_plain else plain(value.tolist())]
    return "NaN" if isinstance(value, float) and value != value else (type(value), value)
