"""The instructions of small calls, counted by valgrind's callgrind: the same in every run.

One process counts all programs. It runs this file as a script.
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

ROW = "row = {name: ['b'] for name in 'abcde'}"
FITTED = f"""
from onehot_fast import Encoder
{ROW}
encoder = Encoder([*'abcde']).fit({{name: ['a', 'b'] for name in 'abcde'}})
"""
DROP_IN = """
import numpy
from onehot_fast.integrations.sklearn import OneHotEncoder
encoder = OneHotEncoder().fit(numpy.array([['a'] * 5, ['b'] * 5], object))
row = numpy.array([['b'] * 5], object)
"""
# For each program: the code that prepares it, and the statement whose instructions are counted.
# polars and pyarrow come last, because their memory allocators do some work after a time.
PROGRAMS = {
    "import": ("import numpy", "import onehot_fast"),
    "one_hot, 32 x 10": (
        "import numpy, onehot_fast; labels = numpy.arange(32) % 10",
        "onehot_fast.one_hot(labels, 10)",
    ),
    "one row of a dict": (FITTED, "encoder.transform(row, 'numpy')"),
    "one row, OneHotEncoder": (DROP_IN, "encoder.transform(row)"),
    "one row of pandas": (
        f"{FITTED}\nimport pandas; row = pandas.DataFrame(row)",
        "encoder.transform(row)",
    ),
    "Series.onehot, 32 texts": (
        "import pandas, onehot_fast.integrations.pandas; column = pandas.Series(['a', 'b'] * 16)",
        "column.onehot()",
    ),
    "one row of polars": (
        f"{FITTED}\nimport polars; row = polars.DataFrame(row)",
        "encoder.transform(row)",
    ),
    "one row of pyarrow": (
        f"{FITTED}\nimport pyarrow; row = pyarrow.table(row)",
        "encoder.transform(row)",
    ),
}
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
    script = [sys.executable, "-P", __file__]
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


def run_programs() -> None:
    """Run each program, mark its statement for callgrind, and print what ran as JSON."""
    import gc

    gc.disable()
    ran = []
    for name, (prepare, statement) in PROGRAMS.items():
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
    run_programs()
