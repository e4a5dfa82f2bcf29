"""Check CSV files: the text of every cell, as Python's `csv` and DuckDB read it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import duckdb
import pyarrow as pa  # noqa: TID253
import pyarrow.feather as feather  # noqa: TID253
import pyarrow.parquet as parquet  # noqa: TID253

from corpus.command import Verdict, converted, is_crash, run, with_remedies
from onehot_fast.cli.csv_reader import unique_names

LAYOUTS = {
    "csv": ["columns", "dictionary"],
    "parquet": ["columns", "struct", "array", "tensor", "dictionary"],
    "arrow": ["columns", "struct", "array", "tensor", "dictionary"],
}
MAX_CATEGORIES, MAX_COLUMNS = 40, 4
csv.field_size_limit(1 << 30)


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


def check(path: Path, folder: Path) -> Verdict:
    """Return the verdict on a CSV file, and why."""
    code, text, options = with_remedies(path)
    if code:
        return ("crash", text) if is_crash(code, text, path) else converted(path, folder, text)
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
            code, text = run("encode", path, *options, *typed, *saved, "-o", out)
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
