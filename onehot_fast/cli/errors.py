"""What can go wrong, each with an exit code of its own and in one line."""

from __future__ import annotations

import difflib
import enum
import errno
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pyarrow as pa

__all__ = [
    "MEANINGS",
    "CommandError",
    "Exit",
    "NobodyReads",
    "as_typed",
    "closest",
    "is_undecodable",
    "one_line",
    "plural",
    "printable",
    "reading",
    "writing",
]


class Exit(enum.IntEnum):
    """The exit codes; those of a signal are 128 and its number, as shells have it."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    INPUT = 3
    CORRUPT = 4
    COLUMN = 5
    SCHEMA = 6
    VALUE = 7
    OUTPUT = 8
    BROKEN_PIPE = 141


MEANINGS = {
    Exit.DONE: "done; the output is complete",
    Exit.FAILED: "a library is missing, or a failure without a code of its own",
    Exit.USAGE: "an option is not understood",
    Exit.INPUT: "the input cannot be opened",
    Exit.CORRUPT: "the input is truncated, corrupt or not of its format",
    Exit.COLUMN: "a column is not there, is there twice or cannot be encoded",
    Exit.SCHEMA: "the encoder cannot be read or does not fit the input; files of a folder differ",
    Exit.VALUE: "a value or a name is refused by an option",
    Exit.OUTPUT: "the output cannot be written, is there already, or is the input",
    Exit.BROKEN_PIPE: "nobody reads standard output any more",
}


class CommandError(Exception):
    """An error with its exit code."""

    def __init__(self, code: Exit, message: str) -> None:
        super().__init__(message)
        self.code = code


class NobodyReads(Exception):
    """The reader of standard output has gone."""


def one_line(error: BaseException) -> str:
    """Return the message of an error, or else its kind, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def as_typed(error: BaseException) -> str:
    """Return the message of an encoder, with its options as one types them here."""
    names = r"drop|dtype|handle_\w+|min_frequency|max_categories|prefix|prefix_sep"
    line = one_line(error)
    return re.sub(
        rf"\b({names})=('?)(\w*)\2",
        lambda match: f"--{match[1].replace('_', '-')} {match[3]}".rstrip(),
        line,
    )


def printable(text: str) -> str:
    """Return a text with nothing in it that a terminal would obey, such as escape sequences."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def plural(count: int, noun: str) -> str:
    """Return a number and its noun: 1 row, 2,000 rows."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def closest(name: str, names: Iterable[str]) -> str:
    """Return the question whether another name was meant, or nothing."""
    near = difflib.get_close_matches(name, list(names), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Say of what fails inside, which only reads, that the input is not there or corrupt."""
    try:
        yield
    except OSError as error:
        # pyarrow reports corrupt data as an OSError too, without a number.
        if error.errno:
            text = os.strerror(error.errno)
            raise CommandError(Exit.INPUT, f"{name}: {text}") from error
        raise CommandError(Exit.CORRUPT, f"{name}: {one_line(error)}") from error
    except (pa.ArrowException, EOFError, ValueError, LookupError) as error:
        raise CommandError(Exit.CORRUPT, f"{name}: {one_line(error)}") from error


@contextmanager
def writing(name: str) -> Iterator[None]:
    """Say of what fails inside that the output cannot be written."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise NobodyReads from error
        text = os.strerror(error.errno) if error.errno else one_line(error)
        raise CommandError(Exit.OUTPUT, f"{name}: {text}") from error
    except pa.ArrowIndexError as error:  # codes that a dictionary of the input does not have
        raise CommandError(Exit.CORRUPT, f"the input is corrupt: {one_line(error)}") from error
    except pa.ArrowException as error:
        raise CommandError(Exit.OUTPUT, f"{name}: {one_line(error)}") from error


def is_undecodable(error: BaseException | None) -> bool:
    """Tell whether an error goes back to a text that is not UTF-8, or that pyarrow cannot read."""
    while error is not None and not isinstance(error, UnicodeDecodeError | pa.ArrowException):
        error = error.__cause__
    return error is not None
