"""Compare the tracked numbers of the working tree with a commit's: python -m benchmarks.regression.

A number that is more than 10 % worse is measured again in both; if it is worse again, the exit code
is 1. By default the commit is the last one, or the one before if the working tree has no changes.
With --twice the working tree is compared with itself, to see how steady the numbers are.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import instructions, ratios

ROOT = Path(__file__).parents[1]
MEASURES: dict[str, Callable[[Path | None], dict[str, float]]] = {
    "ratios": ratios.measure,
    "counts": instructions.measure,
}
MAX_CHANGE = 1.10
# How far two measurements of the same code may differ.
MAX_NOISE = {"ratios": 1.05, "counts": 1.01}


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


def compare(kind: str, before: Path | None, after: Path | None) -> dict[str, tuple[float, float]]:
    """Return the numbers of two packages; a number that the second lacks is infinite."""
    measure = MEASURES[kind]
    old, new = measure(before), measure(after)
    return {name: (value, new.get(name, math.inf)) for name, value in old.items()}


def print_table(found: dict[str, tuple[float, float]], titles: tuple[str, str]) -> None:
    """Print numbers and their changes."""
    print(f"{titles[0]:>15}{titles[1]:>15}{'change':>9}  (more is worse)")
    for name, (before, after) in found.items():
        print(f"{before:15,.3f}{after:15,.3f}{after / before - 1:+9.2%}  {name}")


def check_noise(kinds: Sequence[str]) -> bool:
    """Measure the working tree twice, and return whether all numbers are steady."""
    is_steady = True
    for kind in kinds:
        found = compare(kind, None, None)
        print_table(found, ("first", "second"))
        noise = max(max(pair) / min(pair) for pair in found.values())
        print(f"{kind}: at most {noise - 1:.2%} apart, {MAX_NOISE[kind] - 1:.0%} allowed")
        is_steady = is_steady and noise <= MAX_NOISE[kind]
    return is_steady


def check_commit(kinds: Sequence[str], commit: str) -> bool:
    """Compare the working tree with a commit, and return whether nothing is worse twice."""
    package = build(commit)
    is_good = True
    for kind in kinds:
        found = compare(kind, package, None)
        print_table(found, (commit[:8], "now"))
        suspects = worse(found)
        again = worse(compare(kind, package, None)) if suspects else {}
        for name in suspects.keys() & again.keys():
            print(f"REGRESSION, twice above {MAX_CHANGE - 1:.0%}: {name}, now {again[name]:+.1%}")
            is_good = False
    return is_good


def worse(found: dict[str, tuple[float, float]]) -> dict[str, float]:
    """Return the changes of the numbers that are clearly worse."""
    changes = {name: after / before for name, (before, after) in found.items()}
    return {name: change - 1 for name, change in changes.items() if change > MAX_CHANGE}


def main() -> int:
    """Measure, print tables, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--commit", help="the commit to compare with")
    parser.add_argument("--twice", action="store_true", help="compare the working tree with itself")
    parser.add_argument("--only", choices=MEASURES, help="ratios or instruction counts")
    arguments = parser.parse_args()
    kinds = [arguments.only] if arguments.only else [*MEASURES]
    if arguments.twice:
        return 0 if check_noise(kinds) else 1
    is_changed = bool(git("status", "--porcelain", "--untracked-files=no"))
    commit = git("rev-parse", arguments.commit or ("HEAD" if is_changed else "HEAD~1"))
    return 0 if check_commit(kinds, commit) else 1


if __name__ == "__main__":
    sys.exit(main())
