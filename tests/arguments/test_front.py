"""Small calls, which a fast path answers, have the results and errors of the general path."""

from __future__ import annotations

import math
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onehot_fast
from support import oracle, strategies

RESULT_DTYPES = tuple(map(np.dtype, "?bBhHiIlLqQefd"))
MAX_BYTES = 2**20
INDEX_DTYPES = tuple(map(np.dtype, "bhilqBHILQfd"))  # C has two names for 64 bits
INDICES = np.array([[0, 2, -1], [3, 1, 9]])
# The fast path takes a number of threads only if it is an int.
GENERAL = {"num_threads": np.int64(1)}


def outcome(**arguments):
    """Return the result of `one_hot`, or its error."""
    try:
        return onehot_fast.one_hot(**arguments)
    except Exception as error:
        return type(error), str(error)


def assert_same_outcome(arguments):
    """Compare a call with the same one, answered by the general path."""
    out = arguments.get("out")
    before = np.array(out).tobytes()
    actual = outcome(**arguments)
    if isinstance(actual, tuple):
        assert actual == outcome(**arguments, **GENERAL)
        assert np.array(out).tobytes() == before
    else:
        assert out is None or actual is out
        found = np.array(actual)
        oracle.assert_same(found, np.asarray(outcome(**arguments, **GENERAL)))


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
def test_common_calls_equal_the_oracle(call, with_out, with_dtype):
    """Every type of index and result, every axis, rank and shape; no byte beside `out` changes."""
    indices, depth, axis, dtype = call
    expected = expected_of(indices, depth, axis, dtype)
    buffer, out = strategies.guarded(expected.shape, dtype) if with_out else (None, None)
    wanted, twin = strategies.guarded(expected.shape, dtype)
    twin[...] = expected
    before = indices.tobytes()
    options = {"dtype": dtype if with_dtype or not with_out else None, "out": out}
    for threads in ({}, {"num_threads": 1}, GENERAL):
        actual = onehot_fast.one_hot(indices, depth, axis=axis, **options, **threads)
        oracle.assert_same(actual, expected)
        if with_out:
            assert actual is out
            oracle.assert_same(buffer, wanted)
            out[...] = 3
        assert actual.flags.c_contiguous
        assert actual.flags.writeable
        assert indices.tobytes() == before


def functions_of_a_call(**options):
    """Return the names of the Python functions that a call of `one_hot` runs."""
    names = []

    def note(frame, event, _):
        if event == "call":
            names.append(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        onehot_fast.one_hot(INDICES, 4, **options)
    finally:
        sys.setprofile(before)
    return names


@pytest.mark.parametrize(
    "options",
    [{}, {"axis": 0}, {"dtype": bool}, {"out": np.ones((2, 3, 4))}, {"num_threads": 1}],
)
def test_a_common_call_takes_the_fast_path(options):
    """It runs no Python function that checks arguments; the general path runs many."""
    assert functions_of_a_call(**options) == ["one_hot"]
    assert len(functions_of_a_call(**options | GENERAL)) > 5


@pytest.mark.parametrize("dtype", [None, float, int, bool, "f2", "<f8", "=i4", np.float32, np.int8])
def test_every_spelling_of_a_dtype_is_read(dtype):
    """All spellings of NumPy for a plain native dtype are read; float32 is the default."""
    expected = expected_of(INDICES, 4, -1, "f4" if dtype is None else dtype)

    oracle.assert_same(onehot_fast.one_hot(INDICES, 4, dtype=dtype), expected)


@pytest.mark.parametrize("n_bytes", [2**18 - 1, 2**18, 2**18 + 1, MAX_BYTES - 1, MAX_BYTES])
def test_results_at_the_limit_of_recycled_blocks_are_right(n_bytes):
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


def scaled_float():
    """Return a dtype that has no number, which NumPy keeps for its own tests."""
    core = np._core if hasattr(np, "_core") else np.core
    return core._multiarray_umath._get_sfloat_dtype()(1.0)


OUT = np.zeros((2, 3, 4), "f4")
UNCOMMON = [
    *({"indices": x} for x in ([0, 1], np.int64(1), Lazy(), np.zeros((1,) * 17, int))),
    *({"indices": INDICES.view(Subclass)}, {"indices": np.ma.array(INDICES)}),
    *({"indices": INDICES.astype(dtype)} for dtype in ("O", "?", "f2", "c8", "m8[s]", "U2", ">i8")),
    *({"indices": x} for x in (INDICES[:, ::2], INDICES.T, INDICES[:0])),
    {"indices": strategies.unaligned(INDICES)},
    {"indices": np.array([0.0, 1.0]).view(scaled_float())},
    *({"depth": x} for x in (0, -1, 2**63, 2**64 + 4, None, 4.0, True, np.int64(4))),
    {"depth": 2**20 + 1, "dtype": "u1"},
    *({"on_value": x} for x in (2, True, 1.0, np.float32(1), 2**64 + 1)),
    *({"off_value": x} for x in (1, -0.0, False, 2**64)),
    *({"axis": x} for x in (3, -4, 2**31, 2**32, 2**32 - 1, -(2**32), 2**64, True, 1.0, None)),
    *({"dtype": x} for x in ("c8", np.longdouble, ">f4", "U1", object, "M8[s]", "f4,i1", "(2,)f4")),
    *({"dtype": x} for x in ("nonsense", 3.5, scaled_float())),
    *({"out": x} for x in ([[0]], OUT[..., 0], OUT.reshape(2, 4, 3), OUT.view(Subclass))),
    {"out": OUT.copy(), "dtype": "f8"},
    *({"out": x} for x in (strategies.read_only(OUT), strategies.strided(OUT), OUT.astype(">f4"))),
    *({"out": x} for x in (strategies.unaligned(OUT), OUT.astype("c8"))),
    {"out": np.zeros(OUT.shape).view(scaled_float())},
]


@pytest.mark.parametrize("changed", UNCOMMON, ids=lambda changed: "-".join(changed))
def test_uncommon_calls_take_the_general_path(changed):
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
def test_arguments_that_change_meanwhile_cause_no_write_outside(has_out, shape):
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
def test_any_arguments_are_safe(arguments, dtype, out):
    out = out.copy() if isinstance(out, np.ndarray) else out
    names = ("indices", "depth", "on_value", "off_value", "axis")
    call = {**dict(zip(names, arguments, strict=True)), "dtype": dtype, "out": out}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same_outcome(call)
