"""Encoders of scikit-learn as models of ONNX, and pipelines that skl2onnx converts."""

import importlib
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.onnx_models import run
from support.programs import run as run_program
from support.strategies import examples

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")
pytest.importorskip("sklearn")
pytest.importorskip("pandas")

import pandas as pd
from sklearn import preprocessing
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from onehot_fast import Encoder
from onehot_fast.integrations.onnx import input_feed, to_onnx
from onehot_fast.integrations.sklearn import (
    KBinsDiscretizer,
    LabelBinarizer,
    OneHotEncoder,
    OrdinalEncoder,
    TargetEncoder,
)

OPTIONS = st.fixed_dictionaries(
    {
        "handle_unknown": st.sampled_from(["error", "ignore", "infrequent_if_exist", "warn"]),
        "drop": st.sampled_from([None, "first", "if_binary"]),
        "min_frequency": st.sampled_from([None, 2, 0.3]),
        "max_categories": st.sampled_from([None, 2, 3]),
        "dtype": st.sampled_from([bool, np.int64, np.float32, np.float64]),
    }
)
ROWS = st.tuples(
    st.sampled_from(["a", "b", "cc", "é", None]),
    st.sampled_from([-1, 0, 7, 2**40]),
    st.sampled_from([0.5, -0.0, 0.1, np.nan]),
)


def table(rows):
    first = ("a", 7, 0.5)  # so that the type of each column is known
    return pd.DataFrame([first, *rows], columns=["text", "whole", "float"])


TABLES = st.lists(ROWS, min_size=2, max_size=8).map(table)


@given(fitted=TABLES, rows=TABLES, options=OPTIONS, is_ours=st.booleans())
@examples(1.5)
def test_an_encoder_of_scikit_learn_becomes_a_model(fitted, rows, options, is_ours):
    """Infrequent categories and missing values included, which skl2onnx lacks."""
    class_ = OneHotEncoder if is_ours else preprocessing.OneHotEncoder
    encoder = class_(**options, sparse_output=False).fit(fitted)
    model = to_onnx(encoder)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of unknown categories
        try:
            expected = encoder.transform(rows)
        except ValueError:
            with pytest.raises(Exception, match=r"column '.*': unknown"):
                run(model, input_feed(model, rows))
            return
    got = run(model, input_feed(model, rows))[0]
    assert (got.dtype, got.tolist()) == (expected.dtype, expected.tolist())


def flights(n, seed):
    random = np.random.default_rng(seed)
    frame = {
        "carrier": random.choice(list("abcdef"), n, p=[0.4, 0.3, 0.2, 0.05, 0.03, 0.02]),
        "hour": random.integers(0, 9, n),
        "distance": random.normal(size=n).astype(np.float32),
        "speed": random.choice([1.5, 2.0, np.nan], n),
    }
    return pd.DataFrame(frame)


def in_columns(encoder, columns):
    scaled = ("scaled", preprocessing.StandardScaler(), ["distance"])
    return ColumnTransformer([("coded", encoder, columns), scaled])


MIXED = ["carrier", "hour", "speed"]
INFREQUENT = {"min_frequency": 20, "handle_unknown": "infrequent"}
STEPS = {
    "drop-in": in_columns(OneHotEncoder(handle_unknown="ignore"), ["carrier", "hour"]),
    "drop-in, infrequent": in_columns(
        OneHotEncoder(min_frequency=20, handle_unknown="infrequent_if_exist", dtype=int), MIXED
    ),
    "OrdinalEncoder": in_columns(
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["carrier"]
    ),
    "TargetEncoder": in_columns(TargetEncoder(), ["carrier"]),
    "KBinsDiscretizer": in_columns(
        KBinsDiscretizer(4, encode="onehot-dense", strategy="uniform"), ["hour"]
    ),
    "Encoder among columns": in_columns(
        Encoder(MIXED, **INFREQUENT, handle_missing={"speed": "indicator"}), MIXED
    ),
    "Encoder of a table": Encoder(handle_unknown="ignore", drop="first"),
    "Encoder of a table, as a matrix": Encoder(handle_unknown="ignore", dtype="float32").set_output(
        transform="csr"
    ),
    "Encoder of features alone": Encoder(
        ["hour", "carrier"], handle_unknown="ignore", remainder="drop", dtype="int64"
    ),
}


def converted(model, **kinds):
    """Return the model that skl2onnx makes; `kinds` are the types and widths of its inputs."""
    skl2onnx = pytest.importorskip("skl2onnx")
    types = importlib.import_module("skl2onnx.common.data_types")
    inputs = [
        (name, getattr(types, f"{kind}TensorType")([None, width]))
        for name, (kind, width) in kinds.items()
    ]
    options = {"zipmap": False} if hasattr(model, "predict_proba") else None
    return skl2onnx.to_onnx(model, initial_types=inputs, options=options)


@pytest.mark.parametrize("step", STEPS)
def test_a_pipeline_is_converted(step):
    """A converted pipeline predicts what the original predicts, for inputs in another order."""
    if step == "TargetEncoder":
        pytest.importorskip("skl2onnx.operator_converters.target_encoder")
    is_whole = step.startswith("Encoder of")
    names = ["distance", "carrier", "hour"] if is_whole else [*MIXED, "distance"]
    train, rows = flights(500, 0)[names], flights(200, 1)[names]
    rows.loc[0, "carrier"] = "unknown"
    pipeline = make_pipeline(STEPS[step], LogisticRegression())
    pipeline.fit(train, flights(500, 2)["hour"] > 4)
    kinds = {"carrier": "String", "hour": "Int64", "distance": "Float", "speed": "Double"}
    model = converted(pipeline, **{name: (kinds[name], 1) for name in sorted(names)})

    expected = pipeline.predict_proba(rows)
    np.testing.assert_allclose(run(model, input_feed(model, rows))[1], expected, atol=1e-6)


def test_one_tensor_of_all_columns_is_converted():
    """A pipeline of an array has one input; its type must be that of the categories."""
    rows = np.array([["a", "x"], ["b", "y"], ["a", "y"]], object)
    for encoder in (Encoder(), OneHotEncoder(sparse_output=False)):
        model = converted(encoder.fit(rows), X=("String", 2))
        np.testing.assert_array_equal(run(model, {"X": rows})[0], encoder.transform(rows))
        with pytest.raises(TypeError, match="must be declared as string"):
            converted(encoder, X=("Int64", 2))


def test_inputs_that_are_not_the_columns_are_rejected():
    rows = pd.DataFrame({"a": ["x", "y"], "b": ["p", "q"]})
    with pytest.raises(ValueError, match=r"fitted to the columns \['a', 'b'\], .* have \[3\] col"):
        converted(Encoder().fit(rows), X=("String", 3))
    with pytest.raises(TypeError, match="column 'b' has strings, but the output must be numeric"):
        converted(Encoder(["a"]).fit(rows), a=("String", 1), b=("String", 1))


def test_labels_are_converted():
    binarizer = LabelBinarizer().fit([3, 1, 2])
    [got] = run(converted(binarizer, y=("Int64", 1)), {"y": np.array([[2], [3]])})
    np.testing.assert_array_equal(got, binarizer.transform([2, 3]))


@pytest.mark.parametrize("other", [LogisticRegression(), OneHotEncoder(), "an encoder"])
def test_only_fitted_encoders_become_models(other):
    with pytest.raises(TypeError, match=r"must be a fitted onehot_fast\.Encoder or OneHotEncoder"):
        to_onnx(other)


def test_converters_are_registered_when_skl2onnx_is_imported():
    """Before or after this package; a search for the module imports nothing."""
    pytest.importorskip("skl2onnx")
    program = """
import importlib, sys
from importlib.util import find_spec
import onehot_fast
finders = [*sys.meta_path]
for name in {order}:
    importlib.import_module(name)
    assert find_spec("skl2onnx")
    assert name == "skl2onnx" or ("skl2onnx" in sys.modules) == ({order}[0] == "skl2onnx")
assert sys.meta_path == finders
from skl2onnx.common import _registration
assert "OnehotFastEncoder" in _registration._converter_pool
"""
    order = ["skl2onnx", "onehot_fast.integrations.onnx"]
    for names in (order, order[::-1]):
        run_program(program.replace("{order}", repr(names)))
