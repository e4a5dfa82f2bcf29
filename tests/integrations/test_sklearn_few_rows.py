"""A few rows are encoded like the same rows among many, and like scikit-learn encodes them."""

import re

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("sklearn")

from sklearn import preprocessing

from onehot_fast.integrations.sklearn import OneHotEncoder, OrdinalEncoder
from support.sklearn_cases import outcome, plain

MANY = 1000  # how often a table of a few rows is repeated
# scikit-learn names each NaN that is unknown, and other values once.
MESSAGE_OF_NAN = re.compile(r"\[(?:(np\.float64\(nan\)|nan)(?:, )?)+\]")
# What the categories of a column are learned from.
LEARNED = {
    "texts": ["a", "b", "b", "c"],
    "texts and NaN": ["a", "b", np.nan, "c"],
    "texts and None": ["a", "b", None, "c"],
    "integers": [1, 2, 2, 3],
    "floats and NaN": [1.0, 2.0, np.nan, 2.5],
    "Booleans": [True, False, True, True],
}
# The values of a row by the dtype of its column: known, unknown, missing, equal to another type.
MIXED = ["a", "?", "1", "\ud800", np.str_("b"), 1, 7, 1.0, 2.5, True, np.int64(2), None, np.nan]
PANDAS = {
    "object": MIXED,
    "str": ["a", "?", None],
    "string[python]": ["a", "?", None],
    "string[pyarrow]": ["a", "?", None],
    "category": ["a", "?", None, 1, True],
    "int64": [1, 7],
    "int8": [1, 7],
    "float64": [1.0, 2.5, 7.5, np.nan],
    "Int64": [1, 7, None],
    "bool": [True, False],
    "boolean": [True, None],
}
POLARS = {
    "String": ["a", "?", None],
    "Categorical": ["a", "?", None],
    "Int64": [1, 7, None],
    "Float64": [1.0, 2.5, float("nan"), None],
    "Boolean": [True, None],
    "Object": ["a", 1],
}
OPTIONS = {
    "error": {},
    "ignore": {"handle_unknown": "ignore", "sparse_output": False},
    "warn": {"handle_unknown": "warn"},
    "infrequent": {"handle_unknown": "infrequent_if_exist", "min_frequency": 2},
    "drop first": {"handle_unknown": "ignore", "drop": "first"},
    "drop one": {"drop": "if_binary", "dtype": "int8"},
}


def few(values):
    """Yield each value alone, and before the first value."""
    for value in values:
        yield [value]
        yield [value, values[0]]


def pandas_frames():
    """Yield a frame of one or two rows for each value; the second column is always known."""
    pandas = pytest.importorskip("pandas")
    for dtype, values in PANDAS.items():
        for rows in few([*values, pandas.NA] if dtype == "object" else values):
            known = pandas.Series(["a"] * len(rows), dtype="object")
            yield pandas.DataFrame({"x": pandas.Series(rows, dtype=dtype), "y": known})


def polars_frames():
    """Yield a frame of one or two rows for each value."""
    polars = pytest.importorskip("polars")
    for name, values in POLARS.items():
        for rows in few(values):
            column = polars.Series(rows, dtype=getattr(polars, name))
            yield polars.DataFrame({"x": column, "y": ["a"] * len(rows)})


def arrays():
    """Yield an array of objects with one or two rows for each value."""
    for rows in few(MIXED):
        yield np.array([rows, ["a"] * len(rows)], object).T


FORMS = {"pandas": pandas_frames, "polars": polars_frames, "array": arrays}


def repeated(table):
    """Return a table in which the rows of a table are repeated."""
    rows = [*range(len(table))] * MANY
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def first_rows(found, n):
    """Return an outcome with the first `n` rows of its matrix, which are repeated in it."""
    matrix, texts = found
    if isinstance(matrix, type):  # an error
        return matrix, MESSAGE_OF_NAN.sub(r"[\1]", texts)
    rows = matrix.toarray() if sparse.issparse(matrix) else matrix
    np.testing.assert_array_equal(rows, np.tile(rows[:n], (MANY, 1)))
    return matrix[:n], texts


def learned(values, form):
    """Return the table that an encoder is fitted to."""
    column = np.array(values, object)
    rows = np.array([column, np.resize(["a", "b"], len(column))], object).T
    if form == "array":
        return rows
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(rows, columns=["x", "y"]).infer_objects()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("values", LEARNED)
@pytest.mark.parametrize("options", OPTIONS)
def test_a_few_rows_are_encoded_as_among_many(options, values, form):
    """Results, warnings and errors are the same, also for values that are rejected."""
    train = learned(LEARNED[values], form)
    ours, theirs = (
        each(**OPTIONS[options]).fit(train) for each in (OneHotEncoder, preprocessing.OneHotEncoder)
    )
    for table in FORMS[form]():
        few_rows = plain(outcome(lambda: ours.transform(table)))  # noqa: B023  called at once

        assert few_rows == plain(outcome(lambda: theirs.transform(table))), table  # noqa: B023
        many = outcome(lambda: ours.transform(repeated(table)))  # noqa: B023
        assert few_rows == plain(first_rows(many, len(table))), table


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("values", LEARNED)
def test_a_few_rows_have_the_codes_that_they_have_among_many(values, form):
    """Also with codes for unknown and missing values."""
    params = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
    train = learned(LEARNED[values], form)
    ours, theirs = (
        each(**params, encoded_missing_value=-2).fit(train)
        for each in (OrdinalEncoder, preprocessing.OrdinalEncoder)
    )
    for table in FORMS[form]():
        few_rows = plain(outcome(lambda: ours.transform(table)))  # noqa: B023  called at once

        assert few_rows == plain(outcome(lambda: theirs.transform(table))), table  # noqa: B023
        many = outcome(lambda: ours.transform(repeated(table)))  # noqa: B023
        assert few_rows == plain(first_rows(many, len(table))), table


@pytest.mark.parametrize("form", ["pandas", "polars"])
@pytest.mark.parametrize("n_categories", [3, 5000])
def test_a_row_of_a_frame_sees_edits_of_the_categories(form, n_categories):
    """A few texts are looked up in another way than an array of objects."""
    module = pytest.importorskip(form)
    names = [f"c{i:04}" for i in range(n_categories)]
    both = [
        each(handle_unknown="ignore").fit(module.DataFrame({"x": names}))
        for each in (OneHotEncoder, preprocessing.OneHotEncoder)
    ]
    rows = [module.DataFrame({"x": [text]}) for text in (names[0], names[-1], "new", "last")]
    for position, text in ((0, "new"), (-1, "last")):
        for encoder in both:
            for row in rows:
                encoder.transform(row)
            encoder.categories_[0][position] = text
        for row in rows:
            ours, theirs = (encoder.transform(row).indices.tolist() for encoder in both)
            assert ours == theirs, (text, row)
