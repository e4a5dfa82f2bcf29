"""The first signal that asks the process to end raises `Interrupted` in the main thread.

Context managers clean up as after any other exception. A signal interrupts a blocking call, and
Python runs the handler; only a call that may wait for long needs a timeout, because a signal that
comes just before it does not interrupt it.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

# Windows has no SIGHUP.
ENDING: set[int] = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
# A second signal ends the process at once if it comes more than this number of seconds after the
# first one. Before, it is ignored: `timeout`, for example, sends its signal to a process and again
# to its group.
GRACE = 1.0
# The seconds after which a waiting thread looks for signals.
MAX_WAIT = 0.2


class Interrupted(BaseException):
    """A signal asked the process to end; `except Exception` does not catch this exception."""


# The first signal and when it came, and how many blocks of `held` are open.
_first: list[tuple[int, float]] = []
_n_held = 0
_is_last = False


@contextmanager
def raising_signals(is_last: bool) -> Iterator[None]:
    """Raise `Interrupted` at the first signal in the block that asks the process to end.

    `is_last` tells whether the process ends after the block. If so, a second signal in the block
    can end the process at once (see `GRACE`), and signals after the block are ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(signum: int, frame: FrameType | None) -> None:
        if not _first:
            _first.append((signum, time.monotonic()))
            if not _n_held:
                raise Interrupted
        elif is_last and time.monotonic() - _first[0][1] > GRACE:
            os.write(2, b"onehot-fast: ended at once, without cleaning up\n")
            os._exit(128 + signum)

    global _is_last
    _is_last = is_last
    before = {number: signal.getsignal(number) for number in ENDING}
    # A signal that the parent process ignores stays ignored, e.g. under nohup.
    before = {n: old for n, old in before.items() if old not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, signal.SIG_IGN if is_last else old)
        _first.clear()
        _is_last = False


def received() -> int | None:
    """Return the number of the first signal, or None if no signal came."""
    return _first[0][0] if _first else None


def ends_process() -> bool:
    """Tell whether a signal has come that ends the process, so that no thread must be waited for.

    A thread may be in a library for seconds, e.g. to compress a large column with Brotli. Threads
    only read files and compute, so they can go on until the process ends.
    """
    return _is_last and bool(_first)


def raise_if_received() -> None:
    """Raise `Interrupted` if a signal has come.

    Call it after `held`, where signals do not raise, and after a library may have caught the
    exception.
    """
    if _first:
        raise Interrupted


def result_of(coming: Future[T]) -> T:
    """Wait for the result of a thread.

    A signal that comes just before a wait does not interrupt it, so Python would run the handler
    only when the thread is done.
    """
    while not wait([coming], timeout=MAX_WAIT).done:
        pass
    return coming.result()


@contextmanager
def held() -> Iterator[None]:
    """Do not raise `Interrupted` inside the block, which cleans up or must not stop halfway.

    In other threads than the main thread, this has no effect, because signals never raise there.
    """
    global _n_held
    if threading.current_thread() is not threading.main_thread():
        yield  # another thread must not even add 0, because it could write an old number back
        return
    _n_held += 1
    try:
        yield
    finally:
        _n_held -= 1
