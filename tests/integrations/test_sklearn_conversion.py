"""Encoder and OneHotEncoder of scikit-learn are converted, or an error says why not."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.strategies import examples

pytest.importorskip("pandas")
pytest.importorskip("sklearn")

import pandas as pd
from sklearn import preprocessing
from sklearn.exceptions import NotFittedError

from onehot_fast import Encoder
from onehot_fast.integrations.sklearn import OneHotEncoder, to_sklearn

TEXTS = st.sampled_from(["a", "b", "cc", "d"])
NUMBERS = st.sampled_from([-1, 0, 7, 2**40])
FLOATS = st.sampled_from([0.5, 1.0, np.nan])
FRAMES = st.lists(st.tuples(TEXTS, NUMBERS, FLOATS), min_size=2, max_size=9).map(
    lambda rows: pd.DataFrame(rows, columns=["text", "number", "float"])
)
THEIRS = st.fixed_dictionaries(
    {
        "handle_unknown": st.sampled_from(["error", "ignore", "infrequent_if_exist", "warn"]),
        "drop": st.sampled_from([None, "first", "if_binary"]),
        "min_frequency": st.sampled_from([None, None, 2, 0.4]),
        "max_categories": st.sampled_from([None, None, 2]),
        "dtype": st.sampled_from(["float32", "int64"]),
    }
)
REASONS = (
    "several|no columns|infrequent|distinguishes None|like unknown values|has no feature"
    "|cannot encode|has no categories|can drop one category"
)


def transformed(encoder, rows):
    """Return encoded rows, None if the encoder rejects them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of unknown values
        try:
            return np.asarray(encoder.transform(rows))
        except ValueError as error:
            reason = str(error)
            assert re.search("unknown|is missing", reason)
            return None


def assert_same(encoder, other, rows):
    """Compare the names and, because a row may be rejected, each row by itself."""
    for i in range(len(rows)):
        one, two = (transformed(each, rows.iloc[[i]]) for each in (encoder, other))
        np.testing.assert_array_equal(one, two)
    # The names of missing and infrequent values differ.
    names = ["\n".join(each.get_feature_names_out()) for each in (encoder, other)]
    plain = [each.replace("infrequent_sklearn", "(infrequent)") for each in names]
    assert plain[0] == plain[1].replace("(missing)", "nan")


def decodes_the_wrong_category(encoder):
    """Tell whether scikit-learn decodes a dropped category as another one."""
    rare = encoder.infrequent_categories_ if encoder.min_frequency or encoder.max_categories else ()
    dropped = [] if encoder.drop_idx_ is None else encoder.drop_idx_
    return any(i is not None and few is not None for i, few in zip(dropped, rare, strict=False))


def converted(convert):
    """Return a converted encoder, or None if the error gives a known reason."""
    try:
        return convert()
    except ValueError as error:
        reason = str(error)
    assert re.search(REASONS, reason)
    return None


@given(fitted=FRAMES, rows=FRAMES, options=THEIRS)
def test_encoders_are_converted_and_back(fitted, rows, options):
    """The rows, names, parameters and categories are equal."""
    theirs = preprocessing.OneHotEncoder(**options, sparse_output=False).fit(fitted)
    ours = converted(lambda: Encoder.from_sklearn(theirs))
    if ours is None:
        return
    assert_same(theirs, ours, rows)
    back = converted(lambda: to_sklearn(ours))
    if back is None:
        return
    assert_same(theirs, back, rows)
    assert [c.dtype for c in back.categories_] == [c.dtype for c in theirs.categories_]
    expected = transformed(theirs, fitted)
    if expected.shape[1] and not decodes_the_wrong_category(theirs):
        decoded = [pd.DataFrame(each.inverse_transform(expected)) for each in (back, theirs)]
        pd.testing.assert_frame_equal(*decoded)  # NaN equals NaN there


@given(fitted=FRAMES, rows=FRAMES, options=THEIRS)
@examples(0.5)
def test_the_classes_turn_into_each_other(fitted, rows, options):
    """All fitted attributes are copied."""
    theirs = preprocessing.OneHotEncoder(**options, sparse_output=False).fit(fitted)
    ours = OneHotEncoder.from_sklearn(theirs)
    back = ours.to_sklearn()

    assert type(ours) is OneHotEncoder
    assert type(back) is preprocessing.OneHotEncoder
    assert vars(back).keys() == vars(theirs).keys()
    assert not any(a is b for a, b in zip(back.categories_, theirs.categories_, strict=True))
    for other in (ours, back):
        assert other.get_params() == theirs.get_params()
        assert_same(theirs, other, rows)


@pytest.mark.parametrize("convert", [Encoder.from_sklearn, OneHotEncoder.from_sklearn])
def test_only_fitted_one_hot_encoders_are_converted(convert):
    for other in (preprocessing.OrdinalEncoder().fit([["a"]]), Encoder().fit({"c": ["a"]}), "a"):
        with pytest.raises(TypeError, match=r"must be a sklearn\.preprocessing\.OneHotEncoder"):
            convert(other)
    with pytest.raises(NotFittedError):
        convert(preprocessing.OneHotEncoder())
    with pytest.raises(NotFittedError):
        OneHotEncoder().to_sklearn()


@pytest.mark.parametrize("kind", [OneHotEncoder, preprocessing.OneHotEncoder])
@pytest.mark.parametrize("drop", [None, "first", [None, 3.0]], ids=str)
def test_missing_values_are_a_feature(kind, drop):
    """If they are dropped they become zeros, and unknown values are rejected."""
    rows = np.array([["a", 3.0], [None, np.nan], ["b", 3.0]], object)
    theirs = kind(drop=drop, sparse_output=False).fit(rows)
    ours = Encoder.from_sklearn(theirs)

    np.testing.assert_array_equal(ours.transform(rows), theirs.transform(rows))
    assert ours.columns == ("x0", "x1")
    assert ours.schema.dtype == np.float64
    with pytest.raises(ValueError, match="'c' is unknown"):
        ours.transform(np.array([["c", 3.0]], object))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"min_frequency": 2, "handle_unknown": "infrequent_if_exist"},
            r"set_params\(handle_unknown='ignore'\)",
        ),
        ({"feature_name_combiner": str}, "feature_name_combiner"),
        ({"categories": [["a", "b", None, np.nan]]}, "several missing values"),
    ],
    ids=str,
)
def test_encoders_of_scikit_learn_without_an_equivalent_are_rejected(options, message):
    encoder = preprocessing.OneHotEncoder(**options).fit([["a"], ["b"], ["a"]])

    with pytest.raises(ValueError, match=message):
        Encoder.from_sklearn(encoder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"handle_unknown": "indicator"}, "has no handle_unknown='indicator'"),
        ({"handle_missing": "indicator"}, "scikit-learn distinguishes None from NaN"),
        (
            {"min_frequency": 2, "handle_unknown": "infrequent"},
            "encode missing values as infrequent",
        ),
        ({"min_frequency": 2, "handle_missing": "indicator"}, "places the feature"),
        ({}, r"set_params\(handle_missing='error'\) with handle_unknown='error'"),
        ({"handle_unknown": {"k": "ignore"}}, "handle_missing"),
        (
            {"handle_unknown": "ignore", "drop": {"m": "x"}},
            "in every column, in every binary column",
        ),
        ({"handle_unknown": "ignore", "categories": {"k": []}}, "has no categories"),
        (
            {"handle_unknown": "ignore", "drop": "last", "min_frequency": 2},
            "cannot drop an infrequent category",
        ),
    ],
    ids=str,
)
def test_encoders_without_an_equivalent_in_scikit_learn_are_rejected(options, message):
    table = {"k": ["a", "b", "b", None], "m": ["x", "y", "z", None]}
    encoder = Encoder(["k", "m"], **options).fit(table)

    with pytest.raises(ValueError, match=message):
        encoder.to_sklearn()


def test_infrequent_categories_are_converted():
    encoder = Encoder(["c"], min_frequency=2, handle_unknown="ignore").fit({"c": list("abbc")})
    theirs = encoder.to_sklearn()

    rows = pd.DataFrame({"c": list("abcd")})
    assert theirs.transform(rows).tolist() == [[0, 1], [1, 0], [0, 1], [0, 0]]
    assert (theirs.min_frequency, theirs.max_categories) == (2, None)


def test_an_encoder_without_counts_may_have_seen_missing_values():
    """It was converted, and knows the dropped category NaN only as a row of zeros."""
    frame = pd.DataFrame({"c": [0.5, np.nan]})
    fitted = OneHotEncoder(drop="if_binary", max_categories=2).fit(frame)
    converted = Encoder.from_sklearn(fitted)

    assert converted.transform(frame).to_numpy().tolist() == [[1], [0]]
    with pytest.raises(ValueError, match="handles missing values like unknown values"):
        converted.to_sklearn()
