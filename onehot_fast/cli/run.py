"""One run of the command: every way it can end is an exit code, and at most one line."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
import pyarrow as pa

from onehot_fast.cli.commands import commands
from onehot_fast.cli.errors import CommandError, Exit, Interrupted, NobodyReads, one_line, writing
from onehot_fast.cli.pipeline import end_threads
from onehot_fast.cli.signals import orderly_end

__all__ = ["run"]

SIGINT = 2


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    try:
        with orderly_end(is_last=arguments is None), _frugal_memory():
            return _run(arguments)
    except Interrupted as signal:
        word = "interrupted" if signal.signum == SIGINT else f"ended by signal {signal.signum}"
        return _fail(128 + signal.signum, word)
    except (KeyboardInterrupt, click.Abort):
        return _fail(128 + SIGINT, "interrupted")
    finally:
        end_threads()


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


def _run(arguments: Sequence[str] | None) -> int:
    """Run the command; what goes wrong is told."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        # Not `commands.main`, which has its own ideas about pipes and signals.
        with commands.make_context("onehot-fast", given) as context:
            commands.invoke(context)
        with writing("standard output"):
            sys.stdout.flush()
    except click.exceptions.Exit as end:  # --help and --version
        return end.exit_code
    except click.ClickException as error:
        return _fail(Exit.USAGE, error.format_message())
    except CommandError as error:
        return _fail(error.code, str(error))
    except (NobodyReads, BrokenPipeError):
        # The interpreter flushes standard output once more at its end: to nobody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.BROKEN_PIPE
    except MemoryError as error:
        return _fail(Exit.FAILED, f"out of memory: {one_line(error)}")
    except Exception as error:  # a bug, or a library's own idea of an error
        if os.environ.get("ONEHOT_FAST_DEBUG"):
            raise
        return _fail(Exit.FAILED, f"{type(error).__name__}: {one_line(error)}")
    return Exit.DONE


def _fail(code: int, message: str) -> int:
    """Say in one line why the run failed."""
    print(f"onehot-fast: {' '.join(message.split())}", file=sys.stderr)
    return int(code)
