"""Variants of `functools.cached_property` and `warnings.warn`, and a check of pickles."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onehot_fast._version import __version__

__all__ = ["cached_property", "check_pickled_version", "warn"]

PACKAGE = __name__.partition(".")[0]

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


def warn(message: str | UserWarning) -> None:
    """Issue a warning that points to the line of the user's code that called this package."""
    frame, level = sys._getframe(), 1
    while (
        frame.f_back is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)


def check_pickled_version(state: Mapping[str, Any], name: str, remedy: str) -> None:
    """Raise ValueError if another version of this package pickled the state of a `name`."""
    version = state.get("version")
    if version != __version__:
        writer = "an older release" if version is None else f"onehot_fast {version}"
        raise ValueError(
            f"the pickle of {name} was written by {writer}, but onehot_fast {__version__} is"
            f" installed, and a pickle works in the same version only: {remedy}"
        )
