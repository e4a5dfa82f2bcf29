"""Encoders of scikit-learn as models of ONNX, and pipelines that skl2onnx converts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx_models import run
from programs import run as run_program
from strategies import examples

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


def table(rows: list[Any]) -> Any:
    first = ("a", 7, 0.5)  # so that the type of each column is known
    return pd.DataFrame([first, *rows], columns=["text", "whole", "float"])


TABLES = st.lists(ROWS, min_size=2, max_size=8).map(table)


@given(fitted=TABLES, rows=TABLES, options=OPTIONS, kind=st.booleans())
@examples(1.5)
def test_an_encoder_of_scikit_learn_becomes_a_model(
    fitted: Any, rows: Any, options: Any, kind: bool
) -> None:
    """Infrequent categories and missing values included, which skl2onnx lacks."""
    classes = (preprocessing.OneHotEncoder, OneHotEncoder)
    encoder = classes[kind](**options, sparse_output=False).fit(fitted)
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


def flights(n: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    frame = {
        "carrier": random.choice(list("abcdef"), n, p=[0.4, 0.3, 0.2, 0.05, 0.03, 0.02]),
        "hour": random.integers(0, 9, n),
        "distance": random.normal(size=n).astype(np.float32),
        "speed": random.choice([1.5, 2.0, np.nan], n),
    }
    return pd.DataFrame(frame)


def in_columns(encoder: Any, columns: list[str]) -> Any:
    scaled = ("scaled", preprocessing.StandardScaler(), ["distance"])
    return ColumnTransformer([("coded", encoder, columns), scaled])


MIXED = ["carrier", "hour", "speed"]
STEPS = {
    "drop-in": lambda: in_columns(OneHotEncoder(handle_unknown="ignore"), ["carrier", "hour"]),
    "drop-in, infrequent": lambda: in_columns(
        OneHotEncoder(min_frequency=20, handle_unknown="infrequent_if_exist", dtype=int), MIXED
    ),
    "OrdinalEncoder": lambda: in_columns(
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["carrier"]
    ),
    "TargetEncoder": lambda: in_columns(TargetEncoder(), ["carrier"]),
    "KBinsDiscretizer": lambda: in_columns(
        KBinsDiscretizer(4, encode="onehot-dense", strategy="uniform"), ["hour"]
    ),
    "Encoder among columns": lambda: in_columns(
        Encoder(
            MIXED,
            handle_unknown="infrequent",
            min_frequency=20,
            handle_missing={"speed": "indicator"},
        ),
        MIXED,
    ),
    "Encoder of a table": lambda: Encoder(handle_unknown="ignore", drop="first"),
    "Encoder of a table, as a matrix": lambda: Encoder(
        handle_unknown="ignore", dtype="float32"
    ).set_output(transform="csr"),
    "Encoder of features alone": lambda: Encoder(
        ["hour", "carrier"], handle_unknown="ignore", remainder="drop", dtype="int64"
    ),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_pipeline_is_converted(step: str) -> None:
    """With a classifier as last step, for inputs in another order."""
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common import data_types as types

    if step == "TargetEncoder":
        pytest.importorskip("skl2onnx.operator_converters.target_encoder")
    is_whole = step.startswith("Encoder of")
    names = ["distance", "carrier", "hour"] if is_whole else [*MIXED, "distance"]
    train, rows = flights(500, 0)[names], flights(200, 1)[names]
    rows.loc[0, "carrier"] = "unknown"
    pipeline = make_pipeline(STEPS[step](), LogisticRegression())
    pipeline.fit(train, flights(500, 2)["hour"] > 4)
    kinds = {
        "carrier": types.StringTensorType,
        "hour": types.Int64TensorType,
        "distance": types.FloatTensorType,
        "speed": types.DoubleTensorType,
    }
    inputs = [(name, kinds[name]([None, 1])) for name in sorted(names)]
    model = skl2onnx.to_onnx(pipeline, initial_types=inputs, options={"zipmap": False})

    expected = pipeline.predict_proba(rows)
    np.testing.assert_allclose(run(model, input_feed(model, rows))[1], expected, atol=1e-6)


def test_one_tensor_of_all_columns_is_converted() -> None:
    """A pipeline of an array has one input; its type must be that of the categories."""
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common import data_types as types

    rows = np.array([["a", "x"], ["b", "y"], ["a", "y"]], object)
    for encoder in (Encoder(), OneHotEncoder(sparse_output=False)):
        encoder.fit(rows)
        model = skl2onnx.to_onnx(encoder, initial_types=[("X", types.StringTensorType([None, 2]))])
        np.testing.assert_array_equal(run(model, {"X": rows})[0], encoder.transform(rows))
        with pytest.raises(
            TypeError, match="categories such as 'a': declare its input as string, got int64"
        ):
            skl2onnx.to_onnx(encoder, initial_types=[("X", types.Int64TensorType([None, 2]))])


def test_labels_are_converted() -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common import data_types as types

    binarizer = LabelBinarizer().fit([3, 1, 2])
    model = skl2onnx.to_onnx(binarizer, initial_types=[("y", types.Int64TensorType([None, 1]))])
    [got] = run(model, {"y": np.array([[2], [3]])})
    np.testing.assert_array_equal(got, binarizer.transform([2, 3]))


@pytest.mark.parametrize("other", [LogisticRegression(), OneHotEncoder(), "an encoder"])
def test_only_fitted_encoders_become_models(other: Any) -> None:
    with pytest.raises(TypeError, match=r"must be a fitted onehot_fast\.Encoder or OneHotEncoder"):
        to_onnx(other)


def test_converters_are_registered_when_skl2onnx_is_imported() -> None:
    """Before or after this package; a search for the module imports nothing."""
    pytest.importorskip("skl2onnx")
    program = """
import importlib, sys
from importlib.util import find_spec
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
