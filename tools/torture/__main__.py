"""Run the parts for some minutes; print the number of calls and failures as a Markdown table."""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import importlib
import itertools
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock

from onehot_fast._kernels import simd
from torture import files, properties, soak

# Each part, and how many of its cases one process runs in some seconds.
PARTS = {
    **dict.fromkeys(properties.FILES, 1),
    "producers": 300,
    "objects": 150,
    "damaged": 500,
    "races": 4,
    "shared": 20,
    "memory": 4,
    "processes": 6,
    "files": 60,
}
FAULTS = {f"files.{fault}": 10 for fault in files.FAULTS}
# Parts whose cases take a second or more.
SLOW = {*properties.FILES, "shared", "memory", "processes"}
# Seconds after which a case is a failure, unless its part has a limit of its own.
HANG = 600
CACHES = ("0", "1", "100", "4000")

# A part, the seed of its first case, and the number of cases.
Batch = tuple[str, int, int]


@dataclass
class Result:
    """The results of the cases of a part."""

    cases: int = 0
    failures: int = 0
    running: int = 0
    seconds: float = 0.0
    calls: Counter[str] = field(default_factory=Counter)


def work(part: str, seed: int, cases: int, note: str) -> None:
    """Run cases in this process, and write down each seed before it is used."""
    faulthandler.enable()
    name = f"properties.{part}" if part in properties.FILES else part
    module, _, option = name.partition(".")
    chosen = importlib.import_module(f"torture.{module}")
    calls: Counter[str] = Counter()
    for number in range(seed, seed + cases):
        with open(note, "w") as file:
            file.write(str(number))
        faulthandler.dump_traceback_later(getattr(chosen, "SECONDS", HANG), exit=True)
        calls += chosen.case(number, option) if option else chosen.case(number)
    faulthandler.cancel_dump_traceback_later()
    print(json.dumps(calls))


def environment(seed: int) -> dict[str, str]:
    """Return the instruction set and the cache size of a batch; a replay has set both."""
    variants = simd.variants()
    chosen = {
        "ONEHOT_FAST_SIMD": variants[seed // 7 % len(variants)],
        "ONEHOT_FAST_CACHE_MB": CACHES[seed // 3 % len(CACHES)],
    }
    return {name: os.environ.get(name, value) for name, value in chosen.items()}


def run_batch(part: str, seed: int, cases: int, result: Result, lock: Lock) -> None:
    """Run cases in a process of their own; print how to replay a failure."""
    started, chosen = time.monotonic(), environment(seed)
    with tempfile.NamedTemporaryFile("w+") as note:
        arguments = ["--work", part, str(seed), str(cases), note.name]
        done = subprocess.run(
            [sys.executable, "-m", "torture", *arguments],
            env={**os.environ, **chosen}, capture_output=True, text=True,
        )  # fmt: skip
        failed_at = int(note.read() or seed)
    with lock:
        result.running -= 1
        result.seconds += time.monotonic() - started
        result.cases += failed_at - seed + 1
        if done.returncode == 0:
            result.calls += Counter(json.loads(done.stdout.splitlines()[-1]))
            return
        result.failures += 1
        setting = " ".join(f"{name}={value}" for name, value in chosen.items())
        print(f"\n{part}: exit code {done.returncode}\n{done.stderr}\nto replay it, in tools/:")
        replay = f"-m torture --only {shlex.quote(part)} --seed {failed_at} --cases 1"
        print(f"  {setting} {sys.executable} {replay}", flush=True)


def batches_of(parts: list[str], cases: int, seed: int) -> Iterator[Batch]:
    """Yield batches with a number of cases of each part, and a tenth of it for slow parts."""
    for part in parts:
        n, size = max(1, cases // 10) if part in SLOW else cases, (PARTS | FAULTS)[part]
        for first in range(0, n, size):
            yield part, seed + first, min(size, n - first)


def batches_for(seconds: float, seed: int, results: dict[str, Result]) -> Iterator[Batch]:
    """Yield batches of all parts for some time, with equal time for each part."""
    end = time.monotonic() + seconds
    for number in itertools.count(seed, 1000):
        if time.monotonic() >= end:
            return
        part = min(results, key=lambda part: (results[part].running, results[part].seconds))
        yield part, number, (PARTS | FAULTS)[part]


def run(batches: Iterator[Batch], results: dict[str, Result], jobs: int) -> None:
    """Run batches, `jobs` at the same time, until the last one or Ctrl-C."""
    lock, is_stopped = Lock(), False

    def run_batches(_: int) -> None:
        while not is_stopped:
            with lock:
                part, seed, cases = next(batches, ("", 0, 0))
                if not part:
                    return
                results[part].running += 1
            run_batch(part, seed, cases, results[part], lock)

    # The counts are printed after Ctrl-C too.
    with contextlib.suppress(KeyboardInterrupt), ThreadPoolExecutor(jobs) as pool:
        try:
            [*pool.map(run_batches, range(jobs))]
        finally:
            is_stopped = True


def table(results: dict[str, Result]) -> str:
    """Return the counts as a Markdown table."""
    rows = ["| part | cases | calls | rejected | failures |", "|---|---|---|---|---|"]
    for part, result in results.items():
        rejected = result.calls.pop("rejected", 0)
        calls = result.calls.most_common()
        shown = ", ".join(f"{name} {count:,}" for name, count in calls[:8])
        rest = sum(count for _, count in calls[8:])
        shown += f", others {rest:,}" if rest else ""
        rows.append(f"| {part} | {result.cases:,} | {shown} | {rejected:,} | {result.failures} |")
    return "\n".join(rows)


def main() -> int:
    """Run the parts; return 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    add = parser.add_argument
    add("--minutes", type=float, default=1.0)
    add("--jobs", type=int, default=2, help="the number of processes")
    names = [*PARTS, *FAULTS, "soak"]
    add("--only", action="append", choices=names, help="a part; may be repeated")
    add("--seed", type=int, help="the seed of the first case; by default a random one")
    add("--cases", type=int, help="cases for each part (a tenth for slow ones), instead of minutes")
    add("--faults", type=int, help="the number of mutants of each format, of kills, ...")
    add("--work", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        part, seed, cases, note = given.work
        work(part, int(seed), int(cases), note)
        return 0
    seed = int.from_bytes(os.urandom(4)) if given.seed is None else given.seed
    print(f"seed {seed}; {len(simd.variants())} variants: {', '.join(simd.variants())}", flush=True)
    if given.only == ["soak"]:  # one process for all the time
        return soak.run(given.minutes, seed)
    parts = given.only or [*(FAULTS if given.faults else PARTS)]
    results = {part: Result() for part in parts}
    cases = given.cases or given.faults
    if cases:
        batches = batches_of(parts, cases, seed)
    else:
        batches = batches_for(60 * given.minutes, seed, results)
    run(batches, results, given.jobs)
    print(table(results))
    return int(any(result.failures for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
