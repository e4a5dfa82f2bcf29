"""Where the binarizers of labels go beyond scikit-learn's, and what a drop-in must keep besides."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from hypothesis.extra import numpy as npst
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.utils.validation import NotFittedError

from onehot_fast.integrations.sklearn import LabelBinarizer, MultiLabelBinarizer, label_binarize

TEXTS = ["b", "a", "c", "a"]
INDICATOR = np.array([[0, 1, 0], [1, 1, 1]])


def frozen(array: Any) -> Any:
    """Return an array, or a sparse matrix of arrays, that cannot be written to."""
    for part in (array.data, array.indices, array.indptr) if sparse.issparse(array) else (array,):
        part.setflags(write=False)
    return array


@given(
    npst.arrays(
        np.float64,
        npst.array_shapes(min_dims=2, max_dims=2, max_side=5),
        elements=st.sampled_from([-2.0, -1.0, 0.0, 0.0, 1.0, 2.0]),
    ),
    st.booleans(),
)
def test_sparse_scores_decide_as_dense_ones_do(scores: Any, stores_zeros: bool) -> None:
    """The first largest element counts, be it stored or not."""
    labels = [f"class {at}" for at in range(max(3, scores.shape[1]))]
    binarizer = LabelBinarizer().fit(labels)
    matrix = sparse.csr_array(scores)
    if stores_zeros:
        matrix.data[::2] = 0

    dense = binarizer.inverse_transform(matrix.toarray())

    assert binarizer.inverse_transform(matrix).tolist() == dense.tolist()


def test_sparse_scores_may_be_out_of_order_and_in_parts() -> None:
    """A matrix that is not canonical is read as what it sums up to, and left as it is."""
    parts = np.array([1.0, 2.0, 1.5, 3.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])
    scores = sparse.csr_array(parts, shape=(2, 3))

    labels = LabelBinarizer().fit(TEXTS).inverse_transform(scores)

    assert labels.tolist() == ["c", "b"]
    assert scores.indices.tolist() == [2, 0, 2, 1]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("threshold", [None, 0.0])
def test_nothing_that_comes_in_is_changed(form: Any, threshold: float | None) -> None:
    """scikit-learn writes the decisions into the scores, and shares what it stores with labels."""
    given_labels, scores = frozen(form(INDICATOR)), frozen(form(INDICATOR * 0.75))
    binarizer = LabelBinarizer(pos_label=2).fit(given_labels)

    encoded = binarizer.transform(given_labels)
    encoded[:] = 7
    binarizer.inverse_transform(scores, threshold)
    label_binarize(given_labels, classes=[0, 1, 2], pos_label=3, sparse_output=True)

    for array, wanted in ((given_labels, INDICATOR), (scores, INDICATOR * 0.75)):
        np.testing.assert_array_equal(array.toarray() if form is not np.asarray else array, wanted)


@pytest.mark.parametrize("n_classes", [2, 40])
def test_a_text_is_never_a_number(n_classes: int) -> None:
    """To NumPy "1" is 1 where there are many of them; it is not to us, however many there are."""
    labels, classes = [str(at) for at in range(n_classes)], list(range(n_classes))

    assert not label_binarize(labels, classes=classes).any()


def test_a_stored_zero_stays_zero() -> None:
    """What a sparse indicator stores as zero is no positive."""
    stored = sparse.csr_array(([0, 1], [0, 1], [0, 2]), shape=(1, 2))

    marked = label_binarize(stored, classes=[0, 1], pos_label=5, sparse_output=True)

    assert marked.toarray().tolist() == [[0, 5]]


def test_boolean_indicators_hold_any_mark() -> None:
    """They are integers before they are marked, so that -1 is not another True."""
    encoded = label_binarize(INDICATOR.astype(bool), classes=[0, 1, 2], neg_label=-1)

    assert encoded.tolist() == (INDICATOR * 2 - 1).tolist()


@pytest.mark.parametrize(
    ("fitted", "scores", "wanted"),
    [
        (["no", "yes"], [[0], [1]], ["no", "yes"]),
        ([[0, 1], [1, 0]], [[0.2, 0.9]], [[0, 1]]),
        (TEXTS, [[0, 1, 0], [2, 1, 0]], ["b", "a"]),
    ],
)
def test_scores_may_be_lists(fitted: Any, scores: Any, wanted: Any) -> None:
    """All array-likes are scores, for every kind of labels."""
    assert LabelBinarizer().fit(fitted).inverse_transform(scores).tolist() == wanted


@pytest.mark.parametrize("name", ["transform", "fit"])
def test_a_subclass_keeps_its_own_methods(name: str) -> None:
    """`fit_transform` goes through them, as scikit-learn's does."""
    called = []

    class Own(LabelBinarizer):
        pass

    def method(self: Any, y: Any) -> Any:
        called.append(y)
        return getattr(LabelBinarizer, name)(self, y)

    setattr(Own, name, method)
    encoded = Own().fit_transform(TEXTS)

    assert called == [TEXTS]
    assert encoded.tolist() == LabelBinarizer().fit_transform(TEXTS).tolist()


@pytest.mark.parametrize("binarizer", [LabelBinarizer(), MultiLabelBinarizer()], ids=str)
def test_results_stay_arrays(binarizer: Any) -> None:
    """Labels are no features: there is no `set_output`, and the setting for all is not for them."""
    with config_context(transform_output="pandas"):
        encoded = binarizer.fit_transform(TEXTS)

    assert type(encoded) is np.ndarray
    assert not hasattr(binarizer, "set_output")


@pytest.mark.parametrize("sparse_output", [False, True])
def test_a_pickled_binarizer_does_the_same(sparse_output: bool) -> None:
    """What it has learned is in its public attributes."""
    binarizer = LabelBinarizer(sparse_output=sparse_output).fit(TEXTS)

    again = pickle.loads(pickle.dumps(binarizer))

    assert vars(again).keys() == vars(binarizer).keys()
    both = [each.inverse_transform(each.transform(TEXTS)).tolist() for each in (binarizer, again)]
    assert both == [TEXTS, TEXTS]


@pytest.mark.parametrize("method", ["transform", "inverse_transform"])
@pytest.mark.parametrize("kind", [LabelBinarizer, MultiLabelBinarizer])
def test_a_binarizer_has_to_be_fitted_first(kind: Any, method: str) -> None:
    """The error is scikit-learn's own, and names the class."""
    with pytest.raises(NotFittedError, match=f"This {kind.__name__} instance is not fitted yet"):
        getattr(kind(), method)([["a"]])


@pytest.mark.parametrize("parameter", ["neg_label", "pos_label", "sparse_output"])
def test_parameters_are_validated(parameter: str) -> None:
    """By scikit-learn's words, at `fit`."""
    binarizer = LabelBinarizer(**{parameter: "two"})

    with pytest.raises(ValueError, match=f"The '{parameter}' parameter of LabelBinarizer must be"):
        binarizer.fit(TEXTS)


def test_sparse_results_have_short_indices() -> None:
    """32 bits, which all of scikit-learn takes, as long as they suffice."""
    encoded = LabelBinarizer(sparse_output=True).fit_transform(TEXTS)

    assert (encoded.indices.dtype, encoded.indptr.dtype) == (np.int32, np.int32)
    assert encoded.has_canonical_format
    is_array = get_config().get("sparse_interface") == "sparray"
    assert isinstance(encoded, sparse.csr_array if is_array else sparse.csr_matrix)
