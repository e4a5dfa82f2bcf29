"""The command ``onehot-fast``: files in, encoded files out, in bounded memory.

Nothing but the standard library is imported here, so that a missing library is one clear line,
and so that signals are noted before the libraries are imported, which takes a while.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from onehot_fast.cli.signals import noting_signals

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
    with noting_signals(is_last=arguments is None):
        code: int = import_module("onehot_fast.cli.run").run(arguments)
    return code
