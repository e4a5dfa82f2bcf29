"""Tables of any kind of values: each library gives the features and rows of the oracle."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import encoder_oracle
import numpy as np

from onehot_fast import Encoder, OneHotMatrix
from torture.tensors import pick

SMALL_TABLES = 8
LIGHT = "mapping", "lists", "pandas", "pyarrow", "polars"
# How often a library is chosen: Dask takes as long as all others together.
SHARES = {"mapping": 1.0, "dask": 0.15}
HERE = {"scheduler": "synchronous"}
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


def _truths(rng: np.random.Generator, most: int) -> list[Any]:
    return [True, False][int(rng.integers(2)) :]


# Functions that make a pool of values, of a maximal number.
KINDS: dict[str, Callable[[np.random.Generator, int], list[Any]]] = {
    "text": _texts,
    "declared": _texts,
    "integer": _integers,
    "float": _floats,
    "truth": _truths,
}
DTYPES = {"integer": np.int64, "float": np.float64, "truth": np.bool_}


def _array(values: list[Any], kind: str) -> np.ndarray:
    array = np.empty(len(values), DTYPES.get(kind, object))
    array[:] = values
    return array


def mapping(rows: Any, kinds: Any) -> Any:
    """Return a dict of arrays."""
    return {name: _array(values, kinds[name]) for name, values in rows.items()}


def _lists(rows: Any, kinds: Any) -> Any:
    return dict(rows)


def pandas(rows: Any, kinds: Any) -> Any:
    """Return a frame of pandas."""
    import pandas as pd

    return pd.DataFrame({n: pd.Series(_array(v, kinds[n])) for n, v in rows.items()})


def _arrow(rows: Any, kinds: Any) -> Any:
    import pyarrow as pa

    types = {"integer": pa.int64(), "float": pa.float64(), "truth": pa.bool_()}
    columns = {n: pa.array(v, types.get(kinds[n], pa.string())) for n, v in rows.items()}
    for name, kind in kinds.items():
        if kind == "declared":  # by its values alone: a dictionary declares nothing in Arrow
            columns[name] = columns[name].dictionary_encode()
    return pa.table(columns)


def _polars(rows: Any, kinds: Any) -> Any:
    import polars as pl

    types = {"integer": pl.Int64, "float": pl.Float64, "truth": pl.Boolean}
    return pl.DataFrame(
        {n: pl.Series(n, v, types.get(kinds[n], pl.String)) for n, v in rows.items()}
    )


def _dask(rows: Any, kinds: Any) -> Any:
    import dask
    import dask.dataframe as dd

    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(pandas(rows, kinds), npartitions=3)


@cache
def libraries(*names: str) -> dict[str, Callable[[Any, Any], Any]]:
    """Return a function for each library that is installed, which makes its tables."""
    made = {
        "mapping": mapping, "lists": _lists, "pandas": pandas, "pyarrow": _arrow,
        "polars": _polars, "dask": _dask,
    }  # fmt: skip
    modules = {"dask": "dask.dataframe", "mapping": "numpy", "lists": "numpy"}
    found = {}
    for name in names or made:
        try:
            __import__(modules.get(name, name))
        except ImportError:
            continue
        found[name] = made[name]
    return found


def case(seed: int) -> Counter[str]:
    """Fit one table, and more often many small ones, and transform the rows of others."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    for _ in range(SMALL_TABLES):
        readers = [pick(rng, [*libraries(*LIGHT)]) for _ in range(2)]
        _compare(rng, found, 6, int(pick(rng, [0, 1, 1, 2, 5, 12])), readers)
    chosen = [name for name in libraries() if rng.random() < SHARES.get(name, 0.6)]
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
    given = {k: v for k, v in vars(options).items() if k != "categories"}
    tables = {name: libraries()[name] for name in chosen}
    encoders = [Encoder([*kinds], dtype="f4", **given) for _ in tables]
    half = max(n_rows, 1) // 2
    for encoder, (name, table) in zip(encoders, tables.items(), strict=True):
        if rng.random() < 0.8 or name == "dask":
            encoder.fit(table(fitted, kinds))
            found[f"fit {name}"] += 1
            continue
        for part in (slice(half), slice(half, None)):
            encoder.partial_fit(table({c: v[part] for c, v in fitted.items()}, kinds))
        found["partial_fit"] += 2
    # 0.0 and -0.0 are one category, 0.0.
    fitted = {c: [0.0 if v == 0 and type(v) is float else v for v in fitted[c]] for c in fitted}
    names = [n for c in kinds for n in encoder_oracle.names(c, fitted[c], options)]
    wanted = encoded_rows(rows, fitted, options)
    encoder = encoders[0]
    for other in encoders:
        assert [*other.get_feature_names_out()] == names, (chosen, fitted, options)
        assert other == encoder, (chosen, fitted, options)
    back = Encoder.from_json(encoder.to_json())
    assert back == encoder
    if n_values > 6:
        _merge(encoder, fitted, kinds, given, half, found)
        _to_sklearn(encoder, rows, kinds, wanted, found)
        _like_sklearn(rng, fitted, rows, kinds, found)
    for name, table in tables.items():
        form = pick(
            rng, ["numpy", "csr"] if name == "dask" else ["numpy", "csr", "csc", "implicit"]
        )
        said: tuple[Any, ...] = (name, form, fitted, rows, options)
        try:
            actual = pick(rng, [encoder, back]).transform(table(rows, kinds), form)
            actual = actual.compute(**HERE) if name == "dask" else actual
        except ValueError:
            assert wanted is None, said
            found["refused"] += 1
            continue
        assert wanted is not None, said
        if form == "implicit":
            _check_products(rng, actual, wanted, said)
            actual = actual.to_csr("f4")
        dense = actual if form == "numpy" else actual.toarray()
        np.testing.assert_array_equal(dense, wanted, err_msg=str(said))
        found[f"transform {name}"] += 1
    if wanted is not None and options.drop is None and options.handle_unknown != "ignore":
        compare_inverse(encoder, rows, kinds, options, fitted, found)


def _merge(
    encoder: Encoder, fitted: Any, kinds: Any, given: Any, half: int, found: Counter[str]
) -> None:
    """Fit two parts and merge them."""
    merged = [Encoder([*kinds], dtype="f4", **given) for _ in range(2)]
    for one, part in zip(merged, (slice(half), slice(half, None)), strict=True):
        one.partial_fit(mapping({c: v[part] for c, v in fitted.items()}, kinds))
    assert merged[0].merge(merged[1]) == encoder
    found["merge"] += 1


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
    encoder: Encoder, rows: Any, kinds: Any, options: Any, fitted: Any, found: Counter[str]
) -> None:
    """Decode rows of frequent categories."""
    matrix = encoder.transform(mapping(rows, kinds), "numpy")
    values = encoder.inverse_transform(matrix)
    for name, column in rows.items():
        rare = encoder_oracle.is_infrequent(fitted[name], options)
        known = encoder_oracle.categories_of(fitted[name], options)
        own = {v for v, is_rare in zip(known, rare, strict=True) if not is_rare}
        for value, decoded in zip(column, values[name].tolist(), strict=True):
            if not encoder_oracle.is_missing(value) and value in own:
                assert decoded == value, (name, value, decoded)
    found["inverse"] += 1


def _to_sklearn(
    encoder: Encoder, rows: Any, kinds: Any, wanted: np.ndarray | None, found: Counter[str]
) -> None:
    """Compare with scikit-learn's own encoder, if it has these options."""
    if _sklearn() is None or any(map(_is_refused_by_sklearn, rows.values())):
        return
    try:
        theirs = encoder.to_sklearn()
    except ValueError:
        found["to_sklearn refused"] += 1
        return
    try:
        actual = theirs.transform(pandas(rows, kinds))
    except ValueError:
        # Missing values that `fit` did not see are unknown values of scikit-learn's class.
        has_missing = any(encoder_oracle.is_missing(v) for column in rows.values() for v in column)
        assert wanted is None or has_missing, "scikit-learn rejects it"
    else:
        assert wanted is not None, "scikit-learn accepts it"
        np.testing.assert_array_equal(actual, wanted, err_msg="scikit-learn")
    found["to_sklearn"] += 1


def _like_sklearn(
    rng: np.random.Generator, fitted: Any, rows: Any, kinds: Any, found: Counter[str]
) -> None:
    """Compare the drop-in class with scikit-learn's encoder."""
    preprocessing = _sklearn()
    if preprocessing is None or not all(rows.values()):
        return
    from onehot_fast.integrations.sklearn import OneHotEncoder

    options = {
        "drop": pick(rng, [None, None, "first", "if_binary"]),
        "handle_unknown": pick(rng, ["error", "ignore", "infrequent_if_exist"]),
        "min_frequency": pick(rng, [None, None, 2, 0.2]),
        "max_categories": pick(rng, [None, None, 1, 3]),
        "dtype": np.float32,
        "sparse_output": bool(rng.integers(2)),
    }
    results = [
        _result(kind(**options), pandas(fitted, kinds), pandas(rows, kinds))
        for kind in (preprocessing.OneHotEncoder, OneHotEncoder)
    ]
    theirs, ours = results
    assert type(theirs) is type(ours), (theirs, ours)
    if isinstance(theirs, str):
        assert theirs == ours
        found["as scikit-learn refused"] += 1
        return
    for one, other in zip(theirs, ours, strict=True):
        assert one.dtype == other.dtype
        if one.dtype == object:  # where NumPy does not take NaN for equal
            one, other = ([v if v == v else np.nan for v in each] for each in (one, other))
            assert one == other
        else:
            np.testing.assert_array_equal(one, other)
    found["as scikit-learn"] += 1


def _result(encoder: Any, fitted: Any, rows: Any) -> Any:
    """Return the error of an encoder of scikit-learn, or all its results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            encoded = encoder.fit(fitted).transform(rows)
        except (ValueError, TypeError) as error:
            return type(error).__name__
    dense = encoded.toarray() if hasattr(encoded, "toarray") else encoded
    return [dense, encoder.get_feature_names_out(), *encoder.categories_]


def _sklearn() -> Any:
    """Return the module with scikit-learn's encoders, or None."""
    try:
        import pandas  # noqa: F401
        from sklearn import preprocessing
    except ImportError:
        return None
    return preprocessing


def _is_refused_by_sklearn(rows: list[Any]) -> bool:
    """Tell whether scikit-learn rejects a column: without rows, or with an infinite value."""
    return not rows or any(isinstance(value, float) and math.isinf(value) for value in rows)


def encoded_rows(rows: Any, fitted: Any, options: Any) -> np.ndarray | None:
    """Return the matrix of the oracle; None if it rejects a row."""
    if any(
        encoder_oracle.refused_row(rows[name], fitted[name], options) is not None for name in rows
    ):
        return None
    parts = [
        np.array(encoder_oracle.encode(rows[name], fitted[name], options), np.float32).reshape(
            len(rows[name]), len(encoder_oracle.labels(fitted[name], options))
        )
        for name in rows
    ]
    return np.concatenate(parts, axis=1)
