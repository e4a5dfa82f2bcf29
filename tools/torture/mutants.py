"""Give the command changed files, each in a forked process: an exit code, one line, no signal.

    python -m torture.mutants FOLDER [--mutations 200] [--seed 0] [--only TEXT]

Each file of the folder is changed in 1 to 8 bytes, in `--mutations` ways, inspected and encoded:
the columns that are chosen by default, and, in every other mutation, those of any type that can be
encoded alone. If the file itself can be encoded, its encoded Parquet file is changed in the same
ways, and decoded. A Parquet or Arrow mutant that pyarrow reads with all its checks must be encoded,
with the values that pyarrow reads, unless a whole file with these values is refused with the same
code. The modules are loaded once, before the processes are forked. A line is printed for each
failure, with the mutation that repeats it; then the status is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import json
import os
import random
import resource
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
from corpus.command import with_remedies
from corpus.values import by_pyarrow, difference, format_of

OUT, ERROR, FOUND, CHOICES = "out.arrow", "error.txt", "found.txt", "choices.json"
ENCODED = "encoded{}.parquet"
SECONDS = 60  # of a mutant
MEMORY = 8 << 30
# Where the footers of Parquet and Arrow files are; half of the changes are made there.
END_BYTES = 2048
# What the command and the comparison import while they work; some mutants need pandas.
MODULES = "onehot_fast.cli.commands", "onehot_fast.cli.inspection", "pandas", "difflib", "_strptime"
CODES = 0, 2, 3, 4, 5, 6, 7, 8  # of damaged files
# How many columns are chosen, and how many are tried for that.
MAX_CHOSEN, MAX_TRIED = 4, 16


def mutant(content: bytes, draw: random.Random) -> bytes:
    """Change 1 to 8 bytes."""
    changed = bytearray(content)
    for _ in range(draw.randint(1, 8)):
        first = max(0, len(changed) - END_BYTES) if draw.random() < 0.5 else 0
        changed[draw.randrange(first, len(changed))] = draw.randrange(256)
    return bytes(changed)


def in_fork(work: Callable[[], None]) -> str:
    """Do work in a forked process; return what it found, or how the process ended instead."""
    Path(FOUND).write_text("nothing was run")
    process = os.fork()
    if process == 0:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.alarm(SECONDS)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            work()
        except BaseException as error:
            with Path(FOUND).open("a") as file:
                file.write(f": {error!r}")
        finally:
            os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    found = Path(FOUND).read_text()
    return f"{found}: signal {-status}" if status else found


def run(arguments: list[str], path: str) -> tuple[int, str]:
    """Run the command; return its exit code, and what is wrong with its end."""
    Path(FOUND).write_text(arguments[0])
    os.dup2(os.open(ERROR, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    code = import_module("onehot_fast.cli").main(arguments)
    error = Path(ERROR).read_text(errors="replace")
    if code not in CODES:
        return code, f"{arguments[0]}: code {code}: {error[-300:]!r}"
    is_one_line = error.count("\n") == 1 and error.startswith("onehot-fast: ")
    if code and not (is_one_line and (path in error or code == 2)):
        return code, f"{arguments[0]}: not one line that names the file: {error[-300:]!r}"
    return code, ""


def encoded(path: str, options: list[str]) -> None:
    """Inspect and encode a mutant, and compare the output with what pyarrow reads."""
    code, wrong = run(["inspect", path, "-q", *options], path)
    if not wrong:
        code, wrong = run_encode(path, options)
    if not wrong and not format_of(Path(path)).is_text:
        wrong = unlike_pyarrow(path, code, options)
    Path(FOUND).write_text(wrong or f"exit {code}")


def run_encode(path: str, options: list[str]) -> tuple[int, str]:
    """Encode a file as Arrow."""
    return run(["encode", path, "-o", OUT, "--overwrite", "-q", *options], path)


def unlike_pyarrow(path: str, code: int, options: list[str]) -> str:
    """Tell how an output differs from the input as pyarrow reads it."""
    error = Path(ERROR).read_text(errors="replace")
    Path(FOUND).write_text("pyarrow")
    try:
        table = by_pyarrow(Path(path))
    except Exception:  # whatever a damaged file raises
        return ""
    if "--no-end-marker" in error and "--no-end-marker" not in options:
        options = [*options, "--no-end-marker"]
        code, wrong = run_encode(path, options)
        return wrong or unlike_pyarrow(path, code, options)
    if code:
        whole, code_of_whole = code_with_values(table, format_of(Path(path)).suffix, options)
        text = f"pyarrow reads the file: code {code}: {error[-300:]!r}; {whole}: {code_of_whole}"
        return "" if code == code_of_whole else text
    Path(FOUND).write_text("compare")
    found = by_pyarrow(Path(OUT))
    if len(found) != len(table):
        return f"{len(found)} rows, not {len(table)}"
    if wrong := unlike(table, found):
        return wrong
    Path(FOUND).write_text("decode the output")
    code, wrong = run(["decode", OUT, "-o", "back.arrow", "--overwrite", "-q"], OUT)
    if code or wrong:
        return wrong or f"decode of the output: code {code}: {Path(ERROR).read_text()[-300:]!r}"
    return unlike(
        table, by_pyarrow(Path("back.arrow")), {*table.column_names} - {*found.column_names}
    )


def code_with_values(table: Any, suffix: str, options: list[str]) -> tuple[str, int]:
    """Encode a whole file with the values of a table; return its name and the exit code."""
    whole = f"whole{suffix}"
    try:
        if suffix == ".parquet":
            parquet.write_table(table, whole)
        else:
            make = pa.ipc.new_file if suffix == ".arrow" else pa.ipc.new_stream
            with make(whole, table.schema) as file:
                file.write_table(table)
    except (pa.ArrowException, NotImplementedError):
        if suffix == ".arrow":
            raise
        return code_with_values(table, ".arrow", options)
    chosen = [option for option in options if option != "--no-end-marker"]
    return whole, run_encode(whole, chosen)[0]


def unlike(table: Any, found: Any, new: Collection[str] = ()) -> str:
    """Return the first difference of the columns of two tables; those in `new` were decoded."""
    for name in table.column_names:
        # Labels have the order of the features.
        is_list = name in new and "list" in str(table.schema.field(name).type)
        counts = table.column_names.count(name), found.column_names.count(name)
        if counts == (1, 1) and not is_list:
            wrong = difference(table[name], found[name], is_decoded=name in new)
            if wrong:
                return f"column {name!r}: {wrong}"
    return ""


def decoded(path: str, _options: list[str]) -> None:
    """Decode a mutant of an encoded file, which has its encoder in it."""
    code, wrong = run(["decode", path, "-o", OUT, "--overwrite", "-q"], path)
    Path(FOUND).write_text(wrong or f"exit {code}")


def choose(path: str) -> None:
    """Write down the options that encode the whole file, by default and for columns, and do it."""
    code, _, options = with_remedies(Path(path))
    choices, listing = [options], io.StringIO()
    if code == 0:
        with contextlib.redirect_stdout(listing):
            run(["inspect", path, "--json", "-q", *options], path)
        names = [column["name"] for column in json.loads(listing.getvalue())["columns"]]
        chosen: list[str] = []
        for name in names[:MAX_TRIED]:
            is_right = run_encode(path, [*options, "-c", name])[0] == 0
            chosen += ["-c", name] if is_right and len(chosen) < 2 * MAX_CHOSEN else []
        choices += [[*options, *chosen]] if chosen else []
    works = []
    for typed in choices:
        written = ENCODED.format(len(works))
        if run(["encode", path, "-o", written, "--overwrite", "-q", *typed], path)[0] == 0:
            works.append(typed)
    Path(CHOICES).write_text(json.dumps(works or choices))
    Path(FOUND).write_text("")


def main() -> int:
    """Run all mutants of all files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mutations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="take only files whose name contains this")
    options = parser.parse_args()
    for name in MODULES:
        import_module(name)
    gc.freeze()  # a forked process would copy the pages of all objects to look for cycles
    ends: Counter[str] = Counter()
    n_files = n_failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(options.folder.resolve().iterdir()):
            if options.only not in file.name or not file.is_file() or not file.stat().st_size:
                continue
            form = format_of(file)
            if form.kind == "npz":
                continue
            n_files += 1
            os.chdir(folder)
            path = f"mutant{form.suffix}"
            original = file.read_bytes()
            Path(path).write_bytes(original)
            Path(CHOICES).write_text("[[]]")
            for old in Path().glob(ENCODED.format("*")):
                old.unlink()
            if wrong := in_fork(lambda path=path: choose(path)):
                n_failures += 1
                print(f"{file.name}, whole: {wrong}", flush=True)
            choices = json.loads(Path(CHOICES).read_text())
            for number in range(options.seed, options.seed + options.mutations):
                choice = number % len(choices)
                whole = Path(ENCODED.format(choice))
                output = whole.read_bytes() if whole.exists() else b""
                for kind, content, name, work in (
                    ("encode", original, path, encoded),
                    ("decode", output, f"mutant-{whole}", decoded),
                ):
                    if not content:
                        continue
                    Path(name).write_bytes(mutant(content, random.Random(number)))
                    typed = choices[choice]
                    end = in_fork(lambda name=name, work=work, typed=typed: work(name, typed))
                    is_end = end.startswith("exit ")
                    ends[f"{kind}, {end}" if is_end else f"{kind}, failure"] += 1
                    if not is_end:
                        n_failures += 1
                        print(f"{file.name}, mutation {number}, {kind}: {end}", flush=True)
    counts = ", ".join(f"{count:,} {end}" for end, count in sorted(ends.items()))
    print(f"{counts}\n{n_files:,} files, {ends.total():,} mutants, {n_failures:,} failures")
    return int(n_failures > 0)


if __name__ == "__main__":
    sys.exit(main())
