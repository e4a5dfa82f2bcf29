"""Count the work of a call, so that a test can compare sizes without measuring time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import onehot_fast
from onehot_fast import integrations

FOLDERS = tuple(str(Path(package.__path__[0]).resolve()) for package in (onehot_fast, integrations))


class CountedName(str):
    """A column name that counts how often names are compared, also in loops of C code."""

    __slots__ = ()
    n_comparisons = 0

    def __eq__(self, other: object) -> bool:
        CountedName.n_comparisons += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def work_of(call: Callable[[], Any]) -> int:
    """Return the number of bytecodes of this package that a call runs, plus comparisons of names.

    Other packages are not counted: how a library stores its columns is not ours to decide.
    The call runs twice, so it must do the same work each time.
    """
    n_bytecodes = 0
    is_ours: dict[str, bool] = {}

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal n_bytecodes
        if event == "call":
            file = frame.f_code.co_filename
            if file not in is_ours:
                is_ours[file] = str(Path(file).resolve()).startswith(FOLDERS)
            if not is_ours[file]:
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            n_bytecodes += 1
        return trace

    before = sys.gettrace()
    # Python 3.12 and 3.13 instrument code while it is traced for the first time, and then miss
    # the bytecodes of the frames that already run. So the second of two equal calls is counted.
    for _ in range(2):
        n_bytecodes, CountedName.n_comparisons = 0, 0
        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(before)
    assert n_bytecodes, "this Python reports no bytecodes to sys.settrace"
    return n_bytecodes + CountedName.n_comparisons
