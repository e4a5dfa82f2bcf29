"""One table through every door: the same features and rows, as Python's own loops make them."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from typing import Any

import encoder_oracle
import numpy as np

from onehot_fast import Encoder
from torture.doors import KINDS, doors, draw_rows, mapping, pandas
from torture.tensors import pick

# How often a door is taken: Dask takes as long as all others together.
SHARES = {"mapping": 1.0, "dask": 0.15}
HERE = {"scheduler": "synchronous"}


def case(seed: int) -> Counter[str]:
    """Fit through one door and transform through every other."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    kinds = {f"c{i}": pick(rng, [*KINDS]) for i in range(int(rng.integers(1, 4)))}
    pools = {name: KINDS[kind](rng, 200) for name, kind in kinds.items()}
    n_rows = int(pick(rng, [0, 1, 2, 5, 40, 300]))
    fitted = {name: draw_rows(rng, pool, max(n_rows, 1)) for name, pool in pools.items()}
    rows = {name: draw_rows(rng, pool, n_rows) for name, pool in pools.items()}
    options = draw_options(rng, fitted)
    given = {k: v for k, v in vars(options).items() if k != "categories"}
    chosen = {n: door for n, door in doors().items() if rng.random() < SHARES.get(n, 0.6)}
    encoders = {}
    for name, door in chosen.items():
        encoders[name] = Encoder([*kinds], dtype="f4", **given).fit(door(fitted, kinds))
        found[f"fit {name}"] += 1
    # As a category that was met 0.0 and -0.0 are one, which is 0.0.
    fitted = {c: [0.0 if v == 0 and type(v) is float else v for v in fitted[c]] for c in fitted}
    names = [n for c in kinds for n in encoder_oracle.names(c, fitted[c], options)]
    encoder = encoders[pick(rng, [*encoders])]
    wanted = encoded_rows(rows, fitted, options)
    for name, each in encoders.items():
        assert [*each.get_feature_names_out()] == names, name
        assert each == encoders["mapping"], name
    back = Encoder.from_json(encoder.to_json())
    assert back == encoder
    half = max(n_rows, 1) // 2
    parts = [{c: v[s] for c, v in fitted.items()} for s in (slice(half), slice(half, None))]
    merged = [Encoder([*kinds], dtype="f4", **given) for _ in parts]
    for one, part in zip(merged, parts, strict=True):
        one.partial_fit(mapping(part, kinds))
    assert merged[0].merge(merged[1]) == encoder
    found["merge"] += 1
    for name, door in chosen.items():
        table = door(rows, kinds)
        for form in ("numpy", "csr"):
            try:
                actual = pick(rng, [encoder, back]).transform(table, form)
                actual = actual.compute(**HERE) if name == "dask" else actual
            except ValueError:
                assert wanted is None, f"{name} is refused"
                found["refused"] += 1
                continue
            assert wanted is not None, f"{name} is not refused"
            dense = actual if form == "numpy" else actual.toarray()
            np.testing.assert_array_equal(dense, wanted, err_msg=name)
            found[f"transform {name}"] += 1
    _to_sklearn(encoder, rows, kinds, wanted, found)
    _like_sklearn(rng, fitted, rows, kinds, found)
    if wanted is not None and options.drop is None and options.handle_unknown != "ignore":
        compare_inverse(encoder, rows, kinds, options, fitted, found)
    return found


def draw_options(rng: np.random.Generator, fitted: Any) -> encoder_oracle.Options:
    """Return options that these columns can be fitted with."""
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
    """Decode what has a value of its own."""
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
    """Let scikit-learn's own encoder do the same, where it can say it."""
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
        assert wanted is None, "scikit-learn refuses"
    else:
        assert wanted is not None, "scikit-learn does not refuse"
        np.testing.assert_array_equal(actual, wanted, err_msg="scikit-learn")
    found["to_sklearn"] += 1


def _like_sklearn(
    rng: np.random.Generator, fitted: Any, rows: Any, kinds: Any, found: Counter[str]
) -> None:
    """Do as scikit-learn's encoder, whatever that does, with the one that is in its place."""
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
    told = [
        _told(kind(**options), pandas(fitted, kinds), pandas(rows, kinds))
        for kind in (preprocessing.OneHotEncoder, OneHotEncoder)
    ]
    theirs, ours = told
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


def _told(encoder: Any, fitted: Any, rows: Any) -> Any:
    """Return what an encoder of scikit-learn says of a table: why not, or all that it makes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            encoded = encoder.fit(fitted).transform(rows)
        except (ValueError, TypeError) as error:
            return type(error).__name__
    dense = encoded.toarray() if hasattr(encoded, "toarray") else encoded
    return [dense, encoder.get_feature_names_out(), *encoder.categories_]


def _sklearn() -> Any:
    """Return the module that has the encoders of scikit-learn; None where it is missing."""
    try:
        import pandas  # noqa: F401
        from sklearn import preprocessing
    except ImportError:
        return None
    return preprocessing


def _is_refused_by_sklearn(rows: list[Any]) -> bool:
    """Tell whether scikit-learn never takes a column: without rows, or with an infinite value."""
    return not rows or any(isinstance(value, float) and math.isinf(value) for value in rows)


def encoded_rows(rows: Any, fitted: Any, options: Any) -> np.ndarray | None:
    """Return what the oracle says of the rows; None if one is refused."""
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
