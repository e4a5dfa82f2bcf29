"""MultiLabelBinarizer is scikit-learn's, on random rows of labels: results, warnings and errors."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from scipy import sparse
from sklearn import config_context, get_config, preprocessing
from sklearn.base import clone

from onehot_fast.integrations import sklearn as ours
from onehot_fast.integrations.sklearn import MultiLabelBinarizer

POOLS: list[list[Any]] = [
    [0, 1, 2, -3, 100],
    ["a", "b", "é", ""],
    [True, 1, 0, 2],  # equal labels are one, and it is that which came first
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


class Case(NamedTuple):
    """Rows to learn from and rows to encode, made anew for each use, and the parameters."""

    train: Callable[[], Any]
    test: Callable[[], Any]
    params: dict[str, Any]


@st.composite
def tables(draw: st.DrawFn, pool: list[Any]) -> Callable[[], Any]:
    """Return what makes rows of labels, of one kind or another."""
    spec = draw(st.lists(st.lists(st.sampled_from(pool), max_size=5), max_size=6))
    kind, table = draw(st.sampled_from(ROWS)), draw(st.sampled_from(TABLES))
    is_hashable = all(label.__hash__ for label in pool)
    return lambda: table([kind(row) if is_hashable else row for row in spec])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Return a task on one pool of labels."""
    pool = draw(st.sampled_from(POOLS))
    classes = draw(st.none() | st.lists(st.sampled_from(pool), max_size=5))
    params = {"classes": classes, "sparse_output": draw(st.booleans())}
    return Case(draw(tables(pool)), draw(tables(pool)), params)


def plain(value: Any) -> Any:
    """Return a result as what can be compared, down to the types of the labels."""
    if sparse.issparse(value):
        dtypes = value.dtype, value.indices.dtype, value.indptr.dtype
        return [type(value), dtypes, plain(value.toarray())]
    if isinstance(value, np.ndarray):
        return [value.dtype, value.shape, plain(list(value.flat))]
    if isinstance(value, list | tuple):
        return [type(value), [plain(one) for one in value]]
    return type(value), value


def outcome(work: Callable[[], Any]) -> Any:
    """Return what a call gives: its result and the warnings, or the type of its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = work()
        except (TypeError, ValueError) as error:
            return type(error)
    # Which of two equally spelled labels is named first depends on a set.
    return plain(result), [sorted(str(one.message)) for one in caught]


def results(library: Any, case: Case) -> list[Any]:
    """Return all that a library's binarizer makes of a case."""
    binarizer = library.MultiLabelBinarizer(**case.params)
    found = [outcome(lambda: clone(binarizer).fit_transform(case.train()))]
    found.append(outcome(lambda: binarizer.fit(case.train()).classes_))
    if hasattr(binarizer, "classes_"):
        found.append(outcome(lambda: binarizer.transform(case.test())))
        found.append(outcome(lambda: binarizer.inverse_transform(binarizer.transform(case.test()))))
    return found


@given(cases())
def test_rows_are_encoded_as_by_scikit_learn(case: Case) -> None:
    """Whatever the labels and the kind of the rows, all that scikit-learn makes of them is ours."""
    assert results(ours, case) == results(preprocessing, case)


@given(st.data(), st.sampled_from([np.int64, np.uint8, np.bool_, np.float32]))
def test_indicators_are_decoded_as_by_scikit_learn(data: st.DataObject, dtype: Any) -> None:
    """Dense or sparse, of any dtype; numbers other than 0 and 1 are refused in the same words."""
    cells = st.lists(st.sampled_from([0, 0, 1, 1, 1, 2]), min_size=3, max_size=3)
    rows = data.draw(st.lists(cells, min_size=1, max_size=5))
    indicator = data.draw(st.sampled_from(INDICATORS))(np.array(rows, dtype))
    both = [
        library.MultiLabelBinarizer(classes=["b", "c", "a"]).fit([])
        for library in (ours, preprocessing)
    ]

    found, wanted = (outcome(lambda one=one: one.inverse_transform(indicator)) for one in both)

    assert found == wanted


@pytest.mark.parametrize(
    ("indicator", "message"),
    [
        (np.array([[0, 1], [np.nan, 1]]), r"Also got \[nan\]"),
        (np.array([[0, 3], [-1, 1]]), r"Also got \[-1  3\]"),
        (sparse.csr_array(np.array([[0, 3]])), r"Expected only 0s and 1s in label indicator\."),
        (np.array([[0, 1, 1]]), "Expected indicator for 2 classes, but got 3"),
    ],
)
def test_what_is_no_indicator_is_refused(indicator: Any, message: str) -> None:
    """The message says what else there is, as scikit-learn's does."""
    binarizer = MultiLabelBinarizer().fit([["a", "b"]])

    with pytest.raises(ValueError, match=message):
        binarizer.inverse_transform(indicator)


def test_unknown_labels_are_named_in_one_warning() -> None:
    """Each is named once, sorted by their texts, and the warning is about the caller's line."""
    binarizer = MultiLabelBinarizer().fit([["a"]])

    with pytest.warns(
        UserWarning, match=r"unknown class\(es\) \[1, 'b'\] will be ignored"
    ) as caught:
        encoded = binarizer.transform([["b", "a"], [1, "b"]])

    assert encoded.tolist() == [[1], [0]]
    assert caught[0].filename == __file__


def test_rows_are_left_alone_where_classes_are_given() -> None:
    """`fit` does not even iterate over them."""
    rows = iter([["a"]])

    MultiLabelBinarizer(classes=["a"]).fit(rows)

    assert list(rows) == [["a"]]


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_columns_of_lists_are_rows(module: str) -> None:
    """The labels of a library's list column are Python's own."""
    library = pytest.importorskip(module)
    make = library.array if module == "pyarrow" else library.Series
    binarizer = MultiLabelBinarizer()

    encoded = binarizer.fit_transform(make([["b", "a"], ["b"]]))

    assert binarizer.classes_.tolist() == ["a", "b"]
    assert encoded.tolist() == [[1, 1], [0, 1]]


def test_a_pickled_binarizer_encodes_the_same() -> None:
    """Nothing but the parameters and the classes is kept."""
    binarizer = MultiLabelBinarizer(sparse_output=True).fit([["b", "a"]])

    again = pickle.loads(pickle.dumps(binarizer))

    assert vars(again).keys() == vars(binarizer).keys()
    assert plain(again.transform([["b"]])) == plain(binarizer.transform([["b"]]))


def test_the_container_is_the_one_that_is_configured() -> None:
    """From scikit-learn 1.9 on it can be a sparse array."""
    if "sparse_interface" not in get_config():
        pytest.skip("new in scikit-learn 1.9")
    binarizer = MultiLabelBinarizer(sparse_output=True)

    with config_context(sparse_interface="sparray"):
        encoded = binarizer.fit_transform([["a"]])

    assert isinstance(encoded, sparse.csr_array)
