"""The command ``onehot-fast``: files in, encoded files out, in bounded memory.

Nothing but the standard library is imported here, so that a missing library is one clear line.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

__all__ = ["main"]

LIBRARIES = "click", "rich", "pyarrow"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; see ``onehot-fast --help``.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        0, or one of `onehot_fast.cli.errors.Exit` after one line on standard error.
    """
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        names = ", ".join(missing)
        print(f"onehot-fast: needs {names}: pip install 'onehot-fast[cli]'", file=sys.stderr)
        return 1
    try:
        code: int = import_module("onehot_fast.cli.run").run(arguments)
    except KeyboardInterrupt:  # while the libraries were imported
        print("onehot-fast: interrupted", file=sys.stderr)
        return 130
    return code
