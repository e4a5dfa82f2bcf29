"""The instructions of small calls, counted by valgrind's callgrind: the same in every run.

One process counts all programs. It runs this file as a script, and gets them as text: the list of
workloads imports modules that the import of `onehot_fast` would otherwise be counted with.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Enough calls before the count for caches and for the interpreter's own optimization.
WARM_CALLS, CALLS = 100, 100
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "",  # an import compiles nothing
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
}


def measure(package: Path | None = None) -> dict[str, float]:
    """Return the instructions of one call of each program, by default of the installed package.

    Raises
    ------
    NotImplementedError
        Valgrind is not installed.
    """
    if shutil.which("valgrind") is None:
        raise NotImplementedError from FileNotFoundError("valgrind is not installed")
    from benchmarks.workloads import COUNTED  # not in the script

    programs = [(each.name, each.prepare, each.statement) for each in COUNTED.values()]
    script = [sys.executable, "-P", __file__, json.dumps(programs)]
    environment = os.environ | ENVIRONMENT
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    # Python compiles modules that it never imported: not under callgrind.
    subprocess.run(script, env=environment, stdout=subprocess.DEVNULL, check=True)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "counts")
        # Counting starts anew at the first function, and a file is written at the second.
        callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}"]
        callgrind += ["--zero-before=getpgid", "--dump-before=getsid"]
        done = subprocess.run(
            [*callgrind, *script], env=environment, capture_output=True, text=True, check=True
        )
        counts = {}
        for i, (name, n_calls) in enumerate(json.loads(done.stdout), 1):
            text = output.with_name(f"counts.{i}").read_text(encoding="utf-8")
            found = re.search(r"^summary: (\d+)", text, re.MULTILINE)
            assert found is not None
            counts[name] = int(found[1]) / n_calls
    return counts


def run_programs(programs: list[tuple[str, str, str]]) -> None:
    """Run each program, mark its statement for callgrind, and print what ran as JSON."""
    import gc

    gc.disable()
    ran = []
    for name, prepare, statement in programs:
        is_import = name == "import"  # which happens once
        warm, calls = (0, 1) if is_import else (WARM_CALLS, CALLS)
        names: dict[str, object] = {}
        try:
            exec(prepare, names)
            code = compile(statement, name, "exec")
            for _ in range(warm):
                exec(code, names)
        except Exception as error:  # a library is missing, or the commit is older than the feature
            print(f"{name}: {error!r}", file=sys.stderr)
            continue
        os.getpgid(0)
        for _ in range(calls):
            exec(code, names)
        os.getsid(0)
        ran.append((name, calls))
    print(json.dumps(ran))


if __name__ == "__main__":
    run_programs(json.loads(sys.argv[1]))
