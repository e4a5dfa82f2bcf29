"""Calls from many Python threads at once, each of which may use threads of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import oracle
import pytest
import strategies
from programs import HANG

import onehot_fast

N_CALLERS = 8
REPEATS = 5


def in_threads(call):
    """Run `call(number)` in every caller at the same moment, several times; return the results."""
    barrier = Barrier(N_CALLERS, timeout=HANG)

    def run(number):
        barrier.wait()
        return [call(number) for _ in range(REPEATS)]

    with ThreadPoolExecutor(N_CALLERS) as pool:
        return [result for results in pool.map(run, range(N_CALLERS)) for result in results]


@pytest.mark.parametrize("num_threads", [None, 1, 2, 3])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ["bool", "float32", "V12", "object"])
def test_callers_do_not_disturb_each_other(name, axis, num_threads):
    """Eight callers with different indices each get their own right result."""
    off, on = strategies.VALUES[name]
    indices = np.random.default_rng(1).integers(-1, 22, (N_CALLERS, 3, 1025), np.int32)
    expected = [oracle.one_hot(each, 21, on, off, axis) for each in indices for _ in range(REPEATS)]
    options = {"on_value": on, "off_value": off, "axis": axis, "num_threads": num_threads}
    actual = in_threads(lambda number: onehot_fast.one_hot(indices[number], 21, **options))

    oracle.assert_same(np.stack(actual), np.stack(expected))


@pytest.mark.parametrize("num_threads", [None, 1, 2])
def test_callers_share_the_indices_and_parts_of_one_output(num_threads):
    """Callers may read the same indices and write to disjoint parts of one array."""
    indices = np.random.default_rng(2).integers(0, 9, 4097, np.uint8)
    out = np.full((N_CALLERS, 4097, 9), 7, np.int16)
    in_threads(
        lambda number: onehot_fast.one_hot(
            indices, 9, out=out[number], dtype="i2", num_threads=num_threads
        )
    )

    one = oracle.one_hot(indices, 9, *np.int16([1, 0]))
    oracle.assert_same(out, np.stack([one] * N_CALLERS))


@pytest.mark.parametrize("num_threads", [None, 1, 2])
def test_callers_decode(num_threads):
    """The inverse may run in many threads as well."""
    indices = np.random.default_rng(3).integers(-1, 21, (N_CALLERS, 2049))
    tensors = [oracle.one_hot(each, 21, *np.float32([1, 0])) for each in indices]
    actual = in_threads(lambda number: onehot_fast.decode(tensors[number]))

    oracle.assert_same(np.stack(actual), np.repeat(indices, REPEATS, axis=0))


def test_an_error_in_one_caller_is_its_own():
    """A refused call neither fails nor changes the others."""

    def call(number):
        indices = np.full(5000, number)
        try:
            return onehot_fast.one_hot(indices, 4, out_of_range="error")[0].tolist()
        except ValueError as error:
            return str(error).split(" is outside")[0]

    results = in_threads(call)

    rows = np.eye(4).tolist()
    assert results[: 4 * REPEATS] == [rows[n] for n in range(4) for _ in range(REPEATS)]
    assert results[4 * REPEATS :] == [
        f"indices[0] = {n}" for n in range(4, N_CALLERS) for _ in range(REPEATS)
    ]
