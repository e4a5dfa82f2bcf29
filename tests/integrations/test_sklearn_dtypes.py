"""The drop-in estimators equal scikit-learn's for columns of every pandas dtype.

The dtypes are read from the installed libraries. Results, fitted attributes and errors are
compared, for a column of the dtype and for a categorical column with categories of the dtype.
"""

import datetime
import functools
import warnings

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("sklearn")

from scipy import sparse  # noqa: E402
from sklearn import preprocessing  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import KFold  # noqa: E402

from onehot_fast.integrations import sklearn as ours  # noqa: E402
from support.dtype_families import families, is_category  # noqa: E402
from support.sklearn_cases import outcome, plain  # noqa: E402

SPLITS = KFold(2, shuffle=True, random_state=0)
ENCODERS = [
    ("OneHotEncoder", {"handle_unknown": "error"}),
    ("OneHotEncoder", {"handle_unknown": "ignore", "sparse_output": False}),
    ("OneHotEncoder", {"handle_unknown": "infrequent_if_exist", "min_frequency": 2}),
    ("OneHotEncoder", {"handle_unknown": "warn", "drop": "first"}),
    ("OrdinalEncoder", {"handle_unknown": "error"}),
    ("OrdinalEncoder", {"handle_unknown": "use_encoded_value", "unknown_value": -1}),
    ("TargetEncoder", {"smooth": 0.0, "cv": SPLITS}),
]
NUMBERS = bool | int | float | np.number
TIMES = datetime.datetime | datetime.timedelta | np.datetime64 | np.timedelta64
READ_ONLY = "".join(sorted("assignment destination is read-only"))
# Enough rows that the columns are not read cell by cell.
MANY = 20
# pandas has no Python type for these, so its own code fails where scikit-learn reads a column. Ours
# reads up to 16 rows of text, and gives a result.
UNKNOWN_TO_PANDAS = ("string_view", "run_end_encoded")


def chosen(accepts=lambda case: True):
    """Return one case of each family of dtypes, of those that have values and a Python type."""

    def is_tested(case):
        is_unknown = any(kind in str(case) for kind in UNKNOWN_TO_PANDAS)
        return bool(case.values) and not is_unknown and accepts(case)

    return families(is_tested)


def tables(case):
    """Yield frames to learn from and to encode; the second one has unknown and missing values."""
    values = list(case.values)
    known = values[:-1] or values
    rows = [(values, values), (known, values)]
    if case.has_missing:
        rows += [(known, [*known, None]), ([*known, None], [None, *values])]
    rows += [tuple(part * MANY for part in rows[-1])]
    for parts in rows:
        yield [case.make(part).to_frame("c") for part in parts]


def compared(work):
    """Return the outcome of a call, with sparse matrices dense: their index dtype may differ."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcome(work)
    if isinstance(found[0], type) and issubclass(found[0], Exception):
        # A set decides the order of the values in some errors of scikit-learn.
        return found[0], "".join(sorted(found[1]))
    if sparse.issparse(found[0]):
        found = [type(found[0]), found[0].toarray(), *found[1:]]
    return plain(found)


def results(estimator, train, test, *target):
    """Return all results of an estimator, by step."""
    found = {"at once": compared(lambda: clone(estimator).fit_transform(train, *target))}
    found["fit"] = compared(lambda: estimator.fit(train, *target) is estimator)
    if isinstance(found["fit"], tuple):  # an error, after which attributes may be anything
        return found
    attributes = "categories_", "encodings_", "classes_", "bin_edges_", "infrequent_categories_"
    steps = {
        **{name: functools.partial(getattr, estimator, name) for name in attributes},
        "names": lambda: estimator.get_feature_names_out(),
        "known": lambda: estimator.transform(train),
        "encoded": lambda: estimator.transform(test),
        "decoded": lambda: estimator.inverse_transform(estimator.transform(train)),
    }
    return found | {name: compared(step) for name, step in steps.items()}


def check(name, params, train, test, *target):
    """Assert that both classes of this name have the same results and errors."""
    found, expected = (
        results(getattr(module, name)(**params), train.copy(), test.copy(), *target)
        for module in (ours, preprocessing)
    )
    assert found == expected, f"{name}({params})"


@pytest.mark.parametrize("case", chosen(is_category), ids=str)
def test_encoders_equal_scikit_learn(case):
    for train, test in tables(case):
        for name, params in ENCODERS:
            target = [np.arange(len(train)) % 2.0] if name == "TargetEncoder" else []
            check(name, params, train, test, *target)


@pytest.mark.parametrize("case", chosen(), ids=str)
def test_labels_equal_scikit_learn(case):
    """One label per row from a Series, or a list of labels per row."""
    for train, test in tables(case):
        # scikit-learn sorts a NaT wherever a set puts it.
        if not (train["c"].isna().any() and isinstance(case.values[0], TIMES)):
            check("LabelBinarizer", {}, train["c"], test["c"])
            check("LabelBinarizer", {"sparse_output": True, "pos_label": 3}, train["c"], test["c"])
        check(
            "MultiLabelBinarizer", {}, *([[value] for value in each["c"]] for each in (train, test))
        )


def bins(module, params, train, test):
    """Return the bins of rows as lists, or the error."""

    def work():
        found = module.KBinsDiscretizer(**params).fit(train).transform(test)
        return np.asarray(found.toarray() if sparse.issparse(found) else found, float).tolist()

    return compared(work)


@pytest.mark.parametrize("case", chosen(lambda case: isinstance(case.values[0], NUMBERS)), ids=str)
def test_bins_equal_scikit_learn(case):
    """scikit-learn cannot write into some columns of pandas; then ours bins the same floats."""
    for train, test in tables(case):
        for encode in ("onehot", "onehot-dense", "ordinal"):
            params = {"n_bins": 2, "strategy": "uniform", "encode": encode}
            expected = bins(preprocessing, params, train, test)
            if encode != "ordinal" and expected == (ValueError, READ_ONLY):
                floats = [each.astype("float64") for each in (train, test)]
                expected = bins(preprocessing, params, *floats)
            assert bins(ours, params, train, test) == expected
