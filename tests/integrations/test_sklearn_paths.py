"""Which inputs of the encoder go the fast way, and what a drop-in must keep besides results."""

from __future__ import annotations

import copy
import gc
import pickle
import pickletools
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn")

import sklearn
from scipy import sparse
from sklearn import preprocessing
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing._encoders import _BaseEncoder
from strategies import examples

from onehot_fast.adapter import Categories
from onehot_fast.integrations.sklearn import (
    KBinsDiscretizer,
    LabelBinarizer,
    MultiLabelBinarizer,
    OneHotEncoder,
    OrdinalEncoder,
    TargetEncoder,
)

TEXTS = np.array([["b", "x"], ["a", "y"], ["b", None], ["c", "x"]] * 50, object)
ARRAYS = {
    "text": TEXTS,
    "None and text": TEXTS[:, 1:],
    "NaN and text": np.array([["a"], [np.nan], ["b"]], object),
    "integer objects": np.array([[3, "a"], [1, "b"]], object),
    "str": TEXTS[:, :1].astype(str),
    "int64": np.arange(6).reshape(3, 2) * 10**12,
    "uint8": np.arange(6, dtype=np.uint8).reshape(3, 2),
    "float64": np.array([[0.5, 1.0], [np.nan, 2.0]]),
    "bool": np.array([[True, False], [True, True]]),
    "list": [["a", 1], ["b", 2]],
}
PARAMETERS = [
    {},
    {"drop": "first", "handle_unknown": "ignore", "sparse_output": False},
    {"min_frequency": 2, "handle_unknown": "infrequent_if_exist", "dtype": "uint8"},
    {"max_categories": 2, "handle_unknown": "warn", "dtype": bool, "drop": "if_binary"},
]


def tables():
    """Yield tables of every library, with their names."""
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    size = pandas.Series(["S", "M", None, "S"], dtype="category")
    frame = pandas.DataFrame({"size": size, "n": [1, 2, 2, 1], "name": ["a", None, "b", "a"]})
    mixed = polars.DataFrame(
        {
            "size": ["S", "M", None, "S"],
            "n": [1.5, None, 2.0, 1.5],
            "flag": [True, False, True, True],
        }
    )
    return {
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

    monkeypatch.setattr(_BaseEncoder, "_fit", fail)
    monkeypatch.setattr(preprocessing.OneHotEncoder, "transform", fail)


@pytest.mark.filterwarnings("ignore:Found unknown")
@pytest.mark.parametrize("params", PARAMETERS, ids=str)
@pytest.mark.parametrize("kind", [*ARRAYS, "tables"])
def test_common_inputs_go_the_fast_way(only_fast, kind, params):
    """Text, numbers and codes are never read by scikit-learn, whatever the options."""
    for table in tables().values() if kind == "tables" else [ARRAYS[kind]]:
        encoder = OneHotEncoder(**params)
        encoder.fit_transform(table)
        encoder.fit(table).transform(table)
        if params:
            encoder.fit(table[:1]).transform(table)


def test_given_categories_go_the_fast_way(only_fast):
    """In any order if they are text, in order if they are numbers."""
    encoder = OneHotEncoder(categories=[["c", "b", "a"], ["x", "y", None]]).fit(TEXTS)
    assert encoder.transform(TEXTS[:1]).indices.tolist() == [1, 3]
    encoder.set_params(categories=[[1, 2, 3]], min_frequency=2, handle_unknown="ignore")
    assert encoder.fit_transform([[3], [1], [3], [5]]).toarray().tolist() == [
        [1, 0], [0, 1], [1, 0], [0, 0]]  # fmt: skip


def test_known_texts_are_hashed_once(monkeypatch):
    """The hash table of the categories stays with the encoder until they change."""
    encoder = OneHotEncoder(sparse_output=False).fit(TEXTS[:, :1])
    built = []
    from_values = Categories.of
    monkeypatch.setattr(Categories, "of", lambda values: built.append(0) or from_values(values))
    rows = TEXTS[np.arange(1000) % len(TEXTS), :1]

    first, n_first = encoder.transform(rows), len(built)
    second, n_second = encoder.transform(rows), len(built) - n_first
    encoder.fit(np.array([["x"], ["b"], ["a"], ["c"]], object))

    assert (n_first, n_second) == (1, 0)  # the rows are looked up as they are
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(encoder.transform(rows)[:, :3], first)


@pytest.mark.parametrize("n_rows", [1, 1000])
def test_infinity_is_refused(n_rows):
    """By scikit-learn's error, though an unknown value is ignored."""
    encoder = OneHotEncoder(handle_unknown="ignore").fit(np.array([[1.0], [2.0]]))
    with pytest.raises(ValueError, match="infinity"):
        encoder.transform(np.full((n_rows, 1), np.inf))


def test_ones_are_decoded_the_fast_way(monkeypatch):
    """A CSR matrix of ones is decoded without slicing it."""
    encoder = OneHotEncoder(handle_unknown="ignore").fit(TEXTS)
    encoded = encoder.transform(np.append(TEXTS, [["?", "x"]], axis=0))
    monkeypatch.delattr(preprocessing.OneHotEncoder, "inverse_transform")

    decoded = encoder.inverse_transform(encoded)

    assert decoded.tolist() == [*TEXTS.tolist(), [None, "x"]]


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
    """Whatever the container and the values."""
    kinds = OneHotEncoder, preprocessing.OneHotEncoder
    ours, theirs = (kind(**params).fit([["a", 1, "k"], ["b", 2, "k"]]) for kind in kinds)
    rows = np.array(encoded)[:, 2 * bool(params.get("drop")) :]
    rows = form(rows if params.get("drop") else np.append(rows, np.ones((len(rows), 1)), axis=1))
    try:
        expected = theirs.inverse_transform(rows)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error)[:20])):
            ours.inverse_transform(rows)
    else:
        assert ours.inverse_transform(rows).tolist() == expected.tolist()


@pytest.mark.parametrize("form", ["array", "list", "pandas", "polars", "arrow"])
@pytest.mark.parametrize("unknown", ["error", "ignore", "infrequent_if_exist", "warn"])
@pytest.mark.filterwarnings("ignore:Found unknown")
@examples(0.3)
@given(data=st.data())
def test_few_rows_are_encoded_as_many(form, unknown, data):
    """Up to 16 rows are read cell by cell, more of them column by column: the results are equal."""
    pools = data.draw(st.sampled_from([(["a", "b", None], [1, 2, 3]), ([0.5, 2.0], [1.0, np.nan])]))
    rows = data.draw(st.lists(st.tuples(*map(st.sampled_from, pools)), min_size=2, max_size=5))
    is_sparse = data.draw(st.booleans())
    encoder = OneHotEncoder(handle_unknown=unknown, sparse_output=is_sparse, min_frequency=2)
    encoder.fit(table_of(rows if unknown == "error" else rows[: max(1, len(rows) // 2)], form))
    found = [encoder.transform(table_of(rows, form)[i : i + 1]) for i in range(len(rows))]
    expected = encoder.transform(table_of(rows * 20, form))
    dense = [each.toarray() if is_sparse else each for each in (*found, expected)]

    assert {(type(each), each.dtype) for each in found} == {(type(expected), expected.dtype)}
    np.testing.assert_array_equal(np.vstack(dense[:-1] * 20), dense[-1])


def table_of(rows, form):
    """Return rows as a table of a library, as an array or as a list."""
    if form == "list":
        return [list(row) for row in rows]
    if form == "array":
        return np.array(rows, object if "a" in rows[0] or "b" in rows[0] else None)
    columns = dict(zip(["one", "two"], map(list, zip(*rows, strict=True)), strict=True))
    if form == "pandas":
        return pytest.importorskip("pandas").DataFrame(columns)
    frame = pytest.importorskip("polars").DataFrame(columns, strict=False)
    return frame.to_arrow() if form == "arrow" else frame


@pytest.mark.parametrize("n_rows", [1, 1000])
def test_what_a_subclass_changes_is_called(n_rows):
    """A subclass may change any step of scikit-learn's, as skrub's SimilarityEncoder does."""
    called = []

    def counting(name):
        def method(self, *args, **kwargs):
            called.append(name)
            return getattr(super(Own, self), name)(*args, **kwargs)

        return method

    class Own(OneHotEncoder):
        pass

    names = {"fit", "_fit", "transform", "_transform", "_check_X", "_map_infrequent_categories"}
    for name in names:
        setattr(Own, name, counting(name))
    rows = TEXTS[:, :1].repeat(n_rows // 100 + 1, axis=0)[:n_rows]

    encoded = Own().fit_transform(rows)

    assert set(called) == names
    assert (encoded != OneHotEncoder().fit_transform(rows)).nnz == 0


def test_private_methods_do_what_those_of_scikit_learn_do():
    """`_fit` and `_transform` are called by subclasses in other libraries."""
    ours, theirs = OneHotEncoder(), preprocessing.OneHotEncoder()
    options = {"return_counts": True, "ensure_all_finite": "allow-nan"}
    for params in ({}, {"handle_unknown": "ignore", **options}):
        found, expected = ours._fit(TEXTS[:, :1], **params), theirs._fit(TEXTS[:, :1], **params)
        assert str(found) == str(expected)
        np.testing.assert_array_equal(*(each._transform(TEXTS[:, :1]) for each in (ours, theirs)))
    assert vars(ours).keys() - vars(theirs).keys() == set()


def test_a_subclass_may_fit_by_private_steps_alone():
    """SimilarityEncoder of skrub sets the fitted attributes itself; `transform` takes them."""

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


@pytest.mark.parametrize("params", PARAMETERS, ids=str)
def test_copies_encode_the_same(params):
    """Pickles and copies hold what scikit-learn's hold, and no look-up table."""
    encoder = OneHotEncoder(**params).fit(TEXTS)
    expected = encoder.transform(TEXTS)
    theirs = preprocessing.OneHotEncoder(**params).fit(TEXTS)
    for again in (pickle.loads(pickle.dumps(encoder)), copy.deepcopy(encoder)):
        assert np.abs(again.transform(TEXTS) - expected).sum() == 0
        assert (again.transform(TEXTS[:1]) != expected[:1]).sum() == 0
    assert len(pickle.dumps(encoder)) < len(pickle.dumps(theirs)) + 200
    assert clone(encoder).get_params() == encoder.get_params()
    with pytest.raises(NotFittedError):
        clone(encoder).transform(TEXTS)


def test_it_is_an_encoder_of_scikit_learn():
    """Tools that ask for the original accept it; indices of dropped categories are NumPy's."""
    encoder = OneHotEncoder(drop=["b", None], max_categories=3).fit(TEXTS)
    assert isinstance(encoder, preprocessing.OneHotEncoder)
    assert [type(i) for i in encoder.drop_idx_] == [np.int64, np.int64]
    assert encoder.drop_idx_.tolist() == [1, 2]
    own, theirs = (kind.__init__.__code__ for kind in (OneHotEncoder, preprocessing.OneHotEncoder))
    assert own is theirs


def test_inputs_are_neither_changed_nor_kept():
    """Not the rows, not given categories; nothing of the rows lives on in a fitted encoder."""
    value = "a text of its own " + str(len(TEXTS))
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
    assert sys.getrefcount(value) == 2


def test_results_share_no_memory():
    """Neither those of one call nor of two, of a few rows or of many."""
    encoder = OneHotEncoder().fit(TEXTS)
    for rows in (TEXTS, TEXTS[:1]):
        one, two = encoder.transform(rows), encoder.transform(rows)
        for part in ("data", "indices", "indptr"):
            assert not np.shares_memory(getattr(one, part), getattr(two, part))
        one.data[:] = 5
        one.resize((1, 1))
        assert (encoder.transform(rows) != two).nnz == 0


@pytest.mark.parametrize("n_rows", [1, 200])
def test_threads_may_share_an_encoder(n_rows):
    """The look-up tables are made by the first of them, or by several."""
    rows = TEXTS[:n_rows]
    expected = OneHotEncoder().fit(TEXTS).transform(rows)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            encoder = OneHotEncoder().fit(TEXTS)
            found = list(pool.map(encoder.transform, [rows] * 8))
            assert all((each != expected).nnz == 0 for each in found)


@pytest.mark.parametrize("n_rows", [1, 1000])
def test_parameters_may_change_after_fit(n_rows):
    """As in scikit-learn: dtype, form and the unknown; what is dropped only by `fit`."""
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
def test_tables_come_out(library, n_rows):
    """`set_output` wraps the matrix, and refuses a sparse one."""
    module = pytest.importorskip(library)
    frame = module.DataFrame({"size": ["S", "L"] * 20, "n": [1, 2] * 20})
    kinds = OneHotEncoder, preprocessing.OneHotEncoder
    ours, theirs = (kind(sparse_output=False).set_output(transform=library) for kind in kinds)
    for each in (ours, theirs):
        each.fit(frame)
    assert ours.transform(frame[:n_rows]).equals(theirs.transform(frame[:n_rows]))
    assert ours.fit_transform(frame).equals(theirs.fit_transform(frame))
    with pytest.raises(ValueError, match=f"{library.capitalize()} output does not support sparse"):
        ours.set_params(sparse_output=True).transform(frame[:n_rows])


def test_a_pipeline_learns_with_it():
    """In a ColumnTransformer, cloned, searched by name, pickled, with names all the way."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": list("SMLS") * 5, "n": [0.5, 2.0, 1.5, 3.0] * 5})
    encode = ColumnTransformer(
        [("sizes", OneHotEncoder(drop="first"), ["size"])], remainder="passthrough"
    )
    model = clone(make_pipeline(encode, LogisticRegression()))
    model.set_params(columntransformer__sizes__drop=None)
    wanted = frame["size"] == "S"
    fitted = pickle.loads(pickle.dumps(model.fit(frame, wanted)))

    assert fitted.predict(frame).tolist() == wanted.tolist()
    names = ["sizes__size_L", "sizes__size_M", "sizes__size_S", "remainder__n"]
    assert fitted[0].get_feature_names_out().tolist() == names


@pytest.mark.parametrize("n_rows", [1, 1000])
def test_names_of_features_are_checked_as_by_scikit_learn(n_rows):
    """An array where a frame was fitted is warned of, other names are refused, also for one row."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"one": ["a", "b"] * n_rows, "two": ["c", "d"] * n_rows})
    array = frame.to_numpy(object)
    encoder = OneHotEncoder().fit(frame)

    with pytest.warns(UserWarning, match="does not have valid feature names"):
        encoder.transform(array[:n_rows])
    with pytest.raises(ValueError, match="feature names should match"):
        encoder.transform(frame[["two", "one"]][:n_rows])
    with pytest.raises(ValueError, match="X has 1 features, but OneHotEncoder is expecting 2"):
        OneHotEncoder().fit(array).transform(array[:n_rows, :1])
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        OneHotEncoder().fit(array).transform(frame[:n_rows])


@pytest.mark.skipif("sparse_interface" not in sklearn.get_config(), reason="new in 1.9")
@pytest.mark.parametrize("n_rows", [1, 1000])
def test_sparse_arrays_where_scikit_learn_is_configured_so(n_rows):
    """The container is that of scikit-learn's own results."""
    rows = np.array([["a"]] * n_rows, object)
    encoder = OneHotEncoder().fit(rows)
    with sklearn.config_context(sparse_interface="sparray"):
        assert type(encoder.transform(rows)) is sparse.csr_array
    assert type(encoder.transform(rows)) is sparse.csr_matrix


def test_what_is_dropped_may_be_all_there_is():
    """A feature without an output, and a matrix without a column."""
    rows = np.array([["a"]] * 1000, object)
    encoder = OneHotEncoder(drop="first")

    assert encoder.fit_transform(rows).shape == (1000, 0)
    assert encoder.transform(rows[:1]).shape == (1, 0)
    assert encoder.set_params(sparse_output=False).transform(rows).shape == (1000, 0)
    assert encoder.transform(rows[:2]).shape == (2, 0)


FITTED = {
    "OneHotEncoder": (OneHotEncoder(min_frequency=2, handle_unknown="ignore"), TEXTS),
    "OrdinalEncoder": (OrdinalEncoder(max_categories=2), TEXTS),
    "TargetEncoder": (TargetEncoder(), TEXTS),
    "KBinsDiscretizer": (KBinsDiscretizer(2, strategy="uniform"), np.arange(6.0)[:, None]),
    "LabelBinarizer": (LabelBinarizer(), ["a", "b", "c"]),
    "MultiLabelBinarizer": (MultiLabelBinarizer(), [["a"], ["b", "c"]]),
}


def fit(estimator, rows):
    """Return the estimator, fitted; the target, if it has one, is the numbers of the rows."""
    has_target = "target_type" in estimator.get_params()
    return estimator.fit(rows, range(len(rows))) if has_target else estimator.fit(rows)


@pytest.mark.parametrize("name", FITTED)
def test_pickles_name_only_the_public_class(name):
    """Tools that read pickles, such as sklearn2pmml, find scikit-learn's attributes and no more."""
    estimator, rows = FITTED[name]
    fitted = fit(clone(estimator), rows)
    fitted.transform(rows)
    texts = [text for _, text, _ in pickletools.genops(pickle.dumps(fitted, 2)) if text]
    ours = {text for text in texts if isinstance(text, str) and text.startswith("onehot_fast")}
    assert ours == {f"{type(fitted).__module__} {name}"}
    theirs = fit(getattr(preprocessing, name)(**estimator.get_params()), rows)
    assert vars(fitted).keys() == vars(theirs).keys()


@pytest.mark.parametrize("name", FITTED)
def test_skops_loads_what_it_trusts_by_the_public_class(name):
    """The library skops asks for nothing else than it asks for scikit-learn's own class."""
    skops = pytest.importorskip("skops.io")
    estimator, rows = FITTED[name]
    fitted = fit(clone(estimator), rows)
    before = fitted.transform(rows)
    theirs = fit(getattr(preprocessing, name)(**estimator.get_params()), rows)

    data = skops.dumps(fitted)
    untrusted = set(skops.get_untrusted_types(data=data))
    untrusted -= set(skops.get_untrusted_types(data=skops.dumps(theirs)))
    after = skops.loads(data, trusted=skops.get_untrusted_types(data=data)).transform(rows)

    assert untrusted == {f"{type(fitted).__module__}.{name}"}
    assert np.abs(after - before).sum() == 0


@pytest.mark.parametrize("form", ["array", "list", "pandas", "category", "polars", "arrow"])
@pytest.mark.parametrize("kind", [OneHotEncoder, OrdinalEncoder, TargetEncoder])
def test_one_row_does_no_work_for_each_category(kind, form, monkeypatch):
    """After the first call neither the categories of the encoder nor of the row are read again."""
    if form == "category":
        pytest.importorskip("pandas", "3.0")  # older ones have other missing values in categories
    rows = [(f"category {i}", None if i % 7 == 0 else f"{i}") for i in range(200)]
    table = table_of(rows, "pandas" if form == "category" else form)
    table = table.astype("category") if form == "category" else table
    encoder = fit(kind(), table)
    expected = encoder.transform(table)
    expected = expected.toarray() if sparse.issparse(expected) else expected

    def fail(*args):
        raise AssertionError("the categories were read")

    monkeypatch.setattr(Categories, "of", fail)
    monkeypatch.setattr(Categories, "find", fail)
    monkeypatch.setattr(preprocessing.OneHotEncoder, "transform", fail)
    monkeypatch.setattr(preprocessing.OrdinalEncoder, "transform", fail)
    monkeypatch.setattr(preprocessing.TargetEncoder, "transform", fail)
    for i in (7, 8):
        found = encoder.transform(table[i : i + 1])
        found = found.toarray() if sparse.issparse(found) else found
        np.testing.assert_array_equal(found, expected[i : i + 1])
