"""What a command does to the columns of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from onehot_fast.cli.errors import CommandError, Exit, one_line

__all__ = ["Change", "is_undecodable", "refusals"]


@dataclass(frozen=True)
class Change:
    """Some columns go and others take their place; all else stays as it is.

    Attributes
    ----------
    before, after : pyarrow.Schema
        Of the input and of the output.
    old, new : tuple of str
        The names of the columns that go, and of those that come, in order.
    apply : callable
        Turns a stream of batches, of all columns or of the old ones alone, into one where the new
        ones have taken their place.
    row_bytes : float
        About how many bytes a row of the new columns has.
    """

    before: pa.Schema
    after: pa.Schema
    old: tuple[str, ...]
    new: tuple[str, ...]
    apply: Callable[[pa.RecordBatchReader], Iterable[pa.RecordBatch]]
    row_bytes: float

    @property
    def kept(self) -> list[str]:
        """The names of the columns that stay as they are."""
        return [name for name in self.before.names if name not in self.old]


def refusals(name: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches; a value that is refused is an error in the file of this name."""
    try:
        yield from batches
    except (TypeError, ValueError, pa.ArrowException) as error:
        code = Exit.CORRUPT if is_undecodable(error) else Exit.VALUE
        raise CommandError(code, f"{name}: {one_line(error)}") from error


def is_undecodable(error: BaseException | None) -> bool:
    """Tell whether an error goes back to a text that is not UTF-8, or that pyarrow cannot read."""
    while error is not None and not isinstance(error, UnicodeDecodeError | pa.ArrowException):
        error = error.__cause__
    return error is not None
