"""
Fit linear models without building the matrix
=============================================

``OneHotMatrix`` stores only codes, and computes products and Gram matrices from them. Least squares
and Newton's method need nothing else.

The script needs ``pip install "onehot-fast[arrow,sklearn]" matplotlib``.
"""

# %%
# A table of five columns with 3, 12, 50, 100 and 300 categories. Each category has an effect, which
# decides about the price, and about a yes or no:
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.linear_model import LogisticRegression, Ridge

from onehot_fast import Encoder, OneHotMatrix

SIZES = {"channel": 3, "month": 12, "region": 50, "product": 100, "seller": 300}
PENALTY = 1.0  # of the squared coefficients, in all models


def draw(n_rows: int, seed: int = 0) -> tuple[pa.Table, np.ndarray, np.ndarray]:
    """Return a table of categories, a binary target and a price."""
    generator = np.random.default_rng(seed)
    score, columns = np.zeros(n_rows), {}
    for name, n in SIZES.items():
        codes = generator.integers(0, n, n_rows)
        score += np.random.default_rng(n).normal(size=n)[codes]  # the same effects in every batch
        words = pa.array([f"{name} {i:03}" for i in range(n)])
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), words)
    is_yes = (generator.random(n_rows) < 1 / (1 + np.exp(-score))).astype(float)
    return pa.table(columns), is_yes, score + generator.normal(size=n_rows)


table, is_yes, price = draw(60_000)
X = Encoder([*SIZES]).fit_transform(table, output="implicit")
X

# %%
# Logistic regression by Newton's method
# --------------------------------------
# Every step needs two products and one weighted Gram matrix. A constant column is not needed,
# because the columns of each categorical column add up to it.


def newton(X: OneHotMatrix, y: np.ndarray, steps: int = 25) -> np.ndarray:
    """Return the coefficients of logistic regression, exact to rounding errors."""
    ridge = PENALTY * np.eye(X.shape[1])
    w = np.zeros(X.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(X @ w)))
        gradient = X.T @ (p - y) + PENALTY * w
        step = np.linalg.solve(X.gram(p * (1 - p)) + ridge, gradient)
        w -= step
        if np.abs(step).max() < 1e-10:
            break
    return w


coefficients = newton(X, is_yes)
dict(zip(X.column_names[:3], coefficients[:3].round(3).tolist(), strict=True))

# %%
# Least squares with a penalty needs one product and one Gram matrix:


def least_squares(X: OneHotMatrix, y: np.ndarray) -> np.ndarray:
    """Return the coefficients of ridge regression."""
    return np.linalg.solve(X.gram() + PENALTY * np.eye(X.shape[1]), X.T @ y)


# %%
# scikit-learn fits the same models on the sparse matrix. The coefficients agree:
csr = X.to_csr()
options = {"C": 1 / PENALTY, "fit_intercept": False}
cholesky = LogisticRegression(solver="newton-cholesky", tol=1e-8, **options)
lbfgs = LogisticRegression(solver="lbfgs", tol=1e-7, max_iter=1000, **options)
ridge = Ridge(PENALTY, tol=1e-8, fit_intercept=False)
models = {
    "logistic": {
        "onehot_fast": lambda: newton(X, is_yes),
        "newton-cholesky": lambda: cholesky.fit(csr, is_yes).coef_[0],
        "lbfgs": lambda: lbfgs.fit(csr, is_yes).coef_[0],
    },
    "ridge": {
        "onehot_fast": lambda: least_squares(X, price),
        "scikit-learn": lambda: ridge.fit(csr, price).coef_,
    },
}
seconds = {}
for kind, fits in models.items():
    for name, fit in fits.items():
        times = []
        for _ in range(2):
            begin = time.perf_counter()
            found = fit()
            times.append(time.perf_counter() - begin)
        seconds[kind, name] = min(times)
        assert np.abs(found - fits["onehot_fast"]()).max() < 0.05, name

# %%
# Times are compared within a kind of model: milliseconds depend on the machine that built this
# page, ratios much less. The times do not include the matrices.
names = [f"{kind}: {name}" for kind, name in seconds]
ratios = [each / seconds[kind, "onehot_fast"] for (kind, _), each in seconds.items()]
figure, axes = plt.subplots(figsize=(8, 2.6), layout="constrained")
colors = ["#f58518" if "onehot_fast" in name else "#4c78a8" for name in names]
axes.scatter(ratios, names, c=colors, s=60, zorder=2)
for ratio, name in zip(ratios, names, strict=True):
    axes.annotate(f"{ratio:.2g}", (ratio, name), (8, -3), textcoords="offset points")
axes.set(xscale="log", xlabel="time, onehot_fast = 1 (lower is better; the axis is logarithmic)")
axes.set_xlim(min(ratios) / 1.5, max(ratios) * 2)
axes.xaxis.set_major_formatter("{x:g}")
axes.grid(alpha=0.3)
_ = axes.invert_yaxis()

# %%
# A file larger than memory
# -------------------------
# Gram matrices and products with the transpose add up, so least squares needs one pass over a file:


def ridge_of_file(path: Path, encoder: Encoder, target: str, batch_rows: int) -> np.ndarray:
    """Return the coefficients of ridge regression for a Parquet file, with one batch in memory."""
    n = encoder.n_features
    gram, moments = np.zeros((n, n)), np.zeros(n)
    for batch in pq.ParquetFile(path).iter_batches(batch_rows):
        X = encoder.transform(batch, "implicit")
        gram += X.gram()
        moments += X.T @ batch.column(target).to_numpy()
    return np.linalg.solve(gram + PENALTY * np.eye(n), moments)


encoder = Encoder([*SIZES], remainder="drop")
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "sales.parquet")
    pq.write_table(table.append_column("price", pa.array(price)), path)
    for batch in pq.ParquetFile(path).iter_batches(20_000, columns=[*SIZES]):
        encoder.partial_fit(batch)
    coefficients = ridge_of_file(path, encoder, "price", batch_rows=20_000)
is_equal = np.allclose(coefficients, least_squares(X, price), atol=1e-6)
is_equal
