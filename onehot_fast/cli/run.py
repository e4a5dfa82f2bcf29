"""One run of the command: every way it can end is an exit code, and at most one line."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
import pyarrow as pa
from click.shell_completion import shell_complete

from onehot_fast.cli.commands import COMPLETE, commands
from onehot_fast.cli.errors import CommandError, Exit, NobodyReads, one_line, printable, writing
from onehot_fast.cli.signals import Interrupted, raise_if_signalled, received

__all__ = ["run"]


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    pa.enable_signal_handlers(False)  # pyarrow would take SIGINT for itself while it reads CSV
    with _frugal_memory():
        code, message = _outcome(list(sys.argv[1:] if arguments is None else arguments))
    signum = received()
    if code and signum is not None:  # whatever failed since: the signal came first
        is_ctrl_c = signum == signal.SIGINT
        code, message = 128 + signum, "interrupted" if is_ctrl_c else f"ended by signal {signum}"
    if message:
        print(f"onehot-fast: {printable(' '.join(message.split()))}", file=sys.stderr)
    return int(code)


@contextmanager
def _frugal_memory() -> Iterator[None]:
    """Use the allocator of pyarrow that gives back most: a fifth less than its default at peak."""
    before = pa.default_memory_pool()
    with contextlib.suppress(NotImplementedError):  # this pyarrow was built without it
        if "ARROW_DEFAULT_MEMORY_POOL" not in os.environ:
            pa.set_memory_pool(pa.jemalloc_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


def _outcome(arguments: list[str]) -> tuple[int, str]:
    """Run the command; return its exit code, and why it failed."""
    try:
        raise_if_signalled()
        if sys.stdout is None:  # closed: whatever writes to it fails as it does to a full disk
            sys.stdout = open(os.devnull)  # noqa: SIM115  until the end
        asked = os.environ.get(COMPLETE)
        if asked:  # by a shell; see `onehot-fast completion`
            return shell_complete(commands, {}, "onehot-fast", COMPLETE, asked), ""
        # Not `commands.main`, which has its own ideas about pipes and signals.
        with commands.make_context("onehot-fast", arguments) as context:
            commands.invoke(context)
        with writing("standard output"):
            sys.stdout.flush()
    except click.exceptions.Exit as end:  # --help and --version
        return end.exit_code, ""
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "onehot-fast"
        return Exit.USAGE, f"{error.format_message().rstrip('.')}; see {path} --help"
    except CommandError as error:
        return error.code, str(error)
    except (NobodyReads, BrokenPipeError):
        # The interpreter flushes standard output once more at its end: to nobody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.BROKEN_PIPE, ""
    except Interrupted:
        return Exit.FAILED, "interrupted"
    except OSError as error:  # of a temporary file, which has a name, or of standard output
        if os.environ.get("ONEHOT_FAST_DEBUG"):
            raise
        name = error.filename or "standard output"
        return Exit.OUTPUT, f"{name}: {error.strerror or one_line(error)}"
    except MemoryError as error:
        return Exit.FAILED, f"out of memory: {one_line(error)}"
    except Exception as error:  # a bug, or a library's own idea of an error
        if os.environ.get("ONEHOT_FAST_DEBUG"):
            raise
        return Exit.FAILED, f"{type(error).__name__}: {one_line(error)}"
    return Exit.DONE, ""
