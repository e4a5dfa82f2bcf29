"""Messages on standard error: errors with their exit codes, notes, warnings and progress."""

from __future__ import annotations

import enum
import math
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pyarrow as pa

from onehot_fast.cli.flags import FLAGS, flag

# Takes the share of the work that is done, and the number of rows.
Step = Callable[[float, int], None]


class Exit(enum.IntEnum):
    """The exit codes and their meanings; after a signal, the code is 128 plus its number."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Exit:
        """Return an exit code with the attribute `meaning`."""
        made = int.__new__(cls, code)
        made._value_, made.meaning = code, meaning
        return made

    DONE = 0, "success; the output is complete"
    FAILED = 1, "a library is missing, or an error without a code of its own"
    USAGE = 2, "an option is invalid"
    INPUT = 3, "the input cannot be opened"
    CORRUPT = 4, "the input is truncated, corrupt or in another format"
    COLUMN = 5, "a column does not exist, appears twice or cannot be encoded"
    SCHEMA = 6, "the encoder is not readable or does not fit; files of a folder differ"
    VALUE = 7, "a value or a name is rejected by an option"
    OUTPUT = 8, "the output cannot be written, already exists, or is the input"
    BROKEN_PIPE = 141, "standard output was closed by its reader"


class CommandError(Exception):
    """An error that ends the command with an exit code."""

    def __init__(self, code: Exit, message: str) -> None:
        super().__init__(message)
        self.code = code


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line, or the type if the message is empty."""
    text = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    return " ".join(text.split()) or type(error).__name__


def _as_typed(error: BaseException, is_loaded: bool) -> str:
    """Return the message of an encoder's error, with the options of the command.

    For example, ``drop='first'`` becomes ``--drop first``, and ``sep={'column': ...}`` becomes
    ``--sep COLUMN=...``. `is_loaded` tells whether --encoder was given. If so, a remedy such as
    ``use --handle-unknown ignore`` requires a new encoder, and the message says how to learn it.
    """
    names = "|".join(FLAGS)
    line = re.sub(
        rf"\b({names})=\{{'column': \.\.\.\}}",
        lambda match: f"{flag(match[1])} COLUMN=...",
        one_line(error),
    )
    line = re.sub(
        rf"\b({names})=('?)(\w*)\2",
        lambda match: f"{flag(match[1])} {match[3]}".rstrip(),
        line,
    )
    again = "; learn the encoder again with --save-encoder FILE --handle-"
    return line.replace("; use --handle-", again) if is_loaded else line


def without_remedy(error: BaseException) -> str:
    """Return the message of an error in one line, up to "; use", which begins a Python remedy."""
    return one_line(error).partition("; use ")[0]


def printable(text: str) -> str:
    """Escape the control characters of a string, because a terminal would execute them."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@contextmanager
def reading(name: str, code: Exit | None = None) -> Iterator[None]:
    """Raise CommandError for an error of the `with` block, which reads the input `name`."""
    try:
        yield
    except (OSError, pa.ArrowException, EOFError, ValueError, LookupError) as error:
        # pyarrow raises an OSError without errno for corrupt data.
        code = code or (Exit.INPUT if getattr(error, "errno", None) else Exit.CORRUPT)
        raise CommandError(code, f"{name}: {one_line(error)}") from error


@contextmanager
def writing(name: str) -> Iterator[None]:
    """Raise CommandError for an error of the `with` block, which writes the output `name`."""
    try:
        yield
    except pa.ArrowIndexError as error:  # a code exceeds its dictionary
        raise CommandError(Exit.CORRUPT, f"the input is corrupt: {one_line(error)}") from error
    except BrokenPipeError:
        raise
    except (OSError, pa.ArrowException) as error:
        raise CommandError(Exit.OUTPUT, f"{name}: {one_line(error)}") from error


@contextmanager
def encoding_input(
    name: str, of_types: Exit = Exit.VALUE, is_loaded: bool = False
) -> Iterator[None]:
    """Raise CommandError for an error of the `with` block, which encodes the input `name`.

    `of_types` is the exit code for a TypeError. `is_loaded` tells whether --encoder was given.
    """
    try:
        yield
    except (TypeError, ValueError, pa.ArrowException) as error:
        code = Exit.CORRUPT if _is_undecodable(error) else Exit.VALUE
        code = of_types if isinstance(error, TypeError) else code
        raise CommandError(code, f"{name}: {_as_typed(error, is_loaded)}") from error


def _is_undecodable(error: BaseException | None) -> bool:
    """Tell whether an error comes from data that is not UTF-8 or that pyarrow cannot read."""
    while error is not None and not isinstance(error, UnicodeDecodeError | pa.ArrowException):
        error = error.__cause__
    return error is not None


# --- progress, notes and warnings


PROGRESS_SECONDS = 2.0  # work that takes less time shows no progress


@contextmanager
def showing(what: str, is_quiet: bool) -> Iterator[Step]:
    """Yield a function that shows the progress of the work that `what` names.

    On a terminal, a bar with the rows per second and the remaining time appears after two seconds,
    and is erased at the end. Otherwise, nothing is shown.
    """
    if is_quiet or not (sys.stderr.isatty() or os.environ.get("FORCE_COLOR")):
        yield lambda share, rows: None
        return
    begin, update = time.monotonic(), None
    with ExitStack() as shown:

        def step(share: float, rows: int) -> None:
            nonlocal update
            seconds = time.monotonic() - begin
            if update is None and seconds >= PROGRESS_SECONDS:
                update = shown.enter_context(_progress_bar(what))
            if update is not None:
                update(share, rows, seconds)

        yield step


@contextmanager
def _progress_bar(what: str) -> Iterator[Callable[[float, int, float], None]]:
    """Show a bar, and yield a function that takes the share, the rows and the seconds so far."""
    # rich takes a while to import.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
    texts = TextColumn("{task.fields[left]}"), TextColumn("{task.fields[rate]}")
    console = Console(stderr=True)
    with Progress(*columns, *texts, console=console, transient=True) as progress:
        task = progress.add_task(what, total=1.0, rate="", left="")

        def update(share: float, rows: int, seconds: float) -> None:
            left = f"{_duration(seconds * (1 - share) / share)} left" if share > 0 else ""
            rate = f"{rows / seconds:,.0f} rows/s" if rows else ""
            progress.update(task, completed=share, left=left, rate=rate)

        yield update


def _duration(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    minutes, rest = divmod(math.ceil(max(seconds, 0.0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


def tell(text: str, is_quiet: bool) -> None:
    """Print a line if standard error is a terminal."""
    if sys.stderr.isatty():
        note(text, is_quiet)


def note(text: str, is_quiet: bool) -> None:
    """Print a line, even if standard error is not a terminal."""
    if not is_quiet:
        # Where standard error cannot be written to, notes are lost, and the work goes on.
        with suppress(OSError, ValueError):
            print(f"onehot-fast: {printable(text)}", file=sys.stderr)


@contextmanager
def noting_warnings(name: str, is_quiet: bool) -> Iterator[None]:
    """Print the warnings of the `with` block after it; those of unknown values are merged."""
    unknown: Any = None
    notes: dict[str, None] = {}  # in order, each text once

    def collect(message: Any, *where: Any, **others: Any) -> None:
        nonlocal unknown
        if not hasattr(message, "merge"):
            notes[_as_typed(message, False)] = None
        else:
            unknown = message if unknown is None else unknown.merge(message)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = collect
        yield
    if unknown is not None:
        notes[_as_typed(unknown, False)] = None
    for text in notes:
        note(f"{name}: {text}", is_quiet)
