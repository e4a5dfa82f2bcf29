"""Letters to rows and planes, beside the bound of memory and other libraries.

``python -m benchmarks.letters`` prints milliseconds, each the least of several calls in turns:
processor time for one thread, which other work on the machine disturbs less, and elapsed time for
two. The bound is a fill of the output, by memset or by stores that bypass the caches, and a read of
the letters. Libraries that are not installed are left out. docs/performance/kernels.md quotes the
figures.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.floor import FILLS, warm_buffer
from benchmarks.kinds.labels import Array
from onehot_fast import one_hot_sequences

LETTERS = b"ACGT"
SHAPES = ((1, 20_000_000), (20_000, 1000), (64, 1000))
DTYPES = ("uint8", "float32")
ROUNDS, SLOW_ROUNDS = 15, 3
SMALL = 1 << 20  # letters: below, a sample has several calls
Call = Callable[[], object]


def ways(codes: Array, dtype: str, axis: int, out: Array) -> Iterator[tuple[str, Call, int]]:
    """Yield the name, the call and the number of threads of each way to encode."""
    flat = out.reshape(-1).view(np.uint8)
    for i, (fill, value) in enumerate(FILLS):
        yield f"fill {i}", partial(fill, flat, value), 1
    yield "read", codes.max, 1
    options: dict[str, Any] = {"axis": axis, "dtype": dtype}
    for threads in (1, 2):
        encode = partial(one_hot_sequences, codes, num_threads=threads, **options)
        yield f"out=, {threads}", partial(encode, out=out), threads
        yield f"new, {threads}", encode, threads
    table = np.zeros((256, len(LETTERS)), dtype)
    table[np.frombuffer(LETTERS, np.uint8)] = np.eye(len(LETTERS))
    yield "table", lambda: np.ascontiguousarray(np.moveaxis(table[codes], -1, axis)), 1
    if dtype == "uint8":
        yield from libraries(codes, axis)


def libraries(codes: Array, axis: int) -> Iterator[tuple[str, Call, int]]:
    """Yield the ways of other libraries, which return uint8; two encode one text to planes."""
    if axis == -1 and find_spec("seqpro"):
        seqpro = import_module("seqpro")
        yield "seqpro", lambda: seqpro.ohe(codes.view("S1"), seqpro.DNA), 1
    texts = [row.tobytes().decode() for row in codes]
    if axis == 1 and find_spec("tangermeme"):
        encode = import_module("tangermeme.utils").one_hot_encode
        stack = import_module("torch").stack
        yield "tangermeme", lambda: joined([encode(text) for text in texts], stack), 1
    if axis == 1 and find_spec("brisket"):
        encode_seq = import_module("brisket").encode_seq
        yield "brisket", lambda: joined([encode_seq(text) for text in texts], np.stack), 1


def joined(results: list[Any], stack: Callable[[list[Any]], Any]) -> Any:
    """Return the results for several texts as one; a single result is not copied."""
    return results[0][None] if len(results) == 1 else stack(results)


def measure(shape: tuple[int, int], dtype: str, axis: int, rounds: int) -> dict[str, float]:
    """Return the least milliseconds of each way, and of the bound."""
    letters = np.frombuffer(LETTERS, np.uint8)
    codes = letters[np.random.default_rng(0).integers(0, len(letters), shape, np.uint8)]
    wanted = list(shape)
    wanted.insert(2 if axis == -1 else 1, len(letters))
    n_bytes = codes.size * len(letters) * np.dtype(dtype).itemsize
    out = warm_buffer(n_bytes).view(dtype).reshape(wanted)
    number = 1 if codes.size >= SMALL else 20
    least: dict[str, float] = {}
    each = [*ways(codes, dtype, axis, out)]
    for turn in range(rounds):
        for name, call, threads in each:
            is_slow = least.get(name, 0) > 40
            if is_slow and turn >= SLOW_ROUNDS:
                continue
            clock = time.thread_time if threads == 1 else time.perf_counter
            start = clock()
            for _ in range(number):
                done = call()
            taken = (clock() - start) / number * 1e3
            if done is not False:  # a processor may have no stores that bypass the caches
                least[name] = min(least.get(name, taken), taken)
    fills = [least.pop(name) for name in [*least] if name.startswith("fill")]
    return {"bound": min(fills) + least.pop("read"), **least}


def main(shapes: Sequence[tuple[int, int]] = SHAPES, rounds: int = ROUNDS) -> None:
    """Print a line for each shape, dtype and layout."""
    for shape in shapes:
        for dtype in DTYPES:
            for axis, layout in ((-1, "rows"), (1, "planes")):
                found = measure(shape, dtype, axis, rounds)
                cells = [f"{name}: {found[name]:.3g}" for name in found]
                print(f"{shape[0]} x {shape[1]}, {dtype} {layout}:", ", ".join(cells), flush=True)


if __name__ == "__main__":
    main(rounds=int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
