"""The binarizers equal scikit-learn's: results, attributes, warnings and errors."""

from __future__ import annotations

import functools
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from scipy import sparse
from sklearn import config_context, get_config, preprocessing
from sklearn.base import clone

from onehot_fast.integrations import sklearn as ours
from onehot_fast.integrations.sklearn import LabelBinarizer, MultiLabelBinarizer, label_binarizer
from support.sklearn_cases import COLUMNS, POOLS, SERIES, outcome, plain, tables
from support.sklearn_cases import array as rows_of

LABELS = ["b", "a", "c", "a"]
KINDS = POOLS | {
    "large ints": ([0, 2**62, 2**63, -1], object),
    "booleans": ([True, False], object),
    "whole floats": ([0.0, 1.0, -2.0, 1e10], object),
    "bytes objects": ([b"a", b"b"], object),
    "int8": ([0, 1, 2, -3, 100], np.int8),
    "float32": ([0.0, 1.0, np.inf, np.nan], np.float32),
    "float16": ([0.0, 1.0, 2.0], np.float16),
}
FORMATS = ("csr_matrix", "csr_array", "csc_array", "coo_array", "lil_matrix")


@dataclass(frozen=True)
class Case:
    """Labels to learn from, labels to binarize, classes, and the parameters."""

    train: Any
    test: Any
    classes: Any
    params: dict[str, Any]
    threshold: float | None
    scores: Any


def labels_of(pool):
    """Return labels of which most repeat."""
    few = st.lists(st.sampled_from(pool), min_size=1, max_size=4)
    return few.flatmap(lambda own: st.lists(st.sampled_from(own), max_size=12))


@st.composite
def labels(draw, pool, dtype):
    """Return labels in a list, a tuple, or an array of one or two dimensions."""
    values = draw(labels_of(pool))
    if dtype is object and draw(st.booleans()):
        # Without labels scikit-learn fails at the message about a tuple.
        return tuple(values) if values and draw(st.booleans()) else values
    array = rows_of([values], dtype)[:, 0]
    form = draw(st.sampled_from(["flat", "flat", "column", "strided", "read-only"]))
    if form == "column":
        return array.reshape(-1, 1)
    if form == "strided":
        return np.repeat(array, 2)[::2]
    array.setflags(write=form != "read-only")
    return array


def rows_of_cells(cells, n_columns, min_size=0):
    row = st.lists(cells, min_size=n_columns, max_size=n_columns)
    return st.lists(row, min_size=min_size, max_size=6)


@st.composite
def indicators(draw, n_columns, form):
    low, high = draw(st.sampled_from([(0, 1), (0, 1), (0, 1), (0, 2), (-1, 1)]))
    rows = draw(rows_of_cells(st.integers(low, high), n_columns))
    if form == "list":
        return rows
    dtype = draw(st.sampled_from([np.int64, np.int8, np.uint8, np.bool_, np.float64]))
    dense = np.array(rows, np.int64).astype(dtype).reshape(-1, n_columns)
    return dense if form == "array" else getattr(sparse, form)(dense)


@st.composite
def scores(draw):
    cell = st.sampled_from([-1.5, 0.0, 0.0, 0.25, 0.5, 1.0, 2.0])
    rows = draw(rows_of_cells(cell, draw(st.integers(1, 4)), min_size=1))
    dense = np.array(rows, draw(st.sampled_from([np.float64, np.float32, np.int64, np.int8])))
    form = draw(st.sampled_from(["array", "array", "csr_array", "csc_array", "flat"]))
    if form == "flat":
        return dense[:, 0]
    return dense if form == "array" else getattr(sparse, form)(np.abs(dense))


# Each source returns a strategy of labels in one form, and the pool of classes.


def label_source(draw):
    """Draw arrays, lists or tuples of one kind of labels."""
    pool, dtype = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    return labels(pool, dtype), pool


def indicator_source(draw):
    """Draw indicator matrices of one width."""
    form = draw(st.sampled_from(["list", "array", *FORMATS]))
    # scikit-learn rejects a sparse column, unless there is only one class.
    n_columns = draw(st.integers(2 if form in FORMATS else 1, 4))
    return indicators(n_columns, form), [0, 1, 2, 3]


def series_source(draw):
    """Draw Series, Indexes, or DataFrames of one column."""
    pandas = pytest.importorskip("pandas")
    kind = draw(st.sampled_from(sorted(SERIES)))
    form = draw(st.sampled_from([pandas.Series, pandas.Series, pandas.Index, pandas.DataFrame]))
    return tables([kind], "pandas").map(lambda table: form(table["c0"])), SERIES[kind][0]


def column_source(draw):
    """Draw columns of polars or pyarrow."""
    arrow = pytest.importorskip("pyarrow")
    kind = draw(st.sampled_from(sorted(COLUMNS)))
    form = draw(st.sampled_from(["polars", "arrow", "two chunks", "small strings"]))

    def column(table):
        series = table["c0"]
        if form == "polars":
            return series
        array = series.to_arrow()
        if form == "small strings" and kind == "String":
            return array.cast(arrow.string())
        return arrow.chunked_array([array] * 2) if form == "two chunks" else array

    return tables([kind], "polars").map(column), COLUMNS[kind]


@st.composite
def cases(draw, source):
    """Return labels, classes, and parameters, some of them contradictory."""
    values, pool = source(draw)
    params = {
        "neg_label": st.sampled_from([0, 0, -1, -200, 5]),
        "pos_label": st.sampled_from([1, 2, 0, 300]),
        "sparse_output": st.booleans(),
    }
    return Case(
        train=draw(values),
        test=draw(values),
        classes=draw(st.lists(st.sampled_from(pool), unique_by=repr, max_size=5)),
        params=draw(st.fixed_dictionaries({}, optional=params)),
        threshold=draw(st.sampled_from([None, None, 0, 0.5, -1, 1.5])),
        scores=draw(scores()),
    )


def compared(work):
    """Return the outcome of a call; the order of the columns in a sparse row does not matter."""
    found = outcome(work)
    if sparse.issparse(found[0]):
        found = [type(found[0]), found[0].nnz, found[0].toarray(), *found[1:]]
    return plain(found)


def results(library, case):
    """Return all results of a library's LabelBinarizer.

    Each call gets a copy, because scikit-learn writes into sparse matrices.
    """
    binarizer = library.LabelBinarizer(**case.params)
    steps = {
        "function": lambda own: library.label_binarize(own.test, classes=own.classes, **own.params),
        "fit": lambda own: binarizer.fit(own.train) is binarizer,
        "known": lambda own: binarizer.transform(own.train),
        "encoded": lambda own: binarizer.transform(own.test),
        "at once": lambda own: clone(binarizer).fit_transform(own.train),
        "decoded": lambda own: binarizer.inverse_transform(
            binarizer.transform(own.train), own.threshold
        ),
        "decided": lambda own: binarizer.inverse_transform(own.scores, own.threshold),
    }
    found = {
        name: compared(functools.partial(step, deepcopy(case))) for name, step in steps.items()
    }
    names = ("classes_", "y_type_", "sparse_input_")
    return found | {name: plain(getattr(binarizer, name, None)) for name in names}


SOURCES = [label_source, indicator_source, series_source, column_source]


@pytest.mark.parametrize("source", SOURCES)
@given(data=st.data())
def test_labels_are_binarized_as_by_scikit_learn(source, data):
    """Labels in arrays, lists and columns, and indicator matrices."""
    case = data.draw(cases(source))
    assert results(ours, case) == results(preprocessing, case)


def test_texts_that_end_in_nul_are_other_labels():
    """NumPy's fixed-width strings cannot represent them."""
    labels = np.array(["a", "b", "a\0"], object)

    assert LabelBinarizer().fit(labels[:1]).transform(labels).tolist() == [[1], [0], [0]]


LABEL_SETS = [
    [0, 1, 2, -3, 100],
    ["a", "b", "é", ""],
    [True, 1, 0, 2],  # equal labels are one class: the first of them
    [1.0, 2, 2.5],
    [(1,), (2, 3), ()],
    [b"x", b"y"],
    [np.int64(3), 3, 4],  # NumPy's integers are objects among the classes
    ["a", 1],
    [None, "a"],
    [{}, 1],
]
ROWS = [list, tuple, set, iter, np.array, dict.fromkeys]
TABLES = [list, tuple, iter]
INDICATORS = [np.array, sparse.csr_matrix, sparse.csc_array, sparse.lil_array]


@st.composite
def set_tables(draw, pool):
    spec = draw(st.lists(st.lists(st.sampled_from(pool), max_size=5), max_size=6))
    kind, table = draw(st.sampled_from(ROWS)), draw(st.sampled_from(TABLES))
    is_hashable = all(label.__hash__ for label in pool)
    return lambda: table([kind(row) if is_hashable else row for row in spec])


@st.composite
def set_cases(draw):
    """Return functions that return rows to learn from and to encode, and the parameters."""
    pool = draw(st.sampled_from(LABEL_SETS))
    classes = draw(st.none() | st.lists(st.sampled_from(pool), max_size=5))
    params = {"classes": classes, "sparse_output": draw(st.booleans())}
    return draw(set_tables(pool)), draw(set_tables(pool)), params


def set_results(library, train, test, params):
    """Return all results of a library's MultiLabelBinarizer."""
    binarizer = library.MultiLabelBinarizer(**params)
    steps = [
        lambda: clone(binarizer).fit_transform(train()),
        lambda: binarizer.fit(train()).classes_,
        lambda: binarizer.transform(test()),
        lambda: binarizer.inverse_transform(binarizer.transform(test())),
    ]
    return [compared(step) for step in steps]


@given(set_cases())
def test_rows_of_labels_are_encoded_as_by_scikit_learn(case):
    assert set_results(ours, *case) == set_results(preprocessing, *case)


@given(st.data(), st.sampled_from([np.int64, np.uint8, np.bool_, np.float32]))
def test_indicators_are_decoded_as_by_scikit_learn(data, dtype):
    """Dense or sparse, of any dtype; the errors for numbers other than 0 and 1 are equal."""
    cells = st.lists(st.sampled_from([0, 0, 1, 1, 1, 2, 3]), min_size=3, max_size=3)
    rows = data.draw(st.lists(cells, min_size=1, max_size=5))
    indicator = data.draw(st.sampled_from(INDICATORS))(np.array(rows, dtype))
    found, wanted = (
        compared(functools.partial(fitted.inverse_transform, indicator))
        for library in (ours, preprocessing)
        for fitted in [library.MultiLabelBinarizer(classes=["b", "c", "a"]).fit([])]
    )

    assert found == wanted


def test_unknown_labels_are_named_in_one_warning():
    """Sorted by their texts; the warning names the line of the caller."""
    binarizer = MultiLabelBinarizer().fit([["a"]])

    with pytest.warns(
        UserWarning, match=r"unknown class\(es\) \[1, 'b'\] will be ignored"
    ) as caught:
        encoded = binarizer.transform([["b", "a"], [1, "b"]])

    assert encoded.tolist() == [[1], [0]]
    assert caught[0].filename == __file__


def test_fit_with_classes_does_not_iterate_over_the_rows():
    rows = iter([["a"]])
    MultiLabelBinarizer(classes=["a"]).fit(rows)
    assert list(rows) == [["a"]]


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_columns_of_lists_are_rows(module):
    """The labels of a list column are Python's own."""
    library = pytest.importorskip(module)
    make = library.array if module == "pyarrow" else library.Series
    binarizer = MultiLabelBinarizer()

    encoded = binarizer.fit_transform(make([["b", "a"], ["b"]]))

    assert binarizer.classes_.tolist() == ["a", "b"]
    assert encoded.tolist() == [[1, 1], [0, 1]]


def test_common_labels_never_reach_scikit_learn(monkeypatch):
    """Integers, text, Booleans and whole floats."""
    for name in ("fit", "transform", "inverse_transform"):
        monkeypatch.delattr(preprocessing.LabelBinarizer, name)
    monkeypatch.setattr(label_binarizer, "sklearn_label_binarize", None)
    for labels in (
        *(LABELS, tuple(LABELS), np.array(LABELS), np.array(LABELS, object)),
        *([3, 1, 2, 1], np.array([3, 1, 2]), np.array([1.0, 3.0, 2.0]), [True, False]),
    ):
        for params in ({}, {"neg_label": -1}, {"sparse_output": True, "pos_label": 3}):
            binarizer = LabelBinarizer(**params)
            binarizer.fit_transform(labels)
            encoded = binarizer.fit(labels).transform(labels)
            ours.label_binarize(labels, classes=binarizer.classes_, **params)
    decoded = binarizer.fit(LABELS).inverse_transform(binarizer.transform(LABELS))
    assert decoded.tolist() == LABELS
    assert encoded.nnz == 1


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_inputs_are_not_changed(form):
    """Results do not share their memory, either."""
    given_labels = form(np.array([[0, 1, 0], [1, 1, 1]]))
    for part in ("data", "indices", "indptr") if sparse.issparse(given_labels) else ():
        getattr(given_labels, part).setflags(write=False)
    labels = np.array([3, 1, 2])
    labels.setflags(write=False)

    encoded = LabelBinarizer(pos_label=2).fit_transform(given_labels)
    again = LabelBinarizer().fit_transform(labels)
    again[:] = 7

    assert encoded.tolist() == [[0, 2, 0], [2, 2, 2]]
    assert labels.tolist() == [3, 1, 2]


@pytest.mark.parametrize("name", ["transform", "fit"])
def test_a_subclass_keeps_its_own_methods(name):
    """`fit_transform` goes through them, as scikit-learn's does."""
    called = []

    class Own(LabelBinarizer):
        pass

    def method(self, y):
        called.append(y)
        return getattr(LabelBinarizer, name)(self, y)

    setattr(Own, name, method)
    encoded = Own().fit_transform(LABELS)

    assert called == [LABELS]
    assert encoded.tolist() == LabelBinarizer().fit_transform(LABELS).tolist()


@pytest.mark.parametrize("binarizer", [LabelBinarizer(), MultiLabelBinarizer()], ids=str)
def test_results_stay_arrays(binarizer):
    """Labels are no features: there is no `set_output`, and the setting for all is not for them."""
    with config_context(transform_output="pandas"):
        encoded = binarizer.fit_transform(LABELS)

    assert type(encoded) is np.ndarray
    assert not hasattr(binarizer, "set_output")


@pytest.mark.parametrize("interface", ["spmatrix", "sparray"])
@pytest.mark.parametrize("n_rows", [1, 1000])
@pytest.mark.parametrize("kind", [LabelBinarizer, MultiLabelBinarizer, ours.OneHotEncoder])
def test_sparse_results_are_compact(kind, n_rows, interface):
    """Canonical, with 32-bit indices; scikit-learn is configured to return an array or a matrix."""
    settings = {"sparse_interface": interface} if "sparse_interface" in get_config() else {}
    rows = [*LABELS] * n_rows
    with config_context(**settings):
        estimator = kind(sparse_output=True)
        rows = np.array(rows, object)[:, None] if kind is ours.OneHotEncoder else rows
        encoded = estimator.fit(rows).transform(rows[:n_rows])

    assert (encoded.indices.dtype, encoded.indptr.dtype) == (np.int32, np.int32)
    assert encoded.has_canonical_format
    is_array = settings.get("sparse_interface") == "sparray"
    assert type(encoded) is (sparse.csr_array if is_array else sparse.csr_matrix)


@pytest.mark.parametrize("labels", [[0, 0], [0, 1, 2]], ids=str)
def test_values_beyond_a_narrow_dtype_are_those_of_scikit_learn(labels):
    """They wrap around; scikit-learn raises an error if there is a single class."""
    y = np.array(labels, np.int8)
    found, expected = (
        compared(functools.partial(library.LabelBinarizer(neg_label=-200).fit_transform, y))
        for library in (ours, preprocessing)
    )
    assert found == expected
