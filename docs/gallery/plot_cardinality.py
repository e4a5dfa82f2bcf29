"""
Size against the number of categories
=====================================

A dense one-hot matrix grows with the number of categories. A sparse matrix, codes and an implicit
matrix do not.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from onehot_fast import Encoder

n_rows = 50_000
rng = np.random.default_rng(0)
sizes = [3, 10, 30, 100, 300, 1_000, 3_000]
forms = {"numpy": [], "csr": [], "codes": [], "implicit": []}
for n_categories in sizes:
    users = np.array([f"u{i}" for i in rng.integers(0, n_categories, n_rows)])
    encoder = Encoder(["user"], dtype="float32").fit({"user": users})
    dense = encoder.estimate(n_rows).bytes["numpy"]
    csr = encoder.transform({"user": users}, "csr")
    forms["numpy"].append(dense)
    forms["csr"].append(csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes)
    forms["codes"].append(encoder.transform({"user": users}, "codes").nbytes)
    forms["implicit"].append(encoder.transform({"user": users}, "implicit").nbytes)

# %%
# One float32 column of 50,000 rows. ``Encoder.estimate`` gives the dense size without building it.
figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
for form, n_bytes in forms.items():
    axes.loglog(sizes, np.array(n_bytes) / 2**20, marker="o", label=f'output="{form}"')
axes.set(xlabel="categories", ylabel="MiB")
axes.grid(alpha=0.3)
_ = axes.legend()
