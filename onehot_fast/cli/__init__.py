"""The command ``onehot-fast`` encodes files of any size in bounded memory.

The modules, in the order in which a table passes through them: `commands` defines the subcommands,
and `arguments` parses what the user typed, with the options of `Encoder` in `flags` and
`typed_options`. `places` are files and folders, local or in an object store, and `formats` are what
their names and first bytes mean (`foreign` recognizes what is none of them, `folder_keys` reads
names such as year=2013). `source` opens the files of the input, which have one schema (`schemas`).
A reader reads each file in batches: `reader` is the interface, implemented by `parquet_reader`
(with `parquet_bits` and `parquet_sizes`), `arrow_reader` (with `arrow_batches`) and `csv_reader`
(with `cells`). `outputs` resolves the destination and makes it appear when it is complete. `encode`
is the way of a table through encode and decode, in one function each: `learning` gives the encoder
(`encoders` reads it from a file, and `old_documents` what earlier releases wrote), `plan` decides
which columns replace which, and `conversion` copies the rows, whose `batches` are changed as
planned, to one of the `writers`, or to many (`partitions`). `inspection` is the report of inspect.
`notes` and `messages` talk to the user, `signals` handles Ctrl-C, and `parquet` writes and reads
Boolean columns.

This module imports the standard library only, so that it can report a missing library in one line,
and handle Ctrl-C while the libraries are imported, which takes a while.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from onehot_fast.cli.signals import Interrupted, ends_process, raising_signals, received

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments`, by default those of the process; return its exit code."""
    _open_standard_error()
    missing = [name for name in ("click", "rich", "pyarrow") if find_spec(name) is None]
    if missing:
        _print(f"{', '.join(missing)} must be installed; type pip install 'onehot-fast[cli]'")
        return 1
    with raising_signals(is_last=arguments is None):
        try:
            code, message = _commands(is_own_process=arguments is None).run(arguments)
        except Interrupted:
            code, message = 1, ""
        signum = received()
        if code and signum is not None:  # other errors are consequences of the signal
            code = 128 + signum
            message = "interrupted" if signum == signal.SIGINT else f"ended by signal {signum}"
        if message:
            _print(message)
        if code and ends_process():
            # The interpreter would wait for threads, see `ends_process`; all else is cleaned up.
            os._exit(int(code))
    return int(code)


def _commands(is_own_process: bool) -> Any:
    """Return the module of the subcommands, which imports the libraries.

    They leave 100,000 objects that live until the end. In a process of its own, the command does
    not let the garbage collector look at them again and again.
    """
    if not is_own_process:
        return import_module("onehot_fast.cli.commands")
    gc.disable()
    try:
        return import_module("onehot_fast.cli.commands")
    finally:
        gc.freeze()
        gc.enable()


def _open_standard_error() -> None:
    """Discard messages if standard error is closed, as by ``2>&-``.

    Otherwise, the next file that is opened would take its number, and would contain the messages.
    """
    if sys.stderr is not None:
        return
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115  until the process ends
    try:
        os.fstat(2)
    except OSError:
        os.dup2(sys.stderr.fileno(), 2)


def _print(message: str) -> None:
    """Print a message on standard error; if nobody reads it, the exit code says enough."""
    with suppress(OSError, ValueError):
        print(f"onehot-fast: {message}", file=sys.stderr)
