"""A row alone is encoded like the same row among a thousand, and like scikit-learn encodes it."""

import re

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("sklearn")

from sklearn import preprocessing

from onehot_fast.integrations.sklearn import OneHotEncoder, OrdinalEncoder
from support.sklearn_cases import outcome, plain

MANY = 1000
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


def pandas_frames():
    """Yield a frame of one row for each value and dtype; the second column is always known."""
    pandas = pytest.importorskip("pandas")
    for dtype, values in PANDAS.items():
        for value in [*values, pandas.NA] if dtype == "object" else values:
            column = pandas.Series([value], dtype=dtype)
            yield pandas.DataFrame({"x": column, "y": pandas.Series(["a"], dtype="object")})


def polars_frames():
    """Yield a frame of one row for each value and dtype."""
    polars = pytest.importorskip("polars")
    for name, values in POLARS.items():
        for value in values:
            yield polars.DataFrame(
                {"x": polars.Series([value], dtype=getattr(polars, name)), "y": "a"}
            )


def arrays():
    """Yield an array of objects with one row for each value."""
    for value in MIXED:
        yield np.array([[value, "a"]], object)


FORMS = {"pandas": pandas_frames, "polars": polars_frames, "array": arrays}


def repeated(row, n):
    """Return a table in which the only row of a table is repeated."""
    if isinstance(row, np.ndarray):
        return row.repeat(n, axis=0)
    return row.iloc[[0] * n] if hasattr(row, "iloc") else row[[0] * n]


def first_row(found):
    """Return an outcome with the first row of its matrix, all rows of which are equal."""
    matrix, texts = found
    if isinstance(matrix, type):  # an error
        return matrix, MESSAGE_OF_NAN.sub(r"[\1]", texts)
    rows = matrix.toarray() if sparse.issparse(matrix) else matrix
    assert (rows == rows[0]).all() or np.isnan(rows[0]).any()
    return matrix[:1], texts


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
def test_a_row_alone_is_encoded_as_among_many(options, values, form):
    """Results, warnings and errors are the same, also for values that are rejected."""
    train = learned(LEARNED[values], form)
    ours, theirs = (
        each(**OPTIONS[options]).fit(train) for each in (OneHotEncoder, preprocessing.OneHotEncoder)
    )
    for row in FORMS[form]():
        alone = plain(outcome(lambda: ours.transform(row)))  # noqa: B023  called at once

        assert alone == plain(outcome(lambda: theirs.transform(row))), row  # noqa: B023
        many = outcome(lambda: ours.transform(repeated(row, MANY)))  # noqa: B023
        assert alone == plain(first_row(many)), row


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("values", LEARNED)
def test_a_row_alone_has_the_codes_that_it_has_among_many(values, form):
    """Also with codes for unknown and missing values."""
    params = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
    train = learned(LEARNED[values], form)
    ours, theirs = (
        each(**params, encoded_missing_value=-2).fit(train)
        for each in (OrdinalEncoder, preprocessing.OrdinalEncoder)
    )
    for row in FORMS[form]():
        alone = plain(outcome(lambda: ours.transform(row)))  # noqa: B023  called at once

        assert alone == plain(outcome(lambda: theirs.transform(row))), row  # noqa: B023
        many = outcome(lambda: ours.transform(repeated(row, MANY)))  # noqa: B023
        assert alone == plain(first_row(many)), row


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
