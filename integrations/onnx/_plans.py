"""What becomes of each column of a fitted encoder, or why ONNX cannot say it."""

from __future__ import annotations

import sys
from numbers import Real
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from onehot_fast import Encoder
from onehot_fast.adapter import Categories, ColumnSchema, as_literal, read_values

from ._nodes import NAN, NONE, REFUSED, Plan

# The dtypes that all operators of a model take.
DTYPES = {
    *("bool", "float16", "bfloat16", "float32", "float64"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}
# Integers up to here are exact in float64.
EXACT = 2**53


def plan_encoder(encoder: Any) -> list[Plan]:
    """Return the plans of an `onehot_fast.Encoder`, or of a OneHotEncoder of scikit-learn."""
    if isinstance(encoder, Encoder):
        return [_plan_column(column) for column in encoder.schema.columns]
    if not hasattr(encoder, "drop_idx_"):
        raise TypeError(
            f"{encoder!r} cannot be written as ONNX; accepted are an onehot_fast.Encoder and a"
            " OneHotEncoder, both fitted; pipelines are converted by skl2onnx.to_onnx"
        )
    names = [*map(str, input_names(encoder))]
    nothing = [None] * len(names)
    drops = nothing if encoder.drop_idx_ is None else encoder.drop_idx_
    rare = encoder._infrequent_indices if encoder._infrequent_enabled else nothing
    columns = zip(names, encoder.categories_, drops, rare, strict=True)
    rule = encoder.handle_unknown
    if rule == "warn" and _release_of_sklearn() < (1, 8):
        rule = "ignore"  # which is what it did then, whatever was infrequent
    return [_plan_sklearn(rule, *column) for column in columns]


def _release_of_sklearn() -> tuple[int, ...]:
    return tuple(map(int, sys.modules["sklearn"].__version__.split(".")[:2]))


def input_names(encoder: Any) -> list[Any]:
    """Return the names of the columns that `fit` saw."""
    n_columns = encoder.n_features_in_
    return [*getattr(encoder, "feature_names_in_", [f"x{i}" for i in range(n_columns)])]


def check_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the dtype of an output, or refuse one that the operators of ONNX do not take."""
    known: np.dtype[Any] = np.dtype(dtype)
    if known.name not in DTYPES:
        raise ValueError(f"dtype {known} cannot be written as ONNX; accepted are {sorted(DTYPES)}")
    return known


def _plan_column(column: ColumnSchema) -> Plan:
    *outputs, unknown, missing = column.lut.tolist()
    options, name = column.options, str(column.name)
    if options.handle_unknown == "error":
        unknown = REFUSED
    if options.handle_missing == "error":
        missing = REFUSED
    if column.propagates_missing:
        missing = NAN
    needs_missing = column.propagates_missing or column.missing_output >= 0
    kind = _kind_of(name, column.known, needs_missing)
    return Plan(name, column.known.tolist(), outputs, unknown, missing, column.n_outputs, kind)


def _plan_sklearn(rule: str, name: str, categories: Any, drop: int | None, rare: Any) -> Plan:
    """Return the plan of a column of scikit-learn's OneHotEncoder."""
    items = categories.tolist() if categories.dtype.kind in "OUS" else [*categories]
    is_rare = np.zeros(len(items), bool)
    is_rare[[] if rare is None else rare] = True
    outputs = np.where(is_rare, n_frequent := int((~is_rare).sum()), np.cumsum(~is_rare) - 1)
    n_outputs = n_frequent + bool(is_rare.any())
    if drop is not None:
        dropped = outputs[drop]
        outputs = np.where(outputs == dropped, NONE, outputs - (outputs > dropped))
        n_outputs -= 1
    unknown = REFUSED if rule == "error" else NONE
    if rule not in ("error", "ignore") and is_rare.any():
        unknown = int(outputs[is_rare][0])
    is_missing = read_values(items).encode().codes < 0
    missing = {*outputs[is_missing].tolist()} or {unknown}
    if len(missing) > 1:
        raise ValueError(f"column {name!r} tells None from NaN, which ONNX cannot")
    known = Categories.of([items[i] for i in np.flatnonzero(~is_missing)])
    kind = _kind_of(name, known, bool(is_missing.any()))
    keys, outputs = known.tolist(), outputs[~is_missing]
    return Plan(name, keys, outputs.tolist(), unknown, missing.pop(), n_outputs, kind)


def _kind_of(name: str, known: Categories, needs_missing: bool) -> int:
    """Return the type of an input for these categories, and for missing values if need be."""
    keys = known.tolist()
    if not keys:
        raise ValueError(
            f"column {name!r} has no category, so that the type of its values is not known: leave"
            " it out of columns="
        )
    if known.family == "string":
        return _kind_of_texts(name, keys, needs_missing)
    if known.dtype is not None and known.family == "number":
        if known.dtype.kind == "f" or not needs_missing:
            return int(helper.np_dtype_to_tensor_dtype(known.dtype))
    elif known.family is not None:
        what = "bytes" if known.family == "binary" else known.dtype
        raise ValueError(
            f"column {name!r} has categories of {what}, for which ONNX has no type: make them"
            " texts or integers before fit"
        )
    if not all(isinstance(key, Real | np.number) and not isinstance(key, str) for key in keys):
        raise ValueError(
            f"column {name!r} has categories of several types, where ONNX has one for a column:"
            " make all of them texts before fit"
        )
    inexact = [key for key in keys if not _is_exact(key)]
    if inexact:
        raise ValueError(
            f"column {name!r}: its missing values, or its categories of several types, need an"
            f" input of floats, and {inexact[0]!r} is none of 64 bits: make them texts before fit"
        )
    return TensorProto.DOUBLE


def _kind_of_texts(name: str, keys: list[str], needs_missing: bool) -> int:
    if needs_missing and "" in keys:
        raise ValueError(
            f"column {name!r}: ONNX writes a missing text as an empty one, and that is a category"
            " of its own: give one of the two another name before fit"
        )
    try:
        "".join(keys).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"column {name!r}: ONNX has texts in UTF-8 only ({error})") from None
    return TensorProto.STRING


def _is_exact(key: Any) -> bool:
    """Tell whether a number is a float64, and no other number becomes the same one."""
    is_float = isinstance(key, float | np.floating)
    return as_literal(key, "float") is not None and (is_float or abs(key) < EXACT)
