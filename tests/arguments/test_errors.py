"""Wrong arguments raise errors of their kind, with messages that say what is expected."""

from __future__ import annotations

import re
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import onehot_fast
from onehot_fast._arguments.messages import with_column_context
from support import oracle, strategies

INDICES = np.array([[0, 1, 2], [2, 1, 0]])


def shaped(*shape, dtype=np.float32):
    """Return an output filled with a value that no call writes."""
    return np.full(shape, 7, dtype)


NO_INTEGERS = [True, np.True_, 1.0, np.float64(1), "1", None, [1], np.array([1])]
NO_INDICES = [
    *(True, [True], np.bool_(True), [1j], ["1"], b"12", None, [1, None], [Decimal(1)], {1, 2}),
    *(np.array([True, 2], object), np.array([], object)),
    *(np.zeros(2, dtype) for dtype in ("M8[s]", "m8[s]", "V4", [("a", "i4")])),
]
EMPTY = "depth=None needs an index"
# (case, arguments that replace good ones, error, text in its message)
ONE_HOT = [
    *((f"indices {type(x).__name__}", {"indices": x}, TypeError, "indices must be integers .*, got")
      for x in NO_INDICES),
    ("bool indices", {"indices": [True]}, TypeError, r"bool.*\.astype\('uint8'\)"),
    ("string indices", {"indices": ["a"]}, TypeError, "indices.*with Encoder, or with .onehot"),
    ("masked indices", {"indices": np.ma.array([1], mask=[1])}, TypeError,
     "indices must not be a masked array.*filled"),
    *((f"indices {x}", {"indices": np.array(x, object)}, ValueError, "all into uint64")
      for x in ([2**64], [-(2**63) - 1, 0], [-1, 2**63])),
    *((f"depth {x}", {"depth": x}, ValueError, r"in \[0, 2\*\*63\), got")
      for x in (-1, -1.5, -(2**32) + 4, 2**63, 2**64, 2**200, 1e300, np.uint64(2**63))),
    *((f"depth {x}", {"depth": x}, ValueError, "depth must be finite, got .*(nan|inf)")
      for x in (np.nan, np.float32("-inf"))),
    *((f"depth {x}", {"depth": x}, ValueError, r"depth must have one element, got shape")
      for x in ([3, 3], np.zeros((1, 0)))),
    *((f"depth {x!r}", {"depth": x}, TypeError, "depth must ")
      for x in (True, np.True_, [True], "3", 3j, Fraction(3), np.timedelta64(3, "s"),
                np.ma.array([3]))),
    ("no indices", {"indices": np.zeros(0, int), "depth": None}, ValueError, EMPTY),
    ("all ignored", {"indices": np.array([7, 7]), "depth": None, "ignore_index": 7}, ValueError,
     EMPTY),
    ("all NaN", {"indices": np.array([np.nan]), "depth": None}, ValueError, EMPTY),
    ("inferred depth too large", {"indices": np.uint64(2**64 - 1), "depth": None}, ValueError,
     r"in \[0, 2\*\*63\)"),
    *((f"axis {x}", {"axis": x}, ValueError, rf"axis must be in \[-3, 3\) .* rank 2, got {x}")
      for x in (-4, 3, 2**32, 2**32 - 1, -(2**32), 2**63, -(2**70))),
    *((f"axis {x!r}", {"axis": x}, TypeError, "axis must be an integer") for x in NO_INTEGERS[:-1]),
    *((f"ignore_index {x!r}", {"ignore_index": x}, TypeError,
       "ignore_index must be an integer, several integers or None")
      for x in (True, np.False_, 1.0, "1", "12", [1, 2.0], [[1]], (3, None))),
    ("policy", {"negative_indices": "wrap"}, ValueError,
     "one of 'ignore', 'normalize', 'error', got 'wrap'"),
    *((f"policy {x}", {"out_of_range": x}, error, f"one of 'ignore', 'error', got {x!r}")
      for x, error in (("clip", ValueError), ("normalize", ValueError), (True, TypeError))),
    ("policy None", {"negative_indices": None}, TypeError, "negative_indices .* got None"),
    ("axis too large, 0-d", {"indices": 1, "axis": 1}, ValueError, r"\[-1, 1\)"),
    ("values of two types", {"on_value": np.int8(1), "off_value": np.int16(0)}, TypeError, "int16"),
    ("value and dtype", {"on_value": np.int8(1), "dtype": "f4"}, TypeError, "int8"),
    ("fraction", {"on_value": 0.5, "dtype": int}, ValueError, "0.5"),
    ("complex as float", {"on_value": 1j, "dtype": "f4"}, (TypeError, ValueError), "1j"),
    ("string as number", {"on_value": "1", "dtype": "f4"}, (TypeError, ValueError), "on_value"),
    ("list value", {"on_value": [1, 2]}, (TypeError, ValueError), "on_value"),
    ("dtype unknown", {"dtype": "nonsense"}, TypeError, "nonsense"),
    *((f"out shape {x}", {"out": shaped(*x)}, ValueError, re.escape(str(x)))
      for x in ((3, 2, 4), (2, 4, 3), (24,))),
    ("out dtype", {"out": shaped(2, 3, 4, dtype="f8"), "dtype": "f4"}, TypeError, "float64"),
    ("out and typed value", {"out": shaped(2, 3, 4), "on_value": np.int8(1)}, TypeError, "int8"),
    ("out byte order", {"out": shaped(2, 3, 4, dtype=">f4"), "dtype": "=f4"}, TypeError, "dtype"),
    ("out read-only", {"out": strategies.read_only(shaped(2, 3, 4))}, ValueError, "read-only|writ"),
    ("out list", {"out": [0.0]}, TypeError, "list"),
    ("out masked", {"out": np.ma.zeros((2, 3, 4), "f4")}, TypeError, "out must not be a masked"),
    ("out broadcast", {"out": np.lib.stride_tricks.as_strided(
        shaped(4), (2, 3, 4), (0, 0, 4))}, ValueError, "overlap"),
    ("out sliding", {"out": np.lib.stride_tricks.as_strided(
        shaped(9), (2, 3, 4), (4, 8, 4))}, ValueError, "overlap"),
    ("elements overflow", {"depth": 2**62}, ValueError, str(2**62)),
    ("bytes overflow", {"depth": 2**60, "dtype": "f8"}, ValueError, str(2**60)),
    ("empty but overflowing", {"indices": np.zeros((0, 3), int), "depth": 2**62}, ValueError,
     str(2**62)),
    ("ragged indices", {"indices": [[1], [1, 2]]}, ValueError, "multi_hot accepts rows of any"),
    ("memory", {"depth": 2**44}, MemoryError, "17592186044416|GiB|TiB|bytes"),
    ("memory of bools", {"depth": 2**47, "dtype": bool}, MemoryError, "GiB|TiB|bytes"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "error", "message"), [row[1:] for row in ONE_HOT], ids=[row[0] for row in ONE_HOT]
)
def test_one_hot_rejects_wrong_arguments(changed, error, message):
    """Every wrong argument raises an error before anything large is allocated."""
    assert np.ma  # which NumPy imports at its first use, in memory that is not the function's
    arguments = {"indices": INDICES, "depth": 4} | changed
    tracemalloc.start()
    try:
        with pytest.raises(error, match=message):
            onehot_fast.one_hot(**arguments)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 2**20


# (case, arguments that replace good ones, error, text in its message)
DECODE = [
    ("0-d", {"tensor": np.float32(1)}, ValueError, "tensor"),
    ("axis too large", {"axis": 2}, ValueError, r"\[-2, 2\)"),
    ("axis too small", {"axis": -3}, ValueError, r"\[-2, 2\)"),
    ("axis float", {"axis": 1.0}, TypeError, "axis"),
    ("typed on", {"on_value": np.float64(1)}, TypeError, "float64"),
    ("fraction", {"tensor": np.eye(2, dtype=int), "on_value": 0.5}, ValueError, "0.5"),
    ("list on", {"on_value": [1, 2]}, (TypeError, ValueError), "on_value"),
    ("default word", {"default": "none"}, ValueError, "default"),
    ("default float", {"default": 1.5}, TypeError, "default"),
    ("default bool", {"default": True}, TypeError, "default"),
    ("default too large", {"default": 2**63}, ValueError, "default"),
    ("multiple word", {"multiple": "last"}, ValueError, "multiple"),
]


@pytest.mark.parametrize(
    ("changed", "error", "message"), [row[1:] for row in DECODE], ids=[row[0] for row in DECODE]
)
def test_decode_rejects_wrong_arguments(changed, error, message):
    arguments = {"tensor": np.eye(2, dtype=np.float32)} | changed

    with pytest.raises(error, match=message):
        onehot_fast.decode(**arguments)


@pytest.mark.parametrize(
    "changed",
    [
        {"out_of_range": "error"},
        {"negative_indices": "error"},
        {"depth": 5},
        {"axis": 0},
        {"on_value": np.float64(1)},
        {"dtype": "i2"},
        {"num_threads": 0},
    ],
    ids=repr,
)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", object])
def test_out_is_unchanged_after_an_error(changed, dtype, order):
    out = np.full((9000, 4), 7, dtype, order=order)
    arguments = {"indices": np.append(np.zeros(8998, int), [-1, 4]), "depth": 4, "out": out}

    with pytest.raises((TypeError, ValueError)):
        onehot_fast.one_hot(**(arguments | changed))
    assert (out == 7).all()


@pytest.mark.parametrize(
    "convert", [np.asarray, memoryview, lambda a: a[::-1], lambda a: a.view(">i4")]
)
@pytest.mark.parametrize("first", [0, 1, 3, 24, 25])
@pytest.mark.parametrize("step", [1, -1])
def test_out_must_not_share_memory_with_the_indices(first, step, convert):
    """An overlap is an error, even if a copy of the indices would be read."""
    memory = np.zeros(50, np.int32)
    indices = convert(memory[first : first + 3])
    before = memory.copy()

    with pytest.raises(ValueError, match="overlaps the memory of the indices"):
        onehot_fast.one_hot(indices, 9, out=memory[:27].reshape(3, 9)[::step], dtype="i4")
    oracle.assert_same(memory, before)


def test_out_may_be_beside_the_indices_in_one_buffer():
    memory = np.zeros((3, 10), np.int32)
    onehot_fast.one_hot(memory[:, 0], 9, out=memory[:, 1:], dtype="i4")

    assert memory.tolist() == [[0, 1] + [0] * 8] * 3


def test_out_may_contain_the_on_and_off_values():
    out = np.array([[5, 3], [0, 0]], np.int16)
    on, off = out[0, :1].reshape(()), out[0, 1:].reshape(())
    onehot_fast.one_hot([0, 1], 2, on_value=on, off_value=off, out=out)

    assert out.tolist() == [[5, 3], [3, 5]]


def test_out_with_zero_elements_never_overlaps():
    memory = np.zeros(4, np.float32)
    out = memory[:0].reshape(0, 3)

    assert onehot_fast.one_hot(memory[:0], 3, out=out) is out


def test_an_overlap_that_is_too_hard_to_decide_is_an_error(monkeypatch):
    monkeypatch.setattr("onehot_fast._arguments.scatter._OVERLAP_WORK", 1)
    memory = np.zeros(20_000, "i8")
    strided = np.lib.stride_tricks.as_strided
    out = strided(memory, (7, 11, 13), (8 * 1000, 8 * 77, 8 * 5))
    indices = strided(memory[3:], (7, 11), (8 * 999, 8 * 83))

    with pytest.raises(ValueError, match="overlaps the memory"):
        onehot_fast.one_hot(indices, 13, out=out, dtype="i8")


@pytest.mark.parametrize(
    ("shape", "strides", "overlaps"),
    [
        *(((3, 4), strides, True) for strides in ((0, 8), (8, 8), (4, 8), (16, 8))),
        *(((3, 4), strides, False) for strides in ((32, 8), (8, 24), (-32, 8))),
        *(((3, 1), (8, 0), False), ((1, 1), (0, 0), False), ((0, 4), (0, 0), False)),
        *(((2, 3), (24, 16), False), ((3, 2), (16, 24), False), ((3, 3), (16, 24), False)),
        *(((4, 3), (16, 24), True), ((2, 2), (12, 8), True)),
    ],
)
def test_only_an_out_whose_elements_overlap_is_rejected(shape, strides, overlaps):
    """Strides that interlock are distinguished from strides that collide."""
    out = np.lib.stride_tricks.as_strided(np.zeros(200, "f8")[100:], shape, strides)
    indices = np.zeros(shape[0], int)
    if overlaps:
        with pytest.raises(ValueError, match="elements of out overlap"):
            onehot_fast.one_hot(indices, shape[1], out=out)
    else:
        assert onehot_fast.one_hot(indices, shape[1], out=out) is out


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TypeError("no"), TypeError),
        (ValueError("no"), ValueError),
        (UnicodeEncodeError("ascii", "\xe4", 0, 1, "no"), ValueError),  # takes other arguments
        (onehot_fast.UnknownValueError("no"), ValueError),
    ],
    ids=repr,
)
def test_an_error_names_its_column(error, kind):
    """The error of a column keeps its kind, and its cause."""

    def fail(value):
        raise value

    with pytest.raises(kind, match=r"^column 'size': .*no$") as caught:
        with_column_context("size", fail, error)
    assert (type(caught.value), caught.value.__cause__) == (kind, error)
