"""The drop-in functions equal those of pandas for every dtype that pandas has.

The dtypes are read from the installed libraries. Values, labels, dtypes, attrs and errors are
compared, also where pandas fails although it should not: such cells are listed.
"""

import numpy as np
import pytest

pd = pytest.importorskip("pandas", "3.0")  # before, pandas fails for most Arrow types
pytest.importorskip("pyarrow")

from onehot_fast.integrations.pandas import from_dummies, get_dummies, str_get_dummies  # noqa: E402
from support.dtype_families import families  # noqa: E402
from support.side_by_side import assert_same, outcome  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # pandas deprecates some periods and dtypes
OPTIONS = [
    {},
    {"dummy_na": True},
    {"drop_first": True},
    {"drop_first": True, "dummy_na": True},
    {"dtype": "float32"},
    {"sparse": True},
    {"sparse": True, "dtype": bool},
    {"prefix": "p", "dtype": "Int8"},
]
# Types for which pandas has no Python type or no kernel: it fails in code that has nothing to do
# with dummies, such as that of an Index. Ours gives a result.
UNKNOWN_TO_PANDAS = (
    *("string_view", "binary_view", "run_end_encoded", "float16", "halffloat"),
    *("month_day_nano", "decimal32", "decimal64", "extension", "dictionary"),
)


# Arrow cannot hash these values, so the labels of a dictionary of them have no Arrow dtype here.
UNHASHED = ("string_view", "binary_view", "halffloat", "decimal32", "decimal64", "extension")


def is_hashed(case):
    """Tell whether Arrow can hash the values of a column, if it is an Arrow dictionary."""
    return "dictionary" not in str(case) or not any(name in str(case) for name in UNHASHED)


def columns(case):
    """Yield Series of a case: all values, a single one, none, missing ones, and only those."""
    values = list(case.values)
    rows = [[*values, *values[:1]], values[:1] * 2, []]
    rows += [[*values, None], [None, None]] if case.has_missing else []
    for each in rows:
        series = case.make(each).set_axis(pd.Index([f"row {i}" for i in range(len(each))]))
        series.attrs = {"of": "a column"}
        yield series


def check(ours, theirs, data, is_accident, **options):
    """Assert that both functions return or raise the same; pandas may fail by accident."""
    copy = data.copy(deep=True)
    expected = outcome(theirs, data, **options)
    found = outcome(ours, data, **options)
    if isinstance(expected, Exception) and not isinstance(found, Exception):
        assert is_accident(expected), (expected, options)
        return
    assert_same(found, expected)
    if isinstance(expected, pd.DataFrame):
        assert (found.attrs, found.flags) == (expected.attrs, expected.flags)
    assert type(data) is type(copy)
    assert data.attrs == copy.attrs if isinstance(data, pd.Series | pd.DataFrame) else True


@pytest.mark.parametrize("case", families(is_hashed), ids=str)
def test_dummies_equal_pandas(case):
    """`get_dummies` equals pandas for a Series of every dtype, alone and as a frame's column."""
    is_unknown = any(name in str(case) for name in UNKNOWN_TO_PANDAS)
    for series in columns(case):
        frame = pd.DataFrame({"n": np.arange(len(series))}, index=series.index)
        frame["c"] = series
        frame.attrs = {"of": "a frame"}
        for options in OPTIONS:
            # SparseArray needs a dtype of NumPy; pandas does not replace the default.
            has_default = options.get("sparse") and "dtype" not in options

            def is_accident(error, may_fail=has_default):
                return is_unknown or (may_fail and isinstance(error, TypeError))

            check(get_dummies, pd.get_dummies, series, is_accident, **options)
            check(get_dummies, pd.get_dummies, frame, is_accident, columns=["c"], **options)
        check(get_dummies, pd.get_dummies, frame, lambda error: is_unknown)


def is_textual(case):
    """Tell whether a column has text, in a type that Arrow can split."""
    is_split = not any(name in str(case) for name in ("extension", "dictionary"))
    return is_split and bool(case.values) and isinstance(case.values[0], str)


@pytest.mark.parametrize("case", families(is_textual), ids=str)
def test_tags_equal_pandas(case):
    """`str_get_dummies` equals pandas for a Series and an Index of every dtype of texts."""
    for series in columns(case):
        for dtype in (None, bool, "float32", "Int8", "bool[pyarrow]"):
            options = {} if dtype is None else {"dtype": dtype}
            # pandas gives no result without any text in Arrow memory, and for extension dtypes.
            is_without_text = not series.notna().any()
            is_extension = isinstance(dtype, str) and dtype != "float32"

            def is_accident(error, may_fail=is_without_text or is_extension):
                return may_fail or any(name in str(case) for name in UNKNOWN_TO_PANDAS)

            # An Index without any text loses its rows in pandas.
            for data in (series,) if is_without_text else (series, pd.Index(series)):
                check(
                    lambda data, **options: str_get_dummies(data, "|", **options),
                    lambda data, **options: data.str.get_dummies("|", **options),
                    data, is_accident, **options,
                )  # fmt: skip


def is_number(case):
    return bool(case.values) and isinstance(case.values[0], bool | int | float | np.number)


@pytest.mark.parametrize("case", families(is_number), ids=str)
def test_categories_from_dummies_equal_pandas(case):
    """`from_dummies` equals pandas for ones and zeros of every dtype, and for other numbers."""
    made = outcome(case.make, [1, 0, 0, 1])
    rows = [] if isinstance(made, Exception) else [(made, case.make([0, 1, 1, 0]))]
    values = case.make(list(case.values))
    for first, second in [*rows, (values, values)]:
        table = pd.DataFrame({"x_a": first, "x_b": second})
        table.attrs = {"of": "a frame"}
        for options in ({}, {"sep": "_"}, {"sep": "_", "default_category": "c"}):
            check(from_dummies, pd.from_dummies, table, lambda error: False, **options)
