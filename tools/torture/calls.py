"""Small tensors by the thousand: as many calls a second as Python makes, each against the oracle.

The oracle works on blocks of tensors of one shape, with one more axis in front; each tensor of the
block is then a call of its own, into new memory or into its share of a block between canaries.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import oracle
import strategies

import onehot_fast
from torture.tensors import COUNTABLE, pick

BLOCKS, CALLS = 10, 250
# Bytes of a block, and elements of what goes in: the calls shall be many, and not large.
BLOCK_LIMIT, SMALL = 2_000_000, 40
CANARY = 64
# What NumPy copies no bytes of (references), or other bytes than it compares (padding).
VALUES = {
    name: pair
    for name, pair in strategies.PLAIN_VALUES.items()
    if pair[0].dtype.char not in "gG" and name != "padded record"
}


def case(seed: int) -> Counter[str]:
    """Make and read blocks of tensors, each of a shape, a type and options of its own."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    for _ in range(BLOCKS):
        _tensors(rng, found)
    _labels(rng, found)
    return found


def _shape(rng: np.random.Generator) -> tuple[int, ...]:
    while True:
        shape = tuple(int(n) for n in rng.integers(0, 9, int(pick(rng, [0, 1, 1, 1, 2, 2, 3]))))
        if math.prod(shape) <= SMALL:
            return shape


def _tensors(rng: np.random.Generator, found: Counter[str]) -> None:
    """Call one_hot, and decode what it makes, for each tensor of a block."""
    shape, depth = _shape(rng), int(pick(rng, strategies.DEPTHS))
    axis = int(rng.integers(-len(shape) - 1, len(shape) + 1))
    if rng.random() < 0.5:  # the common case, which has a way of its own
        dtype = np.dtype(pick(rng, (*COUNTABLE, "?")))
        off, on = np.zeros((), dtype), np.ones((), dtype)
        options: dict[str, Any] = {"dtype": dtype}
    else:
        off, on = VALUES[pick(rng, [*VALUES])]
        options = {"dtype": on.dtype, "on_value": on, "off_value": off}
    if axis != -1 or rng.random() < 0.5:
        options["axis"] = axis
    negative, ignored = pick(rng, ["ignore", "ignore", "normalize"]), None
    if negative != "ignore":
        options["negative_indices"] = negative
    if rng.random() < 0.2:
        ignored = options["ignore_index"] = int(pick(rng, [0, 1, -1, depth - 1, 2**63, -(2**63)]))
    size = max(1, math.prod(shape) * depth * on.dtype.itemsize)
    n = max(1, min(CALLS, BLOCK_LIMIT // size))
    kind = pick(rng, strategies.INDEX_DTYPES)
    values = strategies.index_values(kind, depth, n * math.prod(shape), int(rng.integers(2**32)))
    block = strategies.LAYOUTS[pick(rng, [*strategies.LAYOUTS])](values.reshape(n, *shape))
    inner = axis if axis < 0 else axis + 1
    wanted = oracle.one_hot(block, depth, on, off, inner, negative, ignored)
    each_wanted = [tensor.tobytes() for tensor in wanted]
    for one, right in zip(block, each_wanted, strict=True):
        actual = onehot_fast.one_hot(one, depth, **options)
        assert actual.shape == wanted.shape[1:]
        assert actual.dtype == wanted.dtype
        assert actual.tobytes() == right, (one, depth, options)
    found["one_hot"] += n
    memory = rng.integers(0, 256, wanted.nbytes + 2 * CANARY).astype(np.uint8)
    edges = memory[:CANARY].tobytes(), memory[CANARY + wanted.nbytes :].tobytes()
    results = np.ndarray(wanted.shape, wanted.dtype, memory, CANARY)
    for i in rng.permutation(n).tolist():
        out = results[i : i + 1].reshape(wanted.shape[1:])  # an array, and no scalar
        onehot_fast.one_hot(block[i], depth, out=out, **options)
    assert results.tobytes() == b"".join(each_wanted), (block, depth, options)
    assert edges == (memory[:CANARY].tobytes(), memory[CANARY + wanted.nbytes :].tobytes())
    found["out"] += n
    default = pick(rng, [-1, -1, -9])
    classes = oracle.decode(wanted, on, inner, default, "first")
    for tensor, right in zip(wanted, classes, strict=True):
        actual = onehot_fast.decode(tensor, axis, on_value=on, default=default, multiple="first")
        assert actual.shape == np.shape(right)
        assert actual.tobytes() == right.tobytes(), (tensor, axis, on)
    found["decode"] += n


def _labels(rng: np.random.Generator, found: Counter[str]) -> None:
    """Call multi_hot for rows of several labels, small batches of them."""
    depth, width = int(rng.integers(0, 40)), int(rng.integers(1, 6))
    mode, dtype = pick(rng, ["set", "count"]), np.dtype(pick(rng, COUNTABLE))
    kind = pick(rng, strategies.INTEGERS)
    n = CALLS * width
    lengths = rng.integers(0, pick(rng, [2, 4, 9]), n)
    elements = strategies.index_values(
        kind, max(depth, 1), int(lengths.sum()), int(rng.integers(99))
    )
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    counts = np.zeros((n, depth), np.int64)
    for row in range(n):
        for k in elements[offsets[row] : offsets[row + 1]].tolist():
            if 0 <= k < depth:
                counts[row, k] += 1
    wanted = (np.minimum(counts, 1) if mode == "set" else counts).astype(dtype)
    for start in range(0, n, width):
        own = offsets[start : start + width + 1]
        inside = elements[own[0] : own[-1]]
        made = onehot_fast.multi_hot(inside, depth, offsets=own - own[0], mode=mode, dtype=dtype)
        assert made.tobytes() == wanted[start : start + width].tobytes(), (inside, own, depth)
    found["multi_hot"] += CALLS
