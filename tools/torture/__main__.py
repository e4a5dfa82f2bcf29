"""Run the parts for some minutes; print what was called and what failed as a Markdown table."""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import importlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock

from onehot_fast._kernels import simd
from torture import soak

# Each part, and how many of its cases one process runs: some seconds' worth.
PARTS = {
    "tensors": 60,
    "tables": 12,
    "producers": 300,
    "documents": 300,
    "spellings": 300,
    "objects": 150,
    "races": 4,
    "shared": 20,
    "memory": 4,
    "processes": 6,
    "files": 60,
}
# Cases of a fault of files in one process.
FAULTS_AT_ONCE = 10
# Parts whose cases take a second or more.
SLOW = {"shared", "memory", "processes"}
# Seconds; a batch that takes longer hangs.
HANG = 1800
CACHES = ("0", "1", "100", "4000")


@dataclass
class Result:
    """The results of the cases of a part."""

    cases: int = 0
    failures: int = 0
    seconds: float = 0.0
    calls: Counter[str] = field(default_factory=Counter)


def work(part: str, seed: int, cases: int, note: str) -> None:
    """Run cases in this process, and write down each seed before it is used."""
    faulthandler.enable()
    case = importlib.import_module(f"torture.{part}").case
    calls: Counter[str] = Counter()
    for number in range(seed, seed + cases):
        with open(note, "w") as file:
            file.write(str(number))
        calls += case(number)
    print(json.dumps(calls))


def environment(seed: int) -> dict[str, str]:
    """Return the variant of the vector code, and the size of the cache, that go with a batch."""
    variants = simd.variants()
    return {
        "ONEHOT_FAST_SIMD": variants[seed // 7 % len(variants)],
        "ONEHOT_FAST_CACHE_MB": CACHES[seed // 3 % len(CACHES)],
    }


def run_batch(
    part: str, seed: int, cases: int, chosen: dict[str, str], result: Result, counting: Lock
) -> None:
    """Run cases in a process of their own; print how to replay a failure."""
    started = time.monotonic()
    with tempfile.NamedTemporaryFile("w+") as note:
        arguments = ["--work", part, str(seed), str(cases), note.name]
        try:
            done = subprocess.run(
                [sys.executable, "-m", "torture", *arguments],
                env={**os.environ, **chosen}, capture_output=True, text=True, timeout=HANG,
            )  # fmt: skip
            code, said = done.returncode, done.stderr
        except subprocess.TimeoutExpired as error:
            code, said = "none: it hangs", str(error.stderr or "")
        failed_at = int(note.read() or seed)
    with counting:
        result.seconds += time.monotonic() - started
        result.cases += cases if code == 0 else failed_at - seed + 1
        if code == 0:
            result.calls += Counter(json.loads(done.stdout.splitlines()[-1]))
            return
        result.failures += 1
        setting = " ".join(f"{name}={value}" for name, value in chosen.items())
        print(f"\n{part}: exit code {code}\n{said}\nto replay it, in tools/:")
        replay = f"-m torture --only {part} --seed {failed_at} --cases 1"
        print(f"  {setting} {sys.executable} {replay}", flush=True)


def run_for(seconds: float, seed: int, results: dict[str, Result], jobs: int) -> None:
    """Run batches of all parts, `jobs` at the same time, with equal time for each part."""
    end, seeds, choosing = time.monotonic() + seconds, itertools.count(seed, 1000), Lock()
    running: Counter[str] = Counter()

    def run_batches() -> None:
        while time.monotonic() < end:
            with choosing:
                number = next(seeds)
                part = min(results, key=lambda part: (running[part], results[part].seconds))
                running[part] += 1
            run_batch(part, number, PARTS[part], environment(number), results[part], choosing)
            with choosing:
                running[part] -= 1

    with ThreadPoolExecutor(jobs) as pool:
        for each in [pool.submit(run_batches) for _ in range(jobs)]:
            each.result()


def run_faults(cases: int, seed: int, jobs: int) -> dict[str, Result]:
    """Run a number of cases of each fault of files, or until Ctrl-C, in processes of their own."""
    faults = importlib.import_module("torture.files").FAULTS
    results, counting = {fault: Result() for fault in faults}, Lock()
    pool, batches = ThreadPoolExecutor(jobs), []
    for first in range(0, cases, FAULTS_AT_ONCE):
        for fault in faults:
            number, some = seed + first, min(FAULTS_AT_ONCE, cases - first)
            chosen = {**environment(number), "TORTURE_FAULT": fault}
            given = "files", number, some, chosen, results[fault], counting
            batches.append(pool.submit(run_batch, *given))
    with contextlib.suppress(KeyboardInterrupt):
        for batch in batches:
            batch.result()
    with contextlib.suppress(KeyboardInterrupt):  # a second one must not lose the counts
        pool.shutdown(cancel_futures=True)
    return results


def table(results: dict[str, Result]) -> str:
    """Return the counts as a table of Markdown."""
    rows = ["| part | cases | calls | refused | failures |", "|---|---|---|---|---|"]
    for part, result in results.items():
        calls = dict(result.calls)
        refused = calls.pop("refused", 0)
        many = sorted(calls.items(), key=lambda item: -item[1])
        shown = ", ".join(f"{name} {count:,}" for name, count in many[:8])
        rest = sum(count for _, count in many[8:])
        shown += f", others {rest:,}" if rest else ""
        rows.append(f"| {part} | {result.cases:,} | {shown} | {refused:,} | {result.failures} |")
    return "\n".join(rows)


def main() -> int:
    """Run the parts; return 1 if something failed."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=2, help="the number of processes")
    parser.add_argument(
        "--only", action="append", choices=[*PARTS, "soak"], help="a part; may be repeated"
    )
    parser.add_argument("--seed", type=int, help="of the first case; by default a random one")
    parser.add_argument(
        "--cases",
        type=int,
        help="the number of cases for each part (a tenth for slow ones), instead of minutes",
    )
    parser.add_argument(
        "--faults", type=int, help="the number of mutants of each format, of kills, ..."
    )
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        part, seed, cases, note = given.work
        work(part, int(seed), int(cases), note)
        return 0
    seed = int.from_bytes(os.urandom(4)) if given.seed is None else given.seed
    if given.only == ["soak"]:  # one process for all the time
        print(f"seed {seed}", flush=True)
        return soak.run(given.minutes, seed)
    parts = given.only or [*PARTS]
    results = {part: Result() for part in parts}
    print(f"seed {seed}; {len(simd.variants())} variants: {', '.join(simd.variants())}", flush=True)
    if given.faults:
        results = run_faults(given.faults, seed, given.jobs)
    elif given.cases:
        for part in parts:
            # A replay sets these variables.
            chosen = {name: os.environ.get(name, v) for name, v in environment(seed).items()}
            cases = max(1, given.cases // 10) if part in SLOW else given.cases
            run_batch(part, seed, cases, chosen, results[part], Lock())
    else:
        run_for(60 * given.minutes, seed, results, given.jobs)
    print(table(results))
    return int(any(result.failures for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
