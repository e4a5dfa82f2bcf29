"""Compare the tracked numbers of the working tree with a commit's: python -m benchmarks.regression.

A number that is more than 10 % worse is measured again in both; if it is worse again, the exit code
is 1. By default the commit is the last one, or the one before if the working tree has no changes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALLOWED = 1.10
SUITES = {"ratios": ["Kernels", "Peers"], "counts": ["Instructions"]}


def git(*arguments: str) -> str:
    """Return what git prints."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def build(commit: str) -> Path:
    """Return a folder with the compiled package of a commit."""
    place = ROOT / "build/bench" / commit
    if not (place / "built").exists():
        place.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", str(place)], input=archive.stdout, check=True)
        link = place / "onehot_fast/integrations"
        if not link.exists():
            link.symlink_to("../integrations", target_is_directory=True)
        command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
        subprocess.run(command, cwd=place, check=True)
        (place / "built").touch()
    return place


def measure(
    package: Path | None, suites: Sequence[str], names: Collection[str]
) -> dict[str, float]:
    """Return numbers of a package, measured by the working tree's benchmarks; None is its own."""
    paths = [str(path) for path in (package, ROOT) if path is not None]
    command = [sys.executable, "-P", "-m", "benchmarks.regression", "--measure", *suites]
    done = subprocess.run(
        [*command, "--names", *names],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    numbers: dict[str, float] = json.loads(done.stdout)
    return numbers


def print_numbers(suites: Sequence[str], names: Collection[str]) -> None:
    """Print numbers of the package that this process imports; more is worse in all of them."""
    from benchmarks import bench_tracked

    found = {}
    classes = [getattr(bench_tracked, name) for name in suites]
    for name, is_more_better, number in bench_tracked.numbers(classes):
        if not names or name in names:
            try:
                value = number()
            except NotImplementedError:  # a library or valgrind is missing
                continue
            found[name] = 1 / value if is_more_better else value
    print(json.dumps(found))


def compare(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """Return the change of each number that both have: 1.1 is 10 % worse."""
    return {name: after[name] / before[name] for name in before if name in after}


def main() -> int:
    """Measure, print a table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--commit", help="the commit to compare with")
    parser.add_argument("--only", choices=SUITES, help="ratios or instruction counts")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--names", nargs="*", default=[], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print_numbers(arguments.measure, arguments.names)
        return 0
    is_changed = bool(git("status", "--porcelain", "--untracked-files=no"))
    commit = git("rev-parse", arguments.commit or ("HEAD" if is_changed else "HEAD~1"))
    package = build(commit)
    chosen = [arguments.only] if arguments.only else [*SUITES]
    suites = [suite for kind in chosen for suite in SUITES[kind]]
    changes = compare(measure(package, suites, []), measure(None, suites, []))
    print(f"{'change':>8}  number, against {commit[:8]} (more is worse)")
    for name, change in changes.items():
        print(f"{change - 1:+8.1%}  {name}")
    suspects = [name for name, change in changes.items() if change > ALLOWED]
    again = {}
    if suspects:
        before = measure(package, suites, suspects)
        again = compare(before, measure(None, suites, suspects))
    worse = {name: change for name, change in again.items() if change > ALLOWED}
    for name, change in worse.items():
        print(f"REGRESSION, twice above {ALLOWED - 1:.0%}: {name}, now {change - 1:+.1%}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
