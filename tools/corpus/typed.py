"""Check Parquet and Arrow files: types and values, as pyarrow, polars and DuckDB read them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars  # noqa: TID253
import pyarrow as pa  # noqa: TID253
import pyarrow.csv as pa_csv  # noqa: TID253
import pyarrow.parquet as parquet  # noqa: TID253

from corpus.command import Verdict, is_crash, run, with_remedies
from corpus.values import by_pyarrow, cell, cells, difference, format_of, wrong_features

LAYOUTS = {
    "parquet": ["columns", "struct", "array", "tensor", "dictionary"],
    "arrow": ["columns", "struct", "array", "tensor", "dictionary"],
    "arrows": ["columns", "dictionary"],
    "csv": ["columns", "dictionary"],
}
MAX_CATEGORIES, MAX_COLUMNS = 300, 4
Cells = dict[str, list[Any]]


def by_polars(path: Path) -> Cells:
    """Read a file with polars."""
    kind, content = format_of(path).kind, path.read_bytes()
    read = {"parquet": polars.read_parquet, "arrow": polars.read_ipc}.get(kind)
    frame = (read or polars.read_ipc_stream)(content)
    return {name: [*map(cell, frame[name].to_list())] for name in frame.columns}


def by_duckdb(path: Path) -> Cells:
    """Read a Parquet file with DuckDB."""
    if format_of(path).kind != "parquet":
        raise NotImplementedError
    with duckdb.connect() as connection:
        rows = connection.read_parquet(str(path))
        columns = zip(*rows.fetchall(), strict=True) if len(rows) else ([] for _ in rows.columns)
        pairs = zip(rows.columns, columns, strict=True)
        return {name: [*map(cell, column)] for name, column in pairs}


OTHERS = {"polars": by_polars, "DuckDB": by_duckdb}


def other_readers(path: Path) -> dict[str, Cells]:
    """Return what each of the other readers reads, without those that cannot read the file."""
    found: dict[str, Cells] = {}
    if not path.exists():
        return found
    for name, read in OTHERS.items():
        try:
            found[name] = read(path)
        except (Exception, polars.exceptions.PanicException):
            continue
    return found


def candidates(table: pa.Table) -> Iterator[str]:
    """Yield the columns with a few values that `-c` can name."""
    for name in table.column_names:
        if not name or name.startswith("-") or table.column_names.count(name) > 1:
            continue
        distinct = {*cells(table[name])} - {"None", "nan"}
        if 0 < len(distinct) <= MAX_CATEGORIES:
            yield name


def rewritten(table: pa.Table, path: Path) -> pa.Table | None:
    """Write a table with pyarrow alone in the format of a path; return what pyarrow reads."""
    path.unlink(missing_ok=True)
    try:
        if path.suffix == ".parquet":
            parquet.write_table(table, path)
        else:
            make = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
            with make(path, table.schema) as writer:
                writer.write_table(table)
        return by_pyarrow(path)
    except (pa.ArrowException, NotImplementedError):
        path.unlink(missing_ok=True)
        return None


def as_written(table: pa.Table, path: Path) -> dict[str, Any]:
    """Return the columns that pyarrow reads if it writes them alone; None if it does not."""
    columns = {}
    for i, name in enumerate(table.column_names):
        one = rewritten(table.select([i]), path)
        columns[name] = None if one is None else one[name]
    return columns


def check(path: Path, folder: Path) -> Verdict:
    """Return the verdict on a Parquet or Arrow file, and why."""
    try:
        table: pa.Table | None = by_pyarrow(path)
        reason = ""
    except Exception as error:  # whatever a corrupt file raises
        table, reason = None, f"pyarrow refuses it, too: {error}"
    code, text, options = with_remedies(path)
    if code:
        if is_crash(code, text, path):
            return "crash", text
        return ("no remedy" if table is not None else "refused"), text
    if table is None:
        return "read", f"although {reason}"
    chosen, rejected = [], ""
    for name in candidates(table):
        out = folder / "try.arrow"
        code, text = run("encode", path, *options, "-c", name, "-q", "--overwrite", "-o", out)
        if is_crash(code, text, path) and code:
            return "crash", text
        rejected = text if code else rejected
        chosen += [name] if not code and len(chosen) < MAX_COLUMNS else []
    if not chosen:
        return "read", f"nothing can be encoded: {rejected}"
    for kind, layouts in LAYOUTS.items():
        for layout in layouts:
            verdict = compared(path, table, chosen, options, folder, kind, layout)
            if verdict[0] != "equal":
                return verdict[0], f"{kind} {layout}: {verdict[1]}"
    return "equal", ""


def compared(
    path: Path, table: pa.Table, chosen: list[str],
    options: list[str], folder: Path, kind: str, layout: str,
) -> Verdict:  # fmt: skip
    """Encode and decode in one format and layout, and compare types and values."""
    out, back, saved = folder / f"e.{kind}", folder / f"d.{kind}", folder / "e.json"
    typed = [part for name in chosen for part in ("-c", name)] + ["-q", "--overwrite"]
    command = ["encode", path, *options, *typed, "--layout", layout]
    code, text = run(*command, "--save-encoder", saved, "-o", out)
    if code:
        if is_crash(code, text, path, out):
            return "crash", text
        again = ["-o", folder / "e.arrow"] if "choose another format" in text else ["-o", out]
        again += ["--layout", "columns"] if "use --layout columns" in text else []
        works = run(*command, *again)[0] == 0
        return ("equal" if works else "no remedy"), text
    if kind == "csv":
        return compared_text(table, chosen, out)
    found = by_pyarrow(out)
    if len(found) != len(table):
        return "different", f"{len(found)} rows, not {len(table)}"
    expected = as_written(table, folder / f"r.{kind}")
    rewritten(table, folder / f"r.{kind}")
    kept = [name for name in table.column_names if name not in chosen]
    for name in kept:
        if table.column_names.count(name) == 1:
            wrong = difference(
                table[name] if expected[name] is None else expected[name],
                found[name],
                expected[name] is None,
            )
            if wrong:
                return "different", f"kept column {name!r}: {wrong}"
    new = [name for name in found.column_names if name not in kept]
    if layout == "columns":
        wrong = wrong_features(table.select(chosen), found.select(new))
        if wrong:
            return "different", wrong
    theirs = other_readers(out)
    for reader, before in other_readers(folder / f"r.{kind}").items():
        if reader not in theirs:
            rewritten(found, folder / f"f.{kind}")
            if reader in other_readers(folder / f"f.{kind}"):
                return "different", f"{reader} does not read the output"
            continue  # nor what pyarrow writes of the same types
        for name in {*kept} & {*before}:
            if before[name] != theirs[reader].get(name):
                return "different", f"{reader}: kept column {name!r}"
        for name in new if layout == "columns" else ():
            if theirs[reader][name] != cells(found[name]):
                return "different", f"{reader}: feature {name!r}"
    saved_options = ["--layout", layout, "-q", "--overwrite"]
    code, text = run("decode", out, *saved_options, "-o", back)
    if code and "choose another format" in text:
        back = folder / "d.arrow"
        code, text = run("decode", out, *saved_options, "-o", back)
    if code:
        return "different", f"decode: {text}"
    result = by_pyarrow(back)
    for name in kept + chosen:
        is_list = name in chosen and pa.types.is_nested(table[name].type)
        if table.column_names.count(name) == 1 and not is_list:  # labels have another order
            wrong = difference(
                table[name] if expected[name] is None else expected[name], result[name],
                is_any_type=expected[name] is None or kind != back.suffix[1:],
                is_decoded=name in chosen,
            )  # fmt: skip
            if wrong:
                return "different", f"decoded column {name!r}: {wrong}"
    if result.column_names != table.column_names:
        return "different", f"decoded columns {result.column_names}"
    return "equal", ""


def compared_text(table: pa.Table, chosen: list[str], out: Path) -> Verdict:
    """Compare the columns of a CSV output that are not encoded, as two readers read them."""
    try:
        with out.open(newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
    except UnicodeDecodeError as error:
        return "different", f"the output is not UTF-8: {error}"
    with duckdb.connect() as connection:
        found = connection.read_csv(
            str(out), header=True, all_varchar=True, delimiter=",", quotechar='"', escapechar='"'
        ).fetchall()
    if [[cell or "" for cell in row] for row in found] != [row for row in rows if row]:
        return "different", "DuckDB and csv disagree on the output"
    if len(rows) != len(table):
        return "different", f"{len(rows)} rows, not {len(table)}"
    for name in table.column_names:
        if name in chosen or table.column_names.count(name) > 1:
            continue
        texts = [row[names.index(name)] for row in rows]
        if pa.types.is_floating(table[name].type):  # written with a point, so that it stays a float
            texts = [text and repr(float(text)) for text in texts]
        values = table[name].combine_chunks()
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        expected = as_text(values)
        if pa.types.is_floating(values.type):
            expected = [text and repr(float(text)) for text in expected]
        if texts != expected:
            pairs = enumerate(zip(texts, expected, strict=True))
            row = next(i for i, (one, two) in pairs if one != two)
            return "different", f"kept column {name!r}: {texts[row]!r}, not {expected[row]!r}"
    return "equal", ""


def as_text(values: pa.Array) -> list[str | None]:
    """Return values as pyarrow's own CSV writer writes them."""
    if values.type == pa.string_view():  # which pyarrow does not write
        values = values.cast(pa.string())
    out = pa.BufferOutputStream()
    pa_csv.write_csv(pa.table({"x": values}), out)
    return [
        row[0] if row else ""
        for row in csv.reader(io.StringIO(out.getvalue().to_pybytes().decode(), newline=""))
    ][1:]
