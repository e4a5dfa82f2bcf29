"""
Compare the size of the output forms
====================================

Dense forms grow with the number of categories, sparse forms do not. ``Encoder.estimate`` returns
the bytes of every form before anything is encoded, here for a million rows of one column.

The script needs ``pip install onehot-fast matplotlib``.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter

from onehot_fast import Encoder

N_ROWS = 1_000_000
n_categories = [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000]


def sizes(n: int, dtype: str) -> dict[str, int]:
    """Return the bytes of each form."""
    names = np.array([f"category {i}" for i in range(n)])
    return Encoder(["c"], dtype=dtype).fit({"c": names}).estimate(N_ROWS).bytes


as_bool = [sizes(n, "bool") for n in n_categories]
as_float = [sizes(n, "float32") for n in n_categories]

# %%
# From four categories on, CSR is smaller than a dense float32 array.
lines = {
    "float32, NumPy or pandas": [each["numpy"] for each in as_float],
    "bool or uint8, NumPy or pandas": [each["numpy"] for each in as_bool],
    "bool, Arrow or polars": [each["arrow"] for each in as_bool],
    "float32, CSR": [each["csr"] for each in as_float],
    "bool or uint8, CSR": [each["csr"] for each in as_bool],
    "codes": [N_ROWS * np.min_scalar_type(n + 2).itemsize for n in n_categories],
}
styles = ["-", "-", "-", "--", "--", ":"]


def format_bytes(n_bytes: float, _: object) -> str:
    """Return a number of bytes with its unit."""
    return f"{n_bytes / 1e9:g} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:g} MB"


figure, axes = plt.subplots(figsize=(8, 4.8), layout="constrained")
for (label, values), style in zip(lines.items(), styles, strict=True):
    axes.loglog(n_categories, values, style, marker=".", label=label)
axes.set(xlabel="categories of the column", ylabel=f"bytes of {N_ROWS:,} rows")
axes.yaxis.set_major_formatter(FuncFormatter(format_bytes))
axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.0f}"))
axes.grid(alpha=0.3)
_ = axes.legend()

# %%
# :doc:`Choose an output form and dtype </forms>` says which form suits which tool, and
# :doc:`Benchmarks </benchmarks/index>` shows how long each form takes.
