"""Codes of one million values: ours beside pyarrow, pandas and polars.

    python -m benchmarks.dictionary [substring ...]

Each line is measured in turns, in processor time; the medians, and what they are of ours.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from onehot_fast._arrow.reader import read
from onehot_fast._categories.dictionary import Dictionary
from onehot_fast._kernels import simd

Calls = dict[str, Callable[[], object]]
N_ROWS = 1_000_000
ROUNDS = 9
URL = "https://www.example.com/catalogue/%s/index.html"


def pool_of(n: int, low: int, high: int, random: np.random.Generator) -> list[str]:
    """Return different texts of `low` to `high` letters."""
    made: dict[str, None] = {}
    while len(made) < n:
        lengths = random.integers(low, high + 1, n)
        letters = random.integers(97, 123, (n, high), dtype=np.uint8)
        texts = letters.view(f"S{high}").ravel().tolist()
        pairs = zip(texts, lengths.tolist(), strict=True)
        made.update(dict.fromkeys(text[:length].decode() for text, length in pairs))
    return list(made)[:n]


def encoded(kind: Any, values: Any) -> Callable[[], object]:
    """Return the call that learns values."""
    return lambda: Dictionary(kind, counting=False).encode(values)


def chunk_of(source: Any) -> Any:
    """Return the one chunk of an Arrow object."""
    (chunk,) = read(source)
    return chunk


def of_texts(
    pool: list[str], n_rows: int, random: np.random.Generator
) -> Iterator[tuple[str, Calls]]:
    """Yield the ways to code texts drawn from a pool."""
    objects = np.array(pool, object)[random.integers(0, len(pool), n_rows)]
    large = pa.array(objects, pa.large_string())
    yield (
        "Arrow",
        {
            "ours": encoded("string", chunk_of(large)),
            "pyarrow": large.dictionary_encode,
        },
    )
    series = pl.Series(large)
    yield (
        "polars",
        {
            "ours": encoded("string", chunk_of(series)),
            "polars": lambda: series.cast(pl.Categorical),
        },
    )
    known = Dictionary("string")
    chunk = chunk_of(large)
    known.encode(chunk)
    names = pa.array(known.values.tolist(), pa.large_string())
    yield (
        "look up",
        {
            "ours": lambda: known.lookup(chunk),
            "pyarrow": lambda: pc.index_in(large, names),
        },
    )
    if len(pool[0]) > 9:
        return
    yield (
        "objects, shared",
        {
            "ours": encoded("string", objects),
            "pandas": lambda: pd.factorize(objects),
        },
    )
    own = np.array(["".join([text[:1], text[1:]]) for text in objects], object)
    yield (
        "objects, each its own",
        {
            "ours": encoded("string", own),
            "pandas": lambda: pd.factorize(own),
        },
    )
    fixed = objects.astype("U8")
    yield "U8", {"ours": encoded("string", fixed), "pandas": lambda: pd.factorize(fixed)}
    variable = objects.astype(np.dtypes.StringDType())
    yield (
        "StringDType",
        {
            "ours": encoded("string", variable),
            "pandas": lambda: pd.factorize(variable.astype(object)),
        },
    )


def workloads() -> Iterator[tuple[str, Calls]]:
    """Yield what is measured: a name and who takes part."""
    random = np.random.default_rng(7)
    for n_levels, low, high in [
        (2, 2, 2), (16, 5, 8), (105, 5, 8), (105, 16, 32), (105, 60, 60), (4000, 5, 8),
        (4000, 16, 32), (4000, 60, 60), (100_000, 5, 8), (100_000, 16, 32), (1_000_000, 7, 8),
    ]:  # fmt: skip
        pool = pool_of(n_levels, low, high, random)
        for what, calls in of_texts(pool, N_ROWS, random):
            yield f"{what}, {n_levels:,} levels, {low}-{high} bytes", calls
    urls = [URL % text for text in pool_of(4000, 6, 6, random)]
    for what, calls in of_texts(urls, N_ROWS, random):
        yield f"{what}, 4,000 URLs", calls
    for n_rows in (1000, 10_000):
        for what, calls in of_texts(pool_of(16, 5, 8, random), n_rows, random):
            yield f"{what}, {n_rows:,} rows, 16 levels", calls
    for n_levels in (2, 16, 105, 4000, 100_000, 1_000_000):
        pool = random.integers(-(2**62), 2**62, n_levels)
        numbers = pool[random.integers(0, n_levels, N_ROWS)]
        yield (
            f"int64, {n_levels:,} levels",
            {
                "ours": encoded("int64", numbers),
                "pandas": lambda numbers=numbers: pd.factorize(numbers),
            },
        )


def medians(calls: Calls) -> dict[str, float]:
    """Return the median milliseconds of each, measured in turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    begin = time.monotonic()
    while len(times["ours"]) < 3 or (len(times["ours"]) < ROUNDS and time.monotonic() < begin + 8):
        for name, call in calls.items():
            start = time.process_time()
            call()
            times[name].append((time.process_time() - start) * 1e3)
    return {name: statistics.median(taken) for name, taken in times.items()}


def main() -> None:
    """Print a line for each workload."""
    pa.set_cpu_count(1)
    print(f"instruction set: {simd.active()}")
    for name, calls in workloads():
        if len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:]):
            continue
        found = medians(calls)
        ours = found.pop("ours")
        others = ", ".join(
            f"{who} {taken:.2f} ({taken / ours:.2f}x)" for who, taken in found.items()
        )
        print(f"{name:52} {ours:8.2f} ms   {others}", flush=True)


if __name__ == "__main__":
    main()
