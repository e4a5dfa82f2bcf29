"""Give the command changed files, each in a forked process: an exit code, one line, no signal.

    python -m torture.mutants FOLDER [--mutations 200] [--seed 0]

Each file of the folder is changed in 1 to 8 bytes, in `--mutations` ways. Each mutant is inspected,
encoded and decoded. The modules are loaded once, before the processes are forked. A
line is printed for each failure, with the mutation that repeats it; then the status is 1.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from onehot_fast.cli.places import format_of_name

OUT, ERROR, LEFT = "out.parquet", "error.txt", 70
SECONDS = 60  # of a run
MEMORY = 8 << 30
# Where the footers of Parquet and Arrow files are; half of the changes are made there.
END_BYTES = 2048


def mutant(content: bytes, draw: random.Random) -> bytes:
    """Change 1 to 8 bytes."""
    changed = bytearray(content)
    for _ in range(draw.randint(1, 8)):
        first = max(0, len(changed) - END_BYTES) if draw.random() < 0.5 else 0
        changed[draw.randrange(first, len(changed))] = draw.randrange(256)
    return bytes(changed)


def failure(arguments: list[str], path: str) -> str | None:
    """Run the command in a forked process; return what is wrong with its end."""
    process = os.fork()
    if process == 0:
        code = LEFT
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.alarm(SECONDS)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(os.open(ERROR, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            code = import_module("onehot_fast.cli").main(arguments)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    error = Path(ERROR).read_text(errors="replace")
    lines = [line for line in error.splitlines() if line.startswith("onehot-fast: ")]
    if code not in (0, 2, 3, 4, 5, 6, 7, 8):
        return f"code {code}: {error[-300:]!r}"
    if code and (len(error.splitlines()) != 1 or len(lines) != 1 or path not in error):
        return f"not one line that names the file: {error[-300:]!r}"
    return None


def main() -> int:
    """Run all mutants of all files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mutations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    import_module("onehot_fast.cli.commands")
    n_runs = n_failures = 0
    files = [one.resolve() for one in sorted(options.folder.iterdir()) if one.stat().st_size]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for file in files:
            form = format_of_name(file.name)
            if form is None or form.kind == "npz":
                continue
            path = f"mutant{form.suffix}"
            for number in range(options.seed, options.seed + options.mutations):
                Path(path).write_bytes(mutant(file.read_bytes(), random.Random(number)))
                write = [path, "-o", OUT, "--overwrite", "-q"]
                for command in (["inspect", path, "-q"], ["encode", *write], ["decode", *write]):
                    n_runs += 1
                    wrong = failure(command, path)
                    if wrong is not None:
                        n_failures += 1
                        print(f"{file.name}, mutation {number}, {command[0]}: {wrong}", flush=True)
    print(f"{n_runs:,} runs of mutants, {n_failures:,} failures")
    return int(n_failures > 0)


if __name__ == "__main__":
    sys.exit(main())
