"""Rows of several labels, options that accept them all, and what stands for special labels."""

from __future__ import annotations

from hypothesis import strategies as st

from support.encoder_oracle import UNKNOWN_RULES, Options

LABELS = ["a", "b", "c", "é€"]
ROWS = st.lists(
    st.none() | st.lists(st.sampled_from([*LABELS, None]), max_size=5), min_size=1, max_size=12
)
OPTIONS = st.builds(
    Options,
    handle_missing=st.sampled_from(["ignore", "indicator", "propagate"]),
    handle_unknown=st.sampled_from([rule for rule in UNKNOWN_RULES if rule != "error"]),
    min_frequency=st.none() | st.integers(1, 3),
    max_categories=st.none() | st.integers(1, 3),
)
# The options of `OPTIONS`, as keywords of `Encoder`.
KEYWORDS = ("handle_missing", "handle_unknown", "min_frequency", "max_categories")
# Where no object can stand for a special label.
TEXTS = {"unknown": "(unknown)", "infrequent": "(infrequent)"}
