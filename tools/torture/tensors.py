"""one_hot, decode and multi_hot against the slow oracle: every dtype, axis, policy and layout."""

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
COUNTABLE = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")


def pick(rng: np.random.Generator, items: Any) -> Any:
    """Return one of some items."""
    return items[int(rng.integers(len(items)))]


def case(seed: int) -> Counter[str]:
    """Make one tensor, decode it, and encode rows of several classes."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
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
    """Refuse what is out of range, and nothing else."""
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
