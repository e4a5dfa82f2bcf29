"""Compare with other libraries: ``python -m benchmarks.compare`` in the root of the repository.

All installed libraries take part. The report and the chart are named after the processor.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import chart, machine, report
from benchmarks.measure import QUICK, THOROUGH
from benchmarks.peers import CONTENDERS
from benchmarks.peers.files import FILE_WAYS
from benchmarks.peers.forms import FORMERS
from benchmarks.peers.registry import OURSELVES
from benchmarks.scenarios import ROOT, SCENARIOS, Session
from benchmarks.targets import verdicts
from benchmarks.workloads import CODES, LABELS

# A part is a workload, or a group without a choice; a group is the name of several parts.
WHOLE = ("first", "busy", "files")
GROUPS = {name: [*works] for name, (works, _) in SCENARIOS.items() if name not in WHOLE}
PARTS = [part for name in SCENARIOS for part in GROUPS.get(name, [name])]
# Files take gigabytes and minutes: they are measured if they are named.
DEFAULT = [part for part in PARTS if part != "files"]
WAYS = [*CONTENDERS.values(), *FORMERS.values(), *FILE_WAYS.values()]
# Some workloads of codes have a second peer, which is measured if it is installed.
SECOND_PEERS = {"seqpro"}
LIBRARIES = {way.library for way in WAYS} | {work.peer for work in CODES.values()} | SECOND_PEERS
PEERS = sorted(LIBRARIES - {OURSELVES})


def _names(accepted: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a parser of lists of accepted names."""

    def parse(text: str) -> list[str]:
        words = [word for word in text.split(",") if word]
        names = [name for word in words for name in GROUPS.get(word, [word])]
        if unknown := sorted(set(names) - set(accepted)):
            raise argparse.ArgumentTypeError(f"{unknown} not among {', '.join(accepted)}")
        return names

    return parse


def _processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="fewer rounds: figures of more noise")
    add(
        "--only", type=_names(PARTS), default=DEFAULT, help=f"some of {','.join([*PARTS, *GROUPS])}"
    )
    add("--peers", type=_names(PEERS), default=PEERS, help=f"some of {','.join(PEERS)}")
    add("--threads", type=int, default=_processors(), help="of everybody (default: all)")
    add("--output", type=Path, default=ROOT / "docs" / "benchmarks", help="a folder")
    add("--json", type=Path, metavar="FILE", help="write the records too")
    add("--scale", type=float, default=1.0, help="of the number of indices or rows")
    return parser.parse_args(arguments)


def measure(options: argparse.Namespace) -> Session:
    """Do all that was asked, under a bar of progress."""
    session = Session(options.threads, QUICK if options.quick else THOROUGH, options.scale)
    session.load([OURSELVES, *options.peers])
    with import_module("rich.progress").Progress() as bar:
        parts = bar.add_task("", total=len(options.only))
        for name in options.only:
            bar.update(parts, description=name)
            _part(session, name, bar)
            bar.advance(parts)
    return session


def _part(session: Session, name: str, bar: Any) -> None:
    """Measure one workload, or all of a group."""
    works, measure_one = next(
        (works, function)
        for group, (works, function) in SCENARIOS.items()
        if name == group or name in GROUPS.get(group, ())
    )
    for work in works.values() if name in WHOLE else [works[name]]:
        visits = bar.add_task(f"{work.name} in turns", total=None)

        def progress(change: int, visits: Any = visits) -> None:
            if change > 0:
                bar.update(visits, total=change)
            else:
                bar.advance(visits)

        measure_one(session, work, progress)
        bar.remove_task(visits)


def write(session: Session, folder: Path) -> None:
    """Write the report of this processor and, where there is a floor to draw against, the chart."""
    folder.mkdir(parents=True, exist_ok=True)
    name = machine.slug()
    text = report.markdown(session, name)
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    if session.has_chart:
        titles = {name: workload.title for name, workload in LABELS.items()}
        chart.draw(session.records, titles, folder / name)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the comparison from the command line."""
    options = parse(arguments)
    if options.threads < _processors() and hasattr(os, "sched_setaffinity"):
        # The one limit that every library obeys.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    session = measure(options)
    write(session, options.output)
    if options.json:
        options.json.write_text(json.dumps([asdict(record) for record in session.records]))
    judged = verdicts(session.records)
    print(f"{sum(verdict.met for verdict in judged)} of {len(judged)} targets met:")
    print(report.table(("work", "target", "measured", "wanted", "met"), judged))
    print(f"the report is in {options.output}")


if __name__ == "__main__":
    main()
