"""Write the tables and charts of the history from the results that asv keeps in benchmarks/history.

Each build of the documentation does this: ``docs/conf.py`` calls `write`, and
``docs/benchmarks/history.md`` includes the result. Nothing but the files is needed, neither asv nor
the network. A number that a commit lacks has no cell and no point.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from drawings import FAINT, OFF, ON, REPORTS, Drawing

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "benchmarks" / "history"
PAGES = DOCS / "auto_history"
# For each unit: by what it is divided, and what it is then.
SCALES = {"bytes": (1e6, "MB"), "instructions": (1e3, "thousands"), "seconds": (1e-3, "ms")}
PROCESSORS = {name: processor for processor, name in REPORTS.items()}
COLUMNS, WIDTH, HEIGHT = 3, 300, 130


class Run(NamedTuple):
    """The numbers of one commit: of each benchmark, those that were measured, by parameters."""

    commit: str
    date: datetime
    numbers: dict[str, dict[str, float]]


def values_of(result: Sequence[Any], known: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of one benchmark by their parameters.

    There are none if the benchmark failed, or if another version of it was measured: numbers of two
    versions cannot be compared.
    """
    numbers, params, version = result[:3]
    if numbers is None or version != known["version"]:
        return {}
    names = (", ".join(text.strip("'") for text in texts) for texts in product(*params))
    pairs = zip(names, numbers, strict=True)
    return {name: one for name, one in pairs if one is not None and not math.isnan(one)}


def read(folder: Path, benchmarks: Mapping[str, Any]) -> list[Run]:
    """Return the runs on one processor, the oldest commit first."""
    runs = []
    for path in folder.glob("*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        if "results" in content:  # machine.json has none
            found = {
                name: values_of(result, benchmarks[name])
                for name, result in content["results"].items()
                if name in benchmarks
            }
            date = datetime.fromtimestamp(content["date"] / 1000, UTC)
            runs.append(Run(content["commit_hash"], date, found))
    return sorted(runs, key=lambda run: run.date)


def cell(value: float | None) -> str:
    """Return a number with three digits, and a dash for none."""
    if value is None:
        return "\N{EN DASH}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def scale_of(benchmark: Mapping[str, Any]) -> tuple[float, str]:
    """Return the number that values are divided by, and the unit that they have then."""
    return SCALES.get(benchmark["unit"], (1, benchmark["unit"]))


def table(runs: Sequence[Run], name: str, benchmark: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a table: a row for each number, a column for each commit."""
    scale, _ = scale_of(benchmark)
    yield f"| {', '.join(benchmark['param_names'])} | {' | '.join(r.commit[:7] for r in runs)} |"
    yield "|---" * (1 + len(runs)) + "|"
    yield f"| commit of (UTC) | {' | '.join(f'{r.date:%Y-%m-%d %H:%M}' for r in runs)} |"
    for key, line in lines_of(runs, name).items():
        cells = (cell(None if value is None else value / scale) for value in line)
        yield f"| {key} | {' | '.join(cells)} |"


def lines_of(runs: Sequence[Run], name: str) -> dict[str, list[float | None]]:
    """Return for each number of a benchmark its value in each run."""
    keys = dict.fromkeys(key for run in reversed(runs) for key in run.numbers.get(name, {}))
    return {key: [run.numbers.get(name, {}).get(key) for run in runs] for key in keys}


def chart(runs: Sequence[Run], name: str, benchmark: Mapping[str, Any]) -> Drawing:
    """Draw a panel for each number of a benchmark; each begins at zero."""
    lines = lines_of(runs, name)
    scale, unit = scale_of(benchmark)
    n_columns = min(COLUMNS, len(lines))
    edges = (WIDTH * i for i in range(n_columns + 1))
    drawing = Drawing(HEIGHT * -(-len(lines) // n_columns), f"{name} ({unit}) by commit", *edges)
    for i, (key, line) in enumerate(lines.items()):
        left, top = i % n_columns * WIDTH, i // n_columns * HEIGHT
        panel(drawing, left, top, key, [None if v is None else v / scale for v in line])
    return drawing


def panel(
    drawing: Drawing, left: float, top: float, title: str, line: Sequence[float | None]
) -> None:
    """Draw the points of one number, with the first and the last value beside them."""
    points = [(i, value) for i, value in enumerate(line) if value is not None]
    highest = max(value for _, value in points) or 1
    drawing.text(left + WIDTH / 2, top + 16, title, 'font-size="11"')
    drawing.parts.append(f'<path d="M{left + 50} {top + 110}h{WIDTH - 100}" stroke="{OFF}"/>')
    places = [
        (left + 50 + (WIDTH - 100) * i / max(1, len(line) - 1), top + 110 - 80 * value / highest)
        for i, value in points
    ]
    path = " ".join(f"{x:.1f} {y:.1f}" for x, y in places)
    drawing.parts.append(f'<polyline points="{path}" fill="none" stroke="{ON}" stroke-width="2"/>')
    for x, y in places:
        drawing.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{ON}"/>')
    for end, side, space in ((0, "end", -8), (-1, "start", 8)):
        (x, y), (_, value) = places[end], points[end]
        style = f'text-anchor="{side}" font-size="12" fill="{FAINT}"'
        drawing.text(x + space, y + 4, cell(value), style)


def write(results: Path = RESULTS, pages: Path = PAGES) -> None:
    """Write the tables as ``index.md``, and the charts beside it."""
    pages.mkdir(exist_ok=True)
    benchmarks = json.loads((results / "benchmarks.json").read_text(encoding="utf-8"))
    text = []
    for folder in sorted(path for path in results.iterdir() if path.is_dir()):
        runs = read(folder, benchmarks)
        for name in dict.fromkeys(name for run in runs for name in run.numbers):
            if not any(run.numbers.get(name) for run in runs):
                continue
            image = f"{folder.name}-{name.replace('.', '-')}"
            drawing = chart(runs, name, benchmarks[name])
            drawing.save(pages, image)
            n_files = len(drawing.edges) - 1
            images = [f"{image}_{i + 1}" for i in range(n_files)] if n_files > 1 else [image]
            _, unit = scale_of(benchmarks[name])
            processor = PROCESSORS.get(folder.name, folder.name)
            text += [f"### {name.split('.')[1]} ({unit}), {processor}", ""]
            text += [*(f"![{drawing.title}]({each}.svg)" for each in images), ""]
            text += [*table(runs, name, benchmarks[name]), ""]
    (pages / "index.md").write_text("\n".join(text), encoding="utf-8")
