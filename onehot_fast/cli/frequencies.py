"""How frequent the categories of encoded columns are, for programs and with bars for people."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.bar import Bar
from rich.console import Console
from rich.table import Table
from rich.text import Text

from onehot_fast.cli.errors import plural, printable
from onehot_fast.encoder import Encoder

__all__ = ["frequencies", "show_frequencies"]

BAR_WIDTH, LABEL_WIDTH = 24, 40


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
    return value if isinstance(value, str | int | float | bool) else str(value)


def show_frequencies(found: dict[str, Any]) -> None:
    """Print a table for each column: with bars on a terminal, without them in a pipe."""
    is_terminal = sys.stdout.isatty()
    console = Console(file=sys.stdout, highlight=False, width=None if is_terminal else 10_000)
    for name, one in found.items():
        said = f"{plural(one['categories'], 'category').replace('categorys', 'categories')}"
        console.print()
        console.print(Text(printable(f"{name}: {said}, {plural(one['features'], 'feature')}")))
        console.print(_table(one["top"], is_terminal))
        more = one["categories"] - len(one["top"])
        if more:
            console.print(Text(f"  {more:,} more"))
        rare = one["infrequent"]
        if rare["categories"]:
            text = f"  infrequent, in one feature: {rare['categories']:,} with"
            console.print(Text(f"{text} {plural(rare['rows'], 'row')}"))


def _table(top: Sequence[dict[str, Any]], has_bars: bool) -> Table:
    """Return the rows of the most frequent categories."""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=LABEL_WIDTH)
    for _ in range(2):
        table.add_column(justify="right", no_wrap=True)
    most = max([1, *(one["count"] for one in top)])
    for one in top:
        label = Text(f"  {printable(str(one['category']))}")
        cells: list[Any] = [label, f"{one['count']:,}", f"{one['share']:.2%}"]
        cells += [Bar(most, 0, one["count"], width=BAR_WIDTH)] if has_bars else []
        table.add_row(*cells, *(["infrequent"] if one["infrequent"] else []))
    return table
