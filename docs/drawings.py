"""Draw the images of the documentation: ``python docs/drawings.py`` writes them into docs/images.

The results that they show are computed here; the times come from a report in docs/benchmarks. A
test compares the files with this script.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from onehot_fast import Encoder, one_hot

DOCS = Path(__file__).parent
REPORT = DOCS / "benchmarks" / "amd-epyc-family-25-model-17.md"
INK, FAINT, ON, OFF = "#24292f", "#6e7781", "#4c78a8", "#e6eaf0"
ABSENT = "\N{EN DASH}"
CLASSES = ["#bab0ac", "#f58518", "#54a24b"]


class Drawing:
    """An SVG file that grows by one shape at a time; all positions are pixels."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'font-family="Helvetica, Arial, sans-serif" font-size="14" fill="{INK}">',
            f"<title>{escape(title)}</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="{FAINT}"/></marker>',
            "</defs>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#fff"/>',
        ]

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
        """Write the file."""
        text = "\n".join([*self.parts, "</svg>", ""])
        (folder / f"{name}.svg").write_text(text, encoding="utf-8")


def times() -> dict[str, float]:
    """Return the time of the best ordinary call of each library, divided by ours."""
    report = REPORT.read_text(encoding="utf-8")
    section = report.split("\n## W1: ")[1].split("\n## ")[0]
    best: dict[str, float] = {}
    row = r"^\| \**(\w+).*?\| fresh .*\| +([\d.]+) +\|$"
    for who, multiple in re.findall(row, section, re.M):
        best[who] = min(float(multiple), best.get(who, np.inf))
    ours = best["onehot_fast"]
    return {who: best[who] / ours for who in sorted(best, key=best.__getitem__)}


def front_page(folder: Path) -> None:
    """Draw what goes in, what comes out, and how long it takes."""
    drawing = Drawing(960, 330, "One-hot encoding of a column and of a label mask, and its time")
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
    drawing.head(432, 28, "a label mask")
    for (i, j), label in np.ndenumerate(mask):
        drawing.box(330 + 9 * j, 98 + 9 * i, 9, 9, CLASSES[label])
    drawing.arrow(408, 134, 440, 134)
    for k, plane in enumerate(one_hot(mask, 3, axis=0, dtype=bool)):
        for (i, j), is_on in np.ndenumerate(plane):
            fill = CLASSES[k] if is_on else OFF
            drawing.box(450 + 18 * k + 9 * j, 42 + 76 * k + 9 * i, 9, 9, fill)
    drawing.note(432, 294, "one plane for each class,", "without a transposed copy")

    measured = times()
    drawing.head(762, 28, "1,000,000 labels, 10 classes, float32")
    drawing.note(762, 47, "time relative to onehot_fast, lower is better")
    scale = 200 / max(measured.values())
    for i, (who, multiple) in enumerate(measured.items()):
        top = 60 + 22 * i
        drawing.text(690, top + 14, who.replace("sklearn", "scikit-learn"), 'text-anchor="end"')
        drawing.box(698, top, max(scale * multiple, 3), 18, ON if i else CLASSES[1])
        drawing.text(704 + scale * multiple, top + 14, f"{multiple:.1f}", 'text-anchor="start"')
    below = 60 + 22 * len(measured) + 16
    drawing.note(762, below, "the best call of each library, AMD EPYC (Zen 4)")
    drawing.save(folder, "onehot")


def storeys(folder: Path) -> None:
    """Draw how a table becomes memory, through values and codes."""
    drawing = Drawing(960, 330, "From a table over values and codes to memory")
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
    drawing.arrow(572, 136, 652, 136)
    drawing.note(612, 126, "kernel")
    drawing.cells(662, 76, encoder.transform({"plan": plans}), 72)
    for i, name in enumerate(features):
        drawing.text(698 + 72 * i, 212, name.removeprefix("plan_"), 'font-size="12"')
    drawing.note(770, 236, "one call, several threads,", "into the memory of the result")
    drawing.arrow(770, 264, 770, 290)
    drawing.parts.append(f'<path d="M770 290H70" stroke="{FAINT}" stroke-width="1.5" fill="none"/>')
    drawing.arrow(70, 290, 70, 212)
    drawing.note(420, 310, "wrap: a frame, a table or a matrix over that memory, without a copy")
    drawing.save(folder, "storeys")


def kernels(folder: Path) -> None:
    """Draw the two stages of a kernel."""
    drawing = Drawing(960, 250, "A block of indices becomes codes, and codes become elements")
    indices, depth = [2, 0, -1, 1, 255], 3
    for x, title, line in [
        (110, "Indices", "ten kinds: int8 … float64"),
        (420, "Codes of a block", "one byte each, in the first-level cache"),
        (760, "Output", "any dtype, by its width in bytes"),
    ]:
        drawing.head(x, 30, title)
        drawing.note(x, 50, line)
    drawing.cells(20, 76, [indices], 36)
    drawing.arrow(208, 88, 322, 88)
    drawing.head(265, 78, "narrow")
    encoded = one_hot(indices, depth, dtype=bool)
    codes = [int(row.argmax()) if row.any() else "none" for row in encoded]
    drawing.cells(330, 76, [codes], 38)
    drawing.arrow(528, 88, 650, 88)
    drawing.head(589, 78, "write")
    drawing.cells(660, 76, encoded, 66)
    policies = "negative, out of range, ignored,", "look-up table:"
    drawing.note(265, 126, *policies, "one comparison and", "one look-up")
    ways = "few classes: in registers", "many: zeros streamed, ones stored"
    drawing.note(550, 126, *ways, "another axis: planes", "bits, CSR, CSC")
    summary = "index types + writers, instead of one function for each pair"
    drawing.note(480, 226, summary)
    drawing.save(folder, "kernels")


def forms(folder: Path) -> None:
    """Draw how the same rows are stored in each form."""
    drawing = Drawing(960, 250, "The same four rows in five forms")
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


def main(folder: Path = DOCS / "images") -> None:
    """Write all drawings."""
    for draw in (front_page, storeys, kernels, forms):
        draw(folder)


if __name__ == "__main__":
    main()
