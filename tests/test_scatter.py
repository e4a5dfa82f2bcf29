"""The caller's memory is checked before it is written, whatever its strides and dtype."""

from __future__ import annotations

import numpy as np
import pytest

import onehot_fast
from onehot_fast._arguments import scatter

INDICES = np.array([[0, 3, -1], [2, 7, 1]])
EXPECTED = np.array(
    [
        [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]],
        [[0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]],
    ]
)
RECORD = np.dtype([("a", "u1"), ("b", "f8")], align=True)

OUTPUTS = {
    "contiguous": lambda dtype: np.zeros((2, 3, 4), dtype),
    "fortran": lambda dtype: np.zeros((2, 3, 4), dtype, order="F"),
    "reversed": lambda dtype: np.zeros((2, 3, 4), dtype)[::-1, ::-1, ::-1],
    "every other": lambda dtype: np.zeros((2, 6, 8), dtype)[:, ::2, ::2],
    "transposed": lambda dtype: np.zeros((4, 2, 3), dtype).transpose(1, 2, 0),
    "last but one": lambda dtype: np.zeros((2, 3, 5), dtype)[:, :, :-1],
}


def unaligned(shape, dtype):
    """Return a contiguous array that begins at an odd address."""
    dtype = np.dtype(dtype)
    return np.ndarray(shape, dtype, bytearray(2 * 3 * 4 * dtype.itemsize + 1), offset=1)


@pytest.mark.parametrize("layout", OUTPUTS)
@pytest.mark.parametrize("dtype", ["?", "i2", "f4", ">f8", "c16", "M8[s]", object])
def test_any_strides(layout, dtype):
    """Every element of out is written, and out itself is returned."""
    out = OUTPUTS[layout](dtype)
    out.fill(1)

    result = onehot_fast.one_hot(INDICES, 4, out=out, dtype=dtype)

    assert result is out
    assert (out == EXPECTED.astype(out.dtype)).all()


@pytest.mark.parametrize("layout", ["fortran", "every other"])
@pytest.mark.parametrize("dtype", [RECORD, "U3", "S5", "V7", [("o", "O"), ("n", "i4")]], ids=repr)
def test_any_dtype_in_strides(layout, dtype):
    """Structures, texts and raw bytes arrive whole."""
    dtype = np.dtype(dtype)
    values = {"U": ("on", "off"), "S": (b"on", b"off"), "V": (b"on", b"off")}
    on, off = (1, 0) if dtype.names else values[dtype.kind]
    out = OUTPUTS[layout](dtype)

    onehot_fast.one_hot(INDICES, 4, on_value=on, off_value=off, out=out)

    assert (out == np.array(on, dtype)).tolist() == (EXPECTED == 1).tolist()
    assert (out == np.array(off, dtype)).tolist() == (EXPECTED == 0).tolist()


def test_unaligned():
    """A contiguous array at an odd address is written without any aligned store."""
    out = unaligned((2, 3, 4), "f8")

    onehot_fast.one_hot(INDICES, 4, out=out)

    assert out.tolist() == EXPECTED.tolist()


@pytest.mark.parametrize("payload", [0x7FF0000000000001, 0xFFF8DEADBEEF0000])
def test_bits_survive_strides(payload):
    """A signalling NaN is not quieted on its way through NumPy."""
    on = np.array(payload, "u8").view("f8")
    out = np.zeros((2, 4), "f8").T

    onehot_fast.one_hot([1, 0, 1, 0], 2, on_value=on, out=out)

    assert np.ascontiguousarray(out).view("u8").tolist() == [
        [0, payload],
        [payload, 0],
        [0, payload],
        [payload, 0],
    ]


def test_policies_reach_the_strided_writer():
    """Wrapping and ignored indices mean the same in every layout."""
    out = np.zeros((3, 4), order="F")

    onehot_fast.one_hot([-1, 2, 3], 4, negative_indices="normalize", ignore_index=2, out=out)

    assert out.tolist() == [[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 1]]


def test_subclass_is_returned_as_it_is():
    """The output may be of a subclass, a memory map for one."""
    out = np.zeros((2, 3, 4)).view(np.recarray)

    assert onehot_fast.one_hot(INDICES, 4, out=out) is out
    assert out.tolist() == EXPECTED.tolist()


def test_more_dimensions_than_fancy_indexing_takes():
    """The highest rank NumPy has is written like any other."""
    rank = 63 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 31
    indices = np.ones((1,) * rank, int)

    result = onehot_fast.one_hot(indices, 2, on_value="on", off_value="off", dtype=object)

    assert result.reshape(-1).tolist() == ["off", "on"]


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        ([[0.0]], TypeError, "out is of type list"),
        (np.ma.zeros((2, 3, 4), "f4"), TypeError, "out is a masked array"),
        (np.zeros((2, 3, 3), "f4"), ValueError, r"out has shape \(2, 3, 3\).* \(2, 3, 4\)"),
        (np.zeros((4, 2, 3), "f4"), ValueError, r"out has shape \(4, 2, 3\)"),
        (np.zeros((2, 3, 4), "f8"), TypeError, "out has dtype float64.* float32"),
        (np.zeros((2, 3, 4), ">f4"), TypeError, "out has dtype >f4"),
        (np.broadcast_to(np.float32(0), (2, 3, 4)), ValueError, "read-only"),
    ],
    ids=["list", "masked", "depth", "axis", "dtype", "byte order", "read-only"],
)
def test_out_that_does_not_fit(out, error, message):
    """Kind, dtype, shape and permission are looked at in this order."""
    with pytest.raises(error, match=message):
        onehot_fast.one_hot(INDICES, 4, dtype="f4", out=out)


@pytest.mark.parametrize(
    "convert", [np.asarray, memoryview, lambda a: a[::-1], lambda a: a.view(">i8")]
)
def test_overlap_with_the_indices(convert):
    """The memory of the indices is not written, even where a copy of them would be read."""
    memory = np.arange(6)
    out = memory.reshape(3, 2)
    indices = convert(memory[:3])

    with pytest.raises(ValueError, match="overlaps the memory of the indices"):
        onehot_fast.one_hot(indices, 2, out=out, dtype=out.dtype)

    assert memory.tolist() == [0, 1, 2, 3, 4, 5]


def test_interleaved_is_no_overlap():
    """Arrays that take turns in one buffer share no byte."""
    memory = np.array([[0, 9, 9], [1, 9, 9]])

    onehot_fast.one_hot(memory[:, 0], 2, out=memory[:, 1:])

    assert memory.tolist() == [[0, 1, 0], [1, 0, 1]]


def test_overlap_too_hard_to_decide(monkeypatch):
    """What cannot be decided in reasonable time counts as an overlap."""
    monkeypatch.setattr(scatter, "_OVERLAP_WORK", 1)
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
    """Interlocking strides are told from colliding ones exactly."""
    memory = np.zeros(200, "f8")
    out = np.lib.stride_tricks.as_strided(memory[100:], shape, strides)

    assert overlaps == scatter._overlaps_itself(out)


def test_self_overlap_is_refused():
    """Writing one element would change another."""
    out = np.lib.stride_tricks.as_strided(np.zeros(8, "f4"), (2, 3, 4), (0, 4, 4))

    with pytest.raises(ValueError, match="out overlaps itself"):
        onehot_fast.one_hot(INDICES, 4, out=out)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", object])
def test_nothing_is_half_written(order, dtype):
    """An index that is refused leaves out as it was."""
    out = np.full((2, 3, 4), 5, dtype, order=order)

    with pytest.raises(ValueError, match=r"indices\[1, 1\] = 7"):
        onehot_fast.one_hot(INDICES, 4, out=out, dtype=dtype, out_of_range="error")

    assert (out == 5).all()


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
    """Each field counts by its bits or as an object, at any depth."""
    tensor = onehot_fast.one_hot([2, 0, 1, 5], 3, on_value=on, off_value=off, dtype=dtype, axis=0)

    assert onehot_fast.decode(tensor, 0, on_value=on).tolist() == [2, 0, 1, -1]


def test_padding_never_counts():
    """Bytes between the fields of a structure are nobody's."""
    tensor = np.frombuffer(bytes(range(32)), RECORD).copy()
    tensor["a"], tensor["b"] = [0, 1], [0.5, 1.5]

    assert onehot_fast.decode(tensor, on_value=(1, 1.5)) == 1


@pytest.mark.parametrize("dtype", ["f4", object])
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [[1, 0], [1, 1], [0, 0]],
            r"tensor\[1, :\] has more than one element equal to on_value",
        ),
        ([[1, 0], [0, 0], [1, 1]], r"tensor\[1, :\] has no element equal to on_value = 1"),
    ],
)
def test_first_fault_in_c_order(dtype, rows, message):
    """Of an all-off row and a row of several ons the earlier one is named."""
    with pytest.raises(ValueError, match=message):
        onehot_fast.decode(np.array(rows, dtype), all_off="error")
