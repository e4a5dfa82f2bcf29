"""A fork after a parallel call neither hangs nor crashes, however it is made."""

from __future__ import annotations

import pytest

from support.programs import needs_fork, run

pytestmark = needs_fork

# Work of several chunks, a right answer, and children that a signal ends should they hang.
PRELUDE = """
import ctypes, os, signal, sys, threading
import numpy as np
import onehot_fast

indices = (np.arange(150_000) * 7) % 23 - 1
expected = np.equal.outer(indices, np.arange(20)).astype(np.float32)

def encode(num_threads=2):
    return bool((onehot_fast.one_hot(indices, 20, num_threads=num_threads) == expected).all())

def child(work, fork=os.fork):
    number = fork()
    if number == 0:
        signal.alarm(300)
        os._exit(0 if work() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])

assert encode(1)
"""
# Python 3.12 warns of a fork beside threads: the program's own, or one that has just ended.
BESIDE_THREADS = ("-W", "ignore::DeprecationWarning")


def test_children_and_parent_have_threads_of_their_own():
    """Child after child encodes with threads of its own, and so does the parent in between.

    Nor has the process threads when it forks, of which Python 3.12 warns: but for a moment after
    its end the system still counts a thread, now and then.
    """
    program = f"""{PRELUDE}
import warnings
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    ended = [encode(2) and child(lambda: encode(n) and encode(2)) for n in (1, 2, None) * 3]
assert len(warned) < 4, warned
print(ended)
"""

    assert run(program) == str([0] * 9)


# What a program does after the prelude, and prints; with threads of its own beside the fork or not.
PROGRAMS = {
    "a child may be the first to encode": (
        "print(child(lambda: encode(2) and encode(2)))",
        "0",
    ),
    "each generation encodes before and after it forks": (
        """
def generation(number):
    return encode(2) and (number == 0 or child(lambda: generation(number - 1)) == 0) and encode(2)
print(generation(4))
""",
        "True",
    ),
    "a fork that Python does not know of is as good": (
        """
fork = ctypes.PyDLL(None).fork
print([encode(2) and child(lambda: encode(2), fork) for _ in range(5)])
""",
        str([0] * 5),
    ),
    "a thread that is not the first one forks after calls of its own and of others": (
        """
codes = []
encode(2)
worker = threading.Thread(target=lambda: codes.append(encode(2) and child(lambda: encode(2))))
worker.start()
worker.join()
print(codes, child(lambda: encode(2)))
""",
        "[0] 0",
    ),
    "a child needs nothing that another thread was working out": (
        """
from onehot_fast.adapter import cached_property
entered, go = threading.Event(), threading.Event()
class Slow:
    @cached_property
    def value(self):
        entered.set()
        return go.wait()
worker = threading.Thread(target=lambda: Slow().value)
worker.start()
entered.wait()
print(child(lambda: (go.set(), Slow().value)[1]))
go.set()
worker.join()
""",
        "0",
    ),
    "each of many children is forked while a thread is inside a parallel call": (
        """
stop, inside, good = False, threading.Event(), []
out = np.empty((len(indices) * 4, 20), np.float32)

def work():
    while not stop:
        inside.set()
        onehot_fast.one_hot(np.tile(indices, 4), 20, out=out, num_threads=2)
    good.append(bool((out == np.tile(expected, (4, 1))).all()))

worker = threading.Thread(target=work)
worker.start()
inside.wait()
codes = [child(lambda: encode(2)) for _ in range(20)]
stop = True
worker.join()
print(codes, good, encode(2))
""",
        f"{[0] * 20} [True] True",
    ),
    "a pool of forked processes encodes": (
        """
import multiprocessing
def work(number):
    return encode(2) and encode(None)
if __name__ == "__main__":
    encode(2)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map_async(work, range(6)).get(300), encode(2))
""",
        f"{[True] * 6} True",
    ),
    "a torch DataLoader's workers encode what their parent has encoded before": (
        """
import torch
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, number):
        return encode(2)
encode(2)
torch.ones(1000, 1000).sum()
options = dict(num_workers=2, multiprocessing_context="fork", timeout=300)
print([bool(each) for each in torch.utils.data.DataLoader(Rows(), **options)], encode(2))
""",
        f"{[True] * 8} True",
    ),
}


@pytest.mark.parametrize(("program", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_forked_child_gives_the_results_of_the_parent(program, expected):
    if "import torch" in program:
        pytest.importorskip("torch")
    assert run(PRELUDE + program, *BESIDE_THREADS) == expected
