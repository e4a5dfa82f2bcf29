"""Measure in a process of its own: ``run("benchmarks.apart:first_call", ...)``.

The process gets these benchmarks and any installation of `onehot_fast`, by default the one that
Python finds: the installation of an older commit may have older benchmarks beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

PAGE = 4096


def run(function: str, *arguments: Any, package: Path | None = None, **variables: str) -> Any:
    """Return what a function returns in a new process; all of it passes through JSON.

    Parameters
    ----------
    function : str
        ``module:function``.
    arguments : object
        Of the function.
    package : Path, optional
        The folder from which `onehot_fast` is imported.
    variables : str
        Of the environment.
    """
    environment = os.environ | variables
    # Modules are compiled once, as an installation does it, whatever is set here.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    command = [sys.executable, "-P", __file__, function, json.dumps(arguments)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def encode(work: Any) -> Any:
    """Encode into memory that is new to the process."""
    one_hot = import_module("onehot_fast").one_hot
    return one_hot(work.indices, work.depth, axis=work.axis, dtype=work.dtype)


def touch(work: Any) -> Any:
    """Allocate zeros by NumPy, and write one byte of each page."""
    cells = np.zeros(work.shape, work.dtype)
    cells.reshape(-1).view(np.uint8)[::PAGE] = 1
    return cells


FIRST: dict[str, Callable[[Any], Any]] = {
    "onehot_fast": encode,
    "numpy zeros, each page touched": touch,
}


def first_call(workload: str, name: str, scale: float = 1.0) -> float:
    """Return the seconds of a call, which must be the first of the process."""
    import_module("onehot_fast")
    recipe: Any = import_module("benchmarks.workloads").WORKLOADS[workload]
    work, call = recipe.make(scale), FIRST[name]
    start = time.perf_counter()
    result = call(work)
    taken = time.perf_counter() - start
    del result
    return taken


def main() -> None:
    """Import the benchmarks that this file belongs to, call the function and print its result."""
    folder = Path(__file__).parent
    place = [str(folder)]
    spec = spec_from_file_location(
        "benchmarks", folder / "__init__.py", submodule_search_locations=place
    )
    assert spec is not None
    sys.modules["benchmarks"] = module_from_spec(spec)
    module, _, name = sys.argv[1].partition(":")
    print(json.dumps(getattr(import_module(module), name)(*json.loads(sys.argv[2]))))


if __name__ == "__main__":
    main()
