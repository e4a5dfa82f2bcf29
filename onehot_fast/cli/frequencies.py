"""How frequent the categories of encoded columns are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onehot_fast.encoder import Encoder

__all__ = ["frequencies"]


def frequencies(plain: Encoder, chosen: Encoder, n_rows: int, top: int) -> dict[str, Any]:
    """Return for each column its most frequent categories, and which would be infrequent.

    Parameters
    ----------
    plain, chosen : Encoder
        Of the same rows, without options and with those that were chosen.
    n_rows : int
    top : int
        So many categories are listed.
    """
    listing, kept = plain.features, chosen.vocabulary
    found: dict[str, Any] = {}
    for column in chosen.schema.columns:
        name = str(column.name)
        here = (listing["column"] == column.name) & (listing["kind"] == "category")
        categories, counts = listing["category"][here], listing["count"][here]
        is_own = (kept["column"] == column.name) & (kept["kind"] == "category")
        own = set(kept["category"][is_own].tolist())
        is_rare = np.array([one not in own for one in categories.tolist()], bool)
        order = np.argsort(-counts, kind="stable")[:top]
        found[name] = {
            "categories": len(categories),
            "features": column.n_outputs,
            "top": [
                {
                    "category": _plain(categories[i]),
                    "count": int(counts[i]),
                    "share": int(counts[i]) / max(1, n_rows),
                    "infrequent": bool(is_rare[i]),
                }
                for i in order.tolist()
            ],
            "infrequent": {
                "categories": int(is_rare.sum()),
                "rows": int(counts[is_rare].sum()),
            },
        }
    return found


def _plain(value: Any) -> Any:
    """Return a value as JSON has it, or else as text."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool) else str(value)
