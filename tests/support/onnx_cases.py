"""Random encoders with a table to encode, in the kinds of values that ONNX has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from onehot_fast import Encoder

TEXTS = ["a", "b", "cc", "é€", " ", "A", "a\0b", "nan", "None", "0", "a" * 40, "(missing)"]
DOUBLES = [0.0, -0.0, 0.1, float(np.float32(0.1)), 0.1 + 1e-12, 1e300, 2e300, -np.inf, 2.0, 5e-324]
WHOLE = [-(2**63), -1, 0, 1, 7, 2**31, 2**53 - 1, 2**53 + 1, 2**63 - 1]
# Values of each kind, and how a column holds them: a dtype, or None for a list.
KINDS: dict[str, tuple[list[Any], Any]] = {
    "text": (TEXTS, None),
    "text, empty too": (["", "a", "b"], None),
    "fixed-width text": (["a", "b", "ccc"], "U"),
    "int64": (WHOLE, "int64"),
    "int8": ([-128, -1, 0, 1, 127], "int8"),
    "uint64": ([0, 1, 2**63, 2**64 - 1], "uint64"),
    "bool": ([False, True], "bool"),
    "float64": (DOUBLES, "float64"),
    "float32": ([0.0, -0.0, 0.1, 1.5, np.inf, 3e38], "float32"),
    "float16": ([0.0, 0.1, 1.5, 6e4], "float16"),
    "whole and missing": ([-1, 0, 1, 2**40], None),
    "truth and missing": ([False, True], None),
    "numbers": ([True, 0, 2, 2.5, -1e300], None),
}
# What is among the categories, and so makes them of this kind.
ALWAYS_MET = {"numbers": [2.5], "uint64": [2**64 - 1], "text, empty too": [""]}
HAS_MISSING = {"text", "float64", "float32", "float16", "numbers"}
FLOATS = ["float16", "float32", "float64"]
DTYPES = ["bool", "int8", "uint16", "int64", *FLOATS]


@dataclass
class Case:
    encoder: Encoder
    fitted: dict[str, Any]
    rows: dict[str, Any]


def column(values: list[Any], dtype: Any) -> Any:
    if dtype is None:
        return values
    return np.array([np.nan if value is None else value for value in values], dtype)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Return an encoder of one to three columns, what it is fitted to, and rows to encode."""
    n_fitted, n_rows = draw(st.integers(1, 8)), draw(st.integers(0, 6))
    options: dict[str, dict[str, Any]] = {}
    fitted, rows = {}, {}
    for name in ["x", "two words", "É"][: draw(st.integers(1, 3))]:
        kind = draw(st.sampled_from(sorted(KINDS)))
        pool, dtype = KINDS[kind]
        always = ALWAYS_MET.get(kind, [])
        met = always + draw(st.lists(st.sampled_from(pool), min_size=1, max_size=5))
        of_column, can_miss = draw(column_options(kind, met))
        known = met + [None] * can_miss
        fitted[name] = column((always + draw(_rows(known, n_fitted)))[:n_fitted], dtype)
        rows[name] = column(draw(_rows([*known, draw(st.sampled_from(pool))], n_rows)), dtype)
        for option, value in of_column.items():
            options.setdefault(option, {})[name] = value
    return Case(Encoder(list(fitted), **options), fitted, rows)


def _rows(values: list[Any], n_rows: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(values), min_size=n_rows, max_size=n_rows)


@st.composite
def column_options(draw: st.DrawFn, kind: str, met: list[Any]) -> tuple[dict[str, Any], bool]:
    """Return the options of a column, and whether values may be missing: not where ONNX cannot."""
    dtype = draw(st.sampled_from(DTYPES))
    rules = ["ignore", "error", "indicator"] + ["propagate"] * (dtype in FLOATS)
    if kind.endswith("and missing"):
        rules = [rule for rule in rules if rule not in ("ignore", "error")]
    elif kind not in HAS_MISSING:
        rules = ["ignore", "error"]
    handle_missing = draw(st.sampled_from(rules))
    options = {
        "handle_missing": handle_missing,
        "handle_unknown": draw(
            st.sampled_from(["error", "ignore", "warn", "indicator", "infrequent"])
        ),
        "drop": draw(st.sampled_from([None, "first", "last", "if_binary", "most_frequent"])),
        "min_frequency": draw(st.sampled_from([None, None, 2, 0.4])),
        "max_categories": draw(st.sampled_from([None, None, 2])),
        "dtype": dtype,
    }
    if draw(st.booleans()):
        distinct = list(dict.fromkeys(met))
        held = KINDS[kind][1]
        is_list = held in (None, "U")
        options["categories"] = distinct if is_list else np.unique(column(distinct, held))
    has_missing = kind.endswith("and missing") or kind in HAS_MISSING
    return options, has_missing and draw(st.booleans())
