"""Signals at known places, so that no test waits for the right moment.

As a program, ``signalling.py PLACE NUMBER ARGUMENT...``, it is the command, which sends itself a
signal where it first comes to that place, or changes a file there: ``os.truncate:FILE:SIZE`` or
``os.remove:FILE``.
"""

from __future__ import annotations

import functools
import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any


def once(number: int) -> Callable[[], None]:
    """Return what sends this process a signal when it is first called."""
    numbers = [number]

    def send() -> None:
        if numbers:
            signal.raise_signal(numbers.pop())

    return send


def around(
    call: Callable[..., Any],
    before: Callable[[], None] = lambda: None,
    after: Callable[[], None] = lambda: None,
) -> Callable[..., Any]:
    """Return a function that does something before and after another."""

    @functools.wraps(call)
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        before()
        result = call(*arguments, **keywords)
        after()
        return result

    return wrapper


def replace_at(
    place: str, action: Callable[[], None], replace: Callable[[Any, str, Any], None] = setattr
) -> None:
    """Do something before or after a function is called: ``before os.replace``."""
    when, _, name = place.partition(" ")
    owner, _, last = name.rpartition(".")
    call = pkgutil.resolve_name(name)
    replace(pkgutil.resolve_name(owner), last, around(call, **{when: action}))


def send_at(place: str, number: int, replace: Callable[[Any, str, Any], None] = setattr) -> None:
    """Send this process a signal before or after a function is called."""
    replace_at(place, once(number), replace)


def run(place: str, number: int | str, *arguments: object) -> tuple[int, str]:
    """Run this program; return its exit code and what it said on standard error."""
    # Not above: the program, which has no path to the package, needs no limit.
    from support.programs import HANG

    action = number if isinstance(number, str) else str(int(number))
    program = [sys.executable, "-P", __file__, place, action]
    done = subprocess.run([*program, *map(str, arguments)], capture_output=True, timeout=HANG)
    return done.returncode, done.stderr.decode()


if __name__ == "__main__":
    from onehot_fast.cli import main

    _, place, number, *sys.argv[1:] = sys.argv
    name, *operands = number.split(":")
    if name == "os.truncate":
        replace_at(place, functools.partial(os.truncate, operands[0], int(operands[1])))
    elif name == "os.remove":
        replace_at(place, functools.partial(os.remove, operands[0]))
    elif name == "os.replace":
        replace_at(place, functools.partial(os.replace, *operands))
    else:
        send_at(place, int(number))
    sys.exit(main())
