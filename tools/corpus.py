"""Run the command on a folder of CSV files, and compare every cell with two other readers.

    python tools/corpus.py FOLDER [--only TEXT]

Each file is encoded to CSV, Parquet and Arrow in each layout, and decoded again. Python's `csv` and
DuckDB (``all_varchar``) say which cells the file has. If the command rejects a file, its remedy is
tried. There is a line for each file that is not equal, and a table of the verdicts at the end:

equal      all kept, encoded and decoded cells are those of the other readers
refused    the command rejects the file, and its remedy works, or no other reader agrees on cells
no remedy  the command rejects the file, and names no remedy that works
different  a cell, name or number of rows differs
crash      a traceback, or an error without a code of its own

The tool needs duckdb beside the package, and ends with 1 if a file is different or crashes.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import re
import shlex
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

import duckdb
import pyarrow as pa  # noqa: TID253
import pyarrow.feather as feather  # noqa: TID253
import pyarrow.parquet as parquet  # noqa: TID253

from onehot_fast.cli import main
from onehot_fast.cli.delimited import unique_names

LAYOUTS = {
    "csv": ["columns", "dictionary"],
    "parquet": ["columns", "struct", "array", "tensor", "dictionary"],
    "arrow": ["columns", "struct", "array", "tensor", "dictionary"],
}
OPTION = re.compile(r"pass (--(?:delimiter '[^']*'(?: --decimal ,)?|encoding utf-16|fill-rows))")
CONVERSION = re.compile(r'python -c ("[^"]*"|\'.*\'(?=$|; if))')
MAX_CATEGORIES, MAX_COLUMNS = 40, 4
csv.field_size_limit(1 << 30)


def run(*arguments: object) -> tuple[int, str]:
    """Run the command in this process; return its exit code and its messages."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main([str(argument) for argument in arguments])
    return code, error.getvalue().strip()


def delimiter_of(path: Path, options: list[str]) -> str:
    """Return the delimiter with which the command reads and writes a file."""
    if "--delimiter" in options:
        return options[options.index("--delimiter") + 1].replace("\\t", "\t")
    return "\t" if ".tsv" in path.name else ","


def cells_of(path: Path, options: list[str]) -> list[list[str]] | None:
    """Return the rows that Python's `csv` and DuckDB agree on, with the header; else None."""
    delimiter = delimiter_of(path, options)
    encoding = options[options.index("--encoding") + 1] if "--encoding" in options else "utf-8-sig"
    try:
        with duckdb.connect() as connection:
            text = connection.read_csv(
                str(path), delimiter=delimiter, header=False, all_varchar=True, quotechar='"',
                escapechar='"', encoding={"utf-8-sig": "utf-8"}.get(encoding, encoding),
            )  # fmt: skip
            theirs = [[cell or "" for cell in row] for row in text.fetchall()]
        with pa.input_stream(str(path), compression="detect") as file:
            content = file.read().decode(encoding)
    except Exception:  # the other reader rejects the file
        return None
    ours = list(csv.reader(io.StringIO(content, newline=""), delimiter=delimiter))
    ours = [row for row in ours if row]
    return ours if ours == theirs and len({len(row) for row in ours}) == 1 else None


def read(path: Path, delimiter: str) -> tuple[list[str], list[list[str]]]:
    """Return the names and rows of an output, as texts; a missing value is an empty text."""
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            names, *rows = csv.reader(file, delimiter=delimiter)
        return names, rows
    table = parquet.read_table(path) if path.suffix == ".parquet" else feather.read_table(path)
    columns = [["" if cell is None else str(cell) for cell in one.to_pylist()] for one in table]
    return table.column_names, [list(row) for row in zip(*columns, strict=True)]


def check(path: Path, folder: Path) -> tuple[str, str]:
    """Return the verdict on a file, and why."""
    form: list[str] = []
    options: list[str] = []
    code, text = run("inspect", path, "-q", *form)
    while code:
        if code == 1 or "Traceback" in text or path.name not in text:
            return "crash", text
        option = OPTION.search(text)
        typed = shlex.split(option[1]) if option else []
        if not typed and "--encoding" in text:
            typed = ["--encoding", "latin-1"]
        if typed and typed[0] not in options:
            options += typed
            code, text = run("inspect", path, "-q", *form, *options)
            continue
        return converted(path, folder, text)
    rows = cells_of(path, options)
    if rows is None:
        return ("refused" if options else "read"), "other readers disagree on the cells"
    names, data = unique_names(rows[0]), rows[1:]
    distinct = [len({row[i] for row in data}) for i in range(len(names))]
    chosen = [
        i
        for i, n in enumerate(distinct)
        if 1 < n <= MAX_CATEGORIES and not {"-", ","} & {*names[i]} and len(names) > 1
    ][:MAX_COLUMNS]
    if not chosen:
        return "read", "no column to encode"
    typed = [part for i in chosen for part in ("-c", names[i])] + ["--text", "-q", "--overwrite"]
    for kind, layouts in LAYOUTS.items():
        for layout in layouts:
            out, back = folder / f"e.{kind}", folder / f"d.{kind}"
            saved = ["--save-encoder", folder / "e.json", "--layout", layout]
            code, text = run("encode", path, *form, *options, *typed, *saved, "-o", out)
            if code:
                return "refused", text
            # A CSV output has the delimiter of the option, or a comma.
            written = delimiter_of(out, options)
            found, encoded = read(out, written)
            if len(encoded) != len(data):
                return "different", f"{kind} {layout}: {len(encoded)} rows, not {len(data)}"
            for i, name in enumerate(names):
                expected = [row[i] for row in data]
                if i not in chosen and [row[found.index(name)] for row in encoded] != expected:
                    return "different", f"{kind} {layout}: kept column {name!r}"
                if i in chosen and layout == "columns":
                    for category in {*expected} - {""}:
                        at = found.index(f"{name}_{category}")
                        ones = [row[at] in ("1", "True") for row in encoded]
                        if ones != [cell == category for cell in expected]:
                            return "different", f"{kind}: feature {category!r} of {name!r}"
            again = ["--delimiter", written] if kind == "csv" else []
            saved = ["--encoder", folder / "e.json", "--layout", layout]
            code, text = run("decode", out, *saved, *again, "-q", "--overwrite", "-o", back)
            if code:
                return "different", f"{kind} {layout}: decode: {text}"
            if read(back, written) != (names, data):
                return "different", f"{kind} {layout}: decoded cells"
    return "equal", ""


def converted(path: Path, folder: Path, text: str) -> tuple[str, str]:
    """Try the conversion that an error names, on a copy of the file."""
    if "is empty" in text:
        return "refused", text
    found = CONVERSION.search(text)
    if not found:
        return "no remedy", text
    copy = folder / path.name
    shutil.copy(path, copy)
    [code] = shlex.split(found[1].replace(str(path.with_suffix("")), str(copy.with_suffix(""))))
    before = {*folder.iterdir()}
    try:
        exec(code, {})
    except Exception as error:  # the other reader rejects the file, too
        return "no remedy", f"{text} -> {type(error).__name__}"
    made = [one for one in folder.iterdir() if one not in before and one.suffix == ".parquet"]
    return ("refused" if made and run("inspect", made[0], "-q")[0] == 0 else "no remedy"), text


def report() -> int:
    """Check all files, and print the verdicts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    totals: Counter[str] = Counter()
    for path in sorted(arguments.folder.iterdir()):
        if arguments.only not in path.name or not re.search(r"\.(csv|tsv|tbl)", path.name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                verdict, detail = check(path, Path(folder))
            except Exception:
                verdict, detail = "crash", " ".join(traceback.format_exc().split()[-30:])
        totals[verdict] += 1
        if verdict != "equal":
            print(f"{verdict:10}{path.name[-60:]:62}{detail[-300:]}", flush=True)
    print(", ".join(f"{n} {verdict}" for verdict, n in sorted(totals.items())))
    return int(bool(totals["different"] or totals["crash"]))


if __name__ == "__main__":
    sys.exit(report())
