"""What is drawn with rich, which takes a while to import: imported where something is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.bar import Bar
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from onehot_fast.cli.errors import plural, printable

__all__ = ["show_frequencies", "showing_bar"]

BAR_WIDTH, LABEL_WIDTH = 24, 40


@contextmanager
def showing_bar(what: str) -> Iterator[Callable[[float, int], None]]:
    """Give a function to call with the share of the work that is done, and its rows.

    The bar has the rows of a second and the time that is left.
    """
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), _Rate()
    with Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(what, total=1.0, rows=0)

        def step(share: float, rows: int) -> None:
            progress.update(task, completed=share, rows=rows)

        yield step


class _Rate(ProgressColumn):
    """How many rows are done in a second."""

    def render(self, task: Task) -> Text:
        """Return what is shown."""
        rows, seconds = task.fields["rows"], task.elapsed
        return Text(f"{rows / seconds:,.0f} rows/s" if rows and seconds else "")


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
