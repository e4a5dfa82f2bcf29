"""Values that become codes, and products with codes, beside the usual library.

The title of `benchmarks.workloads` names the values; `benchmarks.peers.codes` does each task.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.kinds.labels import Array

# Integers of a large span are hashed: a look-up table of all integers between is too large.
SPAN = 2**62
Pool = Callable[[np.random.Generator], Array]


@dataclass(frozen=True)
class CodesWorkload:
    """The recipe of a task: a pool of distinct values, from which the rows are drawn."""

    name: str
    what: str
    peer: str  # the library that we compare with
    pool: Pool
    task: str  # of `benchmarks.peers.codes`
    rows: int = 1_000_000

    @property
    def title(self) -> str:
        """The task in one line."""
        return f"{self.rows:,} x {self.what.replace('levels', 'categories')}"

    def make(self, scale: float = 1.0) -> tuple[Array, Array]:
        """Draw the same pool each time, and the place in it of each row."""
        draw = np.random.default_rng(7)
        pool = self.pool(draw)
        return pool, draw.integers(0, len(pool), max(1000, round(self.rows * scale)))


def texts(n: int, low: int, high: int, form: str = "%s") -> Pool:
    """Return a function that draws distinct texts of `low` to `high` letters."""

    def draw(random: np.random.Generator) -> Array:
        made: dict[str, None] = {}
        while len(made) < n:
            lengths = random.integers(low, high + 1, n)
            letters = random.integers(97, 123, (n, high), dtype=np.uint8)
            words = letters.view(f"S{high}").ravel().tolist()
            pairs = zip(words, lengths.tolist(), strict=True)
            made.update(dict.fromkeys(form % word[:length].decode() for word, length in pairs))
        return np.array(list(made)[:n], object)

    return draw


def integers(n: int) -> Pool:
    """Return a function that draws distinct integers, far from one another."""
    return lambda random: np.unique(random.integers(-SPAN, SPAN, n))


def small_integers(random: np.random.Generator) -> Array:
    """Return integers next to one another."""
    return np.arange(3000)


def labels_of(dtype: str, n: int) -> Pool:
    """Return a function that draws distinct labels of a dtype; integers are below 60,000."""

    def draw(random: np.random.Generator) -> Array:
        if dtype.startswith("f"):
            return np.unique(random.random(n).astype(dtype))
        most = min(np.iinfo(dtype).max, 60_000)
        return np.sort(random.choice(most, n, replace=False)).astype(dtype)

    return draw


def palette(n: int) -> Pool:
    """Return a function that draws distinct colours of three bytes."""
    return lambda random: np.unique(random.integers(0, 256, (n, 3), np.uint8), axis=0)


def bases(random: np.random.Generator) -> Array:
    """Return the four letters of DNA as character codes."""
    return np.frombuffer(b"ACGT", np.uint8)


def sizes(*n_categories: int) -> Pool:
    """Return a function that counts the categories of each column."""
    return lambda random: np.array(n_categories)
