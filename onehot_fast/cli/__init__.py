"""The command ``onehot-fast`` encodes files of any size in bounded memory.

This module imports the standard library only, so that it can report a missing library in one line,
and handle Ctrl-C while the libraries are imported, which takes a while.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from onehot_fast.cli.signals import Interrupted, raising_signals, received

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments`, by default those of the process; return its exit code."""
    missing = [name for name in ("click", "rich", "pyarrow") if find_spec(name) is None]
    if missing:
        names = ", ".join(missing)
        text = f"{names} must be installed; type pip install 'onehot-fast[cli]'"
        print(f"onehot-fast: {text}", file=sys.stderr)
        return 1
    with raising_signals(is_last=arguments is None):
        try:
            code, message = import_module("onehot_fast.cli.commands").run(arguments)
        except Interrupted:
            code, message = 1, ""
        signum = received()
        if code and signum is not None:  # other errors are consequences of the signal
            code = 128 + signum
            message = "interrupted" if signum == signal.SIGINT else f"ended by signal {signum}"
        if message:
            print(f"onehot-fast: {message}", file=sys.stderr)
    return int(code)
