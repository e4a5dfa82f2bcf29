"""Which encoders can be merged."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from onehot_fast.integrations.sklearn.saved import params_to_json


def check_mergeable(one: BaseEstimator, other: Any) -> None:
    """Refuse what is no encoder, or has other parameters."""
    kind = type(one).__name__
    if not isinstance(other, type(one)):
        raise TypeError(f"a {type(other).__name__} cannot be merged into a {kind}")
    if _comparable(one) != _comparable(other):
        raise ValueError(f"the encoders differ in their parameters: {one!r} and {other!r}")


def check_same_features(one: BaseEstimator, other: BaseEstimator) -> None:
    """Refuse an encoder of other features."""
    features = [
        list(getattr(each, "feature_names_in_", range(each.n_features_in_)))
        for each in (one, other)
    ]
    if features[0] != features[1]:
        raise ValueError(f"the encoders have different features: {features[0]} and {features[1]}")


def _comparable(encoder: BaseEstimator) -> tuple[Any, Any]:
    """Return the parameters as what can be compared: arrays, and NaN in them, cannot."""
    params = encoder.get_params()
    combine = params.pop("feature_name_combiner")
    return combine, params_to_json(params)
