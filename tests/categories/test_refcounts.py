"""References to values of object and string types are released."""

from __future__ import annotations

import gc
import sys
import tracemalloc

import numpy as np
import pytest

import onehot_fast
from support import strategies

INDICES = np.array([[0, 2, 2], [1, -1, 9]])
N_ON, N_OFF = 4, 14  # of the 6 * 3 elements
AXES = [0, 1, -1]


def fresh():
    """Return two objects that nothing else refers to, and two 0-d arrays that hold them."""
    off, on = strategies.Opaque(), strategies.Opaque()
    return off, on, {"off_value": np.array(off, object), "on_value": np.array(on, object)}


def counts(*objects):
    return [sys.getrefcount(each) for each in objects]


@pytest.mark.parametrize("form", ["new", "contiguous", "reversed"])
@pytest.mark.parametrize("axis", AXES)
def test_a_result_holds_one_reference_per_element(axis, form):
    """The former elements of `out` are released once; a second call changes nothing."""
    off, on, values = fresh()
    old = strategies.Opaque()
    before = counts(off, on, old)
    out = np.full(onehot_fast.one_hot(INDICES, 3, axis=axis).shape, old, object)
    view = {"new": None, "contiguous": out, "reversed": np.flip(out)}[form]
    for _ in range(2):
        result = onehot_fast.one_hot(INDICES, 3, axis=axis, out=view, **values)
        n_old = out.size if form == "new" else 0

        assert counts(off, on, old) == [before[0] + N_OFF, before[1] + N_ON, before[2] + n_old]
        del result
    del out, view
    assert counts(off, on, old) == before


@pytest.mark.parametrize(
    "changed", [{"axis": 7}, {"out_of_range": "error"}, {"num_threads": 0}, {"depth": 4}], ids=repr
)
def test_an_error_releases_all_references(changed):
    off, on, values = fresh()
    old = strategies.Opaque()
    out = np.full((2, 3, 3), old, object)
    before = counts(off, on, old)
    arguments = {"indices": INDICES, "depth": 3, "out": out} | values | changed

    with pytest.raises(ValueError, match=next(iter(changed)) + "|must be in|shape"):
        onehot_fast.one_hot(**arguments)
    del arguments
    gc.collect()
    assert counts(off, on, old) == before


def test_decode_keeps_no_reference():
    off, on, values = fresh()
    tensor = onehot_fast.one_hot(INDICES, 3, **values)
    before = counts(off, on)
    onehot_fast.decode(tensor, on_value=values["on_value"])

    assert counts(off, on) == before


def test_inputs_of_numbers_keep_their_counts():
    arrays = np.zeros(5, ">i2"), np.array(1, "f8"), np.array(0, "f8"), np.empty((5, 3), "f8")
    before = counts(*arrays)
    onehot_fast.one_hot(arrays[0], 3, on_value=arrays[1], off_value=arrays[2], out=arrays[3])

    assert counts(*arrays) == before


def growth(call, n_calls):
    """Return the traced bytes after the calls beyond those before."""
    gc.collect()
    start = tracemalloc.get_traced_memory()[0]
    for _ in range(n_calls):
        call()
    gc.collect()
    return tracemalloc.get_traced_memory()[0] - start


def leaks(call, n_calls=100):
    """Tell whether traced memory grows in each of four rounds of calls; a cache grows in one only.

    One leaked object for each call takes at least 16 bytes.
    """
    tracemalloc.start()
    try:
        return all(growth(call, n_calls) >= 16 * n_calls for _ in range(4))
    finally:
        tracemalloc.stop()


def test_the_check_tells_leaks_from_caches():
    kept, cache = [], {}

    assert leaks(lambda: kept.append(object()))
    assert not leaks(lambda: cache.update(dict.fromkeys(range(1000))))


@pytest.mark.parametrize("name", [*strategies.REFERENCE_VALUES, "float32", "S40", "padded record"])
@pytest.mark.parametrize("reuse", [False, True], ids=["fresh", "out"])
def test_one_hot_does_not_leak(name, reuse):
    off, on = strategies.VALUES[name]
    indices = np.arange(50) % 7
    out = np.empty((50, 5), off.dtype) if reuse else None
    values = {"on_value": on, "off_value": off}

    assert not leaks(lambda: onehot_fast.one_hot(indices, 5, out=out, **values))


def refused():
    with pytest.raises(ValueError, match="must be in"):
        onehot_fast.one_hot(np.arange(500), 5, out_of_range="error")


@pytest.mark.parametrize(
    "call",
    [
        lambda: onehot_fast.one_hot(np.arange(500), 300),
        lambda: onehot_fast.one_hot(np.arange(500, dtype=">f2")[::2], 300, axis=0),
        lambda: onehot_fast.decode(np.eye(50)),
        refused,
    ],
    ids=["rows", "planes of a converted copy", "decode", "error"],
)
def test_other_calls_do_not_leak(call):
    assert not leaks(call)
