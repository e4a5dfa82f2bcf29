"""What is shown while a command works: a bar on a terminal, nothing in a pipe."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from onehot_fast.cli.errors import printable

__all__ = ["Step", "note", "noting_warnings", "showing", "tell"]

# Takes the share of the work that is done, and its rows.
Step = Callable[[float, int], None]


@contextmanager
def showing(what: str, is_quiet: bool) -> Iterator[Step]:
    """Give a function to call with the share of the work that is done, and its rows.

    The bar goes to standard error, and only to a terminal.
    """
    if is_quiet or not (sys.stderr.isatty() or "FORCE_COLOR" in os.environ):
        yield _ignore
        return
    from onehot_fast.cli.drawing import showing_bar

    with showing_bar(what) as step:
        yield step


def tell(text: str, is_quiet: bool) -> None:
    """Say a line to the person at the terminal, if there is one."""
    if sys.stderr.isatty():
        note(text, is_quiet)


def note(text: str, is_quiet: bool) -> None:
    """Say a line that is worth to be read in a log too."""
    if not is_quiet:
        print(f"onehot-fast: {printable(text)}", file=sys.stderr)


@contextmanager
def noting_warnings(name: str, is_quiet: bool) -> Iterator[None]:
    """Say in one line what was warned of inside, batch by batch."""
    whole: Any = None  # that of all batches

    def collect(message: Any, *where: Any, **further: Any) -> None:
        nonlocal whole
        whole = whole.merge(message) if hasattr(whole, "merge") else message

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = collect
        yield
    if whole is not None:
        note(f"{name}: {whole}", is_quiet)


def _ignore(share: float, rows: int) -> None:
    """Show nothing."""
