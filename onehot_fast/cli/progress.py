"""Notes, warnings and progress on standard error; only a terminal shows a progress bar."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from onehot_fast.cli.errors import printable

# Takes the share of the work that is done, and the number of rows.
Step = Callable[[float, int], None]


@contextmanager
def showing(what: str, is_quiet: bool) -> Iterator[Step]:
    """Yield a function to call with the share of the work that is done, and the number of rows.

    A terminal shows a bar, the rows per second and the remaining time.
    """
    if is_quiet or not (sys.stderr.isatty() or "FORCE_COLOR" in os.environ):
        yield lambda share, rows: None
        return
    # rich takes a while to import.
    from rich import progress as bars
    from rich.console import Console

    console = Console(stderr=True)
    columns = [
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.TextColumn("{task.fields[rate]}"),
        bars.TimeRemainingColumn(),
    ]
    is_hidden = not console.is_terminal
    with bars.Progress(*columns, console=console, transient=True, disable=is_hidden) as progress:
        task = progress.add_task(what, total=1.0, rate="")

        def step(share: float, rows: int) -> None:
            seconds = progress.tasks[0].elapsed
            rate = f"{rows / seconds:,.0f} rows/s" if rows and seconds else ""
            progress.update(task, completed=share, rate=rate)

        yield step


def tell(text: str, is_quiet: bool) -> None:
    """Print a line if standard error is a terminal."""
    if sys.stderr.isatty():
        note(text, is_quiet)


def note(text: str, is_quiet: bool) -> None:
    """Print a line, even if standard error is not a terminal."""
    if not is_quiet:
        print(f"onehot-fast: {printable(text)}", file=sys.stderr)


@contextmanager
def noting_warnings(name: str, is_quiet: bool) -> Iterator[None]:
    """Merge the warnings of the `with` block, and print them as one line at its end."""
    merged: Any = None

    def collect(message: Any, *where: Any, **others: Any) -> None:
        nonlocal merged
        merged = merged.merge(message) if hasattr(merged, "merge") else message

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = collect
        yield
    if merged is not None:
        note(f"{name}: {merged}", is_quiet)
