"""Bars of frequencies in HTML, for notebooks: a few lines of style, and no library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

COLOR = "#4c78a8"  # is legible on light and on dark pages
WIDTH = 12  # the width in em of the longest bar
HEIGHT = 1.2  # the height in em of the highest column of a histogram
BAR = '<div style="background:{color};height:0.8em;width:{width:.2f}em"></div>'
COLUMN = (
    '<span title="{title}" style="display:inline-block;vertical-align:bottom;background:{color};'
    'width:0.5em;margin-right:1px;height:{height:.2f}em"></span>'
)


def bar(count: float, largest: float) -> str:
    """Return a horizontal bar whose length is proportional to a count, and starts at zero."""
    share = min(1.0, count / largest) if count > 0 and largest > 0 else 0.0  # also of NaN
    return BAR.format(color=COLOR, width=WIDTH * share)


def histogram(counts: Sequence[tuple[str, int]], n_more: int) -> str:
    """Return a column for each label, with a tip that names it, and the number of others."""
    largest = max([1, *(count for _, count in counts)])
    columns = (
        COLUMN.format(
            title=escape(f"{label}: {count:,}"), color=COLOR, height=HEIGHT * count / largest
        )
        for label, count in counts
    )
    return "".join(columns) + (f" +{n_more:,}" if n_more > 0 else "")


def frequency_table(title: str, rows: Iterable[tuple[str, str, float]], more: str = "") -> str:
    """Return a title and a table: a label, a number as text, and a bar of a share for each row."""
    cells = (
        f"<tr><td>{escape(label)}</td><td>{escape(number)}</td><td>{bar(share, 1)}</td></tr>"
        for label, number, share in rows
    )
    last = f"<div>{escape(more)}</div>" if more else ""
    return f"<div><code>{escape(title)}</code><table>{''.join(cells)}</table>{last}</div>"
