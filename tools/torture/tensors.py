"""one_hot, decode and multi_hot against the slow oracle: every dtype, axis, policy and layout.

Small tensors are compared by the thousand: the oracle works on blocks of tensors of one shape, with
one more axis in front. Each tensor of the block is a call of its own, into new memory or into its
share of a block between canaries.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import oracle
import strategies

import onehot_fast

SHAPES = ((), (0,), (3,), (1, 1), (2, 0, 3), (5, 4), (3, 2, 4), (2, 1, 2, 3))
CALLS = 250  # in a block at most
# Bytes of a block, and elements of its indices: many small calls.
BLOCK_LIMIT, SMALL = 2_000_000, 40
CANARY = 64
# Without references, whose bytes NumPy does not copy, and padding, which it does not compare.
BYTES = {
    name: pair
    for name, pair in strategies.PLAIN_VALUES.items()
    if pair[0].dtype.char not in "gG" and name != "padded record"
}
COUNTABLE = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")


def pick(rng: np.random.Generator, items: Any) -> Any:
    """Return one of some items."""
    return items[int(rng.integers(len(items)))]


def case(seed: int) -> Counter[str]:
    """Encode and decode a block of small tensors and a large one, and rows of several classes."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    _small_tensors(rng, found)
    tensor = _one_hot(rng, found)
    if tensor is not None:
        _decode(rng, found, *tensor)
    _multi_hot(rng, found)
    return found


def _indices(rng: np.random.Generator, depth: int) -> np.ndarray:
    """Return indices of any dtype, shape and layout whose output is not too large."""
    limit = strategies.OUTPUT_LIMIT // max(1, depth)
    lengths = [n for n in strategies.LENGTHS if n <= limit]
    choices = [
        (pick(rng, lengths),),
        (int(rng.integers(1, 5)), pick(rng, lengths)),
        (pick(rng, lengths), int(rng.integers(1, 5))),
        pick(rng, SHAPES),
    ]
    shape = next(
        (s for s in rng.permutation(np.array(choices, object)) if math.prod(s) <= limit), (0,)
    )
    dtype = pick(rng, strategies.INDEX_DTYPES)
    values = strategies.index_values(dtype, depth, math.prod(shape), int(rng.integers(2**32)))
    return strategies.LAYOUTS[pick(rng, [*strategies.LAYOUTS])](values.reshape(shape))


def _one_hot(rng: np.random.Generator, found: Counter[str]) -> Any:
    """Encode, into new memory or between canaries; return the tensor, its axis and values."""
    depth = pick(rng, (*strategies.DEPTHS, *strategies.HUGE_DEPTHS))
    indices = _indices(rng, depth)
    axis = int(rng.integers(-indices.ndim - 1, indices.ndim + 1))
    off, on = strategies.VALUES[pick(rng, [*strategies.VALUES])]
    negative = pick(rng, ["ignore", "normalize"])
    ignored = pick(rng, [None, None, 0, 1, -1, -100, 255, depth - 1, 2**63, -(2**63)])
    options = {
        "axis": axis, "on_value": on, "off_value": off, "dtype": on.dtype,
        "negative_indices": negative, "ignore_index": ignored,
        "num_threads": pick(rng, [None, None, 1, 2, 3]),
    }  # fmt: skip
    wanted = oracle.one_hot(indices, depth, on, off, axis, negative, ignored)
    if rng.random() < 0.2:
        _refuse(indices, depth, options, found)
    out: np.ndarray | None = None
    if rng.random() < 0.4 and not on.dtype.hasobject:
        layout = pick(rng, strategies.OUT_LAYOUTS)
        shift = int(rng.integers(17)) if rng.random() < 0.5 else 0
        memory, out = strategies.guarded(wanted.shape, on.dtype, layout, shift)
        before = memory.copy()
        position = out.__array_interface__["data"][0] - memory.ctypes.data
        found["out"] += 1
    actual = onehot_fast.one_hot(indices, depth, out=out, **options)
    found["one_hot"] += 1
    oracle.assert_same(actual, wanted)
    if out is not None:
        assert actual is out
        # What is outside of the view is as it was.
        other = np.ndarray(out.shape, out.dtype, before, position, out.strides)
        other.view(f"V{out.itemsize}")[...] = actual.view(f"V{out.itemsize}")
        assert before.tobytes() == memory.tobytes(), "canaries"
    return actual, axis, on, off


def _refuse(indices: np.ndarray, depth: int, options: dict[str, Any], found: Counter[str]) -> None:
    """Check that exactly the indices out of range are errors."""
    ignored, negative = options["ignore_index"], options["negative_indices"]

    def offends(index: float) -> bool:
        is_ignored = -(2.0**63) <= index < 2.0**63 and math.trunc(index) == ignored
        in_range = oracle.class_of(index, depth, negative) is not None
        is_negative = -(2.0**63) <= index < 0 and math.trunc(index) < 0
        return not (is_ignored or in_range or (is_negative and negative == "ignore"))

    is_wrong = any(map(offends, indices.ravel().tolist()))
    try:
        onehot_fast.one_hot(indices, depth, out_of_range="error", **options)
    except ValueError:
        assert is_wrong
        found["refused"] += 1
    else:
        assert not is_wrong
        found["one_hot"] += 1


def _decode(
    rng: np.random.Generator, found: Counter[str], tensor: np.ndarray, axis: int, on: Any, off: Any
) -> None:
    """Decode what was made, and the same with other elements here and there."""
    damaged = np.array(tensor)
    if damaged.size:
        for _ in range(int(rng.integers(4))):
            place = tuple(int(rng.integers(n)) for n in damaged.shape)
            damaged[place] = pick(rng, [on, off])[()]
    if rng.random() < 0.5:
        damaged = (
            strategies.LAYOUTS[pick(rng, ["fortran", "strided", "reversed", "unaligned"])](damaged)
            if not damaged.dtype.hasobject
            else np.array(damaged, order="F")
        )
    default, multiple = pick(rng, [-1, -9, 2**62, "error"]), pick(rng, ["first", "error"])
    options = {"on_value": on, "default": default, "multiple": multiple}
    try:
        wanted = oracle.decode(damaged, on, axis, default, multiple)
    except ValueError:
        wanted = None
    try:
        actual = onehot_fast.decode(damaged, axis, **options)
    except ValueError:
        assert wanted is None
        found["refused"] += 1
    else:
        assert wanted is not None, "a row is not refused"
        oracle.assert_same(actual, wanted)
    found["decode"] += 1


def _multi_hot(rng: np.random.Generator, found: Counter[str]) -> None:
    """Encode rows of several classes, as lists or as flat elements between offsets."""
    depth, n_rows = int(rng.integers(0, 80)), int(rng.integers(0, 60))
    lengths = rng.integers(0, pick(rng, [1, 4, 70]), n_rows)
    mode, dtype = pick(rng, ["set", "count"]), pick(rng, COUNTABLE)
    kind = pick(rng, strategies.INTEGERS)
    elements = strategies.index_values(
        kind, max(depth, 1), int(lengths.sum()), int(rng.integers(2**32))
    )
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows = [elements[a:b].tolist() for a, b in pairwise(offsets)]
    wanted = np.zeros((n_rows, depth), np.int64)
    for row, classes in enumerate(rows):
        for k in classes:
            if 0 <= k < depth:
                wanted[row, k] = 1 if mode == "set" else wanted[row, k] + 1
    as_lists = rng.random() < 0.3 and all(-(2**63) <= k < 2**63 for row in rows for k in row)
    arguments: Any = ((rows,), {}) if as_lists else ((elements,), {"offsets": offsets})
    for output in ("numpy", "csr"):
        options = {"mode": mode, "dtype": dtype, "output": output, **arguments[1]}
        actual = onehot_fast.multi_hot(*arguments[0], depth, **options)
        dense = actual if output == "numpy" else actual.toarray()
        assert dense.dtype == dtype
        assert (dense == wanted.astype(dtype)).all()
        found["multi_hot"] += 1


def _small_shape(rng: np.random.Generator) -> tuple[int, ...]:
    while True:
        shape = tuple(int(n) for n in rng.integers(0, 9, int(pick(rng, [0, 1, 1, 1, 2, 2, 3]))))
        if math.prod(shape) <= SMALL:
            return shape


def _small_tensors(rng: np.random.Generator, found: Counter[str]) -> None:
    """Call one_hot, and decode what it makes, for each tensor of a block."""
    shape, depth = _small_shape(rng), int(pick(rng, strategies.DEPTHS))
    axis = int(rng.integers(-len(shape) - 1, len(shape) + 1))
    if rng.random() < 0.5:  # the common case, which has a way of its own
        dtype = np.dtype(pick(rng, (*COUNTABLE, "?")))
        off, on = np.zeros((), dtype), np.ones((), dtype)
        options: dict[str, Any] = {"dtype": dtype}
    else:
        off, on = BYTES[pick(rng, [*BYTES])]
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
