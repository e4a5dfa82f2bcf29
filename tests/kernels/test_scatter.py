"""`out` of any strides and dtype, and elements that are no plain bytes."""

from __future__ import annotations

import numpy as np
import pytest

import onehot_fast

INDICES = np.array([[0, 3, -1], [2, 7, 1]])
RECORD = np.dtype([("a", "u1"), ("b", "f8")], align=True)


def test_subclass_is_returned_as_it_is():
    """The output may be of a subclass, a memory map for one."""
    out = np.zeros((2, 3, 4)).view(np.recarray)

    assert onehot_fast.one_hot(INDICES, 4, out=out) is out
    assert np.argwhere(out).tolist() == [[0, 0, 0], [0, 1, 3], [1, 0, 2], [1, 2, 1]]


def test_overlap_too_hard_to_decide(monkeypatch):
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
        ((3, 4), (0, 8), True),
        ((3, 4), (8, 8), True),
        ((3, 4), (4, 8), True),
        ((3, 4), (16, 8), True),
        ((3, 4), (32, 8), False),
        ((3, 4), (8, 24), False),
        ((3, 4), (-32, 8), False),
        ((3, 1), (8, 0), False),
        ((1, 1), (0, 0), False),
        ((0, 4), (0, 0), False),
        ((2, 3), (24, 16), False),
        ((3, 2), (16, 24), False),
        ((3, 3), (16, 24), False),
        ((4, 3), (16, 24), True),
        ((2, 2), (12, 8), True),
    ],
)
def test_self_overlap(shape, strides, overlaps):
    """Strides that interlock are distinguished from strides that collide."""
    out = np.lib.stride_tricks.as_strided(np.zeros(200, "f8")[100:], shape, strides)
    indices = np.zeros(shape[0], int)
    if overlaps:
        with pytest.raises(ValueError, match="elements of out overlap"):
            onehot_fast.one_hot(indices, shape[1], out=out)
    else:
        assert onehot_fast.one_hot(indices, shape[1], out=out) is out


class Odd:
    """An object whose == says neither yes nor no."""

    def __eq__(self, other):
        return NotImplemented if other is None else np.array([True, True])

    __hash__ = None


@pytest.mark.parametrize(
    ("cells", "on", "expected"),
    [
        (["a", "b", "a"], "b", 1),
        ([float("nan"), None, 0], None, 1),
        ([0, np.nan, 0], np.nan, 1),
        ([[1], [2], [1]], [2], 1),
        ([Odd(), Odd(), 3], 3, 2),
        ([0, np.float32(1), 0], 1, 1),
    ],
)
def test_objects_are_found_like_in_a_list(cells, on, expected):
    """Identity or an == that is True; anything else == may return is no match."""
    tensor = np.empty(3, object)
    tensor[:] = cells

    assert onehot_fast.decode(tensor, on_value=on) == expected


@pytest.mark.parametrize(
    ("dtype", "on", "off"),
    [
        (RECORD, (1, -0.0), (1, 0.0)),
        (RECORD, (1, np.nan), (2, np.nan)),
        ([("o", "O"), ("n", "f4", (2,))], (None, [1, 2]), (None, [1, 3])),
        ([("a", [("b", "U2")]), ("c", "V2", (0,))], (("x",), []), (("y",), [])),
    ],
    ids=repr,
)
def test_structures_are_compared_field_by_field(dtype, on, off):
    tensor = onehot_fast.one_hot([2, 0, 1, 5], 3, on_value=on, off_value=off, dtype=dtype, axis=0)

    assert onehot_fast.decode(tensor, 0, on_value=on).tolist() == [2, 0, 1, -1]


def test_padding_never_counts():
    """Bytes between the fields of a structure are ignored."""
    tensor = np.frombuffer(bytes(range(32)), RECORD).copy()
    tensor["a"], tensor["b"] = [0, 1], [0.5, 1.5]

    assert onehot_fast.decode(tensor, on_value=(1, 1.5)) == 1


@pytest.mark.parametrize("dtype", ["f4", object])
@pytest.mark.parametrize(
    ("rows", "fault"),
    [([[1, 0], [1, 1], [0, 0]], "more than one"), ([[1, 0], [0, 0], [1, 1]], "no")],
)
def test_first_fault_in_c_order(dtype, rows, fault):
    with pytest.raises(ValueError, match=rf"tensor\[1, :\] has {fault} element equal to on_value"):
        onehot_fast.decode(np.array(rows, dtype), default="error")
