"""The comparison in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module

from benchmarks import machine
from benchmarks.measure import Record
from benchmarks.peers.files import ENCODE
from benchmarks.peers.registry import OURSELVES
from benchmarks.scenarios import LINE_FLOOR, Session
from benchmarks.targets import OUT, Results, verdicts
from benchmarks.workloads import BUSY, FILES, FRAMES, LABELS, WORKLOADS, WRITTEN

# With more other processes than this, the figures are those of a busy machine.
QUIET_LOAD = 0.5
INTRO = """All libraries take turns in one process, so that a slow moment of the machine affects all
of them. Every result was checked first. A time is the median of the calls, including the release of
the result. [Benchmarks](index.md) shows charts of the most common tasks.

- The **floor** estimates the least time, measured in the same run: `z * t0 + (1 - z) * t1 + r`. Our
  kernels can be faster ("/ floor" below 1).
  t0 and t1 are the times to fill the output with 0 and with 1, by `memset` or by streaming stores,
  whichever is faster ("by"). z is the share of its 64-byte cache lines without a one, and r the
  time to read the indices. It has the same number of threads, and writes into huge pages in use.
- "out" writes into a given buffer that was used before; "ordinary" is a repeated call without
  `out=`. Rows of onehot_fast are the NumPy functions.
- "/ floor" is the time divided by the floor of as many threads. "/ ours" is the time divided by
  ours: the row of onehot_fast with default threads and the same kind of result, which is 1.00.
- Tables have columns of 3, 12, 50, 100 and 300 categories. Estimators were fitted before, unless a
  title says "the categories learned".
- "peak / output" is the additional memory at the peak of one call in a new process, divided by the
  size of the result.
"""
# The kind of a result, by mode.
KINDS = {"fresh": "ordinary"}
TITLES = {name: workload.title for name, workload in WORKLOADS.items()}
# Their names say enough.
TITLES |= {name: f"{name} {workload.dtype}" for name, workload in BUSY.items()}


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; columns after the first are aligned to the right."""
    tabulate = import_module("tabulate").tabulate
    cells = [[str(cell) for cell in row] for row in rows]
    text: str = tabulate(cells, headers, tablefmt="github", disable_numparse=True)
    return text


def _time(seconds: float, small: bool) -> str:
    if small:
        return f"{seconds * 1e6:.2f}"
    # Three digits, and no exponent.
    return f"{seconds * 1e3:.3g}" if seconds < 0.1 else f"{seconds * 1e3:,.0f}"


def _ratio(one: float, other: float | None) -> str:
    return f"{one / other:.2f}" if other else ""


def _machine(session: Session) -> Iterator[str]:
    yield "## Machine\n"
    yield table(("", ""), machine.describe(session.threads).items()) + "\n"
    yield "## Versions\n"
    yield table(("library", "version"), machine.versions(session.libraries).items()) + "\n"


def _targets(session: Session) -> Iterator[str]:
    yield "## Targets\n"
    yield "Goals of this project, by which its changes are judged.\n"
    rows = [
        (TITLES[verdict[0]], *verdict[1:4], "met" if verdict.met else "**not met**")
        for verdict in verdicts(session.records)
    ]
    yield table(("task", "target", "measured", "wanted", ""), rows) + "\n"


def _floors(session: Session) -> Iterator[str]:
    if not session.parts:
        return
    yield "## Floors\n"
    rows = [
        (
            TITLES[workload],
            threads,
            f"{share:.1%}",
            parts.winner,
            *(
                _time(seconds, small=False)
                for seconds in (parts.zeros, parts.ones, parts.read, parts.floor(share))
            ),
        )
        for (workload, threads), (share, parts) in session.parts.items()
    ]
    headers = ("task", "threads", "z", "by", "t0, ms", "t1, ms", "r, ms", "floor, ms")
    yield table(headers, rows) + "\n"


def _workload(records: Sequence[Record], results: Results, name: str) -> str:
    """Return the table of one workload, the fastest first."""
    small = name == "W6"
    rows = []
    for record in sorted(records, key=lambda record: record.median):
        key = record.key
        floor = results.find(name, LINE_FLOOR, key.threads or results.threads)
        ours = results.find(name, OUT if key.mode == "out" else OURSELVES, 0, key.mode)
        label = f"**{key.name}**" if key.library == OURSELVES else key.name
        times = [_time(seconds, small) for seconds in (record.median, record.best)]
        ratios = [_ratio(record.median, floor), _ratio(record.median, ours)]
        kind = KINDS.get(key.mode, key.mode)
        rows.append((label, kind, key.threads or "default", *times, *ratios))
    unit = "µs" if small else "ms"
    headers = (
        "library",
        "result",
        "threads",
        f"median, {unit}",
        f"best, {unit}",
        "/ floor",
        "/ ours",
    )
    return table(headers, rows)


def _workloads(session: Session) -> Iterator[str]:
    results = Results(session.records)
    for name, workload in LABELS.items():
        modes = ("floor", "out", "fresh")
        records = [r for r in session.records if r.key.workload == name and r.key.mode in modes]
        if records:
            yield f"## {workload.title}\n"
            yield _workload(records, results, name) + "\n"


def _written(session: Session) -> Iterator[str]:
    """Yield the table of `Encoder.transform`, compared with the floor."""
    results = Results(session.records)
    rows = []
    for record in session.records:
        name, threads = record.key.workload, record.key.threads
        if record.key.mode == "written":
            floor = results.find(name, LINE_FLOOR, threads)
            times = [_time(seconds, small=False) for seconds in (record.median, record.best)]
            rows.append((WRITTEN[name].title, threads, *times, _ratio(record.median, floor)))
    if rows:
        yield "## Encoder.transform against the floor\n"
        yield table(("task", "threads", "median, ms", "best, ms", "/ floor"), rows) + "\n"


def _tables(session: Session) -> Iterator[str]:
    """Yield the tables of the workloads of tables, the fastest first."""
    results = Results(session.records)
    for name in results.workloads("table"):
        found = [r for r in session.records if (r.key.workload, r.key.mode) == (name, "table")]
        ours = dict(results.own(name, "table"))
        rows = []
        for record in sorted(found, key=lambda record: record.median):
            key = record.key
            label = f"**{key.name}**" if key.library == OURSELVES else key.name
            times = [_time(seconds, small=False) for seconds in (record.median, record.best)]
            peak = results.find(name, key.name, key.threads, "peak")
            ratio = _ratio(record.median, next(iter(ours.values()), None))
            rows.append((label, *times, ratio, _ratio(peak, 1.0) if peak is not None else ""))
        headers = ("library", "median, ms", "best, ms", "/ ours", "peak / output")
        yield f"## {FRAMES[name].title}\n"
        yield table(headers, rows) + "\n"


def _codes(session: Session) -> Iterator[str]:
    """Yield the table of values to codes, one row per workload."""
    results = Results(session.records)
    rows = []
    for name in results.workloads("codes"):
        [(ours, seconds)], best = results.own(name, "codes"), results.best_peer(name, ("codes",))
        if best is not None:
            times = [_time(seconds, small=False), _time(best[1], small=False)]
            speed_up = _ratio(best[1], seconds)
            rows.append((TITLES[name], ours, times[0], best[0], times[1], speed_up))
    if rows:
        headers = ("values", "ours", "ms", "other library", "ms", "speed-up")
        yield "## Values to codes, and products with codes\n"
        yield table(headers, rows) + "\n"


def _files(session: Session) -> Iterator[str]:
    """Yield the tables of files, in the order of the ways."""
    results = Results(session.records)
    for name in results.workloads("file"):
        found = [r for r in session.records if (r.key.workload, r.key.mode) == (name, "file")]
        ours = results.find(name, ENCODE, 0, "file")
        rows = []
        for record in found:
            processor, peak = (
                results.find(name, record.key.name, 0, f"file {kind}") or 0.0
                for kind in ("processor", "peak")
            )
            times = [f"{seconds:.2f}" for seconds in (record.median, record.best, processor)]
            ratio = _ratio(record.median, ours)
            rows.append((record.key.name, *times, ratio, f"{peak / (1 << 20):,.0f}"))
        headers = ("way", "median, s", "best, s", "processor, s", "/ ours", "peak, MB")
        yield f"## {FILES[name].title}\n"
        yield table(headers, rows) + "\n"


def _modes(session: Session, mode: str, title: str) -> Iterator[str]:
    """Yield the table of a scenario without peers."""
    rows = [
        (
            TITLES[record.key.workload],
            record.key.name,
            record.key.threads or "default",
            *(f"{seconds * 1e3:.4g}" for seconds in (record.median, record.mean, record.best)),
        )
        for record in session.records
        if record.key.mode == mode
    ]
    if rows:
        headers = ("task", "library", "threads", "median, ms", "mean, ms", "best, ms")
        yield f"## {title}\n"
        yield table(headers, rows) + "\n"


def _failures(session: Session) -> Iterator[str]:
    if session.failures:
        yield "## Not measured\n"
        yield "\n".join(f"- {failure}" for failure in session.failures) + "\n"


def _quiet(session: Session) -> str:
    """Return a sentence about other processes on the machine."""
    if session.load_before <= QUIET_LOAD:
        return f"The machine was idle at the start (load {session.load_before:.1f}).\n"
    return (
        f"**The machine was busy** at the start (load {session.load_before:.1f}): times are too"
        " high; ratios are valid, because the libraries took turns.\n"
    )


def markdown(session: Session, chart_name: str) -> str:
    """Return the whole report."""
    image = f"![Time of each task relative to the floor]({chart_name}.svg)\n"
    chart = [image] if session.has_chart else []
    parts = [
        f"# {machine.title()}\n",
        INTRO,
        _quiet(session),
        *chart,
        *_machine(session),
        *_floors(session),
        *_workloads(session),
        *_written(session),
        *_tables(session),
        *_codes(session),
        *_files(session),
        *_modes(session, "first", "The first call of a process"),
        *_modes(session, "busy", "Beside a process that keeps one processor busy"),
        *_targets(session),
        *_failures(session),
    ]
    return "\n".join(parts)
