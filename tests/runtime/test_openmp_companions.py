"""What brings an OpenMP of its own works beside ours, in any order of import, after a fork too."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import permutations

import pytest

from support.programs import needs_fork, needs_openmp, run

# What each computes with threads, and whether it came out right.
WORK = {
    "onehot_fast": """
import onehot_fast
labels = (np.arange(300_000) * 7) % 20
ones = np.eye(20, dtype=np.float32)[labels]
works.append(lambda: bool((onehot_fast.one_hot(labels, 20, num_threads=2) == ones).all()))
""",
    "sklearn": """
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier
halves = np.arange(2000) % 2
points = np.random.default_rng(0).normal(size=(2000, 4)) + 9 * halves[:, None]
def classify():
    model = HistGradientBoostingClassifier(max_iter=3).fit(points, halves)
    return model.score(points, halves) > 0.9
works.append(classify)
works.append(lambda: KMeans(2, n_init=1, random_state=0).fit(points).inertia_ > 0)
""",
    "torch": """
import torch
torch.set_num_threads(2)
grid = torch.ones(600, 600)
works.append(lambda: bool(((grid @ grid) + torch.arange(360_000).view(600, 600).sin() > 598).all()))
""",
}
PROGRAM = """
import os, signal
from threading import Thread
import numpy as np
works = []
{imports}
def all_right():
    return all([work() for work in works])

def child():
    number = os.fork()
    if number == 0:
        signal.alarm(200)
        os._exit(0 if all(work() for work in {after_fork}) else 1)
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])

before = [all_right() for _ in range(2)]
codes = [child() for _ in range(2)]
results = []
threads = [Thread(target=lambda: results.append(all_right())) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(before, codes, results)
"""
ORDERS = [
    order for other in ("sklearn", "torch") for order in permutations(("onehot_fast", other))
] + [("torch", "sklearn", "onehot_fast")]


@pytest.mark.long
@needs_fork
@needs_openmp
@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_each_library_has_threads_beside_the_others(order):
    """A forked child calls only ours, because GNU's OpenMP of the others hangs there."""
    for name in order:
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    # The position of ours follows from the order; one library may have several works.
    ours = "[works[-1]]" if order[-1] == "onehot_fast" else "[works[0]]"
    program = PROGRAM.format(imports="".join(map(WORK.get, order)), after_fork=ours)

    assert run(program) == "[True, True] [0, 0] [True, True]"
