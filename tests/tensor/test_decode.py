"""`decode`, the inverse of `one_hot`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onehot_fast
from support import oracle, strategies

RECORD = np.dtype([("a", "u1"), ("b", "f8")], align=True)
# Pairs of different values; NaN and -0.0 are compared by their bits.
DISTINCT = {name: pair for name, pair in strategies.VALUES.items() if name != "equal"}


@given(strategies.cases(DISTINCT))
def test_decode_returns_the_indices_of_one_hot(case):
    """`decode` returns the indices of `one_hot`, and -1 for an index out of range."""
    tensor = onehot_fast.one_hot(case.indices, case.depth, **case.options)
    actual = onehot_fast.decode(tensor, case.axis, on_value=case.on)
    found = [
        oracle.class_of(k, case.depth, case.negative, case.ignore_index)
        for k in case.indices.ravel().tolist()
    ]
    wanted = np.array([-1 if k is None else k for k in found], np.int64)

    oracle.assert_same(actual, wanted.reshape(case.indices.shape))


@st.composite
def tensors(draw):
    """Draw (a tensor of few distinct values in any layout, an axis, the on value)."""
    off, on = DISTINCT[draw(st.sampled_from(sorted(DISTINCT)))]
    shape = draw(
        st.lists(st.integers(0, 6), min_size=1, max_size=4).map(tuple)
        | st.tuples(st.sampled_from(strategies.LENGTHS[:20]), st.integers(1, 40))
    )
    chance = draw(st.sampled_from([0.0, 0.05, 0.5, 1.0]))
    lit = np.random.default_rng(draw(st.integers(0, 999))).random(shape) < chance
    tensor = np.empty(shape, off.dtype)
    tensor[...] = off
    tensor[lit] = on
    layouts = ["contiguous", "fortran", "strided", "reversed", "read_only"]
    layouts += [] if tensor.dtype.hasobject else ["unaligned"]
    layout = draw(st.sampled_from(layouts))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    return strategies.LAYOUTS[layout](tensor), axis, on


@given(
    call=tensors(),
    default=st.sampled_from([-1, 0, -100, 2**62, "error"]),
    multiple=st.sampled_from(["first", "error"]),
    data=st.data(),
)
def test_decode_equals_the_oracle(call, default, multiple, data):
    """Rows are found or rejected in any layout, also rows of other elements."""
    tensor, axis, on = call
    if data.draw(st.booleans()):
        tensor = tensor.copy()
        others = [v for pair in DISTINCT.values() for v in pair if v.dtype == tensor.dtype]
        for _ in range(data.draw(st.integers(0, 4)) if tensor.size else 0):
            place = tuple(data.draw(st.integers(0, size - 1)) for size in tensor.shape)
            tensor[place] = data.draw(st.sampled_from(others))
    before, options = tensor.copy(), {"default": default, "multiple": multiple}
    try:
        expected = oracle.decode(tensor, on, axis, **options)
    except ValueError:
        with pytest.raises(ValueError, match="on_value"):
            onehot_fast.decode(tensor, axis, on_value=on, **options)
    else:
        oracle.assert_same(onehot_fast.decode(tensor, axis, on_value=on, **options), expected)
    oracle.assert_same(tensor, before)


@pytest.mark.parametrize(
    ("dtype", "on_value"),
    [
        *(("?", 1), ("?", True), ("u1", 1), (">i2", 1), ("f2", 1), ("c16", 1), ("U3", "1")),
        ("f8", np.nan),
    ],
)
def test_an_untyped_on_value_takes_the_dtype_of_the_tensor(dtype, on_value):
    """The on value may be an untyped value that the tensor's dtype can hold."""
    tensor = np.array([[0, 1], [1, 0]]).astype(dtype)
    tensor[tensor == tensor[0, 1]] = on_value

    assert onehot_fast.decode(tensor, on_value=on_value).tolist() == [1, 0]


@pytest.mark.parametrize("width", strategies.WIDTHS)
def test_elements_may_differ_in_their_last_byte_only(width):
    """Elements that differ only in their last byte are distinguished."""
    off = np.zeros((), f"V{width}")
    on = np.frombuffer(bytes(width - 1) + b"\x01", f"V{width}").reshape(())
    for n_rows in (1, 63, 64, 65, 4095, 4097):
        indices = np.arange(n_rows, dtype=np.int64) * 7 % 5
        tensor = oracle.one_hot(indices, 5, on, off)

        oracle.assert_same(onehot_fast.decode(tensor, on_value=on), indices)


@pytest.mark.parametrize("rule", ["exact", "argmax"])
@pytest.mark.parametrize(
    ("shape", "axis", "expected"),
    [((0,), 0, -1), ((3, 0), -1, [-1] * 3), ((0, 3), -1, []), ((3, 0), 0, []), ((0, 0), 0, [])],
)
def test_tensors_may_lack_rows_or_classes(shape, axis, expected, rule):
    """A tensor without classes is decoded to -1 in every row, and one without rows to no row."""
    if rule == "argmax" and expected:
        pytest.skip("argmax needs a class")
    actual = onehot_fast.decode(np.zeros(shape, np.float32), axis, rule=rule)

    assert isinstance(actual, np.ndarray)
    assert (actual.dtype, actual.tolist()) == (np.dtype(np.int64), expected)


SCORES = ["?", "i1", "u1", "i8", "u8", "f2", "f4", "f8", ">f4"]


@given(st.data())
def test_argmax_equals_that_of_numpy(data):
    """`rule="argmax"` is numpy.argmax on every axis and layout: ties, NaN, infinities, -0.0."""
    shape = data.draw(
        st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)
        | st.sampled_from([(3000, 7), (90, 70, 80)])
    )
    dtype = np.dtype(data.draw(st.sampled_from(SCORES)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    values = np.array([0, 1, 1, 2] if dtype.kind in "b?iu" else [np.nan, -0.0, 0.0, np.inf, 1, -5])
    seed = data.draw(st.integers(0, 999))
    tensor = np.random.default_rng(seed).choice(values, shape).astype(dtype)
    tensor = strategies.LAYOUTS[data.draw(st.sampled_from(["contiguous", "strided"]))](tensor)

    result = onehot_fast.decode(tensor, axis, rule="argmax")

    oracle.assert_same(result, np.asarray(np.argmax(tensor, axis)))


@pytest.mark.parametrize(
    ("tensor", "options", "error", "message"),
    [
        ([[1, 0]], {"on_value": 2}, TypeError, "cannot be used with rule='argmax'"),
        ([[1, 0]], {"default": "error"}, TypeError, "cannot be used with"),
        ([[1, 0]], {"multiple": "first"}, TypeError, "cannot be used with"),
        ([[1, 0]], {"axis": 2}, ValueError, r"axis must be in \[-2, 2\)"),
        ([["a", "b"]], {}, TypeError, "must contain Booleans, integers or floats"),
        ([[1j, 0]], {}, TypeError, "complex128"),
        (np.zeros((3, 0)), {}, ValueError, "at least one class"),
        (5, {}, ValueError, "rank 0"),
        (type("csr_array", (), {"tocoo": None})(), {}, TypeError, r"a csr_array: pass its .toarr"),
    ],
)
def test_argmax_rejects_options_and_tensors_without_a_largest_element(
    tensor, options, error, message
):
    """Options that look for an on value, and tensors without a largest element."""
    with pytest.raises(error, match=message):
        onehot_fast.decode(tensor, rule="argmax", **options)


def test_a_vector_of_other_elements_is_rejected():
    with pytest.raises(ValueError, match=r"equal to on_value = 1, but contains 0.0 and 5.0"):
        onehot_fast.decode(np.array([0.0, 5.0]))
    assert onehot_fast.decode(np.array([0.0, -0.0])) == -1


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", "g", "c8", "u1", "i8", "U3", "O"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("default", [-1, 0, 7])
def test_the_first_row_of_other_elements_is_named(dtype, axis, default):
    """Zeros of both signs are zeros, a row of one value is no score, an on value decides alone."""
    rows = [[0, 0, 0], [0, -0.0, 0], [5, 5, 5], [0, 1, 3], [0, 0, 2], [2, 0, 0]]
    tensor = np.array(rows, "f8").astype(dtype)
    tensor = np.repeat(tensor, 500, 0)
    tensor = tensor if axis == 1 else np.ascontiguousarray(tensor.T)
    on = "1.0" if dtype == "U3" else 1
    place = r"2000, :" if axis == 1 else r":, 2000"
    if dtype == "U3":
        place = place.replace("2000", "500")  # "0.0" and "-0." are two texts

    with pytest.raises(ValueError, match=rf"tensor\[{place}\] has no element equal"):
        onehot_fast.decode(tensor, axis, on_value=on, default=default)


@pytest.mark.parametrize("name", ["S2", "S4", "S8", "U1", "U2", "V4", "V8", "complex64"])
@pytest.mark.parametrize("axis", [0, 1])
def test_elements_may_be_at_any_aligned_address(name, axis):
    """Texts and raw bytes need no alignment, complex64 needs 4 bytes (for `make sanitize`)."""
    dtype = np.dtype(name)
    wide = np.zeros(4096, np.uint8)
    start = -wide.ctypes.data % 8 + dtype.alignment
    tensor = np.ndarray((8, 16), dtype, wide, start)
    assert tensor.flags.aligned
    on = np.frombuffer(b"\1" + bytes(dtype.itemsize - 1), dtype).reshape(())
    tensor[:] = on
    tensor[:, ::3] = np.zeros((), dtype)
    actual = onehot_fast.decode(tensor, axis, on_value=on, multiple="first")

    oracle.assert_same(actual, oracle.decode(tensor, on, axis, multiple="first"))


@pytest.mark.parametrize("name", ["longdouble", "clongdouble", ">g", [("x", "u1"), ("y", "g")]])
def test_padding_bytes_are_ignored(name):
    """Bytes behind the 80 bits of an extended float are never looked at, and 0 in what we write."""
    dtype = np.dtype(name)
    on = np.ones(1, dtype)
    clean = onehot_fast.one_hot([2, 0], 3, on_value=on[0], off_value=np.zeros(1, dtype)[0])
    dirty = clean.copy()
    for value in range(256):  # of which some bytes are padding, and the others are put back
        dirty.view(np.uint8)[:] = value
        dirty[...] = clean
        assert onehot_fast.decode(dirty, on_value=on[0]).tolist() == [2, 0]

    on.view(np.uint8)[:] = 255
    on[...] = np.ones(1, dtype)
    again = onehot_fast.one_hot([2, 0], 3, on_value=on[0], off_value=np.zeros(1, dtype)[0])
    if dtype.names is None:
        assert again.tobytes() == clean.tobytes()
        assert onehot_fast.Encoder(["c"], dtype=dtype).fit({"c": [1, 2]}).inverse_transform(
            np.array([[0, 1], [1, 0]], object).astype(dtype)
        )["c"].tolist() == [2, 1]


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
def test_objects_are_found_as_in_a_list(cells, on, expected):
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


@pytest.mark.parametrize("dtype", ["f4", "i8", object])
@pytest.mark.parametrize(
    ("tensor", "axis", "position", "fault"),
    [
        ([[1, 0], [1, 1], [0, 0]], -1, r"tensor\[1, :\]", "more than one"),
        ([[1, 0], [0, 0], [1, 1]], -1, r"tensor\[1, :\]", "no"),
        ([[[1, 0], [1, 0]], [[0, 1], [1, 1]]], -1, r"tensor\[1, 1, :\]", "more than one"),
        ([[[1, 0], [1, 1]], [[0, 1], [0, 1]]], 1, r"tensor\[0, :, 0\]", "more than one"),
        ([[1, 1], [0, 1]], 0, r"tensor\[:, 1\]", "more than one"),
    ],
)
def test_the_first_fault_in_c_order_is_named(tensor, axis, position, fault, dtype):
    with pytest.raises(ValueError, match=f"{position} has {fault} element equal to on_value"):
        onehot_fast.decode(np.array(tensor, dtype), axis, default="error")
