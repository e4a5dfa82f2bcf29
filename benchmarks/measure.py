"""Timing in turns.

Every call is measured in every round, so that slow moments of the machine affect all alike.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

# In a shorter sample, the clock's resolution and the interpreter's loop would show.
SHORTEST_SAMPLE = 1e-3
# Long enough for the threads of the entry before to stop spinning.
SETTLE = 0.01
MOST_SAMPLES_A_VISIT = 5
FEWEST_SAMPLES = 3
# A call that takes longer is still warm from a second ago.
WARM_UP_BELOW = 0.05

Sampler = Callable[[int], float]


@dataclass(frozen=True)
class Key:
    """The name of a measurement.

    ``mode`` is floor, out, fresh, first, busy, written, table, codes, peak, file, file processor or
    file peak, ``threads`` 0 the default.
    """

    workload: str
    name: str
    library: str
    mode: str
    threads: int


@dataclass(frozen=True)
class Record:
    """Seconds per call; in mode peak, bytes of memory for each byte of the result.

    In mode file peak, bytes of memory.
    """

    key: Key
    median: float
    best: float
    mean: float
    samples: int


@dataclass(frozen=True)
class Effort:
    """How long to measure: rounds, seconds of each visit, seconds of one entry in all."""

    rounds: int
    visit: float
    total: float


THOROUGH = Effort(rounds=5, visit=0.03, total=0.8)
QUICK = Effort(rounds=2, visit=0.01, total=0.2)


def clock(call: Callable[[], object]) -> Sampler:
    """Return a sampler of seconds per call, over `number` calls with the release of results."""

    def sample(number: int) -> float:
        start = time.perf_counter()
        for _ in range(number):
            call()
        return (time.perf_counter() - start) / number

    return sample


@dataclass
class Entry:
    """A call that is measured in turn with others."""

    key: Key
    sample: Sampler
    seconds: list[float] = field(default_factory=list)
    number: int = 0
    spent: float = 0.0

    def calibrate(self) -> None:
        """Choose the number of calls in a sample."""
        self.number = 1
        while (seconds := self.sample(self.number)) * self.number < SHORTEST_SAMPLE:
            self.number *= 2
        if seconds > WARM_UP_BELOW:
            self._keep(seconds)

    def visit(self, effort: Effort) -> None:
        """Take some samples, after a call that warms its memory and threads."""
        if len(self.seconds) >= FEWEST_SAMPLES and self.spent > effort.total:
            return
        time.sleep(SETTLE)
        if not self.number:
            self.calibrate()
        elif statistics.median(self.seconds) < WARM_UP_BELOW:
            self.sample(self.number)
        until = time.perf_counter() + effort.visit
        for _ in range(MOST_SAMPLES_A_VISIT):
            self._keep(self.sample(self.number))
            if time.perf_counter() > until:
                break

    def _keep(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.spent += seconds * self.number

    def record(self) -> Record:
        """Return the record of all samples."""
        return summary(self.key, self.seconds)


def summary(key: Key, seconds: Sequence[float]) -> Record:
    """Return the record of some samples."""
    middle, mean = statistics.median(seconds), statistics.fmean(seconds)
    return Record(key, middle, min(seconds), mean, len(seconds))


def in_turns(
    entries: Sequence[Entry], effort: Effort, advance: Callable[[], None] = lambda: None
) -> list[Record]:
    """Measure all entries once in each round, in changing order.

    `advance` is called after every visit.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in range(effort.rounds):
            first = turn * len(entries) // effort.rounds
            for entry in [*entries[first:], *entries[:first]]:
                entry.visit(effort)
                advance()
            gc.collect()
    finally:
        if collecting:
            gc.enable()
    return [entry.record() for entry in entries]
