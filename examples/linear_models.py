"""Linear models on a one-hot matrix that stores only codes: Newton, ridge, and a file in batches.

Run it with ``python examples/linear_models.py`` if onehot-fast[arrow] and SciPy are installed;
``--rows`` sets the size. If scikit-learn or glum is installed too, they fit the same models, and
their losses and times are printed beside ours.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from printed import fastest, print_table, size

from onehot_fast import Encoder, OneHotMatrix

Floats = npt.NDArray[np.float64]

SIZES = {"channel": 3, "month": 12, "region": 50, "product": 100, "seller": 300}
PENALTY = 1.0  # of the squared coefficients, in all models


def draw(n_rows: int, seed: int = 0) -> tuple[pa.Table, Floats, Floats]:
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


def newton(X: OneHotMatrix, y: Floats, steps: int = 25) -> Floats:
    """Return the coefficients of logistic regression, exact to rounding errors.

    Each step solves for a weighted Gram matrix. A constant column is not needed, because the
    columns of each categorical column add up to it.
    """
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


def least_squares(X: OneHotMatrix, y: Floats) -> Floats:
    """Return the coefficients of ridge regression."""
    solution: Floats = np.linalg.solve(X.gram() + PENALTY * np.eye(X.shape[1]), X.T @ y)
    return solution


def ridge_of_file(path: Path, encoder: Encoder, target: str, batch_rows: int) -> Floats:
    """Return the coefficients of ridge regression for a Parquet file, with one batch in memory."""
    n = encoder.n_features
    gram, moments = np.zeros((n, n)), np.zeros(n)
    for batch in pq.ParquetFile(path).iter_batches(batch_rows):
        X = encoder.transform(batch, "implicit")
        gram += X.gram()
        moments += X.T @ batch.column(target).to_numpy()
    solution: Floats = np.linalg.solve(gram + PENALTY * np.eye(n), moments)
    return solution


def log_loss(X: OneHotMatrix, y: Floats, w: Floats) -> float:
    """Return the penalized loss that logistic regression minimizes."""
    score = X @ w
    return float(np.sum(np.logaddexp(0, score) - y * score) + PENALTY / 2 * w @ w)


def squared_loss(X: OneHotMatrix, y: Floats, w: Floats) -> float:
    """Return the penalized loss that ridge regression minimizes."""
    return float(np.sum((y - X @ w) ** 2) + PENALTY * w @ w)


def peers(
    X: OneHotMatrix, table: pa.Table, y: Floats, price: Floats
) -> dict[str, Callable[[], Any]]:
    """Return the same models of the libraries that are installed."""
    found: dict[str, Callable[[], Any]] = {}
    csr = X.to_csr()
    try:
        from sklearn.linear_model import LogisticRegression, Ridge
    except ImportError:
        pass
    else:
        for solver, options in (("newton-cholesky", {"tol": 1e-8}), ("lbfgs", {"max_iter": 1000})):
            model = LogisticRegression(C=1 / PENALTY, solver=solver, fit_intercept=False, **options)
            found[f"logistic, scikit-learn {solver}"] = lambda m=model: m.fit(csr, y).coef_[0]
        linear = Ridge(PENALTY, fit_intercept=False)
        found["ridge, scikit-learn"] = lambda: linear.fit(csr, price).coef_
    try:
        import tabmat
        from glum import GeneralizedLinearRegressor
    except ImportError:
        pass
    else:
        frame = table.to_pandas()
        matrix = tabmat.SplitMatrix([tabmat.CategoricalMatrix(frame[name]) for name in frame])
        glm = GeneralizedLinearRegressor(
            family="binomial", alpha=PENALTY / len(y), fit_intercept=False, gradient_tol=1e-8
        )
        found["logistic, glum with tabmat"] = lambda: glm.fit(matrix, y).coef_
    return found


def compare(n_rows: int) -> list[tuple[str, float, float]]:
    """Return the name, the seconds and the loss of each model."""
    table, y, price = draw(n_rows)
    X = Encoder([*SIZES]).fit_transform(table, output="implicit")
    models = {
        "logistic, onehot_fast": lambda: newton(X, y),
        "ridge, onehot_fast": lambda: least_squares(X, price),
    }
    results = []
    for name, fit in sorted((models | peers(X, table, y, price)).items()):
        seconds, w = fastest(fit)
        is_logistic = name.startswith("logistic")
        loss = log_loss(X, y, w) if is_logistic else squared_loss(X, price, w)
        results.append((name, seconds, loss))
    return results


def write_file(path: Path, encoder: Encoder, n_batches: int, batch_rows: int) -> None:
    """Write a file of many batches, and let the encoder learn their categories."""
    writer = None
    for seed in range(n_batches):
        table, _, price = draw(batch_rows, seed)
        table = table.append_column("price", pa.array(price))
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
        encoder.partial_fit(table)
    assert writer is not None
    writer.close()


def main() -> None:
    """Fit all models and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    n_rows = parser.parse_args().rows
    results = compare(n_rows)
    rows = [(name, f"{seconds * 1e3:,.0f} ms", f"{loss:,.4f}") for name, seconds, loss in results]
    print_table((f"{n_rows:,} rows", "time", "loss"), rows)
    with tempfile.TemporaryDirectory() as folder:
        path, encoder = Path(folder, "sales.parquet"), Encoder([*SIZES], remainder="drop")
        write_file(path, encoder, n_batches=8, batch_rows=max(n_rows // 4, 1))
        seconds, w = fastest(lambda: ridge_of_file(path, encoder, "price", max(n_rows // 4, 1)))
        n_file = pq.read_metadata(path).num_rows
        dense = n_file * encoder.n_features * 8
        print(
            f"\nA file of {n_file:,} rows, in batches: {seconds:.2f} s for {len(w)} coefficients."
            f" Its dense matrix would take {size(dense)}."
        )


if __name__ == "__main__":
    main()
