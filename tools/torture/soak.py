"""Mixed calls from many threads, and forks between them, for any time.

All results are those of the first call, children of forks get the same, and memory stays flat.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

from torture.works import Checked, works

THREADS = 8
FORK_EVERY, SAMPLE_EVERY = 5.0, 10.0
# A child works for a second or so; after these seconds it hangs.
CHILD_HANG = 300
# Bytes that the second half may need more than the first at its highest, because allocators vary.
GROWTH = 32 * 2**20


class Soak(Checked):
    """Threads that call, what they counted, and what they found wrong."""

    def __init__(self, seed: int) -> None:
        small = works(seed, n=300)
        super().__init__(works(seed) | {f"small {name}": work for name, work in small.items()})
        self.calls: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.stop = False
        self.counting = threading.Lock()

    def call(self, seed: int) -> None:
        """Make random calls until the end."""
        rng, names, own = np.random.default_rng(seed), [*self.works], Counter[str]()
        while not self.stop and not self.wrong:
            name = names[int(rng.integers(len(names)))]
            self.record(name)
            own[name] += 1
        with self.counting:
            self.calls += own

    def record(self, name: str) -> None:
        """Do a work; keep its error, which a thread would only print."""
        try:
            self.check(name)
        except BaseException as error:
            self.wrong.append(f"{name}: {error!r}")

    def fork(self) -> None:
        """Let a child do all works that need NumPy only."""
        number = os.fork()
        if number == 0:
            signal.alarm(CHILD_HANG)
            for name in works(0, n=10, libraries=False):
                self.record(name)
            os._exit(1 if self.wrong else 0)
        code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
        if code:
            self.wrong.append(f"a child ended with {code}")
        self.calls["fork"] += 1


def resident() -> int:
    """Return the bytes of memory that the process holds."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def run(minutes: float, seed: int) -> int:
    """Soak; print the calls and the memory over time; return 1 if a result was wrong."""
    soak, samples = Soak(seed), list[int]()
    threads = [threading.Thread(target=soak.call, args=(seed + i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    forked = sampled = started = time.monotonic()
    while (now := time.monotonic()) < started + 60 * minutes and not soak.wrong:
        if now >= forked + FORK_EVERY:
            soak.fork()
            forked = now
        if now >= sampled + SAMPLE_EVERY:
            samples.append(resident())
            sampled = now
        time.sleep(0.2)
    soak.stop = True
    for thread in threads:
        thread.join()
    settled = samples[len(samples) // 5 :]  # the first fifth fills the caches
    middle = len(settled) // 2
    highest = [max(half, default=0) for half in (settled[:middle], settled[middle:])]
    if len(settled) > 10 and highest[1] > highest[0] + GROWTH:
        soak.wrong.append("memory grows")
    forks, calls = soak.calls.pop("fork", 0), soak.calls.total()
    shown = ", ".join(f"{size >> 20}" for size in samples[:: max(1, len(samples) // 12)])
    print(f"soak: {calls:,} calls of {len(soak.calls)} kinds in {THREADS} threads, {forks} forks")
    print(f"  MiB over time: {shown}; highest of the halves: {[size >> 20 for size in highest]}")
    for each in soak.wrong:
        print(f"  WRONG: {each}", file=sys.stderr)
    return int(bool(soak.wrong))
