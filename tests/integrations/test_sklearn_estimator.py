"""The Encoder is an estimator for all tools of scikit-learn."""

import copy
import pickle

import numpy as np
import pytest

from support.programs import run

pytest.importorskip("pandas")
pytest.importorskip("sklearn", "1.6")

import pandas as pd
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from onehot_fast import Encoder

N = 60
FRAME = pd.DataFrame(
    {
        "size": np.resize(["S", "M", "L", "S"], N),
        "price": np.linspace(0, 1, N),
        "zip": np.resize(["01", "02", "03"], N),
    }
)
TARGET = np.resize([0, 1, 1, 0, 1], N)
# The checks that fail, with the reason.
EXPECTED_FAILURES = {
    "check_do_not_raise_errors_in_init_or_set_params": "an invalid option raises an error at once",
    "check_complex_data": "complex numbers are categories like others",
    "check_estimators_empty_data_messages": "a table of no rows or no columns can be encoded",
    "check_transformer_data_not_an_array": "a list of rows is not a table",
    "check_fit1d": "an array of one dimension is a table of one column",
    "check_fit2d_predict1d": "so it has too few columns, with an error in other words",
}


@pytest.mark.filterwarnings("ignore")  # that it has no base class, and refuses options early
def test_scikit_learns_own_checks():
    results = check_estimator(Encoder(), expected_failed_checks=EXPECTED_FAILURES, on_skip=None)

    failed = {r["check_name"] for r in results if r["status"] == "xfail"}
    assert failed == set(EXPECTED_FAILURES)
    assert sum(r["status"] == "passed" for r in results) > 30


def model(**options):
    """Return a model on the encoded frame, the numbers kept."""
    return Pipeline([("encode", Encoder(**options)), ("fit", LogisticRegression())])


def test_a_pipeline_equals_that_of_get_dummies():
    """A frame becomes a frame, with the other columns."""
    pipeline = model(handle_unknown="ignore").fit(FRAME, TARGET)
    dummies = pd.get_dummies(FRAME, columns=["size", "zip"])
    alone = LogisticRegression().fit(dummies, TARGET)

    named = pipeline[-1].feature_names_in_.tolist()
    assert sorted(named) == sorted(dummies.columns)
    assert pipeline[0].get_feature_names_out(FRAME.columns).tolist() == named
    np.testing.assert_allclose(pipeline.predict_proba(FRAME), alone.predict_proba(dummies), 1e-3)
    assert pipeline.predict(FRAME.assign(size="XL")).shape == (N,)


def test_options_are_parameters_of_a_search():
    """A search in two processes tries the options of an encoder, and whole encoders."""
    n_jobs = 2
    grid = {"encode__drop": [None, "first"], "encode__min_frequency": [None, 0.3]}
    encoders = [Encoder(drop="first"), Encoder(), Encoder().set_output(transform="csr")]
    for options, n_tried in ((grid, 4), ({"encode": encoders}, 3)):
        search = GridSearchCV(model(), options, cv=2, n_jobs=n_jobs).fit(FRAME, TARGET)
        assert set(search.best_params_) == set(options)
        assert len(search.cv_results_["params"]) == n_tried
    scores = cross_val_score(model(**{"drop": "first"}), FRAME, TARGET, cv=3, n_jobs=n_jobs)
    assert scores.shape == (3,)


def test_a_pipeline_of_tables_has_their_names():
    """The table can be decoded."""
    pipeline = model(columns="size").set_output(transform="pandas")[:-1].fit(FRAME)
    encoded = pipeline.transform(FRAME)

    assert pipeline.get_feature_names_out().tolist() == list(encoded)
    assert pipeline.inverse_transform(encoded).to_dict() == FRAME.to_dict()


def test_a_column_transformer_names_its_columns():
    both = ColumnTransformer(
        [("code", Encoder(dtype="float64"), ["zip", "size"]), ("scale", StandardScaler(), [1])]
    )
    encoded = both.fit_transform(FRAME)

    names = ["zip_01", "zip_02", "zip_03", "size_L", "size_M", "size_S"]
    assert both.get_feature_names_out().tolist() == [*(f"code__{n}" for n in names), "scale__price"]
    assert encoded.shape == (N, 7)
    framed = both.set_output(transform="pandas").fit_transform(FRAME)
    assert list(framed) == both.get_feature_names_out().tolist()
    np.testing.assert_array_equal(framed.to_numpy(), encoded)
    both = ColumnTransformer([("code", Encoder(dtype="uint8"), [2, 0])]).fit(FRAME.to_numpy(object))
    assert both.get_feature_names_out().tolist() == [
        *("code__x2_01", "code__x2_02", "code__x2_03"),
        *("code__x0_L", "code__x0_M", "code__x0_S"),
    ]
    with pytest.raises(ValueError, match="length equal to the number of columns"):
        both.named_transformers_["code"].get_feature_names_out(["a"])


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_set_output_of_a_union(form):
    """The names of a union are those of its parts, also through a pipeline."""
    pytest.importorskip(form)
    union = FeatureUnion([("a", Encoder("size")), ("b", Encoder("zip", remainder="drop"))])
    frame = union.set_output(transform=form).fit_transform(FRAME)

    names = ["a__size_L", "a__size_M", "a__size_S", "a__price", "a__zip"]
    assert union.get_feature_names_out().tolist() == [*names, "b__zip_01", "b__zip_02", "b__zip_03"]
    assert frame.shape == (N, 8)
    assert type(frame).__module__.startswith(form)


def test_set_output_chooses_the_form():
    """`output` overrides it, and it overrides the global setting; a clone has it, too."""
    encoder = Encoder("size", remainder="drop").set_output(transform="csr")

    assert encoder.fit_transform(FRAME).format == "csr"
    assert clone(encoder).fit_transform(FRAME).format == "csr"
    assert list(encoder.transform(FRAME, output="pandas"))[:2] == ["size_L", "size_M"]
    assert encoder.set_output(transform=None).transform(FRAME).format == "csr"
    assert isinstance(encoder.set_output(transform="default").transform(FRAME), pd.DataFrame)
    with config_context(transform_output="polars"):
        assert isinstance(encoder.transform(FRAME), pd.DataFrame)
        assert type(Encoder().fit_transform(FRAME)).__module__.startswith("polars")
    with pytest.raises(ValueError, match="did you mean 'pandas'"):
        encoder.set_output(transform="panda")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"columns": ["size"], "drop": {"size": ["first"]}, "categories": {"size": ["S", "M"]}},
        {"columns": make_column_selector(dtype_exclude="number"), "dtype": np.float32},
        {"columns": (name for name in ["size"]), "prefix": {"size": "is"}},
    ],
)
def test_clone_has_the_parameters_as_they_were_given(options):
    """A clone is not fitted; a pickle and a copy are."""
    encoder = Encoder(handle_unknown="ignore", **options)
    copied = clone(encoder)

    assert copied.get_params().keys() == {*Encoder().get_params()}
    assert copied.get_params()["dtype"] is encoder.get_params()["dtype"]
    if "drop" not in options:  # "first" is no category here
        encoder.fit(FRAME)
        for same in (pickle.loads(pickle.dumps(encoder)), copy.deepcopy(encoder)):
            assert same.transform(FRAME).equals(encoder.transform(FRAME))
            assert repr(same.get_params()["drop"]) == repr(encoder.get_params()["drop"])
    assert not clone(encoder).__sklearn_is_fitted__()


def test_set_params_of_a_fitted_encoder():
    """The encoder stays fitted, unless the columns or the categories change."""
    encoder = Encoder("size", remainder="drop").fit(FRAME)

    encoder.set_params(drop="first", dtype="uint8", handle_unknown="ignore")
    assert list(encoder.transform(FRAME))[:2] == ["size_M", "size_S"]
    check_is_fitted(encoder)
    with pytest.raises(
        ValueError, match="'dorp' is not a parameter of Encoder: did you mean 'drop'"
    ):
        encoder.set_params(dtype="int8", dorp=None)
    with pytest.raises(ValueError, match=r"handle_missing must be one of .* got 'no'"):
        encoder.set_params(dtype="int8", handle_missing="no")
    assert encoder.transform(FRAME, "numpy").dtype == np.uint8
    assert not encoder.set_params(columns=["zip"]).__sklearn_is_fitted__()
    assert encoder.get_params()["drop"] == "first"


def test_fitted_encoders_know_their_columns():
    encoder = Encoder("size")

    assert not hasattr(encoder, "n_features_in_")
    encoder.fit(FRAME, TARGET)
    assert (encoder.n_features_in_, encoder.feature_names_in_.tolist()) == (3, list(FRAME))
    back = Encoder.from_json(encoder.to_json())
    assert back.feature_names_in_.tolist() == list(FRAME)
    encoder.set_params(columns=None).fit(FRAME.to_numpy(object)[:, [0, 2]])
    assert encoder.n_features_in_ == 2
    assert not hasattr(encoder, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 1 features, but Encoder is expecting 2"):
        encoder.transform(np.array([["S"]], object))
    with pytest.raises(TypeError, match="pass output='csr'"):  # the second argument is the target
        encoder.fit_transform(FRAME, "csr")


def test_scikit_learn_is_not_imported():
    program = """
import sys
from onehot_fast import Encoder
encoder = Encoder().set_output(transform="numpy").set_params(drop="first")
encoder.fit_transform({"a": ["x", "y"]}, [0, 1])
encoder.get_feature_names_out(), encoder.get_params(), encoder.n_features_in_
assert "sklearn" not in sys.modules
"""
    run(program)
