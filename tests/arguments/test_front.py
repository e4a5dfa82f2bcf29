"""Small calls, which a fast path answers, have the results and errors of the general path."""

from __future__ import annotations

import math
import warnings

import numpy as np
import oracle
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import onehot_fast

RESULT_DTYPES = tuple(map(np.dtype, "?bBhHiIlLqQefd"))
MAX_BYTES = 2**20
INDEX_DTYPES = tuple(map(np.dtype, "bhiqBHIQfd"))
INDICES = np.array([[0, 2, -1], [3, 1, 9]])


def outcome(**arguments):
    """Return the result of `one_hot`, or its error."""
    try:
        return onehot_fast.one_hot(**arguments)
    except Exception as error:
        return type(error), str(error)


def assert_same_outcome(arguments):
    """Compare a call with the same one in one thread, which the general path answers."""
    out = arguments.get("out")
    before = np.array(out).tobytes()
    actual = outcome(**arguments)
    if isinstance(actual, tuple):
        assert actual == outcome(**arguments, num_threads=1)
        assert np.array(out).tobytes() == before
    else:
        assert out is None or actual is out
        found = np.array(actual)
        oracle.assert_same(found, np.asarray(outcome(**arguments, num_threads=1)))


@st.composite
def calls(draw):
    """Draw a common call: contiguous native indices, and a result that is small and not empty."""
    result = draw(st.sampled_from(RESULT_DTYPES))
    depth = draw(st.sampled_from([n for n in strategies.DEPTHS if n]))
    most = min(20_000, MAX_BYTES // (depth * result.itemsize))
    shapes = strategies.SHAPES.filter(lambda shape: 0 < math.prod(shape) <= most)
    shape = draw(shapes | st.sampled_from([(), (1,) * 16, (1, 2) * 5]))
    dtype = draw(st.sampled_from(INDEX_DTYPES))
    indices = strategies.index_values(dtype, depth, math.prod(shape), draw(st.integers(0, 2**32)))
    axis = draw(st.integers(-len(shape) - 1, len(shape)))
    return indices.reshape(shape), depth, axis, result


def expected_of(indices, depth, axis, dtype):
    return oracle.one_hot(indices, depth, *np.array([1, 0], dtype), axis=axis)


@given(call=calls(), with_out=st.booleans(), with_dtype=st.booleans())
def test_common_calls(call, with_out, with_dtype):
    """Every type of index and result, every axis, rank and shape."""
    indices, depth, axis, dtype = call
    expected = expected_of(indices, depth, axis, dtype)
    out = np.full_like(expected, 3) if with_out else None
    before = indices.tobytes()
    options = {"dtype": dtype if with_dtype or not with_out else None, "out": out}
    for threads in ({}, {"num_threads": 1}):
        actual = onehot_fast.one_hot(indices, depth, axis=axis, **options, **threads)
        assert out is None or actual is out
        oracle.assert_same(actual, expected)
        assert actual.flags.c_contiguous
        assert actual.flags.writeable
        assert indices.tobytes() == before


@pytest.mark.parametrize(
    "spelled", [np.longlong, np.ulonglong, np.intc, np.uintc, np.intp, "l", "L"]
)
def test_types_with_two_names_in_c(spelled):
    indices = np.array([0, 3, 1], spelled)

    oracle.assert_same(onehot_fast.one_hot(indices, 4), expected_of(indices, 4, -1, "f4"))
    actual = onehot_fast.one_hot(indices, 4, dtype=spelled)
    oracle.assert_same(actual, expected_of(indices, 4, -1, spelled))


@pytest.mark.parametrize("dtype", [None, float, int, bool, "f2", "<f8", "=i4", np.float32, np.int8])
def test_spellings_of_a_dtype(dtype):
    """All spellings of NumPy for a plain native dtype are read; float32 is the default."""
    expected = expected_of(INDICES, 4, -1, "f4" if dtype is None else dtype)

    oracle.assert_same(onehot_fast.one_hot(INDICES, 4, dtype=dtype), expected)


@pytest.mark.parametrize("n_bytes", [2**18 - 1, 2**18, 2**18 + 1, MAX_BYTES - 1, MAX_BYTES])
def test_results_at_the_limit_of_recycled_blocks(n_bytes):
    indices = np.arange(n_bytes, dtype=np.uint32)

    actual = onehot_fast.one_hot(indices, 1, dtype="u1")
    oracle.assert_same(actual, (indices == 0).astype("u1")[:, None])


class Subclass(np.ndarray):
    """An array class of another library."""


class Lazy:
    """An object that NumPy would take for an array, a dtype and a number."""

    dtype = np.dtype("f4")

    def __array__(self, *_, **__):
        return np.array([1])

    def __index__(self):
        return 1


UNCOMMON = {
    "list": {"indices": [0, 1]},
    "scalar": {"indices": np.int64(1)},
    "subclass": {"indices": INDICES.view(Subclass)},
    "masked": {"indices": np.ma.array(INDICES)},
    "object": {"indices": INDICES.astype(object)},
    "array-like": {"indices": Lazy()},
    "bool": {"indices": INDICES > 0},
    "float16": {"indices": INDICES.astype("f2")},
    "complex": {"indices": INDICES.astype("c8")},
    "dates": {"indices": INDICES.astype("m8[s]")},
    "text": {"indices": INDICES.astype("U2")},
    "swapped": {"indices": INDICES.astype(INDICES.dtype.newbyteorder())},
    "strided": {"indices": INDICES[:, ::2]},
    "transposed": {"indices": INDICES.T},
    "unaligned": {"indices": strategies.unaligned(INDICES)},
    "no indices": {"indices": INDICES[:0]},
    "rank 17": {"indices": np.zeros((1,) * 17, int)},
    "depth 0": {"depth": 0},
    "depth < 0": {"depth": -1},
    "depth 2**20 + 1": {"depth": 2**20 + 1, "dtype": "u1"},
    "depth 2**63": {"depth": 2**63},
    "depth 2**64 + 4": {"depth": 2**64 + 4},
    "no depth": {"depth": None},
    "float depth": {"depth": 4.0},
    "bool depth": {"depth": True},
    "NumPy depth": {"depth": np.int64(4)},
    "on 2": {"on_value": 2},
    "on True": {"on_value": True},
    "on 1.0": {"on_value": 1.0},
    "typed on": {"on_value": np.float32(1)},
    "on 2**64 + 1": {"on_value": 2**64 + 1},
    "off 1": {"off_value": 1},
    "off -0.0": {"off_value": -0.0},
    "off False": {"off_value": False},
    "off 2**64": {"off_value": 2**64},
    "axis 3": {"axis": 3},
    "axis -4": {"axis": -4},
    "axis 2**31": {"axis": 2**31},
    "axis 2**32": {"axis": 2**32},
    "axis 2**32 - 1": {"axis": 2**32 - 1},
    "axis -2**32": {"axis": -(2**32)},
    "axis 2**64": {"axis": 2**64},
    "axis True": {"axis": True},
    "axis 1.0": {"axis": 1.0},
    "no axis": {"axis": None},
    "complex result": {"dtype": "c8"},
    "long double": {"dtype": np.longdouble},
    "swapped result": {"dtype": np.dtype("f4").newbyteorder()},
    "text result": {"dtype": "U1"},
    "object result": {"dtype": object},
    "date result": {"dtype": "M8[s]"},
    "structured": {"dtype": "f4,i1"},
    "subarray": {"dtype": "(2,)f4"},
    "no dtype": {"dtype": "nonsense"},
    "number for a dtype": {"dtype": 3.5},
    "no array": {"out": [[0]]},
    "wrong rank": {"out": np.zeros((2, 3), "f4")},
    "wrong shape": {"out": np.zeros((2, 4, 3), "f4")},
    "dtype and out differ": {"out": np.zeros((2, 3, 4), "f4"), "dtype": "f8"},
    "read-only out": {"out": strategies.read_only(np.zeros((2, 3, 4), "f4"))},
    "strided out": {"out": np.zeros((2, 3, 8), "f4")[..., ::2]},
    "unaligned out": {"out": strategies.unaligned(np.zeros((2, 3, 4), "f4"))},
    "swapped out": {"out": np.zeros((2, 3, 4), np.dtype("f4").newbyteorder())},
    "complex out": {"out": np.zeros((2, 3, 4), "c8")},
    "out of a subclass": {"out": np.zeros((2, 3, 4), "f4").view(Subclass)},
}


def scaled_float():
    """Return a dtype that has no number, which NumPy keeps for its own tests."""
    core = np._core if hasattr(np, "_core") else np.core
    return core._multiarray_umath._get_sfloat_dtype()(1.0)


UNCOMMON |= {
    "indices without a number": {"indices": np.array([0.0, 1.0]).view(scaled_float())},
    "dtype without a number": {"dtype": scaled_float()},
    "out without a number": {"out": np.zeros((2, 3, 4)).view(scaled_float())},
}


@pytest.mark.parametrize("changed", UNCOMMON.values(), ids=list(UNCOMMON))
def test_uncommon_calls(changed):
    """Valid or not, the fast path leaves them to the general path and does not write."""
    assert_same_outcome({"indices": INDICES, "depth": 4} | changed)


class Meddler:
    """A dtype that changes an array while it is read."""

    def __init__(self, change):
        self.change = change

    @property
    def dtype(self):
        """Change the array, and return float32."""
        self.change()
        return np.dtype("f4")


@pytest.mark.parametrize("shape", [(6,), (1, 2, 3), (2, 1), (2, 3, 1, 2)], ids=repr)
@pytest.mark.parametrize("has_out", [False, True])
def test_arguments_that_change_meanwhile(has_out, shape):
    """Code that runs while a dtype is read cannot make the answer reach beyond its arrays."""
    indices = np.zeros((2, 3), int)
    out = np.zeros((2, 3, 4), "f4") if has_out else None
    meddler = Meddler(lambda: indices.resize(shape, refcheck=False))
    answer = outcome(indices=indices, depth=4, out=out, dtype=meddler)

    assert indices.shape == shape
    is_error = isinstance(answer, tuple)
    assert is_error if has_out else answer.shape == (*shape, 4)


NUMBERS = (
    st.integers()
    | st.integers(-3, 3)
    | st.floats()
    | st.booleans()
    | st.sampled_from([2**32, -(2**32), 2**63, 2**64])
)
INDEX_ARRAYS = (INDICES, INDICES.T, np.zeros(3, "u1"), np.array(1), np.zeros((0, 2), int))
ARRAYS = st.sampled_from([*INDEX_ARRAYS, np.zeros((3, 4), "f4")])
SCALARS = (np.float16(1), np.int8(1), Lazy(), None, object())
JUNK = (
    NUMBERS
    | st.text(max_size=3)
    | st.binary(max_size=3)
    | ARRAYS
    | st.sampled_from([*SCALARS, int, "f4", "u1", np.dtype("f8"), [1], ()])
)
GOOD = (ARRAYS, st.integers(1, 9), st.just(1), st.just(0), st.integers(-2, 2))


@given(
    arguments=st.tuples(*(good | JUNK for good in GOOD)),
    dtype=st.none() | JUNK,
    out=st.none() | JUNK,
)
def test_junk(arguments, dtype, out):
    out = out.copy() if isinstance(out, np.ndarray) else out
    names = ("indices", "depth", "on_value", "off_value", "axis")
    call = {**dict(zip(names, arguments, strict=True)), "dtype": dtype, "out": out}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same_outcome(call)
