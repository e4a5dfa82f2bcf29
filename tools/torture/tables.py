"""Tables of any kind of values: each library gives the features and rows of the oracle."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import encoder_oracle
import numpy as np
from libraries import LIBRARIES

from onehot_fast import Encoder, OneHotMatrix
from torture.tensors import pick

SMALL_TABLES = 8
# The module of each library, and those that are installed.
MODULES = {
    "numpy": "numpy", "lists": "numpy", "pandas": "pandas", "arrow": "pyarrow",
    "polars": "polars", "narwhals": "narwhals", "dask": "dask",
}  # fmt: skip
HAS_SKLEARN = find_spec("sklearn") and find_spec("pandas")
INSTALLED = [name for name, module in MODULES.items() if find_spec(module)]
# How often a library is chosen: Dask takes as long as all others together.
SHARES = {"numpy": 1.0, "dask": 0.15}
LETTERS = "abé€𝄞 _\0"


def draw_rows(rng: np.random.Generator, pool: list[Any], n: int) -> list[Any]:
    """Return values of a pool."""
    return [pool[i] for i in rng.integers(0, len(pool), n)]


def _texts(rng: np.random.Generator, most: int) -> list[Any]:
    n = min(most, int(pick(rng, [1, 3, 30, 200])))
    texts = ["".join(pick(rng, LETTERS) for _ in range(int(rng.integers(20)))) for _ in range(n)]
    return [*texts, *[None] * int(rng.integers(2))]


def _integers(rng: np.random.Generator, most: int) -> list[Any]:
    near = int(pick(rng, [0, 0, 2**31, -(2**63), 2**63 - 100, 2**53]))
    n = min(most, int(pick(rng, [1, 2, 50, 90])))
    return [near + int(i) for i in rng.integers(0, 99, n)]


def _floats(rng: np.random.Generator, most: int) -> list[Any]:
    special = [0.0, -0.0, 0.1, 1e300, 5e-324, math.inf, -math.inf, math.nan, 2.0**63]
    return [pick(rng, special) for _ in range(int(rng.integers(1, 6)))] + [float(rng.random())]


# Functions that make a pool of values, of a maximal number.
KINDS: dict[str, Callable[[np.random.Generator, int], list[Any]]] = {
    "text": _texts,
    "dictionary": _texts,
    "integer": _integers,
    "float": _floats,
    "truth": lambda rng, most: [True, False][int(rng.integers(2)) :],
}
DTYPES = {"integer": np.int64, "float": np.float64, "truth": np.bool_}


def _array(values: list[Any], kind: str) -> np.ndarray:
    array = np.empty(len(values), DTYPES.get(kind, object))
    array[:] = values
    return array


def make(library: str, rows: Any, kinds: Any) -> Any:
    """Return a table of a library."""
    if library == "lists":
        return dict(rows)
    arrays = {name: _array(values, kinds[name]) for name, values in rows.items()}
    if library == "dask":
        import dask
        import dask.dataframe as dd

        with dask.config.set({"dataframe.convert-string": False}):
            return dd.from_pandas(LIBRARIES["pandas"]().table(arrays), npartitions=3)
    table = LIBRARIES[library]().table(arrays)
    if library == "arrow":
        for i, kind in enumerate(kinds.values()):
            if kind == "dictionary":
                table = table.set_column(i, table.column_names[i], table[i].dictionary_encode())
    return table


def case(seed: int) -> Counter[str]:
    """Fit one table, and more often many small ones, and transform the rows of others."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    light = [name for name in INSTALLED if name != "dask"]
    for _ in range(SMALL_TABLES):
        readers = [pick(rng, light) for _ in range(2)]
        _compare(rng, found, 6, int(pick(rng, [0, 1, 1, 2, 5, 12])), readers)
    chosen = [name for name in INSTALLED if rng.random() < SHARES.get(name, 0.6)]
    _compare(rng, found, 200, int(pick(rng, [0, 1, 2, 5, 40, 300])), chosen)
    return found


def _compare(
    rng: np.random.Generator, found: Counter[str], n_values: int, n_rows: int, chosen: list[str]
) -> None:
    """Fit with some libraries and transform with others; all results are those of the oracle."""
    kinds = {f"c{i}": pick(rng, [*KINDS]) for i in range(int(pick(rng, [1, 1, 2, 3])))}
    pools = {name: KINDS[kind](rng, n_values) for name, kind in kinds.items()}
    fitted = {name: draw_rows(rng, pool, max(n_rows, 1)) for name, pool in pools.items()}
    rows = {name: draw_rows(rng, pool, n_rows) for name, pool in pools.items()}
    options = draw_options(rng, fitted)
    encoders = [_fitted(rng, found, library, fitted, kinds, options) for library in chosen]
    # 0.0 and -0.0 are one category, 0.0.
    fitted = {c: [0.0 if v == 0 and type(v) is float else v for v in fitted[c]] for c in fitted}
    names = [n for c in kinds for n in encoder_oracle.names(c, fitted[c], options)]
    wanted = encoded_rows(rows, fitted, options)
    encoder = encoders[0]
    back = Encoder.from_json(encoder.to_json())
    for other in [*encoders, back]:
        assert [*other.get_feature_names_out()] == names, (chosen, fitted, options)
        assert other == encoder, (chosen, fitted, options)
    if n_values > 6 and HAS_SKLEARN:
        _to_sklearn(encoder, rows, kinds, wanted, found)
        _like_sklearn(rng, fitted, rows, kinds, found)
    for library in chosen:
        forms = ["numpy", "csr"] if library == "dask" else ["numpy", "csr", "csc", "implicit"]
        form = pick(rng, forms)
        context: tuple[Any, ...] = (library, form, fitted, rows, options)
        try:
            actual = pick(rng, [encoder, back]).transform(make(library, rows, kinds), form)
            actual = actual.compute(scheduler="synchronous") if library == "dask" else actual
        except ValueError:
            assert wanted is None, context
            found["rejected"] += 1
            continue
        assert wanted is not None, context
        if form == "implicit":
            _check_products(rng, actual, wanted, context)
            actual = actual.to_csr("f4")
        dense = actual if form == "numpy" else actual.toarray()
        np.testing.assert_array_equal(dense, wanted, err_msg=str(context))
        found[f"transform {library}"] += 1
    if wanted is not None and options.drop is None and options.handle_unknown != "ignore":
        compare_inverse(encoder, rows, options, fitted, wanted)
        found["inverse"] += 1


def _fitted(
    rng: np.random.Generator, found: Counter[str], library: str, rows: Any, kinds: Any, options: Any
) -> Encoder:
    """Fit all rows at once, or two parts in turn, or two parts that are merged."""
    given = {k: v for k, v in vars(options).items() if k != "categories"}
    encoder, other = (Encoder([*kinds], dtype="f4", **given) for _ in range(2))
    way = "fit" if library == "dask" else pick(rng, ["fit", "fit", "partial_fit", "merge"])
    found[f"{way} {library}"] += 1
    if way == "fit":
        return encoder.fit(make(library, rows, kinds))
    half = len(next(iter(rows.values()))) // 2
    parts = [{c: v[part] for c, v in rows.items()} for part in (slice(half), slice(half, None))]
    first, second = (make(library, part, kinds) for part in parts)
    encoder.partial_fit(first)
    if way == "merge":
        return encoder.merge(other.partial_fit(second))
    return encoder.partial_fit(second)


def _check_products(
    rng: np.random.Generator, matrix: OneHotMatrix, wanted: np.ndarray, context: tuple[Any, ...]
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
        np.testing.assert_array_equal(actual, expected, err_msg=str(context))


def draw_options(rng: np.random.Generator, fitted: Any) -> encoder_oracle.Options:
    """Return options that fit these columns."""
    options = encoder_oracle.Options(
        drop=pick(rng, [None, None, "first", "last", "if_binary", "most_frequent"]),
        handle_missing=pick(rng, ["ignore", "indicator", "propagate", "error"]),
        handle_unknown=pick(rng, ["error", "ignore", "indicator"]),
        min_frequency=pick(rng, [None, None, 2, 0.2]),
        max_categories=pick(rng, [None, None, None, 1, 3]),
    )
    if any(encoder_oracle.is_missing(v) for column in fitted.values() for v in column):
        options.handle_missing = pick(rng, ["ignore", "indicator", "propagate"])
    return options


def compare_inverse(
    encoder: Encoder, rows: Any, options: Any, fitted: Any, matrix: np.ndarray
) -> None:
    """Decode rows of frequent categories."""
    values = encoder.inverse_transform(matrix)
    for name, column in rows.items():
        rare = encoder_oracle.is_infrequent(fitted[name], options)
        known = encoder_oracle.categories_of(fitted[name], options)
        own = {v for v, is_rare in zip(known, rare, strict=True) if not is_rare}
        for value, decoded in zip(column, values[name].tolist(), strict=True):
            if not encoder_oracle.is_missing(value) and value in own:
                assert decoded == value, (name, value, decoded)


def _to_sklearn(
    encoder: Encoder, rows: Any, kinds: Any, wanted: np.ndarray | None, found: Counter[str]
) -> None:
    """Compare with scikit-learn's own encoder, if it has these options."""
    values = [value for column in rows.values() for value in column]
    # scikit-learn rejects tables without rows and infinite values.
    if not values or any(isinstance(v, float) and math.isinf(v) for v in values):
        return
    with suppress(ValueError):
        theirs = encoder.to_sklearn()
        found["to_sklearn"] += 1
        try:
            actual = theirs.transform(make("pandas", rows, kinds))
        except ValueError:
            # Missing values that `fit` did not see are unknown values of scikit-learn's class.
            is_right = wanted is None or any(map(encoder_oracle.is_missing, values))
            assert is_right, "scikit-learn rejects it"
        else:
            assert wanted is not None, "scikit-learn accepts it"
            np.testing.assert_array_equal(actual, wanted, err_msg="scikit-learn")


def _like_sklearn(
    rng: np.random.Generator, fitted: Any, rows: Any, kinds: Any, found: Counter[str]
) -> None:
    """Compare the drop-in class with scikit-learn's encoder."""
    if not all(rows.values()):
        return
    from sklearn import preprocessing

    from onehot_fast.integrations.sklearn import OneHotEncoder

    options = {
        "drop": pick(rng, [None, None, "first", "if_binary"]),
        "handle_unknown": pick(rng, ["error", "ignore", "infrequent_if_exist"]),
        "min_frequency": pick(rng, [None, None, 2, 0.2]),
        "max_categories": pick(rng, [None, None, 1, 3]),
        "dtype": np.float32,
        "sparse_output": bool(rng.integers(2)),
    }
    frames = [make("pandas", each, kinds) for each in (fitted, rows)]
    theirs, ours = (
        _result(kind(**options), *frames) for kind in (preprocessing.OneHotEncoder, OneHotEncoder)
    )
    assert ours == theirs, (fitted, rows, options)
    found["as scikit-learn rejected" if isinstance(theirs, str) else "as scikit-learn"] += 1


def _result(encoder: Any, fitted: Any, rows: Any) -> Any:
    """Return the error of an encoder of scikit-learn, or all its results, with NaN as None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            encoded = encoder.fit(fitted).transform(rows)
        except (ValueError, TypeError) as error:
            return type(error).__name__
    dense = encoded.toarray() if hasattr(encoded, "toarray") else encoded
    arrays = [dense, encoder.get_feature_names_out(), *encoder.categories_]
    return [
        (each.dtype, each.shape, [v if v == v else None for v in each.ravel().tolist()])
        for each in arrays
    ]


def encoded_rows(rows: Any, fitted: Any, options: Any) -> np.ndarray | None:
    """Return the matrix of the oracle; None if it rejects a row."""
    columns = [(rows[name], fitted[name], options) for name in rows]
    if any(encoder_oracle.refused_row(*column) is not None for column in columns):
        return None
    parts = []
    for column in columns:
        n_outputs = len(encoder_oracle.labels(*column[1:]))
        encoded = np.array(encoder_oracle.encode(*column), np.float32)
        parts.append(encoded.reshape(len(column[0]), n_outputs))
    return np.concatenate(parts, axis=1)
