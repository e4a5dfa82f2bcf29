"""Signals that ask the process to end become an exception, so that every `finally` runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pyarrow as pa

from onehot_fast.cli.errors import Interrupted

__all__ = ["orderly_end", "undisturbed"]

ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


# How many blocks of the main thread must not be disturbed, and the signal that came meanwhile.
_held: list[int | None] = []


@contextmanager
def orderly_end(is_last: bool) -> Iterator[None]:
    """Raise `Interrupted` in the main thread when the process is asked to end.

    Where the block is the last thing that the process does, it is not disturbed on its way out.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pa.enable_signal_handlers(False)  # pyarrow would take SIGINT for itself while it reads CSV
    before = {}
    for number in ENDING:
        # What the parent told us to ignore, as nohup does, stays ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if is_last else handler)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let a signal wait for the end of a short block that must not be left half done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _held.append(None)
    try:
        yield
    finally:
        waiting = _held.pop()
    if waiting is not None:
        _end(waiting, None)


def _end(signum: int, frame: FrameType | None) -> None:
    """End the work at hand, once: a second signal must not stop the cleaning up."""
    if _held:
        _held[-1] = signum
        return
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    raise Interrupted(signum)
