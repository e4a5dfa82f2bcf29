"""What an encoder learned, column by column: as a table, and as HTML for a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from onehot_fast._arguments.choices import shown
from onehot_fast._categories.keys import as_objects
from onehot_fast._schema.listing import SHOWN_ROWS, Listing
from onehot_fast._schema.schema import ColumnSchema, Schema, ordered_counts
from onehot_fast._schema.statistics import ColumnStatistics, TableStatistics

SHOWN_CATEGORIES = 10
BAR = '<div style="background:#4c78a8;height:0.8em;width:{width:.1f}em"></div>'
BAR_WIDTH = 12  # of the most frequent category, in em


def summary(schema: Schema, state: TableStatistics) -> Listing:
    """Return one row for each encoded column."""
    pairs = list(zip(schema.columns, state.columns, strict=True))
    first = [_most_frequent(column, learned, 1) for column, learned in pairs]
    counts = np.array([top[0][1] if top else 0 for top in first], np.int64)
    return Listing(
        column=as_objects([column.name for column in schema.columns]),
        categories=np.array([len(column.categories) for column in schema.columns], np.int64),
        features=np.array([column.n_outputs for column in schema.columns], np.int64),
        most_frequent=as_objects([top[0][0] if top else None for top in first]),
        count=counts,
        share=counts / max(1, state.n_rows),
    )


def as_html(title: str, schema: Schema, state: TableStatistics) -> str:
    """Return a title and, for each of the first columns, its most frequent categories with bars."""
    pairs = list(zip(schema.columns, state.columns, strict=True))
    parts = [_column_as_html(column, learned) for column, learned in pairs[:SHOWN_ROWS]]
    more = len(pairs) - SHOWN_ROWS
    parts += [f"<div>… {more:,} more columns</div>"] if more > 0 else []
    return f"<div><code>{escape(title)}</code>{''.join(parts)}</div>"


def _most_frequent(
    column: ColumnSchema, learned: ColumnStatistics, n: int
) -> list[tuple[Any, int]]:
    """Return the most frequent categories and their counts; of equal ones the first in order."""
    known, counts = ordered_counts(column.options, learned)
    order = np.argsort(-counts, kind="stable")[:n]
    return list(zip(known.take(order).tolist(), counts[order].tolist(), strict=True))


def _column_as_html(column: ColumnSchema, learned: ColumnStatistics) -> str:
    top = _most_frequent(column, learned, SHOWN_CATEGORIES)
    n_categories = len(column.categories)
    of_categories = "1 category" if n_categories == 1 else f"{n_categories:,} categories"
    of_features = "1 feature" if column.n_outputs == 1 else f"{column.n_outputs:,} features"
    said = f"{shown(column.name)}: {of_categories} → {of_features}"
    largest = max([1, *(count for _, count in top)])
    rows = [
        f"<tr><td>{escape(shown(category))}</td><td>{count:,}</td>"
        f"<td>{BAR.format(width=BAR_WIDTH * count / largest)}</td></tr>"
        for category, count in top
    ]
    more = n_categories - len(top)
    rows += [f"<tr><td colspan=3>… {more:,} more</td></tr>"] if more > 0 else []
    table = f"<table>{''.join(rows)}</table>"
    return f"<details open><summary>{escape(said)}</summary>{table}</details>"
