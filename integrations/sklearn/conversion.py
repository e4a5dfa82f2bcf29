"""An `onehot_fast.Encoder` as scikit-learn's OneHotEncoder, and the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import preprocessing
from sklearn.utils.validation import check_is_fitted

from onehot_fast import Encoder
from onehot_fast.adapter import Categories, ColumnSchema, read_values

__all__ = ["from_sklearn", "to_sklearn"]

# What unknown values of both libraries have in common; without infrequent categories they are so.
UNKNOWN = {"error": "error", "ignore": "ignore", "warn": "warn", "infrequent_if_exist": "ignore"}


def from_sklearn(encoder: Any) -> Encoder:
    """Return the Encoder of a fitted OneHotEncoder; see `onehot_fast.Encoder.from_sklearn`."""
    check_is_fitted(encoder)
    if any(each is not None for each in getattr(encoder, "infrequent_categories_", [])):
        raise ValueError("infrequent categories cannot be taken over: nothing says how often")
    if encoder.feature_name_combiner != "concat":
        raise ValueError("feature_name_combiner cannot be taken over: Encoder has prefix=")
    is_named = hasattr(encoder, "feature_names_in_")
    n_columns = len(encoder.categories_)
    names = [*encoder.feature_names_in_] if is_named else [f"x{i}" for i in range(n_columns)]
    options: dict[str, Any] = {"categories": {}, "drop": {}, "handle_missing": {}}
    drops = [None] * n_columns if encoder.drop_idx_ is None else encoder.drop_idx_
    for name, categories, dropped in zip(names, encoder.categories_, drops, strict=True):
        items = categories.tolist() if categories.dtype.kind in "OUS" else [*categories]
        is_missing = read_values(items).encode().codes < 0
        has_missing = bool(is_missing[-1:].any())
        if is_missing[:-1].any():
            raise ValueError(f"column {name!r} has several categories of missing values")
        unseen = "error" if encoder.handle_unknown == "error" else "ignore"
        options["handle_missing"][name] = "indicator" if has_missing else unseen
        if dropped is not None and is_missing[dropped]:
            options["handle_missing"][name] = "ignore"  # all off, as what is dropped
        elif dropped is not None:
            options["drop"][name] = [items[dropped]]
        options["categories"][name] = items[: len(items) - has_missing]
    options |= {"handle_unknown": UNKNOWN[encoder.handle_unknown], "dtype": encoder.dtype}
    known = Encoder(names, **options)
    return known.fit({n: [] for n in names} if is_named else np.empty((0, n_columns), object))


def to_sklearn(encoder: Encoder) -> Any:
    """Return the OneHotEncoder of a fitted Encoder; see `onehot_fast.Encoder.to_sklearn`."""
    columns = encoder.schema.columns
    rules = {_rule(column) for column in columns}
    if len(rules) != 1:
        raise ValueError(f"scikit-learn has one handle_unknown for all columns, not {rules!r}")
    categories = [column.known.to_array() for column in columns]
    known = preprocessing.OneHotEncoder(
        categories=categories,
        drop=_drop(columns),
        handle_unknown=rules.pop(),
        dtype=encoder.schema.dtype,
        sparse_output=False,
    )
    first = np.empty((1, len(columns)), object)
    first[0] = [array[:1].tolist()[0] for array in categories]
    known.fit(first)
    # As if from a table, each of whose columns has the dtype of its categories.
    known.categories_ = categories
    known.feature_names_in_ = np.array([str(column.name) for column in columns], object)
    return known


def _rule(column: ColumnSchema) -> str:
    """Return the one rule for what is unknown and what is missing, as scikit-learn has it."""
    if not len(column.known):
        raise ValueError(f"column {column.name!r} has no categories")
    if column.specials or column.propagates_missing:
        raise ValueError(
            f"column {column.name!r} has outputs that scikit-learn's OneHotEncoder cannot have:"
            " those of infrequent, unknown or missing values, or NaN"
        )
    rule = column.options.handle_unknown
    unknown = "ignore" if rule == "infrequent" else rule
    missing = "error" if unknown == "error" else "ignore"
    if column.options.handle_missing != missing:
        raise ValueError(
            f"column {column.name!r}: to scikit-learn a missing value is unknown; set_params("
            f"handle_missing={missing!r}) goes with handle_unknown={unknown!r}"
        )
    return unknown


def _drop(columns: tuple[ColumnSchema, ...]) -> Any:
    """Return which categories are dropped: of all columns, of none, or of those with two."""
    dropped = [np.flatnonzero(column.outputs < 0) for column in columns]
    n_dropped = {len(positions) for positions in dropped}
    if n_dropped == {0}:
        return None
    if n_dropped == {1}:
        pairs = zip(columns, dropped, strict=True)
        labels = [column.known.take(positions).tolist()[0] for column, positions in pairs]
        return Categories.of(labels).to_array()
    of_binary = [[0] if len(column.known) == 2 else [] for column in columns]
    if [positions.tolist() for positions in dropped] == of_binary:
        return "if_binary"
    raise ValueError("scikit-learn drops a category of all columns, of none, or if_binary")
