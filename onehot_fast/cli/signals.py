"""Signals that ask the process to end: noted when they come, looked at between the steps.

A handler that raised an exception would raise it anywhere: in a library that holds a lock, in a
`finally`, in a destructor.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = [
    "PATIENCE",
    "Interrupted",
    "noting_signals",
    "raise_if_signalled",
    "received",
    "wait_until_ready",
]

ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
# For so many seconds a wait may miss that a signal has come.
PATIENCE = 0.05
# A signal that comes so many seconds after the first one ends the process at once. Not before:
# `timeout`, for one, sends the same signal to a process and to its group.
GRACE = 1.0

# The first signal, and when it came.
_first: list[tuple[int, float]] = []


class Interrupted(BaseException):
    """A signal asked the process to end; no `except Exception` may stop it."""


@contextmanager
def noting_signals(is_last: bool) -> Iterator[None]:
    """Note the signals that ask the process to end, for `raise_if_signalled`.

    Where the block is the last thing that the process does, it is not disturbed on its way out.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def note(signum: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if not _first:
            _first.append((signum, now))
        elif is_last and now - _first[0][1] > GRACE:
            os.write(2, b"onehot-fast: ended at once, without cleaning up\n")
            os._exit(128 + signum)

    before = {number: signal.getsignal(number) for number in ENDING}
    # What the parent told us to ignore, as nohup does, stays ignored.
    before = {n: old for n, old in before.items() if old not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, signal.SIG_IGN if is_last else old)
        _first.clear()


def received() -> int | None:
    """Return the number of the first signal that came."""
    return _first[0][0] if _first else None


def raise_if_signalled() -> None:
    """Raise `Interrupted` if a signal came."""
    if _first:
        raise Interrupted


def wait_until_ready(readable: Sequence[Any] = (), writable: Sequence[Any] = ()) -> None:
    """Wait until one of the files can be read or written without waiting, or a signal comes."""
    raise_if_signalled()
    if os.name == "posix":  # Windows can wait for sockets only
        while not any(select.select(readable, writable, (), PATIENCE)):
            raise_if_signalled()
