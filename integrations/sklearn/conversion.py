"""Convert between `onehot_fast.Encoder` and scikit-learn's OneHotEncoder."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import preprocessing

from onehot_fast import Encoder, Special
from onehot_fast.adapter import Categories, ColumnSchema, read_column

from ._exchange import check_fitted_instance

__all__ = ["from_sklearn", "to_sklearn"]

# The values of handle_unknown that scikit-learn has, and their names there.
RULES = {name: name for name in ("error", "ignore", "warn")} | {"infrequent": "infrequent_if_exist"}
AS_INFREQUENT = (
    ": scikit-learn would encode missing values as infrequent; call"
    " encoder.set_params(handle_unknown='ignore') to encode missing and unknown values as zeros"
)


def from_sklearn(encoder: Any) -> Encoder:
    """Return the Encoder of a fitted OneHotEncoder; see `onehot_fast.Encoder.from_sklearn`."""
    check_fitted_instance(encoder, preprocessing.OneHotEncoder)
    if encoder.feature_name_combiner != "concat":
        raise ValueError(
            "feature_name_combiner must be 'concat', because an Encoder cannot call a function, got"
            f" {encoder.feature_name_combiner!r}"
        )
    is_named, n_columns = hasattr(encoder, "feature_names_in_"), len(encoder.categories_)
    names = [*encoder.feature_names_in_] if is_named else [f"x{i}" for i in range(n_columns)]
    columns = {name: _options_of(encoder, i, name) for i, name in enumerate(names)}
    options: dict[str, Any] = {
        option: {name: column[option] for name, column in columns.items()}
        for option in ("categories", "drop", "handle_missing", "min_frequency")
    }
    rule = encoder.handle_unknown.removesuffix("_if_exist")
    options |= {"handle_unknown": rule, "dtype": encoder.dtype}
    shown = [column["shown"] for column in columns.values()]
    rows = np.full((max(map(len, shown), default=0), n_columns), None, object)
    for i, categories in enumerate(shown):
        rows[: len(categories), i] = categories
    # Shorter columns are padded with missing values, which this `fit` must accept.
    known = Encoder(names, **options | {"handle_missing": "ignore"})
    known.fit({name: rows[:, i] for i, name in enumerate(names)} if is_named else rows)
    return known.set_params(handle_missing=options["handle_missing"])


def _options_of(encoder: Any, i: int, name: Any) -> dict[str, Any]:
    """Return the `Encoder` options of a column.

    The item "shown" has the categories that rows must contain when the Encoder is fitted. The
    other categories become infrequent.
    """
    categories, rule = encoder.categories_[i], encoder.handle_unknown
    items = categories.tolist() if categories.dtype.kind in "OUS" else [*categories]
    is_missing = read_column(items).encode().codes < 0
    if is_missing[:-1].any():
        raise ValueError(
            f"column {name!r} has several missing values as categories, but an Encoder treats them"
            " as one: replace None by NaN, and fit again"
        )
    has_missing = bool(is_missing[-1:].any())
    dropped = None if encoder.drop_idx_ is None else encoder.drop_idx_[i]
    drops_missing = dropped is not None and bool(is_missing[dropped])
    infrequent = encoder._infrequent_indices[i] if encoder._infrequent_enabled else None
    if infrequent is not None:
        if rule not in ("error", "ignore"):
            raise ValueError(f"column {name!r}{AS_INFREQUENT}")
        if has_missing and not (drops_missing and dropped not in infrequent):
            raise ValueError(
                f"column {name!r}: an Encoder places the feature for missing values last, but"
                " scikit-learn places the feature for infrequent categories last; fit again without"
                " min_frequency and max_categories"
            )
    handle_missing = "error" if rule == "error" else "ignore"
    if has_missing:
        handle_missing = "ignore" if drops_missing else "indicator"
    drop: Any = None if dropped is None or drops_missing else [items[dropped]]
    if infrequent is not None and dropped is not None and dropped in infrequent:
        drop = "last"
    known, rare = items[: len(items) - has_missing], set() if infrequent is None else {*infrequent}
    return {
        "categories": known,
        "drop": drop,
        "handle_missing": handle_missing,
        "min_frequency": None if infrequent is None else 1,
        "shown": [item for j, item in enumerate(known) if j not in rare] if rare else [],
    }


def to_sklearn(encoder: Encoder) -> Any:
    """Return the OneHotEncoder of a fitted Encoder; see `onehot_fast.Encoder.to_sklearn`."""
    encoder.schema.check_plain("scikit-learn's OneHotEncoder")
    columns = encoder.schema.columns
    rules = {_rule(column, encoder.schema.n_rows) for column in columns}
    if len(rules) != 1:
        raise ValueError(f"handle_unknown must be the same for all columns, got {rules!r}")
    categories: list[Any] = [column.known.to_array() for column in columns]
    for i, column in enumerate(columns):
        if Special.MISSING in column.specials:
            categories[i] = np.append(categories[i], np.nan)
    known = preprocessing.OneHotEncoder(
        categories=categories,
        handle_unknown=rules.pop(),
        dtype=encoder.schema.dtype,
        sparse_output=False,
    )
    first = np.empty((1, len(columns)), object)
    first[0] = [array[:1].tolist()[0] for array in categories]
    known.fit(first)
    # Set what `fit` learns from a table whose columns have the dtypes of their categories.
    known.categories_ = categories
    known.feature_names_in_ = np.array([str(column.name) for column in columns], object)
    known.set_params(drop=_drop(columns))
    is_infrequent = [column.is_infrequent for column in columns]
    if any(flags.any() for flags in is_infrequent):
        known.set_params(min_frequency=1)._check_infrequent_enabled()
        counts = [np.where(flags, 0, 1) for flags in is_infrequent]
        known._fit_infrequent_category_mapping(1, counts, {})
        for option in ("min_frequency", "max_categories"):
            values = {getattr(column.options, option) for column in columns}
            if len(values) == 1:
                known.set_params(**{option: values.pop()})
    known._set_drop_idx()
    known._n_features_outs = known._compute_n_features_outs()
    return known


def _rule(column: ColumnSchema, n_rows: int) -> str:
    """Return scikit-learn's handle_unknown for a column; raise ValueError if none is equivalent."""
    name, options, specials = column.name, column.options, set(column.specials)
    unknown = options.handle_unknown
    if not len(column.known):
        raise ValueError(f"column {name!r} has no categories, but scikit-learn needs at least one")
    if specials > {Special.MISSING} or unknown not in RULES or column.propagates_missing:
        reason = "places the feature for missing values before the one for infrequent values"
        reason = "cannot encode missing values as NaN" if column.propagates_missing else reason
        reason = reason if unknown in RULES else f"has no handle_unknown={unknown!r}"
        raise ValueError(
            f"column {name!r}: scikit-learn's OneHotEncoder {reason}; use"
            " set_params(handle_missing='ignore', handle_unknown='ignore')"
        )
    if column.is_infrequent.any() and unknown not in ("error", "ignore"):
        raise ValueError(f"column {name!r}{AS_INFREQUENT}")
    if Special.MISSING in specials:
        if column.known.dtype is None or column.known.dtype.kind != "f":
            raise ValueError(
                f"column {name!r}: scikit-learn distinguishes None from NaN, but Encoder does not;"
                " use a column of floats, in which all missing values are NaN"
            )
    elif options.handle_missing != (missing := "error" if unknown == "error" else "ignore"):
        # `n_rows` is 0 after `from_sklearn`.
        has_seen_all = column.learned.counts.sum() == n_rows > 0
        if not (has_seen_all and options.handle_missing == "ignore"):
            raise ValueError(
                f"column {name!r}: scikit-learn handles missing values like unknown values; use"
                f" set_params(handle_missing={missing!r}) with handle_unknown={unknown!r}"
            )
    return RULES[unknown]


def _drop(columns: tuple[ColumnSchema, ...]) -> Any:
    """Return `drop` for scikit-learn: an array of categories, None or "if_binary"."""
    dropped = [np.flatnonzero(column.feature_of_category < 0)[:1] for column in columns]
    n_dropped = {len(positions) for positions in dropped}
    if n_dropped == {0}:
        return None
    if n_dropped == {1}:
        pairs = [*zip(columns, dropped, strict=True)]
        if any(column.is_infrequent[positions].any() for column, positions in pairs):
            raise ValueError("scikit-learn cannot drop an infrequent category: pass another drop=")
        labels = [column.known.take(positions).tolist()[0] for column, positions in pairs]
        return Categories.of(labels).to_array()
    if [positions.tolist() for positions in dropped] == [*map(_first_of_two, columns)]:
        return "if_binary"
    raise ValueError(
        "scikit-learn can drop one category in every column, in every binary column, or in none:"
        " pass another drop="
    )


def _first_of_two(column: ColumnSchema) -> list[int]:
    """Return a list with the position that "if_binary" drops, empty if the column is not binary."""
    n_features = len(np.unique(column.feature_of_category)) + (Special.MISSING in column.specials)
    return np.flatnonzero(~column.is_infrequent)[:1].tolist() if n_features == 2 else []
