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
from typing import Any

import numpy as np

from torture.works import Work, as_bytes, works

THREADS = 8
FORK_EVERY, SAMPLE_EVERY = 5.0, 10.0
# A child works for a second or so; what takes longer hangs.
CHILD_HANG = 300
# What the second half may have more than the first at its highest: the allocator's luck.
GROWTH = 32 * 2**20


class Soak:
    """Threads that call, what they counted, and what they found wrong."""

    def __init__(self, seed: int) -> None:
        self.works = {**works(seed), **_numbered(works(seed, n=300), "small")}
        self.expected = {name: hash(as_bytes(work())) for name, work in self.works.items()}
        self.calls: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.stop = False
        self.counting = threading.Lock()

    def call(self, seed: int) -> None:
        """Make random calls until the end."""
        rng, names, own = np.random.default_rng(seed), [*self.works], Counter[str]()
        while not self.stop and not self.wrong:
            name = names[int(rng.integers(len(names)))]
            self.check(name)
            own[name] += 1
        with self.counting:
            self.calls += own

    def check(self, name: str) -> None:
        """Do a work, and compare its result."""
        try:
            is_right = hash(as_bytes(self.works[name]())) == self.expected[name]
        except BaseException as error:  # of a thread it would only be printed
            self.wrong.append(f"{name}: {error!r}")
        else:
            if not is_right:
                self.wrong.append(f"{name}: another result")

    def fork(self) -> None:
        """Let a child do all works that a child can do: those without other libraries."""
        number = os.fork()
        if number == 0:
            signal.alarm(CHILD_HANG)
            for name in works(0, n=10, libraries=False):
                self.check(name)
            os._exit(1 if self.wrong else 0)
        code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
        if code:
            self.wrong.append(f"a child ended with {code}")
        self.calls["fork"] += 1


def _numbered(found: dict[str, Work], prefix: str) -> dict[str, Work]:
    return {f"{prefix} {name}": work for name, work in found.items()}


def resident() -> int:
    """Return the bytes of memory that the process holds."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def run(minutes: float, seed: int) -> int:
    """Soak; print what was called and how memory went; 1 where something was wrong."""
    soak = Soak(seed)
    started, samples = time.monotonic(), []
    threads = [threading.Thread(target=soak.call, args=(seed + i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    forked = sampled = started
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
    return _report(soak, samples)


def _report(soak: Soak, samples: list[int]) -> int:
    # The first fifth fills the caches.
    settled = samples[len(samples) // 5 :]
    halves = settled[: len(settled) // 2], settled[len(settled) // 2 :]
    highest: list[Any] = [max(half, default=0) for half in halves]
    if len(settled) > 10 and highest[1] > highest[0] + GROWTH:
        soak.wrong.append("memory grows")
    forks, calls = soak.calls.pop("fork", 0), soak.calls.total()
    shown = ", ".join(f"{size / 2**20:.0f}" for size in samples[:: max(1, len(samples) // 12)])
    print(f"soak: {calls:,} calls of {len(soak.calls)} kinds in {THREADS} threads, {forks} forks")
    print(f"  MiB over time: {shown}; highest of the halves: {[h >> 20 for h in highest]}")
    for each in soak.wrong:
        print(f"  WRONG: {each}", file=sys.stderr)
    return int(bool(soak.wrong))
