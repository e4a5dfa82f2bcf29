"""The instructions of small calls, counted by valgrind's callgrind: the same in every run.

One process counts all programs. It runs this file as a script, and gets them as text: the list of
workloads imports modules that the import of `onehot_fast` would otherwise be counted with. The
process tells callgrind when to count. Outside, it runs several times as fast, for example while it
imports other libraries.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Enough calls before the count for caches and for the interpreter's own optimization.
WARM_CALLS, CALLS = 100, 100
# What the process tells callgrind: macros of C, which do nothing in another process.
SWITCHES = r"""
#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void stop(void) { CALLGRIND_DUMP_STATS; CALLGRIND_STOP_INSTRUMENTATION; }
"""
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
        Valgrind, its headers or a C compiler is not installed.
    """
    if shutil.which("valgrind") is None:
        raise NotImplementedError from FileNotFoundError("valgrind is not installed")
    from benchmarks.workloads import COUNTED  # not in the script

    programs = [(each.name, each.prepare, each.statement) for each in COUNTED.values()]
    environment = os.environ | ENVIRONMENT
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    with tempfile.TemporaryDirectory() as folder:
        switches, output = Path(folder, "switches.so"), Path(folder, "counts")
        compile_switches(switches)
        script = [sys.executable, "-P", __file__, str(switches), json.dumps(programs)]
        # Python compiles modules that it never imported: not under callgrind.
        subprocess.run(script, env=environment, stdout=subprocess.DEVNULL, check=True)
        callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}"]
        callgrind += ["--instr-atstart=no"]
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


def compile_switches(library: Path) -> None:
    """Compile `SWITCHES`."""
    command = [*shlex.split(os.environ.get("CC", "cc")), "-shared", "-fPIC", "-O1"]
    command += ["-x", "c", "-", "-o", str(library)]
    try:
        subprocess.run(command, input=SWITCHES, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", None) or error
        raise NotImplementedError(f"callgrind's switches do not compile: {reason}") from error


def run_programs(library: str, programs: list[tuple[str, str, str]]) -> None:
    """Run each program, count its statement, and print what ran as JSON."""
    import ctypes
    import gc

    switches = ctypes.CDLL(library)
    start, stop = switches.start, switches.stop

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
        start()
        for _ in range(calls):
            exec(code, names)
        stop()
        ran.append((name, calls))
    print(json.dumps(ran))


if __name__ == "__main__":
    run_programs(sys.argv[1], json.loads(sys.argv[2]))
