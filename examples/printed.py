"""Timing and tables for the examples."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

ROUNDS = 3  # the minimum number of runs of each measurement
SECONDS = 0.2  # repeat until the runs take this time together

T = TypeVar("T")


def fastest(action: Callable[[], T]) -> tuple[float, T]:
    """Return the time of the fastest run in seconds, and the last result."""
    times: list[float] = []
    while True:
        start = time.perf_counter()
        result = action()
        times.append(time.perf_counter() - start)
        if len(times) >= ROUNDS and sum(times) >= SECONDS:
            return min(times), result
        del result  # free its memory before the next run


def size(n_bytes: int) -> str:
    """Format a number of bytes."""
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:,.2f} GB"


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns: the first on the left, the others on the right."""
    widths = [max(map(len, cells)) for cells in zip(header, *rows, strict=True)]
    for row in (header, ["-" * width for width in widths], *rows):
        first, *others = (
            f"{cell:{'>' if i else '<'}{width}}"
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join((first, *others)).rstrip())
