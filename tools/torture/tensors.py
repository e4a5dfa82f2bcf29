"""one_hot, decode and multi_hot against the slow oracle: every dtype, axis, policy and layout.

The oracle works on blocks of tensors of one shape, with one more axis in front: one large tensor,
or many small ones. Each tensor is encoded by a call of its own, first into new memory and then into
its part of a buffer between canaries.
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
# Limits of a block of small tensors: the tensors, their bytes, and the indices of one.
MAX_TENSORS, MAX_BYTES, MAX_INDICES = 250, 2_000_000, 40
COUNTABLE = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
DEFAULTS = {
    "axis": -1, "negative_indices": "ignore", "ignore_index": None, "num_threads": None,
}  # fmt: skip


def pick(rng: np.random.Generator, items: Any) -> Any:
    """Return one of some items."""
    return items[int(rng.integers(len(items)))]


def case(seed: int) -> Counter[str]:
    """Encode and decode a block of small tensors and a large one, and rows of several classes."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    for is_small in (True, False):
        depths = strategies.DEPTHS + (() if is_small else strategies.HUGE_DEPTHS)
        _one_hot(rng, found, int(pick(rng, depths)), is_small)
    _multi_hot(rng, found)
    return found


def _indices(rng: np.random.Generator, depth: int, width: int, is_small: bool) -> np.ndarray:
    """Return a block of indices of any dtype, shape and layout whose output is not too large."""
    if is_small:
        n_axes = pick(rng, [0, 1, 1, 1, 2, 2, 3])
        longest = int(MAX_INDICES ** (1 / max(n_axes, 1)))
        shape = tuple(rng.integers(0, longest + 1, n_axes).tolist())
        n_bytes = max(1, math.prod(shape) * depth * width)
        shape = (max(1, min(MAX_TENSORS, MAX_BYTES // n_bytes)), *shape)
    else:
        limit = strategies.OUTPUT_LIMIT // max(1, depth)
        lengths = [n for n in strategies.LENGTHS if n <= limit]
        choices = [
            (pick(rng, lengths),),
            (int(rng.integers(1, 5)), pick(rng, lengths)),
            (pick(rng, lengths), int(rng.integers(1, 5))),
            pick(rng, SHAPES),
        ]
        rng.shuffle(choices)
        shape = next((shape for shape in choices if math.prod(shape) <= limit), (0,))
    dtype = pick(rng, strategies.INDEX_DTYPES)
    values = strategies.index_values(dtype, depth, math.prod(shape), int(rng.integers(2**32)))
    block = strategies.LAYOUTS[pick(rng, [*strategies.LAYOUTS])](values.reshape(shape))
    return block if is_small else block[np.newaxis]


def _one_hot(rng: np.random.Generator, found: Counter[str], depth: int, is_small: bool) -> None:
    """Encode each tensor of a block, into new memory and between canaries, and decode it."""
    off, on = strategies.VALUES[pick(rng, [*strategies.VALUES])]
    options: dict[str, Any] = {"on_value": on, "off_value": off, "dtype": on.dtype}
    if rng.random() < 0.4:  # the common case, which has a fast path
        dtype = np.dtype(pick(rng, (*COUNTABLE, "?")))
        off, on, options = np.zeros((), dtype), np.ones((), dtype), {"dtype": dtype}
    indices = _indices(rng, depth, on.itemsize, is_small)
    n, n_axes = len(indices), indices.ndim
    axis = int(rng.integers(-n_axes, n_axes))
    negative = pick(rng, ["ignore", "ignore", "normalize"])
    ignored = pick(rng, [*[None] * 4, 0, 1, -1, -100, 255, depth - 1, 2**63, -(2**63)])
    threads = pick(rng, [None, None, 1, 2, 3])
    for name, value in zip(DEFAULTS, (axis, negative, ignored, threads), strict=True):
        if value != DEFAULTS[name] or rng.random() < 0.5:
            options[name] = value
    inner = axis if axis < 0 else axis + 1
    wanted = oracle.one_hot(indices, depth, on, off, inner, negative, ignored)
    if rng.random() < 0.2:
        _refuse(indices[0, ...], depth, options, found)
    results = np.empty_like(wanted)
    for i in range(n):
        actual = onehot_fast.one_hot(indices[i], depth, **options)
        assert type(actual) is np.ndarray
        assert (actual.dtype, actual.shape) == (wanted.dtype, wanted.shape[1:])
        results[i] = actual
    oracle.assert_same(results, wanted)
    found["one_hot"] += n
    if not on.dtype.hasobject:
        _between_canaries(rng, indices, depth, options, wanted)
        found["out"] += n
    _decode(rng, found, results, axis, on, off)


def _between_canaries(
    rng: np.random.Generator, indices: Any, depth: int, options: Any, wanted: np.ndarray
) -> None:
    """Encode into parts of one buffer, in any order: the bytes around them do not change."""
    layout = pick(rng, ["contiguous", "contiguous", *strategies.OUT_LAYOUTS])
    shift = int(rng.integers(17)) if rng.random() < 0.5 else 0
    memory, out = strategies.guarded(wanted.shape, wanted.dtype, layout, shift)
    before = memory.copy()
    for i in rng.permutation(len(out)).tolist():
        part = out[i]
        assert onehot_fast.one_hot(indices[i, ...], depth, out=part, **options) is part
    oracle.assert_same(out, wanted)
    position = out.__array_interface__["data"][0] - memory.ctypes.data
    other = np.ndarray(out.shape, out.dtype, before, position, out.strides)
    other.view(f"V{out.itemsize}")[...] = out.view(f"V{out.itemsize}")
    assert before.tobytes() == memory.tobytes(), "canaries"


def _refuse(indices: np.ndarray, depth: int, options: dict[str, Any], found: Counter[str]) -> None:
    """Check that exactly the indices out of range are errors."""
    ignored = options.get("ignore_index")
    negative = options.get("negative_indices", "ignore")

    def is_wrong(index: float) -> bool:
        is_integer = -(2.0**63) <= index < 2.0**63
        is_ignored = is_integer and math.trunc(index) == ignored
        is_negative = is_integer and math.trunc(index) < 0
        in_range = oracle.class_of(index, depth, negative) is not None
        return not (is_ignored or in_range or (is_negative and negative == "ignore"))

    expected = any(map(is_wrong, indices.ravel().tolist()))
    try:
        onehot_fast.one_hot(indices, depth, out_of_range="error", **options)
    except ValueError:
        assert expected, "it is rejected"
        found["rejected"] += 1
    else:
        assert not expected, "it is not rejected"
        found["one_hot"] += 1


def _decode(
    rng: np.random.Generator, found: Counter[str], block: np.ndarray, axis: int, on: Any, off: Any
) -> None:
    """Decode each tensor of a block, with other elements here and there."""
    if block.size:
        for _ in range(int(rng.integers(4))):
            place = tuple(int(rng.integers(n)) for n in block.shape)
            block[place] = pick(rng, [on, off])[()]
    if rng.random() < 0.5:
        layouts = ["fortran"] * 3 if block.dtype.hasobject else ["strided", "reversed", "unaligned"]
        block = strategies.LAYOUTS[pick(rng, ["fortran", *layouts])](block)
    default, multiple = pick(rng, [-1, -9, 2**62, "error"]), pick(rng, ["first", "error"])

    def expected(tensor: np.ndarray, axis: int) -> Any:
        try:
            return oracle.decode(tensor, on, axis, default, multiple)
        except ValueError:
            return None

    wanted = expected(block, axis if axis < 0 else axis + 1)
    if wanted is None:
        wanted = [expected(tensor, axis) for tensor in block]
    for tensor, right in zip(block, wanted, strict=True):
        try:
            actual = onehot_fast.decode(
                tensor, axis, on_value=on, default=default, multiple=multiple
            )
        except ValueError:
            assert right is None, "it is rejected"
            found["rejected"] += 1
        else:
            assert right is not None, "it is not rejected"
            oracle.assert_same(actual, np.asarray(right))
    found["decode"] += len(block)


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
