"""Tables of a few rows by the thousand: fitted through one door, encoded through another."""

from __future__ import annotations

from collections import Counter
from typing import Any

import encoder_oracle
import numpy as np

from onehot_fast import Encoder, OneHotMatrix
from torture.doors import KINDS, doors, draw_rows
from torture.tables import compare_inverse, draw_options, encoded_rows
from torture.tensors import pick

TABLES = 20
LIGHT = "mapping", "lists", "pandas", "pyarrow", "polars"


def case(seed: int) -> Counter[str]:
    """Fit and transform some tables."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    for _ in range(TABLES):
        _table(rng, found)
    return found


def _dense(actual: Any, form: str) -> np.ndarray:
    """Return an encoded table as an array."""
    if form == "implicit":
        return actual.to_numpy("f4")
    return actual if form == "numpy" else actual.toarray()


def _check_products(
    rng: np.random.Generator, matrix: OneHotMatrix, wanted: np.ndarray, said: tuple[Any, ...]
) -> None:
    """Compare products of whole numbers, which are exact in any order."""
    n_rows, n_columns = wanted.shape
    width = int(pick(rng, [1, 3, 8, 9]))
    x, y = rng.integers(-9, 9, (n_columns, width)), rng.integers(-9, 9, (n_rows, width))
    weights = rng.integers(-3, 4, n_rows) if rng.random() < 0.5 else None
    scaled = wanted if weights is None else wanted * weights[:, None]
    for actual, expected in (
        (matrix @ x, wanted @ x),
        (matrix.T @ y, wanted.T @ y),
        (matrix.gram(weights), scaled.T @ wanted),
        (matrix.gram(weights, output="csr").toarray(), scaled.T @ wanted),
    ):
        np.testing.assert_array_equal(actual, expected, err_msg=str(said))


def _table(rng: np.random.Generator, found: Counter[str]) -> None:
    kinds = {f"c{i}": pick(rng, [*KINDS]) for i in range(int(pick(rng, [1, 1, 2, 3])))}
    pools = {name: KINDS[kind](rng, 6) for name, kind in kinds.items()}
    n_rows = int(pick(rng, [0, 1, 1, 2, 5, 12]))
    fitted = {name: draw_rows(rng, pool, max(n_rows, 1)) for name, pool in pools.items()}
    rows = {name: draw_rows(rng, pool, n_rows) for name, pool in pools.items()}
    options = draw_options(rng, fitted)
    given = {k: v for k, v in vars(options).items() if k != "categories"}
    there = doors(*LIGHT)
    learns, reads = pick(rng, [*there]), pick(rng, [*there])
    encoder = Encoder([*kinds], dtype="f4", **given)
    if rng.random() < 0.2:
        half = max(n_rows, 1) // 2
        for part in (slice(half), slice(half, None)):
            encoder.partial_fit(there[learns]({c: v[part] for c, v in fitted.items()}, kinds))
        found["partial_fit"] += 2
    else:
        encoder.fit(there[learns](fitted, kinds))
        found["fit"] += 1
    # As a category that was met 0.0 and -0.0 are one, which is 0.0.
    fitted = {c: [0.0 if v == 0 and type(v) is float else v for v in fitted[c]] for c in fitted}
    if rng.random() < 0.2:
        names = [n for c in kinds for n in encoder_oracle.names(c, fitted[c], options)]
        assert [*encoder.get_feature_names_out()] == names, (learns, fitted, options)
        again = Encoder.from_json(encoder.to_json())
        assert again == encoder
        encoder = again
        found["JSON"] += 1
    wanted = encoded_rows(rows, fitted, options)
    form = pick(rng, ["numpy", "numpy", "csr", "csc", "implicit", "implicit"])
    said: tuple[Any, ...] = (learns, reads, fitted, rows, options)
    try:
        actual = encoder.transform(there[reads](rows, kinds), form)
    except ValueError:
        assert wanted is None, said
        found["refused"] += 1
        return
    assert wanted is not None, said
    if form == "implicit":
        _check_products(rng, actual, wanted, said)
    dense = _dense(actual, form)
    np.testing.assert_array_equal(dense, wanted, err_msg=str(said))
    found["transform"] += 1
    if options.drop is None and options.handle_unknown != "ignore" and rng.random() < 0.3:
        compare_inverse(encoder, rows, kinds, options, fitted, found)
