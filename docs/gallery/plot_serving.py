"""
Serve single requests
=====================

A service encodes one row for each request. The time must not depend on the number of categories.
The plot shows the time of one row of five columns, from an encoder that was loaded from JSON.

The script needs ``pip install onehot-fast matplotlib scipy``.
"""

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

from onehot_fast import Encoder

rng = np.random.default_rng(0)
sizes = [10, 100, 1_000, 10_000]
times = []
for n_categories in sizes:
    values = [f"value {i}" for i in range(n_categories)]
    table = {f"column {k}": values for k in range(5)}
    text = Encoder([*table], dtype="float32", handle_unknown="ignore").fit(table).to_json()
    encoder = Encoder.from_json(text)
    requests = [{name: [values[i]] for name in table} for i in rng.integers(0, n_categories, 200)]
    encoder.transform(requests[0], "csr")  # the first call builds the hash tables
    seconds = []
    for request in requests:
        begin = time.perf_counter()
        encoder.transform(request, "csr")
        seconds.append(time.perf_counter() - begin)
    times.append(np.median(seconds) * 1e6)

# %%
# Microseconds depend on the machine that built this page, so the plot has ratios. A flat line means
# that the time does not grow with the number of categories.
ratios = np.array(times) / times[0]
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
axes.semilogx(sizes, ratios, marker="o")
axes.set(
    xlabel="categories of each column",
    ylabel="median time of one row, divided by\nthat with 10 categories",
    ylim=(0, max(2, 1.1 * ratios.max())),
)
axes.xaxis.set_major_formatter("{x:,.0f}")
axes.grid(alpha=0.3)

# %%
# A service without Python can run the encoder as an ONNX model: see ``Encoder.to_onnx``.
