"""The encoders equal scikit-learn's: results, attributes, warnings, errors; and its tools work."""

import copy
import gc
import pickle
import pickletools
import sys
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn")

import sklearn
from scipy import sparse
from sklearn import preprocessing
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from sklearn.preprocessing._encoders import _BaseEncoder

from onehot_fast.adapter import Categories
from onehot_fast.integrations.sklearn import (
    KBinsDiscretizer,
    LabelBinarizer,
    MultiLabelBinarizer,
    OneHotEncoder,
    OrdinalEncoder,
    TargetEncoder,
)
from support.libraries import LIBRARIES
from support.sklearn_cases import (
    Case,
    cases,
    ordinal_parameters,
    outcome,
    parameters,
    plain,
    table_cases,
    target_parameters,
)

KINDS = [OneHotEncoder, OrdinalEncoder, TargetEncoder]
TEXTS = np.array([["b", "x"], ["a", "y"], ["b", None], ["c", "x"]] * 50, object)
PARAMETERS = [
    {},
    {"drop": "first", "handle_unknown": "ignore", "sparse_output": False},
    {"min_frequency": 2, "handle_unknown": "infrequent_if_exist", "dtype": "uint8"},
    {"max_categories": 2, "handle_unknown": "warn", "dtype": bool, "drop": "if_binary"},
]
TARGETS = {
    "binary": [0, 1],
    "texts": ["no", "yes"],
    "multiclass": ["low", "mid", "high"],
    "integers": [0, 1, 2, 5],
    "continuous": [0.25, -1.5, 3.1, 1e9],
    "constant": [1],
    "bad": [np.nan, 1.5],
}
# Before 1.9 the splits follow from `random_state`; since then that is deprecated.
SPLITS = {"cv": KFold(4, shuffle=True, random_state=0)}
if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9):
    SPLITS = {"cv": 4, "random_state": 0}


def original(kind):
    """Return scikit-learn's class of the same name."""
    return getattr(preprocessing, kind.__name__)


def call(estimator, method, rows, target=None):
    """Fit an estimator; by default the target, if it needs one, is the numbers of the rows."""
    if hasattr(estimator, "target_type"):
        return getattr(estimator, method)(rows, range(len(rows)) if target is None else target)
    return getattr(estimator, method)(rows)


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


# Results


def results(kind, case, target=None):
    """Return all results of an encoder of this class."""
    encoder = kind(**case.params)
    again = kind(**case.params, **({} if target is None else SPLITS))
    found = {"fit": outcome(lambda: call(encoder, "fit", case.train, target) is encoder)}
    found["at once"] = plain(outcome(lambda: call(again, "fit_transform", case.train, target)))
    if found["fit"][0] is not True:
        return found
    found |= {
        name: plain(getattr(encoder, name, None))
        for name in (
            *("categories_", "drop_idx_", "infrequent_categories_", "_n_features_outs"),
            *("encodings_", "target_mean_", "target_type_", "classes_", "feature_names_in_"),
        )
    }
    found["attributes"] = sorted(vars(encoder))
    found["names"] = plain(outcome(encoder.get_feature_names_out))
    found["known"] = plain(outcome(lambda: encoder.transform(case.train)))
    found["one row"] = plain(outcome(lambda: encoder.transform(case.test[:1])))
    encoded = outcome(lambda: encoder.transform(case.test))
    found["encoded"] = plain(encoded)
    if isinstance(encoded[1], list) and target is None:
        found["decoded"] = plain(outcome(lambda: encoder.inverse_transform(encoded[0])))
    return found


def check(kind, case, target=None):
    assert results(kind, case, target) == results(original(kind), case, target)


# Infinity is an error, although unknown values are ignored.
@example(Case(np.array([[1.0]]), np.full((1000, 1), np.inf), {"handle_unknown": "ignore"}))
@given(case=cases())
def test_arrays_and_lists_are_encoded_as_by_scikit_learn(case):
    check(OneHotEncoder, case)


@pytest.mark.parametrize("missing", [[], [None], [np.nan]], ids=repr)
@pytest.mark.parametrize(
    "values",
    [
        ["a", np.str_("a")], [True, 1], [np.int8(1), 1], [np.float32(0.5), 0.5],
        [0.5, np.float64(0.5)], [np.bytes_(b"a"), b"a"], [1, 1.0],
        [np.bool_(True), True], ["a", np.str_("b"), "b"],
    ],
    ids=repr,
)  # fmt: skip
def test_of_equal_objects_the_first_is_the_category(values, missing):
    """An array of objects may have equal values of several types, with other feature names."""
    for objects in (values, values[::-1]):
        train = np.empty((len(objects) + len(missing), 1), object)
        train[:, 0] = objects + missing
        check(OneHotEncoder, Case(train, train[::-1], {}))


@given(case=table_cases())
def test_tables_are_encoded_as_by_scikit_learn(case):
    check(OneHotEncoder, case)


@given(case=cases(ordinal_parameters) | table_cases(ordinal_parameters))
def test_ordinal_codes_are_those_of_scikit_learn(case):
    check(OrdinalEncoder, case)


def check_means(case, target):
    """Check the results of a TargetEncoder.

    scikit-learn overwrites unknown values by the first category before it looks the values up. It
    raises an IndexError if their dtype cannot hold that category, and not if they are objects.
    """
    expected = results(preprocessing.TargetEncoder, case, target)
    cannot_hold = [name for name in ("one row", "encoded") if fails_to_index(expected.get(name))]
    if cannot_hold:
        objects = Case(case.train, case.test.astype(object), case.params)
        of_objects = results(preprocessing.TargetEncoder, objects, target)
        expected |= {name: of_objects[name] for name in cannot_hold}
    assert results(TargetEncoder, case, target) == expected


def fails_to_index(result):
    """Tell whether a result of `results` is an IndexError."""
    return result is not None and (type, IndexError) in result[1]


@given(case=cases(target_parameters) | table_cases(target_parameters), data=st.data())
def test_targets_are_encoded_as_by_scikit_learn(case, data):
    """Values are equal bit for bit, whatever the container, the target and the parameters."""
    values = st.sampled_from(TARGETS[data.draw(st.sampled_from(sorted(TARGETS)))])
    n_rows = len(case.train)
    check_means(case, data.draw(st.lists(values, min_size=n_rows, max_size=n_rows)))


@pytest.mark.parametrize("target", [[0, 1], [np.nan, 1.5], [1, 1]], ids=str)
@pytest.mark.parametrize(
    ("categories", "dtype"), [([-128], "int8"), ([-(2**62)], "int64")], ids=["int8", "int64"]
)
def test_unknown_values_whose_dtype_cannot_hold_a_category_get_the_mean(categories, dtype, target):
    params = {"categories": [categories] * 2, "target_type": "binary"}
    train, test = np.array([[-128, -128], [0, 5]], dtype), np.array([[0, 0], [1, 5]], np.uint8)
    check_means(Case(train, test, params), target)


@pytest.mark.parametrize("kind", [OneHotEncoder, TargetEncoder])
@pytest.mark.parametrize("n_rows", [600, 10_000])
@settings(max_examples=max(5, settings().max_examples // 10))
@given(data=st.data())
def test_many_rows_are_encoded_as_by_scikit_learn(kind, n_rows, data):
    """Many rows of many categories, some of them rare and some new in the second half."""
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    values = random.zipf(1.3, (n_rows, 2)) % 1000
    dtype = data.draw(st.sampled_from(["int64", "object", "str", "float64", "category"]))
    table = values * 10**12 if dtype == "int64" else values.astype(float)
    if dtype in ("object", "str"):
        table = np.array([f"level {v}" for v in values.flat]).reshape(values.shape).astype(dtype)
    if dtype == "category":
        table = pytest.importorskip("pandas").DataFrame(values).astype("category")
    params, target, half = {}, None, n_rows // 2
    if kind is OneHotEncoder:
        params = data.draw(parameters([[1], [2]]))
        params = {name: params[name] for name in params.keys() - {"categories", "drop", "dtype"}}
    else:
        targets = random.integers(0, 2, half), random.normal(size=half), random.integers(0, 3, half)
        target = targets[data.draw(st.sampled_from(range(3)))].tolist()

    check(kind, Case(table[:half], table[half:], params), target)


@pytest.mark.parametrize("missing", [None, np.nan], ids=str)
@pytest.mark.parametrize("late", [["b", "a", "b"], ["b", np.str_("a"), "b"], [2, 1, 2]], ids=str)
def test_values_after_many_missing_values_are_encoded_as_by_scikit_learn(late, missing):
    column = np.array([missing] * 2000 + late, object).reshape(-1, 1)

    check(OneHotEncoder, Case(column, column[::-1].copy(), {}))


@pytest.mark.parametrize("dtype", ["object", "category", "str", "boolean", "Int64", "Float64"])
@pytest.mark.parametrize("kind", [OneHotEncoder, OrdinalEncoder])
def test_one_row_without_a_value_is_encoded_as_by_scikit_learn(kind, dtype):
    """A cell does not tell the dtype of its column, and `pandas.NA` has no truth value."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"x": pandas.Series([pandas.NA], dtype=dtype)})
    check(kind, Case(table, table, {}))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.coo_array])
@pytest.mark.parametrize(
    "encoded",
    [
        [[0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 0, 1]],
        [[1, 1, 1, 1], [0, 1, 1, 1]],
        [[0.2, 0.7, 0.1, 0.9], [0.0, 0.0, -1.0, 0.0]],
    ],
    ids=["ones", "several", "shares"],
)
@pytest.mark.parametrize("params", [{}, {"drop": "first"}, {"handle_unknown": "ignore"}], ids=str)
def test_rows_are_decoded_as_by_scikit_learn(params, encoded, form):
    ours, theirs = (
        kind(**params).fit([["a", 1, "k"], ["b", 2, "k"]])
        for kind in (OneHotEncoder, preprocessing.OneHotEncoder)
    )
    rows = np.array(encoded)[:, 2 * bool(params.get("drop")) :]
    rows = form(rows if params.get("drop") else np.append(rows, np.ones((len(rows), 1)), axis=1))

    found, expected = (
        plain(outcome(lambda each=each: each.inverse_transform(rows))) for each in (ours, theirs)
    )
    assert found == expected


def table_of(rows, form):
    """Return rows as a table of a library, as an array or as a list."""
    if form == "list":
        return [list(row) for row in rows]
    if form == "array":
        return np.array(rows, object if any(isinstance(x, str) for x in rows[0]) else None)
    columns = dict(zip(["one", "two"], map(list, zip(*rows, strict=True)), strict=True))
    if form == "category":
        return pytest.importorskip("pandas").DataFrame(columns, dtype="category")
    return LIBRARIES[form]().table(columns)


# None of these are so close together that scikit-learn has no bin left and fails.
NUMBERS = [0.0, -0.0, 1.0, 0.1, 0.3, -7.5, 1e300, 2.0**53]


@pytest.mark.filterwarnings("ignore:Bins whose width")
@given(
    train=st.lists(st.tuples(*[st.sampled_from(NUMBERS)] * 2), min_size=2, max_size=20),
    test=st.lists(st.tuples(*[st.sampled_from(NUMBERS)] * 2), min_size=1, max_size=20),
    n_bins=st.sampled_from([2, 3, 10, 40, 66, 300]),
    encode=st.sampled_from(["onehot", "onehot-dense", "ordinal"]),
    strategy=st.sampled_from(["uniform", "quantile"]),
    dtype=st.sampled_from([None, np.float64, np.float32]),
    is_single=st.booleans(),
)
def test_bins_are_those_of_scikit_learn(train, test, n_bins, encode, strategy, dtype, is_single):
    """Bins equal those of scikit-learn, also for numbers on an edge and for constant columns."""
    options = {"encode": encode, "strategy": strategy, "dtype": dtype}
    kind = np.float32 if is_single else np.float64
    with np.errstate(all="ignore"):
        tables = [np.array(rows).clip(-1e30, 1e30).astype(kind) for rows in (train, test)]
    found = []
    for owner in (KBinsDiscretizer, preprocessing.KBinsDiscretizer):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = owner(n_bins, **options).fit(tables[0])
        edges = [own[np.isfinite(own)] for own in fitted.bin_edges_]
        on_edges = np.stack([np.resize(own if own.size else 0, 8) for own in edges], axis=1)
        encoded = fitted.transform(np.concatenate([tables[1], on_edges.astype(kind)]))
        found.append([type(encoded), encoded.dtype, dense(encoded).tolist()])
        assert not sparse.issparse(encoded) or encoded.has_canonical_format

    assert found[0] == found[1]


# Inputs that scikit-learn's code never reads


def inputs():
    """Return tables of 40 rows."""
    pandas, polars = map(pytest.importorskip, ("pandas", "polars"))
    pytest.importorskip("pyarrow")

    def column(values, dtype=object):
        return np.resize(np.array(values, dtype), 40)

    text, missing = column(["b", "a", "b", "c"]), column(["x", "y", None, "x"])
    frame = pandas.DataFrame(
        {"size": pandas.Series(missing, dtype="category"), "n": column([1, 2], int), "name": text}
    )
    mixed = polars.DataFrame(
        {"size": missing.tolist(), "n": column([1.5, None, 2.0]).tolist(), "flag": text == "b"}
    )
    return {
        "text": np.stack([text, missing], axis=1),
        "NaN and text": column(["a", np.nan, "b"])[:, None],
        "integer objects": np.stack([column([3, 1]), text], axis=1),
        "str": text.astype(str)[:, None],
        "int64": np.arange(80).reshape(40, 2) * 10**12,
        "uint8": np.arange(80, dtype=np.uint8).reshape(40, 2),
        "float64": column([0.5, 1.0, np.nan], float).reshape(20, 2),
        "bool": (text == "a")[:, None],
        "list": [["a", 1], ["b", 2]] * 10,
        "pandas": frame,
        "numeric categories": frame[["n"]].astype("category"),
        "nullable": frame[["n"]].astype("Int64"),
        "polars": mixed,
        "polars numbers": mixed[["n"]],
        "polars codes": mixed[["size"]].cast(polars.Categorical),
        "arrow": mixed.to_arrow(),
        "arrow codes": mixed[["size"]].fill_null("?").cast(polars.Categorical).to_arrow(),
    }


@pytest.fixture
def only_fast(monkeypatch):
    """Let scikit-learn's own learning and encoding of rows fail."""

    def fail(*args, **kwargs):
        raise AssertionError("scikit-learn's own code was called")

    for name in ("_fit", "_transform"):
        monkeypatch.setattr(_BaseEncoder, name, fail)
    for kind in KINDS:
        monkeypatch.setattr(original(kind), "transform", fail)


@pytest.mark.usefixtures("only_fast")
@pytest.mark.filterwarnings("ignore:Found unknown", "ignore:The least populated class")
@pytest.mark.parametrize(
    ("kind", "params"),
    [(OneHotEncoder, params) for params in PARAMETERS]
    + [(OrdinalEncoder, {}), (TargetEncoder, {})],
    ids=str,
)
def test_common_inputs_never_reach_scikit_learn(kind, params):
    for name, table in inputs().items():
        targets = TARGETS if kind is TargetEncoder else ["none"]
        for target in {*targets} - {"bad", "constant"}:
            y = np.resize(TARGETS[target], len(table)) if target != "none" else None
            encoder = kind(**params)
            call(encoder, "fit_transform", table, y)
            call(encoder, "fit", table, y)
            assert len(dense(encoder.transform(table))) == len(table), name
            if params:
                encoder.fit(table[:1]).transform(table)


@pytest.mark.usefixtures("only_fast")
def test_declared_categories_never_reach_scikit_learn():
    """Declared texts in any order and declared sorted numbers never reach scikit-learn's code."""
    encoder = OneHotEncoder(categories=[["c", "b", "a"], ["x", "y", None]]).fit(TEXTS)
    assert encoder.transform(TEXTS[:1]).indices.tolist() == [1, 3]
    encoder.set_params(categories=[[1, 2, 3]], min_frequency=2, handle_unknown="ignore")
    assert encoder.fit_transform([[3], [1], [3], [5]]).toarray().tolist() == [
        [1, 0], [0, 1], [1, 0], [0, 0]]  # fmt: skip


def test_ones_are_decoded_without_slices(monkeypatch):
    encoder = OneHotEncoder(handle_unknown="ignore").fit(TEXTS)
    encoded = encoder.transform(np.append(TEXTS, [["?", "x"]], axis=0))
    monkeypatch.setattr(type(encoded), "__getitem__", None)

    assert encoder.inverse_transform(encoded).tolist() == [*TEXTS.tolist(), [None, "x"]]


@pytest.mark.parametrize("form", ["array", "list", "pandas", "category", "polars", "arrow"])
@pytest.mark.parametrize("kind", KINDS)
def test_one_row_does_no_work_for_each_category(kind, form, monkeypatch, request):
    """After the first call neither the categories of the encoder nor of the row are read again."""
    if form == "category":
        pytest.importorskip("pandas", "3.0")  # older ones have other missing values in categories
    rows = [(f"category {i}", None if i % 7 == 0 else f"{i}") for i in range(200)]
    table = table_of(rows, form)
    encoder = call(kind(), "fit", table)
    expected = dense(encoder.transform(table))

    def fail(*args):
        raise AssertionError("the categories were read")

    monkeypatch.setattr(Categories, "of", fail)
    monkeypatch.setattr(Categories, "find", fail)
    request.getfixturevalue("only_fast")
    for i in (7, 8):
        found = dense(encoder.transform(table[i : i + 1]))
        np.testing.assert_array_equal(found, expected[i : i + 1])


@pytest.mark.parametrize("form", ["pandas", "polars"])
@pytest.mark.parametrize("is_sparse", [True, False])
def test_one_row_makes_no_table_of_all_categories(form, is_sparse):
    """After the first row, no memory is allocated in proportion to the categories."""
    n_categories = 4000
    table = table_of([(f"a{i:04}", f"b{i:04}") for i in range(n_categories)], form)
    encoder = OneHotEncoder(sparse_output=is_sparse, dtype="int8", handle_unknown="ignore")
    encoder.fit(table)
    rows = [table[i : i + 1] for i in (5, 6)]
    encoder.transform(rows[0])
    tracemalloc.start()
    try:
        found = encoder.transform(rows[1])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert dense(found).nonzero()[1].tolist() == [6, 6 + n_categories]
    # A look-up table has four bytes for each category, a dense row one for each feature.
    assert peak < 4 * n_categories + (0 if is_sparse else 2 * n_categories)


@pytest.mark.parametrize("n_rows", [1, 40])
def test_tables_of_the_first_call_do_not_outlast_a_change(n_rows):
    """Neither a dropped category nor a group of rare ones has an output column of its own."""
    train = np.array([["a"], ["b"], ["c"], ["c"], [np.nan]], object)
    asked = np.array([["c"], ["?"], ["a"], [np.nan]] * 10, object)[:n_rows]
    for params in ({}, {"drop": ["b"]}, {"min_frequency": 2}, {"max_categories": 2}, {}):
        ours, theirs = (
            each(handle_unknown="ignore").set_params(**params)
            for each in (OneHotEncoder, original(OneHotEncoder))
        )
        for rows in (train, train[1:3], train):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                for _ in range(2):
                    found, expected = (each.fit(rows).transform(asked) for each in (ours, theirs))
                    np.testing.assert_array_equal(dense(found), dense(expected), str(params))
            params.pop("drop", None)
            ours.set_params(drop=None)
            theirs.set_params(drop=None)


# What users and tools expect of a class of scikit-learn


@pytest.mark.parametrize("n_rows", [1, 1000])
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (OneHotEncoder, ["fit", "_fit", "transform", "_transform", "_check_X"]),
        (OneHotEncoder, ["_map_infrequent_categories"]),
        (TargetEncoder, ["_transform"]),
        (TargetEncoder, ["_transform_X_ordinal"]),
    ],
    ids=str,
)
def test_methods_of_a_subclass_are_called(kind, names, n_rows):
    """A subclass may change any step of scikit-learn, as skrub's SimilarityEncoder does."""
    called = []

    class Own(kind):
        pass

    def counting(name):
        def method(self, *args, **kwargs):
            called.append(name)
            return getattr(super(Own, self), name)(*args, **kwargs)

        return method

    for name in names:
        setattr(Own, name, counting(name))
    rows = TEXTS[:, :1].repeat(n_rows // 100 + 1, axis=0)[: max(n_rows, 10)]

    if kind is OneHotEncoder:
        encoded = Own().fit_transform(rows)
    else:
        encoded = call(Own(), "fit", rows).transform(rows)

    assert set(called) == {*names}
    assert np.abs(encoded - call(kind(), "fit", rows).transform(rows)).sum() == 0


def test_private_methods_do_what_those_of_scikit_learn_do():
    """Subclasses in other libraries call `_fit` and `_transform`."""
    ours, theirs = OneHotEncoder(), preprocessing.OneHotEncoder()
    options = {"return_counts": True, "ensure_all_finite": "allow-nan"}
    for params in ({}, {"handle_unknown": "ignore", **options}):
        found, expected = ours._fit(TEXTS[:, :1], **params), theirs._fit(TEXTS[:, :1], **params)
        assert str(found) == str(expected)
        np.testing.assert_array_equal(*(each._transform(TEXTS[:, :1]) for each in (ours, theirs)))
    assert vars(ours).keys() == vars(theirs).keys()


def test_a_subclass_may_fit_by_private_steps_alone():
    """SimilarityEncoder of skrub sets the fitted attributes itself."""

    class Own(OneHotEncoder):
        def fit(self, X, y=None):
            columns, _, _ = self._check_X(X)
            self.n_features_in_ = len(columns)
            self.categories_ = [np.unique(column) for column in columns]
            self._infrequent_enabled = False
            self.drop_idx_ = self._set_drop_idx()
            self._n_features_outs = list(map(len, self.categories_))
            return self

    encoder = Own()
    expected = OneHotEncoder().fit_transform(TEXTS[:, :1])

    assert (encoder.fit_transform(TEXTS[:, :1]) != expected).nnz == 0
    assert encoder.inverse_transform(expected).tolist() == TEXTS[:, :1].tolist()
    assert encoder.get_feature_names_out().tolist() == ["x0_a", "x0_b", "x0_c"]


FITTED = {
    "OneHotEncoder": (OneHotEncoder(min_frequency=2, handle_unknown="ignore"), TEXTS),
    "OrdinalEncoder": (OrdinalEncoder(max_categories=2), TEXTS),
    "TargetEncoder": (TargetEncoder(), TEXTS),
    "KBinsDiscretizer": (KBinsDiscretizer(2, strategy="uniform"), np.arange(6.0)[:, None]),
    "LabelBinarizer": (LabelBinarizer(sparse_output=True), ["a", "b", "c"]),
    "MultiLabelBinarizer": (MultiLabelBinarizer(), [["a"], ["b", "c"]]),
}


@pytest.fixture(params=FITTED)
def fitted(request):
    """Return an estimator and scikit-learn's, both fitted, and the rows."""
    estimator, rows = FITTED[request.param]
    theirs = original(type(estimator))(**estimator.get_params())
    return call(clone(estimator), "fit", rows), call(theirs, "fit", rows), rows


def test_copies_hold_the_attributes_of_scikit_learn(fitted):
    """Pickles name no class but the public one, so that tools such as sklearn2pmml read them."""
    ours, theirs, rows = fitted
    expected = ours.transform(rows)

    assert isinstance(ours, type(theirs))
    assert type(ours).__init__.__code__ is type(theirs).__init__.__code__
    assert vars(ours).keys() == vars(theirs).keys()
    assert clone(ours).get_params() == theirs.get_params()
    with pytest.raises(AttributeError):  # NotFittedError is one
        clone(ours).transform(rows)
    for again in (pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours)):
        assert np.abs(again.transform(rows) - expected).sum() == 0
    assert len(pickle.dumps(ours)) < len(pickle.dumps(theirs)) + 200
    texts = [text for _, text, _ in pickletools.genops(pickle.dumps(ours, 2)) if text]
    names = {text for text in texts if isinstance(text, str) and text.startswith("onehot_fast")}
    assert names == {f"{type(ours).__module__} {type(ours).__name__}"}


def test_estimators_become_those_of_scikit_learn_and_back(fitted):
    """Copies of exactly the other class, with the same attributes and results."""
    ours, theirs, rows = fitted
    there = ours.to_sklearn()
    back = type(ours).from_sklearn(there)

    assert (type(there), type(back)) == (type(theirs), type(ours))
    for each in (there, back):
        assert vars(each).keys() == vars(theirs).keys()
        assert each.get_params() == ours.get_params()
        assert np.abs(each.transform(rows) - theirs.transform(rows)).sum() == 0
        assert vars(each) is not vars(ours)
    with pytest.raises(NotFittedError):
        clone(ours).to_sklearn()
    with pytest.raises(NotFittedError):
        type(ours).from_sklearn(clone(theirs))
    with pytest.raises(TypeError, match=rf"encoder must be a .*\.{type(ours).__name__}, got 5"):
        type(ours).from_sklearn(5)


def test_transform_after_a_failed_fit_has_the_error_of_scikit_learn():
    errors = []
    for kind in (OneHotEncoder, preprocessing.OneHotEncoder):
        encoder = kind(categories=[["a"]])
        with pytest.raises(ValueError, match="Found unknown categories"):
            encoder.fit([["a"], ["b"]])
        with pytest.raises(Exception) as caught:  # noqa: PT011  whatever scikit-learn raises
            encoder.transform([["a"]])
        errors.append(repr(caught.value))
    assert errors[0] == errors[1]


def test_skops_asks_for_the_public_class_only(fitted):
    skops = pytest.importorskip("skops.io")
    ours, theirs, rows = fitted
    data = skops.dumps(ours)
    untrusted = skops.get_untrusted_types(data=data)

    after = skops.loads(data, trusted=untrusted).transform(rows)

    own = {*untrusted} - {*skops.get_untrusted_types(data=skops.dumps(theirs))}
    assert own == {f"{type(ours).__module__}.{type(ours).__name__}"}
    assert np.abs(after - ours.transform(rows)).sum() == 0


def test_inputs_are_neither_changed_nor_kept():
    """Nothing of the rows lives on in a fitted encoder."""
    value = "a text of its own " + str(len(TEXTS))
    alone = sys.getrefcount(value)  # 1 or 2: newer versions of Python pass borrowed references
    rows = np.array([[value], [None], ["b"]] * 3, object)
    categories = np.array(["b", value, None], object)
    before = rows.tolist()
    rows.flags.writeable = categories.flags.writeable = False
    numbers = np.arange(8.0).reshape(4, 2)
    count = sys.getrefcount(rows), sys.getrefcount(numbers)
    encoders = [OneHotEncoder(categories=[categories]).fit(rows), OneHotEncoder().fit(rows)]
    for encoder in encoders:
        encoder.transform(rows)
        encoder.fit_transform(rows)
    number_encoder = OneHotEncoder(sparse_output=False)
    number_encoder.fit_transform(numbers)[:] = 7
    gc.collect()

    assert rows.tolist() == before
    assert (sys.getrefcount(rows), sys.getrefcount(numbers)) == count
    assert numbers.tolist() == np.arange(8.0).reshape(4, 2).tolist()
    assert not any(np.shares_memory(numbers, c) for c in number_encoder.categories_)
    del encoders, encoder, rows, before, categories
    gc.collect()
    assert sys.getrefcount(value) == alone


@pytest.mark.parametrize("n_rows", [1, 200])
def test_threads_may_share_an_encoder(n_rows):
    """One or several of them make the look-up tables."""
    rows = TEXTS[:n_rows]
    expected = OneHotEncoder().fit(TEXTS).transform(rows)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            encoder = OneHotEncoder().fit(TEXTS)
            found = list(pool.map(encoder.transform, [rows] * 8))
            assert all((each != expected).nnz == 0 for each in found)


def target_of(kind, table):
    """Return a target for the rows of a table if the class needs one."""
    return np.resize([0.0, 1.0, 0.5], len(table)).tolist() if kind is TargetEncoder else None


@pytest.mark.parametrize("n_rows", [3, 1000])
@pytest.mark.parametrize("values", [[2**53, 2**53 + 1], [2**63 - 1, 2**63 - 2], [-(2**60), 7]])
@pytest.mark.parametrize("dtype", ["int64", "Int64"])
@pytest.mark.parametrize("kind", KINDS)
def test_large_integers_with_a_missing_value_are_those_of_scikit_learn(kind, dtype, values, n_rows):
    """They become floats, in which distinct integers may be equal: in `fit` as in `transform`."""
    pandas = pytest.importorskip("pandas")
    column = pandas.Series([*values, None], dtype="Int64").astype("category")
    column = column.cat.rename_categories(column.cat.categories.astype(dtype))
    table = pandas.DataFrame({"id": column.iloc[np.resize([0, 1, 2], n_rows)].array})

    check(kind, Case(table, table, {}), target_of(kind, table))


@pytest.mark.parametrize("n_rows", [2, 1000])
@pytest.mark.parametrize("categories", ["object", "string[python]", "string[pyarrow]", "arrow"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_value_among_categories_is_that_of_scikit_learn(kind, categories, n_rows):
    """NaN among objects; `pandas.NA` among nullable and Arrow strings, where NaN is another one."""
    pandas, arrow = map(pytest.importorskip, ("pandas", "pyarrow"))
    dtype = pandas.ArrowDtype(arrow.large_string()) if categories == "arrow" else categories
    train = pandas.DataFrame({"c": pandas.Series(["a", "b", np.nan] * 10, dtype=object)})
    test = pandas.Series(["a", None] * (n_rows // 2), dtype=dtype).astype("category").to_frame("c")
    options = {
        OneHotEncoder: [{"handle_unknown": "ignore"}, {}, {"categories": [["a", "b", np.nan]]}],
        OrdinalEncoder: [{"handle_unknown": "use_encoded_value", "unknown_value": -1}, {}],
        TargetEncoder: [{}],
    }
    for params in options[kind]:
        check(kind, Case(train, test, params), target_of(kind, train))
        check(kind, Case(test, train, params), target_of(kind, test))


@pytest.mark.parametrize("n_categories", [3, 5000])
@pytest.mark.parametrize("kind", [OneHotEncoder, OrdinalEncoder, TargetEncoder])
def test_categories_may_be_edited_in_place(kind, n_categories):
    """Edits of `categories_` in place take effect as in scikit-learn, even after `transform`."""
    values = [f"c{i:05}" for i in range(n_categories)] + [np.nan]
    rows = np.array(values, object)[:, None]
    unknown = {"handle_unknown": "ignore"} if kind is OneHotEncoder else {}
    if kind is OrdinalEncoder:
        unknown = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
    both = [call(each(**unknown), "fit", rows) for each in (kind, original(kind))]
    asked = [[values[0]], [values[1]], ["new"], [np.nan], ["none"], ["other"]]
    for position, name in ((0, "new"), (-1, "none"), (1, "other")):
        for each in both:
            each.transform(rows[:2])
            each.categories_[0][position] = name
        for row in asked:
            found, expected = (dense(each.transform(np.array([row], object))) for each in both)
            np.testing.assert_array_equal(found, expected, f"{position}, {row}")


def test_numbers_may_be_edited_in_place():
    rows = np.arange(4000)[:, None]
    both = [
        each(handle_unknown="ignore").fit(rows) for each in (OneHotEncoder, original(OneHotEncoder))
    ]
    for each in both:
        each.transform(rows[:1])
        each.categories_[0][-1] = 9999

    for row in ([[9999]], [[3999]], [[0]]):
        found, expected = (each.transform(row).indices.tolist() for each in both)
        assert found == expected


def test_a_later_scikit_learn_writes_the_warning_about_unknown_categories(monkeypatch):
    """It may word the warning differently, so its own code runs."""
    from onehot_fast.integrations.sklearn import one_hot_encoder

    encoder = OneHotEncoder(handle_unknown="ignore", drop="first").fit([["a"], ["b"]])
    monkeypatch.setattr(one_hot_encoder, "VERSION", (one_hot_encoder.KNOWN_WARNINGS[0], 999))
    monkeypatch.setattr(original(OneHotEncoder), "transform", lambda self, X: "theirs")

    assert encoder.transform([["?"]]) == "theirs"
    assert encoder.transform([["b"]]).toarray().tolist() == [[1]]


@pytest.mark.parametrize("n_rows", [1, 1000])
def test_parameters_may_change_after_fit(n_rows):
    """`set_params` after `fit` changes dtype, form and `handle_unknown`, but not `drop`."""
    rows = np.array([["b"], ["?"]] * n_rows, object)
    encoder = OneHotEncoder(drop="first").fit(np.array([["a"], ["b"]], object))
    encoder.set_params(drop=None, dtype="int8", sparse_output=False, handle_unknown="ignore")

    encoded = encoder.transform(rows)

    assert encoded.dtype == np.int8
    assert encoded[:2].tolist() == [[1], [0]]
    encoder.categories_ = [np.array(["?", "b"], object)]
    assert encoder.transform(rows)[:2].tolist() == [[1], [0]]
    with pytest.raises(ValueError, match="unknown categories"):
        encoder.set_params(handle_unknown="error").transform(np.array([["a"]], object))


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("n_rows", [1, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_set_output_returns_tables(kind, library, n_rows):
    module = pytest.importorskip(library)
    frame = module.DataFrame({"size": ["S", "L"] * 20, "n": [1, 2] * 20})
    params = {OneHotEncoder: {"sparse_output": False}, TargetEncoder: SPLITS}.get(kind, {})
    for target in ("binary", "multiclass") if kind is TargetEncoder else (None,):
        y = None if target is None else np.resize(TARGETS[target], 40)
        ours, theirs = (
            call(each(**params).set_output(transform=library), "fit", frame, y)
            for each in (kind, original(kind))
        )
        assert ours.transform(frame[:n_rows]).equals(theirs.transform(frame[:n_rows]))
        both = [call(each, "fit_transform", frame, y) for each in (ours, theirs)]
        assert both[0].equals(both[1])
    if kind is OneHotEncoder:
        with pytest.raises(ValueError, match=f"{library.capitalize()} output does not support"):
            ours.set_params(sparse_output=True).transform(frame[:n_rows])


@pytest.mark.parametrize("n_rows", [1, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_names_of_features_are_checked_as_by_scikit_learn(kind, n_rows):
    """An array after a frame gives a warning, and other names raise an error."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"one": ["a", "b"] * 1000, "two": ["c", "d"] * 1000})
    array = frame.to_numpy(object)
    encoder, other = call(kind(), "fit", frame), call(kind(), "fit", array)

    with pytest.warns(UserWarning, match="does not have valid feature names"):
        encoder.transform(array[:n_rows])
    with pytest.raises(ValueError, match="feature names should match"):
        encoder.transform(frame[["two", "one"]][:n_rows])
    with pytest.raises(ValueError, match=rf"X has 1 features, but {kind.__name__} is expecting 2"):
        other.transform(array[:n_rows, :1])
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        other.transform(frame[:n_rows])
