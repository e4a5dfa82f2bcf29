"""Variants of functions of the standard library, and checks of saved objects."""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from onehot_fast._version import __version__

__all__ = ["UNREADABLE", "cached_property", "collector_paused", "reason_of", "restoring", "warn"]

PACKAGE = __name__.partition(".")[0]
# The errors that an invalid or malicious document can cause.
UNREADABLE = (
    ArithmeticError, AttributeError, ImportError, LookupError, NotImplementedError, OSError,
    RecursionError, TypeError, ValueError,
)  # fmt: skip
# The maximum length of a quotation in a message: a library's error may quote a whole document.
MAX_QUOTED = 300

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """`functools.cached_property` without the lock of Python 3.11.

        In Python 3.11, all instances share one lock. With this lock, threads would wait for each
        other's encoders, and a child process forked while a thread holds it would wait forever.
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            """Compute the value; all threads get the value of the thread that finishes first."""
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector while many objects are created, none of which is garbage.

    It would take two thirds of the time for the columns of a frame, and nine tenths for lists.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def warn(message: str | UserWarning) -> None:
    """Issue a warning that points to the line of the user's code that called this package."""
    frame, level = sys._getframe(), 1
    while (
        frame.f_back is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)


def reason_of(error: BaseException) -> str:
    """Return what an error says about a part of a document, shortened."""
    reason = f"{error} is missing" if type(error) is KeyError else str(error) or repr(error)
    return reason if len(reason) <= MAX_QUOTED else f"{reason[:MAX_QUOTED]}…"


@contextlib.contextmanager
def restoring(state: object, name: str, remedy: str) -> Iterator[None]:
    """Convert errors in a `with` block, which restores a `name` from its pickled state.

    Raise ValueError at once if another version of this package pickled the state.
    """
    version = state.get("version") if isinstance(state, Mapping) else __version__
    if not isinstance(version, str) or version != __version__:
        writer = (
            "an older release" if version is None else f"onehot_fast {str(version)[:MAX_QUOTED]}"
        )
        raise ValueError(
            f"the pickle of {name} was written by {writer}, but onehot_fast {__version__} is"
            f" installed, and a pickle works in the same version only: {remedy}"
        )
    try:
        yield
    except UNREADABLE as error:
        raise ValueError(
            f"the pickle of {name} is damaged: {reason_of(error)}; {remedy}"
        ) from error
