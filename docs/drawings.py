"""Draw the images of the documentation: ``python docs/drawings.py`` writes them into docs/images.

The results that they show are computed here; the times come from a report in docs/benchmarks. A
test compares the files with this script.
"""

from __future__ import annotations

import re
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from onehot_fast import Encoder, one_hot, one_hot_sequences

DOCS = Path(__file__).parent
REPORTS = {
    "AMD EPYC, Zen 4": "amd-epyc-family-25-model-17",
    "AMD EPYC, Zen 5": "amd-epyc-family-26-model-2",
    "Intel Xeon with AVX-512": "intel-r-xeon-r-processor-family-6-model-167",
}
ZEN_4 = next(iter(REPORTS))
LABELS = "1,000,000 int64 indices, 10 classes, float32, axis -1"
BOOLEAN, CSR = "to Boolean columns", "to a CSR matrix of float64, the categories learned"
LISTS = "100,000 rows of lists, to a row-major matrix of bytes from lists of classes"
MASKS = "8 x 512 x 512 uint8 indices, 21 classes, float32, axis 1"
# A task, its section in the reports, and the other library.
TASKS = [
    ("get_dummies, categories", f"1,000,000 rows of category, {BOOLEAN}", "pandas"),
    ("get_dummies, strings", f"1,000,000 rows of str, {BOOLEAN}", "pandas"),
    ("sparse get_dummies", "1,000,000 rows of str, to sparse Boolean columns", "pandas"),
    ("str.get_dummies", "100,000 rows of str, to int64 columns of separated tags", "pandas"),
    ("from_dummies", "100,000 rows of bool, to the values of Boolean columns", "pandas"),
    ("to_dummies, strings", f"1,000,000 rows of str, {BOOLEAN}", "polars"),
    ("OneHotEncoder, categories", f"1,000,000 rows of category, {CSR}", "sklearn"),
    ("OneHotEncoder, strings", f"1,000,000 rows of str, {CSR}", "sklearn"),
    ("MultiLabelBinarizer", LISTS, "sklearn"),
    ("one_hot, 10 classes", LABELS, "numpy"),
    ("one_hot, 10 classes", LABELS, "tensorflow"),
    ("one_hot, 10 classes", LABELS, "jax"),
    ("one_hot, 10 classes", LABELS, "torch"),
    ("one_hot, label masks", MASKS, "torch"),
]
LIBRARIES = {"sklearn": "scikit-learn", "numpy": "NumPy", "tensorflow": "TensorFlow"}
INK, FAINT, ON, OFF = "#24292f", "#6e7781", "#4c78a8", "#e6eaf0"
ABSENT = "\N{EN DASH}"
CLASSES = ["#bab0ac", "#f58518", "#54a24b"]


class Drawing:
    """A picture of one or several panels, each an SVG file; all positions are pixels.

    A page shows the panels in a row. On a narrow screen they wrap, so that none is cut or shrunk.
    """

    def __init__(self, height: int, title: str, *edges: int) -> None:
        self.height, self.title, self.edges = height, title, edges
        self.parts: list[str] = []

    def text(self, x: float, y: float, words: object, style: str = "") -> None:
        """Write one line; its middle is at `x`, unless `style` says otherwise."""
        anchor = "" if "text-anchor" in style else ' text-anchor="middle"'
        self.parts.append(f'<text x="{x:g}" y="{y:g}"{anchor} {style}>{escape(str(words))}</text>')

    def box(self, x: float, y: float, width: float, height: float, fill: str = "#fff") -> None:
        """Draw a rectangle with a thin line around it."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" '
            f'fill="{fill}" stroke="#fff"/>'
        )

    def arrow(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """Draw a line with a tip."""
        self.parts.append(
            f'<path d="M{x:g} {y:g} {to_x:g} {to_y:g}" stroke="{FAINT}" stroke-width="1.5" '
            'marker-end="url(#tip)"/>'
        )

    def cells(self, x: float, y: float, rows: Any, width: float = 30, height: float = 24) -> None:
        """Draw a matrix: Booleans as filled cells, anything else as text."""
        for i, row in enumerate(rows):
            for j, cell in enumerate(np.atleast_1d(row)):
                left, top = x + j * width, y + i * height
                is_switch = isinstance(cell, (bool, np.bool_))
                self.box(left, top, width, height, ON if is_switch and cell else OFF)
                if not is_switch:
                    self.text(left + width / 2, top + height / 2 + 5, cell)

    def note(self, x: float, y: float, *lines: str) -> None:
        """Write small lines below each other."""
        for i, line in enumerate(lines):
            self.text(x, y + 17 * i, line, f'font-size="13" fill="{FAINT}"')

    def head(self, x: float, y: float, words: str) -> None:
        """Write a title."""
        self.text(x, y, words, 'font-weight="bold" font-size="15"')

    def save(self, folder: Path, name: str) -> None:
        """Write a file for each panel: `name`_1, `name`_2, ..., or `name` if there is only one."""
        for i, (left, right) in enumerate(pairwise(self.edges), 1):
            size = f'{right - left}" height="{self.height}'
            lines = [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" '
                f'viewBox="{left} 0 {right - left} {self.height}" '
                f'font-family="Helvetica, Arial, sans-serif" font-size="14" fill="{INK}">',
                f"<title>{escape(self.title)}</title>",
                '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
                f'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="{FAINT}"/></marker>',
                "</defs>",
                f'<rect x="{left}" width="{size}" fill="#fff"/>',
                *(part for part in self.parts if left <= x_of(part) < right),
                "</svg>",
                "",
            ]
            number = f"_{i}" if len(self.edges) > 2 else ""
            (folder / f"{name}{number}.svg").write_text("\n".join(lines), encoding="utf-8")


def x_of(part: str) -> float:
    """Return the horizontal position of a shape."""
    found = re.search(r'(?: x=| cx=| d="M| points=)"?([\d.]+)', part)
    assert found is not None, part
    return float(found[1])


def section(processor: str, title: str) -> str:
    """Return a section of the report of a processor."""
    path = DOCS / "benchmarks" / f"{REPORTS[processor]}.md"
    return path.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]


def cells_of(text: str) -> list[list[str]]:
    """Return the cells of the rows of a Markdown table."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip(" *") for cell in line.split("|")] for line in lines]


def times(processor: str = ZEN_4, title: str = LABELS) -> dict[str, float]:
    """Return the time of the fastest call of each library without `out=`, divided by ours.

    Only our calls with default threads count, as in the column "/ ours".
    """
    best: dict[str, float] = {}
    header, _, *rows = cells_of(section(processor, title))
    for row in rows:
        multiple = row[header.index("/ ours")]
        who = row[1].split()[0]
        is_default = "threads" not in header or row[header.index("threads")] == "default"
        if multiple and row[2] != "out" and (is_default or who != "onehot_fast"):
            best[who] = min(float(multiple), best.get(who, np.inf))
    ours = best["onehot_fast"]
    return {who: best[who] / ours for who in sorted(best, key=best.__getitem__)}


def front_page(folder: Path) -> None:
    """Draw what goes in, what comes out, and how long it takes."""
    drawing = Drawing(
        345, "One-hot encoding of a column and of a label mask, and its time", 0, 306, 530, 830
    )
    carriers = ["UA", "AA", None, "UA", "OO"]
    encoder = Encoder(["carrier"]).fit({"carrier": carriers})
    drawing.head(145, 28, "a column")
    drawing.cells(20, 74, [[each or ABSENT] for each in carriers], 44)
    drawing.arrow(72, 134, 108, 134)
    names = encoder.get_feature_names_out()
    for i, name in enumerate(names):
        drawing.text(144 + 62 * i, 64, name, 'font-size="11"')
    drawing.cells(114, 74, encoder.transform({"carrier": carriers}), 62)
    drawing.note(160, 216, "the same features for any rows;", "a missing value is a row of zeros")

    y, x = np.mgrid[:8, :8]
    mask = np.where(np.hypot(y - 4.5, x - 2) < 2.6, 1, np.where((x > 4) & (y < 4), 2, 0))
    drawing.head(418, 28, "a label mask")
    for (i, j), label in np.ndenumerate(mask):
        drawing.box(330 + 9 * j, 98 + 9 * i, 9, 9, CLASSES[label])
    drawing.arrow(408, 134, 440, 134)
    for k, plane in enumerate(one_hot(mask, 3, axis=0, dtype=bool)):
        for (i, j), is_on in np.ndenumerate(plane):
            fill = CLASSES[k] if is_on else OFF
            drawing.box(450 + 9 * j, 42 + 76 * k + 9 * i, 9, 9, fill)
    drawing.note(418, 294, "one plane for each class,", "without a transposed copy")

    measured = times()
    drawing.head(680, 28, "a million labels, 10 classes")
    drawing.note(680, 47, "time relative to onehot_fast, lower is better")
    scale = 130 / max(measured.values())
    for i, (who, multiple) in enumerate(measured.items()):
        top = 60 + 22 * i
        drawing.text(627, top + 14, who.replace("sklearn", "scikit-learn"), 'text-anchor="end"')
        drawing.box(635, top, max(scale * multiple, 3), 18, ON if i else CLASSES[1])
        drawing.text(641 + scale * multiple, top + 14, f"{multiple:.1f}", 'text-anchor="start"')
    below = 60 + 22 * len(measured) + 16
    drawing.note(680, below, "the fastest call of each library,", "AMD EPYC (Zen 4)")
    drawing.save(folder, "onehot")


def storeys(folder: Path) -> None:
    """Draw how a table becomes memory, through values and codes."""
    drawing = Drawing(286, "From a table over values and codes to memory", 0, 370, 600, 960)
    plans, options = ["pro", "free", None, "pro", "team"], {"min_frequency": 2}
    encoder = Encoder(["plan"], handle_missing="indicator", **options).fit({"plan": plans})
    known = sorted({each for each in plans if each})
    codes = [known.index(each) if each else -1 for each in plans]
    for x, title, line in [
        (70, "Container", "frame, array, file"),
        (262, "1  Categories", "value → code"),
        (502, "2  Schema", "code → output column"),
        (770, "3  Write", "codes → memory"),
    ]:
        drawing.head(x, 30, title)
        drawing.note(x, 50, line)
    drawing.cells(35, 76, [[each or ABSENT] for each in plans], 70)
    drawing.arrow(112, 136, 184, 136)
    drawing.note(148, 126, "read")
    drawing.cells(194, 76, [[i, each] for i, each in enumerate(known)], 52)
    drawing.cells(322, 76, [[code] for code in codes], 44)
    drawing.note(248, 166, "each value once,", "with its count,", "in a hash table")
    drawing.note(344, 216, "codes")
    drawing.arrow(372, 136, 426, 136)
    features = list(encoder.get_feature_names_out())
    places = dict(zip(features, range(len(features)), strict=True))
    table = [places.get(f"plan_{each}", places["plan_(infrequent)"]) for each in known]
    table.append(places["plan_(missing)"])
    rows = [[code, column] for code, column in zip([*range(len(known)), -1], table, strict=True)]
    drawing.cells(436, 76, rows, 66)
    decided = "infrequent, dropped, missing,", "unknown, names, dtypes"
    drawing.note(502, 192, "every option is decided here,", "once for each category:", *decided)
    drawing.arrow(602, 136, 652, 136)
    drawing.note(626, 126, "kernel")
    drawing.cells(662, 76, encoder.transform({"plan": plans}), 72)
    for i, name in enumerate(features):
        drawing.text(698 + 72 * i, 212, name.removeprefix("plan_"), 'font-size="12"')
    result = "into memory that a frame, a table", "or a matrix uses without a copy"
    drawing.note(770, 236, "one call, several threads,", *result)
    drawing.save(folder, "storeys")


def kernels(folder: Path) -> None:
    """Draw the two stages of a kernel."""
    drawing = Drawing(
        240, "A block of indices becomes codes, and codes become elements", 0, 430, 870
    )
    indices, depth = [2, 0, -1, 1, 255], 3
    for x, title, line in [
        (80, "Indices", "ten kinds: int8 … float64"),
        (335, "Codes of a block", "one byte each, in the L1 cache"),
        (755, "Output", "any dtype, by its width in bytes"),
    ]:
        drawing.head(x, 30, title)
        drawing.note(x, 50, line)
    drawing.cells(6, 76, [indices], 30)
    drawing.arrow(162, 88, 242, 88)
    drawing.head(202, 78, "narrow")
    encoded = one_hot(indices, depth, dtype=bool)
    codes = [int(row.argmax()) if row.any() else "none" for row in encoded]
    drawing.cells(250, 76, [codes], 34)
    drawing.arrow(440, 88, 646, 88)
    drawing.head(542, 78, "write")
    drawing.cells(656, 76, encoded, 66)
    policies = "negative, out of range, ignored,", "look-up table:"
    drawing.note(202, 126, *policies, "one comparison and", "one look-up")
    ways = "few classes: in registers", "many: zeros streamed, ones stored"
    drawing.note(542, 126, *ways, "another axis: planes", "bits, CSR, CSC")
    drawing.note(650, 226, "index types + writers, instead of one function for each pair")
    drawing.save(folder, "kernels")


def classes(folder: Path) -> None:
    """Draw labels that are listed as categories: numbers, and the colours of a mask."""
    drawing = Drawing(
        250, "Numbers and colours become positions in a list of categories", 0, 330, 680
    )
    ids, known = [7, 11, 8, 7], [7, 8, 11]
    drawing.head(165, 30, "labels 7, 8 and 11")
    drawing.cells(20, 86, [[each] for each in ids], 44)
    drawing.arrow(72, 134, 118, 134)
    for i, each in enumerate(known):
        drawing.text(155 + 62 * i, 76, each, 'font-size="13"')
    drawing.cells(124, 86, one_hot(ids, categories=known, dtype=bool), 62)
    drawing.note(165, 216, "one_hot(labels, categories=[7, 8, 11])")

    palette = np.array([tuple(bytes.fromhex(color[1:])) for color in CLASSES], np.uint8)
    y, x = np.mgrid[:8, :8]
    mask = palette[np.where(np.hypot(y - 4.5, x - 2) < 2.6, 1, np.where((x > 4) & (y < 4), 2, 0))]
    drawing.head(505, 30, "a mask of colours")
    for i, j in np.ndindex(mask.shape[:2]):
        drawing.box(350 + 12 * j, 76 + 12 * i, 12, 12, f"#{bytes(mask[i, j]).hex()}")
    drawing.arrow(452, 124, 484, 124)
    for k, plane in enumerate(one_hot(mask, categories=palette, axis=0, dtype=bool)):
        drawing.box(492 + 62 * k, 56, 56, 12, CLASSES[k])
        for (i, j), is_on in np.ndenumerate(plane):
            drawing.box(492 + 62 * k + 7 * j, 92 + 7 * i, 7, 7, ON if is_on else OFF)
    drawing.note(505, 216, "one_hot(mask, categories=palette, axis=0)")
    drawing.save(folder, "classes")


def forms(folder: Path) -> None:
    """Draw how the same rows are stored in each form."""
    drawing = Drawing(240, "The same four rows in five forms", 0, 165, 375, 545, 735, 960)
    codes = np.array([1, 0, -1, 2])
    rows = one_hot(codes, 3, dtype=bool)
    places = [(80, "row-major"), (270, "columns"), (460, "bits"), (640, "CSR"), (850, "codes")]
    notes = [
        ("NumPy, torch", "axis=-1"),
        ("pandas, polars, Arrow", "planes: axis=1"),
        ("Arrow, polars", "Booleans"),
        ("positions, row ends", "SciPy"),
        ("embeddings, trees", "one integer a row"),
    ]
    for (x, title), lines in zip(places, notes, strict=True):
        drawing.head(x, 30, title)
        drawing.note(x, 206, *lines)
    drawing.cells(35, 60, rows)
    for j in range(3):
        drawing.cells(208 + 44 * j, 60, rows[:, j : j + 1])
    for j, byte in enumerate(np.packbits(rows, axis=0, bitorder="little")[0]):
        drawing.cells(400, 60 + 40 * j, [[f"{byte:08b}"]], 120)
    drawing.cells(600, 60, [codes[codes >= 0].tolist()], 27)
    drawing.cells(573, 100, [[0, *rows.any(axis=1).cumsum().tolist()]], 27)
    shown = Encoder(["c"]).fit({"c": ["a", "b", "c"]})
    values = [None if code < 0 else "abc"[code] for code in codes]
    drawing.cells(835, 60, shown.transform({"c": values}, "codes").tolist())
    drawing.save(folder, "forms")


def axis(drawing: Drawing, ticks: dict[float, str], y: tuple[float, float], x: Any) -> None:
    """Draw vertical lines of a logarithmic axis with their labels."""
    for value, label in ticks.items():
        left = x(value)
        drawing.parts.append(f'<path d="M{left:.1f} {y[0]}V{y[1]}" stroke="{OFF}"/>')
        drawing.note(left, y[1] + 18, label)


def speed_ups(folder: Path) -> None:
    """Draw how many times as fast as other libraries each task is, on each processor."""
    height = 120 + 36 * len(TASKS)
    drawing = Drawing(height + 34, "Speed-up of each task over other libraries", 0, 470)
    drawing.head(235, 28, "Speed-up over other libraries (log scale)")
    colors = dict(zip(REPORTS, [ON, *CLASSES[1:]], strict=True))
    for i, (processor, color) in enumerate(colors.items()):
        drawing.parts.append(f'<circle cx="150" cy="{47 + 19 * i}" r="6" fill="{color}"/>')
        drawing.text(162, 52 + 19 * i, processor, 'text-anchor="start" font-size="13"')

    def x(value: float) -> float:
        return 190 + 82 * float(np.log10(value))

    axis(drawing, {1: "1x", 10: "10x", 100: "100x", 1000: "1000x"}, (104, height), x)
    for row, (task, title, library) in enumerate(TASKS):
        y, name = 122 + 36 * row, LIBRARIES.get(library, library)
        drawing.text(176, y, task, 'text-anchor="end" font-size="12"')
        drawing.text(176, y + 15, name, f'text-anchor="end" font-size="12" fill="{FAINT}"')
        for i, (processor, color) in enumerate(colors.items()):
            value = times(processor, title)[library]
            top = y + 5 + 6 * (i - 1)
            drawing.parts.append(f'<circle cx="{x(value):.1f}" cy="{top}" r="5" fill="{color}"/>')
    drawing.save(folder, "speed_ups")


def growth(folder: Path) -> None:
    """Draw the time against rows, and against categories."""
    drawing = Drawing(330, "Time against the number of rows and of categories", 0, 480, 960)
    rows = {
        float(row[1].split(" x ")[0].replace(",", "")): float(row[4])
        for row in cells_of(section(ZEN_4, "Beside a process that keeps one processor busy"))[2:]
        if row[3] == "default"
    }
    pattern = r"1,000,000 x Arrow strings, ([\d,]+) categories"
    found = cells_of(section(ZEN_4, "Values to codes"))
    by_size = {
        float(match[1].replace(",", "")): (float(row[3]), float(row[5]))
        for row in found
        if (match := re.fullmatch(pattern, row[1]))
    }
    ours, theirs = ({n: pair[k] for n, pair in by_size.items()} for k in (0, 1))
    sizes = {1e2: "100", 1e3: "1,000", 1e4: "10,000", 1e5: "100,000", 1e6: "1M", 1e7: "10M"}
    title = "one_hot(out=), 10 classes: ms against rows"
    ticks = {1e-3: "0.001", 1e-2: "0.01", 0.1: "0.1", 1: "1", 10: "10"}
    plot(drawing, 40, title, {"onehot_fast": rows}, sizes, ticks)
    title = "Coding 1M strings: ms against categories"
    lines = {"onehot_fast": ours, "pyarrow dictionary_encode": theirs}
    sizes = {2: "2", 16: "16", **sizes}
    plot(drawing, 520, title, lines, sizes, {1: "1", 10: "10", 100: "100"})
    drawing.note(240, 318, f"{ZEN_4}, median, beside a busy process")
    drawing.note(720, 318, f"{ZEN_4}, median")
    drawing.save(folder, "growth")


def gram(folder: Path) -> None:
    """Draw the times of Gram matrices, from the table in docs/implicit.md."""
    page = (DOCS / "implicit.md").read_text(encoding="utf-8")
    _, _, table = page.partition("### Gram matrices of many columns")
    rows = [
        [float(cell.replace(",", "")) for cell in row[1:5]]
        for row in cells_of(table.partition("\n## ")[0])[2:]
    ]
    columns = {"gram()": 2, "SciPy": 1, 'gram(output="csr")': 3}
    lines = {name: {row[0]: row[at] for row in rows} for name, at in columns.items()}
    drawing = Drawing(310, "Time of a Gram matrix against the number of columns", 0, 480)
    sizes = {1: "1", 10: "10", 100: "100", 1000: "1,000"}
    ticks = {0.1: "0.1", 1: "1", 10: "10", 100: "100", 1e3: "1,000", 1e4: "10,000"}
    plot(drawing, 40, "Gram matrix: ms against columns", lines, sizes, ticks, points=True)
    drawing.note(240, 304, "1,000 rows, columns of two categories, one thread")
    drawing.save(folder, "gram")


def sequences(folder: Path) -> None:
    """Draw the matrices of two sequences, the second of which is padded."""
    texts = ["GATTACAN", "GATC"]
    batch = one_hot_sequences(texts, neutral="N", neutral_value=0.25, pad="right", axis=1)
    drawing = Drawing(190, "The matrices of GATTACAN and of GATC, padded to 8 letters", 0, 640)
    for i, (text, matrix) in enumerate(zip(texts, batch, strict=True)):
        left = 40 + 310 * i
        drawing.head(left + 120, 24, f"batch[{i}]")
        for j, letter in enumerate(text.ljust(8)):
            drawing.text(left + 15 + 30 * j, 52, letter.strip() or ABSENT)
            column = matrix[:, j]
            shown = (
                column == 1 if set(column.tolist()) <= {0, 1} else [f"{x:g}"[1:] for x in column]
            )
            drawing.cells(left + 30 * j, 62, np.array(shown)[:, None])
        for k, letter in enumerate("ACGT"):
            drawing.text(left - 14, 79 + 24 * k, letter)
    drawing.note(160, 180, "N is neutral: .25 in each class")
    drawing.note(470, 180, "padding: zeros")
    drawing.save(folder, "sequences")


def plot(
    drawing: Drawing,
    left: int,
    title: str,
    lines: dict[str, dict[float, float]],
    x_ticks: dict[float, str],
    y_ticks: dict[float, str],
    points: bool = False,
) -> None:
    """Draw lines with logarithmic axes, and with a point for each measurement if `points`."""
    drawing.head(left + 210, 28, title)
    xs = [n for line in lines.values() for n in line]
    values = [*(t for line in lines.values() for t in line.values()), *y_ticks]
    low, high = np.log10(min(values)), np.log10(max(values))
    first, last = np.log10(min(xs)), np.log10(max(xs))

    def x(value: float) -> float:
        return left + 60 + 330 * float((np.log10(value) - first) / (last - first))

    def y(value: float) -> float:
        return 260 - 190 * float((np.log10(value) - low) / (high - low))

    shown = {n: label for n, label in x_ticks.items() if min(xs) <= n <= max(xs)}
    axis(drawing, shown, (60, 266), x)
    for value, label in y_ticks.items():
        drawing.parts.append(f'<path d="M{left + 50} {y(value):.1f}h350" stroke="{OFF}"/>')
        drawing.text(left + 44, y(value) + 5, label, f'text-anchor="end" fill="{FAINT}"')
    for k, (name, line) in enumerate(lines.items()):
        color = [CLASSES[1], ON, CLASSES[2]][k]
        places = [(x(n), y(ms)) for n, ms in sorted(line.items())]
        joined = " ".join(f"{across:.1f} {down:.1f}" for across, down in places)
        drawing.parts.append(
            f'<polyline points="{joined}" fill="none" stroke="{color}" stroke-width="2.5"/>'
        )
        for across, down in places if points else ():
            drawing.parts.append(
                f'<circle cx="{across:.1f}" cy="{down:.1f}" r="3.5" fill="{color}"/>'
            )
        style = f'text-anchor="start" font-size="13" fill="{color}" font-weight="bold"'
        drawing.text(left + 70, 82 + 18 * (len(lines) - k - 1), name, style)


def main(folder: Path = DOCS / "images") -> None:
    """Write all drawings."""
    drawings = front_page, storeys, kernels, classes, forms, speed_ups, growth, gram, sequences
    for draw in drawings:
        draw(folder)


if __name__ == "__main__":
    main()
