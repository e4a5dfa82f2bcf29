"""Processes that end, fork or are interrupted in the middle of calls."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import numpy as np

from support import programs
from torture import pick

PRELUDE = """
import os, random, signal, sys, threading, time
sys.path.append({tools!r})
from torture.works import Checked, works
draw = random.Random({seed})
todo = works(0, draw.choice([50, 5_000, 100_000]), libraries=False)
check = Checked(todo).check

def work_for_ever():
    while True:
        check(draw.choice([*todo]))

def start(n):
    for _ in range(n):
        threading.Thread(target=work_for_ever, daemon=True).start()
    time.sleep(draw.random() / 5)
"""
# Programs, and those of their exit codes that are not 0.
PROGRAMS = {
    # The interpreter ends while daemon threads are inside calls and results are alive anywhere.
    "end": """
kept = [work() for work in todo.values()]
views = [memoryview(each) for each in kept if hasattr(each, "__array__") and each.dtype != object]
cycle = [kept]; cycle.append(cycle)
local = threading.local(); local.kept = kept
class AtTheEnd:
    def __del__(self):
        check("one_hot")
last = AtTheEnd()
start(4)
""",
    "exit": "start(4)\nsys.exit(3)",
    "killed": "start(4)\nos.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(60)",
    # A handler raises at random moments; the next call is right.
    "signals": """
class Rang(BaseException): pass
is_armed = False
def ring(*_):
    if is_armed: raise Rang
signal.signal(signal.SIGALRM, ring)
n_rung, until = 0, time.monotonic() + 8
while time.monotonic() < until:
    name = draw.choice([*todo])
    try:
        is_armed = True
        signal.setitimer(signal.ITIMER_REAL, 10 ** draw.uniform(-5, -2))
        todo[name]()
        is_armed = False
    except Rang:
        is_armed = False
        n_rung += 1
    check(name)
signal.setitimer(signal.ITIMER_REAL, 0)  # or it rings when the handler is gone
print(n_rung)
""",
    # Children of a fork beside threads do all works, and end as any process does.
    "fork": """
start(4)
for _ in range(6):
    number = os.fork()
    if number == 0:
        signal.alarm(120)
        for name in todo:
            check(name)
        if draw.random() < 0.5:
            os._exit(0)
        sys.exit(0)
    assert os.waitpid(number, 0)[1] == 0
    time.sleep(draw.random() / 20)
os._exit(0)
""",
}
CODES = {"exit": 3, "killed": -signal.SIGTERM}


def case(seed: int) -> Counter[str]:
    """Run one program to its end: its exit code is right, and it prints no error."""
    name = pick(np.random.default_rng(seed), [*PROGRAMS])
    tools = str(Path(__file__).parents[1])
    program = PRELUDE.format(seed=seed, tools=tools) + PROGRAMS[name]
    done = programs.start(program, "-W", "ignore")
    assert (done.returncode, done.stderr) == (CODES.get(name, 0), ""), (name, done)
    n = int(done.stdout) if name == "signals" else 1
    return Counter({name: n})
